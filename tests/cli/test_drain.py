"""`ailb-gen drain` and `undrain`: the fabric file is edited, and what that means is told."""

from __future__ import annotations

import json
import os
import re
import resource
from pathlib import Path

import pytest

from ailb_gen import drain, undrain
from ailb_gen.errors import UsageError
from tests.cli.verbs import at_terminal, files, program, refused
from tests.conftest import EXAMPLES, Cli

LAB = (EXAMPLES / "lab" / "fabric.yaml").read_text(encoding="utf-8")
# With a warning.
GLB = f"{LAB}load_balancing: {{glb: on}}\n"


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    path = tmp_path / "fabric.yaml"
    path.write_text(LAB, encoding="utf-8")
    return path


def test_a_spine_is_drained_and_put_back(cli: Cli, lab: Path) -> None:
    code, out, err = cli("drain", "fabric.yaml", "spine3")
    assert (code, err) == (0, "fabric.yaml: written; next: ailb-gen generate fabric.yaml\n")
    assert out.split("\n")[-6:-1] == [
        "drained: spine3 (4 of 16 uplinks of color red, 25 % of capacity)",
        "Capacity left between leaves",
        "LEFT  PAIRS  FOR EXAMPLE",
        "----  -----  -----------------------------",
        "75 %  6      stripe1-leaf1 - stripe1-leaf2",
    ]
    assert "+drain:\n+  - spine3\n" in out
    assert lab.read_text() == f"{LAB}drain:\n  - spine3\n"
    assert cli("generate", "fabric.yaml", "-o", "out", "-q")[0] == 0
    code, out, err = cli("drain", "fabric.yaml", "spine3", "stripe1-leaf1:et-0/0/1")
    assert (code, err.split("\n")[0]) == (0, "fabric.yaml: spine3 is drained already")
    assert lab.read_text() == f'{LAB}drain:\n  - spine3\n  - "stripe1-leaf1 et-0/0/1"\n'
    code, out, err = cli("undrain", "fabric.yaml", "spine3", "stripe1-leaf1 et-0/0/1")
    assert (code, lab.read_text()) == (0, LAB)
    assert "-  - spine3\n" in out
    assert "\n100 %  6      " in out


def test_a_spine_leaves_gracefully_then_its_ports_go_down_and_back(cli: Cli, lab: Path) -> None:
    shut, down = (f"{LAB}{key}:\n  - spine3\n" for key in ("graceful_shutdown", "drain"))
    line = "drained: spine3 in graceful shutdown (4 of 16 uplinks of color red, 25 % of capacity)\n"
    code, out, err = cli("drain", "fabric.yaml", "spine3", "--graceful-shutdown", "--floor", "75%")
    assert (code, err, lab.read_text()) == (0, "fabric.yaml: written; next: ailb-gen generate fabric.yaml\n", shut)
    assert line in out and "\n75 %  6      " in out
    code, out, err = cli("drain", "fabric.yaml", "spine3", "--graceful-shutdown")
    assert (code, err.split("\n")[0]) == (0, "fabric.yaml: spine3 is in graceful shutdown already")
    # It takes no more capacity, so that the floor does not matter.
    assert (cli("drain", "fabric.yaml", "spine3", "--floor", "90%")[0], lab.read_text()) == (0, down)
    assert (cli("drain", "fabric.yaml", "spine3", "--graceful-shutdown")[0], lab.read_text()) == (0, shut)
    assert re.search(r"^drained +spine3 in graceful shutdown", cli("explain", "fabric.yaml")[1], re.M)
    code, out, err = cli("generate", "fabric.yaml", "-o", "out")
    assert code == 0 and "spine3 in graceful shutdown" in out
    assert (cli("undrain", "fabric.yaml", "spine3", "--graceful-shutdown")[0], lab.read_text()) == (0, LAB)


def test_the_library_does_the_same(lab: Path) -> None:
    change = drain(lab, ["spine3"], graceful_shutdown=True)
    assert (change.changed, change.written, change.capacity[0].percent) == (("spine3",), True, "75")
    assert [spine.name for spine in change.design.spines if spine.graceful_shutdown] == ["spine3"]
    assert undrain(lab, ["spine3"], graceful_shutdown=True).written
    assert lab.read_text() == LAB


def test_nothing_is_written_where_nothing_changes(cli: Cli, lab: Path) -> None:
    lab.write_text(f"{LAB}drain: spine3\n")
    before = lab.stat().st_mtime_ns
    code, out, err = cli("drain", "fabric.yaml", "spine3", "--floor", "90%")
    assert (code, err) == (0, "fabric.yaml: spine3 is drained already\nfabric.yaml: nothing to change\n")
    assert out.startswith("drained: spine3 (")
    for words in (("drain", "fabric.yaml", "spine4"), ("undrain", "fabric.yaml", "spine3")):
        code, out, err = cli(*words, "--dry-run")
        assert (code, err) == (0, "fabric.yaml: not written, because of --dry-run\n")
        assert out.startswith("--- a/fabric.yaml\n+++ b/fabric.yaml\n")
    assert (lab.stat().st_mtime_ns, len(files(lab.parent))) == (before, 1)


def test_what_takes_no_capacity_is_not_held_to_the_floor(cli: Cli, lab: Path) -> None:
    lab.write_text(f"{LAB}drain: [spine1, spine2, spine3]\n")
    assert cli("drain", "fabric.yaml", "gpu-s1-1")[0] == 0
    refused(cli("drain", "fabric.yaml", "stripe1-leaf1 spine*"), "drain-cuts")
    assert lab.read_text() == f"{LAB}drain: [spine1, spine2, spine3, gpu-s1-1]\n"


def test_the_result_as_json(cli: Cli, lab: Path) -> None:
    code, out, err = cli("drain", "fabric.yaml", "spine3", "gpu-s1-1", "--json")
    found = json.loads(out)
    assert (code, err, found["written"], found["changed"]) == (0, "", True, ["spine3", "gpu-s1-1"])
    assert found["capacity"] == [{"percent": 75.0, "pairs": 6, "example": ["stripe1-leaf1", "stripe1-leaf2"]}]
    assert found["drained"][1] == "gpu-s1-1 (2 server ports)"
    assert found["diff"].endswith("+drain:\n+  - spine3\n+  - gpu-s1-1\n")
    code, out, _ = cli("drain", "fabric.yaml", "spine3", "--json")
    assert (code, json.loads(out)["unchanged"], json.loads(out)["diff"]) == (0, ["spine3"], "")


REFUSED: dict[str, tuple[tuple[str, ...], *tuple[str, ...]]] = {
    "unknown": (
        ("drain", "spien1"),
        "fabric.yaml (not written): error[unknown-device]: drain[0]:",
        "did you mean 'spi",
    ),
    "unknown port": (("drain", "spine1:et-0/0/99"), "error[unused-port]: drain[0]: no cable of spine1 has"),
    "no form": (("drain", "a b c"), "'a b c' is not a device, a device and its port, or a color"),
    "cut": (("drain", "stripe1-leaf1"), "error[drain-cuts]", "take its GPUs out of the scheduler"),
    "all": (("drain", "spine*"), "error[drain-cuts]"),
    "floor": (("drain", "spine3", "--floor", "75.1%"), "75 % of the capacity between", "75.1 % of --floor"),
    "default floor": (("drain", "spine3", "spine4", "red", "blue"), "25 % of the capacity between", "50 % of --floor"),
    "not drained": (("undrain", "spine3"), "'spine3' is not drained; the file has no entry under 'drain'"),
    "floor of nothing": (("drain", "spine3", "--floor", "-1%"), "--floor '-1%': must be a share from 0% to 100%"),
    "floor of too much": (("drain", "spine3", "--floor", "101"), "--floor '101': must be a share"),
    "floor of words": (("drain", "spine3", "--floor", "most"), "--floor 'most': must be a share"),
    "leaf in graceful shutdown": (
        ("drain", "stripe1-leaf1", "--graceful-shutdown"),
        "error[wrong-value]: graceful_shutdown[0]: stripe1-leaf1 is a leaf",
    ),
    "port in graceful shutdown": (("drain", "spine1:et-0/0/0", "--graceful-shutdown"), "is not the name of a spine"),
    "all in graceful shutdown": (("drain", "spine*", "--graceful-shutdown"), "error[drain-cuts]: graceful_shutdown:"),
    "floor of graceful shutdown": (("drain", "spine3", "--graceful-shutdown", "--floor", "76%"), "76 % of --floor"),
    "not in graceful shutdown": (
        ("undrain", "spine3", "--graceful-shutdown"),
        "'spine3' is not in graceful shutdown; the file has no entry under 'graceful_shutdown'",
    ),
    "no element": (("drain",), "Missing argument 'ELEMENT'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_changes_nothing(cli: Cli, lab: Path, case: str) -> None:
    (verb, *words), *messages = REFUSED[case]
    refused(cli(verb, "fabric.yaml", *words), *messages)
    assert files(lab.parent) == {"fabric.yaml": LAB.encode()}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [\n", "fabric.yaml:2:1: error[yaml-syntax]"),
        ("", "fabric.yaml:1:1: error[wrong-type]: the file must hold a mapping"),
        ("- a\n", "must hold a mapping"),
        (LAB.replace("stripes: 2", "stripes: 0"), "error[out-of-range]: stripes"),
        (f"{LAB}drain: [7]\n", "error[wrong-value]: drain[0]"),
        (f"{LAB}drain:\n", "fabric.yaml:11:1: error[wrong-type]: drain"),
        ("fabrics: [a.yaml]\n", "this is a cluster file"),
    ],
)
def test_a_file_that_is_no_fabric_is_refused(cli: Cli, lab: Path, text: str, message: str) -> None:
    lab.write_text(text)
    told = cli("drain", "fabric.yaml", "spine3")
    assert (told[0], lab.read_text()) == (2, text)
    assert message in " ".join(told[2].split())
    assert "Traceback" not in told[2]


def test_places_without_a_file_are_refused(cli: Cli, lab: Path) -> None:
    refused(cli("drain", "none.yaml", "spine3"), "none.yaml: there is no such file")
    refused(cli("undrain", ".", "spine3"), "this is a directory; name the fabric file")
    lab.write_bytes(b"name: \xff\n")
    refused(cli("drain", "fabric.yaml", "spine3"), "the file is not UTF-8 text")


def test_a_project_gives_the_file(cli: Cli, lab: Path) -> None:
    (lab.parent / "ailb.toml").write_text('fabric = "fabric.yaml"\n')
    assert cli("drain", "spine3")[0] == 0
    assert cli("drain", "stripe1-leaf1:et-0/0/1", "stripe2-leaf1 et-0/0/1", "--floor", "0")[0] == 0
    assert cli("undrain", "stripe2-leaf1:et-0/0/1", "stripe1-leaf1 et-0/0/1", "spine3")[0] == 0
    assert lab.read_text() == LAB
    refused(cli("undrain", "gone.yaml", "spine3"), "gone.yaml: there is no such file")


def test_bytes_links_and_modes_stay(lab: Path, tmp_path: Path) -> None:
    text = ("\ufeff" + LAB).replace("\n", "\r\n").rstrip().encode()
    lab.write_bytes(text)
    lab.chmod(0o640)
    link = tmp_path / "link.yaml"
    link.symlink_to("fabric.yaml")
    change = drain(link, ["spine3"])
    assert (change.written, lab.read_bytes()) == (True, text + b"\r\ndrain:\r\n  - spine3")
    undrain(link, ["spine3"])
    assert (lab.read_bytes(), link.is_symlink(), lab.stat().st_mode & 0o777) == (text, True, 0o640)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fabric.yaml", "link.yaml"]


def test_what_another_program_wrote_meanwhile_stays(lab: Path) -> None:
    def write(_: str) -> None:
        lab.write_text(f"{GLB}# mine\n", encoding="utf-8")

    lab.write_text(GLB, encoding="utf-8")
    with pytest.raises(UsageError, match="changed by another program meanwhile; nothing was written; run it again"):
        # A warning is told between reading and writing.
        drain(lab, ["spine3"], warn=write)
    assert lab.read_text() == f"{GLB}# mine\n"


def test_a_file_that_cannot_be_written_stays(lab: Path) -> None:
    def limit() -> None:
        # As on a full disk: no file may get larger than this.
        resource.setrlimit(resource.RLIMIT_FSIZE, (8, 8))

    done = program("drain", "fabric.yaml", "spine3", cwd=lab.parent, preexec_fn=limit)
    assert (done.returncode, files(lab.parent)) == (3, {"fabric.yaml": LAB.encode()})
    assert "ailb-gen: fabric.yaml: cannot write the file: File too large; it is unchanged\n" in done.stderr


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_output_that_is_lost_does_not_hide_that_the_file_is_written(lab: Path, more: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = program("drain", "fabric.yaml", "spine3", *more, cwd=lab.parent, stdout=full)
    assert (done.returncode, lab.read_text()) == (3, f"{LAB}drain:\n  - spine3\n")
    assert "No space left on device; the work is done, but part of the output is lost" in done.stderr


def test_on_a_terminal_of_80_columns(lab: Path) -> None:
    told = at_terminal(lab.parent, "drain", "fabric.yaml", "spine3", "--floor", "0%")
    assert max(map(len, told.replace("\r", "").split("\n"))) < 100
    assert os.linesep.join(["  - spine3"]) in told
