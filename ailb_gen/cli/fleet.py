"""What the verbs that connect to devices share: options, the fabric they are about, and the signals that end them."""

from __future__ import annotations

import shlex
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ailb_gen.cli import complete
from ailb_gen.cli.console import fabric_file, say
from ailb_gen.cli.output import ask, shout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ailb_gen.deploy.artifacts import Trust
    from ailb_gen.deploy.run_history import StateDirectory
    from ailb_gen.deploy.session import DeploySession
    from ailb_gen.deploy.switch_driver import DeviceError


# Signals within this time after one of them are the same wish, in seconds.
TOGETHER_S = 0.2

# What speaks NETCONF to the switches.
Driver = Literal["napalm", "pyez"]
FABRIC = Annotated[Path, typer.Argument(help="The fabric file.", metavar="FABRIC")]
ARTIFACTS = Annotated[Path, typer.Argument(help="The directory of generated files.", metavar="ARTIFACTS")]
INVENTORY = Annotated[
    Path | None,
    typer.Option(
        "-i", "--inventory", help="Directory of the inventory files; default: beside the fabric file.", metavar="DIR"
    ),
]
LIMIT = Annotated[
    list[str] | None,
    typer.Option(
        "--limit", help="Only these devices: names, globs or roles.", metavar="PATTERN", autocompletion=complete.limit
    ),
]
JOBS = Annotated[int, typer.Option("-j", "--jobs", min=1, max=512, help="Devices in parallel.")]
DRIVER = Annotated[Driver, typer.Option("--driver", help="NETCONF driver for the switches.")]
STATE = Annotated[
    Path | None,
    typer.Option(
        "--state", help="Directory of run records; default: .ailb/runs beside the fabric file.", metavar="DIR"
    ),
]
ACCEPT = Annotated[bool, typer.Option("--accept-new-hostkeys", help="Trust and save the host keys of new devices.")]
UNVERIFIED = Annotated[
    bool, typer.Option("--allow-unverified", help="Accept files without a manifest.json, which cannot be verified.")
]
REPORTS = Annotated[
    list[str] | None,
    typer.Option(
        "--report",
        help="table, json, junit, sarif, md or html; repeatable.",
        metavar="FORMAT[=FILE]",
        autocompletion=complete.report_format,
    ),
]
PAGES = Annotated[
    list[str] | None,
    typer.Option(
        "--report",
        help="Write an HTML report: html=FILE.",
        metavar="FORMAT=FILE",
        autocompletion=complete.page_format,
    ),
]


def trust(unverified: bool) -> Trust:
    """Return what the files of a push must be like."""
    return "files" if unverified else "manifest"


@dataclass(frozen=True, slots=True)
class Place:
    """The fabric that a command is about, and how its devices are reached: what the next command needs, too."""

    fabric: Path
    artifacts: Path | None
    inventory: Path | None
    driver: Driver
    jobs: int
    accept_keys: bool
    state: Path | None = None

    @contextmanager
    def open(
        self,
        limit: Sequence[str] | None = None,
        files: Trust = "files",
        signals: Callable[[], int] = lambda: 0,
        limited_by: str = "--limit",
    ) -> Iterator[DeploySession]:
        """Read everything and give the context of the devices; `files` says what the files must be like.

        `signals` counts those that do not end the program, `limited_by` is where the limit
        was given. Raises IntentError, UsageError, OutputError.
        """
        from ailb_gen.deploy.host_keys import HostKeys
        from ailb_gen.deploy.session import Access, open_session

        fabric, keys = fabric_file(self.fabric), HostKeys(self.accept_keys, lambda text: typer.echo(text, err=True))
        access = Access(self.driver, self.jobs, keys, signals=signals)
        with open_session(fabric, self.artifacts, self.inventory, limit or (), access, files, limited_by) as on:
            yield on

    @property
    def inputs(self) -> list[Path | None]:
        """The files and the directory that are read, and that no option writes to."""
        from ailb_gen.deploy.inventory_files import FILES

        folder = self.inventory or self.fabric.parent
        return [self.fabric, self.artifacts, *(folder / name for name in FILES)]

    @property
    def records(self) -> StateDirectory:
        """Where runs are recorded."""
        from ailb_gen.deploy.run_history import StateDirectory

        beside = fabric_file(self.fabric).parent / ".ailb" / "runs"
        return StateDirectory(self.state or beside)

    def command(self, verb: str, *more: str) -> str:
        """Return a command line about the same."""
        words = ["ailb-gen", verb, str(self.fabric), str(self.artifacts), *more]
        words += ["-i", str(self.inventory)] if self.inventory is not None else []
        words += ["--state", str(self.state)] if self.state is not None else []
        words += ["--driver", self.driver] if self.driver != "napalm" else []
        return shlex.join(words)


def say_errors(errors: Mapping[str, DeviceError]) -> None:
    """Print the errors of devices to standard error, one line for all that have the same."""
    from ailb_gen.deploy.switch_driver import once

    for line in once(errors.values()):
        say(f"ailb-gen: {line}")


class Stop:
    """The signals that ask for the end of a run: Ctrl-C, SIGTERM, SIGQUIT, a closed terminal.

    The run looks for them between its steps, and while it waits for devices. While a person is asked something
    (`asking`), a signal is the answer. A terminal that closes sends several at once: they count as one.
    """

    def __init__(self, effect: str) -> None:
        self.effect = effect
        self.signals: list[float] = []
        self.asking = False

    def __call__(self) -> int:
        """Return how many signals have come."""
        return len(self.signals)

    def take(self, _number: int, _frame: object) -> None:
        """Handle a signal."""
        now = time.monotonic()
        if self.signals and now - self.signals[-1] < TOGETHER_S:
            return
        self.signals.append(now)
        if len(self.signals) == 1:
            shout(f"ailb-gen: stopping; {self.effect}; a second signal ends the run at once")
        elif len(self.signals) == 2:
            shout("ailb-gen: ending at once; devices take back what is pending when their timers run out")
        if self.asking:
            raise KeyboardInterrupt

    def ask(self, question: str) -> bool:
        """Ask a person; a signal is a no."""
        self.asking = True
        try:
            return not self.signals and ask(question)
        except KeyboardInterrupt:
            return False
        finally:
            self.asking = False


@contextmanager
def interruptible(effect: str) -> Iterator[Stop]:
    """Count signals that would end the program, so that a run ends in order; `effect` is what the first one does."""
    import signal

    stop = Stop(effect)
    # Under nohup, SIGHUP stays ignored.
    hangup = [signal.SIGHUP] if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN else []
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, *hangup)
    before = {number: signal.signal(number, stop.take) for number in numbers}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
