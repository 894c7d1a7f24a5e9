"""YAML files that are like one before them: what is filled in is what parsing gives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.errors import IntentError
from ailb_gen.hosts.alike_yaml import AlikeYaml
from ailb_gen.layout import NETPLAN
from ailb_gen.yamlio import Source, read_yaml
from tests.checks.trees import GOLDEN

TEXTS = sorted({path.read_text() for path in GOLDEN.glob(f"*/*/*/{NETPLAN}")})
VALUES = ("fc00::/64", "::/0", "10.0.0.1", "a", "1", "null", "true", "%@0@%", "%@@%", "\\n", "", 'a": "b', "a' b", "#")
LINES = (
    '  x: "fc00::1"',
    '# x: "fc00::1"',
    'x: &one "fc00::1"',
    '  "b": "c"',
    '      - to: "fc00::1"',
    '? "a"',
    'a: *one',
    '  text: |',
    '<<: "fc00::1"',
    'a: {b: "c"',
    'a: "b" ',
)  # fmt: skip


def outcome(read: object, text: str) -> object:
    assert callable(read)
    try:
        found = read(text, NETPLAN)
    except IntentError as error:
        return error.problems
    assert isinstance(found, Source)
    return found.data, list(found.places.items())


def parsed(text: str, file: str) -> Source:
    return read_yaml(text, file, typed=False)


def test_generated_files() -> None:
    assert len(TEXTS) > 10
    reader = AlikeYaml()
    for text in [*TEXTS, *TEXTS]:
        assert outcome(reader.read, text) == outcome(parsed, text)
    assert len(reader.known) < len(TEXTS)
    assert None not in reader.known.values()


@pytest.mark.parametrize(
    "text",
    [
        'x: "a"\ny: "b"',
        'x: &one "a"\ny: *one',
        '# x: "a"\ny: "b"',
        'text: |\n  x: "a"\ny: "b"',
        'x: "a"\nx: "b"',
        '? x: "a"\n: "b"',
        'x: "%@0@%"\ny: "a"',
        'x: "a"\ny: "%@0@%"',
        'x: {y: "a"\n}',
        'x: ["a",\n "b"]',
        '"x": "a"',
        'x: "a"\n"%@@%": 1',
        'x: !!int "5"',
        'x: "1"\ny: 1',
    ],
)
def test_values_in_odd_places(text: str) -> None:
    reader = AlikeYaml()
    for one in (text, text.replace("a", "c"), text.replace("b", "fc00::1/64"), text):
        assert outcome(reader.read, one) == outcome(parsed, one)


edits = st.lists(st.tuples(st.integers(0, 500), st.sampled_from(VALUES) | st.sampled_from(LINES)), max_size=3)


@given(number=st.integers(0, 1000), edits=edits)
def test_edited_files(number: int, edits: list[tuple[int, str]]) -> None:
    text, reader = TEXTS[number % len(TEXTS)], AlikeYaml()
    reader.read(text, NETPLAN)
    lines = text.split("\n")[:60]
    for at, new in edits:
        place = at % len(lines)
        if new in LINES:
            lines.insert(place, new)
        elif '"' in lines[place]:
            head, _, _ = lines[place].partition('"')
            lines[place] = f'{head}"{new}"'
    edited = "\n".join(lines)
    for _ in range(2):
        assert outcome(reader.read, edited) == outcome(parsed, edited)
