"""Fabrics of all kinds in the shadow: nothing of them is lost, and Batfish's checks find what the others find."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from ailb_gen.batfish.shadow import Shadow, shadow
from ailb_gen.checks.model import Finding
from ailb_gen.network.fabric import Network
from ailb_gen.network.model import AsList, Switch, Vlan
from tests.batfish.fake.near import OF_SHADOW, judged
from tests.batfish.test_shadow import hops_of, snapshot_of
from tests.checks.trees import GOLDEN, network_of, rendered
from tests.checks.variants import VARIANTS
from tests.conftest import SMALL

FOUR = SMALL.replace("spines: 2", "spines: 4")
MORE = {
    "no-backup": SMALL + "colors: {backup: none}\n",
    "named-backup": FOUR + "colors: {names: [a, b, c, d], backup: {a: b, b: c, c: d, d: a}}\n",
    "some-with-backup": FOUR + "colors: {names: [a, b, c, d], backup: {a: b}}\n",
    "backup-in-turn": FOUR + "colors: {names: [a, b, c, d], backup: [a, b]}\n",
    "several-links-no-backup": SMALL + "links_per_spine: 2\ncolors: {backup: none}\n",
    "several-links-of-a-color": SMALL + "links_per_spine: 2\ncolors: [left, right]\n",
    "spines-in-one-as": SMALL + "asn: {spines: 65000}\n",
}
# Fabrics whose links are all in service, and what differs in the shadow.
SHAPES = (
    *("small", "one-spine", "many-rails", "servers-0", "several-links", "fewer-colors-than-spines"),
    *("loopbacks", "no-aigp", "everything-off"),
)
CLEAN = {name: VARIANTS[name] for name in SHAPES} | MORE


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_fabric_is_clean_in_the_shadow(name: str, tmp_path: Path) -> None:
    intent, root = rendered(CLEAN[name], tmp_path)
    network = network_of(root)
    one = shadow(network)
    assert [switch.name for switch in one.switches] == list(network.switches)
    assert not [gap for switch in one.switches for gap in switch.gaps]
    snapshot = snapshot_of(one)
    assert {found.status for found in snapshot.sessions} == {"ESTABLISHED"}
    assert len(snapshot.sessions) == 2 * len(network.links)
    results, others = judged(intent, root, OF_SHADOW)
    assert others == []
    assert [finding for result in results for finding in result.findings] == []
    # Everything was asked, and there was something to look at.
    assert {result.check.id for result in results} == OF_SHADOW
    assert not any(result.skipped for result in results)
    # Without its only spine nothing is left for the engines to compare.
    idle = {"AILB822"} if name == "one-spine" else set()
    assert {result.check.id for result in results if not result.examined} == idle


def ids(found: list[Finding]) -> set[str]:
    return {finding.check for finding in found}


OFF = "overrides: {{{}: {{{}: {{ports: {{{}: {{disabled: true}}}}}}}}}}\n"
THREE = SMALL.replace("spines: 2", "spines: 3")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "text",
    [
        THREE + OFF.format("leaves", "stripe1-leaf1", "et-0/0/1"),
        THREE + OFF.format("spines", "spine1", "et-0/0/1"),
        THREE + "drain: spine2\n",
        THREE + "graceful_shutdown: spine2\n",
        THREE + "drain: ['stripe1-leaf1 spine1', 'stripe2-leaf2 spine3']\n",
        THREE + "links_per_spine: 2\ndrain: ['stripe1-leaf1 et-0/0/1']\n",
    ],
)
def test_what_is_out_of_service_is_wrong_to_neither_engine(text: str, tmp_path: Path) -> None:
    intent, root = rendered(text, tmp_path)
    results, found = judged(intent, root, OF_SHADOW)
    assert [finding for result in results for finding in result.findings] == []
    assert found == []


def test_a_port_that_the_intent_disables(tmp_path: Path) -> None:
    intent, root = rendered(THREE + OFF.format("leaves", "stripe1-leaf1", "et-0/0/1"), tmp_path)
    results, _ = judged(intent, root, frozenset({"AILB813", "AILB815", "AILB816"}))
    assert [(one.check.id, one.examined, len(one.findings)) for one in results] == [
        ("AILB813", 2 * 11, 0),
        ("AILB815", 4 * 3 * 3, 0),
        # One spine hears nothing of the three prefixes of that leaf.
        ("AILB816", 3 * 12 - 3, 0),
    ]


# One switch of the lab changed


@cache
def lab() -> Network:
    return network_of(GOLDEN / "lab")


def changed(name: str, **values: object) -> Network:
    """Return the lab with other values of one switch."""
    switch: Switch = replace(lab().switches[name], **values)  # type: ignore[arg-type]
    return replace(lab(), switches={**lab().switches, name: switch})


def lines(network: Network, name: str = "stripe1-leaf1", start: str = "") -> list[str]:
    """Return the commands of a switch of the shadow that start so, without `set`."""
    (found,) = (one for one in shadow(network).switches if one.name == name)
    return [line.removeprefix("set ") for line in found.lines if line.startswith(f"set {start}")]


def difference(network: Network, name: str = "stripe1-leaf1") -> tuple[list[str], list[str]]:
    """Return what a switch of the shadow no longer says, and what it says instead."""
    before, after = lines(lab(), name), lines(network, name)
    return [line for line in before if line not in after], [line for line in after if line not in before]


def up(network: Network) -> int:
    """Return how many ends of sessions are up, of 32."""
    return sum(found.status == "ESTABLISHED" for found in snapshot_of(shadow(network)).sessions)


def irb() -> list[str]:
    start = tuple(f"{what} " for what in ("interfaces irb", "vlans vn2", "interfaces et-9/9/0"))
    return [line for line in lines(lab()) if line.startswith(start)]


def test_an_irb_is_in_the_shadow_with_its_vlan() -> None:
    assert irb() == [
        *(f"interfaces irb unit 2 family inet address 10.0.{number}.1/24" for number in range(4)),
        "vlans vn2 vlan-id 2",
        "vlans vn2 l3-interface irb.2",
        "interfaces et-9/9/0 unit 0 family ethernet-switching interface-mode access",
        "interfaces et-9/9/0 unit 0 family ethernet-switching vlan members vn2",
    ]


@pytest.mark.parametrize(
    "vlans", [(), (Vlan("vn2", None, "irb.2"),), (Vlan("vn2", 2, None),), (Vlan("vn3", 3, "irb.3"),)]
)
def test_an_irb_without_a_vlan_is_left_out(vlans: tuple[Vlan, ...]) -> None:
    network = changed("stripe1-leaf1", vlans=vlans)
    assert difference(network) == (irb(), [])
    # Batfish would tell of it, as if the shadow were wrong.
    assert lines(network, start="interfaces irb") == []


def test_an_irb_that_is_disabled_is_left_out() -> None:
    ports = lab().switches["stripe1-leaf1"].ports
    unit = replace(ports["irb"].units[0], disabled=True)
    for port in (replace(ports["irb"], disabled=True), replace(ports["irb"], units=(unit,))):
        assert difference(changed("stripe1-leaf1", ports={**ports, "irb": port})) == (irb(), [])


def test_a_port_that_is_disabled_has_no_session() -> None:
    ports = lab().switches["stripe1-leaf1"].ports
    network = changed("stripe1-leaf1", ports={**ports, "et-0/0/1": replace(ports["et-0/0/1"], disabled=True)})
    gone, new = difference(network)
    assert new == []
    head = "protocols bgp group fabric-blue "
    assert [line for line in gone if line.startswith(("interfaces", head))] == [
        "interfaces et-0/0/1 mtu 9216",
        "interfaces et-0/0/1 unit 0 family inet address 10.128.0.2/31",
        *(line for line in lines(lab(), start=head)),
    ]
    # The other end tries, in vain.
    assert difference(network, "spine2") == ([], [])
    assert up(network) == 30


@pytest.mark.parametrize(("inet6", "disabled"), [(False, False), (True, True)])
def test_a_unit_that_is_disabled_or_without_inet6_has_no_address(inet6: bool, disabled: bool) -> None:
    ports = lab().switches["stripe1-leaf1"].ports
    unit = replace(ports["et-0/0/1"].units[0], inet6=inet6, disabled=disabled)
    port = replace(ports["et-0/0/1"], units=(unit,), mtu=None)
    gone, new = difference(changed("stripe1-leaf1", ports={**ports, "et-0/0/1": port}))
    assert gone[:2] == [
        "interfaces et-0/0/1 mtu 9216",
        "interfaces et-0/0/1 unit 0 family inet address 10.128.0.2/31",
    ]
    assert new == []


@pytest.mark.parametrize(
    ("group", "gone", "new", "left"),
    [
        # The peer is in AS 65002; what the switch would take instead is configured, and the session fails as there.
        ({"peer_as_list": "other"}, ["65002"], ["64900"], 30),
        ({"peer_as": 65009, "peer_as_list": None}, ["65002"], ["65009"], 30),
        ({"peer_as": 65009, "peer_as_list": "other"}, ["65002"], ["65009"], 30),
        ({"peer_as": 65009}, [], [], 32),
        ({"peer_as": 65002, "peer_as_list": None}, [], [], 32),
        # Nothing would be taken: there is no neighbor.
        ({"peer_as_list": None}, ["65002"], [], 30),
        ({"peer_as_list": "nothing"}, ["65002"], [], 30),
        ({"peer_as_list": "empty"}, ["65002"], [], 30),
        ({"local_as": 65002}, ["65002"], [], 30),
    ],
)
def test_peers_that_a_switch_would_refuse(group: dict[str, object], gone: list[str], new: list[str], left: int) -> None:
    switch = lab().switches["stripe1-leaf1"]
    lists = {**switch.as_lists, "other": AsList("other", ((64900, 64999),)), "empty": AsList("empty", ())}
    groups = tuple(replace(one, **group) if one.name == "fabric-blue" else one for one in switch.groups)  # type: ignore[arg-type]
    network = changed("stripe1-leaf1", groups=groups, as_lists=lists)
    before, after = difference(network)
    head = "protocols bgp group fabric-blue neighbor 10.128.0.3 peer-as "
    assert [line.removeprefix(head) for line in before if line.startswith(head)] == gone
    assert [line.removeprefix(head) for line in after if line.startswith(head)] == new
    assert up(network) == left


def test_an_as_number_of_a_group_of_its_own() -> None:
    switch = lab().switches["stripe1-leaf1"]
    groups = tuple(replace(one, local_as=65105) if one.name == "fabric-blue" else one for one in switch.groups)
    assert difference(changed("stripe1-leaf1", groups=groups)) == (
        [],
        ["protocols bgp group fabric-blue local-as 65105"],
    )
    # That of the switch itself is not repeated.
    groups = tuple(replace(one, local_as=65101) for one in switch.groups)
    assert difference(changed("stripe1-leaf1", groups=groups)) == ([], [])
    groups = tuple(replace(one, local_as=65101) for one in switch.groups)
    assert difference(changed("stripe1-leaf1", asn=None, groups=groups)) == (
        ["routing-options autonomous-system 65101"],
        [f"protocols bgp group {one.name} local-as 65101" for one in groups],
    )


def test_what_identifies_a_switch() -> None:
    assert lines(lab(), start="system") == ["system host-name stripe1-leaf1"]
    # The file's name counts, as everywhere.
    assert difference(changed("stripe1-leaf1", host_name="other")) == ([], [])
    gone = ["routing-options router-id 10.255.16.1"]
    assert difference(changed("stripe1-leaf1", router_id=None)) == (gone, [])
    assert difference(changed("stripe1-leaf1", router_id="me")) == (gone, [])
    balancing = replace(lab().switches["stripe1-leaf1"].balancing, per_packet=False)
    assert difference(changed("stripe1-leaf1", balancing=balancing)) == (
        [
            "policy-options policy-statement SHADOW-LB then load-balance per-packet",
            "routing-options forwarding-table export SHADOW-LB",
        ],
        [],
    )


@pytest.mark.parametrize(
    ("multipath", "multiple_as", "line"),
    [(True, True, ["multipath multiple-as"]), (True, False, ["multipath"]), (False, False, []), (False, True, [])],
)
def test_multipath(multipath: bool, multiple_as: bool, line: list[str]) -> None:
    groups = tuple(
        replace(one, multipath=multipath, multiple_as=multiple_as) for one in lab().switches["stripe1-leaf1"].groups
    )
    network = changed("stripe1-leaf1", groups=groups)
    head = "protocols bgp group fabric-green "
    found = [text.removeprefix(head) for text in lines(network, start=head)]
    assert [text for text in found if text.startswith("multipath")] == line


def test_groups_without_a_neighbor_are_left_out_with_their_policies() -> None:
    switch = lab().switches["stripe1-leaf1"]
    groups = tuple(
        replace(one, discoveries=()) if one.name != "fabric-green" else replace(one, exports=("FABRIC-OUT", "NONE"))
        for one in switch.groups
    )
    found = lines(changed("stripe1-leaf1", groups=groups))
    assert {line.split()[3] for line in found if line.startswith("protocols bgp")} == {"fabric-green"}
    assert {line.split()[2] for line in found if line.startswith("policy-options policy-statement")} == {
        *("SHADOW-LB", "SHADOW-IN-fabric-green", "SHADOW-OUT-fabric-green", "FABRIC-OUT")
    }
    assert lines(changed("stripe1-leaf1", groups=()), start="protocols") == []


def test_a_name_that_needs_quotes() -> None:
    switch = lab().switches["stripe1-leaf1"]
    groups = tuple(replace(one, name=f"to {one.name}", exports=("FABRIC OUT",)) for one in switch.groups)
    policies = {"FABRIC OUT": replace(switch.policies["FABRIC-OUT"], name="FABRIC OUT")}
    network = changed("stripe1-leaf1", groups=groups, policies=policies)
    assert lines(network, start="protocols bgp group SHADOW-1 export") == [
        "protocols bgp group SHADOW-1 export SHADOW-OUT-SHADOW-1",
        "protocols bgp group SHADOW-1 export SHADOW-1",
    ]
    assert lines(network, start="policy-options policy-statement SHADOW-1 ") == [
        "policy-options policy-statement SHADOW-1 term no-valley from route-filter 10.0.0.0/20 orlonger",
        "policy-options policy-statement SHADOW-1 term no-valley then reject",
        "policy-options policy-statement SHADOW-1 term others then reject",
    ]
    assert up(network) == 32
    assert hops(network) == hops(lab())


def hops(network: Network) -> object:
    one: Shadow = shadow(network)
    return hops_of(network, one, snapshot_of(one))


def test_a_cable_to_a_switch_whose_file_is_missing() -> None:
    switches = {name: one for name, one in lab().switches.items() if name != "spine2"}
    network = replace(lab(), switches=switches)
    assert difference(network) == ([], [])
    assert up(network) == 24
