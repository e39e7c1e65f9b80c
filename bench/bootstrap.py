"""Prints alpha with its bootstrap interval beside the package alone and beside a loop over resamples.

    python -m bench.bootstrap [--sizes 1000 10000 100000 1000000] [--values 9] [--level nominal]

Two coders, B = 10,000. The loop is a few resamples through the package, counted up to 1,000. Memory is the
peak of what Python and numpy allocate beyond the codes themselves. The package is left out where it would take
more than 4 GB.
"""

import argparse
import math
import time
import tracemalloc
from collections.abc import Callable

import numpy as np

from adjudication.agreement import alpha
from adjudication.agreement.bootstrap import Resampling, interval
from adjudication.agreement.encode import Coding, encode
from adjudication.agreement.fast import patterns_of
from adjudication.agreement.metric import Metric

RESAMPLES = 10_000
LOOP = 1_000
MOST_BYTES = 4 * 10**9
COLUMNS = (
    "units",
    "patterns",
    "encode",
    "point",
    "point + B",
    "package",
    "ratio",
    "loop of 1,000",
    "ratio",
    "MB",
    "MB pkg",
)
WIDTHS = (9, 8, 9, 9, 10, 9, 7, 13, 9, 6, 7)


def simulated(units: int, values: int, level: str) -> list[list[object]]:
    """Two coders' labels who agree on 70 % and guess else."""
    rng = np.random.Generator(np.random.PCG64(1))
    truth = rng.integers(0, values, units)
    rows = [np.where(rng.random(units) < 0.85, truth, rng.integers(0, values, units)) for _ in range(2)]
    name = (lambda code: f"label {code}") if level == "nominal" else int
    return [[name(code) for code in row.tolist()] for row in rows]


def best_of(times: int, act: Callable[[], object]) -> float:
    """Seconds of the fastest of several runs."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        act()
        found.append(time.perf_counter() - start)
    return min(found)


def peak_mb(act: Callable[[], object]) -> float:
    """The most that a run allocates at once, in MB."""
    tracemalloc.start()
    act()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 2**20


def ours(coding: Coding) -> None:
    alpha.estimate(coding, budget=0)
    interval(coding, Resampling(resamples=RESAMPLES, seed=1))


def loop(coding: Coding, resamples: int) -> float:
    """Seconds that 1,000 resamples through the package take, from a few of them."""
    rng = np.random.Generator(np.random.PCG64(2))
    units = coding.index.shape[1]

    def once() -> float:
        drawn = np.asarray(rng.integers(0, units, units))
        return alpha.package_alpha(coding.take(drawn))

    return best_of(1, lambda: [once() for _ in range(resamples)]) / resamples * LOOP


def measure(units: int, values: int, level: str) -> tuple[float, ...]:
    labels = simulated(units, values, level)
    encoding = best_of(1, lambda: encode(labels, Metric(level)))
    coding = encode(labels, Metric(level))
    times, few = (1, 2) if units > 10**5 else (3, 20)
    bearable = alpha.package_bytes(units, len(coding.domain)) < MOST_BYTES
    return (
        units,
        patterns_of(coding).weights.size,
        encoding,
        best_of(3, lambda: alpha.estimate(coding, budget=0)),
        best_of(3, lambda: ours(coding)),
        best_of(times, lambda: alpha.package_alpha(coding)) if bearable else math.nan,
        loop(coding, few) if bearable else math.nan,
        peak_mb(lambda: ours(coding)),
        peak_mb(lambda: alpha.package_alpha(coding)) if bearable else math.nan,
    )


def line(found: tuple[float, ...]) -> str:
    units, patterns, encoding, point, whole, package, looped, used, used_by_package = found
    cells = (
        f"{units:,.0f}",
        f"{patterns:,.0f}",
        *(f"{seconds * 1000:,.1f} ms" for seconds in (encoding, point, whole, package)),
        f"{package / whole:,.2f}",
        f"{looped:,.1f} s",
        f"{looped / LOOP * RESAMPLES / whole:,.0f}",
        f"{used:,.0f}",
        f"{used_by_package:,.0f}",
    )
    return "  ".join(cell.rjust(width) for cell, width in zip(cells, WIDTHS, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10**3, 10**4, 10**5, 10**6])
    parser.add_argument("--values", type=int, default=9)
    parser.add_argument("--level", default="nominal", choices=["nominal", "ordinal", "interval", "ratio"])
    options = parser.parse_args()
    print(f"2 coders, {options.values} values, {options.level}, B = {RESAMPLES:,}")
    print("  ".join(name.rjust(width) for name, width in zip(COLUMNS, WIDTHS, strict=True)))
    for units in options.sizes:
        print(line(measure(units, options.values, options.level)), flush=True)
    print("ratios: the package's point estimate / ours with B; a loop of B resamples / ours")


if __name__ == "__main__":
    main()
