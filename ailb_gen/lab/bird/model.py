"""Inputs and outputs of the translation for BIRD, and BIRD's sessions and routes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ailb_gen.addresses import Prefix
from ailb_gen.routing.route import Route
from ailb_gen.textio import line_field

# The names of BIRD's protocols that are not sessions.
KERNEL, DIRECT, BFD = "kernel6", "direct6", "bfd1"
ECMP_PIPE, ECMP_KERNEL = "pipe_ecmp", "kernel_ecmp"
# The routing table of the kernel in which AIGP does not count.
ECMP_TABLE = 4791


@dataclass(frozen=True, slots=True)
class BirdPeer:
    """A neighbor: its address, link-local where it was discovered, and its AS number on that session."""

    address: int
    asn: int


@dataclass(frozen=True, slots=True)
class Untranslated:
    """A statement that BIRD does not do as Junos would, and the reason or effect; line 0 where it has none."""

    statement: str
    reason: str
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class Translation:
    """A switch's configuration for BIRD.

    `sessions` has the name of the protocol for each logical interface with a session. `reasons` says why a route is
    hidden, by the number that BIRD gives it.
    """

    text: str
    sessions: Mapping[str, str]
    reasons: Mapping[int, str] = field(default_factory=dict)
    untranslated: tuple[Untranslated, ...] = ()


class RibRoute(NamedTuple):
    """A route in BIRD: its source protocol, whether it is active, and its attributes as Junos would have them.

    AIGP is what the origin has set. `hidden` is the number of the reason for which the route is not used, 0 if it is.
    """

    prefix: Prefix
    protocol: str
    active: bool
    route: Route
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class SessionState:
    """A BGP session as BIRD sees it; `state` is Established, Active, Connect, OpenSent and so on, Idle when stopped.

    `since` is the time of the last change, as BIRD writes it; addresses are text. Routes are counted:
    imported and not hidden, hidden, exported, active.
    """

    state: str
    local_as: int
    neighbor_as: int
    link: str = ""
    neighbor: str = ""
    since: str = ""
    imported: int = 0
    hidden: int = 0
    exported: int = 0
    active: int = 0
    updates_received: int = 0
    updates_sent: int = 0
    last_error: str = ""

    @property
    def established(self) -> bool:
        """Return whether the session is up."""
        return self.state == "Established"

    @property
    def trouble(self) -> str:
        """Return the state, with the last error if there is one."""
        return f"{self.state}{f', {self.last_error}' if self.last_error else ''}"


class BfdState(NamedTuple):
    """A BFD session: whether it is up, the interval of packets and the time until it is down, in ms."""

    up: bool
    interval_ms: int
    timeout_ms: int
