"""Rules between tasks: versions, variants and their originals, one class for equal difficulty."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from blinding.task_metadata.findings import Finding, Hit
from blinding.task_metadata.known import KnownTask
from blinding.task_metadata.values import at

Key = tuple[Any, ...]

_COMPONENTS = (
    "required_steps",
    "dependency_depth",
    "information_sources",
    "distractors",
    "ambiguous_judgement_points",
)
_STARRED = ("t1_horizon", "t2_environment", "t3_specialties", "t6_interaction", "t9_scale")
_IMPLIED_LAYERS = {"none": 0, "not_applicable": 0, "single": 1}


@dataclass(frozen=True)
class Read:
    """A task.toml as read: metadata with None in place of unsound values, and the bytes to seal if sound."""

    path: str
    folder_name: str
    tree: dict[str, Any]
    canonical: bytes | None

    @property
    def task_id(self) -> str:
        return self.tree.get("task_id") or self.folder_name

    @property
    def version(self) -> str | None:
        return self.tree.get("task_version")


@dataclass
class _Index:
    """What the tasks, of this set and known, say about a task id."""

    names: set[str] = field(default_factory=set)
    variants: set[str] = field(default_factory=set)
    families: dict[str, str] = field(default_factory=dict)

    def add(self, task_id: str, tree: Mapping[str, Any]) -> None:
        self.names.add(task_id)
        if "perturbation" in tree:
            self.variants.add(task_id)
        if tree.get("family"):
            self.families.setdefault(task_id, tree["family"])


def check_together(tasks: list[Read], known: Iterable[KnownTask] = ()) -> Iterator[Finding]:
    """Yield findings among tasks, given in the order of their paths, and between them and earlier ones."""
    known = list(known)
    index = _index(tasks, known)
    yield from _versions(tasks, known)
    for task in tasks:
        for hit in _variant(task, index):
            yield Finding.of(task.path, hit)
    yield from _classes(tasks, known)


def _index(tasks: list[Read], known: list[KnownTask]) -> _Index:
    index = _Index()
    for earlier in known:
        index.add(earlier.task_id, earlier.metadata or {})
        if earlier.is_variant:
            index.variants.add(earlier.task_id)
    for task in tasks:
        index.add(task.task_id, task.tree)
        index.names.add(task.folder_name)  # an original that cannot be read is there all the same
    return index


def _versions(tasks: list[Read], known: list[KnownTask]) -> Iterator[Finding]:
    first: dict[tuple[str, str], str] = {}
    sealed = {(task.task_id, task.task_version): task.is_same for task in known if task.is_same}
    for task in tasks:
        if task.version is None:
            continue
        key = (task.task_id, task.version)
        if first.setdefault(key, task.path) != task.path:
            yield Finding.of(task.path, Hit("duplicate_task", "/task_version", f"as in {first[key]}"))
        if key in sealed and task.canonical is not None and not sealed[key](task.canonical):
            yield Finding.of(task.path, Hit("task_version_changed", "/task_version"))


def _variant(task: Read, index: _Index) -> Iterator[Hit]:
    original = at(task.tree, "perturbation", "variant_of")
    pointer = "/perturbation/variant_of"
    if original is None:
        return
    if original == task.task_id:
        yield Hit("variant_of_self", pointer)
    elif original not in index.names:
        yield Hit("variant_of_unknown", pointer, original)
    elif original in index.variants:
        yield Hit("variant_of_variant", pointer, original)
    family, original_family = task.tree.get("family"), index.families.get(original)
    if family and original_family and family != original_family:
        yield Hit("variant_family_differs", "/family", f"{original} is of {original_family}")


def _classes(tasks: list[Read], known: list[KnownTask]) -> Iterator[Finding]:
    trees = [(task.task_id, dict(task.metadata)) for task in known if task.metadata]
    exact: dict[Key, tuple[str, int]] = {}
    by_count: dict[Key, tuple[str, int]] = {}
    for path, tree in [*trees, *((task.path, task.tree) for task in tasks)]:
        difficulty, modalities = tree.get("difficulty_class"), at(tree, "labels", "t4_modalities")
        profile = _profile(tree)
        if difficulty is None or modalities is None or profile is None:
            continue
        told = exact.setdefault((*profile, frozenset(modalities)), (path, difficulty))
        alike = by_count.setdefault((*profile, len(modalities)), (path, difficulty))
        if told[1] != difficulty:
            detail = f"{told[0]} has class {told[1]}"
            yield Finding.of(path, Hit("difficulty_class_differs", "/difficulty_class", detail))
        elif alike[1] != difficulty:
            detail = f"{alike[0]} has class {alike[1]}"
            yield Finding.of(path, Hit("difficulty_class_differs_by_modality", "/difficulty_class", detail))


def _profile(tree: dict[str, Any]) -> Key | None:
    """Return what the difficulty function computes a class from, but for the modalities."""
    kind = at(tree, "labels", "t5_omics", "kind")
    values = (
        tree.get("difficulty_function"),
        *(at(tree, "difficulty_components", name) for name in _COMPONENTS),
        *(at(tree, "labels", name) for name in _STARRED),
        kind,
    )
    layers = at(tree, "labels", "t5_omics", "layers")
    return None if None in values else (*values, _IMPLIED_LAYERS.get(kind) if layers is None else layers)
