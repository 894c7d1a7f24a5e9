"""A run from beginning to end: check everywhere, push wave by wave, and deal with what fails.

A run that was interrupted is settled from its record: every device that a change was begun on is brought to its new
configuration if its confirmation had begun, else to its old one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ailb_gen.deploy.wave import Outcome, Result, Wave
from ailb_gen.wording import some

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ailb_gen.deploy.fabric_model import FabricModel
    from ailb_gen.deploy.planning import Look
    from ailb_gen.deploy.runlog import Event
    from ailb_gen.deploy.transaction import Transaction
    from ailb_gen.deploy.verify import Expected
    from ailb_gen.deploy.wave import WaveRunner

OnFailure = Literal["stop", "rollback-all"]
# Makes a bar of so many devices, and gives what moves it on.
Progress = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]
INTERRUPTED = "it was interrupted"


def quiet(what: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
    """Show no progress."""
    return nullcontext(lambda number: None)


@dataclass(slots=True)
class Report:
    """How every device of a run ended, in the order of the waves; `refused` are those that the first check found.

    `about` is the run that was taken back, where that is another one.
    """

    run: str
    results: dict[str, Result] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    stopped: str = ""
    about: str = ""

    def names(self, *outcomes: Outcome) -> list[str]:
        """Return the devices that ended so."""
        return [name for name, result in self.results.items() if result.outcome in outcomes]

    @property
    def failures(self) -> dict[str, str]:
        """The devices that failed, with the reasons."""
        return {name: result.reason for name, result in self.results.items() if result.reason}


@dataclass(slots=True)
class Rollout:
    """Pushes the waves of a run; `make` gives the member of a device, `looks` what is known of it."""

    push: WaveRunner
    make: Callable[[str, Expected], Transaction[Any]]
    looks: Mapping[str, Look]
    fabric_model: FabricModel
    on_failure: OnFailure = "stop"

    def run(
        self,
        waves: Sequence[Wave],
        dry_run: bool,
        old: Mapping[str, str],
        leg: int = 0,
        progress: Progress = quiet,
    ) -> Report:
        """Check the change on every device, then push the waves; `old` are the fingerprints that the run began with.

        `leg` counts how often it was resumed. Raises OutputError, after undoing the wave.
        """
        report = Report(self.push.log.run)
        names = [name for wave in waves for name in wave.members]
        self.push.log.write(
            "run",
            waves=[[wave.name, list(wave.members)] for wave in waves],
            leg=leg,
            old={name: old[name] for name in names},
        )
        with progress("checking", len(names)) as advance:
            going_on = self._checked(names, report, advance)
        if not going_on or dry_run:
            return report
        left = [Wave(wave.name, tuple(n for n in wave.members if n not in report.refused)) for wave in waves]
        self._push([wave for wave in left if wave.members], report)
        return report

    def _checked(self, names: Sequence[str], report: Report, advance: Callable[[int], None]) -> bool:
        """Have everything checked before anything is changed; tell whether to go on."""
        members = {name: self.make(name, self.fabric_model.expected(name)) for name in names}
        found = self.push.check(members, advance)
        report.refused.update({name: str(error) for name, error in found.bad.items()})
        self.push.failed += len(found.bad)
        self.push.tell(f"checked on {len(names)} devices: {len(found.good)} accept the change")
        if self.push.stop():
            report.stopped = INTERRUPTED
        return self.push.failed <= self.push.limits.failures and not report.stopped

    def _push(self, waves: Sequence[Wave], report: Report) -> None:
        for number, wave in enumerate(waves, 1):
            if self.push.stop():
                report.stopped = INTERRUPTED
                break
            members = self._members(wave)
            self.push.tell(f"wave {number} of {len(waves)}: {wave.name}: {some(wave.members)}")
            results = self.push.wave(wave, members)
            report.results.update(results)
            confirmed = [name for name, result in results.items() if result.outcome is Outcome.CONFIRMED]
            self.fabric_model = self._after(confirmed)
            # Who interrupts what is done already comes too late.
            stop = self.push.stop() and (number < len(waves) or len(confirmed) < len(wave.members))
            if self.push.failed > self.push.limits.failures or stop:
                report.stopped = INTERRUPTED if stop else f"wave {number} failed"
                if self.on_failure == "rollback-all":
                    self._back(waves[: number - 1], report)
                break
        for wave in waves:
            for name in wave.members:
                report.results.setdefault(name, Result(Outcome.UNTOUCHED))

    def _members(self, wave: Wave) -> dict[str, Transaction[Any]]:
        """Make the members of a wave, with what is expected when all of it has changed."""
        then = self._after(wave.members)
        alarms = {name: look.alarms for name, look in self.looks.items()}
        return {name: self.make(name, then.expected(name, alarms.get(name, ()))) for name in wave.members}

    def _after(self, names: Collection[str]) -> FabricModel:
        """Return the state of the fabric when devices have changed; servers are not in it."""
        return self.fabric_model.after({name: self.looks[name].after for name in names if name in self.looks})

    def _back(self, waves: Sequence[Wave], report: Report) -> None:
        """Bring back what earlier waves had before, the last one first."""
        kept = [
            (wave, tuple(n for n in wave.members if report.results[n].outcome is Outcome.CONFIRMED)) for wave in waves
        ]
        # All of them at once, so that what a crash leaves is known.
        self.push.log.write("reverting", devices=[name for _, names in kept for name in names])
        for wave, names in reversed(kept):
            if names:
                self.push.tell(f"rolling back {wave.name}: {some(names)}")
                report.results.update(self.push.settle(Wave(wave.name, names), self._members(wave), frozenset()))


@dataclass(frozen=True, slots=True)
class Unfinished:
    """What the record of a run leaves open: devices that are to end with their new, and with their old configuration.

    `old` are the fingerprints of what every device of the run had before; `leg` is that of the last part of the run,
    `legs` are those in which the devices were last changed.
    """

    to_new: tuple[str, ...]
    to_old: tuple[str, ...]
    old: Mapping[str, str]
    leg: int = 0
    legs: Mapping[str, int] = field(default_factory=dict)

    @property
    def wave(self) -> Wave:
        """All of them."""
        return Wave("what was interrupted", (*self.to_new, *self.to_old))


def unfinished(events: Sequence[Event]) -> Unfinished:
    """Read from the record of a run what is to be settled: what was begun on a device and has not ended well."""
    old: dict[str, str] = {}
    new: dict[str, bool] = {}
    legs: dict[str, int] = {}
    leg = 0
    for event in events:
        kind = event["event"]
        if kind == "run":
            # A resumed run looks at its devices again; what they had at first counts.
            old, leg = {**event["old"], **old}, event["leg"]
        elif kind in ("committing", "reverting"):
            if kind == "committing":
                legs.update(dict.fromkeys(event["devices"], leg))
            new.update(dict.fromkeys(event["devices"], False))
        elif kind == "confirming":
            new.update(dict.fromkeys(event["devices"], True))
        elif kind == "results":
            # A device that needs attention is left open until it was seen at its end.
            for name, row in event["devices"].items():
                if row[0] != Outcome.ATTENTION:
                    new.pop(name, None)
    return Unfinished(tuple(n for n in new if new[n]), tuple(n for n in new if not new[n]), old, leg, legs)
