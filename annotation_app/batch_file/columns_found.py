"""Which columns a file has and what becomes of each: names alone, never a value."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from annotation_app.batch_file.columns import Columns

LISTED = 100  # other columns that are named; a file of objects can have a name of its own in every row
NAME_LENGTH = 80
SHOWN = ("text", "task_statement", "reference_material", "cluster_label", "gold_classes")
CODED = ("task_id", "auto_cluster_id")
KEPT = ("task_version", "positive_control")


@dataclass(frozen=True, slots=True)
class ColumnsFound:
    """The file's names of its columns: what coders see, what they see as a random code, what stays with the task
    unseen, and what is sealed. `more` says that further columns are sealed and not listed.
    """

    shown: list[str] = field(default_factory=list)
    coded: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    sealed: list[str] = field(default_factory=list)
    more: bool = False


class ColumnTally:
    """Gathers the names of the columns of one file, in flat memory."""

    def __init__(self, columns: Columns) -> None:
        self._targets = columns.targets()
        self._met: set[str] = set()
        self._others: set[str] = set()
        self._more = False

    def take(self, names: Iterable[str]) -> None:
        """Note the names of a header or of a row."""
        if self._met.issuperset(names):
            return
        for name in names:
            if name in self._targets:
                self._met.add(name)
            elif name not in self._others:
                self._take_other(name)

    def _take_other(self, name: str) -> None:
        if len(self._others) < LISTED:
            self._others.add(name)
            self._met.add(name)
        else:
            self._more = True

    def found(self) -> ColumnsFound:
        """Return the names by group: those of the product in its order, then others by name."""
        sources = {target: source for source, target in self._targets.items() if source in self._met}
        shown, coded, kept = (
            [_cut(sources[name]) for name in group if name in sources] for group in (SHOWN, CODED, KEPT)
        )
        seen = {*SHOWN, *CODED, *KEPT}
        sealed = [source for target, source in sources.items() if target not in seen]
        others = [*map(_cut, sealed), *map(_cut, sorted(self._others))]
        return ColumnsFound(shown, coded, kept, others, self._more)


def _cut(name: str) -> str:
    return name if len(name) <= NAME_LENGTH else f"{name[: NAME_LENGTH - 1]}…"
