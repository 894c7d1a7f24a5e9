"""`lab check` on labs that run: sound files give no finding, damage does; failures go as computed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks.trees import GOLDEN
from tests.lab.check.damages import DAMAGES, NETPLAN, SCRIPT_DAMAGES, Damage, damaged
from tests.lab.check.live_labs import ALL, flow_result, found_by, single_links
from tests.lab.isolated import isolated

TOOLS = ("ip", "bird", "nft")


def test_nothing_is_found_in_a_lab_of_sound_files() -> None:
    found, examined = isolated(flow_result, GOLDEN / "lab", "lab", False, tools=TOOLS)
    assert found == [], "\n".join(found)
    assert {check for check in ALL if not examined[check]} == {"AILBL34", "AILBL35"}


@pytest.mark.long
@pytest.mark.parametrize("example", ["lab", "jvd", "jvd-8-uplinks", "brownfield"])
def test_nothing_is_found_when_everything_fails_in_a_lab_of_sound_files(example: str) -> None:
    found, examined = isolated(flow_result, GOLDEN / example, example, True, tools=TOOLS)
    assert found == [], "\n".join(found)
    assert examined.keys() == ALL and all(examined.values()), examined


@pytest.mark.long
@pytest.mark.parametrize("damage", (*DAMAGES, *SCRIPT_DAMAGES), ids=lambda damage: damage.name)
def test_a_lab_shows_every_damage(damage: Damage, tmp_path: Path) -> None:
    hosts, tools = ("netplan", (*TOOLS, "netplan")) if damage.file == NETPLAN else ("script", TOOLS)
    checks, found = isolated(found_by, damaged(damage, tmp_path), "lab", 1, hosts, tools=tools)
    assert damage.found_by <= checks, found
    # What BIRD and kernels make of damaged files is what this program computes.
    assert not {"AILBL21", "AILBL22", "AILBL23", "AILBL32", "AILBL33"} & checks, found


@pytest.mark.long
def test_every_single_link_of_the_lab_fails_as_computed() -> None:
    found, count = isolated(single_links, GOLDEN / "lab", "lab", None, tools=TOOLS)
    assert found == [], "\n".join(found)
    assert count == 16


@pytest.mark.long
@pytest.mark.parametrize("part", range(2))
def test_forty_links_of_the_reference_fabric_fail_as_computed(part: int) -> None:
    found, count = isolated(single_links, GOLDEN / "jvd", "jvd", 20, part, tools=TOOLS)
    assert found == [], "\n".join(found)
    assert count == 20
