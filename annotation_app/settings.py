"""Settings of the whole product. Whatever differs between machines comes from the environment."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import environ
from csp.constants import NONE, SELF

from annotation_app.server_urls import broker_url, database_config

env = environ.Env()
BASE_DIR = Path(__file__).resolve().parent.parent

# The product's own limits and folders

TWINBLIND_DATA = Path(env.str("TWINBLIND_DATA", default=str(BASE_DIR / "var")))
TWINBLIND_UPLOADS = TWINBLIND_DATA / "uploads"
# Uploads hold labels in clear, so nobody else may look in, from the first moment on.
TWINBLIND_UPLOADS.mkdir(mode=0o700, parents=True, exist_ok=True)
TWINBLIND_TEXT_MAX = 1_000_000
TWINBLIND_ID_MAX = 500
TWINBLIND_ARCHIVE_RATIO = 100
TWINBLIND_ARCHIVE_FLOOR = 10_000_000
TWINBLIND_ERRORS_LISTED = 1000
TWINBLIND_PERMUTATIONS = 500  # of arms, in the confounding check of an import
TWINBLIND_EXPORTS = TWINBLIND_DATA / "exports"
# Where the real result.schema.json is put; the product ships a stand-in for it.
TWINBLIND_SCHEMAS = Path(env.str("TWINBLIND_SCHEMAS", default=str(TWINBLIND_DATA / "schemas")))
TWINBLIND_ARGON2 = "moderate"  # what a guess at a passphrase costs; "test" is for tests only
TWINBLIND_HAND_OVER_PATIENCE = 20.0  # seconds that an approval waits for the job that takes the key
TWINBLIND_HAND_OVER_SECONDS = 60  # how long a closed key waits for that job
TWINBLIND_HTTPS = env.bool("TWINBLIND_HTTPS", default=False)

# Who answers, and to whom

SECRET_KEY = env.str("DJANGO_SECRET_KEY")
SECRET_KEY_FALLBACKS = env.list("DJANGO_SECRET_KEY_FALLBACKS", default=[])
DEBUG = env.bool("DJANGO_DEBUG", default=False)
ALLOWED_HOSTS = env.list("DJANGO_ALLOWED_HOSTS", default=["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("DJANGO_CSRF_TRUSTED_ORIGINS", default=[])
ROOT_URLCONF = "annotation_app.urls"
WSGI_APPLICATION = "annotation_app.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "knox",
    "guardian",
    "django_htmx",
    "template_partials.apps.SimpleAppConfig",
    "csp",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "blinding",
    "annotation_app",
    "adjudication",
]

MIDDLEWARE = [
    "annotation_app.middleware.PrivateAnswers",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "annotation_app.middleware.PlainRefusals",
    "annotation_app.middleware.FitRequests",
]

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "loaders": [
                (
                    "template_partials.loader.Loader",
                    [
                        (
                            "django.template.loaders.cached.Loader",
                            ["django.template.loaders.filesystem.Loader"],
                        )
                    ],
                )
            ],
            "builtins": ["template_partials.templatetags.partials"],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

# Servers

DATABASES = {
    "default": database_config(
        env.str("DATABASE_URL"),
        pool_size=env.int("TWINBLIND_DB_POOL", default=8),
        test_name=env.str("TEST_DATABASE_NAME", default="") or None,
    )
}
REDIS_URL = env.str("REDIS_URL")
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "twinblind",
    }
}

CELERY_BROKER_URL = broker_url(REDIS_URL)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = False
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_CONCURRENCY = env.int("TWINBLIND_WORKERS", default=2)
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_REDIRECT_STDOUTS = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE_FILENAME = str(TWINBLIND_DATA / "beat-schedule")
CELERY_BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "finalise": {"task": "annotation_app.finalise_due_records", "schedule": 5.0},
    "compare": {"task": "adjudication.compare_final_pairs", "schedule": 5.0},
    "sweep": {"task": "blinding.sweep_jobs", "schedule": 10.0},
    "close-events": {"task": "blinding.close_event_blocks", "schedule": 60.0},
    "lapse": {"task": "annotation_app.lapse_unblindings", "schedule": 60.0},
}
TWINBLIND_HEARTBEAT_SECONDS: float | None = 2.0

# People

AUTHENTICATION_BACKENDS = [
    "annotation_app.sign_ins.People",
    "guardian.backends.ObjectPermissionBackend",
]
ANONYMOUS_USER_NAME = None
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "/sign-in/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = LOGIN_URL
EMAIL_BACKEND = env.str("DJANGO_EMAIL_BACKEND", default="django.core.mail.backends.dummy.EmailBackend")

# The interface for programs

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "annotation_app.api.authentication.TokenAuthentication",
        "annotation_app.api.authentication.MemberSession",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["annotation_app.api.rendering.ProjectionRenderer"],
    "DEFAULT_PARSER_CLASSES": [
        "annotation_app.api.parsers.StrictJson",
        "annotation_app.api.parsers.FitMultiPart",
    ],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "annotation_app.api.rendering.AlwaysJson",
    "EXCEPTION_HANDLER": "annotation_app.api.failures.answer_failure",
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_THROTTLE_CLASSES": [],
    "DEFAULT_SCHEMA_CLASS": "annotation_app.api.openapi.ByAddress",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
    "URL_FORMAT_OVERRIDE": None,
}
REST_KNOX = {"TOKEN_TTL": timedelta(days=180), "AUTH_HEADER_PREFIX": "Token"}
SPECTACULAR_SETTINGS = {
    "TITLE": "Twinblind",
    "DESCRIPTION": "Blinded, independent, double coding of model outputs.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    # How complete the description of an endpoint is says nothing about how safe the server is.
    "ENABLE_DJANGO_DEPLOY_CHECK": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}

# What a browser is told

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}
# `no-referrer` would make browsers send `Origin: null` with every form, which the CSRF check refuses.
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_ENGINE = "annotation_app.sign_ins"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = TWINBLIND_HTTPS
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SECURE = TWINBLIND_HTTPS
SECURE_SSL_REDIRECT = TWINBLIND_HTTPS
SECURE_REDIRECT_EXEMPT = [r"^health/$"]
SECURE_HSTS_SECONDS = 31_536_000 if TWINBLIND_HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = TWINBLIND_HTTPS
SECURE_HSTS_PRELOAD = TWINBLIND_HTTPS
if TWINBLIND_HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

# Files

STATIC_URL = "/static/"
STATIC_ROOT = TWINBLIND_DATA / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.TemporaryFileUploadHandler"]
FILE_UPLOAD_TEMP_DIR = TWINBLIND_UPLOADS
FILE_UPLOAD_PERMISSIONS = 0o600
FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o700
# Room for a text of a million code points of four bytes, and what stands around it.
DATA_UPLOAD_MAX_MEMORY_SIZE = 8_000_000

# Languages and time

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English")]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

# The log names places in the code, never values: see annotation_app.log_format.

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"label_free": {"()": "annotation_app.log_format.LabelFreeFormatter"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "label_free"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        "django": {"handlers": [], "level": "INFO", "propagate": True},
        "django.db.backends": {"level": "WARNING"},
        "django.server": {"handlers": [], "level": "WARNING", "propagate": True},
        "celery": {"level": "INFO"},
    },
}
