"""The fabric as a whole: switches, servers and the cables between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ailb_gen.errors import Place
from ailb_gen.hosts.model import Host
from ailb_gen.network.model import Switch
from ailb_gen.textio import line_field


@dataclass(frozen=True, slots=True, order=True)
class End:
    """One end of a cable: a port of a switch or a NIC of a server."""

    device: str
    port: str

    def __str__(self) -> str:
        return f"{self.device}:{self.port}"


@dataclass(frozen=True, slots=True)
class Cable:
    """A cable; between switches `a` is the leaf, to a server `a` is the switch. `color` is what the file says of it."""

    a: End
    b: End
    color: str = ""
    speed_bps: int | None = None
    line: int = line_field()

    @property
    def name(self) -> str:
        """Both ends, as checks print them."""
        return f"{self.a} - {self.b}"


@dataclass(frozen=True, slots=True)
class Defect:
    """Defects of files: missing, unreadable, contradicting each other.

    `kind` is one of the keys of `ailb_gen.checks.families.files.KINDS`.
    """

    kind: str
    scope: str
    message: str
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Network:
    """Everything read from an artifact directory.

    `links` are the cables between switches, `attachments` those to servers by (server, NIC); `attachment_bps` are the
    speeds of the latter by the switch's port, where the list of cables has them. `roles` says leaf or spine for every
    switch; `rails` number the leaves of a stripe from 0, where the lists of cables do. A switch or server whose file is
    missing or unreadable is not in here; `defects` tells.
    """

    switches: Mapping[str, Switch]
    hosts: Mapping[str, Host]
    roles: Mapping[str, str]
    links: tuple[Cable, ...]
    attachments: Mapping[tuple[str, str], End]
    defects: tuple[Defect, ...]
    attachment_bps: Mapping[End, int] = field(default_factory=dict)
    rails: Mapping[str, int] = field(default_factory=dict)

    def link_ends(self) -> Iterator[End]:
        """Iterate over both ends of every cable between switches."""
        return (end for cable in self.links for end in (cable.a, cable.b))
