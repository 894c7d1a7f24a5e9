"""Collectives as messages: sender, receiver, size and predecessors.

A collective is done by G equal groups at once: `ranks` has shape (G, n), the host of every rank, in the order of the
ring or tree. `size` is what nccl-tests calls the size, in bytes: the whole vector for all-reduce and broadcast; all
n parts together for reduce-scatter, all-gather and all-to-all; what one rank sends for incast (all others to the
first rank) and permutation.

With `per_server` g > 1 each g ranks after another are GPUs of one server or NVLink domain, each with a NIC (host) of
its own. Inside it data takes no time, or that of `nvlink_bps`, and between servers it stays on its rail, as NCCL does
it on fabrics with one leaf per rail: rail i carries 1/g of the vector, from NIC i to NIC i.
"""

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ailb_gen.errors import UsageError
from ailb_gen.sim.fabric import PS_PER_US, Int64
from ailb_gen.sim.traffic import algorithms
from ailb_gen.sim.traffic.algorithms import Asked, CollectiveOptions, Make, Ranks
from ailb_gen.sim.traffic.builder import NO_TASK, Job, Numbers, TaskBuilder, spread
from ailb_gen.sim.traffic.experts import imbalance
from ailb_gen.sim.traffic.nccl import NVLS_TREE, WIRE, choose
from ailb_gen.sim.traffic.nvlink import nvlink_ps, nvlink_share


@dataclass(frozen=True, slots=True)
class Algorithm:
    """An algorithm of a collective: `make` appends it, and returns the tasks that end the groups, shape (G,).

    `options` are the ones that it has in addition to `per_server`. `rails`: how it handles servers of several GPUs:
    "own", "each": it runs once per rail, on 1/g of the vector; "none": not at all. `at_once` is its default.
    """

    name: str
    make: Make
    text: str
    options: tuple[str, ...] = ()
    rails: str = "none"
    at_once: bool = False


def _ring(label: str, passes: int, text: str) -> Algorithm:
    make = partial(algorithms.ring, label=label, passes=passes)
    return Algorithm("ring", make, text, ("slices", "at_once", "rounds", "stream"), "own")


def _pat(label: str) -> Algorithm:
    make = partial(algorithms.dissemination, label=label)
    return Algorithm("pat", make, "in log2 n rounds", ("at_once",), "each")


PLAIN = CollectiveOptions()
# Those that only some algorithms have.
OPTIONS = ("slices", "at_once", "rounds", "shift", "seed", "stream", "pxn", "weights", "combine")
# Instead of an algorithm: the one that NCCL chooses, with its protocol.
NCCL = "nccl"
COLLECTIVES = {
    "all-reduce": (
        _ring("all-reduce", 2, "reduce-scatter and all-gather along a ring"),
        Algorithm("tree", algorithms.double_tree, "double binary tree", ("slices", "at_once"), "each"),
        Algorithm("halving-doubling", algorithms.halving_doubling, "recursive halving and doubling", (), "each"),
    ),
    "reduce-scatter": (_ring("reduce-scatter", 1, "along a ring"), _pat("reduce-scatter")),
    "all-gather": (_ring("all-gather", 1, "along a ring"), _pat("all-gather")),
    "all-to-all": (
        Algorithm(
            "direct",
            algorithms.all_to_all,
            "every pair of ranks",
            ("at_once", "pxn", "weights", "combine"),
            "own",
            at_once=True,
        ),
    ),
    "broadcast": (Algorithm("chain", algorithms.chain, "from rank to rank", ("slices", "at_once"), "each"),),
    "incast": (Algorithm("direct", algorithms.incast, "all others to the first rank", at_once=True),),
    "permutation": (
        Algorithm("direct", algorithms.permutation, "every rank to one other", ("shift", "seed"), at_once=True),
    ),
}


def append(
    builder: TaskBuilder,
    job: Job,
    collective: str,
    ranks: Ranks,
    size: int,
    options: CollectiveOptions = PLAIN,
    algorithm: str | None = None,
    after: Numbers = NO_TASK,
) -> Int64:
    """Append a collective of G groups, `ranks` of shape (G, n) or (n,); return the tasks that end it, shape (G,).

    `algorithm`: None is the first one in the table, "nccl" the one that NCCL chooses by `options.tuning`, with the
    bytes of its protocol on the wire and its latency before. `after`: the task, or one per group, shape (G,), that it
    waits for. Ranks of a group are different hosts, and `size` is at least 1. Raises UsageError for an unknown
    algorithm, for options that it lacks, and for ranks that are too few or no full servers.
    """
    groups = np.atleast_2d(np.asarray(ranks))
    if algorithm == NCCL:
        return _by_nccl(Asked(builder, job, groups, np.array([size]), options, after), collective, size)
    return _append(builder, job, collective, groups, size, options, find(collective, algorithm), after)


def _by_nccl(asked: Asked, collective: str, size: int) -> Int64:
    """Append a collective as NCCL does it: bytes on the wire and latency by its protocol; labels say what it chose."""
    builder, job, groups, options = asked.builder, asked.job, asked.ranks, asked.options
    if options.tuning is None:
        raise UsageError(f"{collective}: the algorithm {NCCL} needs the rates of GPUs and NICs")
    _check_count(collective, groups.shape[1])
    choice = choose(collective, size, groups.shape[1], options.per_server, options.tuning)
    if choice is None:
        return _append(builder, job, collective, groups, size, options, find(collective), asked.after)
    chosen = find(collective, choice.own)
    known = {name: getattr(PLAIN, name) for name in OPTIONS if name not in chosen.options}
    options = replace(options, **known, nvls=choice.algorithm == NVLS_TREE)
    begin = np.broadcast_to(np.asarray(asked.after), (len(groups),))
    begin = builder.computations(len(groups), round(choice.inside_us * PS_PER_US), begin, job, "NCCL")
    size = math.ceil(size * WIRE[choice.protocol])
    return _append(builder, job, collective, groups, size, options, chosen, begin, f" ({choice})")


def _append(
    builder: TaskBuilder,
    job: Job,
    collective: str,
    groups: Ranks,
    size: int,
    options: CollectiveOptions,
    chosen: Algorithm,
    after: Numbers,
    note: str = "",
) -> Int64:
    """Append a collective by an algorithm; `note` is added to the labels of its messages."""
    _check(collective, chosen, groups.shape[1], options)
    count, n = groups.shape
    per_server = options.per_server
    options = replace(options, at_once=chosen.at_once if options.at_once is None else options.at_once)
    inside = _inside(builder, job, collective, n, size, options, after)
    if inside is not None and n == per_server:
        return np.broadcast_to(inside, (count,))
    if per_server == 1 or chosen.rails == "own":
        ends = chosen.make(Asked(builder, job, groups, np.full(count, size, dtype=np.int64), options, after, note))
    else:
        rails = groups.reshape(count, n // per_server, per_server).swapaxes(1, 2).reshape(-1, n // per_server)
        begin = np.repeat(np.broadcast_to(np.asarray(after), (count,)), per_server)
        share = np.tile(spread(size, per_server), count)
        ends = chosen.make(Asked(builder, job, rails, share, replace(options, per_server=1), begin, note))
        ends = builder.barriers(ends.reshape(count, per_server), job, collective)
    if inside is None:
        return ends
    both = np.stack([ends, np.broadcast_to(inside, (count,))], axis=1)
    return builder.barriers(both, job, collective)


def _inside(
    builder: TaskBuilder, job: Job, collective: str, n: int, size: int, options: CollectiveOptions, after: Numbers
) -> Int64 | None:
    """Append the time that a collective takes inside servers; return the tasks, one per `after`, None without."""
    if not options.nvlink_bps or options.per_server == 1:
        return None
    # The GPU that most data goes to ends last.
    share = nvlink_share(collective, n, options.per_server, options.nvls) * imbalance(options.weights)
    ps = nvlink_ps(size, share, options.nvlink_bps)
    begin = np.atleast_1d(np.asarray(after, dtype=np.int64))
    return builder.computations(len(begin), ps, begin, job, "NVLink")


def of_job(algorithm: str | None, collective: str) -> str | None:
    """Return the algorithm of one of a job's collectives: a job names that of its all-reduces, or NCCL's choice."""
    return algorithm if collective == "all-reduce" or algorithm == NCCL else None


def takes_time(n: int, inside: int, options: CollectiveOptions) -> bool:
    """Return whether a collective of n ranks, `inside` of them together in a server, takes time.

    Its ranks are in several servers, or NVLink takes time.
    """
    return n > 1 and (inside < n or options.nvlink_bps > 0)


def find(collective: str, algorithm: str | None = None) -> Algorithm:
    """Return an algorithm of a collective, without a name the first one; raises UsageError for an unknown name."""
    known = {one.name: one for one in COLLECTIVES[collective]}
    if algorithm is None:
        return COLLECTIVES[collective][0]
    if algorithm not in known:
        raise UsageError(f"unknown algorithm {algorithm!r} of {collective}; known: {', '.join(known)}")
    return known[algorithm]


def bus_factor(collective: str, n: int) -> float:
    """Return bus bandwidth over algorithm bandwidth (size over time) of n ranks: PERFORMANCE.md of nccl-tests.

    A permutation is its sendrecv. Incast, which it does not have, counts what the target receives.
    """
    factors = {"all-reduce": 2 * (n - 1) / n, "broadcast": 1.0, "incast": n - 1.0, "permutation": 1.0}
    return factors.get(collective, (n - 1) / n)


def _check_count(collective: str, n: int) -> None:
    if n < 2:
        raise UsageError(f"{collective} needs at least 2 hosts, not {n}")


def _check(collective: str, chosen: Algorithm, n: int, options: CollectiveOptions) -> None:
    _check_count(collective, n)
    for name in OPTIONS:
        if name not in chosen.options and getattr(options, name) != getattr(PLAIN, name):
            known = ", ".join(chosen.options) or "none"
            raise UsageError(f"{collective} ({chosen.name}) does not have the option {name}; it has: {known}")
    if options.per_server > 1:
        if chosen.rails == "none":
            raise UsageError(f"{collective} is between single hosts: it does not have servers of {options.per_server}")
        if n == options.per_server and not options.nvlink_bps:
            raise UsageError(
                f"all {n} ranks of this {collective} are GPUs of one server, which need no fabric; use more servers, "
                "or make every NIC a rank of its own: per_server 1"
            )
        if n % options.per_server:
            raise UsageError(f"{n} hosts are not 2 or more full servers of {options.per_server}")
