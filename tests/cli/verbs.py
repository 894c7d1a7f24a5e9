"""Running a verb on a golden tree, in this process: what `main` would print and return."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

import ailb_gen.cli
from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.load_config import load_set
from ailb_gen.errors import AilbError
from ailb_gen.junos.tree import Node
from tests.conftest import ROOT
from tests.deploy.fabric import Site

Told = tuple[int, str, str]


def run(*words: str, artifacts: str | None = None) -> Told:
    """Return exit code, standard output and standard error; `artifacts` is what AILB_ARTIFACTS says."""
    done = CliRunner(env={"AILB_ARTIFACTS": artifacts}).invoke(ailb_gen.cli.app, list(words))
    error = done.exception
    if isinstance(error, AilbError):
        return error.exit_code, done.stdout, f"{done.stderr}ailb-gen: {error}\n"
    assert error is None or isinstance(error, SystemExit), done.exc_info
    return done.exit_code, done.stdout, done.stderr


def refused(told: Told, *messages: str, code: int = 2) -> None:
    """Assert that a verb printed nothing and ended with a code, and its messages."""
    assert told[:2] == (code, ""), told
    assert [message for message in messages if message not in " ".join(told[2].split())] == [], told[2]


def files(folder: Path) -> dict[str, bytes]:
    """Return the content of all files below a folder by path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def program(*words: str | Path, cwd: Path = ROOT, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run the program in a process of its own; `more` is what `subprocess.run` takes, `env` what is added to it."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **more.pop("env", {})}
    outputs = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
    command = [sys.executable, "-m", "ailb_gen", *map(str, words)]
    return subprocess.run(command, cwd=cwd, env=environment, text=True, check=False, timeout=180, **outputs)


def at_terminal(folder: Path, *words: str, answers: str = "") -> str:
    """Run a command on a pseudo-terminal of 80 columns; returns what a person sees."""
    parent, child = pty.openpty()
    env = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80", "TERM": "xterm"}
    with subprocess.Popen(
        [sys.executable, "-m", "ailb_gen", *words], cwd=folder, env=env, stdin=child, stdout=child, stderr=child
    ) as process:
        os.close(child)
        os.write(parent, answers.encode())
        seen = b""
        while True:
            try:
                chunk = os.read(parent, 4096)
            except OSError:
                break
            if not chunk:
                break
            seen += chunk
        assert process.wait(timeout=60) == 0, seen
    os.close(parent)
    return seen.decode()


def changed(folder: Path, file: str, old: str, new: str) -> None:
    """Change a file of a copied tree; what is not there cannot be changed."""
    text = (folder / file).read_text()
    assert old in text, f"{old!r} is not in {file}"
    (folder / file).write_text(text.replace(old, new))


def committed(device: EmulatedDevice, tree: Node) -> None:
    """Commit a configuration as somebody at the console of a switch does."""
    somebody = device.other_operator()
    device.database.edit(somebody, tree)
    device.database.commit(somebody, "by hand")


def by_hand(site: Site, name: str, lines: str) -> None:
    """Change a switch with commands."""
    site.fleet.do(name, lambda device: committed(device, load_set(device.database.candidate, lines)[0]))
