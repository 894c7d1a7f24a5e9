"""Entries of `drain` and `graceful_shutdown` in a fabric file: added, removed and moved, everything else stays."""

import random
from typing import Any

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from ailb_gen.design.build import build
from ailb_gen.errors import IntentError, UsageError
from ailb_gen.intent.drain import Drain
from ailb_gen.intent.drain_entries import DRAIN, SHUTDOWN, DrainKey, add_entries, parse_elements, remove_entries
from ailb_gen.yaml_text import inline
from ailb_gen.yamlio import read_yaml
from tests.conftest import SMALL, intent_of
from tests.intents import Intents

ONE, PORT = Drain("spine1"), Drain("stripe1-leaf1", "et-0/0/1:0")
# Text before and after.
CASES = {
    "new": ("a: 1\n", 'a: 1\ndrain:\n  - spine1\n  - "stripe1-leaf1 et-0/0/1:0"\n'),
    "list in lines": ("drain:\n- x  # y\n", 'drain:\n- x  # y\n- spine1\n- "stripe1-leaf1 et-0/0/1:0"\n'),
    "list in brackets": ("drain: [x]  # y\n", 'drain: [x, spine1, "stripe1-leaf1 et-0/0/1:0"]  # y\n'),
    "empty list": ("drain: []  # y\n", 'drain: [spine1, "stripe1-leaf1 et-0/0/1:0"]  # y\n'),
    "nothing": ("# c\n", '# c\ndrain:\n  - spine1\n  - "stripe1-leaf1 et-0/0/1:0"\n'),
}


@pytest.mark.parametrize("case", CASES)
def test_entries_come_and_go(case: str) -> None:
    before, after = CASES[case]
    assert add_entries(before, "f", (ONE, PORT)) == (after, (ONE, PORT))
    assert remove_entries(after, "f", (PORT, ONE)) == before


def test_a_single_entry_gets_brackets_and_keeps_them() -> None:
    assert add_entries("drain: 'x'  # y\na: 1\n", "f", (ONE,)) == ("drain: [x, spine1]  # y\na: 1\n", (ONE,))
    assert remove_entries("drain: [x, spine1]  # y\na: 1\n", "f", (ONE,)) == "drain: [x]  # y\na: 1\n"
    assert remove_entries("drain: 'x'  # y\na: 1\n", "f", (Drain("x"),)) == "a: 1\n"


def test_what_is_drained_stays_as_it_is_written() -> None:
    text = "drain: ['stripe1-leaf1:et-0/0/1:0']\n"
    assert add_entries(text, "f", (PORT,)) == (text, ())
    assert remove_entries(text, "f", (PORT,)) == "drain: []\n"


def test_what_a_glob_has_out_of_service_is_drained() -> None:
    text = "drain: ['spine*', 'l1 et-0/0/1', '?']\n"
    drained = parse_elements(["spine1", "spine*", "l1:et-0/0/1"])
    assert add_entries(text, "f", drained) == (text, ())
    new = parse_elements(["s*", "l1", "l1:et-0/0/2", "*"])
    assert add_entries(text, "f", (*drained, *new))[1] == new


def test_other_entries_may_be_wrong() -> None:
    assert remove_entries("drain: [7, 'a b c', spine1]\n", "f", (ONE,)) == "drain: [7, 'a b c']\n"


@pytest.mark.parametrize(
    ("text", "element", "message"),
    [
        ("a: 1\n", "spine1", "f: 'spine1' is not drained; the file has no entry under 'drain'"),
        ("drain: [spine2, blue]\n", "spine1", "f: 'spine1' is not drained; did you mean 'spine2'?"),
        ("drain: [blue, red]\n", "spine1", "f: 'spine1' is not drained; the entries are blue, red"),
        (
            "drain: 'spine*'\n",
            "spine1",
            "f: 'spine1' is not drained; the entry 'spine*' has it out of service: undrain",
        ),
        (
            "drain: 'l* x'\n",
            "l1:x",
            "f: 'l1 x' is not drained; the entry 'l* x' has it out of service: undrain that",
        ),
        ("drain: &a [x]\nb: *a\n", "x", "f: cannot remove drain[0]: it is written in a form"),
    ],
)
def test_what_is_no_entry_is_refused(text: str, element: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        remove_entries(text, "f", parse_elements([element]))
    assert str(caught.value).startswith(message)


# Text before, the key that an element is added to, the element, and the text after.
MOVES = [
    ("graceful_shutdown: [spine1, spine2]\n", DRAIN, "spine1", "graceful_shutdown: [spine2]\ndrain:\n  - spine1\n"),
    ("a: 1\ngraceful_shutdown: spine1  # y\n", DRAIN, "spine1", "a: 1\ndrain:\n  - spine1\n"),
    ("drain: [blue]\ngraceful_shutdown: [spine1]\n", DRAIN, "spine1", "drain: [blue, spine1]\ngraceful_shutdown: []\n"),
    ("graceful_shutdown: [spine1, spine2]\n", DRAIN, "spine*", 'graceful_shutdown: []\ndrain:\n  - "spine*"\n'),
    ("drain: [spine1, blue]\n", SHUTDOWN, "spine1", "drain: [blue]\ngraceful_shutdown:\n  - spine1\n"),
    # What it does not stand for as a whole stays: the design then says that both keys name a spine.
    ("graceful_shutdown: ['spine*']\n", DRAIN, "spine1", "graceful_shutdown: ['spine*']\ndrain:\n  - spine1\n"),
    ("drain: ['spine1 x']\n", SHUTDOWN, "spine1", "drain: ['spine1 x']\ngraceful_shutdown:\n  - spine1\n"),
    ("graceful_shutdown: [7, spine1]\n", DRAIN, "spine1", "graceful_shutdown: [7]\ndrain:\n  - spine1\n"),
]


@pytest.mark.parametrize(("before", "key", "element", "after"), MOVES)
def test_a_spine_is_moved_from_one_key_to_the_other(before: str, key: DrainKey, element: str, after: str) -> None:
    chosen = parse_elements([element], key)
    assert add_entries(before, "f", chosen, key) == (after, chosen)


@pytest.mark.parametrize(
    ("text", "key", "message"),
    [
        (
            "graceful_shutdown: ['spine*']\n",
            DRAIN,
            "is not drained; it is in graceful shutdown: add --graceful-shutdown",
        ),
        ("drain: spine1\n", SHUTDOWN, "is not in graceful shutdown; it is drained: leave out --graceful-shutdown"),
        ("drain: blue\n", SHUTDOWN, "is not in graceful shutdown; the file has no entry under 'graceful_shutdown'"),
    ],
)
def test_what_the_other_key_has_is_said(text: str, key: DrainKey, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        remove_entries(text, "f", (ONE,), key)
    assert str(caught.value) == f"f: 'spine1' {message}"


def test_only_names_can_be_shut_down_gracefully() -> None:
    for word in ("spine1:et-0/0/0", "a b", ""):
        with pytest.raises(UsageError, match="is not the name of a spine"):
            parse_elements([word], SHUTDOWN)


def test_elements_count_once() -> None:
    assert parse_elements([" spine1", "stripe1-leaf1:et-0/0/1:0", "stripe1-leaf1 et-0/0/1:0"]) == (ONE, PORT)
    with pytest.raises(UsageError, match="'' is not a device"):
        parse_elements([""])


def commented(data: dict[str, Any], draw: random.Random) -> str:
    """Write a fabric file as people do: with comments, blank lines, brackets here and lines there."""
    lines = ["# made by hand"]
    for key, value in data.items():
        if draw.random() < 0.5:
            lines_of_key = [f"{key}: {inline(value)}"]
        else:
            lines_of_key = yaml.safe_dump({key: value}, sort_keys=False).rstrip("\n").split("\n")
        lines += draw.choice([[], [""], [f"# {key}: why"]])
        if len(lines_of_key) == 1 or lines_of_key[0].endswith(":"):
            lines_of_key[0] += draw.choice(["", "  # because", "\t# [x"])
        lines += lines_of_key
    end = draw.choice(["\n", "", "\n\n# the end\n", "\n...\n"])
    text = "\n".join(lines) + end
    return text.replace("\n", draw.choice(["\n", "\n", "\r\n"]))


@given(st.integers(0, 10**6), st.booleans())
def test_drain_then_undrain_gives_the_same_bytes(seed: int, several: bool) -> None:
    source = random.Random(seed)
    made = Intents(source)
    data = made.fabric()
    # What it names would be moved.
    data.pop("graceful_shutdown", None)
    if several and not isinstance(data.get("drain"), list):
        data["drain"] = []
    elif not several:
        data.pop("drain", None)
    text = commented(data, source)
    elements = parse_elements([source.choice(["spine1", "sp01", "blue", "s1-1", "x:et-0/0/1"]), "spine*:et-0/0/1"])
    assume(not set(elements) & set(parse_elements(data.get("drain", []))))
    drained, new = add_entries(text, "f", elements)
    assert new == elements
    assert read_yaml(drained, "f").data["drain"] == [*data.get("drain", []), *map(str, elements)]
    assert remove_entries(drained, "f", elements) == text
    for one in elements:
        drained = remove_entries(drained, "f", (one,))
    assert drained == text


@given(
    st.integers(0, 10**6), st.sampled_from(["spine1", "stripe2-leaf1 spine2", "stripe1-leaf1 et-0/0/1*", "server-001"])
)
def test_what_a_fabric_takes_is_as_if_written_by_hand(seed: int, element: str) -> None:
    text = commented(yaml.safe_load(SMALL), random.Random(seed))
    drained, _ = add_entries(text, "f", parse_elements([element]))
    assert build(intent_of(drained))[0].drained == build(intent_of(f"{SMALL}drain: ['{element}']\n"))[0].drained
    with pytest.raises(IntentError, match="drain-cuts"):
        build(intent_of(add_entries(drained, "f", parse_elements(["spine1", "spine2"]))[0]))
