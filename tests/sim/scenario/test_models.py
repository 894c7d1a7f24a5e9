"""The JSON Schema of scenario files is the one in docs/, and accepts what the program accepts."""

from __future__ import annotations

from pathlib import Path

import pytest

from ailb_gen.sim.scenario.models import json_schema
from tests.sim.scenario.golden import check_schema, is_valid, wrong_files

# Contradictions and rules about several values are beyond a schema.
BEYOND = {
    "balancer_parameters",
    "congestion",
    "congestion_bounds",
    "congestion_keys",
    "congestion_twice",
    "contradictions",
    "packets",
    "receiver_driven",
    "sweep",
    "sweep_path",
    "sweep_empty",
    "two_fabrics",
    "two_in_one",
}


def test_the_schema_is_up_to_date_and_accepts_the_examples() -> None:
    check_schema(json_schema(), "scenario", "simulate")


@pytest.mark.parametrize(
    "path", [path for path in wrong_files("scenario") if path.stem not in BEYOND], ids=lambda path: path.stem
)
def test_what_is_wrong_is_wrong_for_the_schema_too(path: Path) -> None:
    assert not is_valid(json_schema(), path)
