"""Ports that the intent leaves free."""

import pytest

from ailb_gen.design.model import Design, SparePort
from ailb_gen.errors import IntentError
from tests.conftest import design_of

TEXT = """
name: f
platform: qfx5240-64od
stripes: 1
rails: 1
spines: 2
servers: 1
spare_ports: {leaf: ["et-0/0/1[67]*", et-0/0/63], spine: ["et-0/0/[0-2]"]}
overrides: {leaves: {stripe1-leaf1: {ports: {et-0/0/63: {description: telemetry}}}}}
"""


def spare(design: Design, name: str) -> list[tuple[str, str]]:
    switch = next(one for one in design.switches if one.name == name)
    return [(port.interface, port.description) for port in switch.interfaces if isinstance(port, SparePort)]


def test_free_ports_and_free_sub_ports_that_an_entry_names() -> None:
    """Port 16 is split in two for one server: its other half is free; port 0 of the spine is in use."""
    design = design_of(TEXT)
    expected = [("et-0/0/16:1", "spare"), ("et-0/0/17", "spare"), ("et-0/0/63", "telemetry")]
    assert spare(design, "stripe1-leaf1") == expected
    assert spare(design, "spine1") == [("et-0/0/1", "spare"), ("et-0/0/2", "spare")]


def test_a_port_that_a_server_takes_is_no_longer_spare() -> None:
    assert ("et-0/0/16:1", "spare") not in spare(design_of(TEXT.replace("servers: 1", "servers: 2")), "stripe1-leaf1")


MIXED = """
name: f
platform: qfx5240-64od
stripes: [{}, {platform: qfx5130-32cd}]
rails: 1
spines: 2
servers: [{count: 1, kind: store, stripe: 1}]
server_kinds: {store: {host_ports: {speed: 200g, first_port: 20}}}
spare_ports: {leaf: ["et-0/0/20:3", et-0/0/20, et-0/0/63]}
"""


def test_leaves_may_differ_in_what_is_free() -> None:
    """One leaf has the server, the other one neither its split port nor a port 63."""
    design = design_of(MIXED)
    assert [port for port, _ in spare(design, "stripe1-leaf1")] == ["et-0/0/20:3", "et-0/0/63"]
    assert [port for port, _ in spare(design, "stripe2-leaf1")] == ["et-0/0/20"]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            "et-0/0/20:5",
            r"fabric.yaml:9:22: error\[no-such-port\]: spare_ports.leaf\[0\]: no leaf has a port et-0/0/20:5;",
        ),
        ("et-0/0/[01]", "et-0/0/\\[01\\] is in use on every leaf: no port there is spare"),
    ],
)
def test_an_entry_that_no_leaf_has_free_is_refused_once(entry: str, message: str) -> None:
    with pytest.raises(IntentError, match=message) as error:
        design_of(MIXED.replace("et-0/0/20:3", entry))
    assert len(error.value.problems) == 1
