"""New findings, old ones, and those that are gone."""

from __future__ import annotations

from pathlib import Path

from ailb_gen.review.model import open_findings
from tests.review.fabric import FABRIC, reviewed, write

LEAF, SPINE = "switches/stripe1-leaf1.conf", "switches/spine1.conf"


def damage(root: Path, file: str, more: str = "") -> None:
    path = root / file
    path.write_text(more + path.read_text().replace("mtu 9216;", "mtu 9000;", 1))


def test_findings_are_compared_wherever_their_lines_are(tmp_path: Path) -> None:
    before, after = write(tmp_path / "a", FABRIC), write(tmp_path / "b", FABRIC)
    damage(before[1], LEAF)
    damage(after[1], LEAF, "/* moved */\n\n")
    found = reviewed(before, after)
    assert found.before is not None and found.before.failed and not found.report.passed
    moved = [row for row in open_findings(found.new) if row.check.startswith("AILB2")]
    assert moved == [] and found.kept > 0
    damage(after[1], SPINE)
    found = reviewed(before, after)
    new = [row.device for row in open_findings(found.new)]
    assert "spine1" in new and "stripe1-leaf1" not in new


def test_findings_that_are_gone(tmp_path: Path) -> None:
    before, after = write(tmp_path / "a", FABRIC), write(tmp_path / "b", FABRIC)
    damage(before[1], LEAF)
    found = reviewed(before, after)
    assert found.report.passed and open_findings(found.new) == [] and found.kept == 0
    assert found.gone is not None and found.before is not None
    assert open_findings(found.gone) == open_findings(found.before)


def test_waivers_hold_on_both_sides(tmp_path: Path) -> None:
    before, after = write(tmp_path / "a", FABRIC), write(tmp_path / "b", FABRIC)
    for root in (before[1], after[1]):
        damage(root, LEAF)
    waivers = tmp_path / "waivers.yaml"
    checks = sorted({row.check for row in open_findings(reviewed(before, after).report.verdict)})
    rows = (f"- {{id: {check}, scope: '*', reason: x, expires: 2099-01-01}}\n" for check in checks)
    waivers.write_text("".join(rows))
    found = reviewed(before, after, waivers=waivers)
    assert found.kept == 0 and found.report.passed and found.before is not None and found.before.passed
