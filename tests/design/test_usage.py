"""Pools, ports and loads: what the design itself refuses, takes and warns of is what they say."""

from collections.abc import Callable

import pytest

from ailb_gen.design.build import DesignBuilder, build
from ailb_gen.design.usage import loads, pools, port_usage
from ailb_gen.errors import IntentError
from ailb_gen.intent.load import load
from ailb_gen.yamlio import dotted
from tests.conftest import EXAMPLES, examples, intent_of
from tests.intents import random_intent, random_mixed

# Number plans that are too small for two stripes of two rails, two spines, two servers: each by two at most.
TIGHT = """\
name: f
platform: generic
stripes: 2
rails: 2
spines: 2
servers: 2
asn: {leaves: 65101-%d, spines: 65001-%d}
router_ids: {leaves: 10.9.1.0/%d, spines: 10.9.0.0/%d}
loopbacks: {leaves: "fd77:1::/%d", spines: "fd77:2::/%d"}
management: {leaves: 192.0.2.%d/24, spines: 198.51.100.%d/24, servers: 203.0.113.%d/24}
vlans: {first: %d, unique: %s}
tables: {first: 4000, priority: %d}
addressing: {pool: "fd12:3456:789a::/48", stripe: "48-%d", leaf: "52-%d", uplink: "56-%d"}
"""
FITS = (65104, 65002, 29, 29, 125, 126, 251, 253, 251, 4091, "fabric", 32762, 49, 53, 57)
SMALLER = (65103, 65001, 30, 31, 126, 127, 252, 254, 252, 4092, "fabric", 32763, 48, 52, 56)
KEYS = (
    *("asn.leaves", "asn.spines", "router_ids.leaves", "router_ids.spines", "loopbacks.leaves", "loopbacks.spines"),
    *("management.leaves", "management.spines", "management.servers", "vlans.first", "", "tables.priority"),
    *("addressing.stripe", "addressing.leaf", "addressing.uplink"),
)


def exhausted(text: str) -> tuple[set[str], set[str]]:
    """Return the pools that are too small by what is left, and by the errors of the design."""
    intent = intent_of(text)
    mine = {dotted(row.path) for row in pools(DesignBuilder(intent)) if row.left < 0}
    try:
        build(intent)
    except IntentError as error:
        return mine, {problem.path for problem in error.problems if problem.code == "pool-exhausted"}
    return mine, set()


def test_pools_that_are_just_large_enough() -> None:
    assert exhausted(TIGHT % FITS) == (set(), set())


@pytest.mark.parametrize("at", [at for at, key in enumerate(KEYS) if key and FITS[at] != SMALLER[at]])
def test_a_pool_that_is_too_small_has_less_than_nothing_left(at: int) -> None:
    text = TIGHT % (*FITS[:at], SMALLER[at], *FITS[at + 1 :])
    if KEYS[at] == "router_ids.spines" or KEYS[at] == "loopbacks.spines":
        # A network of two addresses is all hosts: one spine more is needed.
        text = text.replace("spines: 2\n", "spines: 3\n").replace("/31}", "/31}")
        text = text.replace("65001-65002", "65001-65009").replace("198.51.100.253", "198.51.100.1")
        text = text.replace('uplink: "56-57"', 'uplink: "56-59"').replace("priority: 32762", "priority: 30000")
        text = text.replace('/126"}', '/120"}') if KEYS[at] == "router_ids.spines" else text
    mine, told = exhausted(text)
    assert KEYS[at] in mine
    assert mine == told


@pytest.mark.parametrize("make", [random_intent, random_mixed])
@pytest.mark.parametrize("seed", range(examples(60)))
def test_the_design_refuses_the_pools_that_are_too_small(make: Callable[[int], str], seed: int) -> None:
    try:
        mine, told = exhausted(make(seed))
    except IntentError:
        # Names, platforms and values are checked before.
        return
    assert mine == told or told == set()


@pytest.mark.parametrize("make", [random_intent, random_mixed])
def test_ports_and_loads_of_random_fabrics(make: Callable[[int], str]) -> None:
    taken = 0
    for seed in range(examples(60)):
        try:
            intent = intent_of(make(seed))
            design, warnings = build(intent)
        except IntentError:
            continue
        taken += 1
        rows = port_usage(DesignBuilder(intent), design)
        assert sorted(name for names in rows.values() for name in names) == sorted(s.name for s in design.switches)
        for row in rows:
            assert row.physical == row.fabric + row.servers + row.spare + row.free
            assert min(row.fabric, row.servers, row.spare, row.free, row.sub_ports) >= 0
        over = any(load.ratio > 1 for load in loads(design))
        assert over == any(warning.code == "oversubscribed" for warning in warnings)
    assert taken


def test_ports_of_an_example() -> None:
    intent = load(EXAMPLES / "mixed" / "fabric.yaml")
    rows = {names[0]: row for row, names in port_usage(DesignBuilder(intent), build(intent)[0]).items()}
    leaf = rows["stripe2-leaf1"]
    assert (leaf.physical, leaf.fabric, leaf.servers, leaf.spare, leaf.free, leaf.sub_ports) == (64, 4, 3, 4, 53, 3)
    assert rows["spine1"].free == 56
