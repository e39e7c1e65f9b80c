"""Every rule by name, with what to do about it. A message never holds a value of the metadata, which are
closed: what may be quoted to the author of a file, and to nobody else, stands in `detail`."""

from dataclasses import dataclass
from typing import NamedTuple

ERRORS = {
    "task_file_too_large": "A task.toml has at most 1,000,000 bytes: move material into files beside it.",
    "bad_toml": "The file is no TOML 1.0 in UTF-8: correct the syntax.",
    "no_metadata_table": "There is no table [metadata]: add it.",
    "schema": "The value breaks the schema.",
    "nul_character": "The text holds the character U+0000: remove it.",
    "task_id_mismatch": (
        "Give the folder the name that metadata.task_id has, code point by code point, or the reverse."
    ),
    "duplicate_task": (
        "Another package has the same task_id and task_version: remove one, or raise the version."
    ),
    "task_version_changed": (
        "The study holds other metadata for this task version, and a version never changes:"
        " raise task_version."
    ),
    "duplicate_action_id": "An action before this one has the same id: give each its own.",
    "duplicate_judgement_point_id": "A judgement point before this one has the same id: give each its own.",
    "duplicate_defect_id": "A seeded defect before this one has the same id: give each its own.",
    "duplicate_checkpoint": (
        "A compliance checkpoint before this one has the same name, and each is tied to one reference:"
        " give each its own."
    ),
    "precedence_unknown_action": (
        "This end of the edge is no declared action: add it to actions or correct the id."
    ),
    "precedence_cycle": "The precedence graph has a cycle: remove an edge of it.",
    "depth_mismatch": (
        "Set dependency_depth to the number of actions on the longest chain of required_actions.precedence"
        " (1 where there is no edge), or correct the edges."
    ),
    "horizon_mismatch": (
        "Let t1_horizon agree with difficulty_components.required_steps: single_step is 1 step,"
        " short up to 10, medium up to 50, more than 50 is long (and long may have fewer)."
    ),
    "high_risk_needs_unsafe_advice": 'A task of high risk lists "unsafe_advice" in veto_categories: add it.',
    "undecidable_without_reason": (
        "A judgement point that is not decidable says why: add reason, missing_information or"
        " contradictory_information."
    ),
    "undeclared_reference": (
        "metadata.references does not list this grading reference: add it there or correct it."
    ),
    "too_many_checkpoints": (
        "There are more compliance checkpoints than checkpoints_total counts: correct one of them."
    ),
    "amount_without_price_table": "An amount of money names its price table: add price_table_version.",
    "variant_of_self": "A task cannot be a variant of itself: name the original, or remove perturbation.",
    "variant_of_unknown": (
        "There is no such task, here or in the study: correct variant_of or add the original."
    ),
    "variant_of_variant": "That task is a variant too: name the original that both vary.",
    "difficulty_class_differs": (
        "Another task has the same difficulty function, components and starred labels (T1-T6, T9), but"
        " another class, which the function alone computes: compute both anew."
    ),
    "materials_hash_mismatch": (
        "The files in materials/ have another hash: restore them or set materials_sha256 anew."
    ),
    "verifier_hash_mismatch": (
        "The files of the verifier have another hash: restore them or set verifier.sha256 anew."
    ),
}

WARNINGS = {
    "omics_layers_mismatch": (
        "The number of layers does not fit the kind: none has 0, single 1, multi 2 or more."
    ),
    "not_applicable_beside_modalities": (
        'With "not_applicable" no other modality is listed: remove one or the other.'
    ),
    "duplicate_capability": "The capability is listed before: remove one.",
    "duplicate_reference": "The reference is listed before: remove one.",
    "duplicate_edge": "The edge is listed before: remove one.",
    "decidable_with_reason": (
        "Only a judgement point that is not decidable has a reason: remove it, or set decidable."
    ),
    "action_count_differs": (
        "The reference solution has another number of actions than difficulty_components.required_steps:"
        " check that both count at the declared granularity."
    ),
    "reference_set_without_references": (
        "A version of the reference set without references says nothing: list them."
    ),
    "variant_family_differs": "A variant belongs to the family of its original: check both.",
    "difficulty_class_differs_by_modality": (
        "Another task has another difficulty class, but differs otherwise only in which modalities it has,"
        " not in how many, and only their number enters the class: check both."
    ),
    "materials_without_hash": "There are files in materials/, but no materials_sha256: add it.",
    "verifier_without_hash": "There are files of a verifier, but no verifier.sha256: add it.",
}


_LONGEST_DETAIL = 300


class Hit(NamedTuple):
    """A rule that was broken at `pointer` (RFC 6901, into the table [metadata])."""

    rule: str
    pointer: str
    detail: str = ""
    message: str = ""  # where one rule has many messages, as the schema


@dataclass(frozen=True, order=True)
class Finding:
    """A hit with the file it was found in and what to do about it."""

    path: str
    pointer: str
    rule: str
    message: str
    detail: str = ""

    @classmethod
    def of(cls, path: str, hit: Hit) -> "Finding":
        message = hit.message or ERRORS.get(hit.rule) or WARNINGS[hit.rule]
        detail = hit.detail if len(hit.detail) <= _LONGEST_DETAIL else f"{hit.detail[:_LONGEST_DETAIL]}…"
        return cls(path=path, pointer=hit.pointer, rule=hit.rule, message=message, detail=detail)

    @property
    def is_error(self) -> bool:
        return self.rule in ERRORS

    def as_dict(self) -> dict[str, str]:
        """Return path, pointer, rule and message: nothing that is sealed."""
        return {"path": self.path, "pointer": self.pointer, "rule": self.rule, "message": self.message}

    def as_dict_for_author(self) -> dict[str, str]:
        """Return the same with the detail, which quotes the file, behind the message."""
        return {
            **self.as_dict(),
            "message": f"{self.message} ({self.detail})" if self.detail else self.message,
        }
