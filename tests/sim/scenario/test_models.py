"""The JSON Schema of scenario files is the one in docs/, and accepts what the program accepts."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from ailb_gen.errors import IntentError
from ailb_gen.sim.scenario.load import parse
from ailb_gen.sim.scenario.models import json_schema
from ailb_gen.yamlio import read_yaml
from tests.conftest import EXAMPLES, ROOT

SCENARIOS = sorted((EXAMPLES / "simulate").glob("*.yaml"))
WRONG = sorted((ROOT / "tests" / "errors" / "scenario").glob("*.yaml"))
# Contradictions and rules about several values are beyond a schema.
BEYOND = {"balancer_parameters", "contradictions", "sweep", "sweep_path", "sweep_empty", "two_fabrics", "two_in_one"}


def test_the_schema_is_up_to_date() -> None:
    assert (ROOT / "docs" / "scenario.schema.json").read_text(encoding="utf-8") == json_schema(), "run: make schema"


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.name)
def test_examples_are_valid_for_both(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    jsonschema.Draft202012Validator(json.loads(json_schema())).validate(read_yaml(text, path.name).data)
    assert parse(text, path.name)
    assert text.startswith("# yaml-language-server: $schema=../../docs/scenario.schema.json\n")


@pytest.mark.parametrize("path", [path for path in WRONG if path.stem not in BEYOND], ids=lambda path: path.stem)
def test_what_is_wrong_is_wrong_for_the_schema_too(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not jsonschema.Draft202012Validator(json.loads(json_schema())).is_valid(read_yaml(text, path.name).data)
    with pytest.raises(IntentError):
        parse(text, path.name)
