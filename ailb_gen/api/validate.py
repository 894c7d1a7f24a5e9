"""Check the files of a fabric against its intent: own checks, those of extensions, and Batfish."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ailb_gen.api.batfish import ask, most_failures, open_service
from ailb_gen.api.inputs import check_executor, check_path, intent_of, processes
from ailb_gen.api.since import proved_base, refuse_what_needs_more
from ailb_gen.errors import AilbError, ExtensionError, UsageError
from ailb_gen.progress import Progress, Warn, quiet, unheeded
from ailb_gen.selection import NOT, patterns_of

if TYPE_CHECKING:
    from ailb_gen.checks.before import TakenOver
    from ailb_gen.checks.context import Context
    from ailb_gen.checks.extensions import ForeignCheck
    from ailb_gen.checks.model import Check, Run, RunOptions
    from ailb_gen.checks.waivers import Waiver
    from ailb_gen.intent.load import Intent
    from ailb_gen.kept.proof import AskedProof, KeptProof, KeptProofs
    from ailb_gen.kept.since import Since
    from ailb_gen.report.check_report import CheckReport

# The mildest severity that fails the gate.
FailOn = Literal["error", "warning", "note"]


def validate(
    fabric: Intent | str | Path,
    artifacts: str | Path,
    *,
    checks: Sequence[str] = (),
    limit: Sequence[str] = (),
    fail_on: FailOn = "error",
    waivers: Path | None = None,
    yang: Path | None = None,
    seed: int = 1,
    executor: str = "processes",
    jobs: int | None = None,
    batfish: str | None = None,
    batfish_timeout: int = 600,
    batfish_failures: int | str | None = None,
    html: bool = True,
    remember: bool = False,
    since: str | Path | None = None,
    progress: Progress = quiet,
    warn: Warn = unheeded,
) -> CheckReport:
    """Check the files in `artifacts` against the intent.

    `checks` are ids, globs or families, `!` before one excludes it; `limit` names the devices whose findings count;
    `waivers` is a file of accepted findings, `yang` a directory of Juniper's models, `batfish` the address of a
    service, which is given `batfish_timeout` seconds for each request. `seed` fixes everything that is sampled. `jobs`
    processes work, by default one per core. Without `html`, the HTML report cannot trace paths under failures. The
    error that prevented checks from running is the report's `trouble`. Raises UsageError for arguments that cannot be
    used, WorkerError when a process dies.

    With `remember`, the findings of a kept proof of the same inputs are taken over, and those of a new one are kept;
    not with Batfish, `html` or checks of extensions, which need more than is kept. What holds of `since`, an artifact
    directory or a git revision, is taken over from its proof, which is made first unless it is kept; the report's
    `since` says what that was.
    """
    if since is not None:
        refuse_what_needs_more(since, fabric, batfish, html)
    most = most_failures(batfish_failures, batfish is not None)
    proofs = question = None
    if (remember or since is not None) and batfish is None and not html and isinstance(fabric, str | Path):
        from ailb_gen.kept.proof import AskedProof

        check_executor(executor)
        question = AskedProof(Path(fabric), Path(artifacts), tuple(checks), yang, seed)
        proofs = _kept_proofs(question, warn, remember)
    if since is None and proofs is not None and (kept := proofs.recall()) is not None:
        return _report_of(kept, waivers, limit, fail_on)
    asked = asked_checks(Path(artifacts), checks, waivers, yang, seed, executor, jobs, batfish is not None, html)
    intent = intent_of(fabric)
    # Last: without its package, everything else that is wrong has been said.
    service = open_service(batfish, batfish_timeout) if batfish is not None else None

    # Imported when the input is known to be usable: it brings everything that computes.
    from ailb_gen.checks.progress import STEPS
    from ailb_gen.checks.run import examine
    from ailb_gen.report.check_report import CheckReport
    from ailb_gen.report.verdict import judge

    options = asked.options
    base = None
    if since is not None and question is not None:
        base = proved_base(str(since), question, proofs, options, progress, warn)
    if base is not None and (kept := base.held()) is not None:
        return _report_of(kept, waivers, limit, fail_on, base.since())
    over = base.over() if base is not None else _earlier(proofs)
    with progress("checking", STEPS) as advance:
        done, context = examine(intent, Path(artifacts), options, advance, advance.step, asked.foreign, over=over)
    opinion, trouble = ask(service, context, options.checks, most, progress, warn)
    trouble = trouble_of(trouble, asked.errors, done.trouble)
    done = replace(done, results=(*done.results, *opinion), trouble=str(trouble or ""))
    if proofs is not None:
        # With a base, its models stay.
        _keep(proofs, done, options.checks, context, over if base is None else None)
    verdict = judge(done, asked.waivers, options.checks, limit, fail_on)
    return CheckReport(verdict, "validate", context, trouble, since=base.since(over) if base is not None else None)


def _kept_proofs(asked: AskedProof, warn: Warn, remember: bool) -> KeptProofs | None:
    """Return where a proof may be kept; None where extensions add checks, whose findings may follow from anything."""
    from ailb_gen.extensions import installed
    from ailb_gen.kept.proof import KeptProofs, inputs_of

    inputs = inputs_of(asked) if not installed("checks") else None
    return KeptProofs(asked, inputs, warn, remember) if inputs is not None else None


def _earlier(proofs: KeptProofs | None) -> TakenOver | None:
    """Return what a kept run of the same question on other files saves; None where nothing is kept."""
    if proofs is None:
        return None
    from ailb_gen.kept.earlier import earlier, kept_models

    return earlier(proofs, kept_models(proofs))


def _keep(proofs: KeptProofs, done: Run, chosen: Collection[str], context: Context, over: TakenOver | None) -> None:
    """Keep a proof, and of what it read `over` tells which models to keep; None for no models."""
    from ailb_gen.checks.catalogue import WAIVABLE
    from ailb_gen.kept.earlier import keep_models

    if proofs.keep(done, chosen, WAIVABLE) and over is not None:
        keep_models(proofs, done, context, over)


def _report_of(
    kept: KeptProof, waivers: Path | None, limit: Sequence[str], fail_on: FailOn, since: Since | None = None
) -> CheckReport:
    """Return the report on a kept proof, with waivers and limits of today."""
    from ailb_gen.report.check_report import CheckReport
    from ailb_gen.report.verdict import judge

    accepted: Sequence[Waiver] = ()
    if waivers:
        from ailb_gen.checks.waiver_file import read_waivers

        accepted = read_waivers(waivers, kept.waivable)
    verdict = judge(kept.run, accepted, kept.chosen, limit, fail_on)
    return CheckReport(verdict, "validate", proved=kept.made, since=since)


@dataclass(frozen=True, slots=True)
class AskedChecks:
    """Chosen checks: `options` of their run, `foreign` those of extensions, `errors` the extensions that are broken."""

    options: RunOptions
    foreign: Sequence[ForeignCheck]
    errors: Sequence[ExtensionError]
    waivers: Sequence[Waiver]


def asked_checks(
    artifacts: Path,
    checks: Sequence[str],
    waivers: Path | None,
    yang: Path | None,
    seed: int,
    executor: str,
    jobs: int | None,
    with_batfish: bool,
    html: bool,
    of_cluster: bool = False,
) -> AskedChecks:
    """Return the checks that arguments of `validate` choose, with those of a cluster if it is one.

    Raises UsageError for those that cannot be used.
    """
    check_executor(executor)
    for argument, folder, hint in (
        ("ARTIFACTS", artifacts, "'ailb-gen generate' writes one"),
        ("--yang", yang, "clone github.com/Juniper/yang and name the directory of a release"),
    ):
        if folder:
            check_path(folder, "directory", f"name a directory; {hint}", hint, argument)

    from ailb_gen.checks.catalogue import WAIVABLE
    from ailb_gen.checks.extensions import foreign_checks
    from ailb_gen.checks.model import RunOptions
    from ailb_gen.checks.waiver_file import read_waivers

    foreign, errors = foreign_checks(() if _only_own(checks) and not waivers else None)
    chosen = _chosen(checks, foreign, errors, with_batfish=with_batfish, of_cluster=of_cluster)
    accepted = read_waivers(waivers, WAIVABLE | {row.check.id for row in foreign}) if waivers else ()
    options = RunOptions(chosen, yang, seed, executor, processes(jobs), html)
    return AskedChecks(options, [row for row in foreign if row.check.id in chosen], errors, accepted)


def _only_own(patterns: Sequence[str]) -> bool:
    """Return whether patterns pick no checks of extensions, whose ids never begin like those of the catalogue."""
    picking = [one for one in patterns_of("--checks", patterns) if not one.startswith(NOT)]
    return bool(picking) and all(one.upper().startswith("AILB") for one in picking)


def _chosen(
    patterns: Sequence[str],
    foreign: Sequence[ForeignCheck],
    errors: Sequence[ExtensionError],
    *,
    with_batfish: bool,
    of_cluster: bool,
) -> frozenset[str]:
    """Return the ids of the chosen checks. Raises UsageError, which also names the extensions that are broken."""
    from ailb_gen.checks.catalogue import CATALOGUE, OF_CLUSTER, WITH_BATFISH, checks_of
    from ailb_gen.checks.layers import NAMES
    from ailb_gen.checks.select import pick_checks

    together = checks_of(OF_CLUSTER) if of_cluster else ()
    every: list[Check] = [*CATALOGUE, *together, *(row.check for row in foreign)]
    names = {**NAMES, **{row.check.family: NAMES[row.check.family] for row in foreign}}
    try:
        picked = pick_checks(every, names, patterns, "" if with_batfish else WITH_BATFISH)
    except UsageError as error:
        raise UsageError("\n".join(map(str, (error, *errors)))) from error
    return frozenset(check.id for check in picked)


def trouble_of(batfish: AilbError | None, errors: Sequence[ExtensionError], failed: str) -> AilbError | None:
    """Return one error for everything that kept checks from running; None for nothing."""
    texts = [*map(str, errors), *([failed] if failed else [])]
    if not texts:
        return batfish
    return ExtensionError("\n".join([*([str(batfish)] if batfish is not None else []), *texts]))
