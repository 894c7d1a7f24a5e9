"""`ailb-gen plan`, `deploy`, `confirm` and `rollback`: options, exit codes, and what they say."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from ailb_gen.deploy.plan_file import _digest
from ailb_gen.emulator.faults import Fault
from ailb_gen.wording import among
from tests.cli.verbs import by_hand, refused
from tests.deploy.fabric import CANARY, LAST, ORDER, SPINES, VARIABLE, Site, assert_sound, run

Cli = Callable[..., tuple[int, str, str]]
VERBS = ("plan", "deploy", "confirm", "rollback", "drift", "verify", "collect")


@pytest.mark.parametrize("verb", VERBS)
def test_help(cli: Cli, verb: str) -> None:
    code, out, err = cli(verb, "--help")
    assert (code, err) == (0, "")
    told = " ".join(out.split())
    assert "Exit codes: 0 " in told and " 2 bad input" in told
    assert "--minute " not in told


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["plan"], "Missing argument 'FABRIC'"),
        (["plan", "fabric.yaml"], "Missing argument 'ARTIFACTS'"),
        (["plan", "fabric.yaml", "out", "--min-paths", "-1"], "Invalid value for '--min-paths'"),
        (["plan", "fabric.yaml", "out", "--driver", "telnet"], "Invalid value for '--driver'"),
        (["plan", "fabric.yaml", "out", "--jobs", "0"], "Invalid value for '-j' / '--jobs'"),
        (["deploy", "fabric.yaml", "out", "--on-failure", "hope"], "Invalid value for '--on-failure'"),
        (["deploy", "fabric.yaml", "out", "--confirm-minutes", "0"], "Invalid value for '--confirm-minutes'"),
        (["deploy", "fabric.yaml", "out", "--max-failures", "-1"], "Invalid value for '--max-failures'"),
        (["rollback", "fabric.yaml"], "Missing argument 'ARTIFACTS'"),
        (["confirm", "fabric.yaml", "out", "--yes"], "No such option: --yes"),
    ],
)
def test_options_that_cannot_be_used(cli: Cli, words: list[str], message: str) -> None:
    refused(cli(*words), message)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["plan", "nothing.yaml", "out"], "nothing.yaml"),
        (["deploy", "nothing.yaml", "out"], "nothing.yaml"),
        (["deploy", "{fabric}", "nowhere"], "nowhere: there is no switches/ in it; name the directory that"),
        (
            ["deploy", "{fabric}", "{out}", "--plan", "no.json"],
            "error[plan-unreadable]: cannot be read: No such file or directory",
        ),
        (
            ["deploy", "{fabric}", "{out}", "--confirm-minutes", "2", "--verify-timeout", "120"],
            "--verify-timeout 120 is not less than --confirm-minutes 2: devices would roll the change back before",
        ),
        (["deploy", "{fabric}", "{out}", "--resume"], "no run is recorded here; check --state"),
        (["confirm", "{fabric}", "{out}"], "no run is recorded here"),
        (["rollback", "{fabric}", "{out}"], "no run is recorded here"),
        (["rollback", "{fabric}", "{out}", "yesterday"], "yesterday: there is no such run"),
        (["plan", "{fabric}", "{out}", "--limit", "laef"], "--limit 'laef'"),
    ],
)
def test_input_that_cannot_be_used(tiny: Site, words: list[str], message: str) -> None:
    place = {"fabric": tiny.generated.fabric, "out": tiny.generated.artifacts}
    given = [word.format(**place) for word in words]
    state = [] if words[0] == "plan" else ["--state", str(tiny.records.path)]
    done = run(*given, "-i", str(tiny.inventory), *state)
    refused((done.code, done.out, done.err), message)
    assert tiny.records.runs() == []


def test_a_plan_is_shown_written_pushed_and_then_over(tiny: Site, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    shown = run(*tiny.place("plan"), "-o", str(plan))
    assert (shown.code, shown.err) == (0, "")
    told = "  ~ protocols bgp group fabric-blue bfd-liveness-detection minimum-interval: 1000 → 300\n"
    assert f"{CANARY}:\n{told}" in shown.out
    assert re.search(rf"^  {CANARY} \+2 -2$", shown.out, re.MULTILINE)
    rows = re.findall(r"^(\d)     (\S.*?\S)  +(\d) ", shown.out, re.MULTILINE)
    assert rows == [
        ("1", "canary leaf", "1"),
        ("2", "spines of blue", "1"),
        ("3", "spines of red", "1"),
        ("4", "leaves of rail 1", "1"),
    ]
    assert re.search(r"^sessions up +4 +4$", shown.out, re.MULTILINE)
    assert f"Plan written to {plan}: ailb-gen deploy " in shown.out
    assert json.loads(plan.read_text())["waves"][0] == ["canary leaf", [CANARY]]
    assert all(tiny.settled(name).active == tiny.old[name] for name in ORDER)

    done = tiny.deploy("--plan", str(plan))
    assert (done.code, done.err) == (0, "")
    assert re.search(r"^4 confirmed; record: \S+log\.jsonl$", done.out, re.MULTILINE)
    assert assert_sound(tiny) == dict.fromkeys(ORDER, "confirmed")

    again = tiny.deploy("--plan", str(plan))
    assert (again.code, again.out) == (2, "")
    outdated = f"ailb-gen: {plan}: error[plan-outdated]: the plan is out of date, plan again:\n"
    assert again.err == outdated + f"  {among(ORDER)}: the configuration has changed\n"
    assert tiny.deploy().out == "Nothing to do.\n"
    assert run(*tiny.place("plan")).out == "Nothing to do: 4 devices match their files.\n"
    tiny.fleet.add_faults(CANARY, Fault("refuse-auth", "connect", 0))
    lost = run(*tiny.place("plan"))
    assert (lost.code, lost.out) == (3, "3 devices match their files; 1 could not be read.\n")
    assert f"{CANARY}: connect: " in lost.err


def test_a_plan_while_devices_cannot_be_read(tiny: Site, tmp_path: Path) -> None:
    """It is offered for a push only when all of its devices were read, and written only when any was."""
    plan, lost = tmp_path / "plan.json", LAST
    tiny.fleet.add_faults(lost, Fault("refuse-auth", "connect", 0))
    some = run(*tiny.place("plan"), "-o", str(plan))
    told = f"Plan written to {plan} without 1 device that cannot be read; plan again once they can, or leave them out"
    assert f"{told} with --limit '!{lost}'\n" in some.out
    assert (some.code, plan.exists(), "ailb-gen deploy" in some.out) == (3, True, False)
    assert f"\nailb-gen: {lost}: connect: " in f"\n{some.err}"
    refusal = tiny.deploy()
    assert (refusal.code, tiny.events()) == (3, [])
    assert refusal.err.endswith(f"\nto go on with the other devices: --limit '!{lost}'\n")

    others = run(*tiny.place("plan"), "--limit", f"!{lost}", "-o", str(plan))
    assert (others.code, f"Plan written to {plan}: ailb-gen deploy " in others.out) == (0, True)
    assert others.err.startswith(f"warning: sessions are not verified with {lost}: connect: ")

    plan.unlink()
    for name in ORDER:
        tiny.fleet.add_faults(name, Fault("refuse-auth", "connect", 0))
    none = run(*tiny.place("plan"), "-o", str(plan))
    assert (none.code, plan.exists()) == (3, False)
    assert none.out.endswith("\nNo plan was written: no device could be read.\n")
    assert none.err.startswith("ailb-gen: 4 devices, ")
    assert "--limit" not in tiny.deploy().err


@pytest.mark.long
def test_a_run_that_is_taken_back(tiny: Site) -> None:
    assert tiny.deploy().code == 0
    (first,) = tiny.records.runs()
    done = run(*tiny.words("rollback", first))
    assert (done.code, done.err) == (0, "")
    assert [name for name in ORDER if tiny.settled(name).active == tiny.old[name]] == list(ORDER)
    assert len(tiny.records.runs()) == 2
    assert f"rolling back the run {first}: 4 confirmed" in done.out
    # The way back was a run as well, and can be taken back: when it is named.
    second = tiny.records.runs()[-1]
    again = run(*tiny.words("rollback"))
    assert (again.code, again.out) == (2, "")
    assert f"the run {second} was itself a rollback, of the run {first}; name the run to roll back" in again.err
    assert f"'rollback … {second}' restores what it rolled back" in again.err
    assert all(tiny.settled(name).active == tiny.old[name] for name in ORDER)
    back = run(*tiny.words("rollback", "2"))
    assert back.code == 0
    assert f"this restores the changes of the run {first}: the run {second} was its rollback" in back.out
    assert [name for name in ORDER if tiny.settled(name).active == tiny.new[name]] == list(ORDER)


def test_a_run_that_changed_nothing_cannot_be_taken_back(tiny: Site) -> None:
    assert tiny.deploy("--dry-run").code == 0
    done = run(*tiny.words("rollback"))
    assert (done.code, done.out) == (2, "")
    assert re.search(r"the run \S+ changed nothing that could be rolled back", done.err)
    assert "left nothing to confirm" in run(*tiny.place("confirm"), "--state", str(tiny.records.path)).err
    assert "is complete; there is nothing to resume" in tiny.deploy("--resume").err


def test_a_dry_run_changes_nothing(tiny: Site) -> None:
    before = {name: len(tiny.device(name).commits()) for name in ORDER}
    done = tiny.deploy("--dry-run")
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("Checked on every device; nothing was committed.\n")
    assert assert_sound(tiny) == {}
    assert {name: len(tiny.device(name).commits()) for name in ORDER} == before


def test_a_dry_run_tells_what_a_device_refuses(tiny: Site) -> None:
    tiny.fleet.add_faults(SPINES[0], Fault("error", "check"))
    done = tiny.deploy("--dry-run")
    assert done.code == 3
    assert re.search(rf"^ailb-gen: run \S+: nothing was changed:\n{SPINES[0]}: check: .*an injected fault", done.err)
    assert assert_sound(tiny) == {}


def test_without_a_terminal_nobody_can_be_asked(tiny: Site) -> None:
    words = [word for word in tiny.words("deploy") if word != "--yes"]
    done = run(*words)
    assert done.code == 2
    assert (
        done.err == "ailb-gen: cannot ask for confirmation without a terminal; review 'ailb-gen plan', then use --yes\n"
    )
    assert "canary leaf" in done.out
    assert tiny.records.runs() == []
    assert assert_sound(tiny) == {}


def test_only_what_is_picked(tiny: Site) -> None:
    done = tiny.deploy("--limit", "spine", "--limit", LAST)
    assert done.code == 0
    new = {name for name in ORDER if tiny.settled(name).active == tiny.new[name]}
    assert new == {*SPINES, LAST}
    assert f"canary leaf: {LAST}" in done.out


def test_a_plan_says_what_is_pushed(tiny: Site, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    assert run(*tiny.place("plan"), "-o", str(plan), "--limit", CANARY, "--brief").code == 0
    for more in (["--limit", CANARY], ["--resume"]):
        done = tiny.deploy("--plan", str(plan), *more)
        assert (done.code, done.err) == (
            2,
            "ailb-gen: --plan already selects the changes: omit --limit and --resume\n",
        )
    edited = json.loads(plan.read_text())
    parts = edited | {"limit": ["laef"], "digests": edited["digests"] | {"limit": _digest(["laef"])}}
    whole = {key: value for key, value in parts.items() if key != "digest"}
    (tmp_path / "other.json").write_text(json.dumps(whole | {"digest": _digest(whole)}))
    done = tiny.deploy("--plan", str(tmp_path / "other.json"))
    assert f"ailb-gen: 'limit' of the plan {tmp_path / 'other.json'}: 'laef': no device is called that" in done.err
    assert tiny.deploy("--plan", str(plan)).code == 0
    assert assert_sound(tiny) == {CANARY: "confirmed"}


def test_a_plan_for_devices_that_somebody_changes(tiny: Site, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    assert run(*tiny.place("plan"), "-o", str(plan), "--brief").code == 0
    assert tiny.deploy("--limit", SPINES[0]).code == 0
    done = tiny.deploy("--plan", str(plan))
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith(f"plan again:\n  {SPINES[0]}: the configuration has changed\n")


def test_files_that_somebody_edited(tiny: Site, tmp_path: Path) -> None:
    out = Path(shutil.copytree(tiny.generated.artifacts, tmp_path / "edited", symlinks=True))
    file = out / "switches" / f"{CANARY}.conf"
    file.write_text(file.read_text() + "\n")
    done = run("deploy", str(tiny.generated.fabric), str(out), "-i", str(tiny.inventory), "--yes")
    assert (done.code, done.out) == (2, "")
    assert f"{file}: it was edited after it was generated; run 'ailb-gen generate', review, and validate" in done.err


def test_one_run_at_a_time(tiny: Site) -> None:
    with tiny.records.alone():
        done = tiny.deploy()
    assert (done.code, done.out) == (2, "")
    assert "another run uses it; wait until it has ended, or name another --state" in done.err
    assert assert_sound(tiny) == {}


def test_a_device_that_cannot_be_looked_at(tiny: Site) -> None:
    tiny.fleet.add_faults(SPINES[1], Fault("refuse-auth", "connect", count=0))
    # As far as anybody knows, the other spine has all the traffic.
    for verb in ("plan", "deploy"):
        done = run(*(tiny.place("plan") if verb == "plan" else tiny.words("deploy")))
        assert (done.code, done.out) == (2, "")
        assert re.match(rf"ailb-gen: while {SPINES[0]} is changed, .*\n{SPINES[1]}: connect: \S+ the login", done.err)
    shown = run(*tiny.place("plan"), "--brief", "--min-paths", "0")
    assert shown.code == 3
    assert "canary leaf" in shown.out
    assert re.fullmatch(rf"ailb-gen: {SPINES[1]}: connect: \S+ the login is refused; check .*\n", shown.err)
    # It is none of a push's that does not change it.
    assert run(*tiny.place("plan"), "--brief", "--limit", CANARY).code == 0
    done = tiny.deploy("--min-paths", "0")
    assert (done.code, done.out) == (3, "")
    assert f"{SPINES[1]}: connect:" in done.err
    assert assert_sound(tiny) == {}


def test_both_drivers_plan_the_same(tiny: Site) -> None:
    shown = [run(*tiny.place("plan"), "--driver", driver) for driver in ("napalm", "pyez")]
    assert shown[0] == shown[1]


def test_a_password_that_is_not_set(tiny: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE)
    shown = run(*tiny.place("plan"))
    assert shown.code == 3
    # The same is wrong with all of them: one line.
    assert re.fullmatch(rf"ailb-gen: {len(ORDER)} devices, .* and 1 more: connect: .*{VARIABLE}.*\n", shown.err)


def test_a_plan_as_json_and_its_exit_code(tiny: Site) -> None:
    shown = run(*tiny.place("plan"), "--json", "--exit-code")
    assert (shown.code, shown.err) == (2, "")
    body = json.loads(shown.out)
    assert (body["format"], body["changes"], body["errors"]) == (1, True, {})
    device = body["devices"][CANARY]
    assert (device["kind"], device["added"], device["removed"], device["foreign_deletes"]) == ("switch", 2, 2, [])
    assert {edit["kind"] for edit in device["edits"]} == {"replace"}
    assert body["waves"][0]["name"] == "canary leaf"
    wrong = run(*tiny.place("plan"), "--exit-code", "--limit", "laef")
    assert (wrong.code, wrong.out) == (1, "")
    assert "--limit 'laef'" in wrong.err
    # What is not understood is no change either.
    for words in (("--nonsense",), ("--jobs", "x"), ("-o",), ("more", "words")):
        assert run(*tiny.place("plan"), "--exit-code", *words).code == 1
        assert run(*tiny.place("plan"), *words).code == 2
    assert run("plan", "--exit-code").code == 1
    assert run("plan", "--exit-code", "--help").code == 0
    assert tiny.deploy().code == 0
    assert run(*tiny.place("plan"), "--exit-code").code == 0
    assert json.loads(run(*tiny.place("plan"), "--json").out)["changes"] is False


@pytest.mark.parametrize(
    "lines",
    [
        "set groups OFF interfaces <et-*> disable\nset apply-groups OFF\n",
        "set system processes routing disable\n",
        "set protocols lldp interface all disable\n",
        "set routing-options rib inet6.0 static route fc00::/16 discard\n",
    ],
)
def test_what_acts_besides_the_files_is_a_difference(tiny: Site, lines: str) -> None:
    assert tiny.deploy().code == 0

    by_hand(tiny, CANARY, lines)
    shown = run(*tiny.place("plan"), "--exit-code")
    assert shown.code == 2
    assert shown.out.startswith(
        f"Nothing to push: {len(ORDER)} devices match their files. Unmanaged statements of {CANARY} affect"
    )
    assert "Nothing to do" not in shown.out
    assert run(*tiny.place("plan")).code == 0
    body = json.loads(run(*tiny.place("plan"), "--json").out)
    assert (body["changes"], body["besides"]) == (False, True)
    # What is on other devices is shown, and decides nothing.
    assert run(*tiny.place("plan"), "--exit-code", "--limit", LAST).code == 0
    drifted = run(*tiny.place("drift"))
    assert drifted.code == 1
    assert "AILBD05" in drifted.out


def test_what_may_shut_out_the_next_push_is_a_warning(tiny: Site) -> None:
    by_hand(
        tiny,
        CANARY,
        "set interfaces re0:mgmt-0 unit 0 family inet address 10.1.1.1/24\n"
        "set interfaces re0:mgmt-0 unit 0 family inet filter input F\n"
        "set firewall family inet filter F term a from protocol udp\n"
        "set firewall family inet filter F term a then accept\n"
        "set system configuration-database ephemeral instance telemetry\n",
    )
    assert tiny.deploy().code == 0
    shown = run(*tiny.place("plan"), "--exit-code")
    # It is no difference.
    assert shown.code == 0
    assert f"The next push may not reach {CANARY}:\n  ! system configuration-database ephemeral instance" in shown.out
    assert "  ! on re0:mgmt-0.0 (input): no term of filter F accepts NETCONF (TCP to port 830)" in shown.out
    device = json.loads(run(*tiny.place("plan"), "--json").out)["devices"][CANARY]
    assert len(device["warnings"]) == 3
    drifted = run(*tiny.place("drift"))
    assert (drifted.code, "AILBD06" in drifted.out) == (0, True)


def test_what_a_push_takes_away_that_it_came_by(tiny: Site) -> None:
    """Owning the management port lets a push delete its address."""
    by_hand(tiny, CANARY, "set interfaces re0:mgmt-0 unit 0 family inet address 10.1.1.1/24\n")
    hosts = tiny.inventory / "hosts.yaml"
    said = yaml.safe_load(hosts.read_text())
    said[CANARY]["data"] = {"own": ["interfaces re0:mgmt-0", "system login"]}
    hosts.write_text(yaml.safe_dump(said))
    shown = run(*tiny.place("plan"), "--brief")
    assert f"The next push may not reach {CANARY}:" in shown.out
    assert "  ! address 10.1.1.1/24 of re0:mgmt-0.0: this push removes it" in shown.out
    assert "  ! user admin: this push removes the login that it uses" in shown.out


def test_a_first_push_does_not_delete_what_somebody_else_configured(tiny: Site) -> None:
    lines = "set protocols bgp group CUSTOMER type external\nset protocols bgp group CUSTOMER peer-as 65000\n"
    by_hand(tiny, CANARY, lines)
    shown = run(*tiny.place("plan"))
    assert "  - delete protocols bgp group CUSTOMER\n      - protocols bgp group CUSTOMER type external\n" in shown.out
    assert f"{CANARY} has no commit by this program" in shown.out
    refused = tiny.deploy()
    assert refused.code == 2
    assert f"  {CANARY}: protocols bgp group CUSTOMER\n" in refused.err
    assert "--allow-foreign-deletes" in refused.err
    assert tiny.device(CANARY).database.active.has("protocols", "bgp", "group", "CUSTOMER")
    done = tiny.deploy("--allow-foreign-deletes")
    assert done.code == 0
    assert f"  {CANARY} +2 -4\n" in done.out
    assert not tiny.device(CANARY).database.active.has("protocols", "bgp", "group", "CUSTOMER")


@pytest.mark.parametrize("verb", ["plan", "deploy"])
def test_missing_host_keys_are_one_line_with_the_command_that_adds_them(tiny: Site, verb: str) -> None:
    known = tiny.inventory / "known_hosts"
    known.write_text("")
    done = run(*(tiny.place(verb) if verb == "plan" else tiny.words(verb)))
    assert done.code == 3
    (line,) = (line for line in done.err.splitlines() if "no host key" in line)
    assert f"4 devices, {CANARY}, " in line
    assert f"no host key is known in {known}; run with --accept-new-hostkeys" in line
    assert line.endswith(f"ssh-keyscan -p PORT -f ADDRESSES >> {known}")
