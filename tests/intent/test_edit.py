"""YAML edited in place: the value changes, and nothing else of the text does."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.errors import IntentError, UsageError
from ailb_gen.intent.edit import add_items, edit, remove_items
from ailb_gen.yamlio import Path, read_yaml

PORT = "stripe1-leaf1 et-0/0/1:0"

CASES: dict[str, tuple[str, Path, object, str]] = {
    "new key": ("a: 1  # c\n\n# end\n", ("b",), [1, PORT], f'a: 1  # c\nb:\n  - 1\n  - "{PORT}"\n\n# end\n'),
    "new key, no end of line": ("a: 1", ("b",), "x", "a: 1\nb: x"),
    "new key, end of document": ("---\na: 1\n...\n", ("b",), "x", "---\na: 1\nb: x\n...\n"),
    "new key, indented": ("  a: 1\n", ("b",), {"c": 1}, "  a: 1\n  b:\n    c: 1\n"),
    "new key behind lines of text": ("a: |\n  x\n\nc: 1\n", ("b",), 2, "a: |\n  x\n\nc: 1\nb: 2\n"),
    "new key in brackets": ('{"a": 1,}', ("b",), [2], '{"a": 1, b: [2],}'),
    "new key of a key": ("a:\n  b: 1\nc: 2\n", ("a", "d"), True, "a:\n  b: 1\n  d: true\nc: 2\n"),
    "new keys that lead to it": ("a: 1\n", ("b", "c", 0), "x", "a: 1\nb:\n  c: [x]\n"),
    "new key of an empty text": ("# c\n", ("b",), "no", '# c\nb: "no"\n'),
    "item": ("a:\n- x # y\n# z\nb: 1\n", ("a", 1), "w", "a:\n- x # y\n- w\n# z\nb: 1\n"),
    "item in brackets": ("a: [x]  # y\n", ("a", 1), "w", "a: [x, w]  # y\n"),
    "first item in brackets": ("a: []  # y\n", ("a", 0), "w", "a: [w]  # y\n"),
    "value": ("a: 'x'  # é\nb: ü\n", ("b",), "1e5", "a: 'x'  # é\nb: \"1e5\"\n"),
    "value of a key without one": ("a:\nb: 1\n", ("a",), 3, "a: 3\nb: 1\n"),
    "value of several lines": ("a: x\n", ("a",), "y\nz", 'a: "y\\nz"\n'),
    "lines of Windows": ("a: 1\r\nb: 2\r\n", ("c",), [3], "a: 1\r\nb: 2\r\nc:\r\n  - 3\r\n"),
    "lines of both": ("a: 1\r\nb: [2]\nc:\n- 3\n", ("c", 1), 4, "a: 1\r\nb: [2]\nc:\n- 3\n- 4\n"),
    "remove a line of Windows": ("a: 1\r\nb: 2\r\nc: 3", ("c",), None, "a: 1\r\nb: 2"),
    "remove": ("a: 1\nb: [2,\n  3]  # c\n# d\ne: 4\n", ("b",), None, "a: 1\n# d\ne: 4\n"),
    "remove all": ("# c\na: 1\n", ("a",), None, "# c\n"),
    "remove the first key": ("---\na: 1\nb: 2\n", ("a",), None, "---\nb: 2\n"),
    "remove lines of text": ("a: |\n  x\n\nb: 2\n", ("a",), None, "b: 2\n"),
    "remove an item": ("a:\n  - x # 1\n  # 2\n  - y # 3\n", ("a", 0), None, "a:\n  # 2\n  - y # 3\n"),
    "remove the only item": ("a: 1\nb:\n  - x\n", ("b", 0), None, "a: 1\n"),
    "remove the only key": ("a: 1\nb:\n  c:\n    d: 2\n", ("b", "c", "d"), None, "a: 1\n"),
    "remove the only item in brackets": ("a: [x]\n", ("a", 0), None, "a: []\n"),
    "remove the first in brackets": ("a: [x, y]\n", ("a", 0), None, "a: [y]\n"),
    "remove the last in brackets": ("a: [x, y ]\n", ("a", 1), None, "a: [x ]\n"),
    "remove a line in brackets": ("a: [\n  x,  # 1\n  y   # 2\n]\n", ("a", 1), None, "a: [\n  x,  # 1\n]\n"),
    "remove beside a comment": ("a: [x,  # 1\n  y]\n", ("a", 0), None, "a: [  # 1\n  y]\n"),
    "replace lines of text": ("a: |\n  x\n\nb: 2\n", ("a",), "z", "a: z\n\nb: 2\n"),
    "replace a block": ("a:  # c\n- x\n# d\n- 'y'\n# e\nb: 2\n", ("a",), ["z"], "a: [z]  # c\n# e\nb: 2\n"),
}


@pytest.mark.parametrize("case", CASES)
def test_only_the_value_changes(case: str) -> None:
    text, path, value, expected = CASES[case]
    assert edit(text, path, value, "f") == expected


BY_HAND = {
    "anchor": ("x: &a [s3]\ny: *a\n", ("x", 0), None),
    "anchor that is needed": ("x: &a s3\ny: *a\n", ("x",), None),
    "alias": ("x: &a [s3]\ny: *a\n", ("y", 0), "s4"),
    "alias replaced": ("x: &a s3\ny: *a\n", ("y",), "s4"),
    "explicit key": ("? a\n: - x\nb: 1\n", ("a",), None),
    "key behind a dash": ("- a: 1\n  b: 2\n", (0, "a"), None),
    "text without the end of its line": ("a: |\n  x", ("b",), 1),
    "a key below a number": ("a: 1\n", ("a", "b"), None),
    "key of a list": ("- a\n", ("b",), 1),
    "index that leaves a gap": ("a: [x]\n", ("a", 2), "y"),
    "nothing to remove": ("a: 1\n", ("b",), None),
}


@pytest.mark.parametrize("case", BY_HAND)
def test_what_cannot_be_edited_in_place_is_refused(case: str) -> None:
    text, path, value = BY_HAND[case]
    with pytest.raises(UsageError, match=r"^f: cannot (?:change|remove) .* edit it by hand$"):
        edit(text, path, value, "f")


def test_what_is_no_yaml_is_refused() -> None:
    with pytest.raises(IntentError, match="yaml-syntax"):
        edit("a: [\n", ("a",), 1, "f")


WORDS = st.sampled_from(["s1", "spine*", PORT, "on", "1e5", "é", "a b: c", "#", "", "x\ny"])
COMMENTS = st.sampled_from(["", " # why", "   # é: [1, {", "\t# t"])
BETWEEN = st.sampled_from(["", "\n", "# note: x\n", "\n# - x\n\n"])


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Draw a commented document with keys a, b, c: values, lists and mappings, in lines and in brackets."""
    lines = draw(BETWEEN)
    for key in "abc":
        comment = draw(COMMENTS)
        forms = [
            f"{key}: 'v'{comment}\n",
            f'{key}: [x, "y",  z ]{comment}\n',
            f"{key}: []{comment}\n",
            f"{key}: {{k: 1}}{comment}\n",
            f"{key}: [{comment}\n  x,{comment}\n  y{comment}\n ]{comment}\n",
            f"{key}:{comment}\n- x{comment}\n# c\n- 'y'{comment}\n",
            f"{key}:{comment}\n    -  x{comment}\n",
            f"{key}:{comment}\n  k: v{comment}\n  l:\n  - m{comment}\n",
            f"{key}: >-\n  some text\n  more\n",
        ]
        lines += draw(st.sampled_from(forms)) + draw(BETWEEN)
    return draw(st.sampled_from([lines, lines.rstrip("\n"), lines.replace("\n", "\r\n")]))


@given(texts(), WORDS, st.integers(1, 2))
def test_adding_and_removing_gives_the_same_text(text: str, word: str, count: int) -> None:
    data: dict[str, Any] = read_yaml(text, "f").data
    lists = [(key, len(value)) for key, value in data.items() if isinstance(value, list)]
    assert edit(edit(text, ("new",), [word] * count, "f"), ("new",), None, "f") == text
    for key, length in lists:
        changed = text
        for at in range(count):
            changed = edit(changed, (key, length + at), word, "f")
        assert read_yaml(changed, "f").data == {**data, key: [*data[key], *[word] * count]}
        for at in reversed(range(count)):
            changed = edit(changed, (key, length + at), None, "f")
        assert changed == text


@given(texts(), st.lists(WORDS, min_size=1, max_size=3), st.data())
def test_items_that_come_and_go_together_give_the_text_of_one_after_the_other(
    text: str, words: list[str], data: st.DataObject
) -> None:
    lists = {key: value for key, value in read_yaml(text, "f").data.items() if isinstance(value, list)}
    for key, value in lists.items():
        one_by_one = text
        for at, word in enumerate(words, len(value)):
            one_by_one = edit(one_by_one, (key, at), word, "f")
        together = add_items(text, (key,), words, "f")
        assert together == one_by_one
        gone = data.draw(st.sets(st.integers(0, len(value) + len(words) - 1), min_size=1))
        for at in sorted(gone, reverse=True):
            one_by_one = edit(one_by_one, (key, at), None, "f")
        assert remove_items(together, (key,), gone, "f") == one_by_one


def test_items_of_a_list_that_stands_twice_are_not_edited() -> None:
    text = "x: &a [s3, s4]\ny: *a\n"
    with pytest.raises(UsageError, match=r"^f: cannot change y.* edit it by hand$"):
        add_items(text, ("y",), ["s5"], "f")
    with pytest.raises(UsageError, match=r"^f: cannot remove y.* edit it by hand$"):
        remove_items(text, ("y",), [0, 1], "f")


@given(texts(), WORDS)
def test_every_value_can_be_replaced_and_every_key_removed(text: str, word: str) -> None:
    data: dict[str, Any] = read_yaml(text, "f").data
    for key in data:
        changed = edit(text, (key,), word, "f")
        assert read_yaml(changed, "f").data == {**data, key: word}
        left = edit(text, (key,), None, "f")
        assert read_yaml(left, "f").data == {name: value for name, value in data.items() if name != key}
        lines = iter(text.splitlines())
        assert all(line in lines for line in left.splitlines())
