"""Members: the admin gives roles, invites, and lets people go."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from annotation_app.errors import Absent, Invalid, Refused
from annotation_app.models import Membership
from annotation_app.pages.form_faults import show_fault
from annotation_app.pages.labels import ROLES_IN_FULL
from annotation_app.pages.posted import text_in
from annotation_app.pages.shell import member_page, render_page
from annotation_app.projections import MemberView
from annotation_app.services.invitations import renew_invitation, withdraw_invitation
from annotation_app.services.members import Added, add_member, end_membership, list_members
from annotation_app.services.reassignment import reassign_rest
from blinding.policy import CODERS, Role


class MemberForm(forms.Form):
    username = forms.CharField(label=gettext_lazy("User name"), max_length=150)
    role = forms.ChoiceField(
        label=gettext_lazy("Role"), choices=list(ROLES_IN_FULL.items()), initial=Role.PRIMARY_A.value
    )
    password = forms.CharField(label=gettext_lazy("Password"), required=False, strip=False)


@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
@member_page
def members(request: HttpRequest, membership: Membership) -> HttpResponse:
    if membership.role != Role.ADMIN:
        raise Absent
    act = request.POST.get("do", "")
    if act == "add":
        return _add(request, membership)
    if act == "end":
        return _end(request, membership)
    if act == "renew":
        renewed = renew_invitation(membership=membership, alias=text_in(request.POST, "alias"))
        return _page(request, membership, MemberForm(), added=_added(request, renewed) | {"renewed": "yes"})
    if act == "withdraw":
        return _withdraw(request, membership)
    return _page(request, membership, MemberForm())


def _add(request: HttpRequest, membership: Membership) -> HttpResponse:
    form = MemberForm(request.POST)
    if not form.is_valid():
        return _page(request, membership, form, status=422)
    given = form.cleaned_data
    try:
        added = add_member(
            membership=membership,
            username=given["username"],
            role=given["role"],
            password=given["password"] or None,
        )
    except (Invalid, Refused) as fault:
        if not membership.study.is_writable:
            raise
        return _page(request, membership, form, status=show_fault(form, fault))
    return _page(request, membership, MemberForm(), added=_added(request, added))


def _added(request: HttpRequest, added: Added) -> dict[str, str]:
    """Return what the admin is told: the link of an invitation is in this answer and nowhere else."""
    link = reverse("invitation", args=[added.invitation]) if added.invitation else ""
    return {"alias": added.alias, "invitation_url": request.build_absolute_uri(link) if link else ""}


def _end(request: HttpRequest, membership: Membership) -> HttpResponse:
    alias = text_in(request.POST, "alias")
    try:
        end_membership(membership=membership, alias=alias, reason=text_in(request.POST, "reason"))
    except Invalid as fault:
        messages.error(request, str(fault))
        return redirect("members", membership.study.slug)
    messages.success(request, _("%(alias)s has left the study.") % {"alias": alias})
    _share_out(request, membership, alias)
    return redirect("members", membership.study.slug)


def _withdraw(request: HttpRequest, membership: Membership) -> HttpResponse:
    alias = text_in(request.POST, "alias")
    withdraw_invitation(membership=membership, alias=alias)
    messages.success(
        request,
        _("The invitation of %(alias)s is withdrawn; the user name is free again.") % {"alias": alias},
    )
    _share_out(request, membership, alias)
    return redirect("members", membership.study.slug)


def _share_out(request: HttpRequest, membership: Membership, alias: str) -> None:
    """Give what a coder who left has not submitted to others; where there is nobody, the admin is told."""
    if not membership.study.memberships.filter(alias=alias, role__in=CODERS).exists():
        return
    try:
        moved = reassign_rest(membership=membership, alias=alias)
    except Refused as fault:
        messages.warning(request, fault.reason)
        return
    told = ngettext("%(n)d item went to somebody else.", "%(n)d items went to others.", moved)
    messages.info(request, told % {"n": moved} if moved else _("There was no item to give to others."))


def _page(
    request: HttpRequest,
    membership: Membership,
    form: MemberForm,
    *,
    added: dict[str, str] | None = None,
    status: int = 200,
) -> HttpResponse:
    rows = [_row(MemberView.of(member), membership) for member in list_members(membership=membership)]
    context = {
        "members": rows,
        "added": added,
        "form": form,
        "may_add": membership.study.is_writable,
    }
    return render_page(
        request, "annotation_app/members.html", context, membership=membership, here="members", status=status
    )


def _row(member: MemberView, viewer: Membership) -> dict[str, Any]:
    return {
        "alias": member.alias,
        "username": member.username,
        "role_label": str(ROLES_IN_FULL[member.role]),
        "declared_at": member.declared_at,
        "ended_at": member.ended_at,
        "invited": member.invited,
        "may_end": member.ended_at is None and member.alias != viewer.alias,
    }
