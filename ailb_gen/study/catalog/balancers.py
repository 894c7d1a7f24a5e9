"""DLB, GLB and RLB on Juniper's reference fabric: all-reduce and a DLRM-like job from generated files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ailb_gen.sim.point import ExtraMeasurement
from ailb_gen.study.catalog.balancers_claims import (
    ALL_REDUCE,
    BACKGROUNDS,
    BALANCERS,
    EXTRAS_30,
    FAILURE,
    NOWHERE,
    ONE,
    QUANTITIES,
    SEVERAL,
    SPINE,
    TUNED,
    background,
    claims,
    dlrm,
    extra,
    figures,
    spread_case,
)
from ailb_gen.study.catalog.balancers_text import NOTES, TEXT
from ailb_gen.study.extras import LinkRates, StepTimes
from ailb_gen.study.model import Case, Options, Published, Study

# The text of examples/jvd/fabric.yaml.
REFERENCE = """\
name: jvd
platform: qfx5240-64od
stripes: 2
rails: 8
spines: 4
colors: [green, blue, red, orange]
servers: {count: 2, name: "h100-{n:02}"}
uplinks: {speed: 400g}
host_ports: {speed: 400g, first_port: 16}
hosts: {rdma: [mlx5_0, mlx5_3, mlx5_4, mlx5_5, mlx5_6, mlx5_9, mlx5_10, mlx5_11]}
"""
FABRIC = {"files": {"fabric": "jvd/fabric.yaml", "artifacts": "jvd/files"}}
# Servers 1 and 2 are in stripe 1, 3 and 4 in stripe 2: in this order every step of the ring crosses the spines.
HOSTS = ["h100-01:*", "h100-03:*", "h100-02:*", "h100-04:*"]
# What the source says of the NICs for packet mode: they take packets out of order.
ANY_ORDER = {"name": "selective-repeat", "reordering": 256}
# Examples of Juniper's documentation; what files of the reference do not set.
QUANTIZED = {"min_percent": 20, "max_percent": 50, "rate_weight_percent": 80}
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "ECMP": {"balancer": "ecmp"},
    "DLB flowlet": {"balancer": "dlb"},
    "DLB per packet": {"balancer": "dlb-per-packet", "transport": ANY_ORDER},
    "GLB": {"balancer": "glb"},
    "RLB": {"balancer": "rlb"},
    f"DLB flowlet, {TUNED}": {"balancer": {"name": "dlb", "parameters": QUANTIZED}},
    f"GLB, {TUNED}": {"balancer": {"name": "glb", "parameters": QUANTIZED}},
    f"GLB, {TUNED}, floods every 10 us": {
        "balancer": {"name": "glb", "parameters": QUANTIZED | {"flood_us": 10, "flood_delay_us": 5}}
    },
    f"GLB, {TUNED}, floods every 1 ms": {"balancer": {"name": "glb", "parameters": QUANTIZED | {"flood_us": 1000}}},
    "DLB flowlet, inactivity 32 us": {"balancer": {"name": "dlb", "parameters": {"inactivity_us": 32}}},
    "DLB flowlet, inactivity 512 us": {"balancer": {"name": "dlb", "parameters": {"inactivity_us": 512}}},
    "DLB flowlet, queue bands x 4": {
        "balancer": {"name": "dlb", "parameters": {"min_queue_bytes": 65_536, "max_queue_bytes": 1_048_576}}
    },
}
# One run of ECMP in six has no collision.
SEEDS = {"ECMP": 30, "DLB flowlet": 15, "DLB per packet": 5, "GLB": 5, "RLB": 5}
UPLINKS = "stripe1-leaf1:et-0/0/[0-3]:0"
ALL_LINKS = ["stripe?-leaf?:et-0/0/[0-3]:0", "spine?:et-*"]
# The link from spine1 to stripe2-leaf1, and all of spine1.
LOADED = {"one link": ["spine1:et-0/0/8:0"], "all links of a spine": ["spine1:et-*"]}


def _all_reduce(size: str, steps: int = 1) -> Mapping[str, Any]:
    return {"collective": {"kind": "all-reduce", "bytes": size, "steps": steps, "hosts": HOSTS}}


def _load(links: list[str], share: float, duration: str) -> Mapping[str, Any]:
    return {"background": {"links": links, "load": share, "duration": duration}}


def _case(
    name: str,
    balancer: str,
    traffic: list[Mapping[str, Any]],
    seeds: int,
    extras: Mapping[str, ExtraMeasurement] | None = None,
    **more: Any,  # noqa: ANN401 - parts of a scenario
) -> Case:
    scenario = {"fabric": FABRIC, "traffic": traffic, "congestion": "dcqcn", "seeds": seeds}
    chart = (name.removesuffix(f", {balancer}"), balancer)
    return Case(name, {**scenario, **SETTINGS[balancer], **more}, extras or {}, chart)


def _spread(options: Options) -> Iterator[Case]:
    """Yield the runs of figures 11 to 13."""
    for balancer in BALANCERS:
        seeds = options.seeds or (max(2, SEEDS[balancer] // 5) if options.quick else SEEDS[balancer])
        yield _case(spread_case(balancer), balancer, [_all_reduce("256MiB")], seeds)
    if not options.quick:
        for balancer in SETTINGS:
            if balancer.startswith("DLB flowlet,"):
                yield _case(spread_case(balancer), balancer, [_all_reduce("256MiB")], options.seeds or 3)


def _dlrm(options: Options) -> Iterator[Case]:
    """Yield the runs of figures 4 and 6: two all-to-alls and an all-reduce per step, with their computations."""
    half = {"kind": "all-to-all", "bytes": "13.6MB", "steps": 2, "compute": "500us", "pxn": False}
    whole = {"kind": "all-reduce", "bytes": "64MB", "compute": "1ms"}
    job: list[Mapping[str, Any]] = [{"collective": {**part, "hosts": HOSTS}} for part in (half, whole)]
    for percent in BACKGROUNDS[:1] if options.quick else BACKGROUNDS:
        load = [_load(ALL_LINKS, percent / 100, "2500us")] if percent else []
        measured: Mapping[str, Any] = {} if percent else {"measure": {"load_interval": "50us"}}
        extras: Mapping[str, ExtraMeasurement] = {} if percent else {"uplinks": LinkRates(UPLINKS)}
        more = () if percent or options.quick else (f"DLB flowlet, {TUNED}",)
        for balancer in ("ECMP", "DLB flowlet", "DLB per packet", *more):
            seeds = options.seeds or (1 if options.quick else 2)
            yield _case(dlrm(percent, balancer), balancer, job + load, seeds, extras, **measured)


def _background(options: Options) -> Iterator[Case]:
    """Yield the runs of figure 5."""
    for percent in BACKGROUNDS:
        load = [_load(ALL_LINKS, percent / 100, "1500us")] if percent else []
        for balancer in ("ECMP", "DLB flowlet", "DLB per packet"):
            yield _case(background(percent, balancer), balancer, [_all_reduce("128MiB"), *load], options.seeds or 2)


def _extra(options: Options) -> Iterator[Case]:
    """Yield the runs of figure 8; the extra traffic has been there for a while when the job begins."""
    quick = {(ONE, links): ("ECMP", "DLB flowlet", f"GLB, {TUNED}") for links in (NOWHERE, SPINE)}
    runs: Mapping[tuple[str, str], Sequence[str]] = quick if options.quick else EXTRAS_30
    for pattern, links in runs:
        several = pattern == SEVERAL
        job = dict(_all_reduce("256MiB")["collective"]) | {"start": "500us"}
        job |= {} if several else {"queue_pairs": 1, "hosts": []}
        load = [_load(LOADED[links], 0.3, "3ms")] if links in LOADED else []
        for balancer in runs[pattern, links]:
            seeds = options.seeds or (1 if options.quick else 3 if several else 4)
            yield _case(extra(pattern, links, balancer), balancer, [{"collective": job}, *load], seeds)


def _failure(options: Options) -> Case:
    steps = 4 if options.quick else 8
    failure = {"name": "stripe1-leaf1-spine1", "at": "2ms"}
    extras: Mapping[str, ExtraMeasurement] = {"steps": StepTimes("all-reduce")}
    return _case(FAILURE, "RLB", [_all_reduce("256MiB", steps)], options.seeds or 1, extras, failures=[failure])


def balancers(options: Options) -> Study:
    """Return the study; quick: runs of all-reduce, a step of the DLRM-like job and the failure."""
    cases = [*_spread(options), *_dlrm(options), *([] if options.quick else _background(options))]
    cases += [*_extra(options), _failure(options)]
    return Study(
        name="balancers",
        title="Load balancers of a GPU fabric: ECMP, DLB, GLB and RLB",
        source="Juniper Networks, self-optimizing Ethernet for AI: DLB, GLB and RLB, 2025",
        text=TEXT,
        cases=cases,
        quantities=QUANTITIES,
        published=_published(cases),
        claims=claims(),
        figures=figures,
        notes=NOTES,
        intents={"jvd": REFERENCE},
    )


def _published(cases: list[Case]) -> list[Published]:
    """Return the source's numbers, and rows for what it shows only as figures."""
    bandwidth, notified, paused, unordered, time = (quantity.name for quantity in QUANTITIES)
    ecmp, flowlet, rlb = (spread_case(balancer) for balancer in ("ECMP", "DLB flowlet", "RLB"))
    found = [Published(ecmp, bandwidth, float(run)) for run in ALL_REDUCE["ECMP"]]
    found += [Published(flowlet, bandwidth, float(run)) for run in ALL_REDUCE["DLB flowlet"]]
    found += [Published(rlb, bandwidth, float(run)) for run in ALL_REDUCE["RLB"]]
    found += [Published(rlb, quantity, 0.0) for quantity in (notified, paused, unordered)]
    known = {(row.case, row.quantity) for row in found}
    for case in cases:
        job = (time,) if case.name.startswith("DLRM") else (bandwidth,)
        counts = (notified, paused, unordered) if case.name.startswith("all-reduce,") else ()
        found += [Published(case.name, name, None) for name in (*job, *counts) if (case.name, name) not in known]
    order = {case.name: number for number, case in enumerate(cases)}
    return sorted(found, key=lambda row: order.get(row.case, len(order)))
