"""YAML and CSV: places of every value, YAML 1.2 scalars, and bombs that do not go off."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen import yamlio as module
from ailb_gen.design.build import build
from ailb_gen.errors import IntentError, Place
from ailb_gen.intent import servers_csv
from ailb_gen.intent.load import load, parse
from ailb_gen.intent.servers_csv import read_servers
from ailb_gen.textio import read_text
from ailb_gen.yamlio import Source, dotted, read_yaml
from tests.conftest import SMALL, intent_of


def test_every_key_and_value_knows_its_place() -> None:
    read = read_yaml("a: 1\nb:\n  - c\n  - {d: [2, 3]}\n", "f")
    assert read.data == {"a": 1, "b": ["c", {"d": [2, 3]}]}
    assert read.places["a",] == Place("f", 1, 1)
    assert read.places["b", 1, "d"] == Place("f", 4, 6)
    assert read.places["b", 1, "d", 1] == Place("f", 4, 13)
    assert read.locate(("b", 1, "nothing", 7)) == Place("f", 4, 5)
    assert Source("g", None).locate(("a",)) == Place("g", 1, 1)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("off", "off"),
        ("yes", "yes"),
        ("012", "012"),
        ("190:20:30", "190:20:30"),
        ("00:11:22:33:44:55", "00:11:22:33:44:55"),
        ("1_000", "1_000"),
        ("2026-11-21", "2026-11-21"),
        ("0x10", 16),
        ("-7", -7),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("true", True),
        ("~", None),
        ("", None),
        ("'5'", "5"),
    ],
)
def test_scalars_follow_yaml_1_2(text: str, value: object) -> None:
    assert read_yaml(f"k: {text}\n", "f").data == {"k": value}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\nb:2\nc: 3\n", 2),
        ('a: 1\nb: "2\nc: 3\nd: "4"\n', 2),
        ("a: 1\nb: '2\nc: 3\nd: '4'\n", 2),
        ("a: [1,\n2\nb: 3\n", 3),
        ('a: "1"\nb: "2" 3\n', 2),
        ("a:\n  - b:1\n    c: 2\n", 2),
        ("a:\n  b: 1\n    c: 2\n", 3),
    ],
)
def test_an_error_is_told_where_it_begins(text: str, line: int) -> None:
    with pytest.raises(IntentError) as caught:
        read_yaml(text, "f")
    assert caught.value.problems[0].place.line == line


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("a: 1\nb:2\nc: 3\n", "put a space after the colon: 'b: 2'"),
        ("a: 1\nb:2  # two\n", "put a space after the colon: 'b: 2'"),
        ("a:\n  - b:1\n    c: 2\n", "put a space after the colon: 'b: 1'"),
        ("a:\n  b:1\n  c: 2\n", "put a space after the colon: 'b: 1'"),
        ("a: [1,\n2\nb: 3\n", ""),
    ],
)
def test_a_colon_without_a_space_is_told(text: str, hint: str) -> None:
    with pytest.raises(IntentError) as caught:
        read_yaml(text, "f")
    assert caught.value.problems[0].hint == hint


def test_aliases_work_and_bombs_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_yaml("a: &x [1]\nb: *x\n", "f").data == {"a": [1], "b": [1]}
    monkeypatch.setattr(module, "MAX_NODES", 1000)
    bomb = "a: &a [1,1,1,1,1,1,1,1,1]\n" + "".join(
        f"{name}: &{name} [*{last},*{last},*{last},*{last},*{last},*{last},*{last},*{last},*{last}]\n"
        for last, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    with pytest.raises(IntentError, match="expands to more than 1,000 values; use fewer aliases"):
        read_yaml(bomb, "f")


@pytest.mark.parametrize(
    "text", ["a: &a [*a]\n", "[" * 5000, "x: " + "[" * 100_000 + "]" * 100_000, "{a: " * 300 + "1" + "}" * 300]
)
def test_recursion_is_refused(text: str) -> None:
    with pytest.raises(IntentError, match="nested deeper than 100 levels"):
        read_yaml(text, "f")


@pytest.mark.parametrize(
    "value",
    ['!!int ""', '!!int "-"', '!!float ""', "!!bool maybe", "!!timestamp x", "!!str [a]", "!!set {a}", "!!binary x"],
)
def test_explicit_tags_are_refused_unless_they_say_nothing_new(value: str) -> None:
    with pytest.raises(IntentError, match=r"the tag .* is not supported here"):
        read_yaml(f"a: {value}\n", "f")
    assert read_yaml("a: !!str 5\nb: !!int 6\n", "f").data == {"a": "5", "b": 6}


def test_control_characters_are_told_with_their_place() -> None:
    with pytest.raises(IntentError) as caught:
        read_yaml("a: 1\nb: x\x00y\n", "f")
    assert str(caught.value) == "f:2:5: error[yaml-syntax]: a control character '\\x00'"


@pytest.mark.parametrize("blank", ["\x85", "\u2028", "\u2029"])
@pytest.mark.parametrize("text", ["a: x{}\n", 'a: "x{}"\n', "a: {{b: {}c}}\n", "a: x  {}# y\n"])
def test_what_ends_a_line_for_some_parsers_only_is_refused(text: str, blank: str) -> None:
    with pytest.raises(IntentError, match=r"f:1:[0-9]+: error\[yaml-syntax\]: a control character"):
        read_yaml(text.format(blank), "f")


@pytest.mark.parametrize("blank", "\xa0\u2003\u3000\u2028\x85")
def test_only_blanks_of_ascii_are_stripped_from_cells(blank: str) -> None:
    (row,) = read_servers(f"name ,\tstripe\n {blank}h1 ,1 \n", "s.csv", (), Source("f", {}))
    assert row == {"name": f"{blank}h1", "stripe": 1}


@pytest.mark.parametrize("digits", ["9" * 5000, "0x" + "f" * 5000])
@pytest.mark.parametrize("key", ["rails", "servers", "stripes", "asn", "uplinks", "name", "aigp"])
def test_absurd_numbers_are_text_and_are_told_briefly(key: str, digits: str) -> None:
    lines = [line for line in SMALL.splitlines() if not line.startswith(f"{key}:")]
    with pytest.raises(IntentError) as caught:
        intent_of("\n".join([*lines, f"{key}: {digits}", ""]))
    assert len(str(caught.value)) < 12_000


def test_too_large_a_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 10)
    with pytest.raises(IntentError, match="larger than"):
        read_yaml("a: 12345678901234567890", "f")


@given(st.text(max_size=200))
def test_no_text_crashes_the_reader(text: str) -> None:
    try:
        read_yaml(text, "f")
    except IntentError as error:
        assert all(problem.place.file == "f" for problem in error.problems)


@given(st.binary(max_size=300))
def test_no_bytes_crash_the_loader(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("bytes") / "fabric.yaml"
    path.write_bytes(data)
    try:
        load(path)
    except IntentError as error:
        assert error.problems


def test_dotted_paths() -> None:
    assert dotted(("overrides", "leaves", "a", "ports", 0)) == "overrides.leaves.a.ports[0]"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(sorted(type(intent_of(SMALL).fabric).model_fields)), JSON)
def test_no_value_of_any_key_crashes(key: str, value: object) -> None:
    lines = [line for line in SMALL.splitlines() if not line.startswith(f"{key}:")]
    text = "\n".join([*lines, f"{key}: {json.dumps(value)}", ""])
    try:
        intent = intent_of(text)
        if len(intent.fabric.stripes) * len(intent.fabric.spines) <= 64:
            build(intent)
    except IntentError as error:
        assert all(problem.reason for problem in error.problems)


def test_csv_cells_know_their_place(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("\ufeffName , stripe,MAC1\n\nh1,2,a0:88:c2:3b:50:66\n", encoding="utf-8")
    source = Source("fabric.yaml", {})
    rows = read_servers(read_text(tmp_path / "s.csv", "s.csv"), "s.csv", ("servers",), source)
    assert rows == [{"name": "h1", "stripe": 2, "nics": {1: {"mac": "a0:88:c2:3b:50:66"}}}]
    assert source.places["servers", 0, "nics", 1, "mac"] == Place("s.csv", 3, 3)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"name\n\xff\xfe\n", "s.csv:2:1: .*not UTF-8"),
        (b"", "this column is required"),
        (b'name\n"a\n', "not valid CSV"),
        (b"name\n" + b"x," * 40_000, "a row has more than 65,536 characters"),
        (b"name\n" + b'"\n",' * 20_000, "a row has more than 65,536 characters"),
        (b"name\n" + b"x\n" * 6, "more than 5 servers"),
        (b"name" + b",q" * 500, "501 columns; there are 405 names"),
    ],
)
def test_unreadable_csv(tmp_path: Path, data: bytes, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers_csv, "COLUMNS", replace(servers_csv.COLUMNS, max_rows=5))
    (tmp_path / "s.csv").write_bytes(data)
    with pytest.raises(IntentError, match=message):
        read_servers(read_text(tmp_path / "s.csv", "s.csv"), "s.csv", ("servers",), Source("f", {}))


def test_the_digest_covers_what_is_referred_to(tmp_path: Path) -> None:
    text = SMALL.replace("servers: 2", "servers: {csv: s.csv}")
    digests = set()
    for name in ("a", "b"):
        (tmp_path / "s.csv").write_text(f"name,stripe\n{name},1\n", encoding="utf-8")
        digests.add(parse(text, "f", tmp_path).digest)
    assert len(digests) == 2


@pytest.mark.parametrize(
    ("name", "message"), [("nothing.yaml", "No such file"), (".", "it is a directory"), ("x\0y", "null byte")]
)
def test_unreadable_fabric_files(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(IntentError, match=message):
        load(tmp_path / name)


def test_a_list_of_too_many_values_is_refused_before_it_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_NODES", 100)
    monkeypatch.setattr(module, "_CoreLoader", None)
    with pytest.raises(IntentError, match=r"f:3:.*too-large.*more than 100 values"):
        read_yaml(f"a: 1\nb:\n  [{'1,' * 200}]\n", "f")
