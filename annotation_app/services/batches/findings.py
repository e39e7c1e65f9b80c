"""What the redaction found in a batch, gathered by term while outputs stream by."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from annotation_app.models import Batch, Finding
from blinding import entropy
from blinding.redaction.spans import Span

ACCEPTED = (Finding.Kind.LEXICON, Finding.Kind.OWN)
EXAMPLES = 5
AROUND = 60  # code points of context on either side


@dataclass
class _Term:
    number: int
    lexicon_id: str
    count: int = 0
    outputs: int = 0
    examples: list[tuple[bytes, dict[str, str]]] = field(default_factory=list)


class FindingTable:
    """Counts terms and keeps a few random examples of each; numbers are random, so they tell no order.

    `taken` are numbers that the batch has given to other terms already."""

    def __init__(self, batch: Batch, taken: Collection[int] = ()) -> None:
        self._batch = batch
        self._taken = set(taken)
        self._terms: dict[tuple[str, str], _Term] = {}

    def take(self, text: str, spans: list[Span]) -> list[list[int]]:
        """Count the spans of one output; return them as [[start, end, number], …]."""
        seen: set[tuple[str, str]] = set()
        placed = []
        for span in spans:
            key = (span.kind, span.term)
            term = self._terms.get(key) or self._new(key, span)
            term.count += 1
            if key not in seen:
                seen.add(key)
                term.outputs += 1
                self._exemplify(term, key, text, span)
            placed.append([span.start, span.end, term.number])
        return placed

    def store(self) -> None:
        """Write the findings: lexicon hits accepted, suggestions ignored until the admin decides otherwise."""
        Finding.objects.bulk_create(sorted(self.findings(), key=lambda row: row.pk))

    def findings(self) -> list[Finding]:
        """Return the findings, not stored yet."""
        return [
            Finding(
                # Drawn for this term alone: how many label values are found must shift no other finding's key.
                id=entropy.uuid("finding id", f"{self._batch.pk} {kind} {name}"),
                batch=self._batch,
                number=term.number,
                term=name[:200],
                kind=kind,
                lexicon_id=term.lexicon_id,
                count=term.count,
                outputs=term.outputs,
                accepted=kind in ACCEPTED,
                examples=[example for _, example in term.examples],
            )
            for (kind, name), term in self._terms.items()
        ]

    def _new(self, key: tuple[str, str], span: Span) -> _Term:
        while (number := entropy.below(2**31, "finding", f"{self._batch.pk} {key}")) in self._taken:
            pass
        self._taken.add(number)
        self._terms[key] = _Term(number, span.lexicon_id or "")
        return self._terms[key]

    def _exemplify(self, term: _Term, key: tuple[str, str], text: str, span: Span) -> None:
        """Keep the examples with the smallest draws: a fair sample in one pass."""
        drawn = entropy.draw("example", f"{self._batch.pk} {key}", 8)
        if len(term.examples) == EXAMPLES and drawn >= term.examples[-1][0]:
            return
        before = text[max(0, span.start - AROUND) : span.start]
        example: dict[str, Any] = {
            "before": before,
            "match": text[span.start : span.end],
            "after": text[span.end : span.end + AROUND],
        }
        term.examples = sorted([*term.examples, (drawn, example)], key=lambda e: e[0])[:EXAMPLES]
