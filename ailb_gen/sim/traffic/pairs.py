"""All-to-all, incast and permutation: messages between pairs of ranks."""

import numpy as np

from ailb_gen.errors import UsageError
from ailb_gen.sim.fabric import Int64
from ailb_gen.sim.traffic.builder import NOTHING, Builder, Job, Numbers, spread
from ailb_gen.sim.traffic.options import Options, Ranks


def all_to_all(builder: Builder, job: Job, ranks: Ranks, size: Int64, options: Options, after: Numbers) -> Int64:
    """Append part j of every rank's data to rank j.

    With servers of g > 1 a rank's NIC sends what all GPUs of its server have for the GPU of the same rail (PXN), or,
    without `pxn`, what its own GPU has for every GPU of the other servers. A round goes to one server further on and
    one rail further on. Unless at once, a rank begins a round when it has sent and received in the one before. Axes:
    group, round, server, rail.
    """
    groups, n = ranks.shape
    per_server = options.per_server
    servers = n // per_server
    nodes = ranks.reshape(groups, servers, per_server)
    rails = 1 if options.pxn else per_server
    rounds = [(distance, shift) for distance in range(1, servers) for shift in range(rails)]
    shape = (groups, len(rounds), servers, per_server)
    distances, shifts = np.array(rounds, dtype=np.int64).reshape(-1, 2).T
    further = ((distances[:, None] + np.arange(servers)) % servers)[:, :, None]
    rail = ((shifts[:, None] + np.arange(per_server)) % per_server)[:, None, :]
    parts = spread(size, n).reshape(groups, servers, per_server) * (per_server // rails)
    source = np.broadcast_to(nodes[:, None], shape)
    target, amount = nodes[:, further, rail], parts[:, further, rail]
    messages = builder.send(job, source.ravel(), target.ravel(), amount.ravel(), label="all-to-all")
    wait = np.broadcast_to(np.reshape(after, (-1, 1, 1, 1)), shape)
    if not options.at_once:
        wait = np.stack([wait, wait], axis=-1)
        end = messages.end.reshape(shape)
        for number, before in enumerate(rounds[:-1], 1):
            wait[:, number, ..., 0] = end[:, number - 1]
            wait[:, number, ..., 1] = np.roll(end[:, number - 1], before, axis=(1, 2))
        wait[:, 0, ..., 1] = NOTHING
    builder.wait_for(messages, wait.reshape(len(messages.end), -1))
    return builder.barriers(messages.end.reshape(groups, -1), job, "all-to-all")


def incast(builder: Builder, job: Job, ranks: Ranks, size: Int64, options: Options, after: Numbers) -> Int64:
    """Append `size` bytes from every other rank to the first one, all at once."""
    groups, n = ranks.shape
    target = np.repeat(ranks[:, 0], n - 1)
    begin = np.repeat(np.broadcast_to(np.asarray(after), (groups,)), n - 1)
    messages = builder.send(job, ranks[:, 1:].ravel(), target, np.repeat(size, n - 1), begin, "incast")
    return builder.barriers(messages.end.reshape(groups, -1), job, "incast")


def permutation(builder: Builder, job: Job, ranks: Ranks, size: Int64, options: Options, after: Numbers) -> Int64:
    """Append `size` bytes from every rank to another one, so that each receives from one: random, or shifted."""
    groups, n = ranks.shape
    if options.shift is not None:
        if options.shift % n == 0:
            raise UsageError(f"a permutation of {n} hosts shifted by {options.shift}: every host would send to itself")
        partner = np.broadcast_to((np.arange(n) + options.shift) % n, (groups, n))
    else:
        generator = np.random.Generator(np.random.PCG64(options.seed))
        partner = np.stack([derangement(n, generator) for _ in range(groups)])
    target = np.take_along_axis(ranks, partner, axis=1)
    begin = np.repeat(np.broadcast_to(np.asarray(after), (groups,)), n)
    messages = builder.send(job, ranks.ravel(), target.ravel(), np.repeat(size, n), begin, "permutation")
    return builder.barriers(messages.end.reshape(groups, -1), job, "permutation")


def derangement(n: int, generator: np.random.Generator) -> Int64:
    """Return a permutation of n ≥ 2 numbers that leaves none at its place, all such being equally likely."""
    while True:
        drawn = generator.permutation(n)
        if (drawn != np.arange(n)).all():
            return drawn
