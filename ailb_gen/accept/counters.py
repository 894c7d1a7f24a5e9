"""Counters of all ports and NICs, before and after, and how many packets of a known size are between two readings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ailb_gen.accept.hosts import ask_host, wrong_answer
from ailb_gen.deploy.servers.files import whole
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.session import DeploySession
from ailb_gen.deploy.switch_driver import NUMBER, DeviceError, Phase, SwitchDriver, unreadable
from ailb_gen.deploy.switch_state import text_in
from ailb_gen.network.fabric import End

# Octets of a counted packet beyond its IPv6 and UDP headers and its payload: Ethernet, and what platforms count or not.
OVERHEADS = (14, 18, 0, 38)
HEADERS = 48
# The octets that other packets on a port have on average: sessions, BFD, neighbor discovery, advertisements.
LEAST_OTHER, MOST_OTHER = 60, 400
# Counters of a NIC that say that something is not as it should be, and what they count.
SUSPICIOUS: Mapping[str, str] = {
    "cnp_sent": "CNPs sent",
    "cnp_handled": "CNPs received",
    "ecn_marked": "packets marked by ECN",
    "out_of_order": "packets out of order",
    "ack_timeouts": "timeouts of acknowledgments",
    "sequence_naks": "retransmissions after a gap",
    "net_tx_dropped": "packets dropped in sending",
    "net_tx_errors": "errors in sending",
    "net_rx_errors": "errors in receiving",
}


@dataclass(frozen=True, slots=True)
class PortCounters:
    """Packets and octets that a port or NIC has received and sent."""

    input_packets: int = 0
    input_bytes: int = 0
    output_packets: int = 0
    output_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Readings:
    """A reading of all counters: of ports and NICs, and the suspicious ones of NICs by name; errors by device.

    `devices` are those that have answered.
    """

    ports: Mapping[End, PortCounters] = field(default_factory=dict)
    suspicious: Mapping[End, Mapping[str, int]] = field(default_factory=dict)
    errors: Mapping[str, DeviceError] = field(default_factory=dict)
    devices: frozenset[str] = frozenset()

    def since(self, before: Readings) -> Readings:
        """Return the difference to an earlier reading; what either lacks, or was cleared meanwhile, is left out."""
        ports = {end: _less(now, before.ports[end]) for end, now in self.ports.items() if end in before.ports}
        counted = {
            end: {name: value - before.suspicious[end].get(name, value) for name, value in row.items()}
            for end, row in self.suspicious.items()
            if end in before.suspicious
        }
        known = {end: found for end, found in ports.items() if found is not None}
        return Readings(known, counted, {**before.errors, **self.errors}, self.devices & before.devices)


def _less(now: PortCounters, before: PortCounters) -> PortCounters | None:
    packets = (now.input_packets - before.input_packets, now.output_packets - before.output_packets)
    octets = (now.input_bytes - before.input_bytes, now.output_bytes - before.output_bytes)
    if min(*packets, *octets) < 0:
        return None
    return PortCounters(packets[0], octets[0], packets[1], octets[1])


def read_counters(session: DeploySession) -> Readings:
    """Read the counters of all picked devices at about the same time; connections are kept for the next reading."""
    ports: dict[End, PortCounters] = {}
    suspicious: dict[End, Mapping[str, int]] = {}
    errors: dict[str, DeviceError] = {}
    switches = [name for name in session.switches if name in session.picked]
    of_switches = session.pool.run(switches, read_switch, Phase.READ)
    servers = [name for name in session.servers if name in session.picked]
    of_servers = session.pool.run(servers, read_server, Phase.READ)
    for row in of_switches.good.values():
        ports |= row
    for found, counted in of_servers.good.values():
        ports |= found
        suspicious |= counted
    errors |= {**of_switches.bad, **of_servers.bad}
    return Readings(ports, suspicious, errors, frozenset({*of_switches.good, *of_servers.good}))


def read_switch(name: str, switch: SwitchDriver) -> dict[End, PortCounters]:
    """Read `show interfaces detail` of a switch: the traffic of its physical ports. Raises DeviceError."""
    rpc = "get-interface-information"
    found = {}
    for entry in switch.ask(rpc, detail=True).iter("physical-interface"):
        counts = entry.find("traffic-statistics")
        if counts is None:
            continue
        texts = [text_in(counts, part) for part in ("input-packets", "input-bytes", "output-packets", "output-bytes")]
        if all(texts):
            wrong = next((text for text in texts if not NUMBER.fullmatch(text)), None)
            if wrong is not None:
                raise unreadable(name, Phase.READ, rpc, f"a counter is {wrong[:80]!a}")
            found[End(name, text_in(entry, "name"))] = PortCounters(*map(int, texts))
    return found


def read_server(name: str, server: ServerConnection) -> tuple[dict[End, PortCounters], dict[End, Mapping[str, int]]]:
    """Read the counters of a server's NICs: the kernel's traffic, and the suspicious ones. Raises DeviceError."""
    answer = ask_host(server, "counters", "--json")
    ports: dict[End, PortCounters] = {}
    suspicious: dict[End, Mapping[str, int]] = {}
    try:
        for row in answer["nics"]:
            totals = {key: whole(value) for key, value in row["totals"].items() if value is not None}
            end = End(name, str(row["nic"])[:64])
            suspicious[end] = {key: totals[key] for key in SUSPICIOUS if key in totals}
            if "net_tx_packets" in totals:
                ports[end] = PortCounters(
                    totals["net_rx_packets"], totals["net_rx_bytes"], totals["net_tx_packets"], totals["net_tx_bytes"]
                )
    except (KeyError, TypeError, AttributeError) as error:
        raise wrong_answer(name, "counters", error) from error
    return ports, suspicious


def packets_of_size(packets: int, octets: int, size: int, expected: int) -> int:
    """Return how many packets of a size are among those counted; `expected` if the counters allow that.

    Other packets are far smaller, so their number and that of ours follow from packets and octets together.
    """
    low, high = (max(0.0, (octets - packets * other) / (size - other)) for other in (MOST_OTHER, LEAST_OTHER))
    if low <= expected <= high and expected <= packets:
        return expected
    return min(packets, round((low + high) / 2))
