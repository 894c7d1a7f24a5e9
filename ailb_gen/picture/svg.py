"""A picture as SVG 1.1: readable without script, for a file of its own or inside a page."""

from __future__ import annotations

from ailb_gen.picture.elements import Look, elements, number
from ailb_gen.picture.layout import laid_out
from ailb_gen.picture.legend import legend
from ailb_gen.picture.model import NOTHING, Overlay, Picture
from ailb_gen.picture.palette import colorings
from ailb_gen.picture.status import counts_text, uniform_count
from ailb_gen.picture.style import picture_css
from ailb_gen.picture.text import escape, quoteattr, width_of
from ailb_gen.picture.view import FABRIC, View

HEAD, NARROWEST, TITLE = 34.0, 360.0, 15.0


def svg_file(picture: Picture, overlay: Overlay = NOTHING, view: View = FABRIC) -> str:
    """Return a picture as a file of its own, with its style sheet."""
    return _document(picture, overlay, view, f"<style>\n{picture_css()}</style>\n")


def svg(picture: Picture, overlay: Overlay = NOTHING, view: View = FABRIC) -> str:
    """Return a picture as an element of a page, which must have the rules of `picture_css`."""
    return _document(picture, overlay, view, "")


def _document(picture: Picture, overlay: Overlay, view: View, style: str) -> str:
    diagram = laid_out(picture, overlay, view)
    look = Look(colorings(picture.colors), overlay, uniform_count(diagram.wires))
    title, counts = f"{picture.fabric}: {view.title}", counts_text(diagram)
    # The title is bold, and so wider.
    width = max(diagram.width, NARROWEST, 1.15 * width_of(title, TITLE) + width_of(counts) + 60)
    key, below = legend(diagram, look, width, diagram.height + HEAD)
    height = diagram.height + HEAD + below
    shift = f"translate({number((width - diagram.width) / 2)} {number(HEAD)})"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="ailb-picture" role="group" aria-label={quoteattr(title)}'
        f' viewBox="0 0 {number(width)} {number(height)}" width="{number(width)}" height="{number(height)}">\n{style}'
        f'<rect class="back" width="100%" height="100%"/>\n'
        f'<text x="20" y="26"><tspan class="heading">{escape(title)}</tspan>'
        f'<tspan class="soft" dx="12">{escape(counts)}</tspan></text>\n'
        f'<g transform="{shift}">\n' + "\n".join(elements(diagram, look)) + f"\n</g>\n{key}\n</svg>\n"
    )
