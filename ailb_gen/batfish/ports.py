"""Ports and VLANs as Batfish reads them from the files, compared with the intent and with this program's own reader."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ailb_gen.batfish.answers import Row, listed, parse_integer, parse_interface, switches_by_node
from ailb_gen.batfish.unsupported import MANAGEMENT
from ailb_gen.checks import subjects as about
from ailb_gen.checks.compare import deviations
from ailb_gen.checks.expected import ExpectedFabric, port_override
from ailb_gen.checks.expected_cabling import ExpectedCabling
from ailb_gen.checks.families.batfish import PORTS, READERS, VLANS
from ailb_gen.checks.model import Findings
from ailb_gen.network.fabric import End, Network
from ailb_gen.network.model import Port, Switch, vlan_interfaces

# What Batfish, like Junos, assumes for an Ethernet port without `mtu` (RFC 894).
DEFAULT_MTU = 1500


@dataclass(frozen=True, slots=True)
class ExpectedPorts:
    """Expected ports and VLANs, from the intent.

    `ports` maps every cabled port of a switch to its MTU, but for those that the intent disables; `vlans` maps every
    switch and VLAN id to the logical interfaces that belong in it.
    """

    ports: Mapping[End, int]
    vlans: Mapping[tuple[str, int], frozenset[str]]


def expected_ports(expected: ExpectedFabric, cables: ExpectedCabling) -> ExpectedPorts:
    """Compute the expected ports and VLANs."""
    switches = expected.switches
    ends = [End(cable.a_device, cable.a_port) for cable in (*cables.links, *cables.hosts)]
    ends += [End(cable.b_device, cable.b_port) for cable in cables.links]
    ports = {end: switches[end.device].mtu_of(end.port) for end in ends if not port_override(expected, end).disabled}
    vlans: dict[tuple[str, int], set[str]] = {}
    for leaf in expected.leaves:
        if leaf.vlan is not None:
            vlans[leaf.name, leaf.vlan] = {f"irb.{leaf.vlan}"}
    for cable in cables.hosts:
        vlan = switches[cable.a_device].vlan
        if vlan is not None:
            vlans[cable.a_device, vlan].add(f"{cable.a_port}.0")
    return ExpectedPorts(ports, {key: frozenset(names) for key, names in vlans.items()})


def check_ports(network: Network, expected: ExpectedPorts, rows: Sequence[Row], findings: Findings) -> None:
    """Check interfaceProperties: every cabled port is up and has its MTU; both readers see the same."""
    observed = {parse_interface(row["Interface"]): row for row in rows}
    for node, switch in switches_by_node(network).items():
        for port in switch.ports.values():
            row = observed.get((node, port.name))
            # Ports without anything on them are not in every answer; cabled ones are checked below.
            if row is None:
                continue
            findings.look(READERS)
            for message in _differences(port, row):
                findings.at(READERS, switch, message, port.mtu_line or port.line, part=port.name)
    nodes = {switch.named: node for node, switch in switches_by_node(network).items()}
    for end, mtu in expected.ports.items():
        if end.device in nodes:
            findings.look(PORTS)
            row = observed.get((nodes[end.device], end.port))
            _check_port(network.switches[end.device], end.port, mtu, row, findings)


def _differences(port: Port, row: Row) -> Iterator[str]:
    mtu = DEFAULT_MTU if port.mtu is None else port.mtu
    if row["MTU"] != mtu:
        yield f"Batfish reads an MTU of {row['MTU']}, this program {mtu}"
    if row["Active"] is not (not port.disabled) and not MANAGEMENT.match(port.name):
        state = {True: "up", False: "down"}
        yield f"in Batfish the port is {state[row['Active'] is True]}, in this program {state[not port.disabled]}"


def _check_port(switch: Switch, name: str, mtu: int, row: Row | None, findings: Findings) -> None:
    port = switch.ports.get(name)
    line = port.mtu_line or port.line if port is not None else 1
    if row is None:
        findings.at(PORTS, switch, "Batfish finds no such port in the file; a cable ends there", line, part=name)
        return
    if row["Active"] is not True:
        findings.at(PORTS, switch, "Batfish finds the port down", line, part=name)
    if row["MTU"] != mtu:
        message = f"Batfish finds an MTU of {row['MTU']}, not {mtu}"
        findings.at(PORTS, switch, message, line, mtu, row["MTU"], part=name)


def check_vlans(network: Network, expected: ExpectedPorts, rows: Sequence[Row], findings: Findings) -> None:
    """Check switchedVlanProperties: in every VLAN the interfaces of the intent; both readers see the same."""
    observed = _observed_vlans(network, rows)
    known = {switch.named: switch for switch in switches_by_node(network).values()}
    intended = {key: members for key, members in expected.vlans.items() if key[0] in known}
    read = {(name, vlan): names for name, switch in known.items() for vlan, names in vlan_interfaces(switch).items()}
    findings.look(VLANS, len(intended))
    findings.look(READERS, len(read.keys() | observed.keys()))
    wrong = [(VLANS, "Batfish finds VLAN", deviation) for deviation in deviations(intended, observed)]
    wrong += [
        (READERS, "unlike this program, Batfish reads VLAN", deviation) for deviation in deviations(read, observed)
    ]
    for check, head, deviation in wrong:
        name, vlan = deviation.subject
        message = f"{head} {vlan} {_difference(deviation.expected or frozenset(), deviation.observed or frozenset())}"
        if check is VLANS and deviation.expected is None:
            message = f"{head} {vlan}, which the intent does not have"
        subjects = [about.vlan(name, vlan)]
        findings.at(check, known[name], message, _vlan_line(known[name], vlan), subjects=subjects)


def _observed_vlans(network: Network, rows: Sequence[Row]) -> dict[tuple[str, int], frozenset[str]]:
    nodes = switches_by_node(network)
    vlans = {}
    for row in rows:
        switch = nodes.get(str(row["Node"]))
        if switch is not None:
            members = frozenset(parse_interface(member)[1] for member in listed(row["Interfaces"]))
            vlans[switch.named, parse_integer(row["VLAN_ID"])] = members
    return vlans


def _vlan_line(switch: Switch, vlan_id: int) -> int:
    return next((vlan.line for vlan in switch.vlans if vlan.vlan_id == vlan_id), 1)


def _difference(expected: frozenset[str], have: frozenset[str]) -> str:
    missing, extra = sorted(expected - have), sorted(have - expected)
    parts = [f"without {', '.join(missing)}"] if missing else []
    parts += [f"with {', '.join(extra)}"] if extra else []
    return " and ".join(parts)
