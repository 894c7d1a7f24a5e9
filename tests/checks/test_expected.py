"""What the intent specifies, worked out a second time, is what the design makes of it."""

from dataclasses import replace
from functools import cache

import pytest

from ailb_gen.addresses import address_text
from ailb_gen.checks.expected import ExpectedFabric, expected_fabric, port_override
from ailb_gen.checks.expected_switches import (
    ExpectedSwitch,
    management_address,
    management_interface,
    native_speeds,
    profile_of,
)
from ailb_gen.design.build import build
from ailb_gen.design.model import Design, DesignSwitch
from ailb_gen.errors import UsageError
from ailb_gen.intent.load import Intent, load
from ailb_gen.network.fabric import End
from tests.checks.variants import VARIANTS
from tests.conftest import EXAMPLES, SMALL, intent_of


@cache
def case(name: str) -> tuple[Intent, Design, ExpectedFabric]:
    intent = intent_of(VARIANTS[name]) if name in VARIANTS else load(EXAMPLES / name / "fabric.yaml")
    return intent, build(intent)[0], expected_fabric(intent.fabric)


every_fabric = pytest.mark.parametrize(
    "name", ["lab", "jvd", "jvd-8-uplinks", "mixed", "brownfield", "static", *VARIANTS]
)


def numbers(switch: DesignSwitch) -> tuple[object, ...]:
    management = switch.management.address if switch.management else ""
    prefixes = tuple((prefix.text, prefix.gateway) for prefix in switch.prefixes)
    vlan = switch.vlan.id if switch.vlan else None
    own = (switch.name, switch.role, switch.platform, switch.stripe, switch.asn, switch.router_id, switch.loopback)
    return (*own, management, vlan, prefixes)


def expected_numbers(switch: ExpectedSwitch) -> tuple[object, ...]:
    prefixes = tuple(
        (str(prefix), address_text(gateway)) for prefix, gateway in zip(switch.prefixes, switch.gateways, strict=True)
    )
    own = (switch.name, switch.role, switch.platform, switch.stripe)
    ids = (switch.asn, switch.router_id, switch.loopback, switch.management, switch.vlan)
    return (*own, *ids, prefixes)


@every_fabric
def test_switches_have_the_numbers_of_the_design(name: str) -> None:
    _, design, intended = case(name)
    assert [expected_numbers(switch) for switch in intended.switches.values()] == [
        numbers(switch) for switch in design.switches
    ]
    assert [leaf.rail for leaf in intended.leaves] == [leaf.number - 1 for leaf in design.leaves]
    assert [spine.name for spine in intended.spines] == [spine.name for spine in design.spines]


@every_fabric
def test_colors_are_those_of_the_design(name: str) -> None:
    _, design, intended = case(name)
    assert [(color.name, color.value, color.backup) for color in intended.colors] == [
        (color.name, color.community, color.backup) for color in design.colors
    ]
    assert str(intended.pool) == design.pool
    spines = [spine.name for spine in design.spines]
    for number, spine in enumerate(spines):
        links = [link for link in design.links if link.spine == spine and link.leaf == design.leaves[0].name]
        assert intended.link_colors(number) == tuple(link.color.name for link in links)


@every_fabric
def test_settings_are_those_of_the_levels(name: str) -> None:
    _, design, intended = case(name)
    for switch in design.switches:
        settings = intended.switches[switch.name].settings
        assert settings.ra.max_interval_s == switch.device_settings.ra.max_interval_s
        assert settings.ra.min_interval_s == switch.device_settings.ra.min_interval_s
        bfd = switch.device_settings.bfd
        assert settings.bfd.enabled == (bfd is not None)
        if bfd is not None:
            assert (settings.bfd.interval_ms, settings.bfd.multiplier) == (bfd.interval_ms, bfd.multiplier)


def test_the_intent_names_links_and_ports() -> None:
    _, _, intended = case("brownfield")
    assert intended.switches["r1l1"].links == {"core-a": ("et-0/0/62:0",)}
    assert intended.switches["core-b"].links == {"r1l2": ("et-0/0/40",)}
    assert port_override(intended, End("r1l1", "et-0/0/1:0")).mtu == 9200
    assert port_override(intended, End("r1l1", "et-0/0/1:1")).description is None
    assert port_override(intended, End("nobody", "et-0/0/1:0")).description is None


def test_platforms() -> None:
    _, _, intended = case("own-platform")
    speeds = native_speeds(intended)
    assert len(speeds["stripe1-leaf1"]) == 32
    assert speeds["stripe1-leaf1"]["et-0/0/31"] == 400_000_000_000
    assert len(speeds["stripe1-leaf2"]) > 64
    assert management_interface(intended, intended.switches["stripe1-leaf1"]) == "em0"
    assert management_interface(intended, intended.switches["spine1"]) == "fxp0"


def test_a_platform_that_nobody_knows() -> None:
    fabric = intent_of(SMALL.replace("platform: generic", "platform: generik")).fabric
    with pytest.raises(UsageError, match=r"an unknown platform 'generik'; did you mean 'generic'\?"):
        profile_of(fabric, "generik")
    intended = expected_fabric(fabric)
    with pytest.raises(UsageError, match="known: generic"):
        native_speeds(replace(intended, switches={"a": replace(intended.spines[0], platform="zzz")}))


def test_management_addresses() -> None:
    first = intent_of(SMALL + "management: {leaves: 192.0.2.11/24}\n").fabric.management.leaves
    assert management_address(None, first, 4) == "192.0.2.15/24"
    assert management_address(first, None, 4) == "192.0.2.11/24"
    assert management_address(None, None, 4) == ""
