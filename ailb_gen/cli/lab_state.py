"""`ailb-gen lab status`, `fail` and `repair`: what a lab is doing, and what goes wrong in it."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli import complete
from ailb_gen.cli.console import echo_table, echo_wrapped
from ailb_gen.paint import Style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ailb_gen.lab.faults import CableFault
    from ailb_gen.lab.plan import LabPlan

NAME = Annotated[
    str | None,
    typer.Option("--lab", help="Name of the lab; default: the only one.", metavar="NAME", autocompletion=complete.lab),
]
WAIT = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until sessions and routes have settled.")]
# How long sessions and routes may take to settle. Seconds.
PATIENCE_S = 60.0
COLUMNS = ("switch", "role", "sessions", "routes", "hidden", "NETCONF")


def status(name: NAME = None, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Show switches, sessions, routes, and what has failed."""
    from ailb_gen.lab.faults import faults_of
    from ailb_gen.lab.registry import enter

    lab, plan = enter(name)
    rows = [_row(plan, switch, lab.ports) for switch in plan.switches]
    failed = [str(fault) for fault in faults_of(plan)]
    ended = [str(row["switch"]) for row in rows if row.pop("ended")]
    if as_json:
        found = {
            "lab": lab.name,
            "inventory": lab.inventory,
            "servers": list(plan.servers),
            "failed": failed,
            "ended": ended,
        }
        typer.echo(json.dumps({**found, "switches": rows}, indent=1))
        return
    cells = [
        (row["switch"], row["role"], f"{row['up']} of {row['sessions']}", row["routes"], row["hidden"], row["port"])
        for row in rows
    ]

    def style(row: int, column: int) -> Style | None:
        """Return the style of a cell: sessions that are down, routes that are hidden."""
        one = rows[row]
        worst = {"sessions": (one["up"] != one["sessions"], Style.FAIL), "hidden": (one["hidden"] != 0, Style.WARN)}
        wrong, found = worst.get(COLUMNS[column], (False, Style.FAIL))
        return found if wrong else None

    echo_table(f"{lab.name}: {len(rows)} switches, {len(plan.servers)} servers", COLUMNS, cells, style)
    typer.echo(f"inventory: {lab.inventory}")
    echo_wrapped(*((f"failed: {line}", Style.FAIL) for line in failed))
    if ended:
        text = f"ended: BIRD of {', '.join(ended)}; start the lab again: ailb-gen lab down {lab.name}, then lab up"
        echo_wrapped((text, Style.FAIL))


def _row(plan: LabPlan, name: str, ports: dict[str, int]) -> dict[str, object]:
    """Return what one switch does; without a daemon, because it is not configured or that has ended, no sessions."""
    from ailb_gen.lab.bird.control import NoDaemonError
    from ailb_gen.lab.bird.parse import sessions
    from ailb_gen.lab.routers import bird_of

    bird, ended = bird_of(name), False
    try:
        found = list(sessions(bird).values())
    except NoDaemonError:
        # One that was killed leaves its socket.
        found, ended = [], bird.path.exists()
    return {
        "switch": name,
        "role": plan.switches[name].role,
        "up": sum(one.established for one in found),
        "sessions": len(found),
        "routes": sum(one.imported for one in found),
        "hidden": sum(one.hidden for one in found),
        "port": ports[name],
        "ended": ended,
    }


def fail(
    what: Annotated[
        str,
        typer.Argument(
            help="DEVICE:PORT, DEVICE:DEVICE or a device.", metavar="LINK", autocompletion=complete.lab_device
        ),
    ],
    silent: Annotated[bool, typer.Option("--silent", help="Drop every packet but keep the carrier.")] = False,
    one_way: Annotated[
        bool,
        typer.Option("--one-way", help="Drop only what the device sends that LINK begins with; keep the carrier."),
    ] = False,
    wait: WAIT = True,
    name: NAME = None,
) -> None:
    """Let a link fail, or all links of a device."""
    from ailb_gen.lab import faults
    from ailb_gen.lab.namespaces import require
    from ailb_gen.lab.registry import enter

    if silent or one_way:
        require(("nft",))
    _, plan = enter(name)
    if one_way:
        found = faults.fail_one_way(plan, what)
    else:
        found = faults.fail(plan, what, faults.FaultKind.SILENT if silent else faults.FaultKind.CARRIER)
    _tell("failed", found)
    if wait:
        _settle(plan)


def repair(
    what: Annotated[
        str | None,
        typer.Argument(help="As for fail; default: everything.", metavar="LINK", autocompletion=complete.lab_device),
    ] = None,
    wait: WAIT = True,
    name: NAME = None,
) -> None:
    """Repair what has failed."""
    from ailb_gen.lab import faults
    from ailb_gen.lab.registry import enter

    _, plan = enter(name)
    repaired = faults.repair(plan, what)
    _tell("repaired", repaired)
    if not repaired:
        typer.echo("nothing has failed")
    elif wait:
        _settle(plan)


def _tell(verb: str, found: Sequence[CableFault]) -> None:
    for fault in found:
        typer.echo(f"{verb}: {fault}")


def _settle(plan: LabPlan) -> None:
    """Wait until sessions and routes have settled, and say how long that took."""
    from ailb_gen.lab.convergence import wait

    began = time.monotonic()
    missing = wait(plan, PATIENCE_S)
    typer.echo(f"settled after {time.monotonic() - began:.1f} s")
    echo_wrapped(*((f"down: {line}", Style.FAIL) for line in missing))
