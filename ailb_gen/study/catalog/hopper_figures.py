"""The figures of the paper on Hopper: slowdown by size, its testbed; and Hopper's parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ailb_gen.study.catalog.hopper_cases import (
    BALANCERS,
    CHUNKS,
    LOADS,
    SWEEP,
    TABLE_1,
    TRAFFIC,
    case_name,
    sweep_name,
    testbed_name,
)
from ailb_gen.study.catalog.hopper_claims import ABOVE_BDP, MEAN, P99, Value, bins, group, in_bin
from ailb_gen.study.catalog.hopper_testbed import fast_load, flow_time, slow_load, training_time
from ailb_gen.study.model import Bars, Figure, Findings, Lines, Spread

# The largest flow of a distribution, for the bin above the last edge.
LARGEST = {"AliStorage": 2_000_000, "Hadoop": 10_000_000, "ML training": 16_000_000}
HOSTS = ("ECMP", "FlowBender", "Hopper")


def figures(findings: Findings) -> Sequence[Figure]:
    """Return the figures whose cases were simulated."""
    return [*_by_size(findings), *_testbed(findings), *_sweep(findings)]


def _by_size(findings: Findings) -> Iterator[Figure]:
    for traffic in TRAFFIC:
        for load in LOADS:
            cases = {name: case_name(traffic, load, name) for name in BALANCERS}
            cases = {name: case for name, case in cases.items() if case in findings.points}
            if not cases:
                continue
            places = bins(findings, list(cases.values()))
            edges = [
                row["edge"] or LARGEST[traffic] for row in findings.of(next(iter(cases.values())))[0]["extras"]["sizes"]
            ]
            for kind in (MEAN, P99):
                yield Lines(
                    f"{traffic.replace(' ', '-').lower()}-{load}-{kind}",
                    f"{traffic} at {load} %: {kind} slowdown by size of flows",
                    "bytes, up to",
                    f"slowdown, {kind}",
                    {
                        name: [(edges[place], findings.mean(case, in_bin(kind, place))) for place in places]
                        for name, case in cases.items()
                    },
                    log_x=True,
                )


def _testbed(findings: Findings) -> Iterator[Figure]:
    cases = {
        (name, chunk): testbed_name(name, chunk)
        for chunk in CHUNKS
        for name in HOSTS
        if testbed_name(name, chunk) in findings.points
    }
    if not cases:
        return
    chunks = [chunk for chunk in CHUNKS if any(one == chunk for _, one in cases)]

    def bars(of: Value) -> dict[str, dict[str, Spread]]:
        return {
            f"chunks of {chunk} MB": {
                name: spread
                for name in HOSTS
                if (name, chunk) in cases and (spread := findings.spread(cases[name, chunk], of)) is not None
            }
            for chunk in chunks
        }

    yield Bars("testbed-slow-links", "Testbed: load of the 1 Gb/s links", "load, %", bars(slow_load))
    yield Bars("testbed-fast-links", "Testbed: load of the 10 Gb/s links", "load, %", bars(fast_load))
    yield Bars("testbed-training", "Testbed: time of all rounds", "s", bars(training_time))
    for kind in (MEAN, "p95", P99):
        yield Bars(f"testbed-fct-{kind}", f"Testbed: flow completion time, {kind}", "ms", bars(flow_time(kind)))
    for chunk in chunks:
        yield Lines(
            f"testbed-cdf-{chunk}",
            f"Testbed, chunks of {chunk} MB: flow completion times",
            "flow completion time, ms",
            "share of flows",
            {name: _cdf(findings, case) for (name, one), case in cases.items() if one == chunk},
            log_x=True,
        )


def _cdf(findings: Findings, case: str) -> list[tuple[float, float]]:
    """Return the mean over seeds of the completion times at every rank."""
    seeds = [point["extras"]["cdf"] for point in findings.of(case)]
    ranks = len(seeds[0])
    return [(sum(one[rank] for one in seeds) / len(seeds) / 1e3, rank / (ranks - 1)) for rank in range(ranks)]


def _sweep(findings: Findings) -> Iterator[Figure]:
    base = f"Hopper, {TABLE_1}"
    if base not in findings.points:
        return
    for kind in (MEAN, P99):
        of = group(kind, ABOVE_BDP)
        lines = {}
        for name, (usual, values) in SWEEP.items():
            cases = {usual: base} | {value: sweep_name(name, value) for value in values}
            lines[name] = [
                (value / usual, findings.mean(case, of))
                for value, case in sorted(cases.items())
                if case in findings.points
            ]
        yield Lines(
            f"parameters-{kind}",
            f"AliStorage at 50 %: {kind} slowdown above one BDP, one parameter of Hopper changed",
            "value, Table 1 is 1",
            f"slowdown, {kind}",
            lines,
            log_x=True,
        )
