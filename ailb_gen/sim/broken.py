"""Links and switches that fail, by the names that users write."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ailb_gen.errors import UsageError
from ailb_gen.sim.fabric import FabricArrays
from ailb_gen.wording import did_you_mean


@dataclass(frozen=True, slots=True)
class Broken:
    """Links, both of every cable, and switches (nodes); the links of these are among the former."""

    links: frozenset[int]
    switches: frozenset[int]

    def __or__(self, other: Broken) -> Broken:
        return Broken(self.links | other.links, self.switches | other.switches)


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
