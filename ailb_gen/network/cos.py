"""Class of service as a switch's text says it; `port_qos` says what of it holds on one port.

What is missing or incomplete is left out; code points are numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ailb_gen.junos.tree import Node, Reuse, anew
from ailb_gen.textio import line_field

# A priority of IEEE 802.1p has three bits, a DSCP six.
BITS = re.compile(r"^(?:[01]{3}|[01]{6})$")
# Junos's aliases of DSCPs (RFC 2474, RFC 2597, RFC 3246).
ALIASES = {
    "be": 0,
    "ef": 46,
    **{f"af{group}{drop}": 8 * group + 2 * drop for group in (1, 2, 3, 4) for drop in (1, 2, 3)},
    **{f"cs{group}": 8 * group for group in range(1, 8)},
    "nc1": 48,
    "nc2": 56,
}
# Without a classifier of its own for IPv6, that for DSCPs serves both.
CLASSIFIERS = ("dscp-ipv6", "dscp")
# Default forwarding classes with their queues (QFX series); the first two are lossless.
DEFAULT_CLASSES = {"fcoe": 3, "no-loss": 4, "best-effort": 0, "network-control": 7, "mcast": 8}
DEFAULT_LOSSLESS = ("fcoe", "no-loss")
BUFFERS = ("shared-buffer", "dedicated-buffer")


@dataclass(frozen=True, slots=True)
class Classified:
    """A code point of a classifier with the forwarding class and the loss priority that it gets."""

    code_point: int
    forwarding_class: str
    loss_priority: str
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class Classifier:
    """`classifiers dscp NAME`; `kind` is dscp or dscp-ipv6."""

    kind: str
    name: str
    entries: tuple[Classified, ...]
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class ForwardingClass:
    """`forwarding-classes class NAME`."""

    name: str
    queue: int | None
    no_loss: bool
    pfc_priority: int | None
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class Pause:
    """`output ieee-802.1 code-point`: PFC frames of a priority stop a queue."""

    priority: int
    queue: int
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class PfcPoint:
    """`input dscp code-point`: a DSCP for which PFC frames are sent."""

    dscp: int
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class CongestionNotification:
    """`congestion-notification-profile NAME`: DSCPs for which PFC is sent, and what received PFC stops."""

    name: str
    watchdog: bool
    pfc: tuple[PfcPoint, ...]
    pauses: tuple[Pause, ...]
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class DropProfile:
    """`drop-profiles NAME interpolate`: percent of fill and of probability."""

    name: str
    fill: tuple[str, ...]
    probability: tuple[str, ...]
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class DropMap:
    """`drop-profile-map loss-priority LOSS protocol PROTOCOL drop-profile NAME`."""

    loss_priority: str
    protocol: str
    profile: str
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class Scheduler:
    """`schedulers NAME`; `rate` is the value of transmit-rate, `priority` empty when not configured."""

    name: str
    ecn: bool
    drops: tuple[DropMap, ...]
    rate: tuple[str, ...]
    priority: str
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class Scheduled:
    """An entry of a scheduler map."""

    forwarding_class: str
    scheduler: str
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class SchedulerMap:
    """`scheduler-maps NAME`."""

    name: str
    entries: tuple[Scheduled, ...]
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class UnitCos:
    """`interfaces NAME unit PATTERN classifiers`: (kind, classifier)."""

    pattern: str
    classifiers: tuple[tuple[str, str], ...]
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class PortCos:
    """`interfaces PATTERN`; `classifiers` are those of the physical port."""

    pattern: str
    congestion: str
    scheduler_map: str
    classifiers: tuple[tuple[str, str], ...]
    units: tuple[UnitCos, ...]
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class ClassOfService:
    """`class-of-service` of a switch; empty where it has none. `written` tells whether there is a stanza at all.

    `buffers` are the statements below shared-buffer and dedicated-buffer, in order of the alphabet.
    """

    written: bool
    classifiers: tuple[Classifier, ...]
    classes: tuple[ForwardingClass, ...]
    congestion: tuple[CongestionNotification, ...]
    drop_profiles: tuple[DropProfile, ...]
    schedulers: tuple[Scheduler, ...]
    scheduler_maps: tuple[SchedulerMap, ...]
    ports: tuple[PortCos, ...]
    buffers: tuple[str, ...] = ()
    line: int = line_field()


def code_point(text: str, own: Mapping[str, int] | None = None) -> int | None:
    """Read bits such as `011010`, or an alias: one of a switch's own before those of Junos, such as `af31`."""
    return int(text, 2) if BITS.match(text) else (own or ALIASES).get(text, ALIASES.get(text))


def _aliases(root: Node, kind: str) -> dict[str, int]:
    """Read `code-point-aliases KIND`; what has no bits is left out."""
    bits = {node.word: node.value() or "" for node in root.each("code-point-aliases", kind)}
    return {name: int(text, 2) for name, text in bits.items() if BITS.match(text)}


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None


def _classified(classifier: Node, aliases: Mapping[str, int]) -> Iterator[Classified]:
    for forwarding_class in classifier.each("forwarding-class"):
        for loss in forwarding_class.each("loss-priority"):
            for point in loss.each("code-points"):
                value = code_point(point.word, aliases)
                if value is not None:
                    yield Classified(value, forwarding_class.word, loss.word, point.line)


def _classifiers(root: Node) -> Iterator[Classifier]:
    for kind in CLASSIFIERS:
        aliases = _aliases(root, kind)
        for node in root.each("classifiers", kind):
            yield Classifier(kind, node.word, tuple(_classified(node, aliases)), node.line)


def _classes(root: Node) -> Iterator[ForwardingClass]:
    for node in root.each("forwarding-classes", "class"):
        queue, priority = _number(node.value("queue-num")), _number(node.value("pfc-priority"))
        yield ForwardingClass(node.word, queue, node.has("no-loss"), priority, node.line)


def _pauses(profile: Node, aliases: Mapping[str, int]) -> Iterator[Pause]:
    for point in profile.each("output", "ieee-802.1", "code-point"):
        priority = code_point(point.word, aliases)
        for queue in point.each("flow-control-queue"):
            number = _number(queue.word)
            if priority is not None and number is not None:
                yield Pause(priority, number, queue.line)


def _congestion(root: Node) -> Iterator[CongestionNotification]:
    dscps, priorities = _aliases(root, "dscp"), _aliases(root, "ieee-802.1")
    for node in root.each("congestion-notification-profile"):
        points = [(code_point(point.word, dscps), point) for point in node.each("input", "dscp", "code-point")]
        pfc = tuple(PfcPoint(value, point.line) for value, point in points if value is not None and point.has("pfc"))
        yield CongestionNotification(
            node.word, node.has("pfc-watchdog"), pfc, tuple(_pauses(node, priorities)), node.line
        )


def _drop_profiles(root: Node) -> Iterator[DropProfile]:
    for node in root.each("drop-profiles"):
        fill, probability = (node.values("interpolate", word) for word in ("fill-level", "drop-probability"))
        yield DropProfile(node.word, fill, probability, node.line)


def _drops(scheduler: Node) -> Iterator[DropMap]:
    for loss in scheduler.each("drop-profile-map", "loss-priority"):
        for protocol in loss.each("protocol"):
            for profile in protocol.each("drop-profile"):
                yield DropMap(loss.word, protocol.word, profile.word, profile.line)


def _schedulers(root: Node) -> Iterator[Scheduler]:
    for node in root.each("schedulers"):
        rate = node.get("transmit-rate")
        words = tuple(" ".join(path[1:]) for path in rate.paths()) if rate is not None and rate.children else ()
        priority = node.value("priority") or ""
        ecn = node.has("explicit-congestion-notification")
        yield Scheduler(node.word, ecn, tuple(_drops(node)), words, priority, node.line)


def _scheduler_maps(root: Node) -> Iterator[SchedulerMap]:
    for node in root.each("scheduler-maps"):
        rows = ((entry, entry.value("scheduler")) for entry in node.each("forwarding-class"))
        entries = tuple(Scheduled(entry.word, name, entry.line) for entry, name in rows if name is not None)
        yield SchedulerMap(node.word, entries, node.line)


def _attached(node: Node) -> tuple[tuple[str, str], ...]:
    rows = ((kind, node.value("classifiers", kind)) for kind in CLASSIFIERS)
    return tuple((kind, name) for kind, name in rows if name is not None)


def _ports(root: Node) -> Iterator[PortCos]:
    for node in root.each("interfaces"):
        yield PortCos(
            pattern=node.word,
            congestion=node.value("congestion-notification-profile") or "",
            scheduler_map=node.value("scheduler-map") or "",
            classifiers=_attached(node),
            units=tuple(UnitCos(unit.word, _attached(unit), unit.line) for unit in node.each("unit")),
            line=node.line,
        )


def class_of_service(root: Node, reuse: Reuse = anew) -> ClassOfService:
    """Read `class-of-service` from a switch's tree; what is missing is empty."""
    node = root.get("class-of-service")
    if node is None:
        return ClassOfService(False, (), (), (), (), (), (), ())
    return reuse(_class_of_service, node)


def _class_of_service(node: Node, _: Reuse) -> ClassOfService:
    buffers = [node.get(word) for word in BUFFERS]
    return ClassOfService(
        written=True,
        classifiers=tuple(_classifiers(node)),
        classes=tuple(_classes(node)),
        congestion=tuple(_congestion(node)),
        drop_profiles=tuple(_drop_profiles(node)),
        schedulers=tuple(_schedulers(node)),
        scheduler_maps=tuple(_scheduler_maps(node)),
        ports=tuple(_ports(node)),
        buffers=tuple(sorted(" ".join(path) for part in buffers if part is not None for path in part.paths())),
        line=node.line,
    )
