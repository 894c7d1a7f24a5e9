"""The documentation is true: commands run, excerpts are what comes out, codes are complete."""

import os
import re
import shlex
import shutil
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

import pytest

from ailb_gen.errors import CODES
from tests.batfish.fake.service import with_fake
from tests.conftest import ROOT, SMALL, Cli, design_of
from tests.docs.script import Step, silent
from tests.forkserver import ForkServer

PAGES = sorted(
    path for pattern in ("*.md", "docs/**/*.md", "examples/*/*.md", "inventory/*.md") for path in ROOT.glob(pattern)
)
# Run as one script by tests/docs/test_newcomer.py.
SCRIPTS = {ROOT / "docs/start.md", ROOT / "docs/tutorial.md"}


def blocks(page: Path, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)


def commands(page: Path) -> list[str]:
    return [line[2:] for block in blocks(page, "console") for line in block.splitlines() if line.startswith("$ ")]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what the commands read."""
    for name in ("examples", "inventory"):
        shutil.copytree(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.mark.long
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page not in SCRIPTS and commands(page)],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_every_command_of_a_page_runs(page: Path, checkout: Path, fork_server: ForkServer) -> None:
    # Labs of other pages that run at the same time are kept elsewhere.
    env = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(checkout / "state")}
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)

    def run(*words: str) -> tuple[int, str, str]:
        return fork_server.run(list(words), checkout, "", env, seconds=1200)

    with ExitStack() as running:
        for command in commands(page):
            program, *words = shlex.split(command)
            if program == "make":
                # Running make from its own tests would never end; `.ci/run` runs it.
                assert words[0] in targets, command
                continue
            assert program == "ailb-gen", command
            # Whatever fails on the page, nothing is left running.
            if words[:2] == ["lab", "up"]:
                running.callback(run, "lab", "down")
            if "--daemon" in words:
                running.callback(run, "emulate", "--stop", words[words.index("--inventory") + 1])
            with with_fake([program, *words]) as here:
                code, out, err = run(*here[1:])
            assert code == 0, f"{command}\n{err}"
            assert page != ROOT / "README.md" or "warning[" not in err, f"{command}\n{err}"
            ran = Step(page, command, printed=[*out.splitlines(), *err.splitlines()])
            assert silent([ran], checkout) == []


def test_the_readme_shows_the_reference_fabric_as_it_is() -> None:
    (shown,) = blocks(ROOT / "README.md", "yaml")
    assert shown == (ROOT / "examples/jvd/fabric.yaml").read_text(encoding="utf-8")


def test_the_readme_shows_the_errors_of_its_mistakes(cli: Cli, tmp_path: Path) -> None:
    (text,) = blocks(ROOT / "README.md", "yaml")
    (shown,) = [block for block in blocks(ROOT / "README.md", "text") if block.startswith("fabric.yaml:")]
    wrong = text.replace("spines: 4", "spinez: 4").replace("uplinks: {speed: 400g}", "uplinks: {speed: 400gb}")
    (tmp_path / "fabric.yaml").write_text(wrong, encoding="utf-8")
    assert cli("generate", "fabric.yaml", "-o", "out") == (2, "", shown)


def test_the_readme_shows_what_comes_out() -> None:
    leaf = (ROOT / "tests/golden/jvd/switches/stripe1-leaf1.conf").read_text(encoding="utf-8")
    excerpts = blocks(ROOT / "README.md", "junos")
    assert len(excerpts) == 2
    assert all(excerpt in leaf for excerpt in excerpts)
    netplan = (ROOT / "tests/golden/jvd/servers/h100-01/etc/netplan/60-ailb-gpu.yaml").read_text(encoding="utf-8")
    (excerpt,) = blocks(ROOT / "README.md", "netplan")
    assert excerpt in netplan


@pytest.mark.long
def test_the_readme_shows_what_a_simulation_prints(cli: Cli) -> None:
    page = ROOT / "README.md"
    (command,) = [line for line in commands(page) if line.startswith("ailb-gen simulate")]
    (table,) = [block for block in blocks(page, "text") if block.startswith("balancer")]
    words = [str(ROOT / "tests/golden/jvd") if word == "build/jvd" else word for word in shlex.split(command)[1:]]
    assert cli(*words, cwd=ROOT)[:2] == (0, table)


def test_yaml_in_the_documentation_is_valid_intent() -> None:
    for block in blocks(ROOT / "docs/intent.md", "yaml"):
        text = SMALL.replace("platform: generic\n", "").replace("small", "f").replace("spines: 2", "spines: 4")
        names = 'servers: {count: 2, name: "h100-{n:02}"}\n'
        design_of(text.replace("servers: 2\n", names) + block)


def test_the_chapter_on_growing_shows_what_happens(cli: Cli, tmp_path: Path) -> None:
    page = ROOT / "docs/growing.md"
    (fabric, colors), (warning,) = blocks(page, "yaml"), blocks(page, "text")
    larger = fabric.replace("spines: 8", "spines: 16")
    for text, more, expected, code in (
        (fabric, (), "", 0),
        (larger, ("--diff",), warning, 0),
        (larger, ("--check",), warning, 1),
        (larger + colors, (), "", 0),
        (larger + colors, ("--check",), "", 0),
    ):
        (tmp_path / "fabric.yaml").write_text(text, encoding="utf-8")
        found, _, err = cli("generate", "fabric.yaml", "-o", "build/pod7", *more)
        assert "".join(re.findall(r".*warning.*\n", err)) == expected
        assert found == code


def test_every_problem_code_has_a_golden_error() -> None:
    assert list(CODES) == sorted(CODES)
    seen = set()
    for path in (ROOT / "tests" / "errors").rglob("*.txt"):
        seen |= set(re.findall(r"(?:error|warning)\[([a-z-]+)\]: ", path.read_text(encoding="utf-8")))
    assert set(CODES) == seen


def test_pages_that_run_side_by_side_have_ports_of_their_own() -> None:
    ports = {
        (int(port), path.name)
        for path in PAGES
        for port in re.findall(r"--base-port (\d+)", path.read_text(encoding="utf-8"))
    }
    assert len(ports) > 3
    numbers = sorted(port for port, _ in ports)
    assert all(later - first >= 50 for first, later in pairwise(numbers)), ports


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_nothing_is_longer_than_a_module_may_be() -> None:
    for path in (ROOT / "ailb_gen").rglob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) < 400, path
