"""Who may learn what, and when: one table, role × phase → disclosures. A pair that is not in it learns nothing.

Imports nothing of the product. Every queryset and projection asks here; no other module decides.
"""

from enum import StrEnum


class Role(StrEnum):
    ADMIN = "admin"
    PROJECT_AUTHOR = "project_author"
    PRIMARY_A = "primary_A"
    PRIMARY_B = "primary_B"
    ADJUDICATOR = "adjudicator"
    AUDIT = "audit"
    MONITOR = "monitor"


class Phase(StrEnum):
    SETUP = "setup"
    TRAINING = "training"
    CODING = "coding"
    REVIEW = "review"
    LOCKED = "locked"
    UNBLINDED = "unblinded"


class Disclosure(StrEnum):
    PROVENANCE = "provenance"  # condition, model, theory: where an output came from
    PEER_CODES = (
        "peer_codes"  # somebody else's codes (an adjudicator: the two of a claimed case, unattributed)
    )
    CODER_IDENTITY = "coder_identity"  # which pseudonym coded what
    AGREEMENT = "agreement"  # alpha and its companions
    CASES = "cases"  # that an output is disputed
    EVENTS = "events"  # the event log
    CASE_EVENTS = (
        "case_events"  # the log's events of cases: beside the times of records they tell what is disputed
    )
    TEXT = "text"  # outputs as shown to coders
    PRACTICE = "practice"  # codes, reference and agreement in calibration batches; never of a main one
    REFERENCE = (
        "reference"  # what practice texts should be coded as, before main items that need other references
    )
    COUNTS = "counts"  # how many outputs, pairs and cases, without saying which


PRIMARIES = (Role.PRIMARY_A, Role.PRIMARY_B)
CODERS = (Role.PRIMARY_A, Role.PRIMARY_B, Role.AUDIT)
KEY_HOLDERS = (Role.ADMIN, Role.PROJECT_AUTHOR)

_P, _D = Phase, Disclosure
_NOTHING: frozenset[Disclosure] = frozenset()
_TEXT = frozenset({_D.TEXT})
_COUNTS = frozenset({_D.COUNTS})
_LOG = frozenset({_D.EVENTS, _D.COUNTS})
_CASE = frozenset({_D.TEXT, _D.CASES, _D.PEER_CODES})
_FIGURES = frozenset({_D.COUNTS, _D.AGREEMENT})
_LOCKED = _FIGURES | {_D.CODER_IDENTITY, _D.PEER_CODES, _D.CASES}
_ALL = frozenset(Disclosure)
_TRAINING = frozenset({_D.TEXT, _D.PRACTICE})
_GATE = frozenset({_D.COUNTS, _D.PRACTICE})
_OUTSIDE = {_P.SETUP: _NOTHING, _P.LOCKED: _NOTHING, _P.UNBLINDED: _NOTHING}
_PRIMARY = {_P.TRAINING: _TRAINING, _P.CODING: _TEXT | {_D.REFERENCE}, _P.REVIEW: _TEXT} | _OUTSIDE

TABLE: dict[Role, dict[Phase, frozenset[Disclosure]]] = {
    Role.ADMIN: {
        _P.SETUP: _TEXT | _COUNTS,
        _P.TRAINING: _TEXT | _GATE,
        _P.CODING: _TEXT | _GATE,
        _P.REVIEW: _COUNTS,
        _P.LOCKED: _FIGURES,
        _P.UNBLINDED: _FIGURES,
    },
    Role.PROJECT_AUTHOR: {
        _P.SETUP: _COUNTS,
        _P.TRAINING: _TEXT | _GATE,
        _P.CODING: _GATE,
        _P.REVIEW: _FIGURES,
        _P.LOCKED: _LOCKED,
        _P.UNBLINDED: _ALL - {_D.EVENTS},
    },
    Role.PRIMARY_A: _PRIMARY,
    Role.PRIMARY_B: _PRIMARY,
    Role.ADJUDICATOR: {_P.TRAINING: _TRAINING, _P.CODING: _CASE, _P.REVIEW: _CASE} | _OUTSIDE,
    Role.AUDIT: {p: _TEXT if p in (_P.CODING, _P.REVIEW) else _NOTHING for p in Phase},
    Role.MONITOR: {
        _P.SETUP: _LOG,
        _P.TRAINING: _LOG,
        _P.CODING: _LOG,
        _P.REVIEW: _LOG,
        _P.LOCKED: _LOG | {_D.CASE_EVENTS, _D.AGREEMENT},
        _P.UNBLINDED: _LOG | {_D.CASE_EVENTS, _D.AGREEMENT, _D.PROVENANCE},
    },
}


def disclosures(role: str, phase: str) -> frozenset[Disclosure]:
    """Return what `role` may learn in `phase`; an unknown pair learns nothing."""
    try:
        return TABLE[Role(role)][Phase(phase)]
    except (KeyError, ValueError):
        return _NOTHING


def may_learn(role: str, phase: str, what: Disclosure, *, interim_agreement: bool = False) -> bool:
    """Return whether `role` may learn `what` in `phase`.

    `interim_agreement` is the protocol's choice to show the project author agreement during coding.
    """
    if interim_agreement and (role, phase, what) == (Role.PROJECT_AUTHOR, Phase.CODING, Disclosure.AGREEMENT):
        return True
    return what in disclosures(role, phase)


FORWARD: dict[Phase, tuple[Phase, ...]] = {
    Phase.SETUP: (Phase.TRAINING, Phase.CODING),
    Phase.TRAINING: (Phase.CODING,),
    Phase.CODING: (Phase.REVIEW,),
    Phase.REVIEW: (Phase.LOCKED,),
    Phase.LOCKED: (Phase.UNBLINDED, Phase.REVIEW),
    Phase.UNBLINDED: (),
}

# In which phases a record may be written, by the slot of its assignment; calibration batches apart.
WRITING: dict[str, tuple[Phase, ...]] = {
    "A": (Phase.CODING,),
    "B": (Phase.CODING,),
    "audit": (Phase.CODING, Phase.REVIEW),
    "adjudicator": (Phase.CODING, Phase.REVIEW),
    "calibration": (Phase.TRAINING,),
}
