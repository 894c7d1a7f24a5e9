"""Which ranks of a pipeline stage do a collective together."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ailb_gen.sim.traffic.algorithms import Ranks
from ailb_gen.sim.traffic.parallelism import Training


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of ranks that do a collective, shape (groups, ranks), `inside` of them together in a server.

    Each `rows` rows of a stage have `each` of the groups.
    """

    hosts: Ranks
    inside: int
    rows: int = 1
    each: int = 1


@dataclass(frozen=True, slots=True)
class Stage:
    """The hosts of a pipeline stage and their servers, shape (rows, tensor), and the groups of its collectives."""

    hosts: Ranks
    servers: Ranks
    groups: Mapping[str, Groups]


def stage_of(hosts: Ranks, servers: Ranks, training: Training) -> Stage:
    """Return a stage of hosts and servers, shape (rows, tensor)."""
    context, tensor, expert = training.context, training.tensor, training.expert

    def groups(arranged: Callable[[Ranks], Ranks], rows: int = 1, each: int = 1) -> Groups:
        return Groups(arranged(hosts), together(arranged(servers)), rows, each)

    return Stage(
        hosts,
        servers,
        {
            "tensor": groups(lambda ranks: ranks),
            "context": groups(
                lambda ranks: ranks.reshape(-1, context, tensor).swapaxes(1, 2).reshape(-1, context), context, tensor
            ),
            "expert": groups(
                lambda ranks: ranks.reshape(-1, expert), max(expert // tensor, 1), max(tensor // expert, 1)
            ),
            "gradient": groups(lambda ranks: ranks.T),
            "expert_gradient": groups(lambda ranks: ranks.reshape(-1, expert).T),
        },
    )


def together(servers: Ranks) -> int:
    """Return how many ranks in a row share a server, shape (groups, ranks), if it is the same number everywhere.

    Else 1.
    """
    n = servers.shape[1]
    same = servers[:, 1:] == servers[:, :-1]
    others = np.flatnonzero(~same[0])
    count = int(others[0]) + 1 if len(others) else n
    inside = np.arange(1, n) % count != 0
    return count if n % count == 0 and (same == inside).all() else 1
