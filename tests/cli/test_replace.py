"""`ailb-gen replace`: what is printed, written, and refused."""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.verbs import refused
from tests.conftest import EXAMPLES, Cli

MAC = "a0:88:c2:09:09:09"


@pytest.fixture
def pod(tmp_path: Path) -> Path:
    """Return a copy of the example with MAC addresses, from which commands are run."""
    return Path(shutil.copytree(EXAMPLES / "brownfield", tmp_path / "pod"))


def test_a_nic(cli: Cli, pod: Path) -> None:
    words = ("replace", "nic", "fabric.yaml", "a-gpu2", "eth1_gpu", "--mac", MAC)
    before = (pod / "pod-a.csv").read_bytes()
    code, out, err = cli(*words, "--dry-run", cwd=pod)
    assert (code, (pod / "pod-a.csv").read_bytes()) == (0, before)
    assert "not written, because of --dry-run" in err
    code, out, err = cli(*words, cwd=pod)
    assert code == 0
    assert "Addresses of a-gpu2 that change; in every row: NIC eth1_gpu\n" in out
    assert "pod-a.csv: written; next:\n  1. ailb-gen generate fabric.yaml -o ARTIFACTS\n" in err
    assert "ailb-gen deploy fabric.yaml ARTIFACTS --limit a-gpu2\n" in err
    code, out, err = cli(*words, cwd=pod)
    assert (code, out) == (0, "")
    assert "nothing to change: a-gpu2 has these numbers already" in err


def test_a_switch_as_json(cli: Cli, pod: Path) -> None:
    code, out, _ = cli("replace", "switch", "fabric.yaml", "core-a", "--serial", "AB12", "--json", cwd=pod)
    body = json.loads(out)
    assert (code, body["written"], body["files"], body["addresses"]) == (0, True, ["fabric.yaml"], [])
    assert "+      serial: AB12\n" in body["diff"]
    code, _, err = cli("replace", "switch", "fabric.yaml", "core-b", "--mac", MAC, cwd=pod)
    assert code == 0
    assert "--limit core-b --accept-new-hostkeys" in err


def test_a_server(cli: Cli, pod: Path) -> None:
    macs = [word for n in range(4) for word in ("--mac", f"a0:88:c2:09:09:0{n}")]
    code, out, _ = cli("replace", "server", "fabric.yaml", "b-gpu1", *macs, cwd=pod)
    assert code == 0
    assert "+b-gpu1,2,192.0.2.121/24,a0:88:c2:09:09:00," in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nic", "fabric.yaml", "a-gpu2", "1"), "say what is new, such as --mac"),
        (("nic", "fabric.yaml", "a-gpu2", "1", "--mac", MAC, "--mac", MAC), "Invalid value for '--mac': give it once"),
        (("nic", "fabric.yaml", "a-gpu2", "1", "--mac", "x"), "error[bad-mac]"),
        (("switch", "fabric.yaml", "core-x", "--serial", "1"), "the fabric has no such switch"),
        (("switch", "nothing.yaml", "core-a", "--serial", "1"), "nothing.yaml: there is no such file"),
        (("switch", "fabric.yaml", "core-a", "--serial", "a b\n"), "fabric.yaml"),
        (("server", "fabric.yaml"), "Missing argument 'SERVER'"),
    ],
)
def test_what_is_refused_changes_nothing(cli: Cli, pod: Path, words: tuple[str, ...], message: str) -> None:
    before = {path.name: path.read_bytes() for path in pod.iterdir()}
    refused(cli("replace", *words, cwd=pod), message)
    assert {path.name: path.read_bytes() for path in pod.iterdir()} == before
