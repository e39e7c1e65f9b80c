"""The people of the demonstration and how they code."""

from dataclasses import dataclass
from typing import Any

from annotation_app.demonstration.outputs import chance, pick


@dataclass(frozen=True)
class Person:
    username: str
    role: str
    password: str


ADMIN = Person("ida", "admin", "quiet harbour morning")
PEOPLE = (
    Person("paul", "project_author", "seven wooden bridges"),
    Person("anna", "primary_A", "copper kettle window"),
    Person("bela", "primary_B", "early train to town"),
    Person("june", "adjudicator", "maple leaf paper"),
    Person("otto", "audit", "north wind garden"),
    Person("mona", "monitor", "lantern on the pier"),
)
ADMIN_PASSPHRASE = "a red boat on a grey lake"  # noqa: S105  printed for everyone
AUTHOR_PASSPHRASE = "three owls under the roof"  # noqa: S105


def answers(form: dict[str, Any], person: str, text: str) -> dict[str, Any]:
    """Return how a person would answer a form about a text: mostly as the text suggests, sometimes not."""
    fields: dict[str, Any] = {}
    for field in form["fields"]:
        fields |= _answer(field, person, text)
    return fields


def _answer(field: dict[str, Any], person: str, text: str) -> dict[str, Any]:
    key, kind = field["key"], field["kind"]
    own = chance(0.18, key, person, text)
    subject = (key, person, text) if own else (key, text)
    if kind == "radio":
        likely = field["options"][: max(2, len(field["options"]) // 2)]
        return {key: pick(field["options"] if own else likely, *subject)["value"]}
    if kind == "scale":
        return {key: pick((0.5, 0.6, 0.7, 0.8, 0.9, 1.0), key, person, text)}
    if kind == "checks":
        return {key: [o["value"] for o in field["options"] if chance(0.5, o["value"], *subject)]}
    if kind == "flag":
        flagged = chance(0.04, "flag", person, text)
        return {key: flagged} | (
            {field["reason"]["key"]: "Two readings seem equally good."} if flagged else {}
        )
    return _cluster(field, own, subject) if kind == "cluster" else {}


def _cluster(field: dict[str, Any], own: bool, subject: tuple[Any, ...]) -> dict[str, Any]:
    answer: dict[str, Any] = {field["key"]: field["options"][0]["value"]}
    targets = [t for t in field["target"]["options"] if t["value"] != field["picker"]["preset"]]
    if own and targets:
        return {
            field["key"]: field["options"][1]["value"],
            field["target"]["key"]: pick(targets, *subject)["value"],
        }
    return answer
