"""`ailb-host ping`: loss and latency of every address pair of a color, and the switches between the two."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv6Address
from typing import Any, NamedTuple

from .addresses import AddressPair, MissingAddress, Peer, Peers
from .files import PlannedServer, names
from .gids import DEVICES
from .prober import HOP, Answer, PairProbe, Prober

# A path is leaf, spine, leaf: the fourth hop is the target.
HOPS, PATH_ATTEMPTS = 4, 3
# Paths from one source: for more, the leaf's limit of errors to one address takes a quarter of a second each.
PATHS_PER_SOURCE = 8
IGNORED = {
    "foreign": "answer no probe of this run",
    "wrong_source": "came from another address than the target",
    "late": "came too late",
    "duplicate": "answer a probe again",
}
# By the reason that an ICMPv6 error gives; {sender} is who sent it.
REPAIRS = {
    "no route": "check the routes of color {color} on {sender}",
    "address unreachable": "check that {target_nic} of {server} is up, with its address: ailb-host addresses",
    "prohibited by a filter": "check the filters of {sender}",
    "port unreachable": "check the filters of {sender}",
    HOP: "there is a loop at {sender}: check its routes of color {color}",
}
SILENT = "see where it ends: ailb-host ping {server} --path"


class PairResult(NamedTuple):
    """What came of a pair: round trips of the probes answered in us, how many were not, and why if anything says so."""

    pair: AddressPair
    times_us: tuple[float, ...]
    lost: int
    error: str
    check: str

    def __str__(self) -> str:
        pair = self.pair
        ends = f"{pair.source.nic} {pair.source.address} to {pair.peer} {pair.target.nic} {pair.target.address}"
        reason = f": {self.error}" if self.error else ""
        count = f"{self.lost} of {self.lost + len(self.times_us)} probes lost"
        return f"{pair.source.color}: {ends}: {count}{reason}; {self.check}"


class PairPath(NamedTuple):
    """The switches of a pair, None where a hop is silent; spines that its color should take, and if one did not."""

    pair: int
    hops: tuple[IPv6Address | None, ...]
    expected: tuple[str, ...]
    wrong: bool


class PingResult(NamedTuple):
    """A whole run."""

    pairs: list[PairResult]
    missing: list[MissingAddress]
    paths: list[PairPath]
    ignored: dict[str, int]

    @property
    def failed(self) -> bool:
        """Whether anything was lost, is missing, or took another spine."""
        return any(row.lost for row in self.pairs) or bool(self.missing) or any(path.wrong for path in self.paths)


def pairs_of(own: Peer, peers: Iterable[Peer], all_rails: bool) -> list[AddressPair]:
    """Return the pairs of this server with others: the same color, and the same rail unless all are asked for."""
    return [
        AddressPair(source, peer.name, target)
        for peer in peers
        for source in own.addresses
        for target in peer.addresses
        if source.color == target.color and (all_rails or source.rail == target.rail)
    ]


def ping(host: PlannedServer, own: Peer, peers: Peers, options: argparse.Namespace) -> PingResult:
    """Probe all pairs as the options of the command say. Raises HostError without the right to send."""
    pairs = pairs_of(own, peers.servers, options.all_rails)
    dscp = {nic.name: nic.dscp for nic in host.nics}
    prober = Prober(pairs, options.udp, dscp, options.rate, options.timeout)
    try:
        numbers = range(len(pairs))
        # The first packets of a pair wait until neighbors are found, on both ends: they do not count.
        prober.probe([PairProbe(pair, 0) for pair in numbers], options.timeout)
        prober.local_errors.clear()
        prober.probe([PairProbe(pair, n) for n in range(1, options.probes + 1) for pair in numbers], options.timeout)
        rows = [_pair_result(prober, number, pair, options) for number, pair in enumerate(pairs)]
        paths = _paths(prober, rows, peers, options.timeout) if options.path else []
    finally:
        prober.close()
    rails = {nic.rail for nic in host.nics}
    missing = [one for peer in (own, *peers.servers) for one in peer.missing if one.rail in rails or options.all_rails]
    return PingResult(rows, missing, paths, {reason: prober.ignored[reason] for reason in IGNORED})


def _pair_result(prober: Prober, number: int, pair: AddressPair, options: argparse.Namespace) -> PairResult:
    answers = [prober.answers.get(PairProbe(number, probe)) for probe in range(1, options.probes + 1)]
    times = tuple(answer.time_us for answer in answers if answer is not None and not answer.error)
    lost = len(answers) - len(times)
    words = {"color": pair.source.color, "server": pair.peer, "target_nic": pair.target.nic}
    if not lost:
        return PairResult(pair, times, 0, "", "")
    bad = next((answer for answer in answers if answer is not None and answer.error), None)
    if number in prober.local_errors:
        route = f"ip -6 route get {pair.target.address} from {pair.source.address}"
        return PairResult(pair, times, lost, f"cannot be sent: {prober.local_errors[number]}", f"check: {route}")
    if bad is not None:
        repair = REPAIRS.get(bad.error, SILENT).format(sender=bad.sender, **words)
        return PairResult(pair, times, lost, f"{bad.error}, says {bad.sender}", repair)
    check = "compare with ICMPv6, without --udp" if options.udp else SILENT.format(**words)
    return PairResult(pair, times, lost, "", check)


def _paths(prober: Prober, rows: list[PairResult], peers: Peers, timeout_s: float) -> list[PairPath]:
    """Ask every hop of a sample of pairs who it is, some times where there is no answer."""
    sample = sampled(rows)
    for attempt in range(1, PATH_ATTEMPTS + 1):
        walks = {pair: _walk(prober, pair) for pair in sample}
        silent = [(pair, hop) for pair, walk in walks.items() for hop in range(len(walk)) if walk[hop] is None]
        prober.probe([PairProbe(pair, attempt, hop + 1) for pair, hop in silent], timeout_s)
    return [_path(pair, rows[pair].pair, _walk(prober, pair), peers) for pair in sample]


def sampled(rows: Sequence[PairResult]) -> list[int]:
    """Return PATHS_PER_SOURCE pairs of every source: to all prefixes, which switches have routes for, loss first."""
    ranked: dict[IPv6Address, list[tuple[int, bool, int]]] = {}
    count: Counter[tuple[IPv6Address, int, bool]] = Counter()
    for number, row in enumerate(rows):
        source, lost = row.pair.source.address, bool(row.lost)
        route = (source, int(row.pair.target.address) >> 64, lost)
        ranked.setdefault(source, []).append((count[route], not lost, number))
        count[route] += 1
    return sorted(number for pairs in ranked.values() for _, _, number in sorted(pairs)[:PATHS_PER_SOURCE])


def _walk(prober: Prober, pair: int) -> list[Answer | None]:
    """Return the answers of the hops of a pair, None where all are silent, to the first that ends the path."""
    found: list[Answer | None] = []
    for hop_limit in range(1, HOPS + 1):
        attempts = (prober.answers.get(PairProbe(pair, attempt, hop_limit)) for attempt in range(1, PATH_ATTEMPTS + 1))
        found.append(next((answer for answer in attempts if answer is not None), None))
        answer = found[-1]
        if answer is not None and answer.error != HOP:
            break
    return found


def _path(number: int, pair: AddressPair, walk: list[Answer | None], peers: Peers) -> PairPath:
    hops = [IPv6Address(answer.sender) if answer is not None else None for answer in walk]
    while hops and hops[-1] in (None, pair.target.address):
        hops.pop()
    expected = peers.spines.get(pair.source.color, ())
    address = hops[1] if len(hops) > 1 else None
    spine = peers.switches.get(address, "") if address is not None else ""
    return PairPath(number, tuple(hops), expected, bool(spine and expected) and spine not in expected)


def rdma_note(root: str) -> str:
    """Return why there is no probe over RDMA."""
    if not names(root, DEVICES):
        return "RDMA itself is not tried: this server has no RDMA device"
    return "RDMA itself is not tried: ailb-host does not support it"


COLOR_COLUMNS = ("color", "pairs", "probes", "lost", "loss %", "min us", "median us", "max us", "worst pair")
PATH_COLUMNS = ("color", "path", "pairs", "should take")


def by_color(result: PingResult) -> list[dict[str, Any]]:
    """Return loss and latency of every color, in the order of the plan; `worst` is the number of a pair."""
    colors: dict[str, list[int]] = {}
    for number, row in enumerate(result.pairs):
        colors.setdefault(row.pair.source.color, []).append(number)
    return [_color(color, numbers, result.pairs) for color, numbers in colors.items()]


def _color(color: str, numbers: list[int], pairs: Sequence[PairResult]) -> dict[str, Any]:
    own = [pairs[number] for number in numbers]
    times = sorted(time for row in own for time in row.times_us)
    lost = sum(row.lost for row in own)
    probes = lost + len(times)
    shown = [round(time, 1) for time in (times[0], times[len(times) // 2], times[-1])] if times else [None] * 3
    return {
        "color": color,
        "pairs": len(own),
        "probes": probes,
        "lost": lost,
        "loss_percent": round(100 * lost / probes, 2),
        **dict(zip(("min_us", "median_us", "max_us"), shown)),
        "worst": max(numbers, key=lambda number: (pairs[number].lost, max(pairs[number].times_us, default=0.0))),
    }


def color_rows(result: PingResult) -> list[list[str]]:
    """Return a row of COLOR_COLUMNS for every color."""
    rows = []
    for row in by_color(result):
        worst = result.pairs[row.pop("worst")].pair
        cells = ["-" if cell is None else str(cell) for cell in row.values()]
        rows.append([*cells, f"{worst.source.nic} to {worst.peer} {worst.target.nic}"])
    return rows


def path_rows(result: PingResult, peers: Peers) -> list[list[str]]:
    """Return a row of PATH_COLUMNS for every color and path."""
    count: Counter[tuple[str, str, str]] = Counter()
    for path in result.paths:
        hops = [peers.switches.get(hop, str(hop)) if hop is not None else "*" for hop in path.hops]
        color = result.pairs[path.pair].pair.source.color
        count[color, " ".join(hops) or "-", " or ".join(path.expected) or "-"] += 1
    return [[color, hops, str(pairs), expected] for (color, hops, expected), pairs in count.items()]


def findings(result: PingResult, peers: Peers) -> Iterator[str]:
    """Iterate over lines: pairs with loss, missing addresses, wrong spines, and packets that were ignored."""
    yield from (str(row) for row in result.pairs if row.lost)
    yield from map(str, result.missing)
    for path in result.paths:
        spine = path.hops[1] if path.wrong else None
        if spine is not None:
            pair = result.pairs[path.pair].pair
            color, expected = pair.source.color, " or ".join(path.expected)
            ends = f"{pair.source.nic} to {pair.peer} {pair.target.nic}"
            yield f"{color}: {ends} takes {peers.switches[spine]}, not {expected}; check the session of color {color}"
    if 0 < len(result.paths) < len(result.pairs):
        sample = f"{PATHS_PER_SOURCE} from each address, to all prefixes, with loss first"
        yield f"note: paths of {len(result.paths)} of {len(result.pairs)} pairs: {sample}; for others name servers"
    for reason, count in result.ignored.items():
        if count:
            yield f"note: {count} packets were ignored: they {IGNORED[reason]}"


def as_json(result: PingResult, own: Peer, peers: Peers, over: str, rdma: str) -> dict[str, Any]:
    """Return the whole run; docs/how-to/ping-servers.md has its keys."""

    def hop(address: IPv6Address | None) -> dict[str, str] | None:
        return {"address": str(address), "switch": peers.switches.get(address, "")} if address is not None else None

    return {
        "server": own.name,
        "over": over,
        "rdma": rdma,
        "colors": by_color(result),
        "pairs": [_pair_json(row) for row in result.pairs],
        "missing": [one._asdict() for one in result.missing],
        "ignored": result.ignored,
        "paths": [{**path._asdict(), "hops": [hop(address) for address in path.hops]} for path in result.paths],
    }


def _pair_json(row: PairResult) -> dict[str, Any]:
    source, target = row.pair.source, row.pair.target
    return {
        "nic": source.nic,
        "rail": source.rail,
        "color": source.color,
        "source": str(source.address),
        "server": row.pair.peer,
        "target_nic": target.nic,
        "target_rail": target.rail,
        "target": str(target.address),
        "probes": row.lost + len(row.times_us),
        "lost": row.lost,
        "times_us": [round(time, 1) for time in row.times_us],
        "error": row.error,
        "check": row.check,
    }
