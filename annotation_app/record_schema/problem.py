"""What is wrong with a document that someone wrote (schema, codebook, protocol), and where."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """`place` is a JSON Pointer into the document; empty for the document itself."""

    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place or '(document)'}: {self.message}"


def pointer(*steps: str | int) -> str:
    """Return the JSON Pointer (RFC 6901) of a path of keys and positions."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


class DocumentRefused(ValueError):
    """A document that the product cannot honour; `problems` says what and where."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(str(problem) for problem in self.problems))
