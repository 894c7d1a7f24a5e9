"""Documents with an entry per line: read entry by entry, they are what they are as a whole."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.layout import TOPOLOGY
from ailb_gen.network.json_lines import OtherLayoutError, WrittenEntries
from ailb_gen.network.topology import LISTS, read_topology, whole_topology
from tests.network.lab import TEXTS

TEXT = TEXTS[TOPOLOGY]
DAMAGES = (
    '"',
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\n",
    "\n ]",
    ",\n  {",
    " ",
    "5",
    "1.5",
    "null",
    '"x": 1, ',
    "é",
    "\t",
)

SHORT = """\
{
 "fabric": "f",
 "devices": [
  {"name": "a", "role": "leaf", "rail": 0},
  {"name": "h", "role": "server", "nics": [{"name": "g", "leaf": "a", "leaf_port": "2"}]}
 ],
 "links": [
  {"leaf": "a", "leaf_port": "1", "spine": "s", "spine_port": "1", "color": "c", "speed": "400g"}
 ],
 "colors": [
  {"name": "c", "backup": null}
 ],
 "pool": "p"
}
"""


def entries(text: str) -> dict[str, list[tuple[int, object]]]:
    reading = WrittenEntries(text, LISTS)
    return {key: [(reading.line, entry) for entry in reading.of(key)] for key in LISTS}


def test_entries_have_their_lines() -> None:
    lines, data = TEXT.split("\n"), json.loads(TEXT)
    found = entries(TEXT)
    for key in LISTS:
        assert [entry for _, entry in found[key]] == data[key]
        assert [json.loads(lines[line - 1].removesuffix(",")) for line, _ in found[key]] == data[key]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        json.dumps(json.loads(TEXT)),
        json.dumps(json.loads(TEXT), indent=1),
        TEXT.replace("\n", "\r\n"),
        TEXT.replace(' "links"', ' "more": [\n  {"a": 1}\n ],\n "links"'),
        TEXT.replace(' "pool"', ' "fabric"'),
        TEXT.replace(' "pool"', ' "po\tol"'),
        TEXT.replace(' "links"', ' "li\tnks"'),
        TEXT.replace('"color": "red"', '"color": "red", "color": "red"', 1),
        TEXT.replace('"color": "red"', '"color":\n"red"', 1),
        TEXT.replace(' "devices": [\n', ' "devices": [\n  5,\n'),
        f"{TEXT}x",
    ],
)
def test_other_layouts(text: str) -> None:
    with pytest.raises(OtherLayoutError):
        entries(text)


def test_a_list_may_be_empty() -> None:
    text = '{\n "devices": [\n\n ],\n "links": [\n\n ],\n "colors": [\n  {"name": "red"}\n ],\n "pool": "p"\n}\n'
    assert entries(text) == {"devices": [], "links": [], "colors": [(9, {"name": "red"})]}
    assert read_topology(text) == whole_topology(text)


def damaged(text: str, at: int, length: int, instead: str) -> str:
    return text[:at] + instead + text[at + length :]


places = st.integers(0, len(TEXT)), st.integers(0, 40), st.sampled_from(("", *DAMAGES))


@given(*places)
def test_a_damaged_topology_reads_as_it_does_as_a_whole(at: int, length: int, instead: str) -> None:
    text = damaged(TEXT, at, length, instead)
    assert read_topology(text) == whole_topology(text)


@pytest.mark.long
@pytest.mark.parametrize("instead", ("", *DAMAGES))
def test_damage_at_every_place_reads_as_it_does_as_a_whole(instead: str) -> None:
    assert not read_topology(SHORT).defects
    for at in range(len(SHORT)):
        for length in (0, 1):
            changed = damaged(SHORT, at, length, instead)
            assert read_topology(changed) == whole_topology(changed)
