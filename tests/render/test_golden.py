"""Golden trees: what whole fabrics render to, byte by byte. `make golden` renews them; read the diff.

Of the larger ones a part is in the repository (see `tests/golden_trees.py`): the digests in the manifest are of all.
"""

import json
import os
import shutil
from pathlib import Path

import pytest

from ailb_gen.api.cluster import generate_cluster
from ailb_gen.render.artifacts import RenderOptions
from ailb_gen.render.generate import rendering, write_rendering
from tests.conftest import ROOT, example

GOLDEN = ROOT / "tests" / "golden"
EXAMPLES = ("lab", "jvd", "jvd-8-uplinks", "mixed", "brownfield", "static")


def snapshot(root: Path) -> dict[str, bytes | str]:
    """Return every file's bytes and every link's target, by path."""
    found: dict[str, bytes | str] = {}
    for folder, folders, files in os.walk(root):
        for name in (*files, *folders):
            path = Path(folder, name)
            key = str(path.relative_to(root))
            if path.is_symlink():
                found[key] = str(path.readlink())
            elif path.is_file():
                found[key] = path.read_bytes()
    return found


@pytest.mark.parametrize("name", EXAMPLES)
def test_tree_is_the_golden_one(name: str, tmp_path: Path) -> None:
    planned = rendering(example(name), tmp_path / "out", RenderOptions())
    write_rendering(planned)
    if os.environ.get("AILB_UPDATE_GOLDEN"):
        shutil.rmtree(GOLDEN / name, ignore_errors=True)
        shutil.copytree(tmp_path / "out", GOLDEN / name, symlinks=True)
    manifests = [(root / "manifest.json").read_text("utf-8") for root in (tmp_path / "out", GOLDEN / name)]
    entries = [json.loads(text)["files"] for text in manifests]
    differing = [path for path, entry in entries[0].items() if entry != entries[1].get(path)]
    assert not differing, f"{name}: these files differ from the golden manifest"
    got, wanted = snapshot(tmp_path / "out"), snapshot(GOLDEN / name)
    assert sorted(got) == sorted(wanted)
    for path, content in wanted.items():
        assert got[path] == content, f"{name}/{path} differs from the golden tree"


def test_cluster_is_the_golden_one(tmp_path: Path) -> None:
    generate_cluster(ROOT / "examples/planes/cluster.yaml", tmp_path / "out")
    golden = GOLDEN / "planes"
    if os.environ.get("AILB_UPDATE_GOLDEN"):
        golden.mkdir(exist_ok=True)
        shutil.copy(tmp_path / "out" / "manifest.json", golden)
        shutil.copy(tmp_path / "out" / "servers/gpu-s1-1/etc/netplan/60-ailb-gpu.yaml", golden)
    for path in ("manifest.json", "servers/gpu-s1-1/etc/netplan/60-ailb-gpu.yaml"):
        assert (tmp_path / "out" / path).read_bytes() == (golden / Path(path).name).read_bytes(), path
