"""Patterns of `--checks` and `--limit`."""

import shutil
from pathlib import Path

import pytest

from ailb_gen.checks.model import Check, Finding, Result, RunOptions
from ailb_gen.checks.run import run
from ailb_gen.checks.select import limited, pick_checks
from ailb_gen.errors import UsageError
from ailb_gen.intent.load import load
from ailb_gen.report.verdict import judge
from ailb_gen.selection import pick_devices
from tests.checks.trees import GOLDEN
from tests.conftest import EXAMPLES

IDS = ("AILB001", "AILB201", "AILB202", "AILB501")
CATALOGUE = tuple(Check(name, "", "", "", "") for name in IDS)
FAMILIES = {"AILB0": "files", "AILB2": "sessions", "AILB5": "failures"}
DEVICES = {"stripe1-leaf1": "leaf", "stripe1-leaf2": "leaf", "spine1": "spine", "h1": "server"}
NAMED = {**DEVICES, "gpu-1.dc1.example.net": "server"}


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ([], IDS),
        (["AILB201"], ("AILB201",)),
        (["ailb201"], ("AILB201",)),
        (["AILB2*"], ("AILB201", "AILB202")),
        (["AILB2"], ("AILB201", "AILB202")),
        (["sessions"], ("AILB201", "AILB202")),
        (["AILB??1"], ("AILB001", "AILB201", "AILB501")),
        (["AILB501,files"], ("AILB001", "AILB501")),
        (["AILB501", "files"], ("AILB001", "AILB501")),
        (["!failures"], IDS[:3]),
        (["!failures", "!AILB0*"], ("AILB201", "AILB202")),
        (["sessions", "!AILB202"], ("AILB201",)),
        (["sessions", "!AILB202", "AILB202"], ("AILB201", "AILB202")),
    ],
)
def test_checks(patterns: list[str], expected: tuple[str, ...]) -> None:
    assert tuple(check.id for check in pick_checks(CATALOGUE, FAMILIES, patterns)) == expected


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        (["AILB203"], "no check is called 'AILB203'; did you mean 'AILB20"),
        (["session"], "no check is called 'session'; did you mean 'sessions'?"),
        (["zzz"], "ids, globs such as 'AILB2*', or files, sessions, failures"),
        ([""], "an empty pattern"),
        (["AILB201,"], "an empty pattern"),
        (["!"], "an empty pattern"),
        (["sessions", "!AILB2*"], "selects no check"),
    ],
)
def test_checks_that_pick_nothing(patterns: list[str], message: str) -> None:
    with pytest.raises(UsageError) as error:
        pick_checks(CATALOGUE, FAMILIES, patterns)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ([], None),
        (["stripe1-leaf1"], {"stripe1-leaf1"}),
        (["stripe1-*"], {"stripe1-leaf1", "stripe1-leaf2"}),
        (["spines,servers"], {"spine1", "h1"}),
        (["switches"], {"stripe1-leaf1", "stripe1-leaf2", "spine1"}),
    ],
)
def test_devices(patterns: list[str], expected: set[str] | None) -> None:
    assert pick_devices(DEVICES, patterns) == expected


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        (["spin1"], "did you mean 'spine1'?"),
        (["spine99"], "did you mean 'spine1'?"),
        (["leafs"], "did you mean 'leaf'?"),
        (["H1.example.net"], "did you mean 'h1'?"),
        (["gpu-1"], "did you mean 'gpu-1.dc1.example.net'?"),
        (["switch99"], "names, globs, or leaf"),
        (["zzz"], "names, globs, or leaf"),
        (["spine1,"], "an empty pattern"),
    ],
)
def test_devices_that_are_not_there(patterns: list[str], message: str) -> None:
    with pytest.raises(UsageError, match="--limit") as error:
        pick_devices(NAMED, patterns)
    assert message in str(error.value)
    with pytest.raises(UsageError, match=r"^'limit' of the plan p\.json:"):
        pick_devices(NAMED, patterns, "'limit' of the plan p.json:")


def test_limit_keeps_findings_that_name_a_device() -> None:
    scopes = ("stripe1-leaf1", "stripe1-leaf1 et-0/0/0", "stripe1-leaf10", "stripe1-leaf2 stripe1-leaf1", "fabric")
    findings = tuple(Finding("AILB201", scope, "") for scope in scopes)
    (kept,) = limited([Result(CATALOGUE[1], findings, 5)], frozenset(["stripe1-leaf1"]))
    assert [finding.scope for finding in kept.findings] == [scopes[0], scopes[1], scopes[3]]
    assert kept.examined == 5
    assert limited([kept], None) == (kept,)


def test_limit_keeps_findings_about_the_folder_of_a_device() -> None:
    scopes = ("profiles/a", "profiles/a gpu0_eth", "profiles/b", "servers/h1", "h1 gpu0_eth")
    findings = tuple(Finding("AILB201", scope, "") for scope in scopes)
    folders = (("h1", "profiles/a"), ("h2", "profiles/a"), ("h3", "servers/h3"), ("h4", "profiles/b"))
    for devices, expected in (({"h1"}, {0, 1, 4}), ({"h2"}, {0, 1}), ({"h3"}, set()), ({"h3", "h4"}, {2})):
        (kept,) = limited([Result(CATALOGUE[1], findings, 5)], devices, folders)
        assert [finding.scope for finding in kept.findings] == [scopes[number] for number in sorted(expected)]


@pytest.mark.parametrize(("limit", "count"), [("gpu-s1-1", 2), ("gpu-s1-2", 2), ("gpu-s2-1", 0), ("servers", 2)])
def test_what_servers_share_is_told_of_each(limit: str, count: int, tmp_path: Path) -> None:
    root = Path(shutil.copytree(GOLDEN / "lab", tmp_path / "lab", symlinks=True))
    netplan = root / "profiles/stripe1/etc/netplan/60-ailb-gpu.yaml"
    netplan.write_text(netplan.read_text().replace("dhcp4: false", "dhcp4: true"))
    chosen = frozenset({"AILB609"})
    done = run(load(EXAMPLES / "lab/fabric.yaml"), root, RunOptions(chosen, executor="serial"))
    (result,) = judge(done, (), chosen, [limit], "error").run.results
    assert {finding.scope for finding in result.findings} <= {"profiles/stripe1 gpu0_eth", "profiles/stripe1 gpu1_eth"}
    assert len(result.findings) == count
