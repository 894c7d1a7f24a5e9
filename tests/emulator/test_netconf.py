"""NETCONF as ncclient and a bare SSH client see it, over real SSH on loopback."""

import asyncio
import re
from pathlib import Path

import asyncssh
import pytest
from lxml import etree
from ncclient import manager
from ncclient.operations.errors import TimeoutExpiredError
from ncclient.operations.rpc import RPCError
from ncclient.transport.errors import AuthenticationError, SSHError, SSHUnknownHostError, TransportError

from ailb_gen.emulator.faults import Fault
from ailb_gen.emulator.fleet import Fleet
from ailb_gen.emulator.host import FleetLogin
from ailb_gen.errors import UsageError
from tests.emulator.fleets import (
    LEAF,
    PASSWORD,
    SPINE,
    USER,
    active_text,
    bring_up,
    fleet_of,
    netconf,
    two_devices,
    until,
)

# ncclient leaves the socket of a refused connection open.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


def talk(fleet: Fleet, *sent: str, command: str = "", chunked: bool = False) -> str:
    """Send requests over a bare SSH channel and return all that comes back until the device closes."""

    async def work() -> str:
        async with asyncssh.connect(
            fleet.address, fleet.port(LEAF), username=USER, password=PASSWORD, known_hosts=None, config=None
        ) as connection:
            how = {"command": command} if command else {"subsystem": "netconf"}
            async with connection.create_process(**how, encoding="utf-8") as process:
                version = "1.1" if chunked else "1.0"
                capability = f"<capability>urn:ietf:params:netconf:base:{version}</capability>"
                if sent:
                    process.stdin.write(f"<hello><capabilities>{capability}</capabilities></hello>]]>]]>")
                for message in sent:
                    process.stdin.write(f"\n#{len(message)}\n{message}\n##\n" if chunked else f"{message}]]>]]>")
                return str(await process.stdout.read())

    return asyncio.run(work())


CLOSE = '<rpc message-id="9"><close-session/></rpc>'


@pytest.mark.parametrize("command", ["", "netconf", "xml-mode netconf need-trailer"])
def test_end_of_message_framing(fleet: Fleet, command: str) -> None:
    said = talk(fleet, '<rpc message-id="1"><get-configuration format="set"/></rpc>', CLOSE, command=command)
    hello, answer, closed, rest = said.split("]]>]]>")
    assert "<session-id>20000</session-id>" in hello
    assert 'message-id="1"' in answer
    assert f"set system host-name {LEAF}" in answer
    assert "<ok/>" in closed
    assert rest == ""


def test_chunked_framing(fleet: Fleet) -> None:
    said = talk(fleet, '<rpc message-id="1"><lock-configuration/></rpc>', CLOSE, chunked=True)
    _, _, behind = said.partition("]]>]]>")
    found = re.findall(r"\n#(\d+)\n(.*?)\n##\n", behind, re.DOTALL)
    assert [int(size) for size, _ in found] == [len(body) for _, body in found]
    assert ["message-id" in body for _, body in found] == [True, True]


@pytest.mark.parametrize(
    "bad", ["<rpc", '<!DOCTYPE x [<!ENTITY a "b">]><rpc><get-config/></rpc>', "<rpc><a/><b/></rpc>"]
)
def test_what_cannot_be_understood_ends_the_session(fleet: Fleet, bad: str) -> None:
    assert "<error-tag>malformed-message</error-tag>" in talk(fleet, bad)


def test_reading_the_configuration(fleet: Fleet) -> None:
    with netconf(fleet) as session:
        text = session.get_configuration(format="text").xpath("//configuration-text")[0].text
        assert text.startswith("\n## Last commit: ")
        assert "\nversion 25.4R1.12-EVO;\nsystem {\n" in text
        assert re.search(r'encrypted-password "\$6\$\S+"; ## SECRET-DATA\n', text)
        config = session.get_configuration(format="xml").xpath("//configuration")[0]
        assert config.get("commit-user") == "root"
        assert config.findtext("system/host-name") == LEAF
        running = session.get_config(source="running").xpath("//data/configuration")[0]
        assert running.findtext("version") == "25.4R1.12-EVO"
        some = session.get_configuration(
            filter=etree.fromstring("<configuration><system><services/></system></configuration>")
        )
        assert [child.tag for child in some.xpath("//configuration/system")[0]] == ["services"]


def test_ways_to_change_it(fleet: Fleet) -> None:
    with netconf(fleet) as session:
        with session.locked("candidate"):
            session.edit_config(
                config="<config><configuration><system><domain-name>d</domain-name></system></configuration></config>"
            )
            session.load_configuration(action="set", config=["set system time-zone UTC"])
            session.validate()
            patch = session.compare_configuration().xpath("//configuration-output")[0].text
            assert patch == "\n[edit system]\n+   domain-name d;\n+   time-zone UTC;\n"
            session.discard_changes()
            assert session.compare_configuration().xpath("//configuration-output")[0].text == "\n"
            session.load_configuration(action="merge", format="text", config="system { domain-name e; }")
            session.commit(comment="why")
        assert "domain-name e;" in active_text(fleet.devices[LEAF])
        assert fleet.devices[LEAF].commits()[0].log == "why"
        session.rollback(rollback=1)
        session.commit()
        assert "domain-name" not in active_text(fleet.devices[LEAF])
        again = session.rpc(
            "<get-rollback-information><rollback>1</rollback><compare>0</compare></get-rollback-information>"
        )
        assert again.xpath("//configuration-output")[0].text.strip() == "[edit system]\n+   domain-name e;"


def test_both_clocks_of_confirmed_commits(fleet: Fleet) -> None:
    """RFC 6241 counts seconds, Juniper minutes."""
    database = fleet.devices[LEAF].database
    with netconf(fleet) as session:
        for request, seconds, comment in (
            ("<commit><confirmed/><confirm-timeout>120</confirm-timeout></commit>", 120, "2mins"),
            ("<commit><confirmed/></commit>", 600, "10mins"),
            (
                "<commit-configuration><confirmed/><confirm-timeout>3</confirm-timeout></commit-configuration>",
                180,
                "3mins",
            ),
            ("<commit-configuration><confirmed/></commit-configuration>", 600, "10mins"),
        ):
            session.rpc(request)
            assert database.pending is not None
            newest = database.commits()[0]
            assert database.pending.deadline - newest.when == pytest.approx(seconds, abs=5)
            assert newest.comment == f"commit confirmed, rollback in {comment}"
        session.rpc("<commit-configuration><check/></commit-configuration>")
        assert database.pending is None


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        ("<frobnicate/>", "syntax error"),
        ("<lock><target><running/></target></lock>", "target running is not supported"),
        ("<get-configuration format='yaml'/>", "no format yaml"),
        ("<get-configuration database='ephemeral'/>", "no ephemeral database"),
        ("<get-configuration compare='rollback' rollback='7'/>", "rollback 7 does not exist"),
        ("<get-configuration compare='rollback' rollback='x'/>", "invalid rollback value"),
        ("<get-config><source><startup/></source></get-config>", "neither candidate nor running"),
        ("<load-configuration/>", "nothing to load"),
        ("<load-configuration url='/tmp/x'/>", "no files"),
        ("<load-configuration rescue='rescue'/>", "No rescue configuration"),
        ("<load-configuration action='patch'><configuration-text/></load-configuration>", "no action patch"),
        (
            "<load-configuration format='json'><configuration-json>{}</configuration-json></load-configuration>",
            "the JSON is not",
        ),
        ("<load-configuration><configuration-text>a {</configuration-text></load-configuration>", "never closed"),
        ("<load-configuration><configuration><foo/></configuration></load-configuration>", "syntax error"),
        ("<edit-config><target><running/></target><config/></edit-config>", "only the candidate"),
        ("<edit-config><target><candidate/></target></edit-config>", "only a <config>"),
        ("<commit-configuration><at-time>23:00</at-time></commit-configuration>", "only at once"),
        ("<commit><confirmed/><confirm-timeout>x</confirm-timeout></commit>", "Invalid numeric value: 'x'"),
        ("<commit><confirmed/><confirm-timeout>0</confirm-timeout></commit>", "Invalid numeric value: '0'"),
        ("<validate><source><running/></source></validate>", "only the candidate"),
        ("<open-configuration><ephemeral/></open-configuration>", "no ephemeral copy"),
        ("<unlock-configuration/>", "not open"),
        ("<kill-session><session-id>1</session-id></kill-session>", "does not exist"),
        (f"<kill-session><session-id>{'9' * 5000}</session-id></kill-session>", "a number of more than 1,000 digits"),
        (f"<get-rollback-information><rollback>{'9' * 5000}</rollback></get-rollback-information>", "1,000 digits"),
        (f'<get-configuration compare="rollback" rollback="{"9" * 5000}"/>', "1,000 digits"),
    ],
)
def test_what_is_refused(fleet: Fleet, request_: str, reason: str) -> None:
    before = active_text(fleet.devices[LEAF])
    with netconf(fleet) as session, pytest.raises(RPCError, match=reason):
        session.rpc(request_)
    assert (active_text(fleet.devices[LEAF]), fleet.devices[LEAF].database.modified) == (before, False)


def test_nobody_confirms(tmp_path: Path) -> None:
    with two_devices(minute_s=0.05) as fleet, netconf(fleet) as session:
        session.load_configuration(action="set", config=["set system domain-name d"])
        session.commit(confirmed=True, timeout=60)
        until(lambda: fleet.devices[LEAF].database.pending is None)
        assert "domain-name" not in active_text(fleet.devices[LEAF])
        assert fleet.devices[LEAF].commits()[0].user == "root"


def test_keys_survive_and_the_world_is_told(tmp_path: Path) -> None:
    with two_devices(tmp_path) as fleet:
        known = [line.split()[1:] for line in fleet.known_hosts().splitlines()]
        with netconf(fleet) as session:
            session.load_configuration(action="set", config=["set system domain-name d"])
            session.commit(confirmed=True, timeout=600)
            assert fleet.devices[LEAF].database.pending is not None
    with two_devices(tmp_path) as fleet:
        assert [line.split()[1:] for line in fleet.known_hosts().splitlines()] == known
        assert "domain-name" not in active_text(fleet.devices[LEAF])
        assert fleet.devices[LEAF].commits()[0].client == "other"


def established(fleet: Fleet) -> list[bool]:
    return [peering.established for peering in fleet.devices[LEAF].fabric.sessions(LEAF)]


def test_session_down(fleet: Fleet) -> None:
    bring_up(fleet)
    assert established(fleet) == [True]
    fleet.add_faults(LEAF, Fault("session-down", "commit"))
    with netconf(fleet) as session:
        session.load_configuration(action="set", config=["set system domain-name d"])
        session.commit(confirmed=True, timeout=600)
        assert established(fleet) == [False]
        session.commit()
        assert established(fleet) == [False]
        session.rollback(rollback=2)
        session.commit()
    assert established(fleet) == [True]
    fleet.add_faults(LEAF, Fault("session-down", "commit"))
    with netconf(fleet) as session:
        session.commit()
    assert established(fleet) == [False]
    fleet.clear_faults(LEAF)
    assert established(fleet) == [True]


def change(fleet: Fleet, confirmed: bool = False) -> None:
    """Lock, load and commit."""
    with netconf(fleet, timeout=30) as session:
        session.lock()
        session.load_configuration(action="set", config=["set system domain-name d"])
        session.compare_configuration()
        session.commit(check=True)
        session.commit(confirmed=confirmed, timeout=600 if confirmed else None)
        session.rpc("<get-bgp-summary-information/>")
        if confirmed:
            session.commit()
        session.unlock()


def named(fleet: Fleet) -> bool:
    return "domain-name d;" in active_text(fleet.devices[LEAF])


@pytest.mark.parametrize("phase", ["lock", "load", "compare", "check", "commit", "verify", "confirm", "unlock"])
@pytest.mark.parametrize("kind", ["drop-before", "drop-after"])
def test_drops(fleet: Fleet, phase: str, kind: str) -> None:
    fleet.add_faults(LEAF, Fault(kind, phase))
    with pytest.raises(TransportError):
        change(fleet, confirmed=True)
    order = ["lock", "load", "compare", "check", "commit"]
    committed = phase not in order or (phase, kind) == ("commit", "drop-after")
    assert named(fleet) == committed
    until(lambda: fleet.devices[LEAF].database.holder is None)
    database = fleet.devices[LEAF].database
    confirmed = phase == "unlock" or (phase, kind) == ("confirm", "drop-after") or not committed
    assert (database.pending is None) == confirmed
    assert not database.modified
    change(fleet)
    assert named(fleet)


@pytest.mark.parametrize("phase", ["lock", "load", "check", "commit", "confirm", "unlock"])
@pytest.mark.parametrize(("kind", "message"), [("error", "an injected fault"), ("locked", "database locked by")])
def test_refusals(fleet: Fleet, phase: str, kind: str, message: str) -> None:
    fleet.add_faults(LEAF, Fault(kind, phase))
    with pytest.raises(RPCError, match=message):
        change(fleet, confirmed=True)
    assert named(fleet) == (phase in ("confirm", "unlock"))
    until(lambda: fleet.devices[LEAF].database.holder is None)
    change(fleet)


@pytest.mark.parametrize("phase", ["check", "commit", "confirm"])
def test_a_full_disk(fleet: Fleet, phase: str) -> None:
    fleet.add_faults(LEAF, Fault("disk-full", phase))
    with pytest.raises(RPCError, match="No space left on device"):
        change(fleet, confirmed=True)
    assert (fleet.devices[LEAF].database.pending is not None) == (phase == "confirm")


@pytest.mark.parametrize("kind", ["slow", "stall"])
def test_slowness(fleet: Fleet, kind: str) -> None:
    fleet.add_faults(LEAF, Fault(kind, "commit", seconds=2))
    with netconf(fleet, timeout=0.5) as session:
        session.load_configuration(action="set", config=["set system domain-name d"])
        with pytest.raises(TimeoutExpiredError):
            session.commit()
        # It takes effect all the same.
        until(lambda: named(fleet))


@pytest.mark.parametrize("confirmed", [True, False])
def test_a_reboot(fleet: Fleet, confirmed: bool) -> None:
    device = fleet.devices[LEAF]
    started = device.started
    fleet.add_faults(LEAF, Fault("reboot", "commit", seconds=0.5))
    with pytest.raises(TransportError):
        change(fleet, confirmed)
    with pytest.raises((SSHError, OSError)), netconf(fleet):
        pass
    until(lambda: device.started > started)
    until(lambda: reachable(fleet))
    # A commit that nobody confirmed does not outlive a reboot.
    assert named(fleet) == (not confirmed)
    assert (device.database.pending, device.database.holder, device.database.modified) == (None, None, False)
    change(fleet)


def reachable(fleet: Fleet) -> bool:
    try:
        with netconf(fleet):
            return True
    except (SSHError, OSError):
        return False


def test_a_reboot_takes_the_device_out_of_the_fabric(fleet: Fleet) -> None:
    bring_up(fleet)
    started = fleet.devices[SPINE].started
    fleet.reboot(SPINE, 0.5)
    assert established(fleet) in ([], [False])
    until(lambda: fleet.devices[SPINE].started > started)
    until(lambda: established(fleet) == [True])


def test_refused_logins(fleet: Fleet) -> None:
    with pytest.raises(AuthenticationError), netconf(fleet, password="wrong"):
        pass
    fleet.add_faults(LEAF, Fault("refuse-auth", "connect"))
    with pytest.raises(AuthenticationError), netconf(fleet):
        pass
    with netconf(fleet):
        pass


@pytest.mark.parametrize("kind", ["drop-before", "drop-after"])
def test_dropped_connections(fleet: Fleet, kind: str) -> None:
    fleet.add_faults(LEAF, Fault(kind, "connect"))
    with pytest.raises((SSHError, TransportError, EOFError, OSError)), netconf(fleet):
        pass
    with netconf(fleet):
        pass


def test_another_host_key(fleet: Fleet, tmp_path: Path) -> None:
    known = tmp_path / "config"
    (tmp_path / "known_hosts").write_text(fleet.known_hosts())
    known.write_text(f"Host *\n    UserKnownHostsFile {tmp_path / 'known_hosts'}\n")

    def connect() -> None:
        with manager.connect(
            host=fleet.address,
            port=fleet.port(LEAF),
            username=USER,
            password=PASSWORD,
            allow_agent=False,
            look_for_keys=False,
            ssh_config=str(known),
            device_params={"name": "junos"},
        ):
            pass

    connect()
    fleet.add_faults(LEAF, Fault("wrong-host-key", "connect"))
    with pytest.raises(SSHUnknownHostError):
        connect()
    connect()


def test_keys_let_in() -> None:
    key = asyncssh.generate_private_key("ssh-ed25519")

    async def who(port: int, username: str, keys: list[asyncssh.SSHKey]) -> str:
        async with asyncssh.connect(
            "127.0.0.1", port, username=username, client_keys=keys, known_hosts=None, agent_path=None, config=None
        ) as connection:
            return str((await connection.run("show configuration system host-name")).stdout)

    with fleet_of(LEAF, login=FleetLogin(USER, "", (key,))) as fleet:
        assert asyncio.run(who(fleet.port(LEAF), USER, [key])) == f"host-name {LEAF};\n"
        for user, other in ((USER, asyncssh.generate_private_key("ssh-ed25519")), ("root", key)):
            with pytest.raises(asyncssh.PermissionDenied):
                asyncio.run(who(fleet.port(LEAF), user, [other]))


def test_a_port_in_use(fleet: Fleet) -> None:
    second = fleet_of(LEAF, base_port=fleet.port(LEAF))
    with pytest.raises(UsageError, match=r"leaf1: cannot listen on 127.0.0.1 port \d+: Address already in use"):
        second.start()
    with pytest.raises(UsageError, match="do not fit above port 65535"):
        fleet_of(LEAF, SPINE, base_port=65535)
