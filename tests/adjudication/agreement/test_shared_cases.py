"""Every case of the shared folder, where it is at hand, by the package and by the pattern algebra."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from adjudication.agreement.alpha import Alpha, Undefined, category_alphas, coincidences, estimate
from adjudication.agreement.companions import cohen_kappa, confusion, gwet_ac1, percent_agreement
from adjudication.agreement.encode import encode
from adjudication.agreement.metric import Metric
from tests.adjudication.agreement import exact
from tests.shared_folder import FOLDER, shared

NAMES = sorted(path.stem for path in (FOLDER / "cases" / "agreement").glob("*.json"))
EXACT = {
    "nominal": exact.nominal,
    "interval": exact.interval,
    "ratio": exact.ratio,
    "set:masi": exact.masi,
    "set:overlap": exact.overlap,
    "set:dkpro-masi": exact.dkpro_masi,
}


def load(name: str):
    case = json.loads(Path(shared("cases", "agreement", f"{name}.json")).read_text(encoding="utf-8"))
    matrix = tuple(tuple(row) for row in case["D"]) if "D" in case else None
    return case, encode(case["data"], Metric(case["level"], matrix), domain=case.get("domain"))


def test_the_folder_has_cases():
    assert len(list(shared("cases", "agreement").glob("*.json"))) >= 50


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("budget", [0, 2**40])
def test_case(name, budget):
    case, coding = load(name)
    found, expected = estimate(coding, budget=budget), case["expected"]
    if isinstance(expected, dict):
        assert found == Undefined(expected["undefined"])
        return
    assert isinstance(found, Alpha)
    assert found.value == pytest.approx(expected, abs=case["tolerance"])
    assert found.value == pytest.approx(float(by_definition(case)), abs=1e-9)


def by_definition(case) -> Fraction:
    rows = case["data"]
    if case["level"].startswith("set:"):
        rows = [[None if value is None else frozenset(value) for value in row] for row in rows]
    if case["level"] == "matrix":
        place = {value: number for number, value in enumerate(case["domain"])}
        distance = lambda a, b: Fraction(case["D"][place[a]][place[b]])  # noqa: E731
    else:
        distance = exact.ordinal(rows) if case["level"] == "ordinal" else EXACT[case["level"]]
    found = exact.exact_alpha(rows, distance)
    assert found is not None
    return found


@pytest.mark.parametrize("name", NAMES)
def test_companions_of_case(name):
    case, coding = load(name)
    known = case.get("companions", {})
    if "po" in known:
        assert percent_agreement(coding) == pytest.approx(known["po"], abs=6e-4)
    if "po_pct" in known:
        assert percent_agreement(coding) == pytest.approx(known["po_pct"] / 100, abs=6e-4)
    if "ac1" in known:
        assert gwet_ac1(coding, len(coding.domain)) == pytest.approx(known["ac1"], abs=6e-4)
    if "cohen_kappa" in known and coding.index.shape[0] == 2:
        table = confusion(coding.index[0], coding.index[1], len(coding.domain))
        assert cohen_kappa(table) == pytest.approx(known["cohen_kappa"], abs=6e-3)  # printed to two places
    for value, expected in case.get("per_category", {}).items():
        found = category_alphas(coincidences(coding))[[str(v) for v in coding.domain].index(value)]
        assert found == pytest.approx(expected, abs=6e-4)
