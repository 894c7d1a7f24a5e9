"""An artifact directory to a network: what is fine, and every bad input."""

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ailb_gen.errors import UsageError
from ailb_gen.junos.tree import Node
from ailb_gen.layout import CABLING, TOPOLOGY
from ailb_gen.network.fabric import Defect
from ailb_gen.network.read import Reading, read_network, switch_count
from tests.network.lab import LAB, LEAF, TEXTS

HINT = "name the directory that 'ailb-gen generate -o DIR' wrote"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return Path(shutil.copytree(LAB, tmp_path / "lab"))


def words(written: Node, tree: Node) -> tuple[str, ...]:
    return tuple(written.children)


def reading(root: Path) -> Reading[tuple[str, ...]]:
    return read_network(root, words)


def defects(root: Path) -> list[Defect]:
    return list(reading(root).network.defects)


def test_the_lab(tree: Path) -> None:
    found = reading(tree)
    assert not found.network.defects
    assert list(found.network.switches) == sorted(found.network.switches)
    assert set(found.network.roles.values()) == {"leaf", "spine"}
    assert found.network.roles["stripe2-leaf2"] == "leaf"
    assert len(found.network.hosts) == 4
    assert found.inspected["spine1"] == ("system", "interfaces", *found.inspected["spine1"][2:])
    assert [len(found.records[file]) for file in (TOPOLOGY, CABLING)] == [34, 24]
    assert switch_count(tree) == 8


def test_progress_and_executor_change_nothing(tree: Path) -> None:
    steps: list[int] = []
    with ThreadPoolExecutor(2) as executor:
        found = read_network(tree, words, executor, steps.append)
    assert sum(steps) == 8
    assert found == reading(tree)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path: None, "there is no such directory"),
        (lambda path: path.write_text("x"), "this is a file"),
        (lambda path: path.mkdir(), "there is no switches/ in it"),
        (lambda path: (path.mkdir(), (path / "switches").write_text("x")), "there is no switches/ in it"),
    ],
)
def test_no_artifact_directory(tmp_path: Path, make: Callable[[Path], object], reason: str) -> None:
    root = tmp_path / "out"
    make(root)
    with pytest.raises(UsageError) as caught:
        reading(root)
    assert str(caught.value) == f"{root}: {reason}; {HINT}"


STALE = "switches/spine1.conf describes the same switch; only that one was read; delete the stale one"


@pytest.mark.parametrize(
    ("file", "text", "kind", "scope", "message", "line"),
    [
        (LEAF, b"system {\n  host-name x", "unreadable", "stripe1-leaf1", "not Junos text: ", 1),
        (LEAF, b"a;\n}\n", "unreadable", "stripe1-leaf1", "not Junos text: ", 2),
        (LEAF, b"\xff\xfe\x00", "unreadable", "stripe1-leaf1", "", None),
        (LEAF, b"a\0b;", "unreadable", "stripe1-leaf1", "", None),
        (TOPOLOGY, None, "unreadable", TOPOLOGY, "", None),
        (TOPOLOGY, b"{", "unreadable", TOPOLOGY, "not JSON: ", 1),
        (CABLING, None, "unreadable", CABLING, "", None),
        (CABLING, b"a,b\n", "unreadable", CABLING, "the first line must name the columns", 1),
        (CABLING, b"\xff", "unreadable", CABLING, "", None),
        ("switches/notes.txt", b"x", "stray-file", "notes.txt", "not a switch's file", None),
        ("switches/spine1.set", b"x", "stray-file", "spine1", STALE, None),
    ],
)
def test_bad_files_become_faults(
    tree: Path, file: str, text: bytes | None, kind: str, scope: str, message: str, line: int | None
) -> None:
    if text is None:
        (tree / file).unlink()
    else:
        (tree / file).write_bytes(text)
    found = [defect for defect in defects(tree) if defect.kind == kind]
    assert [(defect.kind, defect.scope) for defect in found] == [(kind, scope)]
    assert found[0].message.startswith(message) and found[0].message
    assert found[0].place is not None
    assert found[0].place.file == file
    assert line is None or found[0].place.line == line


def test_an_unreadable_switch_is_left_out_and_the_rest_is_read(tree: Path) -> None:
    (tree / LEAF).write_text("system {")
    found = reading(tree)
    assert "stripe1-leaf1" not in found.network.switches
    assert "stripe1-leaf1" not in found.inspected
    assert (len(found.network.switches), len(found.network.links)) == (7, 16)


def test_a_switch_folder_that_is_a_directory_entry(tree: Path) -> None:
    (tree / "switches" / "old.conf").mkdir()
    (found,) = defects(tree)
    assert (found.kind, found.scope) == ("unreadable", "old")


def test_roles_without_a_topology(tree: Path) -> None:
    (tree / TOPOLOGY).unlink()
    found = reading(tree).network
    assert {name for name, role in found.roles.items() if role == "spine"} == {f"spine{n}" for n in range(1, 5)}
    assert len(found.links) == 16


def test_inactive_statements_and_groups_take_effect(tree: Path) -> None:
    """A session's group that is inactive is not there; one from a configuration group is."""
    text = TEXTS[LEAF]
    start = text.index("        group fabric-green {")
    end = text.index("        group fabric-blue {")
    group = text[start:end]
    (tree / LEAF).write_text(text.replace("        group fabric-green {", "        inactive: group fabric-green {"))
    assert next(found.name for found in reading(tree).network.switches["stripe1-leaf1"].groups) == "fabric-blue"
    inherited = f"groups {{ mine {{ protocols {{ bgp {{\n{group}}} }} }} }}\napply-groups mine;\n"
    (tree / LEAF).write_text(text[:start] + text[end:] + inherited)
    names = {found.name for found in reading(tree).network.switches["stripe1-leaf1"].groups}
    assert names == {"fabric-green", "fabric-blue", "fabric-red", "fabric-orange"}


def test_groups_that_apply_each_other(tree: Path) -> None:
    (tree / LEAF).write_text(TEXTS[LEAF] + "groups { a { apply-groups b; } b { apply-groups a; } }\napply-groups a;\n")
    found = next(defect for defect in defects(tree) if defect.scope == "stripe1-leaf1")
    assert found.kind == "unreadable"
    assert "apply each other in a cycle" in found.message


def test_inspecting_may_return_nothing(tree: Path) -> None:
    """A switch counts whatever was found out about it."""
    assert len(read_network(tree, lambda written, tree: None).network.switches) == 8


@pytest.mark.parametrize(
    "members", ["member et-0/0/0;", "member-range et-0/0/0 to et-0/0/1;", 'member "et-0/0/*";', 'member "et-*";']
)
def test_an_interface_range_configures_its_members(tree: Path, members: str) -> None:
    file = tree / LEAF
    text = file.read_text()
    assert not reading(tree).network.switches["stripe1-leaf1"].ports["et-0/0/0"].disabled
    file.write_text(f"{text}interfaces {{ interface-range off {{ {members} disable; }} }}\n")
    ports = reading(tree).network.switches["stripe1-leaf1"].ports
    assert ports["et-0/0/0"].disabled
    assert "off" not in ports and "interface-range" not in ports
