"""Completion by the shell's own mechanism: what is offered, that it is all there is, and that it imports little."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from ailb_gen.checks.catalogue import EVERYTHING
from ailb_gen.checks.layers import FAMILIES
from ailb_gen.cli import complete
from ailb_gen.cli.reports import formats
from ailb_gen.forwarding.patterns import PATTERNS
from ailb_gen.intent.platforms import shipped_names
from ailb_gen.picture.view import ARGUMENTS
from ailb_gen.report.check_report import FORMATS
from ailb_gen.sim.balancers import BALANCERS
from ailb_gen.sim.scenario.traffic import CollectiveName
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
    def ask(line: str, shell: str = "fish", **more: str) -> list[str]:
        environment = {
            "bash": {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))},
            "zsh": {"_TYPER_COMPLETE_ARGS": line},
            "fish": {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
        }[shell] | {"_AILB_GEN_COMPLETE": f"complete_{shell}"}
        code, out, err = fork_server.run([], tmp_path, "", {**os.environ, **environment, **more})
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


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_is_answered(asked: Asked, shell: str) -> None:
    assert "spine4" in "".join(asked(f"ailb-gen rib -C {LAB} spine", shell))


def test_lists_are_those_of_the_program() -> None:
    everything = {*(check.id for check in EVERYTHING), *(name for name, _ in FAMILIES.values())}
    assert set(complete.checks_and_families()) == everything
    assert complete.platform("") == sorted(shipped_names())
    assert sorted(complete.PATTERNS) == sorted(PATTERNS)
    assert get_args(CollectiveName) == complete.COLLECTIVES
    assert list(complete.BALANCERS) == list(BALANCERS)
    assert list(complete.VIEWS) == sorted(ARGUMENTS)
    assert formats() == [*FORMATS]


@pytest.mark.long
def test_the_list_of_studies_is_that_of_the_program() -> None:
    # Importing it compiles for a second.
    table = importlib.import_module("ailb_gen.study.catalog")
    assert tuple(table.STUDIES) == complete.STUDIES


@pytest.mark.parametrize(
    "words", ["validate x --checks A", "path -C {lab} g", "init --platform q", "rollback x y ", "simulate --balancer d"]
)
def test_little_is_imported(tmp_path: Path, words: str) -> None:
    line = f"ailb-gen {words.format(lab=LAB)}"
    environment = {"_AILB_GEN_COMPLETE": "complete_bash", "COMP_WORDS": line}
    environment["COMP_CWORD"] = str(len(line.split(" ")) - 1)
    code = (
        "import atexit, sys, ailb_gen.cli as c; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); c.main()"
    )
    environment |= {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    heavy = {"numpy", "yaml", "jinja2", "nornir", "numba", "pandas", "ncclient", "ailb_gen.checks.catalogue"}
    assert not heavy & set(done.stderr.split())


@pytest.mark.long
@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_a_shell_is_read_by_it(shell: str) -> None:
    need_tool(shell)
    done = program(env={"_AILB_GEN_COMPLETE": f"source_{shell}"})
    subprocess.run([shell, "-n"], input=done.stdout, text=True, check=True)
