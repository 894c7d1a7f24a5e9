"""Runs the checks that were asked for, in the order of the rooms: read, route, forward, compare."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ailb_gen.checks import addresses, colors, failures, files, hosts, junos, paths, roce, sessions
from ailb_gen.checks.expected import expected_fabric
from ailb_gen.checks.expected_cabling import expected_cabling
from ailb_gen.checks.expected_devices import expected_hosts
from ailb_gen.checks.model import Result, Run, by_place
from ailb_gen.checks.steps import Steps
from ailb_gen.garbage import no_garbage_collection
from ailb_gen.junos.check import check
from ailb_gen.junos.check_result import CheckResult
from ailb_gen.junos.groups import active
from ailb_gen.junos.schema import Schema, load_schema
from ailb_gen.junos.yang_files import model_directory
from ailb_gen.layout import server_folder
from ailb_gen.network.read import read_network, switch_count
from ailb_gen.parallel import executor_of
from ailb_gen.routing.rib import Routing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from ailb_gen.checks.expected import ExpectedFabric
    from ailb_gen.checks.expected_cabling import ExpectedCabling
    from ailb_gen.checks.model import RunOptions
    from ailb_gen.intent.load import Intent
    from ailb_gen.junos.tree import Node
    from ailb_gen.network.fabric import Network
    from ailb_gen.network.read import Reading

NO_MODELS = "no YANG models were given (--yang DIR or AILB_YANG)"
NOTHING = CheckResult((), 0, ())


@dataclass(frozen=True, slots=True)
class CommitCheck:
    """Commit-checks a tree against the models in a directory; without one it does nothing."""

    yang: Path | None

    def __call__(self, written: Node, tree: Node) -> CheckResult:
        """Check the tree as it takes effect, and the groups of the tree as written."""
        if self.yang is None:
            return NOTHING
        return check(tree, _schema(self.yang), active(written).get("groups"))


@lru_cache(maxsize=2)
def _loaded(yang: Path) -> list[Schema]:
    """Return where the schema of a directory is kept in this process."""
    return []


def _schema(yang: Path, steps: Steps | None = None) -> Schema:
    """Return the schema; models that were not parsed before are parsed, in steps of their own."""
    loaded = _loaded(yang)
    if not loaded:
        begin = steps.begin if steps is not None else lambda name, total: lambda count: None
        loaded.append(load_schema(yang, lambda _, total: nullcontext(begin("YANG models", total))))
    return loaded[0]


@dataclass(frozen=True, slots=True)
class Examined:
    """What was judged: what the intent asks, what the files say, and what follows for routes."""

    intended: ExpectedFabric
    cables: ExpectedCabling
    routing: Routing


def run(intent: Intent, root: Path, options: RunOptions, advance: Callable[[int], None] = lambda count: None) -> Run:
    """Check the files below `root` against the intent (see `examine`)."""
    return examine(intent, root, options, advance)[0]


def examine(
    intent: Intent,
    root: Path,
    options: RunOptions,
    advance: Callable[[int], None] = lambda count: None,
    step: Callable[[str], None] = lambda name: None,
) -> tuple[Run, Examined]:
    """Check the files below `root` against the intent.

    `advance` is called with how many more of STEPS steps are done, `step` the name of what begins.
    The run has one result for every check that was asked for, by id, but for those that Batfish makes. Raises
    UsageError for a directory without artifacts and for YANG models that cannot be used, WorkerError when a worker
    dies.
    """
    steps = Steps(advance, step)
    families = _families(options)
    with no_garbage_collection(), executor_of(options.executor, options.jobs, switch_count(root)) as executor:
        commit = "AILB9" in families
        yang = model_directory(options.yang) if options.yang is not None and commit else None
        if yang is not None:
            steps.begin("YANG models", 1)
            _schema(yang, steps)
        reading = read_network(
            root,
            CommitCheck(yang),
            executor,
            steps.begin("reading", switch_count(root), "commit check" if yang is not None else ""),
        )
        looked = steps.begin("files and servers", 5)
        intended = expected_fabric(intent.fabric)
        cables = expected_cabling(intended)
        results: list[Result] = []
        for found in _of_files(intent, intended, cables, reading, root, options):
            results += found
            looked(1)
        if commit:
            results += _commit_results(reading.network, reading.inspected, yang is not None)
        routing = Routing(reading.network)
        for found in _of_routes(intended, reading.network, routing, options, steps):
            results += found
        if "AILB5" in families:
            failed = steps.begin("failures", failures.count(intended, routing))
            results += failures.run(intended, routing, options.seed, executor, failed)
        steps.finish()
    chosen = sorted((one for one in results if one.check.id in options.checks), key=lambda one: one.check.id)
    return _of(intent, root, intended, reading.network, chosen), Examined(intended, cables, routing)


def _of(intent: Intent, root: Path, intended: ExpectedFabric, network: Network, results: Iterable[Result]) -> Run:
    """Return the run with what its reports say of the fabric."""
    roles = dict(network.roles) | {name: speaker.role for name, speaker in intended.speakers.items()}
    folders = {name: server_folder(name) for name in expected_hosts(intent.fabric)}
    folders |= {name: host.profile.folder for name, host in network.hosts.items()}
    return Run(
        fabric=intent.fabric.name,
        intent=intent.source.file,
        artifacts=str(root),
        roles=tuple((roles | dict.fromkeys(folders, "server")).items()),
        results=tuple(results),
        folders=tuple(folders.items()),
        notes=tuple(f"drained: {line}" for line in intended.drained.lines),
    )


def _families(options: RunOptions) -> frozenset[str]:
    return frozenset(name[:5] for name in options.checks)


def _of_files(
    intent: Intent,
    intended: ExpectedFabric,
    cables: ExpectedCabling,
    reading: Reading[CheckResult],
    root: Path,
    options: RunOptions,
) -> Iterator[Iterable[Result]]:
    families, network = _families(options), reading.network
    if "AILB1" in families:
        yield addresses.run(intended, cables, network)
    if "AILB6" in families:
        yield hosts.run(intent.fabric, network)
    if "AILB7" in families:
        yield roce.run(intent.fabric, network)
    if "AILB0" in families:
        yield files.run(intent, intended, cables, network, reading.records, root)


def _of_routes(
    intended: ExpectedFabric, network: Network, routing: Routing, options: RunOptions, steps: Steps
) -> Iterator[Iterable[Result]]:
    families = _families(options)
    if "AILB2" in families:
        yield sessions.run(intended, network, routing.graph.sessions, steps.begin("sessions", len(network.switches)))
    if families & {"AILB3", "AILB4", "AILB5"}:
        routing.settle(steps.begin("routes", len(routing.prefixes)))
    if "AILB3" in families:
        yield colors.run(intended, network, routing, steps.begin("colors", len(intended.leaves)))
    if "AILB4" in families:
        yield paths.run(intended, network, routing, options.seed, steps)


def _commit_results(network: Network, outcomes: dict[str, CheckResult], checked: bool) -> Iterator[Result]:
    found = junos.of_all(
        [
            finding
            for name, outcome in outcomes.items()
            for finding in junos.findings(outcome, name, network.switches[name].file)
        ]
    )
    for entry in junos.CHECKS:
        if not checked:
            yield Result(entry, skipped=NO_MODELS)
            continue
        own = by_place(finding for finding in found if finding.check == entry.id)
        evaluated = sum(outcome.evaluated for outcome in outcomes.values())
        figures = (("constraints evaluated", str(evaluated)),) if entry is junos.MUST else ()
        yield Result(entry, own, len(outcomes), figures)
