"""Ring all-reduce, reduce-scatter and all-gather, and the chain of a broadcast (Patarasuk and Yuan 2009)."""

import numpy as np

from ailb_gen.sim.fabric import Int64
from ailb_gen.sim.traffic.builder import Builder, Job, Numbers, spread
from ailb_gen.sim.traffic.options import Options, Ranks


def _ring(
    builder: Builder, job: Job, ranks: Ranks, size: Int64, options: Options, after: Numbers, steps: int, label: str
) -> Int64:
    """Append a ring of n ranks in n / g servers, one ring of servers per rail.

    In step s rank i sends chunk i - s (mod n), which it received in step s - 1, to rank i + 1. Only the last rank of
    a server sends over the fabric, so a server passes on in step s what it received in step s - g. Axes: group, step,
    rail, server, slice.
    """
    groups, n = ranks.shape
    per_server = options.per_server
    servers = n // per_server
    steps = min(steps, options.rounds or steps)
    if options.stream:
        size, steps = size * steps, 1
    shape = (groups, steps, per_server, servers, options.slices)
    nodes = ranks.reshape(groups, servers, per_server).swapaxes(1, 2)
    source = np.broadcast_to(nodes[:, None, :, :, None], shape)
    target = np.broadcast_to(np.roll(nodes, -1, axis=2)[:, None, :, :, None], shape)
    last_rank = np.arange(1, servers + 1) * per_server - 1
    chunk = (last_rank - np.arange(steps)[:, None]) % n
    pieces = spread(spread(spread(size, per_server), n), options.slices)
    amount = pieces[:, :, chunk].swapaxes(1, 2)
    messages = builder.send(job, source.ravel(), target.ravel(), amount.ravel(), label=label)
    begin = np.broadcast_to(np.reshape(after, (-1, 1, 1, 1, 1)), shape).copy()
    if not options.at_once:
        arrival = np.roll(messages.end.reshape(shape), 1, axis=3)
        begin[:, per_server:] = arrival[:, : steps - per_server]
    builder.wait_for(messages, begin.ravel())
    return builder.barriers(messages.end.reshape(groups, -1), job, label)


def all_reduce(builder: Builder, job: Job, ranks: Ranks, size: Int64, options: Options, after: Numbers) -> Int64:
    """Append a reduce-scatter and an all-gather in 2(n - 1) steps."""
    return _ring(builder, job, ranks, size, options, after, 2 * (ranks.shape[1] - 1), "all-reduce")


def reduce_scatter(builder: Builder, job: Job, ranks: Ranks, size: Int64, options: Options, after: Numbers) -> Int64:
    """Append n - 1 steps after which every rank has the sum of one chunk."""
    return _ring(builder, job, ranks, size, options, after, ranks.shape[1] - 1, "reduce-scatter")


def all_gather(builder: Builder, job: Job, ranks: Ranks, size: Int64, options: Options, after: Numbers) -> Int64:
    """Append n - 1 steps after which every rank has all chunks."""
    return _ring(builder, job, ranks, size, options, after, ranks.shape[1] - 1, "all-gather")


def broadcast(builder: Builder, job: Job, ranks: Ranks, size: Int64, options: Options, after: Numbers) -> Int64:
    """Append a chain from the first rank to the last one. Axes: group, rank, slice."""
    groups, n = ranks.shape
    shape = (groups, n - 1, options.slices)
    source, target = (np.broadcast_to(part[:, :, None], shape) for part in (ranks[:, :-1], ranks[:, 1:]))
    amount = np.broadcast_to(spread(size, options.slices)[:, None, :], shape)
    messages = builder.send(job, source.ravel(), target.ravel(), amount.ravel(), label="broadcast")
    begin = np.broadcast_to(np.reshape(after, (-1, 1, 1)), shape).copy()
    if not options.at_once:
        begin[:, 1:] = messages.end.reshape(shape)[:, :-1]
    builder.wait_for(messages, begin.ravel())
    return builder.barriers(messages.end.reshape(groups, -1), job, "broadcast")
