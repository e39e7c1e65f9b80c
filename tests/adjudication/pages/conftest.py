"""The same folders for files as in the tests of the domain's pages."""

from tests.annotation_app.conftest import _own_folders

__all__ = ["_own_folders"]
