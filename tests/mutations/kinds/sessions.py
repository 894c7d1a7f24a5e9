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
    kind("bgp-removed", delete(switch("protocols > bgp")), "AILB201"),
    kind("bgp-inactive", deactivate(switch("protocols > bgp")), "AILB201"),
    kind("leaf-group-removed", delete(leaf(GROUP)), "AILB201"),
    kind("spine-group-removed", delete(spine(GROUP)), "AILB201"),
    kind("group-inactive", deactivate(switch(GROUP)), "AILB201"),
    kind("group-internal", replace(switch(f"{GROUP} > type external"), "external", "internal"), "AILB201 AILB906"),
    kind("group-no-type", delete(switch(f"{GROUP} > type external")), "AILB201 AILB207"),
    kind("family-inet", replace(switch(f"{GROUP} > family inet6"), "inet6", "inet"), "AILB201"),
    kind("family-removed", delete(switch(f"{GROUP} > family inet6")), "AILB201"),
    kind("family-multicast", replace(switch(f"{GROUP} > family inet6 > unicast"), "unicast", "multicast"), "AILB201"),
    kind("aigp-missing-leaf", delete(leaf(f"{GROUP} > family inet6 > unicast > aigp")), "AILB206"),
    kind("aigp-missing-spine", delete(spine(f"{GROUP} > family inet6 > unicast > aigp")), "AILB206"),
    kind("aigp-inactive", deactivate(switch(f"{GROUP} > family inet6 > unicast > aigp")), "AILB206"),
    kind("shutdown-sender", insert(spine("protocols > bgp"), " " * 8 + "graceful-shutdown { sender; }"), "AILB213"),
    kind("shutdown-sender-leaf", insert(leaf(GROUP), INDENT + "graceful-shutdown { sender; }"), "AILB213"),
    kind("shutdown-ignored", insert(leaf(GROUP), INDENT + "graceful-shutdown { receiver { disable; } }"), "AILB213"),
    kind("multipath-missing", delete(switch(f"{GROUP} > multipath")), "AILB205"),
    kind("multiple-as-missing", delete(switch(f"{GROUP} > multipath > multiple-as")), "AILB205"),
    kind("bfd-missing", delete(switch(f"{GROUP} > bfd-liveness-detection")), "AILB204"),
    kind("bfd-inactive", deactivate(switch(f"{GROUP} > bfd-liveness-detection")), "AILB204"),
    kind(
        "bfd-interval",
        replace(switch(f"{GROUP} > bfd-liveness-detection > minimum-interval *"), r"\d+", add(450)),
        "AILB204",
    ),
    kind(
        "bfd-multiplier", replace(switch(f"{GROUP} > bfd-liveness-detection > multiplier *"), r"\d+", "20"), "AILB204"
    ),
    kind("neighbor-removed", delete(switch(f"{GROUP} > dynamic-neighbor *")), "AILB201"),
    kind("discovery-removed", delete(switch(NEIGHBOR)), "AILB201"),
    kind("discovery-inactive", deactivate(switch(NEIGHBOR)), "AILB201"),
    kind("ipv6-nd-removed", delete(switch(f"{NEIGHBOR} > family inet6 > ipv6-nd")), "AILB201"),
    kind("discovery-family-removed", delete(switch(f"{NEIGHBOR} > family inet6")), "AILB201"),
    kind("discovery-port-removed-leaf", delete(leaf(f"{NEIGHBOR} > interface *")), "AILB201"),
    kind("discovery-port-removed-spine", delete(spine(f"{NEIGHBOR} > interface *")), "AILB201"),
    kind("discovery-port-inactive", deactivate(switch(f"{NEIGHBOR} > interface *")), "AILB201"),
    kind("discovery-ports-swapped", swap(leaf(f"{NEIGHBOR} > interface *"), r"interface (.+);"), "AILB302 AILB203"),
    kind(
        "discovery-port-of-another-color",
        insert(leaf(f"{NEIGHBOR} > interface *0/0/[01]*"), " " * 20 + "interface et-0/0/2.0;"),
        "AILB207 AILB302",
        ("lab",),
    ),
    kind("discovery-port-borrowed", borrow(leaf(f"{NEIGHBOR} > interface *"), r"interface (.+);"), "AILB207 AILB302"),
    kind("discovery-port-unit", replace(switch(f"{NEIGHBOR} > interface *"), r"\.(0);", "1"), "AILB201"),
    kind("discovery-port-strange", replace(switch(f"{NEIGHBOR} > interface *"), r"0/0/(\d+)", "61"), "AILB201 AILB207"),
    kind("authentication", insert(switch(GROUP), f'{INDENT}authentication-key "secret";'), "AILB207"),
    kind("group-allow", insert(switch(GROUP), f"{INDENT}allow ::/0;"), "AILB207"),
    kind("multihop", insert(switch(GROUP), f"{INDENT}multihop;"), "AILB207"),
    kind("local-preference", insert(leaf(GROUP), f"{INDENT}local-preference 200;"), "AILB209 AILB401"),
    kind("peer-as-list-missing-leaf", delete(leaf(f"{GROUP} > peer-as-list *")), "AILB203 AILB201"),
    kind("peer-as-list-missing-spine", delete(spine(f"{GROUP} > peer-as-list *")), "AILB203 AILB201"),
    kind("peer-as-lists-swapped", swap(leaf(f"{GROUP} > peer-as-list *"), r"list (.+);"), "AILB203 AILB201"),
    kind("peer-as-list-borrowed", borrow(leaf(f"{GROUP} > peer-as-list *"), r"list (.+);"), "AILB203 AILB201"),
    kind(
        "peer-as-list-undefined",
        replace(switch(f"{GROUP} > peer-as-list *"), r"list (.+);", "old-list"),
        "AILB208 AILB203",
    ),
    kind("global-load-balancing-alone", insert(switch("protocols > bgp"), "global-load-balancing;"), "AILB408 AILB209"),
    kind("lldp-removed", delete(switch("protocols > lldp")), "AILB210"),
    kind("lldp-port-id", delete(switch("protocols > lldp > port-id-subtype interface-name")), "AILB111"),
    kind("log-updown", delete(switch("protocols > bgp > log-updown")), "AILB111"),
    kind("local-as-missing", delete(switch(f"{GROUP} > local-as *")), "AILB211"),
    kind("bfd-no-multiplier", delete(switch(f"{GROUP} > bfd-liveness-detection > multiplier *")), "AILB211"),
    kind("lldp-interfaces", delete(switch("protocols > lldp > interface all")), "AILB210"),
)
STATIC = f"{GROUP} > neighbor *"
ADDRESS = "interfaces > et-* > unit 0 > family inet6 > address *"
OWN = ("static",)
STATICS = (
    kind("static-neighbor-removed", delete(switch(STATIC)), "AILB201", OWN),
    kind("static-neighbor-inactive", deactivate(switch(STATIC)), "AILB201", OWN),
    kind("static-neighbor-disabled", insert(switch(STATIC), " " * 16 + "disable;"), "AILB201", OWN),
    kind("static-neighbor-elsewhere", replace(switch(STATIC), r"fd00::(\w)", "9"), "AILB201 AILB207", OWN),
    kind("static-neighbor-strange", insert(switch(GROUP), f"{INDENT}neighbor 2001:db8::1;"), "AILB207", OWN),
    kind("static-neighbor-allow", insert(switch(GROUP), f"{INDENT}allow ::/0;"), "AILB207", OWN),
    kind("static-neighbor-multihop", insert(switch(STATIC), " " * 16 + "multihop;"), "AILB209", OWN),
    kind("static-neighbor-multipath", insert(switch(STATIC), " " * 16 + "multipath disable;"), "AILB205", OWN),
    kind("static-group-internal", replace(switch(f"{GROUP} > type external"), "external", "internal"), "AILB201", OWN),
    kind("static-group-no-type", delete(switch(f"{GROUP} > type external")), "AILB207", OWN),
    kind("static-group-removed", delete(switch(GROUP)), "AILB201", OWN),
    kind("static-group-bfd", delete(switch(f"{GROUP} > bfd-liveness-detection")), "AILB204", OWN),
    kind("static-group-aigp", delete(switch(f"{GROUP} > family inet6 > unicast > aigp")), "AILB206", OWN),
    kind("static-group-local-as", delete(switch(f"{GROUP} > local-as *")), "AILB211", OWN),
    kind("static-color-removed", delete(switch(f"{STATIC} > fabric-color *")), "AILB302", OWN),
    kind("static-colors-swapped", swap(switch(f"{STATIC} > fabric-color *"), r"color (.+);"), "AILB302", OWN),
    kind("static-color-borrowed", borrow(switch(f"{STATIC} > fabric-color *"), r"color (.+);"), "AILB302", OWN),
    kind(
        "static-color-undefined", replace(switch(f"{STATIC} > fabric-color *"), r"color (.+);", "old"), "AILB208", OWN
    ),
    kind("static-peer-as", replace(switch(f"{STATIC} > peer-as *"), r"\d+", add(7)), "AILB203 AILB201", OWN),
    kind("static-peer-as-removed", delete(switch(f"{STATIC} > peer-as *")), "AILB203 AILB201", OWN),
    kind("static-address-removed", delete(switch(ADDRESS)), "AILB102 AILB201", OWN),
    kind("static-address-of-the-peer", replace(switch(ADDRESS), r"(\w)/127", "f"), "AILB102 AILB201", OWN),
    kind("static-addresses-swapped", swap(switch(ADDRESS), r"address (.+);"), "AILB102 AILB201", OWN),
    kind("static-address-length", replace(switch(ADDRESS), r"/(127)", "64"), "AILB102", OWN),
)

KINDS = (*SESSIONS, *STATICS)
