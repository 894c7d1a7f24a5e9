"""The model of a picture: the devices and links of a fabric, and an overlay of marks on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ailb_gen.network.fabric import Cable

Role = Literal["leaf", "spine", "server"]


@dataclass(frozen=True, slots=True)
class DrawnDevice:
    """A switch or a server.

    `stripe` counts from 1, 0 where the device belongs to none; `rail` counts from 0, None where it has none. `colors`
    are those of a spine, `kind`, `gpus` and `speeds` those of a server: the name of its kind, empty for the usual one;
    whether it has GPUs; and the speed of its NICs, empty if all servers have the same.
    """

    name: str
    role: Role
    stripe: int = 0
    rail: int | None = None
    colors: tuple[str, ...] = ()
    kind: str = ""
    gpus: bool = True
    speeds: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """The fabric to be drawn.

    `colors` are in the order of the fabric, which decides the hue and the letter of each. `links` are between switches,
    `attachments` towards servers.
    """

    fabric: str
    colors: tuple[str, ...]
    devices: tuple[DrawnDevice, ...]
    links: tuple[Cable, ...]
    attachments: tuple[Cable, ...] = ()

    @property
    def cables(self) -> tuple[Cable, ...]:
        """All links, also those towards servers."""
        return (*self.links, *self.attachments)


@dataclass(frozen=True, slots=True)
class PathMark:
    """A path to be marked: the names of its links in order, and its label, such as a queue pair.

    `problem` is why it does not arrive, empty if it does. `former` are its links without failures, empty if they are
    the same.
    """

    label: str
    links: tuple[str, ...]
    problem: str = ""
    former: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Overlay:
    """Marks on a picture; links are known by name.

    `down` are failed links, `dead` failed devices, `drained` links and devices that the intent takes out of service,
    `missing` switches without a usable file. `loads` are those of a link from its first end to its second and back, as
    a multiple of the highest without failures. `findings` are the open ones of a device or a link by severity
    (`error`, `warning`, `note`), `touched` the change of a device by a plan, in a word or two.
    """

    down: frozenset[str] = frozenset()
    dead: frozenset[str] = frozenset()
    drained: frozenset[str] = frozenset()
    missing: frozenset[str] = frozenset()
    loads: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    findings: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    touched: Mapping[str, str] = field(default_factory=dict)
    paths: tuple[PathMark, ...] = ()


NO_OVERLAY = Overlay()
