"""A picture as a file: SVG 1.1, readable without script, also inside a page; DOT and Mermaid."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ailb_gen.picture.device_layout import device_diagram
from ailb_gen.picture.diagram import LOADED, PITCH, Diagram, escape, quoteattr, width_of
from ailb_gen.picture.elements import Styling, elements, legend, number
from ailb_gen.picture.graph_text import dot, mermaid
from ailb_gen.picture.large_layout import by_leaf, by_stripe
from ailb_gen.picture.model import NO_OVERLAY, Overlay, Picture
from ailb_gen.picture.palette import colorings
from ailb_gen.picture.path_layout import path_diagram
from ailb_gen.picture.small_layout import small_diagram
from ailb_gen.picture.status import counts_text, uniform_count
from ailb_gen.picture.style import picture_css
from ailb_gen.picture.view import FABRIC, PictureView, is_large, scene_of

HEAD, NARROWEST, TITLE = 34.0, 360.0, 15.0


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
        return device_diagram(scene, view.device)
    if view.kind == "path":
        return path_diagram(scene, overlay, view.ends)
    if not is_large(scene):
        return small_diagram(scene, LOADED if overlay.loads else PITCH)
    return by_stripe(scene, picture.colors) if view.kind == "fabric" else by_leaf(scene, picture.colors)


def _document(picture: Picture, overlay: Overlay, view: PictureView, style: str) -> str:
    diagram = laid_out(picture, overlay, view)
    styling = Styling(colorings(picture.colors), overlay, uniform_count(diagram.wires))
    title, counts = f"{picture.fabric}: {view.title}", counts_text(diagram)
    # The title is bold, and so wider.
    width = max(diagram.width, NARROWEST, 1.15 * width_of(title, TITLE) + width_of(counts) + 60)
    key, below = legend(diagram, styling, width, diagram.height + HEAD)
    height = diagram.height + HEAD + below
    shift = f"translate({number((width - diagram.width) / 2)} {number(HEAD)})"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="ailb-picture" role="group" aria-label={quoteattr(title)}'
        f' viewBox="0 0 {number(width)} {number(height)}" width="{number(width)}" height="{number(height)}">\n{style}'
        f'<rect class="back" width="100%" height="100%"/>\n'
        f'<text x="20" y="26"><tspan class="heading">{escape(title)}</tspan>'
        f'<tspan class="soft" dx="12">{escape(counts)}</tspan></text>\n'
        f'<g transform="{shift}">\n' + "\n".join(elements(diagram, styling)) + f"\n</g>\n{key}\n</svg>\n"
    )


FORMATS: dict[str, Callable[[Picture, Overlay, PictureView], str]] = {".svg": svg_file, ".dot": dot, ".mmd": mermaid}


def written(path: Path, picture: Picture, overlay: Overlay, view: PictureView) -> str:
    """Return a picture in the format of a file, whose suffix is one of FORMATS."""
    return FORMATS[path.suffix](picture, overlay, view)
