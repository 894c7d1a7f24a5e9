"""The picture of a fabric as a section: what is drawn and marked, as a whole, by stripe and by rail."""

from __future__ import annotations

from collections.abc import Iterator

from ailb_gen.picture.formats import svg
from ailb_gen.picture.model import Overlay, Picture
from ailb_gen.picture.style import picture_css
from ailb_gen.picture.view import FABRIC, PictureView
from ailb_gen.report.html.page import Section


def fabric_section(picture: Picture, overlay: Overlay, more: Overlay | None = None, title: str = "Fabric") -> Section:
    """Return the section of a picture; each stripe and each rail is a view of its own, drawn when it is chosen.

    `more` is what can be marked instead: also what follows from the findings of `overlay`.
    """
    views = list(_views(picture))
    values = {
        "svg": svg(picture, overlay),
        "views": [view.title for view in views],
        "empty": not picture.devices,
        "more": more is not None,
    }
    parts = {view.title: svg(picture, overlay, view) for view in views}
    if more is not None:
        parts |= {f"{view.title}-all": svg(picture, more, view) for view in views}
    return Section("fabric", title, values, css=picture_css(), parts=parts)


def _views(picture: Picture) -> Iterator[PictureView]:
    leaves = [device for device in picture.devices if device.role == "leaf"]
    stripes = sorted({leaf.stripe for leaf in leaves if leaf.stripe})
    rails = sorted({leaf.rail for leaf in leaves if leaf.rail is not None})
    yield FABRIC
    if len(stripes) > 1:
        yield from (PictureView("stripe", stripe) for stripe in stripes)
    if len(rails) > 1:
        yield from (PictureView("rail", rail) for rail in rails)
