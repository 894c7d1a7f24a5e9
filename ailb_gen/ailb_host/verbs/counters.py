"""The verb `counters`: read once or at intervals, and print or write what was read."""

from __future__ import annotations

import argparse
import itertools
import signal
import time
from collections.abc import Iterator

from ..console import DIFFERENT, OK, note, number, unbroken
from ..counters import CounterReading, find_ethtool, read
from ..counters_report import as_json, as_table, metrics, write_textfile
from ..files import PlannedServer, load_host
from ..gids import mac_of


def add_counters(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    verb = verbs.add_parser(
        "counters",
        help="bytes, congestion, loss and pauses of all NICs",
        description="Counters of all NICs and their RDMA devices; - is a counter that a NIC does not have. NICs do not "
        "count by color: look at the uplinks of the leaf.",
    )
    verb.add_argument(
        "--interval", type=number(0.1, 86_400, float), metavar="S", help="print rates every S seconds until Ctrl-C"
    )
    verb.add_argument("--count", type=number(1, 1_000_000_000), metavar="N", help="stop after N intervals")
    what = verb.add_mutually_exclusive_group()
    what.add_argument("--json", action="store_true", help="print JSON, with --interval a line every time")
    what.add_argument("--textfile", type=textfile, metavar="FILE", help="write FILE for the node exporter instead")
    verb.set_defaults(run=counters, error=verb.error)


def counters(arguments: argparse.Namespace) -> int:
    """Print the counters of all NICs, once or as rates, or write them to a file for the node exporter."""
    if arguments.count is not None and arguments.interval is None:
        arguments.error("--count needs --interval")
    host, root = load_host(arguments.root), arguments.root
    report = as_json if arguments.json else as_table
    missing: set[str] = set()
    for before, after in _readings(host, arguments):
        for nic in [nic.name for nic in host.nics if not mac_of(nic, root) and nic.name not in missing]:
            missing.add(nic)
            note(f"{nic}: there is no such interface; check its name and driver: ip link")
        if arguments.textfile:
            # What is stopped in the middle would leave a file behind.
            with unbroken(signal.SIGINT, signal.SIGTERM):
                write_textfile(arguments.textfile, metrics(host, after, root))
        elif before is not None or arguments.interval is None:
            # Ctrl-C does not cut a table.
            with unbroken(signal.SIGINT):
                print(report(host, before, after, root), flush=True)
    return DIFFERENT if missing else OK


def _readings(
    host: PlannedServer, arguments: argparse.Namespace
) -> Iterator[tuple[CounterReading | None, CounterReading]]:
    """Yield readings, each with the one before it, at a pace that does not depend on the time of reading."""
    ethtool, before, due = find_ethtool(arguments.root), None, time.monotonic()
    for done in itertools.count():
        after = read(host, arguments.root, ethtool)
        if after.silent:
            note(f"{ethtool} did not answer for {', '.join(after.silent)}; going on without pauses and port discards")
            ethtool = ""
        yield before, after
        if arguments.interval is None or done == arguments.count:
            return
        before, due = after, max(due + arguments.interval, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))


def textfile(text: str) -> str:
    """Read the name of a file for the node exporter; argparse names this function in its error."""
    if not text.endswith(".prom"):
        raise argparse.ArgumentTypeError(f"{text} does not end in .prom: the node exporter would not read it")
    return text
