"""`ailb-gen config`."""

import json
from pathlib import Path

import pytest

from tests.cli.verbs import refused
from tests.conftest import Cli


def test_every_key_with_its_value_and_where_it_is_from(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ailb.toml").write_text('fabric = "f.yaml"\ndriver = "pyez"\nworkers = 3\n')
    monkeypatch.setenv("AILB_DRIVER", "napalm")
    monkeypatch.setenv("AILB_REPORTS", "html=a json=b")
    code, out, err = cli("config", "--json", "--color", "never")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["file"] == "ailb.toml"
    keys = found["keys"]
    assert keys["fabric"] == {"value": "f.yaml", "from": "ailb.toml"}
    assert keys["workers"] == {"value": 3, "from": "ailb.toml"}
    assert keys["driver"] == {"value": "napalm", "from": "AILB_DRIVER"}
    assert keys["reports"] == {"value": ["html=a", "json=b"], "from": "AILB_REPORTS"}
    assert keys["color"] == {"value": "never", "from": "flag"}
    assert keys["executor"] == {"value": "processes", "from": "default"}
    assert keys["artifacts"] == {"value": None, "from": "default"}
    code, out, _ = cli("config")
    rows = {tuple(line.split()) for line in out.splitlines()}
    assert {("fabric", "f.yaml", "ailb.toml"), ("color", "auto", "default")} < rows


def test_without_a_file_and_with_a_wrong_one(cli: Cli, tmp_path: Path) -> None:
    code, out, _ = cli("config")
    assert (code, out.splitlines()[0]) == (0, "Project file: none, here or above")
    (tmp_path / "ailb.toml").write_text("fabrik = 1\nworkers = 'x'\n")
    refused(cli("config"), "ailb.toml:1:1: error[unknown-key]", "ailb.toml:2:1: error[wrong-type]", "2 errors")
