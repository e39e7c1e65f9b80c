"""The names of files that people download: which study, which day, what; nothing else about a study goes into one."""

from datetime import UTC, datetime

from annotation_app.models import Study


def file_name(study: Study, what: str, at: datetime) -> str:
    """Return a name such as `street-2026-11-30-records.jsonl`; the day is that of UTC."""
    return f"{study.slug}-{at.astimezone(UTC):%Y-%m-%d}-{what}"


def as_attachment(study: Study, what: str, at: datetime) -> dict[str, str]:
    """Return the header that has a browser store an answer under that name."""
    return {"Content-Disposition": f'attachment; filename="{file_name(study, what, at)}"'}
