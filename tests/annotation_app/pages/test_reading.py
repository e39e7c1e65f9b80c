"""The reading half of an item: texts in pieces that a browser lays out at once, directions, the content warning."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation_app.models import Assignment
from annotation_app.pages.reading import PIECE, blocks_of, pieces_of
from annotation_app.rendering import LARGEST, direction_of, rendered
from annotation_app.services.assignments import next_assignment, save_draft
from annotation_app.services.exposures import opt_out
from tests.annotation_app.pages.reading import body_of, text_of
from tests.factories import StudyUnderTest, a_study, rows

WARNING = "Some of these texts describe floods."


def joined(text: str) -> str:
    """Return a text put together again from its pieces."""
    out = ""
    for number, piece in enumerate(pieces_of(text)):
        out += piece.text if piece.goes_on or not number else f"\n\n{piece.text}"
    return out


@pytest.mark.parametrize("unit", ["word ", "line of a log\n", "x", "河", "\n", "e\u0301", "one\n\n"])
def test_a_very_long_text_comes_in_pieces_and_nothing_is_lost(unit: str) -> None:
    text = unit * (30_000 // len(unit))
    pieces = pieces_of(text)
    assert all(len(piece.text) <= PIECE for piece in pieces)
    assert joined(text).replace("\n", "") == text.replace("\n", "")


@given(st.text(alphabet="ab \n\u0301\u200d", max_size=300))
def test_a_text_of_usual_size_is_shown_as_it_is(text: str) -> None:
    assert [piece.text for piece in pieces_of(text)] == text.split("\n\n")
    assert len(blocks_of(text)) == 1


def test_no_letter_is_parted_from_its_mark() -> None:
    pieces = pieces_of("ab" + "e\u0301" * 9000)
    assert len(pieces) > 1
    assert not any(piece.text.startswith("\u0301") for piece in pieces)


def test_many_short_paragraphs_come_in_few_blocks() -> None:
    blocks = blocks_of("Turn left.\n\n" * 30_000)
    assert sum(len(block) for block in blocks) == 30_001
    assert len(blocks) < 500


@pytest.mark.parametrize(
    ("texts", "direction"),
    [
        (["12, ", "שלום"], "rtl"),
        (["(1) مرحبا hello"], "rtl"),
        (["hello שלום"], "ltr"),
        (["123"], "ltr"),
        ([], "ltr"),
    ],
)
def test_a_text_runs_as_its_first_letter_does(texts: list[str], direction: str) -> None:
    assert direction_of(texts) == direction


def test_a_table_runs_as_its_first_letter_does() -> None:
    assert '<table dir="rtl">' in rendered("| שלום | b |\n|---|---|\n| 1 | 2 |", "markdown")
    assert '<table dir="ltr">' in rendered("| b | שלום |\n|---|---|\n| 1 | 2 |", "markdown")


def test_markdown_of_any_size_is_rendered_up_to_what_stays_quick() -> None:
    assert rendered("*a*" * (LARGEST // 3), "markdown") != ""
    assert rendered("a" * (LARGEST + 1), "markdown") == ""


def warned(**warning: object) -> StudyUnderTest:
    protocol = {"content_warning": {"text": WARNING, **warning}, "grace_minutes": 10}
    return a_study(phase="coding", outputs=rows(tasks=2, per_task=2), protocol=protocol)


def item_page(study: StudyUnderTest) -> tuple[Assignment, str]:
    item = next_assignment(membership=study["primary_A"])
    assert item is not None
    return item, body_of(study.client("primary_A").get(study.page(f"annotate/{item.pk}/")))


@pytest.mark.django_db
def test_a_warned_text_is_covered_until_something_is_entered() -> None:
    study = warned()
    item, page = item_page(study)
    assert WARNING in page
    assert '<details class="curtain">' in page
    save_draft(membership=study["primary_A"], uid=item.pk, fields={"f3": "1"}, version=0)
    assert '<details class="curtain" open>' in item_page(study)[1]


@pytest.mark.django_db
def test_a_warning_goes_with_the_tasks_named_and_is_the_same_for_all_of_their_outputs() -> None:
    study = warned(tasks=["task-1"])
    for _ in range(4):
        item, page = item_page(study)
        assert (WARNING in page) == (item.output.task.task_id == "task-1")
        study.code_all("primary_A", at_most=1)


@pytest.mark.django_db
def test_a_warning_that_tells_what_is_compared_is_refused() -> None:
    study = a_study(protocol={"forbidden_vocabulary": ["meadow"]})
    sent = '{"forbidden_vocabulary": ["meadow"], "content_warning": {"text": "From the meadow."}}'
    page = text_of(study.client("project_author").post(study.page("protocol/"), {"protocol": sent}), 422)
    assert "“meadow” would tell coders what is compared." in page
    assert study.study.protocol["content_warning"] == {"text": "", "tasks": []}


@pytest.mark.django_db
def test_places_left_empty_still_count_in_the_number_of_items() -> None:
    study = a_study(phase="coding", outputs=rows(tasks=1, per_task=4), members={"primary_A": 2})
    total = study["primary_A"].main_total
    item = next_assignment(membership=study["primary_A"])
    assert item is not None
    opt_out(membership=study["primary_A"], uid=item.pk)
    assert f"Item 2 of {total}" in text_of(study.client("primary_A").get(study.page("annotate/")))


@pytest.mark.django_db
def test_who_left_everything_to_others_is_told_that_nothing_is_left() -> None:
    study = a_study(phase="coding", outputs=rows(tasks=1, per_task=2), members={"primary_A": 2})
    while (item := next_assignment(membership=study["primary_A"])) is not None:
        opt_out(membership=study["primary_A"], uid=item.pk)
    page = text_of(study.client("primary_A").get(study.page("annotate/")))
    assert "Nothing is left to code" in page
