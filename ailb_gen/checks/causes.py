"""Which findings follow from which: one damage gives one headline, and the rest are its consequences."""

from __future__ import annotations

import re
from collections import defaultdict
from ipaddress import IPv6Network
from typing import TYPE_CHECKING

from ailb_gen.checks.cause_rules import ORDER, RULES, Relation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ailb_gen.checks.model import Finding, Result

# Names in messages: of addresses and prefixes, of both ends of cables, of ports, and of what belongs to a device.
ADDRESS = re.compile(r"(?<![\w:])[0-9a-f]{0,4}:[0-9a-f:]*:[0-9a-f:]*")
END = re.compile(r"([\w.-]+):([a-z][\w./:-]*\w)")
PORT = re.compile(r"\b(?:et|xe|ge|irb|lo)[-.]?\d[\w/:.]*\w|\birb\.\d+")
OWN = re.compile(r"\b(?:table|VLAN|class) [\w.-]+")
ROW = re.compile(r"\w+ (\d+) \w+ *\d* ")
# Servers have their prefixes from leaves: 64 bits (RFC 4862).
LENGTH = 64


def causes(results: Iterable[Result]) -> dict[Finding, Finding]:
    """Return the root cause of every finding that follows from another, by the rules of `cause_rules`.

    A cause always comes before its consequences in the order of the checks, so there are no circles. What nothing
    explains stands for itself.
    """
    findings = [row for result in results for row in result.findings]
    findings.sort(key=lambda row: ORDER.get(row.check, len(ORDER)))
    index = _Index(findings)
    found: dict[Finding, Finding] = {}
    pairs = _pairs(findings)
    for finding in findings:
        cause = index.cause(finding) or pairs.get(finding)
        if cause is not None:
            found[finding] = found.get(cause, cause)
    return found


def topics(finding: Finding) -> set[str]:
    """Return the single things that a finding names: ports, prefixes, tables and the like, of a device each."""
    device, _, rest = finding.scope.partition(" ")
    found = {f"{device} {rest.removesuffix('.0')}"} if rest else set()
    found.update(other for other in finding.involves if " " in other)
    text = finding.message
    for word in (*ADDRESS.findall(text), *ADDRESS.findall(finding.expected)):
        try:
            found.add(str(IPv6Network((word, LENGTH), strict=False)))
        except ValueError:
            continue
    found.update(f"{name} {port.removesuffix('.0')}" for name, port in END.findall(text))
    found.update(f"{device} {port.removesuffix('.0')}" for port in PORT.findall(text))
    found.update(f"{device} {word}" for word in OWN.findall(text))
    found.update(f"{device} table {number}" for number in ROW.findall(text))
    return found


def _pairs(findings: Iterable[Finding]) -> dict[Finding, Finding]:
    """Return what stands in the place of something else: as much is too much on a thing as is missing there."""
    lacking: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    surplus: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for row in findings:
        if bool(row.expected) != bool(row.found):
            (lacking if row.expected else surplus)[row.check, row.scope].append(row)
    return {
        more: less
        for key, rows in surplus.items()
        if len(rows) == len(lacking[key])
        for more, less in zip(rows, lacking[key], strict=True)
    }


class _Index:
    """Findings by check and by what they are about: the first of each, which leads those like it."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.places: dict[Finding, int] = {}
        self.found: dict[tuple[str, Relation, object], Finding] = {}
        for number, finding in enumerate(findings):
            self.places.setdefault(finding, number)
            for relation, key in _held(finding):
                self.found.setdefault((finding.check, relation, key), finding)

    def cause(self, finding: Finding) -> Finding | None:
        """Return what a finding follows from directly: by the first rule that applies, the first check of it."""
        for checks, relation in RULES.get(finding.check, ()):
            keys = list(_sought(finding, relation))
            for check in checks:
                for key in keys:
                    found = self.found.get((check, relation, key))
                    if found is not None and self.places[found] < self.places[finding]:
                        return found
        return None


def _held(finding: Finding) -> Iterator[tuple[Relation, object]]:
    """Give the keys under which a finding is found as a cause."""
    yield Relation.ANYWHERE, ""
    if finding.place is not None:
        yield Relation.FILE, finding.place.file
        if finding.place.line > 1:
            yield Relation.LINE, (finding.place.file, finding.place.line)
    for topic in topics(finding):
        yield Relation.TOPIC, topic
    for scope in (finding.scope, *finding.involves):
        for whole in _wholes(scope):
            yield Relation.INVOLVED, whole
    for whole in _wholes(finding.scope):
        yield Relation.OWN, whole
    yield Relation.OWN, (finding.scope,)


def _sought(finding: Finding, relation: Relation) -> Iterator[object]:
    """Give the keys of what may be the cause of a finding."""
    if relation is Relation.ANYWHERE:
        yield ""
    elif relation is Relation.TOPIC:
        yield from sorted(topics(finding))
    elif relation is Relation.INVOLVED:
        yield from finding.involves
    elif relation is Relation.OWN:
        # What is about a part of it, and what is about a whole that it is a part of.
        yield finding.scope
        yield from ((whole,) for whole in _wholes(finding.scope))
    elif finding.place is not None:
        yield finding.place.file if relation is Relation.FILE else (finding.place.file, finding.place.line)


def _wholes(scope: str) -> Iterator[str]:
    """Give a scope and what it is a part of: `leaf1 et-0/0/0` is about leaf1, too."""
    words = scope.split(" ")
    return (" ".join(words[:length]) for length in range(1, len(words) + 1))
