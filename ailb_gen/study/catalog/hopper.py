"""Hopper, load balancing for RDMA by hosts: Nosrati and Ghaderi (2025)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ailb_gen.study.catalog import hopper_cases as cases
from ailb_gen.study.catalog import hopper_claims as claims
from ailb_gen.study.catalog import hopper_testbed as testbed
from ailb_gen.study.catalog.hopper_figures import figures
from ailb_gen.study.catalog.hopper_text import NOTES, REASONS, TEXT
from ailb_gen.study.model import Case, Options, Published, Quantity, Study

MEAN, P99 = "slowdown, mean", "slowdown, p99"
LARGE_MEAN, LARGE_P99 = "slowdown above one BDP, mean", "slowdown above one BDP, p99"
QUANTITIES = (
    Quantity(MEAN, claims.every_flow(claims.MEAN)),
    Quantity(P99, claims.every_flow(claims.P99)),
    Quantity(LARGE_MEAN, claims.group(claims.MEAN, claims.ABOVE_BDP)),
    Quantity(LARGE_P99, claims.group(claims.P99, claims.ABOVE_BDP)),
)
TESTBED = (
    Quantity("training time, s", testbed.training_time),
    Quantity("flow time, mean, ms", testbed.flow_time("mean")),
    Quantity("flow time, p95, ms", testbed.flow_time("p95")),
    Quantity("flow time, p99, ms", testbed.flow_time("p99")),
    Quantity("load of 1 Gb/s links, %", testbed.slow_load),
    Quantity("load of 10 Gb/s links, %", testbed.fast_load),
)
# Of one flow list of AliStorage at 50 %, with conweave-ns3.
PLATFORM = {"ECMP": (1.543, 6.623), "CONGA": (1.461, 5.793), "ConWeave": (1.340, 3.853)}


def hopper(options: Options) -> Study:
    """Return the study; quick: storage traffic at 50 % under four load balancers, and a short testbed."""
    seeds = options.seeds or (1 if options.quick else cases.SEEDS)
    compared, others, small = _cases(options, seeds)
    return Study(
        name="hopper",
        title="Hopper: load balancing by hosts",
        source="Erfan Nosrati and Majid Ghaderi, *Hopper* (2025)",
        text=TEXT,
        cases=[*compared, *others, *small],
        quantities=(*QUANTITIES, *TESTBED),
        published=[
            *(Published(case.name, one.name, None) for case in compared for one in QUANTITIES),
            *(
                Published(cases.platform_name(name), quantity, value)
                for name, values in PLATFORM.items()
                for quantity, value in zip((MEAN, P99), values, strict=True)
            ),
            *(
                Published(case.name, quantity, None)
                for case in others
                if case.name.startswith("Hopper")
                for quantity in (LARGE_MEAN, LARGE_P99)
            ),
            *(Published(case.name, one.name, None) for case in small for one in TESTBED),
        ],
        claims=[replace(claim, reason=REASONS.get(claim.text, "")) for claim in (*claims.claims(), *testbed.claims())],
        figures=figures,
        notes=NOTES,
        folder=Path(__file__).parent,
    )


def _cases(options: Options, seeds: int) -> tuple[Sequence[Case], Sequence[Case], Sequence[Case]]:
    """Return the cases of the comparison, those on 128 servers besides, and those on the testbed."""
    if options.quick:
        return cases.quick_comparison(seeds), (), cases.testbed(seeds, rounds=6, chunks=(1,))
    small = cases.testbed(options.seeds or cases.TESTBED_SEEDS)
    fewer = options.seeds or cases.FEWER_SEEDS
    return cases.comparison(seeds), [*cases.platform(fewer), *cases.sweep(fewer)], small
