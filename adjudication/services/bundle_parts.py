"""What adjudication writes into a bundle: the consensus, the decisions it rests on, and the newest agreement report."""

from collections.abc import Iterable, Iterator
from typing import Any

from adjudication.models import AgreementReport, Decision
from adjudication.services.consensus import consensus_of
from annotation_app.models import Study
from annotation_app.registries import Consensus, Settled
from annotation_app.services.bundles.writer import Part, as_json, as_lines


def bundle_parts(study: Study) -> Iterable[Part]:
    """Yield (name, chunks) of each file; shams are in none of them."""
    yield "consensus.jsonl", as_lines(_line(row) for row in consensus_of(study))
    yield "decisions.jsonl", as_lines(_decisions(study))
    yield "agreement.json", iter([as_json(_newest_report(study))])


def _line(row: Consensus) -> dict[str, Any]:
    return {
        "blinded_output_id": row.blinded_output_id,
        "task_id": row.task_id,
        "records": row.records,
        "fields": {path: _field(settled) for path, settled in row.fields.items()},
    }


def _field(settled: Settled) -> dict[str, Any]:
    shown = {"value": settled.value, "how": settled.how}
    return shown if settled.values is None else shown | {"values": settled.values}


def _decisions(study: Study) -> Iterator[dict[str, Any]]:
    found = Decision.objects.filter(case__study=study).exclude(case__origin="sham").order_by("pk")
    rows = found.select_related("case__comparison", "decided_by").values_list(
        "case__output__blinded_output_id",
        "case__origin",
        "case__state",
        "case__comparison__disputed",
        "decided_by__alias",
        "adjudicated_value",
        "rationale",
        "decided_at",
    )
    keys = (
        "blinded_output_id",
        "origin",
        "state",
        "disputed",
        "adjudicator_id",
        "adjudicated_value",
        "rationale",
        "decided_at",
    )
    for row in rows.iterator(chunk_size=1000):
        yield dict(zip(keys, row, strict=True))


def _newest_report(study: Study) -> dict[str, Any]:
    report = AgreementReport.objects.filter(study=study, ready_at__isnull=False).order_by("-ready_at").first()
    if report is None:
        return {"report": None, "reason": "No agreement report was asked for."}
    return {"report": report.result, "data_hash": report.data_hash, "ready_at": report.ready_at}
