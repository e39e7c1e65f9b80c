"""Signing the declaration of one's role."""

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import Resolver404, resolve, reverse
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from annotation_app.models import Membership
from annotation_app.pages.shell import before_declaration, member_page, render_page
from annotation_app.services.members import sign_declaration


class DeclarationForm(forms.Form):
    accepted = forms.BooleanField(label=gettext_lazy("I sign this declaration."))


@require_http_methods(["GET", "POST"])
@member_page
@before_declaration
def declaration(request: HttpRequest, membership: Membership) -> HttpResponse:
    if membership.declared_at is not None:
        return redirect("study", membership.study.slug)
    asked = _in_study(request.POST.get("next") or request.GET.get("next") or "", membership.study.slug)
    form = DeclarationForm(request.POST or None)
    if form.is_valid():
        sign_declaration(membership=membership)
        return redirect(asked or reverse("study", args=[membership.study.slug]))
    return render_page(
        request,
        "annotation_app/declaration.html",
        {
            "form": form,
            "next": asked,
            "warning": membership.study.protocol.get("content_warning", {}).get("text", ""),
        },
        membership=membership,
        status=422 if form.errors else 200,
    )


def _in_study(address: str, slug: str) -> str:
    """Return `address` where it is the path of a page of this study, "" otherwise."""
    try:
        found = resolve(address.partition("?")[0])
    except Resolver404:
        return ""
    inside = found.kwargs.get("slug") == slug and address.startswith(reverse("study", args=[slug]))
    return address if inside else ""
