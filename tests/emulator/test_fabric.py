"""The fabric of emulated devices against what network and routing say of the same configurations."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from ailb_gen.emulator.fabric import EmulatedFabric, mac_address
from ailb_gen.emulator.fabric_state import RouteTotals, link_local
from ailb_gen.emulator.ribs import CountedRouting, never_exported
from ailb_gen.errors import UsageError
from ailb_gen.junos.reader import read
from ailb_gen.network.fabric import Network
from ailb_gen.network.sessions import sessions
from ailb_gen.routing.rib import Routing
from ailb_gen.routing.speaker import lists_of, rules
from tests.emulator.operations.lab import LEAF, NAMES, SPINE, lab, tree_of
from tests.network.lab import LAB
from tests.routing.fabrics import Case, cases, random_fabrics
from tests.routing.text import set_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ailb_gen.addresses import Prefix
    from ailb_gen.emulator.fabric_state import BgpSession
    from ailb_gen.network.model import Switch
    from ailb_gen.routing.route import Route

FIRST = "et-0/0/0.0"


def sent(routing: Routing, switches: Mapping[str, Switch], name: str, session: BgpSession) -> dict[Prefix, Route]:
    """Return what a device sends to a neighbor, from everybody's routes of every prefix."""
    graph = routing.graph
    device = graph.index[name]
    groups = graph.classes[graph.class_of[device]].groups
    found = {}
    for prefix in routing.prefixes:
        row = routing.held(device, prefix).sent
        route = row[groups.index(session.group)] if row else None
        if route is not None and route.as_path[:1] != (session.peer_asn,):
            found[prefix] = route
    return found


def compare(fabric: EmulatedFabric, network: Network) -> Routing:
    """Compare sessions, advertisements and counts of every device with the whole network; return its routes."""
    up = sessions(network).up
    expected = {(side.device, side.interface, side.asn) for session in up for side in (session.a, session.b)}
    found = [(name, session) for name in network.switches for session in fabric.sessions(name)]
    assert {(name, peer.interface, peer.asn) for name, peer in found if peer.established} == expected
    routing = Routing(network)
    for name, session in found:
        if session.established:
            whole = sent(routing, network.switches, name, session)
            assert fabric.advertised(name, session) == whole
            assert fabric.advertised_count(name, session) == len(whole)
        else:
            assert fabric.advertised(name, session) == {}
            assert fabric.advertised_count(name, session) == 0
    for name in network.switches:
        compare_counts(fabric.routing(), routing, name)
    return routing


def compare_counts(lazy: CountedRouting, routing: Routing, name: str) -> None:
    device = routing.graph.index[name]
    paths = [(prefix, path) for prefix in routing.prefixes for path in routing.paths(device, prefix) if path.peer]
    received = Counter(path.interface for _, path in paths)
    accepted = Counter(path.interface for _, path in paths if path.status != "hidden")
    active = Counter(path.interface for _, path in paths if path.status in ("active", "multipath"))
    counts = lazy.counts(name)
    assert {interface: row.received for interface, row in counts.items()} == received
    assert {interface: row.accepted for interface, row in counts.items() if row.accepted} == accepted
    assert {interface: row.active for interface, row in counts.items() if row.active} == active
    totals = lazy.totals(name)
    own = routing.graph.direct[device]
    assert totals.paths == len(paths)
    assert totals.hidden == sum(path.status == "hidden" for _, path in paths)
    assert totals.destinations == len({prefix for prefix, _ in paths} - own)
    assert totals.active == len({prefix for prefix, path in paths if path.status == "active"})


def fabric_of(network: Network) -> EmulatedFabric:
    fabric = EmulatedFabric(network.links)
    for name, switch in network.switches.items():
        fabric.commit(name, read(set_text(switch), switch.file))
    return fabric


@pytest.mark.long
@random_fabrics(60)
@given(cases())
def test_random_fabrics(case: Case) -> None:
    routing = compare(fabric_of(case.network), case.network)
    # What is never exported is never sent.
    for device, switch in enumerate(routing.graph.switches):
        groups = routing.graph.classes[routing.graph.class_of[device]].groups
        for prefix in routing.prefixes:
            row = routing.held(device, prefix).sent
            for group, route in zip(groups, row, strict=False):
                rule = rules(switch, switch.groups[group])
                if prefix not in routing.graph.direct[device] and route is not None:
                    assert not never_exported(rule.exports, lists_of(switch), prefix)


@pytest.mark.long
@random_fabrics(30)
@given(cases())
def test_one_device_after_the_other(case: Case) -> None:
    """What is kept from before a change never shows after it: devices come one by one, one goes and comes back."""
    network = case.network
    fabric = EmulatedFabric(network.links)
    there: dict[str, Switch] = {}
    names = list(network.switches)
    for name in [*names, None, names[0]]:
        if name is None:
            fabric.power_off(names[0])
            del there[names[0]]
        else:
            fabric.commit(name, read(set_text(network.switches[name]), name))
            there[name] = network.switches[name]
        compare(fabric, replace(network, switches={key: there[key] for key in sorted(there)}))


def test_the_lab() -> None:
    fabric = lab()
    assert [len(fabric.sessions(name)) for name in NAMES] == [4] * len(NAMES)
    first = fabric.sessions(LEAF)[0]
    assert (first.interface, first.peer, first.peer_interface) == (FIRST, SPINE, FIRST)
    assert (first.asn, first.peer_asn, first.established, first.since) == (65101, 65001, True, None)
    routes = fabric.advertised(LEAF, first)
    # Prefix 1 is green like the session: its own color with AIGP 0; the others are backed up over it, without.
    assert [(str(prefix), sorted(route.communities), route.aigp) for prefix, route in routes.items()] == [
        ("fc00:1:1:1::/64", ["color:0:1"], 0),
        ("fc00:1:1:2::/64", ["color:0:1"], None),
        ("fc00:1:1:3::/64", ["color:0:1"], None),
        ("fc00:1:1:4::/64", ["color:0:1"], None),
    ]


def test_a_device_that_is_away() -> None:
    fabric = lab(clock=lambda: 5000.0)
    fabric.power_off(SPINE)
    assert not fabric.switch(SPINE).ports
    assert fabric.prefixes(SPINE) == ()
    assert fabric.route_totals(SPINE) == RouteTotals()
    assert fabric.sessions(SPINE) == ()
    assert [session.peer for session in fabric.sessions(LEAF)] == ["spine2", "spine3", "spine4"]
    assert not fabric.link_up(LEAF, "et-0/0/0")
    assert fabric.advertiser(LEAF, FIRST) is None
    assert SPINE not in fabric.routing().graph.index
    fabric.commit(SPINE, tree_of(SPINE))
    back = fabric.sessions(LEAF)[0]
    assert (back.peer, back.established, back.since) == (SPINE, True, 5000.0)
    assert fabric.sessions(LEAF)[1].since is None


@pytest.mark.parametrize(("device", "interface"), [(LEAF, FIRST), (SPINE, FIRST), (LEAF, "et-0/0/0")])
def test_a_session_that_is_kept_down(device: str, interface: str) -> None:
    fabric = lab(clock=lambda: 7000.0)
    fabric.keep_down(device, interface)
    for name in (LEAF, SPINE):
        down = fabric.sessions(name)[0]
        assert (down.established, down.peer_asn) == (False, None)
        assert fabric.advertised(name, down) == {}
        assert all(session.established for session in fabric.sessions(name)[1:])
    assert FIRST not in fabric.routing().counts(LEAF)
    # The link itself is up, and router advertisements arrive.
    assert fabric.link_up(LEAF, "et-0/0/0")
    assert fabric.advertiser(LEAF, FIRST) is not None
    # A commit does not help.
    fabric.commit(device, tree_of(device))
    assert not fabric.sessions(LEAF)[0].established
    fabric.restore(device, interface)
    assert [(p.established, p.since) for p in fabric.sessions(LEAF)][:2] == [(True, 7000.0), (True, None)]


def test_no_session_to_keep_down() -> None:
    with pytest.raises(UsageError, match=r"stripe1-leaf1 has no cable to another switch on et-0/0/16\.0"):
        lab().keep_down(LEAF, "et-0/0/16.0")


@pytest.mark.parametrize(
    ("name", "old", "new", "own", "peers"),
    [
        # Not this session's AS: the neighbor is there, and refused.
        (LEAF, "as-list spines-green members 65001", "as-list spines-green members 65009", [False], [False]),
        # No BGP on the interface: the other end has discovered somebody who does not listen.
        (LEAF, "                    interface et-0/0/0.0;", "                    interface et-0/0/9.0;", [], [False]),
        # No router advertisements: Junos neither sends them nor listens to them here.
        (LEAF, "        interface et-0/0/0.0 {\n            max", "        interface et-0/0/9.0 {\n            max",
         [], []),
        (LEAF, "    et-0/0/0 {\n", "    et-0/0/0 {\n        disable;\n", [], []),
    ],
)  # fmt: skip
def test_neighbors_that_are_discovered(name: str, old: str, new: str, own: list[bool], peers: list[bool]) -> None:
    fabric = lab()
    fabric.commit(name, tree_of(name, old, new))
    found = [p.established for p in fabric.sessions(LEAF) if p.interface == FIRST]
    other = [p.established for p in fabric.sessions(SPINE) if p.peer == LEAF]
    assert (found, other) == (own, peers)
    assert all(p.established for p in fabric.sessions(LEAF) if p.interface != FIRST)


def test_routes_may_lag_behind_sessions_never_do() -> None:
    now = [100.0]
    fabric = lab(lag_s=30.0, clock=lambda: now[0])
    before = fabric.routing()
    fabric.power_off(SPINE)
    now[0] += 29
    assert fabric.routing() is before
    assert len(fabric.sessions(LEAF)) == 3
    # Own routes are the newest, too.
    fabric.commit(LEAF, tree_of(LEAF, "color green;", "color blue;"))
    blue = fabric.advertised(LEAF, fabric.sessions(LEAF)[0])
    assert [route.aigp for route in blue.values()] == [0, 0, None, None]
    now[0] += 1
    assert fabric.routing() is not before
    assert fabric.routing() is fabric.routing()


def test_groups_in_a_circle_change_nothing() -> None:
    fabric = lab()
    routing, switch = fabric.routing(), fabric.switch(LEAF)
    circle = "groups { a { system { apply-groups b; } } b { system { apply-groups a; } } } system { apply-groups a; }"
    with pytest.raises(UsageError, match="cycle"):
        fabric.commit(LEAF, read(circle, LEAF))
    assert (fabric.routing(), fabric.switch(LEAF)) == (routing, switch)


def test_groups_are_applied() -> None:
    fabric = lab()
    text = "groups { g { interfaces { et-0/0/0 { disable; } } } } apply-groups g; interfaces { et-0/0/0 { mtu 9216; } }"
    fabric.commit(SPINE, read(text, SPINE))
    assert not fabric.link_up(LEAF, "et-0/0/0")


def test_links() -> None:
    fabric = lab()
    assert str(fabric.neighbor(LEAF, "et-0/0/0")) == "spine1:et-0/0/0"
    assert fabric.neighbor(LEAF, "et-0/0/16") is None
    assert fabric.link_up(LEAF, "et-0/0/16")
    assert not fabric.link_up(LEAF, "et-0/0/63")
    assert not fabric.link_up("nobody", "et-0/0/0")
    assert fabric.neighbor(LEAF, "et-0/0/63") is None


def test_cables_of_descriptions(tmp_path: Path) -> None:
    shutil.copytree(LAB / "switches", tmp_path / "switches")
    fabric = EmulatedFabric.read(tmp_path)
    for name in NAMES:
        fabric.commit(name, tree_of(name))
    assert all(len(fabric.sessions(name)) == 4 for name in NAMES)
    assert fabric.link_up(LEAF, "et-0/0/16")


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("topology.json", "{", "topology.json:1:1: not JSON"),
        ("cabling.csv", "a,b\n", "the first line must name the columns"),
        ("switches/spine1.conf", "system {", "not Junos text"),
    ],
)
def test_unreadable_files(tmp_path: Path, file: str, text: str, message: str) -> None:
    shutil.copytree(LAB / "switches", tmp_path / "switches")
    (tmp_path / file).write_text(text)
    with pytest.raises(UsageError, match=message):
        EmulatedFabric.read(tmp_path)


def test_files_that_contradict_each_other(tmp_path: Path) -> None:
    for name in ("topology.json", "cabling.csv"):
        shutil.copy(LAB / name, tmp_path / name)
    cabling = tmp_path / "cabling.csv"
    cabling.write_text(cabling.read_text().replace("et-0/0/0,spine1,et-0/0/0", "et-0/0/0,spine1,et-0/0/30", 1))
    with pytest.raises(UsageError, match="spine1:et-0/0/30"):
        EmulatedFabric.read(tmp_path)


def test_hardware_addresses() -> None:
    assert mac_address("leaf", "et-0/0/0") == mac_address("leaf", "et-0/0/0")
    names = [(name, f"et-0/0/{port}") for name in NAMES for port in range(64)]
    assert len({mac_address(*pair) for pair in names}) == len(names)
    # Locally administered, for one interface.
    assert all(int(mac_address(*pair)[:2], 16) & 3 == 2 for pair in names)
    fabric = EmulatedFabric([])
    assert len({link_local(fabric, name, f"{port}.0") for name, port in names}) == len(names)
    assert link_local(fabric, "leaf", "et-0/0/0.0") == link_local(fabric, "leaf", "et-0/0/0")
    assert link_local(fabric, "leaf", "et-0/0/0.0").startswith("fe80::")
