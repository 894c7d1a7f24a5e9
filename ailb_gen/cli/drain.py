"""`ailb-gen drain` and `undrain`: parts of a fabric out of service and back, in the fabric file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli import complete, visible
from ailb_gen.cli.console import echo_changes, echo_json, echo_table, echo_wrapped, notify
from ailb_gen.cli.options import DRY_RUN, FABRIC, JSON
from ailb_gen.cli.steady import steady
from ailb_gen.errors import UsageError

if TYPE_CHECKING:
    from ailb_gen.api.drain import DrainChange

ELEMENTS = Annotated[
    list[str],
    typer.Argument(
        help="Switches, servers, colors, or ports and cables: DEVICE:PORT, DEVICE:DEVICE; globs.",
        metavar="ELEMENT",
        autocompletion=complete.device,
    ),
]
GRACEFUL = Annotated[
    bool,
    typer.Option("--graceful-shutdown", help="Of spines: go on forwarding, with routes that are the last choice."),
]
FLOOR = Annotated[str, typer.Option("--floor", help="Capacity that every pair of leaves must keep.", metavar="PERCENT")]
PERCENT = re.compile(r"(\d{1,3}(?:\.\d{1,6})?) ?%?")
# As many rows of capacity are printed, those with the least.
ROWS = 10


def drain(
    fabric: FABRIC,
    elements: ELEMENTS,
    graceful_shutdown: GRACEFUL = False,
    floor: FLOOR = "50%",
    dry_run: DRY_RUN = False,
    as_json: JSON = False,
) -> None:
    """Take parts of a fabric out of service, in its file.

    The entries of 'drain:' are edited in place, with --graceful-shutdown those of 'graceful_shutdown:'; a spine that
    the other key has is moved. Comments, order and form of the file stay. Refused when a pair of leaves would have no
    path left, or less capacity than --floor.
    """
    from ailb_gen.api.drain import drain as add

    least = percent(floor)
    change = add(fabric, elements, graceful_shutdown=graceful_shutdown, floor=least, write=not dry_run, warn=notify)
    _show(fabric, change, as_json, "in graceful shutdown" if graceful_shutdown else "drained")


def undrain(
    fabric: FABRIC,
    elements: ELEMENTS,
    graceful_shutdown: GRACEFUL = False,
    dry_run: DRY_RUN = False,
    as_json: JSON = False,
) -> None:
    """Put drained parts of a fabric back into service, in its file.

    ELEMENT is an entry of 'drain:', with --graceful-shutdown one of 'graceful_shutdown:'. Comments, order and form of
    the file stay.
    """
    from ailb_gen.api.drain import undrain as remove

    change = remove(fabric, elements, graceful_shutdown=graceful_shutdown, write=not dry_run, warn=notify)
    _show(fabric, change, as_json)


def percent(text: str) -> float:
    """Return the share that --floor gives, in percent. Raises UsageError."""
    found = PERCENT.fullmatch(text.strip())
    value = float(found[1]) if found else -1.0
    if not 0 <= value <= 100:
        raise UsageError(f"--floor {text[:40]!r}: must be a share from 0% to 100%, such as 75%")
    return value


def _show(fabric: Path, change: DrainChange, as_json: bool, state: str = "drained") -> None:
    """Print what changes, what it means, and what to do next; a full disk there does not hide that it is done."""
    with steady(must_be_read=False):
        if as_json:
            echo_json(_json(fabric, change))
        else:
            _print(fabric, change, state)


def _print(fabric: Path, change: DrainChange, state: str) -> None:
    for entry in change.present:
        notify(f"{fabric}: {entry} is {state} already")
    if change.changed:
        echo_changes(change.diff().removesuffix("\n").split("\n"))
    if not visible.output.quiet:
        echo_wrapped(*((f"drained: {line}", None) for line in change.design.drained))
        _show_capacity(change)
    if change.written:
        notify(f"{fabric}: written; next: ailb-gen generate {fabric}")
    else:
        notify(f"{fabric}: {'not written, because of --dry-run' if change.changed else 'nothing to change'}")


def _show_capacity(change: DrainChange) -> None:
    rows = [(f"{one.percent} %", f"{one.pairs:,}", " - ".join(one.example)) for one in change.capacity]
    if rows:
        left_out = f" (the {ROWS} lowest of {len(rows)})" if len(rows) > ROWS else ""
        echo_table(f"Capacity left between leaves{left_out}", ("LEFT", "PAIRS", "FOR EXAMPLE"), rows[:ROWS])


def _json(fabric: Path, change: DrainChange) -> dict[str, object]:
    return {
        "fabric": str(fabric),
        "written": change.written,
        "changed": list(change.changed),
        "unchanged": list(change.present),
        "drained": list(change.design.drained),
        "capacity": [
            {"percent": float(one.percent), "pairs": one.pairs, "example": list(one.example)} for one in change.capacity
        ],
        "diff": change.diff(),
    }
