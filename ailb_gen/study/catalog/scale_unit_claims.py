"""The statements of Zeltser (2026) as predicates, and whether its numbers come out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ailb_gen.study.catalog.scale_unit_checks import (
    ADAPTIVE,
    ECMP,
    FLOWLET,
    MUCH,
    OTHERS,
    SHARP,
    alike,
    close_tail,
    ecmp_after_failures,
    flat,
    flowlet_mildly,
    grows,
    heavy_queues,
    hypothesis,
    job_time,
    less,
    more_at_high_load,
    node_peak,
    order_of_magnitude,
    robust,
    same_times,
    similar,
    split,
    steps_grow,
)
from ailb_gen.study.catalog.scale_unit_published import (
    BALANCERS,
    HEAVY_1,
    HEAVY_2,
    HEAVY_8,
    HEAVY_FAILED,
    HEAVY_LOADS,
    JOB_TIME,
    LOADS,
    LONGEST,
    MICE,
    MIXED_1,
    MIXED_4,
    MIXED_FAILED,
    MIXED_LOADS,
    NODE_PEAK,
    PACKETS,
    PIPELINE,
    STEP,
    TENSOR,
    case_name,
    published_findings,
    published_values,
)
from ailb_gen.study.model import Claim, Findings, NotSimulatedError, Quantity, Spread, Verdict
from ailb_gen.study.rows import number

WIDENED = 0.05
CLOSE = 0.01
WHOLE_RUN = (
    "The times in the source's figures 4 and 5 are those of the whole run, which lasts until the last mouse, sent at "
    "10 s, has arrived: a job that is done before shows as 10 s. As length of the whole run it comes out; as job time, "
    "which the text calls it, it does not, in the source's logs as little as here."
)
NOT_SIMILAR = (
    "Neither do the source's own numbers: ECMP's mean is three times that of adaptive routing. Its figure draws them "
    "next to times of x4 that are seven times as long."
)

SAME_BYTES = (
    "At x1 no flow has more than 64 packets, so that flowlets are ECMP, with the same seed bit by bit. The source's "
    "difference of 1.5 % there is one between two seeds. At all larger loads it holds."
)
NOT_ALIKE = "ECMP's mean is higher by more than that at x2 and x4 in the source's own numbers, too."
OWN_LINKS = (
    "Failures cost adaptive routing relatively more than the others, in the source's numbers, too: it uses all links "
    "of a server evenly, and a server that lost two of eight needs a third more time; the others wait for the most "
    "crowded link, which has seldom failed. Its gain over flowlets does not grow from mixed x2 to x4, either."
)
DRAWN = (
    "Which cables fail is drawn: rows with failures depend on how many a single server loses (see below). The source "
    "lost 16 to 30, other ones in each run."
)
PEAKS = "Peaks are multiples of what a pair of servers sends at once, and failed cables are drawn (see below)."
FEW_MICE = "Tails of mice are those of few mice, and rows with failures depend on which cables fail (see below)."


def _claim(text: str, check: Callable[[Findings], Verdict], reason: str = "") -> Claim:
    """Return a claim that also shows what it is with the published numbers."""

    def both(findings: Findings) -> Verdict:
        found = check(findings)
        try:
            theirs = "it holds" if check(published_findings()).holds else "it does not hold"
        except NotSimulatedError:
            theirs = "they do not say"
        return Verdict(found.holds, f"{found.shown}. With the published numbers {theirs}.")

    return Claim(text, both, reason)


FCT = (MICE["mean"], MICE["p95"])
STATEMENTS = (
    _claim(
        "4.1.1, heavy x1: all three complete in roughly the same time, about 10 s (job times within 10 %)",
        same_times(HEAVY_1),
        WHOLE_RUN,
    ),
    _claim(
        "4.1.1, heavy: ECMP and flowlets degrade sharply as load increases (job time of x8 at least twice that of x1)",
        grows(OTHERS, HEAVY_1, HEAVY_8, SHARP, job_time),
    ),
    _claim(
        "4.1.1, heavy: adaptive routing stays flat, about 10 s, over all loads (job times within 10 %)",
        flat(HEAVY_LOADS),
        WHOLE_RUN,
    ),
    _claim(
        "4.1.2, mixed x1: all are identical, about 10 s (the later job's time within 10 %)",
        same_times(MIXED_1),
        WHOLE_RUN,
    ),
    _claim(
        "4.1.2, mixed x4: ECMP increases sharply (at least twice x1), and slightly further with failures (up to 10 %)",
        ecmp_after_failures,
    ),
    _claim(
        "4.1.2, mixed: flowlets increase mildly (x1, x4 and x4 with failures within 25 %)",
        flowlet_mildly,
        WHOLE_RUN,
    ),
    _claim(
        "4.1.2, mixed x4, with and without failures: flowlets take less time than ECMP",
        less((MIXED_4, MIXED_FAILED), FLOWLET, (ECMP,), (JOB_TIME[TENSOR], JOB_TIME[PIPELINE])),
    ),
    _claim(
        "4.1.2, mixed: adaptive routing stays flat, about 10 s, over all loads (the later job's time within 10 %)",
        flat(MIXED_LOADS),
        WHOLE_RUN,
    ),
    _claim(
        "4.2.1, heavy: step times of ECMP and flowlets grow sharply from x1 to x8 (at least twice), their tails (p95) "
        "even more, adaptive's grow less",
        steps_grow,
    ),
    _claim("4.2.2: tail and mean step are further apart in mixed than in heavy, for ECMP and flowlets", split),
    _claim(
        "4.2.2, mixed: adaptive routing has the lowest mean step, and almost no variance (p95 within 5 % of the mean)",
        close_tail,
    ),
    _claim(
        "4.3, heavy x1 and x2: adaptive routing has the lowest mean and tail (p95) mice FCT",
        less((HEAVY_1, HEAVY_2), ADAPTIVE, OTHERS, FCT),
    ),
    _claim("4.3, heavy x8: mean mice FCT is similar for all three (within 25 %)", similar(HEAVY_8, FCT[:1])),
    _claim(
        "4.3, heavy x8, with and without failures: adaptive routing has the lowest tail mice FCT (p95)",
        less((HEAVY_8, HEAVY_FAILED), ADAPTIVE, OTHERS, FCT[1:]),
    ),
    _claim("4.3, mixed x1: all have similar mean and tail mice FCT (within 25 %)", similar(MIXED_1, FCT), NOT_SIMILAR),
    _claim(
        "4.3, mixed x2 and x4: mean mice FCT of ECMP and flowlets is quite similar (within 25 %), and above adaptive's",
        alike,
        NOT_ALIKE,
    ),
    _claim(
        "4.3, mixed: adaptive routing has the lowest tail mice FCT (p95 and p99) at all loads",
        less(MIXED_LOADS, ADAPTIVE, OTHERS, (MICE["p95"], MICE["p99"])),
    ),
    _claim(
        "4.4, mixed: ECMP's average peak queue increases rapidly from x1 to x4 (at least twice)",
        grows((ECMP,), MIXED_1, MIXED_4, SHARP, node_peak),
    ),
    _claim(
        "4.4, mixed: flowlets reduce the average peak queue relative to ECMP, at all loads",
        less(MIXED_LOADS, FLOWLET, (ECMP,), (NODE_PEAK,)),
        SAME_BYTES,
    ),
    _claim(
        "4.4, mixed: the average peak queue of adaptive routing is significantly lower (less than half) at all loads",
        less(MIXED_LOADS, ADAPTIVE, OTHERS, (NODE_PEAK,), MUCH),
    ),
    _claim(
        "4.4, heavy: average peak queues of ECMP and flowlets increase sharply at x8 (at least twice x1), and alike "
        "(within 10 %)",
        heavy_queues,
    ),
    _claim(
        "4.4, heavy x8 with failures: the average peak queue of adaptive routing is an order of magnitude smaller "
        "(a factor that rounds to 10 or more)",
        order_of_magnitude,
    ),
    _claim("1.2: adaptive routing reduces job time, mean step and tail step (p95, p99), at all loads", hypothesis),
    _claim(
        "1.2: it does so more at high load, and still more with failed links (job time of the better of the two others "
        "over adaptive's)",
        more_at_high_load,
        OWN_LINKS,
    ),
    _claim(
        "Abstract: adaptive routing remains robust under failures (with failed links it is faster than the others "
        "without)",
        robust,
    ),
)


def _inside(found: Spread, published: float) -> bool:
    return (1 - WIDENED) * found.least <= published <= (1 + WIDENED) * found.most


def _within_one_percent(found: Spread, published: float) -> bool:
    return abs(found.mean / published - 1) <= CLOSE


def _exactly(found: Spread, published: float) -> bool:
    return found.least == found.most == published


def _reproduced(
    quantities: Sequence[Quantity], balancers: Sequence[str], good: Callable[[Spread, float], bool]
) -> Callable[[Findings], Verdict]:
    """Check the published rows that were simulated."""

    def check(findings: Findings) -> Verdict:
        count, bad = 0, []
        for load in LOADS:
            for balancer in balancers:
                case = case_name(load, balancer)
                if case not in findings.points:
                    continue
                values = published_values(load, balancer)
                for quantity in quantities:
                    found = findings.spread(case, quantity.of)
                    if quantity.name not in values or found is None:
                        continue
                    count += 1
                    published = values[quantity.name]
                    if not good(found, published):
                        ours = f"{number(found.least)} to {number(found.most)}"
                        bad.append(f"{case}, {quantity.name}: published {number(published)}, ours {ours}")
        if not count:
            raise NotSimulatedError(case_name(LOADS[0], balancers[0]))
        return Verdict(not bad, "; ".join([f"{count - len(bad)} of {count}", *bad]) + ".")

    return check


def _ours(what: str, quantities: Sequence[Quantity], reason: str = "") -> Claim:
    return Claim(
        f"Ours: every published {what} is inside our range over seeds, widened by 5 %",
        _reproduced(quantities, BALANCERS, _inside),
        reason,
    )


REPRODUCTION = (
    Claim("Ours: packets are exactly those published", _reproduced((PACKETS,), BALANCERS, _exactly)),
    Claim(
        "Ours: job times of adaptive routing are within 1 % of the published ones",
        _reproduced(tuple(JOB_TIME.values()), (ADAPTIVE,), _within_one_percent),
        DRAWN,
    ),
    Claim(
        "Ours: published job times of ECMP and flowlets are inside our range over seeds, widened by 5 %",
        _reproduced(tuple(JOB_TIME.values()), OTHERS, _inside),
        DRAWN,
    ),
    _ours("mean step", tuple(STEP[job, "mean"] for job in JOB_TIME), DRAWN),
    _ours("p95 of steps", tuple(STEP[job, "p95"] for job in JOB_TIME), DRAWN),
    _ours("longest queue", (LONGEST,), PEAKS),
    _ours("mean node peak", (NODE_PEAK,), DRAWN),
    _ours("mean mice FCT", (MICE["mean"],), FEW_MICE),
    _ours("p95 of mice FCT", (MICE["p95"],), FEW_MICE),
    _ours("p99 of mice FCT", (MICE["p99"],), FEW_MICE),
)
CLAIMS = (*STATEMENTS, *REPRODUCTION)
