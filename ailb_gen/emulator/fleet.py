"""Many devices in one event loop, which runs in a thread of its own.

with Fleet([Spec("leaf1", tree)], EmulatedFabric([]), Login("admin", "secret")) as fleet:
    connect("127.0.0.1", fleet.port("leaf1"))
    fleet.add_faults("leaf1", Fault("drop-after", "commit"))

Devices, their faults and the fabric belong to that thread. Other threads reach them by `Fleet.do` and its like, which
wait for the result with a timeout and raise the errors.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

import asyncssh

from ailb_gen.atomic import replace_file
from ailb_gen.emulator.device import EmulatedDevice, Spec
from ailb_gen.emulator.fabric_state import FabricState
from ailb_gen.emulator.faults import Fault
from ailb_gen.emulator.gnmi.options import GnmiOptions
from ailb_gen.emulator.host import KEY, DeviceHost, FleetLogin
from ailb_gen.emulator.server import SshConnection
from ailb_gen.errors import OutputError, UsageError
from ailb_gen.junos.schema import Schema

if TYPE_CHECKING:
    from ailb_gen.emulator.gnmi.listener import GnmiListener, GnmiPorts

Result = TypeVar("Result")
LAST_PORT = 65535
# How long a call from another thread waits: for one device, and for all to listen or to close. Seconds.
ANSWER_S, START_S = 60.0, 300.0


class Fleet:
    """Devices on consecutive ports of one address, by name; a context manager.

    `base_port` 0 takes free ports. With a `state` directory, host keys and configurations survive; a second fleet on
    the same directory must start after the first has stopped.
    """

    def __init__(
        self,
        specs: Sequence[Spec],
        fabric: FabricState,
        login: FleetLogin,
        state: Path | None = None,
        base_port: int = 0,
        address: str = "127.0.0.1",
        schema: Schema | None = None,
        minute_s: float = 60.0,
        gnmi: GnmiOptions | None = None,
    ) -> None:
        """Open the state of every device. Raises UsageError, OutputError, MissingExtraError for gNMI."""
        _check_ports(len(specs), base_port, "--base-port")
        self._gnmi = _gnmi_ports(gnmi, len(specs), login, address)
        self._gnmi_listeners: dict[str, GnmiListener] = {}
        self.devices: dict[str, EmulatedDevice] = {}
        self._hosts: dict[str, DeviceHost] = {}
        self.address = address
        for number, spec in enumerate(specs):
            directory = state / spec.name if state is not None else None
            device = EmulatedDevice(spec, fabric, directory, schema, minute_s)
            key = _host_key(directory)
            port = base_port + number if base_port else 0
            second = self._gnmi.listener(device) if self._gnmi is not None else None
            if second is not None:
                self._gnmi_listeners[spec.name] = second
            self._hosts[spec.name] = DeviceHost(device, key, login, address, port, SshConnection, second)
            self.devices[spec.name] = device
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="emulator", daemon=True)

    def port(self, name: str) -> int:
        """Return the port of a device."""
        return self._hosts[name].port

    def gnmi_ports(self) -> dict[str, int]:
        """Return the ports of gNMI by device; none where it is not answered."""
        return {name: listener.port for name, listener in self._gnmi_listeners.items()}

    @property
    def gnmi_certificate(self) -> bytes:
        """The certificate by which clients verify the gNMI of all devices, as PEM; empty without TLS or gNMI."""
        return self._gnmi.certificate if self._gnmi is not None else b""

    def public_key(self, name: str) -> str:
        """Return the host key of a device in OpenSSH's form, without a comment."""
        return self._hosts[name].key.export_public_key().decode().strip()

    def known_hosts(self, ports: Mapping[str, int] | None = None) -> str:
        """Return the host keys of all devices as OpenSSH's known_hosts has them; `ports` replace the own ones."""
        reached = ports if ports is not None else {name: self.port(name) for name in self.devices}
        return "".join(f"[{self.address}]:{port} {self.public_key(name)}\n" for name, port in reached.items())

    def start(self) -> None:
        """Listen on every port. Raises UsageError when one is in use; then none is."""
        self._thread.start()
        try:
            self._call(self._start(), START_S)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Close every session and every port; the thread has ended then."""
        if self._thread.is_alive():
            self._call(self._stop(), START_S)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
        if not self._loop.is_closed():
            self._loop.close()

    def do(self, name: str, act: Callable[[EmulatedDevice], Result], timeout_s: float = ANSWER_S) -> Result:
        """Do something to a device in the thread of the fleet, as a person at its console would; return its result.

        Raises what `act` raises, and TimeoutError.
        """

        def work(host: DeviceHost) -> Result:
            result = act(host.device)
            host.watch()
            return result

        return self._at(name, work, timeout_s)

    def add_faults(self, name: str, *faults: Fault) -> None:
        """Switch faults of a device on. Raises TimeoutError."""
        self._at(name, lambda host: host.add_faults(*faults))

    def clear_faults(self, name: str) -> None:
        """Switch all faults of a device off. Raises TimeoutError."""
        self._at(name, DeviceHost.clear_faults)

    def reboot(self, name: str, away_s: float) -> None:
        """Begin to reboot a device. Raises TimeoutError."""
        self._at(name, lambda host: host.reboot(away_s))

    def _at(self, name: str, act: Callable[[DeviceHost], Result], timeout_s: float = ANSWER_S) -> Result:
        async def work() -> Result:
            return act(self._hosts[name])

        return self._call(work(), timeout_s)

    def _call(self, work: Coroutine[object, object, Result], timeout_s: float) -> Result:
        """Run something in the thread of the fleet; return its result, or raise its error or TimeoutError."""
        if not self._thread.is_alive() or threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError("a fleet is called while it runs, and from other threads than its own")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(timeout_s)
        except TimeoutError as error:
            if future.cancel():
                raise TimeoutError(f"the emulator has not answered within {timeout_s:g} s") from error
            raise

    def __enter__(self) -> Fleet:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.stop()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    async def _start(self) -> None:
        for host in self._hosts.values():
            await host.start()

    async def _stop(self) -> None:
        await asyncio.gather(*(host.stop() for host in self._hosts.values()))


def _check_ports(count: int, base_port: int, option: str) -> None:
    if base_port and base_port + count - 1 > LAST_PORT:
        raise UsageError(f"{count} devices do not fit above port {base_port}; choose a lower {option}")


def _gnmi_ports(options: GnmiOptions | None, count: int, login: FleetLogin, address: str) -> GnmiPorts | None:
    """Return the listeners to be made. Raises UsageError, MissingExtraError."""
    if options is None:
        return None
    # gRPC is an extra.
    from ailb_gen.emulator.gnmi.listener import GnmiPorts  # noqa: PLC0415

    _check_ports(count, options.base_port, "--gnmi-port")
    return GnmiPorts(options, login, address)


def _host_key(directory: Path | None) -> asyncssh.SSHKey:
    """Return the host key of a device, made and kept if there is none. Raises OutputError."""
    if directory is None:
        return asyncssh.generate_private_key(KEY)
    path = directory / "ssh_host_ed25519_key"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if not path.exists() or not path.stat().st_size:
            # An empty file first: its replacement keeps its mode.
            path.touch(0o600)
            replace_file(path, asyncssh.generate_private_key(KEY).export_private_key())
        return asyncssh.import_private_key(path.read_bytes())
    except (OSError, asyncssh.KeyImportError) as error:
        raise OutputError(
            f"{path}: no host key can be kept there: {error}; remove it, or choose another --state"
        ) from error
