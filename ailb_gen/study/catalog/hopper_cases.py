"""Cases of the study of Hopper: load balancers on 128 servers, and Hopper's parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ailb_gen.sim.point import ExtraMeasurement
from ailb_gen.study.extras import CompletionCdf, LoadByRate, SlowdownBySize
from ailb_gen.study.model import Case

SEEDS = 3
# Of what is not the comparison: the plain platform and the sweep.
FEWER_SEEDS = 2
SIZES_FILE = "flow-sizes.json"
# One bandwidth-delay product of 100 Gb/s and 8.32 us.
BDP = 104_000
# Name: distribution in the file, arrivals at 50 and at 80 %.
TRAFFIC = {
    "AliStorage": ("AliStorage2019", "5ms", "4ms"),
    "Hadoop": ("FbHdp2015", "5ms", "4ms"),
    "ML training": ("MlTraining16th", "6ms", "6ms"),
}
# Of the source, and of every NIC: uplinks have half of the rate of the NICs below them.
LOADS = {50: "25%", 80: "40%"}
BALANCERS: Mapping[str, Any] = {
    "ECMP": "ecmp",
    "FlowBender": "flowbender",
    "Hopper": "hopper",
    "CONGA": {"name": "conga", "parameters": {"acks": 0}},
    "ConWeave": "conweave",
    "random spray": "spray",
}
QUICK_BALANCERS = ("ECMP", "FlowBender", "Hopper", "ConWeave")
# The source draws short flows up to 2 kB and large ones from 49 kB on, and says what is above 266 kB. Messages of ML
# training have one size per bin.
EDGES = (2_000, 4_000, 8_000, 16_000, 49_000, BDP, 266_000, 1_000_000, 2_000_000, 5_000_000)
ML_EDGES = (500_000, 2_000_000, 8_000_000)
IRN = {
    "name": "selective-repeat",
    "window": BDP,
    "timeout": "320us",
    "timeout_few": "100us",
    "few_packets": 3,
    "ends_acknowledged": True,
}
REORDERING = 30
# Around Table 1 of the source: parameter, what the table has, other values.
TABLE_1 = "Table 1"
SWEEP = {
    "alpha": (1, (0.125, 0.25, 0.5)),
    "probe_factor": (1.5, (1.1, 1.25, 2.0)),
    "congested_factor": (2.5, (1.5, 2.0, 3.0, 4.0)),
    "probe_life_factor": (4, (2, 8, 16)),
    "margin": (0.8, (0.2, 0.4, 0.6, 0.9, 1.0)),
    "paths": (2, (1, 4, 8)),
}

# The testbed: links between leaves and spines, the slow ones last; chunks in packets of 4,096 B.
FAST, SLOW = "10g", "1g"
CHUNKS = {1: 244, 10: 2441}
ROUNDS = 26
MESSAGE = "64MB"
TESTBED_SEEDS = 5
LATE = 2.5


def case_name(traffic: str, load: int, balancer: str) -> str:
    """Return the name of a case on 128 servers."""
    return f"{traffic} {load} %, {balancer}"


def sweep_name(parameter: str, value: float) -> str:
    """Return the name of a case with another value of one of Hopper's parameters."""
    return f"Hopper, {parameter} {value:g}"


def platform_name(balancer: str) -> str:
    """Return the name of a case as the source's platform has it without Hopper's change of IRN."""
    return f"plain IRN, AliStorage 50 %, {balancer}"


def _scenario(
    balancer: object, load: str, sizes: str, duration: str, seeds: int, reordering: int = REORDERING
) -> dict[str, Any]:
    return {
        "fabric": {
            "clos": {
                "leaves": 8,
                "spines": 8,
                "hosts_per_leaf": 16,
                "host_rate": "100g",
                "uplink_rate": "100g",
                "delay": "1us",
            }
        },
        "traffic": [{"arrivals": {"load": load, "duration": duration, "file": SIZES_FILE, "sizes": sizes}}],
        "packets": {"payload": 1000, "header": 48, "control": 60},
        "switches": {
            "shared_buffer": "9MiB",
            "egress_alpha": 1,
            "ecn": {"min": "100kB", "max": "400kB", "probability": 0.2},
        },
        "balancer": balancer,
        "transport": {**IRN, "reordering": reordering},
        "congestion": "dcqcn",
        "measure": {"after": "1ms"},
        "seeds": seeds,
    }


def _case(name: str, scenario: Mapping[str, Any], edges: tuple[int, ...] = EDGES) -> Case:
    return Case(name, scenario, {"sizes": SlowdownBySize(edges), "bdp": SlowdownBySize((BDP,))})


def comparison(seeds: int) -> list[Case]:
    """Return the cases of figures 3, 4, 8 and 9 of the source."""
    found = []
    for traffic, (sizes, *durations) in TRAFFIC.items():
        edges = ML_EDGES if traffic == "ML training" else EDGES
        for (load, share), duration in zip(LOADS.items(), durations, strict=True):
            for balancer, part in BALANCERS.items():
                name = case_name(traffic, load, balancer)
                found.append(_case(name, _scenario(part, share, sizes, duration, seeds), edges))
    return found


def quick_comparison(seeds: int) -> list[Case]:
    """Return a small part of the comparison: storage traffic at 50 %, 2 ms of arrivals."""
    return [
        _case(case_name("AliStorage", 50, name), _scenario(BALANCERS[name], LOADS[50], "AliStorage2019", "2ms", seeds))
        for name in QUICK_BALANCERS
    ]


def platform(seeds: int) -> list[Case]:
    """Return what the public simulator conweave-ns3 was measured with: IRN without a reordering window."""
    return [
        _case(
            platform_name(name),
            _scenario(BALANCERS[name], LOADS[50], "AliStorage2019", "5ms", seeds, reordering=0),
        )
        for name in ("ECMP", "CONGA", "ConWeave")
    ]


def sweep(seeds: int) -> list[Case]:
    """Return Hopper with Table 1, and with every parameter changed alone: storage traffic at 50 %, 3 ms of arrivals."""
    parameters: dict[str, dict[str, float]] = {TABLE_1: {}} | {
        sweep_name(name, value): {name: value} for name, (_, values) in SWEEP.items() for value in values
    }
    return [
        _case(
            name if name != TABLE_1 else f"Hopper, {TABLE_1}",
            _scenario({"name": "hopper", "parameters": changed}, LOADS[50], "AliStorage2019", "3ms", seeds),
        )
        for name, changed in parameters.items()
    ]


def testbed_name(balancer: str, chunk: int) -> str:
    """Return the name of a case on the testbed, with the chunk in MB."""
    return f"testbed, chunks of {chunk} MB, {balancer}"


def testbed(seeds: int, rounds: int = ROUNDS, message: str = MESSAGE, chunks: Sequence[int] = (1, 10)) -> list[Case]:
    """Return the cases of figure 6 of the source."""
    balancers: dict[str, object] = {}
    for chunk in chunks:
        software = {"chunk_packets": CHUNKS[chunk]}
        balancers |= {
            # Chunks are nothing to ECMP.
            testbed_name("ECMP", chunk): "ecmp",
            testbed_name("FlowBender", chunk): {"name": "flowbender", "parameters": {**software, "late_factor": LATE}},
            testbed_name("Hopper", chunk): {"name": "hopper", "parameters": {**software, "probe_bytes": 10_000}},
        }
    extras: Mapping[str, ExtraMeasurement] = {
        "cdf": CompletionCdf("permutation"),
        "uplinks": LoadByRate("leaf", "spine"),
    }
    return [
        Case(name, _testbed_scenario(balancer, rounds, message, seeds), extras) for name, balancer in balancers.items()
    ]


def _testbed_scenario(balancer: object, rounds: int, message: str, seeds: int) -> dict[str, Any]:
    return {
        "fabric": {
            "clos": {
                "leaves": 2,
                "spines": 6,
                "hosts_per_leaf": 4,
                "host_rate": "25g",
                "uplink_rate": [FAST] * 4 + [SLOW] * 2,
                "delay": "1us",
            }
        },
        # A queue pair per round, so that every flow gets a new path.
        "traffic": [
            {
                "collective": {
                    "kind": "permutation",
                    "bytes": message,
                    "shift": 4,
                    "steps": rounds,
                    "queue_pairs": rounds,
                    "split": "round-robin",
                }
            }
        ],
        "packets": {"payload": 4096, "header": 48, "control": 60},
        "switches": {
            "shared_buffer": "9MiB",
            "pfc": True,
            "headroom": 27_096,
            "ingress_alpha": 0.0625,
            "ecn": {"min": "100kB", "max": "400kB", "probability": 0.2},
        },
        "balancer": balancer,
        "transport": {"name": "timeout-only", "timeout": "67ms", "ends_acknowledged": True},
        "congestion": "dcqcn",
        "seeds": seeds,
    }
