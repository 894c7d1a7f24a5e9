"""What a plan prints of its waves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ailb_gen.cli.plan import show_waves
from tests.deploy import lab

LEAF, FAR, SPINE = "stripe1-leaf1", "stripe2-leaf1", "spine1"


@pytest.mark.parametrize(("count", "which"), [(1, "wave 1"), (2, "waves 1, 2")])
def test_waves_that_leave_no_path(capsys: pytest.CaptureFixture[str], count: int, which: str) -> None:
    looks = [lab.look(name, after=lab.edited(name, ("multiplier 3", "multiplier 4"))) for name in (SPINE, LEAF)]
    found = lab.plan_of(*looks)
    show_waves(found)
    assert "no path" not in capsys.readouterr().out
    show_waves(replace(found, cut=tuple((wave.name, (LEAF, FAR)) for wave in found.waves[:count])))
    assert f"after {which}: no path between {LEAF} and {FAR}" in " ".join(capsys.readouterr().out.split())
