"""Options of a push: timeouts, allowed failures, and how a person approves and watches it."""

import ctypes
import errno
import fcntl
import json
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from ailb_gen.atomic import replace_file
from ailb_gen.deploy.device_pool import ByDevice, DevicePool, UnforeseenError
from ailb_gen.deploy.planning import Plan
from ailb_gen.deploy.run_history import StateDirectory, utc
from ailb_gen.deploy.switch_driver import DeviceError, Phase
from ailb_gen.deploy.transaction import Transaction
from ailb_gen.errors import OutputError, UsageError
from ailb_gen.progress import Progress, quiet

CHANGES = "changes.jsonl"
# Bytes of a record: of its head and tail, and of all that may be said about a device, its errors included.
HEAD_BYTES, DEVICE_BYTES = 64 << 10, 8 << 10
# linux/falloc.h: space for a file that stays as long as it is. What answers when a file system has no such thing.
KEEP_SIZE = 1
UNSUPPORTED = (errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)
T = TypeVar("T")
OnFailure = Literal["stop", "rollback-all"]


class Watch(Protocol):
    """Shows which device of a wave is at which step."""

    def begin(self, step: str, devices: Collection[str]) -> None:
        """Note that devices begin a step."""

    def end(self, device: str) -> None:
        """Note that a device is done with it; called from any thread."""


class Unwatched:
    """Shows nothing."""

    def begin(self, step: str, devices: Collection[str]) -> None:
        """Take no note."""

    def end(self, device: str) -> None:
        """Take no note."""


def unwatched(wave: str) -> AbstractContextManager[Watch]:
    """Show no wave."""
    return nullcontext(Unwatched())


@dataclass(frozen=True, slots=True)
class Limits:
    """Timeouts of a push, and the number of failures that it allows.

    A device takes an unconfirmed change back after `minutes` of `minute_s` seconds, and may need `grace_s` more until
    it answers again; it has `verify_s` seconds to come up; `failures` devices may fail before a wave is undone.
    """

    minutes: int = 5
    verify_s: float = 120.0
    failures: int = 0
    minute_s: float = 60.0
    grace_s: float = 120.0

    def __post_init__(self) -> None:
        """Raise UsageError where a device would take the change back before it is verified."""
        if self.verify_s >= self.minutes * self.minute_s:
            raise UsageError(
                f"--verify-timeout {self.verify_s:g} is not less than --confirm-minutes {self.minutes}: devices would "
                f"roll the change back before it is verified; allow more minutes or less time to verify"
            )


@dataclass(frozen=True, slots=True)
class PushOptions:
    """Options of a run.

    `show` prints the plan; `approve` asks a person a question and returns how it was approved, empty for no. `tell`
    prints a line. `plan` (file, digest, signer), `recorded` and the files `kept` go to the record. `as_is` are
    unsettled devices that a person has looked at: they stay as they are. `watch` shows what the devices of a wave do
    while it is pushed. `compare`: the plan has the changes side by side. `begun` is called with the name of a run when
    its record is open. `command` are the words of the command line, for the record.
    """

    limits: Limits = Limits()
    on_failure: OnFailure = "stop"
    dry_run: bool = False
    min_paths: int = 1
    show: Callable[[Plan], None] = lambda plan: None
    approve: Callable[[str], str] = lambda question: "not asked"
    tell: Callable[[str], None] = lambda text: None
    progress: Progress = quiet
    watch: Callable[[str], AbstractContextManager[Watch]] = unwatched
    plan: Mapping[str, str] = field(default_factory=dict)
    recorded: Mapping[str, object] = field(default_factory=dict)
    kept: Mapping[str, bytes] = field(default_factory=dict)
    as_is: tuple[str, ...] = ()
    compare: bool = False
    begun: Callable[[str], None] = lambda run: None
    command: tuple[str, ...] = ()


class ChangeRow(NamedTuple):
    """The change of a device as its run records it: its digest, its commands, and what people read of them.

    `edits` are rows of `edit_row`, and commands that only add; without them the commands are all that is known.
    """

    digest: str
    commands: Sequence[str]
    edits: Sequence[Mapping[str, Any] | str] = ()


@dataclass(slots=True)
class StepClock:
    """When every device did which step, in seconds since `began` (monotonic): name, then step, start and end.

    A step that is repeated lasts from its first start to its last end.
    """

    began: float
    steps: dict[str, list[list[object]]] = field(default_factory=dict)
    watch: Watch = field(default_factory=Unwatched)

    def now(self) -> float:
        """Return the time."""
        return round(time.monotonic() - self.began, 3)

    def timed(self, phase: Phase, work: Callable[[str, Any], T], names: Collection[str]) -> Callable[[str, Any], T]:
        """Return the same work, timed; these devices begin it."""
        self.watch.begin(str(phase), names)

        def run(name: str, connection: Any) -> T:
            start = self.now()
            try:
                return work(name, connection)
            finally:
                self.watch.end(name)
                # A device does one step at a time, so its row belongs to one thread.
                rows = self.steps.setdefault(name, [])
                if rows and rows[-1][0] == phase:
                    rows[-1][2] = self.now()
                else:
                    rows.append([str(phase), start, self.now()])

        return run


class RunLog:
    """The open record of a run; safe to write to from several threads. Secrets are masked by `mask`.

    It is locked as long as it is open, which ends with the process, however that ends: so others know that it is
    written to.
    """

    def __init__(self, state: StateDirectory, run: str, mask: Callable[[str], str]) -> None:
        self.run, self.mask, self.path = run, mask, state.log(run)
        self._lock = Lock()
        with self._recording(self.path):
            state.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _cut_torn_line(self.path)
            self._descriptor = _open_private(self.path)
            # Who only looks whether it is locked has it for no longer than that.
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def reserve(self, devices: int) -> None:
        """Take the space on the disk that the record of `devices` devices needs, as far as the file system can.

        Raises OutputError when there is not as much: then nothing may be done.
        """
        with self._recording(self.path):
            _reserve(self._descriptor, HEAD_BYTES + devices * DEVICE_BYTES)

    def write(self, event: str, **fields: object) -> None:
        """Record an event; it is on the disk when this returns. Raises OutputError: then nothing may be done.

        A line that cannot be written leaves no part of it behind.
        """
        record = {
            "time": utc("%Y-%m-%dT%H:%M:%S"),
            "run": self.run,
            "event": event,
            **{key: self._masked(fields[key]) for key in fields},
        }
        line = f"{json.dumps(record, ensure_ascii=False)}\n".encode(errors="backslashreplace")
        with self._lock, self._recording(self.path):
            before = os.fstat(self._descriptor).st_size
            try:
                _write_all(self._descriptor, line)
            except OSError:
                os.ftruncate(self._descriptor, before)
                raise

    def write_changes(self, changes: Mapping[str, ChangeRow]) -> None:
        """Record the change of every device, beside the log, without secrets.

        Raises OutputError: then nothing may be done.
        """
        path = self.path.with_name(CHANGES)
        with self._recording(path):
            _cut_torn_line(path)
            descriptor = _open_private(path)
            try:
                for name, change in changes.items():
                    # All at once: there may be thousands.
                    shown = self.mask("\n".join(change.commands)).split("\n") if change.commands else []
                    edits = {"edits": self._masked(change.edits)} if change.edits else {}
                    row = {"device": name, "digest": change.digest, "commands": shown, **edits}
                    line = f"{json.dumps(row, ensure_ascii=False)}\n"
                    _write_all(descriptor, line.encode(errors="backslashreplace"), sync=False)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def keep(self, files: Mapping[str, bytes]) -> None:
        """Keep files beside the log, by name. Raises OutputError."""
        for name, content in files.items():
            path = self.path.with_name(name)
            with self._recording(path):
                replace_file(path, content, 0o600)

    @contextmanager
    def _recording(self, path: Path) -> Iterator[None]:
        """Turn errors of the operating system into OutputErrors that name the file."""
        try:
            yield
        except OSError as error:
            raise OutputError(f"{path}: the run cannot be recorded: {error.strerror}") from error

    def _masked(self, value: object) -> object:
        if isinstance(value, str):
            return self.mask(value)
        if isinstance(value, Mapping):
            return {self.mask(str(key)): self._masked(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [self._masked(one) for one in value]
        return value

    def close(self) -> None:
        """Close the record, and give back the space that it did not need."""
        # An error of writing was raised when it happened.
        with suppress(OSError):
            os.ftruncate(self._descriptor, os.fstat(self._descriptor).st_size)
        with suppress(OSError):
            os.close(self._descriptor)


def _open_private(path: Path) -> int:
    """Open a file that only its owner reads, to append to it. Raises OSError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        # One of an older version may be there.
        os.fchmod(descriptor, 0o600)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _write_all(descriptor: int, data: bytes, sync: bool = True) -> None:
    """Write all of it; with `sync` it is on the disk then. Raises OSError."""
    while data:
        data = data[os.write(descriptor, data) :]
    if sync:
        os.fsync(descriptor)


def _reserve(descriptor: int, size: int) -> None:
    """Take space behind the end of a file, which readers do not see (Linux fallocate). Raises OSError if it is full."""
    fallocate = getattr(ctypes.CDLL(None, use_errno=True), "fallocate", None)
    if fallocate is None:
        return
    end = os.fstat(descriptor).st_size
    if fallocate(descriptor, KEEP_SIZE, ctypes.c_long(end), ctypes.c_long(size)):
        number = ctypes.get_errno()
        if number not in UNSUPPORTED:
            raise OSError(number, os.strerror(number))


def _cut_torn_line(path: Path) -> None:
    """Remove what a crash left of a line."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        data = file.read()
        whole = data.rfind(b"\n") + 1
        if whole != len(data):
            file.truncate(whole)


@dataclass(slots=True)
class Push:
    """Data shared by the waves of a run: devices, record, options; `failed` counts the devices that failed so far.

    `unrecorded` is why the record cannot be written any more, empty while it can.
    """

    pool: DevicePool
    log: RunLog
    options: PushOptions
    failed: int = 0
    unrecorded: str = ""

    def stopped(self) -> bool:
        """Return whether a signal has ended the run."""
        return bool(self.pool.signals())

    def going_on(self) -> bool:
        """Return whether the next step may be done: not stopped, recorded so far, no more failures than allowed."""
        return self.failed <= self.options.limits.failures and not self.stopped() and not self.unrecorded

    def record(self, event: str, **fields: object) -> bool:
        """Record an event; return whether it is recorded. If not, nothing new may be begun."""
        try:
            self.log.write(event, **fields)
        except OutputError as error:
            if not self.unrecorded:
                self.unrecorded = str(error)
                self.options.tell(f"  {error}")
            return False
        return True

    def check(
        self, transactions: Mapping[str, Transaction[Any]], advance: Callable[[int], None] = lambda number: None
    ) -> ByDevice[str]:
        """Check a change on every device and leave nothing behind; the values identify what was checked."""

        def work(name: str, connection: Any) -> str:
            try:
                return transactions[name].stage(connection)
            finally:
                # What fails here ends with the session, and must not hide what failed before.
                with suppress(DeviceError):
                    transactions[name].release(connection)

        outcomes = self.pool.run(transactions, work, Phase.CHECK, advance, keep=False)
        self.log.write("checked", devices=sorted(outcomes.good))
        for name, error in outcomes.bad.items():
            self.log.write("error", device=name, **_recorded(error))
        return outcomes


def _recorded(error: DeviceError) -> dict[str, str]:
    """Return the recorded fields of an error; of a bug, where it happened."""
    more = {"traceback": error.traceback} if isinstance(error, UnforeseenError) else {}
    return {"phase": str(error.phase), "error": str(error), **more}
