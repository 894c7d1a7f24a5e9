"""Check the references of class-of-service, and buffers (AILB702, AILB711)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.families.roce import REPAIR
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.locate import ANY, at_fault, known_names
from ailb_gen.checks.model import Check, Findings
from ailb_gen.intent.settings import Buffers
from ailb_gen.network.cos import CLASSIFIERS, DEFAULT_CLASSES, ClassOfService

# What it is, its name, the line that refers to it, the statement below class-of-service (empty: the line).
Reference = tuple[str, str, int, str]
# Where what is referred to is defined, below class-of-service.
ABOVE = {
    "forwarding class": "forwarding-classes class",
    "scheduler": "schedulers",
    "drop profile": "drop-profiles",
    "scheduler map": "scheduler-maps",
    "congestion notification profile": "congestion-notification-profile",
    **{f"{kind} classifier": f"classifiers {kind}" for kind in CLASSIFIERS},
}
# The names that Junos defines itself.
BUILTIN: Mapping[str, Collection[str]] = {
    "forwarding class": DEFAULT_CLASSES.keys(),
    **{f"{kind} classifier": {"default"} for kind in CLASSIFIERS},
}


def _references(cos: ClassOfService) -> Iterator[Reference]:
    """Iterate over (what, name, line, statement) of everything that is referred to by name."""
    for classifier in cos.classifiers:
        above = f"classifiers {classifier.kind} {classifier.name} forwarding-class"
        for row in classifier.entries:
            yield "forwarding class", row.forwarding_class, row.line, f"{above} {row.forwarding_class}"
    for table in cos.scheduler_maps:
        for entry in table.entries:
            above = f"scheduler-maps {table.name} forwarding-class {entry.forwarding_class}"
            yield "forwarding class", entry.forwarding_class, entry.line, above
            yield "scheduler", entry.scheduler, entry.line, f"{above} scheduler {entry.scheduler}"
    for scheduler in cos.schedulers:
        yield from (("drop profile", drop.profile, drop.line, "") for drop in scheduler.drops)
    for port in cos.ports:
        above = f"interfaces {port.pattern}"
        yield "scheduler map", port.scheduler_map, port.line, f"{above} scheduler-map {port.scheduler_map}"
        profile = f"{above} congestion-notification-profile {port.congestion}"
        yield "congestion notification profile", port.congestion, port.line, profile
        for kind, name in port.classifiers:
            yield f"{kind} classifier", name, port.line, f"{above} classifiers {kind} {name}"
        for unit in port.units:
            for kind, name in unit.classifiers:
                yield f"{kind} classifier", name, port.line, f"{above} unit {unit.pattern} classifiers {kind} {name}"


def _defined(cos: ClassOfService) -> dict[str, Collection[str]]:
    """Return the names that are defined, by kind."""
    return {
        "forwarding class": {row.name for row in cos.classes},
        "scheduler": {row.name for row in cos.schedulers},
        "drop profile": {row.name for row in cos.drop_profiles},
        "scheduler map": {row.name for row in cos.scheduler_maps},
        "congestion notification profile": {row.name for row in cos.congestion},
        **{f"{kind} classifier": {row.name for row in cos.classifiers if row.kind == kind} for kind in CLASSIFIERS},
    }


def _check_references(context: Context, findings: Findings) -> None:
    """Find names that nothing defines, classes without a queue, and maps without a class that carries traffic."""
    known = known_names(_defined(switch.cos) for switch, _ in context.switches)
    for switch, _ in context.switches:
        cos = switch.cos
        findings.look(REFERENCES, len(cos.ports) + len(cos.scheduler_maps) + len(cos.classifiers))
        defined, references = _defined(cos), list(_references(cos))
        used_names = {(what, name) for what, name, _, _ in references}
        for what, name, line, below in references:
            if not name or name in defined[what] or name in BUILTIN.get(what, ()):
                continue
            message = f"{what} {name} is referred to, but not defined"
            unused = [one for one in defined[what] if (what, one) not in used_names]
            reference = f"class-of-service {below}" if below else ""
            statement = at_fault(f"class-of-service {ABOVE[what]}", name, reference, unused, name in known[what])
            same_cause, defined_as = f"{switch.named} {what} {name}", f"class-of-service {ABOVE[what]} {name} {ANY}"
            subjects = tuple(about.of_statement(switch.named, defined_as))
            expected = f"{what} {name}"
            findings.at(
                REFERENCES,
                switch,
                message,
                line,
                expected,
                same_cause=same_cause,
                statement=statement,
                subjects=subjects,
            )
        for row in cos.classes:
            if row.queue is None:
                statement = f"class-of-service forwarding-classes class {row.name} queue-num"
                message = f"class {row.name} has no queue-num"
                findings.at(REFERENCES, switch, message, row.line, "queue-num", statement=statement)
        used = {row.forwarding_class for classifier in cos.classifiers for row in classifier.entries}
        for table in cos.scheduler_maps:
            for name in sorted(used - {entry.forwarding_class for entry in table.entries}):
                message = f"scheduler map {table.name} has no scheduler for class {name}"
                statement = f"class-of-service scheduler-maps {table.name} forwarding-class {name}"
                subjects = (about.forwarding_class(switch.named, name), *about.of_statement(switch.named, statement))
                findings.at(REFERENCES, switch, message, table.line, name, statement=statement, subjects=subjects)


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
            statement = f"class-of-service {text}"
            findings.at(BUFFERS, switch, f"{text} is missing", line, text, statement=statement)
        for text in found - expected:
            message, statement = f"{text} is not what the intent specifies", f"class-of-service {text}"
            findings.at(BUFFERS, switch, message, line, "", text, statement=statement, instead=True)


REFERENCES = Check(
    "AILB702",
    "every class, classifier, scheduler, map and profile that class-of-service refers to is defined",
    "class-of-service refers to something that is not defined",
    "Junos commits a scheduler map with a missing scheduler, and the queue has defaults: no ECN, little bandwidth.",
    "Define it, or correct the name.",
    _check_references,
    layer=Layer.QOS_REFERENCES,
)
BUFFERS = Check(
    "AILB711",
    "shared and dedicated buffers are those that the intent specifies",
    "buffers differ from those that the intent specifies",
    "Too little headroom drops lossless packets; too much leaves too little for everything else.",
    REPAIR,
    _check_buffers,
)
