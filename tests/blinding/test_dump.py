"""Somebody steals a copy of everything: database, broker, upload folder, log. No label is in it, and neither lengths nor the
order of rows tell one. Each search is shown to find what it looks for where it is planted."""

import base64
import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.conf import settings
from django.db import connection
from redis import Redis

from annotation_app.log_format import LabelFreeFormatter
from annotation_app.models import Output, StagedOutput
from blinding import entropy, sealing
from blinding.models import RevealedLabel, SealedOutput, StudyKey
from tests.factories import ADMIN_PASSPHRASE, AUTHOR_PASSPHRASE, StudyUnderTest, a_study

pytestmark = pytest.mark.django_db
ARMS = ("zqmeadow", "zqharbour" + "r" * 170)
MODELS = ("zqquartz-1", "zqbasalt" + "t" * 90)
THEORY = "zqtidalism"
SENTINELS = (*ARMS, *MODELS, THEORY, "zqextra", "zqout", "zqkappa")
TASKS, PER_TASK = 5, 24


def outputs() -> list[dict[str, Any]]:
    """Outputs sorted by arm, with labels of very different lengths: whatever keeps order or length gives them away."""
    made: list[dict[str, Any]] = []
    for arm in ARMS:
        for model in MODELS:
            for n in range(TASKS * PER_TASK // 4):
                made.append(_output(arm, model, len(made), n))
    return made


def _output(arm: str, model: str, number: int, n: int) -> dict[str, Any]:
    words = " ".join(["river"] * (5 + (n * 37) % 60))  # the same lengths in every arm
    return {
        "output_id": f"zqout-{arm}-{model}-{number}",
        "task_id": f"task-{n % TASKS}",
        "task_statement": f"Describe way number {n % TASKS}.",
        "text": f"Way {number}: {words}.",
        "condition": arm,
        "model": model,
        "theory": THEORY,
        "auto_cluster_id": f"zqkappa-{n % 2}",
        "lab_note": f"zqextra {arm}",
    }


@pytest.fixture
def study() -> Iterator[StudyUnderTest]:
    with entropy.replayed(b"a fixed history"):
        yield a_study(phase="coding")


def test_no_label_is_left_after_import_or_release(
    study: StudyUnderTest, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    batch = study.import_batch(outputs())
    assert batch.status == "in_review"
    assert hits(everything(caplog)) == []
    study.release(batch)
    assert hits(everything(caplog)) == []


def test_the_search_finds_a_label_wherever_it_is_planted(
    study: StudyUnderTest, caplog: pytest.LogCaptureFixture
) -> None:
    batch = study.import_batch(outputs()[:4])
    planted = [
        ("plain", ARMS[0]),
        ("hex", MODELS[0].encode().hex()),
        ("base64", base64.b64encode(THEORY.encode()).decode()),
        ("reversed", ARMS[0][::-1]),
    ]
    for form, text in planted:
        type(batch).objects.filter(pk=batch.pk).update(name=text)
        assert hits(everything(caplog)), form


def test_the_server_cannot_open_what_it_sealed(study: StudyUnderTest) -> None:
    study.import_batch(outputs()[:4])
    box = bytes(SealedOutput.objects.all()[0].labels)
    key = StudyKey.objects.get()
    for secret in (bytes(key.id_secret), bytes(key.public_key), bytes(key.wrapped)[:32]):
        with pytest.raises(sealing.Damaged):
            sealing.Opener(secret).open(box)
    inner = sealing.open_outer(bytes(key.wrapped), AUTHOR_PASSPHRASE)
    opened = sealing.Opener(sealing.open_inner(inner, ADMIN_PASSPHRASE)).open(box)
    assert sealing.open_label_box(opened).fields["condition"] in ARMS


def test_lengths_of_columns_tell_nothing(study: StudyUnderTest) -> None:
    batch = study.import_batch(outputs())
    arms = arms_by_output(study)
    assert lengths_that_tell(StagedOutput, "id", arms) == []
    assert lengths_that_tell(SealedOutput, "output", arms) == []
    study.release(batch)
    assert lengths_that_tell(Output, "id", arms) == []


def test_order_of_rows_tells_nothing(study: StudyUnderTest) -> None:
    batch = study.import_batch(outputs())
    arms = arms_by_output(study)
    in_file = [row["condition"] == ARMS[0] for row in outputs()]
    assert p_of_order(in_file) < 0.01  # the guesser would see the order of the file
    for table, column in (("annotation_app_stagedoutput", "id"), ("blinding_sealedoutput", "output")):
        assert p_of_order(heap_order(table, column, arms)) > 0.01
    study.release(batch)
    for table, column in (("annotation_app_output", "id"), ("annotation_app_assignment", "output_id")):
        assert p_of_order(heap_order(table, column, arms)) > 0.01


def everything(caplog: pytest.LogCaptureFixture) -> Iterator[tuple[str, bytes]]:
    """Yield (place, bytes) of all that a thief of the machine's disk and memory of the broker would have."""
    yield from _tables()
    yield from _broker()
    # The product's own folders; the servers' files beside them hold what other tests planted and rolled back.
    for path in Path(settings.TWINBLIND_UPLOADS).rglob("*"):
        if path.is_file():
            yield f"file {path.name}", path.name.encode() + b"\n" + path.read_bytes()
    formatter = LabelFreeFormatter()
    yield "log", "\n".join(formatter.format(record) for record in caplog.records).encode()


def _tables() -> Iterator[tuple[str, bytes]]:
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            names = [c.name for c in cursor.description or ()]
            for row in cursor.fetchall():
                for name, value in zip(names, row, strict=True):
                    raw = bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode()
                    yield f"{table}.{name}", raw


def _broker() -> Iterator[tuple[str, bytes]]:
    with Redis.from_url(settings.REDIS_URL) as broker:
        for name in broker.scan_iter():
            kept = _KEPT[broker.type(name)](broker, name)
            yield f"broker {name!r}", repr((name, kept)).encode()


# By type, not by DUMP, whose compression would hide a word.
_KEPT: dict[bytes, Callable[[Any, bytes], Any]] = {
    b"none": lambda broker, name: None,
    b"string": lambda broker, name: broker.get(name),
    b"list": lambda broker, name: broker.lrange(name, 0, -1),
    b"set": lambda broker, name: broker.smembers(name),
    b"hash": lambda broker, name: broker.hgetall(name),
    b"zset": lambda broker, name: broker.zrange(name, 0, -1),
    b"stream": lambda broker, name: broker.xrange(name),
}


def hits(places: Iterator[tuple[str, bytes]]) -> list[str]:
    """Return where a sentinel stands: plain, in hex, base64, UTF-16 or backwards."""
    wanted = {form for word in SENTINELS for form in forms_of(word)}
    return [place for place, content in places for form in wanted if form in content]


def forms_of(word: str) -> set[bytes]:
    raw = word.encode()
    shifted = {base64.b64encode(b"\0" * n + raw)[4 * bool(n) : -4] for n in range(3)}
    return {raw, raw[::-1], raw.hex().encode(), word.encode("utf-16-le"), *(s for s in shifted if len(s) > 6)}


def arms_by_output(study: StudyUnderTest) -> dict[Any, bool]:
    """Open the seals, as only both passphrases can, to know what a guesser should guess."""
    wrapped = bytes(StudyKey.objects.get(study=study.study.pk).wrapped)
    opener = sealing.Opener(
        sealing.open_inner(sealing.open_outer(wrapped, AUTHOR_PASSPHRASE), ADMIN_PASSPHRASE)
    )
    boxes = SealedOutput.objects.filter(study=study.study.pk)
    found = {
        b.output: sealing.open_label_box(opener.open(bytes(b.labels))).fields["condition"] for b in boxes
    }
    assert not RevealedLabel.objects.exists()
    return {output: arm == ARMS[0] for output, arm in found.items()}


def lengths_that_tell(model: Any, key: str, arms: dict[Any, bool]) -> list[str]:
    """Return the columns whose lengths a guesser could use: its score beats 99 % of permutations of the arms."""
    rows = list(model.objects.all())
    truth = np.array([arms[getattr(row, key)] for row in rows])
    telling = []
    for field in model._meta.fields:
        lengths = [_length(getattr(row, field.attname)) for row in rows]
        if _p(lambda t, values=lengths: _score(values, t), truth) < 0.01:
            telling.append(field.name)
    return telling


def _length(value: Any) -> int:
    if isinstance(value, bytes | memoryview):
        return len(bytes(value))
    return len(json.dumps(value, default=str))


def _score(lengths: list[int], truth: Any) -> float:
    """How often the commoner arm of each length is right, on the data it was learnt from."""
    seen: dict[int, Counter[bool]] = {}
    for length, arm in zip(lengths, truth, strict=True):
        seen.setdefault(length, Counter())[bool(arm)] += 1
    return float(sum(max(c.values()) for c in seen.values()))


def heap_order(table: str, column: str, arms: dict[Any, bool]) -> list[bool]:
    with connection.cursor() as cursor:
        cursor.execute(f'SELECT "{column}" FROM "{table}" ORDER BY ctid')
        return [arms[row[0]] for row in cursor.fetchall()]


def p_of_order(order: list[bool]) -> float:
    """Return the share of random orders in which neighbours are alike at least as often."""
    return _p(lambda truth: float(np.sum(truth[1:] == truth[:-1])), np.array(order))


def _p(score: Any, truth: Any) -> float:
    generator = np.random.Generator(np.random.PCG64(5))
    observed = score(truth)
    beaten = sum(score(generator.permutation(truth)) >= observed for _ in range(300))
    return float((1 + beaten) / 301)
