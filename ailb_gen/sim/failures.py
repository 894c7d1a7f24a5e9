"""Links and switches that fail, by the names that users write: from the start, or at a time and until another."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ailb_gen.errors import UsageError
from ailb_gen.sim.fabric import UNREACHABLE, FabricArrays, Forwarding, Int32, Int64, LinkChange, NextHopSets
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
    """Draw cables that are down, each with a probability; returns one link of each."""
    cables = np.flatnonzero(fabric.link_reverse > np.arange(fabric.link_count))
    return cables[np.random.default_rng(seed).random(len(cables)) < probability]


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


class FailureNames:
    """Looks the names of failures up in a fabric."""

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
        devices, or one between two ports, as `ONE-OTHER` or `ONE:OTHER`. Raises UsageError.
        """
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
        hint = did_you_mean(word, self._known()) or "name a port as DEVICE:PORT, two devices as ONE-OTHER, or a switch"
        raise UsageError(f"failures: {word!r}: there is no such link or switch; {hint}")

    def _both(self, links: set[int]) -> frozenset[int]:
        one = np.array(sorted(links), dtype=np.int64)
        return frozenset(one.tolist()) | frozenset(self.fabric.link_reverse[one].tolist())

    def _known(self) -> Iterator[str]:
        fabric = self.fabric
        yield from self.switches
        yield from fabric.link_names
        ends = zip(fabric.link_source.tolist(), fabric.link_target.tolist(), strict=True)
        yield from dict.fromkeys(f"{fabric.names[one]}-{fabric.names[other]}" for one, other in ends)


def _parts(word: str) -> Iterator[tuple[str, str]]:
    """Yield all readings of a word as two ends."""
    for mark in (" - ", "-", ":"):
        at = word.find(mark)
        while at >= 0:
            yield word[:at], word[at + len(mark) :]
            at = word.find(mark, at + 1)
