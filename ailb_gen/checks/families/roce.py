"""Check the class of service of ports, once for all that share an entry (AILB701, AILB703 to AILB706)."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator
from functools import partial

from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.families.roce_ports import RocePorts
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.locate import ANY, OR
from ailb_gen.checks.model import Check, Findings
from ailb_gen.network.model import Switch
from ailb_gen.network.port_qos import Treatment

# What is compared, its value in the intent and in the file, the line, the part of a treatment that it belongs to, and
# the statement below class-of-service.
Row = tuple[str, object, object, int, str, str]
# The settings of a class by their field in a treatment: what it is, the part that it belongs to, and its statement.
SETTINGS = {
    "no_loss": ("no-loss of class {}", "class", "no-loss"),
    "queue": ("the queue of class {}", "class", "queue-num"),
    "pfc_priority": ("the PFC priority of class {}", "class", "pfc-priority"),
    "rate": ("the transmit-rate of class {}", "scheduler", "transmit-rate"),
    "priority": ("the priority of class {}", "scheduler", "priority"),
    "ecn": ("explicit-congestion-notification of class {}", "scheduler", "explicit-congestion-notification"),
}


def _check_qos(context: Context, findings: Findings) -> None:
    for switch, expected in context.switches:
        if expected.roce is None:
            _check_off(switch, findings)
            continue
        groups = context.qos[switch.named]
        for qos, ports in groups.items():
            _check_ports(RocePorts(switch, tuple(ports), qos, expected.roce, len(groups) == 1, findings))


def _check_off(switch: Switch, findings: Findings) -> None:
    """Find lossless classes where the intent switches RoCE off."""
    findings.look(CLASSES)
    for row in switch.cos.classes:
        if row.no_loss:
            message = f"RoCE is disabled in the intent, but class {row.name} is lossless"
            subjects = (about.forwarding_class(switch.named, row.name),)
            findings.at(CLASSES, switch, message, row.line, "", row.name, subjects=subjects)


def _check_ports(ports: RocePorts) -> None:
    for check in (CLASSES, PORTS, PFC, ECN, CNP):
        ports.findings.look(check, len(ports.ports))
    for missing in ports.qos.missing:
        if " " not in missing.what.removeprefix("classifiers "):
            what = "an entry under class-of-service interfaces" if missing.what == "interfaces" else missing.what
            message = f"{what} is missing on ports that carry RDMA"
            ports.add(PORTS, message, missing.line, what, statement=_entry(ports, missing.what))
    if not ports.switch.cos.written:
        return
    # Where a DSCP is in two classes, the lossless one is right.
    own = (row for row in ports.qos.treatments if row.dscp == ports.roce.dscp and row.no_loss)
    data = next(own, ports.qos.of(ports.roce.dscp))
    if data is not None:
        _check_classes(ports, data)
        _check_pfc(ports, data)
        _check_ecn(ports, data)
    elif ports.qos.treatments or _by_default(ports):
        _add_unclassified(ports, CLASSES, ports.roce.dscp, "RDMA", next(iter(ports.qos.lossless), None))
    for other in ports.qos.lossless:
        if other.dscp != ports.roce.dscp:
            lossless, dscp = other.forwarding_class, ports.roce.dscp
            message = f"DSCP {other.dscp} is in the lossless class {lossless}; only {dscp} is RDMA"
            ports.add(CLASSES, message, other.line, f"{dscp:06b}", f"{other.dscp:06b}")
    _check_cnp(ports)
    _check_other_classes(ports)


def _check_other_classes(ports: RocePorts) -> None:
    """Find classes that the intent does not know and that are served before RDMA, or take a share of its rate."""
    roce = ports.roce
    data, cnp = ports.qos.of(roce.dscp), ports.qos.of(roce.cnp_dscp)
    if data is None or cnp is None:
        # Which classes are the intent's is not known, and a finding of its own.
        return
    for name, scheduler in ports.qos.schedulers:
        if name in (data.forwarding_class, cnp.forwarding_class):
            continue
        if scheduler.priority not in ("", "low"):
            message = f"class {name} has priority {scheduler.priority}: it is served before RDMA and starves it"
            ports.add(CLASSES, message, scheduler.line, "low", scheduler.priority)
        if scheduler.rate:
            rate = shown(scheduler.rate)
            message = f"class {name} has transmit-rate {rate}, which RDMA lacks; the intent specifies none"
            ports.add(CLASSES, message, scheduler.line, "", rate)


def _compare(ports: RocePorts, check: Check, rows: Iterable[Row], treatment: Treatment | None = None) -> None:
    """Add a finding for every row whose values differ; a lost part is a finding of its own (AILB702, AILB703)."""
    lost = treatment.lost if treatment is not None else frozenset()
    name = treatment.forwarding_class if treatment is not None else ""
    subjects = (about.forwarding_class(ports.switch.named, name),) if name else ()
    for what, expected, found, line, part, statement in rows:
        if expected != found:
            right, wrong = shown(expected), shown(found)
            involves = (about.device(ports.switch.named),) if part in lost else ()
            message = f"{what} must be {right}, not {wrong}"
            ports.add(check, message, line, right, wrong, involves=involves, statement=statement, subjects=subjects)


def shown(value: object, nothing: str = "nothing") -> str:
    """Return a value as text for messages."""
    if value in (None, "", ()):
        return nothing
    if isinstance(value, bool):
        return "on" if value else "off"
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _settings(ports: RocePorts, row: Treatment, **expected: object) -> Iterator[Row]:
    """Yield the settings of a class with their expected values, by field."""
    name = row.forwarding_class
    for field, value in expected.items():
        what, part, word = SETTINGS[field]
        line, statement = row.class_line, f"forwarding-classes class {name} {word}"
        if part == "scheduler":
            line, statement = row.scheduler_line, ports.scheduling(name, word)
        yield what.format(name), value, getattr(row, field), line, part, statement


def _loss_priority(row: Treatment) -> Row:
    return f"the loss priority of DSCP {row.dscp}", "low", row.loss_priority, row.line, "", ""


def _check_classes(ports: RocePorts, data: Treatment) -> None:
    roce, name = ports.roce, data.forwarding_class
    twice = [other for other in ports.qos.treatments if other.dscp == data.dscp and other is not data]
    for other in twice:
        message = f"DSCP {data.dscp} is in two classes, {name} and {other.forwarding_class}"
        ports.add(CLASSES, message, other.line)
    asked = {"queue": roce.queue, "pfc_priority": roce.pfc_priority, "rate": (), "priority": ""}
    _compare(ports, CLASSES, (*_settings(ports, data, no_loss=True, **asked), _loss_priority(data)), data)
    for other_class in ports.switch.cos.classes:
        if other_class.name != name and other_class.queue is not None and other_class.queue == data.queue:
            message = f"class {other_class.name} shares queue {data.queue} with the lossless class {name}"
            # One of both has it wrongly.
            ports.add(CLASSES, message, other_class.line if data.queue == roce.queue else data.class_line)
        if other_class.name != name and other_class.no_loss:
            message = f"class {other_class.name} is lossless, too; only {name} carries RDMA"
            ports.add(CLASSES, message, other_class.line)


def _by_default(ports: RocePorts) -> str:
    """Return why no class is the switch's own where the classifier is Junos's; empty for another."""
    return " of classifier default" if ports.classifier().endswith(" default") else ""


def _unclassified(ports: RocePorts) -> str:
    """Return the statement to look at where a DSCP has no class."""
    if not _by_default(ports):
        return f"{ports.classifier()} {ANY}"
    entry = ports.qos.entry
    units = [f"unit {unit.pattern} " for unit in entry.units] if entry is not None else []
    pattern = entry.pattern if entry is not None else ANY
    return OR.join(f"interfaces {pattern} {unit}{ports.classifier()}" for unit in ("", *units))


def _add_unclassified(ports: RocePorts, check: Check, dscp: int, whose: str, wrong: Treatment | None) -> None:
    """Add that a DSCP has no class, at the entry that has `wrong` instead if there is one."""
    message = f"DSCP {dscp}, that of {whose}, is in no class{_by_default(ports)}"
    line, statement = (wrong.line, "") if wrong is not None else (ports.qos.line, _unclassified(ports))
    ports.add(check, message, line, f"{dscp:06b}", statement=statement)


def _entry(ports: RocePorts, what: str) -> str:
    """Return the statement that is missing below `interfaces`."""
    entry = ports.qos.entry
    if entry is None:
        idle = [row.pattern for row in ports.switch.cos.ports if not fnmatch.filter(ports.switch.ports, row.pattern)]
        return f"interfaces {idle[0] if len(idle) == 1 else ANY}"
    unit = f"unit {entry.units[0].pattern} " if entry.units and what.startswith("classifiers") else ""
    unit = unit or ("unit * " if what.startswith("classifiers") else "")
    return f"interfaces {entry.pattern} {unit}{what}"


def _check_pfc(ports: RocePorts, data: Treatment) -> None:
    qos, roce = ports.qos, ports.roce
    if any(missing.what.startswith("congestion-notification-profile") for missing in qos.missing):
        return
    line = qos.congestion_line
    asked = tuple(point.dscp for point in qos.pfc)
    stopped = tuple((pause.priority, pause.queue) for pause in qos.pauses)
    own = ports.congestion()
    rows: list[Row] = [("pfc-watchdog", roce.pfc_watchdog, qos.watchdog, line, "", f"{own} pfc-watchdog")]
    if roce.dscp not in asked:
        statement = f"{own} input dscp code-point {roce.dscp:06b} pfc"
        rows.append((f"PFC for DSCP {roce.dscp}", True, False, line, "", statement))
    if (roce.pfc_priority, roce.queue) not in stopped:
        found = ", ".join(f"{priority} stops queue {queue}" for priority, queue in stopped)
        above = f"{own} output ieee-802.1 code-point"
        asked_for = f"{above} {roce.pfc_priority:03b} flow-control-queue"
        statement = OR.join((asked_for, *(f"{above} {pause.priority:03b}" for pause in qos.pauses), asked_for))
        expected = f"{roce.pfc_priority} stops queue {roce.queue}"
        rows.append(("what received PFC stops", expected, found, line, "", statement))
    _compare(ports, PFC, rows)
    for point in qos.pfc:
        if point.dscp != roce.dscp:
            message = f"PFC is sent for DSCP {point.dscp}, which is not RDMA's"
            statement = f"{own} input dscp code-point {point.dscp:06b}{OR}"
            ports.add(PFC, message, point.line, roce.dscp, point.dscp, statement=statement, instead=True)
    right = (roce.pfc_priority, roce.queue)
    for pause in qos.pauses if right in stopped else ():
        if (pause.priority, pause.queue) != right:
            message = f"received PFC of priority {pause.priority} stops queue {pause.queue}"
            ports.add(PFC, message, pause.line, f"only {roce.pfc_priority} stops queue {roce.queue}")


def _check_ecn(ports: RocePorts, data: Treatment) -> None:
    ecn, name = ports.roce.ecn, data.forwarding_class
    fill = tuple(dict.fromkeys((str(ecn.min_fill), str(ecn.max_fill))))
    probability = ("0", str(ecn.max_probability))
    rows = [*_settings(ports, data, ecn=True)]
    if data.fill or data.probability:
        for what, word, expected, found in (
            ("fill levels", "fill-level", fill, data.fill),
            ("drop probabilities", "drop-probability", probability, data.probability),
        ):
            statement = ports.drops(name, word, expected, found)
            rows.append((f"the {what} of class {name}", expected, found, data.drop_line, "", statement))
    else:
        rows.append(_drop_profile(ports, data, fill + probability, "drop profile"))
    _compare(ports, ECN, rows, data)


def _drop_profile(ports: RocePorts, row: Treatment, expected: tuple[str, ...], part: str) -> Row:
    name = row.forwarding_class
    statement = ports.drops(name, "fill-level")
    return f"the drop profile of class {name}", expected, row.fill, row.drop_line, part, statement


def _check_cnp(ports: RocePorts) -> None:
    roce, qos = ports.roce, ports.qos
    cnp = qos.of(roce.cnp_dscp)
    if cnp is None:
        if qos.treatments:
            wrong = next((row for row in qos.treatments if row.dscp != roce.dscp and not row.no_loss), None)
            _add_unclassified(ports, CNP, roce.cnp_dscp, "congestion notifications", wrong)
    elif roce.cnp_dscp != roce.dscp:
        asked = {"queue": roce.cnp_queue, "rate": (f"percent {roce.cnp_percent}",), "priority": "strict-high"}
        rows = _settings(ports, cnp, **asked, pfc_priority=None, ecn=False)
        _compare(ports, CNP, (*rows, _loss_priority(cnp), _drop_profile(ports, cnp, (), "")), cnp)
    for other in qos.treatments:
        if other.dscp in (roce.dscp, roce.cnp_dscp) or other.no_loss or cnp is None or other.queue is None:
            continue
        if other.queue == cnp.queue:
            message = f"DSCP {other.dscp} is in queue {other.queue}, that of congestion notifications"
            ports.add(CNP, message, other.line, f"{roce.cnp_dscp:06b}", f"{other.dscp:06b}")


REPAIR = "Change the intent's `roce:` and generate again, or give both devices the same statement."
_of_class = partial(Check, run=_check_qos, layer=Layer.QOS)
CLASSES = _of_class(
    "AILB701",
    "RDMA's DSCP, and no other, is in one lossless class, with the queue and PFC priority that the intent specifies",
    "RDMA is not in its lossless class, or something else is in it",
    "RDMA in another class is dropped when queues fill; other traffic in the lossless class stops RDMA.",
    REPAIR,
)
PORTS = Check(
    "AILB703",
    "every port that carries RDMA has the classifier, the scheduler map and the PFC profile",
    "a port that carries RDMA lacks its classifier, scheduler map or PFC profile",
    "A port without PFC drops packets; with go-back-N, each loss costs many times its size.",
    "Apply the class of service to the port: an entry for the port itself hides the one for `et-*`.",
    _check_qos,
    layer=Layer.QOS_PORTS,
)
PFC = _of_class(
    "AILB704",
    "PFC is sent for exactly the lossless class, and stops exactly its queue",
    "PFC is sent for the wrong class, or stops the wrong queue",
    "A pause for the wrong priority stops nothing, or stops everything else.",
    REPAIR,
)
ECN = _of_class(
    "AILB705",
    "the lossless queue marks packets between the fill levels that the intent specifies",
    "the lossless queue marks packets at other fill levels than the intent specifies",
    "Without ECN marks, senders slow down only when PFC stops them, and pauses spread through the fabric.",
    REPAIR,
)
CNP = _of_class(
    "AILB706",
    "congestion notifications have their own strict-high queue with the share that the intent specifies",
    "congestion notifications do not have the queue that the intent specifies",
    "Congestion notifications that queue behind the congestion arrive too late.",
    REPAIR,
)
