"""The report for code scanning: the structure SARIF 2.1.0 asks for, within GitHub's limits."""

import json
from typing import Any

import jsonschema
import pytest

from ailb_gen.checks.model import Finding, Result
from ailb_gen.errors import Place
from ailb_gen.report.sarif import sarif
from tests.report.samples import COLOR, SESSION, many, results, verdict_of, waiver


def closed(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    """The schema of an object that has these keys, may have those, and no others."""
    properties = {**required, **optional}
    return {"type": "object", "required": list(required), "properties": properties, "additionalProperties": False}


def rows(items: dict[str, Any], **more: int) -> dict[str, Any]:
    """The schema of a list."""
    return {"type": "array", "items": items, **more}


STRING = {"type": "string"}
TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
FILE = closed({"uri": {**STRING, "pattern": r"^[A-Za-z0-9_.~/%:-]+$"}}, uriBaseId={"const": "%SRCROOT%"})
REGION = closed({"startLine": {"type": "integer", "minimum": 1}}, startColumn={"minimum": 1})
LOCATION = closed(
    {
        "physicalLocation": closed({"artifactLocation": FILE, "region": REGION}),
        "logicalLocations": rows({"required": ["fullyQualifiedName"]}),
    }
)
SUPPRESSION = {"required": ["kind", "status", "justification"], "properties": {"kind": {"const": "external"}}}
RESULT = closed(
    {
        "ruleId": STRING,
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": LEVEL,
        "message": TEXT,
        "locations": rows(LOCATION, minItems=1),
        "partialFingerprints": {"type": "object", "additionalProperties": STRING},
        "suppressions": rows(SUPPRESSION),
    }
)
RULE = closed(
    {
        "id": STRING,
        "shortDescription": TEXT,
        "fullDescription": TEXT,
        "help": {**TEXT, "required": ["text", "markdown"]},
        "defaultConfiguration": {"required": ["level"], "properties": {"level": LEVEL}},
        "properties": {"required": ["tags"], "properties": {"tags": {"type": "array", "maxItems": 20}}},
    }
)
RULES = rows(RULE)
NOTIFICATION = {"required": ["message"], "properties": {"message": TEXT, "level": LEVEL}}
INVOCATION = {
    "required": ["executionSuccessful"],
    "properties": {"toolExecutionNotifications": rows(NOTIFICATION)},
}
RUN = closed(
    {
        "tool": {"properties": {"driver": {"required": ["name", "rules"]}}},
        "results": rows(RESULT),
        "invocations": rows(INVOCATION),
    },
    automationDetails={"required": ["id"]},
    columnKind={"const": "unicodeCodePoints"},
)
# What is used of the published schema, closed where the published one is.
SCHEMA = closed(
    {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": rows(RUN, minItems=1, maxItems=1),
    }
)


def parsed(text: str) -> dict[str, Any]:
    body = json.loads(text)
    jsonschema.validate(body, SCHEMA)
    (run,) = body["runs"]
    rules = run["tool"]["driver"]["rules"]
    jsonschema.validate(rules, RULES)
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert isinstance(run, dict)
    return run


def test_results_point_at_the_statement() -> None:
    run = parsed(sarif(verdict_of(waivers=(waiver("AILB203", "spine*"),))))
    leaf = next(result for result in run["results"] if result["ruleId"] == "AILB203")
    assert leaf["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "build/jvd/switches/stripe1-leaf1.conf", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 120, "startColumn": 9},
    }
    assert leaf["message"]["text"].startswith("stripe1-leaf1 et-0/0/0: as-list names another AS (expected 65003")
    assert leaf["level"] == "error"
    assert leaf["suppressions"] == []
    last = run["results"][-1]
    assert last["suppressions"] == [{"kind": "external", "status": "accepted", "justification": "known"}]
    bare = next(result for result in run["results"] if result["message"]["text"].startswith("fabric: "))
    assert bare["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "fabric.yaml"


def test_checks_that_proved_nothing_are_told() -> None:
    run = parsed(sarif(verdict_of()))
    texts = [note["message"]["text"] for note in run["invocations"][0]["toolExecutionNotifications"]]
    assert "AILB901: no YANG models; name their folder with --yang" in texts
    assert "AILB701: not applicable: nothing to examine" in texts
    assert run["invocations"][0]["exitCode"] == 1


@pytest.mark.parametrize(
    ("artifacts", "uri", "base"),
    [
        ("build/jvd", "build/jvd/switches/spine1.conf", True),
        ("./build//jvd/", "build/jvd/switches/spine1.conf", True),
        (".", "switches/spine1.conf", True),
        ("../out", "../out/switches/spine1.conf", False),
        ("/srv/out", "file:///srv/out/switches/spine1.conf", False),
        ("my tree", "my%20tree/switches/spine1.conf", True),
    ],
)
def test_uris(artifacts: str, uri: str, base: bool) -> None:
    (result,) = parsed(sarif(verdict_of(many(1), artifacts=artifacts)))["results"]
    location = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": uri, **({"uriBaseId": "%SRCROOT%"} if base else {})}


def test_fingerprints_are_unique() -> None:
    same = tuple(Finding("AILB203", "a", "b", Place("c", line)) for line in range(1, 5))
    run = parsed(sarif(verdict_of(Result(SESSION, same, 4))))
    assert len({result["partialFingerprints"]["ailb/v1"] for result in run["results"]}) == 4


def test_too_many_results_are_cut_with_a_notification() -> None:
    run = parsed(sarif(verdict_of(many(30), many(30, COLOR)), max_results=40))
    levels = [result["level"] for result in run["results"]]
    assert levels == ["error"] * 30 + ["warning"] * 10
    note = run["invocations"][0]["toolExecutionNotifications"][0]
    assert note["level"] == "warning"
    assert note["message"]["text"].startswith("20 of 60 findings, the least severe, are left out")


def test_the_compressed_size_is_kept_too() -> None:
    whole = sarif(verdict_of(many(2000)))
    run = parsed(sarif(verdict_of(many(2000)), max_bytes=10_000))
    assert 0 < len(run["results"]) < 2000
    assert len(parsed(whole)["results"]) == 2000


@pytest.mark.long
def test_the_default_limit_is_that_of_github() -> None:
    assert len(json.loads(sarif(verdict_of(many(25_100))))["runs"][0]["results"]) == 25_000


def test_the_same_input_gives_the_same_bytes() -> None:
    assert sarif(verdict_of()) == sarif(verdict_of(*results()))
