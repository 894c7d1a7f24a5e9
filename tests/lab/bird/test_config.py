"""The configuration of BIRD that a switch's file becomes; `AILB_UPDATE_GOLDEN=1` renews the golden ones."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ailb_gen.lab.bird.config import direct_prefixes, render
from ailb_gen.lab.bird.model import BirdPeer, Translation
from ailb_gen.lab.plan import SwitchPlan, plan
from ailb_gen.network.fabric import Network
from ailb_gen.network.filters import Attachment, Filters
from ailb_gen.network.model import AsList, FabricRoute, Group, RaPrefix, SessionBfd, Switch, Unmodeled
from ailb_gen.network.policy import Policy, Term
from ailb_gen.network.read import read_network
from ailb_gen.routing import speaker
from tests.conftest import ROOT, need_tool
from tests.lab.bird.twin import peers
from tests.routing.fabrics import prefix

GOLDEN = Path(__file__).parent / "golden"
FIRST = "et-0/0/0.0"


def translated(network: Network, name: str, changed: Switch | None = None) -> Translation:
    found = plan(network)
    return render(changed or network.switches[name], found.switches[name], peers(network, found, name))


def leaf_of(network: Network) -> SwitchPlan:
    return plan(network).switches["stripe1-leaf1"]


def checked(text: str, folder: Path) -> None:
    """Let BIRD itself read a configuration."""
    bird = need_tool("bird")
    (folder / "bird.conf").write_text(text)
    done = subprocess.run((bird, "-p", "-c", folder / "bird.conf"), capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stderr}\n{text}"


@pytest.mark.parametrize("name", ["stripe1-leaf1", "spine1"])
def test_golden(network: Network, name: str, tmp_path: Path) -> None:
    found = translated(network, name)
    golden = GOLDEN / f"{name}.conf"
    if os.environ.get("AILB_UPDATE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(found.text)
    assert found.text == golden.read_text()
    assert not found.untranslated
    assert len(found.sessions) == 4
    checked(found.text, tmp_path)


@pytest.mark.parametrize("example", ["jvd", "jvd-8-uplinks", "brownfield", "static"])
def test_every_statement_of_the_examples_is_translated(example: str, tmp_path: Path) -> None:
    found = read_network(ROOT / "tests/golden" / example, lambda *trees: None).network
    planned = plan(found)
    for name, switch in found.switches.items():
        heard = peers(found, planned, name)
        one = render(switch, planned.switches[name], heard)
        assert (one.untranslated, set(one.sessions)) == ((), set(heard)), name
    # One of each role is enough for BIRD.
    for role in ("leaf", "spine"):
        name = next(name for name in found.switches if found.roles[name] == role)
        checked(render(found.switches[name], planned.switches[name], peers(found, planned, name)).text, tmp_path)


def test_a_session_for_every_neighbor_that_was_heard(network: Network, leaf: Switch) -> None:
    found = translated(network, "stripe1-leaf1")
    assert found.sessions == {f"et-0/0/{n}.0": f"et-0-0-{n}" for n in range(4)}
    assert render(leaf, leaf_of(network), {}).sessions == {}
    one = peers(network, plan(network), "stripe1-leaf1")
    assert render(leaf, leaf_of(network), {FIRST: one[FIRST]}).sessions == {FIRST: "et-0-0-0"}


def test_routes_are_kept_from_the_kernel_until_it_is_enabled(network: Network, leaf: Switch) -> None:
    held, free = (render(leaf, leaf_of(network), {}, held=flag).text for flag in (True, False))
    assert held.replace("kernel6 { disabled;", "kernel6 {") == free != held


def first_group(leaf: Switch, change: Callable[[Group], Group]) -> Switch:
    return replace(leaf, groups=(change(leaf.groups[0]), *leaf.groups[1:]))


@pytest.mark.parametrize(
    ("change", "session"),
    [
        pytest.param(lambda group: replace(group, local_as=65001), False, id="both ends are in one AS"),
        pytest.param(lambda group: replace(group, peer_as_list="odd"), True, id="the as-list does not hold the peer"),
        pytest.param(lambda group: replace(group, peer_as_list="missing"), False, id="the as-list is missing"),
        pytest.param(lambda group: replace(group, peer_as_list=None), False, id="no neighbor is accepted"),
        pytest.param(lambda group: replace(group, disabled=True), False, id="the group is disabled"),
        pytest.param(lambda group: replace(group, inet6=False), False, id="no family inet6"),
        pytest.param(lambda group: replace(group, discoveries=()), False, id="no discovery"),
    ],
)
def test_sessions_that_are_refused(
    network: Network, leaf: Switch, change: Callable[[Group], Group], session: bool
) -> None:
    changed = first_group(
        replace(leaf, as_lists={**leaf.as_lists, "odd": AsList("odd", ((65101, 65101), (65900, 65999)))}), change
    )
    found = translated(network, "stripe1-leaf1", changed)
    assert (FIRST in found.sessions) == session
    if session:
        # BIRD expects one that it admits, never its own, and so refuses the peer.
        assert "as 65900" in found.text


def test_a_graceful_shutdown_is_marked_and_obeyed(network: Network, leaf: Switch, tmp_path: Path) -> None:
    mark, test = "bgp_community.add((65535, 0));", "if (65535, 0) ~ bgp_community then {"
    assert mark not in translated(network, "spine1").text
    spine = first_group(network.switches["spine1"], lambda group: replace(group, shutdown_sender=True))
    found = translated(network, "spine1", spine).text
    # What comes in, and what goes out.
    assert (found.count(mark), found.count(test)) == (2, 1)
    checked(found, tmp_path)
    own = first_group(leaf, lambda group: replace(group, shutdown_sender=True))
    found = translated(network, "stripe1-leaf1", own).text
    # Its own routes in their color, and as backups of the others.
    assert (found.count(mark), found.count(test)) == (3, 4)
    checked(found, tmp_path)
    deaf = first_group(leaf, lambda group: replace(group, shutdown_preference=None))
    assert translated(network, "stripe1-leaf1", deaf).text.count(test) == 3
    most = first_group(leaf, lambda group: replace(group, shutdown_preference=(1 << 32) - 1))
    found = translated(network, "stripe1-leaf1", most).text
    assert "bgp_local_pref = 4294967295;" in found
    checked(found, tmp_path)


def test_without_an_interface_there_is_no_session(network: Network, leaf: Switch) -> None:
    ports = {name: port for name, port in leaf.ports.items() if name != "et-0/0/0"}
    ports["et-0/0/1"] = replace(leaf.ports["et-0/0/1"], disabled=True)
    found = translated(network, "stripe1-leaf1", replace(leaf, ports=ports))
    assert set(found.sessions) == {"et-0/0/2.0", "et-0/0/3.0"}


@pytest.mark.parametrize(
    ("change", "statements"),
    [
        (
            lambda leaf: replace(leaf, unmodeled=(Unmodeled("protocols ospf", "protocols ospf area 0"),)),
            ["protocols ospf area 0"],
        ),
        (
            lambda leaf: replace(
                leaf, filters=Filters({}, (Attachment("interface", "lo0.0", "inet6", "input", ("A", "B")),), {}, {})
            ),
            ["filter input [ A B ] of interface lo0.0"],
        ),
        (
            lambda leaf: first_group(leaf, lambda group: replace(group, multipath=False)),
            ["protocols bgp group fabric-green without multipath"],
        ),
        (
            lambda leaf: first_group(leaf, lambda group: replace(group, multiple_as=False)),
            ["protocols bgp group fabric-green multipath without multiple-as"],
        ),
        (
            lambda leaf: first_group(leaf, lambda group: replace(group, bfd=SessionBfd(None, 3))),
            ["protocols bgp group fabric-green bfd-liveness-detection"],
        ),
        (
            lambda leaf: replace(
                leaf,
                advertisements={
                    "irb.2": replace(
                        leaf.advertisements["irb.2"],
                        prefixes=tuple(RaPrefix(prefix(f"fc00:9:{n:x}::/64"), True, True) for n in range(32)),
                        others=(("managed-configuration", 7),),
                    )
                },
            ),
            [
                "protocols router-advertisement interface irb.2 managed-configuration",
                *(f"protocols router-advertisement interface irb.2 prefix fc00:9:{n:x}::/64" for n in range(32)),
                "protocols router-advertisement interface irb.2 prefix",
            ],
        ),
    ],
)
def test_what_bird_does_otherwise_is_listed(
    network: Network, leaf: Switch, change: Callable[[Switch], Switch], statements: list[str], tmp_path: Path
) -> None:
    found = translated(network, "stripe1-leaf1", change(leaf))
    assert sorted(
        entry.statement.replace("prefix fc00:9::/64", "prefix fc00:9:0::/64") for entry in found.untranslated
    ) == (sorted(statements))
    checked(found.text, tmp_path)


@pytest.mark.parametrize(
    ("change", "merges"),
    [
        (lambda leaf: leaf, True),
        (lambda leaf: replace(leaf, balancing=replace(leaf.balancing, per_packet=False)), False),
        (lambda leaf: replace(leaf, groups=tuple(replace(one, multipath=False) for one in leaf.groups)), False),
        (lambda leaf: replace(leaf, groups=tuple(replace(one, multiple_as=False) for one in leaf.groups)), False),
        (lambda leaf: replace(leaf, balancing=replace(leaf.balancing, maximum_ecmp=64)), True),
    ],
)
def test_equal_paths_are_merged_as_configured(
    network: Network, leaf: Switch, change: Callable[[Switch], Switch], merges: bool
) -> None:
    changed = change(leaf)
    found = translated(network, "stripe1-leaf1", changed)
    kernel = found.text[found.text.index("protocol kernel kernel6") :].partition("}\n\n")[0]
    assert (f"merge paths on limit {changed.balancing.maximum_ecmp}" in kernel) == merges
    assert not found.untranslated


def test_names_that_bird_does_not_take(network: Network, leaf: Switch, tmp_path: Path) -> None:
    odd = "x y\n}'\"\\;" * 9
    policies = {
        odd: replace(leaf.policies["FABRIC-OUT"], name=odd),
        odd[:-1]: replace(leaf.policies["FABRIC-OUT"], name=odd[:-1]),
    }
    groups = tuple(
        replace(one, name=f"{odd}{number}", exports=(odd, odd[:-1])) for number, one in enumerate(leaf.groups)
    )
    changed = replace(leaf, policies=policies, groups=groups, router_id=odd)
    found = translated(network, "stripe1-leaf1", changed)
    checked(found.text, tmp_path)
    assert "router id 255.255.255.255;" in found.text


@pytest.mark.parametrize(
    ("route", "own", "other"),
    [
        (FabricRoute(prefix("fc00:1:1:1::/64"), "green", "all-colors"), "igp_metric = 0; bgp_ext", "{ bgp_ext"),
        (FabricRoute(prefix("fc00:1:1:1::/64"), "green", "blue"), "igp_metric = 0; bgp_ext", "{ bgp_ext"),
        (FabricRoute(prefix("fc00:1:1:1::/64"), "green", "red"), "igp_metric = 0; bgp_ext", ""),
        (FabricRoute(prefix("fc00:1:1:1::/64"), "green", None), "{ bgp_ext", ""),
        (FabricRoute(prefix("fc00:1:1:1::/64"), "all-colors", None), "{ bgp_ext", "{ bgp_ext"),
        (FabricRoute(prefix("fc00:1:1:1::/64"), "missing", None), "", ""),
        (FabricRoute(prefix("fc00:1:1:1::/64"), None, None), "{ return", "{ return"),
    ],
)
def test_fabric_advertise(network: Network, leaf: Switch, route: FabricRoute, own: str, other: str) -> None:
    """What is sent on green, the color of the route, and on blue."""
    found = translated(network, "stripe1-leaf1", replace(leaf, routes=(route,)))
    for color, expected in (("green", own), ("blue", other)):
        function = found.text.partition(f"function 'export-fabric-{color}'")[2].partition("\n}")[0]
        line = next((line for line in function.splitlines() if "if net ~" in line), "")
        assert expected in line if expected else not line, (color, line)


def test_a_peer_in_another_device(network: Network, leaf: Switch) -> None:
    """The side with the lower address connects, the other one waits."""
    low, high = (
        render(leaf, leaf_of(network), {FIRST: BirdPeer(address, 65001)}).text for address in (1, (1 << 128) - 1)
    )
    assert "as 65001; passive on;" in low
    assert "as 65001;\n" in high


@pytest.mark.parametrize(
    ("asns", "listed"), [((65001, 65001, 65003), True), ((65001, 65001, 65001), False), ((65001, 65002, 65003), False)]
)
def test_a_med_matters_among_paths_of_one_as_beside_others(
    network: Network, leaf: Switch, asns: tuple[int, ...], listed: bool
) -> None:
    lists = {name: AsList(name, ((65001, 65004),)) for name in leaf.as_lists}
    policies = {**leaf.policies, "IN": Policy("IN", (Term("t", metric=5),))}
    changed = first_group(
        replace(leaf, policies=policies, as_lists=lists), lambda group: replace(group, imports=("IN",))
    )
    heard = {f"et-0/0/{number}.0": BirdPeer(number + 1, asn) for number, asn in enumerate(asns)}
    found = render(changed, leaf_of(network), heard)
    statement = "policy-options policy-statement IN term t then metric"
    assert [entry.statement for entry in found.untranslated] == [statement] * listed


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_direct_prefixes_are_those_of_routing(leaf: Switch, data: st.DataObject) -> None:
    """The two computations are independent on purpose: interfaces that are off, IRBs without a VLAN or its ID."""
    off = {name for name in leaf.ports if data.draw(st.booleans())}
    units_off = {unit.name for port in leaf.ports.values() for unit in port.units if data.draw(st.booleans())}
    vlans = [replace(one, vlan_id=data.draw(st.sampled_from((one.vlan_id, None)))) for one in leaf.vlans]
    ports = {
        name: replace(
            port,
            disabled=name in off,
            units=tuple(replace(unit, disabled=unit.name in units_off) for unit in port.units),
        )
        for name, port in leaf.ports.items()
    }
    changed = replace(leaf, ports=ports, vlans=tuple(data.draw(st.permutations(vlans))[: data.draw(st.integers(0, 2))]))
    assert direct_prefixes(changed) == speaker.direct_prefixes(changed)
