"""Check RoCE across cables: between switches, and between `ailb-qos` of a server and its leaf (AILB707, AILB708)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.families.hosts import HostFindings
from ailb_gen.checks.families.roce import REPAIR, shown
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import Check, Findings
from ailb_gen.errors import Place
from ailb_gen.hosts.model import QosScript, Value
from ailb_gen.intent.settings import Roce
from ailb_gen.layout import QOS
from ailb_gen.network.port_qos import PortQos

# The two low bits of the traffic class say "ECN-capable transport" (RFC 3168, section 5).
ECT_0 = 0b10
# The queue of everything that no classifier names.
BEST_EFFORT = 0
# What differs, the value at one end, the value at the other.
Difference = tuple[str, object, object]


def _code_points(qos: PortQos, *, lossless: bool) -> tuple[int, ...]:
    return tuple(
        treatment.dscp
        for treatment in qos.treatments
        if treatment.no_loss == lossless and treatment.queue != BEST_EFFORT
    )


# What travels in packets, and is compared at the ends of every link.
ALWAYS: tuple[tuple[str, Callable[[PortQos], object]], ...] = (
    ("the lossless DSCPs", lambda qos: _code_points(qos, lossless=True)),
    ("the PFC priorities", lambda qos: tuple(treatment.pfc_priority for treatment in qos.lossless)),
    ("the priorities whose PFC is obeyed", lambda qos: tuple(sorted(pause.priority for pause in qos.pauses))),
    ("the DSCPs that PFC is sent for", lambda qos: tuple(sorted(point.dscp for point in qos.pfc))),
    ("the other DSCPs with a class", lambda qos: _code_points(qos, lossless=False)),
)


class _Compared(NamedTuple):
    """What is compared of a port: the values of `ALWAYS`; by DSCP the queue, ECN, and the drop profile."""

    always: tuple[object, ...]
    treatments: tuple[tuple[int, tuple[object, object, object]], ...]


def _compared(qos: PortQos) -> _Compared:
    rows = ((row.dscp, (row.queue, row.ecn, row.fill + row.probability)) for row in qos.treatments)
    return _Compared(tuple(value(qos) for _, value in ALWAYS), tuple(rows))


def _differences(here: _Compared, there: _Compared, *, same_intent: bool) -> Iterator[Difference]:
    """Yield what differs at two ends; queues and marking only where the intent expects the same of both."""
    rows = [(what, own, other) for (what, _), own, other in zip(ALWAYS, here.always, there.always, strict=True)]
    if same_intent:
        others = dict(there.treatments)
        for dscp, own in here.treatments:
            names = (f"{what} of DSCP {dscp}" for what in ("the queue", "ECN", "the drop profile"))
            rows += zip(names, own, others.get(dscp, own), strict=True)
    return (row for row in rows if row[1] != row[2])


class _Classes:
    """The number of what is compared of a port: nearly all ports of a fabric share one."""

    __slots__ = ("_numbers", "_of")

    def __init__(self) -> None:
        self._numbers: dict[_Compared, int] = {}
        self._of: dict[int, int] = {}

    def of(self, qos: PortQos) -> int:
        """Return the number of a class of service, which must stay in memory."""
        number = self._of.get(id(qos))
        if number is None:
            number = self._of[id(qos)] = self._numbers.setdefault(_compared(qos), len(self._numbers))
        return number


def _check_links(context: Context, findings: Findings) -> None:
    """Compare the class of service of the two ends of every cable between switches."""
    classes = _Classes()
    compared: dict[tuple[int, int, bool], tuple[Difference, ...]] = {}
    for cable in context.network.links:
        ends = (cable.a, cable.b)
        here, there = (context.qos_at.get(end) for end in ends)
        if here is None or there is None:
            continue
        findings.look(LINKS)
        switches = [context.expected.switches.get(end.device) for end in ends]
        asked = [switch.roce if switch is not None else None for switch in switches]
        if None in asked and here.lossless == there.lossless:
            continue
        same = asked[0] == asked[1]
        key = (classes.of(here), classes.of(there), same)
        if key not in compared:
            compared[key] = tuple(_differences(_compared(here), _compared(there), same_intent=same))
        for what, own, other in compared[key]:
            message = f"{what} are {shown(own, 'none')} on {cable.a}, {shown(other, 'none')} on {cable.b}"
            place = Place(context.network.switches[cable.a.device].file, here.line or 1)
            expected, found = shown(own, "none"), shown(other, "none")
            involves = tuple(about.device(end.device) for end in ends)
            subjects = tuple(about.end(end) for end in ends)
            findings.add(
                LINKS,
                cable.a.device,
                message,
                place,
                expected,
                found,
                involves=involves,
                part=cable.a.port,
                subjects=subjects,
            )


def _expected_values(roce: Roce) -> dict[str, Value]:
    mask = ",".join("1" if priority == roce.pfc_priority else "0" for priority in range(8))
    return {
        "dscp": roce.dscp,
        "priority": roce.pfc_priority,
        "pfc": mask,
        "traffic_class": roce.dscp << 2 | ECT_0,
        "cnp_dscp": roce.cnp_dscp,
        # The class selector bits of the DSCP (RFC 2474, section 4.2.2).
        "cnp_priority": roce.cnp_dscp >> 3,
    }


def _check_hosts(context: Context, findings: Findings) -> None:
    """Compare `ailb-qos` with the intent once per profile, and with the leaf once per pair of settings."""
    network = context.network
    for group in context.host_groups:
        qos, roce = group.profile.qos, group.expected.roce
        if qos is not None and roce is not None:
            findings.look(HOSTS, len(_expected_values(roce)) * len(group.servers))
            _check_values(qos, roce, HostFindings(group, findings))
    compared: dict[tuple[int, int], str] = {}
    for (name, nic), end in network.attachments.items():
        port, server = context.qos_at.get(end), network.hosts.get(name)
        script = server.profile.qos if server is not None else None
        if port is None or server is None or script is None:
            continue
        findings.look(HOSTS)
        key = (id(port), id(script))
        if key not in compared:
            compared[key] = _disagreement(port, script)
        if compared[key]:
            place = Place(network.switches[end.device].file, port.line or 1)
            involves = (about.device(end.device), about.device(server.profile.folder))
            message, subjects = f"{compared[key]} on {end}", (about.nic(name, nic), about.end(end))
            findings.add(HOSTS, name, message, place, involves=involves, part=nic, subjects=subjects)


def _check_values(qos: QosScript, roce: Roce, findings: HostFindings) -> None:
    for key, value in _expected_values(roce).items():
        setting, expected = qos.get(key), shown(value)
        if setting is None:
            findings.add(HOSTS, f"ailb-qos does not set {key}; it must be {expected}", QOS, qos.line, expected)
        elif setting.value != value:
            found = shown(setting.value, "none")
            message = f"{key} must be {expected}, not {found}"
            findings.add(HOSTS, message, QOS, setting.line, expected, found)


def _disagreement(port: PortQos, qos: QosScript) -> str:
    """Return how a leaf's port treats what a NIC sends otherwise than the NIC expects; empty when it does not."""
    settings = map(qos.get, ("dscp", "priority", "cnp_dscp"))
    dscp, priority, cnp = (setting.value if setting is not None else None for setting in settings)
    if not isinstance(dscp, int) or priority is None:
        return ""
    data = port.of(dscp)
    if data is None or not data.no_loss:
        return f"the NIC sends RDMA with DSCP {dscp}, which is not lossless"
    if data.pfc_priority != priority:
        return f"the NIC pauses priority {priority}, but PFC for DSCP {dscp} has priority {data.pfc_priority}"
    if isinstance(cnp, int) and port.of(cnp) is None:
        return f"the NIC sends congestion notifications with DSCP {cnp}, which has no class"
    return ""


LINKS = Check(
    "AILB707",
    "both ends of every link between switches treat RDMA and congestion notifications in the same way",
    "the two ends of a link treat RDMA or congestion notifications differently",
    "If the ends of a link differ, packets change class on their way, and one end ignores the PFC of the other.",
    REPAIR,
    _check_links,
    layer=Layer.LINKS,
)
HOSTS = Check(
    "AILB708",
    "ailb-qos gives every NIC the DSCP, PFC priority and CNP settings of the intent and of its leaf",
    "ailb-qos sets something else than the intent, or than the NIC's leaf",
    "Packets with another DSCP are in no lossless class; a NIC without PFC overruns its leaf.",
    REPAIR,
    _check_hosts,
    layer=Layer.SERVERS,
)
