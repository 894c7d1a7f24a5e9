from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given

from ailb_gen.errors import UsageError
from ailb_gen.forwarding.endpoints import flows
from ailb_gen.forwarding.loads import Links, loads
from ailb_gen.forwarding.trace import View, trace_pair
from ailb_gen.network.fabric import Network
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Routing
from ailb_gen.sim.fabric import LEAF, PS_PER_US, SPINE, UNREACHABLE, FabricArrays
from ailb_gen.sim.failures import Outage
from ailb_gen.sim.from_network import from_network
from ailb_gen.sim.nics import server_nics
from tests.checks.trees import GOLDEN, network_of
from tests.forwarding.examples import advertised, all_pairs, network, routing
from tests.routing.fabrics import Case, cases, random_fabrics
from tests.sim.files import entry, fabric, prefixes_of, with_servers
from tests.sim.walk import check_arrays, next_links, shares

EXAMPLES = ("lab", "jvd", "jvd-8-uplinks", "brownfield")


def host(found: FabricArrays, name: str) -> int:
    return found.names.index(name)


def destination(found: FabricArrays, name: str, pair: int) -> int:
    """The destination of a host's queue pair, counted from 0."""
    return int(found.first_destination[host(found, name)]) + pair


def spines_on_the_way(found: FabricArrays, source: str, target: str, pair: int, state: int = 0) -> set[str]:
    load, arrived = shares(found, host(found, source), destination(found, target, pair), state)
    assert arrived == 1
    return {found.names[found.link_target[link]] for link in load if found.tier[found.link_target[link]] == SPINE}


@pytest.mark.parametrize("name", EXAMPLES)
def test_arrays(name: str) -> None:
    found = fabric(name)
    check_arrays(found)
    assert found.host_count == len(network(name).attachments)
    counts = np.diff(found.first_destination)
    assert set(counts) == {len(row) for row in advertised(routing(name)).values()}
    assert set(found.delay_ps) == {PS_PER_US}
    assert (found.forwarding[0].next_hops != UNREACHABLE).all()


def test_hosts_are_in_natural_order_and_switches_have_their_tier() -> None:
    found = fabric("jvd")
    assert found.names[:9] == (*(f"h100-01:gpu{n}_eth" for n in range(8)), "h100-02:gpu0_eth")
    tiers = dict(zip(found.names, found.tier, strict=True))
    assert tiers["stripe1-leaf1"] == LEAF
    assert tiers["spine4"] == SPINE
    assert found.link_names[0] == "h100-01:gpu0_eth"
    assert found.link_names[1] == "stripe1-leaf1:et-0/0/16:0"
    assert set(found.rate_bps) == {400 * 10**9}


@pytest.mark.parametrize("name", ["lab", "brownfield"])
def test_every_packet_arrives(name: str) -> None:
    found = fabric(name)
    ends = found.destination_hosts()
    for source in range(found.host_count):
        for number in np.flatnonzero(ends != source).tolist():
            assert shares(found, source, number)[1] == 1


def test_queue_pair_k_goes_over_the_spine_of_color_k() -> None:
    """The intent of the reference fabric: as many colors as spines, color k on spine k."""
    found = fabric("jvd")
    for source, target in (("h100-01:gpu0_eth", "h100-03:gpu7_eth"), ("h100-04:gpu5_eth", "h100-02:gpu5_eth")):
        for pair in range(4):
            assert spines_on_the_way(found, source, target, pair) == {f"spine{pair + 1}"}


def test_the_way_is_that_of_path() -> None:
    """The same switches and ports as `ailb-gen path` follows."""
    found, net, routes = fabric("jvd-8-uplinks"), network("jvd-8-uplinks"), routing("jvd-8-uplinks")
    view = View(net, routes, frozenset(), frozenset())
    for number, (start, end) in enumerate(flows(net, "h100-01:gpu3_eth", "h100-03:gpu6_eth")):
        seen = trace_pair(view, start, end, 0)
        ports = {f"{hop.device}:{hop.ways[0].interface.rpartition('.')[0]}" for hop in seen.hops if hop.ways}
        target = destination(found, "h100-03:gpu6_eth", number)
        load, _ = shares(found, host(found, "h100-01:gpu3_eth"), target)
        between = {found.link_names[link] for link in load if min(ends(found, link)) >= LEAF}
        assert between == ports


def ends(found: FabricArrays, link: int) -> tuple[int, int]:
    return int(found.tier[found.link_source[link]]), int(found.tier[found.link_target[link]])


@pytest.mark.parametrize("name", ["lab", "jvd-8-uplinks"])
@pytest.mark.parametrize("failed", [(), ("stripe1-leaf1 spine2",), ("stripe1-leaf2 spine1", "stripe2-leaf2 spine4")])
def test_shares_are_the_loads_of_forwarding(name: str, failed: tuple[str, ...]) -> None:
    routes = routing(name, *failed)
    found = from_network(network(name), routes)
    load, lost = loads(Links(routes), routes.states.__getitem__, advertised(routes), all_pairs(routes))
    assert lost == 0
    # One host for every leaf, since all of a leaf's send alike.
    hosts = {int(found.link_target[next_links(found, one, 0)[0]]): one for one in range(found.host_count)}
    sums: dict[str, Fraction] = defaultdict(Fraction)
    for leaf, source in hosts.items():
        for other, target in hosts.items():
            row = range(found.first_destination[target], found.first_destination[target + 1])
            for number in row if other != leaf else ():
                for link, share in shares(found, source, number)[0].items():
                    sums[found.link_names[link]] += share / len(row)
    for number, session in enumerate(routes.graph.sessions.up):
        for side, at in ((session.cable.a, 2 * number), (session.cable.b, 2 * number + 1)):
            assert float(sums[str(side)]) == pytest.approx(float(load[at]), abs=1e-9)


def check_entries(found: FabricArrays, routes: Routing, net: Network, state: int = 0) -> None:
    """Compare every FIB entry with what `fib` shows."""
    graph = routes.graph
    for nic in server_nics(net):
        assert nic.leaf is not None
        for pair, queue_pair in enumerate(nic.pairs):
            column = int(found.destination_prefix[destination(found, nic.name, pair)])
            for device, name in enumerate(graph.names):
                best = routes.longest_match(device, queue_pair.address)
                hops = routes.next_hops(device, best) if best is not None else ()
                expected: list[str] | str = [f"{name}:{hop.interface.rpartition('.')[0]}" for hop in hops]
                if best is None or (not hops and name != nic.leaf.device):
                    expected = "none"
                elif not hops:
                    expected = "local"
                assert entry(found, name, column, state) == expected


@random_fabrics(20)
@given(cases())
def test_fibs_of_random_fabrics(case: Case) -> None:
    net = with_servers(case.network)
    routes = Routing(net)
    leaves = [switch for switch in net.switches.values() if prefixes_of(switch)]
    if not any(nic.pairs for nic in server_nics(net)):
        with pytest.raises(UsageError, match="no NIC of any server has an address that a queue pair can use"):
            from_network(net, routes)
        return
    found = from_network(net, routes)
    check_arrays(found)
    # What an IRB without a VLAN announces cannot be used, and two leaves may have the same prefixes.
    assert found.host_count == len(leaves)
    check_entries(found, routes, net)


@random_fabrics(12)
@given(cases())
def test_fibs_after_failures_of_random_fabrics(case: Case) -> None:
    """Links that fail at different times, and a switch: as if the routes had been computed without them at once."""
    net = with_servers(case.network)
    assume(any(nic.pairs for nic in server_nics(net)))
    graph = Graph(net)
    cables = {(session.cable.a, session.cable.b): number for number, session in enumerate(graph.sessions.up)}
    failed = sorted(case.failed, key=str)
    outages = [Outage(f"{cable.a} - {cable.b}", 10 * at, 1000) for at, cable in enumerate(failed, 1)]
    victim = list(net.switches)[-1]
    outages.append(Outage(victim, 2000))
    found = from_network(net, Routing(net, graph=graph), outages=outages)
    times = {state.at_ps: number for number, state in enumerate(found.forwarding)}
    for at in range(len(failed) + 1):
        down = {cables[cable.a, cable.b] for cable in failed[:at] if (cable.a, cable.b) in cables}
        check_entries(found, Routing(net, frozenset(down), graph), net, times[10 * at])
    if failed:
        assert (found.forwarding[times[1000]].next_hops == found.forwarding[0].next_hops).all()
    own = {number for ends, number in cables.items() if victim in {end.device for end in ends}}
    after = Routing(net, frozenset(own), graph)
    for nic in server_nics(net):
        for pair, queue_pair in enumerate(nic.pairs):
            column = int(found.destination_prefix[destination(found, nic.name, pair)])
            for device, name in enumerate(graph.names):
                best = after.longest_match(device, queue_pair.address)
                if name != victim and best is not None:
                    hops = after.next_hops(device, best)
                    expected = [f"{name}:{hop.interface.rpartition('.')[0]}" for hop in hops]
                    seen = entry(found, name, column, times[2000])
                    assert seen == expected or (not hops and seen in ("local", "none"))


def mutated(tmp_path: Path, name: str, file: str, pattern: str, text: str) -> Network:
    """A golden tree with one text of a file replaced."""
    root = tmp_path / name
    for path in (GOLDEN / name).rglob("*"):
        target = root / path.relative_to(GOLDEN / name)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            target.symlink_to(path.readlink())
        elif path.is_file():
            target.write_bytes(path.read_bytes())
    before = (root / file).read_text()
    after, count = re.subn(pattern, text, before, count=1)
    assert count == 1
    (root / file).write_text(after)
    return network_of(root)


def test_a_wrong_color_in_a_file_changes_the_way(tmp_path: Path) -> None:
    """The second prefix of a leaf in the color of the third: two queue pairs share a spine."""
    leaf = "switches/stripe2-leaf1.conf"
    net = mutated(tmp_path, "jvd", leaf, r"(route fc00:2:1:2::/64 \{\s+color) blue", r"\1 red")
    found = from_network(net, Routing(net))
    ways = [spines_on_the_way(found, "h100-01:gpu0_eth", "h100-03:gpu0_eth", pair) for pair in range(4)]
    assert ways == [{"spine1"}, {"spine3"}, {"spine3"}, {"spine4"}]


def test_without_multipath_policy_a_backup_has_one_way(tmp_path: Path) -> None:
    outage = [Outage("stripe1-leaf1-spine2", 5)]
    whole = from_network(network("lab"), routing("lab"), outages=outage)
    source, target = "gpu-s1-1:gpu0_eth", "gpu-s2-1:gpu0_eth"
    assert spines_on_the_way(whole, source, target, 1, 1) == {"spine1", "spine3", "spine4"}
    net = mutated(tmp_path, "lab", "switches/stripe1-leaf1.conf", r"\bexport PFE-LB;", "")
    found = from_network(net, Routing(net), outages=outage)
    assert len(spines_on_the_way(found, source, target, 1, 1)) == 1


def test_a_prefix_that_is_not_advertised_is_unreachable(tmp_path: Path) -> None:
    leaf = "switches/stripe2-leaf1.conf"
    net = mutated(tmp_path, "jvd", leaf, r"route fc00:2:1:2::/64 \{[^}]+\}", "")
    found = from_network(net, Routing(net))
    number = destination(found, "h100-03:gpu0_eth", 1)
    assert shares(found, host(found, "h100-01:gpu0_eth"), number)[1] == 0
    column = int(found.destination_prefix[number])
    assert {entry(found, name, column) for name in found.names[found.host_count :]} == {"local", "none"}


@pytest.mark.parametrize(
    ("file", "pattern", "text", "doubt"),
    [
        (
            "profiles/stripe1/etc/netplan/60-ailb-gpu.yaml",
            r'        - from: "fc00:1:1:2::/64"\n.*\n.*\n',
            "",
            "",
        ),
        (
            "profiles/stripe1/etc/netplan/60-ailb-gpu.yaml",
            r'via: "fc00:1:1:2::1"',
            'via: "fc00:1:1:2::9"',
            "queue pair 2: the gateway fc00:1:1:2::9 is no address on stripe1-leaf1:et-0/0/16:0",
        ),
        (
            "profiles/stripe1/etc/netplan/60-ailb-gpu.yaml",
            r'to: "::/0"\n          via: "fc00:1:1:2::1"',
            'to: "fd00::/16"\n          via: "fc00:1:1:2::1"',
            "queue pair 2: table main has no route to fc00:2:1:1::",
        ),
        (
            "switches/stripe1-leaf1.conf",
            r"prefix fc00:1:1:2::/64;",
            "",
            "queue pair 2: no router announces fc00:1:1:2::/64 on stripe1-leaf1:et-0/0/16:0",
        ),
        (
            "switches/stripe1-leaf1.conf",
            r"(et-0/0/16:0 \{\s+description to.h100-01:gpu0_eth;\s+native-vlan-id) 2;",
            r"\1 77;",
            "queue pair 1: the gateway fc00:1:1:1::1 is no address on stripe1-leaf1:et-0/0/16:0",
        ),
    ],
    ids=["rule", "gateway", "route", "announcement", "vlan"],
)
def test_what_a_queue_pair_cannot_use_is_left_out(
    tmp_path: Path, file: str, pattern: str, text: str, doubt: str
) -> None:
    net = mutated(tmp_path, "jvd", file, pattern, text)
    nics = {nic.name: nic for nic in server_nics(net)}
    found = from_network(net, Routing(net))
    counts = dict(zip(found.names, np.diff(found.first_destination).tolist(), strict=False))
    assert counts["h100-01:gpu0_eth"] == (0 if "77" in text else 3)
    assert counts["h100-03:gpu0_eth"] == 4
    doubts = nics["h100-01:gpu0_eth"].doubts
    assert doubts[0] == f"h100-01:gpu0_eth, {doubt}" if doubt else not doubts


def test_a_server_port_that_is_disabled_has_no_link(tmp_path: Path) -> None:
    pattern = r"(et-0/0/16:0 \{\s+)description"
    net = mutated(tmp_path, "jvd", "switches/stripe1-leaf1.conf", pattern, r"\1disable;\n        description")
    found = from_network(net, Routing(net))
    number = host(found, "h100-01:gpu0_eth")
    assert found.host_set[number] == UNREACHABLE
    first = found.first_destination[number]
    assert (found.delivery_set[first : first + 4] == UNREACHABLE).all()
    assert shares(found, host(found, "h100-02:gpu1_eth"), int(first))[1] == 0


def test_a_fabric_without_servers_is_refused() -> None:
    net = replace(network("lab"), hosts={}, attachments={})
    with pytest.raises(UsageError, match="there are no servers with GPU NICs in these files"):
        from_network(net, routing("lab"))


def test_a_cable_without_speed_is_refused() -> None:
    net = network("lab")
    links = (replace(net.links[0], speed_bps=None), *net.links[1:])
    expected = "no file says how fast these cables are: stripe1-leaf1:et-0/0/0 - spine1:et-0/0/0; write it at the ports"
    with pytest.raises(UsageError, match=re.escape(expected)):
        from_network(replace(net, links=links), routing("lab"))


def test_a_port_with_two_cables_is_refused() -> None:
    net = network("lab")
    links = (*net.links, replace(net.links[0], b=net.links[1].b))
    expected = "several cables for one port: stripe1-leaf1:et-0/0/0, spine2:et-0/0/0; a port takes one"
    with pytest.raises(UsageError, match=re.escape(expected)):
        from_network(replace(net, links=links), routing("lab"))


def test_the_speed_of_a_port_counts_more_than_the_list_of_cables(tmp_path: Path) -> None:
    pattern = r"(et-0/0/0 \{\s+description \"Breakout et-0/0/0\";\s+number-of-sub-ports 2;\s+speed) 400g"
    net = mutated(tmp_path, "jvd", "switches/stripe1-leaf1.conf", pattern, r"\1 200g")
    found = from_network(net, Routing(net))
    slow = {found.link_names[link] for link in np.flatnonzero(found.rate_bps == 200 * 10**9)}
    assert slow == {"stripe1-leaf1:et-0/0/0:0", "spine1:et-0/0/0:0"}
