"""`make`: the demos install the program alone, and say beforehand how much that is."""

import os
import re
import subprocess
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT, need_tool

INSTALLS = "-m pip install --quiet --disable-pip-version-check -c constraints.txt "
DEMOS = ("demo", "demo-deploy", "demo-lab")
OTHERS = ("test", "lint", "types", "docs", "bench", "format")


def recipe(*words: str) -> list[str]:
    """Return the commands of make where nothing is installed; one that runs make again repeats the first ones."""
    need_tool("make")
    command = ["make", "--dry-run", "--no-print-directory", "VENV=no-such-folder", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return list(dict.fromkeys(done.stdout.splitlines()))


def installed(*words: str) -> list[str]:
    return [line.partition(INSTALLS)[2] for line in recipe(*words) if " -m pip " in line]


@pytest.mark.parametrize("target", DEMOS)
def test_demos_install_the_program_alone(target: str) -> None:
    assert installed(target) == ["-e ."]


@pytest.mark.parametrize("target", OTHERS)
def test_everything_else_installs_the_tools_over_it(target: str) -> None:
    assert installed(target) == ["-e .", "-e '.[dev]'", "--no-deps nornir-nautobot"]


def made(rule: str, cwd: Path, **environment: str) -> str:
    """Return what make prints for a target that a rule in the words of the Makefile adds to it."""
    command = ["make", "--no-print-directory", "-f", str(ROOT / "Makefile"), f"--eval={rule}", "added"]
    return subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_what_is_compiled_is_kept_where_an_environment_forbids_it(tmp_path: Path) -> None:
    need_tool("make")
    rule = 'added: ; @echo "<$$PYTHONDONTWRITEBYTECODE>"'
    assert made(rule, tmp_path, PYTHONDONTWRITEBYTECODE="1") == "<>"


def test_all_modules_of_tests_are_compiled_the_first_time_only(tmp_path: Path) -> None:
    one = "tests/sim/fluid/test_run_packets.py"
    words = ["make", "--no-print-directory", "--dry-run"]
    assert (ROOT / one).is_file()
    for expected in ([], [one]):
        done = subprocess.run(
            [*words, "-f", str(ROOT / "Makefile"), "-o", ".venv/.installed", "compiled"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.split("test_both_hash_alike")[1].split() == expected
        (tmp_path / "tests" / "sim" / "__pycache__").mkdir(parents=True, exist_ok=True)


def test_what_is_installed_is_said_first() -> None:
    lines = recipe("test")
    told = [number for number, line in enumerate(lines) if "Installing" in line]
    pip = [number for number, line in enumerate(lines) if " -m pip " in line]
    assert told[0] < pip[0] < told[1] < pip[1]


def test_the_number_of_packages_is_right() -> None:
    """Within a tenth: another Python or machine needs a few others."""
    for number, line in enumerate(line for line in recipe("test") if "Installing" in line):
        found = re.search(r"(\d+) packages", line)
        assert found is not None
        needed = len(closure("dev" if number else ""))
        assert abs(int(found[1]) - needed) <= needed / 10, f"{needed} packages: {line}"


def closure(extra: str) -> set[str]:
    """Return the names of all that pip installs for the program with an extra; pip itself is there already."""
    names, waiting = {"pip"}, [("ailb-gen", frozenset({extra}))]
    seen = set(waiting)
    while waiting:
        name, extras = waiting.pop()
        names.add(name)
        for text in distribution(name).requires or ():
            one = Requirement(text)
            if one.marker is None or any(one.marker.evaluate({"extra": own}) for own in extras):
                further = (canonicalize_name(one.name), frozenset({"", *one.extras}))
                if further not in seen:
                    seen.add(further)
                    waiting.append(further)
    return names


def test_pip_decides_where_packages_come_from() -> None:
    """A mirror in pip's own configuration is used."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert not re.search(r"--(extra-)?index-url|--no-index|--find-links|--isolated|pypi", text)


# Licenses under which a changed copy must be passed on under the same one, by the letters that name them.
COPYLEFT = re.compile(r"GPL|EPL|MPL|Mozilla")


def test_the_licenses_are_those_of_the_faq() -> None:
    others = set()
    for name in closure("") - {"ailb-gen"}:
        about = distribution(name).metadata
        # Some put the whole text there.
        named = [
            line.partition("\n")[0] for key in ("License-Expression", "License") for line in about.get_all(key, [])
        ]
        if any(COPYLEFT.search(line) for line in (*named, *about.get_all("Classifier", []))):
            others.add(name)
    answer = (
        (ROOT / "docs/faq.md").read_text(encoding="utf-8").partition("with these exceptions:")[2].partition("All")[0]
    )
    assert others
    assert others == set(re.findall(r"[a-z]\w+(?=[ ,]|\n)", answer)) - {"and", "or"}
