"""Damage to BGP sessions and what they are made of."""

from __future__ import annotations

from tests.mutations.edits import (
    add,
    borrow,
    deactivate,
    delete,
    insert,
    replace,
    swap,
)
from tests.mutations.kind import kind
from tests.mutations.spots import leaf, spine, switch

GROUP = "protocols > bgp > group *"
NEIGHBOR = f"{GROUP} > dynamic-neighbor * > peer-auto-discovery"
AS = r"autonomous-system (\d+)"
INDENT = " " * 12
SESSIONS = (
    kind("bgp-removed", "a switch has no BGP", delete(switch("protocols > bgp")), "AILB201"),
    kind("bgp-inactive", "BGP is inactive", deactivate(switch("protocols > bgp")), "AILB201"),
    kind("leaf-group-removed", "a leaf lost the BGP group of a color", delete(leaf(GROUP)), "AILB201"),
    kind("spine-group-removed", "a spine lost its BGP group", delete(spine(GROUP)), "AILB201"),
    kind("group-inactive", "a BGP group is inactive", deactivate(switch(GROUP)), "AILB201"),
    kind(
        "group-internal",
        "a BGP group is internal",
        replace(switch(f"{GROUP} > type external"), "external", "internal"),
        "AILB201 AILB906",
    ),
    kind("group-no-type", "a BGP group has no type", delete(switch(f"{GROUP} > type external")), "AILB201 AILB207"),
    kind(
        "family-inet",
        "a group carries IPv4 routes",
        replace(switch(f"{GROUP} > family inet6"), "inet6", "inet"),
        "AILB201",
    ),
    kind("family-removed", "a group has no address family", delete(switch(f"{GROUP} > family inet6")), "AILB201"),
    kind(
        "family-multicast",
        "a group carries multicast routes",
        replace(switch(f"{GROUP} > family inet6 > unicast"), "unicast", "multicast"),
        "AILB201",
    ),
    kind(
        "aigp-missing-leaf",
        "a leaf's group does not send AIGP",
        delete(leaf(f"{GROUP} > family inet6 > unicast > aigp")),
        "AILB206",
    ),
    kind(
        "aigp-missing-spine",
        "a spine's group does not send AIGP",
        delete(spine(f"{GROUP} > family inet6 > unicast > aigp")),
        "AILB206",
    ),
    kind(
        "aigp-inactive", "AIGP is inactive", deactivate(switch(f"{GROUP} > family inet6 > unicast > aigp")), "AILB206"
    ),
    kind("multipath-missing", "a group has no multipath", delete(switch(f"{GROUP} > multipath")), "AILB205"),
    kind(
        "multiple-as-missing",
        "multipath needs equal AS numbers",
        delete(switch(f"{GROUP} > multipath > multiple-as")),
        "AILB205",
    ),
    kind("bfd-missing", "a group has no BFD", delete(switch(f"{GROUP} > bfd-liveness-detection")), "AILB204"),
    kind(
        "bfd-inactive", "a group's BFD is inactive", deactivate(switch(f"{GROUP} > bfd-liveness-detection")), "AILB204"
    ),
    kind(
        "bfd-interval",
        "a group has another BFD interval",
        replace(switch(f"{GROUP} > bfd-liveness-detection > minimum-interval *"), r"\d+", add(450)),
        "AILB204",
    ),
    kind(
        "bfd-multiplier",
        "a group has another BFD multiplier",
        replace(switch(f"{GROUP} > bfd-liveness-detection > multiplier *"), r"\d+", "20"),
        "AILB204",
    ),
    kind("neighbor-removed", "a group has no neighbors", delete(switch(f"{GROUP} > dynamic-neighbor *")), "AILB201"),
    kind("discovery-removed", "a group discovers no neighbors", delete(switch(NEIGHBOR)), "AILB201"),
    kind("discovery-inactive", "auto-discovery is inactive", deactivate(switch(NEIGHBOR)), "AILB201"),
    kind(
        "ipv6-nd-removed",
        "auto-discovery does not use neighbor discovery",
        delete(switch(f"{NEIGHBOR} > family inet6 > ipv6-nd")),
        "AILB201",
    ),
    kind(
        "discovery-family-removed",
        "auto-discovery has no family",
        delete(switch(f"{NEIGHBOR} > family inet6")),
        "AILB201",
    ),
    kind(
        "discovery-port-removed-leaf",
        "a leaf's group has no interface",
        delete(leaf(f"{NEIGHBOR} > interface *")),
        "AILB201",
    ),
    kind(
        "discovery-port-removed-spine",
        "a spine's group lacks the port to one leaf",
        delete(spine(f"{NEIGHBOR} > interface *")),
        "AILB201",
    ),
    kind(
        "discovery-port-inactive",
        "a port of a group is inactive",
        deactivate(switch(f"{NEIGHBOR} > interface *")),
        "AILB201",
    ),
    kind(
        "discovery-ports-swapped",
        "two groups have each other's uplink",
        swap(leaf(f"{NEIGHBOR} > interface *"), r"interface (.+);"),
        "AILB302 AILB203",
    ),
    kind(
        "discovery-port-of-another-color",
        "an uplink is in the groups of two colors",
        insert(leaf(f"{NEIGHBOR} > interface *0/0/[01]*"), " " * 20 + "interface et-0/0/2.0;"),
        "AILB207 AILB302",
        ("lab",),
    ),
    kind(
        "discovery-port-borrowed",
        "an uplink is in two groups, another in none",
        borrow(leaf(f"{NEIGHBOR} > interface *"), r"interface (.+);"),
        "AILB207 AILB302",
    ),
    kind(
        "discovery-port-unit",
        "auto-discovery is on unit 1",
        replace(switch(f"{NEIGHBOR} > interface *"), r"\.(0);", "1"),
        "AILB201",
    ),
    kind(
        "discovery-port-strange",
        "auto-discovery is on a port that is not there",
        replace(switch(f"{NEIGHBOR} > interface *"), r"0/0/(\d+)", "61"),
        "AILB201 AILB207",
    ),
    kind(
        "authentication",
        "a group has a key, which auto-discovery cannot have",
        insert(switch(GROUP), f'{INDENT}authentication-key "secret";'),
        "AILB207",
    ),
    kind(
        "group-allow",
        "a group has both auto-discovery and allow",
        insert(switch(GROUP), f"{INDENT}allow ::/0;"),
        "AILB207",
    ),
    kind(
        "multihop",
        "a group is multihop, which auto-discovery and colors cannot be",
        insert(switch(GROUP), f"{INDENT}multihop;"),
        "AILB207",
    ),
    kind(
        "local-preference",
        "routes of one group are preferred to AIGP",
        insert(leaf(GROUP), f"{INDENT}local-preference 200;"),
        "AILB209 AILB401",
    ),
    kind(
        "peer-as-list-missing-leaf",
        "a leaf's group admits no AS",
        delete(leaf(f"{GROUP} > peer-as-list *")),
        "AILB203 AILB201",
    ),
    kind(
        "peer-as-list-missing-spine",
        "a spine's group admits no AS",
        delete(spine(f"{GROUP} > peer-as-list *")),
        "AILB203 AILB201",
    ),
    kind(
        "peer-as-lists-swapped",
        "two groups admit each other's spines",
        swap(leaf(f"{GROUP} > peer-as-list *"), r"list (.+);"),
        "AILB203 AILB201",
    ),
    kind(
        "peer-as-list-borrowed",
        "a group admits the spines of another color",
        borrow(leaf(f"{GROUP} > peer-as-list *"), r"list (.+);"),
        "AILB203 AILB201",
    ),
    kind(
        "peer-as-list-undefined",
        "a group admits a list that is not there",
        replace(switch(f"{GROUP} > peer-as-list *"), r"list (.+);", "old-list"),
        "AILB208 AILB203",
    ),
    kind(
        "global-load-balancing-alone",
        "one switch alone takes part in GLB",
        insert(switch("protocols > bgp"), "        global-load-balancing;"),
        "AILB408 AILB209",
    ),
    kind(
        "lldp-removed",
        "a switch does not tell its neighbors what is cabled to what",
        delete(switch("protocols > lldp")),
        "AILB210",
    ),
    kind(
        "lldp-port-id",
        "LLDP tells ports by their index",
        delete(switch("protocols > lldp > port-id-subtype interface-name")),
        "AILB111",
    ),
    kind("log-updown", "sessions go down without a word", delete(switch("protocols > bgp > log-updown")), "AILB111"),
    kind(
        "local-as-missing", "a group leaves its AS number to others", delete(switch(f"{GROUP} > local-as *")), "AILB211"
    ),
    kind(
        "bfd-no-multiplier",
        "a group leaves BFD's multiplier to the release",
        delete(switch(f"{GROUP} > bfd-liveness-detection > multiplier *")),
        "AILB211",
    ),
    kind("lldp-interfaces", "LLDP runs on no interface", delete(switch("protocols > lldp > interface all")), "AILB210"),
)

KINDS = SESSIONS
