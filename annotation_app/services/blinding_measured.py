"""Whether the blind held, measured after the unblinding: closing guesses, recognition and masks per arm, lengths of texts."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from django.db import connection

from annotation_app.models import Guess, Study
from blinding import confounding, indices
from blinding.models import RevealedLabel

ARMS = {"condition": "conditions", "model": "models"}  # a label, and the protocol's choices for it
LARGE, FEW = 5_000, 50  # outputs from which on so many permutations do

_OPENED = """
SELECT l.condition, l.model, count(*) FROM annotation_app_assignment a JOIN blinding_revealedlabel l ON l.output = a.output_id
 WHERE a.study_id = %s AND a.served_at IS NOT NULL AND NOT a.calibration AND a.slot IN ('A', 'B', 'audit') GROUP BY 1, 2
"""
_RECOGNISED = """
SELECT l.condition, l.model, e.how, count(*) FROM blinding_exposure e JOIN blinding_revealedlabel l ON l.output = e.output
  JOIN annotation_app_assignment a ON a.id = e.assignment
 WHERE e.study = %s AND NOT a.calibration AND a.slot IN ('A', 'B', 'audit') GROUP BY 1, 2, 3
"""
_MASKS = """
SELECT l.condition, l.model, count(*), count(*) FILTER (WHERE o.masks > 0), coalesce(sum(o.masks), 0), sum(length(o.text))
  FROM annotation_app_output o JOIN annotation_app_batch b ON b.id = o.batch_id AND b.purpose = 'main'
  JOIN blinding_revealedlabel l ON l.output = o.id WHERE o.study_id = %s GROUP BY 1, 2 ORDER BY 1, 2
"""
_LENGTHS = """
SELECT l.condition, l.model, o.task_id, length(o.text)
  FROM annotation_app_output o JOIN annotation_app_batch b ON b.id = o.batch_id AND b.purpose = 'main'
  JOIN blinding_revealedlabel l ON l.output = o.id WHERE o.study_id = %s ORDER BY o.blinded_output_id
"""


def blinding_measured(study: Study, seed: int) -> dict[str, Any]:
    """Return guesses per coder and arm, recognition and mask rates per arm, and what length alone tells."""
    return {
        "guesses": {arm: _guessed(study, arm, seed) for arm in ARMS if study.protocol["guess"][ARMS[arm]]},
        "recognition": _recognition(study),
        "masks": _masks(study),
        "lengths": _lengths(study, seed),
    }


def _guessed(study: Study, arm: str, seed: int) -> dict[str, Any]:
    choices = list(study.protocol["guess"][ARMS[arm]])
    guesses = _guesses(study, arm)
    arms = sorted({guess.arm for guess in guesses})
    pair = james_pair(arms, choices)
    james = indices.james_by_coder(guesses, *pair) if pair else {}
    return {
        "choices": choices,
        "guesses": len(guesses),
        "fewest_for_an_index": indices.MIN_GUESSES,
        "by_coder_and_arm": [_bang(row) for row in indices.by_coder_and_arm(guesses, choices, seed=seed)],
        "james": [{"coder": coder, **_index(index)} for coder, index in james.items()],
        "as_many_right_by_chance": indices.randomisation_test(guesses, seed=seed) if guesses else None,
    }


def james_pair(arms: Sequence[str], choices: Sequence[str]) -> tuple[str, str] | None:
    """Return the two arms for which James's index is defined, None where there are not two."""
    named = sorted({*arms, *choices})
    return (named[0], named[1]) if len(named) == 2 else None


def _guesses(study: Study, arm: str) -> list[indices.Guess]:
    rows = Guess.objects.filter(assignment__study=study, assignment__voided_at=None)
    found = list(
        rows.values_list(
            "assignment__output", "assignment__member__alias", "assignment__output__task__code", arm
        )
    )
    truth = dict(
        RevealedLabel.objects.filter(output__in=[row[0] for row in found]).values_list("output", arm)
    )
    return [
        indices.Guess(coder, task, truth[output], guessed or None) for output, coder, task, guessed in found
    ]


def _bang(row: indices.ArmResult) -> dict[str, Any]:
    counts = {"right": row.counts.right, "wrong": row.counts.wrong, "dont_know": row.counts.dont_know}
    shown = {
        "coder": row.coder,
        "arm": row.arm,
        "counts": counts,
        "interval_by_task": row.by_task,
        **_index(row.index),
    }
    if row.index is not None:
        shown["one_sided"] = {"lower": row.index.lower(), "upper": row.index.upper()}
        shown["within_margin"] = indices.within_margin(row.index.interval(0.9))
    return shown


def _index(index: indices.Index | None) -> dict[str, Any]:
    """Few guesses show nothing: neither that the blind held nor that it failed."""
    if index is None:
        return {"shown": False, "value": None, "se": None, "interval": None}
    return {"shown": True, "value": index.value, "se": index.se, "interval": index.interval()}


def _recognition(study: Study) -> list[dict[str, Any]]:
    opened = {(row[0], row[1]): row[2] for row in _rows(_OPENED, study)}
    seen: dict[tuple[str, str], dict[str, int]] = {}
    for condition, model, how, n in _rows(_RECOGNISED, study):
        seen.setdefault((condition, model), {})[how] = n
    return [
        {
            "condition": arm[0],
            "model": arm[1],
            "opened": n,
            **{how: seen.get(arm, {}).get(how, 0) for how in ("says_so", "knows", "hunch", "recall")},
            "rate": sum(seen.get(arm, {}).values()) / n,
        }
        for arm, n in sorted(opened.items())
    ]


def _masks(study: Study) -> list[dict[str, Any]]:
    return [
        {
            "condition": condition,
            "model": model,
            "outputs": outputs,
            "masked": masked,
            "rate": masked / outputs,
            "masks": int(masks),
            "per_thousand_characters": 1000 * int(masks) / length if length else 0.0,
        }
        for condition, model, outputs, masked, masks, length in _rows(_MASKS, study)
    ]


def _lengths(study: Study, seed: int) -> dict[str, Any]:
    rows = _rows(_LENGTHS, study)
    lengths, tasks = [row[3] for row in rows], confounding.codes([row[2] for row in rows])
    generator = np.random.Generator(np.random.PCG64(seed))
    permutations = confounding.PERMUTATIONS if len(rows) <= LARGE else FEW
    by_arm, guesses = [], []
    for place, arm in enumerate(ARMS):
        values = [row[place] for row in rows]
        if len(set(values)) < 2:
            continue
        by_arm += [asdict(row) for row in confounding.lengths_by_arm(arm, values, lengths)]
        numbers, codes = np.asarray(lengths, dtype=float), confounding.codes(values)
        guesses.append(asdict(confounding.guess(arm, codes, numbers, tasks, generator, permutations)))
    return {"by_arm": by_arm, "length_alone": guesses, "permutations": permutations}


def _rows(query: str, study: Study) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(query, [study.pk])
        return list(cursor.fetchall())
