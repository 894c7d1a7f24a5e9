"""Which port a link takes: layout over the physical ports of a platform, and what its breakouts must be."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from ailb_gen.design.model import Breakout
from ailb_gen.design.problems import Problems
from ailb_gen.intent.models import Downlinks
from ailb_gen.intent.platforms import Profile
from ailb_gen.intent.servers import Spread
from ailb_gen.wording import counted
from ailb_gen.yamlio import Path

PORT = re.compile(r"^([a-z]{2})-(\d+)/(\d+)/(\d+)(?::(\d+))?$")


@dataclass(frozen=True, slots=True)
class Layout:
    """The assignment of links to ports, for a row of neighbors."""

    speed_gbps: int
    sub_ports: int
    first_port: int
    packing: str
    links: int

    def position(self, neighbor: int, link: int) -> tuple[int, int]:
        """Return (physical port index, sub-port) of a link; both arguments count from 0."""
        if self.packing == "packed":
            port, channel = divmod(neighbor * self.links + link, self.sub_ports)
            return self.first_port + port, channel
        per_neighbor = -(-self.links // self.sub_ports)
        port, channel = divmod(link, self.sub_ports)
        return self.first_port + neighbor * per_neighbor + port, channel

    def most(self, ports: int) -> int:
        """Return the highest number of neighbors for which so many physical ports are enough."""
        if self.packing == "packed":
            return ports * self.sub_ports // self.links
        return ports // -(-self.links // self.sub_ports)

    def needed(self, neighbors: int) -> int:
        """Physical ports that `neighbors` take."""
        return self.position(neighbors - 1, self.links - 1)[0] + 1 - self.first_port if neighbors else 0


@dataclass(frozen=True, slots=True)
class PortUse:
    """A port as one link needs it; `statement` is its speed statement, empty where a breakout or the platform sets it.

    `physical` is empty for a port that could not be found.
    """

    interface: str
    physical: str
    sub_ports: int
    speed_gbps: int
    statement: str = ""


# Ports by neighbor, then by link to it.
LaidOut = tuple[tuple[PortUse, ...], ...]


@cache
def sort_key(interface: str) -> tuple[str, int, int, int, int]:
    """Order ports as Junos lists them: by FPC, PIC, port and sub-port, the unsplit port first."""
    found = PORT.match(interface)
    if found is None:
        return (interface, 0, 0, 0, 0)
    kind, fpc, pic, port, channel = found.groups()
    return (kind, int(fpc), int(pic), int(port), -1 if channel is None else int(channel))


class Ports:
    """The physical ports of one platform: names, and the breakouts it offers."""

    __slots__ = ("groups", "name", "names", "profile")

    def __init__(self, name: str, profile: Profile) -> None:
        self.name = name
        self.profile = profile
        self.names = profile.port_names()
        self.groups = {port: group for group in profile.port_groups for port in group.names()}

    def layout(self, row: Spread | Downlinks, speed_gbps: int, links: int) -> Layout:
        """Make a layout; without `sub_ports` the port is split as far as the platform does at this speed."""
        group = self.groups[self.names[min(row.first_port, len(self.names) - 1)]]
        splits = group.speeds.get(speed_gbps, ())
        return Layout(speed_gbps, row.sub_ports or max(splits, default=1), row.first_port, row.packing, links)

    def check_layout(self, layout: Layout, neighbors: int, what: str, path: Path, problems: Problems) -> bool:
        """Check that the platform has the speed, the breakout and enough ports; notes problems."""
        if not neighbors:
            return True
        last = layout.first_port + layout.needed(neighbors)
        if last > len(self.names):
            have = max(0, len(self.names) - layout.first_port)
            packed = Layout(layout.speed_gbps, layout.sub_ports, layout.first_port, "packed", layout.links)
            reason = (
                f"{what} need {counted(layout.needed(neighbors), 'physical port')} from index {layout.first_port} on, "
                f"{self.name} has {have} there ({len(self.names)} in all)"
            )
            fits = layout.packing == "spread" and packed.needed(neighbors) <= have
            hint = f"packing: packed needs only {packed.needed(neighbors)}" if fits else f"{layout.most(have)} fit"
            problems.error("ports-exhausted", path, reason, hint)
            return False
        used = {id(group): group for group in map(self.groups.get, self.names[layout.first_port : last]) if group}
        for group in used.values():
            splits = group.speeds.get(layout.speed_gbps)
            if splits is None:
                offered = ", ".join(f"{speed}g" for speed in sorted(group.speeds, reverse=True))
                reason = f"{self.name} has no {layout.speed_gbps}g on these ports; it offers {offered}"
                speed_path = ("uplinks", "speed") if path == ("downlinks",) else (*path, "speed")
                problems.error("no-such-speed", speed_path, reason)
                return False
            if layout.sub_ports not in splits:
                reason = f"{self.name} does not split a port into {layout.sub_ports} x {layout.speed_gbps}g"
                hint = f"possible: {', '.join(map(str, splits))}"
                problems.error("no-such-breakout", (*path, "sub_ports"), reason, hint)
                return False
        return True

    def uses(self, layout: Layout, neighbors: int) -> LaidOut:
        """Return the ports of all links by the layout: a row per neighbor, in it a port per link."""
        return tuple(tuple(self._laid_out(layout, n, link) for link in range(layout.links)) for n in range(neighbors))

    def _laid_out(self, layout: Layout, neighbor: int, link: int) -> PortUse:
        port, channel = layout.position(neighbor, link)
        physical = self.names[port]
        name = physical if layout.sub_ports == 1 else f"{physical}:{channel}"
        return self._use(name, physical, layout.sub_ports, layout.speed_gbps)

    def explicit(self, interface: str, layout: Layout, path: Path, problems: Problems) -> PortUse:
        """Return the named port; notes a problem if the platform cannot give it."""
        physical, _, channel = interface.partition(":")
        sub_ports = layout.sub_ports if channel else 1
        group = self.groups.get(physical)
        if group is None:
            problems.error(
                "no-such-port",
                path,
                f"{self.name} has no port {physical}",
                f"its ports are {self.names[0]} to {self.names[-1]}",
            )
        elif sub_ports not in group.speeds.get(layout.speed_gbps, ()):
            reason = f"{physical} of {self.name} cannot be {sub_ports} x {layout.speed_gbps}g"
            problems.error("no-such-breakout", path, reason)
        elif channel and sub_ports == 1:
            reason = f"{physical} is not split at {layout.speed_gbps}g, so it has no sub-port {channel}"
            problems.error("no-such-port", path, reason, f"write {physical}, or set sub_ports")
        elif channel and int(channel) >= sub_ports:
            reason = (
                f"{physical} is split into {sub_ports}; its sub-ports are {physical}:0 to {physical}:{sub_ports - 1}"
            )
            problems.error("no-such-port", path, reason)
        return self._use(interface, physical, sub_ports, layout.speed_gbps)

    def _use(self, interface: str, physical: str, sub_ports: int, speed_gbps: int) -> PortUse:
        group = self.groups.get(physical)
        needed = sub_ports == 1 and group is not None and group.native != speed_gbps
        return PortUse(interface, physical, sub_ports, speed_gbps, f"{speed_gbps}g" if needed else "")


def breakouts(uses: Iterable[PortUse]) -> tuple[Breakout, ...]:
    """Return the physical ports that must be split, in order."""
    split = {use.physical: use for use in uses if use.sub_ports > 1}
    return tuple(
        Breakout(name, split[name].sub_ports, f"{split[name].speed_gbps}g") for name in sorted(split, key=sort_key)
    )
