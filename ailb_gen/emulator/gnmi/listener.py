"""The gRPC servers of a fleet: one per device, each on a port of its own, all in the event loop of the fleet.

Importing this module raises MissingExtraError without gRPC and the protocol buffers of gNMI.
"""

from __future__ import annotations

import os

from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.gnmi.options import GnmiOptions
from ailb_gen.emulator.host import FleetLogin
from ailb_gen.errors import UsageError
from ailb_gen.optional import without_extra

# What gRPC has to say of a port that is in use is said by the error.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
try:
    import grpc
    from pygnmi.spec.v080 import gnmi_pb2_grpc

    from ailb_gen.emulator.gnmi.certificates import Authority
    from ailb_gen.emulator.gnmi.service import GnmiService
except ImportError as missing:
    raise without_extra(
        "--gnmi-port", f"{(missing.name or 'gRPC').partition('.')[0]} is not installed", "gnmi"
    ) from missing

# No port is shared with another process unnoticed.
SETTINGS = (("grpc.so_reuseport", 0),)
# Seconds that open calls have to end when a device stops.
GRACE_S = 0.0


class GnmiListener:
    """The gNMI of a device: `start` and `stop` in the thread of the fleet, as often as the device reboots."""

    def __init__(
        self, device: EmulatedDevice, login: FleetLogin, address: str, port: int, authority: Authority | None
    ) -> None:
        self.port = port
        self._device, self._login, self._address = device, login, address
        self._keys = authority.certificate(device.name, address) if authority is not None else None
        self._server: grpc.aio.Server | None = None

    async def start(self) -> None:
        """Listen. Raises UsageError when the port is in use."""
        server = grpc.aio.server(options=SETTINGS)
        gnmi_pb2_grpc.add_gNMIServicer_to_server(GnmiService(self._device, self._login), server)
        host = f"[{self._address}]" if ":" in self._address else self._address
        place = f"{host}:{self.port}"
        try:
            if self._keys is None:
                self.port = server.add_insecure_port(place)
            else:
                self.port = server.add_secure_port(place, grpc.ssl_server_credentials([self._keys]))
        except RuntimeError as error:
            raise UsageError(
                f"{self._device.name}: cannot listen on {self._address} port {self.port}: it is in use or not allowed; "
                "choose another --gnmi-port"
            ) from error
        await server.start()
        self._server = server

    async def stop(self) -> None:
        """End every call and close the port."""
        server, self._server = self._server, None
        if server is not None:
            await server.stop(GRACE_S)


class GnmiPorts:
    """The listeners of the devices of a fleet, made in their order."""

    def __init__(self, options: GnmiOptions, login: FleetLogin, address: str) -> None:
        """Prepare the listeners. Raises UsageError for a login without a password: gNMI knows no other."""
        if not login.password:
            raise UsageError(
                "--gnmi-port needs a password, and this login has public keys only; set AILB_PASSWORD, "
                "or name an --inventory"
            )
        self._options, self._login, self._address = options, login, address
        self._authority = None if options.plain else Authority()
        self._count = 0

    @property
    def certificate(self) -> bytes:
        """The certificate by which clients verify all devices, as PEM; empty without TLS."""
        return self._authority.pem if self._authority is not None else b""

    def listener(self, device: EmulatedDevice) -> GnmiListener:
        """Return the listener of the next device."""
        port = self._options.base_port + self._count if self._options.base_port else 0
        self._count += 1
        return GnmiListener(device, self._login, self._address, port, self._authority)
