"""States between the waves of a growth: what is up and lost in each, from files alone."""

from pathlib import Path

import pytest

from ailb_gen.api.grow import grow
from ailb_gen.deploy.planning import Position
from ailb_gen.intent.growth import Unit
from ailb_gen.network.fabric import Network
from ailb_gen.progress import quiet
from ailb_gen.review.growth import growth_states
from tests.checks.trees import network_of, rendered
from tests.conftest import EXAMPLES

TEXT = "name: f\nplatform: generic\nstripes: 2\nrails: 1\nspines: 2\nservers: 1\n"
SEATS = [
    *(Position("spine", color, f"spine{n}") for n, color in enumerate(("green", "blue"), 1)),
    *(Position("leaf", "0", f"stripe{n}-leaf1") for n in (1, 2)),
]


def network(text: str, folder: Path) -> Network:
    """The network of a generated fabric."""
    folder.mkdir()
    return network_of(rendered(text, folder)[1])


@pytest.mark.parametrize(
    ("unit", "count", "sessions"),
    [("stripe", 1, [16, 16, 18, 20, 22, 24]), ("spine", 4, [16, 16, 16, 16, 20, 24, 32]), ("server", 1, [16, 16, 16])],
)
def test_a_growth_loses_nothing_behind_any_wave(unit: Unit, count: int, sessions: list[int]) -> None:
    result = grow(EXAMPLES / "lab/fabric.yaml", unit, count)
    states = result.states()
    assert [one.sessions for one in states] == sessions
    assert [one.lost for one in states] == [()] * len(sessions)
    new = {switch.name for switch in result.addition.switches}
    # Of a push with new switches, these are all that it changes.
    assert {name for one in states if one.push == 1 for name in one.wave.devices} == new or not new


def test_switches_that_do_not_change_are_in_no_wave(tmp_path: Path) -> None:
    before = network(TEXT, tmp_path / "before")
    assert growth_states(before, before, [SEATS], (), quiet) == ()


def test_what_is_lost_in_between_is_told(tmp_path: Path) -> None:
    """Leaves know the new AS number of a spine later than the spine does."""
    before = network(TEXT, tmp_path / "before")
    after = network(f"{TEXT}overrides: {{spines: {{spine1: {{asn: 64777}}}}}}\n", tmp_path / "after")
    spine = [seat for seat in SEATS if seat.name == "spine1"]
    found = growth_states(before, after, [spine, SEATS], ("green", "blue"), quiet)
    assert [(one.push, one.wave.name) for one in found][:2] == [(1, "canary spine"), (2, "canary leaf")]
    assert found[0].sessions == 2
    # Of prefixes that are alike one.
    assert found[0].lost == (
        "session stripe1-leaf1:et-0/0/0 - spine1:et-0/0/0",
        "session stripe2-leaf1:et-0/0/0 - spine1:et-0/0/1",
        "fc00:1:1:1::/64 of spine1 by et-0/0/0.0",
        "fc00:1:1:1::/64 of stripe2-leaf1 by et-0/0/0.0",
        "fc00:1:1:2::/64 of spine1 by et-0/0/0.0",
    )
    assert found[-1].lost == ()
