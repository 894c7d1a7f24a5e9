"""The claims of Juniper's DLB, GLB and RLB as predicates, the figures, and what both are made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from ailb_gen.study.model import Bars, Claim, Figure, Findings, Lines, Quantity, Spread, Statistics, Verdict

BALANCERS = ("ECMP", "DLB flowlet", "DLB per packet", "GLB", "RLB")
# Bus bandwidths of the source's runs in GB/s; of DLB least and most.
ALL_REDUCE = {"ECMP": (196, 263, 373), "DLB flowlet": (353, 373), "RLB": (373,)}
BACKGROUNDS = (0, 20, 40)
TUNED = "quantization 20/50/80"
# Of figure 8: who sends, where the extra traffic is, and the load balancers.
ONE, SEVERAL = "one queue pair", "four queue pairs"
NOWHERE, ONE_LINK, SPINE = "no link", "one link", "all links of a spine"
_COMPARED = ("ECMP", "DLB flowlet", "GLB", f"GLB, {TUNED}")
EXTRAS_30 = {
    (ONE, NOWHERE): _COMPARED,
    (ONE, ONE_LINK): _COMPARED,
    (ONE, SPINE): (
        *_COMPARED,
        f"DLB flowlet, {TUNED}",
        f"GLB, {TUNED}, floods every 10 us",
        f"GLB, {TUNED}, floods every 1 ms",
    ),
    (SEVERAL, NOWHERE): _COMPARED,
    (SEVERAL, SPINE): _COMPARED,
}
FAILURE = "failure, RLB"
# Figures whose bars are compared to three digits: 0.5 % is the same.
SAME = 0.005
PERCENT = 100


def spread_case(balancer: str) -> str:
    """Return the name of a case of figures 11 to 13."""
    return f"all-reduce, {balancer}"


def dlrm(percent: int, balancer: str) -> str:
    """Return the name of a case of figure 4."""
    return f"DLRM, background {percent} %, {balancer}"


def background(percent: int, balancer: str) -> str:
    """Return the name of a case of figure 5."""
    return f"background {percent} %, {balancer}"


def extra(pattern: str, links: str, balancer: str) -> str:
    """Return the name of a case of figure 8."""
    return f"30 % extra on {links}, {pattern}, {balancer}"


def bandwidth(point: Statistics) -> float | None:
    """Return the bus bandwidth of all-reduce in GB/s."""
    found: float | None = point["jobs"]["all-reduce"]["bus_bandwidth"] if "all-reduce" in point["jobs"] else None
    return found


def job_time(point: Statistics) -> float | None:
    """Return the time of the longest job in ms; None if one did not end."""
    times = [job["time_us"] for job in point["jobs"].values()]
    return max(times) / 1000 if times and None not in times else None


def _of_jobs(point: Statistics, name: str) -> float:
    return float(sum(flows[name] for label, flows in point["flows"].items() if label != "background"))


def notified(point: Statistics) -> float:
    """Return how many marks came back to senders of the job."""
    return _of_jobs(point, "marked")


def paused(point: Statistics) -> float:
    """Return how many pauses there were on all links."""
    return float(sum(links["pauses"] for links in point["links"].values()))


def unordered(point: Statistics) -> float:
    """Return how many packets of the job arrived after a later one."""
    return _of_jobs(point, "out_of_order")


QUANTITIES = (
    Quantity("bus bandwidth, GB/s", bandwidth),
    Quantity("congestion notifications", notified),
    Quantity("pauses", paused),
    Quantity("packets out of order", unordered),
    Quantity("job time, ms", job_time),
)


def _range(findings: Findings, case: str) -> Spread:
    return findings.spread(case, bandwidth) or Spread(math.nan, math.nan, math.nan)


def _text(found: Spread) -> str:
    return f"{found.least:.1f} to {found.most:.1f}"


def _repeats(findings: Findings) -> Verdict:
    found = findings.values(spread_case("RLB"), bandwidth)
    return Verdict(
        len(found) > 1 and len(set(found)) == 1, f"{found[0]:.1f} GB/s in {len(found)} runs" if found else ""
    )


def _undisturbed(findings: Findings) -> Verdict:
    counts = [sum(findings.values(spread_case("RLB"), of)) for of in (notified, paused, unordered)]
    marks, pauses, packets = (f"{count:.0f}" for count in counts)
    return Verdict(not any(counts), f"{marks} notifications, {pauses} pauses, {packets} packets out of order")


def _varies(findings: Findings) -> Verdict:
    found = _range(findings, spread_case("ECMP"))
    return Verdict(found.most >= 1.5 * found.least, f"{_text(found)} GB/s: a factor of {found.most / found.least:.2f}")


def _inside(findings: Findings) -> Verdict:
    ecmp, flowlet = (_range(findings, spread_case(name)) for name in ("ECMP", "DLB flowlet"))
    holds = flowlet.least > ecmp.least and flowlet.most <= ecmp.most * (1 + SAME)
    return Verdict(holds, f"DLB {_text(flowlet)}, ECMP {_text(ecmp)} GB/s")


def _below(findings: Findings) -> Verdict:
    flowlet, rlb = (_range(findings, spread_case(name)) for name in ("DLB flowlet", "RLB"))
    holds = flowlet.mean < rlb.mean and flowlet.most <= rlb.most * (1 + SAME)
    return Verdict(holds, f"DLB {flowlet.mean:.1f} on average, RLB {rlb.mean:.1f} GB/s")


def _notified(findings: Findings) -> Verdict:
    marks, packets = (findings.values(spread_case("DLB flowlet"), of) for of in (notified, unordered))
    shown = f"notifications in {sum(map(bool, marks))}, packets out of order in {sum(map(bool, packets))}"
    return Verdict(any(marks) and any(packets), f"{shown} of {len(packets)} runs")


def _as_good(findings: Findings) -> Verdict:
    """Compare job times of the two modes where there is no background load and where there is."""
    shown, holds = [], True
    for percent in (one for one in BACKGROUNDS if not one or dlrm(one, "ECMP") in findings.points):
        flowlet, packet = (findings.mean(dlrm(percent, name), job_time) for name in ("DLB flowlet", "DLB per packet"))
        shown.append(f"{percent} %: {flowlet:.3f} and {packet:.3f} ms, {PERCENT * (flowlet / packet - 1):+.1f} %")
        holds = holds and abs(flowlet / packet - 1) <= 0.01
    return Verdict(holds, "; ".join(shown))


def _degrades(findings: Findings) -> Verdict:
    """Compare how much the job under ECMP and DLB takes longer than under DLB per packet."""
    ecmp, flowlet, packet = (
        [findings.mean(dlrm(percent, name), job_time) for percent in BACKGROUNDS]
        for name in ("ECMP", "DLB flowlet", "DLB per packet")
    )
    shown = "; ".join(
        f"{percent} %: {a:.2f}, {b:.2f}, {c:.2f} ms"
        for percent, a, b, c in zip(BACKGROUNDS, ecmp, flowlet, packet, strict=True)
    )
    rising = all(a < b for a, b in pairwise(ecmp))
    return Verdict(rising and all(a > b >= c for a, b, c in zip(ecmp, flowlet, packet, strict=True)), shown)


def _loaded(findings: Findings) -> Verdict:
    """Compare bus bandwidths under background load."""
    shown, holds = [], True
    for percent in BACKGROUNDS:
        ecmp, flowlet, packet = (
            findings.mean(background(percent, name), bandwidth) for name in ("ECMP", "DLB flowlet", "DLB per packet")
        )
        shown.append(f"{percent} %: {ecmp:.0f}, {flowlet:.0f}, {packet:.0f} GB/s")
        holds = holds and ecmp < flowlet and ecmp < packet
    return Verdict(holds, "; ".join(shown))


def _even(findings: Findings) -> Verdict:
    """Compare how unevenly the uplinks of a leaf are used: most over mean, as the mean over seeds."""
    ecmp, flowlet = (
        math.fsum(found) / len(found)
        for name in ("ECMP", "DLB flowlet")
        if (found := findings.values(dlrm(0, name), unevenness))
    )
    shown = f"the busiest uplink sends {ecmp:.2f} times the mean under ECMP, {flowlet:.2f} times under DLB"
    return Verdict(flowlet < ecmp, shown)


def unevenness(point: Statistics) -> float | None:
    """Return what the busiest uplink of the leaf sent, over the mean of all."""
    sent = [math.fsum(rates) for rates in point["extras"]["uplinks"].values()]
    return max(sent) * len(sent) / math.fsum(sent) if sent and math.fsum(sent) else None


def kept(findings: Findings, pattern: str, links: str, balancer: str) -> float:
    """Return the share of its bus bandwidth that a load balancer keeps when links have extra traffic."""
    loaded, free = (findings.mean(extra(pattern, where, balancer), bandwidth) for where in (links, NOWHERE))
    return loaded / free


def _keeps(pattern: str, links: str, glb: str, reason: str = "") -> Claim:
    def check(findings: Findings) -> Verdict:
        ecmp, flowlet, ours = (kept(findings, pattern, links, name) for name in ("ECMP", "DLB flowlet", glb))
        shown = f"ECMP keeps {ecmp:.1%}, DLB {flowlet:.1%}, {glb} {ours:.1%}"
        return Verdict(ours >= 0.95 and max(ecmp, flowlet) <= 0.9, shown)

    return Claim(
        f"With 30 % extra traffic on {links}, {glb} keeps 95 % of its bandwidth, and DLB and ECMP lose 10 % or more "
        f"({pattern} per connection).",
        check,
        reason,
    )


def _recovers(findings: Findings) -> Verdict:
    """Compare steps before the failure with those after the first that is complete after it."""
    steps = [time for point in findings.of(FAILURE) for _, time in point["extras"]["steps"]]
    first, slow, last = steps[0], max(steps), steps[-1]
    shown = f"steps of {first:.0f} us before, {slow:.0f} us while the link is lost, {last:.0f} us after"
    return Verdict(slow > first and last <= first * 1.05, shown)


UNSEEN = (
    "A link that is loaded to 30 % has the best band: without egress-quantization, bands begin at 50 % (Junos default)."
)
FEW = "One of 16 pairs of leaves is concerned: a quarter of the runs have no flow there at all."
FULL = (
    "Collisions of the job with itself decide: GLB leaves the spine, and puts too many of eight flows on one of three."
)


def claims() -> Sequence[Claim]:
    """Return what the source says, in its order."""
    return (
        Claim(
            "DLB in packet mode finishes a DLRM job within 1 % of flowlet mode (published: 0.08 % sooner).",
            _as_good,
            "All queue pairs begin within a microsecond of each other, when all uplinks look idle, so that DLB places "
            "flowlets at random; and this job is bound by the network, where the published one mostly computes.",
        ),
        Claim(
            "Under ECMP the DLRM job takes longer with more background load, and longer than under DLB.",
            _degrades,
            "DLB in flowlet mode moves active flows to better bands. Packets then come out of order, which go-back-N "
            "repeats and DCQCN takes for congestion: with selective repeat the job of seed 1 takes 1.61 ms at 40 %.",
        ),
        Claim("With background load all-reduce is faster under both modes of DLB than under ECMP.", _loaded),
        Claim("DLB uses the uplinks of a leaf more evenly than ECMP.", _even),
        _keeps(ONE, SPINE, "GLB", UNSEEN),
        _keeps(ONE, SPINE, f"GLB, {TUNED}"),
        _keeps(ONE, ONE_LINK, f"GLB, {TUNED}", FEW),
        _keeps(SEVERAL, SPINE, f"GLB, {TUNED}", FULL),
        Claim("RLB: the same bus bandwidth in every run.", _repeats),
        Claim("RLB: no congestion notifications, no pauses, no packets out of order.", _undisturbed),
        Claim("ECMP's runs differ by a factor of 1.5 or more (published: 1.9).", _varies),
        Claim("DLB's runs are inside the range of ECMP's, and better than its worst.", _inside),
        Claim("DLB's bus bandwidth is below RLB's, and not above it in any run.", _below),
        Claim(
            "DLB gets a few congestion notifications and packets out of order.",
            _notified,
            "No queue reaches 55 % of its memory (709 kB), where marking begins; the source's is unknown.",
        ),
        Claim("When a link fails under RLB, DLB takes over: the job goes on at full speed.", _recovers),
    )


def figures(findings: Findings) -> Sequence[Figure]:
    """Return figures 4, 5, 6, 8 and 11 of the source, and the failure."""
    return list(_figures(findings))


def _bars(
    findings: Findings, groups: dict[str, dict[str, str]], of: Callable[[Statistics], float | None]
) -> dict[str, dict[str, Spread]]:
    """Return spreads by group and name of the cases that were simulated."""
    return {
        group: found
        for group, cases in groups.items()
        if (
            found := {
                name: spread
                for name, case in cases.items()
                if case in findings.points and (spread := findings.spread(case, of)) is not None
            }
        )
    }


def _figures(findings: Findings) -> Iterator[Figure]:
    modes = ("ECMP", "DLB flowlet", "DLB per packet")
    loads = {f"{percent} %": {name: dlrm(percent, name) for name in modes} for percent in BACKGROUNDS}
    if bars := _bars(findings, loads, job_time):
        yield Bars("dlrm", "DLRM-like job by background load on all links (figure 4)", "job time, ms", bars)
    loads = {f"{percent} %": {name: background(percent, name) for name in modes} for percent in BACKGROUNDS}
    if bars := _bars(findings, loads, bandwidth):
        yield Bars("background", "All-reduce by background load on all links (figure 5)", "bus bandwidth, GB/s", bars)
    for name in modes[:2]:
        for point in findings.points.get(dlrm(0, name), ())[:1]:
            yield _uplinks(name, point["extras"]["uplinks"])
    groups = {
        f"{pattern},\n{links}": {name: extra(pattern, links, name) for name in _COMPARED}
        for pattern, links in EXTRAS_30
    }
    if bars := _bars(findings, groups, bandwidth):
        yield Bars("extra", "All-reduce with 30 % extra traffic on (figure 8)", "bus bandwidth, GB/s", bars)
    runs = {"all-reduce": {name: spread_case(name) for name in BALANCERS}}
    if bars := _bars(findings, runs, bandwidth):
        yield Bars("runs", "All-reduce, mean and range over runs (figure 11)", "bus bandwidth, GB/s", bars)
    for point in findings.points.get(FAILURE, ())[:1]:
        steps = [(end / 1000, time / 1000) for end, time in point["extras"]["steps"]]
        title = "RLB: steps of all-reduce, a link fails at 2 ms"
        yield Lines("failure", title, "end of the step, ms", "time of the step, ms", {"RLB": steps})


def _uplinks(name: str, rates: dict[str, list[float]]) -> Lines:
    """Return what every uplink of a leaf sent over time, in intervals of 50 us, as long as one of them sent."""
    last = max((number for sent in rates.values() for number, rate in enumerate(sent) if rate), default=0)
    lines = {
        link.partition(":")[2]: [(number * 0.05, rate) for number, rate in enumerate(sent[: last + 2])]
        for link, sent in rates.items()
    }
    title = f"Uplinks of stripe1-leaf1 during the DLRM-like job, {name} (figure 6)"
    return Lines(f"uplinks-{name.split(maxsplit=1)[0].lower()}", title, "time, ms", "Gb/s", lines)
