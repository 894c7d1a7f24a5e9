"""`ailb-gen rib` and `ailb-gen fib`: the routes of a switch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli import complete
from ailb_gen.cli.console import echo_json, echo_table, echo_wrapped, warn
from ailb_gen.cli.options import FAILED, HERE, JSON, TREE
from ailb_gen.paint import Style

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ailb_gen.addresses import Prefix
    from ailb_gen.api.routes import Routes
    from ailb_gen.routing.rib import NextHop, SentRoute
    from ailb_gen.routing.rib import Path as RibPath

# More warnings are counted.
LISTED = 3
NO_ROUTE = "no route"
MARKS = {"active": "*", "multipath": "#", "inactive": " ", "hidden": "-"}
# Junos's preferences, as `show route` prints them.
PROTOCOLS = {"direct": "[Direct/0]", "bgp": "[BGP/170]"}

Device = Annotated[str, typer.Argument(help="A switch.", metavar="SWITCH", autocompletion=complete.switch)]

Advertised = Annotated[bool, typer.Option("--advertised", help="Show the routes that it sends to each peer instead.")]


def routes_of(artifacts: Path, failed: list[str] | None, *switches: str, servers: Iterable[str] = ()) -> Routes:
    """Compute the routes of devices that exist, and warn of files that could not be used. Raises UsageError."""
    from ailb_gen.api.routes import check_device, compute_routes

    for name in switches:
        check_device(artifacts, name, "switch")
    for name in servers:
        check_device(artifacts, name, "server")
    routes = compute_routes(artifacts, failed or ())
    warn_of(routes.warnings)
    return routes


def warn_unsettled(routes: Routes, prefixes: Iterable[Prefix]) -> None:
    """Warn of prefixes whose routes do not converge."""
    warn_of(
        f"the routes of {prefix} do not converge; this is one of several states"
        for prefix in routes.unsettled(prefixes)
    )


def warn_of(doubts: Iterable[str]) -> None:
    """Print the first few warnings to standard error, and how many more there are."""
    lines = list(doubts)
    for line in lines[:LISTED]:
        warn(line)
    if len(lines) > LISTED:
        warn(f"{len(lines) - LISTED} more; 'ailb-gen validate' lists all")


def rib(
    device: Device,
    prefix: Annotated[str | None, typer.Argument(help="A prefix or an address.", metavar="PREFIX")] = None,
    artifacts: TREE = HERE,
    fail: FAILED = None,
    advertised: Advertised = False,
    as_json: JSON = False,
) -> None:
    """Show every path of a switch to a prefix.

    With its attributes, and why it is not used: * active, # multipath, - hidden.
    """
    from ailb_gen.wording import counted

    routes = routes_of(artifacts, fail, device)
    if advertised:
        _show_advertised(routes, device, prefix, as_json)
        return
    found = routes.rib(device, prefix)
    warn_unsettled(routes, found)
    if as_json:
        body = {str(row): [_as_json(path) for path in paths] for row, paths in found.items() if paths}
        echo_json({"switch": device, "routes": body})
        return
    shown = {row: paths for row, paths in found.items() if paths}
    hidden = sum(path.status == "hidden" for paths in shown.values() for path in paths)
    count = sum(map(len, shown.values()))
    typer.echo(f"{device}: {counted(len(shown), 'destination')}, {counted(count, 'path')} ({hidden} hidden)")
    for row, paths in shown.items():
        typer.echo(f"\n{row} ({len(paths)} {'entry' if len(paths) == 1 else 'entries'})")
        for path in paths:
            echo_wrapped(*((line, None) for line in _lines(path)))


def _lines(path: RibPath) -> list[str]:
    mark, protocol = MARKS[path.status], PROTOCOLS[path.route.protocol]
    if not path.peer:
        return [f" {mark}{protocol}  {path.status}"]
    aigp = "" if path.route.aigp is None else f"   AIGP: {path.route.aigp}"
    med = "" if path.route.med is None else f"   MED: {path.route.med}"
    as_path = " ".join(map(str, path.route.as_path))
    rows = [
        f" {mark}{protocol}  {path.status}, to {path.peer} via {path.interface}, group {path.group}",
        f"    AS path: {as_path} I   Localpref: {path.route.local_preference}{aigp}{med}",
    ]
    if path.route.communities:
        rows.append(f"    Communities: {' '.join(sorted(path.route.communities))}")
    if path.reason:
        rows.append(f"    {'Hidden' if path.status == 'hidden' else 'Inactive'} reason: {path.reason}")
    return rows


def _as_json(path: RibPath) -> dict[str, object]:
    return {
        "protocol": path.route.protocol,
        "status": path.status,
        "reason": path.reason,
        "peer": path.peer,
        "interface": path.interface,
        "group": path.group,
        "as_path": list(path.route.as_path),
        "local_preference": path.route.local_preference,
        "aigp": path.route.aigp,
        "med": path.route.med,
        "communities": sorted(path.route.communities),
    }


def _show_advertised(routes: Routes, device: str, prefix: str | None, as_json: bool) -> None:
    """Print the routes that a switch sends, with their communities and AIGP, by prefix and peer. Raises UsageError."""
    from ailb_gen.api.routes import device_of
    from ailb_gen.wording import counted

    routing, index = routes.view.routing, device_of(routes.view, device)
    colors = {route.prefix: route.color for route in routing.graph.switches[index].routes}
    found = {row: sent for row in routes.prefixes(prefix) if (sent := routing.sent(index, row))}
    warn_unsettled(routes, found)
    if as_json:
        body = {str(row): {"color": colors.get(row), "sent": [*map(_sent_json, sent)]} for row, sent in found.items()}
        echo_json({"switch": device, "advertised": body})
        return
    if not found:
        typer.echo(f"{device}: advertises nothing{f' of {prefix}' if prefix else ''}")
        return
    peers = {one.interface for sent in found.values() for one in sent}
    title = f"{device}: {counted(len(found), 'prefix')} advertised over {counted(len(peers), 'session')}"
    rows = [
        (
            str(row),
            colors.get(row) or "-",
            one.peer,
            one.interface,
            one.color or "-",
            " ".join(sorted(one.route.communities)) or "-",
            "-" if one.route.aigp is None else str(one.route.aigp),
        )
        for row, sent in found.items()
        for one in sent
    ]
    echo_table(title, ("PREFIX", "COLOR", "TO", "INTERFACE", "FABRIC COLOR", "COMMUNITIES", "AIGP"), rows)


def _sent_json(one: SentRoute) -> dict[str, object]:
    return {
        "peer": one.peer,
        "interface": one.interface,
        "group": one.group,
        "color": one.color or None,
        "as_path": list(one.route.as_path),
        "aigp": one.route.aigp,
        "med": one.route.med,
        "communities": sorted(one.route.communities),
    }


def fib(
    device: Device,
    address: Annotated[str | None, typer.Argument(help="An address or a prefix.", metavar="ADDRESS")] = None,
    artifacts: TREE = HERE,
    fail: FAILED = None,
    as_json: JSON = False,
) -> None:
    """Show the next hops of every prefix on a switch.

    For an address, only the longest matching prefix.
    """
    routes = routes_of(artifacts, fail, device)
    found = routes.fib(device, address)
    warn_unsettled(routes, found)
    local = {row for row in found if routes.is_direct(device, row)}
    if as_json:
        echo_json({"switch": device, "routes": _fib_json(found, local)})
        return
    if not found:
        typer.echo(f"{device}: no route to {address}")
        return
    shown: list[tuple[str, str, str]] = []
    for row, hops in found.items():
        shown += [(str(row), hop.interface, hop.peer) for hop in hops]
        if not hops:
            shown.append((str(row), "direct" if row in local else NO_ROUTE, ""))

    def style(row: int, column: int) -> Style | None:
        return Style.FAIL if shown[row][column] == NO_ROUTE else None

    echo_table(f"{device}: forwarding table", ("PREFIX", "INTERFACE", "TO"), shown, style)


def _fib_json(found: dict[Prefix, tuple[NextHop, ...]], local: set[Prefix]) -> dict[str, object]:
    return {
        str(row): {
            "direct": row in local,
            "next_hops": [{"interface": hop.interface, "peer": hop.peer} for hop in hops],
        }
        for row, hops in found.items()
    }
