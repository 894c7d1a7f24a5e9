"""Calls on a PyEZ device, common to both drivers, and PyEZ's and ncclient's errors in the program's own terms.

Importing PyEZ patches `json` and PyYAML for the whole process: nothing imports this module before it connects.
"""

import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from typing import Any

from jnpr.junos import jxml
from jnpr.junos.device import Device, DeviceSessionListener
from jnpr.junos.exception import ConnectClosedError, RpcError, RpcTimeoutError
from jnpr.junos.utils.config import Config
from lxml import etree
from lxml.etree import LxmlError, _Element
from napalm.base.exceptions import MergeConfigException
from napalm.junos.junos import JunOSDriver
from ncclient.operations.errors import OperationError, TimeoutExpiredError
from ncclient.transport.errors import SessionCloseError, TransportError

from ailb_gen.deploy.login import AFTER, SshReach, log_in
from ailb_gen.deploy.netconf import open_netconf
from ailb_gen.deploy.netconf_messages import AnswerError
from ailb_gen.deploy.switch_driver import (
    COMMITTING,
    NUMBER,
    SESSION_LOST,
    CommitEntry,
    DeviceError,
    Phase,
    RequestRefusedError,
    SwitchDriver,
    UnknownOutcomeError,
    unreadable,
)
from ailb_gen.redact.text import redact

# `commit confirmed, rollback in 10mins` in the commit history.
PENDING = re.compile(r"commit confirmed, rollback in ([0-9]{1,6})\s*min")
# What is in every answer to these, by which an answer without content is distinguished from good news.
ALWAYS = {
    "get-commit-information": "commit-history",
    "get-alarm-information": "alarm-summary",
    "get-system-alarm-information": "alarm-summary",
}
# A subsystem that nothing is configured for: `BGP is not running`, `router-advertisement subsystem not running`.
NOT_RUNNING = re.compile(r"not running", re.IGNORECASE)
# Where it matters what a device did before it fell silent.
STATE_READ = dict.fromkeys(COMMITTING, "its state is read again")
BUSY = "another session is changing this device, or hangs; check 'show system users' and 'configure exclusive'"


@contextmanager
def translated(device: str, phase: Phase, rpc: str) -> Iterator[None]:
    """Turn what the libraries raise into DeviceErrors: an answer is a refusal, no answer an unknown outcome.

    Put only calls of the libraries inside: any other exception then means an answer that they cannot read.
    """
    try:
        with warnings.catch_warnings():
            # PyEZ warns of what it raises at once.
            warnings.simplefilter("ignore", RuntimeWarning)
            yield
    except DeviceError:
        raise
    except (RpcTimeoutError, TimeoutExpiredError) as error:
        raise UnknownOutcomeError(device, phase, "no answer in time", STATE_READ.get(phase, "")) from error
    except (ConnectClosedError, SessionCloseError, TransportError, EOFError, OSError) as error:
        raise UnknownOutcomeError(device, phase, SESSION_LOST, STATE_READ.get(phase, "")) from error
    except RpcError as error:
        raise RequestRefusedError(device, phase, messages_of(error), BUSY if phase is Phase.LOCK else "") from error
    except Exception as error:  # the libraries raise any exception on a malformed answer
        raise unreadable(device, phase, rpc, _why(error)) from error


def _why(error: Exception) -> str:
    """Return why an answer cannot be read; of other errors of a library only the type is useful."""
    known = isinstance(error, AnswerError | OperationError | etree.LxmlError)
    return str(error)[:200] if known else f"an element is missing or unexpected ({type(error).__name__})"


def messages_of(error: RpcError) -> str:
    """Return the messages of a device, all in one line; secrets of its configuration replaced."""
    messages = []
    for one in error.errs or ():
        text = " ".join(str(one.get("message") or "").split())
        about = redact(" ".join(str(one.get("bad_element") or "").split()))
        messages.append(f"{text} ({about})" if about and about not in text else text)
    found = "; ".join(dict.fromkeys(filter(None, messages)))
    return found or " ".join(str(error.message or "an error without a message").split())


def ask(device: Any, name: str, phase: Phase, rpc: str, **arguments: str | bool) -> etree._Element:
    """Send an RPC; underscores in the names of arguments become hyphens. Raises DeviceError.

    Where there is nothing to show, as with `show bgp summary` before BGP is configured, the element is empty; not for
    those of ALWAYS, whose silence would look like good news.
    """
    with translated(name, phase, rpc):
        try:
            reply = getattr(device.rpc, rpc.replace("-", "_"))(**arguments)
        except RpcError as error:
            if not NOT_RUNNING.search(messages_of(error)):
                raise
            reply = None
    # PyEZ returns True for an answer without content.
    found = reply if isinstance(reply, etree._Element) else etree.Element("nothing")
    required = ALWAYS.get(rpc)
    if required is not None and next(found.iter(required), None) is None:
        raise unreadable(name, phase, rpc, f"it has no {required}")
    return found


def history(device: Any, name: str) -> tuple[CommitEntry, ...]:
    """Read the commit history (`show system commit`, get-commit-information)."""
    reply = ask(device, name, Phase.READ, "get-commit-information")
    return tuple(commit_of(name, entry) for entry in reply.iter("commit-history"))


def commit_of(name: str, entry: etree._Element) -> CommitEntry:
    """Read an entry of the history: sequence-number, user, date-time, comment and log. Raises DeviceError."""
    when = entry.find("date-time")
    pending = PENDING.search(" ".join(filter(None, (entry.findtext("comment"), entry.findtext("log")))))
    seconds = when.get("seconds", "0") if when is not None else "0"
    number = entry.findtext("sequence-number", "").strip()
    if not all(NUMBER.fullmatch(text) for text in (seconds, number)):
        reason = f"an entry with the number {number!a} and the time {seconds!a}"
        raise unreadable(name, Phase.READ, "get-commit-information", reason)
    return CommitEntry(
        number=int(number),
        user=entry.findtext("user", "").strip(),
        when=int(seconds),
        log=entry.findtext("log", "").strip(),
        pending_minutes=int(pending[1]) if pending else None,
    )


# It warns of errors that it passes on, such as that of a connection that Ctrl-C ends; they are reported by device.
warnings.filterwarnings("ignore", "An unknown exception occurred", RuntimeWarning, r"jnpr\.junos")
# Words, quotes, comments, braces and semicolons of a configuration: ten times those of a spine with 512 leaves. All
# that is computed of it takes time and memory by their number.
TOKEN = re.compile(r'[^\s;{}\[\]"]+|[;{}\[\]"]')
MAX_TOKENS = 150_000
# What PyEZ is given as host: it does not connect by itself.
PLACEHOLDER = "device"
NO_SESSION, NO_HELLO = "no NETCONF session", "the device closed the connection before its hello"


class _PyezDriver:
    """Operations on the PyEZ device of an open session, common to both drivers."""

    def __init__(self, reach: SshReach) -> None:
        self.reach = reach
        self.device: Any = None
        self.locked = False

    @property
    def name(self) -> str:
        return self.reach.name

    def _connect(self, device: Any, *_: object, **__: object) -> None:
        """Open a PyEZ device on a login of this program's; stands in for its own `open`. Raises DeviceError."""
        reach = self.reach
        client, connection = log_in(reach)
        try:
            device._conn = open_netconf(client, AFTER * reach.connect_s, reach.timeout_s, connection)
        except Exception as error:
            reason = "no answer in time: it hangs before its NETCONF hello" if connection.ended else _no_hello(error)
            text = f"{reach.address}: {reason}"
            client.close()
            connection.close()
            raise DeviceError(self.name, Phase.CONNECT, text, NO_HELLO if reason == NO_SESSION else "") from error
        # From here on every answer has a time of its own.
        connection.limit(None)
        device._conn._session.add_listener(DeviceSessionListener(device))
        device._conn._session.transport.set_keepalive(reach.keepalive_s)
        device.connected = True
        device._nc_transform = device.transform
        device._norm_transform = jxml.normalize_xslt.encode

    @property
    def _open(self) -> Any:
        self._check_open()
        return self.device

    def _check_open(self) -> None:
        if self.device is None:
            raise DeviceError(self.name, Phase.CONNECT, "there is no session")

    def close(self) -> None:
        device, self.device, self.locked = self.device, None, False
        if device is None or device._conn is None:
            return
        # Asking a dead session to close would wait for an answer; the device sees the end of the connection.
        with suppress(Exception):
            device._conn._session.close()
        device.connected = False

    def hold(self, *texts: str) -> None:
        # One letter beyond the first plane makes four bytes of each.
        size = sum(len(text) if text.isascii() else 4 * len(text) for text in texts)
        self._open._conn._session.share.held = size

    def rest(self) -> None:
        if self.device is not None and self.device._conn is not None:
            self.device._conn._session.rest()

    def lock(self) -> None:
        if self.locked:
            return
        # Not by PyEZ's cu.lock(): to that, silence is another session's lock.
        with translated(self.name, Phase.LOCK, "lock-configuration"):
            self._open.rpc.lock_configuration()
        self.locked = True

    def unlock(self) -> None:
        if not self.locked:
            return
        with translated(self.name, Phase.UNLOCK, "unlock-configuration"):
            self._open.rpc.unlock_configuration()
        self.locked = False

    def load_rollback(self, number: int) -> None:
        with translated(self.name, Phase.ROLLBACK, "load-configuration"):
            self._open.cu.rollback(number, ignore_warning=True)

    def before(self, number: int) -> str:
        reply = ask(self._open, self.name, Phase.READ, "get-rollback-information", rollback=str(number), format="text")
        found = reply.iter("configuration-output", "configuration-text")
        return text_of(self.name, "".join(one.text or "" for one in found), "get-rollback-information")

    def check(self) -> None:
        with translated(self.name, Phase.CHECK, "commit-configuration"):
            passed = self._open.cu.commit_check()
        if passed is not True:
            # PyEZ returns the error instead of raising it when ncclient raised it.
            raise RequestRefusedError(self.name, Phase.CHECK, " ".join(str(passed.get("message", passed)).split()))

    def commits(self) -> tuple[CommitEntry, ...]:
        return history(self._open, self.name)

    def ask(self, rpc: str, **arguments: str | bool) -> _Element:
        return ask(self._open, self.name, Phase.VERIFY, rpc, **arguments)


class PyezDriver(_PyezDriver):
    """A SwitchDriver on PyEZ alone."""

    def open(self) -> None:
        device: Any = Device(host=PLACEHOLDER, gather_facts=False, ssh_config=os.devnull)
        self._connect(device)
        device.timeout = self.reach.timeout_s
        device.bind(cu=Config)
        self.device = device

    def _configuration(self, database: str) -> str:
        with translated(self.name, Phase.READ, "get-configuration"):
            reply = self._open.rpc.get_config(options={"format": "text", "database": database})
        return text_of(self.name, reply)

    def running(self) -> str:
        return self._configuration("committed")

    def candidate(self) -> str:
        return self._configuration("candidate")

    def load(self, commands: str) -> None:
        with translated(self.name, Phase.LOAD, "load-configuration"):
            self._open.cu.load(commands, format="set", ignore_warning=True)

    def compare(self) -> str:
        with translated(self.name, Phase.LOAD, "get-configuration"):
            return (self._open.cu.diff(ignore_warning=True) or "").strip()

    def commit(self, log: str, confirm_minutes: int | None = None) -> None:
        with translated(self.name, Phase.COMMIT, "commit-configuration"):
            self._open.cu.commit(comment=log, confirm=confirm_minutes, ignore_warning=True)


class NapalmDriver(_PyezDriver):
    """A SwitchDriver on NAPALM's driver `junos`."""

    def open(self) -> None:
        reach = self.reach
        driver = JunOSDriver(
            PLACEHOLDER,
            "",
            None,
            timeout=reach.timeout_s,
            optional_args={
                "ssh_config_file": os.devnull,
                "lock_disable": True,
                "ignore_warning": True,
                "keepalive": reach.keepalive_s,
            },
        )
        device: Any = driver.device
        device.open = partial(self._connect, device)
        driver.open()
        self.driver, self.device = driver, device

    def _napalm(self, phase: Phase, rpc: str, call: Callable[[], object]) -> object:
        self._check_open()
        with translated(self.name, phase, rpc):
            try:
                return call()
            except MergeConfigException as error:
                raise RequestRefusedError(self.name, phase, _merge_errors(error)) from error

    def running(self) -> str:
        return self._configuration("running")

    def candidate(self) -> str:
        return self._configuration("candidate")

    def _configuration(self, which: str) -> str:
        found = self._napalm(Phase.READ, "get-configuration", lambda: self.driver.get_config(retrieve=which))
        text = found[which] if isinstance(found, dict) else ""
        # NAPALM writes an answer without text as `None`.
        return text_of(self.name, None if text == "None" else text)

    def load(self, commands: str) -> None:
        self._napalm(Phase.LOAD, "load-configuration", lambda: self.driver.load_merge_candidate(config=commands))

    def compare(self) -> str:
        self._check_open()
        return str(self._napalm(Phase.LOAD, "get-configuration", self.driver.compare_config))

    def commit(self, log: str, confirm_minutes: int | None = None) -> None:
        # NAPALM counts seconds and takes whole minutes only.
        revert_in = 60 * confirm_minutes if confirm_minutes is not None else None
        self._napalm(
            Phase.COMMIT,
            "commit-configuration",
            lambda: self.driver.commit_config(message=log, revert_in=revert_in),
        )


def _no_hello(error: Exception) -> str:
    if isinstance(error, AnswerError):
        return f"{NO_SESSION}: its hello cannot be read: {error}"
    return f"{NO_SESSION}: its hello cannot be read" if isinstance(error, LxmlError) else NO_SESSION


def _merge_errors(error: MergeConfigException) -> str:
    rows = error.args[0] if error.args and isinstance(error.args[0], list) else []
    texts = [" ".join(str(row.get("message", "")).split()) for row in rows if isinstance(row, dict)]
    return "; ".join(dict.fromkeys(filter(None, texts))) or " ".join(str(error).split())


def text_of(name: str, reply: object, rpc: str = "get-configuration") -> str:
    """Return the configuration that a reply in format text holds. Raises DeviceError when there is none.

    No device has an empty configuration: without one no login would be possible.
    """
    text = reply if isinstance(reply, str) else getattr(reply, "text", None)
    if not isinstance(text, str) or not text.strip():
        raise unreadable(name, Phase.READ, rpc, "there is no configuration in it")
    room = max(0, MAX_TOKENS - text.count("/*"))
    # What has not even as many letters need not be counted.
    if len(text) > room and next(islice(TOKEN.finditer(text), room, None), None) is not None:
        raise unreadable(name, Phase.READ, rpc, f"its configuration has more than {MAX_TOKENS:,} words")
    return text


DRIVERS: Mapping[str, Callable[[SshReach], SwitchDriver]] = {"napalm": NapalmDriver, "pyez": PyezDriver}
