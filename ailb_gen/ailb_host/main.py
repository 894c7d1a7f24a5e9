"""The command line of `ailb-host`.

Exit codes: 0 as planned; 1 something differs from the plan; 2 wrong arguments; 3 no answer is possible.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from . import ping
from .addresses import as_json, read_peers, this_server
from .environment import first_color_index, with_index
from .files import HostError, PlannedServer, load_host
from .gids import RdmaPort, findings, own_addresses, read_ports
from .traffic import add_parser as add_traffic

OK, DIFFERENT, INCOMPLETE = 0, 1, 3


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table with aligned columns."""
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    lines = [head, ["-" * width for width in widths], *rows]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]


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
        print(json.dumps(as_json(own)))
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
