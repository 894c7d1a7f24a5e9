"""The device pool of a fabric: Nornir with the inventory of this program, and what connects to each device."""

import getpass
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

from nornir.core import Nornir

from ailb_gen.addresses import Prefix
from ailb_gen.deploy.artifacts import Inputs, Trust, read_inputs
from ailb_gen.deploy.credentials import Credentials, SecretCache, resolve
from ailb_gen.deploy.device_pool import ByDevice, DevicePool, Runner
from ailb_gen.deploy.emulated import Emulator, emulator_of
from ailb_gen.deploy.host_keys import HostKeyError, HostKeys, SshEndpoint, host_key_error, paramiko_host_keys
from ailb_gen.deploy.inventory import Inventory, Target, need_inventory, read_inventory, to_nornir
from ailb_gen.deploy.login import SshReach
from ailb_gen.deploy.ownership import ownership
from ailb_gen.deploy.servers.expected import expected_of
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.switch_driver import DeviceError, Phase, SwitchDriver
from ailb_gen.deploy.switch_state import ExpectedState
from ailb_gen.deploy.transaction import (
    MARK,
    ConfigurationSource,
    FileSource,
    ServerTransaction,
    SwitchTransaction,
    Transaction,
)
from ailb_gen.errors import DeployError, UsageError
from ailb_gen.garbage import rare_garbage_collection
from ailb_gen.intent.load import Intent, load
from ailb_gen.redact.text import redact
from ailb_gen.selection import pick_devices
from ailb_gen.signals import NO_SIGNALS

# What they log holds whole configurations, and paramiko's threads print their tracebacks where no handler is set.
LIBRARIES = ("asyncssh", "jnpr", "napalm", "ncclient", "paramiko")


@dataclass(slots=True)
class Access:
    """Connection settings of all devices: the driver for switches, how many at once, host keys, resolved secrets.

    `signals` counts the signals that ask for the end of the run, where they do not end the program.
    """

    driver: str = "napalm"
    jobs: int = 20
    hostkeys: HostKeys = field(default_factory=HostKeys)
    secrets: SecretCache = field(default_factory=SecretCache)
    signals: Callable[[], int] = NO_SIGNALS


@contextmanager
def fleet(inventory: Inventory, access: Access, emulator: Emulator | None = None) -> Iterator[DevicePool]:
    """Yield the pool of all managed devices, perhaps of an emulator; no connection is left when it is done."""
    _silence()
    connects = {target.name: partial(_connect, target, access, emulator) for target in inventory.managed}
    runner = Runner(access.jobs, access.hostkeys.stop, access.signals)
    pool = DevicePool(Nornir(to_nornir(inventory), runner=runner), connects, access.signals)
    try:
        yield pool
    except Exception as error:
        access.secrets.redactor.clean(error)
        raise
    finally:
        pool.close(connects)


def _silence() -> None:
    """Let what the libraries log go nowhere, unless their loggers have handlers already."""
    for logger in map(logging.getLogger, LIBRARIES):
        logger.propagate = False
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())


def _connect(
    target: Target, access: Access, emulator: Emulator | None, stop: Event | None = None
) -> SwitchDriver | ServerConnection:
    """Connect to a device; say so where there is none because of its emulator. Raises DeviceError.

    `stop` ends this connection when it is set, instead of the event that ends all.
    """
    if emulator is None:
        return _opened(target, access, stop)
    # A device that it does not have is not looked for in the network.
    lacking = emulator.lacks(target)
    if lacking is not None:
        raise lacking
    try:
        return _opened(target, access, stop)
    except DeviceError as error:
        raise emulator.stopped(target, error) or error from error


def _opened(target: Target, access: Access, stop: Event | None) -> SwitchDriver | ServerConnection:
    """Resolve the credentials of a device, look up its host key, connect. Raises DeviceError."""
    try:
        credentials = resolve(target.login, access.secrets)
        endpoint = access.hostkeys.endpoint(target)
        endpoint = endpoint if stop is None else replace(endpoint, stop=stop)
        device = _device(target, access, credentials, endpoint)
    except DeployError as error:
        raise _failed(target, error) from error
    try:
        device.open()
    except DeviceError as error:
        found = host_key_error(endpoint, error)
        if found is None:
            raise
        raise _failed(target, found) from error
    return device


def _failed(target: Target, error: DeployError) -> DeviceError:
    """Return the error of a device that cannot be connected to; `shared` fits many with the same error."""
    shared = error.shared if isinstance(error, HostKeyError) else ""
    reason, hint = str(error).removeprefix(f"{target.name}: "), ""
    if shared and not target.listed:
        hint = "hosts.yaml does not list it: is its address right?"
        shared = f"{shared}; hosts.yaml does not list them: are their addresses right?"
    return DeviceError(target.name, Phase.CONNECT, reason, hint, shared)


def _device(
    target: Target, access: Access, credentials: Credentials, endpoint: SshEndpoint
) -> SwitchDriver | ServerConnection:
    options = target.options
    reach = SshReach(
        target.name,
        endpoint.route.hostname,
        target.port,
        credentials,
        paramiko_host_keys(endpoint),
        options.connect_timeout_s,
        endpoint.route.user,
        endpoint.route.identity_files,
        endpoint.route.proxy_command,
        target.kind,
        endpoint.stop,
        options.timeout_s,
        options.keepalive_s,
    )
    if target.kind == "server":
        return ServerConnection(reach)
    # Importing the drivers changes `json` and PyYAML for the whole process: only when a switch is connected to.
    from ailb_gen.deploy.drivers import DRIVERS  # noqa: PLC0415

    return DRIVERS[access.driver](reach)


def user_name() -> str:
    """Return the user who runs this; in a container it may be only a number."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DeploySession:
    """`switches` and `servers` are all managed ones, `picked` the devices that the run is limited to."""

    intent: Intent
    inventory: Inventory
    inputs: Inputs
    switches: Mapping[str, Target]
    servers: Mapping[str, Target]
    picked: frozenset[str]
    pool: DevicePool
    mask: Callable[[str], str]

    @property
    def user(self) -> str:
        """The user who runs this, for the record."""
        return user_name()

    @property
    def roles(self) -> dict[str, str]:
        """The role of every managed device."""
        return {target.name: target.role for target in self.inventory.managed}

    def file_source(self, name: str) -> FileSource:
        """Return the expected configuration of a switch by its file."""
        target, pool = self.switches[name], self.intent.fabric.addressing.pool
        rights = ownership(target.own, target.keep)
        return FileSource(name, lambda: self.inputs.text(name), rights, Prefix(pool.network, pool.length))

    def ask(
        self,
        switch: Callable[[str, SwitchDriver], T],
        server: Callable[[str, ServerConnection], T],
        phase: Phase,
        advance: Callable[[int], None],
    ) -> ByDevice[T]:
        """Do one thing with the picked switches, another with the picked servers; no connection is kept."""
        found: ByDevice[T] = ByDevice()
        for devices, work in ((self.switches, switch), (self.servers, server)):
            picked = [name for name in devices if name in self.picked]
            found.update(self.pool.run(picked, work, phase, advance, keep=False))
        return found

    def transactions(
        self,
        run: str,
        source: Callable[[str], ConfigurationSource],
        old: Mapping[str, str],
        legs: Mapping[str, int],
        approved: Mapping[str, str],
    ) -> Callable[[str, ExpectedState], Transaction[Any]]:
        """Return the factory of the transactions of a run; `old` are the fingerprints that its devices began with.

        `legs` count how often the run had been resumed when a device was last changed: a host knows every apply by a
        name of its own. `approved` are the digests of the changes that may be made; none where nothing is staged.
        """

        def make(name: str, expected: ExpectedState) -> Transaction[Any]:
            digest = approved.get(name, "")
            if name in self.switches:
                return SwitchTransaction(name, source(name), old[name], f"{MARK}{run} ", expected, digest)
            files = self.inputs.trees[name]
            there = expected_of(files, self.inputs.hosts[name].profile)
            return ServerTransaction(name, files, old[name], f"{run}.{legs.get(name, 0)}", there, digest)

        return make


NO_FILES = Inputs(Path(), {}, "")


@contextmanager
def open_session(
    fabric: Path,
    artifacts: Path | None,
    inventory: Path | None,
    limit: Sequence[str],
    access: Access,
    trust: Trust = "files",
    limited_by: str = "--limit",
) -> Iterator[DeploySession]:
    """Read everything that there is to read, and give the context. Raises IntentError, UsageError, OutputError.

    Without artifacts only what needs no files can be done; `trust` says what they must be like, `limited_by` where
    the limit was given.
    """
    intent = load(fabric)
    found = read_inventory(fabric, inventory or fabric.parent, access.secrets)
    need_inventory(found, fabric, inventory)
    switches = {target.name: target for target in found.managed if target.kind == "switch"}
    if not switches:
        raise UsageError(f"{fabric}: the inventory has no managed switch; check 'managed: false' in hosts.yaml")
    picked = pick_devices({target.name: target.role for target in found.managed}, limit, limited_by)
    servers = {target.name: target for target in found.managed if target.kind == "server"}
    inputs = read_inputs(intent, artifacts, switches, servers, trust) if artifacts is not None else NO_FILES
    emulator = emulator_of(inventory or fabric.parent, artifacts or fabric)
    with fleet(found, access, emulator) as pool, rare_garbage_collection():
        yield DeploySession(
            intent,
            found,
            inputs,
            switches,
            servers,
            frozenset(picked if picked is not None else (target.name for target in found.managed)),
            pool,
            lambda text: redact(access.secrets.redactor(text)),
        )
