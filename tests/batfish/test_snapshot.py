"""Both snapshots on disk: as a whole or not at all, and never in the place of anything else."""

from __future__ import annotations

import errno
import os
import re
import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from ailb_gen.batfish import snapshot
from ailb_gen.batfish.shadow import Shadow, shadow
from ailb_gen.batfish.snapshot import numbers, write_snapshots
from ailb_gen.errors import OutputError, UsageError
from ailb_gen.network.fabric import Network
from tests.batfish.fake.snapshot import read
from tests.batfish.test_shadow import snapshot_of
from tests.checks.trees import network_of, rendered

# Three switches, one of them collected as set lines.
FABRIC = """\
name: tiny
platform: generic
stripes: 1
rails: 2
spines: 1
servers: 0
"""
LEAF1, LEAF2, SPINE = "stripe1-leaf1.conf", "stripe1-leaf2.set", "spine1.conf"
AS_SET = """\
## Last commit: 2026-08-01 10:00:00 UTC
set system host-name stripe1-leaf2
set interfaces irb unit 3 family inet6 address fc00:1:2:1::1/64
set vlans vn3 vlan-id 3
set vlans vn3 l3-interface irb.3
"""


@dataclass(frozen=True)
class Tree:
    """An artifact directory, and what is to be written about it."""

    root: Path
    network: Network
    shadow: Shadow

    def write(self, out: Path) -> None:
        write_snapshots(self.root, self.network, self.shadow, out)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    _, root = rendered(FABRIC, tmp_path_factory.mktemp("tiny"))
    switches = root / "switches"
    (switches / "stripe1-leaf2.conf").unlink()
    (switches / LEAF2).write_text(AS_SET, "utf-8")
    # Whatever its bytes are, they are copied.
    (switches / LEAF1).write_bytes((switches / LEAF1).read_bytes().replace(b"\n", b"\r\n", 1) + "# grün".encode())
    network = network_of(root)
    return Tree(root, network, shadow(network))


def held(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def written(tree: Tree) -> dict[str, bytes]:
    """Return the files that snapshots consist of."""
    found = {f"files/configs/{name}": (tree.root / "switches" / name).read_bytes() for name in (LEAF1, LEAF2, SPINE)}
    for one in tree.shadow.switches:
        found[f"shadow/configs/{one.name}.cfg"] = ("\n".join(one.lines) + "\n").encode()
    return found | {"numbers.csv": numbers(tree.shadow).encode()}


def test_files_are_copied_as_they_are_and_the_shadow_is_beside_them(tree: Tree, tmp_path: Path) -> None:
    before = held(tree.root)
    tree.write(tmp_path / "out")
    assert held(tmp_path / "out") == written(tree)
    assert held(tree.root) == before
    assert read(tmp_path / "out" / "shadow").devices.keys() == tree.network.switches.keys()
    assert read(tmp_path / "out" / "shadow").tables.main == snapshot_of(tree.shadow).tables.main


def test_whoever_runs_batfish_may_read_it(tree: Tree, tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        tree.write(tmp_path / "out")
    finally:
        os.umask(before)
    paths = [tmp_path / "out", *(tmp_path / "out").rglob("*")]
    assert {(path.is_dir(), path.stat().st_mode & 0o777) for path in paths} == {(True, 0o750), (False, 0o640)}


def test_the_table_of_numbers(tree: Tree) -> None:
    assert numbers(tree.shadow).splitlines() == [
        "ipv4,stands_for",
        "10.0.0.0/24,fc00:1:1:1::/64",
        "10.0.1.0/24,fc00:1:2:1::/64",
        "10.128.0.0,stripe1-leaf1:et-0/0/0 - spine1:et-0/0/0",
        "10.128.0.2,stripe1-leaf2:et-0/0/0 - spine1:et-0/0/1",
        "10.128.0.1,spine1:et-0/0/0 - stripe1-leaf1:et-0/0/0",
        "10.128.0.3,spine1:et-0/0/1 - stripe1-leaf2:et-0/0/0",
    ]
    assert numbers(tree.shadow).endswith("\n")


def test_files_that_nobody_can_read_are_in_neither_snapshot(tree: Tree, tmp_path: Path) -> None:
    shutil.copytree(tree.root, tmp_path / "tree", symlinks=True)
    (tmp_path / "tree" / "switches" / SPINE).write_text("interfaces {")
    (tmp_path / "tree" / "switches" / "README").write_text("no switch")
    network = network_of(tmp_path / "tree")
    write_snapshots(tmp_path / "tree", network, shadow(network), tmp_path / "out")
    assert sorted(held(tmp_path / "out")) == [
        f"files/configs/{LEAF1}",
        f"files/configs/{LEAF2}",
        "numbers.csv",
        "shadow/configs/stripe1-leaf1.cfg",
        "shadow/configs/stripe1-leaf2.cfg",
    ]


def test_an_earlier_pair_is_replaced_as_a_whole(tree: Tree, tmp_path: Path) -> None:
    out = tmp_path / "out"
    tree.write(out)
    for stale in ("files/configs/leaf9.conf", "shadow/configs/leaf9.cfg", "files/configs/.leaf9.conf.swp"):
        (out / stale).write_text("stale")
    (out / "numbers.csv").write_text("stale")
    number = out.stat().st_ino
    tree.write(out)
    assert held(out) == written(tree)
    # It is the same directory: somebody's current one, a volume of a container.
    assert out.stat().st_ino == number
    assert sorted(path.name for path in out.iterdir()) == ["files", "numbers.csv", "shadow"]


@pytest.mark.parametrize("left", ["files", "shadow", "numbers.csv", ""])
def test_what_is_left_of_an_earlier_pair_is_replaced(tree: Tree, tmp_path: Path, left: str) -> None:
    out = tmp_path / "out"
    tree.write(out)
    for path in out.iterdir():
        if path.name != left:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    tree.write(out)
    assert held(out) == written(tree)


@pytest.mark.parametrize(
    "name", ["out", "two words", "new/and/deeper", "./out/", "out/../other", "größe", "n" * 255, "-o"]
)
def test_names_of_the_directory(tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    tree.write(Path(name))
    assert held(tmp_path / name) == written(tree)


@pytest.mark.parametrize("again", [False, True])
def test_the_current_directory(tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: bool) -> None:
    out = tmp_path / "out"
    out.mkdir()
    monkeypatch.chdir(out)
    if again:
        tree.write(Path())
    tree.write(Path())
    assert held(Path()) == held(out) == written(tree)
    with pytest.raises(UsageError, match=r"^-o \.\.: holds other files \(out\); name an empty or new directory$"):
        tree.write(Path(".."))


def test_links(tree: Tree, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    tree.write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert held(tmp_path / "real") == written(tree)
    (tmp_path / "broken").symlink_to("nowhere")
    with pytest.raises(OutputError, match=r"broken: cannot write the snapshots: File exists$"):
        tree.write(tmp_path / "broken")
    assert (tmp_path / "broken").is_symlink()
    # A link in the place of a folder is replaced, and what it leads to is left alone.
    shutil.copytree(tmp_path / "real" / "files", tmp_path / "mine")
    shutil.rmtree(tmp_path / "real" / "files")
    (tmp_path / "real" / "files").symlink_to(tmp_path / "mine")
    tree.write(tmp_path / "real")
    assert not (tmp_path / "real" / "files").is_symlink()
    assert len(held(tmp_path / "mine")) == 3


# Refused


def refused(tree: Tree, out: Path, reason: str) -> None:
    before = held(out.parent)
    with pytest.raises(UsageError, match=f"^{re.escape(f'-o {out}: {reason}')}$"):
        tree.write(out)
    assert held(out.parent) == before


def test_a_file_is_refused(tree: Tree, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("precious")
    refused(tree, tmp_path / "out", "this is a file; name a directory")


@pytest.mark.parametrize(
    ("files", "others"),
    [
        (("notes.txt",), "notes.txt"),
        ((".git/HEAD",), ".git"),
        (("d", "a", "c", "b"), "a, b, c"),
        (("files",), "files"),
        (("numbers.csv/x",), "numbers.csv"),
        (("files/x",), "files/x"),
        (("files/layer1_topology.json", "files/configs/x"), "files/layer1_topology.json"),
        (("shadow/hosts/h.json",), "shadow/hosts"),
        (("shadow/numbers.csv",), "shadow/numbers.csv"),
        (("shadow/configs/sub/x",), "shadow/configs/sub"),
        (("files/shadow/x",), "files/shadow"),
    ],
)
def test_a_directory_with_other_things_is_refused(
    tree: Tree, tmp_path: Path, files: tuple[str, ...], others: str
) -> None:
    out = tmp_path / "out"
    for name in files:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text("precious")
    refused(tree, out, f"holds other files ({others}); name an empty or new directory")


def test_nothing_of_the_artifacts_is_replaced(tree: Tree, tmp_path: Path) -> None:
    root = tmp_path / "files"
    shutil.copytree(tree.root, root, symlinks=True)
    mine = Tree(root, tree.network, tree.shadow)
    top = "cabling.csv, manifest.json, switches"
    refused(mine, root, f"holds other files ({top}); name an empty or new directory")
    names = f"{SPINE}, {LEAF1}, {LEAF2}"
    refused(mine, root / "switches", f"holds other files ({names}); name an empty or new directory")
    # The directory above, if the artifacts are called as one of the snapshots is.
    nested = ", ".join(f"files/{name}" for name in top.split(", "))
    refused(mine, tmp_path, f"holds other files ({nested}); name an empty or new directory")
    before = held(root)
    mine.write(root / "snapshots")
    mine.write(root / "snapshots")
    assert held(root) == before | {f"snapshots/{name}": data for name, data in written(tree).items()}


# What fails leaves nothing behind


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let no file get larger than so many bytes, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def fails(tree: Tree, out: Path, reason: str) -> None:
    with pytest.raises(OutputError, match=f"^{re.escape(f'{out}: cannot write the snapshots: {reason}')}$"):
        tree.write(out)


@pytest.mark.parametrize("kind", ["new", "empty", "earlier"])
def test_a_full_disk(tree: Tree, tmp_path: Path, kind: str) -> None:
    out = tmp_path / "out"
    if kind == "empty":
        out.mkdir()
    if kind == "earlier":
        tree.write(out)
        (out / "numbers.csv").write_text("earlier")
    before = held(tmp_path)
    with largest_file(2000):
        fails(tree, out, "File too large")
    assert held(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == ([] if kind == "new" else ["out"])
    if out.exists():
        assert sorted(path.name for path in out.iterdir()) == (
            [] if kind == "empty" else ["files", "numbers.csv", "shadow"]
        )


@pytest.mark.parametrize("broken", ["write_files", "write_shadow", "numbers"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), KeyboardInterrupt()])
def test_wherever_it_ends_nothing_is_left(
    tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str, error: BaseException
) -> None:
    tree.write(tmp_path / "earlier")
    before = held(tmp_path)

    def end(*arguments: object) -> None:
        raise error

    monkeypatch.setattr(snapshot, broken, end)
    for name in ("new", "earlier"):
        if isinstance(error, OSError):
            fails(tree, tmp_path / name, "No space left on device")
        else:
            with pytest.raises(KeyboardInterrupt):
                tree.write(tmp_path / name)
    assert held(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == ["earlier"]
    assert len(list((tmp_path / "earlier").iterdir())) == 3


def test_parents_that_cannot_be_written(tree: Tree, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    fails(tree, tmp_path / "file" / "out", "Not a directory")
    fails(tree, tmp_path / ("n" * 256), "File name too long")
    assert held(tmp_path) == {"file": b"precious"}
    if os.geteuid() != 0:
        (tmp_path / "closed").mkdir(mode=0o555)
        fails(tree, tmp_path / "closed" / "out", "Permission denied")


def test_a_file_that_is_gone(tree: Tree, tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    fails(Tree(tmp_path / "root", tree.network, tree.shadow), tmp_path / "out", "No such file or directory")
    assert not (tmp_path / "out").exists()
