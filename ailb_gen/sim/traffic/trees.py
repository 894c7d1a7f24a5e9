"""All-reduce over a double binary tree, and by recursive halving and doubling."""

import numpy as np

from ailb_gen.sim.fabric import Int64
from ailb_gen.sim.traffic.builder import Builder, Job, Numbers, spread
from ailb_gen.sim.traffic.options import Options, Ranks


def parents(n: int) -> Int64:
    """Return the parents of nodes 1 ... n - 1 in a binary tree with root 0, shape (n - 1,).

    Odd nodes are leaves, and the root has one child (Sanders, Speck and Träff, "Two-tree algorithms", 2009; NCCL).
    """
    node = np.arange(1, n)
    lowest = node & -node
    up = (node ^ lowest) | (lowest << 1)
    found: Int64 = np.where(up < n, up, node ^ lowest)
    return found


def all_reduce(builder: Builder, job: Job, ranks: Ranks, size: Int64, options: Options, after: Numbers) -> Int64:
    """Append a reduction to the root and a broadcast from it, in each of two trees with one half of the vector.

    The second tree is the first one mirrored (n even) or shifted by one rank (n odd), so that leaves of one are inner
    nodes of the other. Axes of messages: group, up or down, tree, child, slice.
    """
    groups, n = ranks.shape
    up = parents(n)
    shape = (groups, 2, 2, n - 1, options.slices)
    order = np.arange(n)
    places = np.stack([order, n - 1 - order if n % 2 == 0 else (order + 1) % n])
    child, parent = ranks[:, places[:, 1:]], ranks[:, places[:, up]]
    source, target = np.stack([child, parent], axis=1), np.stack([parent, child], axis=1)
    amount = spread(spread(size, 2), options.slices)[:, None, :, None, :]
    source, target = (np.broadcast_to(ends[..., None], shape).ravel() for ends in (source, target))
    messages = builder.send(job, source, target, np.broadcast_to(amount, shape).ravel(), label="all-reduce")
    number, end = np.arange(len(messages.end)).reshape(shape), messages.end.reshape(shape)
    begin = np.broadcast_to(np.reshape(after, (-1, 1, 1, 1)), (groups, 2, n - 1, options.slices))
    if options.at_once:
        builder.wait_for(messages, np.repeat(begin[:, None], 2, axis=1).ravel())
        return builder.barriers(end.reshape(groups, -1), job, "all-reduce")
    leaves = ~np.isin(order[1:], up)
    top, inner = np.flatnonzero(up == 0), np.flatnonzero(up != 0)
    above = up[inner] - 1
    rising, falling = number[:, 0], number[:, 1]
    risen, fallen = end[:, 0], end[:, 1]
    for waiting, awaited in (
        (rising[:, :, leaves], begin[:, :, leaves]),
        (rising[:, :, above], risen[:, :, inner]),
        (falling[:, :, top], risen[:, :, top]),
        (falling[:, :, inner], fallen[:, :, above]),
    ):
        builder.wait_for(messages, awaited.ravel(), waiting.ravel())
    return builder.barriers(end.reshape(groups, -1), job, "all-reduce")


def halving_doubling(builder: Builder, job: Job, ranks: Ranks, size: Int64, options: Options, after: Numbers) -> Int64:
    """Append recursive vector halving and distance doubling (Rabenseifner; Thakur et al. 2005).

    If n is no power of two p, every even one of the first 2(n - p) ranks leaves its part to the next rank: it sends
    its vector there first and gets the result back at the end. A rank sends in a step when it has sent and received
    in the step before.
    """
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

    begin = np.broadcast_to(np.reshape(np.asarray(after, dtype=np.int64), (-1, 1, 1)), (groups, p, 1))
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
