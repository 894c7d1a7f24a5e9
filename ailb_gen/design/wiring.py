"""Which port meets which: leaf-spine links and the leaf ports of the GPU NICs."""

from dataclasses import dataclass

from ailb_gen.design.colors import color_of, step_of
from ailb_gen.design.inventory import Slot, StripeSlot
from ailb_gen.design.model import Color, Link
from ailb_gen.design.ports import Layout, Ports, PortUse
from ailb_gen.design.problems import Problems
from ailb_gen.intent.models import Fabric
from ailb_gen.yamlio import Path


@dataclass(frozen=True, slots=True)
class Wire:
    """A leaf-spine link with both ports as they are used."""

    link: Link
    leaf_use: PortUse
    spine_use: PortUse


def leaf_layout(fabric: Fabric, ports: Ports) -> Layout:
    """Return how a leaf's uplinks fall onto its ports."""
    row = fabric.uplinks
    return ports.layout(row.speed, row.sub_ports, row.first_port, row.packing, fabric.links_per_spine)


def spine_layout(fabric: Fabric, ports: Ports) -> Layout:
    """Return how a spine's links to the leaves fall onto its ports."""
    row = fabric.downlinks
    return ports.layout(fabric.uplinks.speed, row.sub_ports, row.first_port, row.packing, fabric.links_per_spine)


def host_layout(fabric: Fabric, ports: Ports) -> Layout:
    """Return how the GPU NICs fall onto the ports of a leaf."""
    row = fabric.host_ports
    return ports.layout(row.speed, row.sub_ports, row.first_port, row.packing, 1)


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
    """The ports of one switch towards all its peers."""

    slot: Slot
    layout: Layout
    explicit: dict[str, tuple[PortUse, ...]]
    automatic: bool

    def use(self, peer: Slot, link: int) -> PortUse:
        if peer.name in self.explicit:
            return self.explicit[peer.name][link]
        if not self.automatic:
            return PortUse(f"?{peer.name}:{link}", "", 1, self.layout.speed_gbps)
        return self.slot.ports.use(self.layout, peer.index, link)


def _sides(slots: tuple[Slot, ...], peers: tuple[Slot, ...], fabric: Fabric, problems: Problems) -> tuple[_Side, ...]:
    layout_of, kind = (leaf_layout, "spines") if slots[0].role == "leaf" else (spine_layout, "leaves")
    names = {peer.name for peer in peers}
    checked: dict[str, tuple[Layout, bool]] = {}
    result = []
    for slot in slots:
        layout = layout_of(fabric, slot.ports)
        explicit = _explicit_rows(slot, names, layout, problems)
        neighbours = max((peer.index + 1 for peer in peers if peer.name not in explicit), default=0)
        case = f"{slot.ports.name} {neighbours}"
        if case not in checked:
            what = f"links of {slot.name} to {len(peers)} {kind} at {fabric.links_per_spine} per pair"
            checked[case] = (layout, slot.ports.check_layout(layout, neighbours, what, (slot.links_key,), problems))
        result.append(_Side(slot, layout, explicit, checked[case][1]))
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
    result = []
    for leaf in leaf_sides:
        for spine in spine_sides:
            for link in range(fabric.links_per_spine):
                near, far = leaf.use(spine.slot, link), spine.use(leaf.slot, link)
                color = color_of(colors, step, spine.slot.index, link)
                row = Link(leaf.slot.name, near.interface, spine.slot.name, far.interface, color, speed)
                result.append(Wire(row, near, far))
    return tuple(result)


class HostWiring:
    """Hands out the leaf ports of the GPU NICs, the same row of ports on every leaf of a stripe."""

    __slots__ = ("checked", "fabric", "problems")

    def __init__(self, fabric: Fabric, problems: Problems) -> None:
        self.fabric, self.problems = fabric, problems
        self.checked: dict[tuple[str, int], bool] = {}

    def use(self, leaf: Slot, position: int) -> PortUse:
        """Return the port of the stripe's server number `position`, counted from 0."""
        return leaf.ports.use(host_layout(self.fabric, leaf.ports), position, 0)

    def explicit(self, leaf: Slot, name: str, path: Path) -> PortUse:
        """Return the named port."""
        return leaf.ports.explicit(name, host_layout(self.fabric, leaf.ports), path, self.problems)

    def fits(self, stripe: StripeSlot, servers: int) -> bool:
        """Check that every leaf of the stripe has ports for so many servers that name none themselves."""
        good = True
        for leaf in stripe.leaves:
            case = (leaf.ports.name, servers)
            if case not in self.checked:
                layout = host_layout(self.fabric, leaf.ports)
                what = f"{servers} server ports of {leaf.name}"
                self.checked[case] = leaf.ports.check_layout(layout, servers, what, ("host_ports",), self.problems)
            good &= self.checked[case]
        return good
