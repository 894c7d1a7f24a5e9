"""Names and globs of a scenario to the hosts, links and switches of its fabric."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from ailb_gen.errors import UsageError
from ailb_gen.sim.fabric import FabricArrays
from ailb_gen.wording import did_you_mean


def links_of(fabric: FabricArrays, pattern: str) -> list[int]:
    """Return the directed links whose names match a name or glob. Raises UsageError."""
    return matching(fabric.link_names, pattern, "link")


def switches_or_ports(fabric: FabricArrays, pattern: str) -> tuple[list[int], list[int]]:
    """Return the switches, counted from 0, that match a name or glob, and the links that their ports send over.

    Where no switch matches, they are the ports of switches that do, and there are no switches. Raises UsageError.
    """
    names = fabric.names[fabric.host_count :]
    switches = [number for number, name in enumerate(names) if fnmatchcase(name, pattern)]
    own = [link for link, node in enumerate(fabric.link_source.tolist()) if node >= fabric.host_count]
    if switches:
        chosen = {fabric.host_count + number for number in switches}
        return switches, [link for link in own if int(fabric.link_source[link]) in chosen]
    # Of all that it may name; it names no switch.
    found = matching([*names, *(fabric.link_names[link] for link in own)], pattern, "switch or port")
    return [], [own[number - len(names)] for number in found]


def matching(names: Sequence[str], pattern: str, kind: str) -> list[int]:
    """Return the numbers of the names that match a name or glob. Raises UsageError for none."""
    found = [number for number, name in enumerate(names) if fnmatchcase(name, pattern)]
    if not found:
        known = f"names are such as {names[0]!r}" if names else f"the fabric has no {kind}s"
        raise UsageError(f"no {kind} is called {pattern!r}; {did_you_mean(pattern, names) or known}")
    return found
