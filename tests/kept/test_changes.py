"""A proof after a change is the proof from nothing, byte for byte, whatever changed since the run that is kept."""

from __future__ import annotations

import pickle
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest

import ailb_gen.hosts.read
import ailb_gen.network.read
from ailb_gen.api.validate import validate
from ailb_gen.kept.folder import kept_files, write
from ailb_gen.kept.inputs import program_digest
from ailb_gen.kept.models import decode
from ailb_gen.kept.proof import AskedProof, inputs_of
from ailb_gen.report.check_report import CheckReport
from tests.conftest import EXAMPLES, need_shared
from tests.mutations.catalogue import KINDS
from tests.mutations.kind import changes_of, chosen
from tests.mutations.score import GOLDEN, golden
from tests.mutations.tree import Changes, Link, WithMode, copy_with, sealed, write_changes

FORMATS = ("table", "json", "junit", "sarif", "md")
LEAF, OTHER, SPINE = "switches/stripe1-leaf1.conf", "switches/stripe1-leaf2.conf", "switches/spine1.conf"
FEW = ("!failures",)
ROWS = {(example, row.name): row for row in KINDS for example in row.examples}


@pytest.fixture(scope="session")
def digest() -> str:
    return program_digest()


@pytest.fixture(autouse=True)
def home(digest: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # No other program runs; to read all of it takes as long as a proof of a small fabric.
    monkeypatch.setattr("ailb_gen.kept.proof.program_digest", lambda: digest)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def warnings() -> list[str]:
    return []


def prove(root: Path, warnings: list[str], example: str = "lab", **options: object) -> CheckReport:
    given: dict[str, object] = {"checks": FEW, "executor": "serial", "html": False, "remember": True, **options}
    return validate(EXAMPLES / example / "fabric.yaml", root, warn=warnings.append, **given)  # type: ignore[arg-type]


def texts(report: CheckReport) -> dict[str, str]:
    """Return the verdict in each format, without what it was taken over from."""
    return {form: replace(report, since=None).render(form) for form in FORMATS}


def assert_as_from_nothing(
    root: Path, warnings: list[str], example: str = "lab", since: Path | None = None, **options: object
) -> CheckReport:
    """Prove with what is kept, or with the proof of a base, and from nothing."""
    report = prove(root, warnings, example, since=since, **options)
    from_nothing = prove(root, warnings, example, **options, remember=False)
    assert (report.since is None) == (since is None)
    assert not report.proved
    assert texts(report) == texts(from_nothing)
    assert warnings == []
    return report


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
    copy_with(GOLDEN / example, sealed(golden(example), changes) if seal else changes, root)
    return root


def lab(file: str) -> bytes:
    return (GOLDEN / "lab" / file).read_bytes()


@pytest.mark.sampled(60, 30)
@pytest.mark.parametrize(("example", "name"), [*ROWS])
def test_every_kind_of_damage_and_its_repair(example: str, name: str, warnings: list[str], tmp_path: Path) -> None:
    row = ROWS[example, name]
    changes = changes_of(row, golden(example), chosen(row, golden(example), example, 1))
    sound, damaged = tree({}, tmp_path / "sound", example), tree(changes, tmp_path / "damaged", example, seal=False)
    prove(sound, warnings, example)
    assert_as_from_nothing(damaged, warnings, example)
    for one in kept_files(tmp_path / "home" / "ailb-gen" / "proofs"):
        one.path.unlink()
    prove(damaged, warnings, example)
    comparable = inputs_of(AskedProof(EXAMPLES / example / "fabric.yaml", damaged, FEW, None, 1)) is not None
    assert_as_from_nothing(sound, warnings, example, since=damaged if comparable else None)


CHANGES: dict[str, Callable[[], Changes]] = {
    "description": lambda: {SPINE: re.sub(rb'description "?[^;]*;', b"description other;", lab(SPINE), count=1)},
    "MTU": lambda: {LEAF: re.sub(rb" mtu \d+;", b" mtu 4000;", lab(LEAF), count=1)},
    "lines": lambda: {LEAF: b"/* one */\n\n" + lab(LEAF), SPINE: b"\n\n\n" + lab(SPINE)},
    "AS number": lambda: {LEAF: re.sub(rb"local-as \d+", b"local-as 4200000001", lab(LEAF), count=1)},
    "policy": lambda: {LEAF: lab(LEAF).replace(b"then reject;", b"then accept;", 1)},
    "added": lambda: {"switches/spine9.conf": lab(SPINE)},
    "removed": lambda: {LEAF: None},
    "renamed": lambda: {LEAF: None, "switches/stripe1-leaf9.conf": lab(LEAF)},
    "empty": lambda: {LEAF: b""},
    "stray": lambda: {"switches/notes.txt": b"x\n"},
    "link": lambda: {LEAF: Link("stripe1-leaf2.conf")},
    "server": lambda: {"profiles/stripe1/etc/sysctl.d/99-accept-ra.conf": b"net.ipv6.conf.all.accept_ra = 7\n"},
    "mode": lambda: {
        "profiles/stripe1/usr/local/sbin/ailb-net": WithMode(lab("profiles/stripe1/usr/local/sbin/ailb-net"), 0o644)
    },
    "no table": lambda: {"cabling.csv": None},
    "table": lambda: {"cabling.csv": lab("cabling.csv").replace(b"spine1", b"spine2", 1)},
    "topology": lambda: {"topology.json": lab("topology.json").replace(b'"leaf"', b'"spine"', 1)},
    "no manifest": lambda: {"manifest.json": None},
    "manifest": lambda: {"manifest.json": lab("manifest.json").replace(b'"lab"', b'"other"', 1)},
}


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's cache after a proof of the undamaged tree."""
    place = tmp_path_factory.mktemp("record")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(place))
        prove(tree({}, place / "sound"), [])
    assert len([*place.rglob("*.models")]) == 1
    return place / "ailb-gen"


@pytest.mark.parametrize("name", [*CHANGES])
def test_a_change_and_back(name: str, record: Path, home: Path, warnings: list[str], tmp_path: Path) -> None:
    changes = CHANGES[name]()
    shutil.copytree(record, home / "ailb-gen")
    other = tree(changes, tmp_path / "other", seal="manifest.json" not in changes)
    assert_as_from_nothing(other, warnings)
    # Two changes one after the other.
    further: Changes = {OTHER: lab(OTHER).replace(b" mtu 9", b" mtu 4", 1)}
    write_changes(further, other)
    assert_as_from_nothing(other, warnings)


def test_with_the_commit_check(warnings: list[str], tmp_path: Path) -> None:
    yang = need_shared("yang/24.4R1-EVO")
    prove(tree({}, tmp_path / "sound"), warnings, yang=yang)
    wrong: Changes = {LEAF: lab(LEAF) + b"policy-options { bogus 1; }\n"}
    report = assert_as_from_nothing(tree(wrong, tmp_path / "wrong"), warnings, yang=yang)
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


DAMAGES: dict[str, bytes] = {
    "empty": b"",
    "no pickle": b"\xff",
    "of another class": pickle.dumps(Path("x")),
    "a function": pickle.dumps(print),
    "no models": pickle.dumps({}),
}


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
    assert decode(models.read_bytes().partition(b"\n")[2]).switches
