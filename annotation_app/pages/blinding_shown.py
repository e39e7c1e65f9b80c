"""What coders could tell of the arms, as the page of results shows it: figures with a reading that never calls a study blind."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation_app.pages.dots import Axis, index_axis
from annotation_app.pages.figures import NONE, number, percent, span
from annotation_app.pages.results_shown import arm_in_words
from blinding.indices import MARGIN

Json = dict[str, Any]
LABELS = {"condition": gettext_lazy("Condition"), "model": gettext_lazy("Model")}
TOLD = 0.05  # p under which length alone is said to tell something


@dataclass(frozen=True)
class Bang:
    """One coder's guesses about one arm; `svg` and the figures are empty where too few were made."""

    coder: str
    arm: str
    counts: tuple[int, int, int]
    svg: SafeString | str
    index: str
    interval: str
    by_task: str
    reading: str


@dataclass(frozen=True)
class James:
    coder: str
    index: str
    interval: str
    reading: str


@dataclass(frozen=True)
class Guessed:
    """All guesses about one label."""

    name: str
    label: str
    guesses: int
    axis: SafeString
    bang: tuple[Bang, ...]
    james: tuple[James, ...]
    chance: str


@dataclass(frozen=True)
class Table:
    """Plain rows; the first cell of each names it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Told:
    """How well the length of a text alone names an arm, in a sentence."""

    label: str
    sentence: str


def guessed_shown(guesses: Json) -> list[Guessed]:
    """Return the guesses about each label that was asked for."""
    return [_guessed(name, found) for name, found in guesses.items()]


def recognition_table(rows: Sequence[Json]) -> Table:
    columns = (
        _("Arm"), _("Opened"), _("It says so"), _("Known from elsewhere"), _("A hunch"), _("Recalled"), _("Rate"),
    )  # fmt: skip
    names = ("opened", "says_so", "knows", "hunch", "recall")
    shown = [(arm_in_words(row), *(row[name] for name in names), percent(row["rate"])) for row in rows]
    return Table(_("Recognised by coders"), columns, tuple(shown))


def masks_table(rows: Sequence[Json]) -> Table:
    columns = (_("Arm"), _("Outputs"), _("With a mask"), _("Rate"), _("Masks"), _("Per 1,000 characters"))
    shown = [
        (
            arm_in_words(row),
            row["outputs"],
            row["masked"],
            percent(row["rate"]),
            row["masks"],
            number(row["per_thousand_characters"], 2),
        )
        for row in rows
    ]
    return Table(_("Masks in the texts"), columns, tuple(shown))


def lengths_table(rows: Sequence[Json]) -> Table:
    columns = (_("Arm"), _("Texts"), _("Mean"), _("Lower quartile"), _("Median"), _("Upper quartile"))
    shown = [
        (
            f"{LABELS[row['arm']]}: {row['value']}",
            row["texts"],
            *(number(figure, 0) for figure in (row["mean"], *row["quartiles"])),
        )
        for row in rows
    ]
    return Table(_("Length of texts, in characters"), columns, tuple(shown))


def told_by_length(rows: Sequence[Json]) -> list[Told]:
    return [Told(str(LABELS[row["arm"]]), _length_sentence(row)) for row in rows]


def _length_sentence(row: Json) -> str:
    words = _(
        "A guesser that sees nothing but the length names it right in %(right)s of new texts, chance being %(chance)s "
        "(area under the curve %(auc)s; as good in %(p)s of permutations)."
    ) % {
        "right": percent(row["balanced_accuracy"]),
        "chance": percent(row["chance"]),
        "auc": number(row["auc"], 2),
        "p": percent(row["p"]),
    }
    if row["p"] < TOLD and row["balanced_accuracy"] > row["chance"]:
        return f"{words} {_('Length alone tells something of it.')}"
    return f"{words} {_('That length tells something of it is not shown.')}"


def _guessed(name: str, found: Json) -> Guessed:
    rows = found["by_coder_and_arm"]
    axis = index_axis([end for row in rows for end in row["interval"] or ()])
    fewest = found["fewest_for_an_index"]
    return Guessed(
        name=name,
        label=str(LABELS[name]),
        guesses=found["guesses"],
        axis=axis.head(),
        bang=tuple(_bang(row, axis, fewest) for row in rows),
        james=tuple(_james(row, fewest) for row in found["james"]),
        chance=_chance(found),
    )


def _bang(row: Json, axis: Axis, fewest: int) -> Bang:
    counts = (row["counts"]["right"], row["counts"]["wrong"], row["counts"]["dont_know"])
    shown = row["shown"]
    return Bang(
        coder=row["coder"],
        arm=row["arm"],
        counts=counts,
        svg=axis.row(row["value"], row["interval"]) if shown else "",
        index=_index(row["value"]) if shown else NONE,
        interval=span(row["interval"], _index),
        by_task=span(row["interval_by_task"], _index),
        reading=read_bang(row) if shown else _too_few(fewest),
    )


def read_bang(row: Json) -> str:
    """Say in words what an index shows. Direction and closeness are said only where the interval by task agrees."""
    counts, by_task = row["counts"], row["interval_by_task"]
    if not counts["right"] and not counts["wrong"]:
        return _("Every answer was “don’t know”.")
    said = []
    if row["one_sided"]["lower"] > 0 and (by_task is None or by_task[0] > 0):
        said.append(_("Named right more often than chance would."))
    elif row["one_sided"]["upper"] < 0 and (by_task is None or by_task[1] < 0):
        said.append(_("Taken for another arm more often than chance would."))
    if row["within_margin"] and by_task is not None and by_task[0] > -MARGIN and by_task[1] < MARGIN:
        said.append(_("Close to chance: within ±%(margin)s.") % {"margin": number(MARGIN, 1)})
    return " ".join(said) or _("Not shown either way.")


def _james(row: Json, fewest: int) -> James:
    return James(
        coder=row["coder"],
        index=_index(row["value"]) if row["shown"] else NONE,
        interval=span(row["interval"], _index),
        reading=read_james(row) if row["shown"] else _too_few(fewest),
    )


def read_james(row: Json) -> str:
    """Say on which side of one half the interval lies."""
    low, high = row["interval"]
    if high < 0.5:
        return _("Under one half: more right guesses than chance would give.")
    if low > 0.5:
        return _("Over one half: led by “don’t know” or by wrong guesses.")
    return _("Not shown either way.")


def _too_few(fewest: int) -> str:
    return _("Not shown: fewer than %(n)s guesses.") % {"n": fewest}


def _chance(found: Json) -> str:
    share = found["as_many_right_by_chance"]
    if share is None:
        return (
            _("No task has guesses about two arms, so that arms cannot be shuffled within tasks.")
            if found["guesses"]
            else ""
        )
    words = _(
        "With arms shuffled within each task, at least as many guesses are right in %(share)s of shuffles."
    )
    return words % {"share": percent(share)}


def _index(value: float) -> str:
    return number(value, 2)
