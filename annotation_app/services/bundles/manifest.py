"""What a bundle says of itself: counts, a SHA-256 per file, the hashes of what was preregistered, roots, versions."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Count

from annotation_app.models import Assignment, Study
from annotation_app.services.bundles import log
from annotation_app.services.bundles.writer import FileEntry
from annotation_app.services.versions import blind_version, product_version, rules
from blinding import clock
from blinding.models import Commitment, Exposure

FORMAT = "twinblind-bundle/1"


def manifest_of(study: Study, files: Mapping[str, FileEntry], units: int) -> dict[str, Any]:
    """Return `manifest.json` of a bundle with these files; the manifest itself is not among them."""
    return {
        "format": FORMAT,
        "product": {
            "name": "twinblind",
            "version": product_version(),
            "blind_version": blind_version(),
            "rules": rules(),
        },
        "study": {
            "slug": study.slug,
            "title": study.title,
            "phase": study.phase,
            "coding_closed_at": study.coding_closed_at,
            "locked_at": study.locked_at,
            "left_open": study.left_open,
            "unblinded_at": study.unblinded_at,
        },
        "made_at": clock.now(),
        "counts": _counts(study, files, units),
        "hashes": _hashes(study),
        "roots": _roots(study),
        "post_unblinding": len(log.changes_after(study)),
        "files": {name: _entry(entry) for name, entry in sorted(files.items())},
    }


def _entry(entry: FileEntry) -> dict[str, Any]:
    shown: dict[str, Any] = {"sha256": entry.sha256, "bytes": entry.bytes}
    return shown if entry.lines is None else shown | {"lines": entry.lines}


def _counts(study: Study, files: Mapping[str, FileEntry], units: int) -> dict[str, Any]:
    lines = {name.partition(".")[0]: entry.lines for name, entry in files.items() if entry.lines is not None}
    final = Assignment.objects.final().filter(study=study, calibration=False)
    by_role = final.values("member__role").annotate(n=Count("pk")).order_by("member__role")
    by_how = Exposure.objects.filter(study=study.pk).values("how").annotate(n=Count("pk")).order_by("how")
    return {
        **lines,
        "units": units,
        "final_by_role": {row["member__role"]: row["n"] for row in by_role},
        "exposures_by_kind": {row["how"]: row["n"] for row in by_how},
    }


def _hashes(study: Study) -> dict[str, Any]:
    books = study.codebooks.order_by("number")
    return {
        "record_schema": study.schema_hash,
        "protocol": study.protocol_hash,
        "preregistration": study.preregistration_hash,
        "dataset": study.dataset_hash,
        "codebooks": {book.version: book.hash for book in books},
        "mappings": {book.version: book.mapping_hash for book in books},
    }


def _roots(study: Study) -> list[dict[str, Any]]:
    found = Commitment.objects.filter(study=study.pk).order_by("committed_at", "batch")
    return [
        {
            "batch": row.batch,
            "merkle_root": row.merkle_root,
            "seed_commitment": row.seed_commitment,
            "order_commitment": row.manifest["order_commitment"],
            "leaves": row.leaves,
        }
        for row in found
    ]
