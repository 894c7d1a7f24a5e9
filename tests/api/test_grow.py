"""Fabrics that grow step by step: only new devices and the ends that face them change, and every state is valid."""

import csv
import io
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ailb_gen.api.generate import Generation, generate
from ailb_gen.api.grow import GrowthResult, grow
from ailb_gen.checks.model import RunOptions
from ailb_gen.checks.run import run
from ailb_gen.design.build import build
from ailb_gen.errors import IntentError, OutputError, UsageError
from ailb_gen.intent.growth import Unit
from ailb_gen.intent.load import load
from ailb_gen.layout import CABLING, SWITCHES, owner
from tests.checks.test_run import ALL
from tests.conftest import EXAMPLES

# Statements of existing switches that a new neighbor changes instead of adding to them.
CHANGED = re.compile(r"set (policy-options as-list \S+ members|chassis maximum-ecmp) ")


def copied(example: str, folder: Path) -> Path:
    """Return the fabric file of a copy of an example."""
    shutil.copytree(EXAMPLES / example, folder / example)
    return folder / example / "fabric.yaml"


def statements(made: Generation) -> dict[str, set[str]]:
    """Return the statements of every switch by path."""
    switches = {path: content for path, content in made.files.items() if owner(path)[0] == SWITCHES}
    return {path: set(content.decode().splitlines()) for path, content in switches.items()}


def check_step(fabric: Path, unit: Unit, count: int, out: Path) -> GrowthResult:
    """Grow a fabric; check that what existing devices lose and gain has to do with new cables."""
    old = generate(fabric, out, form="set")
    result = grow(fabric, unit, count)
    result.write()
    new = generate(fabric, out, form="set")
    # What is written is what was computed.
    assert build(load(fabric))[0].links == result.design.links
    assert not new.changes.deleted
    before, after = statements(old), statements(new)
    added = {switch.name for switch in result.addition.switches} | {one.name for one in result.addition.servers}
    ends = {cable.device for cable in result.addition.cables} | {cable.other for cable in result.addition.cables}
    for path in new.changes.changed:
        folder, name = owner(path)
        if folder == SWITCHES:
            assert name in ends - added, path
            assert {line for line in before[path] - after[path] if not CHANGED.match(line)} == set(), path
        elif folder:
            # A server gets a NIC on a new rail, and nothing else concerns those that run.
            assert unit == "rail", path
    assert {owner(path)[1] for path in new.changes.new if owner(path)[0] == SWITCHES} <= added
    told = list(csv.reader(io.StringIO(result.cabling())))
    earlier, rows = (made.files[CABLING].decode().splitlines() for made in (old, new))
    assert told[1:] == [row.split(",") for row in rows if row not in earlier]
    return result


def findings(fabric: Path, out: Path) -> list[str]:
    """Return what `validate` finds."""
    done = run(load(fabric), out, RunOptions(ALL, None, executor="serial"))
    return [
        f"{finding.check} {finding.scope}: {finding.message}"
        for result in done.results
        for finding in result.findings
        if str(result.check.severity) != "note"
    ]


# Example, unit, units per step, steps.
SMALL = [("lab", "stripe", 2, 3), ("lab", "rail", 3, 2), ("lab", "spine", 4, 3), ("lab", "server", 3, 2)]
EVERY = [
    *(("lab", "stripe", 1, 6), ("lab", "rail", 1, 6), ("lab", "server", 1, 6)),
    *(("jvd", "stripe", 2, 3), ("jvd", "spine", 4, 3), ("jvd", "server", 3, 2)),
    *(("static", "rail", 1, 3), ("brownfield", "server", 3, 3), ("jvd-8-uplinks", "spine", 4, 3)),
]


@pytest.mark.parametrize(("example", "unit", "count", "steps"), SMALL)
def test_the_lab_grows_to_four_times_its_size(
    example: str, unit: Unit, count: int, steps: int, tmp_path: Path
) -> None:
    grows(example, unit, count, steps, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize(("example", "unit", "count", "steps"), EVERY)
def test_examples_grow_to_four_times_their_size(
    example: str, unit: Unit, count: int, steps: int, tmp_path: Path
) -> None:
    grows(example, unit, count, steps, tmp_path)


def grows(example: str, unit: Unit, count: int, steps: int, folder: Path) -> None:
    fabric, out = copied(example, folder), folder / "out"
    for _ in range(steps):
        result = check_step(fabric, unit, count, out)
        assert result.addition.keeps_all
        assert findings(fabric, out) == []


def test_all_units_one_after_the_other(tmp_path: Path) -> None:
    """What one growth pins does not keep the next one from growing."""
    fabric, out = copied("lab", tmp_path), tmp_path / "out"
    for unit in ("rail", "server", "stripe", "rail", "server", "stripe"):
        assert check_step(fabric, unit, 1, out).addition.keeps_all
    assert check_step(fabric, "spine", 4, out).addition.keeps_all
    assert findings(fabric, out) == []
