"""The claims of the paper on Hopper about 128 servers, as predicates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ailb_gen.study.catalog.hopper_cases import (
    BDP,
    LOADS,
    SWEEP,
    TABLE_1,
    TRAFFIC,
    case_name,
    sweep_name,
)
from ailb_gen.study.model import Claim, Findings, Statistics, Verdict

# Flows of a bin, over all seeds, from which on its numbers count.
ENOUGH = 100
# A percentage of the source is met within so many points; numbers are comparable within such a share.
POINTS = 10
COMPARABLE = 0.05
MEAN, P99 = "mean", "p99"
UP_TO_BDP, ABOVE_BDP = 0, 1
PERCENT = 100

Value = Callable[[Statistics], float | None]


def group(kind: str, place: int) -> Value:
    """Return the mean or p99 slowdown of flows up to the bandwidth-delay product, or above it."""

    def found(point: Statistics) -> float | None:
        value: float | None = point["extras"]["bdp"][place][kind]
        return value

    return found


def every_flow(kind: str) -> Value:
    """Return the mean or p99 slowdown of all flows that count."""

    def found(point: Statistics) -> float | None:
        value: float | None = next(iter(point["flows"].values()))["slowdown"][kind]
        return value

    return found


def in_bin(kind: str, place: int) -> Value:
    """Return the mean or p99 slowdown of a bin of sizes."""

    def found(point: Statistics) -> float | None:
        value: float | None = point["extras"]["sizes"][place][kind]
        return value

    return found


def gain(findings: Findings, cases: Sequence[str], of: Value) -> float:
    """Return by what share the first of two cases is below the second."""
    better, worse = (findings.mean(case, of) for case in cases)
    return 1 - better / worse


def _cases(traffic: str, load: int, other: str, ours: str = "Hopper") -> tuple[str, str]:
    return case_name(traffic, load, ours), case_name(traffic, load, other)


def bins(findings: Findings, cases: Sequence[str]) -> list[int]:
    """Return the bins with enough flows in all cases, over all seeds."""
    sizes = [[point["extras"]["sizes"] for point in findings.of(case)] for case in cases]
    places = range(len(sizes[0][0]))
    return [place for place in places if all(sum(one[place]["flows"] for one in seeds) >= ENOUGH for seeds in sizes)]


def _gains(findings: Findings, traffic: str, load: int, other: str, kinds: Sequence[str]) -> list[float]:
    """Return by what share Hopper is below another load balancer in every bin."""
    cases = _cases(traffic, load, other)
    return [gain(findings, cases, in_bin(kind, place)) for kind in kinds for place in bins(findings, cases)]


def percent(share: float) -> str:
    """Return a share as percent with its sign."""
    return f"{share * PERCENT:+.1f} %"


def near(found: float, published: float) -> bool:
    """Return whether a share is within the tolerance of a published percentage."""
    return abs(found * PERCENT - published) <= POINTS


def _against_flowbender(traffic: str, load: int) -> Claim:
    def check(findings: Findings) -> Verdict:
        cases = _cases(traffic, load, "FlowBender")
        found = {kind: gain(findings, cases, group(kind, ABOVE_BDP)) for kind in (MEAN, P99)}
        shown = ", ".join(f"{kind} {percent(share)}" for kind, share in found.items())
        return Verdict(min(found.values()) > 0, f"better by {shown}")

    return Claim(f"{traffic}, {load} %: Hopper is better than FlowBender above one BDP, in mean and p99", check)


def _between(traffic: str, load: int) -> Claim:
    def check(findings: Findings) -> Verdict:
        holds, shown = True, []
        for kind in (MEAN, P99):
            three = [
                findings.mean(case_name(traffic, load, name), group(kind, ABOVE_BDP))
                for name in ("ConWeave", "Hopper", "ECMP")
            ]
            holds = holds and three[0] <= three[1] <= three[2]
            shown.append(f"{kind} {' / '.join(f'{value:.2f}' for value in three)}")
        return Verdict(holds, f"ConWeave / Hopper / ECMP: {', '.join(shown)}")

    return Claim(f"{traffic}, {load} %: Hopper is between ECMP and ConWeave above one BDP, in mean and p99", check)


def _consistently(traffic: str) -> Claim:
    def check(findings: Findings) -> Verdict:
        found = [share for load in LOADS for share in _gains(findings, traffic, load, "FlowBender", (MEAN, P99))]
        worse = [share for share in found if share < 0]
        shown = f"better in {len(found) - len(worse)} of {len(found)} numbers"
        return Verdict(not worse, shown + (f", worst {percent(min(worse))}" if worse else ""))

    return Claim(
        f"{traffic}: Hopper outperforms FlowBender in every bin of sizes, in mean and p99, at both loads", check
    )


def _up_to(text: str, traffic: str, loads: Sequence[int], others: Sequence[str], published: dict[str, float]) -> Claim:
    """Return the claim that Hopper's largest gains over all bins and loads are as published."""

    def check(findings: Findings) -> Verdict:
        largest = {
            kind: max(
                share for load in loads for other in others for share in _gains(findings, traffic, load, other, (kind,))
            )
            for kind in published
        }
        shown = ", ".join(f"{kind} {percent(share)}" for kind, share in largest.items())
        return Verdict(all(near(largest[kind], value) for kind, value in published.items()), f"up to: {shown}")

    return Claim(text, check)


def _short_flows(findings: Findings) -> Verdict:
    found = {
        f"{name} {load} % {kind}": gain(findings, _cases("Hadoop", load, "ECMP", name), group(kind, UP_TO_BDP))
        for name in ("FlowBender", "Hopper")
        for load in LOADS
        for kind in (MEAN, P99)
    }
    return Verdict(
        all(share > 0 for share in found.values()), ", ".join(f"{name} {percent(found[name])}" for name in found)
    )


def _against_conga(findings: Findings) -> Verdict:
    found = {
        (load, kind): gain(findings, _cases("Hadoop", load, "CONGA"), every_flow(kind))
        for load in LOADS
        for kind in (MEAN, P99)
    }
    first, second = LOADS
    holds = min(found[first, MEAN], found[first, P99], found[second, P99]) > 0
    holds = holds and abs(found[second, MEAN]) <= COMPARABLE
    shown = ", ".join(f"{load} % {kind} {percent(share)}" for (load, kind), share in found.items())
    return Verdict(holds, f"better by {shown}")


def _worse_than_conweave(traffic: str, most: float) -> Callable[[Findings], Verdict]:
    """Return the check that short flows are at most so many percent worse than with ConWeave, at 50 %."""

    def check(findings: Findings) -> Verdict:
        cases = _cases(traffic, 50, "ConWeave")
        found = {
            kind: -min(gain(findings, cases, in_bin(kind, place)) for place in _short(findings, cases))
            for kind in (MEAN, P99)
        }
        shown = ", ".join(f"{kind} {percent(share)}" for kind, share in found.items())
        return Verdict(max(found.values()) * PERCENT <= most, f"slowdown above ConWeave's by up to: {shown}")

    return check


def _short(findings: Findings, cases: Sequence[str]) -> list[int]:
    """Return the bins of short flows: up to 2 kB."""
    edges = [row["edge"] for row in findings.of(cases[0])[0]["extras"]["sizes"]]
    return [place for place in bins(findings, cases) if edges[place] is not None and edges[place] <= 2_000]


def _switches_ahead(findings: Findings) -> Verdict:
    found = {
        name: findings.mean(case_name("ML training", 80, name), every_flow(MEAN))
        for name in ("CONGA", "ConWeave", "Hopper", "FlowBender")
    }
    holds = max(found["CONGA"], found["ConWeave"]) < min(found["Hopper"], found["FlowBender"])
    return Verdict(holds, "mean slowdown " + ", ".join(f"{name} {value:.2f}" for name, value in found.items()))


def _storage(published: float, large: bool = False) -> Callable[[Findings], Verdict]:
    """Return the check of the largest gain in the mean at 50 % over the bins up to one BDP, or above it."""

    def check(findings: Findings) -> Verdict:
        found = {}
        for other in ("CONGA", "FlowBender"):
            cases = _cases("AliStorage", 50, other)
            edges = [row["edge"] for row in findings.of(cases[0])[0]["extras"]["sizes"]]
            places = [at for at in bins(findings, cases) if (edges[at] is None or edges[at] > BDP) == large]
            found[other] = max(gain(findings, cases, in_bin(MEAN, at)) for at in places)
        shown = ", ".join(f"{other} {percent(share)}" for other, share in found.items())
        return Verdict(near(max(found.values()), published), f"up to: against {shown}")

    return check


def _storage_at_80(findings: Findings) -> Verdict:
    cases = _cases("AliStorage", 80, "FlowBender")
    mean, tail = (gain(findings, cases, every_flow(kind)) for kind in (MEAN, P99))
    holds = near(mean, 10) and mean > 0 and abs(tail) <= COMPARABLE * 2
    return Verdict(holds, f"better by mean {percent(mean)}, p99 {percent(tail)}")


def _out_of_order(findings: Findings) -> Verdict:
    found = {}
    for name in ("random spray", "FlowBender", "Hopper"):
        points = findings.of(case_name("ML training", 50, name))
        found[name] = sum(next(iter(point["flows"].values()))["out_of_order"] for point in points) / len(points)
    holds = found["Hopper"] < found["FlowBender"] < found["random spray"]
    return Verdict(holds, "packets out of order: " + ", ".join(f"{name} {value:,.0f}" for name, value in found.items()))


def _out_of_order_per_switch(findings: Findings) -> Verdict:
    found = {}
    for name in ("FlowBender", "Hopper"):
        points = [next(iter(point["flows"].values())) for point in findings.of(case_name("ML training", 50, name))]
        found[name] = sum(one["out_of_order"] for one in points) / max(sum(one["rerouted"] for one in points), 1)
    shown = ", ".join(f"{name} {value:.1f}" for name, value in found.items())
    return Verdict(found["Hopper"] < found["FlowBender"], f"packets out of order per path change: {shown}")


def _table_1(findings: Findings) -> Verdict:
    of = group(MEAN, ABOVE_BDP)
    ours = findings.mean(f"Hopper, {TABLE_1}", of)
    found = {
        sweep_name(name, value): findings.mean(sweep_name(name, value), of)
        for name, (_, values) in SWEEP.items()
        for value in values
    }
    best = min(found, key=lambda name: found[name])
    holds = ours <= found[best] * (1 + COMPARABLE)
    return Verdict(holds, f"mean slowdown above one BDP {ours:.3f}; best of the sweep: {best}, {found[best]:.3f}")


def claims() -> Iterator[Claim]:
    """Yield the claims about 128 servers in the order of the source, and those that this study adds."""
    first, second = LOADS
    for traffic in TRAFFIC:
        yield from (_against_flowbender(traffic, load) for load in LOADS)
        yield from (_between(traffic, load) for load in LOADS)
    yield _consistently("Hadoop")
    yield _up_to(
        "Hadoop: Hopper outperforms FlowBender by up to 7.8 % (mean) and up to 19.6 % (p99)",
        "Hadoop",
        (first, second),
        ("FlowBender",),
        {MEAN: 7.8, P99: 19.6},
    )
    yield Claim("Hadoop: short flows are faster than under ECMP with both FlowBender and Hopper", _short_flows)
    yield Claim("Hadoop: Hopper outperforms CONGA, but for the mean at 80 %, which is comparable", _against_conga)
    yield Claim(
        "Hadoop, 50 %: for short flows (up to 2 kB) the gap to ConWeave is less than 8.3 %",
        _worse_than_conweave("Hadoop", 8.3),
    )
    yield _consistently("ML training")
    yield _up_to(
        "ML training: Hopper outperforms FlowBender by up to 20 % (mean) and 14 % (p99)",
        "ML training",
        (first, second),
        ("FlowBender",),
        {MEAN: 20, P99: 14},
    )
    yield _up_to(
        "ML training, 50 %: Hopper outperforms CONGA by up to 10 % (mean) and 23 % (p99)",
        "ML training",
        (first,),
        ("CONGA",),
        {MEAN: 10, P99: 23},
    )
    yield Claim("ML training, 80 %: CONGA and ConWeave outperform Hopper and FlowBender", _switches_ahead)
    yield Claim(
        "AliStorage, 50 %: short flows are up to 6 % better on average than CONGA's and FlowBender's", _storage(6)
    )
    yield Claim(
        "AliStorage, 50 %: large flows are up to 19 % better on average than CONGA's and FlowBender's",
        _storage(19, large=True),
    )
    yield Claim(
        "AliStorage, 50 %: Hopper is up to 6 % worse than ConWeave for small flows",
        _worse_than_conweave("AliStorage", 6),
    )
    yield _up_to(
        "AliStorage, 50 %: Hopper's p99 is up to 8 % better than FlowBender's",
        "AliStorage",
        (first,),
        ("FlowBender",),
        {P99: 8},
    )
    yield _up_to(
        "AliStorage, 50 %: Hopper's p99 is up to 16 % better than CONGA's",
        "AliStorage",
        (first,),
        ("CONGA",),
        {P99: 16},
    )
    yield Claim(
        "AliStorage, 80 %: Hopper is about 10 % better than FlowBender on average, and similar in the tail",
        _storage_at_80,
    )
    yield Claim("ML training, 50 %: fewer packets out of order than with FlowBender and random spray", _out_of_order)
    yield Claim(
        "ML training, 50 %: fewer packets out of order per path change than FlowBender", _out_of_order_per_switch
    )
    yield Claim("The parameters of Table 1 work well: within 5 % of the best of the sweep", _table_1)
