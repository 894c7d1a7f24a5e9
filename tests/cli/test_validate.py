"""`ailb-gen validate` and `ailb-gen checks`: options, exit codes, and where reports go."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ailb_gen.checks.catalogue import CATALOGUE, WITH_BATFISH, markdown
from ailb_gen.checks.layers import FAMILIES
from ailb_gen.checks.model import Result, RunOptions
from ailb_gen.checks.progress import CALLED, NEEDED_BY, WEIGHTS
from ailb_gen.cli.validate import slow_family
from tests.checks.trees import GOLDEN
from tests.cli.verbs import Told, at_terminal, refused, run
from tests.conftest import EXAMPLES, SMALL, need_shared
from tests.report.samples import COLOR, LEAF, ODD, SESSION, SPINE, driver_that_finds, results

Validate = Callable[..., Told]


@pytest.fixture
def found() -> list[Result]:
    """What the checks find; tests change it."""
    return [Result(SESSION, (), 64)]


@pytest.fixture
def seen() -> list[RunOptions]:
    """The options of the runs so far."""
    return []


@pytest.fixture
def validate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: list[Result], seen: list[RunOptions]) -> Validate:
    """Run the verb in a folder with a fabric file and a tree, with checks that find what the test says."""
    (tmp_path / "fabric.yaml").write_text(SMALL, encoding="utf-8")
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AILB_YANG", raising=False)

    def call(*words: str) -> Told:
        monkeypatch.setitem(sys.modules, "ailb_gen.checks.run", driver_that_finds(*found, seen=seen))
        return run("validate", "fabric.yaml", "out", *words)

    return call


def test_a_clean_tree_passes_with_a_table(validate: Validate) -> None:
    code, out, err = validate()
    assert (code, err) == (0, "")
    assert out.startswith("Fabric small in out: 1 leaf, 1 spine\n")
    assert out.endswith("\nPASS: no findings; 1 check passed; 2 not applicable\n")


def test_findings_leave_with_1_when_they_are_bad_enough(validate: Validate, found: list[Result]) -> None:
    found[:] = [Result(COLOR, (ODD,), 1)]
    assert validate()[0] == 0
    assert validate("--fail-on", "warning")[0] == 1
    assert validate("--fail-on", "note")[0] == 1
    found[:] = [Result(SESSION, (LEAF,), 1)]
    assert validate()[0] == 1


def test_every_report_is_written_when_there_are_findings(
    validate: Validate, found: list[Result], tmp_path: Path
) -> None:
    found[:] = results()
    words = [
        f"--report={kind}={name}"
        for kind, name in (
            ("junit", "r/j.xml"),
            ("sarif", "r/s.sarif"),
            ("md", "r/m.md"),
            ("table", "r/t.txt"),
            ("html", "r/h.html"),
        )
    ]
    code, out, _ = validate(*words, "--report", "json")
    assert code == 1
    assert json.loads(out)["passed"] is False
    assert {path.name for path in (tmp_path / "r").iterdir()} == {"j.xml", "s.sarif", "m.md", "t.txt", "h.html"}
    assert ElementTree.parse(tmp_path / "r" / "j.xml").getroot().get("failures") == "1"
    assert json.loads((tmp_path / "r" / "s.sarif").read_text(encoding="utf-8"))["version"] == "2.1.0"
    assert "FAIL" in (tmp_path / "r" / "m.md").read_text(encoding="utf-8")
    code, out, _ = validate("--report", "json=r/j.json")
    assert (code, out.startswith("Fabric small")) == (1, True), "the table is shown when nothing else is"
    assert json.loads((tmp_path / "r" / "j.json").read_text(encoding="utf-8"))["artifacts"] == "out"
    assert validate("--report=md=-")[1].startswith("<!-- ailb-gen validate -->")


def test_an_unwritable_report_is_3_and_the_others_are_there(
    validate: Validate, found: list[Result], tmp_path: Path
) -> None:
    found[:] = results()
    code, out, err = validate("--report=junit=fabric.yaml/y", "--report=json=fabric.yaml/x", "--report=md=m.md")
    assert code == 3
    assert "fabric.yaml/y: cannot write the report" in err
    assert "fabric.yaml/x: cannot write the report" in err
    assert "FAIL: 2 errors" in out
    assert (tmp_path / "m.md").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--report", "jsn"), "unknown format; did you mean 'json'?"),
        (("--report", "yaml=x"), "formats: table, json, junit, sarif, md, html"),
        (("--report", "json="), "the name of the file is missing"),
        (("--report", "json", "--report", "md"), "standard output takes one report"),
        (("--report", "json=a", "--report", "md=./a"), "a is written to twice"),
        (("--report", "json=fabric.yaml"), "fabric.yaml is an input of this command; name another file"),
        (("--report", "json=out"), "out is an input of this command; name another file"),
        (("--executor", "threads"), "must be processes, serial, or dask:ADDRESS"),
        (("--executor", "dask:"), "must be processes, serial, or dask:ADDRESS"),
        (("--yang", "none"), "--yang none: there is no such directory; clone github.com/Juniper/yang"),
        (("--checks", "AILB99*"), "no check is called 'AILB99*'"),
        (("--limit", "spine9"), "no device is called that; did you mean 'spine1'?"),
        (("--waivers", "none.yaml"), "none.yaml:1:1: error[unreadable]"),
        (("--fail-on", "fatal"), "Invalid value for '--fail-on'"),
        (("-j", "0"), "Invalid value for '-j'"),
    ],
)
def test_wrong_arguments(validate: Validate, tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    refused(validate(*words), message)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fabric.yaml", "out"]


def test_bad_input_is_told(cli: Callable[..., Told], tmp_path: Path) -> None:
    (tmp_path / "fabric.yaml").write_text("name: x y\n", encoding="utf-8")
    assert "out: there is no such directory; 'ailb-gen generate' writes one" in cli("validate", "fabric.yaml", "out")[2]
    assert "fabric.yaml: this is a file; name a directory; '" in cli("validate", "fabric.yaml", "fabric.yaml")[2]
    assert cli("validate", "fabric.yaml", "x" * 300)[0] == 2
    (tmp_path / "w.yaml").write_text("- {id: AILB091}\n- {id: AILB777, scop: a}\n", encoding="utf-8")
    code, out, err = cli("validate", "fabric.yaml", ".", "--waivers", "w.yaml")
    assert (code, out) == (2, "")
    assert "w.yaml:2:4: error[wrong-value]: [1].id: no check is called 'AILB777'" in err
    assert "w.yaml:2:17: error[unknown-key]: [1].scop: unknown key; did you mean 'scope'?" in err


def test_options_reach_the_run(validate: Validate, seen: list[RunOptions], tmp_path: Path) -> None:
    (tmp_path / "yang").mkdir()
    validate("--seed", "7", "--executor", "dask:tcp://h:1", "-j", "3", "--yang", "yang", "--checks", "!AILB090")
    (options,) = seen
    assert (options.seed, options.executor, options.jobs) == (7, "dask:tcp://h:1", 3)
    assert options.yang == Path("yang")
    # Without a service what Batfish checks is left out, unless it is asked for.
    assert options.checks == {check.id for check in CATALOGUE if check.family != WITH_BATFISH} - {"AILB090"}


def test_the_models_are_found_by_the_environment(
    validate: Validate, seen: list[RunOptions], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AILB_YANG", str(tmp_path / "out"))
    validate()
    monkeypatch.setenv("AILB_YANG", "")
    validate()
    assert [options.yang for options in seen] == [tmp_path / "out", None]
    assert all(options.jobs >= 1 and options.executor == "processes" for options in seen)


def test_limit_keeps_findings_of_the_devices(validate: Validate, found: list[Result]) -> None:
    found[:] = [Result(SESSION, (LEAF, SPINE), 2)]
    code, out, _ = validate("--limit", "spine")
    assert code == 1
    assert "spine1 et-0/0/1" in out and "stripe1-leaf1" not in out
    found[:] = [Result(SESSION, (LEAF,), 2)]
    assert validate("--limit", "spine1")[0] == 0


def test_checks_are_listed_and_explained(cli: Callable[..., Told]) -> None:
    code, out, err = cli("checks")
    assert (code, err) == (0, "")
    assert all(f"\n  {check.id}  {check.severity}" in out for check in CATALOGUE)
    assert max(map(len, out.splitlines())) <= 80
    code, out, _ = cli("checks", "AILB09*")
    assert "AILB090 (warning): no waiver has expired\n" in out and "\nAILB091 (note)" in out
    assert max(map(len, out.splitlines())) <= 80
    assert cli("checks", "--markdown") == (0, markdown(), "")
    assert cli("checks", "AILB9999")[0] == 2
    assert cli("checks", "--markdown", "AILB090")[0] == 2


REFERENCE, TREE = str(EXAMPLES / "jvd" / "fabric.yaml"), GOLDEN / "jvd"
DAMAGED = "switches/stripe1-leaf1.conf"


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A copy of the reference tree whose first leaf advertises a prefix in a wrong color."""
    tree = Path(shutil.copytree(TREE, tmp_path / "generated", symlinks=True))
    text = (tree / DAMAGED).read_text()
    assert text.count("color green;") > 1
    (tree / DAMAGED).write_text(text.replace(" color green;", " color blue;", 1))
    return tree


def test_a_sound_tree_passes() -> None:
    code, out, err = run("validate", REFERENCE, str(TREE), "--yang", str(need_shared("yang/24.4R1-EVO")))
    assert (code, err) == (0, "")
    assert "\nPASS: no findings; " in out
    assert "skipped" not in out.splitlines()[-1]


def test_every_report_points_at_the_statement(damaged: Path, tmp_path: Path) -> None:
    words = [f"--report={kind}={tmp_path / kind}" for kind in ("json", "junit", "sarif", "md")]
    code, out, err = run("validate", REFERENCE, str(damaged), *words)
    assert (code, err) == (1, "")
    assert "\nFAIL: " in out
    lines = (damaged / DAMAGED).read_text().splitlines()
    sarif = json.loads((tmp_path / "sarif").read_text())["runs"][0]["results"]
    places = [(row["ruleId"], row["locations"][0]["physicalLocation"]) for row in sarif if row.get("locations")]
    pointed = {
        rule: lines[place["region"]["startLine"] - 1]
        for rule, place in places
        if place["artifactLocation"]["uri"].endswith(DAMAGED)
    }
    assert "blue" in pointed["AILB304"], pointed
    checks = json.loads((tmp_path / "json").read_text())["checks"]
    found = {check["id"] for check in checks if check["status"] == "fail"}
    suite = ElementTree.parse(tmp_path / "junit").getroot()
    failed = {case.get("name", "").split()[0] for case in suite.iter("testcase") if case.find("failure") is not None}
    assert "AILB304" in found & failed
    assert "AILB304" in (tmp_path / "md").read_text()


def test_a_waiver_opens_the_gate_until_it_expires(damaged: Path, tmp_path: Path) -> None:
    text = "- {{id: AILB304, scope: 'stripe1-leaf1*', reason: ticket 4711, expires: {}}}\n"
    words = ("--checks", "AILB304,AILB090", "--waivers", str(tmp_path / "waivers.yaml"))
    for expires, code in (("2999-12-31", 0), ("2020-01-01", 1)):
        (tmp_path / "waivers.yaml").write_text(text.format(expires))
        assert run("validate", REFERENCE, str(damaged), *words)[0] == code


def test_progress_is_for_terminals(tmp_path: Path) -> None:
    assert "checking" in at_terminal(tmp_path, "validate", REFERENCE, str(TREE), "--checks", "roce")


def test_the_family_that_takes_the_time_of_a_long_run_is_named() -> None:
    spent = {"": 1.0, "reading files": 9.0, "simulating failures": 65.0, "computing link loads": 5.0}
    assert slow_family(spent) == (
        "note: the checks took 1:20, 1:05 of it for simulating failures; --checks '!failures' leaves that out"
    )
    assert slow_family({"simulating failures": 9.9}) == ""
    assert slow_family({"reading files": 50.0, "simulating failures": 20.0}) == ""


def test_what_is_named_is_a_step_and_a_family() -> None:
    assert set(NEEDED_BY) <= {CALLED.get(step, step) for step in WEIGHTS}
    assert set(NEEDED_BY.values()) <= {name for name, _ in FAMILIES.values()}
