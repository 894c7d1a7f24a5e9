"""The two drivers behind Switch: NAPALM's `junos`, and PyEZ (junos-eznc) by itself.

NAPALM has no lock, check or rollback of its own that fit a push: `rollback()` commits at once, `set` text and commit
errors leave its lock behind. So its locking is off, and the PyEZ device inside it does what it lacks.

Neither connects by itself: PyEZ distinguishes a silent device from one that refuses only by the time it takes, and
waits without end for some answers.
"""

import os
import re
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any

from jnpr.junos import jxml
from jnpr.junos.device import Device, DeviceSessionListener
from jnpr.junos.utils.config import Config
from lxml.etree import LxmlError, _Element
from napalm.base.exceptions import MergeConfigException
from napalm.junos.junos import JunOSDriver

from ailb_gen.deploy.calls import ask, history, translated
from ailb_gen.deploy.login import AFTER, SshReach, log_in
from ailb_gen.deploy.messages import AnswerError
from ailb_gen.deploy.netconf import open_netconf
from ailb_gen.deploy.switch import Commit, DeviceError, Phase, RefusedError, Switch, unreadable

# It warns of errors that it passes on, such as that of a connection that Ctrl-C ends; they are reported by device.
warnings.filterwarnings("ignore", "An unknown exception occurred", RuntimeWarning, r"jnpr\.junos")
# Words, quotes, comments, braces and semicolons of a configuration: ten times those of a spine with 512 leaves. All
# that is computed of it takes time and memory by their number.
TOKEN = re.compile(r'[^\s;{}\[\]"]+|[;{}\[\]"]')
MAX_TOKENS = 150_000
# What PyEZ is given as host: it does not connect by itself.
PLACEHOLDER = "device"
NO_SESSION, NO_HELLO = "no NETCONF session", "the device closed the connection before it said hello"


class _Session:
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
        device = self._open
        # Not by PyEZ's cu.lock(): to that, silence is another session's lock.
        with translated(self.name, Phase.LOCK, "lock-configuration"):
            device.rpc.lock_configuration()
        self.locked = True

    def unlock(self) -> None:
        if not self.locked:
            return
        device = self._open
        with translated(self.name, Phase.UNLOCK, "unlock-configuration"):
            device.rpc.unlock_configuration()
        self.locked = False

    def load_rollback(self, number: int) -> None:
        device = self._open
        with translated(self.name, Phase.ROLLBACK, "load-configuration"):
            device.cu.rollback(number, ignore_warning=True)

    def before(self, number: int) -> str:
        reply = ask(self._open, self.name, Phase.READ, "get-rollback-information", rollback=str(number), format="text")
        found = reply.iter("configuration-output", "configuration-text")
        return text_of(self.name, "".join(one.text or "" for one in found), "get-rollback-information")

    def check(self) -> None:
        device = self._open
        with translated(self.name, Phase.CHECK, "commit-configuration"):
            passed = device.cu.commit_check()
        if passed is not True:
            # PyEZ returns the error instead of raising it when ncclient raised it.
            raise RefusedError(self.name, Phase.CHECK, " ".join(str(passed.get("message", passed)).split()))

    def commits(self) -> tuple[Commit, ...]:
        return history(self._open, self.name)

    def ask(self, rpc: str, **arguments: str | bool) -> _Element:
        return ask(self._open, self.name, Phase.VERIFY, rpc, **arguments)


class PyezSwitch(_Session):
    """A Switch on PyEZ alone."""

    def open(self) -> None:
        device: Any = Device(host=PLACEHOLDER, gather_facts=False, ssh_config=os.devnull)
        self._connect(device)
        device.timeout = self.reach.timeout_s
        device.bind(cu=Config)
        self.device = device

    def _configuration(self, database: str) -> str:
        device = self._open
        with translated(self.name, Phase.READ, "get-configuration"):
            reply = device.rpc.get_config(options={"format": "text", "database": database})
        return text_of(self.name, reply)

    def running(self) -> str:
        return self._configuration("committed")

    def candidate(self) -> str:
        return self._configuration("candidate")

    def load(self, commands: str) -> None:
        device = self._open
        with translated(self.name, Phase.LOAD, "load-configuration"):
            device.cu.load(commands, format="set", ignore_warning=True)

    def compare(self) -> str:
        device = self._open
        with translated(self.name, Phase.LOAD, "get-configuration"):
            return (device.cu.diff(ignore_warning=True) or "").strip()

    def commit(self, log: str, confirm_minutes: int | None = None) -> None:
        device = self._open
        with translated(self.name, Phase.COMMIT, "commit-configuration"):
            device.cu.commit(comment=log, confirm=confirm_minutes, ignore_warning=True)


class NapalmSwitch(_Session):
    """A Switch on NAPALM's driver `junos`."""

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
                raise RefusedError(self.name, phase, _merge_errors(error)) from error

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
    """Return why there is a login and no NETCONF session."""
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
    if next(islice(TOKEN.finditer(text), max(0, MAX_TOKENS - text.count("/*")), None), None) is not None:
        raise unreadable(name, Phase.READ, rpc, f"its configuration has more than {MAX_TOKENS:,} words")
    return text


DRIVERS: Mapping[str, Callable[[SshReach], Switch]] = {"napalm": NapalmSwitch, "pyez": PyezSwitch}
