"""Run the checks that Batfish makes: the files first, then the shadow, spines and links; stage by stage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from ailb_gen.batfish import files, routes
from ailb_gen.batfish.answers import Batfish
from ailb_gen.batfish.failures import check_failures, link_failure, spine_failure
from ailb_gen.batfish.ports import expected_ports
from ailb_gen.batfish.sample import Sample, link_sample, sizes, spine_sample
from ailb_gen.batfish.shadow import shadow
from ailb_gen.batfish.snapshot import write_files, write_shadow
from ailb_gen.batfish.unsupported import doubt
from ailb_gen.checks.catalogue import WITH_BATFISH, checks_of
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected_routes import ExpectedRoutes
from ailb_gen.checks.families import batfish as checks
from ailb_gen.checks.model import Check, Findings, Result

# The stages: the files, the shadow without failures, with a spine down, with a link down.
OF_SPINES, OF_LINKS = (checks.SPINE_REACH, checks.AGREE_SPINE), (checks.LINK_REACH, checks.AGREE_LINK)
OF_FILES = tuple(check for check in checks_of(WITH_BATFISH) if check.id <= checks.READERS.id)
OF_SHADOW = tuple(check for check in checks_of(WITH_BATFISH) if check not in (*OF_FILES, *OF_SPINES, *OF_LINKS))
# Questions of the first two stages.
FILE_QUESTIONS, SHADOW_QUESTIONS = len(files.QUESTIONS) + 2, 9


class StageProgress(Protocol):
    """Progress by stages: called with the number of units of a stage that were done since the last call."""

    def __call__(self, count: int) -> None:
        """Note that more units are done."""

    def stage(self, name: str, total: int) -> None:
        """Note that a stage begins, and how many units it has."""


@dataclass(frozen=True, slots=True)
class SecondOpinion:
    """A second opinion: the context of the other checks, and the ids of the chosen checks.

    `most` is how many failures Batfish computes at most; without it, as many as it does in a few minutes.
    """

    context: Context
    chosen: frozenset[str]
    most: int | None = None

    @property
    def intent(self) -> ExpectedRoutes:
        """The routes that the intent expects."""
        return self.context.expected_routes()

    def wants(self, entries: tuple[Check, ...]) -> bool:
        """Return whether any of some checks is chosen."""
        return any(entry.id in self.chosen for entry in entries)

    def results(self, findings: Findings, entries: tuple[Check, ...]) -> Iterator[Result]:
        """Iterate over the results of those of some checks that are chosen."""
        return findings.results(entry for entry in entries if entry.id in self.chosen)

    def failures(self) -> tuple[tuple[str, ...], Sample, Sample]:
        """Return the spines that are there, and which of them and of the links fail."""
        graph, intent = self.context.routing.graph, self.intent
        spines = tuple(name for name in intent.connected_spines if name in graph.network.switches)
        of_spines, of_links = sizes(graph, len(intent.owners), len(spines), self.most)
        seed = self.context.seed
        return spines, spine_sample(graph, spines, of_spines, seed), link_sample(graph, of_links, seed)


def second_opinion(batfish: Batfish, second: SecondOpinion, progress: StageProgress) -> Iterator[Result]:
    """Yield the results of the chosen checks, stage by stage.

    Raises BatfishError, after the results of the stages that were finished, and UsageError for a fabric that the IPv4
    pools cannot hold.
    """
    context, network, findings = second.context, second.context.network, Findings()
    advance = partial(progress, 1)
    with TemporaryDirectory(prefix="ailb-gen-") as folder:
        if second.wants(OF_FILES):
            progress.stage("the files", FILE_QUESTIONS)
            write_files(context.root, network, Path(folder) / files.SNAPSHOT)
            batfish.upload(files.SNAPSHOT, Path(folder) / files.SNAPSHOT)
            files.check_files(batfish, network, expected_ports(context.expected, context.cabling), findings, advance)
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
        progress.stage("the shadow", SHADOW_QUESTIONS)
        routes.check_shadow(*stage, findings, advance)
        yield from second.results(findings, OF_SHADOW)
    if not second.wants((*OF_SPINES, *OF_LINKS)):
        return
    names, spines, links = second.failures()
    sessions = context.routing.graph.sessions.up
    chosen = [
        (entries, word, sample, failures)
        for entries, word, sample, failures in (
            (OF_SPINES, "spines", spines, [spine_failure(names[at]) for at in spines.chosen]),
            (OF_LINKS, "links", links, [link_failure(sessions[at].cable) for at in links.chosen]),
        )
        if second.wants(entries)
    ]
    progress.stage("failures", sum(len(failures) for _, _, _, failures in chosen))
    for entries, word, sample, failures in chosen:
        check_failures(*stage, failures, findings, advance)
        findings.figure(entries[0], f"{word} deactivated in Batfish", sample)
        yield from second.results(findings, entries)
