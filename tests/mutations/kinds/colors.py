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
    kind(
        "fabric-color-missing-leaf",
        "a leaf's sessions of a group have no color",
        delete(leaf(f"{GROUP} > fabric-color *")),
        "AILB303 AILB302",
    ),
    kind(
        "fabric-color-missing-spine",
        "a spine's sessions have no color",
        delete(spine(f"{GROUP} > fabric-color *")),
        "AILB303 AILB302",
    ),
    kind(
        "fabric-color-inactive",
        "a group's color is inactive",
        deactivate(switch(f"{GROUP} > fabric-color *")),
        "AILB303 AILB302",
    ),
    kind(
        "fabric-colors-swapped",
        "two groups have each other's color",
        swap(leaf(f"{GROUP} > fabric-color *"), r"color (.+);"),
        "AILB302",
    ),
    kind(
        "fabric-color-borrowed",
        "two groups have the same color",
        borrow(leaf(f"{GROUP} > fabric-color *"), r"color (.+);"),
        "AILB303 AILB302",
    ),
    kind(
        "fabric-color-of-another-spine",
        "a spine has the color of another",
        borrow(spine(f"{GROUP} > fabric-color *"), r"color (.+);", across=True),
        "AILB302",
    ),
    kind(
        "fabric-colors-of-spines-swapped",
        "two spines have each other's color",
        swap(spine(f"{GROUP} > fabric-color *"), r"color (.+);", across=True),
        "AILB302",
    ),
    kind(
        "fabric-color-undefined",
        "a group's color is not defined",
        replace(switch(f"{GROUP} > fabric-color *"), r"color (.+);", "violet"),
        "AILB208 AILB302",
    ),
    kind(
        "all-colors-missing",
        "no session of a leaf has a color",
        per_file(leaf(f"{GROUP} > fabric-color *"), r"(?s).+", ""),
        "AILB303 AILB302",
    ),
    kind(
        "color-missing",
        "a color's community is not defined",
        delete(switch("policy-options > community [!l]*")),
        "AILB301 AILB208",
    ),
    kind(
        "color-value-leaf",
        "a color has another value on one leaf",
        replace(leaf("policy-options > community *"), r"0:(\d+)", add(1)),
        "AILB301",
    ),
    kind(
        "color-value-spine",
        "a color has another value on one spine",
        replace(spine("policy-options > community * members color*"), r"0:(\d+)", add(10)),
        "AILB301",
    ),
    kind(
        "color-values-swapped-leaf",
        "two colors have each other's value on one leaf",
        swap(leaf("policy-options > community * members color*"), r"members (.+);"),
        "AILB301",
    ),
    kind(
        "color-values-swapped-spine",
        "two colors have each other's value on one spine",
        swap(spine("policy-options > community * members color*"), r"members (.+);"),
        "AILB301",
    ),
    kind(
        "color-values-equal",
        "two colors have the same value",
        borrow(switch("policy-options > community * members color*"), r"members (.+);"),
        "AILB301",
    ),
    kind(
        "color-no-color",
        "a color's community is no color community",
        replace(switch("policy-options > community * members color*"), r"members (color)", "target"),
        "AILB301",
    ),
    kind(
        "color-flags",
        "a color's community has other flags",
        replace(switch("policy-options > community * members color*"), r"color:(0)", "1"),
        "AILB301",
    ),
    kind(
        "color-renamed",
        "a color has another name on one switch",
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
    kind("advertise-removed", "a leaf advertises nothing", delete(leaf(ADVERTISE)), "AILB304"),
    kind("advertise-inactive", "a leaf's advertisements are inactive", deactivate(leaf(ADVERTISE)), "AILB304"),
    kind("advertise-route-missing", "a prefix is not advertised", delete(leaf(f"{ADVERTISE} > route *")), "AILB304"),
    kind(
        "advertise-route-inactive",
        "a prefix's advertisement is inactive",
        deactivate(leaf(f"{ADVERTISE} > route *")),
        "AILB304",
    ),
    kind(
        "advertise-no-color",
        "a prefix is advertised without color and backups",
        replace(leaf(f"{ADVERTISE} > route *"), r"( \{[^}]+\})", ";"),
        "AILB304",
    ),
    kind(
        "advertise-color-missing",
        "a prefix has backups but no color",
        delete(leaf(f"{ADVERTISE} > route * > color *")),
        "AILB304 AILB906",
    ),
    kind(
        "advertise-color-wrong",
        "a prefix has the color of another",
        borrow(leaf(f"{ADVERTISE} > route * > color *"), r"color (.+);"),
        "AILB304",
    ),
    kind(
        "advertise-colors-swapped",
        "two prefixes have each other's color",
        swap(leaf(f"{ADVERTISE} > route * > color *"), r"color (.+);"),
        "AILB304",
    ),
    kind(
        "advertise-color-undefined",
        "a prefix has a color that is not defined",
        replace(leaf(f"{ADVERTISE} > route * > color *"), r"color (.+);", "violet"),
        "AILB304 AILB208",
    ),
    kind(
        "advertise-all-colors",
        "a prefix is advertised in all colors alike",
        replace(leaf(f"{ADVERTISE} > route * > color *"), r"color (.+);", "all-colors"),
        "AILB304",
    ),
    kind(
        "backup-missing",
        "a prefix has no backup color",
        delete(leaf(f"{ADVERTISE} > route * > backup-color *")),
        "AILB305",
    ),
    kind(
        "backup-inactive",
        "a prefix's backup color is inactive",
        deactivate(leaf(f"{ADVERTISE} > route * > backup-color *")),
        "AILB305",
    ),
    kind(
        "backup-one-color",
        "a prefix has one backup color instead of all",
        replace(leaf(f"{ADVERTISE} > route * > backup-color *"), r"color (.+);", "orange"),
        "AILB305",
    ),
    kind(
        "backup-itself",
        "a prefix's backup is its own color",
        replace(leaf(f"{ADVERTISE} > route *", "color green"), r"backup-color (.+);", "green"),
        "AILB305",
    ),
    kind(
        "backup-undefined",
        "a prefix's backup color is not defined",
        replace(leaf(f"{ADVERTISE} > route * > backup-color *"), r"color (.+);", "violet"),
        "AILB305 AILB208",
    ),
    kind(
        "advertise-off-by-one",
        "an advertised prefix is off by one",
        replace(leaf(f"{ADVERTISE} > route *"), r"(\d+)::/64", lambda old: str(int(old) + 4)),
        "AILB304",
    ),
    kind(
        "advertise-twice",
        "a prefix is advertised twice, another not",
        borrow(leaf(f"{ADVERTISE} > route *"), r"route (\S+)"),
        "AILB304",
    ),
    kind(
        "advertise-longer",
        "an advertised prefix is longer than the IRB's",
        replace(leaf(f"{ADVERTISE} > route *"), r"/(64)", "80"),
        "AILB304",
    ),
    kind(
        "advertise-shorter",
        "an advertised prefix covers other leaves",
        replace(leaf(f"{ADVERTISE} > route *"), r"/(64)", "32"),
        "AILB304",
    ),
    kind(
        "advertise-of-another-leaf",
        "a leaf advertises the prefix of another",
        borrow(leaf(f"{ADVERTISE} > route *"), r"route (\S+)", across=True),
        "AILB304",
    ),
    kind(
        "advertise-on-spine",
        "a spine advertises a prefix",
        insert(
            spine("protocols > bgp"),
            ON_SPINE,
        ),
        "AILB304",
    ),
    kind(
        "advertise-prefixes-swapped-leaves",
        "two leaves advertise each other's prefix",
        swap(leaf(f"{ADVERTISE} > route *"), r"route (\S+)", across=True),
        "AILB304",
    ),
)

KINDS = (*COLORS, *ADVERTISED)
