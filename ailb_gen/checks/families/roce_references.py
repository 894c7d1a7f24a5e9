"""Check what class-of-service refers to, and buffers (AILB702, AILB711)."""

from __future__ import annotations

from collections.abc import Iterator

from ailb_gen.checks.context import Context
from ailb_gen.checks.families.roce import REPAIR
from ailb_gen.checks.model import Check, Findings
from ailb_gen.intent.settings import Buffers
from ailb_gen.network.cos import CLASSIFIERS, DEFAULT_CLASSES, ClassOfService


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


def _check_references(context: Context, findings: Findings) -> None:
    """Find names that nothing defines, classes without a queue, and maps without a class that carries traffic."""
    for switch, _ in context.switches:
        cos = switch.cos
        findings.look(REFERENCES, len(cos.ports) + len(cos.scheduler_maps) + len(cos.classifiers))
        for what, line in _dangling(cos):
            message = f"{what} is referred to, but not defined"
            findings.at(REFERENCES, switch, message, line, what, alike=f"{switch.named} {what}")
        for row in cos.classes:
            if row.queue is None:
                findings.at(REFERENCES, switch, f"class {row.name} has no queue-num", row.line, "queue-num")
        used = {row.forwarding_class for classifier in cos.classifiers for row in classifier.entries}
        for table in cos.scheduler_maps:
            for name in sorted(used - {entry.forwarding_class for entry in table.entries}):
                message = f"scheduler map {table.name} has no scheduler for class {name}"
                findings.at(REFERENCES, switch, message, table.line, name)


def _statements(buffers: Buffers) -> set[str]:
    shares = "buffer-partition"
    return {
        f"shared-buffer ingress {shares} lossless percent {buffers.lossless}",
        f"shared-buffer ingress {shares} lossless dynamic-threshold {buffers.dynamic_threshold}",
        f"shared-buffer ingress {shares} lossless-headroom percent {buffers.lossless_headroom}",
        f"shared-buffer ingress {shares} lossy percent {buffers.lossy}",
        f"shared-buffer egress {shares} lossless percent {buffers.lossless}",
        f"shared-buffer egress {shares} lossy percent {buffers.lossy}",
        f"dedicated-buffer ingress percent {buffers.dedicated_ingress}",
        f"dedicated-buffer egress percent {buffers.dedicated_egress}",
    }


def _check_buffers(context: Context, findings: Findings) -> None:
    """Compare the statements of the buffers with the intent's; without any the platform's own hold."""
    for switch, asked in context.switches:
        if asked.roce is None:
            continue
        findings.look(BUFFERS)
        expected = _statements(asked.roce.buffers) if asked.roce.buffers is not None else set()
        found, line = set(switch.cos.buffers), switch.cos.line
        for text in expected - found:
            findings.at(BUFFERS, switch, f"{text} is missing", line, text)
        for text in found - expected:
            findings.at(BUFFERS, switch, f"{text} is not what the intent asks for", line, "", text)


REFERENCES = Check(
    "AILB702",
    "every class, classifier, scheduler, map and profile that class-of-service refers to is defined",
    "class-of-service refers to something that is not defined",
    "Junos commits a scheduler map with a missing scheduler, and the queue has defaults: no ECN, little bandwidth.",
    "Define it, or correct the name.",
    _check_references,
)
BUFFERS = Check(
    "AILB711",
    "shared and dedicated buffers are those that the intent asks for",
    "buffers differ from those that the intent asks for",
    "Too little headroom drops lossless packets; too much leaves too little for everything else.",
    REPAIR,
    _check_buffers,
)
