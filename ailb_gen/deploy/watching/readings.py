"""One device, read for `drift` and `verify` together over one connection, and the findings of all readings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from ailb_gen.checks.model import Finding
from ailb_gen.deploy.device_diff import server_diff
from ailb_gen.deploy.servers.fleet import ServerState, of_fleet
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.session import DeploySession
from ailb_gen.deploy.switch_driver import SwitchDriver
from ailb_gen.deploy.verification import FabricVerifier, ObservedSwitch, drift_of, edited
from ailb_gen.network.model import SwitchLoadBalancing
from ailb_gen.routing.rib import Routing


@dataclass(frozen=True, slots=True)
class SwitchReading:
    """A switch as it was read: the findings of `drift`, and what `verify` observes."""

    drift: tuple[Finding, ...]
    state: ObservedSwitch


@dataclass(frozen=True, slots=True)
class ServerReading:
    """A server as it was read: its edited files, and its state."""

    edited: tuple[Finding, ...]
    state: ServerState


Reading = SwitchReading | ServerReading


@dataclass(frozen=True, slots=True)
class _KnownText:
    """What follows from the configuration with a digest."""

    digest: bytes
    balancing: SwitchLoadBalancing
    drift: tuple[Finding, ...]


class DeviceReader:
    """Reads the picked devices of a fabric, and compares them with its files.

    A configuration that is as it was in the last reading is not parsed again, and a reading that is equal to the last
    one is that object, so that nothing is computed from it again.
    """

    def __init__(self, session: DeploySession) -> None:
        self._session, self._verifier = session, FabricVerifier(session)
        self._compared: dict[str, _KnownText] = {}
        # The findings of every switch, with the reading and the routes that they follow from.
        self._found: dict[str, tuple[SwitchReading, Routing, tuple[Finding, ...]]] = {}
        self._last: dict[str, Reading] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The picked devices, switches first."""
        devices = (*self._session.switches, *self._session.servers)
        return tuple(name for name in devices if name in self._session.picked)

    def read(self, name: str, device: Any) -> Reading:  # noqa: ANN401 - a SwitchDriver or a ServerConnection
        """Read a device; from any thread, but one at a time for each device. Raises DeviceError."""
        reading = self._switch(name, device) if name in self._session.switches else self._server(name, device)
        last = self._last.setdefault(name, reading)
        if last != reading:
            last = self._last[name] = reading
        return last

    def _switch(self, name: str, switch: SwitchDriver) -> SwitchReading:
        # The configuration last, and once: of each device the last answer is what memory is kept for.
        state = self._verifier.observe(name, switch, self._balancing)
        return SwitchReading(self._compared[name].drift, state)

    def _balancing(self, name: str, running: str) -> SwitchLoadBalancing:
        """Compare a configuration with its file, unless it was compared the last time; return its load balancing."""
        digest = sha256(running.encode()).digest()
        found = self._compared.get(name)
        if found is None or found.digest != digest:
            self._compared.pop(name, None)
            found = self._compared[name] = _KnownText(digest, *drift_of(self._session, name, running))
        return found.balancing

    def _server(self, name: str, server: ServerConnection) -> ServerReading:
        look = server_diff(self._session.inputs.trees[name], server)
        # What `drift` observes beside the files is among what `verify` observes.
        return ServerReading(edited({name: look}).findings, self._verifier.observe_server(name, server))

    def findings(self, readings: Mapping[str, Reading]) -> dict[str, tuple[Finding, ...]]:
        """Return the findings of every device that was read."""
        switches = {name: one for name, one in readings.items() if isinstance(one, SwitchReading)}
        servers = {name: one for name, one in readings.items() if isinstance(one, ServerReading)}
        left = self._verifier.routing({name: one.state for name, one in switches.items()})
        found = {name: self._of_switch(name, one, left) for name, one in switches.items()}
        odd, _ = of_fleet({name: one.state for name, one in servers.items()})
        for name, one in servers.items():
            found[name] = (*one.edited, *one.state.findings, *(row for row in odd if row.device == name))
        return found

    def _of_switch(self, name: str, reading: SwitchReading, left: Routing) -> tuple[Finding, ...]:
        before = self._found.get(name)
        if before is None or before[0] is not reading or before[1] is not left:
            found = (*reading.drift, *self._verifier.findings(name, reading.state, left))
            before = self._found[name] = reading, left, found
        return before[2]
