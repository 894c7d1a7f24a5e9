"""Collectives as messages: sender, receiver, size and predecessors.

A collective is done by G equal groups at once: `ranks` has shape (G, n), the host of every rank, in the order of the
ring or tree. `size` is what nccl-tests calls the size, in bytes: the whole vector for all-reduce and broadcast; all
n parts together for reduce-scatter, all-gather and all-to-all; what one rank sends for incast (all others to the
first rank) and permutation.

With `per_server` g > 1 each g ranks after another are GPUs of one server, each with a NIC (host) of its own. Inside a
server data takes no time (NVLink), and between servers it stays on its rail, as NCCL does it on fabrics with one leaf
per rail: rail i carries 1/g of the vector, from NIC i to NIC i.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ailb_gen.errors import UsageError
from ailb_gen.sim.fabric import Int64
from ailb_gen.sim.traffic import counts, pairs, rings, trees
from ailb_gen.sim.traffic.builder import NOTHING, Builder, Job, Numbers, spread
from ailb_gen.sim.traffic.counts import Count
from ailb_gen.sim.traffic.options import Options, Ranks
from ailb_gen.wording import did_you_mean

Make = Callable[[Builder, Job, Ranks, Int64, Options, Numbers], Int64]


@dataclass(frozen=True, slots=True)
class Algorithm:
    """A way to do a collective: `make(builder, job, ranks (G, n), size (G,), options, after)` returns the ends, (G,).

    `count` says how many messages a group has, and how large they are at least. `options` are the ones that it has
    besides `per_server`. `rails`: how it handles servers of several GPUs: "own", "each": it runs once per rail, on 1/g
    of the vector; "none": not at all. `at_once` is its default.
    """

    name: str
    make: Make
    count: Count
    text: str
    options: tuple[str, ...] = ()
    rails: str = "none"
    at_once: bool = False


PLAIN = Options()
_RING = ("slices", "at_once", "rounds", "stream")
COLLECTIVES = {
    "all-reduce": (
        Algorithm("ring", rings.all_reduce, counts.ring(2), "reduce-scatter and all-gather along a ring", _RING, "own"),
        Algorithm("tree", trees.all_reduce, counts.double_tree, "double binary tree", ("slices", "at_once"), "each"),
        Algorithm(
            "halving-doubling",
            trees.halving_doubling,
            counts.halving_doubling,
            "recursive halving and doubling",
            (),
            "each",
        ),
    ),
    "reduce-scatter": (Algorithm("ring", rings.reduce_scatter, counts.ring(1), "along a ring", _RING, "own"),),
    "all-gather": (Algorithm("ring", rings.all_gather, counts.ring(1), "along a ring", _RING, "own"),),
    "all-to-all": (
        Algorithm(
            "direct",
            pairs.all_to_all,
            counts.all_to_all,
            "every pair of ranks",
            ("at_once", "pxn"),
            "own",
            at_once=True,
        ),
    ),
    "broadcast": (
        Algorithm("chain", rings.broadcast, counts.chain, "from rank to rank", ("slices", "at_once"), "each"),
    ),
    "incast": (Algorithm("direct", pairs.incast, counts.incast, "all others to the first rank", (), at_once=True),),
    "permutation": (
        Algorithm(
            "direct", pairs.permutation, counts.permutation, "every rank to one other", ("shift", "seed"), at_once=True
        ),
    ),
}


def append(
    builder: Builder,
    job: Job,
    collective: str,
    ranks: Ranks,
    size: int,
    options: Options = PLAIN,
    algorithm: str | None = None,
    after: Numbers = NOTHING,
) -> Int64:
    """Append a collective of G groups, `ranks` of shape (G, n) or (n,); return the tasks that end it, shape (G,).

    `algorithm`: None is the first one in the table. `after`: the task, or one per group, shape (G,), that it waits
    for. Raises UsageError for names, options, ranks and sizes that cannot be.
    """
    way = find(collective, algorithm)
    groups = np.atleast_2d(np.asarray(ranks))
    _check(collective, way, groups, size, options)
    count, n = groups.shape
    per_server = options.per_server
    asked = replace(options, at_once=way.at_once if options.at_once is None else options.at_once)
    if per_server == 1 or way.rails == "own":
        return way.make(builder, job, groups, np.full(count, size, dtype=np.int64), asked, after)
    rails = groups.reshape(count, n // per_server, per_server).swapaxes(1, 2).reshape(-1, n // per_server)
    begin = np.repeat(np.broadcast_to(np.asarray(after), (count,)), per_server)
    share = np.tile(spread(size, per_server), count)
    ends = way.make(builder, job, rails, share, replace(asked, per_server=1), begin)
    return builder.barriers(ends.reshape(count, per_server), job, collective)


def messages_of(
    collective: str, n: int, size: int, options: Options = PLAIN, algorithm: str | None = None
) -> tuple[int, int, bool]:
    """Return how many messages `append` makes for a group of n ranks, their least size, and whether all go at once.

    What cannot be, such as one rank, has no messages. Raises UsageError for names.
    """
    way = find(collective, algorithm)
    at_once = way.at_once if options.at_once is None else options.at_once
    rails = 1 if way.rails == "own" else options.per_server
    ranks = n // rails
    if ranks < 2 or n < 2 * options.per_server:
        return 0, 0, at_once
    count, least = way.count(ranks, size // rails, options if rails == 1 else replace(options, per_server=1))
    return count * rails, least, at_once


def find(collective: str, algorithm: str | None = None) -> Algorithm:
    """Return an algorithm of a collective, without a name the first one; raises UsageError for unknown names."""
    if collective not in COLLECTIVES:
        hint = did_you_mean(collective, COLLECTIVES) or f"known: {', '.join(COLLECTIVES)}"
        raise UsageError(f"unknown collective {collective!r}; {hint}")
    ways = {way.name: way for way in COLLECTIVES[collective]}
    if algorithm is None:
        return COLLECTIVES[collective][0]
    if algorithm not in ways:
        raise UsageError(f"unknown algorithm {algorithm!r} of {collective}; known: {', '.join(ways)}")
    return ways[algorithm]


def bus_factor(collective: str, n: int) -> float:
    """Return bus bandwidth over algorithm bandwidth (size over time) of n ranks: PERFORMANCE.md of nccl-tests.

    A permutation is its sendrecv. Incast, which it does not have, counts what the target receives.
    """
    find(collective)
    factors = {
        "all-reduce": 2 * (n - 1) / n,
        "broadcast": 1.0,
        "incast": n - 1.0,
        "permutation": 1.0,
    }
    return factors.get(collective, (n - 1) / n)


def _check(collective: str, way: Algorithm, groups: Ranks, size: int, options: Options) -> None:
    n = groups.shape[1]
    if n < 2:
        raise UsageError(f"{collective} needs at least 2 hosts, not {n}")
    if (np.diff(np.sort(groups, axis=1), axis=1) == 0).any():
        raise UsageError(f"a host takes part in the same {collective} twice")
    if size < 1:
        raise UsageError(f"{collective} of {size} bytes: must be at least 1")
    for name in ("slices", "at_once", "rounds", "shift", "seed", "stream", "pxn"):
        if name not in way.options and getattr(options, name) != getattr(PLAIN, name):
            known = ", ".join(way.options) or "none"
            raise UsageError(f"{collective} ({way.name}) does not have the option {name}; it has: {known}")
    if options.per_server > 1:
        if way.rails == "none":
            raise UsageError(f"{collective} is between single hosts: it does not have servers of {options.per_server}")
        if n == options.per_server:
            raise UsageError(
                f"all {n} ranks of this {collective} are GPUs of one server, which need no fabric; take more servers, "
                "or let every NIC be a rank by itself: per_server 1"
            )
        if n % options.per_server:
            raise UsageError(f"{n} hosts are not 2 or more full servers of {options.per_server}")
