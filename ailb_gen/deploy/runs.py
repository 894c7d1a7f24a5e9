"""Runs as users start them: deploy, go on with what was cut off, confirm it, roll it back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ailb_gen.deploy.campaign import Campaign, OnFailure, Progress, Report, quiet, unfinished
from ailb_gen.deploy.member import history_aim
from ailb_gen.deploy.push import Ending, Fate, Limits, Push, Wave, never, some
from ailb_gen.deploy.runlog import RunLog, StateDirectory, new_run
from ailb_gen.deploy.verify import Expected
from ailb_gen.errors import DeployError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ailb_gen.deploy.desk import Desk
    from ailb_gen.deploy.member import Aim
    from ailb_gen.deploy.prospect import Prospect
    from ailb_gen.deploy.runlog import Event
    from ailb_gen.deploy.switch import Switch
    from ailb_gen.junos.tree import Node


def unchanged(switch: Switch, running: Node) -> Node:
    """Aim at what is there."""
    return running


@dataclass(frozen=True, slots=True)
class Manner:
    """How a run is done: limits, what becomes of earlier waves, who watches.

    `approve` is shown what would be done and says whether to do it; `tell` gets lines for a person, `progress` makes a
    bar of so many devices.
    """

    limits: Limits
    on_failure: OnFailure = "stop"
    dry_run: bool = False
    floor: int = 1
    stop: Callable[[], bool] = never
    approve: Callable[[Prospect], bool] = lambda found: True
    tell: Callable[[str], None] = lambda text: None
    progress: Progress = quiet


@dataclass(frozen=True, slots=True)
class Past:
    """A recorded run: what it left open, and the devices that it changed for good."""

    run: str
    events: Sequence[Event]

    @property
    def over(self) -> bool:
        """Whether the run came to its end."""
        return bool(self.events) and self.events[-1]["event"] == "done"

    @property
    def changed(self) -> tuple[str, ...]:
        """The devices whose last ending is a confirmed change, in the order of their waves."""
        fates: dict[str, str] = {}
        for event in self.events:
            if event["event"] == "endings":
                fates.update({name: row[0] for name, row in event["devices"].items() if row[0] != Fate.UNTOUCHED})
        return tuple(name for name, fate in fates.items() if fate == Fate.CONFIRMED)

    @property
    def digest(self) -> str:
        """The digest of the inputs that the run began with; empty if it did not get so far."""
        return next((event["inputs"] for event in self.events if event["event"] == "begin"), "")


def last(state: StateDirectory, run: str = "") -> Past:
    """Return a run, by default the last one. Raises UsageError when there is none."""
    runs = state.runs()
    if not run and not runs:
        raise UsageError(f"{state.path}: no run is recorded here; is it the right --state?")
    name = run or runs[-1]
    return Past(name, state.events(name))


def none_open(state: StateDirectory) -> None:
    """Make sure that no run was cut off with something pending. Raises UsageError."""
    for name in reversed(state.runs()):
        left = unfinished(state.events(name)).wave.members
        if left:
            raise UsageError(
                f"the run {name} was cut off and left {some(left)} unsettled; "
                f"'ailb-gen deploy --resume' goes on with it, 'ailb-gen rollback' takes it back"
            )


def deploy(on: Desk, state: StateDirectory, manner: Manner, check: Callable[[Prospect], None]) -> Report:
    """Push the files. `check` raises if what was planned does not hold any more. Raises AilbError."""
    none_open(state)
    found = _look(on, manner, on.file_aim)
    check(found)
    return _carry_out(on, state, new_run(), manner, found, on.file_aim, "deploy", {})


def resume(on: Desk, state: StateDirectory, manner: Manner) -> Report:
    """Settle the last run and go on with it. Raises UsageError when there is nothing to go on with."""
    past = last(state)
    if past.over:
        raise UsageError(f"the run {past.run} came to its end; there is nothing to resume")
    report = _settle(on, state, past, manner, confirm=False)
    if report.names(Fate.ATTENTION):
        return report
    if past.digest != on.inputs.digest:
        raise UsageError(
            f"the run {past.run} is settled: {told(report.endings)}. It cannot go on, because the fabric file or the "
            f"generated files have changed since; start another one"
        )
    found = _look(on, manner, on.file_aim)
    left = unfinished(past.events)
    done = _carry_out(on, state, past.run, manner, found, on.file_aim, "deploy", left.old, left.leg + 1)
    return Report(done.run, {**report.endings, **done.endings}, done.refused, done.stopped)


def confirm(on: Desk, state: StateDirectory, manner: Manner, run: str = "") -> Report:
    """Confirm what a run that was cut off left pending. Raises UsageError when there is nothing."""
    past = last(state, run)
    if not unfinished(past.events).wave.members:
        raise UsageError(f"the run {past.run} left nothing to confirm")
    return _settle(on, state, past, manner, confirm=True, done=True)


def rollback(on: Desk, state: StateDirectory, manner: Manner, run: str = "") -> Report:
    """Take a run back: what is pending at once, what was confirmed in waves of its own, checked and verified."""
    past = last(state, run)
    servers = tuple(name for name in past.changed if name in on.servers)
    report = _settle(on, state, past, manner, confirm=None, done=True, besides=servers)
    if report.names(Fate.ATTENTION):
        return report
    changed = frozenset(past.changed) - set(servers)
    if not changed:
        if not report.endings:
            raise UsageError(f"the run {past.run} changed nothing that could be rolled back")
        return report

    def aim(name: str) -> Aim:
        return history_aim(name, past.run) if name in changed else unchanged

    found = _look(on, manner, aim)
    return _carry_out(on, state, new_run(), manner, found, aim, "rollback", {})


def _look(on: Desk, manner: Manner, aim: Callable[[str], Aim]) -> Prospect:
    """Look at the devices; tell which ones nothing is known of."""
    with manner.progress("looking", len(on.roles)) as advance:
        found = on.prospect(aim, manner.floor, advance)
    for name, error in found.errors.items():
        if name not in on.picked:
            manner.tell(f"nothing is expected of sessions with {name}: {error}")
    return found


def _carry_out(
    on: Desk,
    state: StateDirectory,
    run: str,
    manner: Manner,
    found: Prospect,
    aim: Callable[[str], Aim],
    kind: str,
    old: Mapping[str, str],
    leg: int = 0,
) -> Report:
    """Push what was found. Devices that cannot be looked at stop it, unless so many may fail."""
    lost = [name for name in found.errors if name in on.picked]
    if len(lost) > manner.limits.failures:
        raise DeployError("\n".join(["nothing was changed:", *(str(found.errors[name]) for name in lost)]))
    if not found.waves or not manner.approve(found):
        return Report(run, stopped="" if not found.waves else "it was not approved")
    log = RunLog(state, run, on.mask)
    try:
        log.write("begin", kind=kind, inputs=on.inputs.digest, user=on.user, artifacts=str(on.inputs.artifacts))
        push = Push(on.crew, log, manner.limits, manner.stop, manner.tell, failed=len(lost))
        before = {**{name: look.fingerprint for name, look in found.found.items()}, **old}
        campaign = Campaign(
            push,
            on.members(run, aim, before, dict.fromkeys(before, leg), found.digests),
            found.looks,
            found.scene,
            manner.on_failure,
        )
        report = campaign.run(found.waves, manner.dry_run, before, leg, manner.progress)
        report.refused.update({name: str(found.errors[name]) for name in lost})
        log.write("done", fates={name: str(ending.fate) for name, ending in report.endings.items()})
    finally:
        log.close()
    return report


def _settle(
    on: Desk,
    state: StateDirectory,
    past: Past,
    manner: Manner,
    confirm: bool | None,
    done: bool = False,
    besides: tuple[str, ...] = (),
) -> Report:
    """Bring what a run left open to its end: as its record has it, all new (`confirm`), or all old (None).

    With `besides` also devices that had come to their end.
    """
    left = unfinished(past.events)
    wave = Wave(left.wave.name, (*left.wave.members, *besides))
    keep = {True: wave.members, False: left.to_new, None: ()}[confirm]
    report = Report(past.run)
    if not wave.members:
        return report
    missing = [name for name in wave.members if name not in on.switches and name not in on.servers]
    if missing:
        raise UsageError(f"{some(missing)} took part in the run {past.run} and is not managed any more")
    manner.tell(f"settling {some(wave.members)}")
    log = RunLog(state, past.run, on.mask)
    try:
        make = on.members(past.run, lambda name: unchanged, left.old, left.legs, {})
        members = {name: make(name, Expected(name)) for name in wave.members}
        push = Push(on.crew, log, manner.limits, never, manner.tell)
        report.endings.update(push.settle(wave, members, frozenset(keep)))
        if done and not report.names(Fate.ATTENTION):
            log.write("done", fates={name: str(ending.fate) for name, ending in report.endings.items()})
    finally:
        log.close()
    return report


def told(endings: Mapping[str, Ending]) -> str:
    """Return how many devices ended how."""
    fates = [ending.fate for ending in endings.values()]
    return ", ".join(f"{fates.count(fate)} {fate}" for fate in Fate if fate in fates) or "nothing was pending"
