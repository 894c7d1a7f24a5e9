"""The shadow does in IPv4 what the files do in IPv6: compared with recorded shadows and with our own engine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given

from ailb_gen.addresses import Prefix
from ailb_gen.batfish.hops import batfish_hops, own_hops
from ailb_gen.batfish.shadow import Shadow, shadow
from ailb_gen.network.fabric import Network
from ailb_gen.routing.rib import Routing
from tests.batfish.fake import answers
from tests.batfish.fake.snapshot import Snapshot, from_texts, read
from tests.checks.trees import GOLDEN, network_of, rendered
from tests.conftest import ROOT, need_shared
from tests.routing.fabrics import Case, cases, random_fabrics

LAB_SHADOW = ROOT / "tests" / "golden" / "shadow-lab"
TWO_BY = """\
name: two
platform: generic
stripes: 1
rails: 2
spines: {spines}
servers: 1
colors: [{colors}]
"""
COLORS = ("green", "blue", "red", "orange")


def snapshot_of(one: Shadow) -> Snapshot:
    """Read a shadow's commands with the plain interpreter."""
    return from_texts({f"configs/{each.name}.cfg": "\n".join(each.lines) + "\n" for each in one.switches})


def hops_of(network: Network, one: Shadow, snapshot: Snapshot) -> Mapping[tuple[str, Prefix], frozenset[str]]:
    return batfish_hops(network, one.numbering, answers.answer(snapshot, "routes", protocols="bgp"))


def own_hops_of(routing: Routing) -> Mapping[tuple[str, Prefix], frozenset[str]]:
    return own_hops(routing.graph, routing.states)


def test_the_commands_of_the_lab() -> None:
    """The whole shadow of a fabric, to be read; `AILB_UPDATE_GOLDEN=1` writes it."""
    found = {one.name: "\n".join(one.lines) + "\n" for one in shadow(network_of(GOLDEN / "lab")).switches}
    if os.environ.get("AILB_UPDATE_GOLDEN"):
        LAB_SHADOW.mkdir(exist_ok=True)
        for name, text in found.items():
            (LAB_SHADOW / f"{name}.cfg").write_text(text, encoding="utf-8")
    assert found == {path.stem: path.read_text("utf-8") for path in LAB_SHADOW.iterdir()}


@pytest.mark.long
@pytest.mark.parametrize("name", ["lab", "jvd", "jvd-8-uplinks", "brownfield", "static"])
def test_the_shadow_forwards_as_the_files_do(name: str) -> None:
    network = network_of(GOLDEN / name)
    one = shadow(network)
    assert not [gap for each in one.switches for gap in each.gaps]
    assert hops_of(network, one, snapshot_of(one)) == own_hops_of(Routing(network))


def described(snapshot: Snapshot) -> tuple[object, ...]:
    """Return what a shadow does, free of its numbers: sessions, what every leaf holds and uses, what spines hear.

    Prefixes are named by their leaf and their place among its own.
    """
    names = {
        network: (node.removeprefix("stripe1-"), place)
        for node, device in snapshot.devices.items()
        for place, network in enumerate(
            sorted(address.network for port in device.ports for address in port.addresses if port.is_irb)
        )
    }
    held, used = set(), set()
    for node in snapshot.devices:
        name = node.removeprefix("stripe1-")
        for route, status in snapshot.bgp_rib(node):
            (peer,) = snapshot.links.owners[route.peer]
            held.add((name, names[route.network], peer.removeprefix("stripe1-"), status))
        for network, routes in snapshot.routes(node).items():
            peers = [peer for route in routes for peer in snapshot.links.owners[route.peer]]
            used.add((name, names[network], frozenset(peer.removeprefix("stripe1-") for peer in peers)))
    rows = answers.answer(snapshot, "bgpSessionStatus")
    sessions = {
        tuple(str(row[end]).removeprefix("stripe1-") for end in ("Node", "Remote_Node"))
        for row in rows
        if row["Established_Status"] == "ESTABLISHED"
    }
    return frozenset(sessions), frozenset(held), frozenset(used)


@pytest.mark.parametrize(("recorded", "spines"), [("c_2x4_lp", 4), ("d_v4_clean", 2)])
def test_recorded_shadows_do_the_same(recorded: str, spines: int, tmp_path: Path) -> None:
    """Sessions, policies and reachability: with everything up, with every spine down, with every link down."""
    theirs = read(need_shared("batfish-rows") / "snapshots" / recorded)
    _, root = rendered(TWO_BY.format(spines=spines, colors=", ".join(COLORS[:spines])), tmp_path)
    ours = snapshot_of(shadow(network_of(root)))
    assert described(ours) == described(theirs)
    for number in range(1, spines + 1):
        down = [f"spine{number}"]
        assert described(ours.without(nodes=down)) == described(theirs.without(nodes=down))
        for leaf in ("leaf1", "leaf2"):
            port = f"et-0/0/{number - 1}"
            left, right = (
                ours.without(interfaces=[(f"stripe1-{leaf}", port)]),
                theirs.without(interfaces=[(leaf, port)]),
            )
            assert described(left) == described(right)


def tamed(network: Network) -> Network:
    """Return a fabric without what the two engines settle differently.

    Those are ties that a router's own addresses break (groups without multipath, several links between two switches),
    and a second AS number of a switch, which Junos, unlike Batfish, never accepts in a path.
    """
    switches = {
        name: replace(
            switch,
            groups=tuple(replace(one, multipath=True, multiple_as=True, local_as=None) for one in switch.groups),
        )
        for name, switch in network.switches.items()
    }
    first = {(cable.a.device, cable.b.device): cable for cable in reversed(network.links)}
    return replace(network, switches=switches, links=tuple(first.values()))


@pytest.mark.long
@random_fabrics(60)
@given(cases())
def test_random_fabrics_forward_as_their_files_do(case: Case) -> None:
    """Wrong colors, policies, AS numbers and addresses: what the shadow shows is what our own engine computes."""
    network = tamed(case.network)
    one = shadow(network)
    assume(not any(each.gaps for each in one.switches))
    routing = Routing(network)
    assume(all(state.stable for state in routing.states.values()))
    assert hops_of(network, one, snapshot_of(one)) == own_hops_of(routing)
