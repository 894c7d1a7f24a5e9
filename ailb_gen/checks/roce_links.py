"""RoCE and MTU across cables: between switches, and between `ailb-qos` of a server and its leaf."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ailb_gen.checks.roce_checks import HOSTS, LINK_MTUS, LINKS
from ailb_gen.errors import Place
from ailb_gen.layout import QOS, server_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ailb_gen.checks.expected_devices import ExpectedHost, ExpectedSwitch
    from ailb_gen.checks.findings import Findings
    from ailb_gen.hosts.model import Profile, QosScript, Value
    from ailb_gen.intent.settings import Roce
    from ailb_gen.network.fabric import Cable, End, Network
    from ailb_gen.network.port_qos import PortQos

# The two low bits of the traffic class say "ECN-capable transport" (RFC 3168, section 5).
ECT_0 = 0b10
# The queue of everything that no classifier names.
BEST_EFFORT = 0
# (what, value at one end, value at the other)
Difference = tuple[str, object, object]
QosAt = dict[tuple[str, str], "PortQos"]


def _code_points(qos: PortQos, *, lossless: bool) -> tuple[int, ...]:
    return tuple(
        treatment.dscp
        for treatment in qos.treatments
        if treatment.no_loss == lossless and treatment.queue != BEST_EFFORT
    )


def _differences(here: PortQos, there: PortQos, *, same_intent: bool) -> Iterator[Difference]:
    """Compare two ends: what travels in packets always, queues and marking where the intent asks the same of both."""
    yield "the lossless DSCPs", _code_points(here, lossless=True), _code_points(there, lossless=True)
    yield (
        "the PFC priorities",
        tuple(treatment.pfc_priority for treatment in here.lossless),
        tuple(treatment.pfc_priority for treatment in there.lossless),
    )
    yield (
        "the priorities whose PFC is obeyed",
        tuple(sorted(pause.priority for pause in here.pauses)),
        tuple(sorted(pause.priority for pause in there.pauses)),
    )
    yield (
        "the DSCPs that PFC is sent for",
        tuple(sorted(point.dscp for point in here.pfc)),
        tuple(sorted(point.dscp for point in there.pfc)),
    )
    yield "the other DSCPs with a class", _code_points(here, lossless=False), _code_points(there, lossless=False)
    if same_intent:
        others = {treatment.dscp: treatment for treatment in there.treatments}
        pairs = ((own, others[own.dscp]) for own in here.treatments if own.dscp in others)
        for own, other in pairs:
            name = f"of DSCP {own.dscp}"
            yield f"the queue {name}", own.queue, other.queue
            yield f"ECN {name}", own.ecn, other.ecn
            yield f"the drop profile {name}", own.fill + own.probability, other.fill + other.probability


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value)) or "none"
    return (
        {None: "none", True: "on", False: "off"}.get(value, "")
        if value is None or isinstance(value, bool)
        else str(value)
    )


def check_links(network: Network, intended: Mapping[str, ExpectedSwitch], qos_at: QosAt, collected: Findings) -> None:
    """Compare class of service and MTU of the two ends of every cable between switches."""
    known: dict[tuple[int, int, bool], tuple[Difference, ...]] = {}
    for cable in network.links:
        here, there = qos_at.get((cable.a.device, cable.a.port)), qos_at.get((cable.b.device, cable.b.port))
        _check_mtus(cable, network, collected)
        if here is None or there is None:
            continue
        collected.look(LINKS)
        asked = [intended[end.device].roce if end.device in intended else None for end in (cable.a, cable.b)]
        if None in asked and here.lossless == there.lossless:
            continue
        same = asked[0] is asked[1] or asked[0] == asked[1]
        key = (id(here), id(there), same)
        if key not in known:
            rows = _differences(here, there, same_intent=same)
            known[key] = tuple(row for row in rows if row[1] != row[2])
        for what, own, other in known[key]:
            message = f"{what} are {_text(own)} on {cable.a}, {_text(other)} on {cable.b}"
            place = Place(network.switches[cable.a.device].file, here.line or 1)
            ends = (cable.a.device, cable.b.device)
            collected.add(LINKS, f"{cable.a.device} {cable.a.port}", message, place, _text(own), _text(other), ends)


def _mtu_at(network: Network, end: End) -> tuple[int | None, Place | None]:
    switch = network.switches.get(end.device)
    port = switch.ports.get(end.port) if switch is not None else None
    if switch is None or port is None:
        return None, None
    return port.mtu, Place(switch.file, port.mtu_line or port.line or 1)


def _check_mtus(cable: Cable, network: Network, collected: Findings) -> None:
    (here, place), (there, other) = _mtu_at(network, cable.a), _mtu_at(network, cable.b)
    if place is None or other is None:
        return
    collected.look(LINK_MTUS)
    if here != there:
        default = "Junos's default"
        message = f"the MTU of {cable.a} is {here or default}, that of {cable.b} is {there or default}"
        collected.add(LINK_MTUS, f"{cable.a.device} {cable.a.port}", message, place, here or default, there or default)


def _wanted_values(roce: Roce) -> dict[str, Value]:
    mask = ",".join("1" if priority == roce.pfc_priority else "0" for priority in range(8))
    return {
        "trust": "dscp",
        "pfc": mask,
        "dscp2prio": (roce.dscp, roce.pfc_priority),
        "tos": roce.dscp << 2 | ECT_0,
        "traffic_class": roce.dscp << 2 | ECT_0,
        "cnp_dscp": roce.cnp_dscp,
        # The class selector bits of the DSCP (RFC 2474, section 4.2.2).
        "cnp_priority": roce.cnp_dscp >> 3,
        "ecn_np": (1, roce.pfc_priority),
        "ecn_rp": (1, roce.pfc_priority),
    }


def check_hosts(network: Network, intended: Mapping[str, ExpectedHost], qos_at: QosAt, collected: Findings) -> None:
    """Compare `ailb-qos` with the intent once per profile, and with the leaf once per pair of settings."""
    seen: dict[tuple[str, int], list[str]] = {}
    for name, host in network.hosts.items():
        if name in intended and host.profile.qos is not None:
            seen.setdefault((host.profile.folder, id(intended[name])), []).append(name)
    for names in seen.values():
        host, asked = network.hosts[names[0]], intended[names[0]]
        qos = host.profile.qos
        if qos is not None and asked.roce is not None:
            _check_values(host.profile, qos, asked.roce, names, collected)
    agree: dict[tuple[int, int], str] = {}
    for (name, nic), end in network.attachments.items():
        port, server = qos_at.get((end.device, end.port)), network.hosts.get(name)
        script = server.profile.qos if server is not None else None
        if port is None or server is None or script is None:
            continue
        collected.look(HOSTS)
        key = (id(port), id(script))
        if key not in agree:
            agree[key] = _disagreement(port, script)
        if agree[key]:
            place = Place(network.switches[end.device].file, port.line or 1)
            involves = (end.device, server.profile.folder)
            collected.add(HOSTS, f"{name} {nic}", f"{agree[key]} on {end}", place, involves=involves)


def _check_values(profile: Profile, qos: QosScript, roce: Roce, names: list[str], collected: Findings) -> None:
    scope = names[0] if profile.folder == server_folder(names[0]) else profile.folder
    concerned = f" ({len(names)} servers)" if len(names) > 1 else ""
    for key, value in _wanted_values(roce).items():
        collected.look(HOSTS, len(names))
        setting = qos.get(key)
        place = Place(f"{profile.folder}/{QOS}", (setting.line if setting is not None else qos.line) or 1)
        if setting is None:
            message = f"ailb-qos does not set {key}; it must be {_text(value)}{concerned}"
            collected.add(HOSTS, scope, message, place, _text(value))
        elif setting.value != value:
            message = f"{key} must be {_text(value)}, not {_text(setting.value)}{concerned}"
            collected.add(HOSTS, scope, message, place, _text(value), _text(setting.value))


def _disagreement(port: PortQos, qos: QosScript) -> str:
    """Return how a leaf's port treats what a NIC sends otherwise than the NIC expects; empty when it does not."""
    pair, cnp = qos.get("dscp2prio"), qos.get("cnp_dscp")
    if pair is None or not isinstance(pair.value, tuple):
        return ""
    dscp, priority = pair.value
    data = port.of(dscp) if isinstance(dscp, int) else None
    if data is None or not data.no_loss:
        return f"the NIC sends RDMA with DSCP {dscp}, which is not lossless"
    if data.pfc_priority != priority:
        return f"the NIC pauses priority {priority}, but PFC for DSCP {dscp} has priority {data.pfc_priority}"
    if cnp is not None and isinstance(cnp.value, int) and port.of(cnp.value) is None:
        return f"the NIC sends congestion notifications with DSCP {cnp.value}, which has no class"
    return ""
