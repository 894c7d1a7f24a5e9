"""Which findings follow from which: one damage gives one headline, and the rest are its consequences."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from ipaddress import IPv6Network

from ailb_gen.checks.cause_rules import ORDER, REPLACED, RULES, SERVER, Relation
from ailb_gen.checks.model import EVERYTHING, Finding, Result
from ailb_gen.layout import CABLING, PROFILES, TOPOLOGY

# Names in messages: of addresses and prefixes, of both ends of cables, of ports, and of what belongs to a device.
ADDRESS = re.compile(r"(?<![\w:])[0-9a-f]{1,4}:[0-9a-f:]*:[0-9a-f:]*")
# Words are looked at from where they begin: from every character it would take the square of a word's length.
END = re.compile(r"(?<![\w.-])([\w.-]+):([a-z][\w./:-]*\w)")
PORT = re.compile(r"\b(?:et|xe|ge|irb|lo)[-.]?\d(?:[\w/:.]*\w)?")
TABLE = re.compile(r"\btable (\d+)")
OWN = re.compile(r"\b(?:VLAN|class|community|group|as-list|policy) [\w.-]+")
HOST_FILE = re.compile(r"\b(?:usr|etc)/[\w./-]+\w")
NIC = re.compile(r"\bconf\.([\w-]+)\.")
CABLE = re.compile(r"(?<![\w.-])([\w.-]+) ((?:et|xe|ge)-[\w/:]+)")
# A line of the script: NIC, table and its name, priority, prefix.
ROW = re.compile(r"(?<!\S)\S+ (\d+) \S+ \d+ [0-9a-f]+:")
# The prefixes of a NIC are those of the cable's other end.
ON_WHOLE_PORTS = ("AILB606",)
# Servers have their prefixes from leaves: 64 bits (RFC 4862).
LENGTH = 64


def causes(results: Iterable[Result]) -> dict[Finding, Finding]:
    """Return the root cause of every finding that follows from another, by the rules of `cause_rules`.

    A cause always comes before its consequences in the order of the checks, so there are no circles. What nothing
    explains stands for itself.
    """
    findings = [row for result in results for row in result.findings]
    # Within a check, what depends on nothing else comes first.
    # What stands in the place of something else comes before what is missing there.
    findings.sort(key=lambda row: (ORDER.get(row.check, len(ORDER)), bool(row.involves), _is_missing(row)))
    for root in findings:
        if root.alike == EVERYTHING:
            return {finding: root for finding in findings if finding != root}
    index = _Index(findings)
    direct = {finding: cause for finding in findings if (cause := index.cause(finding)) is not None}
    direct |= _pairs(finding for finding in findings if finding not in direct)
    # What is explained leads none of its kind: the others may have another cause.
    alone = _Index([finding for finding in findings if finding not in direct])
    direct |= {finding: cause for finding in alone.places if (cause := alone.leader(finding)) is not None}
    return {finding: _root(finding, direct) for finding in findings if finding in direct}


def _root(finding: Finding, direct: dict[Finding, Finding]) -> Finding:
    while finding in direct:
        finding = direct[finding]
    return finding


def topics(finding: Finding) -> set[str]:
    """Return the single things that a finding names: ports, prefixes, tables and the like, of a device each.

    What is about a prefix or a table of an interface is not about the whole interface.
    """
    device, rest = finding.device, finding.part
    text = finding.message.replace("vlans ", "VLAN ")
    found = set(_networks(" ".join((text, finding.expected, *finding.involves))))
    found.update(f"{device} table {number}" for number in (*TABLE.findall(text), *ROW.findall(text)))
    wide = not found or finding.check in ON_WHOLE_PORTS
    if wide and rest:
        found.add(f"{device} {_port(rest)}")
    # A port without a device is one of the scope's.
    own = PORT.findall(END.sub("", text))
    found.update(f"{device} {_port(port)}" for port in own if wide or not port.startswith("irb"))
    found.update(other for other in finding.involves if " " in other)
    for name, port in END.findall(text):
        found.add(f"{name} {_port(port)}")
        # The cables of a server are reported with all of its NICs; a switch has ports.
        if not PORT.fullmatch(port):
            found.add(f"{name} nics")
    if text.startswith("nics "):
        found.add(f"{device} nics")
    # What is missing or too much is reported as a whole: both ends of a cable.
    found.update(f"{name} {port}" for name, port in CABLE.findall(f"{finding.expected} {finding.found}"))
    found.update(f"{device} {nic}" for nic in NIC.findall(text))
    found.update(HOST_FILE.findall(text))
    found.update(f"{device} {word}" for word in OWN.findall(text))
    return found


def _networks(text: str) -> Iterator[str]:
    for word in ADDRESS.findall(text):
        try:
            yield str(IPv6Network((word, LENGTH), strict=False))
        except ValueError:
            continue


def _port(name: str) -> str:
    """Return the port of a logical interface; IRBs are their units."""
    return name if name.startswith("irb") else name.partition(".")[0]


def _pairs(findings: Iterable[Finding]) -> dict[Finding, Finding]:
    """Return what is missing because something else stands there: as much is too much in a file as is missing."""
    lacking: dict[tuple[str, str, str], list[Finding]] = defaultdict(list)
    surplus: dict[tuple[str, str, str], list[Finding]] = defaultdict(list)
    for row in findings:
        if row.check in REPLACED and bool(row.expected) != bool(row.found) and row.place is not None:
            # In a file of a server one line is examined by several checks.
            check = row.check if row.check not in SERVER else ""
            # The files of the whole fabric name devices, too: one may have a wrong name.
            device = row.device if row.place.file not in (CABLING, TOPOLOGY) else ""
            key = (check, device, row.place.file)
            (lacking if row.expected else surplus)[key].append(row)
    return {
        less: more
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
        return self._first(finding, lambda check: check != finding.check)

    def leader(self, finding: Finding) -> Finding | None:
        """Return the finding of the same check that stands for this one, too."""
        first = self.found.get((finding.check, Relation.ALIKE, finding.alike)) if finding.alike else None
        if first is not None and first != finding:
            return first
        return self._first(finding, lambda check: check == finding.check)

    def _first(self, finding: Finding, chosen: Callable[[str], bool]) -> Finding | None:
        for checks, relation in RULES.get(finding.check, ()):
            keys = list(SOUGHT[relation](finding))
            for check in filter(chosen, checks):
                for key in keys:
                    found = self.found.get((check, relation, key))
                    if found is not None and self.places[found] < self.places[finding]:
                        return found
        return None


def _held(finding: Finding) -> Iterator[tuple[Relation, object]]:
    """Yield the keys under which a finding is found as a cause."""
    yield Relation.ANYWHERE, ""
    if finding.alike:
        yield Relation.ALIKE, finding.alike
    yield from ((Relation.LINE, line) for line in _lines(finding))
    if finding.gap:
        yield Relation.GAP, finding.gap
    files = _files(finding)
    for file in files:
        yield Relation.FILE, file
        yield from ((Relation.TOPIC, path) for path in HOST_FILE.findall(file)[:1])
    for topic in topics(finding):
        yield Relation.TOPIC, topic
        yield Relation.INVOLVED, topic
        yield from ((Relation.PART, (file, topic)) for file in files)
    for scope in (finding.scope, *finding.involves):
        for whole in _wholes(scope):
            yield Relation.INVOLVED, whole
    for whole in _wholes(finding.scope):
        yield Relation.OWN, whole
    # A profile is many files: what is wrong with one says nothing about the others.
    if not finding.scope.startswith(f"{PROFILES}/"):
        yield Relation.OWN, (finding.scope,)


def _lines(finding: Finding) -> list[tuple[str, int]]:
    """Return the file and line that a finding is about; none for what is missing, which is placed where it belongs."""
    place = finding.place
    is_there = place is not None and place.line > 1 and not _is_missing(finding)
    return [(place.file, place.line)] if place is not None and is_there else []


def _is_missing(finding: Finding) -> bool:
    """Return whether a finding is about something that is not there."""
    if finding.statement:
        return bool(finding.gap) and not finding.instead
    return bool(finding.expected and not finding.found)


def _wholes(scope: str) -> Iterator[str]:
    """Yield a scope and what it is a part of: `leaf1 et-0/0/0` is about leaf1, too."""
    words = scope.split(" ")
    return (" ".join(words[:length]) for length in range(1, len(words) + 1))


def _files(finding: Finding) -> list[str]:
    return [finding.place.file] if finding.place is not None else []


# The keys of what may be the cause of a finding.
SOUGHT: dict[Relation, Callable[[Finding], Iterable[object]]] = {
    Relation.ANYWHERE: lambda finding: [""],
    Relation.TOPIC: lambda finding: sorted(topics(finding)),
    Relation.INVOLVED: lambda finding: finding.involves,
    # What is about a part of it, and what is about a whole that it is a part of.
    Relation.OWN: lambda finding: [finding.scope, *((whole,) for whole in _wholes(finding.scope))],
    Relation.PART: lambda finding: [(file, topic) for file in _files(finding) for topic in sorted(topics(finding))],
    Relation.FILE: _files,
    Relation.LINE: _lines,
    Relation.GAP: lambda finding: [finding.gap] if finding.gap else [],
}
