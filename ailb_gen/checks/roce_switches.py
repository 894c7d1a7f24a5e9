"""Class of service of one switch against the intent; looked at once for all ports that share an entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ailb_gen.checks.roce_checks import BUFFERS, CLASSES, CNP, ECN, PFC, PORTS, REFERENCES
from ailb_gen.errors import Place
from ailb_gen.network.cos import CLASSIFIERS, DEFAULT_CLASSES
from ailb_gen.network.port_qos import port_entry, qos_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ailb_gen.checks.findings import Findings
    from ailb_gen.checks.model import Check
    from ailb_gen.intent.settings import Buffers, Roce
    from ailb_gen.network.cos import ClassOfService
    from ailb_gen.network.model import Switch
    from ailb_gen.network.port_qos import PortQos, Treatment


def ports_by_qos(switch: Switch, ports: Iterable[str]) -> dict[PortQos, list[str]]:
    """Return the ports of a switch, grouped by the class of service that holds on them."""
    entries: dict[int, PortQos] = {}
    result: dict[PortQos, list[str]] = {}
    for port in ports:
        entry = port_entry(switch.cos, port)
        qos = entries.get(id(entry))
        if qos is None:
            qos = entries[id(entry)] = qos_of(switch.cos, entry)
        result.setdefault(qos, []).append(port)
    return result


@dataclass(frozen=True, slots=True, eq=False)
class Ports:
    """Ports of a switch with the same class of service; `all_of_them` when the switch has no others that carry RDMA."""

    switch: Switch
    ports: tuple[str, ...]
    qos: PortQos
    roce: Roce
    all_of_them: bool

    def add(
        self,
        collected: Findings,
        check: Check,
        message: str,
        line: int,
        expected: object = "",
        found: object = "",
        involves: tuple[str, ...] = (),
    ) -> None:
        """Note a finding about the switch, or about each of the ports."""
        place = Place(self.switch.file, line or 1)
        name = self.switch.named
        if self.all_of_them:
            collected.add(check, name, message, place, expected, found, involves)
            return
        # What holds on several ports is written once.
        for port in self.ports:
            collected.add(
                check, f"{name} {port}", message, place, expected, found, involves, alike=f"{place} {message}"
            )


def check_ports(ports: Ports, collected: Findings) -> None:
    """Compare what holds on the ports with the intent."""
    for check in (CLASSES, PORTS, PFC, ECN, CNP):
        collected.look(check, len(ports.ports))
    for missing in ports.qos.missing:
        if " " not in missing.what.removeprefix("classifiers "):
            what = "an entry under class-of-service interfaces" if missing.what == "interfaces" else missing.what
            ports.add(collected, PORTS, f"{what} is missing on ports that carry RDMA", missing.line, what)
    if not ports.switch.cos.written:
        return
    data = ports.qos.of(ports.roce.dscp)
    if data is not None:
        _check_classes(ports, data, collected)
        _check_pfc(ports, data, collected)
        _check_ecn(ports, data, collected)
    elif ports.qos.treatments:
        message = f"DSCP {ports.roce.dscp}, that of RDMA, is in no class"
        ports.add(collected, CLASSES, message, ports.qos.line, f"{ports.roce.dscp:06b}")
    for other in ports.qos.lossless:
        if other.dscp != ports.roce.dscp:
            message = (
                f"DSCP {other.dscp} is in the lossless class {other.forwarding_class}; only {ports.roce.dscp} is RDMA"
            )
            ports.add(collected, CLASSES, message, other.line, f"{ports.roce.dscp:06b}", f"{other.dscp:06b}")
    _check_cnp(ports, collected)
    _check_other_classes(ports, collected)


def _check_other_classes(ports: Ports, collected: Findings) -> None:
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
            ports.add(collected, CLASSES, message, scheduler.line, "low", scheduler.priority)
        if scheduler.rate:
            message = (
                f"class {name} has transmit-rate {_text(scheduler.rate)}, which RDMA lacks; the intent asks for none"
            )
            ports.add(collected, CLASSES, message, scheduler.line, "", _text(scheduler.rate))


# What is compared, its value in the intent and in the file, the line, and the part of a treatment that it stands in.
Row = tuple[str, object, object, int, str]


def _compare(
    ports: Ports, collected: Findings, check: Check, rows: Iterable[Row], lost: frozenset[str] = frozenset()
) -> None:
    """Note every row whose values differ; that a part is lost is a finding of its own (AILB702, AILB703)."""
    for what, expected, found, line, part in rows:
        if expected != found:
            intended, shown = _shown(expected), _shown(found)
            involves = (ports.switch.named,) if part in lost else ()
            ports.add(collected, check, f"{what} must be {intended}, not {shown}", line, intended, shown, involves)


def _shown(value: object) -> str:
    return "nothing" if value in (None, "", ()) else _text(value)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _check_classes(ports: Ports, data: Treatment, collected: Findings) -> None:
    roce, name = ports.roce, data.forwarding_class
    twice = [other for other in ports.qos.treatments if other.dscp == data.dscp and other is not data]
    for other in twice:
        message = f"DSCP {data.dscp} is in two classes, {name} and {other.forwarding_class}"
        ports.add(collected, CLASSES, message, other.line)
    rows: list[Row] = [
        (f"no-loss of class {name}", True, data.no_loss, data.class_line, "class"),
        (f"the queue of class {name}", roce.queue, data.queue, data.class_line, "class"),
        (f"the PFC priority of class {name}", roce.pfc_priority, data.pfc_priority, data.class_line, "class"),
        (f"the loss priority of DSCP {data.dscp}", "low", data.loss_priority, data.line, ""),
        (f"the transmit-rate of class {name}", (), data.rate, data.scheduler_line, "scheduler"),
        (f"the priority of class {name}", "", data.priority, data.scheduler_line, "scheduler"),
    ]
    _compare(ports, collected, CLASSES, rows, data.lost)
    for other_class in ports.switch.cos.classes:
        if other_class.name != name and other_class.queue is not None and other_class.queue == data.queue:
            message = f"class {other_class.name} shares queue {data.queue} with the lossless class {name}"
            ports.add(collected, CLASSES, message, other_class.line)
        if other_class.name != name and other_class.no_loss:
            message = f"class {other_class.name} is lossless, too; only {name} carries RDMA"
            ports.add(collected, CLASSES, message, other_class.line)


def _check_pfc(ports: Ports, data: Treatment, collected: Findings) -> None:
    qos, roce = ports.qos, ports.roce
    if any(missing.what.startswith("congestion-notification-profile") for missing in qos.missing):
        return
    line = qos.congestion_line
    asked = tuple(point.dscp for point in qos.pfc)
    stopped = tuple((pause.priority, pause.queue) for pause in qos.pauses)
    rows: list[Row] = [("pfc-watchdog", roce.pfc_watchdog, qos.watchdog, line, "")]
    if roce.dscp not in asked:
        rows.append((f"PFC for DSCP {roce.dscp}", True, False, line, ""))
    if (roce.pfc_priority, roce.queue) not in stopped:
        found = ", ".join(f"{priority} stops queue {queue}" for priority, queue in stopped)
        rows.append(("what received PFC stops", f"{roce.pfc_priority} stops queue {roce.queue}", found, line, ""))
    _compare(ports, collected, PFC, rows)
    for point in qos.pfc:
        if point.dscp != roce.dscp:
            ports.add(
                collected,
                PFC,
                f"PFC is sent for DSCP {point.dscp}, which is not RDMA's",
                point.line,
                roce.dscp,
                point.dscp,
            )
    for pause in qos.pauses:
        if (pause.priority, pause.queue) != (roce.pfc_priority, roce.queue) and (
            roce.pfc_priority,
            roce.queue,
        ) in stopped:
            message = f"received PFC of priority {pause.priority} stops queue {pause.queue}"
            ports.add(collected, PFC, message, pause.line, f"only {roce.pfc_priority} stops queue {roce.queue}")


def _check_ecn(ports: Ports, data: Treatment, collected: Findings) -> None:
    ecn = ports.roce.ecn
    name = data.forwarding_class
    fill = tuple(dict.fromkeys((str(ecn.min_fill), str(ecn.max_fill))))
    probability = ("0", str(ecn.max_probability))
    rows: list[Row] = [
        (f"explicit-congestion-notification of class {name}", True, data.ecn, data.scheduler_line, "scheduler")
    ]
    if data.fill or data.probability:
        rows += [
            (f"the fill levels of class {name}", fill, data.fill, data.drop_line, ""),
            (f"the drop probabilities of class {name}", probability, data.probability, data.drop_line, ""),
        ]
    else:
        rows.append((f"the drop profile of class {name}", fill + probability, (), data.drop_line, "drop profile"))
    _compare(ports, collected, ECN, rows, data.lost)


def _check_cnp(ports: Ports, collected: Findings) -> None:
    roce, qos = ports.roce, ports.qos
    cnp = qos.of(roce.cnp_dscp)
    if cnp is None:
        if qos.treatments:
            message = f"DSCP {roce.cnp_dscp}, that of congestion notifications, is in no class"
            ports.add(collected, CNP, message, qos.line, f"{roce.cnp_dscp:06b}")
    elif roce.cnp_dscp != roce.dscp:
        name = cnp.forwarding_class
        rate = (f"percent {roce.cnp_percent}",)
        rows: list[Row] = [
            (f"the queue of class {name}", roce.cnp_queue, cnp.queue, cnp.class_line, "class"),
            (f"the priority of class {name}", "strict-high", cnp.priority, cnp.scheduler_line, "scheduler"),
            (f"the transmit-rate of class {name}", rate, cnp.rate, cnp.scheduler_line, "scheduler"),
            (f"the loss priority of DSCP {cnp.dscp}", "low", cnp.loss_priority, cnp.line, ""),
            (f"the PFC priority of class {name}", None, cnp.pfc_priority, cnp.class_line, "class"),
            (f"explicit-congestion-notification of class {name}", False, cnp.ecn, cnp.scheduler_line, "scheduler"),
            (f"the drop profile of class {name}", (), cnp.fill, cnp.drop_line, ""),
        ]
        _compare(ports, collected, CNP, rows, cnp.lost)
    for other in qos.treatments:
        if other.dscp in (roce.dscp, roce.cnp_dscp) or other.no_loss or cnp is None or other.queue is None:
            continue
        if other.queue == cnp.queue:
            message = f"DSCP {other.dscp} is in queue {other.queue}, that of congestion notifications"
            ports.add(collected, CNP, message, other.line, f"{roce.cnp_dscp:06b}", f"{other.dscp:06b}")


def _references(cos: ClassOfService) -> Iterator[tuple[str, str, int]]:
    """Iterate over (what, name, line) of everything that is referred to by name."""
    for classifier in cos.classifiers:
        yield from (("forwarding class", row.forwarding_class, row.line) for row in classifier.entries)
    for table in cos.scheduler_maps:
        yield from (("forwarding class", entry.forwarding_class, entry.line) for entry in table.entries)
        yield from (("scheduler", entry.scheduler, entry.line) for entry in table.entries)
    for scheduler in cos.schedulers:
        yield from (("drop profile", drop.profile, drop.line) for drop in scheduler.drops)
    for port in cos.ports:
        yield "scheduler map", port.scheduler_map, port.line
        yield "congestion notification profile", port.congestion, port.line
        for kind, name in (*port.classifiers, *(row for unit in port.units for row in unit.classifiers)):
            yield f"{kind} classifier", name, port.line


def _dangling(cos: ClassOfService) -> Iterator[tuple[str, int]]:
    """Iterate over what is referred to and not defined, with the line that refers to it."""
    defined = {
        "forwarding class": {row.name for row in cos.classes} | DEFAULT_CLASSES.keys(),
        "scheduler": {row.name for row in cos.schedulers},
        "drop profile": {row.name for row in cos.drop_profiles},
        "scheduler map": {row.name for row in cos.scheduler_maps},
        "congestion notification profile": {row.name for row in cos.congestion},
        **{f"{kind} classifier": {"default", *_named(cos, kind)} for kind in CLASSIFIERS},
    }
    for what, name, line in _references(cos):
        if name and name not in defined[what]:
            yield f"{what} {name}", line


def _named(cos: ClassOfService, kind: str) -> Iterator[str]:
    return (row.name for row in cos.classifiers if row.kind == kind)


def check_references(switch: Switch, collected: Findings) -> None:
    """Find names that nothing defines, classes without a queue, and maps without a class that carries traffic."""
    cos = switch.cos
    collected.look(REFERENCES, len(cos.ports) + len(cos.scheduler_maps) + len(cos.classifiers))
    for what, line in _dangling(cos):
        message = f"{what} is referred to, but not defined"
        alike = f"{switch.named} {what}"
        collected.add(REFERENCES, switch.named, message, Place(switch.file, line or 1), what, alike=alike)
    for row in cos.classes:
        if row.queue is None:
            message = f"class {row.name} has no queue-num"
            collected.add(REFERENCES, switch.named, message, Place(switch.file, row.line or 1), "queue-num")
    used = {row.forwarding_class for classifier in cos.classifiers for row in classifier.entries}
    for table in cos.scheduler_maps:
        for name in sorted(used - {entry.forwarding_class for entry in table.entries}):
            message = f"scheduler map {table.name} has no scheduler for class {name}"
            collected.add(REFERENCES, switch.named, message, Place(switch.file, table.line or 1), name)


def check_off(switch: Switch, collected: Findings) -> None:
    """Find lossless classes where the intent switches RoCE off."""
    collected.look(CLASSES)
    for row in switch.cos.classes:
        if row.no_loss:
            message = f"RoCE is switched off in the intent, but class {row.name} is lossless"
            collected.add(CLASSES, switch.named, message, Place(switch.file, row.line or 1), "", row.name)


def _wanted_buffers(buffers: Buffers) -> tuple[str, ...]:
    shares = "buffer-partition"
    return tuple(
        sorted(
            (
                f"shared-buffer ingress {shares} lossless percent {buffers.lossless}",
                f"shared-buffer ingress {shares} lossless dynamic-threshold {buffers.dynamic_threshold}",
                f"shared-buffer ingress {shares} lossless-headroom percent {buffers.lossless_headroom}",
                f"shared-buffer ingress {shares} lossy percent {buffers.lossy}",
                f"shared-buffer egress {shares} lossless percent {buffers.lossless}",
                f"shared-buffer egress {shares} lossy percent {buffers.lossy}",
                f"dedicated-buffer ingress percent {buffers.dedicated_ingress}",
                f"dedicated-buffer egress percent {buffers.dedicated_egress}",
            )
        )
    )


def check_buffers(switch: Switch, roce: Roce, collected: Findings) -> None:
    """Compare the statements of the buffers with the intent's; without any the platform's own hold."""
    collected.look(BUFFERS)
    intended = set(_wanted_buffers(roce.buffers)) if roce.buffers is not None else set()
    found = set(switch.cos.buffers)
    place = Place(switch.file, switch.cos.line or 1)
    for text in sorted(intended - found):
        collected.add(BUFFERS, switch.named, f"{text} is missing", place, text)
    for text in sorted(found - intended):
        collected.add(BUFFERS, switch.named, f"{text} is not what the intent asks for", place, "", text)
