"""Class of service: queues, classifiers, schedulers and the interfaces that have them, from the configuration.

Counters of queues are those of the fabric. Source: Juniper, "CoS User Guide (QFX Series)"; the reply of a QFX
to `show interfaces queue` in the tests of onos.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

from lxml import etree

from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.operations.build import Child, argument, check_found, element, fill, output
from ailb_gen.emulator.operations.ports import FIRST_INTERFACE, data_ports, head, positions
from ailb_gen.junos.interface_ranges import effective
from ailb_gen.junos.tree import Node
from ailb_gen.network.model import Port

MAPS = "congestion-notification-profile"


class QueueClass(NamedTuple):
    """A forwarding class and its queue; `pfc_priority` is empty where none is configured."""

    name: str
    queue: int
    no_loss: bool = False
    pfc_priority: str = ""


# Those of the factory, unless another one has the queue.
DEFAULTS = (
    QueueClass("best-effort", 0),
    QueueClass("fcoe", 3, True),
    QueueClass("no-loss", 4, True),
    QueueClass("network-control", 7),
)


def configured(device: EmulatedDevice) -> Node:
    """Return the `class-of-service` of the active configuration, groups applied."""
    return effective(device.committed()).get("class-of-service") or Node("class-of-service")


def forwarding_classes(cos: Node) -> list[QueueClass]:
    """Return the forwarding classes in the order of their queues."""
    found = [_class(node) for node in cos.each("forwarding-classes", "class")]
    for node in cos.each("forwarding-classes", "queue"):
        found += [QueueClass(name, int(node.word)) for name in list(node.children)[:1] if node.word.isdecimal()]
    taken, names = {one.queue for one in found}, {one.name for one in found}
    found += [one for one in DEFAULTS if one.queue not in taken and one.name not in names]
    return sorted(found, key=lambda one: (one.queue, one.name))


def _class(node: Node) -> QueueClass:
    queue = node.value("queue-num") or "0"
    return QueueClass(
        node.word, int(queue) if queue.isdecimal() else 0, node.has("no-loss"), node.value("pfc-priority") or ""
    )


def queues(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show interfaces queue`."""
    requested, at = argument(rpc, "forwarding-class"), positions(device.switch)
    classes = forwarding_classes(configured(device))
    shown = [one for one in classes if requested in ("", one.name)]
    check_found(shown, "forwarding class", requested)
    rows = [
        fill(
            "interface-queues",
            head=head(device, port, at[port.name]),
            description=port.description or None,
            classes=len(classes),
            queues=len({one.queue for one in classes}),
            rows=[_queue(device, port, one) for one in shown],
        )
        for port in data_ports(device, argument(rpc, "interface-name"))
    ]
    return element("interface-information", *rows, style="normal")


def _queue(device: EmulatedDevice, port: Port, queue: QueueClass) -> etree._Element:
    return fill("queue-detail", queue=queue, counts=device.queue_counters(port.name, queue.queue))


def bindings(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show class-of-service interface`: scheduler map, congestion notification and classifiers of ports."""
    cos = configured(device)
    at = positions(device.switch)
    made = [_binding(cos, port, at) for port in data_ports(device, argument(rpc, "interface-name"))]
    return element("cos-interface-information", *made)


def _binding(cos: Node, port: Port, at: dict[str, int]) -> etree._Element:
    blocks = [node for node in cos.each("interfaces") if fnmatchcase(port.name, node.word)]
    bound = {
        name: next((value for node in blocks if (value := node.value(name)) is not None), None)
        for name in ("scheduler-map", MAPS)
    }
    return fill(
        "interface-map",
        name=port.name,
        index=FIRST_INTERFACE + at[port.name],
        queues=len({one.queue for one in forwarding_classes(cos)}),
        map=bound["scheduler-map"] or "<default>",
        map_index=_index(cos, "scheduler-maps", bound["scheduler-map"]),
        notification=bound[MAPS] or "Disabled",
        units=[_logical(cos, blocks, unit.name, FIRST_INTERFACE + at[unit.name]) for unit in port.units],
    )


def _logical(cos: Node, blocks: list[Node], name: str, index: int) -> etree._Element:
    number = name.rpartition(".")[2]
    rows: list[Child] = []
    for block in blocks:
        for unit in block.each("unit"):
            if fnmatchcase(number, unit.word):
                for kind in unit.each("classifiers"):
                    rows += [
                        ("cos-object-type", "Classifier"),
                        ("cos-object-name", kind.value() or ""),
                        ("cos-object-subtype", kind.word),
                        ("cos-object-index", _index(cos, "classifiers", kind.value(), kind.word)),
                    ]
    objects = element("cos-objects", *rows) if rows else None
    return element("i-logical-map", ("i-logical-name", name), ("i-logical-index", index), objects)


def _index(cos: Node, block: str, name: str | None, *kind: str) -> int:
    """Return the number of an object: its place among those of its kind, behind those of the factory."""
    names = list(cos.values(block, *kind))
    return 100 + names.index(name) if name in names else 2


def classes(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show class-of-service forwarding-class`."""
    return output(_classes(configured(device)))


def _classes(cos: Node) -> Iterator[str]:
    yield "Forwarding class                       ID      Queue  Policing priority    No-Loss   PFC priority"
    for number, one in enumerate(forwarding_classes(cos)):
        loss = "Enabled" if one.no_loss else "Disabled"
        yield f"  {one.name:<34} {number:>4} {one.queue:>9}       {'normal':<15} {loss:<12} {one.pfc_priority}".rstrip()


def classifiers(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show class-of-service classifier`: those of the configuration.

    Raises RpcRefusedError for another name.
    """
    cos, requested = configured(device), argument(rpc, "name")
    found = [(kind.word, one) for kind in cos.each("classifiers") for one in kind if requested in ("", one.word)]
    check_found(found, "classifier", requested)
    return output(row for kind, one in found for row in _classifier(cos, kind, one))


def _classifier(cos: Node, kind: str, one: Node) -> Iterator[str]:
    yield f"Classifier: {one.word}, Code point type: {kind}, Index: {_index(cos, 'classifiers', one.word, kind)}"
    yield "  Code point         Forwarding class                    Loss priority"
    rows = [
        (point, name.word, loss.word)
        for name in one.each("forwarding-class")
        for loss in name.each("loss-priority")
        for point in loss.values("code-points")
    ]
    for point, name, loss in sorted(rows):
        yield f"  {point:<18} {name:<35} {loss}"


def scheduler_maps(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show class-of-service scheduler-map`: those of the configuration. Raises RpcRefusedError for another."""
    cos, requested = configured(device), argument(rpc, "name")
    found = [one for one in cos.each("scheduler-maps") if requested in ("", one.word)]
    check_found(found, "scheduler map", requested)
    return output(row for one in found for row in _scheduler_map(cos, one))


def _scheduler_map(cos: Node, one: Node) -> Iterator[str]:
    yield f"Scheduler map: {one.word}, Index: {_index(cos, 'scheduler-maps', one.word)}"
    for name in one.each("forwarding-class"):
        scheduler = cos.get("schedulers", name.value("scheduler") or "") or Node("")
        percent, size = scheduler.value("transmit-rate", "percent"), scheduler.value("buffer-size", "percent")
        rate = f"{percent} percent" if percent else " ".join(scheduler.values("transmit-rate")) or "unspecified"
        priority = scheduler.value("priority") or "low"
        yield ""
        yield (
            f"  Scheduler: {name.value('scheduler')}, Forwarding class: {name.word}, "
            f"Index: {_index(cos, 'schedulers', name.value('scheduler'))}"
        )
        yield (
            f"    Transmit rate: {rate}, Rate Limit: none, "
            f"Buffer size: {f'{size} percent' if size else 'remainder'}, Priority: {priority}"
        )
        notice = "Enable" if scheduler.has("explicit-congestion-notification") else "Disable"
        yield f"    Excess Priority: unspecified, Explicit Congestion Notification: {notice}"
        yield "    Drop profiles:"
        yield "      Loss priority   Protocol    Index    Name"
        for loss in scheduler.each("drop-profile-map", "loss-priority"):
            for protocol in loss.each("protocol"):
                profile = protocol.value("drop-profile")
                yield (
                    f"      {loss.word:<15} {protocol.word:<8} {_index(cos, 'drop-profiles', profile):>8}    {profile}"
                )


def everything(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show class-of-service`: forwarding classes, classifiers and scheduler maps of the configuration."""
    cos = configured(device)

    def rows() -> Iterator[str]:
        yield from _classes(cos)
        for kind in cos.each("classifiers"):
            for one in kind:
                yield ""
                yield from _classifier(cos, kind.word, one)
        for one in cos.each("scheduler-maps"):
            yield ""
            yield from _scheduler_map(cos, one)

    return output(rows())
