"""The servers of a fabric together: what their leaves are configured for, and what differs among servers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ailb_gen.checks.model import Finding
from ailb_gen.deploy.servers.addresses import Advertised, NicHardware
from ailb_gen.deploy.servers.expected import ExpectedServer
from ailb_gen.deploy.servers.jobs import ExpectedJobs, PlugIn, hardware_figures, unlike
from ailb_gen.deploy.servers.observed import ObservedServer, observe
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.switch_state import FabricModel

# Junos's own preferred lifetime of a prefix and longest time between advertisements, in seconds.
PREFERRED_S, INTERVAL_S = 604_800, 600


@dataclass(frozen=True, slots=True)
class ServerState:
    """What is kept of a server that was read: its findings, and what is compared with other servers."""

    findings: tuple[Finding, ...]
    jobs: ExpectedJobs
    plug_in: PlugIn
    hardware: Mapping[str, NicHardware]


def read_state(
    server: ServerConnection,
    expected: ExpectedServer,
    compare: Callable[[str, ExpectedServer, ObservedServer], tuple[Finding, ...]],
) -> ServerState:
    """Read a server and compare it with what is expected; changes nothing there. Raises DeviceError."""
    observed = observe(server, expected)
    findings = compare(server.name, expected, observed)
    return ServerState(findings, expected.jobs, observed.plug_in, observed.hardware)


def of_fleet(states: Mapping[str, ServerState]) -> tuple[tuple[Finding, ...], tuple[tuple[str, str], ...]]:
    """Return the findings about the odd ones out of some servers, and figures of all."""
    jobs = {name: one.jobs for name, one in states.items()}
    findings = unlike(jobs, {name: one.plug_in for name, one in states.items()})
    return tuple(findings), hardware_figures({name: one.hardware for name, one in states.items()})


def with_leaves(name: str, expected: ExpectedServer, model: FabricModel) -> ExpectedServer:
    """Return what is expected of a server, with the speeds and advertisements that its leaves are configured for."""
    ports = dict(expected.ports)
    for nic, port in expected.ports.items():
        end = model.attachments.get((name, nic))
        leaf = model.switches.get(end.device) if end is not None else None
        if end is None or leaf is None:
            continue
        # A port that is split off has the speed of the one that was split.
        rows = (leaf.ports.get(word) for word in (end.port, end.port.partition(":")[0]))
        speed = next((row.speed_bps for row in rows if row is not None and row.speed_bps), None)
        advertised = {
            one.prefix: Advertised(int(one.preferred or PREFERRED_S), row.max_interval or INTERVAL_S)
            for row in leaf.advertisements.values()
            for one in row.prefixes
            if (one.preferred or "0").isdecimal()
        }
        ports[nic] = replace(port, speed_bps=speed, advertised=advertised)
    return replace(expected, ports=ports)
