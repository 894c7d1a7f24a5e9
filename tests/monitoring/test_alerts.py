"""Alerts: a right fabric fires none in ten minutes, and what is wrong fires exactly its alert in two intervals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import example
from tests.golden_trees import GOLDEN
from tests.monitoring.series import CHANGED_S, INTERVAL_S, Observed, Watched, damaged, loads_in, with_loads

LAB = GOLDEN / "lab"
LEAF, PORT = "stripe1-leaf1", ("stripe1-leaf1", "et-0/0/0")
SPINE_END = ("spine1", "et-0/0/0")
# Two scrape intervals after the change.
SOON = CHANGED_S + 2 * INTERVAL_S


@pytest.fixture(scope="module")
def right() -> Observed:
    return Observed(loads_in(LAB))


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    return Watched(example("lab"), LAB, tmp_path_factory.mktemp("lab"))


def names(found: list[dict[str, str]]) -> set[str]:
    return {one["alertname"] for one in found}


@pytest.mark.parametrize(("name", "collector"), [("lab", "gnmic"), ("lab", "telegraf"), ("jvd", "gnmic")])
def test_a_right_fabric_fires_none_in_ten_minutes(name: str, collector: str, tmp_path: Path) -> None:
    watched = Watched(example(name), GOLDEN / name, tmp_path, collector)
    state = Observed(loads_in(GOLDEN / name))
    assert watched.firing(state, state, *range(INTERVAL_S, 601, INTERVAL_S)) == []


def test_a_wrong_color_is_found_at_the_leaf_that_advertises_it(lab: Watched, right: Observed, tmp_path: Path) -> None:
    wrong = damaged(
        LAB, tmp_path / "wrong", f"switches/{LEAF}.conf", lambda text: text.replace("color green;", "color blue;", 1)
    )
    found = lab.firing(right, Observed(loads_in(wrong)), SOON)
    assert found == [{"alertname": "AilbWrongColor", "color": "green", "device": LEAF}]


def test_a_server_on_its_backup_is_found(lab: Watched, right: Observed, tmp_path: Path) -> None:
    """A spine that no longer takes the prefix: links and sessions are up, and the other colors carry the traffic."""
    term = "term lost {\n from {\n route-filter fc00:1:1:1::/64 exact;\n }\n then reject;\n }\n"
    lost = damaged(
        LAB,
        tmp_path / "lost",
        "switches/spine1.conf",
        lambda text: text.replace("policy-statement FABRIC-IN {\n", "policy-statement FABRIC-IN {\n" + term, 1),
    )
    found = lab.firing(right, Observed(loads_in(lost)), SOON)
    assert found == [{"alertname": "AilbColorOnBackup", "color": "green", "device": LEAF}]


@pytest.mark.parametrize("both", [True, False])
def test_a_silent_link_is_found(lab: Watched, right: Observed, both: bool) -> None:
    """The port stays up and carries nothing, out of the leaf or both ways; the leaf's other uplinks carry its part."""
    without = loads_in(LAB, (PORT,))
    loads = (
        without
        if both
        else right.loads | {port: (load[0], right.loads[port][1]) for port, load in without.items() if port[0] == LEAF}
    )
    found = lab.firing(right, replace(right, loads=loads), SOON)
    assert found == [{"alertname": "AilbSilentLink", "color": "green", "device": LEAF, "interface": "et-0/0/0"}]


def test_a_hot_spine_is_found(lab: Watched, right: Observed) -> None:
    peers = {end: link.peer for end, link in _ends().items()}
    hot = with_loads(
        right,
        lambda port, load: tuple(  # type: ignore[return-value]
            one * (1.6 if "spine2" in (port[0], peers[port]) else 0.8) for one in load
        ),
    )
    assert lab.firing(right, hot, SOON) == [{"alertname": "AilbHotSpine", "spine": "spine2"}]


def _ends() -> dict[tuple[str, str], object]:
    from ailb_gen.exports.labels import uplinks

    return {(end.device, end.interface): end for end in uplinks(example("lab"))}
