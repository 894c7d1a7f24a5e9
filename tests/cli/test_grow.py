"""`ailb-gen grow`: files edited in place, what is new, and what is refused."""

import csv
import json
import shutil
from pathlib import Path

import pytest

from tests.cli.verbs import program, refused
from tests.conftest import EXAMPLES, Cli


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """Return the fabric file of a copy of the lab."""
    shutil.copy(EXAMPLES / "lab" / "fabric.yaml", tmp_path / "fabric.yaml")
    return tmp_path / "fabric.yaml"


def test_grow_writes_the_file_and_the_new_cables(cli: Cli, lab: Path, tmp_path: Path) -> None:
    before = lab.read_text()
    code, out, err = cli("grow", "stripe", "fabric.yaml", "-o", "cables.csv")
    assert code == 0
    assert lab.read_text() == before.replace("stripes: 2", "stripes: 3")
    assert "-stripes: 2\n+stripes: 3\n" in out
    assert "leaves                     2: stripe3-leaf1, stripe3-leaf2\n" in out
    assert "fabric.yaml: written; next:\n  1. plug in 12 new cables: cables.csv\n" in err
    assert max(map(len, out.splitlines())) <= 80
    rows = list(csv.DictReader((tmp_path / "cables.csv").read_text().splitlines()))
    assert len(rows) == 12
    assert {row["a_device"] for row in rows} == {"stripe3-leaf1", "stripe3-leaf2"}
    assert cli("generate", "fabric.yaml", "-o", "out")[0] == 0


def test_a_dry_run_writes_nothing(cli: Cli, lab: Path, tmp_path: Path) -> None:
    before = lab.read_bytes()
    code, out, err = cli("grow", "rail", "fabric.yaml", "-o", "cables.csv", "--dry-run")
    assert (code, lab.read_bytes()) == (0, before)
    assert "+rails: 3\n" in out
    assert "fabric.yaml: not written, because of --dry-run" in err
    assert [path.name for path in tmp_path.iterdir()] == ["fabric.yaml"]


def test_grow_as_json(cli: Cli, lab: Path) -> None:
    code, out, err = cli("grow", "spine", "fabric.yaml", "--by", "4", "--json")
    body = json.loads(out)
    assert (code, err) == (0, "")
    assert (body["unit"], body["count"], body["written"], body["changes"]) == ("spine", 4, True, {})
    assert body["files"] == ["fabric.yaml"]
    assert len(body["cables"]) == 16
    assert body["cables"][0] == {
        "device": "stripe1-leaf1", "port": "et-0/0/4", "other": "spine5", "other_port": "et-0/0/0",
        "speed_gbps": 400, "color": "green",
    }  # fmt: skip
    assert "spines: 8\n" in lab.read_text()


def test_grow_in_a_project(cli: Cli, lab: Path, tmp_path: Path) -> None:
    (tmp_path / "ailb.toml").write_text('fabric = "fabric.yaml"\n')
    assert cli("grow", "server")[0] == 0
    assert "count: 3" in lab.read_text()


@pytest.mark.parametrize(
    ("words", "messages"),
    [
        (("stripe", "fabric.yaml", "--by", "48"), ("error[pool-exhausted]: asn.leaves: 100 AS numbers",)),
        (("stripe", "fabric.yaml", "--by", "0"), ("'--by'", "greater than or equal to 1")),
        (("stripe", "fabric.yaml", "--by", "4096"), ("error[out-of-range]: stripes: holds more than 4096 entries",)),
        (("spine", "fabric.yaml"), ("error[uneven-colors]: colors: 4 colors do not divide the 5 uplinks",)),
        (("stripe", "nothing.yaml"), ("nothing.yaml: there is no such file",)),
        (("stripe", "fabric.yaml", "-o", "fabric.yaml"), ("-o: fabric.yaml is an input of this command",)),
        (("stripe",), ("Missing argument 'FABRIC'",)),
        (("leaf", "fabric.yaml"), ("No such command 'leaf'",)),
    ],
)
def test_what_is_refused_changes_nothing(
    cli: Cli, lab: Path, words: tuple[str, ...], messages: tuple[str, ...]
) -> None:
    before = lab.read_bytes()
    refused(cli("grow", *words), *messages)
    assert lab.read_bytes() == before


def test_a_fabric_with_errors_is_refused_with_them(cli: Cli, lab: Path) -> None:
    lab.write_text(lab.read_text().replace("spines: 4", "spinez: 4"))
    refused(cli("grow", "stripe", "fabric.yaml"), "fabric.yaml:6:1: error[unknown-key]: spinez")


def test_a_cluster_is_refused(cli: Cli) -> None:
    refused(cli("grow", "stripe", str(EXAMPLES / "planes" / "cluster.yaml")), "cluster file")


def test_changes_of_existing_devices_are_refused_unless_allowed(cli: Cli, lab: Path) -> None:
    text = "name: f\nplatform: generic\nstripes: 1\nrails: 2\nspines: 2\nservers: 1\n"
    lab.write_text(text)
    refused(cli("grow", "spine", "fabric.yaml"), "1 spine more would change existing devices", "--allow-changes")
    assert lab.read_text() == text
    code, out, _ = cli("grow", "spine", "fabric.yaml", "--allow-changes")
    assert code == 0
    assert "prefixes that change" in out
    assert lab.read_text() == text.replace("spines: 2", "spines: 3")


def test_output_that_is_lost_does_not_hide_that_the_file_is_written(lab: Path) -> None:
    for words in (("grow", "stripe", "fabric.yaml"), ("replace", "switch", "fabric.yaml", "spine1", "--serial", "A1")):
        with Path("/dev/full").open("w") as full:
            done = program(*words, cwd=lab.parent, stdout=full)
        assert done.returncode == 3
        assert "fabric.yaml: written; next:" in done.stderr
        assert "the work is done, but part of the output is lost" in done.stderr
    assert "stripes: 3" in lab.read_text()
    assert "serial: A1" in lab.read_text()


@pytest.mark.parametrize("verb", [("grow", "server"), ("export", "cabling")])
def test_a_csv_file_of_the_fabric_is_no_place_for_output(cli: Cli, tmp_path: Path, verb: tuple[str, ...]) -> None:
    shutil.copytree(EXAMPLES / "brownfield", tmp_path / "pod")
    before = (tmp_path / "pod" / "pod-a.csv").read_bytes()
    refused(cli(*verb, "pod/fabric.yaml", "-o", "pod/pod-a.csv"), "-o: pod/pod-a.csv is an input of this command")
    assert (tmp_path / "pod" / "pod-a.csv").read_bytes() == before
