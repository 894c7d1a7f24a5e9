"""`ailb-gen validate` as a gate, run for real on the reference fabric: what an operator and a pipeline see."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.checks.trees import GOLDEN
from tests.conftest import EXAMPLES, ROOT, need_shared

FABRIC = EXAMPLES / "jvd" / "fabric.yaml"
DAMAGED = "switches/stripe1-leaf1.conf"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the reference tree whose first leaf advertises a prefix in a wrong color."""
    tree = tmp_path / "generated"
    shutil.copytree(GOLDEN / "jvd", tree, symlinks=True)
    switch = tree / DAMAGED
    text = switch.read_text()
    assert text.count("color green;") > 1
    switch.write_text(text.replace(" color green;", " color blue;", 1))
    return tree


def validate(*words: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "ailb_gen", "validate", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=120)


def test_a_sound_tree_passes() -> None:
    done = validate(FABRIC, GOLDEN / "jvd", "--yang", need_shared("yang/24.4R1-EVO"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "\nPASS: no findings; " in done.stdout
    assert "skipped" not in done.stdout.splitlines()[-1]


def test_every_report_points_at_the_statement(tree: Path, tmp_path: Path) -> None:
    words = [f"--report={kind}={tmp_path / kind}" for kind in ("json", "junit", "sarif", "md")]
    done = validate(FABRIC, tree, *words)
    assert (done.returncode, done.stderr) == (1, "")
    assert "\nFAIL: " in done.stdout
    lines = (tree / DAMAGED).read_text().splitlines()
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


def test_a_waiver_opens_the_gate_until_it_expires(tree: Path, tmp_path: Path) -> None:
    text = "- {{id: AILB304, scope: 'stripe1-leaf1*', reason: ticket 4711, expires: {}}}\n"
    for expires, code in (("2999-12-31", 0), ("2020-01-01", 1)):
        (tmp_path / "waivers.yaml").write_text(text.format(expires))
        done = validate(FABRIC, tree, "--checks", "AILB304,AILB090", "--waivers", tmp_path / "waivers.yaml")
        assert done.returncode == code, done.stdout


def test_what_cannot_be_read_or_written(tree: Path, tmp_path: Path) -> None:
    assert validate(FABRIC, tmp_path / "nothing").returncode == 2
    assert validate(tmp_path / "nothing.yaml", tree).returncode == 2
    (tmp_path / "file").touch()
    done = validate(FABRIC, tree, "--report", f"sarif={tmp_path / 'file' / 'x.sarif'}", "--report", "md")
    assert done.returncode == 3
    assert "AILB304" in done.stdout, "the report that can be written is written"
    assert "x.sarif" in done.stderr and "Traceback" not in done.stderr


def test_progress_is_for_terminals() -> None:
    main, second = pty.openpty()
    command = [sys.executable, "-m", "ailb_gen", "validate", str(FABRIC), str(GOLDEN / "jvd")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=second, env=environment) as process:
        os.close(second)
        shown = b""
        try:
            while piece := os.read(main, 65536):
                shown += piece
        except OSError:  # the other end is closed: Linux tells it as an error
            pass
        assert process.wait() == 0
    os.close(main)
    assert b"checking" in shown
