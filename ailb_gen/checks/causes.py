"""Which findings follow from which: one damage gives one headline, and the rest are its consequences.

A finding has subjects, the things that it is about, and its check has a layer. A cause is in a more fundamental layer,
or a finding of the same check, and related to the consequence by one of `RULES`. Texts decide nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum

from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import EVERYTHING, Finding, Result
from ailb_gen.checks.subjects import Subject, SubjectKind, device
from ailb_gen.layout import CABLING, TOPOLOGY


class Relation(Enum):
    """The relation of a consequence to its cause.

    LINE and FILE: they are at one line, or anywhere in one file. GAP: for both the same statement is missing, or is
    written wrongly. SUBJECT: they share a subject; PART: in one file. AROUND: the cause is about the interface around
    the prefix or table of the consequence. WHOLE: the cause is about the whole device of the consequence, DEVICE: about
    anything of it. INVOLVED: the consequence involves what the cause is about. ANYWHERE: wherever both are. SAME: both
    are marked so (`Finding.same_cause`); it needs no rule.
    """

    LINE = 1
    FILE = 2
    GAP = 3
    SUBJECT = 4
    PART = 5
    WHOLE = 6
    DEVICE = 7
    INVOLVED = 8
    ANYWHERE = 9
    AROUND = 10
    SAME = 11


Layers = tuple[Layer, ...]


def _from(first: Layer, last: Layer) -> Layers:
    return tuple(layer for layer in Layer if first <= layer <= last)


QOS = _from(Layer.QOS_REFERENCES, Layer.QOS)
WRITTEN = (*_from(Layer.FILES, Layer.QOS), Layer.SESSIONS, *_from(Layer.NICS, Layer.BATFISH_DIFFERENCES), Layer.COMMIT)
WIRING = (Layer.CABLES, Layer.TOPOLOGY, Layer.AGREEMENT)
ON_SERVERS = _from(Layer.NICS, Layer.PROGRAMS)
ON_SWITCHES = _from(Layer.DEFINITIONS, Layer.REFERENCES)
ROUTING = _from(Layer.DEFINITIONS, Layer.TERMS)
# What decides about routes.
CONTROL = (Layer.FILES, Layer.SYNTAX, *WIRING, Layer.UNMODELED, *ROUTING, Layer.SESSIONS)
COMPUTED = (Layer.ROUTES, Layer.PATHS)
ON_PORTS = (Layer.PORTS, Layer.SETTINGS)
IN_LAB = _from(Layer.LAB_DEVICES, Layer.LAB_PACKETS)
# Consequences, their causes, and the relation of both; the first rule that applies counts, in the order of the layers.
RULES: tuple[tuple[Layers, Layers, Relation], ...] = (
    # A line is one statement, and one cause; so is a statement that is missing.
    (WRITTEN, WRITTEN, Relation.LINE),
    (WRITTEN, WRITTEN, Relation.GAP),
    # A value that no switch takes is the reason why the value is wrong; what is in a place where it is not read is
    # missing where it belongs.
    ((*ON_PORTS, *ROUTING, Layer.QOS), (Layer.SYNTAX, Layer.UNMODELED), Relation.PART),
    # Of a file that is not there, or belongs to no device, nothing else is reported.
    ((*WRITTEN, *COMPUTED), (Layer.FILES,), Relation.WHOLE),
    ((Layer.FILES, *WIRING, *ON_SERVERS), (Layer.FILES,), Relation.FILE),
    # The topology is made of the same intent, and nothing is wired by it.
    ((*WIRING, Layer.DESCRIPTIONS), WIRING, Relation.SUBJECT),
    (
        (Layer.DEFINITIONS, Layer.USES, Layer.SESSIONS, Layer.NICS),
        (Layer.CABLES, Layer.AGREEMENT),
        Relation.SUBJECT,
    ),
    ((Layer.PORTS, Layer.REFERENCES), (Layer.CABLES, Layer.AGREEMENT), Relation.INVOLVED),
    # Statements follow from what they name.
    (ROUTING, ON_SWITCHES, Relation.SUBJECT),
    ((Layer.USES,), (Layer.DEFINITIONS,), Relation.INVOLVED),
    ((Layer.REFERENCES, Layer.ORIGINS), _from(Layer.FILES, Layer.REFERENCES), Relation.INVOLVED),
    ((Layer.POLICIES,), (Layer.REFERENCES, Layer.SESSIONS), Relation.INVOLVED),
    ((Layer.TERMS,), (Layer.ROUTE_SETTINGS, Layer.POLICIES), Relation.SUBJECT),
    # Class of service: a lost part is a cause of its own.
    ((Layer.QOS,), (Layer.QOS_REFERENCES, Layer.QOS_PORTS), Relation.INVOLVED),
    ((Layer.QOS_PORTS, Layer.QOS), (Layer.QOS_REFERENCES,), Relation.SUBJECT),
    ((Layer.LINKS,), QOS, Relation.SUBJECT),
    ((Layer.LINKS,), (Layer.FILES, Layer.SYNTAX, *QOS), Relation.INVOLVED),
    # Sessions, routes, paths.
    ((Layer.SESSIONS,), ON_SWITCHES, Relation.SUBJECT),
    ((Layer.SESSIONS,), CONTROL, Relation.INVOLVED),
    (COMPUTED, CONTROL, Relation.INVOLVED),
    (COMPUTED, CONTROL, Relation.DEVICE),
    ((Layer.PATHS,), COMPUTED, Relation.INVOLVED),
    ((Layer.PATHS,), (Layer.DRAINS,), Relation.ANYWHERE),
    ((Layer.TRAFFIC,), (*CONTROL, *COMPUTED), Relation.ANYWHERE),
    # Servers.
    ((Layer.SERVERS,), (Layer.NICS,), Relation.PART),
    ((Layer.SCRIPTS,), (Layer.NICS,), Relation.AROUND),
    ((Layer.TABLES, Layer.GATEWAYS, Layer.SCRIPTS), (Layer.TABLES, Layer.GATEWAYS), Relation.SUBJECT),
    ((Layer.GATEWAYS,), (Layer.CABLES, Layer.AGREEMENT), Relation.AROUND),
    ((Layer.GATEWAYS,), (*ON_SWITCHES, Layer.ORIGINS), Relation.SUBJECT),
    ((Layer.GATEWAYS,), (Layer.DEFINITIONS, Layer.PORTS, Layer.USES), Relation.FILE),
    ((Layer.SERVERS,), (Layer.QOS,), Relation.SUBJECT),
    ((Layer.SERVERS,), QOS, Relation.INVOLVED),
    ((Layer.PROGRAMS,), (Layer.NICS, Layer.SERVERS, Layer.SCRIPTS), Relation.FILE),
    # What Batfish says of the same; its routes follow from all that decides about routes, but that the engines
    # disagree only from what one leaves out.
    ((Layer.BATFISH_FILES,), (Layer.FILES, Layer.SYNTAX), Relation.DEVICE),
    (
        (Layer.BATFISH_FILES, Layer.BATFISH_MODEL, Layer.BATFISH_GAPS),
        (Layer.CABLES, *ROUTING, Layer.SESSIONS, Layer.BATFISH_FILES, Layer.BATFISH_MODEL),
        Relation.SUBJECT,
    ),
    ((Layer.BATFISH_ROUTES,), (*CONTROL, *COMPUTED), Relation.ANYWHERE),
    ((Layer.BATFISH_DIFFERENCES,), (Layer.BATFISH_GAPS, Layer.BATFISH_DIFFERENCES), Relation.ANYWHERE),
    # In a lab: nothing of a device that does not run; no session without advertisements, no routes without a session,
    # no packets without routes. A session that only this program has is one that is not established.
    (IN_LAB, IN_LAB, Relation.SUBJECT),
    ((*IN_LAB, Layer.LAB_SESSION_DIFFERENCES), (*IN_LAB, Layer.LAB_SESSION_DIFFERENCES), Relation.INVOLVED),
    ((Layer.LAB_SESSION_DIFFERENCES,), (Layer.LAB_LINKS, Layer.LAB_SESSIONS), Relation.SUBJECT),
    ((Layer.LAB_LINKS,), (Layer.LAB_DEVICES,), Relation.WHOLE),
    ((Layer.LAB_PACKETS,), (Layer.LAB_LINKS, Layer.LAB_SERVERS), Relation.DEVICE),
    ((Layer.LAB_FAILURES,), IN_LAB, Relation.ANYWHERE),
    (
        (Layer.LAB_DIFFERENCES,),
        (Layer.LAB_DEVICES, Layer.LAB_GAPS, Layer.LAB_SESSION_DIFFERENCES, Layer.LAB_DIFFERENCES),
        Relation.ANYWHERE,
    ),
    # What only repeats that something is amiss: a file that was edited.
    ((Layer.COMMIT,), (*ON_PORTS, *ROUTING, Layer.SESSIONS), Relation.SUBJECT),
    ((Layer.REPETITIONS,), (*_from(Layer.FILES, Layer.QOS), *ON_SERVERS), Relation.DEVICE),
)
RULES_OF = {layer: [(layers, relation) for effects, layers, relation in RULES if layer in effects] for layer in Layer}
# Where the first finding of a check stands for others of the same check.
LEADERS: tuple[tuple[Layers, Relation], ...] = (
    (
        (
            Layer.CABLES,
            Layer.TOPOLOGY,
            Layer.DEFINITIONS,
            Layer.REFERENCES,
            Layer.QOS_PORTS,
            Layer.TABLES,
            Layer.GATEWAYS,
        ),
        Relation.SUBJECT,
    ),
    ((Layer.SCRIPTS, Layer.LAB_LINKS, Layer.LAB_SESSIONS, Layer.LAB_SESSION_DIFFERENCES), Relation.SUBJECT),
    ((Layer.ORIGINS, Layer.POLICIES, Layer.SERVERS, Layer.PATHS, Layer.LAB_ROUTES), Relation.INVOLVED),
    ((Layer.PROGRAMS,), Relation.FILE),
)


def causes(results: Iterable[Result]) -> dict[Finding, Finding]:
    """Return the root cause of every finding that follows from another.

    A cause always comes before its consequences in the order of the checks, so there are no circles. A finding that
    nothing explains stands for itself.
    """
    results = sorted(results, key=lambda result: (result.check.layer, result.check.id))
    layers = {result.check.id: result.check.layer for result in results}
    findings = [finding for result in results for finding in result.findings]
    # Within a check, a finding that depends on nothing else comes first; one about a wrong statement comes before what
    # is missing there.
    findings.sort(key=lambda row: (layers[row.check], row.check, bool(row.involves), _is_missing(row)))
    for root in findings:
        if root.same_cause == EVERYTHING:
            return {finding: root for finding in findings if finding != root}
    index = _Index(findings, layers)
    direct = {finding: cause for finding in findings if (cause := index.cause(finding)) is not None}
    direct |= _pairs((finding for finding in findings if finding not in direct), layers)
    # What is explained leads none of its kind: the others may have another cause.
    alone = _Index([finding for finding in findings if finding not in direct], layers)
    direct |= {finding: cause for finding in alone.places if (cause := alone.leader(finding)) is not None}
    return {finding: _root(finding, direct) for finding in findings if finding in direct}


def _root(finding: Finding, direct: dict[Finding, Finding]) -> Finding:
    while finding in direct:
        finding = direct[finding]
    return finding


def _pairs(findings: Iterable[Finding], layers: dict[str, Layer]) -> dict[Finding, Finding]:
    """Return missing things with the surplus ones written instead, where a file has as many surplus as missing ones."""
    lacking: dict[tuple[str, str, str], list[Finding]] = defaultdict(list)
    surplus: dict[tuple[str, str, str], list[Finding]] = defaultdict(list)
    for row in findings:
        if layers[row.check] in REPLACED and bool(row.expected) != bool(row.found) and row.place is not None:
            # In a file of a server one line is examined by several checks.
            check = row.check if layers[row.check] < Layer.NICS else ""
            # The files of the whole fabric name devices, too: one may have a wrong name.
            scope = row.device if row.place.file not in (CABLING, TOPOLOGY) else ""
            (lacking if row.expected else surplus)[check, scope, row.place.file].append(row)
    return {
        less: more
        for key, rows in surplus.items()
        if len(rows) == len(lacking[key])
        for more, less in zip(rows, lacking[key], strict=True)
    }


# Where something missing and something too much, in one file, are one thing written wrongly. Devices and labs are not
# among them: there every difference was made on purpose.
REPLACED = frozenset({*WIRING, Layer.QOS_REFERENCES, *_from(Layer.DEFINITIONS, Layer.ORIGINS), *ON_SERVERS})


class _Index:
    """Findings by check and by what they are about: the first of each, which leads those like it."""

    def __init__(self, findings: Sequence[Finding], layers: dict[str, Layer]) -> None:
        self.layers = layers
        self.checks: dict[Layer, list[str]] = defaultdict(list)
        for check in dict.fromkeys(finding.check for finding in findings):
            self.checks[layers[check]].append(check)
        self.places: dict[Finding, int] = {}
        self.found: dict[tuple[str, Relation, object], Finding] = {}
        for number, finding in enumerate(findings):
            self.places.setdefault(finding, number)
            for relation, key in _held(finding):
                self.found.setdefault((finding.check, relation, key), finding)

    def cause(self, finding: Finding) -> Finding | None:
        """Return the direct cause of a finding: by the first rule that applies, the most fundamental one."""
        for layers, relation in RULES_OF[self.layers[finding.check]]:
            checks = [check for layer in layers for check in self.checks[layer] if check != finding.check]
            cause = self._first(finding, relation, checks)
            if cause is not None:
                return cause
        return None

    def leader(self, finding: Finding) -> Finding | None:
        """Return the finding of the same check that stands for this one, too."""
        first = self.found.get((finding.check, Relation.SAME, finding.same_cause)) if finding.same_cause else None
        if first is not None and first != finding:
            return first
        own = self.layers[finding.check]
        relations = [relation for layers, relation in LEADERS if own in layers]
        # One line, or one statement that is missing, is one thing here, too.
        relations += [Relation.LINE, Relation.GAP] if own in WRITTEN else []
        leaders = (self._first(finding, relation, [finding.check]) for relation in relations)
        return next((leader for leader in leaders if leader is not None), None)

    def _first(self, finding: Finding, relation: Relation, checks: Iterable[str]) -> Finding | None:
        """Return the first finding of some checks that stands in a relation to one behind it."""
        keys = list(SOUGHT[relation](finding))
        for check in checks:
            for key in keys:
                found = self.found.get((check, relation, key))
                if found is not None and self.places[found] < self.places[finding]:
                    return found
        return None


def _held(finding: Finding) -> Iterator[tuple[Relation, object]]:
    """Yield the keys under which a finding is found as a cause."""
    yield Relation.ANYWHERE, ""
    if finding.same_cause:
        yield Relation.SAME, finding.same_cause
    yield from ((Relation.LINE, line) for line in _lines(finding))
    if finding.gap:
        yield Relation.GAP, finding.gap
    yield from ((Relation.FILE, file) for file in _files(finding))
    for subject in _narrow(finding):
        yield Relation.SUBJECT, subject
        yield Relation.AROUND, subject
        yield from ((Relation.PART, (file, subject)) for file in _files(finding))
    whole = device(finding.device)
    if whole in finding.subjects:
        yield Relation.WHOLE, whole
    for subject in (whole, *finding.subjects, *finding.involves):
        yield Relation.INVOLVED, subject
        yield Relation.INVOLVED, device(subject.device)
    yield Relation.DEVICE, whole


# What is about a prefix or a table of an interface is not about the whole interface.
NARROW = frozenset({SubjectKind.PREFIX, SubjectKind.TABLE})
ENDS = frozenset({SubjectKind.PORT, SubjectKind.NIC})


def _narrow(finding: Finding) -> list[Subject]:
    """Return the subjects that two findings may share: never a whole device; also the other end of a cable."""
    subjects = [one for one in finding.subjects if one.kind is not SubjectKind.DEVICE]
    if any(one.kind in NARROW for one in subjects):
        subjects = [one for one in subjects if not _is_around(one)]
    return subjects + [one for one in finding.involves if one.kind in ENDS]


def _is_around(subject: Subject) -> bool:
    is_irb = subject.kind is SubjectKind.PORT and subject.name.startswith("irb")
    return is_irb or subject.kind is SubjectKind.NIC


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


def _files(finding: Finding) -> list[str]:
    return [finding.place.file] if finding.place is not None else []


# The keys of what may be the cause of a finding.
SOUGHT: dict[Relation, Callable[[Finding], Iterable[object]]] = {
    Relation.ANYWHERE: lambda finding: [""],
    Relation.SUBJECT: _narrow,
    Relation.PART: lambda finding: [(file, subject) for file in _files(finding) for subject in _narrow(finding)],
    Relation.AROUND: lambda finding: finding.subjects,
    Relation.WHOLE: lambda finding: [device(finding.device)],
    Relation.DEVICE: lambda finding: [device(finding.device)],
    Relation.INVOLVED: lambda finding: finding.involves,
    Relation.FILE: _files,
    Relation.LINE: _lines,
    Relation.GAP: lambda finding: [finding.gap] if finding.gap else [],
}
