"""A study whose only batch is the upload of sentinels, in a database of its own, with everything its making said."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.test import override_settings

from annotation_app.log_format import LabelFreeFormatter
from annotation_app.models import Assignment, Cluster, Output, StagedOutput
from blinding import entropy
from tests.blinding.dumps.search import dump, files, pg_dump, valkey
from tests.blinding.dumps.upload import Upload, an_upload
from tests.clones import cloned_database
from tests.factories import StudyUnderTest, a_study

CALENDAR = b"the same draws each time"


@dataclass
class House:
    """Places to look in, by the step after which they were seen."""

    study: StudyUnderTest
    upload: Upload
    places: dict[str, bytes] = field(default_factory=dict)

    def arms(self) -> dict[str, int]:
        """The arm of each output, by its key: what a guesser wants to know."""
        shown = [*Output.objects.values_list("pk", "text"), *StagedOutput.objects.values_list("pk", "text")]
        return {str(pk): self.upload.arm_of(text) for pk, text in shown}

    def import_order(self) -> dict[str, int]:
        return {str(pk): self.upload.row_of(text) for pk, text in Output.objects.values_list("pk", "text")}

    def served_order(self, name: str) -> list[int]:
        """Rows of the upload in the order in which a coder meets them."""
        items = (
            Assignment.objects.visible_to(self.study[name])
            .order_by("position")
            .values_list("output__text", flat=True)
        )
        return [self.upload.row_of(text) for text in items]

    def cluster_codes(self) -> list[list[str]]:
        """By task, the codes of its clusters in the order in which the upload names them first."""
        found: list[list[str]] = []
        for task in sorted({cluster.task_id for cluster in Cluster.objects.all()}, key=str):
            outputs = Output.objects.filter(task=task).select_related("cluster")
            ordered = sorted(outputs, key=lambda output: self.upload.row_of(output.text))
            found.append(list(dict.fromkeys(output.cluster.code for output in ordered if output.cluster)))
        return found


@contextmanager
def a_house(blocker: Any, folder: Path, *, released: bool = True, planted: Any = None) -> Iterator[House]:
    """Import, and release, in a fresh database; `planted` is the context in which that happens."""
    uploads = {"TWINBLIND_UPLOADS": folder / "uploads", "TWINBLIND_EXPORTS": folder / "exports"}
    for path in uploads.values():
        path.mkdir(parents=True, exist_ok=True)
    with cloned_database(blocker), override_settings(**uploads), entropy.replayed(CALENDAR):
        house = House(a_study(phase="coding"), an_upload())
        with _listened(house), planted or entropy.replayed(CALENDAR + b", again"):
            batch = house.study.import_batch(house.upload.content, file_name=house.upload.name)
            _look(house, "import", folder)
            if released:
                house.study.release(batch)
                _look(house, "release", folder)
        yield house


def _look(house: House, step: str, folder: Path) -> None:
    house.places[f"the database after the {step}"] = dump()
    house.places[f"pg_dump after the {step}"] = pg_dump() or b""
    house.places[f"the broker after the {step}"] = valkey()
    house.places[f"the folders after the {step}"] = files(folder)


@contextmanager
def _listened(house: House) -> Iterator[None]:
    """Keep every line of the log, of every level, as the product writes it."""
    lines: list[str] = []
    handler = logging.Handler(logging.DEBUG)
    handler.setFormatter(LabelFreeFormatter())
    handler.emit = lambda record: lines.append(handler.format(record))  # type: ignore[method-assign]
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        root.setLevel(level)
        root.removeHandler(handler)
        house.places["the log"] = "\n".join(lines).encode()
