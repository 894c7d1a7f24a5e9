"""The impact of a change: waves, paths and colors that are left, loads of links."""

from __future__ import annotations

from pathlib import Path

import pytest

from ailb_gen.review.impact import ChangeImpact
from tests.review.fabric import CHANGED, FABRIC, reviewed, write


def impact(tmp_path: Path, before: str, after: str) -> ChangeImpact:
    found = reviewed(write(tmp_path / "a", before), write(tmp_path / "b", after)).impact
    assert found is not None
    return found


def test_a_spine_is_drained(tmp_path: Path) -> None:
    found = impact(tmp_path, FABRIC, CHANGED)
    assert [row.wave.name for row in found.waves][:2] == ["canary leaf", "spines of green"]
    spines = [row for row in found.waves if row.wave.name.startswith("spines")]
    assert {row.paths for row in spines} == {(3, 2)} and {row.colors for row in spines} == {(3, 2)}
    assert {name for row in found.waves for name in row.wave.devices} == set(found.switches)
    assert found.traffic.up == (12, 8) and found.trouble == ""
    # Each of the 12 sessions has another timer at both ends.
    assert found.sessions == 12
    # What two spines carry instead of three.
    assert found.highest == pytest.approx((1.0, 1.5))
    assert {(row.before, row.after, len(row.links)) for row in found.loads} == {(1.0, None, 8), (1.0, 1.5, 16)}
    assert all(" → " in link for row in found.loads for link in row.links)


def test_waves_have_the_colors_after_the_change_as_those_of_a_plan(tmp_path: Path) -> None:
    colors = "colors: [green, blue, red]\n"
    found = impact(tmp_path, FABRIC + colors, FABRIC + colors.replace("green", "purple"))
    assert [row.wave.name for row in found.waves][1:4] == ["spines of purple", "spines of blue", "spines of red"]


def test_a_description_touches_no_session(tmp_path: Path) -> None:
    before, after = write(tmp_path / "a", FABRIC), write(tmp_path / "b", FABRIC)
    file = after[1] / "switches/stripe1-leaf1.conf"
    file.write_text(file.read_text().replace("facing_spine1", "to_spine1"))
    found = reviewed(before, after).impact
    assert found is not None and set(found.switches) == {"stripe1-leaf1"}
    assert found.switches["stripe1-leaf1"].sessions == () and found.loads == ()
    assert found.waves[0].sessions == 0 and found.traffic.up == (12, 12)


def test_no_order_of_changes_keeps_a_path(tmp_path: Path) -> None:
    """With one spine there is none left while that is changed."""
    one = FABRIC.replace("spines: 3", "spines: 1")
    found = impact(tmp_path, one, f"{one}bfd: {{interval_ms: 300, multiplier: 4}}\n")
    assert "--min-paths" in found.trouble
    spine = next(row for row in found.waves if row.wave.name.startswith("spines"))
    assert spine.paths == (1, 0) and spine.colors == (1, 0)


def test_old_and_new_configurations_do_not_fit(tmp_path: Path) -> None:
    """All AS numbers change: after the first spine, its sessions are down until the leaves follow."""
    asn = "asn: {leaves: 65101-65199, spines: 65001-65099}\n"
    found = impact(tmp_path, FABRIC, FABRIC + asn)
    assert found.trouble and any(row.cut for row in found.waves)


def test_sessions_of_a_switch_without_a_file_are_touched(tmp_path: Path) -> None:
    before, after = write(tmp_path / "a", FABRIC), write(tmp_path / "b", FABRIC)
    (after[1] / "switches/spine1.conf").unlink()
    found = reviewed(before, after).impact
    assert found is not None and found.sessions == 4 and found.traffic.up == (12, 8)


def test_a_fabric_grows(tmp_path: Path) -> None:
    found = impact(tmp_path, FABRIC, FABRIC.replace("stripes: 2", "stripes: 3"))
    assert found.traffic.up == (12, 18) and found.sessions >= 6
    assert {row.before for row in found.loads} >= {None}
    assert not {name for name in found.switches if name.startswith("stripe3")}
