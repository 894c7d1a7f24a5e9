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
    kind("as-list-removed-leaf", delete(leaf("policy-options > as-list *")), "AILB208 AILB203"),
    kind("as-list-removed-spine", delete(spine("policy-options > as-list *")), "AILB208 AILB203"),
    kind("as-list-off-by-one", replace(leaf("policy-options > as-list *"), r"members (\d+)", add(1)), "AILB203"),
    kind("as-list-strange", replace(leaf("policy-options > as-list *"), r"members (\d+)", "64999"), "AILB203"),
    kind("as-list-narrow-end", replace(spine("policy-options > as-list *"), r"-(\d+);", add(-1)), "AILB203"),
    kind("as-list-narrow-start", replace(spine("policy-options > as-list *"), r"members (\d+)-", add(1)), "AILB203"),
    kind("as-list-wide-spine", replace(spine("policy-options > as-list *"), r"-(\d+);", add(500)), "AILB203"),
    kind(
        "as-list-wide-leaf",
        replace(
            leaf("policy-options > as-list *"),
            r"members (\d+);",
            lambda old: f"{int(old[:-1] + '1')}-{int(old[:-1] + '4')}",
        ),
        "AILB203",
    ),
    kind("as-lists-swapped", swap(leaf("policy-options > as-list *"), r"members (.+);"), "AILB203"),
    kind("local-as-differs", replace(switch(f"{GROUP} > local-as *"), r"\d+", add(1000)), "AILB202"),
    kind("local-as-off-by-one", replace(switch(f"{GROUP} > local-as *"), r"\d+", add(1)), "AILB202"),
    kind(
        "autonomous-system-differs",
        replace(switch("routing-options > autonomous-system *"), r"\d+", add(1000)),
        "AILB202",
    ),
    kind("autonomous-system-missing", delete(switch("routing-options > autonomous-system *")), "AILB202"),
    kind("leaf-as-swapped", trade(lambda tree: switches(tree, "leaf"), AS), "AILB202"),
    kind("spine-as-swapped", trade(lambda tree: switches(tree, "spine"), AS), "AILB202"),
    kind("leaf-as-twice", trade(lambda tree: switches(tree, "leaf"), AS, both=False), "AILB202"),
    kind("spine-as-twice", trade(lambda tree: switches(tree, "spine"), AS, both=False), "AILB202"),
    kind("router-id-twice", borrow(switch("routing-options > router-id *"), across=True), "AILB107"),
    kind("router-id-missing", delete(switch("routing-options > router-id *")), "AILB107"),
    kind("router-id-differs", replace(switch("routing-options > router-id *"), r"\.(\d+);", add(77)), "AILB107"),
)

KINDS = NUMBERS
