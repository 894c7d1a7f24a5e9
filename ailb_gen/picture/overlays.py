"""Marks on a picture: findings by device and link, failures, drained links, paths."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest

from ailb_gen.checks.expected import ExpectedDrain
from ailb_gen.checks.model import Result
from ailb_gen.forwarding.trace import PathTrace
from ailb_gen.network.links import cables_named
from ailb_gen.picture.model import PathMark, Picture


def findings_on(
    picture: Picture, results: Iterable[Result], folders: Iterable[tuple[str, str]] = ()
) -> Mapping[str, Mapping[str, int]]:
    """Return the findings of every device by severity, and of every link at a port that they name.

    `folders` are the folders of servers, as `Run.folders` has them: a finding about one is about all its servers.
    """
    names = {device.name for device in picture.devices}
    servers: dict[str, list[str]] = defaultdict(list)
    for server, folder in folders:
        servers[folder].append(server)
    at = _link_names(picture)
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for result in results:
        severity = str(result.check.severity)
        for finding in result.findings:
            devices = [finding.device] if finding.device in names else servers.get(finding.device, [])
            for device in devices:
                found[device][severity] += 1
                link = at.get((device, finding.part)) or at.get((device, finding.part.rpartition(".")[0]))
                if link is not None:
                    found[link][severity] += 1
    return {name: dict(counts) for name, counts in found.items()}


def failed(picture: Picture, words: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of links that are down, and devices that are dead, as words mean them: see `cables_named`.

    Raises UsageError.
    """
    names = {device.name for device in picture.devices}
    cables = {(link.a, link.b): link.name for link in picture.cables}
    down: set[str] = set()
    dead: set[str] = set()
    for word in words:
        if word in names:
            dead.add(word)
        else:
            down.update(cables[ends] for ends in cables_named(cables, word, "--fail"))
    return frozenset(down), frozenset(dead)


def drained_in(picture: Picture, drained: ExpectedDrain) -> frozenset[str]:
    """Return the names of links that the intent takes out of service, and of switches all of whose links are."""
    links = frozenset(link.name for link in picture.cables if drained.takes(link))
    used = {end.device for link in picture.links if link.name not in links for end in (link.a, link.b)}
    return links | {end.device for link in picture.links for end in (link.a, link.b)} - used


def path_marks(picture: Picture, traces: Iterable[PathTrace], former: Iterable[PathTrace] = ()) -> tuple[PathMark, ...]:
    """Return the paths of queue pairs as marks: by the links of the picture, as far as they lead.

    `former` are the traces of the same queue pairs without failures. A path that does not enter its leaf would take
    the cable to it.
    """
    names = _link_names(picture)
    marks = []
    for trace, whole in zip_longest(traces, former):
        links, before = tuple(_passed(names, trace)), tuple(_passed(names, whole or trace))
        cable = names.get((trace.source.device, trace.lookup.nic))
        before = before or ((cable,) if cable else ())
        marks.append(
            PathMark(f"queue pair {trace.source.pair}", links, trace.problem, before if before != links else ())
        )
    return tuple(marks)


def _link_names(picture: Picture) -> dict[tuple[str, str], str]:
    return {(end.device, end.port): link.name for link in picture.cables for end in (link.a, link.b)}


def _passed(names: Mapping[tuple[str, str], str], trace: PathTrace) -> Iterator[str]:
    """Yield the names of the links that a path takes; it ends at a link that no list of cables has."""
    ends = [(trace.source.device, trace.lookup.nic)] if trace.entered else []
    for hop in trace.hops:
        if hop.ways:
            ends.append((hop.device, hop.ways[hop.taken].interface.rpartition(".")[0]))
    if not trace.problem and trace.target.pair:
        ends.append((trace.target.device, trace.target.port))
    for end in ends:
        if end not in names:
            return
        yield names[end]
