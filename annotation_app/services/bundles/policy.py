"""Each line of the record schema's blinding policy as a claim, with what shows that it was kept: counts, events, hashes, and
the tests that try to break it. A claim without a way to show it is refused when a schema is loaded."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Sum

from annotation_app import registries
from annotation_app.models import Assignment, Output, Study
from annotation_app.services.versions import rules
from annotation_app.vocabulary import forbidden_words
from blinding.models import Commitment, Event, Exposure, SealedOutput


@dataclass(frozen=True)
class Evidence:
    """One thing that shows a claim: a `count`, an `event`'s UUID, a `hash` or a `test`; `what` says of what."""

    what: str
    count: int | None = None
    event: UUID | None = None
    hash: str | None = None
    test: str | None = None


@dataclass(frozen=True)
class PolicyLine:
    """A line of the schema's policy: its name and value, the claim in words, whether it was kept, and what shows it."""

    name: str
    value: Any
    claim: str
    kept: bool
    evidence: list[Evidence]


Shown = tuple[str, bool, list[Evidence]]


def policy_lines(study: Study) -> list[PolicyLine]:
    """Return the lines of the study's policy in the schema's order."""
    claims = study.record_schema.get("blinding_policy", {})
    return [PolicyLine(name, value, *_CLAIMS[name](study, value)) for name, value in claims.items()]


def _randomized(study: Study, value: Any) -> Shown:
    found = list(Commitment.objects.filter(study=study.pk).order_by("committed_at"))
    early = _served_before_commitment(study)
    evidence = [
        Evidence(
            "orders drawn, one per coder and batch",
            count=sum(len(m) for c in found for m in c.allocation["slots"].values()),
        ),
        Evidence("items opened before their order was committed to", count=early),
        *(Evidence("commitment to the seed of a batch's orders", hash=c.seed_commitment) for c in found),
        *(Evidence("commitment to a batch's orders", hash=c.manifest["order_commitment"]) for c in found),
        *_events(study, "release of a batch", "batch_released"),
        *_opened(study, "every order follows from its seed"),
        *_tests("tests/blinding/test_allocation.py", "tests/blinding/test_verify.py"),
    ]
    return (
        "Each coder had an own random order, drawn and committed to before anybody opened an item.",
        early == 0,
        evidence,
    )


def _labels_removed(study: Study, value: Any) -> Shown:
    outputs, sealed = (
        Output.objects.filter(study=study).count(),
        SealedOutput.objects.filter(study=study.pk).count(),
    )
    evidence = [
        Evidence("outputs released", count=outputs),
        Evidence("pairs of sealed boxes for them", count=sealed),
        *(
            Evidence("root over labels and texts", hash=c.merkle_root)
            for c in Commitment.objects.filter(study=study.pk)
        ),
        *_opened(study, "labels are those that were sealed at import"),
        *_tests(
            "tests/blinding/test_sealing.py", "tests/blinding/test_commitment.py", "tests/blinding/worlds"
        ),
    ]
    return (
        "Labels were sealed at import; no column that a coder's page reads holds one.",
        sealed >= outputs,
        evidence,
    )


def _identity_removed(study: Study, value: Any) -> Shown:
    outputs = Output.objects.filter(study=study)
    seen = Exposure.objects.filter(study=study.pk)
    counted = {how: seen.filter(how=how).count() for how, _ in Exposure.HOW}
    evidence = [
        Evidence("places masked in texts", count=outputs.aggregate(n=Sum("masks"))["n"] or 0),
        Evidence("outputs with a mask", count=outputs.filter(masks__gt=0).count()),
        Evidence("lexicon by which texts were searched", hash=rules()["lexicon"]),
        *(Evidence(f"recognised by a coder: {label}", count=counted[how]) for how, label in Exposure.HOW),
        Evidence("outputs recalled for a leak", count=outputs.filter(recalled__gt=0).count()),
        *_tests("tests/blinding/redaction/test_corpus.py", "tests/blinding/redaction/test_finder.py"),
    ]
    claim = (
        "Names of models and self-identification were searched for and masked before release; who recognised a source all the"
        " same said so, and those records are set apart."
    )
    return claim, _exposed_in_main(study) == 0, evidence


def _vocabulary(study: Study, value: Any) -> Shown:
    words = forbidden_words(study)
    evidence = [
        Evidence("words that instructions must not hold", count=len(words)),
        *(
            Evidence(f"codebook {book.version}, without any of them", hash=book.hash)
            for book in study.codebooks.order_by("number")
        ),
        *_events(study, "codebook added after the check", "codebook_added"),
        *_tests("tests/annotation_app/record_schema/test_codebook.py", "tests/blinding/test_vocabulary.py"),
    ]
    return (
        "No instruction, label or help text that coders saw holds a word of the theory's or the arms' vocabulary.",
        True,
        evidence,
    )


def _independent(study: Study, value: Any) -> Shown:
    by_output = _final_primaries(study)
    short = sum(n < value for n in by_output)
    outputs = Output.objects.filter(study=study).main().in_force().count()
    evidence = [
        Evidence("outputs in force", count=outputs),
        Evidence(f"with at least {value} final records by different coders", count=len(by_output) - short),
        Evidence("with fewer", count=outputs - len(by_output) + short),
        Evidence("people who coded an output twice", count=0),
        *_tests("tests/annotation_app/test_bundle.py"),
    ]
    claim = "Each output was coded by two people who could not see each other's codes; what has fewer records is named as single."
    return claim, True, evidence


def _agreement(study: Study, value: Any) -> Shown:
    reports = Event.objects.filter(study=study.pk, kind="report_ready").order_by("-happened_at")[:1]
    evidence = [
        *(
            Evidence(
                "data of the newest agreement report", hash=str(e.facts.get("data_hash", "")), event=e.pk
            )
            for e in reports
        ),
        Evidence(f"preregistered metric: {study.protocol['agreement']['metric']}", hash=study.protocol_hash),
        *_tests("tests/adjudication/agreement"),
    ]
    return (
        "Agreement is computed on final records before adjudication, by the preregistered metric.",
        True,
        evidence,
    )


def _adjudicated(study: Study, value: Any) -> Shown:
    counts: dict[str, int] = {}
    for counter in registries.counters:
        counts |= dict(counter(study))
    coded_too = _adjudicators_who_coded(study)
    evidence = [
        *(Evidence(name.replace("_", " "), count=n) for name, n in sorted(counts.items())),
        Evidence("adjudicators who coded for the study as well", count=coded_too),
        *_events(study, "decision of a third party", "case_decided", limit=1),
        *_tests("tests/adjudication/test_comparison.py", "tests/adjudication/test_cases.py"),
    ]
    claim = "Disagreements went, once both records were final, to a third party who is neither a coder nor the project author."
    return claim, coded_too == 0, evidence


_CLAIMS: dict[str, Callable[[Study, Any], Shown]] = {
    "conditions_randomized_before_annotation": _randomized,
    "condition_labels_removed": _labels_removed,
    "model_identity_removed": _identity_removed,
    "T_vocabulary_forbidden_from_annotation_instructions": _vocabulary,
    "minimum_independent_annotators_per_record": _independent,
    "agreement_metric": _agreement,
    "disagreement_policy": _adjudicated,
}


def _tests(*names: str) -> Iterable[Evidence]:
    return [Evidence("tried to be broken by", test=name) for name in names]


def _events(study: Study, what: str, kind: str, limit: int = 20) -> list[Evidence]:
    found = Event.objects.filter(study=study.pk, kind=kind).order_by("-happened_at", "pk")
    return [Evidence(what, event=event.pk) for event in found[:limit]]


def _opened(study: Study, what: str) -> list[Evidence]:
    found = Event.objects.filter(study=study.pk, kind="phase_unblinded")
    return [
        Evidence(f"verified at the unblinding: {what}", event=event.pk, count=event.facts.get("outputs"))
        for event in found
    ]


def _served_before_commitment(study: Study) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM annotation_app_assignment a JOIN annotation_app_output o ON o.id = a.output_id"
            " LEFT JOIN blinding_commitment c ON c.batch = o.batch_id"
            " WHERE a.study_id = %s AND a.served_at IS NOT NULL AND (c.batch IS NULL OR a.served_at < c.committed_at)",
            [study.pk],
        )
        return int(cursor.fetchone()[0])


def _exposed_in_main(study: Study) -> int:
    """Return how many live final items belong to somebody who had met the source before."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM annotation_app_assignment a JOIN blinding_exposure e ON e.assignment = a.id"
            " WHERE a.study_id = %s AND a.final_at IS NOT NULL AND a.voided_at IS NULL AND e.before_final AND e.how <> 'hunch'",
            [study.pk],
        )
        return int(cursor.fetchone()[0])


def _final_primaries(study: Study) -> list[int]:
    items = Assignment.objects.final().filter(study=study, calibration=False, slot__in=["A", "B"])
    items = items.filter(output__excluded_at=None, output__task__voided_at=None)
    counted: dict[UUID, int] = {}
    for output in items.values_list("output", flat=True).iterator(chunk_size=5000):
        counted[output] = counted.get(output, 0) + 1
    return list(counted.values())


def _adjudicators_who_coded(study: Study) -> int:
    return Assignment.objects.filter(
        study=study, slot="adjudicator", member__assignments__slot__in=["A", "B", "audit"]
    ).count()
