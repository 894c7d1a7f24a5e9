"""`ailb-gen cache`, and `--no-cache`."""

import json
import shutil
from pathlib import Path

import pytest

from tests.conftest import EXAMPLES, ROOT, Cli


def test_proofs_are_kept_shown_and_cleared(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("AILB_NO_CACHE")
    folder = tmp_path / "home" / "ailb-gen" / "proofs"
    # A copy: other tests hard-link the files of the golden tree, which changes their change times.
    tree, fabric = tmp_path / "lab", tmp_path / "fabric.yaml"
    shutil.copytree(ROOT / "tests/golden/lab", tree, symlinks=True)
    shutil.copy(EXAMPLES / "lab/fabric.yaml", fabric)
    words = ("validate", str(fabric), str(tree), "--checks", "!failures")
    assert cli("cache") == (0, f"{folder}: 0 proofs and models of 0 fabrics kept, 0.0 MB\n", "")
    code, out, err = cli(*words)
    assert (code, err) == (0, "")
    assert cli(*words, "--no-cache") == (0, out, "")
    code, again, err = cli(*words)
    assert (code, again) == (0, out)
    assert err.startswith("note: nothing has changed since the proof of ")
    assert cli(*words, "-q")[1:] == (out, "")
    # What is not kept is computed.
    assert cli(*words, "--report", "html=page.html") == (0, out, "")
    shown = json.loads(cli("cache", "--json")[1])
    assert (shown["directory"], shown["proofs"], shown["models"], shown["deleted"]) == (str(folder), 1, 1, False)
    assert cli("cache", "--clear")[1].startswith(f"{folder}: 1 proof and models of 1 fabric deleted, ")
    assert cli(*words)[2] == ""


def test_a_directory_that_is_not_ones_own(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "other").mkdir()
    (tmp_path / "ailb-gen").mkdir()
    (tmp_path / "ailb-gen/proofs").symlink_to(tmp_path / "other")
    code, out, err = cli("cache", "--clear")
    assert (code, out) == (3, "")
    assert "the kept proofs cannot be used: " in err
