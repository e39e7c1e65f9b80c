"""A term that a person who has read the texts adds to what is looked for. Pure.

It is found as the values of a batch are: whole words, whatever their case, marks and letters that look alike, an s at most
behind it.
"""

from blinding.redaction.automaton import Automaton
from blinding.redaction.finder import own_form, wholes
from blinding.redaction.folding import fold
from blinding.redaction.spans import Span, merged


class OwnTerm:
    """Looks for one term. Raises ValueError where it has nothing to look for, or stands everywhere: one letter, say."""

    def __init__(self, term: str) -> None:
        parts = list(wholes(term))
        if not parts:
            raise ValueError("nothing to look for")
        self.term = term
        self._automaton = Automaton([own_form(part, "label") for part in parts])

    def find(self, text: str) -> list[Span]:
        """Return where the term stands in a cleaned text, in order."""
        folded = fold(text)
        places = [folded.span(hit.start, hit.end) for hit in self._automaton.hits(folded.text)]
        return merged(Span(start, end, "own", self.term) for start, end in places)
