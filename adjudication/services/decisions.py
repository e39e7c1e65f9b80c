"""Deciding a case: a value per disputed field with a rationale; laid over both records, which stay as submitted."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from adjudication.comparison import adjudicated_value
from adjudication.models import Case, CaseDraft, Decision
from adjudication.services.cases import Claim, claimed_case
from annotation_app.errors import Invalid, Refused
from annotation_app.models import Assignment, Membership, RecordOverlay, Study
from annotation_app.record_schema import FieldValue, Form, RecordContext, read_value
from annotation_app.record_schema.controls import Control
from annotation_app.record_schema.structure import Kind
from annotation_app.record_schema.validation import value_at
from annotation_app.services.contexts import context_of
from annotation_app.services.forms import form_of, schema_of
from blinding import clock
from blinding.events import record_event

_NEUTRAL_KEY = re.compile(r"f[0-9]+(-[a-z0-9]+)?")
SOURCES = ("left", "right", "own", "other", "undecided")


@dataclass(frozen=True)
class CaseDecision:
    """What an adjudicator sends: `values` {neutral key: {"from": source, "value"?: …}}."""

    values: dict[str, Any]
    rationale: str
    claim_no: int


def decide_case(*, membership: Membership, uid: UUID, decision: CaseDecision) -> Decision:
    """Close a claimed case with a decision; its item is final from then on.

    Raises Absent, Refused for a closed case or a claim that somebody else took over, Invalid with status 422 naming
    each field that is undecided, unknown or breaks a rule of the record schema.
    """
    with transaction.atomic():
        Study.objects.raw(
            "SELECT id FROM annotation_app_study WHERE id = %s FOR SHARE", [membership.study_id]
        )[0]
        list(Assignment.objects.select_for_update().filter(case=uid, member=membership))
        Case.objects.select_for_update().filter(pk=uid).first()
        claim = claimed_case(membership=membership, uid=uid)
        require_claim(claim.case, decision.claim_no)
        values = _final_values(claim, decision)
        return _store(membership, claim, values, decision)


def save_case_draft(*, membership: Membership, uid: UUID, fields: dict[str, Any], version: int) -> int:
    """Keep a decision in the making; return its new version. Raises Refused with the current one on a conflict."""
    with transaction.atomic():
        claim = claimed_case(membership=membership, uid=uid)
        draft, _made = CaseDraft.objects.select_for_update().get_or_create(
            case=claim.case, member=membership, defaults={"saved_at": clock.now()}
        )
        if draft.version != version:
            raise Refused(
                _("This case was changed in another window."),
                code="version_conflict",
                version=draft.version,
                fields=draft.fields,
            )
        draft.fields, draft.version, draft.saved_at = fields, version + 1, clock.now()
        draft.save(update_fields=["fields", "version", "saved_at"])
    return draft.version


def require_claim(case: Case, claim_no: int) -> None:
    """Raise Refused where somebody else claimed the case meanwhile."""
    if claim_no != case.claim_no:
        raise Refused(
            _("Your hold on this case ran out and it was given to somebody else."),
            code="claim_lost",
            claim_no=case.claim_no,
        )


def sides(case: Case) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the payloads shown left and right; which coder stands where was drawn for this case."""
    a, b = case.comparison.record_a.payload, case.comparison.record_b.payload
    return (a, b) if case.a_is_left else (b, a)


def _final_values(claim: Claim, decision: CaseDecision) -> dict[str, Any]:
    form, context = _form(claim), context_of(claim.assignment)
    errors, values = [], {}
    if not decision.rationale.strip():
        errors.append(
            {"field": "rationale", "rule": "required", "message": "Give your reasons in a sentence or two."}
        )
    disputed = [form.by_path[path].key for path in claim.case.comparison.disputed]
    for key in disputed:
        if key not in decision.values:
            errors.append(
                {
                    "field": key,
                    "rule": "required",
                    "message": "Choose a value, or leave it undecided on purpose.",
                }
            )
    for key, choice in decision.values.items():
        path = _path_of(form, key, context)
        if path is None:
            errors.append(_no_such_field(key))
            continue
        if not isinstance(choice, dict) or choice.get("from") not in SOURCES:
            errors.append(
                {
                    "field": form.by_path[path].key,
                    "rule": "unknown",
                    "message": f"Take a value from one of: {', '.join(SOURCES)}.",
                }
            )
            continue
        try:
            values[path] = _value(claim, form, context, key, path, choice)
        except Invalid as fault:
            errors.extend(fault.errors)
    if errors:
        raise Invalid(errors, status=422)
    return values


def _value(
    claim: Claim, form: Form, context: RecordContext, key: str, path: str, choice: dict[str, Any]
) -> Any:
    left, right = sides(claim.case)
    source = choice["from"]
    if source == "undecided":
        return None
    if source in ("left", "right"):
        return value_at(left if source == "left" else right, tuple(path.split(".")))
    if source == "own":
        raise Invalid.at(
            key, "no_own_code", _("You have not coded this output yourself; choose another source.")
        )
    read = read_value(form, key, choice.get("value"), context)
    if isinstance(read, FieldValue):
        return read.value
    raise Invalid([{"field": e.field or key, "rule": e.rule, "message": e.message} for e in read])


def _path_of(form: Form, key: str, context: RecordContext) -> str | None:
    """Return the path of a field that can be decided on in this case, named by its key or its path."""
    control = form.by_key.get(key) or form.by_path.get(key)
    if control is None or control.path not in form.schema.leaves or not is_on_item(control, context.classes):
        return None
    return control.path


def is_on_item(control: Control, classes: Collection[str]) -> bool:
    """Say whether a case shows a field: classes where the task has some, never the flag, which would tell why it is one."""
    return bool(classes) if control.kind is Kind.CHECKS else control.kind is not Kind.FLAG


def _no_such_field(key: str) -> dict[str, str]:
    """The same for a name that no field has and for a field of other items; a name of the schema is not repeated."""
    field = key if _NEUTRAL_KEY.fullmatch(key) else ""
    return {
        "field": field,
        "rule": "unknown",
        "message": _("This case has no field of one of the names sent."),
    }


def _form(claim: Claim) -> Form:
    assert claim.assignment.codebook_id is not None
    return form_of(claim.case.study, claim.assignment.codebook_id)


def _store(membership: Membership, claim: Claim, values: dict[str, Any], decision: CaseDecision) -> Decision:
    now, case = clock.now(), claim.case
    text = adjudicated_value(schema_of(case.study), values)
    try:
        stored = Decision.objects.create(
            case=case,
            decided_by=membership,
            values=decision.values,
            adjudicated_value=text,
            rationale=decision.rationale.strip(),
            decided_at=now,
        )
    except IntegrityError as fault:
        raise Refused(_("This case is closed."), code="case_closed") from fault
    case.state, case.closed_at = Case.State.DECIDED, now
    case.save(update_fields=["state", "closed_at"])
    Assignment.objects.filter(pk=claim.assignment.pk).update(submitted_at=now, final_at=now)
    CaseDraft.objects.filter(case=case).delete()
    if case.origin != Case.Origin.SHAM:
        _lay_over(membership, case, text)
    record_event("case_decided", study=case.study_id, actor=membership.pk, subject=case.pk)
    return stored


def _lay_over(membership: Membership, case: Case, text: str) -> None:
    pair = [case.comparison.record_a.assignment_id, case.comparison.record_b.assignment_id]
    RecordOverlay.objects.filter(assignment__in=pair).update(
        adjudicator_id=membership.alias, adjudicated_value=text, changed_at=clock.now()
    )
