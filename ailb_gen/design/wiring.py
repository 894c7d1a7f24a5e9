"""Leaf-spine links: which port of a leaf meets which port of a spine, and in which color."""

from dataclasses import dataclass
from typing import NamedTuple

from ailb_gen.design.colors import color_of, step_of
from ailb_gen.design.inventory import Slot
from ailb_gen.design.model import Color, Link
from ailb_gen.design.ports import LaidOut, Layout, PortUse
from ailb_gen.design.problems import Problems
from ailb_gen.intent.models import Fabric


class Wire(NamedTuple):
    """A leaf-spine link with both ports as they are used."""

    link: Link
    leaf_use: PortUse
    spine_use: PortUse


def _explicit_rows(slot: Slot, peers: set[str], layout: Layout, problems: Problems) -> dict[str, tuple[PortUse, ...]]:
    """Return the ports that an override names, per peer; notes unknown peers and wrong numbers of ports."""
    result: dict[str, tuple[PortUse, ...]] = {}
    for peer, names in slot.explicit_links.items():
        path = problems.where(slot.own, slot.links_key, peer)
        if peer not in peers:
            problems.error("unknown-device", path, f"{slot.name} has no link to a switch called {peer!r}")
        elif len(names) != layout.links:
            reason = f"{layout.links} ports are needed, one per link; {len(names)} are given"
            problems.error("wrong-count", path, reason)
        else:
            result[peer] = tuple(
                slot.ports.explicit(name, layout, (*path, n), problems) for n, name in enumerate(names)
            )
    return result


@dataclass(frozen=True, slots=True)
class _Side:
    """The ports of one switch towards all its peers; `laid_out` is by peer and link, None where they do not fit."""

    slot: Slot
    layout: Layout
    explicit: dict[str, tuple[PortUse, ...]]
    laid_out: LaidOut | None

    def uses(self, peer: Slot) -> tuple[PortUse, ...]:
        """Return the ports of all links to a peer."""
        if peer.name in self.explicit:
            return self.explicit[peer.name]
        if self.laid_out is not None:
            return self.laid_out[peer.index]
        speed = self.layout.speed_gbps
        return tuple(PortUse(f"?{peer.name}:{link}", "", 1, speed) for link in range(self.layout.links))


def _sides(slots: tuple[Slot, ...], peers: tuple[Slot, ...], fabric: Fabric, problems: Problems) -> tuple[_Side, ...]:
    row, kind = (fabric.uplinks, "spines") if slots[0].role == "leaf" else (fabric.downlinks, "leaves")
    names = {peer.name for peer in peers}
    laid_out: dict[tuple[str, int], LaidOut | None] = {}
    result = []
    for slot in slots:
        layout = slot.ports.layout(row, fabric.uplinks.speed, fabric.links_per_spine)
        explicit = _explicit_rows(slot, names, layout, problems)
        neighbors = max((peer.index + 1 for peer in peers if peer.name not in explicit), default=0)
        case = (slot.ports.name, neighbors)
        if case not in laid_out:
            what = f"links of {slot.name} to {len(peers)} {kind} at {fabric.links_per_spine} per pair"
            fits = slot.ports.check_layout(layout, neighbors, what, (slot.links_key,), problems)
            laid_out[case] = slot.ports.uses(layout, neighbors) if fits else None
        result.append(_Side(slot, layout, explicit, laid_out[case]))
    return tuple(result)


def wires(
    leaves: tuple[Slot, ...],
    spines: tuple[Slot, ...],
    colors: tuple[Color, ...],
    fabric: Fabric,
    problems: Problems,
) -> tuple[Wire, ...]:
    """Return every leaf-spine link: by leaf, then spine, then link."""
    leaf_sides = _sides(leaves, spines, fabric, problems)
    spine_sides = _sides(spines, leaves, fabric, problems)
    speed, step = fabric.uplinks.speed, step_of(fabric)
    by_spine = [
        (spine, [color_of(colors, step, spine.slot.index, link) for link in range(fabric.links_per_spine)])
        for spine in spine_sides
    ]
    result = []
    for leaf in leaf_sides:
        for spine, link_colors in by_spine:
            for near, far, color in zip(leaf.uses(spine.slot), spine.uses(leaf.slot), link_colors, strict=True):
                link = Link(leaf.slot.name, near.interface, spine.slot.name, far.interface, color, speed)
                result.append(Wire(link, near, far))
    return tuple(result)
