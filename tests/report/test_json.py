"""The report for programs."""

import json
from typing import Any

import jsonschema

from ailb_gen.checks.model import Result
from ailb_gen.kept.since import Since
from ailb_gen.report.json import as_json
from tests.conftest import ROOT
from tests.report.samples import LEAF, NASTY, SESSION, SPINE, results, verdict_of, waiver

SCHEMA = json.loads((ROOT / "docs" / "report.schema.json").read_text(encoding="utf-8"))


def closed(schema: Any) -> Any:
    """Return the schema with keys that it does not name refused, so that it documents all of them."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    more = {"additionalProperties": False} if "properties" in schema else {}
    return {key: closed(value) for key, value in (more | schema).items()}


def test_the_schema_describes_the_report() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    waivers = (waiver("AILB203", "spine*"), waiver("AILB301", "nothing"))
    for verdict in (verdict_of(), verdict_of(waivers=waivers), verdict_of(Result(SESSION))):
        jsonschema.validate(json.loads(as_json(verdict)), closed(SCHEMA))
    since = Since("main", 1, 7, ("AILB203",), {"AILB301": ("everything",)})
    jsonschema.validate(json.loads(as_json(verdict_of(), since)), closed(SCHEMA))


def test_everything_is_in_it() -> None:
    body = json.loads(as_json(verdict_of(waivers=(waiver("AILB203", "spine*"),))))
    assert (body["fabric"], body["passed"], body["waived"]) == ("jvd", False, 1)
    assert body["findings"] == {"error": 1, "warning": 2, "note": 0}
    checks = {check["id"]: check for check in body["checks"]}
    assert list(checks) == sorted(checks)
    leaf, spine = checks["AILB203"]["findings"]
    assert leaf["place"] == {"file": "switches/stripe1-leaf1.conf", "line": 120, "column": 9}
    assert (leaf["expected"], leaf["found"], leaf["waiver"]) == ("65003", "65002", None)
    assert spine["waiver"] == {
        "scope": "spine*",
        "reason": "known",
        "expires": "2026-06-01",
        "place": "waivers.yaml:3:3",
    }
    assert checks["AILB301"]["findings"][0]["message"] == NASTY
    assert checks["AILB401"]["figures"] == [{"name": "max/mean, leaf to spine", "value": "1.000"}]
    assert checks["AILB901"]["skipped"].startswith("no YANG models")


def test_a_line_for_every_finding_and_only_ascii() -> None:
    text = as_json(verdict_of())
    assert text.isascii()
    assert sum('"fingerprint"' in line for line in text.splitlines()) == sum(len(row.findings) for row in results())
    assert text == as_json(verdict_of(*results()))
    assert list(results()[0].findings) == [LEAF, SPINE]
