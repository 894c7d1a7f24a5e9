"""What every verb shows on a terminal of 80 columns, with colors and without; `make golden` renews it.

`golden/terminal/NAME.ansi` has the colors (`cat` shows them), `NAME.txt` is the same with NO_COLOR.
"""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import termios
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from ailb_gen.emulator.faults import Fault
from ailb_gen.render.artifacts import RenderOptions
from ailb_gen.render.generate import rendering, write_rendering
from tests.cli.screen import Screen
from tests.conftest import ROOT, design_of
from tests.deploy.fabric import CANARY, Site
from tests.forkserver import ForkServer

GOLDEN = Path(__file__).parent / "golden" / "terminal"
WIDTH = 80
# What differs from run to run: names of runs, digests.
VARYING = (
    (re.compile(r"\b[0-9]{8}T[0-9]{6}\.[0-9]{3}Z-[0-9a-f]{4}\b"), "20260101T000000.000Z-0000"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "0" * 64),
)
# Data, which is shown as it is: configurations and their differences.
DATA = ("generate-diff", "junos-diff", "junos-convert")
SGR = re.compile(r"\x1b\[[0-9;]*m")
STATEMENT = ("  + ", "  ~ ", "  - ")


@dataclass(frozen=True, slots=True)
class Case:
    """A command line at a terminal, and the exit code that it must have."""

    name: str
    words: str
    code: int = 0
    quick: bool = False


CASES = (
    Case("help", "--help", quick=True),
    Case("help-lab", "lab --help"),
    Case("help-junos", "junos --help"),
    Case("help-batfish", "batfish --help"),
    Case("help-validate", "validate --help"),
    Case("help-deploy", "deploy --help"),
    Case("usage", "validate fabric.yaml", 2),
    Case("init", "init new.yaml --yes"),
    Case("init-again", "init fabric.yaml --yes", 2),
    Case("generate", "generate fabric.yaml -o new"),
    Case("generate-check", "generate changed.yaml -o out --check", 1),
    Case("generate-diff", "generate changed.yaml -o out --diff --limit spine1"),
    Case("fabric-error", "generate wrong.yaml -o new", 2, quick=True),
    Case("explain-leaf", "explain fabric.yaml stripe1-leaf1"),
    Case("explain-spine", "explain fabric.yaml spine1"),
    Case("explain-server", "explain fabric.yaml gpu-s1-1"),
    Case("validate", "validate fabric.yaml out"),
    Case("validate-damaged", "validate fabric.yaml damaged", 1, quick=True),
    Case("validate-all", "validate fabric.yaml damaged --checks AILB710 --all", 1),
    Case("validate-waived", "validate fabric.yaml damaged --checks roce,AILB091 --waivers waivers.yaml"),
    Case("validate-warnings", "validate fabric.yaml damaged --checks AILB005,AILB311"),
    Case("checks", "checks"),
    Case("checks-one", "checks AILB503"),
    Case("rib", "rib spine1 fc00:1:1:1::/64 -C out"),
    Case("rib-leaf", "rib stripe2-leaf1 fc00:1:1:1::/64 -C out --fail spine1"),
    Case("fib", "fib stripe1-leaf1 -C out"),
    Case("path", "path gpu-s1-1:gpu0_eth gpu-s2-1:gpu0_eth -C out"),
    Case("path-fails", "path gpu-s1-1:gpu0_eth gpu-s2-1:gpu0_eth -C out --fail stripe2-leaf1", 1),
    Case("path-unknown", "path gpu-s1-1 gpu-s9-9 -C out", 2),
    Case("draw", "draw fabric.yaml out -o fabric.svg"),
    Case("junos-diff", "junos diff out/switches/spine1.conf damaged/switches/spine1.conf", 1),
    Case("junos-convert", "junos convert small.conf --to set"),
    Case("junos-check-no-models", "junos check out/switches/spine1.conf", 2),
    Case("batfish-snapshot", "batfish snapshot out -o snapshots"),
    Case("simulate", "simulate fabric.yaml out --bytes 1M --level flow --balancer rlb,ecmp --executor serial"),
    Case("simulate-error", "simulate missing.yaml", 2),
    Case("study-list", "study --list"),
    Case("study-unknown", "study hoper", 2),
    Case("emulate-stop", "emulate --stop nowhere", 2),
    Case("lab-status-none", "lab status", 2),
    Case("lab-down-none", "lab down"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a directory in which all command lines are run: a fabric, its files, and damaged ones."""
    place = tmp_path_factory.mktemp("terminal")
    text = (ROOT / "examples/lab/fabric.yaml").read_text(encoding="utf-8")
    (place / "fabric.yaml").write_text(text)
    (place / "changed.yaml").write_text(text.replace("interval_ms: 300", "interval_ms: 500"))
    (place / "wrong.yaml").write_text(text.replace("spines: 4", "spines: 0").replace("rails: 2", "rails: two"))
    (place / "small.conf").write_text("system {\n    host-name spine1;\n}\n")
    (place / "waivers.yaml").write_text(
        "- {id: AILB710, scope: 'stripe*', reason: 'jumbo frames come with ticket 4711', expires: 2099-12-31}\n"
        "- {id: AILB709, scope: '*', reason: 'jumbo frames come with ticket 4711', expires: 2099-12-31}\n"
    )
    write_rendering(rendering(design_of(text), place / "out", RenderOptions("curly", None)))
    shutil.copytree(place / "out", place / "damaged", symlinks=True)
    for path in (place / "damaged/switches").glob("stripe*.conf"):
        path.write_text(path.read_text().replace("mtu 9216", "mtu 9000"))
    spine = place / "damaged/switches/spine1.conf"
    spine.write_text(spine.read_text().replace("multipath {", "apply-macro multipath {"))
    return place


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


@pytest.fixture
def shown(fork_server: ForkServer) -> Callable[..., list[str]]:
    """Run a command line at a terminal; gives what a person sees, with SGR sequences if there is color."""

    def run(words: list[str], cwd: Path, code: int, color: bool) -> list[str]:
        told = {key: value for key, value in os.environ.items() if not key.startswith("AILB_YANG")}
        told |= {"TERM": "xterm", "XDG_STATE_HOME": str(cwd / "state"), **({} if color else {"NO_COLOR": "1"})}
        told = {key: value for key, value in told.items() if key not in ("COLUMNS", *(("NO_COLOR",) if color else ()))}
        found, written = at_terminal(fork_server, words, cwd, told)
        assert found == code, written
        assert color or "\x1b[" not in written.replace("\x1b[J", "")
        screen = Screen(10_000)
        screen.write(written)
        # Whether the engine is compiled already depends on what ran before.
        lines = [line for line in screen.lines(color) if not line.startswith("compiling the engine")]
        for pattern, text in VARYING:
            lines = [pattern.sub(text, line) for line in lines]
        return lines

    return run


def once(name: str, colored: list[str]) -> None:
    """Compare what is shown of something that is not done twice."""
    check(name, lambda color: colored if color else [SGR.sub("", line) for line in colored])


def check(name: str, look: Callable[[bool], list[str]]) -> None:
    """Compare what is shown with the golden files, or renew them."""
    plain, colored = look(False), look(True)
    assert [SGR.sub("", line) for line in colored] == plain
    if name not in DATA:
        assert not [line for line in plain if len(line) > WIDTH and not line.startswith(STATEMENT)]
    for suffix, lines in ((".txt", plain), (".ansi", colored)):
        path = GOLDEN / f"{name}{suffix}"
        if os.environ.get("AILB_UPDATE_GOLDEN"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        assert lines == path.read_text(encoding="utf-8").split("\n")[:-1], path.name


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case.name, marks=() if case.quick else pytest.mark.long) for case in CASES],
)
def test_what_a_verb_shows(case: Case, folder: Path, shown: Callable[..., list[str]]) -> None:
    def look(color: bool) -> list[str]:
        for made in ("new", "new.yaml", "snapshots", "fabric.svg"):
            path = folder / made
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        return shown(case.words.split(), folder, case.code, color)

    check(case.name, look)


@pytest.fixture
def site(tiny: Site, tmp_path: Path) -> Site:
    """A fabric of emulated switches, with short names for everything in the current directory."""
    for name, path in (("fabric.yaml", tiny.generated.fabric), ("out", tiny.generated.artifacts)):
        (tmp_path / name).symlink_to(path)
    return tiny


def words(verb: str, *more: str) -> list[str]:
    """Return the command line of a verb that connects."""
    return [verb, "fabric.yaml", "out", "-i", "inventory", *more]


PUSH = ("--state", "runs", "--yes", "--confirm-minutes", "10", "--verify-timeout", "5", "--minute", "1")


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "command", "code"),
    [
        ("plan", words("plan"), 0),
        ("plan-brief", words("plan", "--brief", "--limit", "spines"), 0),
        ("drift", words("drift"), 1),
        ("verify", words("verify"), 0),
        ("collect", ["collect", "fabric.yaml", "-i", "inventory", "-o", "collected"], 0),
        ("deploy-dry-run", words("deploy", "--dry-run", *PUSH), 0),
        ("rollback-nothing", words("rollback", *PUSH), 2),
    ],
)
def test_what_a_verb_shows_that_only_looks(
    site: Site, tmp_path: Path, shown: Callable[..., list[str]], name: str, command: list[str], code: int
) -> None:
    def look(color: bool) -> list[str]:
        for made in ("collected", "runs"):
            shutil.rmtree(tmp_path / made, ignore_errors=True)
        return shown(command, tmp_path, code, color)

    check(name, look)


@pytest.mark.long
def test_what_a_push_and_its_rollback_show(site: Site, tmp_path: Path, shown: Callable[..., list[str]]) -> None:
    for name, verb, code in (("deploy", "deploy", 0), ("deploy-again", "deploy", 0), ("rollback", "rollback", 0)):
        once(name, shown(words(verb, *PUSH), tmp_path, code, True))


@pytest.mark.long
def test_what_a_push_that_fails_shows(site: Site, tmp_path: Path, shown: Callable[..., list[str]]) -> None:
    site.fleet.add_faults(CANARY, Fault("error", "commit"))
    once("deploy-refused", shown(words("deploy", *PUSH), tmp_path, 3, True))
