"""Extensions: the example distribution is built, installed and used; a broken one is named and breaks nothing else."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ailb_gen.api.broken import CHECKS
from tests.cli.verbs import Told, run
from tests.conftest import ROOT

EXAMPLE = ROOT / "examples" / "extension"
FABRIC = ROOT / "examples" / "lab" / "fabric.yaml"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the example into a directory of its own."""
    folder = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*words, "--disable-pip-version-check", "--target", str(folder), str(EXAMPLE)], check=True)
    return folder


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lab") / "out"
    assert _run(None, "generate", str(FABRIC), "-o", str(folder))[0] == 0
    return folder


def _run(site: Path | None, *words: str) -> Told:
    """Run the program with the distributions that are installed in a directory."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in sys.modules if name.partition(".")[0] in ("acme_ailb", "broken")]:
            patch.delitem(sys.modules, name)
        if site is not None:
            patch.syspath_prepend(site)
        return run(*words)


def _broken(tmp_path: Path, module: str, kind: str = "checks", value: str = "broken:CHECKS") -> Path:
    """Return a directory with an installed distribution whose module has this text."""
    info = tmp_path / "broken_dist-2.0.dist-info"
    info.mkdir(parents=True)
    (tmp_path / "broken.py").write_text(module, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-dist\nVersion: 2.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[ailb_gen.{kind}]\nbroken = {value}\n", encoding="utf-8")
    return tmp_path


def test_checks_are_listed_with_their_origin(site: Path) -> None:
    shown = _run(site, "checks")[1]
    assert "ACME acme, from acme-ailb 1.0\n  ACME001  error    every switch has two spare ports\n" in shown
    assert _run(site, "checks", "acme001")[1].rstrip().endswith("From: acme-ailb 1.0")


def test_a_check_runs_with_all_others_and_can_be_excluded(site: Path, tree: Path) -> None:
    code, out, _err = _run(site, "validate", str(FABRIC), str(tree), "--report", "json=-")
    rows = {row["id"]: row for row in json.loads(out)["checks"]}
    assert (code, rows["ACME001"]["status"], rows["ACME001"]["examined"]) == (0, "pass", 8)
    assert (rows["ACME001"]["family"], len(rows) > 90) == ("acme", True)
    less = _run(site, "validate", str(FABRIC), str(tree), "--checks", "!acme", "--report", "json=-")
    assert "ACME001" not in less[1]


def test_its_findings_are_reported_limited_and_waived(site: Path, tree: Path, tmp_path: Path) -> None:
    strict = shutil.copytree(site, tmp_path / "site", ignore=shutil.ignore_patterns("__pycache__"))
    module = strict / "acme_ailb" / "checks.py"
    module.write_text(module.read_text(encoding="utf-8").replace("MOST_PORTS, SPARE = 64", "MOST_PORTS, SPARE = 4"))
    words = ["validate", str(FABRIC), str(tree)]
    code, out, _err = _run(
        strict, *words, *(f"--report={kind}={tmp_path / kind}" for kind in ("md", "junit", "sarif", "html"))
    )
    assert (code, "ACME001" in out, "ports are left" in out) == (1, True, True)
    assert all("ACME001" in (tmp_path / kind).read_text(encoding="utf-8") for kind in ("md", "junit", "sarif", "html"))
    waivers = tmp_path / "waivers.yaml"
    waivers.write_text("- {id: ACME001, scope: '*', reason: agreed, expires: 2999-01-01}\n", encoding="utf-8")
    assert _run(strict, *words, "--waivers", str(waivers))[0] == 0
    assert _run(strict, *words, "--limit", "gpu-s1-1")[0] == 0


def test_a_report_format(site: Path, tree: Path, tmp_path: Path) -> None:
    chat = tmp_path / "chat.txt"
    code, _out, _err = _run(site, "validate", str(FABRIC), str(tree), "--report", f"acme-chat={chat}")
    assert (code, chat.read_text(encoding="utf-8").startswith("✅ PASS: ")) == (0, True)
    wrong = _run(site, "validate", str(FABRIC), str(tree), "--report", "acme-chta=x")
    assert (wrong[0], "did you mean 'acme-chat'?" in wrong[2]) == (2, True)


def test_an_export(site: Path, tmp_path: Path) -> None:
    fabric = tmp_path / "fabric.yaml"
    text = FABRIC.read_text(encoding="utf-8") + "management: {servers: 192.0.2.10/24}\n"
    fabric.write_text(text, encoding="utf-8")
    _code, out, err = _run(site, "export", "acme-hosts", str(fabric))
    assert out.splitlines()[0].split()[1] == "gpu-s1-1", err
    assert ["acme-hosts", "acme-ailb", "1.0"] in map(str.split, _run(site, "export", "--list")[1].splitlines())


RUN = """\
from ailb_gen import Check
def run(files, findings):
    {}
CHECKS = Check('AB001', 'a', 'b', 'c', 'd', run)
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("module", "reason"),
    [
        ("import nothing_such\n", "cannot be imported: ModuleNotFoundError: No module named 'nothing_such'"),
        ("raise SystemExit(0)\n", "cannot be imported: SystemExit: 0"),
        ("CHECKS = 5\n", "names neither a Check nor a list of them"),
        ("CHECKS = ['x']\n", "has an item that is no Check: str"),
        (
            "from ailb_gen import Check\nCHECKS = Check('AILB999', 'a', 'b', 'c', 'd', print)\n",
            "has the check 'AILB999': an id is 2 to 16 capital letters, not AILB, and 3 digits",
        ),
        (
            "from ailb_gen import Check\nCHECKS = Check('AB001', 'a', 'b', 'c', 'd')\n",
            "has the check AB001, which has no function 'run'",
        ),
        (
            "from ailb_gen import Check\nCHECKS = Check('AB001', 'a', 'b', 'c', 'd', lambda files, findings: 1 / 0)\n",
            "has a check that fails: AB001 failed: ZeroDivisionError: division by zero",
        ),
        (RUN.format("exit(0)"), "has a check that fails: AB001 failed: SystemExit: 0"),
        (
            RUN.format("findings.add(Check('AB002', 'a', 'b', 'c', 'd'), 'spine1', 'wrong')"),
            "has a check that fails: AB001 failed: it reports AB002, which it is not",
        ),
        (
            RUN.format("findings.add(CHECKS, 'spine1', 'wrong', ('a', 1))"),
            "has a check that fails: AB001 failed: a finding's file is None, not str",
        ),
        (
            "from ailb_gen import Check\nCHECKS = Check('AB001', 'a', 'b', 'c', 'd', print, severity='bad')\n",
            "has a check whose severity is 'bad', not Severity",
        ),
    ],
    ids=[
        "import",
        "exit",
        "number",
        "text",
        "own-id",
        "no-run",
        "fails",
        "exits",
        "other-check",
        "no-place",
        "severity",
    ],
)
def test_a_broken_one_is_named_and_all_others_run(tree: Path, tmp_path: Path, module: str, reason: str) -> None:
    code, out, err = _run(_broken(tmp_path / "x", module), "validate", str(FABRIC), str(tree))
    assert code == 3
    assert f"broken-dist 2.0: its entry point 'broken' of ailb_gen.checks {reason}" in err
    assert "INCOMPLETE: no findings; 92 checks passed" in out


def test_what_it_prints_is_no_part_of_a_report(tree: Path, tmp_path: Path) -> None:
    site = _broken(tmp_path / "x", "print('imported')\n" + RUN.format("print('ran'); findings.look(CHECKS)"))
    code, out, err = _run(site, "validate", str(FABRIC), str(tree), "--checks", "AB", "--report", "json")
    assert code == 0
    assert json.loads(out)["verdict"]
    assert err.startswith("imported\nran\n")


def test_a_check_of_a_broken_one_is_unknown_and_it_is_named(tree: Path, tmp_path: Path) -> None:
    site = _broken(tmp_path / "x", "import nothing_such\n")
    code, _, err = _run(site, "validate", str(FABRIC), str(tree), "--checks", "AB")
    assert code == 2
    assert "no check is called 'AB'" in err
    assert "broken-dist 2.0: its entry point 'broken' of ailb_gen.checks cannot be imported" in err


@pytest.mark.parametrize("chosen", [("ailb001,AILB00?", "!AILB002"), CHECKS], ids=["validate", "simulate"])
def test_a_broken_one_does_not_matter_where_its_checks_are_not_chosen(
    chosen: tuple[str, ...], tree: Path, tmp_path: Path
) -> None:
    site = _broken(tmp_path / "x", "import nothing_such\n")
    words = [word for one in chosen for word in ("--checks", one)]
    code, _, err = _run(site, "validate", str(FABRIC), str(tree), *words)
    assert (code, "broken-dist" in err) == (0, False)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("reports", ["validate", str(FABRIC), "TREE", "--report", "broken=-"]),
        ("exports", ["export", "broken", str(FABRIC)]),
    ],
)
@pytest.mark.parametrize(
    ("module", "reason"),
    [
        ("CHECKS = 5\n", "is not a function"),
        ("def CHECKS(x): return 5\n", "must return text, not int"),
        ("def CHECKS(x): raise ValueError('no')\n", "fails: ValueError: no"),
    ],
)
def test_broken_formats_and_exports(
    tree: Path, tmp_path: Path, kind: str, words: list[str], module: str, reason: str
) -> None:
    code, _out, err = _run(
        _broken(tmp_path / "x", module, kind), *(str(tree) if word == "TREE" else word for word in words)
    )
    assert code == 3
    assert f"broken-dist 2.0: its entry point 'broken' of ailb_gen.{kind} {reason}" in err
