"""Switches read one after another, from trees that share nodes, are the switches that are read alone, to every line."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple
from functools import cache
from pathlib import Path

import pytest

from ailb_gen.design.build import build
from ailb_gen.intent.load import load
from ailb_gen.junos.alike import AlikeReader
from ailb_gen.junos.tree import Node
from ailb_gen.network.fabric import Defect
from ailb_gen.network.read import read_network, read_switch, switch_files
from ailb_gen.render.artifacts import RenderOptions
from ailb_gen.render.generate import rendering, write_rendering
from tests.conftest import EXAMPLES
from tests.junos.test_alike import dump
from tests.mutations.catalogue import KINDS
from tests.mutations.kind import Kind, chosen, places
from tests.mutations.score import GOLDEN, golden

FABRICS = sorted(path.parent.parent.name for path in GOLDEN.glob("*/switches/spine1.conf"))
# Of so many kinds of damage one in the usual tests.
FEW = {"lab": 6, "jvd": 12}


def trees(written: Node, tree: Node) -> tuple[list[object], list[object]]:
    return dump(written), dump(tree)


def every_field(root: Path, file: str, reader: AlikeReader) -> object:
    """Return all of what is read of a switch, lines of statements included, or the defect of its file."""
    found = read_switch(root, file, trees, reader)
    return found if isinstance(found, Defect) else (astuple(found[0]), found[1])


@pytest.mark.parametrize("name", FABRICS)
def test_switches_of_examples(name: str) -> None:
    reader = AlikeReader()
    for file in switch_files(GOLDEN / name)[0]:
        assert every_field(GOLDEN / name, file, reader) == every_field(GOLDEN / name, file, AlikeReader()), file


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(path.parent.name for path in EXAMPLES.glob("*/fabric.yaml")))
@pytest.mark.parametrize("form", ["curly", "set"])
def test_switches_of_all_examples(name: str, form: str, tmp_path: Path) -> None:
    design, _ = build(load(EXAMPLES / name / "fabric.yaml"))
    write_rendering(rendering(design, tmp_path, RenderOptions(form)))
    reader = AlikeReader()
    for file in switch_files(tmp_path)[0]:
        assert every_field(tmp_path, file, reader) == every_field(tmp_path, file, AlikeReader()), file


@cache
def reader_of(example: str) -> AlikeReader:
    """Return a reader that has read an example."""
    reader = AlikeReader()
    for file in switch_files(GOLDEN / example)[0]:
        read_switch(GOLDEN / example, file, trees, reader)
    return reader


def damaged(rows: Iterable[Kind], example: str, everywhere: bool, folder: Path) -> int:
    """Compare both ways of reading on the switches that kinds of damage change; return how many there were."""
    tree, count = golden(example), 0
    (folder / "switches").mkdir()
    for row in rows:
        for damage in places(row, tree) if everywhere else [chosen(row, tree, example, 1)]:
            for path, entry in damage.changes.items():
                if path.startswith("switches/") and isinstance(entry, bytes):
                    (folder / path).write_bytes(entry)
                    found = every_field(folder, path, reader_of(example))
                    assert found == every_field(folder, path, AlikeReader()), (row.name, damage.label)
                    count += 1
    return count


@pytest.mark.parametrize("example", ["lab", "jvd"])
def test_damaged_switches(example: str, tmp_path: Path) -> None:
    rows = [row for row in KINDS if example in row.examples][:: FEW[example]]
    assert damaged(rows, example, everywhere=False, folder=tmp_path) > len(rows) / 4


@pytest.mark.long
def test_damaged_switches_everywhere(tmp_path: Path) -> None:
    rows = [row for row in KINDS if "lab" in row.examples]
    assert damaged(rows, "lab", everywhere=True, folder=tmp_path) > len(rows)


def test_threads_do_not_share_a_reader() -> None:
    with ThreadPoolExecutor(4) as executor:
        found = read_network(GOLDEN / "jvd", trees, executor)
    alone = read_network(GOLDEN / "jvd", trees)
    assert found == alone
    assert [astuple(one) for one in found.network.switches.values()] == [
        astuple(one) for one in alone.network.switches.values()
    ]


def test_switches_share_what_is_the_same() -> None:
    found = read_network(GOLDEN / "jvd", trees).network.switches
    one, other = found["stripe1-leaf2"], found["stripe1-leaf3"]
    assert one.cos is other.cos
    assert sum(one.ports[name] is other.ports[name] for name in one.ports) > len(one.ports) / 4
