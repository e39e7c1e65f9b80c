"""The claims that a schema's `blinding_policy` may make: those that the product keeps, and no other."""

from typing import Any

from annotation_app.record_schema.problem import Problem, pointer
from annotation_app.record_schema.structure import BlindingPolicy
from annotation_app.record_schema.wording import gettext as _

HONOURED: dict[str, tuple[Any, ...]] = {
    "conditions_randomized_before_annotation": (True,),
    "condition_labels_removed": (True,),
    "model_identity_removed": (True,),
    "T_vocabulary_forbidden_from_annotation_instructions": (True,),
    "minimum_independent_annotators_per_record": (1, 2),
    "agreement_metric": ("Krippendorff_alpha_or_preregistered_equivalent", "Krippendorff_alpha"),
    "disagreement_policy": ("third-party adjudication after independent coding",),
}


def read_policy(document: Any) -> tuple[BlindingPolicy, list[Problem]]:
    """Return the policy and every claim in it that the product would break or does not know."""
    if not isinstance(document, dict):
        return BlindingPolicy({}), [Problem("/blinding_policy", _("A blinding policy is a JSON object."))]
    problems = [
        Problem(pointer("blinding_policy", name), _objection(name))
        for name, value in document.items()
        if not _honoured(name, value)
    ]
    return BlindingPolicy(dict(document)), problems


def _honoured(name: str, value: Any) -> bool:
    # Types count: JSON's true is not 1, though Python's is.
    return any(type(value) is type(known) and value == known for known in HONOURED.get(name, ()))


def _objection(name: str) -> str:
    if name not in HONOURED:
        return _("This claim is not known, so it cannot be kept.")
    if name == "minimum_independent_annotators_per_record":
        return _("Each output is coded by two annotators: the minimum can be 1 or 2.")
    known = _(" or ").join(str(value).lower() if value is True else f'"{value}"' for value in HONOURED[name])
    return _("This can only be %(known)s.") % {"known": known}
