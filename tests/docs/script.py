"""Pages as scripts: their commands run in one shell, in order; what they show is what is printed.

In a block of commands a line after `$ ` is a command, lines after `> ` continue it, and what follows is its output, in
which a line `…` or `...` stands for any lines. A command that shows no output may print anything. `$ echo $?` after a
command shows its exit code. Without it, the code is 0 in a `console` block; in a `shell-session` block, a command that
shows what it prints may exit with any code. A block with `title="FILE"` is the content of that file.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from tests.conftest import ROOT

BLOCK = re.compile(r'^```(?P<kind>[\w-]+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$', re.M | re.S)
ANY = ("…", "...")
# What differs from run to run: names of runs, times, digests, seconds.
VARIES = (
    (re.compile(r"\b\d+-\d{8}T\d{6}\.\d{3}Z-[0-9a-f]{4}\b"), "RUN"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z| UTC)?"), "TIME"),
    (re.compile(r"\b\d+(\.\d+)? s\b"), "N s"),
    (re.compile(r"\b\d+:\d\d(:\d\d)?\b(?= Establ)"), "UP"),
    (re.compile(r"\b[0-9a-f]{7,64}\b"), "DIGEST"),
    (re.compile(r" +$"), ""),
)
# Printed once per installation, by whichever simulation is the first.
COMPILING = "compiling the engine; it is cached"
# Separates what is the script's from what commands print.
START, END = "\x1e", "\x1f"


@dataclass(slots=True)
class Step:
    """A command with the output that its page shows, and the lines of the page that show it; or a file to write."""

    page: Path
    command: str
    first: int = 0
    shown: list[str] = field(default_factory=list)
    # The exit code that it must have; None: any.
    code: int | None = 0
    printed: list[str] = field(default_factory=list)


def steps(page: Path, kind: str = "console") -> list[Step]:
    """Return the steps of a page's blocks of a kind, in order; `first` counts the lines of the page from 0."""
    found: list[Step] = []
    text = page.read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        if block["title"]:
            folder = shlex.quote(str(Path(block["title"]).parent))
            body = f"mkdir -p {folder}\ncat > {shlex.quote(block['title'])} <<'END OF FILE'\n{block['text']}END OF FILE"
            found.append(Step(page, body))
        elif block["kind"] == kind:
            found += _commands(page, block["text"], text.count("\n", 0, block.start("text")))
    for step, following in pairwise([*found, Step(page, "")]):
        if following.command == "echo $?":
            step.code = int(following.shown[0])
        elif step.shown and kind == "shell-session":
            step.code = None
    return found


def _commands(page: Path, text: str, first: int) -> list[Step]:
    found: list[Step] = []
    for number, line in enumerate(text.splitlines(), first):
        if line.startswith("$ "):
            found.append(Step(page, line[2:], number + 1))
        elif line.startswith("> ") and not found[-1].shown:
            found[-1].command += "\n" + line[2:]
            found[-1].first = number + 1
        else:
            found[-1].shown.append(line)
    return found


def script(of: Sequence[Step]) -> str:
    """Return the steps as a script for bash that ends with 99 at the first unexpected exit code."""
    lines = ["(exit 0)"]
    for step in of:
        lines += [
            "code=$?",
            f"printf '{START}'",
            "(exit $code)",
            step.command,
            "code=$?",
            f"printf '{END}%s\\n' $code",
            "true" if step.code is None else f"[ $code = {step.code} ] || exit 99",
            "(exit $code)",
        ]
    return "\n".join(lines) + "\n"


def run(of: Sequence[Step], folder: Path, env: Mapping[str, str]) -> None:
    """Run the steps in a folder and give each what it printed; stop the emulators that it leaves running there.

    Raises AssertionError at the first unexpected exit code.
    """
    try:
        done = subprocess.run(
            ["bash", "-c", script(of)],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=1500,
        )
    finally:
        for running in folder.parent.rglob("emulator.json"):
            words = [sys.executable, "-m", "ailb_gen", "emulate", "--stop", str(running.parent)]
            subprocess.run(words, cwd=ROOT, check=False, capture_output=True)
    parts = re.findall(f"{START}(.*?){END}(\\d+)\n", done.stdout, re.S)
    good = 0
    for step, (text, code) in zip(of, parts, strict=False):
        step.printed = [line for line in text.splitlines() if line != COMPILING]
        good += step.code in (int(code), None)
    if os.environ.get("AILB_UPDATE_GOLDEN"):
        renew(of[:good])
    assert good == len(of), f"{of[good].page.name}: {of[good].command}\n{done.stdout[-3000:]}"


# Commands that print nothing when they succeed, by how they begin: `junos diff` of files with the same statements, too.
QUIET = (
    *("cd ", "cp ", "rm ", "mkdir ", "cat > ", "sed -i", "git ", ". ", "export ", "kill ", "echo ", "ssh-keygen -q "),
    *("python3 -m venv ", "pip install --quiet ", "ailb-gen junos diff "),
)
# A file or a directory that a command writes.
WRITES = re.compile(r"(?:-o|--output) *'?([^\s'|>]+)")


def silent(of: Sequence[Step], folder: Path) -> list[str]:
    """Return the commands, run in a folder, of which nothing came out: what they name may be gone."""
    return [
        f"{step.page.name}: {step.command}"
        for step in of
        if not any(step.printed)
        and not step.command.startswith(QUIET)
        and " > " not in step.command
        and not _written(step.command, folder)
    ]


def _written(command: str, folder: Path) -> bool:
    """Return whether a command names something to write that is there, and not empty; scripts change directories."""
    places = [path for name in WRITES.findall(command) for path in folder.rglob(Path(name).name)]
    return any(next(path.iterdir(), None) is not None if path.is_dir() else path.stat().st_size > 0 for path in places)


def differences(of: Sequence[Step]) -> list[str]:
    """Return the steps that printed something else than their page shows, with what they printed."""
    return [
        "\n".join([f"{step.page.name}: {step.command}", *step.shown, "--- printed:", *step.printed])
        for step in of
        if not shows(step)
    ]


def alike(line: str) -> str:
    """Return a line without what differs from run to run."""
    for pattern, name in VARIES:
        line = pattern.sub(name, line)
    return line


def shows(step: Step) -> bool:
    """Return whether what the page shows is what was printed."""
    wanted = "".join(r"(?:.*\n)*?" if line in ANY else re.escape(alike(line)) + r"\n" for line in step.shown)
    printed = "".join(f"{alike(line)}\n" for line in step.printed)
    return not step.shown or re.fullmatch(wanted, printed) is not None


def renewed(step: Step) -> list[str]:
    """Return what the page should show: as many first and last lines as it shows now; raises ValueError if unclear."""
    gaps = [number for number, line in enumerate(step.shown) if line in ANY]
    if not gaps:
        return step.printed
    if len(gaps) > 1:
        raise ValueError(f"{step.page.name}: {step.command}: several parts are shown; renew them by hand")
    last = len(step.shown) - gaps[0] - 1
    return [*step.printed[: gaps[0]], step.shown[gaps[0]], *step.printed[len(step.printed) - last :]]


def renew(of: Sequence[Step]) -> None:
    """Write what was printed into the pages, where they show something else."""
    for step in reversed([step for step in of if step.shown and not shows(step)]):
        lines = step.page.read_text(encoding="utf-8").splitlines()
        lines[step.first : step.first + len(step.shown)] = renewed(step)
        step.page.write_text("\n".join(lines) + "\n", encoding="utf-8")
