"""A proof that is taken over is the proof from nothing, byte for byte; a record that cannot be used is one warning."""

from __future__ import annotations

import errno
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ailb_gen.kept.folder
from ailb_gen.api.validate import validate
from ailb_gen.checks.catalogue import BY_ID
from ailb_gen.checks.model import Finding, Result, Run, RunOptions
from ailb_gen.checks.run import run
from ailb_gen.checks.subjects import Subject, SubjectKind
from ailb_gen.errors import Place
from ailb_gen.extensions import Extension
from ailb_gen.intent.load import load
from ailb_gen.kept.folder import kept_files, write
from ailb_gen.kept.inputs import TreeEntry, program_digest, tree_entries
from ailb_gen.kept.run_json import DAMAGED, from_json, to_json, without_functions
from ailb_gen.progress import Advance, Silent
from ailb_gen.report.check_report import CheckReport
from ailb_gen.report.verdict import judge
from tests.conftest import EXAMPLES
from tests.mutations.catalogue import KINDS
from tests.mutations.kind import changes_of, chosen
from tests.mutations.score import GOLDEN, golden
from tests.mutations.tree import Changes, write_changes

EXAMPLE = "lab"
FABRIC = EXAMPLES / EXAMPLE / "fabric.yaml"
LEAF = "switches/stripe1-leaf1.conf"
pytestmark = pytest.mark.usefixtures("home")

FORMATS = ("table", "json", "junit", "sarif", "md")
ROWS = [row for row in KINDS if EXAMPLE in row.examples]
# All but failures, which take long.
FEW = ("!failures",)
QUICK = ("files",)
LINKS = ("AILB709", "AILB710")


def copied(changes: Changes, place: Path) -> Path:
    """Copy the golden tree with changes, not by links: when others link to a file its time of change is another."""
    shutil.copytree(GOLDEN / EXAMPLE, place, symlinks=True)
    write_changes(changes, place)
    return place


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return copied({}, tmp_path / "root")


def proved(root: Path, warnings: list[str], **options: object) -> CheckReport:
    given: dict[str, object] = {"checks": FEW, "executor": "serial", "html": False, "remember": True, **options}
    return validate(FABRIC, root, warn=warnings.append, **given)  # type: ignore[arg-type]


def edit(root: Path, content: bytes) -> None:
    """Replace a file."""
    changes: Changes = {LEAF: content}
    write_changes(changes, root)


def texts(report: CheckReport) -> dict[str, str]:
    return {form: report.render(form) for form in FORMATS}


def records(home: Path) -> list[Path]:
    return [one.path for one in kept_files(home / "ailb-gen" / "proofs") if one.path.suffix == ".json"]


def test_what_has_not_changed_is_taken_over(root: Path, warnings: list[str], home: Path) -> None:
    first, second = proved(root, warnings), proved(root, warnings)
    assert (first.proved, warnings, len(records(home))) == ("", [], 1)
    assert second.proved.endswith(" UTC")
    assert (second.context, texts(second)) == (None, texts(first))
    # Waivers, limits and the gate are judged anew.
    limited = proved(root, warnings, limit=["stripe1-leaf1"], fail_on="note")
    from_nothing = proved(root, warnings, limit=["stripe1-leaf1"], fail_on="note", remember=False)
    assert limited.proved
    assert texts(limited) == texts(from_nothing)


@pytest.fixture(scope="session")
def digest() -> str:
    return program_digest()


@pytest.fixture(scope="session")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's cache after a proof of the undamaged tree."""
    place = tmp_path_factory.mktemp("record")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(place))
        assert proved(copied({}, place / "tree"), []).passed
    assert len(records(place)) == 1
    return place


@pytest.mark.sampled(60, 12)
@pytest.mark.parametrize("name", [row.name for row in ROWS])
def test_a_damaged_tree_beside_the_record_of_the_undamaged(
    name: str,
    digest: str,
    record: Path,
    warnings: list[str],
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # No other program runs; to read all of it would take half of the time.
    monkeypatch.setattr("ailb_gen.kept.proof.program_digest", lambda: digest)
    row = next(row for row in ROWS if row.name == name)
    changes: Changes = changes_of(row, golden(EXAMPLE), chosen(row, golden(EXAMPLE), EXAMPLE, 1))
    shutil.copytree(record / "ailb-gen", home / "ailb-gen")
    damaged = copied(changes, tmp_path / "damaged")
    first, second = proved(damaged, warnings), proved(damaged, warnings)
    assert (first.proved, warnings) == ("", [])
    assert texts(second) == texts(first)


def test_the_same_files_elsewhere(root: Path, warnings: list[str], tmp_path: Path) -> None:
    edit(root, (root / LEAF).read_bytes().replace(b"mtu 9", b"mtu 4"))
    proved(root, warnings)
    root.rename(tmp_path / "moved")
    again = proved(tmp_path / "moved", warnings)
    assert again.proved
    assert texts(again) == texts(proved(tmp_path / "moved", warnings, remember=False))
    assert not again.passed


def test_waivers_are_read_anew(root: Path, warnings: list[str], tmp_path: Path) -> None:
    edit(root, (root / LEAF).read_bytes() + b"# edited\n")
    waivers = tmp_path / "waivers.yaml"
    entry = "- {{id: AILB005, scope: '*', reason: edited by hand, expires: {}}}\n"
    assert [finding.check for finding in proved(root, warnings).findings] == ["AILB005"]
    for day in ("2999-01-01", "2001-01-01"):
        waivers.write_text(entry.format(day))
        kept, from_nothing = (proved(root, warnings, waivers=waivers, remember=again) for again in (True, False))
        assert kept.proved
        assert texts(kept) == texts(from_nothing)


@pytest.mark.parametrize("options", [{"seed": 2}, {"checks": ("addresses",)}, {"html": True}, {"remember": False}])
def test_another_question_is_answered_from_nothing(root: Path, warnings: list[str], options: dict[str, object]) -> None:
    proved(root, warnings)
    assert proved(root, warnings, **options).proved == ""


def test_other_models_are_another_question(yang: Path, root: Path, warnings: list[str]) -> None:
    first = proved(root, warnings, yang=yang, checks=("junos",))
    again = proved(root, warnings, yang=yang, checks=("junos",))
    assert (first.proved, bool(again.proved), texts(first)) == ("", True, texts(again))
    assert proved(root, warnings, checks=("junos",)).proved == ""


def test_checks_of_extensions_may_follow_from_anything(
    root: Path, warnings: list[str], monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setattr("ailb_gen.extensions.installed", lambda kind: (Extension,) if kind == "checks" else ())
    monkeypatch.setattr("ailb_gen.checks.extensions.installed", lambda kind: ())
    proved(root, warnings)
    assert records(home) == []


@pytest.fixture(params=["new files", "old files"])
def age(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take files that were just written for old ones, which are not read again at the end of a run, or not."""
    if request.param == "old files":
        monkeypatch.setattr("ailb_gen.kept.inputs.TICK_NS", -(10**12))


def test_a_tree_that_changes_during_the_proof_is_not_kept(
    age: None, root: Path, warnings: list[str], home: Path
) -> None:
    def progress(what: str, total: int) -> AbstractContextManager[Advance]:
        edit(root, (root / LEAF).read_bytes() + b"# edited\n")
        return nullcontext(Silent())

    proved(root, warnings, checks=QUICK, progress=progress)
    assert (records(home), warnings) == ([], [])


def test_an_edit_that_is_undone_during_the_proof_is_not_kept(
    age: None, root: Path, warnings: list[str], home: Path
) -> None:
    whole = (root / LEAF).read_bytes()

    class Undone(Silent):
        def step(self, name: str) -> None:
            if not name.startswith("reading"):
                edit(root, whole)

    def progress(what: str, total: int) -> AbstractContextManager[Advance]:
        edit(root, whole.replace(b"mtu 9", b"mtu 4"))
        return nullcontext(Undone())

    assert not proved(root, warnings, checks=LINKS, progress=progress).passed
    assert (records(home), warnings) == ([], [])
    assert proved(root, warnings, checks=LINKS).passed


def test_old_files_are_not_read_again_at_the_end(
    root: Path, warnings: list[str], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ailb_gen.kept.inputs.TICK_NS", -(10**12))
    read: list[Path] = []

    def entries(place: Path) -> tuple[TreeEntry, ...]:
        read.append(place)
        return tree_entries(place)

    monkeypatch.setattr("ailb_gen.kept.proof.tree_entries", entries)
    proved(root, warnings, checks=QUICK)
    assert (len(records(home)), read) == (1, [root])


def cut(record: Path) -> None:
    record.write_bytes(record.read_bytes()[:-100])


def other_inputs(record: Path) -> None:
    body = json.loads(record.read_bytes().partition(b"\n")[2])
    write(record.parent, record.name, json.dumps({**body, "general": "other"}).encode())


def no_text(record: Path) -> None:
    body = json.loads(record.read_bytes().partition(b"\n")[2])
    body["run"]["results"][0]["check"]["meaning"] = 1
    write(record.parent, record.name, json.dumps(body).encode())


DAMAGES: dict[str, Callable[[Path], object]] = {
    "cut": cut,
    "empty": lambda record: record.write_bytes(b""),
    "foreign": lambda record: write(record.parent, record.name, b"[1, 2]"),
    "no JSON": lambda record: write(record.parent, record.name, b"{"),
    "no UTF-8": lambda record: write(record.parent, record.name, b"\xff\xfe"),
    "no text": no_text,
    "deep": lambda record: write(record.parent, record.name, b"[" * 100_000),
    "no keys": lambda record: write(record.parent, record.name, b"{}"),
    "other inputs": other_inputs,
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_record_is_one_warning_and_replaced(damage: str, root: Path, warnings: list[str], home: Path) -> None:
    first = proved(root, warnings, checks=QUICK)
    DAMAGES[damage](records(home)[0])
    again = proved(root, warnings, checks=QUICK)
    assert (again.proved, texts(again)) == ("", texts(first))
    assert [text for text in warnings if "is damaged, and all is proved again" in text] == warnings
    assert len(warnings) == 1
    assert proved(root, warnings, checks=QUICK).proved


def no_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", ".")


def full(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(ailb_gen.kept.folder, "replace_file", fail)


def a_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "ailb-gen").write_text("")


def relative(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")


@pytest.mark.parametrize("trouble", [no_home, full, a_file, relative])
def test_a_folder_that_cannot_be_used_is_one_warning(
    trouble: Callable[[Path, pytest.MonkeyPatch], None],
    root: Path,
    warnings: list[str],
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trouble(home, monkeypatch)
    report = proved(root, warnings, checks=QUICK)
    assert (report.proved, report.passed) == ("", True)
    assert len(warnings) == 1
    assert warnings[0].startswith("proofs cannot be kept: ")
    assert "None" not in warnings[0]
    assert warnings[0].endswith("repair that, set XDG_CACHE_HOME, or use --no-cache")


def test_errors_of_the_input_are_those_of_the_proof(root: Path, warnings: list[str], home: Path) -> None:
    (root / LEAF).unlink()
    (root / LEAF).symlink_to("/etc/hostname")
    assert not proved(root, warnings).passed
    assert (records(home), warnings) == ([], [])


def runs() -> Iterator[Run]:
    """Runs with texts that are hard to write."""
    done = run(load(FABRIC), GOLDEN / EXAMPLE, RunOptions(frozenset({"AILB005"}), executor="serial"))
    check = done.results[0].check
    for message in ("", "\udcff", 'quote " \\ \n', "\u2028", "é"):
        finding = Finding(check.id, "leaf1", message, None, "a", "b", statement="x y", instead=True)
        yield Run("f", "i", "a", (("leaf1", "leaf"),), (Result(check, (finding,), 3, (("n", "v"),), "why"),))
    yield done


def written() -> str:
    """A run as it is kept, with a finding that has everything."""
    check = BY_ID["AILB005"]
    place, subject = Place("switches/leaf1.conf", 3, 1), Subject(SubjectKind.PORT, "leaf1", "et-0/0/0")
    finding = Finding(check.id, "leaf1", "wrong", place, "a", "b", (subject,), "same", "et-0/0/0", "x y", True)
    result = Result(check, (finding,), 3, (("figure", "1"),), "")
    return json.dumps(to_json(Run("f", "i", "a", (("leaf1", "leaf"),), (result,), (("host1", "a"),), notes=("note",))))


VALUES = st.sampled_from([None, True, -1, 1.5, "", "text", [], ["a", "b"], {}, {"id": "x"}])


@given(data=st.data())
def test_a_run_that_was_changed_is_refused_or_can_be_reported(data: st.DataObject) -> None:
    whole = json.loads(written())
    place = whole
    while isinstance(inner := place[key := data.draw(st.sampled_from(keys(place)))], dict | list) and inner:
        if data.draw(st.integers(0, 5)) == 0:
            break
        place = inner
    place[key] = data.draw(VALUES)
    try:
        found = from_json(whole, "intent", "artifacts")
    except DAMAGED:
        return
    report = CheckReport(judge(found, (), {result.check.id for result in found.results}, (), "error"), "validate")
    assert all(texts(report).values())


def keys(value: dict[str, object] | list[object]) -> list[Any]:
    return [*value] if isinstance(value, dict) else [*range(len(value))]


def test_a_run_comes_back_as_it_was() -> None:
    for done in runs():
        body = json.loads(json.dumps(to_json(done)))
        assert from_json(body, done.intent, done.artifacts) == without_functions(done)
