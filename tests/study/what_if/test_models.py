"""The JSON Schema of what-if files is the one in docs/, and accepts what the program accepts."""

from __future__ import annotations

from pathlib import Path

import pytest

from ailb_gen.study.what_if.models import json_schema
from tests.sim.scenario.golden import check_schema, is_valid, wrong_files

# Contradictions, files and rules about several values are beyond a schema.
SCHEMA = {"unknown_keys", "not_a_mapping", "units", "months_zero", "months_missing"}


def test_the_schema_is_up_to_date_and_accepts_the_examples() -> None:
    check_schema(json_schema(), "what-if", "study")


@pytest.mark.parametrize("path", wrong_files("what_if"), ids=lambda path: path.stem)
def test_what_a_schema_can_see_is_wrong_for_it_too(path: Path) -> None:
    assert is_valid(json_schema(), path) == (path.stem not in SCHEMA)
