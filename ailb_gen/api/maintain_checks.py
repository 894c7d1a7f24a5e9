"""What is looked at around devices in maintenance: whether they and their peers are as designed, and their traffic."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ailb_gen.accept.counters import Readings, read_counters
from ailb_gen.checks.model import Severity
from ailb_gen.deploy.switch_state import FabricModel, read_fabric_model
from ailb_gen.deploy.verification import drift, verify
from ailb_gen.network.fabric import End
from ailb_gen.wording import counted

if TYPE_CHECKING:
    from ailb_gen.checks.model import Finding
    from ailb_gen.deploy.session import DeploySession

# A port is quiet when so many rates in a row are low: one may fall between two bursts.
QUIET_READINGS = 3
# So many findings, or ports, are named in a message.
NAMED = 5


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The peers of devices, and their cabled ports; those of servers are all their NICs."""

    peers: frozenset[str]
    ports: frozenset[End]


def surroundings(session: DeploySession, names: Iterable[str]) -> Surroundings:
    """Return what is around devices, by the generated files. Raises UsageError where the cabling cannot be read."""
    model = read_fabric_model(session.inputs.artifacts, {})
    peers: set[str] = set()
    ports: set[End] = set()
    for name in names:
        for end, far in _cables(model, name):
            peers.add(far)
            if name in session.switches:
                ports.add(end)
    managed = {*session.switches, *session.servers}
    return Surroundings(frozenset(peers & managed), frozenset(ports))


def _cables(model: FabricModel, name: str) -> Iterable[tuple[End, str]]:
    """Yield the ends of the cables at a device, and the device at the other end of each."""
    for cable in model.cables.get(name, ()):
        own, far = (cable.a, cable.b) if cable.a.device == name else (cable.b, cable.a)
        yield own, far.device
    for server, port in model.servers.get(name, ()):
        yield End(name, port), server
    for (server, nic), end in model.attachments.items():
        if server == name:
            yield End(server, nic), end.device


def deviations(session: DeploySession, names: Collection[str]) -> tuple[Finding, ...]:
    """Return the errors that `verify` and `drift` find on devices and their peers; one that is not reached is one."""
    around = frozenset(names) | surroundings(session, names).peers
    picked = replace(session, picked=around)
    switches = {name: target for name, target in session.switches.items() if name in around}
    servers = {name: target for name, target in session.servers.items() if name in around}
    results = [*verify(picked), *drift(replace(picked, switches=switches, servers=servers))]
    found = (one for row in results if row.check.severity >= Severity.ERROR for one in row.findings)
    # Both tell of a device that does not answer.
    return tuple(dict.fromkeys(found))


def summary(findings: Collection[Finding]) -> str:
    """Return findings as lines of a message, the first ones."""
    lines = [f"  {one.device}: {one.message}" for one in findings]
    more = [f"  and {counted(len(lines) - NAMED, 'more finding')}; 'ailb-gen verify' and 'drift' show all"]
    return "\n".join([*lines[:NAMED], *(more if len(lines) > NAMED else ())])


@dataclass(slots=True)
class Quiet:
    """Watches the ports of a device until their traffic has gone; `below_bps` is what a quiet port has at most.

    Without `ports`, all that are read are meant. `rates` are those between the last two readings in bit/s, the larger
    of both directions; `error` is why the last could not be made.
    """

    device: str
    ports: frozenset[End]
    below_bps: float
    rates: Mapping[End, float] = field(default_factory=dict)
    error: str = ""
    _readings: int = 0
    _before: Readings | None = None
    _at: float = 0.0
    _low: int = 0

    def take(self, found: Readings, now: float) -> bool:
        """Take a reading made at a time in seconds; return whether all ports have been quiet long enough."""
        before, passed = self._before, max(now - self._at, 1e-3)
        self._readings += 1
        error = found.errors.get(self.device)
        self.error = str(error) if error is not None else ""
        self._before, self._at = found, now
        if before is None or self.error:
            self._low = 0
            return False
        less = found.since(before).ports
        counts = {end: one for end, one in less.items() if end in self.ports or self._all(end)}
        self.rates = {end: 8 * max(one.input_bytes, one.output_bytes) / passed for end, one in counts.items()}
        # What was cleared between two readings is not known to be quiet.
        low = not self.loaded and len(counts) >= len(self.ports)
        self._low = self._low + 1 if low else 0
        return self._low >= QUIET_READINGS

    def _all(self, end: End) -> bool:
        return not self.ports and end.device == self.device

    @property
    def failing(self) -> bool:
        """Whether the last rates were not low; a rate takes two readings."""
        return self._readings > 1 and not self._low

    @property
    def loaded(self) -> tuple[End, ...]:
        """The ports that are not quiet, the one with most traffic first."""
        over = [end for end, rate in self.rates.items() if rate > self.below_bps]
        return tuple(sorted(over, key=lambda end: (-self.rates[end], end)))

    def __str__(self) -> str:
        """Say which ports are not quiet, with their rates."""
        if self.error:
            return self.error
        shown = [f"{end.port} {self.rates[end] / 1e6:,.1f} Mb/s" for end in self.loaded[:NAMED]]
        more = [f"and {counted(len(self.loaded) - NAMED, 'more port')}"] if len(self.loaded) > NAMED else []
        return ", ".join([*shown, *more]) or "not all of its ports could be read twice"


def read_ports(session: DeploySession, names: Collection[str]) -> tuple[Readings, float]:
    """Read the counters of devices; return them and the time in seconds. No connection is kept."""
    found = read_counters(replace(session, picked=frozenset(names)))
    session.pool.close(names)
    return found, time.monotonic()
