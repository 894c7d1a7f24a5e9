"""`ailb-gen watch`: drift and verification again and again; prints what changes."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ailb_gen.cli import options
from ailb_gen.cli.console import echo_wrapped, notify, say_verbose
from ailb_gen.cli.live import minutes, progress
from ailb_gen.cli.steady import steady, unwritable, write_now
from ailb_gen.errors import ExitCode, OutputError, UsageError
from ailb_gen.paint import Style
from ailb_gen.signals import Signals
from ailb_gen.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ailb_gen.deploy.watching.changes import WatchChange
    from ailb_gen.deploy.watching.rounds import WatchReport

# Seconds of the units of an interval, and the longest one.
UNITS = {"s": 1, "m": 60, "h": 3600}
INTERVAL = re.compile(r"([0-9]{1,6})([smh])")
LONGEST_S = 86_400
# The address that metrics are served at unless another is given: nobody else can read them.
LOOPBACK = "127.0.0.1"
LISTEN = re.compile(r"(?:(?P<address>\[[0-9a-fA-F:.%]+\]|[0-9.]+):)?(?P<port>[0-9]{1,5})")
# Lines of a report; more changes are counted.
LINES = 50
# The version of a line of JSON.
VERSION = 1

EVERY = Annotated[str, typer.Option("--every", help="Time from one round to the next: 30s, 5m, 1h.", metavar="TIME")]
ROUNDS = Annotated[
    int | None,
    typer.Option("--rounds", min=1, help=options.ROUNDS_HELP, metavar="N", show_default="until a signal comes"),
]
DEADLINE = Annotated[
    str, typer.Option("--deadline", help="Time that reading one device may take: 90s, 5m.", metavar="TIME")
]
LISTENING = Annotated[
    str | None,
    typer.Option(
        "--listen",
        help="Serve metrics for Prometheus here, without TLS and login; a port alone is one of 127.0.0.1.",
        metavar="[ADDRESS:]PORT",
    ),
]


def watch(
    fabric: options.FABRIC,
    artifacts: options.ARTIFACTS,
    inventory: options.INVENTORY = None,
    every: EVERY = "5m",
    rounds: ROUNDS = None,
    deadline: DEADLINE = "5m",
    listen: LISTENING = None,
    limit: options.LIMIT = None,
    as_json: options.JSON = False,
    driver: options.DRIVER = "napalm",
    jobs: options.JOBS = 32,
    accept_new_hostkeys: options.ACCEPT = False,
) -> None:
    """Run drift and verify again and again; print what changes.

    A device that does not answer delays no other. Files that change count from the next round on. JSON is a line for
    every change.

    Exit codes: 0 stopped by a signal, or no finding after the last round; 1 findings or a device that does not answer
    after the last round, 2 bad input, 3 metrics cannot be served there, or standard output cannot be written.
    """
    from ailb_gen.api.watch import watch as watching

    every_s, deadline_s = seconds("--every", every), seconds("--deadline", deadline)
    where = listening(listen) if listen is not None else None
    last: WatchReport | None = None
    with steady(), Signals(_stopping).handled() as signals:
        with watching(
            fabric,
            artifacts,
            every_s=every_s,
            rounds=rounds,
            deadline_s=deadline_s,
            inventory=inventory,
            limit=limit or (),
            driver=driver,
            jobs=jobs,
            accept_new_hostkeys=accept_new_hostkeys,
            listen=where,
            signals=signals,
            warn=notify,
            progress=progress,
        ) as found:
            if found.port is not None:
                notify(f"metrics: http://{_host(where[0] if where else LOOPBACK)}:{found.port}/metrics")
            for report in found.rounds():
                last = report
                _show(report, as_json, every if rounds != report.number else "")
                if (error := unwritable()) is not None:
                    raise OutputError(f"standard output: {error.strerror}; the watch has ended")
        if signals():
            return
        if last is not None and not last.well:
            raise typer.Exit(ExitCode.FINDINGS)


def _stopping(count: int) -> None:
    if count == 1:
        write_now("ailb-gen: stopping: connections are being closed")


def seconds(option: str, text: str) -> int:
    """Return the seconds of a time of an option. Raises UsageError."""
    found = INTERVAL.fullmatch(text.strip())
    value = int(found[1]) * UNITS[found[2]] if found is not None else 0
    if not 0 < value <= LONGEST_S:
        raise UsageError(f"{option} {text!r}: write a number and its unit, s, m or h, from 1s to 24h, such as 5m")
    return value


def listening(text: str) -> tuple[str, int]:
    """Return address and port of an option. Raises UsageError."""
    found = LISTEN.fullmatch(text.strip())
    if found is None or int(found["port"]) > 65535:
        raise UsageError(f"--listen {text!r}: write a port, or ADDRESS:PORT, such as 9477, 10.0.0.5:9477 or [::1]:9477")
    return (found["address"] or LOOPBACK).strip("[]"), int(found["port"])


def _host(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _show(report: WatchReport, as_json: bool, following: str) -> None:
    """Print the changes of a report; after the first round also how things stand."""
    now = time.time()
    if as_json:
        for change in report.changes:
            typer.echo(json.dumps({"version": VERSION, "time": _time(now), "round": report.number, **_row(change)}))
    else:
        echo_wrapped(*_lines(report, now))
    tell = notify if report.number == 1 and report.whole else say_verbose
    if report.whole:
        answered = f"{report.read:,} of {counted(report.devices, 'device')} read in {minutes(report.seconds)}"
        late = report.devices - report.read - report.silent
        parts = [answered, counted(report.findings, "finding")]
        parts += [f"{report.silent:,} not answering"] if report.silent else []
        parts += [f"{late:,} still being read"] if late else []
        tell(f"round {report.number}: {', '.join(parts)}{f'; the next one in {following}' if following else ''}")


def _row(change: WatchChange) -> dict[str, Any]:
    from ailb_gen.deploy.watching.hooks import change_row

    return change_row(change)


def _lines(report: WatchReport, now: float) -> Iterator[tuple[str, Style | None]]:
    from ailb_gen.deploy.watching.changes import ChangeKind

    good = (ChangeKind.WENT, ChangeKind.ANSWERS, ChangeKind.FILES)
    for change in report.changes[:LINES]:
        about = " ".join(filter(None, (change.device, change.check, change.severity)))
        since = ""
        if change.since is not None:
            since = f" after {minutes(now - change.since)}" if change.kind is ChangeKind.ANSWERS else _since(change)
        text = f"{change.kind}{since}"
        parts = ": ".join(filter(None, (about, text, change.message)))
        yield f"{_time(now)} {parts}", Style.PASS if change.kind in good else Style.FAIL
    left = len(report.changes) - LINES
    if left > 0:
        yield f"{_time(now)} and {counted(left, 'more change')}; --json prints all", Style.WARN


def _since(change: WatchChange) -> str:
    return f" since {_time(change.since or 0.0)}"


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
