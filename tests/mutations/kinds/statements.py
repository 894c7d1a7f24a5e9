"""Damage by one foreign statement: what switches a part of the fabric off, each on one switch."""

from __future__ import annotations

from tests.mutations.edits import Edit, insert, replace
from tests.mutations.kind import Kind, kind
from tests.mutations.spots import Selector, leaf, spine, switch

LINK, SERVER = r"description facing_", r"description to\."
PORT = "interfaces > et-*"
LOOPBACK = "interfaces > lo0"
CLASSES = "class-of-service"
POOL = "fc00:1:1:1"


def _curly(line: str) -> str:
    """Write a statement of words as blocks."""
    words = line.split()
    return f"{' { '.join(words)};{' }' * (len(words) - 1)}\n"


def _beside(*lines: str, of: Selector = switch("system")) -> Edit:  # noqa: B008  a selector is a constant
    """Put statements before a stanza, one damage for each switch."""
    return replace(of, r"^()\w", "".join(map(_curly, lines)))


def _ranged(selector: Selector, *statements: str) -> Edit:
    """Put a port into an interface-range with these statements."""

    def behind(block: str) -> str:
        body = " ".join(f"{statement};" for statement in statements)
        return f"{block}    interface-range fabric-ports {{ member {block.split(maxsplit=1)[0]}; {body} }}\n"

    return replace(selector, r"(?s)(.+)", behind)


def _filter(condition: str, action: str = "discard", family: str = "inet6") -> tuple[str, ...]:
    """Write a filter that does something to some packets and accepts the others."""
    head = f"firewall family {family} filter F term"
    return (f"{head} x from {condition}", f"{head} x then {action}", f"{head} y then accept")


def _unmodeled(name: str, what: str, *lines: str) -> Kind:
    return kind(f"statement-{name}", _beside(*lines), "AILB209")


INPUT = "filter {\n input F;\n }"
ON_LOOPBACK = "interfaces lo0 unit 0 family inet6 filter input F"
RANGES = (
    kind("ranged-disable", _ranged(switch(PORT, LINK), "disable"), "AILB108 AILB201"),
    kind(
        "ranged-mtu",
        _ranged(switch(PORT, LINK), "unit 0 family inet6 mtu 1400"),
        "AILB710"
    ),
    kind("ranged-server", _ranged(leaf(PORT, SERVER), "disable"), "AILB106"),
    kind("ranged-hold", _ranged(leaf(PORT, LINK), "hold-time down 9"), "AILB209"),
    kind(
        "ranged-all",
        _beside("interfaces interface-range all member et-*", "interfaces interface-range all disable"),
        "AILB108 AILB201"
    ),
    kind(
        "ranged-in-group",
        _beside(
            "groups g interfaces interface-range all member et-*", "groups g interfaces interface-range all disable",
            "apply-groups g",
        ),
        "AILB108 AILB201"
    ),
    kind(
        "group-disables",
        _beside("groups g interfaces <et-*> disable", "apply-groups g"),
        "AILB108 AILB201"
    ),
)  # fmt: skip
FILTERS = tuple(
    kind(f"filter-{name}", _beside(*_filter(condition), ON_LOOPBACK), "AILB212")
    for name, what, condition in (
        ("bgp", "BGP", "port bgp"),
        ("bgp-number", "BGP that comes in", "destination-port 179"),
        ("discovery", "ICMPv6", "next-header icmp6"),
        ("solicitations", "neighbor solicitations", "icmp-type neighbor-solicit"),
        ("bfd", "BFD", "destination-port 3784-3785"),
        ("links", "what comes from link-local addresses", "source-address fe80::/10"),
    )
)
MORE_FILTERS = (
    kind(
        "filter-end",
        _beside("firewall family inet6 filter F term x from destination-port ssh", ON_LOOPBACK),
        "AILB212"
    ),
    kind(
        "filter-roce-link",
        replace(switch(f"{PORT} > unit 0 > family inet6"), r"inet6(;)", f" {{ {INPUT} }}"),
        "AILB212"
    ),
    kind(
        "filter-roce-irb",
        _beside(
            *_filter("destination-port 4791"), "interfaces irb unit 2 family inet6 filter input F", of=leaf("system")
        ),
        "AILB212",
        ("lab",)
    ),
    kind(
        "filter-roce-all",
        _beside(*_filter("destination-port 4791"), "forwarding-options family inet6 filter input F"),
        "AILB212"
    ),
    kind(
        "filter-roce-class",
        _beside(
            *_filter("destination-port 4791", "forwarding-class best-effort"),
            "forwarding-options family inet6 filter input F",
        ),
        "AILB212"
    ),
)  # fmt: skip
UNMODELED = (
    _unmodeled("rpd", "the routing daemon is off", "system processes routing disable"),
    _unmodeled("ddos", "the switch accepts no BGP", "system ddos-protection protocols bgp aggregate bandwidth 0"),
    _unmodeled("commit-script", "a script changes the commit", "system scripts commit file x.py"),
    _unmodeled("event", "an event changes the switch", "event-options policy p then change-configuration commands x"),
    _unmodeled("power", "a line card is off", "chassis fpc 0 power off"),
    _unmodeled("unused", "a port does not exist", "chassis fpc 0 pic 0 port 0 unused"),
    _unmodeled("port-speed", "a port has another speed", "chassis fpc 0 pic 0 port 0 speed 100g"),
    _unmodeled("sub-ports", "a port is split otherwise", "chassis fpc 0 pic 0 port 0 number-of-sub-ports 8"),
    _unmodeled("mac-limit", "ports learn one address", "switch-options interface-mac-limit 1"),
    _unmodeled("instance", "an instance takes a link", "routing-instances x interface et-0/0/0.0"),
    _unmodeled("mgmt-instance", "mgmt_junos takes a link", "routing-instances mgmt_junos interface et-0/0/0.0"),
    _unmodeled("mgmt-port", "a management port is off", "interfaces re0:mgmt-0 disable"),
    _unmodeled("lo0", "the loopback is off", "interfaces lo0 unit 0 disable"),
    _unmodeled("discard", "a static route discards a prefix", f"routing-options static route {POOL}::/64 discard"),
    _unmodeled("rib-static", "the same in its table", f"routing-options rib inet6.0 static route {POOL}::/64 discard"),
    _unmodeled("aggregate", "an aggregate discards the pool", "routing-options aggregate route fc00::/16"),
    _unmodeled("resolution", "next hops are resolved elsewhere", "routing-options resolution rib inet6.0 import x"),
    _unmodeled("shutdown", "BGP is shut down", "protocols bgp shutdown"),
    _unmodeled("rstp", "a spanning tree runs", "protocols rstp interface all"),
    _unmodeled("mld", "multicast is snooped", "protocols mld-snooping vlan all"),
    _unmodeled(
        "ra-guard", "advertisements are dropped", "forwarding-options access-security router-advertisement-guard"
    ),
    _unmodeled("macsec", "links are encrypted", "security macsec interfaces et-0/0/0 connectivity-association x"),
    _unmodeled("logical", "a system of its own takes a link", "logical-systems x interfaces et-0/0/0 unit 0"),
    _unmodeled("openconfig", "another model configures, too", "openconfig-bgp:bgp global config as 1"),
)
OTHERS = (
    kind(
        "prefix-limit",
        insert(
            switch("protocols > bgp > group * > family inet6 > unicast"), "prefix-limit {\nmaximum 1;\nteardown;\n}"
        ),
        "AILB209"
    ),
    kind(
        "list-filter-action",
        replace(
            spine("policy-options > policy-statement FABRIC-OUT > term fabric > from"),
            r"(?s)(from.+)",
            "from { prefix-list-filter fabric-pool orlonger reject; }\n"
        ),
        "AILB209"
    ),
    kind(
        "loopback-steals",
        _beside(f"interfaces lo0 unit 0 family inet6 address {POOL}::77/128"),
        "AILB101 AILB102"
    ),
    kind(
        "port-steals",
        _beside(f"interfaces et-0/0/63 unit 0 family inet6 address {POOL}:1::1/96"),
        "AILB101 AILB102"
    ),
    kind("lldp-off", insert(switch("protocols > lldp"), "disable;"), "AILB210"),
    kind(
        "lldp-off-at-port",
        replace(
            switch(PORT, LINK),
            r"(?s)(.+)",
            lambda block: f"{block}}}\n{_curly(f'protocols lldp interface {block.split()[0]} disable')}interfaces {{\n"
        ),
        "AILB210"
    ),
    kind(
        "fec-one-end",
        insert(switch(PORT, LINK), "ether-options {\nfec fec91;\n}"),
        "AILB109"
    ),
    kind(
        "strict-high-twice",
        insert(switch(f"{CLASSES} > scheduler-maps > sm1"), "forwarding-class best-effort scheduler s2-cnp;"),
        "AILB701"
    ),
    kind("loopback-off", insert(switch(LOOPBACK), "disable;"), "AILB107 AILB209"),
    kind(
        "extra-config-number",
        replace(switch("system > ntp > server *"), r"250", "251"),
        "AILB010",
        ("brownfield",)
    ),
    kind(
        "split-port-off",
        insert(switch(PORT, "number-of-sub-ports"), "disable;"),
        "AILB106 AILB108",
        ("jvd",)
    ),
)  # fmt: skip
KINDS = (*RANGES, *FILTERS, *MORE_FILTERS, *UNMODELED, *OTHERS)
