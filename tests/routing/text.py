"""A switch of a random fabric as Junos text, set commands or curly, to be read back."""

from __future__ import annotations

from collections.abc import Iterator

from ailb_gen.addresses import address_text
from ailb_gen.network.model import Group, Switch
from ailb_gen.network.policy import Policy, Term

Words = tuple[str, ...]


def set_text(switch: Switch) -> str:
    return "".join(f"set {' '.join(words)}\n" for words in statements(switch))


def curly_text(switch: Switch) -> str:
    tree: dict[str, dict] = {}  # type: ignore[type-arg]
    for words in statements(switch):
        at = tree
        for word in words:
            at = at.setdefault(word, {})
    return "".join(_curly(tree, ""))


def _curly(tree: dict[str, dict], indent: str) -> Iterator[str]:  # type: ignore[type-arg]
    for word, below in tree.items():
        if below:
            yield f"{indent}{word} {{\n"
            yield from _curly(below, indent + "    ")
            yield f"{indent}}}\n"
        else:
            yield f"{indent}{word};\n"


def statements(switch: Switch) -> Iterator[Words]:
    """Give every statement as its words."""
    yield "system", "host-name", switch.host_name
    for port in switch.ports.values():
        for unit in port.units:
            inet6 = ("interfaces", port.name, "unit", unit.name.rpartition(".")[2], "family", "inet6")
            yield inet6
            for address in unit.addresses:
                yield *inet6, "address", f"{address_text(address.value)}/{address.prefix.length}"
    for vlan in switch.vlans:
        if vlan.vlan_id is not None:
            yield "vlans", vlan.name, "vlan-id", str(vlan.vlan_id)
        if vlan.irb is not None:
            yield "vlans", vlan.name, "l3-interface", vlan.irb
    yield "routing-options", "autonomous-system", str(switch.asn)
    if switch.router_id is not None:
        yield "routing-options", "router-id", switch.router_id
    if switch.balancing.per_packet:
        yield "routing-options", "forwarding-table", "export", "PFE-LB"
    for name in switch.advertisements:
        yield "protocols", "router-advertisement", "interface", name
    for route in switch.routes:
        words: Words = ("protocols", "bgp", "fabric-advertise", "route", str(route.prefix))
        yield words
        if route.color is not None:
            yield *words, "color", route.color
        if route.backup is not None:
            yield *words, "backup-color", route.backup
    for group in switch.groups:
        for words in _group(group):
            yield "protocols", "bgp", "group", group.name, *words
    for words in (*_lists(switch), *(words for policy in switch.policies.values() for words in _policy(policy))):
        yield "policy-options", *words


def _group(group: Group) -> Iterator[Words]:
    yield "type", "external"
    yield "family", "inet6", "unicast", *(("aigp",) if group.aigp else ())
    for word, value in (
        ("fabric-color", group.color),
        ("local-as", str(group.local_as) if group.local_as is not None else None),
        ("peer-as-list", group.peer_as_list),
    ):
        if value is not None:
            yield word, value
    yield from (("import", name) for name in group.imports)
    yield from (("export", name) for name in group.exports)
    if group.multipath:
        yield ("multipath",)
    if group.multiple_as:
        yield "multipath", "multiple-as"
    if group.shutdown_sender:
        yield "graceful-shutdown", "sender"
    if group.shutdown_preference is None:
        yield "graceful-shutdown", "receiver", "disable"
    elif group.shutdown_preference:
        yield "graceful-shutdown", "receiver", "local-preference", str(group.shutdown_preference)
    for discovery in group.discoveries:
        words = ("dynamic-neighbor", discovery.name, "peer-auto-discovery")
        yield *words, "family", "inet6", "ipv6-nd"
        yield from ((*words, "interface", name) for name, _ in discovery.interfaces)


def _lists(switch: Switch) -> Iterator[Words]:
    for community in switch.communities.values():
        yield from (("community", community.name, "members", member) for member in community.members)
    for listed in switch.as_lists.values():
        yield from (("as-list", listed.name, "members", f"{low}-{high}") for low, high in listed.ranges)
    for prefixes in switch.prefix_lists.values():
        yield from (("prefix-list", prefixes.name, str(entry)) for entry in prefixes.prefixes)


def _policy(policy: Policy) -> Iterator[Words]:
    for term in policy.terms:
        for words in _term(term):
            yield "policy-statement", policy.name, *(("term", term.name) if term.name else ()), *words


def _term(term: Term) -> Iterator[Words]:
    for word, values in (
        ("family", term.families),
        ("protocol", term.protocols),
        ("community", term.communities),
        ("prefix-list", term.prefix_lists),
    ):
        yield from (("from", word, value) for value in values)
    for name, match in term.prefix_list_filters:
        yield "from", "prefix-list-filter", name, match
    for entry in term.route_filters:
        sizes = {"upto": (f"/{entry.high}",), "prefix-length-range": (f"/{entry.low}-/{entry.high}",)}
        yield "from", "route-filter", str(entry.prefix), entry.match, *sizes.get(entry.match, ())
    for how, name in term.changes:
        yield "then", "community", how, name
    if term.local_preference is not None:
        yield "then", "local-preference", str(term.local_preference)
    if term.metric is not None:
        yield "then", "metric", str(term.metric)
    if term.load_balance:
        yield "then", "load-balance", term.load_balance
    if term.verdict:
        yield "then", *term.verdict.split("-")
