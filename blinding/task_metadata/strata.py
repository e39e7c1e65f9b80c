"""Labels by which figures are split: for each task one value per label. A protocol may declare them open."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

Metadata = Mapping[str, Any]

MODALITIES = ("text", "structured_table", "imaging", "waveform", "pathology_slide", "speech", "video")

_VALUES: dict[str, Callable[[Metadata], str]] = {
    "family": lambda task: str(task["family"]),
    "difficulty_class": lambda task: str(task["difficulty_class"]),
    "split": lambda task: str(task["split"]),
    "source": lambda task: str(task["source"]),
    "t1_horizon": lambda task: str(task["labels"]["t1_horizon"]),
    "t2_environment": lambda task: str(task["labels"]["t2_environment"]),
    "t3_specialties": lambda task: str(task["labels"]["t3_specialties"]),
    "t5_omics": lambda task: str(task["labels"]["t5_omics"]["kind"]),
    "t6_interaction": lambda task: str(task["labels"]["t6_interaction"]),
    "t7_knowledge_currency": lambda task: str(task["labels"]["t7_knowledge_currency"]),
    "t8_region": lambda task: str(task["labels"]["t8_jurisdiction"]["region"]),
    "t9_scale": lambda task: str(task["labels"]["t9_scale"]),
    "t10_risk": lambda task: str(task["labels"]["t10_risk"]),
    "perturbation": lambda task: str(task["perturbation"]["kind"]) if "perturbation" in task else "none",
    "seeded_defects": lambda task: _yes(bool(task.get("seeded_defects"))),
    "undecidable": lambda task: _yes(
        any(not point["decidable"] for point in task.get("judgement_points", ()))
    ),
}
_SETS = {"t4_modalities": MODALITIES}

NAMES = tuple(sorted((*_VALUES, *_SETS)))
ANALYSED = ("family", "difficulty_class", "t10_risk", "t4_modalities", "seeded_defects", "undecidable")


def strata(metadata: Metadata, names: Iterable[str] = NAMES) -> dict[str, str]:
    """Return the values of the labels named, by label; T4 is a yes or no for each modality, by `t4_modalities.imaging`
    and so on. A name that is not in NAMES is passed over."""
    found: dict[str, str] = {}
    for name in names:
        if name in _VALUES:
            found[name] = _VALUES[name](metadata)
        for modality in _SETS.get(name, ()):
            found[f"{name}.{modality}"] = _yes(modality in metadata["labels"][name])
    return found


def _yes(value: bool) -> str:
    return "yes" if value else "no"
