"""The declarations of load balancers, and what follows from them."""

from __future__ import annotations

import pytest

from ailb_gen.sim.balancers import BALANCERS, HASHED, LEAST_LOADED, Parameter
from ailb_gen.sim.engine.balancers.dispatch import HOOKS
from ailb_gen.sim.engine.memory import new_state
from ailb_gen.sim.settings import BalancerSettings, SimulationSettings
from tests.sim.engine.cases import flows, leaf_spine


def test_every_load_balancer_has_hooks_and_no_hooks_are_without_a_declaration() -> None:
    # These choose at hosts: switches hash.
    assert set(HOOKS) == set(BALANCERS)
    assert {name for name, hooks in HOOKS.items() if hooks.choose is None} == {"flowbender", "plb", "hopper"}


@pytest.mark.parametrize("name", BALANCERS)
def test_the_engine_gets_every_parameter_by_name_in_its_unit(name: str) -> None:
    row = BALANCERS[name]
    given = {one.name: (one.default + 1) / 2 for one in row.parameters}
    work = flows([0], [1], 1000)
    state = new_state(leaf_spine(), work, SimulationSettings(balancer=BalancerSettings(name, given)), 1)
    for one in row.parameters:
        factor = 10**6 if one.unit == "µs" else 1
        value = 10**12 / given[one.name] if one.unit == "1/s" else given[one.name] * factor
        assert state.parameters[one.field][0] == value, one.name
        assert one.least <= one.default <= one.most
    others = {field for row in BALANCERS.values() for field in (one.field for one in row.parameters)}
    others -= {one.field for one in row.parameters}
    assert all(state.parameters[field][0] == 0 for field in others)


@pytest.mark.parametrize(
    ("name", "field", "unit"),
    [("gap_us", "gap_ps", "µs"), ("sampling_rate", "sampling_period_ps", "1/s"), ("samples", "samples", "")],
)
def test_fields_have_the_units_of_the_engine(name: str, field: str, unit: str) -> None:
    parameter = Parameter(name, 1, "")
    assert (parameter.field, parameter.unit) == (field, unit)


def test_flows_hash_where_rlb_has_no_dlb() -> None:
    assert BALANCERS["rlb"].flow_rule({}) == LEAST_LOADED
    assert BALANCERS["rlb"].flow_rule({"dynamic": 0}) == HASHED
