"""The claims of the paper on Hopper about its testbed, as predicates; published numbers are ratios there."""

from __future__ import annotations

from collections.abc import Iterator

from ailb_gen.study.catalog.hopper_cases import CHUNKS, testbed_name
from ailb_gen.study.catalog.hopper_claims import PERCENT, Value, gain, near, percent
from ailb_gen.study.model import Claim, Findings, Statistics, Verdict

PAIR = ("Hopper", "FlowBender")
FAST, SLOW = "10", "1"
# Equal within this share.
MATCHES = 0.05
TWICE = (1.5, 2.5)


def training_time(point: Statistics) -> float | None:
    """Return the time of all rounds in s; None on other fabrics."""
    job = point["jobs"].get("permutation")
    return None if job is None or job["time_us"] is None else job["time_us"] / 1e6


def slow_load(point: Statistics) -> float | None:
    """Return the mean load of the 1 Gb/s links in percent; None on other fabrics."""
    uplinks = point["extras"].get("uplinks")
    return None if uplinks is None else uplinks[SLOW] * PERCENT


def fast_load(point: Statistics) -> float | None:
    """Return the mean load of the 10 Gb/s links in percent; None on other fabrics."""
    uplinks = point["extras"].get("uplinks")
    return None if uplinks is None else uplinks[FAST] * PERCENT


def flow_time(kind: str) -> Value:
    """Return mean, p95 or p99 of the flow completion time in ms; None on other fabrics."""

    def found(point: Statistics) -> float | None:
        flows = point["flows"].get("permutation")
        return None if flows is None else flows["fct_us"][kind] / 1e3

    return found


def _cases(chunk: int) -> tuple[str, str]:
    return testbed_name(PAIR[0], chunk), testbed_name(PAIR[1], chunk)


def _less_slow_at(chunk: int) -> Claim:
    def check(findings: Findings) -> Verdict:
        ours, theirs = (findings.mean(name, slow_load) for name in _cases(chunk))
        return Verdict(ours < theirs, f"{ours:.1f} against {theirs:.1f} %")

    return Claim(f"Testbed, {chunk} MB: Hopper uses the slow links less than FlowBender", check)


def _more_fast(findings: Findings) -> Verdict:
    found = {
        chunk: findings.mean(_cases(chunk)[0], fast_load) / findings.mean(_cases(chunk)[1], fast_load) - 1
        for chunk in CHUNKS
    }
    shown = ", ".join(f"{chunk} MB {percent(share)}" for chunk, share in found.items())
    return Verdict(min(found.values()) > 0 and near(max(found.values()), 35), f"more: {shown}")


def _larger_chunks(findings: Findings) -> Verdict:
    found = {name: [findings.mean(testbed_name(name, chunk), slow_load) for chunk in CHUNKS] for name in PAIR}
    shown = "; ".join(f"{name} {small:.1f} to {large:.1f} %" for name, (small, large) in found.items())
    return Verdict(all(small < large for small, large in found.values()), shown)


def _degradation(findings: Findings) -> Verdict:
    found = {
        name: findings.mean(testbed_name(name, 10), slow_load) - findings.mean(testbed_name(name, 1), slow_load)
        for name in PAIR
    }
    ratio = found["FlowBender"] / found["Hopper"]
    return Verdict(TWICE[0] <= ratio <= TWICE[1], f"load of slow links grows {ratio:.2f} times as much with FlowBender")


def _better_in(kinds: tuple[str, ...], chunk: int, findings: Findings) -> dict[str, float]:
    return {kind: gain(findings, _cases(chunk), flow_time(kind)) for kind in kinds}


def _all_but_one(findings: Findings) -> Verdict:
    small, large = (_better_in(("mean", "p95", "p99"), chunk, findings) for chunk in CHUNKS)
    better = min(*small.values(), large["mean"], large["p95"]) > 0
    shown = "; ".join(
        f"{chunk} MB: " + ", ".join(f"{kind} {percent(share)}" for kind, share in found.items())
        for chunk, found in zip(CHUNKS, (small, large), strict=True)
    )
    return Verdict(better and abs(large["p99"]) <= MATCHES, f"better by {shown}")


def _smaller_gap(findings: Findings) -> Verdict:
    small, large = (_better_in(("mean", "p99"), chunk, findings) for chunk in CHUNKS)
    shown = ", ".join(f"{kind} {percent(small[kind])} with 1 MB, {percent(large[kind])} with 10 MB" for kind in small)
    return Verdict(all(large[kind] < small[kind] for kind in small), shown)


def _one_megabyte(findings: Findings) -> Verdict:
    published = {"mean": 45.0, "p95": 61.9, "p99": 77.2}
    found = _better_in(tuple(published), 1, findings)
    shown = ", ".join(f"{kind} {percent(share)}" for kind, share in found.items())
    return Verdict(all(near(found[kind], value) for kind, value in published.items()), f"better by {shown}")


def _one_megabyte_better(findings: Findings) -> Verdict:
    found = _better_in(("mean", "p95", "p99"), 1, findings)
    shown = ", ".join(f"{kind} {percent(share)}" for kind, share in found.items())
    return Verdict(min(found.values()) > 0, f"better by {shown}")


def _training(chunk: int, theirs: int, ours: int) -> Claim:
    def check(findings: Findings) -> Verdict:
        found = [findings.mean(name, training_time) for name in _cases(chunk)]
        share = 1 - found[0] / found[1]
        published = (1 - ours / theirs) * PERCENT
        shown = f"{found[0]:.2f} against {found[1]:.2f} s: {percent(share)}; published {published:.1f} %"
        return Verdict(near(share, published), shown)

    text = f"Testbed, {chunk} MB: training takes {ours} s with Hopper in place of {theirs} s with FlowBender"
    return Claim(text, check)


def _ecmp_suffers(findings: Findings) -> Verdict:
    small, large = (findings.mean(testbed_name("ECMP", chunk), flow_time("mean")) for chunk in CHUNKS)
    return Verdict(small > large, f"mean {small:.0f} and {large:.0f} ms")


def _ahead_of_ecmp(findings: Findings) -> Verdict:
    found = {name: findings.mean(testbed_name(name, 1), training_time) for name in ("ECMP", *PAIR)}
    shown = ", ".join(f"{name} {value:.2f} s" for name, value in found.items())
    return Verdict(found["Hopper"] < found["FlowBender"] < found["ECMP"], f"training time {shown}")


def claims() -> Iterator[Claim]:
    """Yield the claims about the testbed in the order of the source."""
    yield from (_less_slow_at(chunk) for chunk in CHUNKS)
    yield Claim("Testbed: Hopper uses the 10 Gb/s links more than FlowBender, by up to 35 %", _more_fast)
    yield Claim("Testbed: with larger chunks the slow links are used more, by both", _larger_chunks)
    yield Claim("Testbed: that growth is almost twice as large with FlowBender as with Hopper", _degradation)
    yield Claim("Testbed, 1 MB: Hopper is faster than FlowBender in mean, p95 and p99", _one_megabyte_better)
    yield Claim("Testbed, 1 MB: that is by 45 % (mean), 61.9 % (p95) and 77.2 % (p99)", _one_megabyte)
    yield Claim(
        "Testbed: Hopper is faster than FlowBender in mean and tail, but for p99 with 10 MB, which is equal",
        _all_but_one,
    )
    yield Claim("Testbed: the gap is smaller with chunks of 10 MB than with 1 MB", _smaller_gap)
    yield _training(1, 1080, 715)
    yield _training(10, 1320, 890)
    yield Claim("Testbed, 1 MB: Hopper trains faster than FlowBender, and that faster than ECMP", _ahead_of_ecmp)
    yield Claim("Testbed: ECMP is slower with chunks of 1 MB than with 10 MB", _ecmp_suffers)
