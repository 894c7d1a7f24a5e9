"""An endpoint that never answers, never stops, or answers nonsense costs its own time and no more."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import paramiko
import pytest

from ailb_gen.deploy.credentials import Credentials, Secret
from ailb_gen.deploy.drivers import DRIVERS
from ailb_gen.deploy.host_keys import HostKey, HostKeyError, Known, SshEndpoint, presented
from ailb_gen.deploy.login import SshReach, SshRoute
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.switch_driver import DeviceError, Phase, RequestRefusedError, SwitchDriver, UnknownOutcomeError
from ailb_gen.design.devices import Kind
from tests.deploy import hostile
from tests.deploy.hostile import HELLO, HOST_KEY, Behave, Talk, dripping, endless, serving, silent, ssh

NAME = "leaf1"
LOGIN = Credentials("admin", Secret("secret"), None, None, None, agent=False)
# How long is waited for what never comes: where nothing has to be done before, where a login has to be; for the rest.
BRIEF_S, SHORT_S, LONG_S = 0.3, 1.0, 30.0
BANNER = b"SSH-2.0-OpenSSH_9.6\r\n"


def reply(text: bytes) -> bytes:
    """Return the answer to a request."""
    return b'<rpc-reply message-id="%ID%">' + text + b"</rpc-reply>]]>]]>"


CONFIG = reply(b"<configuration-text>system {}\n</configuration-text>")
UNREAD = "its answer to get-configuration cannot be read: "


@pytest.fixture(autouse=True)
def nothing_is_left(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """No thread of a connection outlives the test that made it."""
    caplog.set_level(logging.CRITICAL, "paramiko")
    yield
    for thread in threading.enumerate():
        if isinstance(thread, paramiko.Transport):
            thread.join(30)
            assert not thread.is_alive()


def reach(port: int, seconds: float, kind: Kind = "switch") -> SshReach:
    known = paramiko.HostKeys()
    known.add(f"[127.0.0.1]:{port}", HOST_KEY.get_name(), HOST_KEY)
    return SshReach(NAME, "127.0.0.1", port, LOGIN, known, seconds, kind=kind)


def switch(port: int, seconds: float = LONG_S, timeout_s: int = 30, driver: str = "napalm") -> SwitchDriver:
    return DRIVERS[driver](replace(reach(port, seconds), timeout_s=timeout_s))


def server(port: int, seconds: float = LONG_S) -> ServerConnection:
    return ServerConnection(reach(port, seconds, "server"))


@contextmanager
def opened(behave: Behave, connect: Callable[..., Any] = switch, **how: object) -> Iterator[Any]:
    """Connect to a device that behaves like that."""
    with serving(behave) as port, closing(connect(port, **how)) as found:
        found.open()
        yield found


def netconf(*answers: bytes, hello: bytes = HELLO.encode(), forever: bytes = b"") -> Behave:
    """Speak NETCONF, with these answers in their order; then be silent, or send something without end."""
    left: Iterator[Iterable[bytes]] = chain(([text] for text in answers), repeat(repeat(forever) if forever else ()))
    return hostile.netconf(lambda kind: next(left), hello)


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
    "endless bytes": (endless(b"A" * 4096), LONG_S, "it sends too much before the login is complete"),
    "endless lines": (endless(b"hello\r\n" * 500), LONG_S, "it sends too much|no connection"),
    "endless bytes after the banner": (endless(b"\0" * 4096, BANNER), LONG_S, "it sends too much|no connection"),
    "a large packet": (silent(BANNER + b"\x7f\xff\xff\xff" + bytes(100)), BRIEF_S, "no answer in time|no connection"),
    "a byte now and then": (dripping(b"A"), BRIEF_S, "no answer in time: it hangs before the login"),
    "a line now and then": (dripping(b"x\n"), BRIEF_S, "no answer in time: it hangs before the login"),
    "a banner in drops": (dripping(b"SSH-2.0-" + b"x" * 9000), BRIEF_S, "no answer in time: it hangs before the login"),
    "silence": (silent(), BRIEF_S, "no answer in time: it hangs before the login"),
    "silence after the banner": (silent(BANNER), BRIEF_S, "no answer in time: it hangs before the login"),
    "hanging up": (silent(seconds=0), LONG_S, "no NETCONF session|the connection was closed during the login"),
    "another protocol": (
        silent(b"HTTP/1.0 400 Bad Request\r\n\r\n", 0),
        LONG_S,
        "no NETCONF session|closed before|closed during",
    ),
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
    with opened(ssh(hang), server, seconds=SHORT_S) as one:
        error = failing(lambda: one.run("true\n", Phase.READ, 0.5))
    assert isinstance(error, UnknownOutcomeError)


def screaming(send: Callable[[paramiko.Channel, bytes], object], text: bytes) -> Talk:
    def talk(channel: paramiko.Channel, stop: threading.Event) -> None:
        while not stop.is_set():
            send(channel, text)

    return talk


@pytest.mark.parametrize("send", [paramiko.Channel.sendall, paramiko.Channel.sendall_stderr])
def test_a_server_that_never_stops(send: Callable[[paramiko.Channel, bytes], object]) -> None:
    with opened(ssh(talk=screaming(send, b"x" * 65536)), server) as one:
        error = failing(lambda: one.run("true\n", Phase.READ, 60))
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
    talk = screaming(paramiko.Channel.sendall, b"<hello>" * 1000)
    with serving(ssh(talk=talk)) as port:
        error = failing(switch(port).open)
    assert "no NETCONF session: its hello cannot be read: it is longer than 2 MiB" in error.reason


ENTITIES = b'<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">'
BOMB = b"<!DOCTYPE r [" + ENTITIES + b"]>" + reply(b"<configuration-text>&c;</configuration-text>")
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
    "a comment": (reply(b"\n<!-- --> "), "there is no configuration in it"),
    "success": (reply(b"<ok/>"), "there is no configuration in it"),
    "an empty configuration": (CONFIG.replace(b"system {}\n", b""), "there is no configuration in it"),
    "another element": (reply(b"<x/>"), "there is no configuration in it"),
    "elements": (reply(b"<x>" + b"<y/>" * 2000 + b"</x>"), "it has more than 1000 elements"),
    "nothing": (b"]]>]]>", "it is empty"),
}  # fmt: skip


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("what", ANSWERS)
def test_an_answer_that_is_none(what: str, driver: str) -> None:
    answer, reason = ANSWERS[what]
    with opened(netconf(answer), driver=driver) as one:
        error = failing(one.running)
    assert error.phase is Phase.READ
    assert UNREAD in error.reason
    assert reason in error.reason


@pytest.mark.parametrize("forever", [b"x" * 65536, b"<a/>]]>]]>" * 1000, b"<notification/>]]>]]>" * 1000])
def test_an_endless_answer(forever: bytes) -> None:
    with opened(netconf(forever=forever)) as one:
        error = failing(one.running)
    assert UNREAD in error.reason


@pytest.mark.parametrize("driver", DRIVERS)
def test_silence_at_the_lock_is_nobodys_lock(driver: str) -> None:
    with opened(netconf(), timeout_s=1, driver=driver) as one:
        error = failing(one.lock)
    assert isinstance(error, UnknownOutcomeError)
    assert (error.phase, error.reason, error.hint) == (Phase.LOCK, "no answer in time", "")


def test_a_good_answer_in_odd_pieces() -> None:
    text = "description \u201egrün\u201c;" * 5000
    answer = CONFIG.replace(b"system {}", f"system {{ {text} }}".encode())
    with opened(netconf(answer, answer)) as one:
        assert text in one.running()
        assert text in one.candidate()


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


EMPTY = b'<rpc-reply message-id="%ID%"/>]]>]]>'


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (reply(b"<ok/>"), f"{UNREAD}there is no configuration"),
        (reply(b"<rpc-error/>"), "an error without a message"),
    ],
)
def test_differences_that_are_none(answer: bytes, reason: str, driver: str) -> None:
    with opened(netconf(answer), driver=driver) as one:
        error = failing(one.compare)
    assert reason in error.reason


@pytest.mark.parametrize("driver", DRIVERS)
def test_no_differences(driver: str) -> None:
    """Some releases of Junos say nothing at all."""
    with opened(netconf(EMPTY), driver=driver) as one:
        assert one.compare() == ""


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_configuration_of_too_many_words(driver: str) -> None:
    text = b"a;\n" * 80_000
    with opened(netconf(CONFIG.replace(b"system {}", text)), driver=driver) as one:
        error = failing(one.running)
    assert "its configuration has more than 150,000 words" in error.reason
