"""Runs of the past, by their records: what they left open, what they changed, and which one a command is about."""

import fcntl
import os
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Any

from ailb_gen.deploy.record_file import read_record
from ailb_gen.deploy.switch_driver import CHANGING, Phase
from ailb_gen.errors import OutputError, UsageError
from ailb_gen.wording import some

# Where older versions kept the runs within a state directory.
OLDER = "runs"
LOG = "log.jsonl"
IGNORE = ".gitignore"
Event = dict[str, Any]
# Kinds of runs.
DEPLOY, ROLLBACK = "deploy", "rollback"


class DeviceOutcome(StrEnum):
    """The final state of a device."""

    CONFIRMED = "confirmed"
    UNTOUCHED = "untouched"
    ROLLED_BACK = "rolled back"
    AS_IS = "left as it is"
    ATTENTION = "needs attention"


@dataclass(frozen=True, slots=True)
class DeviceResult:
    """The final state of a device, and the error that led to it, if any."""

    outcome: DeviceOutcome
    reason: str = ""
    phase: Phase | None = None


@dataclass(frozen=True, slots=True)
class StateDirectory:
    """The directory of run records, one folder per run; `path` is created at the first write."""

    path: Path

    @contextmanager
    def alone(
        self, failed: str = "the run cannot be recorded", instead: str = "name another --state"
    ) -> Iterator[None]:
        """Keep other runs out; `failed` and `instead` are words of the errors: what does not happen, and what to do.

        Raises UsageError while another run is going on, OutputError when nothing can be written.
        """
        try:
            self._make()
            descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise OutputError(f"{self.path}: {failed}: {error.strerror}; {instead}") from error
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise UsageError(f"{self.path}: another run uses it; wait until it has ended, or {instead}") from error
            except OSError as error:
                raise OutputError(
                    f"{self.path}: it cannot be locked: {error.strerror}; {instead}: it must be on a local disk"
                ) from error
            yield
        finally:
            os.close(descriptor)

    def _make(self) -> None:
        """Make the directory for its owner alone, and keep it out of version control. Raises OSError."""
        if self.path.is_dir():
            return
        missing = [folder for folder in (self.path, *self.path.parents) if not folder.exists()]
        for folder in reversed(missing):
            folder.mkdir(mode=0o700, exist_ok=True)
        (self.path / IGNORE).write_text("*\n")

    def runs(self) -> list[str]:
        """Return the identifiers of all recorded runs in the order in which they began.

        Those of older versions have no number: they come first, by their time.
        """
        return sorted((path.name for path in self._folders() if (path / LOG).is_file()), key=run_order)

    def _folders(self) -> Iterator[Path]:
        for folder in (self.path, self.path / OLDER):
            if folder.is_dir():
                yield from (path for path in folder.iterdir() if path.is_dir())

    def new_run(self) -> str:
        """Return an identifier for a run: its number, the time in UTC, and four digits."""
        number = max((run_order(path.name)[0] for path in self._folders()), default=0) + 1
        return f"{number}-{utc('%Y%m%dT%H%M%S')}-{secrets.token_hex(2)}"

    def find(self, given: str) -> str:
        """Return the run that is meant by its identifier, its number, or the beginning of its identifier.

        Raises UsageError when there is none, or several.
        """
        runs = self.runs()
        if given in runs:
            return given
        found = [run for run in runs if given.isdecimal() and len(given) <= 18 and run_order(run)[0] == int(given)]
        found = found or [run for run in runs if given and run.startswith(given)]
        if len(found) > 1:
            raise UsageError(f"{given}: several runs start with this; name one of them: {', '.join(found)}")
        if not found:
            known = ", ".join(runs[-5:]) or "none"
            raise UsageError(f"{given}: there is no such run in {self.path}; the last ones are: {known}")
        return found[0]

    def log(self, run: str) -> Path:
        """Return the file that records a run."""
        older = self.path / OLDER / run / LOG
        return older if older.is_file() else self.path / run / LOG

    def events(self, run: str) -> list[Event]:
        """Read a run's record; a last line that a crash cut off is left out. Raises UsageError, OutputError."""
        path = self.log(run)
        try:
            found = read_record(path, _event)
        except FileNotFoundError as error:
            known = ", ".join(self.runs()[-5:]) or "none"
            raise UsageError(f"{run}: there is no such run in {self.path}; the last ones are: {known}") from error
        for number, event in enumerate(found, 1):
            kind = event.get("kind", DEPLOY) if event["event"] == "begin" else DEPLOY
            if kind not in (DEPLOY, ROLLBACK):
                version = event.get("version", "another version")
                raise OutputError(f"{path}:{number}: ailb-gen {version} made this run, a {kind!a}; use that version")
        return found


def _event(value: Any) -> Event:  # noqa: ANN401 - what JSON holds
    """Return an event. May raise any error for what is none."""
    if not _fits(value):
        raise ValueError(value)
    event: Event = value
    return event


def _fits(event: Event) -> bool:
    """Return whether an event has the fields that are acted on. May raise any error for one that has not."""
    devices = event.get("devices")
    match event["event"]:
        case str(kind) if kind in CHANGING:
            return isinstance(devices, list) and all(isinstance(name, str) for name in devices)
        case "results":
            return all(isinstance(row[0], str) for row in event["devices"].values())
        case "run":
            named = [name for _, names in event["waves"] for name in names]
            old = event["old"].items()
            return isinstance(event["leg"], int) and all(isinstance(text, str) for text in (*named, *chain(*old)))
        case "begin":
            texts = (event.get("inputs", ""), event.get("undoes", ""), *chain(*event.get("digests", {}).items()))
            whole = all(isinstance(event.get(key, {}), dict) for key in ("options", "plan", "approved"))
            return whole and all(isinstance(text, str) for text in (*texts, *event.get("command", ())))
        case other:
            return isinstance(other, str)


def run_order(run: str) -> tuple[int, str]:
    """Return the sort key of a run: its number, 0 for one of an older version, then its name."""
    number = run.partition("-")[0]
    return (int(number) if number.isdecimal() and number.isascii() else 0), run


def utc(form: str) -> str:
    """Return the time in UTC with milliseconds."""
    now = time.time()
    return f"{time.strftime(form, time.gmtime(now))}.{int(now % 1 * 1000):03}Z"


@dataclass(frozen=True, slots=True)
class UnsettledDevices:
    """Unsettled devices of a run: those that must get their new, and those that must get their old configuration.

    `old` are the fingerprints of what every device of the run had before; `attempt` is that of the last part of the
    run, `attempts` are those in which the devices were last changed.
    """

    to_new: tuple[str, ...]
    to_old: tuple[str, ...]
    old: Mapping[str, str]
    attempt: int = 0
    attempts: Mapping[str, int] = field(default_factory=dict)

    @property
    def devices(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.to_new, *self.to_old)


def unfinished(events: Sequence[Event]) -> UnsettledDevices:
    """Read from the record of a run which devices are to be settled: a change was begun on them and did not end well.

    A device whose confirmation had begun is to end with the new configuration, any other with the old one.
    """
    old: dict[str, str] = {}
    new: dict[str, bool] = {}
    attempts: dict[str, int] = {}
    attempt = 0
    for event in events:
        kind = event["event"]
        if kind == "run":
            # A resumed run looks at its devices again; what they had at first counts.
            old, attempt = {**event["old"], **old}, event["leg"]
        elif (step := CHANGING.get(kind)) is not None:
            if step.phase is Phase.COMMIT:
                attempts.update(dict.fromkeys(event["devices"], attempt))
            new.update(dict.fromkeys(event["devices"], bool(step.ends_new)))
        elif kind == "results":
            # A device that needs attention is left open until its end was observed.
            for name, row in event["devices"].items():
                if row[0] != DeviceOutcome.ATTENTION:
                    new.pop(name, None)
    to_new, to_old = (tuple(name for name, ends_new in new.items() if ends_new is end) for end in (True, False))
    return UnsettledDevices(to_new, to_old, old, attempt, attempts)


@dataclass(frozen=True, slots=True)
class RecordedRun:
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
        """The run that it rolled back; empty for none, and where an older version did not record it."""
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
    def left(self) -> UnsettledDevices:
        """The unsettled devices of the run."""
        return unfinished(self.events)

    @property
    def outcomes(self) -> dict[str, str]:
        """The last result of every device that changed, in the order of the waves."""
        outcomes: dict[str, str] = {}
        for event in self.events:
            if event["event"] == "results":
                outcomes.update(
                    {name: row[0] for name, row in event["devices"].items() if row[0] != DeviceOutcome.UNTOUCHED}
                )
        return outcomes

    @property
    def summary(self) -> str:
        """When the run began, its kind and how its devices ended, as one line."""
        began = str(self._begin.get("time", ""))[:16].replace("T", " ")
        counts = Counter(self.outcomes.values())
        if unsettled_devices := [name for name in self.left.devices if name not in self.outcomes]:
            counts["unsettled"] = len(unsettled_devices)
        ended = ", ".join(f"{number} {outcome}" for outcome, number in counts.items()) or "nothing changed"
        return f"{began} UTC, {'dry run' if self.dry else self.kind}: {ended}"

    @property
    def changed(self) -> tuple[str, ...]:
        """The devices whose last result is a confirmed change, in the order of their waves."""
        return tuple(name for name, outcome in self.outcomes.items() if outcome == DeviceOutcome.CONFIRMED)

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


def unsettled(state: StateDirectory) -> list[RecordedRun]:
    """Return the runs that left devices neither old nor new, as far as is known, the newest first."""
    return [past for past in newest_first(state) if past.left.devices]


def newest_first(state: StateDirectory) -> Iterator[RecordedRun]:
    """Yield the recorded runs; one that was cut off before its first line did nothing and is passed over."""
    for run in reversed(state.runs()):
        if events := state.events(run):
            yield RecordedRun(run, events)


def none_unsettled(state: StateDirectory, but: str = "") -> None:
    """Make sure that no run, other than one, left devices unsettled. Raises UsageError."""
    for past in unsettled(state):
        if past.run != but:
            raise UsageError(
                f"{past} left {some(past.left.devices)} unsettled; 'ailb-gen deploy --resume' continues it, "
                f"'ailb-gen rollback' rolls it back, 'ailb-gen confirm' keeps what is pending"
            )


def recorded_run(state: StateDirectory, given: str, fits: Callable[[RecordedRun], bool]) -> RecordedRun:
    """Return the run that is named; else the one that is unsettled, else the newest that fits, else the newest.

    Raises UsageError when there is none, or several left devices unsettled.
    """
    if given:
        run = state.find(given)
        return RecordedRun(run, state.events(run))
    runs = list(newest_first(state))
    if not runs:
        raise UsageError(f"{state.path}: no run is recorded here; check --state")
    left = [past for past in runs if past.left.devices]
    if len(left) > 1:
        names = ", ".join(past.run for past in left)
        raise UsageError(f"several runs left devices unsettled; name one of them: {names}")
    return next((past for past in (*left, *filter(fits, runs))), runs[0])
