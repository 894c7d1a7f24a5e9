"""Shorthands end in one canonical form; scalars are parsed once; the schema describes all of it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from ailb_gen.errors import IntentError
from ailb_gen.intent.models import Fabric
from ailb_gen.intent.scalars import AsnRange, Cidr, parse_asn_range, parse_mac, parse_speed
from ailb_gen.intent.schema import json_schema
from ailb_gen.validation import Model, known_keys
from ailb_gen.wording import did_you_mean
from tests.conftest import EXAMPLES, ROOT, SMALL, design_of, intent_of


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("servers: 2", "servers: {count: 2}"),
        ("servers: [{name: a, stripe: 1}]", "servers: {list: [{name: a, stripe: 1}]}"),
        ("colors: 2", "colors: {count: 2}"),
        ("colors: [a, b]", "colors: {names: [a, b]}"),
        ("platform: generic", "platform: {leaf: generic, spine: generic}"),
        ("load_balancing: {dlb: off}", "load_balancing: {dlb: {mode: off}}"),
        ("load_balancing: {glb: on}", "load_balancing: {glb: true}"),
        ("addressing: {stripe: 2}", 'addressing: {stripe: "16-31"}'),
    ],
)
def test_shorthands(short: str, long: str) -> None:
    base = "name: f\nstripes: 2\nspines: 2\n"
    assert intent_of(f"{base}{short}\n").fabric == intent_of(f"{base}{long}\n").fabric


def models(kind: type[Model]) -> Iterator[type[Model]]:
    """Yield every model below a model."""
    for one in kind.__subclasses__():
        yield one
        yield from models(one)


def test_defaults_are_those_of_an_empty_mapping() -> None:
    """Defaults are made without validation: a validated one is the same."""
    made = [
        (f"{model.__name__}.{name}", field.default)
        for model in models(Model)
        if model.__module__.startswith("ailb_gen.intent.")
        for name, field in model.model_fields.items()
        if isinstance(field.default, Model)
    ]
    assert len(made) > 20
    for name, default in made:
        again = type(default).model_validate({})
        assert (default, default.model_fields_set, default.model_dump()) == (again, set(), again.model_dump()), name


def test_importing_the_models_builds_no_validator() -> None:
    code = (
        "import ailb_gen.intent.models, ailb_gen.validation as v\n"
        "def below(m): return {m}.union(*map(below, m.__subclasses__()))\n"
        "print(sum(m.__pydantic_complete__ for m in below(v.Model)), len(below(v.Model)) > 30)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert done.stdout == "0 True\n"


def test_a_count_is_a_list_of_empty_entries() -> None:
    assert intent_of(SMALL).fabric.stripes == intent_of(SMALL.replace("stripes: 2", "stripes: [{}, {}]")).fabric.stripes


def test_models_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        intent_of(SMALL).fabric.rails = 3  # type: ignore[misc]


@pytest.mark.parametrize("text", ["a0:88:c2:3b:50:66", "A088.C23B.5066", "a0-88-c2-3b-50-66", "a088c23b5066"])
def test_mac_notations(text: str) -> None:
    assert parse_mac(text) == "a0:88:c2:3b:50:66"


def test_scalars_print_as_they_are_written() -> None:
    assert str(parse_asn_range("65001-65004")) == "65001-65004"
    assert str(parse_asn_range(65001)) == "65001"
    assert parse_asn_range(65001) == AsnRange(65001, 65001, shared=True)
    assert parse_speed("400G") == 400
    assert str(Cidr(6, 0xFC00 << 112, 16)) == "fc00::/16"
    assert Cidr(4, 0, 8).overlaps(Cidr(4, 255, 32))
    assert not Cidr(4, 0, 8).overlaps(Cidr(6, 0, 8))


def test_the_schema_in_the_repository_is_the_current_one() -> None:
    assert (ROOT / "docs" / "fabric.schema.json").read_text(encoding="utf-8") == json_schema(), "run: make schema"


@pytest.mark.parametrize("path", sorted(ROOT.glob("*/**/fabric.yaml")), ids=lambda path: path.parent.name)
def test_fabric_files_of_the_repository_satisfy_the_schema(path: Path) -> None:
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    Draft202012Validator(json.loads(json_schema())).validate(data)


@pytest.mark.parametrize("text", ["nmae: 1", "rails: many", "servers: {count: x}", "colors: {backup: 7}", "bfd: []"])
def test_the_schema_refuses_what_the_program_refuses(text: str) -> None:
    data = yaml.safe_load(SMALL) | yaml.safe_load(text)
    assert not Draft202012Validator(json.loads(json_schema())).is_valid(data)
    with pytest.raises(IntentError):
        intent_of("".join(f"{key}: {json.dumps(value)}\n" for key, value in data.items()))


def test_known_keys_follow_the_path() -> None:
    assert "min_fill" in known_keys(Fabric, ("roce", "ecn"))
    assert "mac" in known_keys(Fabric, ("servers", 0, "nics", 0))
    assert "uplinks" in known_keys(Fabric, ("overrides", "leaves", "any"))
    assert known_keys(Fabric, ("name", "x")) == []


def test_did_you_mean() -> None:
    assert did_you_mean("spnies", ["spines", "stripes"]) == "did you mean 'spines'?"
    assert did_you_mean("zzz", ["spines"]) == ""


def test_every_example_is_there() -> None:
    names = {path.parent.name for path in EXAMPLES.glob("*/fabric.yaml")}
    assert {"jvd", "jvd-8-uplinks", "lab", "frontier", "brownfield"} <= names


@pytest.mark.long
def test_defaults_of_the_schema_are_what_a_file_may_say() -> None:
    schema = json.loads(json_schema())

    def walk(node: Any) -> Iterator[dict[str, Any]]:
        if isinstance(node, dict):
            if "default" in node:
                yield node
            node = list(node.values())
        for child in node if isinstance(node, list) else ():
            yield from walk(child)

    found = list(walk(schema))
    assert len(found) > 100
    for node in found:
        one = {"$defs": schema["$defs"], "allOf": [{key: node[key] for key in node if key != "default"}]}
        # The schema as a whole was checked; `validate` would check it for every default.
        Draft202012Validator(one).validate(node["default"])
    plan = schema["$defs"]["Addressing"]["properties"]
    assert (plan["pool"]["default"], plan["stripe"]["default"]) == ("fc00::/16", "16-31")
    assert schema["$defs"]["Spread"]["properties"]["speed"]["default"] == "400g"
    plans = {
        key: {name: part["default"] for name, part in schema["$defs"][kind]["properties"].items()}
        for key, kind in PLANS
    }
    Fabric.model_validate({"name": "f", "stripes": 1, "spines": 1} | plans)


PLANS = (("addressing", "Addressing"), ("asn", "Asns"), ("router_ids", "RouterIds"), ("uplinks", "Spread"))


def test_single_nics_by_number() -> None:
    servers = '[{name: a, nics: {1: {mac: "a0:88:c2:3b:50:66"}}}, {name: b, nics: [{mac: "a0:88:c2:3b:50:67"}]}]'
    more = "overrides: {servers: {b: {nics: {1: {name: eth9}}}}}"
    text = f"name: f\nplatform: generic\nstripes: 1\nrails: 2\nspines: 2\nservers: {servers}\n{more}\n"
    first, second = design_of(text).servers
    assert [(nic.name, nic.mac) for nic in first.config.nics] == [("gpu0_eth", ""), ("gpu1_eth", "a0:88:c2:3b:50:66")]
    assert [(nic.name, nic.mac) for nic in second.config.nics] == [("gpu0_eth", "a0:88:c2:3b:50:67"), ("eth9", "")]
