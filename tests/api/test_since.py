"""A proof that takes over from a base: the verdict from nothing, what it tells, and bases that cannot be used."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest

import ailb_gen.network.read
from ailb_gen.api.inputs import load
from ailb_gen.api.validate import validate
from ailb_gen.errors import UsageError
from ailb_gen.extensions import Extension
from ailb_gen.kept.inputs import program_digest
from ailb_gen.kept.since import Since
from ailb_gen.progress import Silent
from ailb_gen.report.check_report import CheckReport
from tests.review.fabric import CHANGED, FABRIC, commit, git, write

pytestmark = pytest.mark.usefixtures("home")

FORMATS = ("table", "json", "junit", "sarif", "md")
LEAF = "switches/stripe1-leaf1.conf"
# All but failures, which take long.
FEW = ("!failures",)


@pytest.fixture(scope="session")
def digest() -> str:
    return program_digest()


@pytest.fixture(autouse=True)
def same_program(digest: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # No other program runs; to read all of it takes as long as a proof of a small fabric.
    monkeypatch.setattr("ailb_gen.kept.proof.program_digest", lambda: digest)


@pytest.fixture
def after(tmp_path: Path) -> tuple[Path, Path]:
    """A fabric in a repository, as it was committed."""
    paths = write(tmp_path / "repository", FABRIC)
    commit(tmp_path / "repository")
    return paths


def prove(after: tuple[Path, Path], since: str | Path | None, warnings: list[str], **options: object) -> CheckReport:
    given: dict[str, object] = {"checks": FEW, "executor": "serial", "html": False, "remember": True, **options}
    return validate(*after, since=since, warn=warnings.append, **given)  # type: ignore[arg-type]


def since_of(report: CheckReport) -> Since:
    assert report.since is not None
    return report.since


def texts(report: CheckReport) -> dict[str, str]:
    return {form: replace(report, since=None).render(form) for form in FORMATS}


def assert_as_from_nothing(report: CheckReport, after: tuple[Path, Path]) -> None:
    assert texts(report) == texts(prove(after, None, [], remember=False))


def damage(after: tuple[Path, Path]) -> None:
    file = after[1] / LEAF
    file.write_text(file.read_text().replace("mtu 9216;", "mtu 4000;", 1))


@contextmanager
def switches_read() -> Iterator[list[str]]:
    """Note the switches that are read meanwhile."""
    read, plain = [], ailb_gen.network.read.read_switch

    def read_switch(root: Path, file: str, *others: object) -> object:
        read.append(file)
        return plain(root, file, *others)  # type: ignore[arg-type]

    with patch.object(ailb_gen.network.read, "read_switch", read_switch):
        yield read


@pytest.mark.parametrize("remember", [True, False])
def test_damage_and_repair(
    remember: bool, after: tuple[Path, Path], warnings: list[str], home: Path, tmp_path: Path
) -> None:
    sound = (after[1] / LEAF).read_text()
    damage(after)
    for again in (False, True):
        with switches_read() as read:
            report = prove(after, "HEAD", warnings, remember=remember)
        told = since_of(report)
        assert (told.base, told.changed, told.taken_over == ()) == ("HEAD", 1, False)
        assert told.checked["AILB113"] == ("MTUs",)
        assert not report.passed
        # The base is read once if its proof is kept.
        assert read.count(LEAF) == (1 if again and remember else 2)
    assert_as_from_nothing(report, after)
    # Directories are as good.
    commit(tmp_path / "repository")
    git(tmp_path, "clone", "-q", str(tmp_path / "repository"), str(tmp_path / "clone"))
    (after[1] / LEAF).write_text(sound)
    for base in ("HEAD", tmp_path / "clone" / "generated"):
        report = prove(after, base, warnings, remember=remember)
        assert since_of(report).checked["AILB113"] == ("MTUs",)
        assert report.passed
        assert_as_from_nothing(report, after)
    assert warnings == []
    assert bool([*home.rglob("*.json")]) == remember


def test_a_fabric_file_that_changed(after: tuple[Path, Path], warnings: list[str], tmp_path: Path) -> None:
    after[0].write_text(f"{FABRIC}# other\n")
    with switches_read() as read:
        report = prove(after, "HEAD", warnings)
    assert len(read) == len({*read}) > 0
    told = since_of(report)
    assert (told.changed, told.taken_over, {*told.checked.values()}) == (0, (), {("intent",)})
    assert ", and the fabric file; those that are the same were not read again" in told.lines()[0]
    write(tmp_path / "repository", CHANGED)
    assert_as_from_nothing(prove(after, "HEAD", warnings), after)
    assert warnings == []


def test_a_base_with_findings(after: tuple[Path, Path], warnings: list[str], tmp_path: Path) -> None:
    damage(after)
    commit(tmp_path / "repository")
    file = after[1] / LEAF
    file.write_text(f"\n{file.read_text()}")
    report = prove(after, "HEAD", warnings)
    assert ("findings",) in since_of(report).checked.values()
    assert any(row.startswith("  findings in the base: AILB") for row in since_of(report).lines())
    assert_as_from_nothing(report, after)


def test_nothing_changed(after: tuple[Path, Path], warnings: list[str]) -> None:
    for base in ("HEAD", after[1]):
        report = prove(after, base, warnings)
        assert (since_of(report).changed, since_of(report).checked) == (0, {})
        assert len(since_of(report).taken_over) > 90
        assert_as_from_nothing(report, after)
    assert warnings == []


def renamed(after: tuple[Path, Path]) -> None:
    (after[1] / LEAF).rename(after[1] / "switches/stripe1-leaf9.conf")


def removed(after: tuple[Path, Path]) -> None:
    (after[1] / LEAF).unlink()
    table = after[1] / "cabling.csv"
    rows = table.read_text().splitlines(keepends=True)
    table.write_text("".join(row for row in rows if "stripe1-leaf1" not in row))


def linked(after: tuple[Path, Path]) -> None:
    after[1].rename(after[1].with_name("real"))
    after[1].symlink_to("real")


@pytest.mark.parametrize("change", [renamed, removed])
def test_other_switches(
    change: Callable[[tuple[Path, Path]], None], after: tuple[Path, Path], warnings: list[str]
) -> None:
    change(after)
    report = prove(after, "HEAD", warnings)
    assert since_of(report).changed == 2
    assert_as_from_nothing(report, after)


@pytest.mark.parametrize(("mask", "link"), [(0o022, True), (0o077, False)])
def test_git_does_not_know_permissions(mask: int, link: bool, warnings: list[str], tmp_path: Path) -> None:
    before = os.umask(mask)
    try:
        after = write(tmp_path / "Fläche 1", FABRIC)
        if link:
            linked(after)
        commit(tmp_path)
        report = prove(after, "HEAD", warnings, checks=("files",))
    finally:
        os.umask(before)
    assert (since_of(report).changed, since_of(report).checked) == (0, {})
    # What git knows is a change.
    (after[1] / LEAF).chmod(0o700)
    assert since_of(prove(after, "HEAD", warnings, checks=("files",))).changed == 1


BROKEN: dict[str, Callable[[tuple[Path, Path]], object]] = {
    "HEAD:fabric.yaml": lambda after: after[0].write_text("spines: ["),
    "there is no HEAD:fabric.yaml": lambda after: after[0].unlink(),
    "there is no switches/ in it": lambda after: shutil.rmtree(after[1] / "switches"),
    "a link that does not lead to": lambda after: (after[1] / "x").symlink_to("y/../manifest.json"),
}


@pytest.mark.parametrize("told", BROKEN)
def test_a_revision_that_cannot_be_used_is_a_warning(told: str, warnings: list[str], tmp_path: Path) -> None:
    """The change may be what repairs it."""
    after = write(tmp_path / "repository", FABRIC)
    BROKEN[told](after)
    commit(tmp_path / "repository")
    (after[1] / "x").unlink(missing_ok=True)
    write(tmp_path / "repository", FABRIC)
    report = prove(after, "HEAD", warnings)
    assert (report.since, len(warnings)) == (None, 1)
    assert warnings[0].startswith("--since HEAD: nothing is taken over: ") and told in warnings[0]
    assert "/tmp" not in warnings[0]
    assert_as_from_nothing(report, after)


def test_files_that_cannot_be_compared_are_a_warning(after: tuple[Path, Path], warnings: list[str]) -> None:
    (after[1] / "x").symlink_to("/etc/hostname")
    report = prove(after, "HEAD", warnings)
    assert report.since is None
    assert warnings == [
        f"--since HEAD: nothing is taken over: {after[1]}/x: a link that does not lead to a file or directory of the "
        "tree"
    ]
    assert_as_from_nothing(report, after)


@pytest.mark.parametrize(
    ("base", "told"),
    [
        ("nowhere", "there is no such directory; revision 'nowhere': no commit of this repository; fetch it first"),
        ("", "there is no such directory; revision ''"),
        ("x" * 5000, "there is no such directory; revision 'xxx"),
        ("\0", "no revision has such a name"),
        (".", "--since .: .: there is no switches/ in it"),
    ],
)
def test_what_is_no_base(
    base: str, told: str, after: tuple[Path, Path], warnings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(after[0].parent)
    with pytest.raises(UsageError) as error:
        prove(after, base, warnings)
    assert told in str(error.value)
    assert str(error.value).endswith("or leave out --since")
    assert warnings == []


def test_a_directory_outside_of_the_repository(after: tuple[Path, Path], warnings: list[str], tmp_path: Path) -> None:
    after[1].rename(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match=r"it is outside of the git repository .*; name directories instead"):
        prove((after[0], tmp_path / "elsewhere"), "HEAD", warnings)
    os.environ.pop("GIT_DIR", None)
    write(tmp_path / "outside", FABRIC)
    with pytest.raises(UsageError, match="not a git repository"):
        prove((tmp_path / "outside/fabric.yaml", tmp_path / "outside/generated"), "HEAD", warnings)


def test_what_needs_more(after: tuple[Path, Path], warnings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    needs: dict[str, dict[str, object]] = {"an HTML report": {"html": True}, "Batfish": {"batfish": "localhost"}}
    for told, given in needs.items():
        with pytest.raises(UsageError, match=f"{told} needs more"):
            prove(after, "HEAD", warnings, **given)
    with pytest.raises(UsageError, match="an intent without a file needs more"):
        validate(load(after[0]), after[1], since="HEAD", html=False)
    monkeypatch.setattr("ailb_gen.api.since.installed", lambda kind: (Extension,) if kind == "checks" else ())
    with pytest.raises(UsageError, match="checks of extensions may need more"):
        prove(after, "HEAD", warnings)


@pytest.mark.parametrize("remember", [True, False])
def test_a_base_that_changes_meanwhile(
    remember: bool, after: tuple[Path, Path], warnings: list[str], tmp_path: Path
) -> None:
    _, base = write(tmp_path / "base", FABRIC)

    @contextmanager
    def progress(what: str, total: int) -> Iterator[Silent]:
        (base / LEAF).write_text("system { }\n")
        yield Silent()

    with pytest.raises(UsageError, match="base/generated: files changed while they were read"):
        prove(after, base, warnings, remember=remember, progress=progress)


def test_what_is_told(after: tuple[Path, Path], warnings: list[str]) -> None:
    damage(after)
    report = prove(after, "HEAD", warnings)
    told = since_of(report)
    body = json.loads(report.render("json"))["since"]
    assert body == {
        "base": "HEAD",
        "files": {"changed": 1, "all": told.files},
        "taken_over": list(told.taken_over),
        "checked": {check: list(parts) for check, parts in told.checked.items()},
    }
    first, *rows = told.lines()
    held = len(told.taken_over)
    every = held + len(told.checked)
    assert first == f"since HEAD: 1 of {told.files} artifacts changed; {held} of {every} checks taken over"
    assert "  MTUs: AILB113, AILB606, AILB613 and 2 more" in rows
    assert [row.partition(":")[0] for row in rows] == ["  any file", "  MTUs"]
