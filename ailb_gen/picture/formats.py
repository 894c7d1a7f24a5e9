"""A picture as a file: SVG 1.1, readable without script, also inside a page; DOT and Mermaid."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import wrap

from ailb_gen.picture.device_layout import device_diagram
from ailb_gen.picture.diagram import BOLD, PITCH, SMALL, Diagram, escape, quoteattr, width_of
from ailb_gen.picture.elements import Styling, elements, number, text
from ailb_gen.picture.graph_text import dot, mermaid
from ailb_gen.picture.large_layout import by_leaf, by_stripe
from ailb_gen.picture.legend import legend, legend_entries, widest
from ailb_gen.picture.model import NO_OVERLAY, Overlay, Picture
from ailb_gen.picture.palette import colorings
from ailb_gen.picture.path_layout import path_diagram
from ailb_gen.picture.small_layout import small_diagram
from ailb_gen.picture.status import counts_text, percent, state_of, title_of, uniform_count
from ailb_gen.picture.style import picture_css
from ailb_gen.picture.view import FABRIC, PictureView, is_large, scene_of, shown_servers

HEAD, NARROWEST, TITLE, MARGIN = 34.0, 400.0, 15.0, 20.0
# Between the title and the counts, and from a line below it to the next.
APART, LINE = 12.0, 16.0


def svg_file(picture: Picture, overlay: Overlay = NO_OVERLAY, view: PictureView = FABRIC) -> str:
    """Return a picture as a file of its own, with its style sheet."""
    return _document(picture, overlay, view, f"<style>\n{picture_css()}</style>\n")


def svg(picture: Picture, overlay: Overlay = NO_OVERLAY, view: PictureView = FABRIC) -> str:
    """Return a picture as an element of a page, which must have the rules of `picture_css`."""
    return _document(picture, overlay, view, "")


def laid_out(picture: Picture, overlay: Overlay, view: PictureView) -> Diagram:
    """Return the layout of a view."""
    scene = scene_of(picture, view, overlay)
    if view.kind == "device":
        return device_diagram(scene, view.device, state_of(overlay, view.device))
    if view.kind == "path":
        return path_diagram(scene, overlay, view.ends)
    if not is_large(scene):
        loads = (width_of(percent(max(load)), SMALL) + 7 for load in overlay.loads.values())
        return small_diagram(scene, shown_servers(scene, view), max([PITCH, *loads]))
    return by_stripe(scene, picture.colors) if view.kind == "fabric" else by_leaf(scene, picture.colors)


def _document(picture: Picture, overlay: Overlay, view: PictureView, style: str) -> str:
    diagram = laid_out(picture, overlay, view)
    styling = Styling(colorings(picture.colors), overlay, uniform_count(diagram.wires))
    title, gone = title_of(picture, overlay, view)
    entries = list(legend_entries(diagram, styling))
    width = max(diagram.width, NARROWEST, BOLD * width_of(title, TITLE) + 2 * MARGIN, widest(entries))
    head, top = _head(title, counts_text(picture, diagram), gone, width)
    key, below = legend(entries, width, diagram.height + top)
    height = diagram.height + top + below
    shift = f"translate({number((width - diagram.width) / 2)} {number(top)})"
    label = ", ".join(filter(None, (title, gone)))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="ailb-picture" role="group" aria-label={quoteattr(label)}'
        f' viewBox="0 0 {number(width)} {number(height)}" width="{number(width)}" height="{number(height)}">\n{style}'
        f'<rect class="back" width="100%" height="100%"/>\n{head}\n'
        f'<g transform="{shift}">\n' + "\n".join(elements(diagram, styling)) + f"\n</g>\n{key}\n</svg>\n"
    )


def _head(title: str, counts: str, gone: str, width: float) -> tuple[str, float]:
    """Return the title, beside it or below the counts, below them what has failed; and how much room all take."""
    heading = f'<tspan class="heading">{escape(title)}</tspan>'
    beside = BOLD * width_of(title, TITLE) + width_of(counts) + 2 * MARGIN + APART <= width
    below = wrap(gone, int((width - 2 * MARGIN) / width_of("x")), break_long_words=False, break_on_hyphens=False)
    if beside:
        heading += f'<tspan class="soft" dx="{APART:.0f}">{escape(counts)}</tspan>'
    else:
        below.insert(0, counts)
    lines = [f'<text x="{MARGIN:.0f}" y="26">{heading}</text>']
    lines += [text((MARGIN, 26 + LINE * at), words, "soft", "start") for at, words in enumerate(below, 1)]
    return "\n".join(lines), HEAD + LINE * len(below)


FORMATS: dict[str, Callable[[Picture, Overlay, PictureView], str]] = {".svg": svg_file, ".dot": dot, ".mmd": mermaid}


def written(path: Path, picture: Picture, overlay: Overlay, view: PictureView) -> str:
    """Return a picture in the format of a file, whose suffix is one of FORMATS."""
    return FORMATS[path.suffix](picture, overlay, view)
