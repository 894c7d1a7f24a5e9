"""A small fabric to push to: generated before and after a change, emulated, and reached by the command line.

Whether a push ended well is asked of the databases of the emulated devices, never of the program under test.
"""

from __future__ import annotations

import io
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest import mock

import ncclient.transport.session
import yaml

from ailb_gen.cli import main
from ailb_gen.deploy.push import Limits, RunLog
from ailb_gen.deploy.run_history import StateDirectory
from ailb_gen.emulator.device import EmulatedDevice, Spec
from ailb_gen.emulator.fabric import EmulatedFabric
from ailb_gen.emulator.faults import Fault, Faults
from ailb_gen.emulator.fleet import Fleet
from ailb_gen.emulator.host import FleetLogin
from ailb_gen.emulator.source import entries, servers, specs, unmanaged, write_inventory
from ailb_gen.junos.tree import Node, copy
from ailb_gen.junos.writer import to_set
from ailb_gen.render.artifacts import RenderOptions
from ailb_gen.render.generate import rendering, write_rendering
from tests.conftest import design_of
from tests.deploy.program import TICK_S

USER, PASSWORD, VARIABLE = "admin", "correct horse", "AILB_TEST_PASSWORD"
LOGIN = FleetLogin(USER, PASSWORD)
DRIVERS = ("napalm", "pyez")
# One wave each: the canary, two spines of a color of their own, the other leaf.
CANARY, SPINES, LAST = "stripe1-leaf1", ("spine1", "spine2"), "stripe1-leaf2"
ORDER = (CANARY, *SPINES, LAST)
ALL_NEW = dict.fromkeys(ORDER, "confirmed")
BEFORE = """\
name: tiny
platform: generic
stripes: 1
rails: 2
spines: 2
servers: 1
colors: [blue, red]
"""
# What is added changes every switch, and leaves every session up.
CHANGE = "bfd: {interval_ms: 300, multiplier: 3}\n"
# Seconds after which a test gives a device up that does not come back; the program's own patience is for real ones.
GRACE_S = 4.0


@dataclass(frozen=True, slots=True)
class Generated:
    """The fabric before and after the change: fabric file and artifacts of the latter, devices of both."""

    fabric: Path
    artifacts: Path
    before: tuple[Spec, ...]
    after: Mapping[str, Node]


def generated(folder: Path, text: str = BEFORE) -> Generated:
    """Generate a fabric before and after the change."""
    roots = {}
    for name, intent in (("before", text), ("after", text + CHANGE)):
        roots[name] = folder / name
        roots[name].mkdir()
        (roots[name] / "fabric.yaml").write_text(intent)
        write_rendering(rendering(design_of(intent), roots[name] / "artifacts", RenderOptions("curly", None)))
    return Generated(
        roots["after"] / "fabric.yaml",
        roots["after"] / "artifacts",
        specs(roots["before"] / "artifacts", USER, loaded=True),
        {spec.name: spec.factory for spec in specs(roots["after"] / "artifacts", USER, loaded=True)},
    )


def statements(tree: Node) -> tuple[str, ...]:
    """Return what a configuration says, in an order that does not depend on how it came about."""
    return tuple(sorted(to_set(copy(tree), comments=False).splitlines()))


@dataclass(frozen=True, slots=True)
class Site:
    """A running fleet and everything that it takes to push to it; runs are recorded in `records`."""

    generated: Generated
    fleet: Fleet
    folder: Path
    minute_s: float
    old: Mapping[str, tuple[str, ...]]
    new: Mapping[str, tuple[str, ...]]
    records: StateDirectory

    @property
    def inventory(self) -> Path:
        """The folder of the inventory."""
        return self.folder / "inventory"

    def device(self, name: str) -> EmulatedDevice:
        """Return a device, its database and faults included."""
        return self.fleet.devices[name]

    def settled(self, name: str) -> State:
        """Look at a device that has had a moment to notice the end of a session."""
        for _ in range(100):
            found = self.fleet.do(name, state_of)
            if not found.holder:
                break
            time.sleep(0.05)
        return found

    def assert_all(self, configurations: Mapping[str, tuple[str, ...]]) -> None:
        """Assert that all devices have their configurations: the `old` or the `new` ones."""
        assert {name: self.settled(name).active for name in ORDER} == dict(configurations)

    def repair(self) -> None:
        """Let all devices be as they should again."""
        for name in ORDER:
            self.fleet.clear_faults(name)

    def place(self, verb: str) -> list[str]:
        """Return the command line of any verb that is about this fabric."""
        return [verb, str(self.generated.fabric), str(self.generated.artifacts), "-i", str(self.inventory)]

    def words(self, verb: str, *more: str, minutes: int = 10, verify_s: int = 5) -> list[str]:
        """Return the command line of a verb that pushes."""
        times = ["--confirm-minutes", str(minutes), "--verify-timeout", str(verify_s), "--minute", str(self.minute_s)]
        return [*self.place(verb), "--state", str(self.records.path), "--yes", *times, *more]

    def planned(self, *more: str) -> str:
        """Write a plan of a push; return its file."""
        path = str(self.folder / "plan.json")
        assert run(*self.place("plan"), "--brief", *more, "-o", path).code == 0
        return path

    def deploy(self, *more: str, minutes: int = 10, verify_s: int = 5) -> Outcome:
        """Push in this process."""
        return run(*self.words("deploy", *more, minutes=minutes, verify_s=verify_s))

    def let_timers_fire(self) -> None:
        """Let all time that is given for a confirmation pass."""
        for name in ORDER:
            self.fleet.do(name, timer_ends)

    def events(self) -> list[dict[str, Any]]:
        """Return the record of the last run, which must be readable; nothing if none was recorded."""
        runs = self.records.runs()
        return self.records.events(runs[-1]) if runs else []

    def told(self) -> str:
        """Return the record of the last run as text, for a test that fails."""
        return "\n".join(map(json.dumps, self.events()))

    def ends(self) -> list[str]:
        """Return how the devices ended, in the order of the waves, after asserting that it is true."""
        outcomes = assert_sound(self)
        return [outcomes.get(name, "untouched") for name in ORDER]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command line ended."""

    code: int
    out: str
    err: str


@contextmanager
def site(
    made: Generated,
    folder: Path,
    minute_s: float = 1.0,
    timeout_s: int = 60,
    login: FleetLogin = LOGIN,
    **defaults: object,
) -> Iterator[Site]:
    """Emulate the fabric before the change; a minute of commit confirmed lasts `minute_s` seconds.

    `defaults` are more for defaults.yaml; without them the program finds the password in the environment.
    """
    emulated = EmulatedFabric.read(made.artifacts)
    with Fleet(made.before, emulated, login, minute_s=minute_s) as fleet:
        write_inventory(
            folder / "inventory",
            entries(fleet) | unmanaged(servers(made.artifacts)),
            fleet.known_hosts(),
            login.user,
            VARIABLE,
        )
        path = folder / "inventory" / "defaults.yaml"
        said = yaml.safe_load(path.read_text()) | {"options": {"timeout_s": timeout_s, "connect_timeout_s": 10}}
        path.write_text(yaml.safe_dump(said | defaults))
        old = {name: statements(device.database.active) for name, device in fleet.devices.items()}
        new = {name: statements(tree) for name, tree in made.after.items()}
        assert all(old[name] != new[name] for name in new)
        with mock.patch.dict("os.environ", {VARIABLE: login.password}):
            yield Site(made, fleet, folder, minute_s, old, new, StateDirectory(folder / "state"))


@contextmanager
def hurried() -> Iterator[None]:
    """Let the program look for answers often, and give a lost device up soon."""
    with (
        mock.patch.object(ncclient.transport.session, "TICK", TICK_S),
        mock.patch("ailb_gen.deploy.push.Limits", _impatient),
        mock.patch("ailb_gen.deploy.software.LOOK_S", 0.2),
    ):
        yield


def program(words: Sequence[str]) -> int:
    """Be the program; return the exit code. Where the program would not wait for its threads, this process stays."""
    with mock.patch.object(sys, "argv", ["ailb-gen", *words]), mock.patch("ailb_gen.cli._leave", sys.exit):
        try:
            main()
        except SystemExit as end:
            code = end.code
    assert isinstance(code, int)
    return int(code)


def run(*words: str) -> Outcome:
    """Run the command line in this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), hurried():
        code = program(words)
    return Outcome(code, out.getvalue(), err.getvalue())


def _impatient(minutes: int = 5, verify_s: float = 120.0, failures: int = 0, minute_s: float = 60.0) -> Limits:
    return Limits(minutes, verify_s, failures, minute_s, GRACE_S)


@dataclass
class Hooks:
    """Does something when the record of a run announces an event, before it is done.

    `acts` are by events: `wave` is the next one that is announced, `wave 2` the second that is watched.
    """

    acts: dict[str, Callable[[], object]] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the runs of this process."""
        write = RunLog.write

        def watched(log: RunLog, event: str, **fields: object) -> None:
            write(log, event, **fields)
            self.seen.append(event)
            for key in (event, f"{event} {self.seen.count(event)}"):
                self.acts.pop(key, lambda: None)()

        with mock.patch.object(RunLog, "write", watched):
            yield


@contextmanager
def running_by(clock: object) -> Iterator[None]:
    """Let pushes of this process live in the time of a clock."""
    with ExitStack() as stack:
        for module in ("wave", "push", "device_pool"):
            stack.enter_context(mock.patch(f"ailb_gen.deploy.{module}.time", clock))
        yield


class Elapsing:
    """The clock of a program that waits for devices: real, and put forward when `pass_over` is called.

    For devices that never come back: the test knows what the program has to find out by waiting.
    """

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def monotonic(self) -> float:
        """Return the time."""
        return time.monotonic() + self.ahead_s

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)

    def pass_over(self) -> None:
        """Let more time pass than any push waits."""
        self.ahead_s += 3600.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Be the clock of the pushes of this process."""
        with running_by(self):
            yield


@contextmanager
def requests(seen: Callable[[Faults, str], Sequence[Fault]]) -> Iterator[None]:
    """Tell of every request to a device, with its faults and its step, before it is served; add faults to it."""
    take = Faults.take

    def taken(faults: Faults, phase: str) -> tuple[Fault, ...]:
        return (*seen(faults, phase), *take(faults, phase))

    with mock.patch.object(Faults, "take", taken):
        yield


def timer_ends(device: EmulatedDevice) -> None:
    """Let the time end in which a commit can be confirmed, if one waits; in the thread of its fleet."""
    if device.database.pending is not None:
        device.database.pending = replace(device.database.pending, deadline=0.0)
        device.database.expire()


@dataclass(frozen=True, slots=True)
class State:
    """A device as its database has it."""

    active: tuple[str, ...]
    holder: str
    modified: bool
    pending: bool


def state_of(device: EmulatedDevice) -> State:
    """Look at a device; in the thread of its fleet."""
    database = device.database
    holder = f"{database.holder.user} {database.holder.client}" if database.holder is not None else ""
    return State(statements(database.active), holder, database.modified, database.pending is not None)


def outcomes_of(events: list[dict[str, Any]]) -> dict[str, str]:
    """Return how every device ended, by the record of a run; a device that it does not name is untouched."""
    outcomes: dict[str, str] = {}
    for event in events:
        if event["event"] == "results":
            outcomes.update({name: row[0] for name, row in event["devices"].items()})
    return outcomes


def assert_sound(site: Site) -> dict[str, str]:
    """Assert that every device is as the record says, and that nothing is left on it; return the outcomes."""
    outcomes = outcomes_of(site.events())
    for name in site.fleet.devices:
        expected = site.new if outcomes.get(name) == "confirmed" else site.old
        assert (name, site.settled(name)) == (name, State(expected[name], "", False, False)), site.told()
    return outcomes
