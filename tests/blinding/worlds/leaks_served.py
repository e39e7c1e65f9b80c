"""Leaks in what is served: a page, a header, a log line, an order, a count that knows an arm."""

import logging
from collections.abc import Iterator
from dataclasses import replace
from email.utils import format_datetime
from hashlib import sha256
from typing import Any

from django.core.mail import send_mail
from django.db import connection
from django.db.models import Case, F, Value, When

from annotation_app.api.assignments import NextAssignment
from annotation_app.models import Assignment, Output
from annotation_app.models.assignment import AssignmentQuerySet
from blinding import clock
from tests.blinding.worlds.leaks import API, HOME, ITEM, NEXT, PAGE, STUDY, planted, wrapped
from tests.blinding.worlds.world import World

AUTHOR, MONITOR = "project_author", "monitor"


def arm(world: World, item: Any) -> str:
    return world.fixture.condition_of(item.output.text)


def _view(world: World, change: Any) -> Any:
    """Let `change(view, arm)` have its way with an item as its coder gets it."""

    def around(of: Any, item: Any, membership: Any) -> Any:
        return change(of(item, membership), arm(world, item))

    return wrapped("annotation_app.projections.AssignmentView.of", around)


def _answer_of_next(world: World, change: Any) -> Any:
    """Let `change(response, arm)` have its way with the answer that gives the next item."""

    def around(get: Any, view: Any, request: Any, slug: str) -> Any:
        response = get(view, request, slug)
        change(response, world.fixture.condition_of(response.data.text))
        return response

    return wrapped("annotation_app.api.assignments.NextAssignment.get", around)


@planted("a label in a title attribute", ITEM)
def title_attribute(world: World) -> Iterator[None]:
    def around(shown: Any, found: Any, *args: Any) -> Any:
        item = shown(found, *args)
        return item | {"task_code": f"{item['task_code']} ({arm(world, found)})"}

    with wrapped("annotation_app.pages.coding._shown", around):
        yield


@planted("a label in a comment of the page", ITEM)
def html_comment(world: World) -> Iterator[None]:
    def around(page: Any, request: Any, membership: Any, found: Any, *args: Any, **more: Any) -> Any:
        response = page(request, membership, found, *args, **more)
        response.content += f"<!-- {arm(world, found)} -->".encode()
        return response

    with wrapped("annotation_app.pages.coding._page", around):
        yield


@planted("an ETag over the row", NEXT)
def etag(world: World) -> Iterator[None]:
    def change(response: Any, label: str) -> None:
        response.headers["ETag"] = sha256(f"{response.data.text}{label}".encode()).hexdigest()[:16]

    with _answer_of_next(world, change):
        yield


@planted("a Last-Modified that follows the arm", NEXT)
def last_modified(world: World) -> Iterator[None]:
    def change(response: Any, label: str) -> None:
        response.headers["Last-Modified"] = format_datetime(clock.now().replace(second=len(label) % 60))

    with _answer_of_next(world, change):
        yield


@planted("a Server-Timing that follows the arm", NEXT)
def server_timing(world: World) -> Iterator[None]:
    def change(response: Any, label: str) -> None:
        response.headers["Server-Timing"] = f"db;dur={len(label)}"

    with _answer_of_next(world, change):
        yield


@planted("a cookie that knows the arm", NEXT)
def cookie(world: World) -> Iterator[None]:
    def change(response: Any, label: str) -> None:
        response.set_cookie("seen", label[:3])

    with _answer_of_next(world, change):
        yield


@planted("an order by arm", NEXT)
def order_by_arm(world: World) -> Iterator[None]:
    def in_own_order(self: AssignmentQuerySet) -> AssignmentQuerySet:
        outputs = Output.objects.values_list("pk", "text")
        ranks = [When(output=pk, then=Value(world.fixture.condition_of(text))) for pk, text in outputs]
        return self.order_by(Case(*ranks).desc(), F("position"))

    with wrapped("annotation_app.models.assignment.AssignmentQuerySet.in_own_order", lambda _, self: in_own_order(self)):
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
                control["options"].sort(key=lambda option: sha256(f"{label}{option['value']}".encode()).digest())
        return view

    with _view(world, change):
        yield


@planted("a __str__ with a label in it", ITEM)
def str_of_a_model(world: World) -> Iterator[None]:
    def around(shown: Any, found: Any, *args: Any) -> Any:
        return shown(found, *args) | {"task_code": str(found.output)}

    def named(_: Any, output: Output) -> str:
        return world.fixture.condition_of(output.text)

    with (
        wrapped("annotation_app.pages.coding._shown", around),
        wrapped("annotation_app.models.output.Output.__str__", named),
    ):
        yield


def _at_serving(world: World, act: Any) -> Any:
    def around(serve: Any, item: Assignment) -> None:
        act(arm(world, item))
        serve(item)

    return wrapped("annotation_app.services.assignments.serve", around)


@planted("a line of the log", NEXT)
def log_line(world: World) -> Iterator[None]:
    with _at_serving(world, lambda label: logging.getLogger("annotation_app").info("serving %s", label)):
        yield


@planted("a mail that names the arm", NEXT)
def mail(world: World) -> Iterator[None]:
    with _at_serving(world, lambda label: send_mail(f"Next: {label}", "", "x@example.org", ["y@example.org"])):
        yield


@planted("a number of queries that follows the arm", NEXT)
def number_of_queries(world: World) -> Iterator[None]:
    def act(label: str) -> None:
        for _ in range(len(label) % 7):
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1")

    with _at_serving(world, act):
        yield


NONSENSE = {"fields": {"f2": "no such option"}}


@planted("an error that echoes the row", ("primary_A", "POST", API + "assignments/{item}/record/", NONSENSE))
def error_text(world: World) -> Iterator[None]:
    from annotation_app.errors import Invalid

    def around(read: Any, study: Any, item: Assignment, fields: Any) -> Any:
        try:
            return read(study, item, fields)
        except Invalid as fault:
            fault.errors[0]["message"] += f" ({arm(world, item)})"
            raise

    with wrapped("annotation_app.services.records._read", around):
        yield


@planted("a list of choices in OPTIONS", ("primary_A", "OPTIONS", API + "assignments/next/"))
def options_list(world: World) -> Iterator[None]:
    from unittest.mock import patch

    class Telling:
        def determine_metadata(self, request: Any, view: Any) -> dict[str, Any]:
            return {"choices": sorted({str(row["condition"]) for row in world.fixture.rows})}

    with patch.object(NextAssignment, "metadata_class", Telling):
        yield


def _count(world: World, prefix: str) -> Any:
    def around(counts_for: Any, membership: Any) -> dict[str, int]:
        texts = Output.objects.values_list("text", flat=True)
        told = sum(world.fixture.condition_of(text).startswith(prefix) for text in texts)
        return counts_for(membership) | {"of_one_kind": told}

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
    def around(original: Any, *args: Any) -> Any:
        response = original(*args)
        item = Assignment.objects.visible_to(world.member("primary_A")).order_by("-skips", "position")[0]
        response.headers["Location"] += f"?from={arm(world, item)}"
        return response

    with wrapped("annotation_app.pages.coding.redirect", around):
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


@planted("an event with a label in its facts", (MONITOR, "GET", API + "events/"), (MONITOR, "GET", PAGE + "events/"))
def label_in_an_event(world: World) -> Iterator[None]:
    def around(named: Any, membership: Any, rows: Any) -> Any:
        return [replace(event, facts={"arm": world.fixture.rows[0]["condition"]}) for event in named(membership, rows)]

    with wrapped("annotation_app.services.events._with_names", around):
        yield


@planted("a model in the name of a download", (AUTHOR, "GET", API + "export/records.jsonl"), at="locked")
def file_name(world: World) -> Iterator[None]:
    def around(records_response: Any, chunks: Any) -> Any:
        response = records_response(chunks)
        response.headers["Content-Disposition"] = f'attachment; filename="{world.fixture.rows[0]["model"]}.jsonl"'
        return response

    with wrapped("annotation_app.api.exports.records_response", around):
        yield


@planted("a blind version that is made of labels", (AUTHOR, "GET", API + "export/records.jsonl"), at="locked")
def telling_version(world: World) -> Iterator[None]:
    def around(line: Any, names: Any, coded: Any, row: Any) -> bytes:
        digest = sha256(str(world.fixture.rows[0]["condition"]).encode()).hexdigest()[:6].encode()
        return bytes(line(names, coded, row)).replace(b'"blind_version":"bv-', b'"blind_version":"bv-' + digest)

    with wrapped("annotation_app.services.exports._line", around):
        yield


@planted("agreement by arm in a report", (AUTHOR, "GET", PAGE + "reports/{report}/json/"), at="locked")
def agreement_by_arm(world: World) -> Iterator[None]:
    def around(result_for: Any, membership: Any, result: Any) -> Any:
        return result_for(membership, result) | {"by_arm": sorted({row["condition"] for row in world.fixture.rows})}

    with wrapped("adjudication.pages.reports.result_for", around):
        yield


__all__ = ["HOME"]
