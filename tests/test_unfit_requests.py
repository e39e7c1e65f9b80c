"""Whatever somebody with a role sends to an address is answered, never with 500; what cannot be kept is refused once."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from annotation_app.received import DEEPEST, read_json, read_typed
from tests.factories import StudyUnderTest, a_study
from tests.test_access_matrix import BEFORE, ROLES, filled, places
from tests.test_access_matrix import study as coded

__all__ = ["coded"]  # a fixture

HUGE, DEEP, LONG = 10**400, "[" * 100_000, "x" * 20_001
UNREAD = [
    DEEP.encode(),
    b"\xff",
    b"[]",
    b'{"how": "\\ud800"}',
    b'{"how": "hunch", "what": "\\u0000"}',
    b'{"version": 1e999}',
]
VALUES: list[Any] = [HUGE, -1, 1e300, True, LONG, [["a"]], {"a": {"a": 1}}]
TEXTS = ["a word", "9" * 5000, DEEP[:2000], "\0"]
# The names that bodies and forms of the product have.
_NAMED = """accepted active_seconds again alias answer answers base_version claim_no code digest do erratum f1 fields
file g1 head idle_seconds kind leave_open mapping name new note old partner passphrase password protocol purpose
question rationale reason record_schema role round slug spans submission_id term text title to username values version
what which words"""
NAMES = _NAMED.split()
LIKELY: dict[str, Any] = {
    "how": "hunch",
    "to": "review",
    "kind": "rule_change",
    "accepted": True,
    "role": "monitor",
    "claim_no": 1,
    "version": 0,
    "base_version": 0,
}


def bodies() -> Iterator[bytes]:
    """Yield what no JSON is, then one value under every name, then under some that are read late."""
    yield from UNREAD
    for value in VALUES:
        inside = {
            "fields": {"f1": value},
            "answers": {"g1": value},
            "values": {"f1": {"from": "other", "value": value}},
        }
        yield json.dumps({"how": "hunch"} | dict.fromkeys(NAMES, value)).encode()
        yield json.dumps(dict.fromkeys(NAMES, "a word") | LIKELY | inside).encode()


def requests_to(before: str, rest: str, method: str) -> Iterator[dict[str, Any]]:
    is_page = before.startswith("studies/")
    if not is_page or "draft" in rest:
        yield from ({"data": body, "content_type": "application/json"} for body in bodies())
    if method == "post":
        form = {} if is_page else {"format": "multipart"}
        yield from ({"data": {"how": "hunch"} | dict.fromkeys(NAMES, text), **form} for text in TEXTS)


@pytest.mark.django_db
@pytest.mark.parametrize("before", BEFORE)
def test_no_address_answers_500(coded: StudyUnderTest, before: str) -> None:
    ids = places(coded)
    for rest, methods in BEFORE[before].items():
        path = filled(before, rest, coded.slug, ids)
        for method, who in methods.items():
            role = ROLES[(who or "a")[0]]
            client = coded.api(role) if before.startswith("api/") else coded.client(role)
            for sent in requests_to(before, rest, method) if method != "get" else ():
                with transaction.atomic():
                    answer = getattr(client, method)(path, **sent)
                    transaction.set_rollback(True)
                assert answer.status_code < 500, (method, path, sent)


@pytest.mark.django_db
def test_what_cannot_be_kept_is_refused_in_the_usual_form(coded: StudyUnderTest) -> None:
    uid = places(coded)["assignments"]
    program, browser = coded.api("primary_A"), coded.client("primary_A")

    def send(rest: str, body: Any) -> Any:
        return program.post(coded.url(rest), json.dumps(body), content_type="application/json")

    for text in ("\0", "\ud800"):
        record: dict[str, Any] = {"fields": {}, "submission_id": text}
        assert send(f"assignments/{uid}/record/", record).status_code == 400
        said = send(f"assignments/{uid}/recognised/", {"how": text})
        assert (said.status_code, set(said.json())) == (400, {"detail"})
    page = coded.page(f"annotate/{uid}/")
    for path, form in (
        (f"{page}recognised/", {"how": "hunch", "what": "\0"}),
        (page, {"submission_id": "\0"}),
        (page, {"do": "erratum", "erratum": "\0"}),
        (page, {"\0": "f1"}),
    ):
        answer = browser.post(path, form)
        assert answer.status_code == 400
        assert "cannot be kept" in answer.content.decode()
    assert browser.put(f"{page}draft/", DEEP, content_type="application/json").status_code == 400
    assert browser.post(f"{page}draft/", {"fields": "{}"}).status_code == 400


@pytest.mark.django_db
def test_addresses_queries_and_cookies_are_looked_at_as_well() -> None:
    study = a_study(phase="setup")
    found = study.api("admin").get(study.url("outputs/%00/recall/"))
    assert (found.status_code, found.json()["errors"][0]["rule"]) == (400, "unfit_text")
    assert Client().get("/invitations/%00/").status_code == 400
    assert study.api("monitor").get(study.url("events/?kind=%00")).status_code == 400
    assert study.client("monitor").get(study.page("events/?before=%00")).status_code == 400
    browser = Client()
    browser.cookies["sessionid"] = "abcdefgh\0"
    assert browser.get("/sign-in/").status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize(
    "moment", ["0001-01-01T00:00:00%2B23:59", "9999-12-31T23:59:59-23:59", "2026-01-01T00:00:00", "soon"]
)
def test_a_cursor_that_no_page_gave_is_refused(moment: str) -> None:
    study = a_study(phase="setup")
    cursor = f"events/?before={moment}|11111111-1111-4111-8111-111111111111"
    assert study.client("monitor").get(study.page(cursor)).status_code == 400
    assert study.api("monitor").get(study.url(cursor)).status_code == 400


@pytest.mark.parametrize(
    "text",
    [
        '{"a": NaN}',
        "[-Infinity]",
        "1e999",
        '"\\u0000"',
        '{"\\ud800": 1}',
        '[["\\udfff"]]',
        DEEP,
        '{"a":' * 2000,
        "",
        "9" * 5000,
    ],
)
def test_json_that_cannot_be_kept_is_no_json(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  any kind of it
        read_json(text)


def test_json_is_read_to_a_depth_and_pairs_of_surrogates_are_whole() -> None:
    assert read_json('{"a": [1, 2.5, null, "\\ud83d\\ude00"]}') == {"a": [1, 2.5, None, "\U0001f600"]}
    deepest = "[" * DEEPEST + "]" * DEEPEST
    assert read_json(deepest)
    with pytest.raises(ValueError, match="deep"):
        read_json(f"[{deepest}]")


def test_what_a_person_typed_is_mended_rather_than_lost() -> None:
    assert read_typed('{"f1": ["half \\ud800", "\\u0000"], "\\udfff": 1}') == {
        "f1": ["half \ufffd", "\ufffd"],
        "\ufffd": 1,
    }
    with pytest.raises(ValueError, match="deep"):
        read_typed(DEEP)
