"""The rails of servers' NICs, and the servers without GPUs, as far as the files tell."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import count

from ailb_gen.layout import ENVIRONMENT
from ailb_gen.network.fabric import Network

MOST_DIGITS = 1000
PARTS = re.compile(r"[0-9]+|[^0-9]")


def natural(text: str) -> tuple[tuple[int, int | str], ...]:
    """Order numbers within names by value: gpu2 before gpu10."""
    # Numbers of any length are text of a file; behind so many digits no name differs.
    return tuple(
        (0, int(part[:MOST_DIGITS])) if part.isascii() and part.isdigit() else (1, part)
        for part in (*PARTS.findall(text), "")
    )


def cabled_nics(network: Network) -> Mapping[str, list[str]]:
    """Return the cabled NICs of every server in natural order."""
    nics, order = defaultdict[str, list[str]](list), cache(natural)
    for server, nic in network.attachments:
        nics[server].append(nic)
    return {server: sorted(names, key=order) for server, names in nics.items()}


def rails_of(network: Network, server: str, nics: Iterable[str]) -> dict[str, int]:
    """Return the rail of each of some NICs of a server, in their order; no two NICs have the same.

    The rail is that of the leaf at the other end of the cable; NICs without one follow behind. Where the lists of
    cables do not number the leaves, or several NICs are on one rail, the n-th NIC is on the n-th rail.
    """
    names = list(nics)
    ends = [network.attachments.get((server, nic)) for nic in names]
    rails = [network.rails.get(end.device) if end is not None else None for end in ends]
    known = {rail for rail in rails if rail is not None}
    if not known or len(known) + rails.count(None) < len(names):
        return {name: number for number, name in enumerate(names)}
    # Only where a NIC has none: a server asks once, a fabric has thousands of them.
    others = count(max(*known, *network.rails.values()) + 1 if None in rails else 0)
    return {name: next(others) if rail is None else rail for name, rail in zip(names, rails, strict=True)}


def without_gpus(network: Network) -> frozenset[str]:
    """Return the servers that have no GPUs: those without an environment of NCCL, if others have one."""
    lacking = {name for name, host in network.hosts.items() if ENVIRONMENT not in host.profile.files}
    return frozenset(lacking) if len(lacking) < len(network.hosts) else frozenset()
