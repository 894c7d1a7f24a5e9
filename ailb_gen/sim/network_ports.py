"""What the files say of single ports: the class of RDMA's data there, PFC, ECN, and the largest packet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ailb_gen.errors import UsageError
from ailb_gen.hosts.model import ServerProfile
from ailb_gen.network.fabric import Network
from ailb_gen.network.model import Port, Switch, Unit, vlan_interfaces
from ailb_gen.network.port_qos import PortQos, port_entry, qos_of
from ailb_gen.sim.fabric import FabricArrays
from ailb_gen.wording import some

# Junos without `mtu`, which counts the Ethernet header (1514 with it), and netplan without.
DEFAULT_MTU, ETHERNET = 1514, 14
DEFAULT_NIC_MTU = 1500
# Of RoCEv2 over IPv6: IPv6 40, UDP 8, BTH 12, RETH of the first packet of a write 16, ICRC 4 (InfiniBand Architecture
# Specification, volume 1, annex A17).
ROCE_HEADERS = 80


@dataclass(frozen=True, slots=True)
class PortData:
    """What happens to RDMA's data at a port of a switch.

    `sends` is the priority of the pause frames that the port sends when data comes in too fast, None: it sends none.
    `obeys` are the priorities of pause frames that stop the data that it sends. Marking begins at the first of `fill`
    percent of the queue's memory, and reaches `probability` percent at the last; no `fill`: nothing is marked.
    """

    sends: int | None = None
    obeys: frozenset[int] = frozenset()
    fill: tuple[int, int] | None = None
    probability: int = 0


def data_dscp(network: Network) -> int | None:
    """Return the DSCP with which servers send RDMA's data; None if their files do not say. Raises UsageError."""
    users: dict[int, list[str]] = defaultdict(list)
    for host in network.hosts.values():
        value = _qos(host.profile, "traffic_class")
        if isinstance(value, int):
            # The two lowest bits of the traffic class are ECN's (RFC 3168).
            users[value >> 2].append(host.name)
    if len(users) > 1:
        rows = "; ".join(f"{dscp} at {some(users[dscp])}" for dscp in sorted(users))
        raise UsageError(f"servers send RDMA's data with different DSCPs: {rows}; the simulator has one class for it")
    return next(iter(users), None)


def _qos(profile: ServerProfile, key: str) -> object:
    setting = profile.qos.get(key) if profile.qos is not None else None
    return setting.value if setting is not None else None


class Ports:
    """Looks up what the files say of the ends of links."""

    def __init__(self, network: Network, fabric: FabricArrays) -> None:
        """Look up in the files of a fabric. Raises UsageError for servers with several DSCPs."""
        self.network, self.fabric = network, fabric
        self._dscp = data_dscp(network)
        self._by_entry: dict[tuple[str, int], PortData] = {}
        self._irbs: dict[str, Mapping[str, Unit]] = {}

    def end(self, link: int) -> tuple[str, str]:
        """Return the device that sends over a link, and its port."""
        device, _, port = self.fabric.link_names[link].partition(":")
        return device, port

    def data(self, device: str, port: str) -> PortData:
        """Return what a port of a switch does with RDMA's data."""
        cos = self.network.switches[device].cos
        entry = port_entry(cos, port)
        key = device, id(entry)
        if key not in self._by_entry:
            self._by_entry[key] = _data(qos_of(cos, entry), self._dscp)
        return self._by_entry[key]

    def obeys(self, device: str, port: str, priority: int) -> bool:
        """Return whether pause frames of a priority stop the data that a port or NIC sends."""
        if device in self.network.switches:
            return priority in self.data(device, port).obeys
        profile = self.network.hosts[device].profile
        mask, own = _qos(profile, "pfc"), _qos(profile, "priority")
        if not isinstance(mask, str):
            # Without ailb-qos no file says what NICs do.
            return True
        return own == priority and mask.split(",")[priority : priority + 1] == ["1"]

    def payload_limit(self, link: int) -> int:
        """Return the most bytes of RDMA's payload in a packet that both ends of a link carry."""
        sender, receiver = self.end(link), self.end(int(self.fabric.link_reverse[link]))
        limits = [self._most(sender, sends=True), self._most(receiver, sends=False)]
        return min(limits) - ROCE_HEADERS

    def _most(self, end: tuple[str, str], sends: bool) -> int:
        """Return the most bytes of an IPv6 packet that a port sends, or takes."""
        device, name = end
        switch = self.network.switches.get(device)
        if switch is None:
            return self._of_nic(device, name) if sends else 2**31
        port = switch.ports[name]
        limits = [_frame(port)]
        if sends:
            limits += [unit.inet6_mtu for unit in self._routed(switch, port) if unit.inet6_mtu]
            irbs = [switch.ports["irb"]] if any(unit.switching for unit in port.units) and "irb" in switch.ports else []
            limits += [_frame(irb) for irb in irbs]
        return min(limits)

    def _of_nic(self, device: str, name: str) -> int:
        """Return the MTU of a NIC."""
        nic = self.network.hosts[device].profile.nics.get(name)
        value = nic.value("mtu") if nic is not None else None
        return value if isinstance(value, int) else DEFAULT_NIC_MTU

    def _routed(self, switch: Switch, port: Port) -> Iterator[Unit]:
        """Yield the logical interfaces that route what a port sends: its own, or the IRBs of its VLANs."""
        if switch.named not in self._irbs:
            self._irbs[switch.named] = dict(_irbs(switch))
        for unit in port.units:
            if unit.inet6:
                yield unit
            elif unit.name in self._irbs[switch.named]:
                yield self._irbs[switch.named][unit.name]


def _frame(port: Port) -> int:
    return (port.mtu or DEFAULT_MTU) - ETHERNET


def _irbs(switch: Switch) -> Iterator[tuple[str, Unit]]:
    """Yield logical interfaces with the IRB of their VLAN."""
    for members in vlan_interfaces(switch).values():
        units = [unit for name in sorted(members) if name.startswith("irb.") and (unit := switch.unit(name))]
        yield from ((name, unit) for name in members for unit in units[:1])


def _data(qos: PortQos, dscp: int | None) -> PortData:
    treatment = qos.of(dscp) if dscp is not None else next(iter(qos.lossless), None)
    if treatment is None:
        return PortData()
    sends = treatment.pfc_priority if treatment.no_loss and treatment.pfc else None
    obeys = frozenset(pause.priority for pause in qos.pauses if pause.queue == treatment.queue)
    fill, probability = map(_percents, (treatment.fill, treatment.probability))
    if not treatment.ecn or not fill or not probability:
        return PortData(sends, obeys)
    return PortData(sends, obeys, (fill[0], fill[-1]), probability[-1])


def _percents(words: Iterable[str]) -> list[int]:
    return [int(word) for word in words if word.isascii() and word.isdigit()]
