"""What study endpoints share: the gate. Who is no member of the study in the URL gets 404 before anything is looked at."""

from typing import Any

from rest_framework.request import Request
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from annotation_app.api.authentication import member_or_404
from annotation_app.models import Membership


class MemberView(APIView):
    """An endpoint inside a study; `self.membership` is the caller's."""

    membership: Membership

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.membership = member_or_404(request)


def read_body(serializer: type[Serializer[Any]], request: Request) -> dict[str, Any]:
    """Return the validated body. Raises DRF's ValidationError, answered as 400 with places."""
    read = serializer(data=request.data)
    read.is_valid(raise_exception=True)
    return dict(read.validated_data)
