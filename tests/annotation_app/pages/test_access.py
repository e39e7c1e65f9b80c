"""Every page of a study, for every role: there, not now, or not there at all."""

import pytest
from django.test import Client

from tests.annotation_app.pages.reading import body_of
from tests.factories import StudyUnderTest, a_study, an_account, signed_in

pytestmark = pytest.mark.django_db

EVERYBODY = frozenset(
    {"admin", "project_author", "primary_A", "primary_B", "adjudicator", "audit", "monitor"}
)
CODERS = frozenset({"primary_A", "primary_B", "audit"})
RUNNERS = frozenset({"admin", "project_author"})
READERS = RUNNERS | {"monitor"}

# During coding: which roles find the page, and what it answers them. All others get 404.
PAGES = {
    "": (EVERYBODY, 200),
    "codebook/": (EVERYBODY, 200),
    "questions/": (CODERS | {"adjudicator", "project_author"}, 200),
    "batches/": (frozenset({"admin"}), 200),
    "members/": (frozenset({"admin"}), 200),
    "phase/": (RUNNERS, 200),
    "key/": (RUNNERS, 200),
    "protocol/": (RUNNERS, 200),
    "unblinding/": (READERS, 200),
    "events/": (frozenset({"monitor"}), 200),
    "evidence/": (READERS, 200),
    "cases/": (frozenset({"adjudicator"}), 200),
    "exports/": (frozenset({"project_author"}), 409),
    "exports/records.jsonl": (frozenset({"project_author"}), 409),
    "reports/": (READERS, 409),
    "results/": (frozenset({"project_author", "monitor"}), 409),
    "results/figures.csv": (frozenset({"project_author", "monitor"}), 409),
}


def test_each_page_is_there_for_its_roles_and_for_no_other() -> None:
    study = a_study(phase="coding")
    found = {
        (page, role): study.client(role).get(study.page(page)).status_code
        for page in PAGES
        for role in EVERYBODY
    }
    assert found == {
        (page, role): status if role in roles else 404
        for page, (roles, status) in PAGES.items()
        for role in EVERYBODY
    }


def test_what_a_member_may_read_in_one_study_is_absent_for_them_in_another() -> None:
    mine, other = a_study("riverside"), a_study("hillside")
    for role in EVERYBODY:
        assert {mine.client(role).get(other.page(page)).status_code for page in PAGES} == {404}


def test_who_is_not_signed_in_is_sent_to_do_so_and_back() -> None:
    study = a_study()
    answer = Client().get(study.page("batches/"))
    assert answer.status_code == 302
    assert answer["Location"] == f"/sign-in/?next=%2Fstudies%2F{study.slug}%2Fbatches%2F"


def test_a_page_waits_for_the_declaration() -> None:
    study = a_study(declared=False)
    sent = study.client("monitor").get(study.page("events/"))["Location"]
    assert sent == f"{study.page('declaration/')}?next=%2Fstudies%2F{study.slug}%2Fevents%2F"
    assert study.client("monitor").get(study.page())["Location"] == study.page("declaration/")
    answer = study.client("project_author").post(study.page("key/"), {"do": "add"})
    assert answer.status_code == 409


def test_who_signs_the_declaration_comes_to_the_page_asked_for_and_nowhere_else() -> None:
    study, other = a_study(declared=False), a_study(slug="harbour", declared=False)
    home = study.page()
    for role, asked, reached in (
        ("monitor", study.page("events/?page=2"), study.page("events/?page=2")),
        ("admin", other.page("members/"), home),
        ("project_author", f"//elsewhere.org{study.page('events/')}", home),
        ("primary_A", f"{home}../../account/", home),
        ("primary_B", f"https://elsewhere.org{home}", home),
        ("adjudicator", "", home),
    ):
        answer = study.client(role).post(study.page("declaration/"), {"accepted": "true", "next": asked})
        assert (answer.status_code, answer["Location"]) == (302, reached)


def test_the_declaration_carries_the_page_asked_for() -> None:
    study = a_study(declared=False)
    page = body_of(study.client("monitor").get(study.page("declaration/"), {"next": study.page("events/")}))
    assert f'name="next" value="{study.page("events/")}"' in page


def test_a_page_is_never_kept_by_a_cache() -> None:
    study = a_study()
    assert study.client("admin").get(study.page("members/"))["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("role", "words"),
    [
        ("admin", "You see batches, members and totals, never codes."),
        ("project_author", "An answer goes to all coders at once."),
        ("primary_A", "Your order is your own"),
        ("audit", "Your order is your own"),
        ("adjudicator", "Cases are decided during coding and review."),
        ("monitor", "You read the event log and verify it."),
    ],
)
def test_home_is_written_for_the_role(role: str, words: str) -> None:
    study = a_study()
    assert words in text_of(study, role, "")


def test_the_list_of_studies_has_ones_own_only() -> None:
    mine, _other = a_study("riverside"), a_study("hillside")
    page = mine.client("primary_A").get("/").content.decode()
    assert "Riverside" in page
    assert "Hillside" not in page
    assert "New study" not in page


def test_who_has_no_study_is_told_what_comes_next() -> None:
    page = signed_in(an_account("newcomer")).get("/").content.decode()
    assert "You have no role in a study yet." in page


def text_of(study: StudyUnderTest, role: str, page: str) -> str:
    answer = study.client(role).get(study.page(page))
    assert answer.status_code == 200
    return answer.content.decode()
