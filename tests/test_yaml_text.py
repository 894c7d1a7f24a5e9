"""YAML: what is text stays text in every version."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from ailb_gen.yaml_text import documents, inline, to_yaml
from tests.exports.fabrics import ODD

HOSTILE = (
    "'",
    '"',
    "a\nb",
    "{{ x }}",
    "$(id)",
    "<script>",
    "=cmd",
    "\x07",
    "- a",
    "a: b",
    "# a",
    "&a",
    "*a",
    "x" * 300,
)


@pytest.mark.parametrize("text", [*ODD, *HOSTILE])
def test_text_is_read_as_text(text: str) -> None:
    same(text)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_any_text_is_read_as_text(text: str) -> None:
    same(text)


@given(st.text("a -#:'\"\n\t", max_size=12))
def test_any_lines_are_read_as_text(text: str) -> None:
    same(text)


def same(text: str) -> None:
    value = {text: [text, {"key": text}]}
    written = to_yaml(value, "comment")
    assert yaml.safe_load(written) == value
    assert YAML(typ="safe", pure=True).load(written) == value
    line = f"key: {inline(text)}  # comment\n"
    assert line.count("\n") == 1
    assert yaml.safe_load(line) == YAML(typ="safe", pure=True).load(line) == {"key": text}


def test_lists_that_occur_twice_are_written_twice() -> None:
    twice = ["a"]
    assert to_yaml({"first": twice, "second": twice}, "c") == "# c\n---\nfirst:\n- a\nsecond:\n- a\n"


def test_lines_of_text_stand_as_they_are() -> None:
    assert to_yaml({"a": "{\n  1\n}"}, "c") == "# c\n---\na: |-\n  {\n    1\n  }\n"


def test_several_documents_are_read_one_by_one() -> None:
    written = documents([{"a": "1"}, {"b": "2"}], "c")
    assert written == '# c\n---\na: "1"\n---\nb: "2"\n'
    assert list(yaml.safe_load_all(written)) == [{"a": "1"}, {"b": "2"}]
