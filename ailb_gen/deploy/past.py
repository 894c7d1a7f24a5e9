"""Runs of the past, by their records: what they left open, what they changed, and which one a command is about."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ailb_gen.deploy.runlog import DEPLOY, ROLLBACK, Event, StateDirectory
from ailb_gen.deploy.wave import Outcome
from ailb_gen.errors import UsageError
from ailb_gen.wording import some


@dataclass(frozen=True, slots=True)
class Unfinished:
    """Unsettled devices of a run: those that must get their new, and those that must get their old configuration.

    `old` are the fingerprints of what every device of the run had before; `leg` is that of the last part of the run,
    `legs` are those in which the devices were last changed.
    """

    to_new: tuple[str, ...]
    to_old: tuple[str, ...]
    old: Mapping[str, str]
    leg: int = 0
    legs: Mapping[str, int] = field(default_factory=dict)

    @property
    def devices(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.to_new, *self.to_old)


def unfinished(events: Sequence[Event]) -> Unfinished:
    """Read from the record of a run which devices are to be settled: a change was begun on them and did not end well.

    A device whose confirmation had begun is to end with the new configuration, any other with the old one.
    """
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


@dataclass(frozen=True, slots=True)
class Past:
    """A recorded run."""

    run: str
    events: Sequence[Event]

    def __str__(self) -> str:
        return f"the run {self.run}"

    @property
    def _begin(self) -> Event:
        return next((event for event in self.events if event["event"] == "begin"), {})

    @property
    def kind(self) -> str:
        """The kind of the run: deploy or rollback."""
        return str(self._begin.get("kind", DEPLOY))

    @property
    def is_rollback(self) -> bool:
        """Whether it took another run back."""
        return self.kind == ROLLBACK

    @property
    def undoes(self) -> str:
        """The run that it took back; empty for none, and where an older version did not record it."""
        return str(self._begin.get("undoes", ""))

    @property
    def dry(self) -> bool:
        """Whether it was not to change anything; older versions did not record that."""
        return bool(self._begin.get("options", {}).get("dry_run", False))

    @property
    def over(self) -> bool:
        """Whether it came to its end, with no device left unsettled."""
        return bool(self.events) and self.events[-1]["event"] == "done" and not self.left.devices

    @property
    def idle(self) -> bool:
        """Whether it never began to change a device."""
        return all(event["event"] != "committing" for event in self.events)

    @property
    def left(self) -> Unfinished:
        """The unsettled devices of the run."""
        return unfinished(self.events)

    @property
    def outcomes(self) -> dict[str, str]:
        """The last result of every device that changed, in the order of the waves."""
        outcomes: dict[str, str] = {}
        for event in self.events:
            if event["event"] == "results":
                outcomes.update({name: row[0] for name, row in event["devices"].items() if row[0] != Outcome.UNTOUCHED})
        return outcomes

    @property
    def changed(self) -> tuple[str, ...]:
        """The devices whose last result is a confirmed change, in the order of their waves."""
        return tuple(name for name, outcome in self.outcomes.items() if outcome == Outcome.CONFIRMED)

    @property
    def devices(self) -> dict[str, str]:
        """The digest of the approved change of every device that it was about; empty where that was not recorded."""
        found: dict[str, str] = dict(self._begin.get("digests", {}))
        for event in self.events:
            if event["event"] == "run":
                for _, names in event["waves"]:
                    found |= {name: "" for name in names if name not in found}
        return found

    @property
    def outstanding(self) -> tuple[str, ...]:
        """The devices that it was to change and has not, or has taken back."""
        changed = set(self.changed)
        return tuple(name for name in self.devices if name not in changed)

    @property
    def resumable(self) -> bool:
        """Whether the run can be continued: it was interrupted, or ended early."""
        return not self.dry and bool(self.events) and (not self.over or (not self.idle and bool(self.outstanding)))

    @property
    def digest(self) -> str:
        """The digest of the inputs that the run began with; empty if it did not get so far."""
        return str(self._begin.get("inputs", ""))


def unsettled(state: StateDirectory) -> list[Past]:
    """Return the runs that left devices neither old nor new, as far as is known, the newest first."""
    return [past for past in _newest_first(state) if past.left.devices]


def _newest_first(state: StateDirectory) -> Iterator[Past]:
    """Yield the recorded runs; one that was cut off before its first line did nothing and is passed over."""
    for run in reversed(state.runs()):
        if events := state.events(run):
            yield Past(run, events)


def none_unsettled(state: StateDirectory, but: str = "") -> None:
    """Make sure that no run, other than one, left devices unsettled. Raises UsageError."""
    for past in unsettled(state):
        if past.run != but:
            raise UsageError(
                f"{past} left {some(past.left.devices)} unsettled; 'ailb-gen deploy --resume' continues it, "
                f"'ailb-gen rollback' rolls it back, 'ailb-gen confirm' keeps what is pending"
            )


def past_run(state: StateDirectory, given: str, fits: Callable[[Past], bool]) -> Past:
    """Return the run that is named; else the one that is unsettled, else the newest that fits, else the newest.

    Raises UsageError when there is none, or several left devices unsettled.
    """
    if given:
        run = state.find(given)
        return Past(run, state.events(run))
    runs = list(_newest_first(state))
    if not runs:
        raise UsageError(f"{state.path}: no run is recorded here; is it the right --state?")
    left = [past for past in runs if past.left.devices]
    if len(left) > 1:
        names = ", ".join(past.run for past in left)
        raise UsageError(f"several runs left devices unsettled; name one of them: {names}")
    return next((past for past in (*left, *filter(fits, runs))), runs[0])


def remaining_changes(state: StateDirectory, past: Past) -> tuple[str, ...]:
    """Return the devices on which a run's change was confirmed and not taken back by a later run."""
    back = {
        name
        for later in _newest_first(state)
        if later.is_rollback and later.undoes == past.run and not later.dry
        for name in later.changed
    }
    return tuple(name for name in past.changed if name not in back)
