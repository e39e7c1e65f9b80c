"""The event log in words: what each kind of event says, and its facts beside it."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

KINDS = {
    "batch_discarded": _("Batch discarded"),
    "batch_imported": _("Batch checked and sealed"),
    "batch_rejected": _("Batch rejected"),
    "batch_released": _("Batch released"),
    "batch_uploaded": _("Batch uploaded"),
    "bundle_downloaded": _("Bundle downloaded"),
    "bundle_ready": _("Bundle built"),
    "bundle_requested": _("Bundle asked for"),
    "case_claimed": _("Case claimed"),
    "case_decided": _("Case decided"),
    "case_given_up": _("Case put back"),
    "case_opened": _("Case opened"),
    "case_recognised": _("Source recognised in a case"),
    "case_withdrawn": _("Case withdrawn"),
    "codebook_added": _("Codebook published"),
    "dataset_hashed": _("Hash of the records published"),
    "declaration_signed": _("Declaration signed"),
    "distributions_published": _("Distributions of task labels published"),
    "erratum_reported": _("Correction reported"),
    "finding_decided": _("Term decided on"),
    "gate_opened": _("Coder passed on to the main items"),
    "guess_given": _("Closing guess given"),
    "invitation_renewed": _("Invitation made anew"),
    "invitation_withdrawn": _("Invitation withdrawn"),
    "item_given_back": _("Item given back"),
    "item_skipped": _("Item skipped"),
    "key_completed": _("Second half of the key added"),
    "member_added": _("Member added"),
    "member_left": _("Member left"),
    "passphrase_changed": _("Passphrase changed"),
    "passphrase_recovered": _("Passphrase set with the recovery sheet"),
    "passphrase_refused": _("Wrong passphrase or password"),
    "phase_coding": _("Coding opened"),
    "phase_locked": _("Data locked"),
    "phase_review": _("Review opened"),
    "phase_training": _("Training opened"),
    "phase_unblinded": _("Unblinded"),
    "practice_asked": _("Practice asked for before main items"),
    "practice_done": _("Practice gone through"),
    "preregistered": _("Protocol and codebook frozen"),
    "protocol_changed": _("Protocol changed"),
    "question_answered": _("Question answered"),
    "question_asked": _("Question asked"),
    "reassigned": _("Item given to somebody else"),
    "receipt_attached": _("Outside timestamp attached"),
    "record_submitted": _("Record submitted"),
    "records_exported": _("Records exported"),
    "reference_written": _("Reference code written"),
    "release_requested": _("Release asked for"),
    "reopening_requested": _("Undoing the lock asked for"),
    "report_ready": _("Agreement report computed"),
    "report_requested": _("Agreement report asked for"),
    "results_viewed": _("Unblinded results read"),
    "source_recognised": _("Source recognised"),
    "study_created": _("Study made"),
    "task_results_viewed": _("Results by task label looked at"),
    "task_viewed": _("A task's labels looked at"),
    "task_voided": _("Task version voided"),
    "tasks_viewed": _("Labels of tasks looked at"),
    "term_added": _("Term added to the list"),
    "term_removed": _("Term taken out of the list"),
    "unblinding_approved": _("Unblinding approved"),
    "unblinding_failed": _("Unblinding failed; nothing was opened"),
    "unblinding_lapsed": _("Request to unblind lapsed"),
    "unblinding_not_taken_up": _("Unblinding not taken up by a worker"),
    "unblinding_refused": _("Unblinding refused"),
    "unblinding_requested": _("Unblinding asked for"),
    "unblinding_withdrawn": _("Request to unblind taken back"),
}
SHORT = 16  # of a hash, as many digits as one compares by eye


def event_in_words(kind: str) -> str:
    """Return what an event says; one without words of its own is named as it is stored."""
    return str(KINDS.get(kind, kind.replace("_", " ").capitalize()))


def facts_in_words(facts: Mapping[str, Any]) -> str:
    """Return the plain facts of an event in a line; lists and objects are left to the export."""
    told = [f"{name.replace('_', ' ')}: {_plain(value)}" for name, value in facts.items() if _is_told(value)]
    return ", ".join(told)


def _is_told(value: Any) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, str) and value != "")


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = str(value)
    is_hash = len(text) == 64 and all(c in "0123456789abcdef" for c in text)
    return f"{text[:SHORT]}…" if is_hash else text
