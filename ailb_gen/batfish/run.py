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
from ailb_gen.checks.findings import Findings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ailb_gen.batfish.model import Batfish
    from ailb_gen.batfish.sample import Sample
    from ailb_gen.checks.model import Check, Result
    from ailb_gen.checks.run import Examined

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
    examined: Examined
    chosen: frozenset[str]
    seed: int

    def wants(self, entries: tuple[Check, ...]) -> bool:
        """Tell whether any of some checks was asked for."""
        return any(entry.id in self.chosen for entry in entries)

    def failures(self) -> tuple[tuple[str, ...], Sample, Sample]:
        """Return the spines, and which of them and of the links fail."""
        return planned(self.examined.routing, intent_of(self.examined.intended, self.examined.cables), self.seed)


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
    examined, network = second.examined, second.examined.routing.graph.network
    with TemporaryDirectory(prefix="ailb-gen-") as folder:
        if second.wants(OF_FILES):
            collected = Findings(OF_FILES)
            write_files(second.root, network, Path(folder) / files.SNAPSHOT)
            batfish.upload(files.SNAPSHOT, Path(folder) / files.SNAPSHOT)
            advance()
            files.judge_files(batfish, network, asked(examined.intended, examined.cables), collected, advance)
            version = (("the service is Batfish", batfish.version),)
            for result in _chosen(second, collected):
                yield replace(result, figures=version) if result.check is checks.PARSED else result
        if not second.wants((*OF_SHADOW, *OF_SPINES, *OF_LINKS)):
            return
        translated = shadow(network)
        write_shadow(translated, Path(folder) / routes.SNAPSHOT)
        batfish.upload(routes.SNAPSHOT, Path(folder) / routes.SNAPSHOT)
        advance()
    intent = intent_of(examined.intended, examined.cables)
    stage = (batfish, translated, intent, examined.routing)
    if second.wants(OF_SHADOW):
        collected = Findings(OF_SHADOW)
        routes.judge_shadow(*stage, collected, advance)
        yield from _chosen(second, collected)
    names, spines, links = second.failures()
    if second.wants(OF_SPINES):
        collected = Findings(OF_SPINES)
        judge_spines(*stage, [names[number] for number in spines.chosen], collected, advance)
        yield from _chosen(second, collected, ("spines taken down in Batfish", str(spines)))
    if second.wants(OF_LINKS):
        collected = Findings(OF_LINKS)
        judge_links(*stage, links.chosen, collected, advance)
        yield from _chosen(second, collected, ("links taken down in Batfish", str(links)))


def _chosen(second: Second, collected: Findings, *figures: tuple[str, str]) -> Iterator[Result]:
    """Give the results that were asked for, with figures for the first check of a stage."""
    for result in collected.results():
        if result.check.id in second.chosen:
            yield replace(result, figures=figures) if result.check is collected.checks[0] else result
