"""Random small fabrics: sensible ones, and ones with every mistake that the control plane has to survive.

`AILB_EXAMPLES=10 pytest tests/routing tests/forwarding` looks at ten times as many; `--hypothesis-seed=N` at others.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ailb_gen.addresses import Prefix, interface_value, prefix_value
from ailb_gen.junos.tree import Node
from ailb_gen.network.cos import class_of_service
from ailb_gen.network.fabric import Cable, End, Network
from ailb_gen.network.filters import Filters
from ailb_gen.network.model import (
    Address,
    AsList,
    Discovery,
    FabricRoute,
    Group,
    Port,
    RouterAdvertisement,
    Switch,
    SwitchLoadBalancing,
    Unit,
    Vlan,
)
from ailb_gen.network.policy import Community, Policy, PrefixList, RouteFilter, Term
from ailb_gen.routing.graph import Graph
from tests.conftest import examples

NO_COS = class_of_service(Node(""))
COLORS = ("green", "blue", "red")


def prefix(text: str) -> Prefix:
    found = prefix_value(text)
    assert found is not None
    return found


POOL = prefix("fc00::/16")
POOL_FILTER = RouteFilter(POOL, "orlonger", 16)
NO_VALLEY = Term("no-valley", route_filters=(POOL_FILTER,), verdict="reject")
FABRIC = Term(
    "fabric",
    protocols=("bgp",),
    prefix_list_filters=(("pool", "orlonger"),),
    changes=(("add", "local"),),
    verdict="accept",
)
LEAKED = Term("leaked", communities=("local",), verdict="reject")
OTHERS = Term("others", verdict="reject")

# The terms of the reference fabric, and others: with and without a verdict, for some communities or prefixes only.
TERMS = (
    NO_VALLEY,
    FABRIC,
    LEAKED,
    Term("pool", prefix_list_filters=(("pool", "longer"),), verdict="accept"),
    OTHERS,
    replace(FABRIC, name="untagged", changes=()),
    Term("direct", protocols=("direct",), verdict="accept"),
    Term("tagged-direct", protocols=("direct", "bgp"), changes=(("add", "green"),), verdict="accept"),
    Term("loopbacks", protocols=("direct",), prefix_lists=("loopbacks",), verdict="accept"),
    Term("prefer-green", communities=("green",), local_preference=200),
    Term("avoid-blue", communities=("blue", "nothing"), local_preference=50, verdict="accept"),
    Term("prefer-leaf", route_filters=(RouteFilter(prefix("fc00:1:2::/48"), "orlonger", 48),), local_preference=150),
    Term("prefer-tagged", communities=("local",), local_preference=120, verdict="accept"),
    Term("prefer-pool", prefix_list_filters=(("pool", "orlonger"),), local_preference=110, verdict="accept"),
    Term("metric", metric=10),
    Term("metric-green", communities=("green",), metric=20, verdict="accept"),
    Term("metric-leaf", route_filters=(RouteFilter(prefix("fc00:1:1::/48"), "longer", 48),), metric=5),
    Term("next", prefix_lists=("loopbacks",), verdict="next-policy"),
    Term("on", communities=("local",), changes=(("delete", "local"),), verdict="next-term"),
    Term("strip", changes=(("delete", "green"),)),
    Term("paint", changes=(("set", "blue"),)),
    Term("both", communities=("pair",), verdict="reject"),
    Term("mark", changes=(("add", "pair"), ("delete", "nothing"))),
    Term("keep-green", communities=("green",), changes=(("add", "kept"),)),
    Term(
        "keep-leaf", route_filters=(RouteFilter(prefix("fc00:1:2::/48"), "orlonger", 48),), changes=(("add", "kept"),)
    ),
    Term("release", communities=("kept",), changes=(("delete", "kept"),)),
    Term("v4", families=("inet",), verdict="reject"),
    Term(
        "narrow",
        route_filters=(
            RouteFilter(POOL, "orlonger", 16),
            RouteFilter(prefix("fc00:1:2::/48"), "exact", 48),
            RouteFilter(prefix("fc00:2::/32"), "prefix-length-range", 60, 64),
            RouteFilter(prefix("fc00:1::/32"), "upto", 32, 64),
        ),
        verdict="accept",
    ),
)


@dataclass(frozen=True)
class Profile:
    """What switches configured alike have in common."""

    communities: dict[str, Community]
    policies: dict[str, Policy]
    groups: tuple[Group, ...]
    balancing: SwitchLoadBalancing


@dataclass(frozen=True)
class Case:
    """A fabric, and the cables whose sessions have failed."""

    network: Network
    failed: frozenset[Cable]

    def failed_sessions(self, graph: Graph) -> frozenset[int]:
        """Return which sessions of the graph of this fabric have failed."""
        return frozenset(number for number, one in enumerate(graph.sessions.up) if one.cable in self.failed)

    def __repr__(self) -> str:
        # In full it is so long that hypothesis warns, and the warning would hide the failure. What hypothesis prints
        # to reproduce the example brings back everything; `tests.routing.text` writes its switches down.
        cables = ", ".join(f"{cable.a} - {cable.b}{' failed' * (cable in self.failed)}" for cable in self.network.links)
        return f"Case({cables or ', '.join(self.network.switches)})"


def random_fabrics(usual: int) -> settings:
    """Return settings for so many random fabrics, times AILB_EXAMPLES.

    In CI a failure is reported as it was found: making it smaller takes minutes, and can be done by hand.
    """
    phases = [phase for phase in Phase if phase is not Phase.shrink or os.environ.get("CI", "").lower() != "true"]
    many = examples(usual)
    return settings(max_examples=many, phases=phases, suppress_health_check=list(HealthCheck))


def find_in_random_fabrics(usual: int, compare: Callable[[Case], int]) -> None:
    """Compare something in random fabrics, and fail if `compare` has found nothing to compare in any of them."""
    found = []

    @random_fabrics(usual)
    @given(cases())
    def compare_one(case: Case) -> None:
        found.append(compare(case))

    compare_one()
    assert any(found)


def rarely(once_in: int = 8) -> st.SearchStrategy[bool]:
    """Give True once in a while; examples shrink to False."""
    return st.integers(0, once_in - 1).map(lambda number: number == once_in - 1)


def policy(name: str, usual: tuple[Term, ...]) -> st.SearchStrategy[Policy]:
    """Give the policy that the reference fabric has, the same with a term lost or moved, or any terms at all."""
    some = st.lists(st.sampled_from(TERMS), min_size=1, max_size=4, unique=True).map(tuple)
    more = st.tuples(st.sampled_from(TERMS), st.just(usual)).map(lambda pair: (pair[0], *pair[1]))
    odd = (st.permutations(usual).map(tuple), st.just(usual[1:]), some, more, more)
    return st.one_of(st.just(usual), st.just(usual), *odd).map(lambda terms: Policy(name, tuple(dict.fromkeys(terms))))


@st.composite
def profiles(draw: st.DrawFn, leaf: bool) -> Profile:
    values = {"local": "0:15", **{name: f"color:0:{number}" for number, name in enumerate(COLORS, 1)}}
    if draw(rarely()):
        values["green"] = draw(st.sampled_from(["color:0:2", "color:0:9", "0:77"]))
    communities = {name: Community(name, (value,)) for name, value in values.items()}
    kept = draw(st.sampled_from([("no-export",), ("no-advertise",), ("no-export-subconfed",), ("65535:65281", "0:15")]))
    communities["kept"] = Community("kept", kept)
    communities["pair"] = Community("pair", (values["blue"], "0:99"))
    out = (NO_VALLEY, OTHERS) if leaf else (FABRIC, OTHERS)
    into = (TERMS[3],) if leaf else (LEAKED, TERMS[3], OTHERS)
    per_packet = not draw(rarely())
    spread = Policy("PFE-LB", (Term("", load_balance="per-packet"),) if per_packet else ())
    chains = (draw(policy("OUT", out)), draw(policy("IN", into)), draw(policy("MORE", TERMS[6:7])), spread)
    policies = {found.name: found for found in chains if found.terms}
    groups = tuple(draw(groups_of(slot, leaf)) for slot in range(len(COLORS)))
    exported = frozenset({"PFE-LB"} if per_packet else ())
    balancing = SwitchLoadBalancing(per_packet, fast_reroute=False, maximum_ecmp=16, dlb=(), glb="", policies=exported)
    return Profile(communities, policies, groups, balancing)


@st.composite
def groups_of(draw: st.DrawFn, slot: int, leaf: bool) -> Group:
    color: str | None = COLORS[slot]
    if draw(rarely()):
        color = draw(st.sampled_from([None, *COLORS, "pair", "nothing"]))
    chains = st.sampled_from([(), ("IN",), ("OUT",), ("MORE", "OUT"), ("OUT", "MORE"), ("missing", "IN")])
    multipath = not draw(rarely())
    return Group(
        name=f"fabric-{slot}",
        external=True,
        color=color,
        local_as=None,
        imports=draw(chains) if draw(rarely(3)) else () if leaf else ("IN",),
        exports=draw(chains) if draw(rarely(4)) else ("OUT",),
        inet6=True,
        aigp=not draw(rarely()),
        multipath=multipath,
        multiple_as=multipath and not draw(rarely()),
        bfd=None,
        peer_as=None,
        peer_as_list="any",
        discoveries=(),
        neighbors=(),
        forbidden=(),
        shutdown_sender=draw(rarely(6)),
        shutdown_preference=draw(st.sampled_from([0, 40, None])) if draw(rarely()) else 0,
    )


def interface(name: str, *addresses: str, unit: str = "0") -> Port:
    found = [interface_value(text) for text in addresses]
    values = tuple(Address(*pair) for pair in found if pair is not None)
    logical = Unit(f"{name}.{unit}", True, None, values, (), (), False, None, (), False)
    return Port(name, "", None, None, None, None, False, (logical,))


@st.composite
def fabric_routes(draw: st.DrawFn, prefixes: list[Prefix]) -> tuple[FabricRoute, ...]:
    found = []
    for number, entry in enumerate(prefixes):
        if draw(rarely(4)):
            chosen = draw(st.sampled_from([*COLORS, None, "all-colors", "nothing", "local"]))
            found.append(FabricRoute(entry, chosen, draw(st.sampled_from([*COLORS, None, "all-colors", "nothing"]))))
        elif not draw(rarely()):
            found.append(FabricRoute(entry, COLORS[number % len(COLORS)], "all-colors"))
    if draw(rarely()):
        found.append(FabricRoute(prefix("fc00:dead::/64"), "green", "all-colors"))
    return tuple(found)


@st.composite
def cases(draw: st.DrawFn, leaves: int = 4, spines: int = 3) -> Case:
    """Give a fabric of at most so many leaves and spines, with failed sessions."""
    names = [f"leaf{n}" for n in range(1, draw(st.integers(1, leaves)) + 1)]
    tops = [f"spine{n}" for n in range(1, draw(st.integers(1, spines)) + 1)]
    slots: dict[str, list[tuple[str, int]]] = defaultdict(list)
    links = []
    for a, b, slot in draw(wires(names, tops)):
        links.append(Cable(End(a, f"et-0/0/{len(slots[a])}"), End(b, f"et-0/0/{len(slots[b])}")))
        for end in (links[-1].a, links[-1].b):
            slots[end.device].append((end.port, slot if not draw(rarely(30)) else draw(st.integers(0, 2))))
    by_role = {
        role: [draw(profiles(role == "leaf")) for _ in range(draw(st.integers(1, 2)))] for role in ("leaf", "spine")
    }
    shared_as = {"leaf": draw(rarely()), "spine": draw(st.booleans())}
    switches = {}
    for number, name in enumerate([*names, *tops], 1):
        role = name.rstrip("0123456789")
        profile = draw(st.sampled_from(by_role[role])) if len(by_role[role]) > 1 else by_role[role][0]
        asn = 65000 + (0 if role == "spine" else 100) + (1 if shared_as[role] else number)
        if draw(rarely(20)):
            asn = 65001
        switches[name] = draw(switch_of(name, number, asn, profile, slots[name], role == "leaf"))
    failed = draw(st.sets(st.sampled_from(links), max_size=3)) if links else set()
    roles = {name: name.rstrip("0123456789") for name in switches}
    return Case(Network(switches, {}, roles, tuple(links), {}, ()), frozenset(failed))


@st.composite
def wires(draw: st.DrawFn, leaves: list[str], spines: list[str]) -> list[tuple[str, str, int]]:
    """Give the ends of every cable and the number of the group, the same number of links between each pair at first."""
    several = draw(st.integers(1, 2))
    per_spine = draw(st.booleans())
    found = []
    for leaf in leaves:
        for number, spine in enumerate(spines):
            for link in range(several):
                if not draw(rarely(16)):
                    found.append((leaf, spine, (number if per_spine else number * several + link) % len(COLORS)))
    for layer in (leaves, spines):
        if len(layer) > 1 and draw(rarely()):
            found.append((layer[0], layer[-1], draw(st.integers(0, 2))))
    return found


@st.composite
def switch_of(
    draw: st.DrawFn, name: str, number: int, asn: int, profile: Profile, slots: list[tuple[str, int]], leaf: bool
) -> Switch:
    ports = {port: interface(port) for port, _ in slots}
    own: list[str] = []
    if leaf:
        owner = 1 if draw(rarely()) else number
        own = [f"fc00:1:{owner}:{k}::1/64" for k in range(1, draw(st.integers(1, len(COLORS))) + 1)]
        ports["irb"] = interface("irb", *own, unit="2")
    if draw(rarely(3)):
        ports["lo0"] = interface("lo0", f"{draw(st.sampled_from(['fc00:1', 'fd00']))}:ff::{number}/128")
    prefixes = [address.prefix for port in ports.values() for unit in port.units for address in unit.addresses]
    groups = []
    for slot, group in enumerate(profile.groups):
        found = tuple((f"{port}.0", 0) for port, at in slots if at == slot)
        local_as = 65000 + draw(st.integers(1, 9)) if draw(rarely(40)) else draw(st.sampled_from([None, asn]))
        if found:
            groups.append(replace(group, local_as=local_as, discoveries=(Discovery("peers", True, found, ()),)))
    peers = AsList("any", ((1, 65535),) if not draw(rarely(30)) else ((65001, 65003), (65102, 65200)))
    loopbacks = PrefixList("loopbacks", (prefix("fd00:ff::1/128"), prefix("fc00:1:ff::2/128")), 0)
    return Switch(
        named=name,
        file=f"switches/{name}.conf",
        host_name=name,
        asn=asn,
        router_id=f"10.0.0.{draw(st.integers(1, 3)) if draw(rarely()) else number}" if not draw(rarely(20)) else None,
        ports=ports,
        vlans=(Vlan("v2", None if draw(rarely(40)) else 2, "irb.2"),) if leaf else (),
        advertisements={
            f"{port}.0": RouterAdvertisement(f"{port}.0", (), (), None, None, None)
            for port, _ in slots
            if not draw(rarely(60))
        },
        communities=profile.communities,
        as_lists={"any": peers},
        prefix_lists={"pool": PrefixList("pool", (POOL,), 0), "loopbacks": loopbacks},
        policies=profile.policies,
        groups=tuple(groups),
        routes=draw(fabric_routes(prefixes)) if leaf else (),
        bad_routes=(),
        balancing=profile.balancing,
        cos=NO_COS,
        lldp=frozenset(),
        lldp_off=frozenset(),
        filters=Filters({}, (), {}, {}),
        unmodeled=(),
    )
