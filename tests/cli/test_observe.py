"""`ailb-gen drift`, `verify` and `collect`: what runs on the switches, in every form of report."""

from __future__ import annotations

import json
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ailb_gen.cli.visible import visible
from ailb_gen.emulator.faults import Fault
from tests.cli.verbs import by_hand, refused
from tests.deploy.fabric import BEFORE, CANARY, ORDER, SPINES, Site, generated, run, site, state_of

Cli = Callable[..., tuple[int, str, str]]
LINE = "set system services telnet\nset protocols bgp group fabric-blue description x\n"


def findings(text: str) -> list[tuple[str, str, str]]:
    """Return check, scope and message of all that a JSON report has found."""
    checks = json.loads(text)["checks"]
    return [(check["id"], one["scope"], one["message"]) for check in checks for one in check["findings"]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["drift", "fabric.yaml"], "Missing argument 'ARTIFACTS'"),
        (["verify", "fabric.yaml"], "Missing argument 'ARTIFACTS'"),
        (["collect", "fabric.yaml"], "Missing option '-o' / '--output' / '--out'"),
        (["drift", "fabric.yaml", "out"], "fabric.yaml"),
        (["drift", "fabric.yaml", "out", "--report", "pdf"], "pdf"),
    ],
)
def test_input_that_cannot_be_used(cli: Cli, words: list[str], message: str) -> None:
    refused(cli(*words), message)


def test_no_drift_and_all_as_designed(pushed: Site) -> None:
    for verb in ("drift", "verify"):
        done = run(*pushed.place(verb))
        assert (done.code, done.err) == (0, "")
        assert "PASS: no findings" in done.out


def test_what_somebody_did_by_hand_is_told_in_every_report_and_repaired(pushed: Site, tmp_path: Path) -> None:
    by_hand(pushed, CANARY, LINE)
    files = {form: tmp_path / f"drift.{form}" for form in ("json", "junit", "sarif", "md", "html")}
    reports = [word for form, file in files.items() for word in ("--report", f"{form}={file}")]
    done = run(*pushed.place("drift"), "--report", "table", *reports)
    assert (done.code, done.err) == (1, "")
    assert "protocols bgp group fabric-blue description: is not in the file" in done.out
    assert "FAIL: 1 error" in done.out
    # What is not the program's is not drift.
    assert "telnet" not in done.out
    told = "protocols bgp group fabric-blue description: is not in the file"
    assert findings(files["json"].read_text()) == [("AILBD02", CANARY, told)]
    failed = [one for one in ElementTree.parse(files["junit"]).iter("testcase") if one.find("failure") is not None]
    assert ["AILBD02" in str(one.attrib) for one in failed] == [True]
    (result,) = json.loads(files["sarif"].read_text())["runs"][0]["results"]
    assert result["ruleId"] == "AILBD02"
    assert "fabric-blue description" in files["md"].read_text()
    page = files["html"].read_text()
    assert "fabric-blue description: is not in the file" in page
    assert f'data-device="{CANARY}"' in page

    only = run(*pushed.place("drift"), "--limit", SPINES[0])
    assert only.code == 0
    repaired = pushed.deploy()
    assert repaired.code == 0
    assert f"canary leaf: {CANARY}" in repaired.out
    assert run(*pushed.place("drift")).code == 0
    kept = pushed.fleet.do(CANARY, state_of).active
    assert "set system services telnet" in kept
    assert set(kept) == {*pushed.new[CANARY], "set system services telnet"}


def test_another_value_is_one_finding_with_both(pushed: Site) -> None:
    by_hand(pushed, SPINES[0], "set interfaces et-0/0/0 mtu 1500\n")
    done = run(*pushed.place("drift"), "--report", "json")
    [finding] = [one for check in json.loads(done.out)["checks"] for one in check["findings"]]
    assert finding["message"] == "interfaces et-0/0/0 mtu 1500: expected 9216"
    assert (finding["expected"], finding["found"]) == ("9216", "1500")
    text = (pushed.generated.artifacts / finding["place"]["file"]).read_text().splitlines()
    assert text[finding["place"]["line"] - 1].strip() == "mtu 9216;"


@pytest.mark.parametrize("verb", ["drift", "plan", "verify"])
def test_what_a_device_says_does_not_steer_the_terminal(pushed: Site, verb: str) -> None:
    hostile = "\u202e\u2066\x9b2J\x85\u200b"
    by_hand(pushed, CANARY, f'set interfaces et-0/0/0 description "{hostile}"\nset system host-name "x{hostile}"\n')
    done = run(*pushed.place(verb))
    assert CANARY in done.out or verb == "verify"
    assert visible(done.out + done.err) == done.out + done.err


def test_drift_of_a_switch_from_before_the_change(tiny: Site) -> None:
    done = run(*tiny.place("drift"), "--report", "json")
    assert (done.code, {scope for _, scope, _ in findings(done.out)}) == (1, set(ORDER))


def test_what_is_not_up(pushed: Site) -> None:
    by_hand(pushed, SPINES[0], "set interfaces et-0/0/0 disable\n")
    done = run(*pushed.place("verify"), "--report", "json")
    found = findings(done.out)
    assert done.code == 1
    assert {(check, scope) for check, scope, _ in found} == {("AILBD03", SPINES[0]), ("AILBD03", CANARY)}
    assert all("et-0/0/0.0" in message for _, _, message in found)
    assert run(*pushed.place("verify"), "--limit", SPINES[1]).code == 0


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("set interfaces et-0/0/0 mtu 1500", "the MTU of et-0/0/0 is 1500, expected 9216"),
        ("set interfaces et-0/0/0 unit 0 family inet6 mtu 1280", "the IPv6 MTU of et-0/0/0.0 is 1280, expected 9202"),
        (
            "delete routing-options forwarding-table export",
            "load balancing of all routes per flow (forwarding-table export): off, expected on",
        ),
        ("delete routing-options forwarding-table ecmp-fast-reroute", "ecmp-fast-reroute: off, expected on"),
        ("set chassis maximum-ecmp 2", "maximum-ecmp: 2, expected 16"),
        ("set groups G chassis maximum-ecmp 2\nset apply-groups G", "maximum-ecmp: 2, expected 16"),
        ("delete forwarding-options enhanced-hash-key", "DLB (ecmp-dlb): none, expected ether-type ipv6, flowlet"),
    ],
)
def test_what_a_switch_forwards_with(pushed: Site, lines: str, told: str) -> None:
    by_hand(pushed, SPINES[0], f"{lines}\n")
    done = run(*pushed.place("verify"), "--report", "json")
    found = findings(done.out)
    assert ("AILBD03", SPINES[0], told) in [(check, scope, message[: len(told)]) for check, scope, message in found]
    assert {scope for _, scope, _ in found} == {SPINES[0]}
    assert "verify does not read class of service" in done.out


def test_next_hops_that_are_missing(tmp_path: Path) -> None:
    """Two spines of one color are two next hops; without a policy of the forwarding table the first is used."""
    with site(generated(tmp_path, BEFORE.replace("[blue, red]", "[blue]")), tmp_path) as found:
        assert found.deploy("--min-paths", "0").code == 0
        by_hand(found, CANARY, "delete routing-options forwarding-table\n")
        done = run(*found.place("verify"), "--report", "json")
        told = [message for _, scope, message in findings(done.out) if scope == CANARY]
        hops = "is forwarded to 1 next hop (et-0/0/0.0), expected 2 next hops (et-0/0/0.0, et-0/0/1.0)"
        assert [message for message in told if hops in message]
        # Of a session that is down nothing else is said.
        by_hand(found, SPINES[1], "set interfaces et-0/0/0 disable\n")
        done = run(*found.place("verify"), "--report", "json")
        told = [message for _, scope, message in findings(done.out) if scope == CANARY]
        assert not [message for message in told if "is forwarded to" in message]


@pytest.mark.parametrize("verb", ["drift", "verify"])
def test_a_switch_that_cannot_be_reached(pushed: Site, verb: str) -> None:
    pushed.fleet.add_faults(SPINES[0], Fault("refuse-auth", "connect", count=0))
    done = run(*pushed.place(verb), "--report", "json")
    ((check, scope, message),) = findings(done.out)
    assert (done.code, check, scope) == (1, "AILBD01", SPINES[0])
    assert message.startswith("connect: ")


def test_looking_leaves_nothing_behind(pushed: Site, tmp_path: Path) -> None:
    before = {name: pushed.settled(name) for name in ORDER}
    commits = {name: len(pushed.device(name).commits()) for name in ORDER}
    for verb in ("drift", "verify", "plan"):
        assert run(*pushed.place(verb)).code == 0
    assert {name: pushed.settled(name) for name in ORDER} == before
    assert {name: len(pushed.device(name).commits()) for name in ORDER} == commits


def collected(site: Site, out: Path, *more: str) -> tuple[int, str, str]:
    done = run("collect", str(site.generated.fabric), "-o", str(out), "-i", str(site.inventory), *more)
    return done.code, done.out, done.err


CABLES = "cables: between switches by LLDP, to servers from the intent\n"
SERVERS = "1 server is not managed: its files are those of the intent\n"


def test_what_is_collected_can_be_validated(pushed: Site, tmp_path: Path) -> None:
    out = tmp_path / "collected"
    code, told, err = collected(pushed, out)
    assert (code, err) == (0, "")
    assert told.endswith(f" files of 4 devices in {out}\n{CABLES}{SERVERS}")
    for name in ORDER:
        text = (out / "switches" / f"{name}.conf").read_text()
        assert "$6$" not in text
        assert 'encrypted-password "***"' in text or "encrypted-password ***" in text
    state = json.loads((out / "state" / f"{CANARY}.json").read_text())
    assert [row["state"] for row in state["neighbors"]] == ["Established"] * 2
    assert {row["system"] for row in state["lldp"]} == set(SPINES)
    assert state["commits"][0]["log"] == "by hand"
    about = json.loads((out / "manifest.json").read_text())["collected"]
    assert about["read"] == sorted(ORDER)
    assert about["servers_as_intended"] == ["server-001"]
    assert set(about["cables"].values()) == {"lldp"}
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (out, *out.rglob("*"))}
    assert modes == {0o600, 0o700}
    done = run("validate", str(pushed.generated.fabric), str(out), "--report", "json")
    assert (done.code, findings(done.out)) == (0, [])
    # Collecting again replaces its own files.
    assert collected(pushed, out)[0] == 0


def test_a_switch_that_changed_is_collected_as_it_is(pushed: Site, tmp_path: Path) -> None:
    by_hand(pushed, CANARY, "delete protocols bgp group fabric-blue\n")
    out = tmp_path / "collected"
    assert collected(pushed, out)[0] == 0
    done = run("validate", str(pushed.generated.fabric), str(out), "--report", "json")
    assert done.code == 1
    assert CANARY in {scope.partition(" ")[0] for _, scope, _ in findings(done.out)}


def test_what_is_collected_is_neither_pushed_nor_generated_into(pushed: Site, tmp_path: Path) -> None:
    out, fabric = tmp_path / "collected", str(pushed.generated.fabric)
    assert collected(pushed, out)[0] == 0
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    for words in (
        ["deploy", fabric, str(out), "-i", str(pushed.inventory), "--dry-run", "--state", str(tmp_path / "runs")],
        ["generate", fabric, "-o", str(out)],
    ):
        done = run(*words)
        assert done.code in (2, 3)
        assert "this directory was written by 'ailb-gen collect', not by 'ailb-gen generate'" in done.err
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("kind", ["generated", "foreign", "other"])
def test_collecting_over_what_is_not_its_own(pushed: Site, tmp_path: Path, kind: str) -> None:
    out = tmp_path / "out"
    if kind == "generated":
        shutil.copytree(pushed.generated.artifacts, out, symlinks=True)
    elif kind == "foreign":
        out.mkdir()
        (out / "thesis.txt").write_text("years")
    else:
        assert collected(pushed, out)[0] == 0
        manifest = json.loads((out / "manifest.json").read_text())
        (out / "manifest.json").write_text(json.dumps({**manifest, "fabric": "other"}))
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    refused(collected(pushed, out), "choose an empty directory", code=3)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_a_link_in_the_directory_is_not_followed(pushed: Site, tmp_path: Path) -> None:
    out, outside = tmp_path / "collected", tmp_path / "outside"
    assert collected(pushed, out)[0] == 0
    outside.mkdir()
    shutil.rmtree(out / "switches")
    (out / "switches").symlink_to(outside)
    refused(collected(pushed, out), "there is a link or a file instead of a directory", code=3)
    assert not list(outside.iterdir())


def test_collecting_from_some(pushed: Site, tmp_path: Path) -> None:
    pushed.fleet.add_faults(SPINES[0], Fault("refuse-auth", "connect", count=0))
    out = tmp_path / "collected"
    code, told, err = collected(pushed, out, "--limit", "spine")
    assert code == 3
    assert told.splitlines()[0].endswith(f" files of 1 device in {out}")
    assert "cables: 2 of 4 between switches by LLDP" in told
    assert err.startswith(f"ailb-gen: {SPINES[0]}: connect: ")
    assert sorted(path.name for path in (out / "switches").iterdir()) == [f"{SPINES[1]}.conf"]
    # What is read later joins it.
    pushed.fleet.clear_faults(SPINES[0])
    assert collected(pushed, out, "--limit", f"{SPINES[0]},leaf")[0] == 0
    assert len(list((out / "switches").iterdir())) == 4


def test_collecting_from_nobody(pushed: Site, tmp_path: Path) -> None:
    for name in ORDER:
        pushed.fleet.add_faults(name, Fault("refuse-auth", "connect", count=0))
    code, told, err = collected(pushed, tmp_path / "collected")
    assert (code, told) == (3, "")
    assert err.endswith("nothing was collected\n")
    assert not (tmp_path / "collected").exists()


def test_collecting_where_nothing_can_be_written(pushed: Site, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused(collected(pushed, tmp_path / "file" / "out"), "file/out: cannot be written: ", code=3)


@pytest.mark.parametrize(
    "lines",
    [
        "set groups OFF interfaces <et-*> disable\nset apply-groups OFF\n",
        "set interfaces interface-range off member et-*\nset interfaces interface-range off disable\n",
        "set chassis fpc 0 power off\n",
    ],
)
def test_what_acts_besides_the_files_is_drift(pushed: Site, lines: str) -> None:
    by_hand(pushed, CANARY, lines)
    done = run(*pushed.place("drift"), "--report", "json=-")
    assert done.code == 1
    found = findings(done.out)
    assert found and {(check, scope) for check, scope, _ in found} == {("AILBD05", CANARY)}
    done = run(*pushed.place("plan"))
    assert done.code == 0
    assert f"{CANARY} also has unmanaged statements that affect the fabric; a push does not change them" in done.out
    # A push tells it as well, also where it has nothing to do.
    told = [line for line in done.out.splitlines() if line.startswith((f"{CANARY} also has", "  ! "))]
    done = run(*pushed.place("deploy"), "--yes")
    assert (done.code, done.out.splitlines()) == (0, [*told, "Nothing to do."])
