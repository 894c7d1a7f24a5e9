"""Run the checks that were asked for, in the order of the computation: read, route, forward, compare."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from ailb_gen.checks.before import NOTHING_BEFORE, TakenOver
from ailb_gen.checks.catalogue import BY_ID
from ailb_gen.checks.cluster_parts import ClusterPart
from ailb_gen.checks.context import Context
from ailb_gen.checks.extensions import ForeignCheck
from ailb_gen.checks.locate import located
from ailb_gen.checks.model import Check, Findings, Result, Run, RunOptions
from ailb_gen.checks.progress import RunProgress
from ailb_gen.checks.reads import READ_ROUTES
from ailb_gen.garbage import no_garbage_collection
from ailb_gen.intent.load import Intent
from ailb_gen.junos.check import check
from ailb_gen.junos.check_result import CheckResult
from ailb_gen.junos.groups import active
from ailb_gen.junos.kept import KeptWalks
from ailb_gen.junos.schema import Schema, load_schema
from ailb_gen.junos.tree import Node
from ailb_gen.junos.yang_files import model_directory
from ailb_gen.layout import server_folder
from ailb_gen.network.fabric import Network
from ailb_gen.network.read import read_network, switch_count
from ailb_gen.parallel import executor_of

NOTHING = CheckResult((), 0, ())
# In the order in which they run: a step of the progress bar, and the families that it runs. Paths and failures have
# steps of their own.
ORDER = (
    ("files and servers", ("AILB1", "AILB6", "AILB7", "AILB0", "AILB9")),
    ("sessions", ("AILB2",)),
    ("routes", ()),
    ("colors", ("AILB3",)),
    ("", ("AILB4",)),
    ("", ("AILB5",)),
)
NEED_ROUTES = frozenset({"AILB3", "AILB4", "AILB5"})


@dataclass(frozen=True, slots=True)
class CommitCheck:
    """Commit-checks a tree against the models in a directory; without one it does nothing."""

    yang: Path | None

    def __call__(self, written: Node, tree: Node) -> CheckResult:
        """Check the tree as it takes effect, and the groups of the tree as written."""
        if self.yang is None:
            return NOTHING
        schema = _models(self.yang)
        return check(tree, schema, active(written).get("groups"), _WALKS.of(schema))


class ThreadWalks(threading.local):
    """What this thread found in blocks that files share: a Dask worker runs tasks in several threads."""

    kept: tuple[Schema, KeptWalks] | None = None

    def of(self, schema: Schema) -> KeptWalks:
        """Return what was found by a schema; that of another one is forgotten."""
        if self.kept is None or self.kept[0] is not schema:
            self.kept = schema, KeptWalks()
        return self.kept[1]


_WALKS = ThreadWalks()


@lru_cache(maxsize=2)
def _loaded(yang: Path) -> list[Schema]:
    """Return the list in which this process keeps the schema of a directory."""
    return []


def _models(yang: Path, steps: RunProgress | None = None) -> Schema:
    """Return the schema. Models that were not parsed before are parsed, in steps of their own."""
    loaded = _loaded(yang)
    if not loaded:
        begin = steps.begin if steps is not None else lambda name, total: lambda count: None
        loaded.append(load_schema(yang, lambda _, total: nullcontext(begin("YANG models", total))))
    return loaded[0]


def run(intent: Intent, root: Path, options: RunOptions, advance: Callable[[int], None] = lambda count: None) -> Run:
    """Check the files below `root` against the intent (see `examine`)."""
    return examine(intent, root, options, advance)[0]


def examine(
    intent: Intent,
    root: Path,
    options: RunOptions,
    advance: Callable[[int], None] = lambda count: None,
    step: Callable[[str], None] = lambda name: None,
    foreign: Sequence[ForeignCheck] = (),
    *,
    over: TakenOver | None = None,
    other: Context | None = None,
    part: ClusterPart | None = None,
) -> tuple[Run, Context]:
    """Check the files below `root` against the intent; return the run and what was examined.

    `foreign` are the chosen checks of extensions; one that fails is the run's `trouble`. `advance` is called with how
    many more of STEPS steps are done, `step` with the name of the step that begins. The run has one result for every
    check that was asked for, by id, but for those that others make: Batfish and waivers. What
    holds of the earlier run of `over` is neither read nor checked again, and what the `other` side of a change shares
    is not computed again. The servers of a `part` of a cluster are not below `root`.
    Raises UsageError for a directory without artifacts and for YANG models that cannot be used, WorkerError when a
    worker dies.
    """
    steps, findings = RunProgress(advance, step), Findings()
    chosen = [check for check in BY_ID.values() if check.id in options.checks and check.run is not None]
    over = over or TakenOver(NOTHING_BEFORE)
    known, before = over.before.known, over.before
    # Failures are work for several processes, however little has to be read.
    items = switch_count(root) - (0 if any(check.family == "AILB5" for check in chosen) else len(known))
    with no_garbage_collection(), executor_of(options.executor, options.jobs, items) as executor:
        commit = any(check.family == "AILB9" for check in chosen)
        yang = model_directory(options.yang) if options.yang is not None and commit else None
        if yang is not None:
            steps.begin("YANG models", 1)
            _models(yang, steps)
        also = "commit check" if yang is not None else ""
        read = steps.begin("reading", switch_count(root), also)
        reading = read_network(root, CommitCheck(yang), executor, read, known, before.profiles, before.lists)
        context = Context(
            intent.fabric,
            reading.network if part is None else _with_servers(reading.network, part),
            intent.digest,
            root,
            reading.records,
            reading.inspected if yang is not None else None,
            options.seed,
            executor,
            steps,
            options.keep_changes,
            other,
            part.profiles if part is not None else None,
            before.entries,
        )
        over.compare(context, reading.lists)
        left = _take_over(over, chosen, findings)
        for name, families in ORDER:
            _run_families(name, families, left, context, findings)
        errors = [error for row in foreign if (error := row.run(context, findings)) is not None]
        steps.finish()
    chosen += [row.check for row in foreign]
    run = _run_of(intent, root, context, located(findings.results(chosen), root))
    return replace(run, trouble="\n".join(map(str, errors))), context


def _with_servers(network: Network, part: ClusterPart) -> Network:
    return replace(network, hosts=part.hosts, defects=(*network.defects, *part.defects))


def _take_over(over: TakenOver, chosen: list[Check], findings: Findings) -> list[Check]:
    """Take over the results that hold; return the checks that have to run."""
    shared: dict[object, list[Check]] = defaultdict(list)
    for row in chosen:
        shared[row.run].append(row)
    held = {function: results for function, rows in shared.items() if (results := over.results(rows)) is not None}
    for results in held.values():
        for result in results:
            findings.take(result)
    return [row for row in chosen if row.run not in held]


def _run_families(
    name: str, families: tuple[str, ...], chosen: list[Check], context: Context, findings: Findings
) -> None:
    """Run every function of the chosen checks of some families once; `name` is the step of the progress bar."""
    if name == "routes":
        if any(check.family in NEED_ROUTES and check.id in READ_ROUTES for check in chosen):
            context.routing.settle(context.steps.begin(name, len(context.routing.prefixes)), context.seed)
        return
    rows = [check.run for family in families for check in chosen if check.family == family and check.run is not None]
    functions = list(dict.fromkeys(rows))
    advance = context.steps.begin(name, len(functions)) if name and functions else lambda count: None
    for function in functions:
        function(context, findings)
        advance(1)


def _run_of(intent: Intent, root: Path, context: Context, results: Iterable[Result]) -> Run:
    """Return the run with what its reports say of the fabric."""
    network, expected = context.network, context.expected
    roles = dict(network.roles) | {name: switch.role for name, switch in expected.switches.items()}
    folders = {name: server_folder(name) for name in context.hosts}
    folders |= {name: host.profile.folder for name, host in network.hosts.items()}
    return Run(
        fabric=intent.fabric.name,
        intent=intent.source.file,
        artifacts=str(root),
        roles=tuple((roles | dict.fromkeys(folders, "server")).items()),
        results=tuple(results),
        folders=tuple(folders.items()),
        notes=tuple(f"drained: {line}" for line in expected.drained.lines),
    )
