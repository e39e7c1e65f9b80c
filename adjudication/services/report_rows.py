"""The list of a study's reports, in three queries however many there are."""

from typing import Any

from django.db.models.fields.json import KT

from adjudication.models import AgreementReport
from adjudication.services.reports import KIND, reports_of
from annotation_app.models import Membership
from blinding.models import Job


def report_rows(*, membership: Membership) -> list[dict[str, Any]]:
    """Return the reports, newest first, each with its job's state. Raises Absent or Refused."""
    found = reports_of(membership=membership)
    states = dict(
        Job.objects.filter(kind=KIND, subject__in=[report.pk for report in found])
        .order_by("created_at")
        .values_list("subject", "state")
    )
    compared = dict(
        AgreementReport.objects.visible_to(membership)
        .annotate(compared=KT("result__counts__compared"))
        .values_list("pk", "compared")
    )
    return [
        {
            "uid": report.pk,
            "asked_at": report.asked_at,
            "status": states.get(report.pk, "queued"),
            "compared": compared.get(report.pk),
            "data_hash": report.data_hash,
        }
        for report in found
    ]
