from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ailb_gen.errors import UsageError
from ailb_gen.network.fabric import Network
from ailb_gen.routing.rib import Routing
from ailb_gen.sim.balancers import BALANCERS
from ailb_gen.sim.fabric import SPINE, FabricArrays
from ailb_gen.sim.from_network import from_network
from ailb_gen.sim.network_balancer import balancer_settings, without_colors
from ailb_gen.sim.network_ports import data_dscp
from ailb_gen.sim.network_settings import BUFFER_BYTES, network_settings, switch_settings
from tests.checks.trees import network_of, rendered
from tests.conftest import SMALL
from tests.forwarding.examples import network
from tests.sim.files import fabric
from tests.sim.test_from_network import destination, host, mutated, spines_on_the_way
from tests.sim.walk import check_arrays, shares

LEAF1 = "switches/stripe1-leaf1.conf"
# 400 of 51,200 Gb/s of the buffer.
QUEUE = BUFFER_BYTES // 128
JVD = {
    "inactivity_us": 128,
    "flowset_entries": 2048,
    "quality_delta": 6,
    "probability": 3 / 256,
    "sampling_rate": 1_000_000,
}


def balanced(name: str, *, colors: bool = False, roles: str = "leaf spine", **changed: Any) -> Network:
    """A golden network without colors, with some of its switches balancing in another way."""
    net = network(name) if colors else without_colors(network(name))
    switches = {
        one: replace(switch, balancing=replace(switch.balancing, **changed)) if net.roles[one] in roles else switch
        for one, switch in net.switches.items()
    }
    return replace(net, switches=switches)


def dlb(*statements: str) -> tuple[tuple[str, int], ...]:
    return tuple((text, 1) for text in statements)


def test_the_reference_fabric() -> None:
    settings = network_settings(network("jvd"), fabric("jvd"))
    assert settings.balancer.name == "rlb"
    assert settings.balancer.parameters == JVD
    switches = settings.switches
    assert switches.pfc
    assert switches.shared_buffer_bytes == BUFFER_BYTES
    assert switches.ecn_min_bytes is not None
    assert switches.ecn_max_bytes is not None
    assert switches.ecn_probability is not None
    from_host = fabric("jvd").link_source < fabric("jvd").host_count
    assert set(switches.ecn_min_bytes[from_host]) == {-1}
    assert set(switches.ecn_min_bytes[~from_host]) == {QUEUE * 55 // 100}
    assert set(switches.ecn_max_bytes[~from_host]) == {QUEUE * 90 // 100}
    assert set(switches.ecn_probability[~from_host]) == {1.0}
    # As much as is needed, and no limit of the switch.
    assert switches.headroom_bytes is None
    assert switches.headroom_pool_bytes is None
    assert switches.obeys_pauses is True
    assert switches.payload_limit_bytes is not None
    # The MTU of NICs, 9000, less 80; ports take 9216 with 14 of Ethernet, IRBs send 9170.
    assert set(switches.payload_limit_bytes[from_host]) == {8920}
    assert set(switches.payload_limit_bytes[~from_host]) == {9090, 9122}


def link(found: FabricArrays, name: str) -> int:
    return found.link_names.index(name)


def test_every_port_has_the_profile_that_holds_there(tmp_path: Path) -> None:
    """Of two entries under `interfaces` the one of the port itself counts."""
    port = (
        "et-0/0/1:0 {\n scheduler-map sm2; congestion-notification-profile cnp;\n unit * { classifiers { dscp d; } } }"
    )
    changes = {
        "et-* {": f"{port}\net-* {{",
        "dscp mydscp {": "dscp d { forwarding-class NO-LOSS { loss-priority low code-points 011010; } }\ndscp mydscp {",
        "schedulers {": "schedulers { slow { explicit-congestion-notification; "
        "drop-profile-map loss-priority any protocol any drop-profile dp2; }",
        "scheduler-maps {": "scheduler-maps { sm2 { forwarding-class NO-LOSS scheduler slow; }",
        "drop-profiles {": "drop-profiles { dp2 { interpolate { fill-level [ 10 20 ]; drop-probability [ 0 50 ]; } }",
    }
    net = mutated(tmp_path, "jvd", LEAF1, "", "")
    file = tmp_path / "jvd" / LEAF1
    text = file.read_text()
    for before, after in changes.items():
        assert text.count(f"    {before}") == 1, before
        text = text.replace(f"    {before}", f"    {after}")
    file.write_text(text)
    net = network_of(tmp_path / "jvd")
    found = from_network(net, Routing(net))
    switches = switch_settings(net, found)
    assert switches.ecn_min_bytes is not None
    assert switches.ecn_max_bytes is not None
    assert switches.ecn_probability is not None
    number = link(found, "stripe1-leaf1:et-0/0/1:0")
    assert switches.ecn_min_bytes[number] == QUEUE // 10
    assert switches.ecn_max_bytes[number] == QUEUE * 20 // 100
    assert switches.ecn_probability[number] == 0.5
    other = link(found, "stripe1-leaf1:et-0/0/2:0")
    assert switches.ecn_min_bytes[other] == QUEUE * 55 // 100


def test_without_ecn_at_a_scheduler_its_ports_mark_nothing(tmp_path: Path) -> None:
    net = mutated(tmp_path, "jvd", LEAF1, r"\n\s+explicit-congestion-notification;", "")
    found = fabric("jvd")
    switches = switch_settings(net, found)
    assert switches.ecn_min_bytes is not None
    unmarked = {found.names[found.link_source[at]] for at in np.flatnonzero(switches.ecn_min_bytes < 0)}
    assert unmarked == {"stripe1-leaf1", *found.names[: found.host_count]}


def test_without_class_of_service_nothing_is_marked_or_paused() -> None:
    net = network("lab")
    cos = replace(next(iter(net.switches.values())).cos, written=False, ports=(), buffers=())
    net = replace(net, switches={name: replace(switch, cos=cos) for name, switch in net.switches.items()})
    switches = switch_settings(net, fabric("lab"))
    assert not switches.pfc
    assert switches.ecn_min_bytes is None
    assert switches.ecn_probability is None


@pytest.mark.parametrize(
    ("pattern", "text", "sends", "obeys"),
    [
        (r"(code-point 011010 \{\s+)pfc;", r"\1", False, True),
        (r"flow-control-queue 4;", "flow-control-queue 5;", True, False),
        (r" no-loss pfc-priority 3;", ";", False, True),
        (r"pfc-priority 3;", "pfc-priority 4;", True, True),
    ],
    ids=["not sent", "wrong queue", "not lossless", "other priority"],
)
def test_pfc_of_one_leaf(tmp_path: Path, pattern: str, text: str, sends: bool, obeys: bool) -> None:
    """A leaf that sends no pause frames, or does not obey those of others; the others are as they were."""
    net = mutated(tmp_path, "jvd", LEAF1, pattern, text)
    found = fabric("jvd")
    switches = switch_settings(net, found)
    node = found.names.index("stripe1-leaf1")
    into = found.link_target == node
    inside = found.link_target >= found.host_count
    pfc = np.broadcast_to(switches.pfc, found.link_count)
    assert set(pfc[into]) == {sends}
    assert pfc[inside & ~into].all()
    stopped = np.broadcast_to(switches.obeys_pauses, found.link_count)
    assert set(stopped[(found.link_source == node) & inside]) == {obeys}
    # Another priority of the leaf's frames stops no neighbor either.
    neighbors = pfc & into
    assert set(stopped[neighbors]) <= {"priority 4" not in text}, "a frame of priority 4"


def test_the_dscp_of_the_servers_decides(tmp_path: Path) -> None:
    assert data_dscp(network("jvd")) == 26
    script = "profiles/stripe1/usr/local/sbin/ailb-qos"
    net = mutated(tmp_path, "jvd", script, r"traffic_class=106", "traffic_class=42")
    message = "servers send RDMA's data with different DSCPs: 10 at h100-01, h100-02; 26 at h100-03, h100-04"
    with pytest.raises(UsageError, match=re.escape(message)):
        switch_settings(net, fabric("jvd"))
    both = {name: host for name, host in net.hosts.items() if name in ("h100-01", "h100-02")}
    # That DSCP is in no class: best effort, which is neither marked nor lossless.
    net = replace(net, hosts=both)
    switches = switch_settings(net, from_network(net, Routing(net)))
    assert not switches.pfc
    assert switches.ecn_min_bytes is None


def test_the_lossless_pool_of_the_files(tmp_path: Path) -> None:
    asked = "roce: {buffers: {lossless: 61, dynamic_threshold: 5, lossless_headroom: 24, lossy: 15}}\n"
    _, root = rendered(SMALL + asked, tmp_path)
    net = network_of(root)
    switches = switch_settings(net, from_network(net, Routing(net)))
    assert switches.shared_buffer_bytes == BUFFER_BYTES * 61 // 100
    assert switches.ingress_alpha == 0.25
    spine = root / "switches/spine1.conf"
    spine.write_text(spine.read_text().replace("                percent 61;\n                dynamic", "dynamic"))
    net = network_of(root)
    fabric = from_network(net, Routing(net))
    one = switch_settings(net, fabric)
    assert one.ingress_alpha == 0.25
    expected = [1 if name == "spine1" else 0.61 for name in fabric.names[fabric.host_count :]]
    assert np.array_equal(one.shared_buffer_bytes, np.array(expected) * BUFFER_BYTES)
    assert one.headroom_pool_bytes is not None
    assert set(one.headroom_pool_bytes) == {BUFFER_BYTES * 24 // 100}


FLOWLET = dlb("flowlet inactivity-interval 64", "sampling-rate 5000", "ether-type ipv6")
ASSIGNED = dlb("assigned-flow", "egress-quantization min 20", "egress-quantization rate-weightage 80")
BANDS = {"min_percent": 20.0, "rate_weight_percent": 80.0}


@pytest.mark.parametrize(
    ("statements", "name", "parameters"),
    [
        (FLOWLET, "dlb", {"inactivity_us": 64, "sampling_rate": 5000, "probability": 0}),
        (dlb("flowlet"), "dlb", {"probability": 0}),
        (dlb("per-packet", "ether-type ipv4", "ether-type ipv6"), "dlb-per-packet", {}),
        (ASSIGNED, "dlb-assigned-flow", BANDS),
        (dlb("flowlet", "ether-type ipv4"), "ecmp", {}),
        ((), "ecmp", {}),
    ],
)
def test_the_mode_of_dlb(statements: tuple[tuple[str, int], ...], name: str, parameters: dict[str, float]) -> None:
    found = balancer_settings(balanced("lab", dlb=statements))
    assert found.name == name
    assert found.parameters == parameters
    assert set(found.parameters) <= {one.name for one in BALANCERS[name].parameters}


@pytest.mark.parametrize(
    ("statements", "parameters"),
    [
        (FLOWLET, {"inactivity_us": 64, "sampling_rate": 5000, "probability": 0}),
        (dlb("per-packet"), {"inactivity_us": 0, "probability": 0}),
        (ASSIGNED, {"inactivity_us": 1e9, "probability": 0} | BANDS),
        ((), {"dynamic": 0}),
    ],
)
def test_colors_make_it_rlb(statements: tuple[tuple[str, int], ...], parameters: dict[str, float]) -> None:
    found = balancer_settings(balanced("lab", colors=True, dlb=statements))
    assert found.name == "rlb"
    assert found.parameters == parameters


def test_glb_needs_leaves_that_balance_and_spines_that_help() -> None:
    leaves = balanced("lab", dlb=FLOWLET, glb="load-balancer-only")
    spines = balanced("lab", dlb=FLOWLET, glb="helper-only")
    both = _of_each(leaves, spines)
    assert balancer_settings(both).name == "glb"
    assert balancer_settings(both).parameters["inactivity_us"] == 64
    assert balancer_settings(balanced("lab", dlb=FLOWLET, glb="plain")).name == "glb"
    with pytest.raises(UsageError, match=r"GLB is on at stripe1-leaf1, .* and off at the other"):
        balancer_settings(_of_each(leaves, balanced("lab", dlb=FLOWLET)))
    # Helpers alone balance nothing, and neither do leaves that only help.
    assert balancer_settings(_of_each(spines, leaves)).name == "dlb"


def _of_each(leaves: Network, spines: Network) -> Network:
    """The leaves of one network with the spines of another."""
    nets = {"leaf": leaves, "spine": spines}
    return replace(leaves, switches={name: nets[role].switches[name] for name, role in leaves.roles.items()})


def test_another_balancer_has_the_parameters_that_it_knows() -> None:
    assert balancer_settings(network("jvd"), "dlb").parameters == JVD
    assert balancer_settings(network("jvd"), "dlb-per-packet").parameters == {"sampling_rate": 1_000_000}
    assert balancer_settings(network("jvd"), "ecmp").parameters == {}


def test_a_switch_that_balances_differently_has_its_own_parameters(tmp_path: Path) -> None:
    net = mutated(tmp_path, "jvd", LEAF1, "inactivity-interval 128", "inactivity-interval 500")
    found = balancer_settings(net)
    assert found.parameters == JVD
    number = fabric("jvd").names.index("stripe1-leaf1") - fabric("jvd").host_count
    assert found.exceptions == {number: JVD | {"inactivity_us": 500}}
    assert not balancer_settings(net, "ecmp").exceptions


def test_modes_that_differ_are_those_of_flowlets() -> None:
    """DLB off at one leaf, per packet at another: as flowlets, since the engine has one load balancer."""
    net = balanced("lab", dlb=FLOWLET)
    first, second, *_ = net.switches
    for name, statements in ((first, ()), (second, dlb("per-packet"))):
        one = net.switches[name]
        one = replace(one, balancing=replace(one.balancing, dlb=statements))
        net = replace(net, switches={**net.switches, name: one})
    found = balancer_settings(net)
    assert found.name == "dlb"
    assert found.exceptions == {0: {"dynamic": 0}, 1: {"inactivity_us": 0, "probability": 0}}


@pytest.mark.parametrize("name", ["lab", "jvd", "jvd-8-uplinks", "brownfield"])
def test_without_colors_every_prefix_is_reached_over_all_spines(name: str) -> None:
    net = without_colors(network(name))
    found = from_network(net, Routing(net))
    check_arrays(found)
    spines = {node for node, tier in zip(found.names, found.tier, strict=True) if tier == SPINE}
    last = found.names[found.host_count - 1]
    for pair in range(int(found.first_destination[-1] - found.first_destination[-2])):
        assert spines_on_the_way(found, found.names[0], last, pair) == spines
        load, arrived = shares(found, host(found, found.names[0]), destination(found, last, pair))
        assert arrived == 1
        assert sum(load.values()) == 4
