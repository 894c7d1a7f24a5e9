"""Running a verb at a terminal of 80 columns, and comparing what a person sees with golden files."""

from __future__ import annotations

import os
import pty
import re
import select
import termios
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from tests.cli.screen import Screen
from tests.forkserver import ForkServer

GOLDEN = Path(__file__).parent / "golden" / "terminal"
WIDTH = 80
SGR = re.compile(r"\x1b\[[0-9;]*m")
# Lines that stay whole, so that people can copy them: statements of a plan, commands that go on from here.
WHOLE = ("  + ", "  ~ ", "  - ", "    ailb-gen ")
# Data, which is shown as it is: configurations, their differences, documents.
DATA = ("generate-diff", "junos-diff", "junos-convert")
# What differs from run to run or from machine to machine, as whole lines or with as many columns; `{}` is the directory
# in which everything is run.
VARYING: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    # Names of runs, digests.
    (r"\b[0-9]{8}T[0-9]{6}\.[0-9]{3}Z-[0-9a-f]{4}\b", "20260101T000000.000Z-0000"),
    (r"\b[0-9a-f]{64}\b", "0" * 64),
    # When something was done, and where.
    (
        r"\b20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}(?::[0-9]{2})?\b",
        lambda found: "2026-01-01 00:00:00"[: len(found[0])],
    ),
    (r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z", "2026-01-01T00:00:00Z"),
    (r"\bread in [0-9]:[0-9]{2}\b", "read in 0:00"),
    (r"^host: .*$", "host: host"),
    (r"\b0\.[0-9] MB$", "0.0 MB"),
    # Absolute paths.
    (r"{}/", "/tmp/"),
    (
        r"^\S+/ailb-gen/proofs: \d+ proofs? and models of \d+ fabrics? kept, [\d,.]+ MB$",
        "/home/.cache/ailb-gen/proofs: 1 proof and models of 1 fabric kept, 0.2 MB",
    ),
    # Ports: of the fake of Batfish, of emulated switches.
    (r"\b127\.0\.0\.1:[0-9]{4,5}\b", "127.0.0.1:00000"),
    (r"^((?:spine|stripe)\S+ .*? )[1-6][0-9]{4}$", r"\g<1>00000"),
    # How long a lab took, and how much room the kernel had.
    (r"\bafter [0-9]+\.[0-9] s\b", "after 0.0 s"),
    (r"^(?:\x1b\[1m)?note: net\.ipv6\.neigh\..*\n(?:    .*\n)*", ""),
    # Whether an earlier run compiled the engine.
    (r"^.*\bcompiling the engine: .*\n", ""),
    # Whether the machine is fast enough, how long packets were lost, and how many bytes routers sent besides.
    (r"^.*this machine sent [0-9]+(?:\x1b\[0m)?\n", ""),
    (r"(?<=\x1b\[33m) +[0-9]{3,}(?:\.[0-9])?(?=\x1b\[0m)", lambda found: "0".rjust(len(found[0]))),
    (r"(?<= )1\.00[0-9]$", "1.000"),
    (r"\b0\.[0-9]{3} █+[▏▎▍▌▋▊▉]?$", "0.000 ████████████"),
)


@dataclass(frozen=True, slots=True)
class Case:
    """A command line at a terminal, and the exit code that it must have."""

    name: str
    words: str
    code: int = 0
    quick: bool = False


# Runs words in a directory; gives what a person sees, with SGR sequences if there is color.
Shown = Callable[[list[str], Path, int, bool], list[str]]


def at_terminal(server: ForkServer, words: list[str], cwd: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """Run a command line at a terminal; return the exit code and what it wrote."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, WIDTH))
    place = Path(os.ttyname(theirs))
    child = server.start(words, place, place, Path(os.devnull), cwd, environment)
    written = bytearray()
    try:
        ended = False
        while not ended:
            ready = select.select([ours, child.descriptor], [], [])[0]
            ended = child.descriptor in ready
            while select.select([ours], [], [], 0)[0]:
                written += os.read(ours, 65536)
        code = server.ask("code")
    finally:
        os.close(child.descriptor)
        os.close(ours)
        os.close(theirs)
    return code, written.decode()


def shown_by(server: ForkServer) -> Shown:
    """Return what runs words at a terminal."""

    def run(words: list[str], cwd: Path, code: int, color: bool) -> list[str]:
        without = ("COLUMNS", "AILB_YANG", *(("NO_COLOR",) if color else ()))
        told = {key: value for key, value in os.environ.items() if key not in without}
        told |= {"TERM": "xterm", "XDG_STATE_HOME": str(cwd / "state"), "SHELL": "/bin/sh", "LOGNAME": "ops"}
        told |= {} if color else {"NO_COLOR": "1"}
        found, written = at_terminal(server, words, cwd, told)
        assert found == code, written
        assert color or "\x1b[" not in written.replace("\x1b[J", "")
        screen = Screen(10_000)
        screen.write(written)
        text = "".join(f"{line}\n" for line in screen.lines(color))
        for pattern, instead in VARYING:
            text = re.sub(pattern.replace("{}", re.escape(str(cwd))), instead, text, flags=re.MULTILINE)
        return text.split("\n")[:-1]

    return run


def once(name: str, colored: list[str]) -> None:
    """Compare what is shown of something that is not done twice."""
    check(name, lambda color: colored if color else [SGR.sub("", line) for line in colored])


def check(name: str, look: Callable[[bool], list[str]]) -> None:
    """Compare what is shown with the golden file, or renew it: with colors; without them it must be the same text."""
    plain, colored = look(False), look(True)
    assert [SGR.sub("", line) for line in colored] == plain
    if name not in DATA:
        wide = [line for line in plain if len(line) > WIDTH and not line.startswith(WHOLE)]
        assert not wide, wide
    path = GOLDEN / f"{name}.ansi"
    if os.environ.get("AILB_UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in colored), encoding="utf-8")
    kept = path.read_text(encoding="utf-8").split("\n")[:-1]
    assert colored == kept, "\n".join(unified_diff(kept, colored, path.name, "shown", lineterm=""))


def verbs(command: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield every verb of a command line, with those of its groups."""
    found = getattr(command, "commands", None)
    if found is None:
        yield path
    else:
        for name, verb in found.items():
            yield from verbs(verb, (*path, name))
