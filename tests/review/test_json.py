"""The review for programs, in the form of its schema."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema

from ailb_gen.report.check_report import CheckReport
from ailb_gen.review.changes import DeviceChange, DeviceGroup
from ailb_gen.review.json import review_json
from ailb_gen.review.model import Review
from tests.conftest import ROOT
from tests.report.samples import NASTY, verdict_of
from tests.report.test_json import closed
from tests.review.fabric import CHANGED, FABRIC, reviewed, write

SCHEMA = json.loads((ROOT / "docs" / "review.schema.json").read_text(encoding="utf-8"))


def check(review: Review) -> dict[str, object]:
    body: dict[str, object] = json.loads(review_json(review))
    jsonschema.validate(body, closed(SCHEMA))
    return body


def test_the_schema_describes_a_review(tmp_path: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    before = write(tmp_path / "a", FABRIC)
    drained = check(reviewed(before, write(tmp_path / "b", CHANGED)))
    assert drained["impact"] and drained["devices"]
    grown = check(reviewed(before, write(tmp_path / "c", FABRIC.replace("servers: 2", "servers: 3"))))
    assert grown["cables"] != {"added": [], "removed": []}
    assert set(SCHEMA["required"]) == set(drained)


def test_the_schema_describes_findings_and_files_of_servers(tmp_path: Path) -> None:
    before, after = write(tmp_path / "a", FABRIC), write(tmp_path / "b", FABRIC)
    spine = after[1] / "switches/spine1.conf"
    spine.write_text(spine.read_text().replace("mtu 9216;", "mtu 9100;"))
    profile = next(path for path in sorted((after[1] / "profiles").rglob("*")) if path.is_file())
    profile.write_text(profile.read_text() + "# changed\n")
    broken, repaired = check(reviewed(before, after)), check(reviewed(after, before))
    assert '"new": []' not in json.dumps(broken) and '"gone": []' not in json.dumps(repaired)
    assert '"files": [{' in json.dumps(broken)


def test_the_schema_describes_a_review_without_comparison() -> None:
    group = DeviceGroup((DeviceChange(NASTY, "", "unreadable"),), same=True)
    review = Review(NASTY, CheckReport(verdict_of(fabric=NASTY)), missing=NASTY, groups=(group,))
    assert check(review)["impact"] is None
    assert check(replace(review, missing=""))["base"] == NASTY
