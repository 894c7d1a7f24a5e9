"""What damages the trees does what it says."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.mutations import edits
from tests.mutations.catalogue import KINDS
from tests.mutations.kind import Kind, changes_of, chosen, places
from tests.mutations.spots import leaf, statements_of, switch
from tests.mutations.tree import Folder, Link, Tree, changed, copy_with, read_tree, sealed, write_tree

GOLDEN = ROOT / "tests" / "golden"
EXAMPLES = sorted({example for row in KINDS for example in row.examples})
TREES = {example: read_tree(GOLDEN / example) for example in EXAMPLES}

LEAF = """\
## one: leaf of fabric small, generic.
protocols {
    bgp {
        group a {
            color red;
            aigp;
        }
        group b {
            color blue;
        }
    }
}
"""
SMALL: Tree = {
    "switches/one.conf": LEAF.encode(),
    "switches/two.conf": LEAF.replace("one", "two").replace("red", "pink").encode(),
}
COLOR = leaf("protocols > bgp > group * > color *")
CAPTURED = r"color (\w+);"


def texts(edit: edits.Edit) -> list[dict[str, str]]:
    """Return the changed files of every damage, without what is equal in all of them."""
    rows = []
    for damage in edit(SMALL):
        assert damage.changes
        rows.append({path: entry.decode() for path, entry in damage.changes.items() if isinstance(entry, bytes)})
    return rows


def test_statements_have_paths_and_whole_lines() -> None:
    found = {path: LEAF[start:end] for path, start, end in statements_of(LEAF)}
    assert found["protocols", "bgp", "group a", "aigp"] == "            aigp;\n"
    assert found["protocols", "bgp", "group b"] == "        group b {\n            color blue;\n        }\n"
    assert len(found) == 7


def test_delete() -> None:
    assert texts(edits.delete(leaf("protocols > bgp > group a")))[0] == {
        "switches/one.conf": LEAF.replace(
            "        group a {\n            color red;\n            aigp;\n        }\n", ""
        )
    }


def test_selector_knows_roles_and_text() -> None:
    assert len(COLOR(SMALL)) == 4
    assert not edits.delete(leaf("protocols > bgp"))({"switches/s.conf": LEAF.replace("leaf", "spine").encode()})
    assert len(switch("protocols > bgp > group *", "aigp")(SMALL)) == 2


@pytest.mark.parametrize(
    ("edit", "colors"),
    [
        (edits.replace(COLOR, CAPTURED, "gray"), ["gray blue", "red gray", "gray blue", "pink gray"]),
        (edits.replace(COLOR, CAPTURED, str.upper), ["RED blue", "red BLUE", "PINK blue", "pink BLUE"]),
        (edits.swap(COLOR, CAPTURED), ["blue red", "blue pink"]),
        (edits.borrow(COLOR, CAPTURED), ["blue blue", "blue blue"]),
        (edits.borrow(COLOR, CAPTURED, across=True), ["pink blue"]),
        (edits.swap(COLOR, CAPTURED, across=True), ["pink blue / red blue"]),
        (edits.everywhere(COLOR, CAPTURED, "gray"), ["gray gray / gray gray"]),
        (edits.per_file(COLOR, CAPTURED, "gray"), ["gray gray", "gray gray"]),
        (edits.trade(list, CAPTURED), ["pink blue / red blue"]),
        (edits.trade(list, CAPTURED, both=False), ["pink blue"]),
        (
            edits.in_turn(edits.replace(COLOR, CAPTURED, "gray"), edits.swap(COLOR, CAPTURED)),
            ["blue gray"],
        ),
        (
            edits.deactivate(COLOR),
            ["inactive: red blue", "red inactive: blue", "inactive: pink blue", "pink inactive: blue"],
        ),
    ],
)
def test_edit_of_values(edit: edits.Edit, colors: list[str]) -> None:
    def values(file: str) -> str:
        words = [line.strip(" ;") for line in file.splitlines() if "color" in line]
        return " ".join(word.replace("color ", "") for word in words)

    assert [" / ".join(map(values, row.values())) for row in texts(edit)] == colors


def test_insert_goes_inside_a_block_and_behind_a_statement() -> None:
    inside, *_ = texts(edits.insert(leaf("protocols > bgp > group b"), "            new;"))
    assert "group b {\n            new;\n            color blue;" in inside["switches/one.conf"]
    behind, *_ = texts(edits.insert(COLOR, "            new;"))
    assert "color red;\n            new;\n            aigp;" in behind["switches/one.conf"]


def test_together_refuses_two_edits_of_one_file() -> None:
    with pytest.raises(ValueError, match="two edits"):
        edits.together(edits.delete(COLOR), edits.delete(COLOR))(SMALL)


def test_what_changes_nothing_is_refused() -> None:
    assert not edits.replace(COLOR, CAPTURED, lambda old: old)(SMALL)
    with pytest.raises(ValueError, match="nothing"):
        changed(SMALL, {"switches/one.conf": SMALL["switches/one.conf"]})
    with pytest.raises(ValueError, match="nothing"):
        changed(SMALL, {})


def test_writing_leaves_the_original_alone(tmp_path: Path) -> None:
    tree: Tree = {"a/file": b"old", "gone": b"old", "link": Link("a/file"), "kept": b"kept"}
    write_tree(tree, tmp_path / "base")
    copy_with(tmp_path / "base", {"a/file": b"new", "gone": None, "link": Link("kept"), "a/b": b"b"}, tmp_path / "copy")
    assert read_tree(tmp_path / "base") == tree
    assert read_tree(tmp_path / "copy") == {"a/b": b"b", "a/file": b"new", "kept": b"kept", "link": Link("kept")}
    copy_with(tmp_path / "base", {"kept": Folder()}, tmp_path / "folder")
    assert (tmp_path / "folder" / "kept").is_dir()


def test_seal_renews_digests() -> None:
    tree = TREES["lab"]
    changes = sealed(tree, {"cabling.csv": b"x", "servers/gpu-s1-1": Link("y"), "switches/spine1.conf": None})
    assert isinstance(changes["manifest.json"], bytes)
    recorded = json.loads(changes["manifest.json"])["files"]
    assert recorded["cabling.csv"] == hashlib.sha256(b"x").hexdigest()
    assert recorded["servers/gpu-s1-1"] == "link:y"
    assert "switches/spine1.conf" not in recorded


def test_golden_manifest_is_what_seal_writes() -> None:
    tree = TREES["lab"]
    changes = sealed(tree, {"cabling.csv": tree["cabling.csv"]})
    assert changes["manifest.json"] == tree["manifest.json"]


def test_kinds_have_names_of_their_own() -> None:
    names = [row.name for row in KINDS]
    assert len(set(names)) == len(names) >= 80
    assert all(row.named_by for row in KINDS)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("row", KINDS, ids=lambda row: row.name)
def test_kind_damages_every_place(row: Kind) -> None:
    for example in row.examples:
        tree = TREES[example]
        for damage in places(row, tree):
            assert changed(tree, damage.changes) != tree
        assert chosen(row, tree, example, 1) == chosen(row, tree, example, 1)
        damage = places(row, tree)[0]
        assert (changes_of(row, tree, damage) == damage.changes) is not row.seal
