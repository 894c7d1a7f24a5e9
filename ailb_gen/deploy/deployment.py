"""Runs as users start them: deploy, resume, confirm, roll back."""

from __future__ import annotations

import platform
from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from ailb_gen.deploy.planning import Plan, Wave, plan_of
from ailb_gen.deploy.push import Push, PushOptions, RunLog
from ailb_gen.deploy.recorded_changes import change_row
from ailb_gen.deploy.run_history import (
    DEPLOY,
    ROLLBACK,
    DeviceOutcome,
    DeviceResult,
    RecordedRun,
    StateDirectory,
    newest_first,
    none_unsettled,
    recorded_run,
)
from ailb_gen.deploy.run_summary import remaining_changes, taken_back
from ailb_gen.deploy.session import DeploySession
from ailb_gen.deploy.switch_driver import once
from ailb_gen.deploy.switch_state import ExpectedState
from ailb_gen.deploy.transaction import ConfigurationSource, history_source, unchanged
from ailb_gen.deploy.wave import INTERRUPTED, Rollout, RunReport, WaveRun
from ailb_gen.errors import DeployError, OutputError, UsageError
from ailb_gen.selection import limit_without
from ailb_gen.version import __version__
from ailb_gen.wording import some

# What is said where a run cannot even begin to be recorded, and where it cannot go on.
NOTHING = "nothing was changed; free space there, or name another --state"
NOTHING_MORE = "nothing more was changed; free space there first"
# How devices that a run left unsettled are settled, beside by a rollback.
RESUME, CONFIRM = "resume", "confirm"


@dataclass(frozen=True, slots=True)
class RunTask:
    """The task of a run: its identifier and kind, the target of each switch, the run that it rolls back.

    `old` are the fingerprints of what devices had before, where an earlier part of the run has recorded them; `attempt`
    counts the parts.
    """

    run: str
    kind: str
    source: Callable[[str], ConfigurationSource]
    undoes: str = ""
    old: Mapping[str, str] = field(default_factory=dict)
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Deployment:
    """The verbs that change devices; `state` is where runs are recorded."""

    session: DeploySession
    state: StateDirectory
    options: PushOptions

    def deploy(self, check: Callable[[Plan], None]) -> RunReport:
        """Push the files. `check` raises if what was planned does not hold any more. Raises AilbError."""
        none_unsettled(self.state)
        found = self._plan(self.session.file_source)
        check(found)
        return self._carry_out(found, RunTask(self.state.new_run(), DEPLOY, self.session.file_source))

    def resume(self, given: str = "", check: Callable[[RecordedRun], None] = lambda past: None) -> RunReport:
        """Settle a run and continue it, deploy or rollback. Raises UsageError when there is nothing to continue.

        `check` raises if that run may not be continued.
        """
        past = recorded_run(self.state, given, lambda past: not past.dry and not (past.over and past.idle))
        none_unsettled(self.state, but=past.run)
        if not past.resumable:
            why = "is complete" if past.over else "was a dry run" if past.dry else "was interrupted before it began"
            raise UsageError(f"{past} {why}; there is nothing to resume")
        back = taken_back(newest_first(self.state)).get(past.run, {})
        if back:
            # Its record could not say any more what of its change was made before, and what after that.
            by = some(dict.fromkeys(back.values()))
            raise UsageError(f"{past} was rolled back by {by}; it cannot be resumed; start another one")
        check(past)
        doing = f"rolling back the run {past.undoes}" if past.is_rollback else "pushing files"
        self.options.tell(f"resuming {past} ({doing})")
        report = self._settle(RESUME, past, past.left.to_new)
        stuck = report.names(DeviceOutcome.ATTENTION)
        if stuck:
            return replace(report, stopped=f"{some(stuck)} cannot be settled: the rest of the run was not resumed")
        if report.unrecorded:
            return report
        ended = f"{past} is settled: {counted(report.results)}. It cannot continue, because"
        if not past.is_rollback and past.digest != self.session.inputs.digest:
            reason = "the fabric file or the generated files have changed since; start another one"
            raise UsageError(f"{ended} {reason}")
        source = self._way_back(past) if past.is_rollback else self.session.file_source
        only = self._limited(frozenset(past.devices) & self.session.picked)
        found = only._plan(source)
        for name, digest in found.digests.items():
            if past.devices[name] != digest:
                raise UsageError(f"{ended} the change on {name} is not the approved one; start another one")
        left = past.left
        done = only._carry_out(found, RunTask(past.run, past.kind, source, past.undoes, left.old, left.attempt + 1))
        return replace(done, results={**report.results, **done.results})

    def confirm(self, given: str = "") -> RunReport:
        """Confirm what a run that was cut off left pending. Raises UsageError when there is nothing."""
        past = recorded_run(self.state, given, lambda past: not past.dry)
        if not past.left.devices:
            raise UsageError(f"{past} left nothing to confirm")
        self.options.tell(f"confirming the pending changes of {past}")
        return self._settle(CONFIRM, past, past.left.devices, done=True)

    def rollback(self, given: str = "") -> RunReport:
        """Take a run back: what is pending at once, what was confirmed in waves of its own, checked and verified.

        Without a name, that is the one that is unsettled, else the last one that changed something. A rollback is taken
        back only by its name; one that was cut off is resumed.
        """
        past = recorded_run(self.state, given, lambda past: not past.idle)
        none_unsettled(self.state, but=past.run)
        if past.is_rollback and not given:
            if not past.over:
                return self.resume(past.run)
            raise UsageError(_ambiguous(self.state, past))
        confirmed = remaining_changes(self.state, past) or past.changed
        servers = tuple(name for name in confirmed if name in self.session.servers)
        if not confirmed and not past.left.devices:
            raise UsageError(f"{past} changed nothing that could be rolled back")
        self._announce(past, len(confirmed))
        if servers and not self.options.approve(f"Restore the previous files of {some(servers)}?"):
            return RunReport(past.run, stopped="it was not approved")
        report = self._settle(ROLLBACK, past, (), done=True, also=servers)
        report.about = past.run
        gone = [name for name in confirmed if name not in self.session.switches and name not in self.session.servers]
        if gone:
            left = "its changes there stay"
            self.options.tell(f"{some(gone)} took part in {past} and is not managed any more: {left}")
        changed = frozenset(confirmed) - set(servers) - set(gone)
        stuck = report.names(DeviceOutcome.ATTENTION)
        if len(stuck) > self.options.limits.failures:
            report.results.update({name: DeviceResult(DeviceOutcome.CONFIRMED) for name in sorted(changed)})
            stays = f"what {past} confirmed on {some(sorted(changed))} stays until then"
            now = f"{stays}: --max-failures {len(stuck)} rolls it back now"
            return replace(report, stopped=now) if changed else report
        if report.unrecorded:
            report.results.update({name: DeviceResult(DeviceOutcome.CONFIRMED) for name in sorted(changed)})
            return report
        return self._take_back(past, changed, report) if changed else report

    def _take_back(self, past: RecordedRun, changed: frozenset[str], report: RunReport) -> RunReport:
        """Roll confirmed switches back in waves of their own; `report` is what was settled before."""
        only, source = self._limited(changed, len(report.names(DeviceOutcome.ATTENTION))), _way_back_of(past, changed)
        found = only._plan(source)
        done = only._carry_out(found, RunTask(self.state.new_run(), ROLLBACK, source, past.run))
        still = {*found.changed, *found.errors} & changed - set(done.names(DeviceOutcome.CONFIRMED))
        if still:
            self.options.tell(f"{past} is not rolled back on {some(sorted(still))}")
        return replace(done, results={**report.results, **done.results}, about=past.run)

    def _limited(self, picked: frozenset[str], failed: int = 0) -> Deployment:
        """Return the same for some devices; `failed` counts the failures so far."""
        limits = replace(self.options.limits, failures=self.options.limits.failures - failed)
        return Deployment(replace(self.session, picked=picked), self.state, replace(self.options, limits=limits))

    def _announce(self, past: RecordedRun, confirmed: int) -> None:
        what = [f"{len(past.left.devices)} unsettled"] if past.left.devices else []
        what += [f"{confirmed} confirmed"] if confirmed else []
        self.options.tell(f"rolling back {past}: {' and '.join(what)}")
        if past.is_rollback:
            undone = past.undoes or "before it"
            self.options.tell(f"this restores the changes of the run {undone}: {past} was its rollback")

    def _way_back(self, past: RecordedRun) -> Callable[[str], ConfigurationSource]:
        """Return the configurations of a rollback. Raises UsageError when an older version did not record its run."""
        if past.undoes not in self.state.runs():
            raise UsageError(f"{past} rolled back a run that is not recorded here; name the one to roll back")
        return _way_back_of(RecordedRun(past.undoes, self.state.events(past.undoes)), past.devices)

    def _plan(self, source: Callable[[str], ConfigurationSource]) -> Plan:
        """Compare the devices; print their unmanaged statements, and which other devices are unknown."""
        with self.options.progress("reading devices", len(self.session.roles)) as advance:
            found = plan_of(self.session, source, self.options.min_paths, advance, True, self.options.compare)
        # After a signal nothing is pushed; thousands of lines would hold up the end.
        for look in () if self.session.pool.signals() else found.switches.values():
            for line in look.notices:
                self.options.tell(line)
        for error in once(error for name, error in found.errors.items() if name not in self.session.picked):
            self.options.tell(f"sessions are not verified with {error}")
        return found

    def _carry_out(self, found: Plan, job: RunTask) -> RunReport:
        """Push a plan. Devices that cannot be read stop it, unless as many may fail."""
        lost = [name for name in found.errors if name in self.session.picked]
        if len(lost) > self.options.limits.failures:
            lines = once(found.errors[name] for name in lost)
            raise DeployError("\n".join(["nothing was changed:", *lines, *self._without(lost, job)]))
        if not found.waves:
            if job.attempt:
                # Nothing is left to do of a run that was resumed.
                with closing(self._log(job.run)) as log:
                    log.write("done", outcomes={})
            return RunReport(job.run)
        self.options.show(found)
        approved = self.options.approve("Push this?" if job.kind == DEPLOY else "Roll this back?")
        if not approved:
            return RunReport(job.run, stopped=INTERRUPTED if self.session.pool.signals() else "it was not approved")
        with closing(self._log(job.run)) as log:
            try:
                log.reserve(len(found.changed))
                log.write_changes({name: change_row(one) for name, one in found.changed.items()})
                log.keep(self.options.kept)
                log.write("begin", **self._begun(job, approved), digests=found.digests)
                old = {**{name: look.fingerprint for name, look in found.devices.items()}, **job.old}
                attempts = dict.fromkeys(old, job.attempt)
                make = self.session.transactions(job.run, job.source, old, attempts, found.digests)
                push = Push(self.session.pool, log, self.options, len(lost))
                report = Rollout(push, make, found).run(old, job.attempt)
            except OutputError as error:
                raise OutputError(f"{error}; {NOTHING_MORE if job.attempt else NOTHING}") from error
            report.refused.update({name: str(found.errors[name]) for name in lost})
            _write_done(log, report)
        return report

    def _without(self, lost: list[str], job: RunTask) -> list[str]:
        """Return how a run goes on without the devices that cannot be read, if there are others."""
        if len(lost) == len(self.session.picked):
            return []
        new = job.kind == DEPLOY and not job.attempt
        way = limit_without(lost) if new else f"--max-failures {len(lost)}"
        return [f"to go on with the other devices: {way}"]

    def _log(self, run: str) -> RunLog:
        try:
            log = RunLog(self.state, run, self.session.mask)
        except OutputError as error:
            raise OutputError(f"{error}; {NOTHING}") from error
        self.options.begun(run)
        return log

    def _begun(self, job: RunTask, approved: str) -> dict[str, object]:
        """Return the head of a run's record: the request, the user, the options."""
        return {
            "kind": job.kind,
            **({"undoes": job.undoes} if job.undoes else {}),
            **self._who(),
            "approved": {"by": self.session.user, "how": approved},
            "inputs": self.session.inputs.digest,
            "artifacts": str(Path(self.session.inputs.artifacts).absolute()),
            "plan": dict(self.options.plan),
            "options": {**self.options.recorded, "dry_run": self.options.dry_run},
        }

    def _who(self) -> dict[str, object]:
        """Return who does this, where, with which version and by which command line."""
        command = {"command": list(self.options.command)} if self.options.command else {}
        return {"version": __version__, "user": self.session.user, "host": platform.node(), **command}

    def _settle(
        self, verb: str, past: RecordedRun, keep: Collection[str], done: bool = False, also: tuple[str, ...] = ()
    ) -> RunReport:
        """Finish what a run left open: devices of `keep` with the new configuration, all others with the old one.

        `verb` is recorded; `also` are devices that had come to their end; `done` ends the run.
        """
        left, as_is = past.left, self.options.as_is
        strange = [name for name in as_is if name not in left.devices]
        if strange:
            raise UsageError(f"--as-is {some(strange)}: {past} did not leave it unsettled")
        wave = Wave("interrupted devices", tuple(n for n in (*left.devices, *also) if n not in as_is))
        report = RunReport(past.run)
        if not wave.devices and not as_is:
            return report
        missing = [
            name for name in wave.devices if name not in self.session.switches and name not in self.session.servers
        ]
        if missing:
            raise UsageError(
                f"{some(missing)} took part in {past} and is not managed any more; manage it again, or give "
                f"--as-is {missing[0]} when a person has checked it"
            )
        with closing(self._log(past.run)) as log:
            try:
                log.reserve(len(wave.devices))
                log.write("settling", verb=verb, **self._who())
                if as_is:
                    rows = {name: [str(DeviceOutcome.AS_IS), f"{self.session.user} has checked it"] for name in as_is}
                    log.write("results", devices=rows)
            except OutputError as error:
                raise OutputError(f"{error}; {NOTHING_MORE}") from error
            if as_is:
                report.results.update({name: DeviceResult(DeviceOutcome.AS_IS) for name in as_is})
            if wave.devices:
                self.options.tell(f"settling {some(wave.devices)}")
                make = self.session.transactions(past.run, lambda name: unchanged, left.old, left.attempts, {})
                transactions = {name: make(name, ExpectedState(name)) for name in wave.devices}
                push = Push(self.session.pool, log, self.options)
                report.results.update(WaveRun(push, wave, transactions).settle(frozenset(keep)))
                report.unrecorded = push.unrecorded
            if done and not report.names(DeviceOutcome.ATTENTION):
                _write_done(log, report)
        return report


def _write_done(log: RunLog, report: RunReport) -> None:
    """Record the end of a run whose record is whole."""
    if report.unrecorded:
        return
    try:
        outcomes = {name: str(result.outcome) for name, result in report.results.items()}
        log.write("done", outcomes=outcomes, **({"stopped": report.stopped} if report.stopped else {}))
    except OutputError as error:
        report.unrecorded = str(error)


def _ambiguous(state: StateDirectory, past: RecordedRun) -> str:
    """Return which runs may be meant when the last one was a rollback."""
    reason = f"{past} was itself a rollback"
    ways = [f"'rollback … {past.run}' restores what it rolled back"]
    if past.undoes in state.runs():
        reason += f", of the run {past.undoes}"
        left = remaining_changes(state, RecordedRun(past.undoes, state.events(past.undoes)))
        if left:
            ways.insert(0, f"'rollback … {past.undoes}' continues with {some(left)}, which it did not reach")
    others = (
        RecordedRun(run, state.events(run)) for run in reversed(state.runs()) if run not in (past.run, past.undoes)
    )
    earlier = next((one for one in others if not one.is_rollback and one.changed), None)
    if earlier is not None:
        ways.append(f"'rollback … {earlier.run}' rolls back the run before")
    return "; ".join([f"{reason}; name the run to roll back", *ways])


def _way_back_of(past: RecordedRun, names: Collection[str]) -> Callable[[str], ConfigurationSource]:
    old = past.left.old

    def source(name: str) -> ConfigurationSource:
        return history_source(name, past.run, old.get(name, "")) if name in names else unchanged

    return source


def counted(results: Mapping[str, DeviceResult]) -> str:
    """Return how many devices ended how."""
    outcomes = [result.outcome for result in results.values()]
    return (
        ", ".join(f"{outcomes.count(outcome)} {outcome}" for outcome in DeviceOutcome if outcome in outcomes)
        or "nothing was pending"
    )
