"""What shows that the blind was kept: the lines of the schema's policy, each with its evidence once the records are locked."""

from annotation_app.errors import Absent
from annotation_app.models import Membership
from annotation_app.services.bundles.policy import PolicyLine, policy_lines
from annotation_app.services.commitments import READERS
from blinding.policy import Phase

COUNTED = (Phase.LOCKED, Phase.UNBLINDED)


def policy_of(*, membership: Membership) -> list[PolicyLine]:
    """Return the policy's lines, none before the lock: counts of who recognised what are nobody's business until then.

    Raises Absent for who reads no commitments.
    """
    if membership.role not in READERS:
        raise Absent
    if membership.study.phase not in COUNTED:
        return []
    return policy_lines(membership.study)
