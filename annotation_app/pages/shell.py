"""What every page shares: the gate into a study, and rendering from projections only."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import update_wrapper
from typing import Any, Concatenate, ParamSpec

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode

from annotation_app.api.authentication import find_membership
from annotation_app.errors import Absent, Refused
from annotation_app.models import Membership
from annotation_app.pages.labels import PHASES, ROLES
from blinding.policy import Role
from blinding.projection import sealed_from_rows

P = ParamSpec("P")


@dataclass(frozen=True)
class StudyHead:
    slug: str
    title: str
    phase: str
    phase_label: str


@dataclass(frozen=True)
class Viewer:
    name: str
    role: str = ""
    role_label: str = ""
    alias: str = ""


def member_page(
    view: Callable[Concatenate[HttpRequest, Membership, P], HttpResponse],
) -> Callable[..., HttpResponse]:
    """Open a study's page to its members: others are sent to sign in, or find nothing. The declaration comes first."""

    def gate(request: HttpRequest, slug: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not request.user.is_authenticated:
            return to_sign_in(request)
        membership = find_membership(request.user, slug)
        if membership is None or membership.role not in getattr(view, "roles", tuple(Role)):
            raise Absent
        if membership.declared_at is None and not getattr(view, "before_declaration", False):
            if getattr(request, "htmx", False) or request.method != "GET":
                raise Refused("Sign the declaration of your role first.", code="declaration_missing")
            return _to_declaration(request, slug)
        return view(request, membership, *args, **kwargs)

    update_wrapper(gate, view)
    return gate


def _to_declaration(request: HttpRequest, slug: str) -> HttpResponse:
    address, asked = reverse("declaration", args=[slug]), request.get_full_path()
    return redirect(
        address if asked == reverse("study", args=[slug]) else f"{address}?{urlencode({'next': asked})}"
    )


def before_declaration(view: Any) -> Any:
    """Mark a page that a member may open before signing the declaration."""
    view.before_declaration = True
    return view


def only_for(*roles: Role) -> Callable[[Any], Any]:
    """Mark a page that is there for some roles only, before anything that was sent is looked at."""

    def mark(view: Any) -> Any:
        view.roles = roles
        return view

    return mark


def signed_in(view: Callable[Concatenate[HttpRequest, P], HttpResponse]) -> Callable[..., HttpResponse]:
    """Send who is not signed in to do so."""

    def gate(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not request.user.is_authenticated:
            return to_sign_in(request)
        return view(request, *args, **kwargs)

    update_wrapper(gate, view)
    return gate


def to_sign_in(request: HttpRequest) -> HttpResponse:
    """Send the browser to sign in and back; a script learns it from `HX-Redirect`."""
    address = f"{reverse('sign-in')}?{urlencode({'next': request.get_full_path()})}"
    if request.headers.get("HX-Request"):
        return HttpResponse(status=401, headers={"HX-Redirect": address})
    return redirect(address)


def render_page(
    request: HttpRequest,
    template: str,
    context: dict[str, Any] | None = None,
    *,
    membership: Membership | None = None,
    here: str = "",
    status: int = 200,
) -> HttpResponse:
    """Render a template from projections. Raises RowInContext where a database row is among them."""
    shown = {"viewer": viewer_of(request, membership), "here": here, **(context or {})}
    if membership is not None:
        shown["study"] = head_of(membership)
    return render(request, template, sealed_from_rows(shown), status=status)


def head_of(membership: Membership) -> StudyHead:
    study = membership.study
    return StudyHead(study.slug, study.title, study.phase, str(PHASES[study.phase]))


def viewer_of(request: HttpRequest, membership: Membership | None) -> Viewer | None:
    user = request.user if hasattr(request, "user") else None
    if not isinstance(user, User) and not getattr(user, "is_authenticated", False):
        return None
    name = user.get_username()  # type: ignore[union-attr]
    if membership is None:
        return Viewer(name)
    return Viewer(name, membership.role, str(ROLES[membership.role]), membership.alias)
