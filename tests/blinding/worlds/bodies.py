"""What is posted to each route: something that makes sense there, and something that does not.

Every route that takes a POST from anybody has a body here; the tests fail for one that is forgotten.
"""

import io
import re
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.core.exceptions import ObjectDoesNotExist

from adjudication.models import Case
from annotation_app.errors import Absent, Refused
from annotation_app.models import Assignment, Membership, Question
from tests.blinding.worlds.routes import Things
from tests.blinding.worlds.script import answers
from tests.blinding.worlds.training import reference
from tests.blinding.worlds.world import World
from tests.factories import ADMIN_PASSPHRASE, AUTHOR_PASSPHRASE, PASSWORD

Body = Any
Made = Callable[[World, str, str], Body]  # world, role, address → body

API, PAGES = "api/v1/studies/<slug:slug>/", "studies/<slug:slug>/"
NEW = "seventeen geese in a row"
WHY = "There is a reason."


def nonsense(is_program: bool) -> Body:
    """Return a body that fits nowhere."""
    return (
        {"nonsense": ["x"], "version": "x", "fields": "x"}
        if is_program
        else {"nonsense": "x", "do": "nonsense"}
    )


def of(pattern: str) -> Made | None:
    """Return what makes a sensible body for a route, None where there is none."""
    fixed = _FIXED.get(pattern)
    return (lambda world, role, address: fixed) if fixed is not None else _MADE.get(pattern)


def _item(world: World, role: str, address: str) -> Assignment | None:
    """The item of an address, where it is the asker's own."""
    return Assignment.objects.filter(pk=_uid(address), member__user__username=role).first()


def _uid(address: str) -> str:
    return str(re.findall(r"[0-9a-f-]{36}", address)[0])


def _fields(world: World, role: str, address: str) -> dict[str, Any]:
    item = _item(world, role, address)
    return answers(world, role, item.pk, "sweep") if item else {"f1": "1", "f2": "1"}


def _base(world: World, role: str, address: str) -> int:
    item = _item(world, role, address)
    return item.version if item else 0


def _record(world: World, role: str, address: str) -> Body:
    return {
        "fields": _fields(world, role, address),
        "submission_id": "sweep",
        "base_version": _base(world, role, address),
    }


def _page_record(world: World, role: str, address: str) -> Body:
    return _fields(world, role, address) | {
        "submission_id": "sweep",
        "base_version": _base(world, role, address),
    }


def _draft(world: World, role: str, address: str) -> Body:
    return {"fields": _fields(world, role, address), "version": 0}


def _file(content: bytes, file_name: str, **more: str) -> Body:
    sent = io.BytesIO(content)
    sent.name = file_name
    return {"file": sent, **more}


def _upload(world: World, role: str, address: str) -> Body:
    return _file(b"{}\n", "more.jsonl", name="Second", purpose="main")


def _receipt(world: World, role: str, address: str) -> Body:
    return _file(b"stamped", "receipt.tsr")


def _stamped(world: World, role: str, address: str) -> Body:
    return _file(b"stamped", "receipt.tsr", batch=str(Things.of(world).batch), digest="")


def _decision(world: World, role: str, address: str) -> Body:
    case = Case.objects.filter(pk=_uid(address)).first()
    number = case.claim_no if case else 1
    return {"values": {"f1": {"from": "left"}}, "rationale": WHY, "claim_no": number}


def _page_decision(world: World, role: str, address: str) -> Body:
    return {
        "f1": "left",
        "f2": "right",
        "f3": "left",
        "rationale": WHY,
        "claim_no": _decision(world, role, address)["claim_no"],
    }


def _reference(world: World, role: str, address: str) -> dict[str, Any]:
    """A reference code of a training text, for who writes one now."""
    try:
        return reference(world, role, UUID(_uid(address)))
    except (ObjectDoesNotExist, Absent, Refused):
        return {"f1": "1", "f2": "1"}


def _question(world: World, role: str, address: str) -> Body:
    waiting = Question.objects.filter(answer="").first()
    if role == "project_author" and waiting:
        return {"do": "answer", "question": str(waiting.pk), "answer": "It does not."}
    return {"do": "ask", "text": "Is a ford a bridge?"}


def _end(world: World, role: str, address: str) -> Body:
    return {"do": "end", "alias": Membership.objects.get(user__username="primary_B2").alias, "reason": WHY}


def _gate(world: World, role: str, address: str) -> Body:
    """Passing a coder on; `do` is for the page alone."""
    return {"do": "gate", "alias": world.member("primary_B2").alias, "reason": WHY}


def _sign_in(world: World, role: str, address: str) -> Body:
    return {"username": role, "password": PASSWORD}


_STUDY = {"slug": "another", "title": "Another", "passphrase": ADMIN_PASSPHRASE}
_CODEBOOK = {"version": "9", "kind": "clarification", "text": "Read it twice."}
_ASK = {"reason": WHY, "passphrase": AUTHOR_PASSPHRASE, "password": PASSWORD}
_APPROVE = {"passphrase": ADMIN_PASSPHRASE, "password": PASSWORD}
_CHANGE = {"old": AUTHOR_PASSPHRASE, "new": NEW}
_RECOVER = {"code": "0" * 40, "new": NEW}
_GUESS = {"answers": {"g1": "meadow", "g2": None}, "reason": ""}

_FIXED: dict[str, Body] = {
    "sign-out/": {},
    "account/": {"do": "data"},
    "new-study/": _STUDY | {"passphrase_again": ADMIN_PASSPHRASE},
    "invitations/<str:secret>/": {"password": PASSWORD, "again": PASSWORD},
    "api/v1/studies/": _STUDY,
    API + "agreement-reports/": {},
    API + "assignments/<uuid:uid>/recognised/": {"how": "knows", "what": "I wrote it."},
    API + "assignments/<uuid:uid>/skip/": {},
    API + "batches/<uuid:uid>/release/": {"reason": WHY},
    API + "codebooks/": _CODEBOOK | {"fields": {}},
    API + "declaration/": {"accepted": True},
    API + "exports/": {},
    API + "guesses/<uuid:uid>/": _GUESS,
    API + "key/": {"passphrase": NEW},
    API + "key/passphrase/": _CHANGE,
    API + "key/recovery/": _RECOVER,
    API + "members/": {"username": "newcomer", "role": "audit", "password": PASSWORD},
    API + "outputs/<str:blinded_id>/recall/": {"reason": WHY},
    API + "outputs/<str:blinded_id>/recall/lift/": {"note": WHY},
    API + "outputs/<str:blinded_id>/recall/mask/": {"note": WHY, "words": ["river"]},
    API + "phase/": {"to": "review", "reason": WHY},
    API + "practice/": {},
    API + "tasks/<uuid:uid>/void/": {"reason": WHY},
    API + "unblinding/": _ASK,
    API + "unblinding/<uuid:uid>/approve/": _APPROVE,
    API + "unblinding/<uuid:uid>/refuse/": {"reason": WHY},
    API + "unblinding/<uuid:uid>/withdraw/": {},
    PAGES + "annotate/<uuid:uid>/recognised/": {"how": "says_so", "what": "It says so."},
    PAGES + "annotate/<uuid:uid>/skip/": {"how": "opt_out"},
    PAGES + "batches/<uuid:uid>/": {"do": "discard"},
    PAGES + "batches/<uuid:uid>/finding/": {"term": "ChatGPT", "kind": "lexicon", "accepted": "false"},
    PAGES + "batches/<uuid:uid>/release/": {"confirmed": "on", "reason": WHY},
    PAGES + "closing/<uuid:uid>/": {"g1": "meadow", "g2": ""},
    PAGES + "codebook/": _CODEBOOK | {"fields": ""},
    PAGES + "declaration/": {"accepted": "on"},
    PAGES + "events/": {"head": ""},
    PAGES + "exports/": {"do": "bundle"},
    PAGES + "key/": {"do": "change", **_CHANGE, "new_again": NEW},
    PAGES + "phase/": {"to": "review", "reason": WHY},
    PAGES + "practice/": {"confirmed": "on"},
    PAGES + "protocol/": {"protocol": "{}"},
    PAGES + "reports/": {},
    PAGES + "training/items/<uuid:uid>/": {"which": "own"},
    PAGES + "unblinding/": {"do": "request", **_ASK},
}

_MADE: dict[str, Made] = {
    "sign-in/": _sign_in,
    "api/v1/auth/token/": _sign_in,
    API + "assignments/<uuid:uid>/draft/": _draft,
    API + "assignments/<uuid:uid>/record/": _record,
    API + "batches/": _upload,
    API + "cases/<uuid:uid>/decision/": _decision,
    API + "commitments/<uuid:uid>/receipt/": _receipt,
    API + "training/gates/": _gate,
    API + "training/texts/<uuid:uid>/": lambda world, role, address: {
        "fields": _reference(world, role, address)
    },
    PAGES + "annotate/<uuid:uid>/": _page_record,
    PAGES + "annotate/<uuid:uid>/draft/": lambda world, role, address: {"json": _draft(world, role, address)},
    PAGES + "batches/": _upload,
    PAGES + "cases/<uuid:uid>/draft/": lambda world, role, address: {
        "json": {"fields": {"f1": "left"}, "version": 0}
    },
    PAGES + "cases/<uuid:uid>/decision/": _page_decision,
    PAGES + "evidence/": _stamped,
    PAGES + "members/": _end,
    PAGES + "questions/": _question,
    PAGES + "training/": _gate,
    PAGES + "training/texts/<uuid:uid>/": _reference,
}
