"""What is written for one more stripe, rail, spine or server."""

import pytest

from ailb_gen.errors import IntentError
from ailb_gen.intent.growth import Unit, ValueEdit, grown, growth
from ailb_gen.intent.load import load
from tests.conftest import EXAMPLES, SMALL, intent_of


@pytest.mark.parametrize(
    ("unit", "old", "new", "edits"),
    [
        ("stripe", "", "", [ValueEdit(("stripes",), 4)]),
        ("stripe", "stripes: 2", "stripes: [{}, {}]", [ValueEdit(("stripes", 2), {}), ValueEdit(("stripes", 3), {})]),
        ("spine", "", "", [ValueEdit(("spines",), 4)]),
        ("spine", "spines: 2", "spines: [{name: a}, {}]", [ValueEdit(("spines", 2), {}), ValueEdit(("spines", 3), {})]),
        ("rail", "", "", [ValueEdit(("rails",), 4)]),
        ("rail", "rails: 2\n", "", [ValueEdit(("rails",), 10)]),
        ("rail", "stripes: 2", "stripes: [{rails: 1}, {}]", [ValueEdit(("rails",), 4)]),
        ("rail", "stripes: 2", "stripes: [{rails: 1}, {rails: 1}]", []),
        ("server", "", "", [ValueEdit(("servers",), 4)]),
        ("server", "servers: 2\n", "", [ValueEdit(("servers",), 2)]),
        ("server", "servers: 2", "servers: {count: 1, name: 'x{n}'}", [ValueEdit(("servers", "count"), 3)]),
        ("server", "servers: 2", "servers: {name: 'x{n}'}", [ValueEdit(("servers", "count"), 2)]),
        ("server", "servers: 2", "servers: [{count: 1, kind: k}, {count: 5}]", [ValueEdit(("servers", 1, "count"), 7)]),
        (
            "server",
            "servers: 2",
            "servers: [{name: g09, stripe: 1}, {name: b, stripe: 2, kind: k}]",
            [
                ValueEdit(("servers", 2), {"name": "g10", "stripe": 1}),
                ValueEdit(("servers", 3), {"name": "g11", "stripe": 1}),
                ValueEdit(("servers", 4), {"name": "b-1", "stripe": 2, "kind": "k"}),
                ValueEdit(("servers", 5), {"name": "b-2", "stripe": 2, "kind": "k"}),
            ],
        ),
        (
            "server",
            "stripes: 2",
            "stripes: [{servers: 1}, {}]",
            [ValueEdit(("servers",), 4), ValueEdit(("stripes", 0, "servers"), 3)],
        ),
    ],
)
def test_values_of_two_more(unit: Unit, old: str, new: str, edits: list[ValueEdit]) -> None:
    text = SMALL.replace(old, new) + "server_kinds: {k: {mtu: 1600}}\n"
    assert list(growth(intent_of(text), unit, 2)) == edits


def test_servers_of_a_csv_file_are_added_to_its_rows() -> None:
    intent = load(EXAMPLES / "brownfield" / "fabric.yaml")
    edits = growth(intent, "server", 1)
    assert [edit.path for edit in edits] == [("stripes", 0, "servers", "list", 3), ("stripes", 1, "servers", "list", 3)]
    assert [edit.value["name"] for edit in edits] == ["a-gpu4", "b-gpu4"]
    assert len(grown(intent, edits).fabric.stripes[0].servers.list) == 4  # type: ignore[union-attr]


def test_the_intent_that_grows_stays_as_it_is() -> None:
    intent = intent_of(SMALL)
    assert len(grown(intent, growth(intent, "stripe", 3)).fabric.stripes) == 5
    assert len(intent.fabric.stripes) == 2
    assert intent.source.data["stripes"] == 2


def test_what_the_schema_does_not_take_is_told() -> None:
    intent = intent_of(SMALL)
    with pytest.raises(IntentError, match="rails: must be at most 64, not 65"):
        grown(intent, growth(intent, "rail", 63))
