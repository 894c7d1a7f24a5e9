"""Measurements of a lab as plain data, in the names of the files: ports of Junos, NICs of servers, prefixes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ailb_gen.addresses import Prefix
from ailb_gen.lab.advertisements import Advertisement
from ailb_gen.lab.bird.model import BfdState, SessionState
from ailb_gen.lab.kernel import KernelRoutes, KernelRule
from ailb_gen.network.fabric import End
from ailb_gen.routing.rib import Path

# A switch's own ports that packets to a prefix leave by, by switch and prefix; direct routes are not in here.
Hops = Mapping[str, Mapping[Prefix, frozenset[str]]]
ACTIVE, INACTIVE, HIDDEN = "active", "inactive", "hidden"


class Pair(NamedTuple):
    """A queue pair between two NICs of one rail; `number` counts the prefixes from 1."""

    source: End
    target: End
    number: int


@dataclass(frozen=True, slots=True)
class Samples:
    """Samples of sets that are too large to check completely.

    `prefixes` are those whose paths are read, `pairs` those that are traced, `probes` the prefixes that some leaves
    announce for a moment.
    """

    prefixes: tuple[Prefix, ...]
    pairs: tuple[Pair, ...]
    probes: Mapping[str, Prefix]


class ObservedTrace(NamedTuple):
    """The names of the devices that answered to rising hop limits; `end` says why packets ended before their target.

    `pair` is the number of the queue pair, counted from 1: the prefix of both ends. With a `size`, in bytes and whole,
    as large as the MTUs of both NICs allow, it is a single packet, and only a device that did not pass it on answers.
    """

    source: End
    target: End
    pair: int
    hops: tuple[str, ...]
    end: str = ""
    size: int = 0


class ObservedRecoloring(NamedTuple):
    """What colors that change cost: packets, the longest interruption of a flow, `worst`, in ms.

    `moved` says whether other leaves sent packets over the other color; `skipped` says why nothing was tried.
    """

    sent: int = 0
    lost: int = 0
    outage_ms: float = 0.0
    worst: str = ""
    moved: bool = True
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class Observed:
    """The result of one pass over a lab.

    `devices` are those that run, `untranslated` the statements (text, line) that the lab leaves out by switch.
    `advertisements` are by the port or NIC where they arrived, `addresses` are global ones by NIC and by IRB
    (`irb.2`), `macs` those of NICs; `tables` are by server and id, but for the kernel's own. `mtus` are those of ports,
    IRBs and NICs, in bytes without Ethernet headers. `sessions` and `bfd` are by the switch's own port, `ribs` are the
    paths, after import, of the prefixes in `examined`, with status and logical interface. `probed` are the switches
    that a probe prefix came to, with the ports by which it did, by the leaf that announced it; `not_probed` says why
    none was sent.
    """

    devices: frozenset[str] = frozenset()
    untranslated: Mapping[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    advertisements: Mapping[End, Advertisement] = field(default_factory=dict)
    addresses: Mapping[End, frozenset[int]] = field(default_factory=dict)
    macs: Mapping[End, str] = field(default_factory=dict)
    rules: Mapping[str, frozenset[KernelRule]] = field(default_factory=dict)
    tables: Mapping[str, Mapping[int, KernelRoutes]] = field(default_factory=dict)
    sessions: Mapping[End, SessionState] = field(default_factory=dict)
    examined: tuple[Prefix, ...] = ()
    ribs: Mapping[str, Mapping[Prefix, tuple[Path, ...]]] = field(default_factory=dict)
    hops: Hops = field(default_factory=dict)
    traces: tuple[ObservedTrace, ...] = ()
    sizes: tuple[ObservedTrace, ...] = ()
    mtus: Mapping[End, int] = field(default_factory=dict)
    bfd: Mapping[End, BfdState] = field(default_factory=dict)
    probed: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict)
    not_probed: str = ""
