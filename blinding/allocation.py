"""Who codes what, and in which order: a pure function of blinded ids, tasks, members and a secret seed, never
of labels. Standard library only, so that anyone can redo it bit for bit once the seed is revealed.

Every random choice is one operation, `shuffled(seed, ids, purpose…)`: ids sorted by
HMAC-SHA256(HMAC-SHA256(seed, purpose), id), a purpose being its words in UTF-8, each after its length
(4 bytes, big-endian). All else follows from such orders without a further draw."""

import hmac
import struct
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heapify, heappop, heappush
from math import lcm
from typing import Any, NamedTuple

CODED_TWICE = ("A", "B")
AUDIT = "audit"

Key = tuple[str, str]

_MIN_SEED = 16
_CONSONANTS = "BCDFGHJKLMNPQRSTVWXZ"


@dataclass(frozen=True, slots=True)
class Unit:
    """An output to allocate. `spacing_key` names its task, `never_same` the group of declared variants that
    task is in: variants are spaced as one task, and go to different coders of a slot that has several. `met`
    are members who were given another variant in an earlier batch."""

    blinded_id: str
    spacing_key: str
    never_same: str | None = None
    met: Sequence[str] = ()


class Placement(NamedTuple):
    """One output at one coder's place; positions of a coder in a slot count from 1 without a gap."""

    blinded_id: str
    slot: str
    member: str
    position: int


def _ranker(seed: bytes, *purpose: str) -> bytes:
    if len(seed) < _MIN_SEED:
        raise ValueError("a seed has at least 128 bits")
    words = [word.encode() for word in purpose]
    return hmac.digest(seed, b"".join(struct.pack(">I", len(word)) + word for word in words), "sha256")


def shuffled(seed: bytes, ids: Iterable[str], *purpose: str) -> list[str]:
    """Return the ids in a uniformly random order that depends on seed and purpose, not on how they came."""
    key = _ranker(seed, *purpose)
    return sorted(ids, key=lambda item: hmac.digest(key, item.encode(), "sha256"))


def draw_share(seed: bytes, purpose: str, ids: Collection[str], share: float) -> list[str]:
    """Return a random `share` (0 to 1, else ValueError) of the ids, sorted; the number is rounded half up."""
    if not 0 <= share <= 1:
        raise ValueError("a share lies between 0 and 1")
    size = int(Fraction(str(share)) * len(ids) + Fraction(1, 2))
    return sorted(shuffled(seed, ids, "share", purpose)[:size])


def draw_exemplars(
    seed: bytes, task: str, cluster: str, candidates: Sequence[str], at_most: int = 2
) -> list[str]:
    """Return up to `at_most` of a cluster's blinded ids in drawn order. A larger `at_most` only appends: ask
    for one more than is shown and leave out the item on screen."""
    return shuffled(seed, candidates, "exemplars", task, cluster)[:at_most]


def cluster_codes(seed: bytes, task: str, clusters: Collection[str]) -> dict[str, str]:
    """Return `{cluster: C1, C2, …}` in random order; `clusters` are random references, never the sealed ids,
    whose spelling would move the codes."""
    order = shuffled(seed, clusters, "clusters", task)
    return {cluster: f"C{number}" for number, cluster in enumerate(order, start=1)}


def task_codes(seed: bytes, tasks: Collection[str], taken: Collection[str] = ()) -> dict[str, str]:
    """Return `{task: code}`: random codes such as QF-208 (no vowel, so no word), unique and not `taken`."""
    used, codes = set(taken), {}
    for task in shuffled(seed, tasks, "tasks"):
        attempt = 0
        while (code := _task_code(_ranker(seed, "task", task, str(attempt)))) in used:
            attempt += 1
        used.add(code)
        codes[task] = code
    return codes


def _task_code(drawn: bytes) -> str:
    number = int.from_bytes(drawn, "big")
    number, digits = divmod(number, 900)
    number, second = divmod(number, len(_CONSONANTS))
    return f"{_CONSONANTS[number % len(_CONSONANTS)]}{_CONSONANTS[second]}-{100 + digits}"


def allocate(
    outputs: Sequence[Unit],
    slots: Mapping[str, Sequence[str]],
    spacing: int,
    seed: bytes,
    audit_share: float = 0.0,
) -> list[Placement]:
    """Return every placement, sorted by slot, member and position.

    Each output gets one member of A and one of B, every pair of members equally often (±1, as far as variants
    allow), and `audit_share` of them one member of audit, where there is any. Each coder has an order of
    their own, see `spaced`. ValueError for repeated ids, a person in two slots, or an empty A or B."""
    _check(outputs, slots)
    units = sorted(outputs, key=lambda unit: unit.blinded_id)
    pairs = _cross(seed, units, slots["A"], slots["B"], CODED_TWICE)
    work: dict[tuple[str, str], list[str]] = {}
    for blinded_id, pair in pairs.items():
        for slot, member in zip(CODED_TWICE, pair, strict=True):
            work.setdefault((slot, member), []).append(blinded_id)
    if auditors := slots.get(AUDIT):
        chosen = set(draw_share(seed, AUDIT, [unit.blinded_id for unit in units], audit_share))
        audited = [unit for unit in units if unit.blinded_id in chosen]
        for blinded_id, (member, _) in _cross(seed, audited, auditors, ("",), (AUDIT, "")).items():
            work.setdefault((AUDIT, member), []).append(blinded_id)
    group = {unit.blinded_id: _spaced_as(unit) for unit in units}
    placements: list[Placement] = []
    for (slot, member), ids in sorted(work.items()):
        order = spaced(shuffled(seed, ids, "order", slot, member), group, spacing)
        placements += (Placement(item, slot, member, place) for place, item in enumerate(order, start=1))
    return placements


def _check(outputs: Sequence[Unit], slots: Mapping[str, Sequence[str]]) -> None:
    if len({unit.blinded_id for unit in outputs}) != len(outputs):
        raise ValueError("an output is there twice")
    if not slots.get("A") or not slots.get("B"):
        raise ValueError("A and B both need a member")
    if unknown := slots.keys() - {*CODED_TWICE, AUDIT}:
        raise ValueError(f"nothing is allocated to {sorted(unknown)[0]}")
    members = [member for slot in slots.values() for member in slot]
    if len(set(members)) != len(members):
        raise ValueError("one person is in two places")


def _spaced_as(unit: Unit) -> str:
    return f"task {unit.spacing_key}" if unit.never_same is None else f"variants {unit.never_same}"


def _cross(
    seed: bytes, units: Sequence[Unit], rows: Sequence[str], columns: Sequence[str], slots: tuple[str, str]
) -> dict[str, tuple[str, str]]:
    """Deal units to pairs of members: variants first, each to the least used pair open to it, then the rest.

    Pairs are tried along the diagonals of rows × columns, which keeps each member's load even as well; a
    task's units follow each other, which keeps every task's coders mixed."""
    first = shuffled(seed, rows, "members", slots[0])
    second = shuffled(seed, columns, "members", slots[1])
    cells = _diagonals(len(first), len(second))
    used = [0] * len(cells)
    options = _variant_cells(seed, units, len(first), len(second), cells)
    for unit in units:
        if unit.met:
            met = [(first[row] in unit.met) + (second[column] in unit.met) for row, column in cells]
            options[unit.blinded_id] = _least_met(options.get(unit.blinded_id, range(len(cells))), met)
    dealt: dict[str, tuple[str, str]] = {}
    queue: list[tuple[int, int]] = []
    for unit in sorted(_dealing_order(seed, units, slots), key=lambda unit: unit.blinded_id not in options):
        if unit.blinded_id in options:
            cell = min(options[unit.blinded_id], key=lambda index: (used[index], index))
        else:
            if not queue:
                queue = [(count, index) for index, count in enumerate(used)]
                heapify(queue)
            cell = heappop(queue)[1]
            heappush(queue, (used[cell] + 1, cell))
        used[cell] += 1
        dealt[unit.blinded_id] = (first[cells[cell][0]], second[cells[cell][1]])
    return dealt


def _least_met(cells: Sequence[int], met: Sequence[int]) -> list[int]:
    """Return those of some cells whose members met the fewest variants before: none, wherever that can be."""
    least = min(met[cell] for cell in cells)
    return [cell for cell in cells if met[cell] == least]


def _diagonals(rows: int, columns: int) -> list[tuple[int, int]]:
    """Return all cells, ordered so that any first few visit all rows, and all columns, equally often ±1."""
    period = lcm(rows, columns)
    return [(k % rows, (k + k // period) % columns) for k in range(rows * columns)]


def _dealing_order(seed: bytes, units: Sequence[Unit], slots: tuple[str, str]) -> list[Unit]:
    tasks = shuffled(seed, {unit.spacing_key for unit in units}, "deal", *slots, "tasks")
    turn = {task: index for index, task in enumerate(tasks)}
    by_id = {unit.blinded_id: unit for unit in units}
    mixed = shuffled(seed, by_id, "deal", *slots, "outputs")
    return sorted((by_id[item] for item in mixed), key=lambda unit: turn[unit.spacing_key])


def _variant_cells(
    seed: bytes, units: Sequence[Unit], rows: int, columns: int, cells: Sequence[tuple[int, int]]
) -> dict[str, list[int]]:
    """Return, for each output of a task that has variants here, the cells open to it: a slot's members are
    divided among the variants, or, where variants outnumber them, variants among the members."""
    groups: dict[str, dict[str, list[str]]] = {}
    for unit in units:
        if unit.never_same is not None:
            groups.setdefault(unit.never_same, {}).setdefault(unit.spacing_key, []).append(unit.blinded_id)
    options: dict[str, list[int]] = {}
    several = [group for group in shuffled(seed, groups, "variant groups") if len(groups[group]) > 1]
    for turn, group in enumerate(several):
        tasks = shuffled(seed, groups[group], "variants", group)
        for number, task in enumerate(tasks):
            allowed = [
                index
                for index, (row, column) in enumerate(cells)
                if _is_open(row + turn, rows, number, len(tasks))
                and _is_open(column + turn // rows, columns, number, len(tasks))
            ]
            options |= dict.fromkeys(groups[group][task], allowed)
    return options


def _is_open(member: int, members: int, variant: int, variants: int) -> bool:
    seat = member % members
    return seat == variant % members if variants >= members else seat % variants == variant


def spaced(order: Sequence[str], group: Mapping[str, str], spacing: int) -> list[str]:
    """Return `order` rearranged so that two ids of one group lie at least `spacing` places apart.

    At each place comes the earliest id of the given order whose group is not too near. When (largest group
    left - 1) × spacing + the number of groups of that size equals what is left, one of these must come: the
    earliest. Where the whole cannot be spaced so far, the widest spacing that fits is used; a group that
    alone fills more than half is left unspaced, as filler for the rest."""
    if len(order) < 2:
        return list(order)
    keys = {item: ("group", group[item]) for item in order}
    widest = _widest(Counter(keys.values()))
    if spacing > 1 and widest == 1:
        largest = Counter(keys.values()).most_common(1)[0][0]
        keys = {item: ("filler", item) if key == largest else key for item, key in keys.items()}
        widest = _widest(Counter(keys.values()))
    queue = _Queue([keys[item] for item in order], min(spacing, widest))
    return [order[rank] for rank in queue.ranks()]


def _widest(sizes: Counter[Key]) -> int:
    """Return the widest spacing at which groups of these sizes fit into one line; at least 1."""
    most = max(sizes.values(), default=1)
    total = sum(sizes.values())
    if most == 1:
        return total
    return max(1, (total - sum(size == most for size in sizes.values())) // (most - 1))


class _Queue:
    """The line being formed by `spaced`, over ranks in the given order; one use."""

    def __init__(self, keys: Sequence[Key], spacing: int) -> None:
        self.spacing = max(spacing, 1)
        self.waiting: dict[Key, deque[int]] = {}
        for rank, key in enumerate(keys):
            self.waiting.setdefault(key, deque()).append(rank)
        self.by_size: dict[int, set[Key]] = {}
        for key, ranks in self.waiting.items():
            self.by_size.setdefault(len(ranks), set()).add(key)
        self.most = max(self.by_size, default=0)
        self.free = [(ranks[0], key) for key, ranks in self.waiting.items()]
        heapify(self.free)
        self.near: set[Key] = set()
        self.remaining = len(keys)

    def ranks(self) -> Iterator[int]:
        """Yield all ranks in their new order."""
        line: list[Key] = []
        while self.remaining:
            if len(line) >= self.spacing:
                self._release(line[-self.spacing])
            key = self._forced() or self._earliest()
            line.append(key)
            yield self._take(key)

    def _release(self, key: Key) -> None:
        self.near.discard(key)
        if self.waiting[key]:
            heappush(self.free, (self.waiting[key][0], key))

    def _forced(self) -> Key | None:
        largest = self.by_size[self.most]
        if self.most == 1 or (self.most - 1) * self.spacing + len(largest) < self.remaining:
            return None
        return min(largest - self.near, key=lambda key: self.waiting[key][0])

    def _earliest(self) -> Key:
        while True:
            rank, key = heappop(self.free)
            if key not in self.near and self.waiting[key] and self.waiting[key][0] == rank:
                return key

    def _take(self, key: Key) -> int:
        ranks = self.waiting[key]
        self.by_size[len(ranks)].discard(key)
        rank = ranks.popleft()
        self.by_size.setdefault(len(ranks), set()).add(key)
        self.near.add(key)
        self.remaining -= 1
        while self.remaining and not self.by_size.get(self.most):
            self.most -= 1
        return rank


def document(
    outputs: Sequence[Unit],
    slots: Mapping[str, Sequence[str]],
    spacing: int,
    audit_share: float,
    placements: Sequence[Placement],
) -> dict[str, Any]:
    """Return an allocation with all it was made from but the seed: committed to, and later published."""
    units = sorted(outputs, key=lambda unit: unit.blinded_id)
    return {
        "units": [_stated(unit) for unit in units],
        "slots": {slot: sorted(members) for slot, members in slots.items()},
        "spacing": spacing,
        "audit_share": audit_share,
        "placements": [list(placement) for placement in placements],
    }


def _stated(unit: Unit) -> list[Any]:
    stated = [unit.blinded_id, unit.spacing_key, unit.never_same]
    return [*stated, sorted(unit.met)] if unit.met else stated
