"""Damage to the servers' netplan: addresses, tables, rules, gateways."""

from __future__ import annotations

from collections.abc import Callable

from tests.mutations.edits import (
    Edit,
    add,
    borrow,
    delete,
    everywhere,
    in_turn,
    insert,
    per_file,
    replace,
    rewrite,
    swap,
    trade,
)
from tests.mutations.kind import Kind, kind
from tests.mutations.spots import Selector, files, text

FILE = "*/etc/netplan/60-ailb-gpu.yaml"
NIC = text(FILE, r"^    \w+:\n(?:     .*\n)+")
ROUTE = text(FILE, r'^        - to: "(?!::/0).*\n(?:          .*\n)+')
DEFAULT = text(FILE, r'^        - to: "::/0"\n(?:          .*\n)+')
RULE = text(FILE, r"^        - from: .*\n(?:          .*\n)+")
PREFIX = r'"(\w+:\w+:\w+:\w+::)/64"'


def line(pattern: str) -> Selector:
    """Select whole lines of netplan files."""
    return text(FILE, rf"^ *{pattern}\n")


def setting(key: str, old: str, new: str) -> Edit:
    """Change a NIC's setting."""
    return replace(line(f"{key}: {old}"), rf": ({old})", new)


def hextet(position: int) -> Callable[[str], str]:
    """Return a function that adds 1 to one of the four groups of a prefix such as `fc00:1:1:1::`."""

    def moved(prefix: str) -> str:
        groups = prefix.split(":")
        groups[position] = f"{int(groups[position], 16) + 1:x}"
        return ":".join(groups)

    return moved


GATEWAY = r'via: "(.+::)1"'
GATEWAYS = (
    kind(
        "gateway-of-another-rail",
        "a gateway is that of another rail",
        replace(DEFAULT, GATEWAY, hextet(2)),
        "AILB606 AILB605",
    ),
    kind(
        "gateway-of-another-stripe",
        "a gateway is that of another stripe",
        replace(DEFAULT, GATEWAY, hextet(1)),
        "AILB606 AILB605",
    ),
    kind(
        "gateway-of-another-color",
        "a gateway is that of another color",
        borrow(DEFAULT, r'via: "(.+)"'),
        "AILB606 AILB605",
    ),
    kind("gateways-swapped", "two tables have each other's gateway", swap(DEFAULT, r'via: "(.+)"'), "AILB606 AILB605"),
    kind("gateway-two", "a gateway is ::2", replace(DEFAULT, r'::(1)"', "2"), "AILB606 AILB605"),
    kind(
        "gateway-link-local",
        "a gateway is a link-local address",
        replace(DEFAULT, r'via: "(.+)"', "fe80::1"),
        "AILB605",
    ),
    kind("gateway-no-via", "a default route has no gateway", replace(DEFAULT, r" *via: .*\n", ""), "AILB605"),
    kind(
        "gateway-not-on-link",
        "a gateway is not marked as on-link",
        replace(DEFAULT, r"on-link: (true)", "false"),
        "AILB605",
    ),
    kind("default-route-missing", "a table has no default route", delete(DEFAULT), "AILB605"),
    kind(
        "default-route-narrow",
        "a default route is for the stripe only",
        replace(DEFAULT, r'"(::/0)"', "fc00:1::/32"),
        "AILB605",
    ),
    kind(
        "default-route-table",
        "a default route is in another table",
        replace(DEFAULT, r"table: (\d+)", add(1)),
        "AILB605",
    ),
    kind(
        "default-route-main", "a default route is in the main table", replace(DEFAULT, r" *table: \d+\n", ""), "AILB605"
    ),
    kind("default-route-ipv4", "a default route is IPv4", replace(DEFAULT, r'"(::/0)"', "0.0.0.0/0"), "AILB605"),
    kind(
        "default-route-blackhole",
        "a default route drops",
        replace(DEFAULT, r"(on-link: true)", "type: blackhole"),
        "AILB605",
    ),
    kind(
        "default-route-twice",
        "a table has two default routes",
        replace(DEFAULT, r"(?s).+", lambda old: old + old.replace("::1", "::3")),
        "AILB605",
    ),
    kind(
        "default-route-metric",
        "a default route has a table of another NIC",
        replace(DEFAULT, r"table: (\d+)", add(4)),
        "AILB605",
    ),
    kind("prefix-route-missing", "a table lacks the route to its prefix", delete(ROUTE), "AILB605"),
    kind(
        "prefix-route-off-by-one",
        "a table's prefix route is off by one",
        replace(ROUTE, PREFIX, hextet(3)),
        "AILB605 AILB606",
    ),
    kind("prefix-route-length", "a table's prefix route is a /48", replace(ROUTE, r"/(64)", "48"), "AILB605"),
    kind(
        "prefix-route-table", "a prefix route is in another table", replace(ROUTE, r"table: (\d+)", add(1)), "AILB605"
    ),
    kind(
        "prefix-route-scope",
        "a prefix route is not of scope link",
        replace(ROUTE, r"scope: (link)", "global"),
        "AILB605",
    ),
    kind(
        "route-extra",
        "a route to the pool is in the main table",
        replace(DEFAULT, r"(?s)\A()", '        - to: "fc00::/16"\n          scope: link\n'),
        "AILB603 AILB605",
    ),
)

RULES = (
    kind("rule-missing", "a prefix has no rule", delete(RULE), "AILB604"),
    kind("rules-missing", "a NIC has no rules", replace(NIC, r"(?s) {6}routing-policy:\n.*", ""), "AILB604"),
    kind(
        "routes-missing",
        "a NIC has no routes",
        replace(NIC, r"(?s) {6}routes:\n.*(?= {6}routing)", ""),
        "AILB603 AILB605",
    ),
    kind("rule-table", "a rule looks in the table of another color", replace(RULE, r"table: (\d+)", add(1)), "AILB604"),
    kind("rule-tables-swapped", "two rules look in each other's table", swap(RULE, r"table: (\d+)"), "AILB604"),
    kind(
        "rule-table-strange",
        "a rule looks in a table that is not there",
        replace(RULE, r"table: (\d+)", "254"),
        "AILB604",
    ),
    kind("rule-no-table", "a rule has no table", replace(RULE, r" *table: .*\n", ""), "AILB604"),
    kind("rule-prefix-color", "a rule is for the prefix of another color", borrow(RULE, PREFIX), "AILB604"),
    kind("rule-prefix-rail", "a rule is for the prefix of another rail", replace(RULE, PREFIX, hextet(2)), "AILB604"),
    kind("rule-prefix-length", "a rule is for a whole rail", replace(RULE, r"/(64)", "48"), "AILB604"),
    kind("rule-prefix-host", "a rule is for one address", replace(RULE, r"/(64)", "128"), "AILB604"),
    kind("rule-to", "a rule is for destinations, not sources", replace(RULE, r"- (from):", "to"), "AILB604"),
    kind("rule-priorities-equal", "two rules have one priority", borrow(RULE, r"priority: (\d+)"), "AILB604"),
    kind(
        "rule-priority-late", "a rule comes after the main table", replace(RULE, r"priority: (\d+)", "40000"), "AILB604"
    ),
    kind("rule-no-priority", "a rule has no priority", replace(RULE, r" *priority: .*\n", ""), "AILB604"),
    kind(
        "rule-priority",
        "a rule has a priority that the script does not know",
        replace(RULE, r"priority: (\d+)", add(500)),
        "AILB604 AILB607",
    ),
    kind(
        "rule-catch-all",
        "a rule before all others takes everything",
        replace(RULE, r"(?s)\A()", '        - from: "::/0"\n          table: 10000\n          priority: 10\n'),
        "AILB604",
    ),
)

NICS = (
    kind("nic-missing", "netplan lacks a NIC", delete(NIC), "AILB602"),
    kind("nic-renamed", "netplan has another name for a NIC", replace(NIC, r"^    (\w+):", "ens1f0"), "AILB602"),
    kind("nics-swapped", "two NICs have each other's settings", swap(NIC, r"^    (\w+):"), "AILB602 AILB603 AILB606"),
    kind("nic-no-ra", "a NIC ignores router advertisements", setting("accept-ra", "true", "false"), "AILB609 AILB610"),
    kind(
        "nic-ra-unset",
        "a NIC leaves router advertisements to the default",
        delete(line("accept-ra: true")),
        "AILB609 AILB610",
    ),
    kind("nic-dhcp4", "a NIC gets IPv4 addresses", setting("dhcp4", "false", "true"), "AILB609"),
    kind("nic-dhcp6", "a NIC gets addresses by DHCPv6", setting("dhcp6", "false", "true"), "AILB609"),
    kind(
        "nic-ipv4",
        "a NIC has an IPv4 address",
        insert(line("accept-ra: true"), "      addresses: [192.0.2.7/24]"),
        "AILB609",
    ),
    kind(
        "nic-static",
        "a NIC has a fixed IPv6 address",
        insert(line("accept-ra: true"), '      addresses: ["fc00:1:1:1::99/64"]'),
        "AILB609",
    ),
    kind("nic-privacy", "a NIC has temporary addresses", setting("ipv6-privacy", "false", "true"), "AILB609"),
    kind(
        "nic-no-link-local",
        "a NIC has no link-local address",
        replace(line(r"link-local: \[ipv6\]"), r"\[(ipv6)\]", ""),
        "AILB609",
    ),
    kind(
        "nic-link-local-ipv4",
        "a NIC has IPv4 link-local addresses",
        replace(line(r"link-local: \[ipv6\]"), r"\[(ipv6)\]", "ipv4, ipv6"),
        "AILB609",
    ),
    kind("nic-mtu-small", "a NIC has MTU 1500", setting("mtu", "9000", "1500"), "AILB613"),
    kind("nic-mtu-large", "a NIC's MTU is larger than its gateway's", setting("mtu", "9000", "9216"), "AILB613"),
    kind("nic-no-mtu", "a NIC has the default MTU", delete(line("mtu: 9000")), "AILB613"),
    kind(
        "nic-address-generation",
        "a NIC has other addresses than EUI-64",
        insert(line("accept-ra: true"), "      ipv6-address-generation: stable-privacy"),
        "AILB609",
    ),
    kind(
        "nic-ra-overrides",
        "a NIC uses another table for what it learns",
        insert(line("accept-ra: true"), "      ra-overrides: {table: 77}"),
        "AILB609 AILB610",
    ),
    kind(
        "nic-gateway6",
        "a NIC has a default route of its own",
        insert(line("accept-ra: true"), '      gateway6: "fe80::1"'),
        "AILB605 AILB609",
    ),
    kind(
        "netplan-renderer",
        "netplan leaves the NICs to NetworkManager",
        replace(line("renderer: networkd"), ": (networkd)", "NetworkManager"),
        "AILB601 AILB602 AILB609",
    ),
    kind(
        "netplan-version",
        "the netplan file is of an unknown version",
        replace(line("version: 2"), ": (2)", "3"),
        "AILB601 AILB602 AILB609",
    ),
    kind(
        "netplan-profiles-swapped",
        "the servers of a stripe have the file of another stripe",
        swap(text(FILE, r"(?s)\A.+"), across=True),
        "AILB606 AILB602",
    ),
    kind(
        "netplan-prefixes-swapped",
        "the servers of two stripes have each other's prefixes",
        trade(lambda tree: files(tree, FILE), r'to: "(\w+:\w+):'),
        "AILB606",
    ),
    kind(
        "host-tables-shifted",
        "all tables of a profile are another's in netplan, but not in the script",
        per_file(text(FILE, r"table: 1\d+"), r"table: (1\d+)", add(16)),
        "AILB603",
    ),
    kind(
        "host-color-order",
        "netplan and the script agree on two tables with each other's gateway",
        in_turn(
            swap(DEFAULT, r'via: "(.+)"'),
            swap(text("*/usr/local/sbin/ailb-net", r"^\w+ 1\d{4} \w+_subnet.*$"), r" (\S+)$"),
        ),
        "AILB606 AILB607 AILB605",
    ),
    kind(
        "hosts-mtu-everywhere",
        "all NICs of all hosts have MTU 4200",
        everywhere(line("mtu: 9000"), "9000", "4200"),
        "AILB613",
    ),
)

BROKEN = (
    kind(
        "netplan-not-yaml",
        "a netplan file is no YAML",
        replace(line("  ethernets:"), r"(ethernets):", "ethernets: ["),
        "AILB601",
    ),
    kind("netplan-list", "a netplan file is a list", rewrite(FILE, lambda _: b"- network\n"), "AILB601"),
    kind("netplan-empty", "a netplan file is empty", rewrite(FILE, lambda _: b""), "AILB601"),
    kind(
        "netplan-typo",
        "a key of netplan is misspelled",
        replace(line("accept-ra: true"), "accept-ra", "acept-ra"),
        "AILB601 AILB609",
    ),
    kind("netplan-text-for-number", "an MTU is a word", setting("mtu", "9000", "jumbo"), "AILB601 AILB613"),
    kind(
        "netplan-prefix-garbled", "a prefix is no prefix", replace(ROUTE, r"::/64", ":::/64"), "AILB601 AILB605 AILB606"
    ),
    kind(
        "netplan-truncated",
        "a netplan file ends in the middle",
        rewrite(FILE, lambda old: old[: len(old) // 2]),
        "AILB601",
    ),
    kind(
        "netplan-nic-twice",
        "a NIC stands twice in a netplan file",
        replace(NIC, r"(?s).+", lambda old: old + old),
        "AILB601",
    ),
)
KINDS: tuple[Kind, ...] = (*GATEWAYS, *RULES, *NICS, *BROKEN)
