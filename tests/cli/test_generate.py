"""`ailb-gen generate`: exit codes, messages, and what lands on disk."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.verbs import at_terminal, refused
from tests.conftest import EXAMPLES, SMALL, Cli
from tests.render.test_golden import GOLDEN, snapshot

JVD = str(EXAMPLES / "jvd" / "fabric.yaml")


@pytest.fixture
def fabric(tmp_path: Path) -> Path:
    path = tmp_path / "fabric.yaml"
    path.write_text(SMALL, encoding="utf-8")
    return path


def test_generate_writes_the_golden_tree_and_a_summary(cli: Cli, tmp_path: Path) -> None:
    code, out, err = cli("generate", JVD, "-o", "build/jvd")
    assert (code, err) == (0, "")
    assert snapshot(tmp_path / "build" / "jvd") == snapshot(GOLDEN / "jvd")
    assert re.search(r"^leaves +16$", out, re.M) and re.search(r"^GPUs +32$", out, re.M)
    assert re.search(r"^spine +4 +0 +0 +0$", out, re.M)
    assert all(len(line) <= 80 for line in out.splitlines())


def test_generate_warns_of_statements_that_validate_does_not_accept(cli: Cli, fabric: Path) -> None:
    extra = (
        "extra_config: |\n"
        "  system { ntp { server 192.0.2.1; } processes { routing disable; } }\n"
        "  routing-options { static { route fc00::/16 discard; } }\n"
        "  groups { g { protocols { ospf3 { area 0 { interface all; } } } } }\n"
        "  apply-groups g;\n"
    )
    fabric.write_text(f"{SMALL}{extra}", encoding="utf-8")
    code, _, err = cli("generate", str(fabric), "-o", "out")
    assert code == 0
    warned = re.findall(r"warning\[not-modelled\]: extra_config: (.+?) is not modeled", err)
    assert warned == [
        "system processes routing disable",
        "routing-options static route fc00::/16 discard",
        "protocols ospf3 area 0 interface all",
    ]
    code, out, _ = cli("validate", str(fabric), "out", "--checks", "AILB209", "--report", "json")
    assert code == 1
    named = {
        finding["message"].partition(" is not modeled")[0]
        for check in json.loads(out)["checks"]
        for finding in check["findings"]
    }
    assert named == set(warned)


def test_check_is_a_gate(cli: Cli, fabric: Path, tmp_path: Path) -> None:
    code, out, err = cli("generate", "fabric.yaml", "-o", "out", "--check")
    assert code == 1
    assert "new      switches/spine1.conf" in out.splitlines()
    assert not (tmp_path / "out").exists()
    assert cli("generate", "fabric.yaml", "-o", "out")[0] == 0
    assert cli("generate", "fabric.yaml", "-o", "out", "--check") == (0, "", "out: up to date\n")
    fabric.write_text(SMALL + "bfd: {multiplier: 4}\n", encoding="utf-8")
    code, out, err = cli("generate", "fabric.yaml", "-o", "out", "--check", "--diff")
    assert code == 1
    assert "-                multiplier 3;\n+                multiplier 4;\n" in out
    assert "changed  switches/spine1.conf" in out.splitlines()
    assert err == "out: 7 files differ; run without --check to write\n"


def test_quiet_leaves_errors_and_results_only(cli: Cli, fabric: Path) -> None:
    assert cli("generate", "fabric.yaml", "-o", "out", "-q") == (0, "", "")
    assert cli("generate", "fabric.yaml", "-o", "out", "-q", "--check") == (0, "", "")
    fabric.write_text(SMALL + "bfd: {multiplier: 4}\n", encoding="utf-8")
    code, out, err = cli("generate", "fabric.yaml", "-o", "out", "-q", "--check")
    assert (code, err) == (1, "")
    assert "changed  switches/spine1.conf" in out.splitlines()
    assert cli("generate", "fabric.yaml", "-o", "out", "-q", "--diff")[2] == ""
    fabric.write_text(SMALL.replace("spines", "spinez"), encoding="utf-8")
    assert "did you mean 'spines'?" in cli("generate", "fabric.yaml", "-o", "out", "-q")[2]


def test_a_diff_only_shows(cli: Cli, fabric: Path, tmp_path: Path) -> None:
    code, out, err = cli("generate", "fabric.yaml", "-o", "out", "--diff")
    assert (code, err) == (0, "out: run without --diff to write this\n")
    assert "+++ b/switches/spine1.conf" in out
    assert [path.name for path in tmp_path.iterdir()] == ["fabric.yaml"]
    assert cli("generate", "fabric.yaml", "-o", "out")[0] == 0
    assert cli("generate", "fabric.yaml", "-o", "out", "--diff") == (0, "", "out: up to date\n")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")}
    (tmp_path / ".out.ailb-new").mkdir()
    fabric.write_text(SMALL + "bfd: {multiplier: 4}\n", encoding="utf-8")
    code, out, _ = cli("generate", "fabric.yaml", "-o", "out", "--diff", "--limit", "spine1")
    assert code == 0
    assert "-                multiplier 3;\n+                multiplier 4;\n" in out
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")} == before
    # What a killed run has left is the business of the next one that writes.
    assert (tmp_path / ".out.ailb-new").is_dir()


@pytest.mark.long
def test_the_tree_of_another_fabric_stays(cli: Cli, fabric: Path, tmp_path: Path) -> None:
    assert cli("generate", "fabric.yaml", "-o", "out")[0] == 0
    before = snapshot(tmp_path / "out")
    (tmp_path / "other.yaml").write_text(SMALL.replace("name: small", "name: other"), encoding="utf-8")
    for more in ((), ("--limit", "spine1"), ("--json",)):
        refused(
            cli("generate", "other.yaml", "-o", "out", *more),
            "the directory holds the fabric 'small', and 'other' would replace it; choose another -o",
            code=3,
        )
    assert snapshot(tmp_path / "out") == before
    assert cli("generate", "other.yaml", "-o", "out", "--check")[0] == 1
    assert cli("generate", "other.yaml", "-o", "out", "--replace-fabric")[0] == 0
    assert cli("generate", "other.yaml", "-o", "out", "--check")[0] == 0


@pytest.mark.long
def test_existing_links_that_get_another_color_are_told_before_anything_is_written(
    cli: Cli, fabric: Path, tmp_path: Path
) -> None:
    fabric.write_text(SMALL + "links_per_spine: 2\n", encoding="utf-8")
    assert cli("generate", "fabric.yaml", "-o", "out")[::2] == (0, "")
    before = snapshot(tmp_path / "out")
    topology = (tmp_path / "out/topology.json").read_bytes()
    fabric.write_text(SMALL.replace("spines: 2", "spines: 4") + "links_per_spine: 2\n", encoding="utf-8")
    told = "warning[links-recolored]: colors: 8 of 16 existing links get another color than in out"
    for more in (("--diff",), ("--check",), ("--check", "--limit", "spine1")):
        assert told in cli("generate", "fabric.yaml", "-o", "out", *more)[2]
    assert snapshot(tmp_path / "out") == before
    # What cannot be compared is told, and neither another fabric nor a first tree is compared.
    (tmp_path / "out/topology.json").write_text("{}", encoding="utf-8")
    _, _, err = cli("generate", "fabric.yaml", "-o", "out", "--check")
    assert "cannot compare the colors of existing links: out: topology.json is missing or was edited" in err
    fabric.write_text(fabric.read_text(encoding="utf-8").replace("small", "other"), encoding="utf-8")
    assert "links-recolored" not in cli("generate", "fabric.yaml", "-o", "out", "--check")[2]
    (tmp_path / "out/topology.json").write_bytes(topology)
    code, out, err = cli("generate", "fabric.yaml", "-o", "out", "--replace-fabric", "--json")
    assert (code, told in err, [told in text for text in json.loads(out)["warnings"]]) == (0, True, [True])
    assert "links-recolored" not in cli("generate", "fabric.yaml", "-o", "out")[2]


def test_json_says_what_happened(cli: Cli, fabric: Path) -> None:
    code, out, _ = cli("generate", "fabric.yaml", "-o", "out", "--json", "--limit", "spine1,server-001")
    body = json.loads(out)
    assert code == 0
    assert body["fabric"] == "small" and body["written"] is True and body["unchanged"] == 0
    assert "switches/spine1.conf" in body["new"] and "servers/server-001" in body["new"]
    assert not any(path.startswith("switches/stripe") for path in body["new"])


def test_set_format(cli: Cli, fabric: Path, tmp_path: Path) -> None:
    assert cli("generate", "fabric.yaml", "-o", "out", "--format", "set")[0] == 0
    lines = (tmp_path / "out/switches/stripe1-leaf1.set").read_text(encoding="utf-8").splitlines()
    assert "set protocols bgp fabric-advertise route fc00:1:1:1::/64 backup-color all-colors" in lines


def test_jobs_give_the_same_tree(cli: Cli, tmp_path: Path) -> None:
    assert cli("generate", JVD, "-o", "two", "-j", "2")[0] == 0
    assert snapshot(tmp_path / "two") == snapshot(GOLDEN / "jvd")


@pytest.mark.parametrize("limit", ["leaf", "leaves", "stripe1-*", "stripe1-leaf1,stripe1-leaf2", "switches"])
def test_limits(cli: Cli, fabric: Path, limit: str) -> None:
    code, out, _ = cli("generate", "fabric.yaml", "-o", "out", "--json", "--limit", limit)
    names = {Path(path).stem for path in json.loads(out)["new"] if path.startswith("switches/")}
    assert code == 0
    assert {"stripe1-leaf1", "stripe1-leaf2"} <= names
    assert ("spine1" in names) == (limit == "switches")
    assert ("stripe2-leaf1" in names) == (limit in ("leaf", "leaves", "switches"))


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (
            ("generate", "nothing.yaml", "-o", "out"),
            2,
            "nothing.yaml: there is no such file; 'ailb-gen init' writes one",
        ),
        (("generate", ".", "-o", "out"), 2, "this is a directory; name the fabric file"),
        (("generate", "fabric.yaml", "-o", "."), 3, "must not be, or hold, the current directory"),
        (("generate", "fabric.yaml", "-o", "fabric.yaml"), 3, "the output must be a directory, this is a file"),
        (("generate", "fabric.yaml", "-o", "o", "--limit", "spin1"), 2, "did you mean 'spine1'?"),
        (("generate", "fabric.yaml", "-o", "o", "--templates", "none"), 2, "--templates must name a directory"),
        (
            ("generate", "fabric.yaml", "-o", "o", "--templates", "none", "-j", "2"),
            2,
            "--templates must name a directory",
        ),
        (
            ("generate", "fabric.yaml", "-o", "o", "--templates", "."),
            2,
            "has the name of a shipped one, such as",
        ),
        (
            ("generate", "loop.yaml", "-o", "out"),
            2,
            "this symbolic link to loop.yaml does not point to a file",
        ),
        (("init", "loop.yaml"), 3, "loop.yaml: cannot write the file: Too many levels of symbolic links"),
        (("generate", "fabric.yaml", "-o", "o", "--limit", ""), 2, "--limit: an empty pattern"),
        (("generate", "fabric.yaml", "-o", "o", "--limit", "spine1,"), 2, "--limit: an empty pattern"),
        (("generate", "x" * 300, "-o", "o"), 2, "not a usable file name"),
        (("generate", "fabric.yaml", "-o", "x" * 300), 3, "not a usable output directory"),
        (
            ("explain", "fabric.yaml", "zzz"),
            2,
            "there are 10: stripe1-leaf1, stripe1-leaf2,",
        ),
        (("generate", "fabric.yaml", "-o", "o", "--format", "xml"), 2, "Invalid value for '--format'"),
        (("generate", "fabric.yaml"), 2, "Missing option '-o'"),
        (("explain", "fabric.yaml", "stripe1-leaf9"), 2, "did you mean 'stripe1-leaf2'?"),
        (("nonsense",), 2, "No such command 'nonsense'"),
    ],
)
def test_wrong_arguments(
    cli: Cli, fabric: Path, tmp_path: Path, words: tuple[str, ...], code: int, message: str
) -> None:
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    refused(cli(*words), message, code=code)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fabric.yaml", "loop.yaml"]


def test_bad_input_prints_every_error_and_writes_nothing(cli: Cli, fabric: Path, tmp_path: Path) -> None:
    fabric.write_text("name: a b\nstripez: 2\nspines: 0\n", encoding="utf-8")
    code, out, err = cli("generate", "fabric.yaml", "-o", "out")
    assert (code, out) == (2, "")
    lines = err.splitlines()
    assert [line.split(" ")[0] for line in lines[:-1]] == [
        "fabric.yaml:1:1:",
        "fabric.yaml:1:1:",
        "fabric.yaml:2:1:",
        "fabric.yaml:3:1:",
        "note:",
    ]
    assert lines[-1] == "4 errors"
    assert not (tmp_path / "out").exists()


def test_warnings_go_to_standard_error_and_do_not_stop(cli: Cli, fabric: Path, tmp_path: Path) -> None:
    fabric.write_text(SMALL + "host_ports: {speed: 800g}\n", encoding="utf-8")
    code, _, err = cli("generate", "fabric.yaml", "-o", "out")
    assert code == 0
    assert err.startswith("fabric.yaml:1:1: warning[oversubscribed]: uplinks: ")
    assert (tmp_path / "out").is_dir()


def test_an_unwritable_place_is_told(cli: Cli, fabric: Path) -> None:
    refused(cli("generate", "fabric.yaml", "-o", "/proc/ailb/out"), "cannot write the output", code=3)
    refused(cli("generate", "fabric.yaml", "-o", "/proc/x"), "ailb-gen: /proc/x: cannot write the output: ", code=3)


def test_progress_is_shown_on_a_terminal_only(tmp_path: Path, cli: Cli) -> None:
    assert "rendering" in at_terminal(tmp_path, "generate", JVD, "-o", "out")
    assert "rendering" not in "".join(cli("generate", JVD, "-o", "again")[1:])


def test_json_and_diff_together_stay_json(cli: Cli, fabric: Path) -> None:
    code, out, _ = cli("generate", "fabric.yaml", "-o", "out", "--json", "--diff", "--limit", "spine1")
    assert code == 0
    assert "+++ b/switches/spine1.conf" in json.loads(out)["diff"]
