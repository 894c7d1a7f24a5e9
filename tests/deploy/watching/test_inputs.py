"""Which changes of files count."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ailb_gen.deploy.watching.inputs import InputFiles

FABRIC = "name: x\nservers: {csv: servers.csv}\n"


def rewritten(path: Path) -> None:
    """Replace a file as `generate` does: its size and content stay."""
    (path.parent / "new").write_bytes(path.read_bytes())
    (path.parent / "new").replace(path)


def grown(path: Path) -> None:
    path.write_text("more")


@pytest.mark.parametrize("change", [rewritten, grown, Path.unlink])
@pytest.mark.parametrize("file", ["fabric.yaml", "servers.csv", "inventory/hosts.yaml", "out/switches/leaf1.conf"])
def test_every_file_that_is_read(file: str, change: Callable[[Path], object], tmp_path: Path) -> None:
    for name in ("fabric.yaml", "servers.csv", "inventory/hosts.yaml", "out/switches/leaf1.conf", "other.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(FABRIC)
    found = InputFiles(tmp_path / "fabric.yaml", tmp_path / "out", tmp_path / "inventory")
    (tmp_path / "other.txt").write_text("nothing that is read")
    assert not found.changed
    change(tmp_path / file)
    assert found.changed


def test_one_that_appears(tmp_path: Path) -> None:
    found = InputFiles(tmp_path / "fabric.yaml", tmp_path / "out", tmp_path)
    assert not found.changed
    (tmp_path / "groups.yaml").touch()
    assert found.changed
