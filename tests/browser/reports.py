"""Reports of the examples, clean and damaged: each made once per run of the tests, whatever workers there are."""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import chdir
from pathlib import Path

import pytest

from tests.conftest import EXAMPLES, ROOT
from tests.mutations.catalogue import KINDS
from tests.mutations.kind import changes_of, chosen
from tests.mutations.tree import copy_with, read_tree, write_changes

WAIVERS = "waivers.yaml"
SCRIPT = "<script>window.hacked=1</script>"
# What a state does to a tree besides: damages of these kinds, each at a place fixed by its name.
DAMAGES = ("fabric-color-missing-spine", "irb-disabled", "port-mtu-missing", "rules-missing", "dlb-per-packet")

# Returns the generated artifact directory of an example.
Trees = Callable[[str], Path]
# Returns the report of an example in a state, a key of STATES; its artifact directory is `build/NAME` beside it.
Reports = Callable[[str, str], Path]


@pytest.fixture(scope="session")
def trees(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Trees:
    """Give what generates an example when it is first asked for."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "reports"
    folder.mkdir(exist_ok=True)
    return lambda example: once(folder / example, lambda place: generate(example, place))


@pytest.fixture(scope="session")
def reports(trees: Trees) -> Reports:
    """Give what makes a report when it is first asked for."""

    def report(example: str, state: str) -> Path:
        tree = trees(example)
        place = tree.parent / f"{example}-{state}"
        return once(place / "report.html", lambda page: write(example, state, tree, page))

    return report


def once(path: Path, make: Callable[[Path], None]) -> Path:
    """Make a file or a directory unless another worker has; it becomes visible when it is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            new = path.with_suffix(".new")
            make(new)
            new.rename(path)
    return path


def generate(example: str, place: Path) -> None:
    """Generate an example."""
    _run(ROOT, "generate", str(EXAMPLES / example / "fabric.yaml"), "-o", str(place))


def write(example: str, state: str, tree: Path, page: Path) -> None:
    """Copy a tree by links to `build/EXAMPLE` beside the page, damage it if asked, and write what `validate` says."""
    shutil.copytree(EXAMPLES / example, page.parent / example)
    root = page.parent / "build" / example
    copy_with(tree, {}, root)
    STATES[state](root, example)
    words = ["--waivers", WAIVERS] if (page.parent / WAIVERS).exists() else []
    # The failures of 32,768 links one by one take four times as long as the rest; pages of small fabrics show them.
    words += ["--checks", "!AILB501,!AILB502,!AILB503"] if example == "frontier" else []
    fabric, artifacts = f"{example}/fabric.yaml", f"build/{example}"
    _run(page.parent, "validate", fabric, artifacts, "--report", f"html={page.name}", *words, codes=(0, 1))


def damage(root: Path, example: str) -> None:
    """Damage a tree in several ways."""
    if example == "frontier":
        # Its tree is too large to be taken for a value.
        edit(root / "switches/stripe3-leaf2.conf", "color green;", "color blue;", 1)
        edit(root / "switches/spine5.conf", "mtu 9216;", "mtu 1500;", 3)
        return
    for row in KINDS:
        tree = read_tree(root) if row.name in DAMAGES else {}
        # Not every fabric has something for every kind.
        if tree and row.edit(tree):
            write_changes(changes_of(row, tree, chosen(row, tree, example, 1)), root)


def same_everywhere(root: Path, _: str) -> None:
    """Damage all leaves in the same way."""
    for path in sorted((root / "switches").glob("*leaf*.conf")):
        edit(path, "mtu 9216;", "mtu 1500;", -1)


def hostile(root: Path, _: str) -> None:
    """Put what would be a script, if anything took it for HTML, wherever text can be."""
    image = "<img src=x onerror=window.hacked=1>"
    leaf = root / "switches" / "stripe1-leaf1.conf"
    edit(leaf, "system {", f"## {SCRIPT} {image}\nsystem {{", 1)
    edit(leaf, "description facing_spine1", f'description "{SCRIPT}"; ## facing_spine1', 1)
    edit(leaf, "host-name stripe1-leaf1", f'host-name "{SCRIPT}"', 1)
    for name in ("cabling.csv", "topology.json"):
        edit(root / name, "gpu-s1-1", SCRIPT, -1)
    accepted = {"id": "AILB004", "scope": "*", "reason": f"{SCRIPT} until the site is renamed", "expires": "2999-12-31"}
    (root.parent.parent / WAIVERS).write_text(json.dumps([accepted]))


def regenerated(lines: str) -> Callable[[Path, str], None]:
    """Return what adds lines to the fabric file, and generates the tree from it."""

    def change(root: Path, example: str) -> None:
        folder = root.parent.parent
        with (folder / example / "fabric.yaml").open("a") as fabric:
            fabric.write(lines)
        shutil.rmtree(root)
        _run(folder, "generate", f"{example}/fabric.yaml", "-o", str(root))

    return change


def without_a_leaf(root: Path, _: str) -> None:
    """Remove the file of a leaf."""
    (root / "switches" / "stripe1-leaf2.conf").unlink()


FQDN = """
names: {leaf: "leaf-{s}-{l}.pod7.ams1.fabric.example.net", spine: "spine-{k:02}.pod7.ams1.fabric.example.net"}
"""

STATES: Mapping[str, Callable[[Path, str], None]] = {
    "clean": lambda root, example: None,
    "damaged": damage,
    "alike": same_everywhere,
    "missing": without_a_leaf,
    "drained": regenerated("\ndrain: [spine3]\n"),
    "fqdn": regenerated(FQDN),
    "cabling": lambda root, example: edit(root / "cabling.csv", ",green,", ",blue,", 1),
    "hostile": hostile,
}


def edit(path: Path, old: str, new: str, count: int) -> None:
    """Replace text in a file; it must be there."""
    text = path.read_text()
    assert old in text, f"{path}: no {old!r}"
    # It is a link to the file of the tree without damage.
    path.unlink()
    path.write_text(text.replace(old, new, count))


def _run(folder: Path, *words: str, codes: tuple[int, ...] = (0,)) -> None:
    with chdir(folder):
        command = [sys.executable, "-m", "ailb_gen", *words]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
        )
    assert done.returncode in codes, f"{words}: {done.stdout}{done.stderr}"
