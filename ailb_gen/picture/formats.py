"""The formats of pictures, by the suffix of the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ailb_gen.picture.dot import dot
from ailb_gen.picture.mermaid import mermaid
from ailb_gen.picture.model import Overlay, Picture
from ailb_gen.picture.svg import svg_file
from ailb_gen.picture.view import View

SUFFIXES: dict[str, Callable[[Picture, Overlay, View], str]] = {".svg": svg_file, ".dot": dot, ".mmd": mermaid}


def written(path: Path, picture: Picture, overlay: Overlay, view: View) -> str:
    """Return a picture in the format of a file, whose suffix is one of SUFFIXES."""
    return SUFFIXES[path.suffix](picture, overlay, view)
