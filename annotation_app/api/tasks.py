"""Task versions for programs: the admin's list and voiding; labels after the unblinding."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation_app.api.base import MemberView, read_body
from annotation_app.services.task_metadata import (
    labelled_task_of,
    labelled_tasks_of,
    tasks_of,
    void_task_version,
)
from annotation_app.services.task_results import task_results_of
from blinding.policy import KEY_HOLDERS, Role


class VoidIn(serializers.Serializer[None]):
    reason = serializers.CharField(max_length=5000, allow_blank=True)


class TasksView(MemberView):
    """Task versions: for the admin without labels, for the project author and the monitor with them, once unblinded."""

    roles = (*KEY_HOLDERS, Role.MONITOR)

    @extend_schema(responses={200: dict})
    def get(self, request: Request, slug: str) -> Response:
        if self.membership.role == Role.ADMIN:
            return Response(tasks_of(membership=self.membership))
        return Response(labelled_tasks_of(membership=self.membership))


class TaskDetail(MemberView):
    """One task version with its labels, after the unblinding."""

    roles = (Role.PROJECT_AUTHOR, Role.MONITOR)

    @extend_schema(responses={200: dict})
    def get(self, request: Request, slug: str, uid: UUID) -> Response:
        return Response(labelled_task_of(membership=self.membership, uid=uid))


class VoidTask(MemberView):
    """Take a task version out of the main exports and figures, for good."""

    roles = (Role.ADMIN,)

    @extend_schema(request=VoidIn, responses={200: dict})
    def post(self, request: Request, slug: str, uid: UUID) -> Response:
        reason = read_body(VoidIn, request)["reason"]
        return Response(void_task_version(membership=self.membership, uid=uid, reason=reason))


class TaskResults(MemberView):
    """Consensus codes by labels of the tasks, and how variants compare with their originals, after the unblinding."""

    roles = (Role.PROJECT_AUTHOR, Role.MONITOR)

    @extend_schema(responses={200: dict})
    def get(self, request: Request, slug: str) -> Response:
        return Response(task_results_of(membership=self.membership))
