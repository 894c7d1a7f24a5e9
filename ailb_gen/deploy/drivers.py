"""The two drivers behind Switch: NAPALM's `junos`, and PyEZ (junos-eznc) by itself.

NAPALM has no lock, check or rollback of its own that fit a push: `rollback()` commits at once, `set` text and commit
errors leave its lock behind. So its locking is off, and what it lacks is asked of the PyEZ device inside it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jnpr.junos.device import Device
from jnpr.junos.utils.config import Config
from napalm.base.exceptions import ConnectionException, MergeConfigException
from napalm.junos.junos import JunOSDriver

from ailb_gen.deploy.calls import ask, connected, history, translated
from ailb_gen.deploy.hostkeys import verify_host_key
from ailb_gen.deploy.switch import Commit, DeviceError, Phase, RefusedError, Switch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from lxml.etree import _Element

    from ailb_gen.deploy.credentials import Credentials


@dataclass(frozen=True, slots=True)
class Reach:
    """How a switch is reached, times in seconds; `ssh_config` names the known host keys, `timeout_s` is an answer's."""

    name: str
    hostname: str
    port: int
    credentials: Credentials
    ssh_config: Path
    timeout_s: int = 120
    connect_s: int = 30
    keepalive_s: int = 30

    @property
    def address(self) -> str:
        """The address as people write it."""
        return f"{self.hostname}:{self.port}"


class _Session:
    """What both drivers do alike on the PyEZ device of an open session."""

    def __init__(self, reach: Reach) -> None:
        self.reach = reach
        self.device: Any = None
        self.locked = False

    @property
    def name(self) -> str:
        return self.reach.name

    @property
    def _open(self) -> Any:
        if self.device is None:
            raise DeviceError(self.name, Phase.CONNECT, "there is no session")
        return self.device

    def close(self) -> None:
        device, self.device, self.locked = self.device, None, False
        if device is None or device._conn is None:
            return
        # Asking a dead session to close would wait for an answer; the device sees the end of the connection.
        with suppress(Exception):
            device._conn._session.close()
        device.connected = False

    def lock(self) -> None:
        if self.locked:
            return
        with translated(self.name, Phase.LOCK):
            self._open.cu.lock()
        self.locked = True

    def unlock(self) -> None:
        if not self.locked:
            return
        with translated(self.name, Phase.UNLOCK):
            self._open.cu.unlock()
        self.locked = False

    def load_rollback(self, number: int) -> None:
        with translated(self.name, Phase.ROLLBACK):
            self._open.cu.rollback(number, ignore_warning=True)

    def before(self, number: int) -> str:
        reply = ask(self._open, self.name, Phase.READ, "get-rollback-information", rollback=str(number), format="text")
        return "".join(one.text or "" for one in reply.iter("configuration-output", "configuration-text"))

    def check(self) -> None:
        with translated(self.name, Phase.CHECK):
            passed = self._open.cu.commit_check()
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
        reach, login = self.reach, self.reach.credentials
        device: Any = Device(
            host=reach.hostname,
            port=reach.port,
            user=login.user(),
            passwd=login.password.reveal() if login.password is not None else None,
            ssh_private_key_file=str(login.key_file) if login.key_file is not None else None,
            ssh_config=str(reach.ssh_config),
            conn_open_timeout=reach.connect_s,
            gather_facts=False,
            huge_tree=True,
        )
        verify_host_key(device, login)
        try:
            device.open()
        except Exception as error:
            raise connected(self.name, reach.address, error) from error
        device.timeout = reach.timeout_s
        device._conn._session.transport.set_keepalive(reach.keepalive_s)
        device.bind(cu=Config)
        self.device = device

    def _configuration(self, database: str) -> str:
        with translated(self.name, Phase.READ):
            return text_of(self._open.rpc.get_config(options={"format": "text", "database": database}))

    def running(self) -> str:
        return self._configuration("committed")

    def candidate(self) -> str:
        return self._configuration("candidate")

    def load(self, commands: str) -> None:
        with translated(self.name, Phase.LOAD):
            self._open.cu.load(commands, format="set", ignore_warning=True)

    def compare(self) -> str:
        with translated(self.name, Phase.LOAD):
            return (self._open.cu.diff(ignore_warning=True) or "").strip()

    def commit(self, log: str, confirm_minutes: int | None = None) -> None:
        with translated(self.name, Phase.COMMIT):
            self._open.cu.commit(comment=log, confirm=confirm_minutes, ignore_warning=True)


class NapalmSwitch(_Session):
    """A Switch on NAPALM's driver `junos`."""

    def open(self) -> None:
        reach, login = self.reach, self.reach.credentials
        driver = JunOSDriver(
            reach.hostname,
            login.user(),
            login.password.reveal() if login.password is not None else None,
            timeout=reach.timeout_s,
            optional_args={
                "port": reach.port,
                "key_file": str(login.key_file) if login.key_file is not None else None,
                "ssh_config_file": str(reach.ssh_config),
                "lock_disable": True,
                "ignore_warning": True,
                "huge_tree": True,
                "keepalive": reach.keepalive_s,
            },
        )
        device: Any = driver.device
        device._conn_open_timeout, device._gather_facts = reach.connect_s, False
        verify_host_key(device, login)
        try:
            driver.open()
        except Exception as error:
            raise connected(self.name, reach.address, error) from error
        self.driver, self.device = driver, device

    def _napalm(self, phase: Phase, call: Callable[[], object]) -> object:
        with translated(self.name, phase):
            try:
                return call()
            except MergeConfigException as error:
                raise RefusedError(self.name, phase, _merge_errors(error)) from error
            except ConnectionException as error:
                raise connected(self.name, self.reach.address, error) from error

    def running(self) -> str:
        return str(self._configuration("running"))

    def candidate(self) -> str:
        return str(self._configuration("candidate"))

    def _configuration(self, which: str) -> str:
        self._open  # noqa: B018 - a closed session is an error of its own
        found = self._napalm(Phase.READ, lambda: self.driver.get_config(retrieve=which))
        return str(found[which]) if isinstance(found, dict) else ""

    def load(self, commands: str) -> None:
        self._open  # noqa: B018
        self._napalm(Phase.LOAD, lambda: self.driver.load_merge_candidate(config=commands))

    def compare(self) -> str:
        self._open  # noqa: B018
        return str(self._napalm(Phase.LOAD, self.driver.compare_config))

    def commit(self, log: str, confirm_minutes: int | None = None) -> None:
        self._open  # noqa: B018
        # NAPALM counts seconds and takes whole minutes only.
        revert_in = 60 * confirm_minutes if confirm_minutes is not None else None
        self._napalm(Phase.COMMIT, lambda: self.driver.commit_config(message=log, revert_in=revert_in))


def _merge_errors(error: MergeConfigException) -> str:
    rows = error.args[0] if error.args and isinstance(error.args[0], list) else []
    texts = [" ".join(str(row.get("message", "")).split()) for row in rows if isinstance(row, dict)]
    return "; ".join(dict.fromkeys(filter(None, texts))) or " ".join(str(error).split())


def text_of(reply: object) -> str:
    """Return the configuration that a reply in format text holds."""
    return str(getattr(reply, "text", "") or "")


DRIVERS: Mapping[str, Callable[[Reach], Switch]] = {"napalm": NapalmSwitch, "pyez": PyezSwitch}
