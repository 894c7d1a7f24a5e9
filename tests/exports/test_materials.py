"""The bill of materials: counts that prove each other, over random fabrics, lengths and media."""

import random
from collections import Counter
from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.design.build import build
from ailb_gen.design.model import Design, HostPort
from ailb_gen.errors import IntentError, UsageError
from ailb_gen.exports.materials import bill_of_materials
from ailb_gen.exports.places import Places, RackPosition
from ailb_gen.exports.print_request import MEDIA
from tests.conftest import example, examples, intent_of
from tests.intents import random_intent, random_mixed


def placed(design: Design, seed: int) -> Places:
    """Put devices into a few racks, some of which have lengths."""
    source = random.Random(seed)
    positions = {name: RackPosition(source.choice("ABC"), None) for name in design.roles if source.random() < 0.8}
    lengths: dict[tuple[str, str], Decimal] = {}
    for a in "ABC":
        for b in "ABC":
            if a <= b and source.random() < 0.7:
                lengths[a, b] = lengths[b, a] = Decimal(source.choice(("1", "2.5", "30", "100")))
    return Places(positions, lengths)


def used_ports(design: Design) -> int:
    """Count the physical ports with a link, from the configuration of the switches, and the NICs."""
    ports = {
        (switch.name, port.interface.split(":")[0])
        for switch in design.switches
        for port in (*switch.fabric_ports, *switch.interfaces)
        if getattr(port, "kind", "") in ("fabric", "host")
    }
    nics = sum(isinstance(port, HostPort) for switch in design.leaves for port in switch.interfaces)
    return len(ports) + nics


@settings(max_examples=examples(60), deadline=None)
@given(st.sampled_from([random_intent, random_mixed]), st.integers(0, 10**6), st.sampled_from(sorted(MEDIA)))
def test_what_is_plugged_in_equals_the_ports_in_use(make: Callable[[int], str], seed: int, media: str) -> None:
    try:
        design, _ = build(intent_of(make(seed)))
        bill = bill_of_materials(design, placed(design, seed), media)
    except (IntentError, UsageError):
        return
    proof = bill.proof
    assert proof.ports == used_ports(design) == proof.optics + proof.direct_ends
    assert proof.connectors == proof.fiber_ends
    counts = Counter({row.item.category: 0 for row in bill.rows})
    for row in bill.rows:
        counts[row.item.category] += row.used
    assert counts["switch"] == len(design.switches)
    assert all(row.used > 0 and row.spares == 0 for row in bill.rows)


def test_the_reference_fabric() -> None:
    bill = bill_of_materials(example("jvd"), Places(), spares_percent=5)
    assert [(row.item.description, row.used, row.spares, row.total) for row in bill.rows] == [
        ("switch, QFX5240-64OD, 64 x 800G OSFP", 20, 1, 21),
        # 4 uplinks and 1 port with 2 servers on each of 16 leaves, 16 leaves on each of 4 spines.
        ("OSFP optic, 2 x 400G, single-mode", 16 * 5 + 4 * 16, 8, 152),
        ("NIC optic, 400G, single-mode", 32, 2, 34),
        ("single-mode fiber cable, 400G", 96, 5, 101),
    ]
    assert tuple(bill.proof) == (176, 176, 0, 192, 192)


FOUR = """
name: f
platform: {leaf: qfx5240-64od, spine: %s}
stripes: 1
rails: 1
spines: 2
servers: 2
uplinks: {speed: 100g, sub_ports: 4, packing: packed}
host_ports: {speed: 100g, sub_ports: 4, first_port: 10}
downlinks: {sub_ports: %d}
"""


@pytest.mark.parametrize(
    ("spine", "sub_ports", "cables"),
    [
        # A leaf has two uplinks in one port of four, and two servers in another.
        ("qfx5240-64od", 1, {"single-mode fiber breakout cable, 4 x 100G": 2}),
        (
            "qfx5240-64od",
            4,
            {
                "single-mode fiber breakout cable, 4 x 100G": 4,
                "single-mode fiber coupler, 100G": 2,
            },
        ),
    ],
)
def test_ports_in_four_have_breakout_cables(spine: str, sub_ports: int, cables: dict[str, int]) -> None:
    bill = bill_of_materials(build(intent_of(FOUR % (spine, sub_ports)))[0], Places())
    found = {row.item.description: row.used for row in bill.rows if row.item.category in ("cable", "coupler")}
    assert found == cables
    assert bill.proof.connectors == bill.proof.fiber_ends


def test_direct_cables_have_a_trunk_and_legs() -> None:
    design = build(intent_of(FOUR % ("qfx5240-64od", 1)))[0]
    bill = bill_of_materials(design, Places(), "dac")
    assert {row.item.description: row.used for row in bill.rows if row.item.category == "cable"} == {
        "DAC cable, 400G OSFP to 4 x 100G OSFP": 1,
        "DAC cable, 400G OSFP to 4 x 100G NIC": 1,
    }
    assert bill.proof.ports == bill.proof.direct_ends == 6


def test_lengths_are_items_of_their_own() -> None:
    positions = {name: RackPosition("A" if "1" in name else "B", None) for name in example("lab").roles}
    places = Places(positions, {("A", "A"): Decimal("7.50"), ("A", "B"): Decimal(70), ("B", "A"): Decimal(70)})
    rows = bill_of_materials(example("lab"), places).rows
    found = {(row.item.description, row.item.length_m): row.used for row in rows if row.item.category == "cable"}
    assert sum(found.values()) == 24
    assert {length for _, length in found} == {"7.5", "70", ""}
