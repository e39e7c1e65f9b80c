"""The paragraph on methods that a report prints, from its own settings and counts."""

from collections.abc import Mapping
from typing import Any

NAMES = {
    "gwet_ac1": "Gwet's AC1",
    "cohen_kappa": "Cohen's kappa",
    "percent_agreement": "percent agreement",
}
RESAMPLED = {
    "auto": "whole tasks where there are ten or more, else of outputs, tasks being not accounted for",
    "task": "whole tasks",
    "unit": "outputs, tasks being not accounted for",
}


def methods_paragraph(report: Mapping[str, Any]) -> str:
    """Return what was compared, how figures and intervals were computed, and what they do not say."""
    sentences = [
        *_compared(report["counts"]),
        *_coefficient(report["settings"]["metric"], report["software"]["krippendorff"]),
        *_interval(report["settings"]),
        "These figures are about single codes.",
        "The reliability of the consensus is the agreement of audit codes with the consensus, not alpha.",
    ]
    return " ".join(sentences)


def _compared(counts: Mapping[str, Any]) -> list[str]:
    left_out = ", ".join(f"{item['pairs']} {item['reason'].replace('_', ' ')}" for item in counts["excluded"])
    return [
        "Agreement is that of the final primary codes of the main batches before adjudication:",
        f"{counts['compared']} outputs of {counts['tasks']} tasks, each with two codes under one version of",
        f"the codebook's rules (left out and counted: {left_out})." if left_out else "the codebook's rules.",
    ]


def _coefficient(metric: str, package: str | None) -> list[str]:
    return [
        f"The coefficient is Krippendorff's alpha (krippendorff {package or 'unknown'}, or the equal algebra",
        "of patterns where that would take too much memory), at the level and distance named beside a field.",
        *(
            [f"As preregistered, {NAMES[metric]} is the primary figure of nominal fields."]
            if metric in NAMES
            else []
        ),
        "For fields whose values live inside a task, expected disagreement is computed within tasks and",
        "pooled with the tasks' pairable values as weights.",
        "Where a field can be not applicable, the verdict rests on the outputs to which both coders gave a",
        "value; applicability is reported apart, and a further figure leaves out uncertain codes.",
    ]


def _interval(settings: Mapping[str, Any]) -> list[str]:
    thresholds = settings["thresholds"]
    return [
        f"Intervals are {settings['coverage']:.1%} percentile intervals of {settings['resamples']:,}",
        f"bootstrap resamples (PCG64, seed {settings['seed']}) of {RESAMPLED[settings['unit']]};",
        "where no coder ever disagreed, an exact one-sided lower bound stands in their place.",
        f"The lower bound decides: from {thresholds['reliable']:.3f} reliable, from",
        f"{thresholds['tentative']:.3f} tentative, below that not to be relied on.",
    ]
