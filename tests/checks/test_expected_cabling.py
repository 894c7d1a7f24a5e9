"""Cables worked out from the intent are those of the design, however ports are laid out."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.checks.expected import expected_fabric
from ailb_gen.checks.expected_cabling import ExpectedCabling, expected_cabling
from ailb_gen.design.build import build
from ailb_gen.design.model import Breakout, Design, HostPort
from ailb_gen.errors import IntentError
from ailb_gen.intent.load import Intent, load
from tests.conftest import EXAMPLES, SMALL, examples, intent_of

PLATFORMS = """
platforms:
  mixed:
    port_groups:
      - {ports: 0-15, speeds: {100g: [1, 2, 4], 400g: [1, 2], 800g: [1]}, native: 800g}
      - {ports: 16-23, speeds: {100g: [1], 400g: [1]}, native: 400g}
      - {fpcs: 1-2, ports: 0-7, speeds: {100g: [1, 8], 400g: [1, 2]}, native: 400g}
"""


def cables_of(design: Design) -> set[tuple[str, ...]]:
    found: set[tuple[str, ...]] = {
        (
            *(link.leaf, link.leaf_interface, link.spine, link.spine_interface),
            *(f"{link.speed_gbps}g", "fabric", link.color.name, ""),
        )
        for link in design.links
    }
    for leaf in design.leaves:
        for port in leaf.interfaces:
            if isinstance(port, HostPort):
                ends = (leaf.name, port.interface, port.server, port.nic)
                found.add((*ends, f"{port.speed_gbps}g", "host", "", str(leaf.number - 1)))
    return found


def assert_as_designed(intent: Intent) -> ExpectedCabling:
    design, found = build(intent)[0], expected_cabling(expected_fabric(intent.fabric))
    assert set(found.links + found.hosts) == cables_of(design)
    assert len(found.links + found.hosts) == len(set(found.links + found.hosts))
    splits = {
        (switch.name, port.interface): port.sub_ports
        for switch in design.switches
        for port in switch.interfaces
        if isinstance(port, Breakout)
    }
    assert {(device, port): count for device, ports in found.splits.items() for port, count in ports.items()} == splits
    return found


@pytest.mark.parametrize("name", ["lab", "jvd", "jvd-8-uplinks", "mixed", "brownfield", "static"])
def test_shipped_fabrics(name: str) -> None:
    assert_as_designed(load(EXAMPLES / name / "fabric.yaml"))


def test_ports_that_the_intent_names_go_first() -> None:
    text = SMALL + (
        "links_per_spine: 2\n"
        "overrides:\n"
        "  leaves: {stripe1-leaf2: {uplinks: {spine2: [et-0/0/40, et-0/0/41]}}}\n"
        "  spines: {spine1: {downlinks: {stripe2-leaf1: [et-0/0/50, et-0/0/51]}}}\n"
        "  servers: {server-001: {nics: [{port: et-0/0/60}, {name: b0}]}}\n"
    )
    found = assert_as_designed(intent_of(text))
    rows = {(cable.a_device, cable.b_device, cable.a_port): cable for cable in found.links + found.hosts}
    assert rows["stripe1-leaf2", "spine2", "et-0/0/41"].color == "orange"
    assert {
        cable.b_port for cable in rows.values() if cable.a_device == "stripe2-leaf1" and cable.b_device == "spine1"
    } == {
        "et-0/0/50",
        "et-0/0/51",
    }
    assert rows["stripe1-leaf1", "server-001", "et-0/0/60"].rail == "0"
    assert any(cable.b_port == "b0" for cable in rows.values())


def test_behind_the_last_port_the_name_says_so() -> None:
    """An intent that asks for too much is refused by `generate`; here its cables are merely not there."""
    intent = intent_of(SMALL.replace("generic", "qfx5240-64od") + "uplinks: {first_port: 63, sub_ports: 2}\n")
    found = expected_cabling(expected_fabric(intent.fabric)).links
    assert {cable.a_port for cable in found} == {"et-0/0/63:0", "port number 64:0"}


layouts = st.fixed_dictionaries(
    {},
    optional={
        "first_port": st.integers(0, 40),
        "packing": st.sampled_from(["spread", "packed"]),
        "sub_ports": st.sampled_from([1, 2, 4, 8]),
    },
)
speeds = st.sampled_from(["100g", "400g", "800g"])


def flow(values: dict[str, object]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in values.items()) + "}"


@settings(max_examples=examples(150))
@given(
    counts=st.fixed_dictionaries(
        {
            "stripes": st.integers(1, 3),
            "rails": st.integers(1, 3),
            "spines": st.integers(1, 4),
            "servers": st.integers(0, 5),
            "links_per_spine": st.integers(1, 4),
        }
    ),
    platform=st.sampled_from(["generic", "qfx5240-64od", "mixed"]),
    uplinks=layouts,
    downlinks=layouts,
    hosts=layouts,
    speed=speeds,
    host_speed=speeds,
)
def test_any_layout_that_fits(
    counts: dict[str, int],
    platform: str,
    uplinks: dict[str, object],
    downlinks: dict[str, object],
    hosts: dict[str, object],
    speed: str,
    host_speed: str,
) -> None:
    lines = [f"{key}: {value}" for key, value in counts.items()]
    lines += [f"uplinks: {flow({**uplinks, 'speed': speed})}", f"downlinks: {flow(downlinks)}"]
    lines += [f"host_ports: {flow({**hosts, 'speed': host_speed})}"]
    intent = intent_of("\n".join(["name: any", f"platform: {platform}", *lines, PLATFORMS]))
    try:
        build(intent)
    except IntentError:
        # What does not fit is told by `generate`; proving must not fall over it.
        assert expected_cabling(expected_fabric(intent.fabric)).links
        return
    assert_as_designed(intent)
