"""RLB from files: what the colors promise comes out packet by packet, and wrong colors show."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.cli.verbs import run
from tests.conftest import ROOT
from tests.sim.engine.cases import needs_compiler

pytest.importorskip("pyarrow")
pytestmark = needs_compiler

FABRIC = ROOT / "examples" / "jvd" / "fabric.yaml"
TREE = ROOT / "tests" / "golden" / "jvd"
NIC_GBYTES = 8 * 400 / 8  # of all eight NICs of a server
# Every leaf sends from two servers at once.
CROSSING = "traffic[0].collective.hosts=[h100-01:*,h100-03:*,h100-02:*,h100-04:*]"


def bus_bandwidth(out: Path, artifacts: Path, size: str, *words: str) -> dict[str, float]:
    """Return the statistics of an all-reduce over four queue pairs; the bus bandwidth has the same for every seed."""
    given = ("--bytes", size, "--balancer", "rlb", "--queue-pairs", "4", "--executor", "serial", "--force")
    how = ("--placement", "in-order", "-o", str(out))
    code, _, error = run("simulate", str(FABRIC), str(artifacts), *given, *how, *words)
    assert code == 0, error
    (found,) = json.loads((out / "summary.json").read_text())["variants"]
    assert found["complete"]
    assert found["bus_bandwidth"]["least"] == found["bus_bandwidth"]["most"]
    return {name: found[name]["most"] for name in ("bus_bandwidth", "marks", "pauses", "out_of_order")}


def recolored(target: Path, pattern: str) -> Path:
    """Copy the tree with another color for routes of one leaf."""
    shutil.copytree(TREE, target, symlinks=True)
    file = target / "switches" / "stripe2-leaf1.conf"
    text, count = re.subn(rf"(route {pattern}::/64 \{{\s+color) \w+", r"\1 red", file.read_text())
    assert count
    file.write_text(text)
    return target


@pytest.mark.long
def test_every_seed_gives_the_same_at_the_full_rate(tmp_path: Path) -> None:
    found = bus_bandwidth(tmp_path, TREE, "256M", "--seeds", "3")
    assert found["bus_bandwidth"] >= 0.97 * NIC_GBYTES
    assert (found["marks"], found["pauses"], found["out_of_order"]) == (0, 0, 0)


def test_wrong_colors_lower_the_bandwidth(tmp_path: Path) -> None:
    """The fabric has twice the uplinks that it needs: one wrong color costs little, four alike half."""
    right = bus_bandwidth(tmp_path / "right", TREE, "32M", "--set", CROSSING)
    one = bus_bandwidth(tmp_path / "one", recolored(tmp_path / "a", "fc00:2:1:2"), "32M", "--set", CROSSING)
    alike = bus_bandwidth(tmp_path / "alike", recolored(tmp_path / "b", r"fc00:2:1:\d"), "32M", "--set", CROSSING)
    assert one["bus_bandwidth"] < right["bus_bandwidth"]
    assert alike["bus_bandwidth"] < 0.6 * right["bus_bandwidth"]
    assert right["marks"] == 0 < alike["marks"]
