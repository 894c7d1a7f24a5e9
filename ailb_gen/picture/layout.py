"""Where everything of a view stands."""

from __future__ import annotations

from ailb_gen.picture.boxes import LOADED, PITCH, bundled
from ailb_gen.picture.diagram import Diagram
from ailb_gen.picture.direct import direct
from ailb_gen.picture.facing import facing
from ailb_gen.picture.grouped import by_leaf, by_stripe
from ailb_gen.picture.model import Overlay, Picture
from ailb_gen.picture.paths import paths_drawn
from ailb_gen.picture.scene import Scene, scene_of
from ailb_gen.picture.view import View

# Up to so many leaves and lines between switches, every line is drawn from box to box.
LEAVES, LINES = 24, 160


def laid_out(picture: Picture, overlay: Overlay, view: View) -> Diagram:
    """Lay out what a view shows."""
    scene = scene_of(picture, view, overlay)
    if view.kind == "device":
        return facing(scene, view.device)
    if view.kind == "path":
        return paths_drawn(scene, overlay, view.ends)
    if not is_large(scene):
        return direct(scene, LOADED if overlay.loads else PITCH)
    return by_stripe(scene, picture.colors) if view.kind == "fabric" else by_leaf(scene, picture.colors)


def is_large(scene: Scene) -> bool:
    """Return whether a view has too many lines to draw each from box to box."""
    return sum(map(len, scene.leaves.values())) > LEAVES or len(bundled(scene.links)) > LINES
