"""What a file says of each task, row by row. Statement, reference material, control, classes and cluster
labels belong to the task, so rows may contradict neither each other nor what the study already holds."""

from array import array
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from annotation_app.batch_file.columns import Fields
from annotation_app.batch_file.faults import RowError, WarningTally

TaskKey = tuple[str, str | None]
EARLIER_BATCH = 0


class Cleaned(Protocol):
    """A text as pages show it before redaction, and how much was taken out of it."""

    @property
    def text(self) -> str: ...
    @property
    def invisible_removed(self) -> int: ...
    @property
    def control_tokens_removed(self) -> int: ...


Clean = Callable[[str], Cleaned]


class Control(NamedTuple):
    """Whether a task is a positive control, and the classes it offers; None where that was never stated."""

    positive: bool | None = None
    classes: tuple[str, ...] | None = None


def _none_known(_ids: list[str]) -> Container[str]:
    return ()


@dataclass(frozen=True, slots=True)
class KnownStudy:
    """What the study holds before this batch.

    `used_ids` gets up to 1,000 output ids and returns those an earlier batch has. Statements and reference
    materials are as shown: cleaned, without outer white space. `task_ids` are tasks of any version.
    """

    used_ids: Callable[[list[str]], Container[str]] = _none_known
    statements: Mapping[TaskKey, str] = field(default_factory=dict)
    reference_materials: Mapping[TaskKey, str] = field(default_factory=dict)
    controls: Mapping[TaskKey, Control] = field(default_factory=dict)
    task_ids: Container[str] = ()


@dataclass(frozen=True, slots=True)
class TaskFound:
    """A task as the study and the file together state it; texts are cleaned and stripped.

    `clusters` are the proposed clusters of this file in the order they occur, with their cleaned labels.
    """

    statement: str | None
    reference_material: str | None
    positive_control: bool
    classes: tuple[str, ...]
    clusters: dict[str, str | None]
    outputs: int


class _Fact:
    """A fact stated once and then held to; `row` is where it was first stated."""

    __slots__ = ("row", "value")

    def __init__(self, value: Any = None) -> None:
        self.value = value
        self.row = EARLIER_BATCH

    def is_contradicted(self, value: Any, row: int) -> bool:
        """Take `value` where nothing was stated yet; tell whether it differs from what was."""
        if self.value is None:
            self.value, self.row = value, row
            return False
        return bool(self.value != value)

    def where(self) -> str:
        return "in an earlier batch" if self.row == EARLIER_BATCH else f"in row {self.row}"


class _Shown(_Fact):
    """A fact that is shown, compared after cleaning; the last text as given saves cleaning it again."""

    __slots__ = ("given", "invisible", "text", "tokens")

    def __init__(self, value: str | None) -> None:
        super().__init__(value)
        self.given: str | None = None
        self.text: str | None = None
        self.invisible = self.tokens = 0

    def cleaned(self, given: str, clean: Clean) -> str | None:
        """Return the text as shown, None where nothing is left, and set `invisible` and `tokens` for it."""
        if given != self.given:
            result = clean(given)
            text = result.text.strip()
            self.given = given
            self.text = self.value if text == self.value else text or None
            self.invisible, self.tokens = result.invisible_removed, result.control_tokens_removed
        return self.text


class _Task:
    __slots__ = ("classes", "clusters", "outputs", "positive", "reference", "statement", "unclassed")

    def __init__(self, statement: str | None, reference: str | None, control: Control) -> None:
        self.statement = _Shown(statement)
        self.reference = _Shown(reference)
        self.positive = _Fact(control.positive)
        self.classes = _Fact(control.classes)
        self.clusters: dict[str, _Fact] = {}
        self.outputs = 0
        self.unclassed = array("Q")


class TaskLedger:
    """Takes the rows of a file one after another and says where they contradict each other."""

    def __init__(
        self, known: KnownStudy, clean: Clean, tally: WarningTally, packaged: frozenset[str] | None
    ) -> None:
        self._known = known
        self._clean = clean
        self._tally = tally
        self._packaged = packaged
        self._tasks: dict[TaskKey, _Task] = {}

    def take(self, row: int, fields: Fields, wrong: frozenset[str]) -> list[RowError]:
        """Return the errors that a row with a task makes; `wrong` are its columns that have one already."""
        assert fields.task_id is not None
        errors: list[RowError] = []
        task = self._task((fields.task_id, fields.task_version))
        task.outputs += 1
        if self._is_unknown(fields.task_id):
            what = "no task.toml in the archive, and the study does not have it. Add it below tasks/."
            errors.append(RowError(row, "task_id", "unknown_task", f"Row {row}: this task has {what}"))
        if fields.task_statement is not None:
            errors += self._take_statement(row, task, fields.task_statement)
        if fields.reference_material is not None:
            text = task.reference.cleaned(fields.reference_material, self._clean)
            if text is not None and task.reference.is_contradicted(text, row):
                errors.append(
                    _conflict(row, "reference_material", "conflicting_reference_material", task.reference)
                )
        if fields.positive_control is not None or fields.gold_classes is not None:
            errors += self._take_control(row, task, fields, wrong)
        if fields.auto_cluster_id is not None:
            errors += self._take_cluster(row, task, fields.auto_cluster_id, fields.cluster_label)
        return errors

    def _task(self, key: TaskKey) -> _Task:
        task = self._tasks.get(key)
        if task is None:
            known = self._known
            control = known.controls.get(key, Control())
            task = _Task(known.statements.get(key), known.reference_materials.get(key), control)
            self._tasks[key] = task
        return task

    def _is_unknown(self, task_id: str) -> bool:
        packaged = self._packaged
        return packaged is not None and task_id not in packaged and task_id not in self._known.task_ids

    def _take_statement(self, row: int, task: _Task, given: str) -> list[RowError]:
        statement = task.statement
        text = statement.cleaned(given, self._clean)
        if statement.invisible or statement.tokens:
            self._tally.add("invisible_removed", row, statement.invisible)
            self._tally.add("control_token_removed", row, statement.tokens)
        if text is not None and statement.is_contradicted(text, row):
            return [_conflict(row, "task_statement", "conflicting_task_statement", statement)]
        return []

    def _take_control(self, row: int, task: _Task, fields: Fields, wrong: frozenset[str]) -> list[RowError]:
        errors: list[RowError] = []
        positive, classes = fields.positive_control, fields.gold_classes
        if positive is not None and task.positive.is_contradicted(positive, row):
            errors.append(_conflict(row, "positive_control", "conflicting_control", task.positive))
        if classes is not None:
            stated = task.classes.value
            if stated is None:
                task.classes.is_contradicted(classes, row)
            elif set(stated) != set(classes):
                errors.append(_conflict(row, "gold_classes", "conflicting_control", task.classes))
        elif positive and task.classes.value is None and "gold_classes" not in wrong:
            task.unclassed.append(row)
        return errors

    def _take_cluster(self, row: int, task: _Task, cluster: str, label: str | None) -> list[RowError]:
        fact = task.clusters.setdefault(cluster, _Fact())
        text = self._clean(label).text.strip() if label is not None else None
        if text and fact.is_contradicted(text, row):
            return [_conflict(row, "cluster_label", "conflicting_cluster_label", fact)]
        return []

    def close(self) -> list[RowError]:
        """Return an error for each row that states a control whose classes no row states."""
        what = "a positive control needs classes, and no row of its task states them. Fill in gold_classes."
        return [
            RowError(row, "gold_classes", "missing_field", f"Row {row}: {what}")
            for task in self._tasks.values()
            if task.classes.value is None
            for row in task.unclassed
        ]

    def tasks(self) -> dict[TaskKey, TaskFound]:
        """Return what was found, by task and version, in the order of the file."""
        return {
            key: TaskFound(
                statement=task.statement.value,
                reference_material=task.reference.value,
                positive_control=bool(task.positive.value),
                classes=task.classes.value or (),
                clusters={cluster: fact.value for cluster, fact in task.clusters.items()},
                outputs=task.outputs,
            )
            for key, task in self._tasks.items()
        }


def _conflict(row: int, column: str, code: str, first: _Fact) -> RowError:
    what = (
        f"another {column} than its task has {first.where()}. Rows of one task must agree, or leave it out."
    )
    return RowError(row, column, code, f"Row {row}: {what}")
