"""Cables from the table, the topology or the descriptions; every contradiction is found at its line."""

import json

import pytest

from ailb_gen.layout import CABLING, TOPOLOGY
from ailb_gen.network.fabric import Defect, End
from ailb_gen.network.topology import read_cabling, read_topology
from tests.network.lab import LEAF, TEXTS, changed, line_of, network

ROW = "stripe1-leaf1,et-0/0/0,spine1,et-0/0/0,400g,fabric,green,\n"
HEAD = TEXTS[CABLING].split("\n")[0]
ENTRY = (
    '  {"leaf": "stripe1-leaf1", "leaf_port": "et-0/0/0", "spine": "spine1", "spine_port": "et-0/0/0", '
    '"color": "green", "speed": "400g"},\n'
)
DESCRIPTION = "description facing_spine1:et-0/0/0;"


def defects(texts: dict[str, str]) -> list[Defect]:
    return list(network(texts).defects)


def without(*files: str) -> dict[str, str]:
    return {file: text for file, text in TEXTS.items() if file not in files}


def test_the_lab_is_consistent() -> None:
    found = network(TEXTS)
    assert not found.defects
    assert len(found.links) == 16
    assert found.links[0].a == End("stripe1-leaf1", "et-0/0/0")
    assert found.links[0].b == End("spine1", "et-0/0/0")
    assert (found.links[0].color, found.links[0].speed_bps, found.links[0].line) == ("green", 400_000_000_000, 2)
    assert found.attachments["gpu-s1-2", "gpu1_eth"] == End("stripe1-leaf2", "et-0/0/17")
    assert len(found.attachments) == 8


@pytest.mark.parametrize("gone", [(CABLING,), (TOPOLOGY,), (CABLING, TOPOLOGY)])
def test_any_one_source_is_enough(gone: tuple[str, ...]) -> None:
    found = network(without(*gone))
    assert {(cable.a, cable.b) for cable in found.links} == {(cable.a, cable.b) for cable in network(TEXTS).links}
    assert found.attachments == network(TEXTS).attachments


def test_descriptions_need_both_ends() -> None:
    texts = {**without(CABLING, TOPOLOGY), LEAF: changed(LEAF, DESCRIPTION, "description uplink;")[LEAF]}
    assert len(network(texts).links) == 15


def test_the_table_goes_first() -> None:
    other = ROW.replace("spine1,et-0/0/0", "spine1,et-0/0/9")
    found = network(changed(CABLING, ROW, other))
    assert found.links[0].b == End("spine1", "et-0/0/9")


def place(defect: Defect) -> tuple[str, int | None]:
    assert defect.place is not None
    return defect.place.file, defect.place.line


@pytest.mark.parametrize(
    ("file", "old", "new", "message", "at"),
    [
        (
            CABLING,
            ROW,
            "",
            "topology.json has a cable to spine1:et-0/0/0, cabling.csv has none",
            (TOPOLOGY, line_of(TEXTS, TOPOLOGY, ENTRY.strip())),
        ),
        (TOPOLOGY, ENTRY, "", "cabling.csv has a cable to spine1:et-0/0/0, topology.json has none", (CABLING, 2)),
        (
            TOPOLOGY,
            '"color": "green", "speed"',
            '"color": "red", "speed"',
            "green, topology.json has red",
            (CABLING, 2),
        ),
        (CABLING, "400g,fabric,green", "400g,fabric,", "has color none, topology.json has green", (CABLING, 2)),
        (CABLING, "400g,fabric", "800g,fabric", "cabling.csv has 800g, topology.json has 400g", (CABLING, 2)),
    ],
)
def test_table_against_topology(file: str, old: str, new: str, message: str, at: tuple[str, int]) -> None:
    found = [defect for defect in defects(changed(file, old, new)) if defect.kind == "cabling"]
    assert len(found) == 1
    assert message in found[0].message
    assert (found[0].scope, place(found[0])) == ("stripe1-leaf1 et-0/0/0", at)


def test_two_ports_swapped_in_the_table() -> None:
    """Both rows contradict the topology."""
    text = TEXTS[CABLING].replace("spine1,et-0/0/0,400g", "spine1,et-0/0/1,400g", 1)
    second = "stripe1-leaf2,et-0/0/0,spine1,et-0/0/1"
    assert second in text
    found = defects({**TEXTS, CABLING: text.replace(second, second[:-1] + "0")})
    assert [defect.scope for defect in found if defect.kind == "cabling"] == [
        "stripe1-leaf1 et-0/0/0",
        "stripe1-leaf2 et-0/0/0",
    ]


def test_a_port_takes_one_cable() -> None:
    texts = changed(CABLING, ROW, ROW + ROW.replace("spine1,et-0/0/0", "spine1,et-0/0/9"))
    found = [defect for defect in defects(texts) if "a port takes one" in defect.message]
    assert [place(defect) for defect in found] == [(CABLING, 2), (CABLING, 3)]
    assert found[0].message == "et-0/0/0 of stripe1-leaf1 has 2 cables; a port takes one"


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("", "the first line must name the columns a_device,a_port,b_device,b_port,speed,kind,color,rail", 1),
        ("a,b\n", "the first line must name the columns a_device,a_port,b_device,b_port,speed,kind,color,rail", 1),
        (HEAD + "\n\na,b,c\n", "3 cells instead of 8", 3),
        (HEAD + "\na,b,c,d,400g,optic,green,\n", "'optic' is not a kind of cable; it must be fabric or host", 2),
        (HEAD + '\n"a"b,c\n', "not CSV: ',' expected after '\"'", 2),
    ],
)
def test_bad_tables(text: str, message: str, line: int) -> None:
    (found,) = read_cabling(text).defects
    assert (found.kind, found.message, place(found)) == ("unreadable", message, (CABLING, line))


def test_a_bad_row_does_not_hide_the_others() -> None:
    found = read_cabling(f"{HEAD}\nshort\n{ROW}")
    assert (len(found.links), found.links[0].line, len(found.defects)) == (1, 3, 1)


@pytest.mark.parametrize(
    ("text", "part", "line"),
    [
        ("{\n\n", "not JSON", 3),
        ("[" * 100_000, "not JSON: nested too deeply", 1),
        ("[]", "KeyError: 'devices'", 1),
        ("{}", "KeyError: 'devices'", 1),
        ('{"devices": 5}', "TypeError: devices is not a list", 1),
        ('{"devices": [5]}', "TypeError", 1),
        ('{"devices": [{"name": "a"}], "links": [], "colors": []}', "KeyError: 'role'", 1),
        ('{"devices": [{"name": 5, "role": "leaf"}], "links": [], "colors": []}', "5 is not text", 1),
        ('{"devices": [{"name": "a", "role": "leaf", "asn": 1.5}]}', "1.5 is neither text nor a whole number", 1),
        ('{"devices": [{"name": "a", "role": "leaf", "rail": true}]}', "True is neither text nor a whole number", 1),
        ('{"devices": [{"name": "a",\n\n"name": "b"}]}', "the key 'name' is twice in one object", 3),
        ('{"devices": [{"name": "name", "x": {"name": 1}},\n{"na\\u006de": 1, "name": 2}]}', "the key 'name' is", 2),
        ('{"devices": [1\n\n, 2\n\n"links"]}', "Expecting ',' delimiter", 3),
        ('{"devices": [],\n\n}', "not JSON", 1),
        ('{"devices": [{"name": "a"}\n\n}', "Expecting ',' delimiter", 3),
        ('{"devices"\n\n[]}', "Expecting ':' delimiter", 1),
        ('{"devices": [], "links": [{"leaf": "a"}], "colors": []}', "KeyError: 'leaf_port'", 1),
        ('{"devices": [], "links": [], "colors": [{"name": 1}]}', "1 is not text", 1),
        ('{"devices": [{"name": "a", "role": "server", "nics": [{}]}]}', "KeyError: 'leaf'", 1),
    ],
)
def test_bad_topologies(text: str, part: str, line: int) -> None:
    (found,) = read_topology(text).defects
    assert (found.kind, place(found)) == ("unreadable", (TOPOLOGY, line))
    assert part in found.message
    assert found.message.endswith("generate it again")


def test_the_entry_that_cannot_be_used_is_named_by_its_line() -> None:
    texts = changed(TOPOLOGY, '"spine_port": "et-0/0/1", "color": "red"', '"spine_port": 1, "color": "red"')
    (found,) = read_topology(texts[TOPOLOGY]).defects
    assert place(found) == (TOPOLOGY, line_of(texts, TOPOLOGY, '"spine_port": 1,'))


def test_what_the_topology_says() -> None:
    found = read_topology(TEXTS[TOPOLOGY])
    by_key = {record[:2]: record for record in found.records}
    assert len(by_key) == len(found.records) == 2 + 4 + 12 + 16
    leaf = by_key["device", "stripe1-leaf2"]
    assert (leaf.fields["role"], leaf.fields["asn"], leaf.fields["vlan"]) == ("leaf", 65102, 3)
    assert leaf.line == line_of(TEXTS, TOPOLOGY, '"name": "stripe1-leaf2", "role"')
    assert by_key["value", "pool"] == ("value", "pool", {"pool": "fc00::/16"}, 3)
    assert by_key["color", "green"].fields["community"] == "color:0:1"
    assert by_key["link", "stripe1-leaf1 et-0/0/0"].line == line_of(TEXTS, TOPOLOGY, ENTRY.strip())
    assert found.links[0].line == line_of(TEXTS, TOPOLOGY, ENTRY.strip())
    assert (found.roles["spine2"], found.roles["gpu-s1-1"]) == ("spine", "server")


def test_what_the_table_says() -> None:
    found = read_cabling(f"{HEAD}\n{ROW}stripe1-leaf1,et-0/0/16,h1,gpu0_eth,400g,host,,0\n")
    assert [(record.kind, record.key, record.line) for record in found.records] == [
        ("cable", "stripe1-leaf1 et-0/0/0", 2),
        ("cable", "h1 gpu0_eth", 3),
    ]
    assert [*found.records][1].fields == {
        "a_device": "stripe1-leaf1", "a_port": "et-0/0/16", "b_device": "h1", "b_port": "gpu0_eth",
        "speed": "400g", "kind": "host", "color": "", "rail": "0",
    }  # fmt: skip


def test_topology_in_another_layout_still_reads() -> None:
    """Lines are found for the layout that is written; any other is read all the same."""
    found = read_topology(json.dumps(json.loads(TEXTS[TOPOLOGY]), indent=4))
    assert not found.defects
    written = read_topology(TEXTS[TOPOLOGY])
    assert [link.a for link in found.links] == [link.a for link in written.links]
    assert [record[:3] for record in found.records] == [record[:3] for record in written.records]
    assert {record.line for record in found.records} == {1}
