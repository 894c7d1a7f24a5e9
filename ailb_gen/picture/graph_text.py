"""Pictures as text that others lay out: Graphviz DOT (`dot -Tsvg`) and Mermaid, which GitHub and many wikis draw."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from ailb_gen.picture.graph import GraphEdge, GraphNode, ViewGraph, graph_of
from ailb_gen.picture.model import NO_OVERLAY, Overlay, Picture
from ailb_gen.picture.view import FABRIC, PictureView
from ailb_gen.wording import clean

TOUCHED, EDGE, TEXT = "#0550ae", "#57606a", "#1b1f24"
# Lines that carry nothing, or no color: no fabric color has this gray.
PLAIN = "#8c959f"
FILLS = {"leaf": "#eaf2fb", "spine": "#eef0f3", "server": "#ffffff", "service": "#f8efd9", "group": "#f6f8fa"}
# Graphviz has no patterns but these; letters distinguish the colors of one pattern.
STYLES = ("solid", "dashed", "dotted", "solid", "dashed", "dotted", "solid", "dashed", "dotted", "solid")
# Mermaid refuses more edges than this (`maxEdges`), and a page cannot allow more.
MOST_EDGES = 500
# Characters that end a label, or begin an entity.
ENTITIES = str.maketrans({"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "`": "#96;"})


def _color(edge: GraphEdge) -> str:
    return edge.coloring.hue.light if edge.coloring is not None and not edge.out else PLAIN


def dot(picture: Picture, overlay: Overlay = NO_OVERLAY, view: PictureView = FABRIC) -> str:
    """Return a picture as DOT."""
    return "\n".join(_dot_lines(graph_of(picture, overlay, view))) + "\n"


def _dot_lines(graph: ViewGraph) -> Iterator[str]:
    yield f"graph {_dot_quoted(graph.title)} {{"
    yield f"  graph [label={_dot_quoted(graph.title)}, labelloc=t, fontname=Helvetica, fontsize=14,"
    yield f"    rankdir={'LR' if graph.across else 'TB'}, ranksep=1.2, nodesep=0.15];"
    yield "  node [shape=box, style=filled, fontname=Helvetica, fontsize=10, height=0.4];"
    yield "  edge [fontname=Helvetica, fontsize=8];"
    yield from (f"  {_dot_node(node)}" for node in graph.nodes if not node.group)
    for group in graph.groups:
        yield f"  subgraph {_dot_quoted(f'cluster_{group}')} {{"
        yield f'    label={_dot_quoted(f"stripe {group}")}; labelloc=b; color="#d0d7de";'
        yield from (f"    {_dot_node(node)}" for node in graph.nodes if node.group == group)
        yield "  }"
    yield from (f"  {_dot_edge(edge, graph.across)}" for edge in graph.edges)
    yield "}"


def _dot_node(node: GraphNode) -> str:
    color = TOUCHED if node.touched else EDGE
    style = "filled,dashed" if node.out else "filled"
    label = "\\n".join(_dot_escaped(line) for line in node.lines)
    return (
        f'{_dot_quoted(node.name)} [label="{label}", fillcolor="{FILLS[node.role]}", color="{color}", style="{style}",'
        f" penwidth={2 if node.out or node.touched else 1}];"
    )


def _dot_edge(edge: GraphEdge, across: bool) -> str:
    """Return an edge; from top to bottom its label stands at the lower end, for in the middle it would take room."""
    coloring = edge.coloring
    color = _color(edge)
    style = "dotted" if edge.out else STYLES[int(coloring.style[1:])] if coloring is not None else "solid"
    place = "label" if across else "headlabel"
    return (
        f"{_dot_quoted(edge.upper)} -- {_dot_quoted(edge.lower)}"
        f' [{place}={_dot_quoted(edge.label)}, color="{color}", fontcolor="{TEXT if edge.out else color}",'
        f" style={style},"
        f" penwidth={edge.width:.1f}];"
    )


def _dot_escaped(text: str) -> str:
    """Return a text for a string of DOT, in which a backslash begins an escape sequence."""
    return clean(text).replace("\\", "\\\\").replace('"', '\\"')


def _dot_quoted(text: str) -> str:
    return f'"{_dot_escaped(text)}"'


def mermaid(picture: Picture, overlay: Overlay = NO_OVERLAY, view: PictureView = FABRIC) -> str:
    """Return a picture as a flowchart."""
    return "\n".join(_mermaid_lines(graph_of(picture, overlay, view, MOST_EDGES))) + "\n"


def _mermaid_lines(graph: ViewGraph) -> Iterator[str]:
    names = {node.name: f"n{number}" for number, node in enumerate(graph.nodes)}
    yield "---"
    title = json.dumps(graph.title).replace("<", "\\u003c")
    yield f"title: {title}"
    yield "---"
    yield f"flowchart {'LR' if graph.across else 'TB'}"
    yield from (f"  {_mermaid_node(names, node)}" for node in graph.nodes if not node.group)
    for group in graph.groups:
        yield f'  subgraph s{group}["stripe {group}"]'
        yield from (f"    {_mermaid_node(names, node)}" for node in graph.nodes if node.group == group)
        yield "  end"
    yield from (f"  {_mermaid_edge(names, edge)}" for edge in graph.edges)
    yield from (f"  {line}" for line in _styles(graph.edges))
    for node in graph.nodes:
        if node.out or node.touched:
            dash = ",stroke-dasharray:5 4" if node.out else ""
            yield f"  style {names[node.name]} stroke:{TOUCHED if node.touched else EDGE},stroke-width:3px{dash}"


def _mermaid_node(names: Mapping[str, str], node: GraphNode) -> str:
    return f'{names[node.name]}["{"<br>".join(map(_mermaid_escaped, node.lines))}"]'


def _mermaid_edge(names: Mapping[str, str], edge: GraphEdge) -> str:
    label = f'|"{_mermaid_escaped(edge.label)}"|' if edge.label else ""
    return f"{names[edge.upper]} ---{label} {names[edge.lower]}"


def _styles(edges: Sequence[GraphEdge]) -> Iterator[str]:
    """Yield the styles of edges, one for all that have it: Mermaid knows edges by their number."""
    found: dict[str, list[int]] = defaultdict(list)
    for number, edge in enumerate(edges):
        found[_style(edge)].append(number)
    yield from (f"linkStyle {','.join(map(str, numbers))} {style}" for style, numbers in found.items())


def _style(edge: GraphEdge) -> str:
    dash = "2 5" if edge.out else edge.coloring.hue.dash if edge.coloring is not None else ""
    return f"stroke:{_color(edge)},stroke-width:{edge.width:.1f}px" + (f",stroke-dasharray:{dash}" if dash else "")


def _mermaid_escaped(text: str) -> str:
    return clean(text).translate(ENTITIES)
