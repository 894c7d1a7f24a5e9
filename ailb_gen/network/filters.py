"""Firewall filters of a switch's tree, where they are attached, and policers.

Source: Junos routing policies, firewall filters and traffic policers user guide: match conditions by family.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network

from ailb_gen.addresses import BITS, address_value, prefix_value
from ailb_gen.junos.substitution import Adapted
from ailb_gen.junos.tree import Node, Reuse, anew
from ailb_gen.network.cos import code_point
from ailb_gen.textio import line_field

# Names that Junos takes for numbers in match conditions (registries of IANA).
PROTOCOLS = {
    "hop-by-hop": 0, "icmp": 1, "igmp": 2, "ipip": 4, "tcp": 6, "egp": 8, "udp": 17, "ipv6": 41, "routing": 43,
    "fragment": 44, "rsvp": 46, "gre": 47, "esp": 50, "ah": 51, "icmp6": 58, "icmpv6": 58, "no-next-header": 59,
    "dstopts": 60, "ospf": 89, "pim": 103, "vrrp": 112, "sctp": 132,
}  # fmt: skip
ICMP6_TYPES = {
    "destination-unreachable": 1, "packet-too-big": 2, "time-exceeded": 3, "parameter-problem": 4,
    "echo-request": 128, "echo-reply": 129, "membership-query": 130, "membership-report": 131,
    "membership-termination": 132, "router-solicit": 133, "router-advertisement": 134, "neighbor-solicit": 135,
    "neighbor-advertisement": 136, "redirect": 137, "router-renumbering": 138, "node-information-request": 139,
    "node-information-reply": 140,
}  # fmt: skip
PORTS = {
    "ftp-data": 20, "ftp": 21, "ssh": 22, "telnet": 23, "smtp": 25, "tacacs": 49, "domain": 53, "tacacs-ds": 65,
    "bootps": 67, "dhcp": 67, "bootpc": 68, "tftp": 69, "finger": 79, "http": 80, "kerberos-sec": 88, "pop3": 110,
    "sunrpc": 111, "ident": 113, "nntp": 119, "ntp": 123, "netbios-ns": 137, "netbios-dgm": 138, "netbios-ssn": 139,
    "imap": 143, "snmp": 161, "snmptrap": 162, "xdmcp": 177, "bgp": 179, "ldap": 389, "mobileip-agent": 434,
    "mobilip-mn": 435, "https": 443, "snpp": 444, "biff": 512, "exec": 512, "login": 513, "who": 513, "cmd": 514,
    "syslog": 514, "printer": 515, "talk": 517, "ntalk": 518, "rip": 520, "timed": 525, "klogin": 543, "kshell": 544,
    "msdp": 639, "ldp": 646, "krb-prop": 754, "krbupdate": 760, "kpasswd": 761, "socks": 1080, "afs": 1483,
    "pptp": 1723, "radius": 1812, "radacct": 1813, "nfsd": 2049, "eklogin": 2105, "ekshell": 2106, "rkinit": 2108,
    "zephyr-srv": 2102, "zephyr-clt": 2103, "zephyr-hm": 2104, "cvspserver": 2401,
}  # fmt: skip


# Both ends included.
Span = tuple[int, int]
# What a match condition looks at, by its name without `-except`.
FIELDS = {
    **dict.fromkeys(("next-header", "payload-protocol", "protocol", "ip-protocol"), "protocol"),
    **{name: name for name in ("source-port", "destination-port", "port", "icmp-type", "hop-limit")},
    **dict.fromkeys(("traffic-class", "dscp"), "dscp"),
    **dict.fromkeys(("source-address", "ip6-source-address", "source-prefix-list"), "source"),
    **dict.fromkeys(("destination-address", "ip6-destination-address", "destination-prefix-list"), "destination"),
    **dict.fromkeys(("address", "prefix-list"), "address"),
    "ether-type": "ether-type",
}
NUMBERS = {"protocol": PROTOCOLS, "icmp-type": ICMP6_TYPES, "ether-type": {"ipv6": 0x86DD, "ipv4": 0x800, "arp": 0x806}}
NUMBERS |= dict.fromkeys(("source-port", "destination-port", "port"), PORTS)
PREFIXES = ("source", "destination", "address")
LISTS = ("source-prefix-list", "destination-prefix-list", "prefix-list")
EXCEPT = "-except"
# They count and copy; the packet continues unchanged.
WATCHING = frozenset({"count", "log", "syslog", "sample", "port-mirror", "port-mirror-instance", "packet-mode"})
DISCARDING = frozenset({"discard", "reject"})
UNITS = {"k": 10**3, "m": 10**6, "g": 10**9}


@dataclass(frozen=True, slots=True)
class Condition:
    """The condition of a term on one field: any of `spans`, and where prefixes overlap none of `excluded` is longer.

    `field` is empty when the condition is not evaluated. `negated` turns the answer around. IPv4 addresses stand apart.
    """

    text: str
    field: str
    spans: tuple[Span, ...] = ()
    excluded: tuple[Span, ...] = ()
    negated: bool = False
    spans4: tuple[Span, ...] = ()
    excluded4: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class FilterTerm:
    """A term: all conditions must hold. `verdict` is accept, discard or next; `changes` are the other actions."""

    name: str
    conditions: tuple[Condition, ...]
    verdict: str
    changes: tuple[tuple[str, str], ...]
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class Filter:
    """`firewall family FAMILY filter NAME`; what no term decides about is discarded."""

    name: str
    terms: tuple[FilterTerm, ...]
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class Attachment:
    """The place of filters: an interface such as `lo0.0`, a VLAN, or all forwarded packets (`forwarding-options`).

    `kind` is interface, vlan or forwarding. Of several filters the next is asked where one does not decide.
    """

    kind: str
    name: str
    family: str
    direction: str
    filters: tuple[str, ...]
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class Filters:
    """All filters by family and name, where they are attached, and what policers let through per second.

    The rate of a policer is in bits or in packets; 0 where it is not read.
    """

    defined: Mapping[tuple[str, str], Filter]
    attached: tuple[Attachment, ...]
    bits: Mapping[str, int]
    packets: Mapping[str, int]


def filters(root: Node, reuse: Reuse = anew) -> Filters:
    """Read `firewall` and everything that refers to a filter."""
    attached = tuple(_attached(root, reuse))
    if not attached:
        return Filters({}, (), {}, {})
    lists = {node.word: node for node in root.each("policy-options", "prefix-list")}
    defined = {}
    # A filter without a family is one of IPv4.
    families = [("inet", node) for node in (root.get("firewall"),) if node is not None]
    for word, family in (*families, *((family.word, family) for family in root.each("firewall", "family"))):
        for node in family.each("filter"):
            defined[word, node.word] = Filter(node.word, tuple(_terms(node, lists)), node.line)
    policers = tuple(root.each("firewall", "policer"))
    return Filters(
        defined,
        attached,
        {node.word: _rate(node.value("if-exceeding", "bandwidth-limit")) for node in policers},
        {node.word: _rate(node.value("if-exceeding-pps", "pps-limit")) for node in policers},
    )


def _attached(root: Node, reuse: Reuse) -> Iterator[Attachment]:
    interfaces = root.get("interfaces")
    if isinstance(interfaces, Adapted) and "filter" not in interfaces.words and not reuse(_at_ports, interfaces.like):
        interfaces = None
    if interfaces is not None:
        yield from _at_ports(interfaces)
    for vlan in root.each("vlans"):
        node = vlan.get("forwarding-options")
        if node is not None:
            yield from _at(node, "vlan", vlan.word, "ethernet-switching")
    for family in root.each("forwarding-options", "family"):
        yield from _at(family, "forwarding", f"family {family.word}", family.word)


def _at_ports(interfaces: Node, _: Reuse = anew) -> tuple[Attachment, ...]:
    return tuple(
        [
            found
            for port in interfaces
            for unit in port.each("unit")
            for family in unit.each("family")
            if "filter" in family.children
            for found in _at(family, "interface", f"{port.word}.{unit.word}", family.word)
        ]
    )


def _at(node: Node, kind: str, name: str, family: str) -> Iterator[Attachment]:
    for entry in node.each("filter"):
        direction, names = entry.word.removesuffix("-list"), tuple(entry.children)
        if direction in ("input", "output"):
            # Of a single filter the last one that is written counts.
            chosen = names if entry.word != direction else names[-1:]
            yield Attachment(kind, name, family, direction, chosen, entry.line)


def _terms(node: Node, lists: Mapping[str, Node]) -> Iterator[FilterTerm]:
    for entry in node.each("term"):
        yield _term(entry.word, entry, lists)
    if node.has("from") or node.has("then"):
        yield _term("", node, lists)


def _term(name: str, node: Node, lists: Mapping[str, Node]) -> FilterTerm:
    verdict, changes = "accept", []
    if "filter" in node.children:
        changes.append(("filter", node.value("filter") or ""))
    for action in node.each("then"):
        if action.word in DISCARDING:
            verdict = "discard"
        elif action.word == "next":
            verdict = "next"
        elif action.word != "accept" and action.word not in WATCHING:
            changes.append((action.word, next(iter(action.children), "")))
    return FilterTerm(name, tuple(_conditions(node, lists)), verdict, tuple(changes), node.line)


def _conditions(node: Node, lists: Mapping[str, Node]) -> Iterator[Condition]:
    """Yield one condition for each field: several words for the same field are alternatives."""
    rows: dict[tuple[str, bool], list[Node]] = defaultdict(list)
    for entry in node.each("from"):
        name = entry.word.removesuffix(EXCEPT)
        field = FIELDS.get(name, "")
        if field:
            rows[field, name != entry.word].append(entry)
        else:
            yield Condition(entry.word, "")
    for (field, negated), entries in rows.items():
        text = entries[0].word
        yield (
            _of_prefixes(text, field, entries, lists, negated)
            if field in PREFIXES
            else _of_numbers(text, field, entries, negated)
        )


def _of_numbers(text: str, field: str, entries: list[Node], negated: bool) -> Condition:
    spans = [_span(field, word) for entry in entries for word in entry.children]
    if None in spans:
        return Condition(text, "")
    return Condition(text, field, tuple(span for span in spans if span is not None), (), negated)


def _span(field: str, word: str) -> Span | None:
    if field == "dscp":
        value = code_point(word)
        if value is None and word.isascii() and word.isdigit():
            value = int(word)
        return None if value is None else (value, value)
    low, dash, high = word.partition("-")
    if low.isascii() and low.isdigit() and (not dash or (high.isascii() and high.isdigit())):
        return int(low), int(high if dash else low)
    known = NUMBERS.get(field, {}).get(word)
    return None if known is None else (known, known)


def _of_prefixes(text: str, field: str, entries: list[Node], lists: Mapping[str, Node], negated: bool) -> Condition:
    found: dict[tuple[int, bool], list[Span]] = defaultdict(list)
    for entry in entries:
        listed = entry.word.removesuffix(EXCEPT) in LISTS
        for value in entry:
            spans = _list_spans(lists.get(value.word)) if listed else _prefix_span(value.word)
            if spans is None:
                return Condition(text, "")
            for version, span in spans:
                found[version, value.has("except")].append(span)
    by_kind = {key: tuple(spans) for key, spans in found.items()}
    return Condition(
        text,
        field,
        by_kind.get((6, False), ()),
        by_kind.get((6, True), ()),
        negated,
        by_kind.get((4, False), ()),
        by_kind.get((4, True), ()),
    )


def _list_spans(node: Node | None) -> list[tuple[int, Span]] | None:
    """Return the prefixes of a list; None for a list that is not defined or filled by `apply-path`."""
    if node is None or node.has("apply-path"):
        return None
    found = [_prefix_span(entry.word) for entry in node]
    return None if None in found else [span for spans in found for span in spans or ()]


def _prefix_span(text: str) -> list[tuple[int, Span]] | None:
    """Return the version of IP and the addresses of a prefix; None for what is no prefix."""
    if "." in text and ":" not in text:
        try:
            network = IPv4Network(text, strict=False)
        except ValueError:
            return None
        return [(4, (int(network.network_address), int(network.broadcast_address)))]
    prefix = prefix_value(text)
    if prefix is not None:
        return [(6, (prefix.value, prefix.value | (1 << BITS - prefix.length) - 1))]
    value = address_value(text)
    return None if value is None else [(6, (value, value))]


def _rate(text: str | None) -> int:
    """Read a rate such as `10m`; 0 for none."""
    if not text:
        return 0
    factor = UNITS.get(text[-1:].lower(), 1)
    digits = text[:-1] if factor > 1 else text
    return int(digits) * factor if digits.isascii() and digits.isdigit() else 0
