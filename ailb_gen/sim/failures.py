"""Links and switches that fail, by the names that users write: from the start, or at a time and until another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import reduce
from operator import or_

import numpy as np

from ailb_gen.errors import UsageError
from ailb_gen.sim.fabric import (
    UNREACHABLE,
    Bools,
    Degradation,
    FabricArrays,
    Forwarding,
    Int32,
    Int64,
    LinkChange,
    NextHopSets,
)
from ailb_gen.wording import did_you_mean


@dataclass(frozen=True, slots=True)
class Broken:
    """Links, both of every cable, and switches (nodes); the links of these are among the former."""

    links: frozenset[int]
    switches: frozenset[int]

    def __or__(self, other: Broken) -> Broken:
        return Broken(self.links | other.links, self.switches | other.switches)


# The next-hop sets of all switches and prefixes while something is broken.
Converge = Callable[[Broken], Int32]


@dataclass(frozen=True, slots=True)
class Outage:
    """Links, or switches, that are down from a time on, or carry less than they could.

    `name` is the user's: `leaf1:et-0/0/3`, `leaf1-spine2`, `spine1`, or a glob (see `FailureNames`). Without `up_ps`
    they do not come back. FIBs follow `detection_ps` after either; what comes back before is not noticed by routing,
    nor is a link that is only degraded.
    """

    name: str
    down_ps: int
    up_ps: int | None = None
    detection_ps: int = 0
    degraded: Degradation | None = None


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


def _without_sets(sets: Int32, empty: Bools) -> Int32:
    """Return the numbers of next-hop sets with UNREACHABLE for the empty ones."""
    return np.where((sets >= 0) & empty[sets], np.int32(UNREACHABLE), sets)


def _cables(fabric: FabricArrays) -> Bools:
    """Return which links stand for their cables, one of each, shape (L,)."""
    return fabric.link_reverse > np.arange(fabric.link_count)


def random_cables(fabric: FabricArrays, probability: float, seed: int) -> Int64:
    """Draw cables that are down, each with a probability; returns one link of each."""
    cables = np.flatnonzero(_cables(fabric))
    return cables[np.random.default_rng(seed).random(len(cables)) < probability]


def random_links(fabric: FabricArrays, count: int, seed: int) -> list[str]:
    """Draw links between switches; returns a port of each. Raises UsageError if there are not as many."""
    ends = np.minimum(fabric.link_source, fabric.link_target) >= fabric.host_count
    links = np.flatnonzero(ends & _cables(fabric))
    if count > len(links):
        raise UsageError(f"{count:,} links are to fail, and there are {len(links):,} between switches")
    drawn = np.sort(np.random.default_rng(seed).choice(links, count, replace=False))
    return [fabric.link_names[link] for link in drawn.tolist()]


def scheduled(fabric: FabricArrays, outages: Sequence[Outage], sets: NextHopSets, converge: Converge) -> FabricArrays:
    """Return the fabric with changes of links, and of forwarding as `converge` computes it for what is broken.

    `sets` are those of the fabric, to which `converge` adds. Hosts do not react: what they, or the last switch, send
    over a link that is down is lost. Raises UsageError.
    """
    if not outages:
        return fabric
    names = FailureNames(fabric)
    broken = {outage: names.named(outage.name) for outage in outages}
    states = tuple(_states(fabric.forwarding[0], broken, converge))
    set_first, set_links = sets.arrays()
    changes = tuple(_changes(broken))
    return replace(fabric, set_first=set_first, set_links=set_links, forwarding=states, changes=changes)


def _changes(broken: Mapping[Outage, Broken]) -> Iterator[LinkChange]:
    """Yield the changes of links in order; a link with several outages is up, and sound, after all of them."""
    events: dict[int, list[tuple[int, Outage, bool]]] = {}
    for outage, what in broken.items():
        for at, begins in ((outage.down_ps, True), (outage.up_ps, False)):
            if at is not None:
                events.setdefault(at, []).extend((link, outage, begins) for link in what.links)
    holding: dict[int, tuple[Outage, ...]] = defaultdict(tuple)
    state: dict[int, tuple[bool, Degradation]] = defaultdict(lambda: (True, Degradation()))
    for at in sorted(events):
        for link, outage, begins in events[at]:
            others = tuple(one for one in holding[link] if one is not outage)
            holding[link] = (*others, outage) if begins else others
        for link in sorted({link for link, _, _ in events[at]}):
            parts = [one.degraded for one in holding[link] if one.degraded is not None]
            found = len(parts) == len(holding[link]), reduce(or_, parts, Degradation())
            if found != state[link]:
                state[link] = found
                yield LinkChange(at, link, *found)


def _states(first: Forwarding, broken: Mapping[Outage, Broken], converge: Converge) -> Iterator[Forwarding]:
    """Yield the forwarding from the start on, once for every time at which routing learns of something."""
    times = {0}
    seen: list[tuple[int, float, Broken]] = []
    for outage, what in broken.items():
        if outage.degraded is not None:
            continue
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


class FailureNames:
    """Looks the names of failures up in a fabric; globs stand for all that they match."""

    def __init__(self, fabric: FabricArrays) -> None:
        self.fabric = fabric
        self.switches = {name: node for node, name in enumerate(fabric.names) if node >= fabric.host_count}
        # The links that leave from a device, or from a port with or without its unit.
        self.ends: dict[str, set[int]] = defaultdict(set)
        for link, source in enumerate(fabric.link_source.tolist()):
            node, port = fabric.names[source], fabric.link_names[link]
            server = node.partition(":")[0]
            for name in {node, server, port, f"{port}.0"}:
                self.ends[name].add(link)

    def named(self, word: str) -> Broken:
        """Return the links and switches of a word.

        A switch; a port as `DEVICE:PORT`, with or without unit; all cables of a host or server; all cables between two
        devices, or one between two ports, as `ONE-OTHER` or `ONE:OTHER`. With `*`, `?` or `[...]` all switches that
        match, else all ports, else all cables between two devices. Raises UsageError.
        """
        if any(mark in word for mark in "*?["):
            return self._matching(word)
        if word in self.switches:
            node = self.switches[word]
            return Broken(self._both(self.ends[word]), frozenset({node}))
        for name in (word, word.replace(" ", ":", 1)):
            if name in self.ends:
                return Broken(self._both(self.ends[name]), frozenset())
        reverse = self.fabric.link_reverse
        for one, other in _parts(word):
            if one in self.ends and other in self.ends:
                found = {link for link in self.ends[one] if int(reverse[link]) in self.ends[other]}
                if found:
                    return Broken(self._both(found), frozenset())
        raise self._unknown(word)

    def _matching(self, word: str) -> Broken:
        """Return what a glob matches: switches, else ports, else pairs of devices. Raises UsageError."""
        switches = frozenset(node for name, node in self.switches.items() if fnmatchcase(name, word))
        if switches:
            names = self.fabric.names
            return Broken(self._both({link for node in switches for link in self.ends[names[node]]}), switches)
        found = {link for link, name in enumerate(self.fabric.link_names) if fnmatchcase(name, word)}
        found = found or {link for link, (one, other) in self._pairs() if fnmatchcase(f"{one}-{other}", word)}
        if not found:
            raise self._unknown(word)
        return Broken(self._both(found), frozenset())

    def _unknown(self, word: str) -> UsageError:
        hint = did_you_mean(word, self._known()) or "name a port as DEVICE:PORT, two devices as ONE-OTHER, or a switch"
        return UsageError(f"{word!r}: there is no such link or switch; {hint}")

    def _pairs(self) -> Iterator[tuple[int, tuple[str, str]]]:
        """Yield every link with the names of its devices."""
        fabric = self.fabric
        ends = zip(fabric.link_source.tolist(), fabric.link_target.tolist(), strict=True)
        yield from ((link, (fabric.names[one], fabric.names[other])) for link, (one, other) in enumerate(ends))

    def _both(self, links: set[int]) -> frozenset[int]:
        one = np.array(sorted(links), dtype=np.int64)
        return frozenset(one.tolist()) | frozenset(self.fabric.link_reverse[one].tolist())

    def _known(self) -> Iterator[str]:
        yield from self.switches
        yield from self.fabric.link_names
        yield from dict.fromkeys(f"{one}-{other}" for _, (one, other) in self._pairs())


def _parts(word: str) -> Iterator[tuple[str, str]]:
    """Yield all readings of a word as two ends."""
    for mark in (" - ", "-", ":"):
        at = word.find(mark)
        while at >= 0:
            yield word[:at], word[at + len(mark) :]
            at = word.find(mark, at + 1)
