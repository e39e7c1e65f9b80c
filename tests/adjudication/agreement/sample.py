"""Pairs of codes for tests: neutral, seeded, with every kind of field of the v0.8 schema."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from adjudication.agreement.fields import FieldSpec, field_specs
from adjudication.agreement.pairs import CodedPair
from annotation_app.record_schema.schema import load_record_schema
from tests.shared_folder import ROOT

SCHEMA = ROOT / "annotation_app" / "record_schema" / "schemas" / "pilot-v0.8-annotation.schema.json"
START = datetime(2025, 3, 1, 9, tzinfo=UTC)
DECISIONS = ("confirm", "split", "reject_as_nonsemantic_noise", "confirm", "uncertain")
CLASSES = ("red", "green", "blue")


def specs(**rules: dict[str, Any]) -> list[FieldSpec]:
    schema = load_record_schema(json.loads(Path(SCHEMA).read_text(encoding="utf-8")))
    return field_specs(schema, {"fields": rules})


def payload(**changes: Any) -> dict[str, Any]:
    """One coder's answers; `place` and `decision` are short for parts of the cluster decision."""
    place, decision = changes.pop("place", "C1"), changes.pop("decision", "confirm")
    answers = {
        "semantic_cluster_decision": {
            "cluster_id": place,
            "decision": decision,
            "merge_target": None,
            "notes": "",
        },
        "gold_class_match": [],
        "relevance": "relevant",
        "factuality": "supported",
        "r_meta_class": "not_applicable",
        "elicitation_signal": "none_detected",
        "confidence": 0.75,
    }
    return {**answers, **changes}


def pair(
    number: int, a: dict[str, Any] | None = None, b: dict[str, Any] | None = None, **changes: Any
) -> CodedPair:
    """The pair of one output; twelve outputs make a task."""
    moment = START + timedelta(hours=number)
    known: dict[str, Any] = {
        "output_id": f"out-{number:04d}",
        "task_id": f"task-{number // 12:02d}",
        "batch": "1",
        "coder_a": "K4",
        "coder_b": "R9",
        "position_a": number + 1,
        "position_b": 1 + (number * 7) % 120,
        "submitted_a": moment,
        "submitted_b": moment + timedelta(minutes=30),
        "rule_version_a": "1.0",
        "rule_version_b": "1.0",
        "payload_a": payload() if a is None else a,
        "payload_b": payload() if b is None else b,
        "proposed_cluster": "C1",
    }
    return CodedPair(**{**known, **changes})


def random_pairs(count: int, *, noise: float = 0.2, seed: int = 1) -> list[CodedPair]:
    """Pairs with a truth that each coder misses now and then; every fourth task is a positive control."""
    rng = np.random.Generator(np.random.PCG64(seed))
    options = {spec.path: spec.values for spec in specs() if spec.values and "." not in spec.path}

    def choose(values: Any, truth: int) -> Any:
        return values[truth % len(values)] if rng.random() > noise else values[int(rng.integers(len(values)))]

    pairs = []
    for number in range(count):
        control = (number // 12) % 4 == 0
        truth = int(rng.integers(0, 60))

        def answers(truth: int = truth, control: bool = control) -> dict[str, Any]:
            found = {path: choose(values, truth // 3) for path, values in options.items()}
            found["confidence"] = round(float(rng.integers(0, 21)) / 20, 2)
            classes = [name for n, name in enumerate(CLASSES) if choose((0, 1), truth >> n)]
            found |= {"place": choose(("C1", "C2", "C3"), truth), "decision": choose(DECISIONS, truth // 5)}
            return payload(gold_class_match=classes * control, **found)

        pairs.append(
            pair(
                number,
                answers(),
                answers(),
                batch=str(1 + number % 2),
                positive_control=control,
                classes=CLASSES * control,
            )
        )
    return pairs
