"""Predicates over results, of which the claims of Zeltser (2026) are made."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from ailb_gen.study.catalog.scale_unit_published import (
    BALANCERS,
    HEAVY,
    HEAVY_1,
    HEAVY_8,
    HEAVY_FAILED,
    JOB_TIME,
    LOADS,
    MICE,
    MIXED_1,
    MIXED_2,
    MIXED_4,
    MIXED_FAILED,
    MIXED_LOADS,
    NODE_PEAK,
    PIPELINE,
    RUN_S,
    STEP,
    TENSOR,
    Load,
    case_name,
    jobs_of,
)
from ailb_gen.study.model import Findings, NotSimulatedError, Quantity, Verdict
from ailb_gen.study.rows import number

ECMP, FLOWLET, ADAPTIVE = BALANCERS
OTHERS = (ECMP, FLOWLET)
# What words mean here: "roughly the same" and "flat", "similar", "sharply", "mildly", "close", "significantly".
SAME, SIMILAR, SHARP, MILD, TIGHT, MUCH = 1.1, 1.25, 2.0, 1.25, 1.05, 2.0
TEN = 9.5


def job_time(findings: Findings, load: Load, balancer: str) -> float:
    """Return when the last job of a load ends, in s. Raises NotSimulatedError."""
    return max(value(findings, load, balancer, JOB_TIME[job]) for job in jobs_of(load))


def run_time(findings: Findings, load: Load, balancer: str) -> float:
    """Return how long the whole run takes with its mice, in s. Raises NotSimulatedError."""
    return max(RUN_S, job_time(findings, load, balancer))


def value(findings: Findings, load: Load, balancer: str, quantity: Quantity) -> float:
    """Return the mean of a quantity over seeds. Raises NotSimulatedError without any."""
    mean = findings.mean(case_name(load, balancer), quantity.of)
    if math.isnan(mean):
        raise NotSimulatedError(quantity.name)
    return mean


def _by(findings: Findings, load: Load, quantity: Quantity) -> dict[str, float]:
    return {balancer: value(findings, load, balancer, quantity) for balancer in BALANCERS}


def _text(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {number(value)}" for name, value in values.items())


def _within(values: Iterable[float], factor: float) -> bool:
    found = list(values)
    return max(found) <= factor * min(found)


def same_times(load: Load) -> Callable[[Findings], Verdict]:
    """Check that all job times are roughly the same."""

    def check(findings: Findings) -> Verdict:
        jobs = {balancer: job_time(findings, load, balancer) for balancer in BALANCERS}
        runs = {balancer: run_time(findings, load, balancer) for balancer in BALANCERS}
        return Verdict(_within(jobs.values(), SAME), f"jobs, s: {_text(jobs)}; whole runs: {_text(runs)}")

    return check


def flat(loads: Sequence[Load]) -> Callable[[Findings], Verdict]:
    """Check that adaptive's job time is flat."""

    def check(findings: Findings) -> Verdict:
        jobs = {load.name: job_time(findings, load, ADAPTIVE) for load in loads}
        runs = {load.name: run_time(findings, load, ADAPTIVE) for load in loads}
        return Verdict(_within(jobs.values(), SAME), f"jobs, s: {_text(jobs)}; whole runs: {_text(runs)}")

    return check


def grows(
    balancers: Sequence[str], low: Load, high: Load, factor: float, of: Callable[[Findings, Load, str], float]
) -> Callable[[Findings], Verdict]:
    """Check that a number is at least `factor` times as large at a high load as at a low one."""

    def check(findings: Findings) -> Verdict:
        found = {name: (of(findings, low, name), of(findings, high, name)) for name in balancers}
        shown = "; ".join(f"{name} {number(low)} to {number(high)}" for name, (low, high) in found.items())
        return Verdict(all(high >= factor * low for low, high in found.values()), shown)

    return check


def node_peak(findings: Findings, load: Load, balancer: str) -> float:
    """Return the mean over nodes of their longest queue. Raises NotSimulatedError."""
    return value(findings, load, balancer, NODE_PEAK)


def ecmp_after_failures(findings: Findings) -> Verdict:
    """Check that ECMP's job time grows sharply up to x4, and slightly further with failures."""
    low, high, failed = (job_time(findings, load, ECMP) for load in (MIXED_1, MIXED_4, MIXED_FAILED))
    shown = f"s: {number(low)}, {number(high)}, {number(failed)}"
    return Verdict(high >= SHARP * low and high <= failed <= SAME * high, shown)


def flowlet_mildly(findings: Findings) -> Verdict:
    """Check that the job time of flowlets grows mildly."""
    loads = (MIXED_1, MIXED_4, MIXED_FAILED)
    jobs = [job_time(findings, load, FLOWLET) for load in loads]
    runs = [run_time(findings, load, FLOWLET) for load in loads]
    shown = f"jobs, s: {', '.join(map(number, jobs))}; whole runs: {', '.join(map(number, runs))}"
    return Verdict(_within(jobs, MILD), shown)


def less(
    loads: Sequence[Load], lower: str, than: Sequence[str], quantities: Sequence[Quantity], factor: float = 1.0
) -> Callable[[Findings], Verdict]:
    """Check that a load balancer's numbers, times `factor`, are below those of others at all loads."""

    def check(findings: Findings) -> Verdict:
        bad = []
        for load in loads:
            for quantity in quantities:
                found = {name: value(findings, load, name, quantity) for name in (lower, *than)}
                if not all(found[lower] * factor < found[other] for other in than):
                    bad.append(f"{load.name}, {quantity.name}: {_text(found)}")
        shown = f"not so: {'; '.join(bad)}" if bad else _ratios(findings, loads, lower, than, quantities)
        return Verdict(not bad, shown)

    return check


def _ratios(
    findings: Findings, loads: Sequence[Load], lower: str, than: Sequence[str], quantities: Sequence[Quantity]
) -> str:
    ratios = [
        value(findings, load, other, quantity) / value(findings, load, lower, quantity)
        for load in loads
        for quantity in quantities
        for other in than
    ]
    return f"by factors of {number(min(ratios))} to {number(max(ratios))}"


def steps_grow(findings: Findings) -> Verdict:
    """Check that steps grow sharply, tails even more, and adaptive's less."""
    mean, tail = (
        {
            name: value(findings, HEAVY_8, name, STEP[HEAVY, what]) / value(findings, HEAVY_1, name, STEP[HEAVY, what])
            for name in BALANCERS
        }
        for what in ("mean", "p95")
    )
    holds = all(SHARP < mean[name] <= tail[name] and mean[ADAPTIVE] < mean[name] for name in OTHERS)
    return Verdict(holds, f"growth of the mean, x1 to x8: {_text(mean)}; of p95: {_text(tail)}")


def split(findings: Findings) -> Verdict:
    """Check that tail and mean step are further apart in mixed than in heavy."""

    def over(load: Load, job: str, name: str) -> float:
        return value(findings, load, name, STEP[job, "p95"]) / value(findings, load, name, STEP[job, "mean"])

    heavy = {name: over(HEAVY_1, HEAVY, name) for name in OTHERS}
    mixed = {name: min(over(MIXED_1, job, name) for job in (TENSOR, PIPELINE)) for name in OTHERS}
    return Verdict(
        all(mixed[name] > heavy[name] for name in OTHERS),
        f"p95 / mean at x1, heavy: {_text(heavy)}; mixed, the smaller of both jobs: {_text(mixed)}",
    )


def close_tail(findings: Findings) -> Verdict:
    """Check that adaptive's mean steps are the lowest, and their tail close to the mean."""
    ratios = {}
    lower = True
    for load in MIXED_LOADS:
        for job in (TENSOR, PIPELINE):
            mean = _by(findings, load, STEP[job, "mean"])
            lower &= all(mean[ADAPTIVE] < mean[other] for other in OTHERS)
            ratios[f"{load.name} {job}"] = value(findings, load, ADAPTIVE, STEP[job, "p95"]) / mean[ADAPTIVE]
    return Verdict(lower and max(ratios.values()) <= TIGHT, f"p95 / mean: {_text(ratios)}")


def similar(load: Load, quantities: Sequence[Quantity], factor: float = SIMILAR) -> Callable[[Findings], Verdict]:
    """Check that all load balancers have similar numbers."""

    def check(findings: Findings) -> Verdict:
        found = {quantity.name: _by(findings, load, quantity) for quantity in quantities}
        shown = "; ".join(f"{name}: {_text(values)}" for name, values in found.items())
        return Verdict(all(_within(values.values(), factor) for values in found.values()), shown)

    return check


def alike(findings: Findings) -> Verdict:
    """Check that ECMP's and flowlets' mice are similar, and worse than adaptive's."""
    means = {load.name: _by(findings, load, MICE["mean"]) for load in (MIXED_2, MIXED_4, MIXED_FAILED)}
    holds = all(
        _within([found[ECMP], found[FLOWLET]], SIMILAR) and found[ADAPTIVE] < min(found[ECMP], found[FLOWLET])
        for found in means.values()
    )
    return Verdict(holds, "; ".join(f"{name}: {_text(found)}" for name, found in means.items()))


def heavy_queues(findings: Findings) -> Verdict:
    """Check that average peak queues of ECMP and flowlets grow sharply, and alike."""
    low, high = (_by(findings, load, NODE_PEAK) for load in (HEAVY_1, HEAVY_8))
    grown = all(high[name] >= SHARP * low[name] for name in OTHERS)
    return Verdict(grown and _within([high[name] for name in OTHERS], SAME), f"x1: {_text(low)}; x8: {_text(high)}")


def order_of_magnitude(findings: Findings) -> Verdict:
    """Check that adaptive's average peak queue is a tenth of those of the others."""
    peaks = _by(findings, HEAVY_FAILED, NODE_PEAK)
    return Verdict(all(peaks[name] >= TEN * peaks[ADAPTIVE] for name in OTHERS), _text(peaks))


def hypothesis(findings: Findings) -> Verdict:
    """Check that adaptive's job times and steps are the lowest at all loads."""
    bad = []
    for load in LOADS:
        for job in jobs_of(load):
            for quantity in (JOB_TIME[job], *(STEP[job, what] for what in ("mean", "p95", "p99"))):
                found = _by(findings, load, quantity)
                if found[ADAPTIVE] >= min(found[name] for name in OTHERS):
                    bad.append(f"{load.name}, {quantity.name}: {_text(found)}")
    gains = {
        load.name: job_time(findings, load, ECMP) / job_time(findings, load, ADAPTIVE)
        for load in (HEAVY_1, HEAVY_8, HEAVY_FAILED, MIXED_1, MIXED_4, MIXED_FAILED)
    }
    return Verdict(not bad, "; ".join(bad) or f"job time, ECMP / adaptive: {_text(gains)}")


def more_at_high_load(findings: Findings) -> Verdict:
    """Check that adaptive's gain grows with load and failures."""
    gains = {
        load.name: min(job_time(findings, load, name) for name in OTHERS) / job_time(findings, load, ADAPTIVE)
        for load in LOADS
    }
    order = ((HEAVY_1, HEAVY_8, HEAVY_FAILED), (MIXED_1, MIXED_4, MIXED_FAILED))
    holds = all(gains[a.name] <= gains[b.name] <= gains[c.name] for a, b, c in order)
    return Verdict(holds, f"job time, better of the two / adaptive: {_text(gains)}")


def robust(findings: Findings) -> Verdict:
    """Check that adaptive with failures is faster than the others without."""
    pairs = ((HEAVY_8, HEAVY_FAILED), (MIXED_4, MIXED_FAILED))
    holds = all(
        job_time(findings, failed, ADAPTIVE) < min(job_time(findings, whole, name) for name in OTHERS)
        for whole, failed in pairs
    )
    growth = "; ".join(
        f"{whole.name}: "
        + _text({name: job_time(findings, failed, name) / job_time(findings, whole, name) for name in BALANCERS})
        for whole, failed in pairs
    )
    return Verdict(holds, f"job time with / without failures, {growth}")
