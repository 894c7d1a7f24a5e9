"""A picture as a Mermaid flowchart, which GitHub, GitLab and many wikis draw."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from ailb_gen.picture.graph import GraphEdge, GraphNode, ViewGraph, graph_of
from ailb_gen.picture.model import NO_OVERLAY, Overlay, Picture
from ailb_gen.picture.view import FABRIC, PictureView
from ailb_gen.wording import clean

# Mermaid refuses more edges than this (`maxEdges`), and a page cannot allow more.
MOST = 500
DEAD, TOUCHED, PLAIN = "#a40e26", "#0550ae", "#8c959f"
# Characters that end a label, or begin an entity.
ENTITIES = str.maketrans({"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "`": "#96;"})


def mermaid(picture: Picture, overlay: Overlay = NO_OVERLAY, view: PictureView = FABRIC) -> str:
    """Return a picture as a flowchart."""
    return "\n".join(_lines(graph_of(picture, overlay, view, MOST))) + "\n"


def _lines(graph: ViewGraph) -> Iterator[str]:
    names = {node.name: f"n{number}" for number, node in enumerate(graph.nodes)}
    yield "---"
    title = json.dumps(graph.title).replace("<", "\\u003c")
    yield f"title: {title}"
    yield "---"
    yield f"flowchart {'LR' if graph.across else 'TB'}"
    yield from (f"  {_node(names, node)}" for node in graph.nodes if not node.group)
    for group in graph.groups:
        yield f'  subgraph s{group}["stripe {group}"]'
        yield from (f"    {_node(names, node)}" for node in graph.nodes if node.group == group)
        yield "  end"
    yield from (f"  {_edge(names, edge)}" for edge in graph.edges)
    yield from (f"  {line}" for line in _styles(graph.edges))
    yield from (
        f"  style {names[node.name]} stroke:{DEAD if node.failed else TOUCHED},stroke-width:3px"
        for node in graph.nodes
        if node.failed or node.touched
    )


def _node(names: Mapping[str, str], node: GraphNode) -> str:
    return f'{names[node.name]}["{"<br>".join(map(_escaped, node.lines))}"]'


def _edge(names: Mapping[str, str], edge: GraphEdge) -> str:
    label = f'|"{_escaped(edge.label)}"|' if edge.label else ""
    return f"{names[edge.upper]} ---{label} {names[edge.lower]}"


def _styles(edges: Sequence[GraphEdge]) -> Iterator[str]:
    """Yield the styles of edges, one for all that have it: Mermaid knows edges by their number."""
    found: dict[str, list[int]] = defaultdict(list)
    for number, edge in enumerate(edges):
        found[_style(edge)].append(number)
    yield from (f"linkStyle {','.join(map(str, numbers))} {style}" for style, numbers in found.items())


def _style(edge: GraphEdge) -> str:
    dash = "2 5" if edge.failed else edge.coloring.hue.dash if edge.coloring is not None else ""
    color = DEAD if edge.failed else edge.coloring.hue.light if edge.coloring is not None else PLAIN
    return f"stroke:{color},stroke-width:{edge.width:.1f}px" + (f",stroke-dasharray:{dash}" if dash else "")


def _escaped(text: str) -> str:
    return clean(text).translate(ENTITIES)
