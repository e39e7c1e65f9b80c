"""What the protocol fixes about a report."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from adjudication.agreement.bootstrap import Resampling
from adjudication.agreement.equivalents import ALPHA, MetricName
from adjudication.agreement.pairs import SENSITIVITY
from blinding import entropy

TENTATIVE, RELIABLE = 0.667, 0.8
SEEDS = 2**53  # a seed is exact in every JSON reader


@dataclass(frozen=True)
class ReportSettings:
    """Resamples, seed, unit of resampling, (tentative, reliable) thresholds and the primary metric.

    Windows of drift and strata take `window_resamples`; pairs left out for a reason in `sensitivity` enter
    the figure with excluded pairs."""

    resamples: int = 10_000
    seed: int = 0
    unit: Literal["auto", "task", "unit"] = "auto"
    thresholds: tuple[float, float] = (TENTATIVE, RELIABLE)
    coverage: float = 0.95
    metric: MetricName = ALPHA
    window_resamples: int = 2_000
    windows: int = 12
    smallest_window: int = 10
    disputed: int = 25
    sensitivity: frozenset[str] = SENSITIVITY

    @classmethod
    def from_protocol(cls, protocol: Mapping[str, Any]) -> "ReportSettings":
        """Read the protocol's `agreement` section; a seed it leaves open is drawn.

        `unit` there is auto, task or output."""
        rules = protocol.get("agreement", {})
        thresholds = rules.get("thresholds", {})
        seed, unit = rules.get("seed"), rules.get("unit", "auto")
        return cls(
            resamples=rules.get("resamples", cls.resamples),
            seed=entropy.below(SEEDS, "agreement_seed", "report") if seed is None else seed,
            unit="unit" if unit == "output" else "task" if unit == "task" else "auto",
            thresholds=(thresholds.get("tentative", TENTATIVE), thresholds.get("reliable", RELIABLE)),
            coverage=rules.get("interval", cls.coverage),
            metric=rules.get("metric", ALPHA),
        )

    @property
    def resampling(self) -> Resampling:
        """How the figures of a field are resampled."""
        return Resampling(self.resamples, self.seed, self.unit, self.thresholds, self.coverage)

    @property
    def window_resampling(self) -> Resampling:
        """How windows and strata are resampled."""
        return Resampling(self.window_resamples, self.seed, self.unit, self.thresholds, self.coverage)
