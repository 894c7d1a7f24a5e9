"""An endpoint that never answers, never stops, or answers nonsense costs its own time and no more."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import paramiko
import pytest

from ailb_gen.deploy.credentials import Credentials, Secret
from ailb_gen.deploy.drivers import DRIVERS
from ailb_gen.deploy.host_keys import HostKey, HostKeyError, Known, SshEndpoint, presented
from ailb_gen.deploy.login import SshReach, SshRoute
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.switch_driver import DeviceError, Phase, RequestRefusedError, SwitchDriver, UnknownOutcomeError
from tests.deploy.hostile import HOST_KEY, Behave, closing, dripping, endless, netconf, serving, silent, ssh

NAME = "leaf1"
LOGIN = Credentials("admin", Secret("secret"), None, None, None, agent=False)
SHORT_S, LONG_S = 1.0, 30.0
BANNER = b"SSH-2.0-OpenSSH_9.6\r\n"
CONFIG = b'<rpc-reply message-id="%ID%"><configuration-text>system {}\n</configuration-text></rpc-reply>]]>]]>'


@pytest.fixture(autouse=True)
def nothing_is_left(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """No thread of a connection outlives the test that made it."""
    caplog.set_level(logging.CRITICAL, "paramiko")
    yield
    for thread in threading.enumerate():
        if isinstance(thread, paramiko.Transport):
            thread.join(30)
            assert not thread.is_alive()


def reach(port: int, seconds: float, kind: str = "switch") -> SshReach:
    known = paramiko.HostKeys()
    known.add(f"[127.0.0.1]:{port}", HOST_KEY.get_name(), HOST_KEY)
    return SshReach(
        NAME, "127.0.0.1", port, LOGIN, known, seconds, kind="server" if kind == "server" else "switch"
    )  # fmt: skip


def switch(port: int, seconds: float = LONG_S, timeout_s: int = 30, driver: str = "napalm") -> SwitchDriver:
    return DRIVERS[driver](replace(reach(port, seconds), timeout_s=timeout_s))


def server(port: int, seconds: float = LONG_S) -> ServerConnection:
    return ServerConnection(reach(port, seconds, "server"))


def failing(act: Callable[[], object]) -> DeviceError:
    """Return the error, which comes by itself: what hangs must not hang the tests."""
    found: list[DeviceError] = []

    def run() -> None:
        with pytest.raises(DeviceError) as error:
            act()
        found.append(error.value)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive(), "it hangs"
    assert found[0].device == NAME
    assert str(found[0]).isprintable()
    return found[0]


BEFORE_LOGIN: dict[str, tuple[Behave, float, str]] = {
    "endless bytes": (endless(b"A" * 4096), LONG_S, "it sends too much before the login is over"),
    "endless lines": (endless(b"hello\r\n" * 500), LONG_S, "it sends too much|no connection"),
    "endless bytes after the banner": (endless(b"\0" * 4096, BANNER), LONG_S, "it sends too much|no connection"),
    "a large packet": (silent(BANNER + b"\x7f\xff\xff\xff" + bytes(100)), SHORT_S, "no answer in time|no connection"),
    "a byte now and then": (dripping(b"A"), SHORT_S, "no answer in time: it hangs before the login"),
    "a line now and then": (dripping(b"x\n"), SHORT_S, "no answer in time: it hangs before the login"),
    "a banner in drops": (dripping(b"SSH-2.0-" + b"x" * 9000), SHORT_S, "no answer in time: it hangs before the login"),
    "silence": (silent(), SHORT_S, "no answer in time: it hangs before the login"),
    "silence after the banner": (silent(BANNER), SHORT_S, "no answer in time: it hangs before the login"),
    "hanging up": (closing(), LONG_S, "no NETCONF session|the connection was closed before the login was over"),
    "another protocol": (closing(b"HTTP/1.0 400 Bad Request\r\n\r\n"), LONG_S, "no NETCONF session|closed before"),
    "a hang at the login": (ssh("auth"), SHORT_S, "no answer in time: it hangs during the login"),
}


@pytest.mark.parametrize("what", BEFORE_LOGIN)
@pytest.mark.parametrize("kind", ["switch", "server"])
def test_before_the_login_is_over(kind: str, what: str) -> None:
    behave, seconds, reason = BEFORE_LOGIN[what]
    with serving(behave) as port:
        one = switch(port, seconds) if kind == "switch" else server(port, seconds)
        error = failing(one.open)
    assert error.phase is Phase.CONNECT
    assert any(text in error.reason for text in reason.split("|")), str(error)
    assert "refused" not in error.reason


@pytest.mark.parametrize("what", [what for what in BEFORE_LOGIN if what != "a hang at the login"])
def test_fetching_a_host_key(what: str) -> None:
    behave, seconds, _ = BEFORE_LOGIN[what]
    with serving(behave) as port:
        known = Known("127.0.0.1", port, ("known_hosts",))
        endpoint = SshEndpoint(NAME, port, SshRoute("127.0.0.1"), known, (), seconds)
        with pytest.raises(HostKeyError, match="cannot be fetched"):
            presented(endpoint)


def test_the_host_key_of_one_that_hangs_later() -> None:
    with serving(ssh("auth")) as port:
        endpoint = SshEndpoint(NAME, port, SshRoute("127.0.0.1"), Known("127.0.0.1", port, ()), (), LONG_S)
        assert presented(endpoint) == HostKey(HOST_KEY.get_name(), HOST_KEY.get_base64())


@pytest.mark.parametrize("hang", ["channel", "request", "hello"])
def test_a_switch_that_hangs_after_the_login(hang: str) -> None:
    with serving(ssh(hang)) as port:
        error = failing(switch(port, SHORT_S).open)
    assert (error.phase, error.reason.partition(": ")[2]) == (
        Phase.CONNECT,
        "no answer in time: it hangs before its NETCONF hello",
    )


@pytest.mark.parametrize("hang", ["channel", "request", "nothing"])
def test_a_server_that_hangs_after_the_login(hang: str) -> None:
    with serving(ssh(hang)) as port:
        one = server(port, SHORT_S)
        one.open()
        error = failing(lambda: one.run("true\n", Phase.READ, 0.5))
        one.close()
    assert isinstance(error, UnknownOutcomeError)


def _scream(channel: paramiko.Channel, stop: threading.Event) -> None:
    while not stop.is_set():
        channel.sendall(b"x" * 65536)


def _scream_errors(channel: paramiko.Channel, stop: threading.Event) -> None:
    while not stop.is_set():
        channel.sendall_stderr(b"x" * 65536)


@pytest.mark.parametrize("talk", [_scream, _scream_errors])
def test_a_server_that_never_stops(talk: Callable[[paramiko.Channel, threading.Event], None]) -> None:
    with serving(ssh(talk=talk)) as port:
        one = server(port)
        one.open()
        error = failing(lambda: one.run("true\n", Phase.READ, 60))
        one.close()
    assert isinstance(error, RequestRefusedError)
    assert "its answer is longer than 64 KiB" in error.reason


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize(
    ("behave", "reason"),
    [
        (netconf(hello=b"<hello" * 9), "no answer in time: it hangs before its NETCONF hello"),
        (netconf(hello=b"<hello>]]>]]>"), "no NETCONF session: its hello cannot be read"),
        (netconf(hello=b"<hello>\xff\xfe]]>]]>"), "its hello cannot be read: it is not UTF-8 text"),
        (netconf(hello=b"<!DOCTYPE hello [<!ENTITY a 'b'>]><hello/>]]>]]>"), "its hello cannot be read: it has a DTD"),
        (netconf(hello=b"login: ]]>]]>"), "its hello cannot be read: it is not XML: Start tag"),
    ],
)  # fmt: skip
def test_a_hello_that_is_none(behave: Behave, reason: str, driver: str) -> None:
    with serving(behave) as port:
        error = failing(switch(port, SHORT_S, driver=driver).open)
    assert error.phase is Phase.CONNECT
    assert reason in error.reason


def test_an_endless_hello() -> None:
    def talk(channel: paramiko.Channel, stop: threading.Event) -> None:
        while not stop.is_set():
            channel.sendall(b"<hello>" * 1000)

    with serving(ssh(talk=talk)) as port:
        error = failing(switch(port).open)
    assert "no NETCONF session: its hello cannot be read: it is longer than 2 MiB" in error.reason


BOMB = (
    b'<!DOCTYPE r [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>'
    b'<rpc-reply message-id="%ID%"><configuration-text>&c;</configuration-text></rpc-reply>]]>]]>'
)
ANSWERS: dict[str, tuple[bytes, str]] = {
    "a DTD": (BOMB, "a DTD"),
    "a DTD behind a comment": (b"<?xml version='1.0'?><!-- <a> - >--><?p?>\n" + BOMB, "a DTD"),
    "another message-id": (CONFIG.replace(b"%ID%", b"mine"), "Unknown 'message-id'"),
    "no message-id": (CONFIG.replace(b' message-id="%ID%"', b""), "message-id"),
    "no XML": (b"error: unknown command\n]]>]]>", "it is not XML: Start tag expected"),
    "cut XML": (CONFIG.replace(b"</configuration-text>", b""), "mismatch"),
    "no UTF-8": (CONFIG.replace(b"system", b"\xff\xfe"), "not UTF-8"),
    "control characters": (CONFIG.replace(b"system", b"\x1b[2J"), "PCDATA"),
    "no configuration": (b'<rpc-reply message-id="%ID%"/>]]>]]>', "there is no configuration in it"),
    "a comment": (b'<rpc-reply message-id="%ID%">\n<!-- --> </rpc-reply>]]>]]>', "there is no configuration in it"),
    "success": (b'<rpc-reply message-id="%ID%"><ok/></rpc-reply>]]>]]>', "there is no configuration in it"),
    "an empty configuration": (CONFIG.replace(b"system {}\n", b""), "there is no configuration in it"),
    "another element": (b'<rpc-reply message-id="%ID%"><x/></rpc-reply>]]>]]>', "there is no configuration in it"),
    "nothing": (b"]]>]]>", "it is empty"),
}  # fmt: skip


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("what", ANSWERS)
def test_an_answer_that_is_none(what: str, driver: str) -> None:
    answer, reason = ANSWERS[what]
    with serving(netconf(answer)) as port:
        one = switch(port, driver=driver)
        one.open()
        error = failing(one.running)
        one.close()
    assert error.phase is Phase.READ
    assert "its answer to get-configuration cannot be read: " in error.reason
    assert any(text in error.reason for text in reason.split("|")), str(error)


@pytest.mark.parametrize("forever", [b"x" * 65536, b"<a/>]]>]]>" * 1000, b"<notification/>]]>]]>" * 1000])
def test_an_endless_answer(forever: bytes) -> None:
    with serving(netconf(forever=forever)) as port:
        one = switch(port)
        one.open()
        error = failing(one.running)
        one.close()
    assert "its answer to get-configuration cannot be read: " in error.reason


@pytest.mark.parametrize("driver", DRIVERS)
def test_silence_at_the_lock_is_nobodys_lock(driver: str) -> None:
    with serving(netconf()) as port:
        one = switch(port, timeout_s=1, driver=driver)
        one.open()
        error = failing(one.lock)
        one.close()
    assert isinstance(error, UnknownOutcomeError)
    assert (error.phase, error.reason, error.hint) == (Phase.LOCK, "no answer in time", "")


def test_a_good_answer_in_odd_pieces() -> None:
    text = "description \u201egrün\u201c;" * 5000
    answer = CONFIG.replace(b"system {}", f"system {{ {text} }}".encode())
    with serving(netconf(answer, answer)) as port:
        one = switch(port)
        one.open()
        assert text in one.running()
        assert text in one.candidate()
        one.close()


def test_stopping_ends_what_hangs() -> None:
    """As Ctrl-C does: whoever waits is told at once, long before its time is over."""
    with serving(silent()) as port:
        way = reach(port, 3600)
        threading.Timer(0.2, way.stop.set).start()
        error = failing(ServerConnection(way).open)
    assert "stopped" in error.reason


@pytest.mark.parametrize(
    ("passphrase", "reason"),
    [
        (None, "needs a passphrase; give a passphrase in the inventory, or add the key to the SSH agent"),
        (Secret("wrong"), "cannot be opened with this passphrase"),
    ],
)
def test_an_encrypted_key_is_no_refused_login(tmp_path: Path, passphrase: Secret | None, reason: str) -> None:
    key = tmp_path / "key"
    paramiko.ECDSAKey.generate().write_private_key_file(str(key), password="right")
    login = Credentials("admin", None, passphrase, None, key, agent=False)
    way = SshReach(NAME, "127.0.0.1", 9, login, paramiko.HostKeys())
    for one in (ServerConnection(way), DRIVERS["napalm"](way), DRIVERS["pyez"](way)):
        error = failing(one.open)
        assert f"the key file {key} {reason}" in str(error)
    (tmp_path / "key").write_text("not a key")
    assert f"the key file {key} is not a private key; check key_file" in str(failing(ServerConnection(way).open))


def test_the_limit_is_that_of_the_request() -> None:
    with serving(
        netconf(CONFIG, b'<rpc-reply message-id="%ID%"><x>' + b"<y/>" * 2000 + b"</x></rpc-reply>]]>]]>")
    ) as port:
        one = switch(port)
        one.open()
        one.running()
        error = failing(one.running)
        one.close()
    assert "its answer to get-configuration cannot be read: it has more than 1000 elements" in error.reason


EMPTY = b'<rpc-reply message-id="%ID%"/>]]>]]>'


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (
            EMPTY.replace(b"/>", b"><ok/></rpc-reply>"),
            "its answer to get-configuration cannot be read: there is no conf",
        ),
        (EMPTY.replace(b"/>", b"><rpc-error/></rpc-reply>"), "an error without a message"),
    ],
)
def test_differences_that_are_none(answer: bytes, reason: str, driver: str) -> None:
    with serving(netconf(answer)) as port:
        one = switch(port, driver=driver)
        one.open()
        error = failing(one.compare)
        one.close()
    assert reason in error.reason


@pytest.mark.parametrize("driver", DRIVERS)
def test_no_differences(driver: str) -> None:
    """Some releases of Junos say nothing at all."""
    with serving(netconf(EMPTY)) as port:
        one = switch(port, driver=driver)
        one.open()
        assert one.compare() == ""
        one.close()


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_configuration_of_too_many_words(driver: str) -> None:
    text = b"a;\n" * 80_000
    with serving(netconf(CONFIG.replace(b"system {}", text))) as port:
        one = switch(port, driver=driver)
        one.open()
        error = failing(one.running)
        one.close()
    assert "its configuration has more than 150,000 words" in error.reason
