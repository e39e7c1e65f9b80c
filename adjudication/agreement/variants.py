"""The codings of one field that get a figure each: not applicable and uncertain are answers, not values."""

import numpy as np

from adjudication.agreement.encode import MISSING, Coding
from adjudication.agreement.metric import IntArray, Label, Metric
from adjudication.agreement.table import FieldTable


def variants_of(table: FieldTable) -> dict[str, FieldTable]:
    """Return `all` and, where the field has such values, three more.

    `applicability` is not applicable against the rest; `both_applicable` the values where both gave one, for
    structural not-applicable codes inflate alpha; `without_uncertain` leaves out uncertain codes, too."""
    coding, spec = table.coding, table.spec
    found = {"all": table}
    away: list[Label] = []
    if spec.not_applicable is not None and spec.not_applicable in coding.domain:
        away.append(spec.not_applicable)
        found["applicability"] = table.with_coding(applicability(coding, spec.not_applicable))
        found["both_applicable"] = table.with_coding(coding.without(away))
    if spec.uncertain is not None and spec.uncertain in coding.domain:
        found["without_uncertain"] = table.with_coding(coding.without([*away, spec.uncertain]))
    return found


def applicability(coding: Coding, value: Label) -> Coding:
    """Return the binary coding of one value against the rest."""
    place = coding.domain.index(value)
    index: IntArray = np.where(coding.index == place, 1, 0).astype(np.int64)
    index[coding.index == MISSING] = MISSING
    return Coding(index, ("applicable", value), Metric("nominal"))
