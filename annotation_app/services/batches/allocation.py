"""Who codes what of a released batch, in which order, and the commitment to all of it before anyone opens an item."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import F, Max

from annotation_app.models import Assignment, Batch, Cluster, Membership, Output, Task
from annotation_app.services.versions import rules
from blinding import clock, commitment, entropy, sealing
from blinding.allocation import Placement, Unit, allocate, document, draw_exemplars, draw_share
from blinding.models import Commitment, OpenDigests, SealedOutput, StudyKey
from blinding.policy import Role

EXCERPT = 300
PAGE = 5000


class Allocation:
    """The allocation of one batch from one fresh seed; a pure function of blinded ids, tasks, members and the seed."""

    def __init__(self, batch: Batch, outputs: list[Output]) -> None:
        self._batch = batch
        self._study = batch.study
        self._outputs = {output.blinded_output_id: output for output in outputs}
        self._seed = entropy.draw("allocation seed", batch.pk, 32)
        self._members = {m.alias: m for m in self._study.memberships.current()}
        protocol = self._study.protocol
        self._spacing = int(protocol["spacing"])
        self._audit_share = float(protocol["audit_share"]) if batch.is_main else 0.0
        met = _variants_met(batch, {o.task for o in self._outputs.values()})
        self._units = [
            Unit(o.blinded_output_id, str(o.task_id), o.task.variant_group or None, met.get(o.task_id, ()))
            for o in self._outputs.values()
        ]
        self._slots = self._who_codes()
        self._offsets = {alias: _last_position(m, not batch.is_main) for alias, m in self._members.items()}
        self._placements = allocate(self._units, self._slots, self._spacing, self._seed, self._audit_share)

    def store(self) -> None:
        """Write assignments in random order, the coders' totals, and the exemplars of clusters."""
        drawn = self._guesses()
        rows = [self._assignment(p, (p.blinded_id, p.member) in drawn) for p in self._placements]
        rows.sort(key=lambda row: row.pk)
        Assignment.objects.bulk_create(rows, batch_size=PAGE)
        totals: dict[str, int] = defaultdict(int)
        for placement in self._placements:
            totals[placement.member] += 1
        total = "main_total" if self._batch.is_main else "calibration_total"
        for alias, count in totals.items():
            Membership.objects.filter(pk=self._members[alias].pk).update(**{total: F(total) + count})
        self._draw_exemplars()

    def commit(self) -> str:
        """Record the Merkle root, and commitments to the seed and the orders; return the root in hex."""
        sealed = {
            row[0]: bytes(row[1])
            for row in SealedOutput.objects.filter(batch=self._batch.pk).values_list("output", "digests")
        }
        parts = {blinded_id: self._open_parts(blinded_id) for blinded_id in sorted(self._outputs)}
        leaves = [commitment.leaf_hash(i, sealed[self._outputs[i].pk], opened) for i, opened in parts.items()]
        self._keep_open_parts(parts)
        nonce = entropy.draw("commitment nonce", self._batch.pk, 32)
        allocation = document(self._units, self._slots, self._spacing, self._audit_share, self._placements)
        now = clock.now()
        manifest = commitment.manifest(
            batch=str(self._batch.pk),
            leaves=leaves,
            seed=commitment.seed_commitment(self._seed, nonce),
            order=commitment.order_commitment(allocation, nonce),
            sealed_at=now.isoformat().replace("+00:00", "Z"),
            rules=rules(),
        )
        manifest.pop("leaves")
        key = bytes(StudyKey.objects.values_list("public_key", flat=True).get(study=self._study.pk))
        Commitment.objects.create(
            batch=self._batch.pk,
            study=self._study.pk,
            merkle_root=manifest["merkle_root"],
            seed_commitment=manifest["seed_commitment"],
            leaves=len(leaves),
            manifest=manifest,
            allocation={
                "slots": self._slots,
                "spacing": self._spacing,
                "audit_share": self._audit_share,
                "offsets": self._offsets,
                "variants": {u.blinded_id: u.never_same for u in self._units if u.never_same},
                "met": {u.blinded_id: list(u.met) for u in self._units if u.met},
            },
            sealed_seed=sealing.Sealer(key).seal(self._seed + nonce),
            committed_at=now,
        )
        return str(manifest["merkle_root"])

    def _who_codes(self) -> dict[str, list[str]]:
        slots = {"A": Role.PRIMARY_A, "B": Role.PRIMARY_B}
        if self._audit_share:
            slots["audit"] = Role.AUDIT
        found = {
            slot: sorted(a for a, m in self._members.items() if m.role == role)
            for slot, role in slots.items()
        }
        return {slot: aliases for slot, aliases in found.items() if aliases}

    def _open_parts(self, blinded_id: str) -> bytes:
        output = self._outputs[blinded_id]
        code = output.cluster.code if output.cluster else None
        return commitment.open_digests(output.text, code, commitment.open_nonce(self._seed, blinded_id))

    def _keep_open_parts(self, parts: dict[str, bytes]) -> None:
        """Store the digests without which nobody could tell a leaf again before the unblinding, after a recall."""
        study, batch = self._study.pk, self._batch.pk
        rows = [
            OpenDigests(output=self._outputs[i].pk, study=study, batch=batch, digests=d)
            for i, d in parts.items()
        ]
        OpenDigests.objects.bulk_create(sorted(rows, key=lambda row: row.output), batch_size=PAGE)

    def _guesses(self) -> set[tuple[str, str]]:
        """Return which items are shown again for a closing guess, as (blinded id, alias)."""
        guess = self._study.protocol["guess"]
        if not guess["share"] or not (guess["conditions"] or guess["models"]) or not self._batch.is_main:
            return set()
        by_member: dict[str, list[str]] = defaultdict(list)
        for placement in self._placements:
            if placement.slot in ("A", "B"):
                by_member[placement.member].append(placement.blinded_id)
        return {
            (blinded_id, alias)
            for alias, ids in by_member.items()
            for blinded_id in draw_share(self._seed, f"guess {alias}", ids, float(guess["share"]))
        }

    def _assignment(self, placement: Placement, guess: bool) -> Assignment:
        output = self._outputs[placement.blinded_id]
        member = self._members[placement.member]
        subject = f"{output.pk} {member.pk}"
        return Assignment(
            id=entropy.uuid("assignment", subject),
            record_id=entropy.uuid("record id", subject),
            study=self._study,
            output=output,
            member=member,
            slot=placement.slot,
            calibration=not self._batch.is_main,
            position=self._offsets[placement.member] + placement.position,
            guess_drawn=guess,
        )

    def _draw_exemplars(self) -> None:
        wanted = int(self._study.protocol["exemplars"])
        by_cluster: dict[Cluster, list[str]] = defaultdict(list)
        for blinded_id, output in self._outputs.items():
            if output.cluster is not None:
                by_cluster[output.cluster].append(blinded_id)
        for cluster, candidates in by_cluster.items():
            chosen = (
                draw_exemplars(
                    self._seed, str(cluster.task_id), str(cluster.pk), sorted(candidates), wanted + 1
                )
                if wanted
                else []
            )
            cluster.exemplars = [self._exemplar(blinded_id) for blinded_id in chosen]
        Cluster.objects.bulk_update(by_cluster, ["exemplars"], batch_size=500)

    def _exemplar(self, blinded_id: str) -> dict[str, str]:
        output = self._outputs[blinded_id]
        return {"output": str(output.pk), "excerpt": output.text[:EXCERPT]}


def committed_allocation(batch: Batch, made_from: dict[str, Any]) -> dict[str, Any]:
    """Return the allocation document of a released batch, rebuilt from its assignments; what changed hands later is left out.

    `made_from` is what the batch's commitment says of it.
    """
    outputs = Output.objects.filter(batch=batch).values_list("blinded_output_id", "task_id")
    variants, met = made_from["variants"], made_from["met"]
    units = [
        Unit(blinded_id, str(task), variants.get(blinded_id), met.get(blinded_id, ()))
        for blinded_id, task in outputs
    ]
    items = Assignment.objects.filter(output__batch=batch, given_later=False, position__isnull=False)
    rows = items.values_list("output__blinded_output_id", "slot", "member__alias", "position")
    placements = sorted(
        (
            Placement(blinded_id, slot, alias, position - made_from["offsets"][alias])
            for blinded_id, slot, alias, position in rows
        ),
        key=lambda p: (p.slot, p.member, p.position),
    )
    return document(units, made_from["slots"], made_from["spacing"], made_from["audit_share"], placements)


def _variants_met(batch: Batch, tasks: Iterable[Task]) -> dict[UUID, tuple[str, ...]]:
    """Return, by task, who was given another variant of it in an earlier batch."""
    groups = {task.pk: task.variant_group for task in tasks if task.variant_group}
    earlier = Assignment.objects.filter(study=batch.study_id, output__task__variant_group__in=groups.values())
    met: dict[str, set[tuple[Any, str]]] = defaultdict(set)
    for group, task, alias in earlier.values_list(
        "output__task__variant_group", "output__task", "member__alias"
    ).distinct():
        met[group].add((task, alias))
    found = {
        task: tuple(sorted({alias for other, alias in met[group] if other != task}))
        for task, group in groups.items()
    }
    return {task: aliases for task, aliases in found.items() if aliases}


def _last_position(member: Membership, calibration: bool) -> int:
    own = member.assignments.filter(calibration=calibration, position__isnull=False)
    return int(own.aggregate(last=Max("position"))["last"] or 0)
