"""A picture as Graphviz DOT: `dot -Tsvg`, or any other program that reads it, lays it out."""

from __future__ import annotations

from collections.abc import Iterator

from ailb_gen.picture.graph import GraphEdge, GraphNode, ViewGraph, graph_of
from ailb_gen.picture.model import NO_OVERLAY, Overlay, Picture
from ailb_gen.picture.view import FABRIC, PictureView
from ailb_gen.wording import clean

FILLS = {"leaf": "#eaf2fb", "spine": "#eef0f3", "server": "#ffffff", "group": "#f6f8fa"}
# Graphviz has no patterns but these; letters distinguish the colors of one pattern.
STYLES = ("solid", "dashed", "dotted", "solid", "dashed", "dotted", "solid", "dashed", "dotted", "solid")
PLAIN, DEAD = "#8c959f", "#a40e26"


def dot(picture: Picture, overlay: Overlay = NO_OVERLAY, view: PictureView = FABRIC) -> str:
    """Return a picture as DOT."""
    return "\n".join(_lines(graph_of(picture, overlay, view))) + "\n"


def _lines(graph: ViewGraph) -> Iterator[str]:
    yield f"graph {_quoted(graph.title)} {{"
    yield f"  graph [label={_quoted(graph.title)}, labelloc=t, fontname=Helvetica, fontsize=14,"
    yield f"    rankdir={'LR' if graph.across else 'TB'}, ranksep=1.2, nodesep=0.15];"
    yield "  node [shape=box, style=filled, fontname=Helvetica, fontsize=10, height=0.4];"
    yield "  edge [fontname=Helvetica, fontsize=8];"
    yield from (f"  {_node(node)}" for node in graph.nodes if not node.group)
    for group in graph.groups:
        yield f"  subgraph {_quoted(f'cluster_{group}')} {{"
        yield f'    label={_quoted(f"stripe {group}")}; labelloc=b; color="#d0d7de";'
        yield from (f"    {_node(node)}" for node in graph.nodes if node.group == group)
        yield "  }"
    yield from (f"  {_edge(edge, graph.across)}" for edge in graph.edges)
    yield "}"


def _node(node: GraphNode) -> str:
    color = DEAD if node.failed else "#0550ae" if node.touched else "#57606a"
    style = "filled,dashed" if node.failed else "filled"
    label = "\\n".join(_escaped(line) for line in node.lines)
    return (
        f'{_quoted(node.name)} [label="{label}", fillcolor="{FILLS[node.role]}", color="{color}", style="{style}",'
        f" penwidth={2 if node.failed or node.touched else 1}];"
    )


def _edge(edge: GraphEdge, across: bool) -> str:
    """Return an edge; from top to bottom its label stands at the lower end, for in the middle it would take room."""
    coloring = edge.coloring
    color = DEAD if edge.failed else coloring.hue.light if coloring is not None else PLAIN
    style = "dotted" if edge.failed else STYLES[int(coloring.style[1:])] if coloring is not None else "solid"
    place = "label" if across else "headlabel"
    return (
        f"{_quoted(edge.upper)} -- {_quoted(edge.lower)}"
        f' [{place}={_quoted(edge.label)}, color="{color}", fontcolor="{color}", style={style},'
        f" penwidth={edge.width:.1f}];"
    )


def _escaped(text: str) -> str:
    """Return a text for a string of DOT, in which a backslash begins an escape sequence."""
    return clean(text).replace("\\", "\\\\").replace('"', '\\"')


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'
