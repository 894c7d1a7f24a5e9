"""Routes with their BGP attributes, and the order in which Junos prefers them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

DIRECT, BGP, STATIC = "direct", "bgp", "static"
DEFAULT_LOCAL_PREFERENCE = 100
COLOR = "color:"
# Communities that every router knows by name. All sessions here are external: what carries one of them goes nowhere.
WELL_KNOWN = {"no-export": "65535:65281", "no-advertise": "65535:65282", "no-export-subconfed": "65535:65283"}
# What the sender of a graceful shutdown adds (RFC 8326); it is sent on like any other.
GRACEFUL_SHUTDOWN = "65535:0"
KEPT_BACK = frozenset(WELL_KNOWN.values())


@dataclass(frozen=True, slots=True)
class Route:
    """A route as a device holds or sends it.

    `as_path` has the nearest AS first; in an advertisement the sender's own AS is not in it yet, because the switches
    of one class send the same route and differ only in that number. `aigp` is None without the attribute (RFC 7311).
    """

    as_path: tuple[int, ...] = ()
    communities: frozenset[str] = frozenset()
    aigp: int | None = None
    local_preference: int = DEFAULT_LOCAL_PREFERENCE
    med: int | None = None
    protocol: str = BGP

    @property
    def colors(self) -> frozenset[str]:
        """The color communities among the communities."""
        return _colors(self.communities)


@lru_cache(4096)
def _colors(communities: frozenset[str]) -> frozenset[str]:
    return frozenset(value for value in communities if value.startswith(COLOR))


Rank = tuple[int, bool, int, int]


def rank(route: Route) -> Rank:
    """Return what routes are ordered by, smallest first: local preference, AIGP, AS-path length.

    Junos compares AIGP before the AS path; a path with the attribute beats one without (RFC 7311, section 4.1). All
    routes here have origin IGP and come from single-hop EBGP, so that nothing is added to AIGP on the way. MED, which
    is only compared among paths of one neighboring AS, comes after these.
    """
    return (-route.local_preference, route.aigp is None, route.aigp or 0, len(route.as_path))
