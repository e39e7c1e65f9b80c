"""Leaks in what is served: a page, a header, a log line, an order, a count that knows an arm."""

import logging
from collections.abc import Iterator
from dataclasses import replace
from email.utils import format_datetime
from hashlib import sha256
from typing import Any
from unittest.mock import patch

from django.core.mail import send_mail
from django.db import connection
from django.utils.safestring import mark_safe

from annotation_app.api.assignments import NextAssignment
from annotation_app.models import Assignment, Output
from blinding import clock
from tests.blinding.worlds.leaks import API, ITEM, NEXT, PAGE, STUDY, Leak, planter, wrapped
from tests.blinding.worlds.routes import Things
from tests.blinding.worlds.world import World

SERVED: list[Leak] = []
planted = planter(SERVED)
AUTHOR, MONITOR = "project_author", "monitor"


def on_screen(world: World) -> str:
    """Return the condition of the item that A has open."""
    return arm(
        world, Assignment.objects.select_related("output").get(pk=Things.of(world).open_item["primary_A"])
    )


def arm(world: World, item: Any) -> str:
    return world.fixture.condition_of(item.output.text)


def _view(world: World, change: Any) -> Any:
    """Let `change(view, arm)` have its way with an item as its coder gets it."""

    def around(of: Any, item: Any, *args: Any) -> Any:
        return change(of(item, *args), arm(world, item))

    return wrapped("annotation_app.projections.AssignmentView.of", around)


def _answers(change: Any) -> Any:
    """Let `change(response)` have its way with every answer."""

    def around(call: Any, middleware: Any, request: Any) -> Any:
        response = call(middleware, request)
        change(response)
        return response

    return wrapped("annotation_app.middleware.PrivateAnswers.__call__", around)


@planted("a label in a title attribute", ITEM)
def title_attribute(world: World) -> Iterator[None]:
    def around(shown: Any, found: Any, *args: Any) -> Any:
        item = shown(found, *args)
        return item | {"task_code": mark_safe(f'<b title="{arm(world, found)}">{item["task_code"]}</b>')}

    with wrapped("annotation_app.pages.coding._shown", around):
        yield


@planted("a label in a comment of the page", ITEM)
def html_comment(world: World) -> Iterator[None]:
    label = on_screen(world)

    def change(response: Any) -> None:
        response.content = response.content.replace(b"</main>", f"<!-- {label} --></main>".encode())

    with _answers(change):
        yield


@planted("an ETag over the row", NEXT)
def etag(world: World) -> Iterator[None]:
    digest = sha256(on_screen(world).encode()).hexdigest()[:16]
    with _answers(lambda response: response.headers.__setitem__("ETag", f'"{digest}"')):
        yield


@planted("a Last-Modified that follows the arm", NEXT)
def last_modified(world: World) -> Iterator[None]:
    moment = format_datetime(clock.now().replace(second=len(on_screen(world)) % 60))
    with _answers(lambda response: response.headers.__setitem__("Last-Modified", moment)):
        yield


@planted("a Server-Timing that follows the arm", ITEM)
def server_timing(world: World) -> Iterator[None]:
    spent = f"db;dur={len(on_screen(world))}"
    with _answers(lambda response: response.headers.__setitem__("Server-Timing", spent)):
        yield


@planted("a cookie that knows the arm", ITEM)
def cookie(world: World) -> Iterator[None]:
    label = on_screen(world)
    with _answers(lambda response: response.set_cookie("seen", label[:3])):
        yield


@planted("a line of the log", NEXT)
def log_line(world: World) -> Iterator[None]:
    label = on_screen(world)
    with _answers(lambda response: logging.getLogger("annotation_app").info("served %s", label)):
        yield


@planted("a mail that names the arm", NEXT)
def mail(world: World) -> Iterator[None]:
    label = on_screen(world)
    with _answers(lambda response: send_mail(f"Next: {label}", "", "x@example.org", ["y@example.org"])):
        yield


@planted("a number of queries that follows the arm", NEXT)
def number_of_queries(world: World) -> Iterator[None]:
    times = len(on_screen(world)) % 7

    def change(response: Any) -> None:
        for _ in range(times):
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1")

    with _answers(change):
        yield


@planted("an order by arm", NEXT)
def order_by_arm(world: World) -> Iterator[None]:
    def around(serve_next: Any, member: Any, **more: Any) -> Any:
        items = list(Assignment.objects.filter(member=member).open().select_related("output"))
        first = min(items, key=lambda item: arm(world, item))
        Assignment.objects.filter(pk=first.pk).update(skips=0)
        Assignment.objects.filter(pk__in=[i.pk for i in items]).exclude(pk=first.pk).update(skips=9)
        return serve_next(member, **more)

    with wrapped("annotation_app.services.assignments.serve_next", around):
        yield


@planted("a position counted within the arm", NEXT)
def position_within_arm(world: World) -> Iterator[None]:
    def change(view: Any, label: str) -> Any:
        same = [row for row in world.fixture.rows if row["condition"] == label]
        return replace(view, position=same.index(world.fixture.row_of(view.text)))

    with _view(world, change):
        yield


@planted("an order of options that follows the arm", NEXT)
def order_of_options(world: World) -> Iterator[None]:
    def change(view: Any, label: str) -> Any:
        for control in view.form["fields"]:
            if control["kind"] == "radio":
                control["options"].sort(
                    key=lambda option: sha256(f"{label}{option['value']}".encode()).digest()
                )
        return view

    with _view(world, change):
        yield


@planted("a __str__ with a label in it", ITEM)
def str_of_a_model(world: World) -> Iterator[None]:
    def around(shown: Any, found: Any, *args: Any) -> Any:
        return shown(found, *args) | {"task_code": str(found.output)}

    with (
        wrapped("annotation_app.pages.coding._shown", around),
        wrapped(
            "annotation_app.models.output.Output.__str__",
            lambda _, output: world.fixture.condition_of(output.text),
        ),
    ):
        yield


NONSENSE = {"fields": {"f2": "no such option"}}


@planted("an error that echoes the row", ("primary_A", "POST", API + "assignments/{item}/record/", NONSENSE))
def error_text(world: World) -> Iterator[None]:
    label = on_screen(world)
    with wrapped(
        "annotation_app.services.records._error", lambda told, error: told(error) | {"message": label}
    ):
        yield


@planted("a list of choices in OPTIONS", ("primary_A", "OPTIONS", API + "assignments/next/"))
def options_list(world: World) -> Iterator[None]:
    class Telling:
        def determine_metadata(self, request: Any, view: Any) -> dict[str, Any]:
            return {"choices": sorted({str(row["condition"]) for row in world.fixture.rows})}

    with patch.object(NextAssignment, "metadata_class", Telling):
        yield


def _count(world: World, prefix: str) -> Any:
    def around(counts_for: Any, membership: Any) -> dict[str, int]:
        texts = Output.objects.values_list("text", flat=True)
        told = sum(world.fixture.condition_of(text).startswith(prefix) for text in texts)
        counts: dict[str, int] = counts_for(membership)
        return counts | {"of_one_kind": told}

    return around


@planted("a count by arm", STUDY)
def count_by_arm(world: World) -> Iterator[None]:
    with wrapped("annotation_app.projections.counts_for", _count(world, "meadow")):
        yield


@planted("a count by arm on the project author's page", (AUTHOR, "GET", API))
def count_for_the_author(world: World) -> Iterator[None]:
    with wrapped("annotation_app.projections.counts_for", _count(world, "harbour")):
        yield


@planted("a redirect that carries the arm", ("primary_A", "POST", PAGE + "annotate/{item}/skip/", {}))
def redirect(world: World) -> Iterator[None]:
    label = on_screen(world)

    def change(response: Any) -> None:
        if response.has_header("Location"):
            response.headers["Location"] += f"?from={label}"

    with _answers(change):
        yield


@planted("a filter on a hidden column", ("primary_A", "GET", PAGE + "records/?condition=meadow"))
def hidden_filter(world: World) -> Iterator[None]:
    def around(page: Any, request: Any, template: str, context: Any, **more: Any) -> Any:
        wanted = request.GET.get("condition", "")
        items = Assignment.objects.in_bulk([row.uid for row in context["records"]])
        kept = [row for row in context["records"] if arm(world, items[row.uid]) == wanted]
        return page(request, template, context | {"records": kept}, **more)

    with wrapped("annotation_app.pages.records.render_page", around):
        yield


@planted("sides of a case by arm", ("adjudicator", "GET", API + "cases/next/"))
def sides_by_arm(world: World) -> Iterator[None]:
    def around(sides: Any, case: Any) -> Any:
        left, right = sides(case)
        return (left, right) if len(world.fixture.condition_of(case.output.text)) < 100 else (right, left)

    with wrapped("adjudication.projections.sides", around):
        yield


@planted(
    "an event with a label in its facts",
    (MONITOR, "GET", API + "events/"),
    (MONITOR, "GET", PAGE + "events/"),
)
def label_in_an_event(world: World) -> Iterator[None]:
    def around(named: Any, membership: Any, rows: Any) -> Any:
        return [
            replace(event, facts={"arm": world.fixture.rows[0]["condition"]})
            for event in named(membership, rows)
        ]

    with wrapped("annotation_app.services.events._with_names", around):
        yield


@planted("a model in the name of a download", (AUTHOR, "GET", API + "export/records.jsonl"), at="locked")
def file_name(world: World) -> Iterator[None]:
    def around(records_response: Any, chunks: Any) -> Any:
        response = records_response(chunks)
        response.headers["Content-Disposition"] = (
            f'attachment; filename="{world.fixture.rows[0]["model"]}.jsonl"'
        )
        return response

    with wrapped("annotation_app.api.exports.records_response", around):
        yield


@planted("a blind version that is made of labels", (AUTHOR, "GET", API + "export/records.jsonl"), at="locked")
def telling_version(world: World) -> Iterator[None]:
    digest = sha256(str(world.fixture.rows[0]["condition"]).encode()).hexdigest()[:6]

    def around(record_of: Any, *args: Any) -> Any:
        record = record_of(*args)
        return record | {"blind_version": record["blind_version"] + digest}

    with wrapped("annotation_app.services.exports.record_of", around):
        yield


@planted("agreement by arm in a report", (AUTHOR, "GET", API + "agreement-reports/{report}/"), at="locked")
def agreement_by_arm(world: World) -> Iterator[None]:
    def around(of: Any, *args: Any, **more: Any) -> Any:
        view = of(*args, **more)
        return replace(
            view, result={**view.result, "by_arm": sorted({row["condition"] for row in world.fixture.rows})}
        )

    with wrapped("adjudication.projections.ReportView.of", around):
        yield
