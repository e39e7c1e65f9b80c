"""Words for roles, phases and states on pages."""

from django.utils.translation import gettext_lazy as _

ROLES = {
    "admin": _("Admin"),
    "project_author": _("Project author"),
    "primary_A": _("Annotator"),
    "primary_B": _("Annotator"),
    "adjudicator": _("Adjudicator"),
    "audit": _("Annotator"),
    "monitor": _("Monitor"),
}
# Who manages members has to tell the two slots and the audit apart; coders need not.
ROLES_IN_FULL = ROLES | {
    "primary_A": _("Annotator A"),
    "primary_B": _("Annotator B"),
    "audit": _("Audit coder"),
}
PHASES = {
    "setup": _("Setup"),
    "training": _("Training"),
    "coding": _("Coding"),
    "review": _("Review"),
    "locked": _("Locked"),
    "unblinded": _("Unblinded"),
}
BATCH_STATES = {
    "queued": _("waiting"),
    "checking": _("being checked"),
    "in_review": _("in review"),
    "rejected": _("rejected"),
    "failed": _("stopped"),
    "releasing": _("being released"),
    "released": _("released"),
    "discarded": _("discarded"),
}
PURPOSES = {"main": _("Main"), "calibration": _("Calibration")}
CODEBOOK_KINDS = {
    "first": _("first version"),
    "clarification": _("clarification"),
    "rule_change": _("change of a rule"),
}
