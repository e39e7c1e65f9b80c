"""The same folders for files as in the tests of the domain's pages."""

from tests.annotation_app.conftest import _few_permutations, _own_folders

__all__ = ["_few_permutations", "_own_folders"]
