"""The declarations of congestion control, and what follows from them."""

from __future__ import annotations

import pytest

from ailb_gen.sim.balancers import Parameter
from ailb_gen.sim.congestion import CONGESTION
from ailb_gen.sim.engine.congestion.dispatch import HOOKS
from ailb_gen.sim.engine.memory import new_state
from ailb_gen.sim.scenario.convert import settings_of
from ailb_gen.sim.scenario.load import parse
from ailb_gen.sim.settings import CongestionSettings, SimulationSettings
from tests.sim.engine.cases import flows, leaf_spine

CLOS = """\
fabric: {clos: {leaves: 2, spines: 2, hosts_per_leaf: 2}}
traffic: [{collective: {kind: permutation, bytes: 1MB}}]
"""


def congestion_of(text: str) -> CongestionSettings:
    """The settings of a scenario with these lines."""
    return settings_of(parse(CLOS + text, "file.yaml")[0].scenario, leaf_spine(), SimulationSettings()).congestion


def test_every_congestion_control_has_hooks_and_no_hooks_are_without_a_declaration() -> None:
    assert set(HOOKS) == set(CONGESTION)


@pytest.mark.parametrize("name", CONGESTION)
def test_the_engine_gets_every_parameter_by_name_in_its_unit(name: str) -> None:
    row = CONGESTION[name]
    factors = {"\u00b5s": 10.0**6, "Mbit/s": 10**6 / 8 / 10**12}
    state = new_state(leaf_spine(), flows([0], [1], 1000), SimulationSettings(congestion=CongestionSettings(name)), 1)
    for one in row.parameters:
        assert state.congestion[one.field][0] == pytest.approx(one.default * factors.get(one.unit, 1)), one.name
        assert one.least <= one.default <= one.most


def test_fields_of_rates_are_speeds() -> None:
    assert (Parameter("hyper_mbps", 1, "").field, Parameter("hyper_mbps", 1, "").unit) == ("hyper_speed", "Mbit/s")
    assert Parameter("hyper_mbps", 1, "").value(80) == 80 * 10**6 / 8 / 10**12


def test_keys_of_dcqcn_are_its_parameters() -> None:
    plain = congestion_of("congestion: dcqcn\n").parameters
    assert plain == {one.name: one.default for one in CONGESTION["dcqcn"].parameters}
    own = congestion_of("congestion: {name: dcqcn, increase_interval: 1.25ms, hyper: 1g, gain: 0.5}\n").parameters
    assert own == {**plain, "increase_interval_us": 1250, "hyper_mbps": 1000, "gain": 0.5}
    assert congestion_of("congestion: {name: dcqcn, parameters: {gain: 0.25}}\n").parameters["gain"] == 0.25


def test_other_congestion_control_has_its_parameters_alone() -> None:
    found = congestion_of("congestion: {name: swift, parameters: {target_factor: 2}}\n")
    assert found == CongestionSettings("swift", {"target_factor": 2.0})
