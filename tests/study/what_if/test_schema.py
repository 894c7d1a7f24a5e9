"""The JSON Schema of what-if files is the one in docs/, and accepts what the program accepts."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from ailb_gen.study.what_if.load import parse
from ailb_gen.study.what_if.models import json_schema
from ailb_gen.yamlio import read_yaml
from tests.conftest import EXAMPLES, ROOT

FILES = sorted((EXAMPLES / "study").glob("*.yaml"))
WRONG = sorted((ROOT / "tests" / "errors" / "what_if").glob("*.yaml"))
# Contradictions, files and rules about several values are beyond a schema.
SCHEMA = {"unknown_keys", "not_a_mapping", "units"}


def is_valid(path: Path) -> bool:
    data = read_yaml(path.read_text(encoding="utf-8"), path.name).data
    return bool(jsonschema.Draft202012Validator(json.loads(json_schema())).is_valid(data))


def test_the_schema_is_up_to_date() -> None:
    assert (ROOT / "docs" / "what-if.schema.json").read_text(encoding="utf-8") == json_schema(), "run: make schema"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_examples_are_valid_for_both(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert is_valid(path)
    assert parse(text, path.name, path.parent).what_if.balancers
    assert text.startswith("# yaml-language-server: $schema=../../docs/what-if.schema.json\n")


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_what_a_schema_can_see_is_wrong_for_it_too(path: Path) -> None:
    assert is_valid(path) == (path.stem not in SCHEMA)
