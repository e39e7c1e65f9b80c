"""Every route of the URLconf, with addresses in it that mean something to the person who asks.

Whoever adds a route finds it visited by itself if its parameters are of a known kind, else here is where to name them.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.urls import URLPattern, URLResolver, get_resolver

from adjudication.models import AgreementReport, Case
from annotation_app.models import Assignment, Batch, ExportFile, Output, Task
from tests.blinding.worlds.world import SLUG, World

NOBODYS = "00000000-0000-4000-8000-000000000000"

# Routes that no world visits, each with the reason and who answers for it. Nothing is on it for convenience.
SKIPPED: dict[str, str] = {}

LISTS = tuple(
    f"<slug:slug>/{name}/"
    for name in (
        "agreement-reports",
        "batches",
        "codebook",
        "commitments/digests",
        "distributions",
        "events",
        "exports",
        "members",
        "questions",
        "records",
        "reports",
        "results",
        "results/tasks",
        "tasks",
        "unblinding",
    )
)
# What lists are asked for beside nothing: filters, orders, searches, formats, and what a hidden column would be called.
QUERIES = (
    "page=1",
    "page=2",
    "limit=2",
    "before=x",
    "kind=batch_released",
    "version=1",
    "format=csv",
    "ordering=condition",
    "ordering=-model",
    "order_by=output__id",
    "search=quartz",
    "condition=meadow",
    "model__startswith=q",
    "output__batch__mapping=x",
    "fields=labels",
    "expand=sealed",
)


@dataclass(frozen=True)
class Route:
    """A route as the URLconf writes it, such as `studies/<slug:slug>/annotate/<uuid:uid>/`."""

    pattern: str

    @property
    def is_program(self) -> bool:
        return self.pattern.startswith("api/")

    @property
    def parameters(self) -> list[str]:
        return re.findall(r"<\w+:(\w+)>", self.pattern)

    @property
    def is_list(self) -> bool:
        return self.pattern.endswith(LISTS) or self.pattern in ("", "api/v1/studies/")

    def at(self, **values: Any) -> str:
        return "/" + re.sub(r"<\w+:(\w+)>", lambda found: str(values[found[1]]), self.pattern)


# Which uid stands behind which word: a thing of the whole study, or an item of the asker's own.
WHOLE_STUDY: dict[str, Callable[["Things"], UUID | str]] = {
    "batches": lambda things: things.batch,
    "commitments": lambda things: things.batch,
    "cases": lambda things: things.case,
    "reports": lambda things: things.report,
    "agreement-reports": lambda things: things.report,
    "exports": lambda things: things.export,
    "tasks": lambda things: things.task,
    "texts": lambda things: things.output,
    "items": lambda things: things.output,
    "unblinding": lambda things: NOBODYS,
}
GUESSED = ("guesses", "closing")
CODED = ("annotate", "assignments")


def all_routes() -> list[Route]:
    return sorted(
        {Route(pattern) for pattern in _patterns(get_resolver(), "")}, key=lambda route: route.pattern
    )


def _patterns(resolver: URLResolver, before: str) -> Iterator[str]:
    for entry in resolver.url_patterns:
        written = before + str(entry.pattern)
        if isinstance(entry, URLPattern):
            yield written
        else:
            yield from _patterns(entry, written)


@dataclass(frozen=True)
class Things:
    """What there is in a world for addresses to name: by role where it is somebody's own."""

    open_item: dict[str, UUID | str] = field(default_factory=dict)
    done_item: dict[str, UUID | str] = field(default_factory=dict)
    guess_item: dict[str, UUID | str] = field(default_factory=dict)
    case: UUID | str = NOBODYS
    batch: UUID | str = NOBODYS
    report: UUID | str = NOBODYS
    export: UUID | str = NOBODYS
    task: UUID | str = NOBODYS
    output: UUID | str = NOBODYS
    blinded_id: str = "b-0"

    @classmethod
    def of(cls, world: World) -> "Things":
        items = Assignment.objects.filter(
            served_at__isnull=False, voided_at=None, slot__in=["A", "B", "audit"]
        )
        rows = list(
            items.order_by("position").values_list(
                "member__user__username", "pk", "submitted_at", "guess_drawn"
            )
        )
        output = Output.objects.order_by("blinded_output_id")[0]
        claimed = Case.objects.open().filter(claimed_by__isnull=False).first()
        return cls(
            open_item={role: pk for role, pk, submitted, _ in rows if submitted is None},
            done_item={role: pk for role, pk, submitted, _ in rows if submitted is not None},
            guess_item={role: pk for role, pk, _, drawn in rows if drawn},
            case=claimed.pk if claimed else NOBODYS,
            batch=Batch.objects.get().pk,
            report=_newest(AgreementReport),
            export=_newest(ExportFile),
            task=Task.objects.order_by("task_id")[0].pk,
            output=output.pk,
            blinded_id=output.blinded_output_id,
        )


def _newest(model: Any) -> UUID | str:
    found = model.objects.order_by("-asked_at", "pk").first()
    return found.pk if found else NOBODYS


def addresses(route: Route, things: Things, role: str) -> list[str]:
    """Return the addresses under which `role` asks for a route: what is their own, and A's as somebody else's."""
    if not route.parameters:
        return [route.at()]
    return [route.at(slug=SLUG, **values) for values in _values(route, things, role)]


def _values(route: Route, things: Things, role: str) -> list[dict[str, Any]]:
    wanted = [name for name in route.parameters if name != "slug"]
    if not wanted:
        return [{}]
    if wanted == ["secret"]:
        return [{"secret": "0" * 48}]
    if wanted == ["blinded_id"]:
        return [{"blinded_id": things.blinded_id}]
    if wanted == ["uid", "kind"]:
        return [{"uid": things.report, "kind": kind} for kind in ("html", "json", "csv")]
    if wanted == ["uid"]:
        return [{"uid": uid} for uid in _uids(route.pattern, things, role)]
    raise LookupError(f"nobody said what {wanted} of {route.pattern} may be: name it in {__name__}")


def _uids(pattern: str, things: Things, role: str) -> list[UUID | str]:
    kind = kind_of(pattern)
    if kind in WHOLE_STUDY:
        return [WHOLE_STUDY[kind](things)]
    items = things.guess_item if kind in GUESSED else things.open_item
    mine = [found[role] for found in (items, things.done_item) if role in found]
    return list(dict.fromkeys([*mine, items.get("primary_A", NOBODYS)]))


def unnamed_parameters() -> set[str]:
    """Return the routes of which nobody said what their uid may be: they are asked for under an item's."""
    known = {*WHOLE_STUDY, *GUESSED, *CODED}
    named = (route.pattern for route in all_routes() if "uid" in route.parameters)
    return {pattern for pattern in named if kind_of(pattern) not in known}


def kind_of(pattern: str) -> str:
    """Return the word before a route's uid, such as `batches`."""
    return pattern.split("/<uuid:uid>")[0].rsplit("/", 1)[-1]
