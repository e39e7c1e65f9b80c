"""How fast and how well redaction works. Run as `python -m bench.redaction` from the project's folder.

Speed is CPU time on one core with the automata grown. Where the folder of cases and data lies beside the project,
the texts of the pilot are measured too."""

import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from blinding.redaction.finder import Finder
from blinding.redaction.lexicon import LEXICON_VERSION, section_of
from blinding.redaction.unicode import CLEANING_VERSION, clean
from tests.blinding.redaction.corpus import false_alarms, recall, sentences

PILOT = Path(__file__).resolve().parent.parent.parent / "shared/data/instruction_pilot/outputs.jsonl"
NAMING = ("model", "product", "vendor")
ROUNDS = 7
LABELS = (
    "plain",
    "concise",
    "verbose",
    "gpt4_1106_preview",
    "claude-2.1",
    "alpaca-7b",
    "brevity",
    "elaboration",
)


def best_time(work: Callable[[str], object], texts: Sequence[str]) -> float:
    """Return the least CPU seconds that `work` took for all texts, after a first round."""
    times = []
    for _ in range(ROUNDS + 1):
        start = time.process_time()
        for text in texts:
            work(text)
        times.append(time.process_time() - start)
    return min(times[1:])


def print_speed(name: str, texts: Sequence[str]) -> None:
    size = sum(len(text.encode()) for text in texts)
    finder, with_labels = Finder(), Finder(LABELS, ["brevity"])
    kinds = {
        "clean": clean,
        "find": finder.find,
        "find, with labels": with_labels.find,
        "clean and find, with labels": lambda text: with_labels.find(clean(text).text),
    }
    for kind, work in kinds.items():
        seconds = best_time(work, texts)
        per_text = seconds / len(texts) * 1e6
        print(
            f"{name:28} {kind:28} {size / 1e6 / seconds:7.1f} MB/s {per_text:9.1f} µs for {size // len(texts)} B"
        )


def print_quality() -> None:
    corpus, finder = sentences(), Finder()
    groups = defaultdict(list)
    for sentence in corpus:
        groups[sentence.group].append(sentence)
    print(f"corpus: {len(corpus)} sentences, {len({sentence.lang for sentence in corpus})} languages")
    print(f"recall {recall(finder, corpus):.3f}, false alarms {false_alarms(finder, corpus):.3f}")
    for group, found in groups.items():
        if group != "innocent":
            print(f"  {group:10} {len(found):4} sentences, recall {recall(finder, found):.3f}")
    for sentence in corpus:
        if missed := sentence.missed(finder.find(sentence.text)):
            print(f"  missed: {missed} in {sentence.text!r}")
        elif sentence.is_innocent and (spans := finder.find(sentence.text)):
            print(f"  false alarm: {[span.term for span in spans]} in {sentence.text!r}")


def print_pilot(texts: Sequence[str]) -> None:
    finder = Finder()
    counts: Counter[str] = Counter()
    naming = 0
    for text in texts:
        sections = {section_of(span.lexicon_id) for span in finder.find(text)}
        counts.update(sections)
        naming += not sections.isdisjoint(NAMING)
    print(
        f"pilot: {naming} of {len(texts)} texts name a model, a product or a vendor; by section: {dict(counts)}"
    )


def main() -> None:
    print(f"lexicon {LEXICON_VERSION[:12]}, cleaning {CLEANING_VERSION[:12]}")
    print_quality()
    latin = "The reading room opens at nine, and the van stops at three villages on its way back. " * 12
    cyrillic = "Читальный зал открывается в девять, а автобус объезжает три деревни по пути назад. " * 7
    naming = "As Claude, an AI assistant made by Anthropic, I would not say that GPT-4 is better. " * 12
    print_speed("ASCII, nothing to find", [latin] * 500)
    print_speed("Cyrillic, nothing to find", [cyrillic] * 500)
    print_speed("one text of 1 MB", [latin * 1000])
    print_speed("five names in each sentence", [naming] * 100)
    if PILOT.exists():
        texts = [json.loads(line)["text"] for line in PILOT.read_text("utf-8").splitlines()]
        print_speed("pilot, 720 texts", texts)
        print_pilot(texts)


if __name__ == "__main__":
    main()
