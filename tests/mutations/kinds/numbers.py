"""Damage to AS numbers, AS lists and router-ids."""

from __future__ import annotations

from tests.mutations.edits import (
    add,
    borrow,
    delete,
    replace,
    swap,
    trade,
)
from tests.mutations.kind import kind
from tests.mutations.spots import leaf, spine, switch, switches

GROUP = "protocols > bgp > group *"
AS = r"autonomous-system (\d+)"
NUMBERS = (
    kind(
        "as-list-removed-leaf",
        "an AS list is not defined",
        delete(leaf("policy-options > as-list *")),
        "AILB208 AILB203",
    ),
    kind(
        "as-list-removed-spine",
        "the AS list of the leaves is not defined",
        delete(spine("policy-options > as-list *")),
        "AILB208 AILB203",
    ),
    kind(
        "as-list-off-by-one",
        "the AS list of a color is off by one",
        replace(leaf("policy-options > as-list *"), r"members (\d+)", add(1)),
        "AILB203",
    ),
    kind(
        "as-list-strange",
        "the AS list of a color holds none of the fabric's",
        replace(leaf("policy-options > as-list *"), r"members (\d+)", "64999"),
        "AILB203",
    ),
    kind(
        "as-list-narrow-end",
        "the last leaf is not admitted",
        replace(spine("policy-options > as-list *"), r"-(\d+);", add(-1)),
        "AILB203",
    ),
    kind(
        "as-list-narrow-start",
        "the first leaf is not admitted",
        replace(spine("policy-options > as-list *"), r"members (\d+)-", add(1)),
        "AILB203",
    ),
    kind(
        "as-list-wide-spine",
        "more than the fabric's leaves are admitted",
        replace(spine("policy-options > as-list *"), r"-(\d+);", add(500)),
        "AILB203",
    ),
    kind(
        "as-list-wide-leaf",
        "all spines are admitted in every color",
        replace(
            leaf("policy-options > as-list *"),
            r"members (\d+);",
            lambda old: f"{int(old[:-1] + '1')}-{int(old[:-1] + '4')}",
        ),
        "AILB203",
    ),
    kind(
        "as-lists-swapped",
        "two AS lists hold each other's spines",
        swap(leaf("policy-options > as-list *"), r"members (.+);"),
        "AILB203",
    ),
    kind(
        "local-as-differs",
        "a group's local AS is not the switch's",
        replace(switch(f"{GROUP} > local-as *"), r"\d+", add(1000)),
        "AILB202",
    ),
    kind(
        "local-as-off-by-one",
        "a group's local AS is the neighbor's number",
        replace(switch(f"{GROUP} > local-as *"), r"\d+", add(1)),
        "AILB202",
    ),
    kind(
        "autonomous-system-differs",
        "the switch's AS is not its groups'",
        replace(switch("routing-options > autonomous-system *"), r"\d+", add(1000)),
        "AILB202",
    ),
    kind(
        "autonomous-system-missing",
        "a switch has no AS",
        delete(switch("routing-options > autonomous-system *")),
        "AILB202",
    ),
    kind(
        "leaf-as-swapped",
        "two leaves have each other's AS",
        trade(lambda tree: switches(tree, "leaf"), AS),
        "AILB202",
    ),
    kind(
        "spine-as-swapped",
        "two spines have each other's AS",
        trade(lambda tree: switches(tree, "spine"), AS),
        "AILB202",
    ),
    kind(
        "leaf-as-twice",
        "two leaves have the same AS",
        trade(lambda tree: switches(tree, "leaf"), AS, both=False),
        "AILB202",
    ),
    kind(
        "spine-as-twice",
        "two spines have the same AS",
        trade(lambda tree: switches(tree, "spine"), AS, both=False),
        "AILB202",
    ),
    kind(
        "router-id-twice",
        "two switches have the same router-id",
        borrow(switch("routing-options > router-id *"), across=True),
        "AILB107",
    ),
    kind("router-id-missing", "a switch has no router-id", delete(switch("routing-options > router-id *")), "AILB107"),
    kind(
        "router-id-differs",
        "a router-id is not the loopback",
        replace(switch("routing-options > router-id *"), r"\.(\d+);", add(77)),
        "AILB107",
    ),
)

KINDS = NUMBERS
