"""Links and switches that fail: from the start, or at a time and until another, with routes that follow later."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ailb_gen.errors import UsageError
from ailb_gen.sim.broken import Broken, FailureNames
from ailb_gen.sim.convergence import converged
from ailb_gen.sim.fabric import UNREACHABLE, FabricArrays, Forwarding, Int32, Int64, LinkChange, NextHopSets

# The next-hop sets of all switches and prefixes while something is broken.
Converge = Callable[[Broken], Int32]


@dataclass(frozen=True, slots=True)
class Outage:
    """A link, all links between two devices, or a switch that is down from a time on.

    `name` is the user's: `leaf1:et-0/0/3`, `leaf1-spine2`, `spine1` (see `FailureNames`). Without `up_ps` it does not
    come back. FIBs follow `detection_ps` after either; what comes back before is not noticed by routing.
    """

    name: str
    down_ps: int
    up_ps: int | None = None
    detection_ps: int = 0


def without_links(fabric: FabricArrays, links: Iterable[int]) -> FabricArrays:
    """Return the fabric as it is when the cables of some links are down from the start, and no protocol runs.

    Every node leaves its own failed links out of its next-hop sets; no other node reacts. In place of a set that
    gets empty there is UNREACHABLE, in `host_set` and `delivery_set`, too.
    """
    down = np.zeros(fabric.link_count, dtype=bool)
    down[np.fromiter(links, dtype=np.int64)] = True
    down |= down[fabric.link_reverse]
    kept = ~down[fabric.set_links]
    before = np.concatenate([[0], np.cumsum(kept)])
    first = before[fabric.set_first].astype(np.int32)
    empty = first[1:] == first[:-1]
    return replace(
        fabric,
        host_set=_without_sets(fabric.host_set, empty),
        delivery_set=_without_sets(fabric.delivery_set, empty),
        set_first=first,
        set_links=fabric.set_links[kept],
        forwarding=tuple(
            replace(state, next_hops=_without_sets(state.next_hops, empty)) for state in fabric.forwarding
        ),
    )


def _without_sets(sets: Int32, empty: npt.NDArray[np.bool_]) -> Int32:
    """Return the numbers of next-hop sets with UNREACHABLE for the empty ones."""
    return np.where((sets >= 0) & empty[sets], np.int32(UNREACHABLE), sets)


def random_cables(fabric: FabricArrays, probability: float, seed: int) -> Int64:
    """Draw cables that are down, each with a probability; returns one link of each. Raises UsageError."""
    if not 0 <= probability <= 1:
        raise UsageError(f"{probability} is not a probability; it must be from 0 to 1")
    cables = np.flatnonzero(fabric.link_reverse > np.arange(fabric.link_count))
    return cables[np.random.default_rng(seed).random(len(cables)) < probability]


def with_outages(fabric: FabricArrays, outages: Sequence[Outage]) -> FabricArrays:
    """Return a fabric of `clos` in which links and switches fail and come back, and all switches route around them.

    A switch that lost its route to a prefix is avoided by all others. A leaf that lost the path of a color takes all
    that are left, as with `backup-color all-colors`. Raises UsageError.
    """
    sets = NextHopSets(fabric)
    return scheduled(fabric, outages, sets, lambda broken: converged(fabric, sets, broken))


def scheduled(fabric: FabricArrays, outages: Sequence[Outage], sets: NextHopSets, converge: Converge) -> FabricArrays:
    """Return the fabric with changes of links, and of forwarding as `converge` computes it for what is broken.

    `sets` are those of the fabric, to which `converge` adds. Hosts do not react: what they, or the last switch, send
    over a link that is down is lost. Raises UsageError.
    """
    if not outages:
        return fabric
    _check(outages)
    names = FailureNames(fabric)
    broken = {outage: names.named(outage.name) for outage in outages}
    states = list(_states(fabric.forwarding[0], broken, converge))
    set_first, set_links = sets.arrays()
    return replace(
        fabric,
        set_first=set_first,
        set_links=set_links,
        forwarding=tuple(states),
        changes=tuple(_changes(broken)),
    )


def _check(outages: Sequence[Outage]) -> None:
    for one in outages:
        if one.down_ps < 0 or one.detection_ps < 0:
            raise UsageError(f"the failure of {one.name}: times must not be negative")
        if one.up_ps is not None and one.up_ps <= one.down_ps:
            raise UsageError(f"the failure of {one.name}: it must come back after it went down, not before")


def _changes(broken: Mapping[Outage, Broken]) -> Iterator[LinkChange]:
    """Yield times at which links go down and up, in order; a link with several outages is up after all of them."""
    events: dict[int, list[tuple[int, int]]] = {}
    for outage, what in broken.items():
        for at, by in ((outage.down_ps, 1), (outage.up_ps, -1)):
            if at is not None:
                events.setdefault(at, []).extend((link, by) for link in what.links)
    down: Counter[int] = Counter()
    for at in sorted(events):
        before = Counter(down)
        for link, by in events[at]:
            down[link] += by
        for link in sorted({link for link, _ in events[at]}):
            if (before[link] > 0) != (down[link] > 0):
                yield LinkChange(at, link, up=not down[link])


def _states(first: Forwarding, broken: Mapping[Outage, Broken], converge: Converge) -> Iterator[Forwarding]:
    """Yield the forwarding from the start on, once for every time at which routing learns of something."""
    times = {0}
    seen: list[tuple[int, float, Broken]] = []
    for outage, what in broken.items():
        known = outage.down_ps + outage.detection_ps
        if outage.up_ps is None or known < outage.up_ps:
            over = float("inf") if outage.up_ps is None else outage.up_ps + outage.detection_ps
            seen.append((known, over, what))
            times |= {known} if outage.up_ps is None else {known, outage.up_ps + outage.detection_ps}
    nothing = Broken(frozenset(), frozenset())
    found = {nothing: first.next_hops}
    last = None
    for at in sorted(times):
        now = nothing
        for known, over, what in seen:
            now = now | what if known <= at < over else now
        if now not in found:
            found[now] = converge(now)
        if now != last:
            yield Forwarding(at, found[now])
        last = now
