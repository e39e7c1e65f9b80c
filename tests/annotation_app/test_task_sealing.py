"""What was in a package comes out of its seal: any valid metadata, bit for bit."""

from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from annotation_app.models import Task
from blinding import sealing
from blinding.models import SealedTask, StudyKey
from blinding.task_metadata import TaskMetadata, parse_canonical
from tests.annotation_app.task_uploads import output, upload
from tests.blinding.task_metadata.packages import metadata
from tests.factories import ADMIN_PASSPHRASE, AUTHOR_PASSPHRASE, StudyUnderTest, a_study

pytestmark = pytest.mark.django_db

WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40)
IDS = st.lists(
    st.from_regex(r"[a-z0-9][a-z0-9_.-]{0,11}", fullmatch=True), min_size=1, max_size=5, unique=True
)
NUMBERS = count()
HORIZONS = {"single_step": 1, "short": 7, "medium": 50, "long": 51}


@st.composite
def any_metadata(draw: st.DrawFn) -> dict[str, Any]:
    """Return valid metadata with every optional part, or without it."""
    horizon = draw(st.sampled_from(sorted(HORIZONS)))
    actions, edges = draw(IDS), set[tuple[int, int]]()
    for after in range(1, len(actions)):
        for before in draw(st.sets(st.integers(0, after - 1))):
            edges.add((before, after))
    depth = [1] * len(actions)
    for before, after in sorted(edges, key=lambda edge: edge[1]):
        depth[after] = max(depth[after], depth[before] + 1)
    tree = metadata(
        {
            "source_group": draw(WORDS),
            "submission_path": draw(WORDS),
            "labels.t1_horizon": horizon,
            "labels.t8_jurisdiction.region": draw(WORDS),
            "difficulty_components.required_steps": HORIZONS[horizon],
            "difficulty_components.dependency_depth": max(depth),
            "difficulty_class": 2,
            "action_granularity.unit": draw(WORDS),
            "required_actions.actions": [{"id": action} for action in actions],
            "required_actions.precedence": [[actions[a], actions[b]] for a, b in sorted(edges)],
            "reference_solution.amount": draw(st.floats(0, 1e6)),
            "reference_solution.action_count": HORIZONS[horizon],
            "judgement_points": [{"id": name, "field": draw(WORDS), "decidable": True} for name in draw(IDS)],
        }
    )
    for name in draw(
        st.sets(st.sampled_from(["required_actions", "judgement_points", "reference_solution"]))
    ):
        del tree[name]
    return tree


def private_key(study: StudyUnderTest) -> bytes:
    wrapped = bytes(StudyKey.objects.get(study=study.study.pk).wrapped)
    return sealing.open_inner(sealing.open_outer(wrapped, AUTHOR_PASSPHRASE), ADMIN_PASSPHRASE)


@settings(
    max_examples=4, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow]
)
@given(trees=st.lists(any_metadata(), min_size=1, max_size=6))
def test_any_valid_metadata_come_out_as_they_went_in(trees: list[dict[str, Any]]) -> None:
    study = a_study(f"study-{next(NUMBERS)}", phase="coding")
    for n, tree in enumerate(trees):
        tree["task_id"], tree["difficulty_function"] = f"menu-{n}", f"difficulty-function@0.0.{n}"
    batch = upload(study, [output(1, "menu-0")], *trees)
    assert batch.status == "in_review", batch.errors
    opener = sealing.Opener(private_key(study))
    names = dict(Task.objects.filter(study=study.study).values_list("pk", "task_id"))
    boxes = SealedTask.objects.filter(batch=batch.pk)
    opened = {names[row.task]: sealing.unpad(opener.open(bytes(row.box))) for row in boxes}
    assert opened == {tree["task_id"]: TaskMetadata.of("", tree).canonical for tree in trees}
    assert {name: parse_canonical(box) for name, box in opened.items()} == {t["task_id"]: t for t in trees}
