"""What the verbs that connect to devices share: their options, and how they say who is reached how."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli.output import ask, shout

if TYPE_CHECKING:
    from ailb_gen.deploy.fleet import Access
    from ailb_gen.deploy.inputs import Trust
    from ailb_gen.deploy.runlog import StateDirectory


class Driver(StrEnum):
    """What speaks NETCONF to the switches."""

    napalm = "napalm"
    pyez = "pyez"


FABRIC = Annotated[Path, typer.Argument(help="The fabric file.", metavar="FABRIC")]
ARTIFACTS = Annotated[Path, typer.Argument(help="The directory of generated files.", metavar="ARTIFACTS")]
INVENTORY = Annotated[
    Path | None,
    typer.Option(
        "-i", "--inventory", help="The folder of the inventory files; default: the fabric file's.", metavar="DIR"
    ),
]
LIMIT = Annotated[
    list[str] | None, typer.Option("--limit", help="Only these: names, globs or roles.", metavar="PATTERN")
]
JOBS = Annotated[int, typer.Option("-j", "--jobs", min=1, max=512, help="Devices at once.")]
DRIVER = Annotated[Driver, typer.Option("--driver", help="What speaks NETCONF to the switches.")]
STATE = Annotated[
    Path | None,
    typer.Option("--state", help="Where runs are recorded; default: .ailb/runs beside the fabric file.", metavar="DIR"),
]
ACCEPT = Annotated[
    bool, typer.Option("--accept-new-hostkeys", help="Add the host keys of devices that are not known yet.")
]
UNVERIFIED = Annotated[
    bool, typer.Option("--allow-unverified", help="Take files without a manifest.json, which nothing vouches for.")
]
REPORTS = Annotated[
    list[str] | None,
    typer.Option("--report", help="table, json, junit, sarif or md; several.", metavar="FORMAT[=FILE]"),
]


def trust(unverified: bool) -> Trust:
    """Return what the files of a push must be like."""
    return "files" if unverified else "manifest"


def access(driver: Driver, jobs: int, accept: bool) -> Access:
    """Return how devices are reached."""
    from ailb_gen.deploy.fleet import Access
    from ailb_gen.deploy.hostkeys import HostKeys

    return Access(driver.value, jobs, HostKeys(accept, lambda text: typer.echo(text, err=True)))


def state_directory(fabric: Path, given: Path | None) -> StateDirectory:
    """Return where runs are recorded."""
    from ailb_gen.deploy.runlog import StateDirectory

    return StateDirectory(given or fabric.parent / ".ailb" / "runs")


class Stop:
    """Whether somebody wants a run to end: Ctrl-C, SIGTERM, SIGQUIT, a closed terminal.

    The run asks for it between its steps. While a person is asked something (`asking`), a signal is the answer.
    """

    def __init__(self) -> None:
        self.signals: list[int] = []
        self.asking = False

    def __call__(self) -> bool:
        """Tell whether a signal has come."""
        return bool(self.signals)

    def take(self, number: int, _: object) -> None:
        """Handle a signal."""
        self.signals.append(number)
        if len(self.signals) == 1:
            shout("ailb-gen: stopping; what is pending is rolled back")
        elif len(self.signals) == 2:
            shout("ailb-gen: still at it; a run that is killed now leaves devices to their own timers")
        if self.asking:
            raise KeyboardInterrupt

    def ask(self, question: str) -> bool:
        """Ask a person; a signal is a no."""
        self.asking = True
        try:
            return not self() and ask(question)
        except KeyboardInterrupt:
            return False
        finally:
            self.asking = False


@contextmanager
def interruptible() -> Iterator[Stop]:
    """Turn signals that would end the program into a wish: a run ends in order, then."""
    import signal

    stop = Stop()
    # Under nohup, SIGHUP stays ignored.
    hangup = [signal.SIGHUP] if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN else []
    result = (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, *hangup)
    before = {number: signal.signal(number, stop.take) for number in result}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
