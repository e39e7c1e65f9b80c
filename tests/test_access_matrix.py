"""Every address of a study, for every role, in coding: found or 404. Absent and forbidden are one answer, with one body.

`API` and `PAGES` name for each address and method the roles that find something there; everybody else gets 404, whatever they
send. An address that is not in the tables fails the test. Items in the addresses are primary_A's, the case is the adjudicator's.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import URLResolver, get_resolver
from rest_framework.test import APIClient

from adjudication.services.cases import claim_next_case
from annotation_app.models import Batch, Output, Task
from annotation_app.services.assignments import next_assignment
from blinding.policy import TABLE, Disclosure, Phase, Role, disclosures
from tests.adjudication.test_cases import all_differ
from tests.factories import StudyUnderTest, a_study, an_account, first_answers, rows, signed_in, with_token

pytestmark = pytest.mark.django_db

ROLES = {
    "a": "admin",
    "p": "project_author",
    "A": "primary_A",
    "B": "primary_B",
    "j": "adjudicator",
    "u": "audit",
    "m": "monitor",
}
ALL = frozenset(ROLES)
NO_SUCH = "11111111-1111-4111-8111-111111111111"

# A role that is named but finds a state or body that is wrong gets 400, 409 or 422: it is there for that role.
API = {
    "": {"get": "apABjum"},
    "members/": {"get": "a", "post": "a", "patch": "a"},
    "declaration/": {"post": "apABjum"},
    "key/": {"post": "p"},
    "key/passphrase/": {"post": "ap"},
    "key/recovery/": {"post": "ap"},
    "codebooks/": {"post": "p"},
    "phase/": {"post": "ap"},
    "batches/": {"get": "a", "post": "a"},
    "batches/<uuid:uid>/": {"get": "a", "delete": "a"},
    "batches/<uuid:uid>/findings/": {"get": "a", "post": "a", "patch": "a", "delete": "a"},
    "batches/<uuid:uid>/release/": {"post": "a"},
    "assignments/next/": {"get": "ABu"},
    "assignments/<uuid:uid>/draft/": {"put": "ABu"},
    "assignments/<uuid:uid>/record/": {"post": "ABu"},
    "assignments/<uuid:uid>/recognised/": {"post": "ABuj"},
    "assignments/<uuid:uid>/skip/": {"post": "A"},
    "training/": {"get": "ap"},
    "training/gates/": {"post": "ap"},
    "training/texts/": {"get": "pj"},
    "training/texts/<uuid:uid>/": {"get": "pj", "post": "pj"},
    "export/records.jsonl": {"get": "p"},
    "exports/": {"get": "p", "post": "p"},
    "exports/<uuid:uid>/": {"get": "p"},
    "exports/<uuid:uid>/file/": {"get": "p"},
    "commitments/": {"get": "apm"},
    "commitments/digests/": {"get": "apm"},
    "commitments/<uuid:uid>/": {"get": "apm"},
    "commitments/<uuid:uid>/receipt/": {"post": "ap"},
    "outputs/<str:blinded_id>/recall/": {"get": "a", "post": "a"},
    "outputs/<str:blinded_id>/recall/mask/": {"post": "a"},
    "outputs/<str:blinded_id>/recall/lift/": {"post": "a"},
    "practice/": {"get": "AB", "post": "AB"},
    "guesses/next/": {"get": "AB"},
    "guesses/<uuid:uid>/": {"post": "AB"},
    "events/": {"get": "m"},
    "events/verify/": {"get": "m"},
    "unblinding/": {"get": "apm", "post": "p"},
    "unblinding/<uuid:uid>/approve/": {"post": "a"},
    "unblinding/<uuid:uid>/refuse/": {"post": "a"},
    "unblinding/<uuid:uid>/withdraw/": {"post": ""},
    "results/": {"get": "pm"},
    "results/tasks/": {"get": "pm"},
    "tasks/": {"get": "apm"},
    "tasks/<uuid:uid>/": {"get": "pm"},
    "tasks/<uuid:uid>/void/": {"post": "a"},
    "distributions/": {"get": "apABjum", "post": "p"},
    "cases/next/": {"get": "j"},
    "cases/<uuid:uid>/decision/": {"post": "j"},
    "agreement-reports/": {"get": "apm", "post": "p"},
    "agreement-reports/<uuid:uid>/": {"get": "apm"},
}
PAGES = {
    "": {"get": "apABjum"},
    "declaration/": {"get": "apABjum", "post": "apABjum"},
    "annotate/": {"get": "ABu"},
    "annotate/<uuid:uid>/": {"get": "A", "post": "A"},
    "annotate/<uuid:uid>/draft/": {"put": "ABu", "post": "ABu"},
    "annotate/<uuid:uid>/recognised/": {"post": "ABuj"},
    "annotate/<uuid:uid>/skip/": {"post": "A"},
    "records/": {"get": "ABu"},
    "practice/": {"get": "AB", "post": "AB"},
    "closing/": {"get": "AB"},
    "closing/<uuid:uid>/": {"post": "A"},  # primary_B has coded everything, and this item is not theirs
    "training/": {"get": "apABj", "post": ""},
    "training/texts/": {"get": "pj"},
    "training/texts/<uuid:uid>/": {"get": "pj", "post": "pj"},
    "training/items/<uuid:uid>/": {"get": ""},
    "codebook/": {"get": "apABjum", "post": "p"},
    "questions/": {"get": "pABju", "post": "pABju"},
    "batches/": {"get": "a", "post": "a"},
    "batches/<uuid:uid>/": {"get": "a", "post": ""},
    "batches/<uuid:uid>/progress/": {"get": "a"},
    "batches/<uuid:uid>/finding/": {"post": "a"},
    "batches/<uuid:uid>/release/": {"post": "a"},
    "batches/<uuid:uid>/commitment/": {"get": "apm"},
    "members/": {"get": "a", "post": "a"},
    "phase/": {"get": "ap", "post": "ap"},
    "key/": {"get": "ap", "post": "ap"},
    "protocol/": {"get": "ap", "post": "p"},
    "exports/": {"get": "p", "post": ""},
    "exports/records.jsonl": {"get": "p"},
    "exports/<uuid:uid>/bundle.zip": {"get": "p"},
    "unblinding/": {"get": "apm", "post": ""},
    "events/": {"get": "m", "post": "m"},
    "evidence/": {"get": "apm", "post": "ap"},
    "results/": {"get": "pm"},
    "results/figures.csv": {"get": "pm"},
    "tasks/": {"get": "apm"},
    "tasks/results/": {"get": "pm"},
    "tasks/<uuid:uid>/": {"get": "pm"},
    "tasks/<uuid:uid>/void/": {"get": "a", "post": "a"},
    "distributions/": {"get": "apABjum", "post": ""},
    "cases/": {"get": "j"},
    "cases/<uuid:uid>/": {"get": "j"},
    "cases/<uuid:uid>/draft/": {"put": "j", "post": "j"},
    "cases/<uuid:uid>/decision/": {"post": "j"},
    "reports/": {"get": "apm", "post": "p"},
    "reports/<uuid:uid>/": {"get": "apm"},
    "reports/<uuid:uid>/<slug:kind>/": {"get": "apm"},
}
BEFORE = {"api/v1/studies/<slug:slug>/": API, "studies/<slug:slug>/": PAGES}


def addresses(resolver: Any = None, before: str = "") -> Iterator[str]:
    """Yield every address of the URLconf."""
    for part in (resolver or get_resolver()).url_patterns:
        here = before + str(part.pattern)
        if isinstance(part, URLResolver):
            yield from addresses(part, here)
        else:
            yield here


@pytest.fixture
def study() -> StudyUnderTest:
    """In coding, with an item served to primary_A and a case claimed."""
    made = a_study(phase="coding", outputs=rows(tasks=1, per_task=4))
    made.code_all("primary_A", first_answers, at_most=3)
    made.code_all("primary_B", all_differ)
    made.settle()
    return made


def places(study: StudyUnderTest) -> dict[str, str]:
    item, claim = (
        next_assignment(membership=study["primary_A"]),
        claim_next_case(membership=study["adjudicator"]),
    )
    assert item is not None
    assert claim is not None
    batch = str(Batch.objects.get().pk)
    own = {
        "assignments": item.pk,
        "annotate": item.pk,
        "cases": claim.case.pk,
        "tasks": Task.objects.all()[0].pk,
    }
    return {"batches": batch, "commitments": batch} | {part: str(pk) for part, pk in own.items()}


def filled(before: str, rest: str, slug: str, ids: dict[str, str]) -> str:
    uid = ids.get(rest.split("/")[0], NO_SUCH)
    path = (
        (before + rest).replace("<slug:slug>", slug).replace("<uuid:uid>", uid).replace("<slug:kind>", "csv")
    )
    return "/" + path.replace("<str:blinded_id>", Output.objects.all()[0].blinded_output_id)


def ask(client: Client | APIClient, method: str, path: str) -> Any:
    """Send a request and undo what it did; the body is an empty object, which is wrong for most."""
    sent = {} if method == "get" else {"data": "{}", "content_type": "application/json"}
    with transaction.atomic():
        answer = getattr(client, method)(path, **sent)
        transaction.set_rollback(True)
    return answer


def client_of(study: StudyUnderTest, before: str, role: str) -> Client | APIClient:
    return study.api(role) if before.startswith("api/") else study.client(role)


@pytest.mark.parametrize("before", BEFORE)
def test_each_address_is_there_for_its_roles_and_absent_for_all_others(
    study: StudyUnderTest, before: str
) -> None:
    ids = places(study)
    found: dict[str, dict[str, str]] = {}
    absent = set()
    for rest, methods in BEFORE[before].items():
        for method in methods:
            path = filled(before, rest, study.slug, ids)
            answers = {
                letter: ask(client_of(study, before, role), method, path) for letter, role in ROLES.items()
            }
            assert 403 not in {answer.status_code for answer in answers.values()}, path
            there = "".join(letter for letter in ROLES if answers[letter].status_code != 404)
            found.setdefault(rest, {})[method] = there
            absent |= {
                a.content for a in answers.values() if a.status_code == 404 and before.startswith("api/")
            }
    wanted = {
        rest: {m: _ordered(who) for m, who in methods.items()} for rest, methods in BEFORE[before].items()
    }
    assert found == wanted
    assert len(absent) <= 1


def test_no_address_is_left_out_of_the_tables() -> None:
    known = {before + rest for before, table in BEFORE.items() for rest in table}
    inside = {address for address in addresses() if "studies/<slug:slug>/" in address}
    assert inside == known


@pytest.mark.parametrize("before", BEFORE)
def test_who_has_no_role_here_finds_nothing(study: StudyUnderTest, before: str) -> None:
    """A member of another study, with every role there in turn, and a site administrator."""
    other = a_study("hillside", phase="setup")
    boss = an_account("boss", superuser=True)
    ids = places(study)
    strangers = [other.api("admin") if "api" in before else other.client("admin")]
    strangers += [with_token_of(boss) if "api" in before else signed_in(boss)]
    for rest, methods in BEFORE[before].items():
        for method in methods:
            path = filled(before, rest, study.slug, ids)
            assert {ask(stranger, method, path).status_code for stranger in strangers} == {404}, (
                method,
                path,
            )


@pytest.mark.parametrize("before", BEFORE)
def test_who_is_not_signed_in_is_told_to_do_so(study: StudyUnderTest, before: str) -> None:
    ids = places(study)
    expected = {401} if before.startswith("api/") else {302}
    for rest, methods in BEFORE[before].items():
        for method in methods:
            for slug in (study.slug, "there-is-no-such-study"):
                path = filled(before, rest, slug, ids)
                assert {ask(Client(), method, path).status_code} == expected, (method, path)


def test_the_policy_names_every_role_in_every_phase() -> None:
    assert set(TABLE) == set(Role)
    assert all(set(phases) == set(Phase) for phases in TABLE.values())
    assert disclosures("nobody", "coding") == disclosures("admin", "nowhere") == frozenset()


def test_nobody_learns_provenance_before_the_unblinding() -> None:
    early = {
        (role, phase)
        for role, phases in TABLE.items()
        for phase, learns in phases.items()
        if Disclosure.PROVENANCE in learns and phase != Phase.UNBLINDED
    }
    assert early == set()


def test_primaries_never_learn_of_peers_cases_or_agreement() -> None:
    never = {
        Disclosure.PEER_CODES,
        Disclosure.CASES,
        Disclosure.AGREEMENT,
        Disclosure.COUNTS,
        Disclosure.EVENTS,
    }
    for role in (Role.PRIMARY_A, Role.PRIMARY_B, Role.AUDIT):
        for phase in Phase:
            assert not disclosures(role, phase) & never


def with_token_of(user: Any) -> APIClient:
    from knox.models import AuthToken

    return with_token(str(AuthToken.objects.create(user=user)[1]))


def _ordered(letters: str) -> str:
    return "".join(letter for letter in ROLES if letter in letters)
