"""What a change touches: the sessions, colors and servers that depend on it, and no others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.deploy.impact import SwitchImpact, touched, traffic
from ailb_gen.deploy.planning import Wave
from ailb_gen.deploy.switch_state import FabricModel
from ailb_gen.routing.rib import Routing
from tests.deploy.lab import NAMES, edited, fabric_model, look
from tests.routing.fabrics import Case, cases, random_fabrics

LEAF, SPINE = "stripe1-leaf1", "spine1"
UPLINKS = tuple(f"et-0/0/{port}.0" for port in range(4))
SERVERS = ("gpu-s1-1", "gpu-s1-2")
COLORS = ("blue", "green", "orange", "red")
GREEN, BLUE = "fabric-color green;", "fabric-color blue;"
RA = "\n            max-advertisement-interval 30"
ROUTE, LOCAL = "route fc00:1:1:2::/64 {", "community local members"
NOTHING = SwitchImpact((), (), ())


@pytest.mark.parametrize(
    ("name", "edits", "expected"),
    [
        (LEAF, [("facing_spine1:et-0/0/0", "to the green spine")], NOTHING),
        (LEAF, [("Virtual network for rail", "Rail")], NOTHING),
        (LEAF, [("to.gpu-s1-1:gpu0_eth", "a server")], NOTHING),
        (LEAF, [("host-name stripe1-leaf1", "host-name other")], NOTHING),
        (
            LEAF,
            [("facing_spine1:et-0/0/0;\n        mtu 9216", "facing_spine1:et-0/0/0;\n        mtu 9000")],
            SwitchImpact(("et-0/0/0.0",), ("green",), ()),
        ),
        (
            LEAF,
            [("to.gpu-s1-2:gpu0_eth;\n        native-vlan-id 2;", "to.gpu-s1-2:gpu0_eth;")],
            SwitchImpact((), (), ("gpu-s1-2",)),
        ),
        (LEAF, [(GREEN, BLUE)], SwitchImpact(("et-0/0/0.0",), ("blue", "green"), ())),
        (
            LEAF,
            [("members 65001;", "members 65009;")],
            SwitchImpact(("et-0/0/0.0",), ("green",), ()),
        ),
        (LEAF, [("then reject;", "then accept;")], SwitchImpact(UPLINKS, COLORS, ())),
        (LEAF, [("address fc00:1:1:2::1/64;", "address fc00:1:1:2::2/64;")], SwitchImpact((), (), SERVERS)),
        (LEAF, [(f"irb.2 {{{RA}", f"irb.2 {{{RA}0")], SwitchImpact((), (), SERVERS)),
        (LEAF, [(f"0/2.0 {{{RA}", f"0/2.0 {{{RA}0")], SwitchImpact(("et-0/0/2.0",), ("red",), ())),
        (
            LEAF,
            [("route fc00:1:1:2::/64 {\n                color blue;", "route fc00:1:1:2::/64 {")],
            SwitchImpact((), ("blue",), ()),
        ),
        (SPINE, [(GREEN, "fabric-color blue;")], SwitchImpact(UPLINKS, ("blue", "green"), ())),
        (SPINE, [(f"0/3.0 {{{RA}", f"0/3.0 {{{RA}0")], SwitchImpact(("et-0/0/3.0",), ("green",), ())),
        # What the policies of a group refer to, though nothing is changed in them.
        (SPINE, [("        fc00::/16;", "        fc00::/15;")], SwitchImpact(UPLINKS, ("green",), ())),
        (
            SPINE,
            [("community local members", "community local members 1:1;\n    community other members")],
            SwitchImpact(UPLINKS, ("green",), ()),
        ),
        # An interface more for the group leaves the others alone.
        (SPINE, [("interface et-0/0/3.0;\n                }", "}")], SwitchImpact(("et-0/0/3.0",), ("green",), ())),
        (SPINE, [("router-id 10.255.0.1", "router-id 10.255.0.99")], SwitchImpact(UPLINKS, ("green",), ())),
    ],
)
def test_one_change(name: str, edits: list[tuple[str, str]], expected: SwitchImpact) -> None:
    changed = edited(name, *edits)
    found = touched(fabric_model(), look(name, after=changed))
    assert found == expected
    # Undoing it touches the same.
    assert touched(fabric_model(), look(name, before=changed)) == found


def test_traffic_of_the_lab() -> None:
    waves = [Wave("canary leaf", (LEAF,)), Wave("spines of green", (SPINE,)), Wave("the rest", ("spine2", "spine3"))]
    found = traffic(fabric_model(), fabric_model(), waves)
    # Four leaves, four prefixes each; links carry 1/4 of the traffic, then 1/3, then 1/2.
    assert (found.arriving, found.pairs, found.up) == ((48, 48), (48, 48), (16, 16))
    assert found.waves.keys() == {"spines of green", "the rest"}
    assert [lost for lost, _ in found.waves.values()] == [0, 0]
    assert [load for _, load in found.waves.values()] == pytest.approx([4 / 3, 2])


def test_traffic_that_is_lost() -> None:
    found = traffic(fabric_model(), fabric_model(), [Wave("all", ("spine1", "spine2", "spine3", "spine4"))])
    assert found.waves == {"all": (48, 0)}


def test_traffic_of_switches_that_come_from_the_factory() -> None:
    bare = fabric_model(**{name.replace("-", "_"): "system { host-name x; }" for name in NAMES})
    found = traffic(bare, fabric_model(), [Wave("spines of green", (SPINE,))])
    assert (found.arriving, found.pairs, found.up, found.waves) == ((0, 48), (0, 48), (0, 16), {})


def test_traffic_of_a_fabric_that_loses_a_color() -> None:
    changed = edited(SPINE, (GREEN, BLUE), ("autonomous-system 65001", "autonomous-system 65009"))
    broken = edited("spine2", ("ipv6-nd;", ""))
    found = traffic(fabric_model(), fabric_model(spine1=changed, spine2=broken), [])
    assert found.up == (16, 12)
    assert found.arriving == (48, 48)


def counted(found: FabricModel) -> tuple[int, int]:
    """Count pair by pair what arrives, and all pairs."""
    routing = Routing(found.network)
    graph = routing.graph
    pairs = [
        (leaf, prefix)
        for owner, name in enumerate(graph.names)
        if found.roles[name] == "leaf"
        for prefix in graph.advertised[owner]
        for leaf, other in enumerate(graph.names)
        if leaf != owner and found.roles[other] == "leaf" and graph.advertised[leaf]
    ]
    return sum(1 for leaf, prefix in pairs if routing.held(leaf, prefix).selection.best), len(pairs)


@pytest.mark.long
@random_fabrics(60)
@given(cases(), st.data())
def test_what_arrives_is_counted_pair_by_pair(case: Case, data: st.DataObject) -> None:
    network = case.network
    before = FabricModel(network.switches, network.roles, network.links, {})
    gone = data.draw(st.sets(st.sampled_from(network.links)) if network.links else st.just(set()))
    after = FabricModel(network.switches, network.roles, tuple(link for link in network.links if link not in gone), {})
    found = traffic(before, after, [])
    assert list(zip(found.arriving, found.pairs, strict=True)) == [counted(before), counted(after)]
    assert found.up[1] <= found.up[0]
