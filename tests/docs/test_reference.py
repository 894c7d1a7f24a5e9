"""The pages of docs/reference are what the code says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from ailb_gen.intent.schema import json_schema
from tests.conftest import ROOT

PAGES = ("keys.md", "commands.md", "platforms.md")


def test_the_reference_is_current(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "docs/site/reference.py", tmp_path], cwd=ROOT, check=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(PAGES)
    for name in PAGES:
        shown = (ROOT / "docs/reference" / name).read_text(encoding="utf-8")
        assert shown == (tmp_path / name).read_text(encoding="utf-8"), f"docs/reference/{name}: run 'make reference'"


def test_every_key_has_a_meaning() -> None:
    rows = re.findall(r"^\| `(\w+)` \|.*\| (.*?) *\|$", (ROOT / "docs/reference/keys.md").read_text("utf-8"), re.M)
    assert [key for key, meaning in rows if not meaning] == []
    schema = json.loads(json_schema())
    objects = [schema, *schema["$defs"].values()]
    assert {key for one in objects for key in one.get("properties", {})} == {key for key, _ in rows}
