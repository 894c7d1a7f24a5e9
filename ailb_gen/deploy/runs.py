"""Runs as users start them: deploy, go on with what was cut off, confirm it, roll it back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ailb_gen import __version__
from ailb_gen.deploy.past import Past, none_unsettled, past_run, standing_changes
from ailb_gen.deploy.rollout import INTERRUPTED, OnFailure, Progress, Report, Rollout, quiet
from ailb_gen.deploy.runlog import DEPLOY, ROLLBACK, RunLog, StateDirectory
from ailb_gen.deploy.switch import once
from ailb_gen.deploy.transaction import history_aim
from ailb_gen.deploy.verify import Expected
from ailb_gen.deploy.wave import Limits, Outcome, Result, Wave, WaveRunner, never
from ailb_gen.errors import DeployError, UsageError
from ailb_gen.wording import some

if TYPE_CHECKING:
    from collections.abc import Collection

    from ailb_gen.deploy.context import Context
    from ailb_gen.deploy.planning import Plan
    from ailb_gen.deploy.switch import Switch
    from ailb_gen.deploy.transaction import Aim
    from ailb_gen.junos.tree import Node


def unchanged(switch: Switch, running: Node) -> Node:
    """Aim at what is there."""
    return running


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run is done: limits, what becomes of earlier waves, who watches.

    `approve` is shown what would be done and returns who approved it how, empty for not; `agree` is asked a question
    about what is done without waves. `tell` gets lines for a person, `progress` makes a bar of so many devices. `plan`
    and `options` are recorded; `as_is` are unsettled devices that a person has looked at, and that stay as they are.
    """

    limits: Limits
    on_failure: OnFailure = "stop"
    dry_run: bool = False
    min_paths: int = 1
    stop: Callable[[], bool] = never
    approve: Callable[[Plan], str] = lambda found: "not asked"
    agree: Callable[[str], bool] = lambda question: True
    tell: Callable[[str], None] = lambda text: None
    progress: Progress = quiet
    plan: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, object] = field(default_factory=dict)
    as_is: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """What a run is to do with which devices: its identifier and kind, the run that it takes back, how it aims.

    `old` are the fingerprints of what devices had before, where an earlier part of the run has recorded them; `leg`
    counts the parts.
    """

    run: str
    kind: str
    aim: Callable[[str], Aim]
    undoes: str = ""
    old: Mapping[str, str] = field(default_factory=dict)
    leg: int = 0


def deploy(on: Context, state: StateDirectory, run_options: RunOptions, check: Callable[[Plan], None]) -> Report:
    """Push the files. `check` raises if what was planned does not hold any more. Raises AilbError."""
    none_unsettled(state)
    found = _look(on, run_options, on.file_aim, besides=True)
    check(found)
    return _carry_out(on, state, run_options, found, Job(state.new_run(), DEPLOY, on.file_aim))


def resume(on: Context, state: StateDirectory, run_options: RunOptions, run: str = "") -> Report:
    """Settle a run and go on with it, deploy or rollback. Raises UsageError when there is nothing to go on with."""
    past = past_run(state, run, lambda past: not past.dry and not (past.over and past.idle))
    none_unsettled(state, but=past.run)
    if not past.resumable:
        why = "came to its end" if past.over else "was a dry run" if past.dry else "was cut off before it began"
        raise UsageError(f"{past} {why}; there is nothing to resume")
    doing = f"taking back the run {past.undoes}" if past.is_rollback else "pushing files"
    run_options.tell(f"going on with {past} ({doing})")
    report = _settle(on, state, past, run_options, confirm=False)
    stuck = report.names(Outcome.ATTENTION)
    if stuck:
        return replace_stopped(report, f"{some(stuck)} cannot be settled: nothing else was gone on with")
    aim: Callable[[str], Aim] = on.file_aim
    if past.is_rollback:
        aim = _way_back(state, past)
    elif past.digest != on.inputs.digest:
        raise UsageError(
            f"{past} is settled: {told(report.results)}. It cannot go on, because the fabric file or the "
            f"generated files have changed since; start another one"
        )
    only = replace(on, picked=frozenset(past.devices) & on.picked)
    found = _look(only, run_options, aim, besides=not past.is_rollback)
    for name, digest in found.digests.items():
        if past.devices[name] != digest:
            raise UsageError(
                f"{past} is settled: {told(report.results)}. It cannot go on, because what would be changed on {name} "
                f"is not what was approved; start another one"
            )
    left = past.left
    done = _carry_out(
        only, state, run_options, found, Job(past.run, past.kind, aim, past.undoes, left.old, left.leg + 1)
    )
    return Report(done.run, {**report.results, **done.results}, done.refused, done.stopped)


def confirm(on: Context, state: StateDirectory, run_options: RunOptions, run: str = "") -> Report:
    """Confirm what a run that was cut off left pending. Raises UsageError when there is nothing."""
    past = past_run(state, run, lambda past: not past.dry)
    if not past.left.wave.members:
        raise UsageError(f"{past} left nothing to confirm")
    run_options.tell(f"confirming what {past} left pending")
    return _settle(on, state, past, run_options, confirm=True, done=True)


def rollback(on: Context, state: StateDirectory, run_options: RunOptions, run: str = "") -> Report:
    """Take a run back: what is pending at once, what was confirmed in waves of its own, checked and verified.

    Without a name, that is the one that is unsettled, else the last one that changed something. A rollback is taken
    back only by its name; one that was cut off is gone on with.
    """
    past = past_run(state, run, lambda past: not past.idle)
    none_unsettled(state, but=past.run)
    if past.is_rollback and not run:
        if not past.over:
            return resume(on, state, run_options, past.run)
        raise UsageError(_which_one(state, past))
    commit_state = standing_changes(state, past) or past.changed
    servers = tuple(name for name in commit_state if name in on.servers)
    if not commit_state and not past.left.wave.members:
        raise UsageError(f"{past} changed nothing that could be rolled back")
    _say_what(past, run_options, commit_state)
    if servers and not run_options.agree(f"Restore what {some(servers)} had before?"):
        return Report(past.run, stopped="it was not approved")
    report = _settle(on, state, past, run_options, confirm=None, done=True, besides=servers)
    report.about = past.run
    gone = [name for name in commit_state if name not in on.switches and name not in on.servers]
    if gone:
        run_options.tell(f"{some(gone)} took part in {past} and is not managed any more: what it changed there stays")
    changed = frozenset(commit_state) - set(servers) - set(gone)
    stuck = report.names(Outcome.ATTENTION)
    if len(stuck) > run_options.limits.failures:
        report.results.update({name: Result(Outcome.CONFIRMED) for name in sorted(changed)})
        if changed:
            stays = f"what {past} confirmed on {', '.join(sorted(changed))} stays until then"
            return replace_stopped(report, f"{stays}: --max-failures {len(stuck)} takes it back now")
        return report
    if not changed:
        return report
    only = replace(on, picked=changed)
    aim = _way_back_of(past, changed)
    found = _look(only, run_options, aim)
    failures = run_options.limits.failures - len(stuck)
    allowed = replace(run_options, limits=replace(run_options.limits, failures=failures))
    done = _carry_out(only, state, allowed, found, Job(state.new_run(), ROLLBACK, aim, past.run))
    still = {*found.changed, *found.errors} & changed - set(done.names(Outcome.CONFIRMED))
    if still:
        run_options.tell(f"{past} is not rolled back on {', '.join(sorted(still))}")
    return Report(done.run, {**report.results, **done.results}, done.refused, done.stopped, past.run)


def replace_stopped(report: Report, stopped: str) -> Report:
    """Return a report with the reason why nothing more was done."""
    return replace(report, stopped=stopped)


def _say_what(past: Past, run_options: RunOptions, commit_state: Collection[str]) -> None:
    """Tell which run is rolled back, and what that means."""
    what = [f"{len(past.left.wave.members)} unsettled"] if past.left.wave.members else []
    what += [f"{len(commit_state)} confirmed"] if commit_state else []
    run_options.tell(f"rolling back {past}: {' and '.join(what) or 'nothing changed'}")
    if past.is_rollback:
        run_options.tell(
            f"this puts back what the run {past.undoes or 'before it'} had changed: {past} was its rollback"
        )


def _which_one(state: StateDirectory, past: Past) -> str:
    """Say which runs may be meant when the last one was a rollback."""
    told = f"{past} was itself a rollback"
    ways = [f"'rollback … {past.run}' puts back on what it took back"]
    if past.undoes in state.runs():
        told += f", of the run {past.undoes}"
        first = Past(past.undoes, state.events(past.undoes))
        left = standing_changes(state, first)
        if left:
            ways.insert(0, f"'rollback … {past.undoes}' goes on with {some(left)}, which it did not reach")
    earlier = [
        run
        for run in reversed(state.runs())
        if run not in (past.run, past.undoes) and _deployed(Past(run, state.events(run)))
    ]
    if earlier:
        ways.append(f"'rollback … {earlier[0]}' takes back the run before")
    return "; ".join([f"{told}; say which run is to be rolled back", *ways])


def _deployed(past: Past) -> bool:
    return not past.is_rollback and bool(past.changed)


def _way_back(state: StateDirectory, past: Past) -> Callable[[str], Aim]:
    """Aim as a rollback did. Raises UsageError when an older version did not record of what."""
    if past.undoes not in state.runs():
        raise UsageError(f"{past} took back a run that is not recorded here; name the one to roll back")
    return _way_back_of(Past(past.undoes, state.events(past.undoes)), past.devices)


def _way_back_of(past: Past, names: Collection[str]) -> Callable[[str], Aim]:
    old = past.left.old

    def aim(name: str) -> Aim:
        return history_aim(name, past.run, old.get(name, "")) if name in names else unchanged

    return aim


def _look(on: Context, run_options: RunOptions, aim: Callable[[str], Aim], besides: bool = False) -> Plan:
    """Look at the devices; tell which ones nothing is known of, and `besides` what acts on them besides their files."""
    with run_options.progress("looking", len(on.roles)) as advance:
        found = on.plan_of(aim, run_options.min_paths, advance, besides)
    for look in found.looks.values():
        for line in look.told_besides:
            run_options.tell(line)
    for error in once(error for name, error in found.errors.items() if name not in on.picked):
        run_options.tell(f"nothing is expected of sessions with {error}")
    return found


def _carry_out(on: Context, state: StateDirectory, run_options: RunOptions, found: Plan, job: Job) -> Report:
    """Push what was found. Devices that cannot be looked at stop it, unless so many may fail."""
    lost = [name for name in found.errors if name in on.picked]
    if len(lost) > run_options.limits.failures:
        raise DeployError("\n".join(["nothing was changed:", *once(found.errors[name] for name in lost)]))
    if not found.waves:
        if job.leg:
            _over(on, state, job)
        return Report(job.run)
    approved = run_options.approve(found)
    if not approved:
        return Report(job.run, stopped=INTERRUPTED if run_options.stop() else "it was not approved")
    log = RunLog(state, job.run, on.mask)
    try:
        log.write_changes({name: (one.digest, one.commands) for name, one in found.changed.items()})
        log.write("begin", **_begun(on, run_options, job, approved), digests=found.digests)
        push = WaveRunner(on.pool, log, run_options.limits, run_options.stop, run_options.tell, failed=len(lost))
        before = {**{name: look.fingerprint for name, look in found.found.items()}, **job.old}
        legs = dict.fromkeys(before, job.leg)
        rollout = Rollout(
            push,
            on.members(job.run, job.aim, before, legs, found.digests),
            found.looks,
            found.fabric_model,
            run_options.on_failure,
        )
        report = rollout.run(found.waves, run_options.dry_run, before, job.leg, run_options.progress)
        report.refused.update({name: str(found.errors[name]) for name in lost})
        log.write("done", outcomes={name: str(result.outcome) for name, result in report.results.items()})
    finally:
        log.close()
    return report


def _over(on: Context, state: StateDirectory, job: Job) -> None:
    """Record that nothing is left to do of a run that was gone on with."""
    log = RunLog(state, job.run, on.mask)
    try:
        log.write("done", outcomes={})
    finally:
        log.close()


def _begun(on: Context, run_options: RunOptions, job: Job, approved: str) -> dict[str, object]:
    """Return what the record says of a run: what was asked for, by whom, with what."""
    return {
        "kind": job.kind,
        **({"undoes": job.undoes} if job.undoes else {}),
        "version": __version__,
        "user": on.user,
        "approved": {"by": on.user, "how": approved},
        "inputs": on.inputs.digest,
        "artifacts": str(Path(on.inputs.artifacts).absolute()),
        "plan": dict(run_options.plan),
        "options": {**run_options.options, "dry_run": run_options.dry_run},
    }


def _settle(
    on: Context,
    state: StateDirectory,
    past: Past,
    run_options: RunOptions,
    confirm: bool | None,
    done: bool = False,
    besides: tuple[str, ...] = (),
) -> Report:
    """Bring what a run left open to its end: as its record has it, all new (`confirm`), or all old (None).

    With `besides` also devices that had come to their end.
    """
    left = past.left
    strange = [name for name in run_options.as_is if name not in left.wave.members]
    if strange:
        raise UsageError(f"--as-is {some(strange)}: {past} did not leave it unsettled")
    wave = Wave(left.wave.name, tuple(n for n in (*left.wave.members, *besides) if n not in run_options.as_is))
    keep = {True: wave.members, False: left.to_new, None: ()}[confirm]
    report = Report(past.run)
    if not wave.members and not run_options.as_is:
        return report
    missing = [name for name in wave.members if name not in on.switches and name not in on.servers]
    if missing:
        raise UsageError(
            f"{some(missing)} took part in {past} and is not managed any more; manage it again, or give "
            f"--as-is {missing[0]} when somebody has looked at it"
        )
    log = RunLog(state, past.run, on.mask)
    try:
        if run_options.as_is:
            rows = {name: [str(Outcome.AS_IS), f"{on.user} has looked at it"] for name in run_options.as_is}
            log.write("results", devices=rows)
            report.results.update({name: Result(Outcome.AS_IS) for name in run_options.as_is})
        if wave.members:
            run_options.tell(f"settling {some(wave.members)}")
            make = on.members(past.run, lambda name: unchanged, left.old, left.legs, {})
            members = {name: make(name, Expected(name)) for name in wave.members}
            push = WaveRunner(on.pool, log, run_options.limits, never, run_options.tell)
            report.results.update(push.settle(wave, members, frozenset(keep)))
        if done and not report.names(Outcome.ATTENTION):
            log.write("done", outcomes={name: str(result.outcome) for name, result in report.results.items()})
    finally:
        log.close()
    return report


def told(results: Mapping[str, Result]) -> str:
    """Return how many devices ended how."""
    outcomes = [result.outcome for result in results.values()]
    return (
        ", ".join(f"{outcomes.count(outcome)} {outcome}" for outcome in Outcome if outcome in outcomes)
        or "nothing was pending"
    )
