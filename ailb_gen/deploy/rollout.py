"""The waves of a run: check everywhere, push wave by wave, and deal with what fails."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ailb_gen.deploy.fabric_model import FabricModel
from ailb_gen.deploy.planning import Plan
from ailb_gen.deploy.transaction import Transaction
from ailb_gen.deploy.verify import Expected
from ailb_gen.deploy.wave import Outcome, Push, Result, WaveRun
from ailb_gen.deploy.wave_order import Wave
from ailb_gen.wording import some

INTERRUPTED = "it was interrupted"


@dataclass(slots=True)
class Report:
    """The final state of every device of a run, in the order of the waves; `refused` are those of the first check.

    `about` is the run that was taken back, where that is another one; `unrecorded` is why the record could not be
    written to its end.
    """

    run: str
    results: dict[str, Result] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    stopped: str = ""
    about: str = ""
    unrecorded: str = ""

    def names(self, *outcomes: Outcome) -> list[str]:
        """Return the devices that ended so."""
        return [name for name, result in self.results.items() if result.outcome in outcomes]

    @property
    def failures(self) -> dict[str, str]:
        """The devices that failed, with the reasons."""
        return {name: result.reason for name, result in self.results.items() if result.reason}


@dataclass(slots=True)
class Rollout:
    """Pushes the waves of a plan; `transaction` makes the transaction of a device from what it must show then."""

    push: Push
    transaction: Callable[[str, Expected], Transaction[Any]]
    plan: Plan

    def run(self, old: Mapping[str, str], leg: int = 0) -> Report:
        """Check the change on every device, then push the waves; `old` are the fingerprints that the run began with.

        `leg` counts how often it was resumed. Raises OutputError when nothing can be recorded, before any change.
        """
        report = Report(self.push.log.run)
        waves = self.plan.waves
        names = [name for wave in waves for name in wave.devices]
        self.push.log.write(
            "run",
            waves=[[wave.name, list(wave.devices)] for wave in waves],
            leg=leg,
            old={name: old[name] for name in names},
        )
        if self._check(names, report) and not self.push.options.dry_run:
            left = [Wave(wave.name, tuple(n for n in wave.devices if n not in report.refused)) for wave in waves]
            self._push([wave for wave in left if wave.devices], report)
        return report

    def _check(self, names: Sequence[str], report: Report) -> bool:
        """Check everything before anything is changed; return whether to go on."""
        transactions = {name: self.transaction(name, self.plan.fabric_model.expected(name)) for name in names}
        with self.push.options.progress("checking", len(names)) as advance:
            found = self.push.check(transactions, advance)
        report.refused.update({name: str(error) for name, error in found.bad.items()})
        self.push.failed += len(found.bad)
        self.push.options.tell(f"checked on {len(names)} devices: {len(found.good)} accept the change")
        if self.push.stopped():
            report.stopped = INTERRUPTED
        return self.push.failed <= self.push.options.limits.failures and not report.stopped

    def _push(self, waves: Sequence[Wave], report: Report) -> None:
        fabric = self.plan.fabric_model
        for number, wave in enumerate(waves, 1):
            if self.push.stopped():
                report.stopped = INTERRUPTED
                break
            self.push.options.tell(f"wave {number} of {len(waves)}: {wave.name}: {some(wave.devices)}")
            results = WaveRun(self.push, wave, self._transactions(fabric, wave)).run()
            report.results.update(results)
            confirmed = [name for name, result in results.items() if result.outcome is Outcome.CONFIRMED]
            fabric = self._after(fabric, confirmed)
            if self.push.going_on() or (number == len(waves) and len(confirmed) == len(wave.devices)):
                continue
            report.stopped = INTERRUPTED if self.push.stopped() else f"wave {number} failed"
            # What cannot be recorded is not begun: what earlier waves did stays until there is space again.
            if self.push.options.on_failure == "rollback-all" and not self.push.unrecorded:
                self._back(fabric, waves[: number - 1], report)
            break
        report.unrecorded = self.push.unrecorded
        for wave in waves:
            for name in wave.devices:
                report.results.setdefault(name, Result(Outcome.UNTOUCHED))

    def _transactions(self, fabric: FabricModel, wave: Wave) -> dict[str, Transaction[Any]]:
        """Make the transactions of a wave; each device must show what follows when all of the wave has changed."""
        then = self._after(fabric, wave.devices)
        alarms = {name: look.alarms for name, look in self.plan.looks.items()}
        return {name: self.transaction(name, then.expected(name, alarms.get(name, ()))) for name in wave.devices}

    def _after(self, fabric: FabricModel, names: Collection[str]) -> FabricModel:
        """Return the state of the fabric when devices have changed; servers are not in it."""
        return fabric.after({name: self.plan.looks[name].after for name in names if name in self.plan.looks})

    def _back(self, fabric: FabricModel, waves: Sequence[Wave], report: Report) -> None:
        """Bring back what earlier waves had before, the last one first."""
        kept = [
            (wave, tuple(n for n in wave.devices if report.results[n].outcome is Outcome.CONFIRMED)) for wave in waves
        ]
        # All of them at once, so that what a crash leaves is known.
        if not self.push.record("reverting", devices=[name for _, names in kept for name in names]):
            return
        for wave, names in reversed(kept):
            if names:
                self.push.options.tell(f"rolling back {wave.name}: {some(names)}")
                back = Wave(wave.name, names)
                undoing = WaveRun(self.push, back, self._transactions(fabric, wave))
                report.results.update(undoing.settle(frozenset(), announced=True))
