"""Leaks from one coder to another: a draft, a count, a pace, a page out of a cache."""

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from typing import Any

from adjudication.models import Case
from annotation_app.models import Assignment, Draft, Record
from tests.blinding.worlds.leaks import API, HOME, ITEM, NEXT, PAGE, STUDY, Leak, planter, wrapped
from tests.blinding.worlds.world import World

OF_PEERS: list[Leak] = []
planted = planter(OF_PEERS)


def _view(change: Any) -> Any:
    def around(of: Any, item: Any, *args: Any) -> Any:
        return change(of(item, *args), item)

    return wrapped("annotation_app.projections.AssignmentView.of", around)


@planted("the peer's draft", NEXT)
def peers_draft(world: World) -> Iterator[None]:
    def change(view: Any, item: Any) -> Any:
        others = Draft.objects.exclude(assignment__member=item.member_id).filter(
            assignment__slot__in=["A", "B"]
        )
        return replace(view, draft={"fields": {}, "version": others.count()})

    with _view(change):
        yield


@planted("what the peer answered to this item", ITEM)
def peers_answer(world: World) -> Iterator[None]:
    def change(view: Any, item: Any) -> Any:
        others = Record.objects.filter(assignment__output=item.output_id).exclude(assignment=item.pk)
        return replace(view, task_code=f"{view.task_code}{'*' * others.count()}")

    with _view(change):
        yield


@planted("a count of disagreements", STUDY)
def count_of_disagreements(world: World) -> Iterator[None]:
    def around(counts_for: Any, membership: Any) -> Any:
        return counts_for(membership) | {
            "disagreements": Case.objects.filter(study=membership.study_id).count()
        }

    with wrapped("annotation_app.projections.counts_for", around):
        yield


@planted("the peer's progress in one's own counter", NEXT)
def peers_progress(world: World) -> Iterator[None]:
    def change(view: Any, item: Any) -> Any:
        done = Assignment.objects.filter(study=item.study_id, submitted_at__isnull=False).count()
        return replace(view, total=view.total + done)

    with _view(change):
        yield


@planted("a page kept in a cache without its reader", ("primary_B", "GET", PAGE), HOME)
def cached_page(world: World) -> Iterator[None]:
    kept: dict[str, Any] = {}

    def around(page: Any, request: Any, *args: Any, **more: Any) -> Any:
        return copy(kept.setdefault(request.path, page(request, *args, **more)))

    with wrapped("annotation_app.pages.home.render_page", around):
        yield


@planted("an item taken off the list once the peer has coded it", NEXT)
def skipped_where_the_peer_coded(world: World) -> Iterator[None]:
    def around(serve_next: Any, member: Any, **more: Any) -> Any:
        coded = Assignment.objects.exclude(member=member).filter(version__gt=0).values("output")
        Assignment.objects.filter(member=member, output__in=coded).open().update(skips=9)
        return serve_next(member, **more)

    with wrapped("annotation_app.services.assignments.serve_next", around):
        yield


@planted("a queue that is longer where the peer disagrees", ("primary_A", "GET", API + "guesses/next/"), NEXT)
def queries_by_disagreement(world: World) -> Iterator[None]:
    def change(view: Any, item: Any) -> Any:
        for _ in Case.objects.filter(study=item.study_id):
            Assignment.objects.filter(pk=item.pk).exists()
        return view

    with _view(change):
        yield
