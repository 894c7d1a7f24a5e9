"""The pictures of the documentation are what `ailb-gen draw` makes of the examples."""

import os
from pathlib import Path

import pytest

from tests.conftest import EXAMPLES, ROOT, Cli

TREES = ROOT / "tests" / "golden"
FOLDER = ROOT / "docs" / "pictures"
ENDS = "path gpu-s1-1:gpu0_eth gpu-s2-2:gpu0_eth"
LINK = "stripe1-leaf1:et-0/0/0"
PICTURES = {
    "fabric": (),
    "stripe": ("--view", "stripe 1"),
    "rail": ("--view", "rail 0"),
    "path": ("--view", ENDS),
    "path-failed": ("--view", ENDS, "--fail", LINK),
    "spine-failed": ("--view", "path gpu-s1-1 gpu-s2-1", "--fail", "spine2"),
    "load-failed": ("--load", "all-to-all", "--fail", LINK),
    "device": ("--view", "device", "stripe1-leaf1"),
    "jvd": (),
    "mixed": ("--view", "stripe 2"),
}
# Of which example a picture is, if not of the lab.
EXAMPLE = {"jvd": "jvd", "mixed": "mixed"}
# What `draw` cannot show, drawn by hand.
BY_HAND = {"addresses", "announce"}
# Those of the tutorial, whose commands draw the same.
POD7_ENDS = "path pod7-s1-01:gpu0_eth pod7-s2-01:gpu0_eth"
TUTORIAL = {
    "pod7-fabric": (),
    "pod7-path": ("--view", POD7_ENDS),
    "pod7-broken": ("--view", POD7_ENDS),
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_up_to_date(name: str, tmp_path: Path, cli: Cli) -> None:
    drawn, kept = tmp_path / "drawn.svg", FOLDER / f"{name}.svg"
    example = EXAMPLE.get(name, "lab")
    fabric, files = EXAMPLES / example / "fabric.yaml", TREES / example
    code, _, said = cli("draw", str(fabric), str(files), "-o", str(drawn), *PICTURES[name])
    assert code == 0, said
    if os.environ.get("AILB_UPDATE_GOLDEN"):
        kept.write_bytes(drawn.read_bytes())
    assert drawn.read_bytes() == kept.read_bytes(), "run make pictures"


def test_every_picture_is_made_or_drawn_by_hand() -> None:
    assert {path.stem for path in FOLDER.glob("*.svg")} == set(PICTURES) | BY_HAND | set(TUTORIAL)


@pytest.mark.long
@pytest.mark.parametrize("name", TUTORIAL)
def test_a_picture_of_the_tutorial_is_up_to_date(name: str, tmp_path: Path, cli: Cli) -> None:
    fabric, files = str(tmp_path / "fabric.yaml"), tmp_path / "generated"
    drawn, kept = tmp_path / "drawn.svg", FOLDER / f"{name}.svg"
    sizes = ("--name", "pod7", "--stripes", "2", "--spines", "4", "--servers", "4")
    assert cli("init", fabric, *sizes)[0] == 0
    assert cli("generate", fabric, "-o", str(files))[0] == 0
    if name == "pod7-broken":
        _break(files / "switches" / "stripe1-leaf1.conf")
    code, _, said = cli("draw", fabric, str(files), "-o", str(drawn), *TUTORIAL[name])
    assert code == 0, said
    if os.environ.get("AILB_UPDATE_GOLDEN"):
        kept.write_bytes(drawn.read_bytes())
    assert drawn.read_bytes() == kept.read_bytes(), "run make pictures"


def _break(leaf: Path) -> None:
    """Disable an uplink of a leaf and delete the color of another, as the tutorial does."""
    text = leaf.read_text(encoding="utf-8")
    port, color = "    et-0/0/1:0 {\n", "            fabric-color green;\n"
    assert text.count(port) == text.count(color) == 1
    leaf.write_text(text.replace(port, f"{port}        disable;\n").replace(color, ""), encoding="utf-8")
