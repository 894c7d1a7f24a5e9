"""A switch from the text of its file."""

from __future__ import annotations

from dataclasses import replace

from ailb_gen.junos.groups import APPLY
from ailb_gen.junos.tree import Node, Reuse, anew
from ailb_gen.network.bgp import as_number, fabric_routes, groups
from ailb_gen.network.cos import class_of_service
from ailb_gen.network.filters import filters
from ailb_gen.network.management import management
from ailb_gen.network.model import Switch, SwitchLoadBalancing
from ailb_gen.network.policies import PER_FLOW, policy_options
from ailb_gen.network.policy import Policy
from ailb_gen.network.ports import (
    advertisements,
    line,
    number,
    ports,
    statements,
    vlans,
)
from ailb_gen.network.supported_statements import judged

# Junos's own limit of next hops per route.
DEFAULT_MAXIMUM_ECMP = 16
# By what the switch is managed and watched, and its way back to who manages it.
OPERATING = (
    "system services ssh",
    "system services netconf ssh",
    "protocols bgp log-updown",
    "protocols lldp port-id-subtype interface-name",
    "protocols lldp port-description-type interface-description",
    "protocols lldp neighbour-port-info-display port-id",
)
MANAGEMENT_ROUTE = ("routing-instances", "mgmt_junos", "routing-options", "static", "route", "0.0.0.0/0")


NOTHING = Node("")


def switch(name: str, file: str, root: Node, reuse: Reuse = anew) -> Switch:
    """Read what a switch does from its effective tree; `name` is that of its file."""
    # Junos has that routing instance only with `management-instance`.
    gateway = root.get(*MANAGEMENT_ROUTE, "next-hop") if root.has("system", "management-instance") else None
    lldp = () if root.has("protocols", "lldp", "disable") else tuple(root.each("protocols", "lldp", "interface"))
    found = judged(root, reuse)
    return replace(
        routed(name, file, root, reuse),
        cos=class_of_service(root, reuse),
        lldp=frozenset(node.word for node in lldp if not node.has("disable")),
        lldp_off=frozenset(node.word for node in lldp if node.has("disable")),
        filters=filters(root, reuse),
        unmodeled=found.unmodeled,
        harmless=found.harmless,
        sections=frozenset((*root.children, *(f"protocols {word}" for word in root.values("protocols")))),
        operating=frozenset(text for text in OPERATING if _holds(root, text.split())),
        management_gateway=(gateway.value() or "") if gateway is not None else "",
        management=management(root),
        management_line=line(gateway),
        last_line=_last_line(root),
    )


def _last_line(node: Node) -> int:
    while node.children:
        node = next(reversed(node.children.values()))
    return node.line


def routed(name: str, file: str, root: Node, reuse: Reuse) -> Switch:
    """Read what a switch's sessions and routes follow from; the rest is as if nothing were configured."""
    host, asn, router_id = (
        root.get("system", "host-name"),
        root.get("routing-options", "autonomous-system"),
        root.get("routing-options", "router-id"),
    )
    routes, bad_routes = fabric_routes(root)
    policy = reuse(policy_options, root.get("policy-options") or NOTHING)
    bgp = root.get("protocols", "bgp")
    own_ports = ports(root, reuse)
    return Switch(
        named=name,
        file=file,
        host_name=root.value("system", "host-name") or "",
        asn=as_number(asn.value() or "") if asn is not None else None,
        router_id=root.value("routing-options", "router-id"),
        ports=own_ports,
        vlans=vlans(root),
        advertisements=advertisements(root, reuse),
        communities=policy.communities,
        as_lists=policy.as_lists,
        prefix_lists=policy.prefix_lists,
        policies=policy.policies,
        groups=groups(root, own_ports, reuse),
        routes=routes,
        bad_routes=bad_routes,
        balancing=_balancing(root, policy.policies),
        cos=class_of_service(NOTHING),
        lldp=frozenset(),
        lldp_off=frozenset(),
        filters=filters(NOTHING),
        unmodeled=(),
        host_name_line=line(host),
        asn_line=line(asn),
        router_id_line=line(router_id),
        bgp_line=bgp.line if bgp is not None else 0,
    )


def _holds(root: Node, words: list[str]) -> bool:
    """Return whether a statement is there; of LLDP's settings the last value counts."""
    if words[:2] == ["protocols", "lldp"]:
        return root.value(*words[:-1]) == words[-1]
    return root.has(*words)


def applied_groups(root: Node) -> tuple[tuple[str, int], ...]:
    """List the groups that are still applied in an effective tree: those that are not defined; with their lines."""
    found = [(group.word, group.line) for node in root.below() for group in node.each(APPLY)]
    return tuple(sorted(found, key=lambda row: row[1]))


def _balancing(root: Node, policy: dict[str, Policy]) -> SwitchLoadBalancing:
    table = root.get("routing-options", "forwarding-table")
    names = table.values("export") if table is not None else ()
    dlb = root.get("forwarding-options", "enhanced-hash-key", "ecmp-dlb")
    glb = root.get("protocols", "bgp", "global-load-balancing")
    ecmp = root.get("chassis", "maximum-ecmp")
    limit = number(ecmp)
    return SwitchLoadBalancing(
        per_packet=_balances_all([policy[name] for name in names if name in policy]),
        fast_reroute=table is not None and table.has("ecmp-fast-reroute"),
        maximum_ecmp=DEFAULT_MAXIMUM_ECMP if limit is None else limit,
        dlb=tuple(statements(dlb)),
        glb=" ".join(glb.children) or "plain" if glb is not None else "",
        policies=frozenset(names),
        table_line=table.line if table is not None else 0,
        ecmp_line=line(ecmp),
        dlb_line=dlb.line if dlb is not None else 0,
        glb_line=line(glb),
    )


def _balances_all(chain: list[Policy]) -> bool:
    """Return whether a chain balances every IPv6 route per flow and keeps none out of the forwarding table.

    A route that the chain rejects is not installed; a second way to balance some routes is not computed.
    """
    balanced = False
    for policy in chain:
        for term in policy.terms:
            if term.families and "inet6" not in term.families:
                continue
            if term.verdict == "reject" or term.load_balance not in ("", *PER_FLOW):
                return False
            balanced = balanced or (bool(term.load_balance) and term.matches_all)
            if term.verdict == "accept" and term.matches_all:
                return balanced
            if term.verdict == "next-policy" and term.matches_all:
                break
            # A route that leaves the chain here is not balanced by what follows.
            if term.verdict in ("accept", "next-policy") and not balanced:
                return False
    return balanced
