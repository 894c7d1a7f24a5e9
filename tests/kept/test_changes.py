"""A proof after a change is the proof from nothing, byte for byte, whatever changed since the run that is kept."""

from __future__ import annotations

import pickle
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import NoReturn, TypeVar
from unittest.mock import patch

import pytest

import ailb_gen.hosts.read
import ailb_gen.kept.earlier
import ailb_gen.network.read
from ailb_gen.api.validate import validate
from ailb_gen.checks.before import TakenOver
from ailb_gen.checks.reads import EVERYTHING
from ailb_gen.errors import UsageError
from ailb_gen.junos.reader import read
from ailb_gen.junos.writer import to_set
from ailb_gen.kept.folder import write
from ailb_gen.kept.inputs import tree_entries
from ailb_gen.kept.models import Models, decode
from ailb_gen.kept.proof import KeptProofs
from ailb_gen.report.check_report import CheckReport
from tests.conftest import EXAMPLES
from tests.mutations.catalogue import KINDS
from tests.mutations.kind import changes_of, chosen
from tests.mutations.score import GOLDEN, golden
from tests.mutations.tree import Changes, Link, WithMode, sealed, write_changes

T = TypeVar("T")

pytestmark = pytest.mark.usefixtures("home")

FORMATS = ("table", "json", "junit", "sarif", "md")
LEAF, OTHER, SPINE = "switches/stripe1-leaf1.conf", "switches/stripe1-leaf2.conf", "switches/spine1.conf"
FEW = ("!failures",)
ROWS = {(example, row.name): row for row in KINDS for example in row.examples}


def prove(root: Path, warnings: list[str], example: str = "lab", **options: object) -> CheckReport:
    given: dict[str, object] = {"checks": FEW, "executor": "serial", "html": False, "remember": True, **options}
    return validate(EXAMPLES / example / "fabric.yaml", root, warn=warnings.append, **given)  # type: ignore[arg-type]


def texts(report: CheckReport) -> dict[str, str]:
    """Return the verdict in each format, without what it was taken over from."""
    return {form: replace(report, since=None).render(form) for form in FORMATS}


def taken_over(act: Callable[[], T]) -> tuple[T, TakenOver | None]:
    """Act; return also what a proof meanwhile took over, None if it looked for nothing."""
    found: list[TakenOver] = []
    find = ailb_gen.kept.earlier.earlier

    def earlier(proofs: KeptProofs, models: Models | None) -> TakenOver:
        found.append(find(proofs, models))
        return found[-1]

    with patch.object(ailb_gen.kept.earlier, "earlier", earlier):
        return act(), found[0] if found else None


def assert_as_from_nothing(
    root: Path, warnings: list[str], example: str = "lab", **options: object
) -> tuple[CheckReport, TakenOver | None]:
    """Prove with what is kept, and from nothing; return also what was taken over."""
    report, over = taken_over(lambda: prove(root, warnings, example, **options))
    assert not report.proved
    assert texts(report) == texts(prove(root, warnings, example, **options, remember=False))
    assert warnings == []
    return report, over


def held(over: TakenOver | None) -> int:
    """Return how many results were taken over by a run that found all that was kept: some unless all changed."""
    # Of files that are all others now the switches of before are compared.
    assert over is not None and (over.before.known or over.before.old) and over.before.results
    assert bool(over.held) == (EVERYTHING not in over.changed)
    return len(over.held)


def is_kept(root: Path) -> bool:
    """Return whether proofs of a tree are kept: not where a link leads out of it."""
    try:
        tree_entries(root)
    except UsageError:
        return False
    return True


def files_read(act: Callable[[], object]) -> list[str]:
    """Return the switches and profiles that are read meanwhile."""
    read, switch, profile = [], ailb_gen.network.read.read_switch, ailb_gen.hosts.read.read_profile

    def read_switch(root: Path, file: str, *others: object) -> object:
        read.append(file)
        return switch(root, file, *others)  # type: ignore[arg-type]

    def read_profile(root: Path, name: str, **others: object) -> object:
        read.append(name)
        return profile(root, name, **others)  # type: ignore[arg-type]

    with (
        patch.object(ailb_gen.network.read, "read_switch", read_switch),
        patch.object(ailb_gen.hosts.read, "read_profile", read_profile),
    ):
        act()
    return read


def tree(changes: Changes, root: Path, example: str = "lab", seal: bool = True) -> Path:
    """Copy a golden tree with changes, not by links: when others link to a file its time of change is another."""
    shutil.copytree(GOLDEN / example, root, symlinks=True)
    write_changes(sealed(golden(example), changes) if seal else changes, root)
    return root


def lab(file: str) -> bytes:
    return (GOLDEN / "lab" / file).read_bytes()


@dataclass(frozen=True, slots=True)
class Sound:
    """An undamaged example, what is kept of its proof, and its reports from nothing."""

    root: Path
    cache: Path
    texts: dict[str, str]


@pytest.fixture(scope="session")
def sound_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Sound]:
    """Return what tests of an example share."""

    @cache
    def proved(example: str) -> Sound:
        place = tmp_path_factory.mktemp("sound")
        root = tree({}, place / "root", example)
        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setenv("XDG_CACHE_HOME", str(place))
            prove(root, [], example)
        return Sound(root, place / "ailb-gen", texts(prove(root, [], example, remember=False)))

    return proved


@pytest.mark.sampled(200, 40)
@pytest.mark.parametrize(("example", "name"), [*ROWS])
def test_every_kind_of_damage_and_its_repair(
    example: str,
    name: str,
    sound_of: Callable[[str], Sound],
    home: Path,
    warnings: list[str],
    tmp_path: Path,
) -> None:
    row = ROWS[example, name]
    changes = changes_of(row, golden(example), chosen(row, golden(example), example, 1))
    sound, damaged = sound_of(example), tree(changes, tmp_path / "damaged", example, seal=False)
    shutil.copytree(sound.cache, home / "ailb-gen")
    over = assert_as_from_nothing(damaged, warnings, example)[1]
    shutil.rmtree(home / "ailb-gen")
    if not is_kept(damaged):
        assert over is None
        return
    held(over)
    prove(damaged, warnings, example)
    report, over = taken_over(lambda: prove(sound.root, warnings, example))
    held(over)
    assert (texts(report), warnings) == (sound.texts, [])
    report = prove(sound.root, warnings, example, since=damaged)
    assert report.since is not None
    assert (texts(report), warnings) == (sound.texts, [])


CHANGES: dict[str, Callable[[], Changes]] = {
    "description": lambda: {SPINE: re.sub(rb'description "?[^;]*;', b"description other;", lab(SPINE), count=1)},
    "MTU": lambda: {LEAF: re.sub(rb" mtu \d+;", b" mtu 4000;", lab(LEAF), count=1)},
    "lines": lambda: {LEAF: b"/* one */\n\n" + lab(LEAF), SPINE: b"\n\n\n" + lab(SPINE)},
    "AS number": lambda: {LEAF: re.sub(rb"local-as \d+", b"local-as 4200000001", lab(LEAF), count=1)},
    "policy": lambda: {LEAF: lab(LEAF).replace(b"then reject;", b"then accept;", 1)},
    "added": lambda: {"switches/spine9.conf": lab(SPINE)},
    "removed": lambda: {LEAF: None},
    "renamed": lambda: {LEAF: None, "switches/stripe1-leaf9.conf": lab(LEAF)},
    "swapped": lambda: {LEAF: lab(OTHER), OTHER: lab(LEAF)},
    "set text": lambda: {LEAF: None, LEAF.replace("conf", "set"): to_set(read(lab(LEAF).decode())).encode()},
    "another profile": lambda: {"servers/gpu-s1-1": Link("../profiles/stripe2")},
    "empty": lambda: {LEAF: b""},
    "stray": lambda: {"switches/notes.txt": b"x\n"},
    "link": lambda: {LEAF: Link("stripe1-leaf2.conf")},
    "server": lambda: {"profiles/stripe1/etc/sysctl.d/99-accept-ra.conf": b"net.ipv6.conf.all.accept_ra = 7\n"},
    "mode": lambda: {
        "profiles/stripe1/usr/local/sbin/ailb-net": WithMode(lab("profiles/stripe1/usr/local/sbin/ailb-net"), 0o644)
    },
    "no GPUs": lambda: {"profiles/stripe1/etc/ailb/nccl.env": None},
    "no table": lambda: {"cabling.csv": None},
    "table": lambda: {"cabling.csv": lab("cabling.csv").replace(b"spine1", b"spine2", 1)},
    "topology": lambda: {"topology.json": lab("topology.json").replace(b'"leaf"', b'"spine"', 1)},
    "no manifest": lambda: {"manifest.json": None},
    "manifest": lambda: {"manifest.json": lab("manifest.json").replace(b'"lab"', b'"other"', 1)},
}


# Of so many checks at least the results are taken over; of 0 everything is checked.
LEAST = dict.fromkeys(CHANGES, 0) | {
    "description": 55,
    "MTU": 55,
    "lines": 55,
    "AS number": 40,
    "policy": 40,
    "set text": 30,
    "swapped": 20,
    "another profile": 40,
    "stray": 55,
    "link": 20,
    "server": 40,
    "mode": 40,
    "no GPUs": 40,
    "no table": 25,
    "table": 25,
    "topology": 25,
    "no manifest": 55,
    "manifest": 55,
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [*CHANGES])
def test_a_change_and_back(name: str, warnings: list[str], tmp_path: Path) -> None:
    changes = CHANGES[name]()
    sound, other = tree({}, tmp_path / "sound"), tree(changes, tmp_path / "other", seal="manifest.json" not in changes)
    prove(sound, warnings)
    assert held(assert_as_from_nothing(other, warnings)[1]) >= LEAST[name]
    # Two changes one after the other.
    further: Changes = {OTHER: lab(OTHER).replace(b" mtu 9", b" mtu 4", 1)}
    write_changes(further, other)
    assert held(assert_as_from_nothing(other, warnings)[1]) >= LEAST[name]


def test_with_the_commit_check(yang: Path, warnings: list[str], tmp_path: Path) -> None:
    prove(tree({}, tmp_path / "sound"), warnings, yang=yang)
    wrong: Changes = {LEAF: lab(LEAF) + b"policy-options { bogus 1; }\n"}
    report, _ = assert_as_from_nothing(tree(wrong, tmp_path / "wrong"), warnings, yang=yang)
    assert any(finding.check.startswith("AILB9") for finding in report.findings)


@pytest.mark.long
def test_with_failures(warnings: list[str], tmp_path: Path) -> None:
    prove(tree({}, tmp_path / "sound"), warnings, checks=())
    for name in ("description", "AS number", "policy", "server"):
        assert_as_from_nothing(tree(CHANGES[name](), tmp_path / name), warnings, checks=())


def test_the_intent_changed(warnings: list[str], tmp_path: Path) -> None:
    root, fabric = tree({}, tmp_path / "root"), tmp_path / "fabric.yaml"
    text = (EXAMPLES / "lab" / "fabric.yaml").read_text("utf-8")
    fabric.write_text(text)
    reports = []

    def both() -> None:
        for again in (True, False):
            reports.append(validate(fabric, root, checks=FEW, executor="serial", html=False, remember=again))

    both()
    fabric.write_text(f"{text}# other\n")
    read = files_read(both)
    assert texts(reports[2]) == texts(reports[3])
    # From nothing only.
    assert len(read) == len({*read})


def test_only_what_changed_is_read(warnings: list[str], tmp_path: Path) -> None:
    root = tree({}, tmp_path / "root")
    assert {LEAF, OTHER, SPINE} <= {*files_read(lambda: prove(root, warnings))}
    write_changes(sealed(golden("lab"), CHANGES["MTU"]()), root)
    assert files_read(lambda: prove(root, warnings)) == [LEAF]


def refuse(error: ValueError) -> NoReturn:
    raise error


DAMAGES: dict[str, bytes] = {
    "empty": b"",
    "no pickle": b"\xff",
    "of another class": pickle.dumps(Path("x")),
    "a function": pickle.dumps(print),
    "no models": pickle.dumps({}),
    "too long": b"\x80\x05\x95" + b"\xff" * 8,
    "no UTF-8": b"\x80\x05\x8c\x01\xff.",
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_models_are_one_warning_and_replaced(damage: str, warnings: list[str], tmp_path: Path) -> None:
    root = tree({}, tmp_path / "root")
    prove(root, warnings)
    (models,) = tmp_path.glob("home/ailb-gen/proofs/*.models")
    write(models.parent, models.name, DAMAGES[damage])
    write_changes(sealed(golden("lab"), CHANGES["MTU"]()), root)
    first = prove(root, warnings)
    assert len(warnings) == 1
    assert "are damaged, and all files are read again" in warnings[0]
    assert texts(first) == texts(prove(root, [], remember=False))
    assert decode(models.read_bytes().partition(b"\n")[2], refuse).switches


def test_damaged_lists_of_cables_are_one_warning(warnings: list[str], tmp_path: Path) -> None:
    sound = tree({}, tmp_path / "sound")
    prove(sound, warnings)
    (kept,) = tmp_path.glob("home/ailb-gen/proofs/*.models")
    body = kept.read_bytes().partition(b"\n")[2]
    tables = decode(body, refuse).tables
    write(kept.parent, kept.name, body.replace(tables, tables.replace(b"cabling.csv", b"cabling.cvs", 1)))
    removed = tree(CHANGES["removed"](), tmp_path / "removed")
    report, over = taken_over(lambda: prove(removed, warnings))
    assert over is not None and over.before.lists is not None
    assert ["lists of cables are read again" in text for text in warnings] == [True]
    assert texts(report) == texts(prove(removed, [], remember=False))
