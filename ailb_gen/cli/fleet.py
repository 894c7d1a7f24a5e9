"""What the verbs that connect to devices share: their options, and how they say who is reached how."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

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
    typer.Option("--state", help="Where runs are recorded; default: .ailb beside the fabric file.", metavar="DIR"),
]
ACCEPT = Annotated[
    bool, typer.Option("--accept-new-hostkeys", help="Add the host keys of devices that nobody knows yet.")
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

    return StateDirectory(given or fabric.parent / ".ailb")


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Turn Ctrl-C and SIGTERM into a wish that a run asks for between its steps: it ends in order, then."""
    import signal

    wished: list[int] = []

    def wish(number: int, _: object) -> None:
        if not wished:
            typer.echo("ailb-gen: stopping; what is pending is rolled back", err=True)
        wished.append(number)

    before = {number: signal.signal(number, wish) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(wished)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
