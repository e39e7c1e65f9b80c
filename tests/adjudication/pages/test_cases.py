"""The adjudicator's page: both codings unattributed, a decision per field, nothing about why the case is there."""

import json
import re
from typing import Any

import pytest

from adjudication.models import Case, CaseDraft, Decision
from adjudication.pages.case_shown import choices_in
from adjudication.projections import CaseView
from adjudication.services.cases import claimed_case
from annotation_app.errors import Absent
from annotation_app.models import Assignment, Record
from annotation_app.services.records import Submission, submit_record
from tests.annotation_app.pages.reading import HTMX, body_of, text_of
from tests.factories import StudyUnderTest, a_study, first_answers, rows

pytestmark = pytest.mark.django_db

WHY = "The second sentence says so."


def coded() -> StudyUnderTest:
    study = a_study(phase="coding", outputs=rows(tasks=2), protocol={"adjudication": ONE_STEP})
    study.code_all("primary_A"), study.code_all("primary_B")
    study.settle()
    return study


ONE_STEP = {"steps": 1, "sham_share": 0}


def claim(study: StudyUnderTest, role: str = "adjudicator") -> str:
    """Open the queue as a browser does; return the address of the case."""
    answer = study.client(role).get(study.page("cases/"))
    assert answer.status_code == 302
    return str(answer["Location"])


def keys_in_dispute(page: str) -> list[str]:
    return re.findall(r'<fieldset class="dispute[^>]* id="([^"]+)"', page)


def decide(study: StudyUnderTest, address: str, headers: Any = None, **fields: Any) -> Any:
    sent = {"claim_no": "1", "rationale": WHY, **fields}
    return study.client("adjudicator").post(f"{address}decision/", sent, headers=headers)


def test_the_queue_opens_a_case_and_the_same_one_again() -> None:
    study = coded()
    address = claim(study)
    assert claim(study) == address
    page = text_of(study.client("adjudicator").get(address))
    assert "Compare and decide" in page
    assert "Follow the river" in page


def test_the_page_names_no_coder_no_time_and_no_reason() -> None:
    study = coded()
    page = body_of(study.client("adjudicator").get(claim(study)))
    for name in ("primary_A", "primary_B"):
        assert study[name].alias not in page
        assert study.names[name] not in page
    for telling in (
        "r_meta",
        "semantic_cluster",
        "gold_class",
        "adjudication_required",
        'dispute"}',
        "origin",
    ):
        assert telling not in page


def test_a_decision_leads_to_the_next_case_and_is_laid_over_both_records() -> None:
    study = coded()
    address = claim(study)
    keys = keys_in_dispute(body_of(study.client("adjudicator").get(address)))
    assert keys
    answer = decide(study, address, **dict.fromkeys(keys, "left"))
    assert answer["Location"] == study.page("cases/")
    stored = Decision.objects.get()
    assert stored.rationale == WHY
    assert set(stored.values) == set(keys)
    assert claim(study) != address


def test_a_script_is_told_where_to_go_on() -> None:
    study = coded()
    address = claim(study)
    keys = keys_in_dispute(body_of(study.client("adjudicator").get(address)))
    answer = decide(study, address, headers=HTMX, **dict.fromkeys(keys, "undecided"))
    assert (answer.status_code, answer["HX-Redirect"]) == (204, study.page("cases/"))


def test_what_is_not_settled_is_named_and_what_was_chosen_is_kept() -> None:
    study = coded()
    address = claim(study)
    keys = keys_in_dispute(body_of(study.client("adjudicator").get(address)))
    part = decide(study, address, headers=HTMX, **{keys[0]: "right", "rationale": " "})
    page = body_of(part)
    assert part.status_code == 422
    assert "<html" not in page
    assert "Give your reasons in a sentence or two." in page
    assert page.count("Choose a value, or leave it undecided on purpose.") == len(keys) - 1
    assert re.search(rf'name="{keys[0]}" value="right"[^>]* checked', page)
    assert Decision.objects.count() == 0
    whole = decide(study, address, rationale="")
    assert "Not recorded. Still to be settled:" in text_of(whole, 422)


def test_another_value_is_read_as_the_form_would() -> None:
    study = coded()
    address = claim(study)
    claimed = claimed_case(membership=study["adjudicator"], uid=Case.objects.get(claimed_by__isnull=False).pk)
    form = CaseView.of(claimed, study["adjudicator"]).form
    radios = {f["key"]: f["options"][-1]["value"] for f in form["fields"] if f["kind"] == "radio"}
    keys = keys_in_dispute(body_of(study.client("adjudicator").get(address)))
    sent = {key: "other" if key in radios else "left" for key in keys}
    sent |= {f"other-{key}": value for key, value in radios.items()}
    assert decide(study, address, **sent).status_code == 302
    assert {v["value"] for v in Decision.objects.get().values.values() if v["from"] == "other"} <= set(
        radios.values()
    )


def test_another_cluster_is_made_of_its_parts() -> None:
    study = coded()
    claim(study)
    claimed = claimed_case(membership=study["adjudicator"], uid=Case.objects.get(claimed_by__isnull=False).pk)
    view = CaseView.of(claimed, study["adjudicator"])
    control = next(f for f in view.form["fields"] if f["kind"] == "cluster")
    key, picker, target = control["key"], control["picker"]["key"], control["target"]["key"]
    typed = {key: "other", f"other-{key}": "2", f"other-{picker}": "C1", f"other-{target}": "C2"}
    chosen = choices_in(claimed, study["adjudicator"], view, typed)
    assert chosen == {key: {"from": "other", "value": {key: "2", picker: "C1", target: "C2"}}}


def test_an_agreed_field_is_overruled_only_where_it_is_ticked() -> None:
    study = coded()
    address = claim(study)
    page = body_of(study.client("adjudicator").get(address))
    agreed = re.findall(r'<fieldset class="agreed[^>]* id="([^"]+)"', page)
    sent = dict.fromkeys(keys_in_dispute(page), "left") | {f"other-{key}": "1" for key in agreed}
    assert decide(study, address, **sent).status_code == 302
    assert not set(agreed) & set(Decision.objects.get().values)


def test_a_draft_is_kept_for_its_author_and_shown_again() -> None:
    study = coded()
    address = claim(study)
    client = study.client("adjudicator")
    key = keys_in_dispute(body_of(client.get(address)))[0]
    fields = {key: "right", "rationale": "Half a thought\u0000", "claim_no": "1"}
    kept = put(study, address, fields, 0)
    assert kept.json()["version"] == 1
    page = body_of(client.get(address))
    assert re.search(rf'name="{key}" value="right"[^>]* checked', page)
    assert "Half a thought" in page
    assert 'name="draft_version" value="1"' in page
    stale = put(study, address, fields, 0)
    assert stale.status_code == 409
    assert stale.json()["fields"] == CaseDraft.objects.get().fields


def put(study: StudyUnderTest, address: str, fields: Any, version: int) -> Any:
    body = json.dumps({"fields": fields, "version": version})
    return study.client("adjudicator").put(f"{address}draft/", body, content_type="application/json")


def test_a_draft_that_is_no_draft_is_refused() -> None:
    study = coded()
    address = claim(study)
    client = study.client("adjudicator")
    assert client.put(f"{address}draft/", "{", content_type="application/json").status_code == 400
    assert put(study, address, "text", 0).status_code == 400
    assert put(study, address, {"rationale": "x" * 200_001}, 0).status_code == 400
    assert put(study, address, {"f1": {"deep": 1}, "f2": 7}, 0).status_code == 200
    assert CaseDraft.objects.get().fields == {"f1": "", "f2": ""}


def test_a_lost_claim_is_told_without_losing_what_was_typed() -> None:
    study = coded()
    address = claim(study)
    Case.objects.filter(claimed_by__isnull=False).update(claim_no=2)
    page = text_of(decide(study, address, headers=HTMX), 409)
    assert "ran out" in page


def test_a_case_is_its_claimants_and_of_the_own_study() -> None:
    study = a_study(phase="coding", outputs=rows(tasks=2), members={"adjudicator": 2})
    study.code_all("primary_A"), study.code_all("primary_B")
    study.settle()
    address = claim(study)
    assert study.client("adjudicator2").get(address).status_code == 404
    assert study.client("primary_A").get(address).status_code == 404
    assert claim(study, "adjudicator2") != address


def test_two_codings_that_agree_and_a_flag_look_alike() -> None:
    study = a_study(
        phase="coding", outputs=rows(tasks=1), protocol={"adjudication": {"steps": 1, "sham_share": 1}}
    )
    flagged = False

    def answers(view: Any) -> dict[str, Any]:
        nonlocal flagged
        flag = {} if flagged else {f["key"]: True for f in view.form["fields"] if f["kind"] == "flag"}
        flagged = True
        return first_answers(view) | flag

    study.code_all("primary_A", answers), study.code_all("primary_B", first_answers)
    study.settle()
    assert set(Case.objects.values_list("origin", flat=True)) == {"sham", "flag"}
    pages = {}
    while (answer := study.client("adjudicator").get(study.page("cases/"))).status_code == 302:
        address = answer["Location"]
        page = text_of(study.client("adjudicator").get(address))
        shown = re.sub(r"\bC[0-9]+", "C", page.split("fields not in dispute")[1])
        pages[Case.objects.get(pk=address.split("/")[-2]).origin] = shown
        assert decide(study, address).status_code == 302
    assert pages["sham"] == pages["flag"]
    assert Record.objects.filter(flagged=True).count() == 1


def test_without_a_case_the_page_says_what_comes_next() -> None:
    study = a_study(phase="coding")
    assert "No case is waiting" in text_of(study.client("adjudicator").get(study.page("cases/")))
    study.to("review")
    study.lock()
    page = text_of(study.client("adjudicator").get(study.page("cases/")), 409)
    assert "Cases are decided during coding and review." in page


def test_notes_are_shown_where_the_protocol_says_so_with_names_masked() -> None:
    study = a_study(
        phase="coding",
        outputs=rows(tasks=1),
        protocol={"adjudication": {"steps": 1, "sham_share": 0, "show_notes": True}},
    )

    def noted(choice: str) -> Any:
        def answers(view: Any) -> dict[str, Any]:
            cluster = next(f for f in view.form["fields"] if f["kind"] == "cluster")
            note = {cluster["notes"]["key"]: "It reads like ChatGPT to me."}
            radios = {
                f["key"]: f["options"][int(choice)]["value"]
                for f in view.form["fields"]
                if f["kind"] == "radio"
            }
            return first_answers(view) | radios | {cluster["key"]: "5"} | note

        return answers

    study.code_all("primary_A", noted("0")), study.code_all("primary_B", first_answers)
    study.settle()
    page = text_of(study.client("adjudicator").get(claim(study)))
    assert "It reads like [name removed] to me." in page
    assert "ChatGPT to me" not in page


@pytest.mark.parametrize("how", ["hunch", "knows"])
def test_an_adjudicator_who_recognises_the_source_comes_back_to_the_cases(how: str) -> None:
    study = coded()
    claim(study)
    item = Case.objects.exclude(claimed_by=None).get().assignment_id
    answer = study.client("adjudicator").post(study.page(f"annotate/{item}/recognised/"), {"how": how})
    assert answer.status_code == 302
    assert answer["Location"] == study.page("cases/")


def test_a_missing_rationale_is_named_as_such_in_the_summary() -> None:
    study = coded()
    address = claim(study)
    page = body_of(decide(study, address, rationale=""))
    assert '<a href="#rationale">Rationale</a>' in page


def test_the_item_of_a_case_is_no_item_to_code() -> None:
    study = coded()
    claim(study)
    item = Assignment.objects.get(member=study["adjudicator"])
    stored = Record.objects.count()
    address = study.page(f"annotate/{item.pk}/")
    sent = {"f3": "1", "submission_id": "s", "base_version": "0"}
    for fields in (sent, {"do": "erratum", "erratum": "Wrong."}):
        assert study.client("adjudicator").post(address, fields).status_code == 404
    assert study.client("adjudicator").get(address).status_code == 404
    with pytest.raises(Absent):
        submit_record(membership=study["adjudicator"], uid=item.pk, submission=Submission(sent))
    assert Record.objects.count() == stored
    recognised = study.client("adjudicator").post(f"{address}recognised/", {"how": "hunch"})
    assert recognised["Location"] == study.page("cases/")
