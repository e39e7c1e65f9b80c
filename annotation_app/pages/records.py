"""A coder's own records."""

from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from annotation_app.errors import Absent
from annotation_app.models import Assignment, Membership
from annotation_app.pages.shell import member_page, render_page
from annotation_app.projections import RecordRow
from blinding.policy import CODERS, Disclosure

PAGE = 50


@require_GET
@member_page
def my_records(request: HttpRequest, membership: Membership) -> HttpResponse:
    if membership.role not in CODERS:
        raise Absent
    own = (
        Assignment.objects.visible_to(membership)
        .filter(submitted_at__isnull=False)
        .select_related("output__task")
        .annotate(corrections=Count("errata"))
        .order_by("-submitted_at", "-position")
    )
    page = Paginator(own, PAGE).get_page(request.GET.get("page"))
    context = {
        "records": [RecordRow.of(item) for item in page],
        "pager": pager(page),
        "may_read": membership.may_learn(Disclosure.TEXT),
    }
    return render_page(
        request, "annotation_app/my_records.html", context, membership=membership, here="my-records"
    )


def pager(page: object) -> dict[str, str]:
    """Return links to the newer and the older page."""
    links = {}
    if page.has_previous():  # type: ignore[attr-defined]
        links["newer"] = f"?page={page.previous_page_number()}"  # type: ignore[attr-defined]
    if page.has_next():  # type: ignore[attr-defined]
        links["older"] = f"?page={page.next_page_number()}"  # type: ignore[attr-defined]
    return links
