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
    kind("gateway-of-another-rail", replace(DEFAULT, GATEWAY, hextet(2)), "AILB606 AILB605"),
    kind("gateway-of-another-stripe", replace(DEFAULT, GATEWAY, hextet(1)), "AILB606 AILB605"),
    kind("gateway-of-another-color", borrow(DEFAULT, r'via: "(.+)"'), "AILB606 AILB605"),
    kind("gateways-swapped", swap(DEFAULT, r'via: "(.+)"'), "AILB606 AILB605"),
    kind("gateway-two", replace(DEFAULT, r'::(1)"', "2"), "AILB606 AILB605"),
    kind("gateway-link-local", replace(DEFAULT, r'via: "(.+)"', "fe80::1"), "AILB605"),
    kind("gateway-no-via", replace(DEFAULT, r" *via: .*\n", ""), "AILB605"),
    kind("gateway-not-on-link", replace(DEFAULT, r"on-link: (true)", "false"), "AILB605"),
    kind("default-route-missing", delete(DEFAULT), "AILB605"),
    kind("default-route-narrow", replace(DEFAULT, r'"(::/0)"', "fc00:1::/32"), "AILB605"),
    kind("default-route-table", replace(DEFAULT, r"table: (\d+)", add(1)), "AILB605"),
    kind("default-route-main", replace(DEFAULT, r" *table: \d+\n", ""), "AILB605"),
    kind("default-route-ipv4", replace(DEFAULT, r'"(::/0)"', "0.0.0.0/0"), "AILB605"),
    kind("default-route-blackhole", replace(DEFAULT, r"(on-link: true)", "type: blackhole"), "AILB605"),
    kind("default-route-twice", replace(DEFAULT, r"(?s).+", lambda old: old + old.replace("::1", "::3")), "AILB605"),
    kind("default-route-metric", replace(DEFAULT, r"table: (\d+)", add(4)), "AILB605"),
    kind("prefix-route-missing", delete(ROUTE), "AILB605"),
    kind("prefix-route-off-by-one", replace(ROUTE, PREFIX, hextet(3)), "AILB605 AILB606"),
    kind("prefix-route-length", replace(ROUTE, r"/(64)", "48"), "AILB605"),
    kind("prefix-route-table", replace(ROUTE, r"table: (\d+)", add(1)), "AILB605"),
    kind("prefix-route-scope", replace(ROUTE, r"scope: (link)", "global"), "AILB605"),
    kind(
        "route-extra",
        replace(DEFAULT, r"(?s)\A()", '        - to: "fc00::/16"\n          scope: link\n'),
        "AILB603 AILB605",
    ),
)

RULES = (
    kind("rule-missing", delete(RULE), "AILB604"),
    kind("rules-missing", replace(NIC, r"(?s) {6}routing-policy:\n.*", ""), "AILB604"),
    kind("routes-missing", replace(NIC, r"(?s) {6}routes:\n.*(?= {6}routing)", ""), "AILB603 AILB605"),
    kind("rule-table", replace(RULE, r"table: (\d+)", add(1)), "AILB604"),
    kind("rule-tables-swapped", swap(RULE, r"table: (\d+)"), "AILB604"),
    kind("rule-table-strange", replace(RULE, r"table: (\d+)", "254"), "AILB604"),
    kind("rule-no-table", replace(RULE, r" *table: .*\n", ""), "AILB604"),
    kind("rule-prefix-color", borrow(RULE, PREFIX), "AILB604"),
    kind("rule-prefix-rail", replace(RULE, PREFIX, hextet(2)), "AILB604"),
    kind("rule-prefix-length", replace(RULE, r"/(64)", "48"), "AILB604"),
    kind("rule-prefix-host", replace(RULE, r"/(64)", "128"), "AILB604"),
    kind("rule-to", replace(RULE, r"- (from):", "to"), "AILB604"),
    kind("rule-priorities-equal", borrow(RULE, r"priority: (\d+)"), "AILB604"),
    kind("rule-priority-late", replace(RULE, r"priority: (\d+)", "40000"), "AILB604"),
    kind("rule-no-priority", replace(RULE, r" *priority: .*\n", ""), "AILB604"),
    kind("rule-priority", replace(RULE, r"priority: (\d+)", add(500)), "AILB604 AILB607"),
    kind(
        "rule-catch-all",
        replace(RULE, r"(?s)\A()", '        - from: "::/0"\n          table: 10000\n          priority: 10\n'),
        "AILB604",
    ),
)

NICS = (
    kind("nic-missing", delete(NIC), "AILB602"),
    kind("nic-renamed", replace(NIC, r"^    (\w+):", "ens1f0"), "AILB602"),
    kind("nics-swapped", swap(NIC, r"^    (\w+):"), "AILB602 AILB603 AILB606"),
    kind("nic-no-ra", setting("accept-ra", "true", "false"), "AILB609 AILB610"),
    kind("nic-ra-unset", delete(line("accept-ra: true")), "AILB609 AILB610"),
    kind("nic-dhcp4", setting("dhcp4", "false", "true"), "AILB609"),
    kind("nic-dhcp6", setting("dhcp6", "false", "true"), "AILB609"),
    kind("nic-ipv4", insert(line("accept-ra: true"), "      addresses: [192.0.2.7/24]"), "AILB609"),
    kind("nic-static", insert(line("accept-ra: true"), '      addresses: ["fc00:1:1:1::99/64"]'), "AILB609"),
    kind("nic-privacy", setting("ipv6-privacy", "false", "true"), "AILB609"),
    kind("nic-no-link-local", replace(line(r"link-local: \[ipv6\]"), r"\[(ipv6)\]", ""), "AILB609"),
    kind("nic-link-local-ipv4", replace(line(r"link-local: \[ipv6\]"), r"\[(ipv6)\]", "ipv4, ipv6"), "AILB609"),
    kind("nic-mtu-small", setting("mtu", "9000", "1500"), "AILB613"),
    kind("nic-mtu-large", setting("mtu", "9000", "9216"), "AILB613"),
    kind("nic-no-mtu", delete(line("mtu: 9000")), "AILB613"),
    kind(
        "nic-address-generation",
        insert(line("accept-ra: true"), "      ipv6-address-generation: stable-privacy"),
        "AILB609",
    ),
    kind("nic-ra-overrides", insert(line("accept-ra: true"), "      ra-overrides: {table: 77}"), "AILB609 AILB610"),
    kind("nic-gateway6", insert(line("accept-ra: true"), '      gateway6: "fe80::1"'), "AILB605 AILB609"),
    kind(
        "netplan-renderer",
        replace(line("renderer: networkd"), ": (networkd)", "NetworkManager"),
        "AILB601 AILB602 AILB609",
    ),
    kind("netplan-version", replace(line("version: 2"), ": (2)", "3"), "AILB601 AILB602 AILB609"),
    kind("netplan-profiles-swapped", swap(text(FILE, r"(?s)\A.+"), across=True), "AILB606 AILB602"),
    kind("netplan-prefixes-swapped", trade(lambda tree: files(tree, FILE), r'to: "(\w+:\w+):'), "AILB606"),
    kind("host-tables-shifted", per_file(text(FILE, r"table: 1\d+"), r"table: (1\d+)", add(16)), "AILB603"),
    kind(
        "host-color-order",
        in_turn(
            swap(DEFAULT, r'via: "(.+)"'),
            swap(text("*/usr/local/sbin/ailb-net", r"^\w+ 1\d{4} \w+_subnet.*$"), r" (\S+)$"),
        ),
        "AILB606 AILB607 AILB605",
    ),
    kind("hosts-mtu-everywhere", everywhere(line("mtu: 9000"), "9000", "4200"), "AILB613"),
)

BROKEN = (
    kind("netplan-not-yaml", replace(line("  ethernets:"), r"(ethernets):", "ethernets: ["), "AILB601"),
    kind("netplan-list", rewrite(FILE, lambda _: b"- network\n"), "AILB601"),
    kind("netplan-empty", rewrite(FILE, lambda _: b""), "AILB601"),
    kind("netplan-typo", replace(line("accept-ra: true"), "accept-ra", "acept-ra"), "AILB601 AILB609"),
    kind("netplan-text-for-number", setting("mtu", "9000", "jumbo"), "AILB601 AILB613"),
    kind("netplan-prefix-garbled", replace(ROUTE, r"::/64", ":::/64"), "AILB601 AILB605 AILB606"),
    kind("netplan-truncated", rewrite(FILE, lambda old: old[: len(old) // 2]), "AILB601"),
    kind("netplan-nic-twice", replace(NIC, r"(?s).+", lambda old: old + old), "AILB601"),
)
KINDS: tuple[Kind, ...] = (*GATEWAYS, *RULES, *NICS, *BROKEN)
