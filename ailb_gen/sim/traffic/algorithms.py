"""The algorithms of collectives, as messages between ranks in the order in which they can be sent.

All have the parameters that `collectives.Algorithm` describes. Only the shape and the sizes of messages are computed at
once: a builder that counts needs no more.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from ailb_gen.errors import UsageError
from ailb_gen.sim.fabric import Int64
from ailb_gen.sim.traffic.builder import NO_TASK, Job, MessagesOf, Numbers, TaskBuilder, Waits, WaitsOf, spread
from ailb_gen.sim.traffic.nccl import Tuning

Ranks = npt.NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class CollectiveOptions:
    """Options of a collective; each algorithm says which ones it has.

    `slices`: messages per chunk, passed on as they arrive (pipelining; NCCL cuts its buffers into slices).
    `at_once`: all messages are sent at the start, without waiting for what a rank would have to receive first; None:
    as the algorithm does it. `per_server`: number of ranks after another that are GPUs of one server. `rounds`:
    number of steps of a ring. `stream`: a ring hands on the bytes of all steps in one, as a ring with many
    slices does: far fewer messages, and no wait between steps. `shift`: permutation to the rank that many further on
    instead of a random one. `seed`: of the random permutation. `pxn`: data for another rail of another server goes to
    the NIC of that rail over NVLink first (NCCL's PXN); otherwise it crosses the network. `weights`: of an all-to-all,
    how much of every rank's data goes to rank 0, 1, ...; empty: the same to all. `combine`: what weights have sent
    goes back. `nvlink_bps`: rate of a GPU inside a server, 0: data takes no time there; `nvls`: its switches reduce.
    `tuning`: what NCCL knows of GPUs and NICs, for the algorithm "nccl".
    """

    slices: int = 1
    at_once: bool | None = None
    per_server: int = 1
    rounds: int | None = None
    shift: int | None = None
    seed: int = 0
    stream: bool = False
    pxn: bool = True
    weights: tuple[int, ...] = ()
    combine: bool = False
    nvlink_bps: int = 0
    nvls: bool = False
    tuning: Tuning | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A collective to be appended, of G groups of n ranks."""

    builder: TaskBuilder
    job: Job
    ranks: Ranks  # (G, n) hosts
    size: Int64  # (G,) bytes
    options: CollectiveOptions
    after: Numbers  # the task, or one per group, that it waits for
    note: str = ""  # added to the labels of its messages

    def exchange(
        self, label: str, shape: Sequence[int], least: int, messages: MessagesOf, waits: WaitsOf | None = None
    ) -> Int64:
        """Append messages as `TaskBuilder.exchange`, without `waits` where all are sent at once."""
        waiting = None if self.options.at_once else waits
        return self.builder.exchange(self.job, label + self.note, shape, least, messages, self.after, waiting)


Make = Callable[[Asked], Int64]


def ring(asked: Asked, label: str, passes: int) -> Int64:
    """Append a ring of n ranks in n / g servers, one ring of servers per rail.

    The vector goes around it `passes` times, 2 for an all-reduce (Patarasuk and Yuan 2009). In step s rank i sends
    chunk i - s (mod n), which it received in step s - 1, to rank i + 1. Only the last rank of a server sends over the
    fabric, so a server passes on in step s what it received in step s - g. Axes: group, step, rail, server, slice.
    """
    groups, n = asked.ranks.shape
    size, options, per_server = asked.size, asked.options, asked.options.per_server
    servers = n // per_server
    steps = passes * (n - 1)
    steps = min(steps, options.rounds or steps)
    if options.stream:
        size, steps = size * steps, 1

    def messages() -> tuple[Numbers, Numbers, Numbers]:
        nodes = asked.ranks.reshape(groups, servers, per_server).swapaxes(1, 2)[:, None, :, :, None]
        last_rank = np.arange(1, servers + 1) * per_server - 1
        chunk = (last_rank - np.arange(steps)[:, None]) % n
        pieces = spread(spread(spread(size, per_server), n), options.slices)
        return nodes, np.roll(nodes, -1, axis=3), pieces[:, :, chunk].swapaxes(1, 2)

    def waits(begin: Int64, end: Int64) -> Iterator[Waits]:
        awaited = begin.copy()
        awaited[:, per_server:] = np.roll(end, 1, axis=3)[:, : steps - per_server]
        yield awaited.ravel(), None

    shape = (groups, steps, per_server, servers, options.slices)
    return asked.exchange(label, shape, int(size.min()) // (per_server * n * options.slices), messages, waits)


def dissemination(asked: Asked, label: str) -> Int64:
    """Append an all-gather or reduce-scatter in log2 n rounds (Bruck et al. 1997), as the trees of NCCL's PAT do.

    In round k of an all-gather rank i sends the chunks that it has, at most n - 2^k, to rank i + 2^k; a reduce-scatter
    does the same backward. Axes: group, round, rank.
    """
    groups, n = asked.ranks.shape
    distances = [1 << k for k in range((n - 1).bit_length())]
    gathers = label == "all-gather"
    if not gathers:
        distances.reverse()
    order = np.arange(n)

    def messages() -> tuple[Numbers, Numbers, Numbers]:
        sums = np.concatenate([np.zeros((groups, 1), dtype=np.int64), np.tile(spread(asked.size, n), 2)], axis=1)
        sums = np.cumsum(sums, axis=1)
        counts = [min(distance, n - distance) for distance in distances]
        # Chunks i - count + 1 ... i, modulo n, of the rank that would send them in an all-gather.
        amount = np.stack([sums[:, n + 1 :] - sums[:, n + 1 - count : 2 * n + 1 - count] for count in counts], axis=1)
        near = np.stack([asked.ranks] * len(distances), axis=1)
        far = np.stack([np.roll(asked.ranks, -distance, axis=1) for distance in distances], axis=1)
        return (near, far, amount) if gathers else (far, near, amount)

    def waits(begin: Int64, end: Int64) -> Iterator[Waits]:
        # A rank sends when it has sent and received in the round before; messages are numbered by the near rank.
        awaited = np.stack([begin, np.full_like(begin, NO_TASK)], axis=-1)
        for number in range(1, len(distances)):
            done, distance, before = end[:, number - 1], distances[number], distances[number - 1]
            sender = order if gathers else (order + distance) % n
            own = sender if gathers else (sender - before) % n
            other = (sender - before) % n if gathers else sender
            awaited[:, number, :, 0], awaited[:, number, :, 1] = done[:, own], done[:, other]
        yield awaited.reshape(-1, 2), None

    return asked.exchange(label, (groups, len(distances), n), int(asked.size.min()) // n, messages, waits)


def chain(asked: Asked) -> Int64:
    """Append a broadcast from the first rank to the last one. Axes: group, rank, slice."""
    (groups, n), slices = asked.ranks.shape, asked.options.slices

    def waits(begin: Int64, end: Int64) -> Iterator[Waits]:
        awaited = begin.copy()
        awaited[:, 1:] = end[:, :-1]
        yield awaited.ravel(), None

    def messages() -> tuple[Numbers, Numbers, Numbers]:
        return asked.ranks[:, :-1, None], asked.ranks[:, 1:, None], spread(asked.size, slices)[:, None, :]

    least = int(asked.size.min()) // slices
    return asked.exchange("broadcast", (groups, n - 1, slices), least, messages, waits)


def parents(n: int) -> Int64:
    """Return the parents of nodes 1 ... n - 1 in a binary tree with root 0, shape (n - 1,).

    Odd nodes are leaves, and the root has one child (Sanders, Speck and Träff, "Two-tree algorithms", 2009; NCCL).
    """
    node = np.arange(1, n)
    lowest = node & -node
    up = (node ^ lowest) | (lowest << 1)
    found: Int64 = np.where(up < n, up, node ^ lowest)
    return found


def double_tree(asked: Asked) -> Int64:
    """Append a reduction to the root and a broadcast from it, in each of two trees with one half of the vector.

    The second tree is the first one mirrored (n even) or shifted by one rank (n odd), so that leaves of one are inner
    nodes of the other. Axes of messages: group, up or down, tree, child, slice.
    """
    ranks, slices = asked.ranks, asked.options.slices
    groups, n = ranks.shape
    up, order = parents(n), np.arange(n)
    shape = (groups, 2, 2, n - 1, slices)

    def messages() -> tuple[Numbers, Numbers, Numbers]:
        places = np.stack([order, n - 1 - order if n % 2 == 0 else (order + 1) % n])
        child, parent = ranks[:, places[:, 1:]], ranks[:, places[:, up]]
        source, target = np.stack([child, parent], axis=1), np.stack([parent, child], axis=1)
        pieces = spread(spread(asked.size, 2), slices)
        return source[..., None], target[..., None], pieces[:, None, :, None, :]

    def waits(begin: Int64, end: Int64) -> Iterator[Waits]:
        number = np.arange(prod(shape)).reshape(shape)
        leaves = ~np.isin(order[1:], up)
        top, inner = np.flatnonzero(up == 0), np.flatnonzero(up != 0)
        above = up[inner] - 1
        rising, falling = number[:, 0], number[:, 1]
        risen, fallen = end[:, 0], end[:, 1]
        for awaited, waiting in (
            (begin[:, 0][:, :, leaves], rising[:, :, leaves]),
            (risen[:, :, inner], rising[:, :, above]),
            (risen[:, :, top], falling[:, :, top]),
            (fallen[:, :, above], falling[:, :, inner]),
        ):
            yield awaited.ravel(), waiting.ravel()

    return asked.exchange("all-reduce", shape, int(asked.size.min()) // (2 * slices), messages, waits)


def halving_doubling(asked: Asked) -> Int64:
    """Append recursive vector halving and distance doubling (Rabenseifner; Thakur et al. 2005).

    If n is no power of two p, every even one of the first 2(n - p) ranks leaves its part to the next rank: it sends
    its vector there first and gets the result back at the end. A rank sends in a step when it has sent and received
    in the step before.
    """
    builder, job, ranks, size = asked.builder, asked.job, asked.ranks, asked.size
    groups, n = ranks.shape
    levels = n.bit_length() - 1
    p = 1 << levels
    extra = n - p
    idle = ranks[:, 0 : 2 * extra : 2]
    active = np.concatenate([ranks[:, 1 : 2 * extra : 2], ranks[:, 2 * extra :]], axis=1)

    def send(source: Ranks, target: Ranks, amount: Int64, wait: Int64) -> Int64:
        rows = wait.reshape(source.size, wait.shape[2])
        done = builder.send(job, source.ravel(), target.ravel(), amount.ravel(), rows, "all-reduce")
        return done.end.reshape(source.shape)

    begin = np.broadcast_to(np.reshape(np.asarray(asked.after, dtype=np.int64), (-1, 1, 1)), (groups, p, 1))
    whole = np.repeat(size[:, None], extra, axis=1)
    handed = send(idle, active[:, :extra], whole, begin[:, :extra])
    wait = np.concatenate([handed[..., None], begin[:, extra:]], axis=1)
    node = np.arange(p)
    bounds = np.cumsum(np.insert(spread(size, p), 0, 0, axis=1), axis=1)
    for distance, halving in [(p >> k, True) for k in range(1, levels + 1)] + [(1 << k, False) for k in range(levels)]:
        partner = node ^ distance
        # Parts are aligned to their length: a node sends the one of its partner, later the one that it has.
        first = (partner if halving else node) & -distance
        amount = bounds[:, first + distance] - bounds[:, first]
        end = send(active, active[:, partner], amount, wait)
        wait = np.stack([end, end[:, partner]], axis=2)
    back = send(active[:, :extra], idle, whole, wait[:, :extra])
    return builder.barriers(np.concatenate([end, back], axis=1), job, "all-reduce")


def all_to_all(asked: Asked) -> Int64:
    """Append part j of every rank's data to rank j.

    With servers of g > 1 a rank's NIC sends what all GPUs of its server have for the GPU of the same rail (PXN), or,
    without `pxn`, what its own GPU has for every GPU of the other servers. A round goes to one server further on and
    one rail further on. Unless at once, a rank begins a round when it has sent and received in the one before. Axes:
    group, round, server, rail.
    """
    groups, n = asked.ranks.shape
    per_server = asked.options.per_server
    servers = n // per_server
    rails = 1 if asked.options.pxn else per_server
    shape = (groups, (servers - 1) * rails, servers, per_server)
    parts = weighted(asked.size, asked.options.weights or (1,) * n).reshape(groups, servers, per_server)

    def rounds() -> list[tuple[int, int]]:
        return [(distance, shift) for distance in range(1, servers) for shift in range(rails)]

    def messages() -> tuple[Numbers, Numbers, Numbers]:
        nodes = asked.ranks.reshape(groups, servers, per_server)
        distances, shifts = np.array(rounds(), dtype=np.int64).reshape(-1, 2).T
        further = ((distances[:, None] + np.arange(servers)) % servers)[:, :, None]
        rail = ((shifts[:, None] + np.arange(per_server)) % per_server)[:, None, :]
        if not asked.options.combine:
            amount = parts[:, further, rail] * (per_server // rails)
        else:
            # With PXN a NIC sends what all GPUs of its server have for its rail.
            amount = (parts.sum(axis=2, keepdims=True) if rails == 1 else parts)[:, None]
        return nodes[:, None], nodes[:, further, rail], amount

    def waits(begin: Int64, end: Int64) -> Iterator[Waits]:
        awaited = np.stack([begin, begin], axis=-1)
        for number, before in enumerate(rounds()[:-1], 1):
            awaited[:, number, ..., 0] = end[:, number - 1]
            awaited[:, number, ..., 1] = np.roll(end[:, number - 1], before, axis=(1, 2))
        awaited[:, 0, ..., 1] = NO_TASK
        yield awaited.reshape(-1, 2), None

    return asked.exchange("all-to-all", shape, int(parts.min()), messages, waits)


def weighted(size: Int64, weights: Sequence[int]) -> Int64:
    """Return sizes as whole numbers in the ratio of weights, shape (..., len(weights)); equal ones as `spread` has it.

    The sum of the weights must be less than 2^31.
    """
    if len(set(weights)) == 1:
        return spread(size, len(weights))
    # Whole and rest apart, so that products fit 64 bits.
    whole, rest = np.divmod(np.asarray(size)[..., None], sum(weights))
    before = np.insert(np.cumsum(weights), 0, 0)
    bounds = whole * before + rest * before // sum(weights)
    shares: Int64 = np.diff(bounds, axis=-1)
    return shares


def incast(asked: Asked) -> Int64:
    """Append `size` bytes from every other rank to the first one, all at once."""
    ranks, size = asked.ranks, asked.size
    shape = (ranks.shape[0], ranks.shape[1] - 1)
    return asked.exchange("incast", shape, int(size.min()), lambda: (ranks[:, 1:], ranks[:, :1], size[:, None]))


def permutation(asked: Asked) -> Int64:
    """Append `size` bytes from every rank to another one, so that each receives from one: random, or shifted."""
    (groups, n), options = asked.ranks.shape, asked.options
    if options.shift is not None and options.shift % n == 0:
        raise UsageError(f"a permutation of {n} hosts shifted by {options.shift}: every host would send to itself")

    def messages() -> tuple[Numbers, Numbers, Numbers]:
        if options.shift is not None:
            partner = np.broadcast_to((np.arange(n) + options.shift) % n, (groups, n))
        else:
            generator = np.random.Generator(np.random.PCG64(options.seed))
            partner = np.stack([derangement(n, generator) for _ in range(groups)])
        return asked.ranks, np.take_along_axis(asked.ranks, partner, axis=1), asked.size[:, None]

    return asked.exchange("permutation", (groups, n), int(asked.size.min()), messages)


def derangement(n: int, generator: np.random.Generator) -> Int64:
    """Return a permutation of n ≥ 2 numbers that leaves none at its place, all such being equally likely."""
    while True:
        drawn = generator.permutation(n)
        if (drawn != np.arange(n)).all():
            return drawn
