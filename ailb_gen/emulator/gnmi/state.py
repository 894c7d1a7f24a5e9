"""The state of a device by paths of OpenConfig, from what its `show` commands answer.

A container has leaves under a path that its keys make one of many. Nothing here has a value of its own: counters,
sessions and carriers are those of the fabric, everything else of the functions that answer `show`.

Source: OpenConfig's models openconfig-interfaces, -if-ethernet, -qos, -bgp, -bfd, -platform-transceiver, -system; the
paths that Juniper publishes for Junos OS Evolved (Juniper/telemetry on GitHub).
"""

from __future__ import annotations

from collections.abc import Iterator

from ailb_gen.emulator.fabric_state import BgpSession, PrefixCounts
from ailb_gen.emulator.gnmi.view import Container, DeviceView, Keys, Value, Values
from ailb_gen.emulator.operations.bfd import discriminator
from ailb_gen.emulator.operations.bgp import peer_address, state_of
from ailb_gen.emulator.operations.interfaces import lane_values, module_voltage
from ailb_gen.emulator.operations.ports import (
    FIRST_SNMP,
    LOGICAL,
    port_mtu,
    port_up,
    speed_bps,
    unit_up,
)
from ailb_gen.network.model import GIGABIT, Port, Unit

NANOSECOND = 10**9
# The instance of all routes, and the name of its BGP.
INSTANCE, BGP, FAMILY = "master", "BGP", "IPV6_UNICAST"


def _one(view: DeviceView) -> Iterator[tuple[Keys, None]]:
    yield (), None


def _port_entries(view: DeviceView) -> Iterator[tuple[Keys, Port]]:
    return (((port.name,), port) for port in view.ports())


def _fabric_port_entries(view: DeviceView) -> Iterator[tuple[Keys, Port]]:
    return (((port.name,), port) for port in view.fabric_ports())


def _unit_entries(view: DeviceView) -> Iterator[tuple[Keys, tuple[Port, Unit]]]:
    return (((port.name, unit.name.rpartition(".")[2]), (port, unit)) for port in view.ports() for unit in port.units)


def _queue_entries(view: DeviceView) -> Iterator[tuple[Keys, tuple[Port, int]]]:
    queues = sorted({one.queue for one in view.classes()})
    return (((port.name, str(queue)), (port, queue)) for port in view.fabric_ports() for queue in queues)


def _session_entries(view: DeviceView) -> Iterator[tuple[Keys, BgpSession]]:
    return (((peer_address(view.device.fabric, session),), session) for session in view.sessions())


def _counted_sessions(view: DeviceView) -> Iterator[tuple[Keys, tuple[BgpSession, PrefixCounts]]]:
    counts = view.device.fabric.prefix_counts(view.device.name)
    for keys, session in _session_entries(view):
        yield keys, (session, counts.get(session.interface, PrefixCounts()))


def _bfd_entries(view: DeviceView) -> Iterator[tuple[Keys, BgpSession]]:
    groups, name = view.device.switch.groups, view.device.name
    for session in view.sessions():
        if groups[session.group].bfd is not None:
            yield (session.interface, str(discriminator(name, session.interface))), session


def _lane_entries(view: DeviceView) -> Iterator[tuple[Keys, tuple[Port, int]]]:
    for port in view.fabric_ports():
        for lane in range(len(lane_values(True))):
            yield (port.name, str(lane)), (port, lane)


def _status(up: bool) -> str:
    return "UP" if up else "DOWN"


def _interface(view: DeviceView, port: Port) -> Values:
    device = view.device
    logical = port.name in LOGICAL
    found: dict[str, Value] = {
        "name": port.name,
        "type": "softwareLoopback" if port.name == "lo0" else "l3ipvlan" if logical else "ethernetCsmacd",
        "enabled": not port.disabled,
        "ifindex": FIRST_SNMP + view.positions()[port.name],
        "admin-status": _status(not port.disabled),
        "oper-status": _status(port_up(device, port)),
    }
    if port.description:
        found["description"] = port.description
    if port.name != "lo0":
        found["mtu"] = port_mtu(port)
    if not logical:
        found["last-change"] = int(device.started * NANOSECOND)
    return found


def _counters(view: DeviceView, port: Port) -> Values:
    """Return the counters of a port; errors are not counted, as in `show interfaces extensive`."""
    device = view.device
    counts = device.counters(port.name)
    return {
        "in-octets": counts.input_bytes,
        "in-pkts": counts.input_packets,
        "out-octets": counts.output_bytes,
        "out-pkts": counts.output_packets,
        "in-errors": 0,
        "in-discards": 0,
        "in-fcs-errors": 0,
        "in-pause-pkts": 0,
        "out-errors": 0,
        "out-discards": counts.output_drops,
        "out-pause-pkts": 0,
        "carrier-transitions": 0,
        "last-clear": int(device.cleared_at(port.name) * NANOSECOND),
    }


def _ethernet(view: DeviceView, port: Port) -> Values:
    speed = speed_bps(view.device, port) // GIGABIT
    return {
        "mac-address": view.device.fabric.mac(view.device.name, port.name),
        "hw-mac-address": view.device.fabric.mac(view.device.name, port.name),
        "port-speed": f"SPEED_{speed}GB",
    }


def _frames(view: DeviceView, port: Port) -> Values:
    """Return what `show interfaces extensive` has of the MAC layer, where nothing is counted."""
    return dict.fromkeys(_FRAMES, 0)


def _unit(view: DeviceView, found: tuple[Port, Unit]) -> Values:
    port, unit = found
    return {
        "index": int(unit.name.rpartition(".")[2]),
        "name": unit.name,
        "enabled": not unit.disabled,
        "ifindex": FIRST_SNMP + view.positions()[unit.name],
        "admin-status": _status(not unit.disabled),
        "oper-status": _status(unit_up(view.device, port, unit)),
    }


def _unit_counters(view: DeviceView, found: tuple[Port, Unit]) -> Values:
    counts = view.device.counters(found[1].name)
    return {
        "in-octets": counts.input_bytes,
        "in-pkts": counts.input_packets,
        "out-octets": counts.output_bytes,
        "out-pkts": counts.output_packets,
    }


def _queue(view: DeviceView, found: tuple[Port, int]) -> Values:
    port, queue = found
    counts = view.device.queue_counters(port.name, queue)
    return {
        "name": str(queue),
        "transmit-pkts": counts.packets,
        "transmit-octets": counts.octets,
        "dropped-pkts": counts.dropped_packets,
        "dropped-octets": counts.dropped_octets,
        "max-queue-len": 0,
        "avg-queue-len": 0,
    }


def _neighbor(view: DeviceView, session: BgpSession) -> Values:
    device = view.device
    found: dict[str, Value] = {
        "neighbor-address": peer_address(device.fabric, session),
        "peer-group": device.switch.groups[session.group].name,
        "peer-type": "EXTERNAL",
        "local-as": session.asn,
        "enabled": True,
        "session-state": state_of(session).upper(),
        "established-transitions": session.flaps + session.established,
    }
    if session.peer_asn is not None:
        found["peer-as"] = session.peer_asn
    if session.established:
        found["last-established"] = int(max(device.started, session.since or 0.0) * NANOSECOND)
    return found


def _prefixes(view: DeviceView, found: tuple[BgpSession, PrefixCounts]) -> Values:
    session, counts = found
    return {
        "received-pre-policy": counts.received,
        "received": counts.accepted,
        "installed": counts.active,
        "sent": view.device.fabric.advertised_count(view.device.name, session),
    }


def _bfd(view: DeviceView, session: BgpSession) -> Values:
    device = view.device
    return {
        "local-discriminator": str(discriminator(device.name, session.interface)),
        "remote-address": peer_address(device.fabric, session).partition("%")[0],
        "session-state": _status(session.bfd_up),
        "subscribed-protocols": BGP,
    }


def _transceiver(view: DeviceView, port: Port) -> Values:
    return {"supply-voltage/instant": module_voltage()}


def _lane(view: DeviceView, found: tuple[Port, int]) -> Values:
    port, lane = found
    return lane_values(port_up(view.device, port))[lane]


def _system(view: DeviceView, _: None) -> Values:
    device = view.device
    return {
        "hostname": device.host_name,
        "software-version": device.version,
        "boot-time": int(device.started * NANOSECOND),
    }


_INTERFACE = "/interfaces/interface[name]"
_UNIT = f"{_INTERFACE}/subinterfaces/subinterface[index]"
_NEIGHBOR = (
    f"/network-instances/network-instance[name={INSTANCE}]/protocols/protocol[identifier={BGP}][name={BGP}]"
    "/bgp/neighbors/neighbor[neighbor-address]"
)
_FRAMES = (
    "in-crc-errors",
    "in-fragment-frames",
    "in-jabber-frames",
    "in-oversize-frames",
    "in-mac-control-frames",
    "in-mac-pause-frames",
    "out-mac-control-frames",
    "out-mac-pause-frames",
)
_COUNTERS = ("in-octets", "in-pkts", "out-octets", "out-pkts")
CONTAINERS = (
    Container("/system/state", ("hostname", "software-version", "boot-time"), _one, _system),
    Container(
        f"{_INTERFACE}/state",
        ("name", "type", "enabled", "ifindex", "admin-status", "oper-status", "description", "mtu", "last-change"),
        _port_entries,
        _interface,
    ),
    Container(
        f"{_INTERFACE}/state/counters",
        (
            *_COUNTERS,
            "in-errors",
            "in-discards",
            "in-fcs-errors",
            "in-pause-pkts",
            "out-errors",
            "out-discards",
            "out-pause-pkts",
            "carrier-transitions",
            "last-clear",
        ),
        _port_entries,
        _counters,
        counted=True,
    ),
    Container(
        f"{_INTERFACE}/ethernet/state",
        ("mac-address", "hw-mac-address", "port-speed"),
        _fabric_port_entries,
        _ethernet,
    ),
    Container(f"{_INTERFACE}/ethernet/state/counters", _FRAMES, _fabric_port_entries, _frames, counted=True),
    Container(
        f"{_UNIT}/state",
        ("index", "name", "enabled", "ifindex", "admin-status", "oper-status"),
        _unit_entries,
        _unit,
    ),
    Container(f"{_UNIT}/state/counters", _COUNTERS, _unit_entries, _unit_counters, counted=True),
    Container(
        "/qos/interfaces/interface[interface-id]/output/queues/queue[name]/state",
        (
            "name",
            "transmit-pkts",
            "transmit-octets",
            "dropped-pkts",
            "dropped-octets",
            "max-queue-len",
            "avg-queue-len",
        ),
        _queue_entries,
        _queue,
        counted=True,
    ),
    Container(
        f"{_NEIGHBOR}/state",
        (
            "neighbor-address",
            "peer-group",
            "peer-type",
            "local-as",
            "enabled",
            "session-state",
            "established-transitions",
            "peer-as",
            "last-established",
        ),
        _session_entries,
        _neighbor,
    ),
    Container(
        f"{_NEIGHBOR}/afi-safis/afi-safi[afi-safi-name={FAMILY}]/state/prefixes",
        ("received-pre-policy", "received", "installed", "sent"),
        _counted_sessions,
        _prefixes,
    ),
    Container(
        "/bfd/interfaces/interface[id]/peers/peer[local-discriminator]/state",
        ("local-discriminator", "remote-address", "session-state", "subscribed-protocols"),
        _bfd_entries,
        _bfd,
    ),
    Container(
        "/components/component[name]/transceiver/state",
        ("supply-voltage/instant",),
        _fabric_port_entries,
        _transceiver,
        counted=True,
    ),
    Container(
        "/components/component[name]/transceiver/physical-channels/channel[index]/state",
        ("input-power/instant", "output-power/instant", "laser-bias-current/instant"),
        _lane_entries,
        _lane,
        counted=True,
    ),
)
