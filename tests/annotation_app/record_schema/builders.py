"""Forms, payloads and records for the tests of this folder."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from annotation_app.record_schema import (
    Codebook,
    Form,
    RecordContext,
    RecordSchema,
    build_form,
    complete_protocol,
    default_codebook,
    load_record_schema,
    shipped_schema,
)

THREE = RecordContext(clusters=("C1", "C2", "C3"), proposed_cluster="C2")
CONTROL = RecordContext(
    clusters=("C1", "C2"),
    proposed_cluster="C1",
    positive_control=True,
    classes=("opening", "closing", "elsewhere"),
)


@cache
def second_schema() -> RecordSchema:
    path = Path(__file__).parent / "second.schema.json"
    return load_record_schema(json.loads(path.read_text(encoding="utf-8")))


def form_for(schema: RecordSchema | None = None, **protocol: Any) -> Form:
    schema = schema or shipped_schema()
    codebook = Codebook.of(default_codebook(schema), schema)
    return build_form(schema, codebook, complete_protocol(protocol, schema))


def by_path(**changes: Any) -> dict[str, Any]:
    """What a program posts for an ordinary item; a change of ... takes a field away."""
    fields: dict[str, Any] = {
        "semantic_cluster_decision": {"cluster_id": "C2", "decision": "confirm"},
        "relevance": "relevant",
        "factuality": "mixed",
        "r_meta_class": "structural_pluralization",
        "elicitation_signal": "none_detected",
        "confidence": 0.7,
    } | changes
    return {name: value for name, value in fields.items() if value is not ...}


def by_key(**changes: Any) -> dict[str, Any]:
    """What a page posts for the same item, with f1_target for f1-target."""
    fields: dict[str, Any] = {
        "f1-cluster": "C2",
        "f1": "1",
        "f1-notes": "",
        "f3": "1",
        "f4": "3",
        "f5": "5",
        "f6": "1",
        "f7": "0.70",
    } | {name.replace("_", "-"): value for name, value in changes.items()}
    return {name: value for name, value in fields.items() if value is not ...}


def decision(verdict: str, home: str = "C2", target: str | None = None) -> dict[str, Any]:
    return {"cluster_id": home, "decision": verdict, "merge_target": target}


def record(**changes: Any) -> dict[str, Any]:
    """A whole v0.8 record."""
    return {
        "record_id": "0c4e6d6e-8f7f-4a35-9d52-3f3f0b5f6a01",
        "task_id": "library",
        "blinded_output_id": "f5a0a3c5-5c5e-4b52-8b8e-55a7a1c1c001",
        "annotator_id": "K4-71",
        "annotator_role": "primary_B",
        "blind_version": "b1",
        "codebook_version": "1.0",
        "condition_visible_to_annotator": False,
        "model_visible_to_annotator": False,
        "t_theory_visible_to_annotator": False,
        "auto_cluster_id": "C2",
        "semantic_cluster_decision": decision("confirm"),
        "gold_class_match": [],
        "relevance": "relevant",
        "factuality": "mixed",
        "r_meta_class": "uncertain",
        "elicitation_signal": "none_detected",
        "confidence": 0.7,
        "adjudication_required": False,
        "adjudicator_id": None,
        "adjudicated_value": None,
        "timestamp_utc": "2026-02-03T04:05:06.000007Z",
    } | changes
