"""The product's settings as the tests use them: plain static files, a fast hash, no pool of connections.

A test that clones its database must be the only one connected, and a pool keeps connections of its own.
"""

import os

from tests import parts

os.environ.setdefault("DJANGO_SECRET_KEY", "only-for-tests-and-never-for-a-server-that-anyone-can-reach")
os.environ.setdefault("DATABASE_URL", "postgres:///missing")
os.environ.setdefault("REDIS_URL", "unix:///missing")
os.environ["TWINBLIND_DB_POOL"] = "0"
parts.take_own_part(os.environ)

from annotation_app.settings import *  # noqa: E402, F403
from annotation_app.settings import STATIC_ROOT, STORAGES  # noqa: E402

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
WHITENOISE_AUTOREFRESH = WHITENOISE_USE_FINDERS = True
STORAGES = STORAGES | {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
TWINBLIND_ARGON2 = "test"
TWINBLIND_PERMUTATIONS = 10
TWINBLIND_HEARTBEAT_SECONDS = (
    None  # a heartbeat writes through a connection of its own, which no test would see
)
STATIC_ROOT.mkdir(
    parents=True, exist_ok=True
)  # WhiteNoise warns of a missing folder, and a warning is an error here
