"""The command line of `ailb-host`.

Exit codes: 0 as planned; 1 something differs from the plan; 2 wrong arguments; 3 no answer is possible.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from .addresses import as_json, own, read_peers
from .environment import first_color_index, with_index
from .files import HostError, PlannedServer, load_host
from .gids import RdmaPort, findings, own_addresses, read_ports
from .ping import COLOR_COLUMNS, by_color, losses, pairs_of, ping, run_json
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
    peer = own(load_host(arguments.root), arguments.root)
    if arguments.json:
        print(json.dumps(as_json(peer)))
    else:
        rows = [(one.nic, str(one.rail), one.color, str(one.address)) for one in peer.addresses]
        print("\n".join(table(("nic", "rail", "color", "address"), rows)))
    return OK


def probe(arguments: argparse.Namespace) -> int:
    """Probe the addresses of peers, and print what came of it by color."""
    here = own(load_host(arguments.root), arguments.root)
    peers = [peer for peer in read_peers(arguments.peers) if peer.name != here.name]
    unknown = sorted(set(arguments.servers) - {peer.name for peer in peers})
    if unknown:
        raise HostError(f"{arguments.peers} has no {', '.join(unknown)}")
    chosen = [peer for peer in peers if peer.name in arguments.servers or not arguments.servers]
    pairs = pairs_of(here, chosen, arguments.all_rails)
    if not pairs:
        raise HostError(f"no address of this server has a color and rail in common with one in {arguments.peers}")
    done = ping(pairs, arguments.probes, arguments.rate, arguments.timeout)
    if arguments.json:
        print(json.dumps(run_json(done), indent=2))
    else:
        print("\n".join(table(COLOR_COLUMNS, by_color(done.results))))
        for line in losses(done):
            print(f"ailb-host: {line}", file=sys.stderr)
    return DIFFERENT if any(row.lost for row in done.results) else OK


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
    verb = verbs.add_parser("addresses", help="addresses of this server by color: what others need for ping")
    verb.add_argument("--json", action="store_true", help="print JSON, for --peers of ping")
    verb.set_defaults(run=addresses)
    verb = verbs.add_parser("ping", help="probe every address of servers from the one of the same color, over ICMPv6")
    verb.add_argument("servers", nargs="*", metavar="SERVER", help="servers in the file of peers; default: all")
    verb.add_argument("--peers", required=True, metavar="FILE", help="what 'addresses --json' printed there; - is stdin")
    verb.add_argument("--all-rails", action="store_true", help="also to NICs of other rails")
    verb.add_argument("--probes", type=_count, default=3, metavar="N", help="probes for each pair (3)")
    verb.add_argument("--rate", type=_count, default=5000, metavar="N", help="probes a second in all (5000)")
    verb.add_argument("--timeout", type=float, default=1.0, metavar="S", help="seconds to wait for the last answer (1)")
    verb.add_argument("--json", action="store_true", help="print JSON")
    verb.set_defaults(run=probe)
    add_traffic(verbs)
    return result


def _count(text: str) -> int:
    """Return a number from 1 up. Raises ValueError, which argparse reports."""
    number = int(text)
    if not 1 <= number <= 1_000_000:
        raise ValueError(text)
    return number


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
