"""Devices that exist only in memory, and a pool of them: what a push does with them can be seen after every step.

A device does what its script says, step by step, and then behaves. Time passes only when somebody sleeps.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from ailb_gen.deploy.device_pool import ByDevice, DevicePool, UnforeseenError
from ailb_gen.deploy.planning import Wave
from ailb_gen.deploy.push import Limits, Push, PushOptions
from ailb_gen.deploy.switch_driver import DeviceError, ForeignError, Phase, RequestRefusedError, UnknownOutcomeError
from ailb_gen.deploy.transaction import CommitState
from ailb_gen.errors import OutputError
from ailb_gen.signals import NO_SIGNALS
from tests.deploy.fabric import running_by

STEPS = ("stage", "apply", "verify", "confirm", "revert", "release", "commit_state")
# What a step may do besides what it should: refuse; break down before or after it was done; fail in a way that nobody
# foresaw, before or after; have no connection.
MISHAPS = ("refused", "lost before", "lost after", "bug before", "bug after", "away")
PHASES = {"stage": Phase.CHECK, "apply": Phase.COMMIT, "confirm": Phase.CONFIRM, "revert": Phase.ROLLBACK}
LIMITS = Limits(minutes=5, verify_s=30.0, failures=0, minute_s=60.0, grace_s=60.0)
OPTIONS = PushOptions(LIMITS)


@dataclass
class Clock:
    """Time that passes only when somebody sleeps."""

    now: float = 1000.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@dataclass
class Device:
    """A device; `script` holds what goes wrong in the next calls of a step, None for nothing."""

    script: dict[str, list[str | None]] = field(default_factory=dict)
    commit_state: CommitState = CommitState.OLD
    deadline: float = 0.0
    staged: bool = False
    calls: list[str] = field(default_factory=list)


@dataclass
class Machine:
    """Devices by name, and the record of what was done with them.

    `snapshots` are the record and the devices at every moment at which the program could have been killed, if it is
    `watched`.
    """

    devices: dict[str, Device]
    clock: Clock = field(default_factory=Clock)
    events: list[dict[str, Any]] = field(default_factory=list)
    snapshots: list[tuple[list[dict[str, Any]], dict[str, Device]]] = field(default_factory=list)
    watched: bool = False
    # After so many events nothing can be recorded any more.
    full_after: int = 10**9
    run = "r"

    def write(self, event: str, **fields: object) -> None:
        """Record an event, as RunLog does."""
        if len(self.events) >= self.full_after:
            raise OutputError("the disk is full")
        self.events.append({"event": event, **deepcopy(fields)})
        self.killed_here()

    def killed_here(self) -> None:
        """Remember what there would be if the program were killed now."""
        if self.watched:
            self.snapshots.append((list(self.events), deepcopy(self.devices)))

    def transactions(self) -> dict[str, FakeTransaction]:
        """Return a transaction for every device."""
        return {name: FakeTransaction(name, self) for name in self.devices}

    def push(self, options: PushOptions = OPTIONS, signals: Callable[[], int] = NO_SIGNALS) -> Push:
        """Return a push to these devices."""
        log: Any = self
        return Push(FakePool(self, signals), log, options)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Let the program live in the time of this machine."""
        with running_by(self.clock):
            yield

    def wave(self) -> Wave:
        """Return all devices as one wave."""
        return Wave("all", tuple(self.devices))

    def final_states(self) -> dict[str, CommitState]:
        """Return where the devices stand when all timers have run out."""
        for device in self.devices.values():
            if device.commit_state is CommitState.PENDING:
                device.commit_state = CommitState.OLD
        return {name: device.commit_state for name, device in self.devices.items()}


@dataclass(frozen=True)
class FakeTransaction:
    """A device in a push."""

    name: str
    machine: Machine

    @property
    def device(self) -> Device:
        """The device, after its timer has done what is due."""
        device = self.machine.devices[self.name]
        if device.commit_state is CommitState.PENDING and self.machine.clock.now >= device.deadline:
            device.commit_state = CommitState.OLD
        return device

    def _do(self, step: str, act: Callable[[Device], Any]) -> Any:
        """Carry out a step as the script has it."""
        device, phase = self.device, PHASES.get(step, Phase.READ)
        device.calls.append(step)
        script = device.script.get(step, [])
        mishap = script.pop(0) if script else None
        self.machine.clock.now += 0.01
        if mishap == "refused":
            raise RequestRefusedError(self.name, phase, "refused by the script")
        if mishap == "away":
            raise DeviceError(self.name, Phase.CONNECT, "away by the script")
        if mishap == "lost before":
            raise UnknownOutcomeError(self.name, phase, "no answer")
        if mishap == "bug before":
            raise ValueError("nobody foresaw this")
        if mishap == "foreign":
            device.commit_state = CommitState.FOREIGN
        value = act(device)
        self.machine.killed_here()
        if mishap == "lost after":
            raise UnknownOutcomeError(self.name, phase, "no answer")
        if mishap == "bug after":
            raise ValueError("nobody foresaw this")
        return ("a session is down",) if mishap == "bad" else value

    def stage(self, connection: object) -> str:
        self._do("stage", lambda device: setattr(device, "staged", True))
        return "staged"

    def apply(self, connection: object, minutes: int) -> tuple[str, ...]:
        def act(device: Device) -> None:
            assert device.staged and device.commit_state is CommitState.OLD
            device.commit_state = CommitState.PENDING
            device.deadline = self.machine.clock.now + minutes * LIMITS.minute_s

        self._do("apply", act)
        return ("it is warm",) if self.name.endswith("1") else ()

    def verify(self, connection: object) -> tuple[str, ...]:
        return tuple(self._do("verify", lambda device: ()))

    def confirm(self, connection: object) -> None:
        def act(device: Device) -> None:
            if device.commit_state not in (CommitState.PENDING, CommitState.NEW):
                raise ForeignError(self.name, Phase.CONFIRM, "there is nothing to confirm")
            device.commit_state = CommitState.NEW

        self._do("confirm", act)

    def revert(self, connection: object) -> None:
        def act(device: Device) -> None:
            if device.commit_state is CommitState.FOREIGN:
                raise ForeignError(self.name, Phase.ROLLBACK, "somebody else was here")
            device.commit_state = CommitState.OLD

        self._do("revert", act)

    def release(self, connection: object) -> None:
        self._do("release", lambda device: setattr(device, "staged", False))

    def commit_state(self, connection: object) -> CommitState:
        return CommitState(self._do("commit_state", lambda device: device.commit_state))


class FakePool(DevicePool):
    """A pool that works on devices one after the other, in this thread; closing a session discards what was staged."""

    def __init__(self, machine: Machine, signals: Callable[[], int]) -> None:
        self.machine, self.signals = machine, signals
        self.open: set[str] = set()

    def run(
        self,
        names: Collection[str],
        work: Callable[[str, Any], Any],
        phase: Phase,
        advance: Callable[[int], None] = lambda number: None,
        connect: bool = True,
        keep: bool = True,
        at_once: bool = False,
    ) -> ByDevice[Any]:
        outcomes: ByDevice[Any] = ByDevice()
        for name in list(names):
            if not connect and name not in self.open:
                continue
            self.open.add(name)
            try:
                outcomes[name] = work(name, None)
            except DeviceError as error:
                outcomes[name] = error
            except ValueError as error:
                outcomes[name] = UnforeseenError(name, phase, error)
            if not keep or isinstance(outcomes[name], UnknownOutcomeError | UnforeseenError):
                self.close([name])
            advance(1)
        return outcomes

    def close(self, names: Collection[str]) -> None:
        for name in names:
            self.open.discard(name)
            self.machine.devices[name].staged = False


def machine_of(scripts: Mapping[str, Mapping[str, Sequence[str | None]]]) -> Machine:
    """Return devices with scripts."""
    return Machine({name: Device({step: list(row) for step, row in one.items()}) for name, one in scripts.items()})
