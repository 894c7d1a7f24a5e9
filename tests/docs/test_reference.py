"""The pages of docs/reference are what the code says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ailb_gen.errors import EXIT_CODES, ExitCode
from ailb_gen.intent.schema import json_schema
from ailb_gen.sim.scenario.models import json_schema as scenario_schema
from ailb_gen.study.what_if.models import json_schema as what_if_schema
from tests.conftest import ROOT

FILES = {"keys": json_schema, "scenario": scenario_schema, "what-if": what_if_schema}
ROW = re.compile(r"^\| `(\w+)` \|.*\| (.*?) *\|$", re.M)


def test_the_reference_is_current(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "docs/site/reference.py", tmp_path], cwd=ROOT, check=True)
    made = {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()}
    assert made == {path.name: path.read_text("utf-8") for path in (ROOT / "docs/reference").iterdir()}, (
        "make reference"
    )


@pytest.mark.parametrize("name", FILES)
def test_every_key_has_a_meaning(name: str) -> None:
    text = (ROOT / f"docs/reference/{name}.md").read_text("utf-8")
    rows = ROW.findall(text)
    if "](scenario.md#" in text:
        rows += ROW.findall((ROOT / "docs/reference/scenario.md").read_text("utf-8"))
    assert [key for key, meaning in rows if not meaning] == []
    schema = json.loads(FILES[name]())
    objects = [schema, *schema["$defs"].values()]
    assert {key for one in objects for key in one.get("properties", {})} <= {key for key, _ in rows}


def test_exit_codes_are_complete() -> None:
    assert list(EXIT_CODES) == list(ExitCode)
