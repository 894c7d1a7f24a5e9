"""`ailb-gen runs`: what is listed, shown, undone and deleted is what was pushed."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any
from unittest import mock

import jsonschema
import pytest

from ailb_gen.cli.options import age_s
from ailb_gen.emulator.faults import Fault
from ailb_gen.errors import UsageError
from tests.cli.verbs import at_terminal, refused
from tests.conftest import ROOT, Cli
from tests.deploy.fabric import CANARY, LAST, ORDER, SPINES, Outcome, Site, run
from tests.deploy.test_deployment_rollback import killed
from tests.report.test_json import closed

SCHEMA = json.loads((ROOT / "docs" / "runs.schema.json").read_text(encoding="utf-8"))
VERBS = ("list", "show", "diff", "report", "prune")


def runs(site: Site, verb: str, *more: str) -> Outcome:
    return run("runs", verb, str(site.generated.fabric), *more, "--state", str(site.records.path))


def said(site: Site, verb: str, *more: str) -> str:
    done = runs(site, verb, *more)
    assert done.code == 0, done
    return done.out


def as_json(site: Site, verb: str, *more: str) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(said(site, verb, *more, "--json"))
    jsonschema.validate(body, closed(SCHEMA))
    jsonschema.validate(body, closed(SCHEMA | {"oneOf": [SCHEMA["$defs"][verb]]}))
    return body


@pytest.mark.parametrize("verb", VERBS)
def test_help(cli: Cli, verb: str) -> None:
    code, out, err = cli("runs", verb, "--help")
    assert (code, err) == (0, "")
    assert "Exit codes: 0 done, 2 bad input, 3 " in " ".join(out.split())


@pytest.mark.parametrize(
    ("text", "days"), [("90d", 90), ("2w", 14), ("1y", 365), (" 0d ", 0), ("36h", 1.5), ("720m", 0.5)]
)
def test_ages(text: str, days: float) -> None:
    assert age_s(text) == days * 86400


@pytest.mark.parametrize("text", ["", "90", "d", "-1d", "1.5d", "90 days", "99999999d", "\u0663d"])
def test_wrong_ages(text: str) -> None:
    with pytest.raises(UsageError, match="such as 90d"):
        age_s(text)


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["list"], "Missing argument 'FABRIC'"),
        (["list", "nothing.yaml"], "nothing.yaml"),
        (["list", "{fabric}", "--last", "0"], "Invalid value for '--last'"),
        (["show", "{fabric}"], "no run is recorded here; check --state"),
        (["show", "{fabric}", "7"], "7: there is no such run"),
        (["diff", "{fabric}"], "no run is recorded here"),
        (["report", "{fabric}"], "Missing option '-o' / '--output'"),
        (["report", "{fabric}", "-o", "page.html"], "no run is recorded here"),
        (["prune", "{fabric}"], "say which runs to delete: --keep NUMBER, --older-than AGE (such as 90d), or both"),
        (["prune", "{fabric}", "--keep", "0"], "Invalid value for '--keep'"),
        (["prune", "{fabric}", "--older-than", "soon"], "--older-than 'soon': write a number and its unit"),
        (["prune", "{fabric}", "--keep", "3"], "no run is recorded here"),
        (["list", "{fabric}", "--state", "{fabric}"], "fabric.yaml: this is no directory of runs; check --state"),
    ],
)
def test_input_that_cannot_be_used(cli: Cli, tmp_path: Path, words: list[str], message: str) -> None:
    fabric = tmp_path / "fabric.yaml"
    shutil.copy(ROOT / "examples/lab/fabric.yaml", fabric)
    refused(cli("runs", *(word.format(fabric=fabric) for word in words)), message)
    assert not (tmp_path / ".ailb").exists()


def test_a_fabric_that_nothing_was_pushed_to(cli: Cli, tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples/lab/fabric.yaml", tmp_path / "fabric.yaml")
    assert cli("runs", "list", "fabric.yaml") == (0, ".ailb/runs: no run is recorded here.\n", "")
    body = json.loads(cli("runs", "list", "fabric.yaml", "--json")[1])
    assert (body["runs"], body["older"]) == ([], 0)


def test_a_push_its_rollback_and_pruning(tiny: Site, tmp_path: Path) -> None:
    assert tiny.deploy("--dry-run").code == 0
    plan = tiny.planned()
    assert tiny.deploy("--plan", plan).code == 0
    body = as_json(tiny, "list")
    assert [(one["state"], one["kind"]) for one in body["runs"]] == [("done", "deploy"), ("done", "dry run")]
    first = body["runs"][0]
    (part,) = first["parts"]
    assert (part["verb"], part["user"], part["host"]) == ("deploy", tiny.events()[0]["user"], os.uname().nodename)
    assert part["command"][:2] == ["ailb-gen", "deploy"] and "--plan" in part["command"]
    assert (part["approved"], first["plan"]["file"]) == ("--yes", plan)
    assert {name: one["outcome"] for name, one in first["devices"].items()} == dict.fromkeys(ORDER, "confirmed")
    # The same, read by people.
    newest, _ = said(tiny, "list").splitlines()[-2:]
    assert newest.split()[0] == "2" and " ".join(newest.split()).endswith(" deploy plan, --yes done 4 confirmed")
    shown = said(tiny, "show", "2")
    assert f"\nplan: {plan}\n" in shown and f"{LAST}  confirmed  4" in shown
    undone = as_json(tiny, "diff")
    assert undone["devices"][SPINES[0]]["lines"] == [
        "~ protocols bgp group fabric-blue bfd-liveness-detection minimum-interval: 300 → 1000"
    ]
    assert as_json(tiny, "show")["commands"].keys() == set(ORDER)
    # It is what a rollback then does.
    assert run(*tiny.words("rollback")).code == 0
    tiny.assert_all(tiny.old)
    assert "nothing is left that a rollback would undo" in said(tiny, "diff", "2")
    body = as_json(tiny, "list", "--last", "2")
    assert [(one["state"], one["kind"]) for one in body["runs"]] == [("done", "rollback"), ("rolled back", "deploy")]
    assert body["older"] == 1 and body["runs"][0]["undoes"] == body["runs"][1]["run"]
    assert "1 older run is not listed; --last 3 lists all" in said(tiny, "list", "--last", "2")
    assert "taken back by 3" in said(tiny, "show", "2")
    # Nothing is deleted that is not asked for; then what the rule says.
    looked = as_json(tiny, "prune", "--keep", "1", "--dry-run")
    assert (len(looked["would_delete"]), looked["deleted"]) == (2, [])
    refusal = runs(tiny, "prune", "--keep", "1")
    assert (refusal.code, "cannot ask for confirmation here" in refusal.err) == (2, True)
    assert len(tiny.records.runs()) == 3
    assert as_json(tiny, "prune", "--keep", "1", "--yes")["deleted"] == looked["would_delete"]
    assert said(tiny, "prune", "--keep", "1", "--yes") == "No run is to be deleted.\n"
    assert tiny.records.runs() == [body["runs"][0]["run"]]
    # The number goes on.
    assert tiny.deploy().code == 0
    assert tiny.records.runs()[-1].startswith("4-")


def test_a_run_that_was_killed_is_told_and_who_settled_it(tiny: Site) -> None:
    killed(tiny, "verified", times=2)
    (one,) = as_json(tiny, "list")["runs"]
    assert one["state"] == "unsettled"
    assert {name: row["outcome"] for name, row in one["devices"].items()} == {
        CANARY: "confirmed",
        SPINES[0]: "unsettled",
        SPINES[1]: "untouched",
        LAST: "untouched",
    }
    text = said(tiny, "diff")
    assert f"{SPINES[0]}:\n  ! unsettled: it may have this change or not" in text and f"{CANARY}:\n  ~ " in text
    kept = as_json(tiny, "prune", "--older-than", "0d", "--dry-run")["kept"]
    assert kept == {one["run"]: "it left devices unsettled"}
    confirmed = run(*tiny.place("confirm"), "--state", str(tiny.records.path))
    assert confirmed.code == 0
    (one,) = as_json(tiny, "list")["runs"]
    assert (one["state"], [part["verb"] for part in one["parts"]]) == ("incomplete", ["deploy", "confirm"])
    assert one["parts"][1]["command"][1] == "confirm"
    assert "settling started: confirm by " in page(tiny)


def test_a_run_that_failed_says_why(tiny: Site) -> None:
    tiny.fleet.add_faults(LAST, Fault("error", "commit"))
    assert tiny.deploy().code == 3
    (one,) = as_json(tiny, "list")["runs"]
    assert (one["state"], one["why"]) == ("incomplete", "wave 4 failed")
    assert one["devices"][LAST]["outcome"] == "untouched" and LAST in one["devices"][LAST]["reason"]
    assert "\nwhy: wave 4 failed\n" in said(tiny, "show")
    assert "wave 4 failed" in page(tiny)


def page(site: Site) -> str:
    file = site.folder / "again.html"
    done = runs(site, "report", "-o", str(file))
    assert (done.code, done.out, f"{file}: report of the run " in done.err) == (0, "", True)
    assert file.stat().st_mode & 0o777 == 0o600
    return file.read_text()


def test_the_report_again_is_that_of_the_run(tiny: Site, tmp_path: Path) -> None:
    first = tmp_path / "first.html"
    assert tiny.deploy("--report", f"html={first}").code == 0
    again = page(tiny)
    for text in ("4 devices confirmed in ", 'id="waves"', 'id="record"', 'id="outcomes"', 'id="changes"'):
        assert text in again and text in first.read_text(), text
    assert "bfd-liveness-detection minimum-interval" in again
    refusal = runs(tiny, "report", "-o", str(tmp_path))
    assert (refusal.code, "is a directory; name a file" in refusal.err) == (2, True)
    refusal = runs(tiny, "report", "-o", str(tiny.generated.fabric))
    assert (refusal.code, "is an input of this command" in refusal.err) == (2, True)
    refusal = runs(tiny, "report", "-o", str(first / "x.html"))
    assert refusal.code == 3 and "first.html/x.html" in refusal.err


def test_a_damaged_record_hides_no_other(tiny: Site) -> None:
    assert tiny.deploy("--dry-run").code == 0
    assert tiny.deploy().code == 0
    log = tiny.records.log(tiny.records.runs()[0])
    log.write_text("{\n")
    listed = runs(tiny, "list")
    assert listed.code == 3
    assert f"{log}:1: not a line of a record; was it edited?" in listed.err
    assert [line.split()[0] for line in listed.out.splitlines()[-2:]] == ["2", "1"]
    for verb in ("show", "diff"):
        done = runs(tiny, verb, "1")
        assert (done.code, done.out, "not a line of a record" in done.err) == (3, "", True)
    assert runs(tiny, "show", "2").code == 0


def test_what_cannot_be_read_is_named(tiny: Site) -> None:
    assert tiny.deploy("--dry-run").code == 0
    with mock.patch.object(Path, "iterdir", side_effect=PermissionError(13, os.strerror(13))):
        done = runs(tiny, "list")
    assert (done.code, done.out) == (3, "")
    assert f"{tiny.records.path}: the runs cannot be read: Permission denied; check its owner" in done.err


def test_a_run_that_has_not_begun_is_shown(tiny: Site) -> None:
    assert tiny.deploy("--dry-run").code == 0
    log = tiny.records.log(tiny.records.runs()[0])
    log.write_bytes(b"")
    done = runs(tiny, "show")
    assert (done.code, done.err) == (0, "")
    assert f"run {log.parent.name}: not begun\n" in done.out


def test_a_lock_that_cannot_be_used_is_no_record(tiny: Site) -> None:
    assert tiny.deploy("--dry-run").code == 0
    lock = tiny.records.path / "lock"
    lock.unlink()
    lock.mkdir()
    done = runs(tiny, "prune", "--keep", "1", "--yes")
    assert (done.code, done.out) == (3, "")
    assert f"{tiny.records.path}: no run can be deleted: Is a directory; check --state" in done.err


def test_pruning_waits_for_no_other_run(tiny: Site) -> None:
    assert tiny.deploy("--dry-run").code == 0
    with tiny.records.alone():
        done = runs(tiny, "prune", "--keep", "1", "--yes")
        assert (done.code, "another run uses it" in done.err) == (2, True)
        # Who only looks is not kept out.
        assert runs(tiny, "list").code == 0


def test_asked_at_a_terminal_no_is_no(tiny: Site) -> None:
    for _ in range(2):
        assert tiny.deploy("--dry-run").code == 0
    words = ("runs", "prune", str(tiny.generated.fabric), "--state", str(tiny.records.path), "--keep", "1")
    assert "Delete 1? [y/N]: " in at_terminal(tiny.folder, *words, answers="n\n")
    assert len(tiny.records.runs()) == 2
    assert "1 run deleted." in at_terminal(tiny.folder, *words, answers="y\n")
    assert len(tiny.records.runs()) == 1
