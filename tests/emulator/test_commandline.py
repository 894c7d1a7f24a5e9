"""The command line as netmiko, scrapli, PyEZ's StartShell and plain ssh see it."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import asyncssh
import pytest
from jnpr.junos.device import Device as Pyez
from jnpr.junos.utils.start_shell import StartShell
from lxml import etree
from ncclient.operations import RPCError
from netmiko.exceptions import ConfigInvalidException
from scrapli import AuthOptions, Cli, Netconf, TransportSsh2Options
from scrapli.netconf import DatastoreType

from ailb_gen.emulator.faults import Fault
from ailb_gen.emulator.fleet import Fleet
from tests.emulator.fleets import (
    LEAF,
    PASSWORD,
    SPINE,
    USER,
    active_text,
    bring_up,
    fleet_of,
    netconf,
    netmiko,
    ssh,
    until,
)

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


@contextmanager
def scrapli(fleet: Fleet) -> Iterator[Cli]:
    with Cli(
        fleet.address,
        definition_file_or_name="juniper_junos",
        port=fleet.port(LEAF),
        auth_options=AuthOptions(username=USER, password=PASSWORD),
        transport_options=TransportSsh2Options(),
    ) as found:
        yield found


def test_netmiko(fleet: Fleet) -> None:
    device = fleet.devices[LEAF]
    with netmiko(fleet) as found:
        assert found.find_prompt() == f"{USER}@{LEAF}>"
        assert found.send_command("show version").startswith(f"Hostname: {LEAF}\n")
        assert (
            found.send_command("show configuration | display set | match host-name") == f"set system host-name {LEAF}\n"
        )
        said = found.send_config_set(["set system domain-name d", "set system time-zone UTC"], exit_config_mode=False)
        assert f"[edit]\n{USER}@{LEAF}# set system time-zone UTC" in said
        assert found.check_config_mode()
        assert "+   domain-name d;" in found.send_command("show | compare", expect_string=r"#\s*$")
        assert "configuration check succeeds" in found.commit(check=True)
        assert "rolled back in 5 minutes" in found.commit(confirm=True, confirm_delay=5, comment="two words")
        assert device.database.pending is not None
        assert "commit complete" in found.commit(and_quit=True)
        assert device.database.pending is None
        assert not found.check_config_mode()
        assert [commit.log for commit in device.commits()][:2] == ["", "two words"]
        with pytest.raises(ConfigInvalidException):
            found.send_config_set(["set system {"], error_pattern=r"syntax error", exit_config_mode=False)
        found.send_config_set(["delete system root-authentication"], exit_config_mode=False)
        with pytest.raises(ValueError, match="Missing mandatory statement: 'root-authentication'"):
            found.commit()
        found.send_config_set(["rollback 0"])
        found.send_config_set(["set system domain-name e"])
    assert "domain-name d;" in active_text(device)
    # The shared candidate stays, as on Junos; nobody is left on the device.
    assert device.database.modified
    until(lambda: not device.sessions)


def test_scrapli(fleet: Fleet) -> None:
    with scrapli(fleet) as found:
        shown = found.send_input(input_="show version")
        assert (shown.result.startswith(f"Hostname: {LEAF}"), shown.failed) == (True, False)
        found.enter_mode(requested_mode="configuration")
        lines = ["set system domain-name d", "commit check", "commit"]
        said = found.send_inputs(inputs=lines, requested_mode="configuration")
        assert "commit complete" in said.result
        found.enter_mode(requested_mode="exec")
        assert found.send_input(input_="show configuration system domain-name").result == "domain-name d;"
        found.enter_mode(requested_mode="configuration_private")
        assert len(fleet.devices[LEAF].database.editors()) == 1
        found.enter_mode(requested_mode="exec")
        found.enter_mode(requested_mode="configuration_exclusive")
        assert fleet.devices[LEAF].database.holder is not None
        found.enter_mode(requested_mode="exec")
        assert fleet.devices[LEAF].database.holder is None
        found.enter_mode(requested_mode="shell")
        assert found.send_input(input_="whoami", requested_mode="shell").result == USER
        found.enter_mode(requested_mode="exec")
        assert found.send_input(input_="show nonsense").failed


def test_scrapli_netconf(fleet: Fleet) -> None:
    with Netconf(
        fleet.address,
        port=fleet.port(LEAF),
        auth_options=AuthOptions(username=USER, password=PASSWORD),
        transport_options=TransportSsh2Options(),
    ) as found:
        assert f"<host-name>{LEAF}</host-name>" in found.get_config().result
        config = "<configuration><system><domain-name>d</domain-name></system></configuration>"
        assert "<ok/>" in found.lock(target=DatastoreType.CANDIDATE).result
        assert "<ok/>" in found.edit_config(config=config, target=DatastoreType.CANDIDATE).result
        assert "<ok/>" in found.validate(source=DatastoreType.CANDIDATE).result
        assert "<ok/>" in found.commit().result
        assert "<ok/>" in found.unlock(target=DatastoreType.CANDIDATE).result
        wanted = "<configuration><system><domain-name/></system></configuration>"
        assert "<domain-name>d</domain-name>" in found.get(filter_=wanted).result


def test_start_shell(fleet: Fleet) -> None:
    with (
        Pyez(
            fleet.address, port=fleet.port(LEAF), user=USER, password=PASSWORD, gather_facts=False, allow_agent=False
        ).open(auto_probe=0) as device,
        StartShell(device) as shell,
    ):
        done, said = shell.run("cli -c 'show version | match Junos'")
        assert (done, "Junos: 25.4R1.12-EVO" in said, "Hostname" in said) == (True, True, False)
        assert shell.run("echo one two")[1].endswith("one two\r\n% ")
        assert shell.run("rm -rf /")[0] is False
        assert shell.run("cli -c 'show nonsense'")[0] is False


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("show version | match junos", "Junos: 25.4R1.12-EVO\n"),
        ("show version | except junos | except Model", f"Hostname: {LEAF}\n"),
        ("show version | find model | count", "Count: 2 lines\n"),
        ("show version | last 1 | no-more", "Junos: 25.4R1.12-EVO\n"),
        ("show version | trim 7 | last 1", "25.4R1.12-EVO\n"),
        ('show version | match "Hostname: |nothing"', f"Hostname: {LEAF}\n"),
        ("sh ver | m junos", "Junos: 25.4R1.12-EVO\n"),
        ("show version | match nothing | count", "Count: 0 lines\n"),
        (
            "show configuration system services | display set",
            "set system services netconf ssh\nset system services ssh\n",
        ),
        ("show configuration system services | display set relative | match netconf", "set netconf ssh\n"),
        ("show configuration system host-name | count", "Count: 1 lines\n"),
        ("show configuration nothing", ""),
        ("show cli | match width", "CLI screen width set to 80\n"),
        ("show version | match host; show system alarms", f"Hostname: {LEAF}\nNo alarms currently active\n"),
    ],
)
def test_pipes_over_ssh(fleet: Fleet, command: str, said: str) -> None:
    assert ssh(fleet, command) == (said, "", 0)


def test_forms_over_ssh(fleet: Fleet) -> None:
    bring_up(fleet)
    found = etree.XML(ssh(fleet, "show bgp summary | display xml")[0])
    assert found.findtext("{*}bgp-information/{*}peer-count") == "1"
    assert found.find("cli/banner") is not None
    made = json.loads(ssh(fleet, "show bgp summary | display json")[0])
    assert made["bgp-information"][0]["peer-count"] == [{"data": "1"}]
    space = "http://xml.juniper.net/junos/25.4R0/junos-routing"
    assert made["bgp-information"][0]["attributes"] == {"xmlns": space}
    assert made["bgp-information"][0]["bgp-peer"][0]["attributes"]["junos:style"] == "terse"
    config = etree.XML(ssh(fleet, "show configuration system | display xml")[0])
    assert [child.tag for child in config.findall("configuration/*")] == ["system"]
    assert (
        json.loads(ssh(fleet, "show configuration | display json")[0])["configuration"]["system"]["host-name"] == LEAF
    )
    asked = etree.XML(ssh(fleet, "show bgp neighbor fe80::1 | display xml rpc")[0])
    assert asked.findtext("rpc/get-bgp-neighbor-information/neighbor-address") == "fe80::1"


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("frobnicate", "error: unknown command: frobnicate\n"),
        ("show nonsense", "error: syntax error: nonsense\n"),
        ("show version | frobnicate", "error: syntax error, expecting one of append, compare, count,"),
        ("show version | match", "error: syntax error, match takes a pattern"),
        ("show version | match (", "error: invalid regular expression"),
        ("show version | last x", "error: invalid numeric value: 'x'"),
        ("show version | display set", "error: syntax error, only a configuration"),
        ("show version |", "error: syntax error, nothing after '|'"),
        ("show cli | display xml", "error: this output is not available as 'xml'"),
        ("set cli timestamp", "error: this emulator has no 'set cli timestamp'"),
        ("show c", "error: 'c' is ambiguous: chassis, class-of-service, cli, configuration"),
    ],
)
def test_what_is_refused_over_ssh(fleet: Fleet, command: str, reason: str) -> None:
    said, errors, code = ssh(fleet, command)
    assert (said, code) == ("", 1)
    assert errors.startswith(reason)


def test_a_terminal_for_one_command(fleet: Fleet) -> None:
    """As `ssh -t` asks for it: lines end as a terminal needs it, and there is one stream."""
    assert ssh(fleet, "show version | match host", pty=True) == (f"Hostname: {LEAF}\r\n", "", 0)
    assert ssh(fleet, "show nonsense", pty=True) == ("error: syntax error: nonsense\r\n", "", 1)


def test_commands_in_a_row(fleet: Fleet) -> None:
    said, errors, code = ssh(
        fleet, "configure; set system domain-name d; commit and-quit; show configuration system domain-name"
    )
    assert (errors, code) == ("", 0)
    assert said == "Entering configuration mode\ncommit complete\nExiting configuration mode\ndomain-name d;\n"


def test_commands_from_a_file(fleet: Fleet) -> None:
    said, _, code = ssh(fleet, typed="configure private\nset system domain-name d\nshow | compare\ncommit\nexit\n")
    assert "+   domain-name d;" in said
    assert (code, "domain-name d;" in active_text(fleet.devices[LEAF])) == (0, True)


def test_a_session_by_hand(fleet: Fleet) -> None:
    """Levels, loading from the terminal, questions, and where a mistake is."""
    lines = [
        "configure\r",
        "edit system services\r",
        "delete netconf\r",
        "delete nothing\r",
        "up\r",
        "set domain-nme\x7f\x7fame d\r",
        "show | compare\r",
        "top set system time-zone UTC\r",
        "load merge terminal\r",
        "system { location { country-code CH; } }\r",
        "\x04",
        "load set terminal\r",
        "set system no-redirects\r\x04",
        "commit chekc\r",
        "exit\r",
        "exit\r",
        "no\r",
        "rollback 0\r",
        "exit\r",
        "show system ?\x15",
        "show system\x03",
        "exit\r",
    ]
    said, _, code = ssh(fleet, typed="".join(lines), pty=True)
    text = said.replace("\r\n", "\n")
    assert code == 0
    for part in (
        f"[edit system services]\n{USER}@{LEAF}# delete netconf\n",
        "warning: statement not found\n",
        "[edit system]\n+   domain-name d;\n[edit system services]\n-   netconf {\n-       ssh;\n-   }\n",
        "[Type ^D at a new line to end input]\nsystem { location",
        "load complete\n",
        f"# commit chekc\n{' ' * len(f'{USER}@{LEAF}# commit ')}^\nsyntax error, expecting one of and-quit",
        "Exit with uncommitted changes? [yes,no] (yes) no\n",
        "Exiting configuration mode\n",
        "Possible completions:\n",
        "show system^C\n",
    ):
        assert part in text
    assert not fleet.devices[LEAF].database.modified
    assert "time-zone" not in active_text(fleet.devices[LEAF])


def test_root_begins_in_a_shell() -> None:
    with fleet_of(LEAF, user="root") as fleet, netmiko(fleet, user="root") as found:
        assert found.find_prompt() == f"root@{LEAF}>"
        assert found.send_command("show version").startswith(f"Hostname: {LEAF}\n")


@pytest.mark.usefixtures("quick_reboots")
def test_a_reboot_by_rpc(fleet: Fleet) -> None:
    started = fleet.devices[LEAF].started
    with netconf(fleet) as session:
        for words in ("<at>23:00</at>", "<in>5</in>"):
            with pytest.raises(RPCError, match="reboots only at once"):
                session.dispatch(etree.XML(f"<request-reboot>{words}</request-reboot>"))
        assert session.reboot().xpath("//request-reboot-results/request-reboot-status/@reboot-time")
    until(lambda: fleet.devices[LEAF].started > started)


def test_rescue_by_hand(fleet: Fleet) -> None:
    said, errors, _ = ssh(fleet, "show system configuration rescue")
    assert errors == "error: No rescue configuration is set\n"
    change = "configure; set system host-name other; commit; rollback rescue; show | compare; commit and-quit"
    said, errors, code = ssh(fleet, f"request system configuration rescue save; {change}")
    assert (errors, code) == ("", 0)
    assert ssh(fleet, "show system configuration rescue | display set | last 1")[0].startswith("set ")
    assert f"-  host-name other;\n+  host-name {LEAF};" in said
    assert f"host-name {LEAF};" in active_text(fleet.devices[LEAF])
    assert ssh(fleet, "request system configuration rescue delete")[2] == 0
    assert ssh(fleet, "configure; rollback rescue")[2] == 1


def test_two_rollbacks_are_compared(fleet: Fleet) -> None:
    """By hand and over NETCONF; the first number is what the second is compared with."""
    assert ssh(fleet, "configure; set system domain-name d; commit")[2] == 0
    said, errors, code = ssh(fleet, "show system rollback compare 1 0")
    assert (said, errors, code) == ("[edit system]\n+   domain-name d;\n", "", 0)
    assert ssh(fleet, "show system rollback compare 0 1 | match domain")[0] == "-   domain-name d;\n"
    assert "set system domain-name d" in ssh(fleet, "show system rollback 0 | display set")[0]
    assert ssh(fleet, "configure; commit | display xml")[1] == "error: this output is not available as 'xml'\n"
    for words in ("compare 1", "compare 1 0 2", "compare 1 x", "1 0", "50", "x"):
        assert ssh(fleet, f"show system rollback {words}")[2] == 1
    with netconf(fleet) as session:
        reply = session.command("show system rollback compare 1 0", format="text")
        assert reply.xpath("//configuration-output")[0].text == f"\n{said}"
        whole = session.command("show system rollback 1", format="xml")
        assert whole.xpath("//rollback-information//host-name")[0].text == LEAF
        for text in ("show system rollback 1 | display set", "show system rollback compare 1 0 | display xml"):
            with pytest.raises(RPCError, match=r"has no .(set|xml). of this command over NETCONF"):
                session.command(text, format="text")
        asked = "<get-rollback-information><rollback>0</rollback><more/></get-rollback-information>"
        with pytest.raises(RPCError, match="syntax error"):
            session.dispatch(etree.XML(asked))


def test_filters_over_netconf_are_named(fleet: Fleet) -> None:
    """As on Junos they change nothing, which NAPALM relies on; the reply names them."""
    with netconf(fleet) as session:
        reply = str(session.command("show configuration system services | display set | count", format="text"))
        assert "set system services netconf ssh\nset system services ssh\n" in reply
        assert "<!-- ignored over NETCONF, as on Junos: count -->" in reply
        reply = str(session.command("show version | match Junos | last 1", format="text"))
        assert f"Hostname: {LEAF}\n" in reply
        assert "as on Junos: match, last -->" in reply
        assert "<!--" not in str(session.command("show version | no-more", format="text"))
        for text in (
            "show version | display set",
            "show version | compare",
            "show arp | display inheritance",
        ):
            with pytest.raises(RPCError, match="only a configuration has"):
                session.command(text, format="text")


def test_words_that_a_command_does_not_take(fleet: Fleet) -> None:
    for text, word in (
        ("show cli history", "history"),
        ("set cli screen-length 0 now", "now"),
        ("set cli sign 1", "sign"),
        ("start shell user nobody", "nobody"),
        ("configure; status now", "now"),
        ("exit now", "now"),
        ("request system reboot at 23:00", "at"),
        ("show system configuration rescue all", "all"),
        ("request system configuration rescue save again", "again"),
    ):
        assert ssh(fleet, text)[1] == f"error: syntax error: {word}\n"


def test_help(fleet: Fleet) -> None:
    assert ssh(fleet, "help apropos rollback")[0] == "show system rollback\n"
    assert ssh(fleet, "help topic bgp")[1].startswith("error: this emulator has no help pages")


def test_the_lock_counts_on_the_command_line(fleet: Fleet) -> None:
    with netconf(fleet) as session:
        session.lock()
        for command in ("configure exclusive", "configure private", "configure; set system domain-name d"):
            assert "database locked by" in ssh(fleet, command)[1]
        assert f"  {USER} terminal (pid " in ssh(fleet, "configure; status")[0]
        said, errors, code = ssh(fleet, f"request system logout pid {session.session_id}")
        assert (said, errors, code) == ("", "", 0)
    assert fleet.devices[LEAF].database.holder is None


def test_faults_count_on_the_command_line(fleet: Fleet) -> None:
    fleet.add_faults(LEAF, Fault("error", "commit"))
    assert "an injected fault" in ssh(fleet, "configure; set system domain-name d; commit")[1]
    fleet.add_faults(LEAF, Fault("drop-after", "commit"))
    with pytest.raises((asyncssh.Error, AssertionError)):
        ssh(fleet, "configure; set system domain-name d; commit")
    assert "domain-name d;" in active_text(fleet.devices[LEAF])
    whole = ssh(fleet, "show configuration")
    fleet.add_faults(LEAF, Fault("stall", "running", seconds=0.5))
    begun = time.monotonic()
    assert ssh(fleet, "show configuration") == whole
    assert time.monotonic() >= begun + 0.5


@pytest.mark.usefixtures("quick_reboots")
def test_users_and_a_reboot(fleet: Fleet) -> None:
    with netconf(fleet):
        said = ssh(fleet, "show system users")[0]
        assert [line.split()[-1] for line in said.splitlines()[2:]] == ["netconf", "-cli"]
    started = fleet.devices[LEAF].started
    # The session may end before it has told its exit code.
    with suppress(asyncssh.Error, AssertionError):
        ssh(fleet, typed="request system reboot\nyes\nshow version\n")
    until(lambda: fleet.devices[LEAF].started > started)
    assert fleet.devices[SPINE].started <= fleet.devices[LEAF].started
