"""Runs the checks that Batfish makes: the files first, then the shadow, spines and links; stage by stage."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ailb_gen.batfish import files, routes
from ailb_gen.batfish.failures import judge_links, judge_spines, planned
from ailb_gen.batfish.hops import intent_of
from ailb_gen.batfish.ports import asked
from ailb_gen.batfish.shadow import shadow
from ailb_gen.batfish.snapshot import write_files, write_shadow
from ailb_gen.checks import batfish_checks as checks
from ailb_gen.checks.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ailb_gen.batfish.model import Batfish
    from ailb_gen.batfish.sample import Sample
    from ailb_gen.checks.model import Check, Result
    from ailb_gen.checks.run import Subject

OF_FILES = (
    checks.PARSED,
    checks.RECOGNIZED,
    checks.CONVERTED,
    checks.DEFINED,
    checks.USED,
    checks.PORTS,
    checks.VLANS,
    checks.READERS,
)
OF_SHADOW = (
    checks.UNDERSTOOD,
    checks.SHOWN,
    checks.SESSIONS,
    checks.OWNERS,
    checks.PINNED,
    checks.TRANSIT,
    checks.LOOPS,
    checks.AGREE,
)
OF_SPINES = (checks.SPINE_REACH, checks.AGREE_SPINE)
OF_LINKS = (checks.LINK_REACH, checks.AGREE_LINK)
# Pieces of work for the service: uploads and questions of each stage, and of every failure.
FILES_STEPS, SHADOW_STEPS, FAILURE_STEPS = 1 + len(files.JUDGES) + 2, 1 + 9, 3


@dataclass(frozen=True, slots=True)
class Second:
    """A second opinion to be had: the artifact directory, what was judged already, which checks, the sample's seed."""

    root: Path
    subject: Subject
    chosen: frozenset[str]
    seed: int

    def wants(self, entries: tuple[Check, ...]) -> bool:
        """Tell whether any of some checks was asked for."""
        return any(entry.id in self.chosen for entry in entries)

    def failures(self) -> tuple[tuple[str, ...], Sample, Sample]:
        """Return the spines, and which of them and of the links fail."""
        return planned(self.subject.routing, intent_of(self.subject.wanted, self.subject.cables), self.seed)


def steps(second: Second) -> int:
    """Return about how many pieces of work there are: what a progress bar counts."""
    _, spines, links = second.failures()
    of_spines = FAILURE_STEPS * len(spines.chosen) if second.wants(OF_SPINES) else 0
    of_links = FAILURE_STEPS * len(links.chosen) if second.wants(OF_LINKS) else 0
    return (
        (FILES_STEPS if second.wants(OF_FILES) else 0)
        + (SHADOW_STEPS if second.wants((*OF_SHADOW, *OF_SPINES, *OF_LINKS)) else 0)
        + of_spines
        + of_links
    )


def second_opinion(batfish: Batfish, second: Second, advance: Callable[[], None]) -> Iterator[Result]:
    """Give the results of the checks that were asked for, stage by stage; `advance` counts pieces of work.

    Raises BatfishError, after the results of the stages that were finished, and UsageError for a fabric that the IPv4
    pools cannot hold.
    """
    subject, network = second.subject, second.subject.routing.graph.network
    with TemporaryDirectory(prefix="ailb-gen-") as folder:
        if second.wants(OF_FILES):
            tally = Tally(OF_FILES)
            write_files(second.root, network, Path(folder) / files.SNAPSHOT)
            batfish.upload(files.SNAPSHOT, Path(folder) / files.SNAPSHOT)
            advance()
            files.judge_files(batfish, network, asked(subject.wanted, subject.cables), tally, advance)
            version = (("the service is Batfish", batfish.version),)
            for result in _chosen(second, tally):
                yield replace(result, figures=version) if result.check is checks.PARSED else result
        if not second.wants((*OF_SHADOW, *OF_SPINES, *OF_LINKS)):
            return
        translated = shadow(network)
        write_shadow(translated, Path(folder) / routes.SNAPSHOT)
        batfish.upload(routes.SNAPSHOT, Path(folder) / routes.SNAPSHOT)
        advance()
    intent = intent_of(subject.wanted, subject.cables)
    stage = (batfish, translated, intent, subject.routing)
    if second.wants(OF_SHADOW):
        tally = Tally(OF_SHADOW)
        routes.judge_shadow(*stage, tally, advance)
        yield from _chosen(second, tally)
    names, spines, links = second.failures()
    if second.wants(OF_SPINES):
        tally = Tally(OF_SPINES)
        judge_spines(*stage, [names[number] for number in spines.chosen], tally, advance)
        yield from _chosen(second, tally, ("spines taken down in Batfish", str(spines)))
    if second.wants(OF_LINKS):
        tally = Tally(OF_LINKS)
        judge_links(*stage, links.chosen, tally, advance)
        yield from _chosen(second, tally, ("links taken down in Batfish", str(links)))


def _chosen(second: Second, tally: Tally, *figures: tuple[str, str]) -> Iterator[Result]:
    """Give the results that were asked for, with figures for the first check of a stage."""
    for result in tally.results():
        if result.check.id in second.chosen:
            yield replace(result, figures=figures) if result.check is tally.checks[0] else result
