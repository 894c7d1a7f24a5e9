"""Records against each other; what the files must say is what they say."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.checks import records
from ailb_gen.checks import subjects as about
from ailb_gen.checks.expected import expected_fabric
from ailb_gen.checks.expected_cabling import expected_cabling
from ailb_gen.checks.expected_hosts import expected_hosts
from ailb_gen.checks.records import Difference, compare
from ailb_gen.intent.load import Intent, load
from ailb_gen.layout import CABLING, TOPOLOGY
from ailb_gen.network.records import Record, Records
from ailb_gen.network.topology import entry_lines, read_cabling, read_topology, values
from ailb_gen.textio import parse_json
from tests.checks.trees import GOLDEN
from tests.conftest import EXAMPLES

LEAF = {"name": "leaf1", "asn": 65001, "nics": [{"name": "a", "mac": "00"}, {"name": "b"}], "backup": None}


def told(intended: dict[str, object], found: dict[str, object]) -> list[tuple[str, str, str]]:
    rows = compare([Record("device", "leaf1", intended)], [Record("device", "leaf1", found, 7)])
    return [(row.message, row.expected, row.found) for row in rows]


@pytest.mark.parametrize(
    ("change", "message", "expected", "found"),
    [
        ({"asn": 65002}, "asn is 65002; it must be 65001", "65001", "65002"),
        ({"asn": "65001x"}, "asn is 65001x; it must be 65001", "65001", "65001x"),
        ({"name": ""}, 'name is ""; it must be leaf1', "leaf1", '""'),
        ({"backup": "all"}, "backup is all; it must be null", "null", "all"),
        ({"rail": 0}, "rail does not belong there", "", "0"),
        (
            {"nics": [{"name": "a", "mac": "01"}, {"name": "b"}]},
            "nics 1 mac is 01; it must be 00",
            "00",
            "01",
        ),
        ({"nics": [{"name": "a"}, {"name": "b"}]}, "nics 1 mac is missing; it must be 00", "00", ""),
        (
            {"nics": [{"name": "b"}]},
            'nics is [{"name": "b"}]; it must be [{"name": "a", "mac": "00"}, {"name": "b"}]',
            '[{"name": "a", "mac": "00"}, {"name": "b"}]',
            '[{"name": "b"}]',
        ),
        ({"nics": 5}, f"nics is 5; it must be {json.dumps(LEAF['nics'])}", json.dumps(LEAF["nics"]), "5"),
    ],
)
def test_fields_that_differ(change: dict[str, object], message: str, expected: str, found: str) -> None:
    assert told(LEAF, {**LEAF, **change}) == [(message, expected, found)]


def test_a_field_that_is_missing_and_several_at_once() -> None:
    assert told(LEAF, {key: value for key, value in LEAF.items() if key != "asn"}) == [
        ("asn is missing; it must be 65001", "65001", "")
    ]
    assert len(told(LEAF, {**LEAF, "asn": 1, "name": "x", "more": 2})) == 3


def test_records_that_are_missing_twice_or_too_many() -> None:
    intended = [Record("link", "a 1", {"leaf": "a"}), Record("link", "a 2", {"leaf": "a"})]
    found = [Record("link", "a 2", {"leaf": "a"}, 3), Record("link", "a 2", {"leaf": "b"}, 4)]
    found += [Record("device", "a 1", {"leaf": "c", "nics": [], "n": 1}, 5)]
    assert list(compare(intended, found)) == [
        Difference("link", "a 2", 4, "the link is there twice", "", "b"),
        Difference("link", "a 1", 1, "the link is missing", "a"),
        Difference("device", "a 1", 5, "the intent has no such device", "", "c 1", subjects=(about.device("a 1"),)),
    ]


def test_a_difference_of_a_cable_is_about_its_ends_and_involves_the_end_that_it_leads_to() -> None:
    def cable(spine: str) -> Record:
        return Record("cable", "a 1", {"a_device": "a", "a_port": "1", "b_device": spine, "b_port": "7"})

    (difference,) = compare([cable("s")], [cable("t")])
    assert difference.subjects == (about.port("a", "1"), about.port("s", "7"))
    assert difference.involves == (about.port("t", "7"),)


def test_a_difference_of_a_nic_is_about_the_nic_and_the_port_that_it_is_cabled_to() -> None:
    def server(leaf: str) -> Record:
        nics = [{"name": name, "leaf": leaf, "leaf_port": name[-1]} for name in ("gpu0", "gpu1")]
        return Record("device", "h", {"name": "h", "nics": nics})

    rows = list(compare([server("a")], [server("b")]))
    assert [row.subjects for row in rows] == [(about.nic("h", f"gpu{n}"), about.port("a", str(n))) for n in (0, 1)]


def test_of_two_the_right_one_stays_and_what_is_missing_is_told_behind_the_one_before_it() -> None:
    intended = [Record("cable", f"a {port}", {"port": port}) for port in (1, 2, 3)]
    found = [Record("cable", "a 1", {"port": 1}, 2), Record("cable", "a 1", {"port": 2}, 3), *intended[2:]]
    expected = [
        Difference("cable", "a 1", 3, "the cable is there twice", "", "2"),
        Difference("cable", "a 2", 2, "the cable is missing", "2"),
    ]
    assert list(compare(intended, found)) == expected
    assert list(compare(intended, [found[1], found[0], found[2]])) == expected


fields = st.dictionaries(st.sampled_from("abc"), st.recursive(st.integers() | st.none() | st.text(), st.lists))


@pytest.mark.long
@given(intended=fields, found=fields)
def test_records_differ_exactly_when_their_fields_do(intended: dict[str, object], found: dict[str, object]) -> None:
    assert bool(told(intended, found)) == (intended != found)


def test_keys_that_stand_twice() -> None:
    assert parse_json('{"a": 1, "b": 2}') == {"a": 1, "b": 2}
    with pytest.raises(ValueError, match="the key 'a' is twice"):
        parse_json('{"x": {"b": 1, "a": 1, "a": 1}}')


def test_lines_of_values_and_entries() -> None:
    lines = [
        "{",
        ' "list": [',
        '  {"a": 1},',
        '  {"a": 2}',
        " ],",
        ' "name": "x",',
        ' "other": [',
        '  {"b": 1}',
        " ]",
        "}",
    ]
    data = json.loads("\n".join(lines))
    assert list(values(data, lines)) == [("value", "name", {"name": "x"}, 6)]
    assert entry_lines(data, lines) == {"list": [3, 4], "other": [8]}
    assert entry_lines(data, [json.dumps(data)]) == {"list": [1, 1], "other": [1]}


def found_in(root: Path) -> dict[str, tuple[Record, ...]]:
    return {
        TOPOLOGY: tuple(read_topology((root / TOPOLOGY).read_text()).records),
        CABLING: tuple(read_cabling((root / CABLING).read_text()).records),
    }


def expected_records(intent: Intent) -> dict[str, Records]:
    intended = expected_fabric(intent.fabric)
    cables = expected_cabling(intended)
    topology = records.topology(intended, cables, expected_hosts(intent.fabric))
    return {TOPOLOGY: topology, CABLING: records.cables(cables)}


def leaves(value: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    """Paths of all values inside lists and objects that are neither."""
    if isinstance(value, dict):
        return [found for key, inner in value.items() for found in leaves(inner, (*path, key))]
    if isinstance(value, list):
        return [found for number, inner in enumerate(value) for found in leaves(inner, (*path, number))]
    return [path]


def test_every_value_of_both_files_counts() -> None:
    """Brownfield has everything that the files can say: whichever value changes, it is found."""
    expected, files = expected_records(load(EXAMPLES / "brownfield/fabric.yaml")), found_in(GOLDEN / "brownfield")
    count = 0
    for file, rows in files.items():
        for number, record in enumerate(rows):
            for path in leaves(dict(record.fields)):
                changed = json.loads(json.dumps(record.fields))
                inner = changed
                for step in path[:-1]:
                    inner = inner[step]
                inner[path[-1]] = "other"
                damaged = (*rows[:number], record._replace(fields=changed), *rows[number + 1 :])
                (found,) = compare(expected[file], damaged)
                assert (found.kind, found.key, found.line, found.found) == (*record[:2], record.line, "other")
                count += 1
    assert count > 500


EXPECTED, TEXTS = (
    expected_records(load(EXAMPLES / "brownfield/fabric.yaml")),
    {file: (GOLDEN / "brownfield" / file).read_text() for file in (TOPOLOGY, CABLING)},
)
READERS = {TOPOLOGY: read_topology, CABLING: read_cabling}


def edited(text: str, edits: list[tuple[str, int, int]]) -> str:
    lines = text.split("\n")
    for edit, number, other in edits:
        one, two = number % len(lines), other % len(lines)
        if edit == "delete":
            del lines[one]
        elif edit == "repeat":
            lines.insert(two, lines[one])
        elif edit == "swap":
            lines[one], lines[two] = lines[two], lines[one]
        elif edit == "turn":
            lines[one] = ", ".join(reversed(lines[one].strip(" {},").split(", "))).join(("  {", "},"))
        else:
            lines[one] = lines[one].replace(str(other % 10), str(number % 10))
    return "\n".join(lines)


@pytest.mark.parametrize("file", [TOPOLOGY, CABLING])
@given(
    edits=st.lists(
        st.tuples(
            st.sampled_from(["delete", "repeat", "swap", "turn", "number"]),
            st.integers(0, 1000),
            st.integers(0, 1000),
        ),
        max_size=4,
    )
)
def test_what_is_the_same_can_be_left_out(file: str, edits: list[tuple[str, int, int]]) -> None:
    found, whole = READERS[file](edited(TEXTS[file], edits)).records, EXPECTED[file]
    assert list(compare(*records.unequal(whole, found))) == list(compare(whole, found))


@pytest.mark.parametrize("file", [TOPOLOGY, CABLING])
def test_little_is_compared_where_little_differs(file: str) -> None:
    lines = TEXTS[file].split("\n")
    del lines[-6]
    expected, found = records.unequal(EXPECTED[file], READERS[file]("\n".join(lines)).records)
    assert (len(expected), len(found)) == (2, 1)
