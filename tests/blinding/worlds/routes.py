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
from annotation_app.models import Assignment, Batch, ExportFile, Output
from blinding.models import UnblindingRequest
from tests.blinding.worlds.world import SLUG, World

NOBODYS = "00000000-0000-4000-8000-000000000000"

# Routes that no world visits, each with the reason and who answers for it. Nothing is on it for convenience.
SKIPPED: dict[str, str] = {}

# Routes that everybody who is blind asks for and where nobody of them is let in, each with the reason.
_ADMINS = "only the admin has it, who brings the labels in and is no coder"
_LATER = "opens after the unblinding, if the study is published"
_API, _PAGES = "api/v1/studies/<slug:slug>/", "studies/<slug:slug>/"
SHUT: dict[str, str] = {
    "invitations/<str:secret>/": "only who was invited has the link, and people of the worlds have passwords",
    "new-study/": "only who may found studies has it, and the worlds' founder is the admin",
    "public/<slug:slug>/distributions/": _LATER,
    "api/v1/public/<slug:slug>/distributions/": _LATER,
    _API + "batches/": _ADMINS,
    _API + "batches/<uuid:uid>/": _ADMINS,
    _API + "batches/<uuid:uid>/findings/": _ADMINS,
    _API + "batches/<uuid:uid>/release/": _ADMINS,
    _API + "members/": _ADMINS,
    _API + "outputs/<str:blinded_id>/recall/": _ADMINS,
    _API + "outputs/<str:blinded_id>/recall/lift/": _ADMINS,
    _API + "outputs/<str:blinded_id>/recall/mask/": _ADMINS,
    _API + "tasks/<uuid:uid>/void/": _ADMINS,
    _API + "unblinding/<uuid:uid>/approve/": _ADMINS,
    _API + "unblinding/<uuid:uid>/refuse/": _ADMINS,
    _PAGES + "batches/": _ADMINS,
    _PAGES + "batches/<uuid:uid>/": _ADMINS,
    _PAGES + "batches/<uuid:uid>/finding/": _ADMINS,
    _PAGES + "batches/<uuid:uid>/progress/": _ADMINS,
    _PAGES + "batches/<uuid:uid>/release/": _ADMINS,
    _PAGES + "members/": _ADMINS,
    _PAGES + "tasks/<uuid:uid>/void/": _ADMINS,
}

LISTS = tuple(
    f"<slug:slug>/{name}/"
    for name in (
        "agreement-reports",
        "batches",
        "codebook",
        "commitments/digests",
        "distributions",
        "events",
        "evidence",
        "exports",
        "members",
        "practice",
        "questions",
        "records",
        "reports",
        "results",
        "results/tasks",
        "tasks",
        "training",
        "training/texts",
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
    "texts": lambda things: things.text,
    "unblinding": lambda things: things.unblinding,
}
GUESSED = ("guesses", "closing")
PRACTISED = ("items",)
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
    training_item: dict[str, UUID | str] = field(default_factory=dict)
    case: UUID | str = NOBODYS
    batch: UUID | str = NOBODYS
    report: UUID | str = NOBODYS
    export: UUID | str = NOBODYS
    task: UUID | str = NOBODYS
    text: UUID | str = NOBODYS
    unblinding: UUID | str = NOBODYS
    blinded_id: str = "b-0"

    @classmethod
    def of(cls, world: World) -> "Things":
        items = Assignment.objects.filter(
            served_at__isnull=False, voided_at=None, slot__in=["A", "B", "audit"]
        )
        # What comes last stands for all of a kind: main items, once there are any, and of these the last on the list.
        rows = list(
            items.order_by("-calibration", "position", "pk").values_list(
                "member__user__username", "pk", "submitted_at", "guess_drawn"
            )
        )
        trained = items.filter(calibration=True, final_at__isnull=False).order_by("-position", "pk")
        batch = Batch.objects.order_by("uploaded_at").last()
        output = Output.objects.filter(batch=batch).order_by("blinded_output_id").first()
        text = Output.objects.filter(batch__purpose="calibration").order_by("pk").first()
        claimed = Case.objects.open().filter(claimed_by__isnull=False).first()
        return cls(
            open_item={role: pk for role, pk, submitted, _ in rows if submitted is None},
            done_item={role: pk for role, pk, submitted, _ in rows if submitted is not None},
            guess_item={role: pk for role, pk, _, drawn in rows if drawn},
            training_item=dict(trained.values_list("member__user__username", "pk")),
            case=claimed.pk if claimed else NOBODYS,
            batch=batch.pk if batch else NOBODYS,
            report=_newest(AgreementReport, "asked_at"),
            export=_newest(ExportFile, "asked_at"),
            unblinding=_newest(UnblindingRequest, "requested_at"),
            task=output.task_id if output else NOBODYS,
            text=text.pk if text else NOBODYS,
            blinded_id=output.blinded_output_id if output else "b-0",
        )


def _newest(model: Any, since: str) -> UUID | str:
    found = model.objects.order_by(f"-{since}", "pk").first()
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
    items = things.open_item
    if kind in GUESSED:
        items = things.guess_item
    if kind in PRACTISED:
        items = things.training_item
    mine = [found[role] for found in (items, things.done_item) if role in found]
    return list(dict.fromkeys([*mine, items.get("primary_A", NOBODYS)]))


def unnamed_parameters() -> set[str]:
    """Return the routes of which nobody said what their uid may be: they are asked for under an item's."""
    known = {*WHOLE_STUDY, *GUESSED, *PRACTISED, *CODED}
    named = (route.pattern for route in all_routes() if "uid" in route.parameters)
    return {pattern for pattern in named if kind_of(pattern) not in known}


def kind_of(pattern: str) -> str:
    """Return the word before a route's uid, such as `batches`."""
    return pattern.split("/<uuid:uid>")[0].rsplit("/", 1)[-1]
