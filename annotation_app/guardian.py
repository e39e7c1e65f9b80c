"""The one door to django-guardian: rows mirror memberships for whoever administers accounts. No request of a coder asks them."""

from guardian.shortcuts import assign_perm, remove_perm

from annotation_app.models import Membership

GRANTABLE = frozenset({"annotation_app.view_study"})


def grant(permission: str, member: Membership) -> None:
    """Give the member's person a permission on the study. Raises ValueError for one that is not grantable."""
    if permission not in GRANTABLE:
        raise ValueError(f"{permission} is not grantable")
    assign_perm(permission, member.user, member.study)


def mirror_membership(member: Membership) -> None:
    grant("annotation_app.view_study", member)


def forget_membership(member: Membership) -> None:
    if member.user is not None:
        remove_perm("annotation_app.view_study", member.user, member.study)
