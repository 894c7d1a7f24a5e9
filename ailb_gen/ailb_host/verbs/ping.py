"""The verb `ping`: probe the addresses of peers, and print loss and latency by color."""

from __future__ import annotations

import argparse
import json
import sys

from .. import ping
from ..addresses import read_peers, this_server
from ..console import DIFFERENT, OK, note, number, report, table
from ..files import HostError, load_host


def add_ping(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    verb = verbs.add_parser("ping", help="loss and latency to servers, for every pair of addresses of a color")
    verb.add_argument("servers", nargs="*", metavar="SERVER", help="servers of the peers file; default: all of it")
    peers = "what 'ailb-host addresses --json' prints on each peer; default: -, standard input"
    verb.add_argument("--peers", default="-", metavar="FILE", help=peers)
    verb.add_argument("--all-rails", action="store_true", help="also to NICs of other rails")
    verb.add_argument("--udp", action="store_true", help="UDP port 4791, that of RoCE, with its DSCP; default: ICMPv6")
    verb.add_argument("--path", action="store_true", help="name the switches between, and the spine of the color")
    verb.add_argument("--probes", type=number(1, 10_000), default=3, metavar="N", help="probes per pair (3)")
    rate = "probes per second in all (5000)"
    verb.add_argument("--rate", type=number(1, 1_000_000), default=5000, metavar="N", help=rate)
    timeout = "seconds after which an answer counts as lost (1)"
    verb.add_argument("--timeout", type=number(0.001, 60, float), default=1.0, metavar="S", help=timeout)
    verb.add_argument("--json", action="store_true", help="print JSON")
    verb.set_defaults(run=probe)


def probe(arguments: argparse.Namespace) -> int:
    """Probe the addresses of peers, and print loss and latency by color."""
    host = load_host(arguments.root)
    own, peers = this_server(host, arguments.root), read_peers(arguments.peers)
    unknown = sorted(set(arguments.servers) - {peer.name for peer in peers.servers})
    if unknown:
        raise HostError(
            f"the peers file has no {', '.join(unknown)}; add the output of 'ailb-host addresses --json' there"
        )
    if not own.addresses:
        reason = own.missing[0] if own.missing else "its file names no NIC"
        raise HostError(f"no color has a usable address here; {reason}")
    mine = set(own.addresses)
    others = [peer for peer in peers.servers if mine.isdisjoint(peer.addresses)]
    chosen = tuple(peer for peer in others if peer.name in arguments.servers or not arguments.servers)
    peers = peers._replace(servers=chosen)
    result = ping.ping(host, own, peers, arguments)
    paired = {row.pair.peer for row in result.pairs} | {one.server for one in result.missing}
    alone = ", ".join(peer.name for peer in chosen if peer.name not in paired)
    if not result.pairs or (alone and arguments.servers):
        reason = f"this server has no color and rail in common with {alone or 'a peer'}"
        raise HostError(f"{reason}; see there: ailb-host addresses; or use --all-rails")
    rdma = ping.rdma_note(arguments.root)
    if arguments.json:
        print(json.dumps(ping.as_json(result, own, peers, "udp" if arguments.udp else "icmpv6", rdma), indent=2))
    else:
        print("\n".join(table(ping.COLOR_COLUMNS, ping.color_rows(result))))
        if arguments.path:
            print("\n".join(["", *table(ping.PATH_COLUMNS, ping.path_rows(result, peers))]))
        print(f"\n{rdma}")
        sys.stdout.flush()
        report(ping.findings(result, peers))
        if alone:
            note(f"note: not probed, without a color and rail in common: {alone}")
    return DIFFERENT if result.failed else OK
