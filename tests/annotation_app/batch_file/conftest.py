import pytest

from tests.annotation_app.batch_file.uploads import Uploads


@pytest.fixture
def uploads(tmp_path):
    return Uploads(tmp_path)
