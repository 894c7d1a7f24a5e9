"""Damage to what kinds of servers, several speeds and spare ports add."""

from __future__ import annotations

from collections.abc import Callable

from tests.mutations.edits import delete, insert, put, replace
from tests.mutations.kind import kind
from tests.mutations.kinds.ports import PORT
from tests.mutations.spots import files, leaf, text
from tests.mutations.tree import Changes, Link, Tree

MIXED = ("mixed",)
ENVIRONMENT = "etc/ailb/nccl.env"
STORAGE = text("cabling.csv", r"^.*,store-.*\n")


def relinked(names: str, old: str, new: str) -> Callable[[Tree], list[Changes]]:
    """Give servers the profile of others."""
    return lambda tree: [
        {path: Link(f"../profiles/{new}")}
        for path, entry in tree.items()
        if path.startswith(f"servers/{names}") and entry == Link(f"../profiles/{old}")
    ]


def swapped(tree: Tree) -> list[Changes]:
    """Exchange the files of two profiles."""
    one, other = "profiles/stripe1/", "profiles/stripe1-storage/"
    ends = [(one, other), (other, one)]
    rows = {new + path.removeprefix(old): tree[path] for old, new in ends for path in files(tree, f"{old}*")}
    gone = {path: None for folder in (one, other) for path in files(tree, f"{folder}*") if path not in rows}
    return [{path: entry for path, entry in rows.items() if tree.get(path) != entry} | gone]


def with_environment(tree: Tree) -> list[Changes]:
    """Add a file that only servers with GPUs have."""
    return [{f"profiles/stripe1-storage/{ENVIRONMENT}": tree[f"profiles/stripe1/{ENVIRONMENT}"]}]


def without_environment(tree: Tree) -> list[Changes]:
    """Remove it from those."""
    return [{path: None} for path in files(tree, f"*/{ENVIRONMENT}")]


SPEEDS = (
    kind(
        "kind-faster", replace(leaf(PORT, "to.b200"), r"(?m)^()        mtu", "        speed 400g;\n"), "AILB109", MIXED
    ),
    kind("kind-split", insert(leaf(PORT, "to.b200"), "number-of-sub-ports 2;\nspeed 400g;"), "AILB109", MIXED),
    kind("kind-sub-ports", replace(leaf(f"{PORT} > number-of-sub-ports 4"), "4", "2"), "AILB109", MIXED),
    kind("kind-breakout-speed", replace(leaf(f"{PORT} > speed 200g"), "200g", "100g"), "AILB109", MIXED),
    kind("kind-cable-speed", replace(text("cabling.csv", "^.*,b200-.*\n"), "800g", "400g"), "AILB009", MIXED),
)
CABLES = (
    kind("storage-other-rail", replace(STORAGE, r"leaf([13]),", "2"), "AILB009", MIXED),
    kind("storage-rail-cell", replace(STORAGE, r"host,,(\d)", "1"), "AILB009", MIXED),
    kind("storage-rail-empty", replace(STORAGE, r"host,,(\d)", ""), "AILB009", MIXED),
    kind(
        "leaf-rail",
        replace(text("topology.json", r'^  \{"name": .*"rail": .*\n'), r'"rail": (\d)', "7"),
        "AILB008",
        MIXED,
    ),
)
PROFILES = (
    kind("environment-of-storage", put(with_environment), "AILB601", MIXED),
    kind("environment-missing", put(without_environment), "AILB601", MIXED),
    kind("profiles-swapped", put(swapped), "AILB601", MIXED),
    kind("storage-with-gpus", put(relinked("store", "stripe1-storage", "stripe1")), "AILB606", MIXED),
    kind("gpus-as-storage", put(relinked("h100", "stripe2", "stripe2-storage")), "AILB606", MIXED),
    kind("other-generation", put(relinked("h100", "stripe2", "stripe2-b200")), "AILB606", MIXED),
)
SPARE = (
    kind("spare-removed", delete(leaf(PORT, "description spare;")), "AILB113", MIXED),
    kind("spare-enabled", replace(leaf(PORT, "description spare;"), r" *disable;\n", ""), "AILB113", MIXED),
    kind("spare-unit", insert(leaf(PORT, "description spare;"), "unit 0 {\nfamily inet6;\n}"), "AILB113", MIXED),
    kind("spare-speed", insert(leaf(PORT, "description spare;"), "speed 400g;"), "AILB113", MIXED),
    kind(
        "spare-split", insert(leaf(PORT, "description spare;"), "number-of-sub-ports 2;\nspeed 400g;"), "AILB113", MIXED
    ),
)
KINDS = (*SPEEDS, *CABLES, *PROFILES, *SPARE)
