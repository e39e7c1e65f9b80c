"""Pages about tasks before any label is open: who finds them, the list and voiding for the admin, the picture of a graph."""

from html import unescape

import pytest

from annotation_app.models import Task
from annotation_app.pages import tasks as pages
from annotation_app.pages.task_graph import DOWN, HEIGHT, WIDTH, picture_of
from tests.annotation_app.task_uploads import output, upload
from tests.blinding.task_metadata.packages import metadata
from tests.factories import StudyUnderTest, a_study, rows


@pytest.fixture
def coding() -> StudyUnderTest:
    return a_study(phase="coding", outputs=rows(tasks=3, per_task=2))


@pytest.mark.django_db
def test_the_admin_lists_and_voids(coding: StudyUnderTest) -> None:
    admin, task = coding.client("admin"), Task.objects.get(task_id="task-1")
    page = coding.page(f"tasks/{task.pk}/void/")
    assert b"task-1" in admin.get(page).content
    assert admin.post(page, {"reason": " "}).status_code == 422
    told = admin.post(page, {"reason": "The reference was wrong."}, follow=True).content.decode()
    assert "2 outputs leave the figures, 4 items" in told
    assert "The reference was wrong." in told
    again = admin.post(page, {"reason": "Once more."})
    assert again.status_code == 409
    assert "voided before" in unescape(again.content.decode())


@pytest.mark.django_db
def test_nobody_else_finds_the_list_or_the_form(coding: StudyUnderTest) -> None:
    page = coding.page(f"tasks/{Task.objects.get(task_id='task-1').pk}/void/")
    for name in ("project_author", "monitor", "primary_A", "adjudicator", "audit"):
        assert coding.client(name).get(page).status_code == 404
        assert coding.client(name).post(page, {"reason": "Mine."}).status_code == 404
    for name, status in (("project_author", 409), ("monitor", 409), ("primary_A", 404), ("adjudicator", 404)):
        assert coding.client(name).get(coding.page("tasks/")).status_code == status
        assert coding.client(name).get(coding.page("tasks/results/")).status_code == status
    other = a_study("elsewhere")
    assert other.client("admin").get(page).status_code == 404


@pytest.mark.django_db
def test_a_long_list_comes_in_pages(
    coding: StudyUnderTest, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries
) -> None:
    admin = coding.client("admin")
    admin.get(coding.page("tasks/"))
    with django_assert_num_queries(5):
        whole = admin.get(coding.page("tasks/")).content
    assert b"task-1" in whole
    assert b"task-3" in whole
    monkeypatch.setattr(pages, "ON_A_PAGE", 2)
    with django_assert_num_queries(5):
        second = admin.get(coding.page("tasks/") + "?page=2").content
    assert b"task-3" in second
    assert b"task-1" not in second


@pytest.mark.django_db
def test_the_batch_page_shows_what_the_check_of_packages_found(coding: StudyUnderTest) -> None:
    batch = upload(coding, [output(1, "menu-1")], metadata({"capabilities": ["A.1", "A.1"]}))
    page = coding.client("admin").get(coding.page(f"batches/{batch.pk}/")).content.decode()
    assert "duplicate_capability" in page
    assert "Gates 1 and 10 are attested outside." in page
    assert "stand-in" in page
    clean = coding.import_batch([output(2, "task-2")])
    assert (
        "Task packages"
        not in coding.client("admin").get(coding.page(f"batches/{clean.pk}/")).content.decode()
    )


def test_a_picture_has_a_column_for_each_step() -> None:
    picture = picture_of(metadata())
    assert picture is not None
    x = {node.id: node.x for node in picture.nodes}
    assert x["shop"] == x["lay-table"] < x["chop"] < x["cook"]
    assert len({(node.x, node.y) for node in picture.nodes}) == 4
    assert {(edge.before, edge.after) for edge in picture.edges} == {
        ("shop", "chop"),
        ("chop", "cook"),
        ("shop", "cook"),
    }
    assert all(
        node.x + WIDTH <= picture.width and node.y + HEIGHT <= picture.height for node in picture.nodes
    )


def test_a_line_over_several_columns_runs_between_the_rows() -> None:
    picture = picture_of(metadata())
    assert picture is not None
    (long,) = (edge for edge in picture.edges if (edge.before, edge.after) == ("shop", "cook"))
    (shop,) = (node for node in picture.nodes if node.id == "shop")
    assert f" {shop.y + HEIGHT + DOWN // 2} L" in long.path


def test_long_names_are_cut_and_kept_whole_beside() -> None:
    name = "a" * 60
    picture = picture_of({"required_actions": {"actions": [{"id": name}], "precedence": []}})
    assert picture is not None
    assert (picture.nodes[0].id, len(picture.nodes[0].label)) == (name, 22)


def test_without_actions_there_is_no_picture() -> None:
    assert picture_of({}) is None
