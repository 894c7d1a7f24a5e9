"""A view as nodes and edges, for programs that lay it out themselves: Graphviz and Mermaid."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ailb_gen.network.fabric import Cable
from ailb_gen.picture.device_layout import MOST
from ailb_gen.picture.diagram import DrawnWire, note_of, servers_text
from ailb_gen.picture.model import DrawnDevice, Overlay, Picture
from ailb_gen.picture.palette import Coloring, colorings
from ailb_gen.picture.path_layout import path_rows_of
from ailb_gen.picture.status import (
    WireStatus,
    device_status,
    findings,
    findings_text,
    load_width,
    state_of,
    title_of,
    wire_status,
)
from ailb_gen.picture.view import PictureView, Scene, is_large, scene_of, shown_servers
from ailb_gen.wording import counted

# Longer labels of edges need room beside each other.
LABEL = 4


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A device, or several as one; `group` is the stripe in which it is drawn, 0 for none.

    `out` says that it has failed, is drained, or has no usable file.
    """

    name: str
    role: str
    lines: tuple[str, ...]
    group: int = 0
    out: bool = False
    touched: bool = False


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """Links between two nodes, the upper one first; with a label. `out` says that they carry nothing."""

    upper: str
    lower: str
    label: str
    coloring: Coloring | None
    status: WireStatus
    out: bool

    @property
    def width(self) -> float:
        """How thick it is: 1 for the thinnest."""
        return load_width(self.status.load) if self.status.load is not None else 1.5


@dataclass(frozen=True, slots=True)
class ViewGraph:
    """A view: `title`, the nodes, the edges, and whether it is read from left to right."""

    title: str
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    across: bool = False

    @property
    def groups(self) -> list[int]:
        """The stripes in which nodes are drawn, in order."""
        return sorted({node.group for node in self.nodes if node.group})


def graph_of(picture: Picture, overlay: Overlay, view: PictureView, most: int | None = None) -> ViewGraph:
    """Return a view as nodes and edges; a large fabric in the groups in which `layout` draws it.

    With more than `most` edges all spines are one node, and all colors one edge.
    """
    scene = scene_of(picture, view, overlay)
    found = _graph(picture, scene, overlay, view, coarse=False)
    if most is not None and len(found.edges) > most and view.kind != "path":
        return _graph(picture, scene, overlay, view, coarse=True)
    return found


def _graph(picture: Picture, scene: Scene, overlay: Overlay, view: PictureView, coarse: bool) -> ViewGraph:
    place = _placing(scene, view, coarse)
    devices: dict[str, list[DrawnDevice]] = defaultdict(list)
    for device in scene.devices.values():
        devices[place(device)].append(device)
    nodes = tuple(_node(name, members, overlay, view) for name, members in devices.items())
    if view.kind == "path":
        edges = tuple(_path_edges(picture, overlay, view.ends[0]))
    else:
        edges = tuple(_edges(picture, scene, overlay, place, "" if view.kind != "device" else view.device, coarse))
    # Many nodes in one rank are read more easily below each other, and longer labels beside each other.
    many = is_large(scene) and view.kind != "stripe"
    across = many or view.kind in ("path", "device") or any(len(edge.label) > LABEL for edge in edges)
    return ViewGraph(", ".join(filter(None, title_of(picture, overlay, view))), nodes, edges, across)


def _placing(scene: Scene, view: PictureView, coarse: bool) -> Callable[[DrawnDevice], str]:
    if view.kind == "device":
        many = len(scene.links) > MOST
        return lambda one: f"stripe {one.stripe}" if many and one.name != view.device and one.stripe else one.name
    if view.kind == "path":
        return lambda one: one.name
    if not (coarse or is_large(scene)):
        shown = shown_servers(scene, view)
        rest = {
            server.name: f"{'more ' if shown[stripe] else ''}servers of stripe {stripe}"
            for stripe, servers in scene.servers.items()
            for server in servers[shown[stripe] :]
        }
        return lambda one: rest.get(one.name, one.name)

    def place(one: DrawnDevice) -> str:
        if one.role == "spine":
            return "spines" if coarse else f"spines {', '.join(one.colors)}"
        if view.kind == "fabric":
            return f"stripe {one.stripe}"
        return one.name if one.role == "leaf" else f"servers of stripe {one.stripe}"

    return place


def _node(name: str, members: list[DrawnDevice], overlay: Overlay, view: PictureView) -> GraphNode:
    names = [member.name for member in members]
    found = findings_text(findings(overlay, names))
    out = all(state_of(overlay, one) for one in names)
    touched = any(one in overlay.touched for one in names)
    first = members[0]
    if names == [name]:
        note = note_of(first) if first.role == "server" else ""
        lines = (name, *filter(None, (note, device_status(overlay, first), found)))
        group = first.stripe if view.kind not in ("path", "device") and first.role != "spine" else 0
        return GraphNode(name, first.role if first.gpus else "service", lines, group, out, touched)
    by_role = {role: [one for one in members if one.role == role] for role in ("spine", "leaf", "server")}
    counts = [counted(len(row), role) for role, row in by_role.items() if row and role != "server"]
    words = ", ".join([*counts, *([servers_text(by_role["server"])] if by_role["server"] else [])])
    group = first.stripe if first.role == "server" else 0
    return GraphNode(name, "group", (name, words, *([found] if found else [])), group, out, touched)


def _edges(
    picture: Picture, scene: Scene, overlay: Overlay, place: Callable[[DrawnDevice], str], only: str, coarse: bool
) -> Iterator[GraphEdge]:
    """Yield the links between two nodes in one color as an edge; `only` those of a device, unless it is empty."""
    found: dict[tuple[str, str, str], list[Cable]] = defaultdict(list)
    devices = scene.devices
    for link in (*scene.links, *scene.attachments):
        if only and only not in (link.a.device, link.b.device):
            continue
        a, b = devices[link.a.device], devices[link.b.device]
        upper, lower = (a, b) if b.role == "server" else (b, a)
        if place(upper) != place(lower):
            found[place(upper), place(lower), "" if coarse else link.color].append(link)
    colors = colorings(picture.colors)
    for (one, other, color), links in found.items():
        yield _edge(one, other, links, colors.get(color), overlay)


def _edge(upper: str, lower: str, links: Iterable[Cable], coloring: Coloring | None, overlay: Overlay) -> GraphEdge:
    wire = DrawnWire(tuple(links), ())
    status, count = wire_status(overlay, wire), len(wire.links)
    load = status.load is not None and status.down < count and f"{status.load:.0%}"
    parts = [
        coloring.letter if coloring is not None else "",
        f"x{count}" if count > 1 else "",
        status.down and (f"{status.down} of {count} failed" if count > 1 else "failed"),
        status.drained and (f"{status.drained} of {count} drained" if status.drained < count else "drained"),
        load,
        findings_text(status.findings),
        ", ".join(overlay.paths[number].label for number in status.paths),
    ]
    label, out = " ".join(str(part) for part in parts if part), count in (status.down, status.drained)
    return GraphEdge(upper, lower, label, coloring, status, out)


def _path_edges(picture: Picture, overlay: Overlay, source: str) -> Iterator[GraphEdge]:
    """Yield every link of every path, in the direction of the path."""
    links = {link.name: link for link in picture.cables}
    colors = colorings(picture.colors)
    for row in path_rows_of(overlay, source, links):
        coloring = next((colors[link.color] for link in row.links if link.color in colors), None)
        for at, (link, here, there) in enumerate(row.hops):
            taken = at < row.taken
            status = wire_status(overlay, DrawnWire((link,), (), paths=(row.number,) if taken else ()))
            last = at == max(row.taken, 1) - 1 and row.problem
            words = [row.label, "failed" if status.down else "", row.problem if last else ""]
            label = ": ".join(filter(None, words))
            yield GraphEdge(here, there, label, coloring if taken else None, status, bool(last or status.down))
