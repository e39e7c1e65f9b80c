"""Training and closing questions on pages and over REST: who is let in, and what stands there."""

import pytest

from annotation_app.models import Assignment, Guess, Output, ReferenceCode
from annotation_app.services.references import training_item
from blinding.policy import Role
from tests.annotation_app.test_training import (
    MARK,
    code_practice,
    main_sample,
    practice,
    write_all_references,
)
from tests.factories import StudyUnderTest, a_study, first_answers

pytestmark = pytest.mark.django_db
GUESSING = {"guess": {"share": 1.0, "conditions": ["inland", "coast"], "models": ["tin", "lead"]}}


@pytest.fixture
def study() -> StudyUnderTest:
    made = a_study("riverside", protocol=MARK, phase="training")
    made.release(made.import_batch(practice(), "calibration"))
    code_practice(made, b=1)
    return made


@pytest.mark.parametrize(
    ("name", "status"),
    [(str(role), 404 if role in (Role.AUDIT, Role.MONITOR) else 200) for role in Role],
)
def test_training_is_open_to_who_takes_part_in_it(study, name, status):
    assert study.client(name).get(study.page("training/")).status_code == status


def test_a_coder_compares_and_names_the_right_code(study):
    client, item = (
        study.client("primary_A"),
        Assignment.objects.visible_to(study["primary_A"]).order_by("position")[0],
    )
    page = client.get(study.page(f"training/items/{item.pk}/"))
    assert page.status_code == 200
    assert "1 field differs." in page.content.decode()
    done = client.post(study.page(f"training/items/{item.pk}/"), {"which": "other"})
    assert done.status_code == 302
    assert "You said: the other’s." in client.get(study.page(f"training/items/{item.pk}/")).content.decode()


def test_somebody_elses_item_is_not_there(study):
    item = Assignment.objects.visible_to(study["primary_B"])[0]
    assert study.client("primary_A").get(study.page(f"training/items/{item.pk}/")).status_code == 404


def test_the_project_author_writes_a_reference_and_it_is_marked(study):
    client, output = study.client("project_author"), Output.objects.filter(study=study.study)[0]
    address = study.page(f"training/texts/{output.pk}/")
    assert client.get(address).status_code == 200
    assert client.post(address, {}).status_code == 422
    item = training_item(membership=study["project_author"], uid=output.pk)
    assert client.post(address, first_answers(item)).status_code == 302  # type: ignore[arg-type]  # a form is all it needs
    assert ReferenceCode.objects.get().source == "project_author"
    assert "written by the project author" in client.get(study.page("training/texts/")).content.decode()


def test_the_gate_on_the_page_asks_for_a_reason_below_the_mark(study):
    client, alias = study.client("admin"), study["primary_A"].alias
    refused = client.post(study.page("training/"), {"do": "gate", "alias": alias})
    assert refused.status_code == 422
    assert "The mark is not reached." in refused.content.decode()
    done = client.post(study.page("training/"), {"do": "gate", "alias": alias, "reason": "We talked."})
    assert done.status_code == 302
    assert "passed on" in client.get(study.page("training/")).content.decode()


def test_what_coders_agree_on_is_taken_from_the_page(study):
    output = Output.objects.filter(study=study.study)[0]
    done = study.client("admin").post(study.page("training/"), {"do": "agreed", "round": output.batch_id})
    assert done.status_code == 302


def test_training_over_rest(study):
    write_all_references(study)
    shown = study.api("admin").get(study.url("training/")).json()
    assert shown["mark"] == 0.8
    assert [c["rounds"][0]["share"] == 1.0 for c in shown["coders"]] == [True, False]
    assert shown["rounds"][0]["references"] == {"adjudicator": 4}
    answer = study.api("admin").post(study.url("training/gates/"), {"alias": shown["coders"][0]["alias"]})
    assert answer.status_code == 201
    texts = study.api("adjudicator").get(study.url("training/texts/")).json()
    place = study.url(f"training/texts/{texts[0]['uid']}/")
    assert study.api("adjudicator").get(place).json()["source"] == "adjudicator"
    assert study.api("adjudicator").post(place, {"fields": {}}, format="json").status_code == 422
    assert study.api("primary_A").get(study.url("training/")).status_code == 404


def test_a_waiting_coder_is_told_why_on_every_page(study):
    study.to("coding")
    study.release(study.import_batch(main_sample()))
    client = study.client("primary_A")
    assert "not passed on to the main items yet" in client.get(study.page()).content.decode()
    answer = client.get(study.page("annotate/"))
    assert answer.status_code == 409
    assert "not passed on" in answer.content.decode()


def test_closing_questions_come_once_everything_is_final():
    study = a_study("lakeside", protocol=GUESSING, phase="coding", outputs=main_sample())
    client = study.client("primary_A")
    assert client.get(study.page("closing/")).status_code == 409
    study.code_all("primary_A")
    study.finalise()
    assert "4 closing questions are left" in client.get(study.page()).content.decode()
    page = client.get(study.page("closing/"))
    assert page.status_code == 200
    html = page.content.decode()
    assert "Closing question 1 of 4" in html
    assert html.index("I don’t know") < html.index("inland")


def test_a_closing_question_is_answered_once_and_shows_no_result():
    study = a_study("lakeside", protocol=GUESSING, phase="coding", outputs=main_sample())
    study.code_all("primary_A")
    study.finalise()
    client = study.client("primary_A")
    item = client.get(study.page("closing/")).context["item"]["uid"]
    refused = client.post(study.page(f"closing/{item}/"), {"g1": "inland"})
    assert refused.status_code == 422
    assert "Choose an answer; not knowing is one." in refused.content.decode()
    answers = {"g1": "inland", "g2": "", "reason": "The wording."}
    assert client.post(study.page(f"closing/{item}/"), answers).status_code == 302
    assert client.post(study.page(f"closing/{item}/"), answers).status_code == 409
    guess = Guess.objects.get()
    assert (guess.condition, guess.model, guess.reason) == ("inland", "", "The wording.")


def test_an_answer_that_is_not_listed_is_refused():
    study = a_study("lakeside", protocol=GUESSING, phase="coding", outputs=main_sample())
    study.code_all("primary_A")
    study.finalise()
    client = study.client("primary_A")
    item = client.get(study.page("closing/")).context["item"]["uid"]
    assert client.post(study.page(f"closing/{item}/"), {"g1": "the moon", "g2": ""}).status_code == 422
    assert not Guess.objects.exists()


def test_where_the_protocol_lists_no_choices_nothing_is_asked():
    study = a_study("lakeside", phase="coding", outputs=main_sample())
    study.code_all("primary_A")
    study.finalise()
    client = study.client("primary_A")
    assert "closing question" not in client.get(study.page()).content.decode()
    assert client.get(study.page("closing/")).status_code == 302
