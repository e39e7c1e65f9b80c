"""The hash that stands for the data: what is published at the lock is the SHA-256 of `records.jsonl`."""

import hashlib

from annotation_app.models import Study
from annotation_app.services.exports import record_lines


def dataset_hash(study: Study) -> str:
    """Return the SHA-256 of the study's main records as they are now, in hex; equals `sha256sum records.jsonl`."""
    digest = hashlib.sha256()
    for chunk in record_lines(study):
        digest.update(chunk)
    return digest.hexdigest()
