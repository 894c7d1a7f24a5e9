"""`ailb-gen grow`: files edited in place, what is new, and what is refused."""

import csv
import json
import shlex
import shutil
from base64 import b64encode
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
    assert body["pushes"] == ["--limit spine5,spine6,spine7,spine8", ""]
    assert [row["lost"] for row in body["states"]] == [[]] * 7
    assert body["states"][-1] == {
        "push": 2, "wave": "leaves of rail 1", "devices": ["stripe1-leaf2", "stripe2-leaf2"],
        "sessions": 32, "lost": [],
    }  # fmt: skip
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
        (
            ("spine", "fabric.yaml"),
            (
                "error[uneven-colors]: colors: 4 colors do not divide the 5 uplinks",
                "evenly; add a multiple of 4: --by 4",
            ),
        ),
        (("rail", "fabric.yaml", "--rdma", "mlx5_9"), ("fabric.yaml: hosts.rdma is a pattern", "leave --rdma out")),
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


def test_a_rail_more_needs_the_names_of_its_devices_where_they_are_listed(cli: Cli, lab: Path) -> None:
    lab.write_text(f"{lab.read_text()}hosts: {{rdma: [mlx5_0, mlx5_3]}}  # as lspci says\n")
    words = ("grow", "rail", "fabric.yaml", "--by", "2")
    told = cli(*words, "--rdma", "mlx5_4")
    refused(told, "hosts.rdma: one name per NIC is needed, 4 in all; 3 given; give --rdma NAME for each new NIC")
    refused(cli(*words, "--rdma", "mlx5_4", "--rdma", "mlx5_0"), "duplicate-name")
    assert cli(*words, "--rdma", "mlx5_4", "--rdma", "mlx5_5")[0] == 0
    assert "hosts: {rdma: [mlx5_0, mlx5_3, mlx5_4, mlx5_5]}  # as lspci says\n" in lab.read_text()
    assert cli("generate", "fabric.yaml", "-o", "out")[0] == 0


def test_the_pushes_are_told_with_new_switches_first(cli: Cli, lab: Path) -> None:
    code, out, err = cli("grow", "spine", "fabric.yaml", "--by", "4")
    assert "2     leaves of rail 1  stripe1-leaf2, stripe2-leaf2  32        nothing\n" in out
    place = "fabric.yaml ARTIFACTS"
    only = f"{place} --limit spine5,spine6,spine7,spine8"
    assert code == 0
    steps = [f"ailb-gen {verb} {words}" for words in (only, place) for verb in ("plan", "deploy")]
    assert err.endswith("".join(f"  {number}. {step}\n" for number, step in enumerate(steps, 5)))
    _, out, _ = cli("grow", "server", "fabric.yaml", "--json")
    assert json.loads(out)["pushes"] == [""]


def test_cells_that_other_rows_fill_in_are_told(cli: Cli, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "brownfield", tmp_path / "pod")
    code, _, err = cli("grow", "server", "pod/fabric.yaml", "--by", "2")
    assert code == 0
    macs = "mac0, mac1, mac2, mac3"
    assert f"  1. fill in management, {macs}, port0, port1, port2, port3 of a-gpu4, a-gpu5 in pod/pod-a.csv" in err
    assert f"  2. fill in management, {macs} of b-gpu4, b-gpu5 in pod/pod-b.csv, as in the other rows\n" in err


def test_a_change_of_lines_of_windows_is_shown_without_their_ends(cli: Cli, lab: Path) -> None:
    lab.write_bytes(lab.read_bytes().replace(b"\n", b"\r\n"))
    code, out, _ = cli("grow", "stripe", "fabric.yaml")
    assert (code, "-stripes: 2\n+stripes: 3\n" in out) == (0, True)
    assert b"stripes: 3\r\n" in lab.read_bytes()


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


def test_the_steps_can_be_followed_as_printed(cli: Cli, lab: Path, tmp_path: Path) -> None:
    """With a key in the place of FILE, also where the fabric file has a space in its name."""
    key = b64encode(b"\0\0\0\x0bssh-ed25519\0\0\0 " + bytes(32)).decode()
    (tmp_path / "key.pub").write_text(f"ssh-ed25519 {key} x\n")
    file = lab.rename(tmp_path / "the lab.yaml")
    _, _, err = cli("grow", "stripe", file.name)
    assert "  2. give 2 new switches management access, by their console\n" in err
    file.write_text(f"{file.read_text()}management: {{leaves: 10.0.0.1/24, spines: 10.0.1.1/24}}\n")
    _, _, err = cli("grow", "rail", file.name)
    assert "  2. give 3 new switches management access, such as by ZTP: ailb-gen export ztp 'the lab.yaml' " in err
    steps = [shlex.split(line.split("ailb-gen ")[1]) for line in err.splitlines() if "ailb-gen " in line]
    assert [words[0] for words in steps] == ["export", "generate", "validate", "plan", "deploy", "plan", "deploy"]
    for words in steps[:3]:
        assert cli(*("key.pub" if word == "FILE" else word for word in words))[0] == 0
