"""`docs/batfish.md` is true: its tables are the program's, its excerpt is what comes out, its notebook runs."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from ailb_gen.batfish.causes import CAUSES
from ailb_gen.batfish.communities import MOST
from ailb_gen.batfish.numbering import HOSTS, LINKS, MOST_ADDRESSES, PREFIX_LENGTH, PREFIXES
from ailb_gen.batfish.shadow import shadow
from ailb_gen.batfish.snapshot import write_snapshots
from ailb_gen.batfish.unsupported import MEASURED_ON, UNRECOGNIZED
from ailb_gen.checks.catalogue import BY_ID, WITH_BATFISH, checks_of
from ailb_gen.checks.families.batfish import SHOWN
from ailb_gen.intent.load import load
from tests.batfish.fake.near import Near, judged
from tests.batfish.fake.service import FakeBatfish
from tests.checks.trees import GOLDEN, network_of
from tests.conftest import EXAMPLES, ROOT

PAGE = (ROOT / "docs" / "batfish.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    """Return what stands below a heading, up to the next one of any level."""
    found = re.search(rf"^#+ {title}\n(.*?)(?=^#|\Z)", PAGE, re.M | re.S)
    assert found is not None, title
    return found[1]


def table(title: str) -> list[list[str]]:
    """Return the cells of a section's table, without its head."""
    lines = [line for line in section(title).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.M | re.S)
    return str(found)


@cache
def asked() -> frozenset[tuple[str, str]]:
    """Return the questions of a whole run, with the snapshots that they are asked of."""
    batfish = Near()
    judged(load(EXAMPLES / "lab" / "fabric.yaml"), GOLDEN / "lab", batfish=batfish)
    return frozenset((question, snapshot) for question, snapshot, _ in batfish.asked)


def test_every_check_is_in_a_table() -> None:
    shown = [row[0] for title in ("The files", "The shadow") for row in table(title)]
    assert sorted([*shown, SHOWN.id]) == [check.id for check in checks_of(WITH_BATFISH)]
    assert f"{SHOWN.id} names each" in section("Not in the shadow")


@pytest.mark.parametrize("title", ["The files", "The shadow"])
def test_every_question_that_is_asked_is_in_its_table(title: str) -> None:
    files = title == "The files"
    expected = {question for question, snapshot in asked() if (snapshot == "files") == files}
    assert {word for row in table(title) for word in re.findall(r"`(\w+)`", row[1])} == expected


def test_the_lines_that_are_not_recognized_are_those_of_the_program() -> None:
    rows = table("Lines that it does not recognize")
    assert [(basis, why) for _, basis, why in rows] == [(row.basis, row.why) for row in UNRECOGNIZED]
    for number, (line, _, _) in enumerate(rows):
        claimed = [at for at, row in enumerate(UNRECOGNIZED) if row.pattern.match(line.strip("`"))]
        assert claimed == [number], line


def test_what_batfish_never_sees_other_checks_judge() -> None:
    """Every row names checks that are there and are not Batfish's, or says that there are none."""
    rows = table("Not covered")
    assert rows
    for what, judges in rows:
        ids = re.findall(r"AILB\w+", judges)
        assert all(name in BY_ID and not name.startswith(WITH_BATFISH) for name in ids), what
        assert ids or judges == "no check of the files", what


def test_the_version_is_the_one_that_was_measured() -> None:
    assert f"measured on Batfish {MEASURED_ON} " in section("Where these facts come from")


def test_the_pools_are_those_of_the_program() -> None:
    text = section("The IPv4 shadow")
    assert all(str(pool) in text for pool in (PREFIXES, LINKS, HOSTS))
    room = 2 ** (PREFIX_LENGTH - PREFIXES.prefixlen)
    assert f"room for {room:,} prefixes with {MOST_ADDRESSES} addresses" in text
    assert f"more than {MOST} combinations" in section("Not in the shadow")


def test_the_lines_of_the_shadow_are_what_comes_out() -> None:
    lines = (ROOT / "tests/golden/shadow-lab/stripe1-leaf1.cfg").read_text(encoding="utf-8").splitlines()
    shown = block("shadow").splitlines()
    places = [lines.index(line) for line in shown]
    assert places == sorted(places)


def test_the_way_to_start_a_service_is_the_same_everywhere() -> None:
    hint = next(cause.early for cause in CAUSES if ConnectionRefusedError in cause.kinds)
    command = hint.removeprefix("start one with: ")
    for page in ("README.md", "CONTRIBUTING.md", "docs/batfish.md"):
        assert f"\n{command}\n" in (ROOT / page).read_text(encoding="utf-8"), page


def test_the_notebook_runs(tmp_path: Path) -> None:
    network = network_of(GOLDEN / "lab")
    write_snapshots(GOLDEN / "lab", network, shadow(network), tmp_path / "snapshots")
    program = block("python")
    with FakeBatfish() as server:
        here = program.replace('Session("localhost")', f'Session("{server.host}", {server.port})')
        assert here != program
        done = subprocess.run(
            [sys.executable, "-c", here], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stderr
        assert "ESTABLISHED" in done.stdout
        assert server.created == ["by-hand", "by-hand/files", "by-hand/shadow", "by-hand/a-link-down"]
        assert not server.networks
