"""What leaves adjudication: a case as its adjudicator gets it, a report as its reader does."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from adjudication.models import AgreementReport, CaseDraft
from adjudication.services.cases import Claim
from adjudication.services.decisions import sides
from adjudication.services.reports import KIND
from adjudication.withholding import result_for
from annotation_app.models import Membership
from annotation_app.projections import ClusterView
from annotation_app.record_schema import Form, Payload, to_neutral
from annotation_app.record_schema.structure import WRITTEN
from annotation_app.services.contexts import clusters_of, context_of
from annotation_app.services.forms import form_of
from blinding.jobs import latest
from blinding.redaction.finder import Finder
from blinding.redaction.spans import mask


def masked_sides(claim: Claim, form: Form) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the payloads shown left and right, with every name of a source masked in what a coder wrote."""
    left, right = sides(claim.case)
    return _masked(form, "", left), _masked(form, "", right)


def _masked(form: Form, path: str, value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _masked(form, f"{path}.{name}".lstrip("."), part) for name, part in value.items()}
    control = form.by_path.get(path)
    if isinstance(value, str) and control is not None and control.kind in WRITTEN:
        return mask(value, Finder().find(value))
    return value


@dataclass(frozen=True)
class CaseView:
    """A claimed case in one step: the item, both codings unattributed, and which fields are disputed. No name, time,
    order or reason of the case."""

    case_uid: UUID
    step: int
    claim_no: int
    task_code: str
    task_statement: str
    reference_material: str
    text: str
    classes: list[str]
    clusters: list[ClusterView]
    proposed_cluster: str | None
    form: dict[str, Any]
    codebook_version: str
    disputed: list[str]
    left: dict[str, Any]
    right: dict[str, Any]
    own: dict[str, Any] | None
    draft: dict[str, Any]

    @classmethod
    def of(cls, claim: Claim, membership: Membership) -> CaseView:
        item, case = claim.assignment, claim.case
        assert item.codebook_id is not None
        form = form_of(membership.study, item.codebook_id)
        clusters = clusters_of(item)
        context = context_of(item, clusters, [])
        show_notes = bool(membership.study.protocol["adjudication"]["show_notes"])
        flag = form.by_path[form.schema.flag.path].key if form.schema.flag else ""
        left, right = (
            {
                key: value
                for key, value in to_neutral(form, Payload(p), context, notes=show_notes).items()
                if key != flag
            }
            for p in masked_sides(claim, form)
        )
        draft = CaseDraft.objects.filter(case=case, member=membership).first()
        task = item.output.task
        return cls(
            case_uid=case.pk,
            step=2,
            claim_no=case.claim_no,
            task_code=task.code,
            task_statement=task.statement,
            reference_material=task.reference_material,
            text=item.output.text,
            classes=list(task.classes),
            clusters=[
                ClusterView.of(c, on_screen=item.output_id, protocol=membership.study.protocol)
                for c in clusters
            ],
            proposed_cluster=context.proposed_cluster,
            form=form.for_coder(context.classes, context.clusters, context.proposed_cluster, ()),
            codebook_version=item.codebook.version if item.codebook else "",
            disputed=[form.by_path[path].key for path in case.comparison.disputed],
            left=left,
            right=right,
            own=None,
            draft={"fields": draft.fields, "version": draft.version}
            if draft
            else {"fields": {}, "version": 0},
        )


@dataclass(frozen=True)
class ReportView:
    uid: UUID
    status: str
    progress: dict[str, int]
    error: str
    asked_at: datetime
    ready_at: datetime | None
    data_hash: str
    result: dict[str, Any] | None

    @classmethod
    def of(cls, report: AgreementReport, membership: Membership, *, with_result: bool = True) -> ReportView:
        job = latest(KIND, report.pk)
        return cls(
            uid=report.pk,
            status=job.state if job else "queued",
            progress={"done": job.done, "total": job.total, "percent": job.percent} if job else {},
            error=job.error if job else "",
            asked_at=report.asked_at,
            ready_at=report.ready_at,
            data_hash=report.data_hash,
            result=result_for(membership, report.result) if with_result and report.result else None,
        )
