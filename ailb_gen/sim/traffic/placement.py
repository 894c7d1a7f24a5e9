"""Which hosts a job gets."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import numpy as np

from ailb_gen.errors import UsageError
from ailb_gen.sim.fabric import Int32
from ailb_gen.sim.traffic.builder import stream

Placement = Literal["packed", "strided", "random"]


def place(
    counts: Sequence[int], hosts: Int32, placement: Placement = "packed", seed: int = 0, stride: int = 1, block: int = 1
) -> list[Int32]:
    """Return the hosts of every job, `counts` of them, in the order of its ranks.

    "packed": one host after the other. "strided": first every `stride`-th host, then those next to them, and so on;
    with the NICs per server as stride, a job gets one rail of all servers before the next one. "random": drawn by
    `seed`. Each `block` hosts after another stay together, and count as one. Raises UsageError if there are too few
    hosts, or if they are not whole blocks.
    """
    if min(counts, default=1) < 1:
        raise UsageError("a job needs at least 1 host")
    if sum(counts) > len(hosts):
        raise UsageError(f"the jobs need {sum(counts)} hosts, and there are {len(hosts)}")
    if block < 1 or len(hosts) % block:
        raise UsageError(f"{len(hosts)} hosts are not whole blocks of {block}")
    blocks = hosts.reshape(-1, block)
    if placement == "packed":
        order = hosts
    elif placement == "strided":
        if stride < 1:
            raise UsageError(f"the stride of a placement must be at least 1, not {stride}")
        order = np.concatenate([blocks[first::stride] for first in range(min(stride, len(blocks)))]).ravel()
    elif placement == "random":
        order = stream(seed, "placement").permutation(blocks).ravel()
    else:
        raise UsageError(f"unknown placement {placement!r}; known: packed, strided, random")
    bounds = np.cumsum([0, *counts])
    return [order[first:last] for first, last in pairwise(bounds)]
