"""Damage to colors: of sessions, of prefixes, and their communities."""

from __future__ import annotations

from tests.mutations.edits import (
    add,
    borrow,
    deactivate,
    delete,
    insert,
    per_file,
    replace,
    swap,
)
from tests.mutations.kind import kind
from tests.mutations.spots import leaf, spine, switch

GROUP = "protocols > bgp > group *"
ADVERTISE = "protocols > bgp > fabric-advertise"
COLORS = (
    kind("fabric-color-missing-leaf", delete(leaf(f"{GROUP} > fabric-color *")), "AILB303 AILB302"),
    kind("fabric-color-missing-spine", delete(spine(f"{GROUP} > fabric-color *")), "AILB303 AILB302"),
    kind("fabric-color-inactive", deactivate(switch(f"{GROUP} > fabric-color *")), "AILB303 AILB302"),
    kind("fabric-colors-swapped", swap(leaf(f"{GROUP} > fabric-color *"), r"color (.+);"), "AILB302"),
    kind("fabric-color-borrowed", borrow(leaf(f"{GROUP} > fabric-color *"), r"color (.+);"), "AILB303 AILB302"),
    kind(
        "fabric-color-of-another-spine",
        borrow(spine(f"{GROUP} > fabric-color *"), r"color (.+);", across=True),
        "AILB302",
    ),
    kind(
        "fabric-colors-of-spines-swapped",
        swap(spine(f"{GROUP} > fabric-color *"), r"color (.+);", across=True),
        "AILB302",
    ),
    kind(
        "fabric-color-undefined",
        replace(switch(f"{GROUP} > fabric-color *"), r"color (.+);", "violet"),
        "AILB208 AILB302",
    ),
    kind("all-colors-missing", per_file(leaf(f"{GROUP} > fabric-color *"), r"(?s).+", ""), "AILB303 AILB302"),
    kind("color-missing", delete(switch("policy-options > community [!l]*")), "AILB301 AILB208"),
    kind("color-value-leaf", replace(leaf("policy-options > community *"), r"0:(\d+)", add(1)), "AILB301"),
    kind(
        "color-value-spine",
        replace(spine("policy-options > community * members color*"), r"0:(\d+)", add(10)),
        "AILB301",
    ),
    kind(
        "color-values-swapped-leaf",
        swap(leaf("policy-options > community * members color*"), r"members (.+);"),
        "AILB301",
    ),
    kind(
        "color-values-swapped-spine",
        swap(spine("policy-options > community * members color*"), r"members (.+);"),
        "AILB301",
    ),
    kind(
        "color-values-equal", borrow(switch("policy-options > community * members color*"), r"members (.+);"), "AILB301"
    ),
    kind(
        "color-no-color",
        replace(switch("policy-options > community * members color*"), r"members (color)", "target"),
        "AILB301",
    ),
    kind("color-flags", replace(switch("policy-options > community * members color*"), r"color:(0)", "1"), "AILB301"),
    kind(
        "color-renamed",
        replace(switch("policy-options > community * members color*"), r"community (\S+)", "cyan"),
        "AILB301 AILB208",
    ),
)


ON_SPINE = """\
        fabric-advertise {
            route fc00:1:1:1::/64 {
                color green;
            }
        }"""
ADVERTISED = (
    kind("advertise-removed", delete(leaf(ADVERTISE)), "AILB304"),
    kind("advertise-inactive", deactivate(leaf(ADVERTISE)), "AILB304"),
    kind("advertise-route-missing", delete(leaf(f"{ADVERTISE} > route *")), "AILB304"),
    kind("advertise-route-inactive", deactivate(leaf(f"{ADVERTISE} > route *")), "AILB304"),
    kind("advertise-no-color", replace(leaf(f"{ADVERTISE} > route *"), r"( \{[^}]+\})", ";"), "AILB304"),
    kind("advertise-color-missing", delete(leaf(f"{ADVERTISE} > route * > color *")), "AILB304 AILB906"),
    kind("advertise-color-wrong", borrow(leaf(f"{ADVERTISE} > route * > color *"), r"color (.+);"), "AILB304"),
    kind("advertise-colors-swapped", swap(leaf(f"{ADVERTISE} > route * > color *"), r"color (.+);"), "AILB304"),
    kind(
        "advertise-color-undefined",
        replace(leaf(f"{ADVERTISE} > route * > color *"), r"color (.+);", "violet"),
        "AILB304 AILB208",
    ),
    kind(
        "advertise-all-colors",
        replace(leaf(f"{ADVERTISE} > route * > color *"), r"color (.+);", "all-colors"),
        "AILB304",
    ),
    kind("backup-missing", delete(leaf(f"{ADVERTISE} > route * > backup-color *")), "AILB305"),
    kind("backup-inactive", deactivate(leaf(f"{ADVERTISE} > route * > backup-color *")), "AILB305"),
    kind(
        "backup-one-color",
        replace(leaf(f"{ADVERTISE} > route * > backup-color *"), r"color (.+);", "orange"),
        "AILB305",
    ),
    kind(
        "backup-itself",
        replace(leaf(f"{ADVERTISE} > route *", "color green"), r"backup-color (.+);", "green"),
        "AILB305",
    ),
    kind(
        "backup-undefined",
        replace(leaf(f"{ADVERTISE} > route * > backup-color *"), r"color (.+);", "violet"),
        "AILB305 AILB208",
    ),
    kind(
        "advertise-off-by-one",
        replace(leaf(f"{ADVERTISE} > route *"), r"(\d+)::/64", lambda old: str(int(old) + 4)),
        "AILB304",
    ),
    kind("advertise-twice", borrow(leaf(f"{ADVERTISE} > route *"), r"route (\S+)"), "AILB304"),
    kind("advertise-longer", replace(leaf(f"{ADVERTISE} > route *"), r"/(64)", "80"), "AILB304"),
    kind("advertise-shorter", replace(leaf(f"{ADVERTISE} > route *"), r"/(64)", "32"), "AILB304"),
    kind("advertise-of-another-leaf", borrow(leaf(f"{ADVERTISE} > route *"), r"route (\S+)", across=True), "AILB304"),
    kind("advertise-on-spine", insert(spine("protocols > bgp"), ON_SPINE), "AILB304"),
    kind(
        "advertise-prefixes-swapped-leaves",
        swap(leaf(f"{ADVERTISE} > route *"), r"route (\S+)", across=True),
        "AILB304",
    ),
)

KINDS = (*COLORS, *ADVERTISED)
