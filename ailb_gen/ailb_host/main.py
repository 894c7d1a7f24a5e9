"""The command line of `ailb-host`.

Exit codes: 0 as planned; 1 something differs from the plan; 2 wrong arguments; 3 no answer is possible.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import ping
from .addresses import as_json as addresses_json
from .addresses import read_peers, this_server
from .counters import Reading, find_ethtool, read
from .counters_report import as_json, as_table, metrics, write_textfile
from .environment import first_color_index, with_index
from .files import HostError, PlannedServer, load_host
from .gids import RdmaPort, findings, mac_of, own_addresses, read_ports
from .text import table
from .traffic import add_parser as add_traffic

OK, DIFFERENT, INCOMPLETE = 0, 1, 3


def gids(arguments: argparse.Namespace) -> int:
    """Print the GID tables, or the environment that follows from them."""
    host = load_host(arguments.root)
    ports = read_ports(arguments.root)
    if arguments.env:
        if not host.environment:
            raise HostError("this server has no GPUs, and no environment of NCCL")
        index = first_color_index(host, ports, arguments.root)
        print("\n".join(with_index(host.environment, index)))
        return OK
    found, rows = findings(host, ports, arguments.root), _rows(host, ports, arguments.root)
    if arguments.json:
        print(json.dumps({"gids": rows, "findings": [one._asdict() for one in found]}, indent=2))
    else:
        print("\n".join(table(COLUMNS, [[str(row[key]) for key in COLUMNS] for row in rows])))
        for one in found:
            print(f"ailb-host: {one}", file=sys.stderr)
    return DIFFERENT if found else OK


COLUMNS = ("nic", "port", "state", "index", "color", "address", "version")


def _rows(host: PlannedServer, ports: list[RdmaPort], root: str) -> list[dict[str, Any]]:
    nics = {nic.rdma: nic for nic in host.nics}
    colors = {
        (nic.rdma, address): color.name
        for nic in host.nics
        for color, address in zip(nic.colors, own_addresses(nic, root))
    }
    return [
        {
            "nic": gid.netdev or (nics[port.device].name if port.device in nics else "-"),
            "port": port.name,
            "state": port.state,
            "index": gid.gid_index,
            "color": colors.get((port.device, gid.address), "-"),
            "address": str(gid.address.ipv4_mapped or gid.address),
            "version": gid.version or "-",
        }
        for port in ports
        for gid in port.gids
    ]


def addresses(arguments: argparse.Namespace) -> int:
    """Print the addresses that this server can send from now."""
    own = this_server(load_host(arguments.root), arguments.root)
    if arguments.json:
        print(json.dumps(addresses_json(own)))
    else:
        rows = [(one.nic, str(one.rail), one.color, str(one.address)) for one in own.addresses]
        print("\n".join(table(("nic", "rail", "color", "address"), rows)))
    return OK


def probe(arguments: argparse.Namespace) -> int:
    """Probe the addresses of peers, and print loss and latency by color."""
    host = load_host(arguments.root)
    own, peers = this_server(host, arguments.root), read_peers(arguments.peers)
    unknown = sorted(set(arguments.servers) - {peer.name for peer in peers.servers})
    if unknown:
        raise HostError(
            f"the peers file has no {', '.join(unknown)}; add the output of 'ailb-host addresses --json' there"
        )
    others = [peer for peer in peers.servers if not set(peer.addresses) & set(own.addresses)]
    chosen = tuple(peer for peer in others if peer.name in arguments.servers or not arguments.servers)
    peers = peers._replace(servers=chosen)
    result = ping.ping(host, own, peers, arguments)
    if not result.pairs:
        raise HostError(
            "no address of this server has a color and a rail in common with one of a peer; see: ailb-host addresses"
        )
    note = ping.rdma_note(arguments.root)
    if arguments.json:
        print(json.dumps(ping.as_json(result, own, peers, "udp" if arguments.udp else "icmpv6", note), indent=2))
    else:
        print("\n".join(table(ping.COLOR_COLUMNS, ping.color_rows(result))))
        if arguments.path:
            print("\n".join(["", *table(ping.PATH_COLUMNS, ping.path_rows(result, peers))]))
        print(f"\n{note}")
        sys.stdout.flush()
        for line in ping.findings(result, peers):
            print(f"ailb-host: {line}", file=sys.stderr)
    return DIFFERENT if result.failed else OK


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
            _note(f"{nic}: there is no such interface; check its name and driver: ip link")
        if arguments.textfile:
            write_textfile(arguments.textfile, metrics(host, after, root))
        elif before is not None or arguments.interval is None:
            _print_whole(report(host, before, after, root))
    return DIFFERENT if missing else OK


def _readings(host: PlannedServer, arguments: argparse.Namespace) -> Iterator[tuple[Reading | None, Reading]]:
    """Yield readings, each with the one before it, at a pace that does not depend on the time of reading."""
    ethtool, before, due = find_ethtool(arguments.root), None, time.monotonic()
    for number in itertools.count():
        after = read(host, arguments.root, ethtool)
        if after.silent:
            _note(f"{ethtool} did not answer for {', '.join(after.silent)}; going on without pauses and port discards")
            ethtool = ""
        yield before, after
        if arguments.interval is None or number == arguments.count:
            return
        before, due = after, max(due + arguments.interval, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))


def _note(text: str) -> None:
    print(f"ailb-host: {text}", file=sys.stderr, flush=True)


def _print_whole(text: str) -> None:
    """Print a text that Ctrl-C does not cut: the signal arrives after it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        print(text, flush=True)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def interval(text: str) -> float:
    """Read an argument for argparse, which names this function in its error, as it does those below."""
    value = float(text)
    if not 0.1 <= value <= 86_400:
        raise argparse.ArgumentTypeError(f"{text} is not between 0.1 and 86400 seconds")
    return value


def count(text: str) -> int:
    """Read a number of intervals."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return value


def textfile(text: str) -> str:
    """Read the name of a file for the node exporter."""
    if not text.endswith(".prom"):
        raise argparse.ArgumentTypeError(f"{text} does not end in .prom: the node exporter would not read it")
    return text


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    result = argparse.ArgumentParser(prog="ailb-host", description="What a GPU server sees of its fabric.")
    result.add_argument("--root", default="/", metavar="DIR", help="read /sys, /proc and /etc below DIR instead")
    verbs = result.add_subparsers(dest="verb", metavar="VERB")
    verb = verbs.add_parser("gids", help="GIDs of all RDMA devices, their colors, and what is wrong with them")
    what = verb.add_mutually_exclusive_group()
    what.add_argument("--env", action="store_true", help="print the variables of NCCL and UCX with the GID index found")
    what.add_argument("--json", action="store_true", help="print JSON")
    verb.set_defaults(run=gids)
    verb = verbs.add_parser("addresses", help="addresses of this server by color, as others need them for ping")
    verb.add_argument("--json", action="store_true", help="print JSON, for --peers of ping")
    verb.set_defaults(run=addresses)
    _add_ping(verbs.add_parser("ping", help="loss and latency to servers, for every pair of addresses of a color"))
    _add_counters(verbs)
    add_traffic(verbs)
    return result


def _add_ping(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("servers", nargs="*", metavar="SERVER", help="servers of the peers file; default: all of it")
    peers = "what 'ailb-host addresses --json' prints on each peer; default: -, standard input"
    verb.add_argument("--peers", default="-", metavar="FILE", help=peers)
    verb.add_argument("--all-rails", action="store_true", help="also to NICs of other rails")
    verb.add_argument("--udp", action="store_true", help="UDP port 4791, that of RoCE, with its DSCP; default: ICMPv6")
    verb.add_argument("--path", action="store_true", help="name the switches between, and the spine of the color")
    verb.add_argument("--probes", type=_number(1, 10_000), default=3, metavar="N", help="probes per pair (3)")
    rate = "probes per second in all (5000)"
    verb.add_argument("--rate", type=_number(1, 1_000_000), default=5000, metavar="N", help=rate)
    timeout = "seconds after which an answer counts as lost (1)"
    verb.add_argument("--timeout", type=_number(0.001, 60, float), default=1.0, metavar="S", help=timeout)
    verb.add_argument("--json", action="store_true", help="print JSON")
    verb.set_defaults(run=probe)


def _number(low: float, high: float, kind: Callable[[str], float] = int) -> Callable[[str], float]:
    """Return a type of argparse: a number in a range."""

    def parse(text: str) -> float:
        try:
            number = kind(text)
        except ValueError:
            number = low - 1
        if not low <= number <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from {low} to {high}")
        return number

    return parse


def _add_counters(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = verbs.add_parser(
        "counters",
        help="bytes, congestion, loss and pauses of all NICs",
        description="Counters of all NICs and their RDMA devices; - is a counter that a NIC does not have. NICs do not "
        "count by color: look at the uplinks of the leaf.",
    )
    verb.add_argument("--interval", type=interval, metavar="S", help="print rates every S seconds until Ctrl-C")
    verb.add_argument("--count", type=count, metavar="N", help="stop after N intervals")
    what = verb.add_mutually_exclusive_group()
    what.add_argument("--json", action="store_true", help="print JSON, with --interval a line every time")
    what.add_argument("--textfile", type=textfile, metavar="FILE", help="write FILE for the node exporter instead")
    verb.set_defaults(run=counters, error=verb.error)


def main(words: Sequence[str] | None = None) -> int:
    """Run a verb, and return the exit code."""
    arguments = parser().parse_args(words)
    if arguments.verb is None:
        parser().print_usage(sys.stderr)
        return 2
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except HostError as error:
        print(f"ailb-host: {error}", file=sys.stderr)
        return INCOMPLETE
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Python flushes once more at its end, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
