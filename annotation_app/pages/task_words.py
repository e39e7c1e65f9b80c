"""Labels of task metadata in words."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

LABELS = {
    "family": gettext_lazy("Family"),
    "split": gettext_lazy("Split"),
    "source": gettext_lazy("Source"),
    "perturbation": gettext_lazy("Kind of variant"),
    "difficulty_class": gettext_lazy("Difficulty class"),
    "t1_horizon": gettext_lazy("T1 horizon"),
    "t2_environment": gettext_lazy("T2 environment"),
    "t3_specialties": gettext_lazy("T3 specialties"),
    "t4_modalities": gettext_lazy("T4 modalities"),
    "t5_omics": gettext_lazy("T5 omics"),
    "t5_omics.kind": gettext_lazy("T5 omics"),
    "t6_interaction": gettext_lazy("T6 interaction"),
    "t7_knowledge_currency": gettext_lazy("T7 knowledge currency"),
    "t8_jurisdiction": gettext_lazy("T8 jurisdiction"),
    "t8_jurisdiction.region": gettext_lazy("T8 region"),
    "t8_jurisdiction.standards": gettext_lazy("T8 standards"),
    "t8_region": gettext_lazy("T8 region"),
    "t9_scale": gettext_lazy("T9 scale"),
    "t10_risk": gettext_lazy("T10 risk"),
    "seeded_defects": gettext_lazy("With seeded defects"),
    "undecidable": gettext_lazy("With a point that cannot be decided"),
}


def label_in_words(name: str) -> str:
    """Return a label's name; of one modality: T4 and the modality."""
    if name in LABELS:
        return str(LABELS[name])
    label, _dot, part = name.partition(".")
    return f"{label_in_words(label)}: {value_in_words(part)}" if part else value_in_words(label).capitalize()


def value_in_words(value: Any) -> str:
    """Return a value of metadata as text: names without underscores, lists and tables in a line."""
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, list):
        return ", ".join(value_in_words(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{value_in_words(key)}: {value_in_words(item)}" for key, item in value.items())
    return str(value).replace("_", " ")
