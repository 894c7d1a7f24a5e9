"""Run the checks that Batfish makes: the files first, then the shadow, spines and links; stage by stage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from ailb_gen.batfish import files, routes
from ailb_gen.batfish.failures import failure_samples, judge_links, judge_spines
from ailb_gen.batfish.hops import ExpectedRoutes, expected_routes
from ailb_gen.batfish.model import Batfish
from ailb_gen.batfish.ports import expected_ports
from ailb_gen.batfish.sample import Sample
from ailb_gen.batfish.shadow import shadow
from ailb_gen.batfish.snapshot import write_files, write_shadow
from ailb_gen.batfish.unsupported import doubt
from ailb_gen.checks.catalogue import WITH_BATFISH, checks_of
from ailb_gen.checks.context import Context
from ailb_gen.checks.families import batfish as checks
from ailb_gen.checks.model import Check, Findings, Result

# The stages: the files, the shadow without failures, with a spine down, with a link down.
OF_SPINES, OF_LINKS = (checks.SPINE_REACH, checks.AGREE_SPINE), (checks.LINK_REACH, checks.AGREE_LINK)
OF_FILES = tuple(check for check in checks_of(WITH_BATFISH) if check.id <= checks.READERS.id)
OF_SHADOW = tuple(check for check in checks_of(WITH_BATFISH) if check not in (*OF_FILES, *OF_SPINES, *OF_LINKS))
# Questions of the first two stages.
OF_FILES_ASKED, OF_SHADOW_ASKED = len(files.JUDGES) + 2, 9


class Progress(Protocol):
    """What is told how far the work is: called with how many more units of a stage are done."""

    def __call__(self, count: int) -> None:
        """Note that so many more units are done."""

    def stage(self, name: str, total: int) -> None:
        """Note that a stage begins, and how many units it has."""


@dataclass(frozen=True, slots=True)
class SecondOpinion:
    """A second opinion: what was examined already, and the ids of the checks that were asked for.

    `most` is how many failures Batfish computes at most; without it, as many as it does in a few minutes.
    """

    context: Context
    chosen: frozenset[str]
    most: int | None = None

    @property
    def intent(self) -> ExpectedRoutes:
        """What the intent asks of routes."""
        return expected_routes(self.context.expected, self.context.cabling)

    def wants(self, entries: tuple[Check, ...]) -> bool:
        """Return whether any of some checks was asked for."""
        return any(entry.id in self.chosen for entry in entries)

    def results(self, findings: Findings, entries: tuple[Check, ...]) -> Iterator[Result]:
        """Iterate over the results of those of some checks that were asked for."""
        return findings.results(entry for entry in entries if entry.id in self.chosen)

    def failures(self) -> tuple[tuple[str, ...], Sample, Sample]:
        """Return the spines, and which of them and of the links fail."""
        return failure_samples(self.context.routing, self.intent, self.context.seed, self.most)


def second_opinion(batfish: Batfish, second: SecondOpinion, progress: Progress) -> Iterator[Result]:
    """Yield the results of the checks that were asked for, stage by stage.

    Raises BatfishError, after the results of the stages that were finished, and UsageError for a fabric that the IPv4
    pools cannot hold.
    """
    context, network, findings = second.context, second.context.network, Findings()
    advance = partial(progress, 1)
    with TemporaryDirectory(prefix="ailb-gen-") as folder:
        if second.wants(OF_FILES):
            progress.stage("the files", OF_FILES_ASKED)
            write_files(context.root, network, Path(folder) / files.SNAPSHOT)
            batfish.upload(files.SNAPSHOT, Path(folder) / files.SNAPSHOT)
            files.judge_files(batfish, network, expected_ports(context.expected, context.cabling), findings, advance)
            unsure = doubt(batfish.version)
            version = f"{batfish.version}, which {unsure}" if unsure else batfish.version
            findings.figure(checks.PARSED, "the service is Batfish", version)
            yield from second.results(findings, OF_FILES)
        if not second.wants((*OF_SHADOW, *OF_SPINES, *OF_LINKS)):
            return
        translated = shadow(network)
        write_shadow(translated, Path(folder) / routes.SNAPSHOT)
        batfish.upload(routes.SNAPSHOT, Path(folder) / routes.SNAPSHOT)
    stage = (batfish, translated, second.intent, context.routing)
    if second.wants(OF_SHADOW):
        progress.stage("the shadow", OF_SHADOW_ASKED)
        routes.judge_shadow(*stage, findings, advance)
        yield from second.results(findings, OF_SHADOW)
    if not second.wants((*OF_SPINES, *OF_LINKS)):
        return
    names, spines, links = second.failures()
    chosen = ((OF_SPINES, spines), (OF_LINKS, links))
    progress.stage("failures", sum(len(sample.chosen) for entries, sample in chosen if second.wants(entries)))
    if second.wants(OF_SPINES):
        judge_spines(*stage, [names[number] for number in spines.chosen], findings, advance)
        findings.figure(OF_SPINES[0], "spines taken down in Batfish", spines)
        yield from second.results(findings, OF_SPINES)
    if second.wants(OF_LINKS):
        judge_links(*stage, links.chosen, findings, advance)
        findings.figure(OF_LINKS[0], "links taken down in Batfish", links)
        yield from second.results(findings, OF_LINKS)
