"""The opening by a real job on a connection of its own: verified first, all or nothing."""

import pytest
from django.db import connection, transaction
from redis import Redis

from annotation_app import health
from annotation_app.errors import Refused
from annotation_app.services.assignments import next_assignment
from annotation_app.services.recall import freeze_output, mask_output
from annotation_app.services.unblinding import approve_unblinding
from blinding import jobs
from blinding.models import Event, Job, RevealedLabel, RevealedSeed, UnblindingRequest
from tests.annotation_app.ceremony import a_worker, approve, ask, key_of, unblind
from tests.factories import ADMIN_PASSPHRASE, AUTHOR_PASSPHRASE, WHY, StudyUnderTest, a_study, rows

pytestmark = pytest.mark.django_db(transaction=True)

OUTPUTS = rows(tasks=2, per_task=2)


@pytest.fixture
def locked() -> StudyUnderTest:
    return a_study(phase="locked", outputs=OUTPUTS)


def kinds(study: StudyUnderTest) -> list[str]:
    events = Event.objects.filter(study=study.study.pk, kind__startswith="unblinding").order_by("happened_at")
    return list(events.values_list("kind", flat=True))


def test_two_people_open_the_seals(locked: StudyUnderTest) -> None:
    before = key_of(locked)
    asked = ask(locked)
    assert key_of(locked)[1] == 1
    approve(locked, asked)
    study = locked.study
    asked.refresh_from_db()
    assert (study.phase, asked.state) == ("unblinded", "done")
    assert key_of(locked) == before
    assert asked.outer is None
    revealed = RevealedLabel.objects.filter(study=study.pk)
    assert sorted(revealed.values_list("output_id", flat=True)) == sorted(r["output_id"] for r in OUTPUTS)
    by_id = {row["output_id"]: row for row in OUTPUTS}
    for label in revealed:
        row = by_id[label.output_id]
        assert (label.condition, label.model, label.theory) == (row["condition"], row["model"], row["theory"])
        assert label.leaf["raw_text"] == row["text"]
        assert label.gold_expected == row.get("gold_expected")
    assert RevealedSeed.objects.filter(study=study.pk).count() == 1
    assert kinds(locked) == ["unblinding_requested", "unblinding_approved"]
    assert Event.objects.filter(study=study.pk, kind="phase_unblinded").count() == 1


def test_nothing_of_the_key_stays_in_the_broker_or_the_job(locked: StudyUnderTest, settings) -> None:
    approve(locked, ask(locked))
    job = Job.objects.get(kind="unblind")
    assert Redis.from_url(settings.REDIS_URL).keys("twinblind:hand-over:*") == []
    assert list(job.arguments) == ["public_key"]


def test_a_worker_that_does_not_take_the_key_leaves_the_request_waiting(
    locked: StudyUnderTest, settings
) -> None:
    settings.TWINBLIND_HAND_OVER_PATIENCE = 0.1
    health.worker_beat()
    asked = ask(locked)
    with pytest.raises(Refused, match="in time"):
        approve_unblinding(membership=locked["admin"], uid=asked.pk, passphrase=ADMIN_PASSPHRASE)
    asked.refresh_from_db()
    assert (asked.state, asked.approved_by) == ("requested", None)
    assert Job.objects.get(kind="unblind").state == "failed"
    settings.TWINBLIND_HAND_OVER_PATIENCE = 20
    approve(locked, asked)
    assert locked.study.phase == "unblinded"


def test_a_job_that_is_given_no_key_puts_the_outer_layer_back(locked: StudyUnderTest, settings) -> None:
    settings.TWINBLIND_HAND_OVER_SECONDS = 0.1
    before, asked = key_of(locked), ask(locked)
    UnblindingRequest.objects.filter(pk=asked.pk).update(state="approved", approved_by=locked["admin"].pk)
    with transaction.atomic():
        job = jobs.enqueue("unblind", study=locked.study.pk, subject=asked.pk)
    jobs.run(job.pk)
    asked.refresh_from_db()
    job.refresh_from_db()
    assert (job.state, asked.state, locked.study.phase) == ("failed", "failed", "locked")
    assert key_of(locked) == before
    assert "handed over" in Event.objects.get(kind="unblinding_failed").facts["error"]


ALTERATIONS = {
    "a shown text": (
        "UPDATE annotation_app_output SET text = text || ' ' WHERE id = (SELECT id FROM annotation_app_output LIMIT 1)",
        "text or cluster of b-",
    ),
    "a label box": (
        "UPDATE blinding_sealedoutput SET labels = set_byte(labels, 60, get_byte(labels, 60) # 1)"
        " WHERE id = (SELECT id FROM blinding_sealedoutput LIMIT 1)",
        "seal of b-",
    ),
    "two label boxes exchanged": (
        "UPDATE blinding_sealedoutput s SET labels = o.labels FROM blinding_sealedoutput o"
        " WHERE s.id = (SELECT min(id::text)::uuid FROM blinding_sealedoutput)"
        " AND o.id = (SELECT max(id::text)::uuid FROM blinding_sealedoutput)",
        "not the one that was made at import",
    ),
    "an order": (
        "UPDATE annotation_app_assignment SET position = 100 - position WHERE member_id ="
        " (SELECT id FROM annotation_app_membership WHERE role = 'primary_A')",
        "orders are not those",
    ),
    "a root": ("UPDATE blinding_commitment SET merkle_root = repeat('0', 64)", "records are not those"),
    "a record": (
        "UPDATE annotation_app_record SET payload = jsonb_set(payload, '{confidence}', '0.25')"
        " WHERE id = (SELECT id FROM annotation_app_record LIMIT 1)",
        "hash was published",
    ),
}
TABLES = (
    "annotation_app_output",
    "blinding_sealedoutput",
    "annotation_app_assignment",
    "blinding_commitment",
    "annotation_app_record",
)


def altered(statement: str) -> None:
    """What the owner of the database could do: take the triggers off, change a row, put them back."""
    with transaction.atomic(), connection.cursor() as cursor:
        for table in TABLES:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        cursor.execute(statement)
        assert cursor.rowcount
        for table in TABLES:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")


@pytest.mark.parametrize("what", ALTERATIONS)
def test_whatever_was_altered_is_named_and_nothing_is_opened(locked: StudyUnderTest, what: str) -> None:
    before = key_of(locked)
    statement, message = ALTERATIONS[what]
    altered(statement)
    asked = ask(locked)
    approve(locked, asked)
    asked.refresh_from_db()
    job = Job.objects.get(kind="unblind")
    assert (asked.state, locked.study.phase) == ("failed", "locked")
    assert message in job.error
    assert not RevealedLabel.objects.exists()
    assert key_of(locked) == before


def test_the_interface_speaks_of_a_request_to_key_holders_and_the_monitor(locked: StudyUnderTest) -> None:
    url = locked.url("unblinding/")
    body = {"reason": WHY, "passphrase": AUTHOR_PASSPHRASE}
    asked = locked.api("project_author").post(url, body)
    assert asked.status_code == 201
    uid = asked.json()["uid"]
    for name in ("project_author", "admin", "monitor"):
        assert locked.api(name).get(url).json()[0]["state"] == "requested"
    for name in ("primary_A", "primary_B", "adjudicator", "audit"):
        assert locked.api(name).get(url).status_code == 404
        assert locked.api(name).post(url, body).status_code == 404
    with a_worker():
        done = locked.api("admin").post(f"{url}{uid}/approve/", {"passphrase": ADMIN_PASSPHRASE})
    assert done.status_code == 202
    shown = locked.api("admin").get(url).json()[0]
    assert (shown["state"], shown["verification"]["outputs"], shown["job"]["state"]) == (
        "done",
        len(OUTPUTS),
        "done",
    )
    assert locked.api("project_author").post(f"{url}{uid}/withdraw/").status_code == 409


def recalled(study: StudyUnderTest, blinded_id: str, word: str) -> None:
    freeze_output(membership=study["admin"], blinded_id=blinded_id, reason=WHY)
    mask_output(membership=study["admin"], blinded_id=blinded_id, words=[word], note=WHY)


def test_texts_that_recalls_brought_are_proven_with_the_rest() -> None:
    study = a_study(phase="coding", outputs=OUTPUTS, protocol={"exemplars": 0})
    item = next_assignment(membership=study["primary_A"])
    assert item is not None
    for word in ("river", "Follow"):
        recalled(study, item.output.blinded_output_id, word)
    for name in ("primary_A", "primary_B"):
        study.code_all(name)
    study.lock()
    unblind(study)
    label = RevealedLabel.objects.get(output=item.output_id)
    assert ["river" in text for text in label.leaf["shown"]] == [True, False]


def test_a_text_altered_after_its_recall_is_named() -> None:
    study = a_study(phase="coding", outputs=OUTPUTS, protocol={"exemplars": 0})
    item = next_assignment(membership=study["primary_A"])
    assert item is not None
    recalled(study, item.output.blinded_output_id, "river")
    study.lock()
    altered(f"UPDATE annotation_app_output SET text = text || '!' WHERE id = '{item.output_id}'")
    approve(study, ask(study))
    assert "after a recall" in Job.objects.get(kind="unblind").error
