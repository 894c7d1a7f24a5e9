"""Completion by the shell's own mechanism: what is offered, that it is all there is, and that it imports little."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ailb_gen.checks.catalogue import EVERYTHING
from ailb_gen.checks.layers import FAMILIES
from ailb_gen.cli import complete
from ailb_gen.cli.reports import formats
from ailb_gen.forwarding.patterns import PATTERNS
from ailb_gen.intent.platforms import shipped_names
from ailb_gen.picture.view import ARGUMENTS
from ailb_gen.report.check_report import FORMATS
from tests.cli.verbs import program
from tests.conftest import ROOT, need_tool
from tests.forkserver import ForkServer

GOLDEN = ROOT / "tests/golden"

LAB = str(GOLDEN / "lab")
FABRIC = str(ROOT / "examples/lab/fabric.yaml")
SPINES = [f"spine{n}" for n in range(1, 5)]
SHELLS = ("bash", "zsh", "fish")
# What is offered for a command line that ends at the cursor, in a directory.
Asked = Callable[..., list[str]]


@pytest.fixture
def asked(tmp_path: Path, fork_server: ForkServer) -> Asked:
    def ask(line: str, shell: str = "fish", here: Path = tmp_path, **more: str) -> list[str]:
        environment = {
            "bash": {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))},
            "zsh": {"_TYPER_COMPLETE_ARGS": line},
            "fish": {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
        }[shell] | {"_AILB_GEN_COMPLETE": f"complete_{shell}"}
        code, out, err = fork_server.run([], here, "", {**os.environ, **environment, **more})
        assert (code, err) == (0, "")
        return [line for line in out.splitlines() if line]

    return ask


@pytest.mark.parametrize(
    ("line", "some"),
    [
        ("ailb-gen val", ["validate"]),
        (f"ailb-gen explain {FABRIC} spi", []),
        (
            f"ailb-gen validate {FABRIC} {LAB} --limit spine",
            ["spine", "spine1", "spine2", "spine3", "spine4", "spines"],
        ),
        (f"ailb-gen validate {FABRIC} {LAB} --limit leaves,gpu-s1", ["leaves,gpu-s1-1", "leaves,gpu-s1-2"]),
        (f"ailb-gen validate {FABRIC} {LAB} --checks !AILB50", [f"!AILB50{n}" for n in range(1, 8)]),
        (f"ailb-gen validate {FABRIC} {LAB} --checks paths,fai", ["paths,failures"]),
        (f"ailb-gen validate {FABRIC} {LAB} --report ", sorted(FORMATS)),
        (f"ailb-gen plan {FABRIC} {LAB} --report ", ["html"]),
        ("ailb-gen checks AILBD0", [f"AILBD0{n}" for n in range(1, 7)]),
        ("ailb-gen init --platform qfx5240", ["qfx5240-64od", "qfx5240-64qd"]),
        ("ailb-gen init --example jvd", ["jvd", "jvd-8-uplinks"]),
        (f"ailb-gen path -C {LAB} gpu-s2", ["gpu-s2-1", "gpu-s2-2"]),
        (f"ailb-gen path -C {LAB} gpu-s1-1 gpu-s2", ["gpu-s2-1", "gpu-s2-2"]),
        (f"ailb-gen rib -C {LAB} stripe1", ["stripe1-leaf1", "stripe1-leaf2"]),
        (f"ailb-gen fib -C {LAB} --fail spine", SPINES),
        ("ailb-gen study wh", ["what-if"]),
        ("ailb-gen simulate --balancer ecmp,dlb-", ["ecmp,dlb-assigned-flow", "ecmp,dlb-per-packet"]),
        (f"ailb-gen rollback {FABRIC} {LAB} --state runs ", ["0002-b", "0001-a"]),
        ("ailb-gen lab status --lab my", ["mylab"]),
        ("ailb-gen lab shell stripe2-leaf", ["stripe2-leaf1", "stripe2-leaf2"]),
        ("ailb-gen lab fail --lab mylab gpu-s1-1", ["gpu-s1-1"]),
        ("ailb-gen lab fail --lab other gpu", []),
    ],
)
def test_what_is_offered(tmp_path: Path, asked: Asked, line: str, some: list[str]) -> None:
    for run in ("0001-a", "0002-b"):
        (tmp_path / "runs" / run).mkdir(parents=True)
        (tmp_path / "runs" / run / "log.jsonl").touch()
    home = tmp_path / "state/ailb-gen/labs/mylab"
    home.mkdir(parents=True)
    (home / "lab.json").write_text(json.dumps({"pid": 1, "lab": {"artifacts": LAB}}))
    found = asked(line, XDG_STATE_HOME=str(tmp_path / "state"))
    assert [word.split("\t")[0] for word in found] == some


def test_devices_of_a_fabric_file_come_from_what_was_generated_for_it(tmp_path: Path, asked: Asked) -> None:
    (tmp_path / "fabric.yaml").write_text("name: 'lab'  # ours\n")
    (tmp_path / "build").mkdir()
    (tmp_path / "build/mine").symlink_to(LAB)
    (tmp_path / "build/jvd").symlink_to(GOLDEN / "jvd")
    assert asked("ailb-gen explain fabric.yaml stripe1-l") == ["stripe1-leaf1", "stripe1-leaf2"]
    assert asked("ailb-gen explain fabric.yaml stripe1-l", "bash") == ["stripe1-leaf1", "stripe1-leaf2"]
    assert asked("ailb-gen explain nothing.yaml stripe1-l") == []


def _run(state: Path, name: str, *events: Mapping[str, object]) -> None:
    """Record a run."""
    (state / name).mkdir(parents=True)
    lines = [json.dumps({"time": "2026-05-04T03:02:01.000Z", **event}) for event in events]
    (state / name / "log.jsonl").write_text("".join(f"{line}\n" for line in lines))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with artifacts, runs, and a folder to work in."""
    folder = tmp_path / "project"
    (folder / "below").mkdir(parents=True)
    (folder / "fabric.yaml").write_text("name: lab\n")
    (folder / "tree").symlink_to(LAB)
    (folder / "ailb.toml").write_text('fabric = "fabric.yaml"\nartifacts = "tree"\ninventory = "devices"\n')
    done = {"event": "results", "devices": {"spine1": ["confirmed", ""], "spine2": ["rolled back", "no"]}}
    state = folder / ".ailb/runs"
    _run(state, "9-a", {"event": "begin", "kind": "deploy"}, done)
    _run(state, "10-b", {"event": "begin", "kind": "rollback", "options": {"dry_run": True}})
    _run(state, "11-c", {"event": "begin"}, {"event": "confirming", "devices": ["spine1"]})
    _run(state, "12-d", {"event": "no such event", "devices": 1}, {"event": 5})
    return folder


RUNS = ["12-d", "11-c", "10-b", "9-a"]


@pytest.mark.parametrize(
    ("line", "some"),
    [
        ("ailb-gen explain spi", SPINES),
        ("ailb-gen explain fab", []),
        ("ailb-gen explain spine1 ", []),
        ("ailb-gen rib spi", SPINES),
        ("ailb-gen collect --limit spine", ["spine", *SPINES, "spines"]),
        ("ailb-gen generate --limit !spine1", ["!spine1"]),
        ("ailb-gen drift --limit gpu-s1", ["gpu-s1-1", "gpu-s1-2"]),
        ("ailb-gen rollback --as-is gpu-s1", ["gpu-s1-1", "gpu-s1-2"]),
        ("ailb-gen rollback ", RUNS),
        ("ailb-gen rollback 1", RUNS[:3]),
        ("ailb-gen rollback fabric.yaml tree ", RUNS),
        ("ailb-gen rollback fabric.yaml ", []),
        ("ailb-gen deploy ", []),
        ("ailb-gen deploy --resume 9", ["9-a"]),
        ("ailb-gen validate ", []),
        ("ailb-gen validate --executor s", ["serial"]),
    ],
)
def test_a_project_gives_what_is_omitted(project: Path, asked: Asked, line: str, some: list[str]) -> None:
    assert [word.split("\t")[0] for word in asked(line, here=project)] == some


def test_a_project_is_found_from_below_it(project: Path, asked: Asked) -> None:
    assert asked("ailb-gen explain spi", here=project / "below") == SPINES


def test_the_environment_wins_over_the_project(project: Path, asked: Asked) -> None:
    jvd = str(GOLDEN / "jvd")
    assert "stripe1-leaf8" in asked("ailb-gen rib stripe1-l", here=project, AILB_ARTIFACTS=jvd)
    assert "stripe1-leaf8" in asked("ailb-gen explain stripe1-l", here=project, AILB_ARTIFACTS=jvd)


def test_runs_are_described(project: Path, asked: Asked) -> None:
    assert asked("ailb-gen rollback ", here=project) == [
        "12-d",
        "11-c\t2026-05-04 03:02 UTC, deploy: 1 unsettled",
        "10-b\t2026-05-04 03:02 UTC, dry run: nothing changed",
        "9-a\t2026-05-04 03:02 UTC, deploy: 1 confirmed, 1 rolled back",
    ]


def test_without_artifacts_devices_come_from_the_inventory(project: Path, asked: Asked) -> None:
    (project / "tree").unlink()
    (project / "devices").mkdir()
    (project / "devices/hosts.yaml").write_text("# ours\n'leaf1':\n  port: 1\nspine1: {}\nspine-2.example:\n  a: b\n")
    assert asked("ailb-gen explain ", here=project) == ["leaf1", "spine-2.example", "spine1"]
    assert asked("ailb-gen verify --limit leaf", here=project) == ["leaf", "leaf1"]
    (project / "devices/hosts.yaml").write_bytes(b"\xff\n spine1\n- {")
    assert asked("ailb-gen explain ", here=project) == []


BROKEN: dict[str, Callable[[Path], object]] = {
    "syntax": lambda file: file.write_text('fabric = "fab'),
    "key": lambda file: file.write_text("fabrik = 1\n"),
    "type": lambda file: file.write_text("fabric = 1\nartifacts = []\n"),
    "bytes": lambda file: file.write_bytes(b"\xff\xfe\x00"),
    "nothing there": lambda file: file.write_text('fabric = "no/such.yaml"\nartifacts = "none"\n'),
    "a folder as a file": lambda file: file.write_text('fabric = "below"\nartifacts = "fabric.yaml"\n'),
    "a name too long": lambda file: file.write_text(f'fabric = "{"x" * 300}"\nartifacts = "{"y" * 300}"\n'),
    "a state that is a file": lambda file: file.write_text('fabric = "fabric.yaml"\nstate = "fabric.yaml"\n'),
    "a null": lambda file: file.write_text('fabric = "a\\u0000b"\nartifacts = "a\\u0000b"\nstate = "a\\u0000b"\n'),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_project_is_silent(project: Path, asked: Asked, kind: str) -> None:
    BROKEN[kind](project / "ailb.toml")
    for verb in ("explain", "rib", "rollback --as-is", "lab shell"):
        asked(f"ailb-gen {verb} s", here=project, XDG_STATE_HOME=str(project))
    assert asked("ailb-gen rollback s", here=project) == asked("ailb-gen deploy --resume s", here=project) == []
    assert asked("ailb-gen verify --limit swi", here=project) == ["switches"]
    assert asked("ailb-gen study wh", here=project) == ["what-if"]


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_is_answered(asked: Asked, shell: str) -> None:
    assert "spine4" in "".join(asked(f"ailb-gen rib -C {LAB} spine", shell))


def test_lists_are_those_of_the_program() -> None:
    everything = {*(check.id for check in EVERYTHING), *(name for name, _ in FAMILIES.values())}
    assert set(complete.checks_and_families()) == everything
    assert complete.platform("") == sorted(shipped_names())
    assert sorted(complete.PATTERNS) == sorted(PATTERNS)
    assert list(complete.VIEWS) == sorted(ARGUMENTS)
    assert formats() == [*FORMATS]


@pytest.mark.long
def test_the_list_of_studies_is_that_of_the_program() -> None:
    # Importing it compiles for a second.
    table = importlib.import_module("ailb_gen.study.catalog")
    assert tuple(table.STUDIES) == complete.STUDIES


@pytest.mark.parametrize(
    "words",
    [
        "validate x --checks A",
        "path -C {lab} g",
        "init --platform q",
        "rollback x y --state {state} ",
        "simulate --balancer d",
    ],
)
def test_little_is_imported(tmp_path: Path, words: str) -> None:
    _run(tmp_path, "1-a", {"event": "begin"})
    line = f"ailb-gen {words.format(lab=LAB, state=tmp_path)}"
    environment = {"_AILB_GEN_COMPLETE": "complete_bash", "COMP_WORDS": line}
    environment["COMP_CWORD"] = str(len(line.split(" ")) - 1)
    code = (
        "import atexit, sys, ailb_gen.cli as c; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); c.main()"
    )
    environment |= {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    heavy = {
        "numpy",
        "yaml",
        "pydantic",
        "rich.console",
        "lxml",
        "ailb_gen.redact",
        "jinja2",
        "nornir",
        "numba",
        "pandas",
        "ncclient",
        "ailb_gen.checks.catalogue",
    }
    assert not heavy & set(done.stderr.split())


@pytest.mark.long
@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_a_shell_is_read_by_it(shell: str) -> None:
    need_tool(shell)
    done = program(env={"_AILB_GEN_COMPLETE": f"source_{shell}"})
    subprocess.run([shell, "-n"], input=done.stdout, text=True, check=True)


# How a shell is made to complete a line: by its own command, or with its builtins in the place of a keyboard.
ASKED_IN = {
    "bash": (
        "COMP_WORDS=({line} ''); COMP_CWORD={count}; _ailb_gen_completion ailb-gen; "
        "printf '%s\\n' \"${{COMPREPLY[@]}}\""
    ),
    "zsh": "_arguments() {{ print -r -- $*; }}; words=({line} ''); CURRENT={count}+1; _ailb_gen_completion",
    "fish": "complete -C '{line} '",
}


@pytest.mark.long
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(("line", "some"), [("ailb-gen explain", SPINES), ("ailb-gen rollback", RUNS)])
def test_a_shell_completes_inside_a_project(project: Path, shell: str, line: str, some: list[str]) -> None:
    need_tool(shell)
    script = program(env={"_AILB_GEN_COMPLETE": f"source_{shell}"}).stdout
    asked_for = ASKED_IN[shell].format(line=line, count=len(line.split()))
    before = "compdef() { :; }" if shell == "zsh" else ""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(project)}
    command = [shell, "-c", f"{before}\n{script}\n{asked_for}"]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=True)
    assert not done.stderr
    assert all(word in done.stdout for word in some)
