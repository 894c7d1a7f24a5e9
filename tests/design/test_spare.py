"""Ports that the intent leaves free."""

from ailb_gen.design.model import Design, SparePort
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
