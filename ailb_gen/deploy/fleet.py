"""The device pool of a fabric: Nornir with the inventory of this program, and what connects to each device."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from nornir.core import Nornir

from ailb_gen.deploy.credentials import Credentials, SecretCache, resolve
from ailb_gen.deploy.device_pool import DevicePool, Runner, no_signals
from ailb_gen.deploy.hostkeys import Endpoint, HostKeys, host_key_error, paramiko_host_keys
from ailb_gen.deploy.inventory import Inventory, Target, to_nornir
from ailb_gen.deploy.known_hosts import HostKeyError
from ailb_gen.deploy.login import SshReach
from ailb_gen.deploy.servers.ssh import Server, SshServer
from ailb_gen.deploy.switch import DeviceError, Phase, Switch
from ailb_gen.errors import DeployError

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
    signals: Callable[[], int] = no_signals


@contextmanager
def fleet(inventory: Inventory, access: Access) -> Iterator[DevicePool]:
    """Yield the pool of all managed devices; no connection is left when it is done."""
    _silence()
    connects = {target.name: partial(_connect, target, access) for target in inventory.managed}
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


def _connect(target: Target, access: Access) -> Switch | Server:
    """Resolve the credentials of a device, look up its host key, connect. Raises DeviceError."""
    try:
        credentials = resolve(target.login, access.secrets)
        endpoint = access.hostkeys.endpoint(target)
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
    """Return the error of a device that cannot be connected to; of many alike, `shared` fits all."""
    shared = error.shared if isinstance(error, HostKeyError) else ""
    return DeviceError(target.name, Phase.CONNECT, str(error).removeprefix(f"{target.name}: "), shared=shared)


def _device(target: Target, access: Access, credentials: Credentials, endpoint: Endpoint) -> Switch | Server:
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
        return SshServer(reach)
    # Importing the drivers changes `json` and PyYAML for the whole process: only when a switch is connected to.
    from ailb_gen.deploy.drivers import DRIVERS  # noqa: PLC0415

    return DRIVERS[access.driver](reach)
