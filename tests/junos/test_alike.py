"""Texts that are alike: reading one after another gives the trees, and the errors, of reading each alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.errors import JunosSyntaxError
from ailb_gen.junos.alike import AlikeReader
from ailb_gen.junos.reader import read_whole
from ailb_gen.junos.tree import Node, Reuse
from ailb_gen.junos.writer import to_curly, to_set
from tests.conftest import ROOT

GOLDEN = ROOT / "tests" / "golden"
FABRICS = sorted(path.parent.parent for path in GOLDEN.glob("*/switches/spine1.conf"))
LEAVES = [(GOLDEN / "lab" / "switches" / f"stripe1-leaf{number}.conf").read_text("utf-8") for number in (1, 2)]
FORMS = {"curly": LEAVES, "set": [to_set(read_whole(text)) for text in LEAVES]}
FILE = "switches/stripe1-leaf1.conf"
# Words that mean something to the reader in some place, or are none.
ODD = (
    *("set", "delete", "inactive:", "active:", "protect:", "replace:", "x:", "fc00::", "family", "local-as", "class"),
    *("term", "file", "route-filter", "exact", "then", "reject", "-", "--More--", "user@host>", "[edit]", "{master}"),
    *("#", "/*", "*/", '"', '"a b"', '"a\\"b"', "[", "]", "{", "}", ";", ";;", "(", "a;", "<<<<<<<", "<*>", "1" * 1001),
    *("é", "\u00a0", "\ufeff", "\t", "\x07", "\r", "host-name", "interface", "/* x */", "et-0/0/*", "##"),
    *("stripe2-leaf2", "show", "version", "?", "\\"),
)


def dump(root: Node) -> list[object]:
    """Return every field of every node."""
    found: list[object] = []
    stack = [root]
    while stack:
        node = stack.pop()
        found.append((node.word, node.line, node.flags, node.comment, *node.children))
        stack += node.children.values()
    return found


def outcome(read: Callable[[str, str], Node], text: str, file: str = FILE) -> object:
    """Return the tree of a text, or where and why it is refused."""
    try:
        return dump(read(text, file))
    except JunosSyntaxError as error:
        return error.file, error.line, error.column, error.reason


def check_alike(before: str, text: str) -> bool:
    """Read a text behind another one, and that one again; return whether both share nodes."""
    reader = AlikeReader()

    def read(text: str, file: str) -> Node:
        return reader.read(text, file)[0]

    first = reader.read(before, "first")[0]
    was = dump(first)
    expected = outcome(read_whole, text)
    assert outcome(read, text) == expected
    assert dump(first) == was, "nodes of another tree were changed"
    assert outcome(read, before) == outcome(read_whole, before)
    assert outcome(read, text) == expected
    try:
        return reader.read(text, FILE)[0] is not reader.read(text, FILE)[1].root
    except JunosSyntaxError:
        return False


def is_alike(before: str, text: str) -> bool:
    """Return whether a text is read from the tree of another one, as if it was alone."""
    assert isinstance(outcome(read_whole, text), list)
    return check_alike(before, text)


@pytest.mark.parametrize("form", FORMS)
def test_one_leaf_is_read_from_another(form: str) -> None:
    one, other = FORMS[form]
    assert is_alike(one, other)
    assert is_alike(other, one)


@pytest.mark.parametrize("form", ["curly", "set"])
@pytest.mark.parametrize("fabric", FABRICS, ids=lambda path: path.name)
def test_switches_of_a_fabric(fabric: Path, form: str) -> None:
    reader = AlikeReader()
    shared = 0
    paths = sorted((fabric / "switches").glob("*.conf"))
    for path in paths:
        text = path.read_text("utf-8")
        text = text if form == "curly" else to_set(read_whole(text))
        root, reference = reader.read(text, path.name)
        shared += root is not reference.root
        assert dump(root) == dump(read_whole(text, path.name)), path
    assert shared >= len(paths) / 4


@st.composite
def edited(draw: st.DrawFn, text: str) -> str:
    """Draw a text with a few changes of all kinds."""
    lines = text.split("\n")
    words = sorted(set(text.split()))
    for _ in range(draw(st.integers(1, 4))):
        at, other = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
        match draw(st.integers(0, 11)):
            case 0:
                del lines[at]
            case 1:
                lines.insert(other, lines[at])
            case 2:
                lines[at], lines[other] = lines[other], lines[at]
            case 3:
                size = draw(st.integers(1, 20))
                block, lines[at : at + size] = lines[at : at + size], []
                other = min(other, len(lines))
                lines[other:other] = block
            case 4:
                lines.insert(at, draw(st.sampled_from(["# x", "/* x */", "/* a", "*/", "## stripe1-leaf9", "", " "])))
            case 5:
                lines[at] = lines[at].replace(";", draw(st.sampled_from([" ;", ";;", "; ", "", "; # x", " { x; }"])))
            case 6:
                old = draw(st.sampled_from(words))
                new = draw(st.sampled_from([*ODD, "x", "x.y-z", *words]))
                lines = "\n".join(lines).replace(old, new).split("\n")
            case 7:
                lines = draw(st.sampled_from(["\r\n", "\n\n"])).join(lines).split("\n")
            case 8:
                lines[at] = draw(st.sampled_from(["", " "])) + lines[at].strip()
            case _:
                parts = lines[at].split(" ")
                place = draw(st.integers(0, len(parts) - 1))
                end = parts[place][-1:] if parts[place][-1:] in ';{"' and draw(st.booleans()) else ""
                parts[place] = draw(st.sampled_from([*ODD, "x", "y7", "a.b-c:d/1", *words])).rstrip(";") + end
                lines[at] = " ".join(parts)
        lines = lines or [""]
    return "\n".join(lines)


@given(st.data(), st.sampled_from(sorted(FORMS)), st.integers(0, 1), st.integers(0, 1))
def test_a_text_with_changes(data: st.DataObject, form: str, before: int, after: int) -> None:
    check_alike(FORMS[form][before], data.draw(edited(FORMS[form][after])))


@given(st.data(), st.sampled_from(sorted(FORMS)))
def test_a_text_behind_one_with_changes(data: st.DataObject, form: str) -> None:
    """The first text may be as odd as any that is taken."""
    before = data.draw(edited(FORMS[form][0]))
    if isinstance(outcome(read_whole, before), list):
        check_alike(before, data.draw(edited(before)))


SMALL = """\
# one
system {
    host-name a;
}
interfaces {
    et-0/0/0 {
        description "x y";
        unit 0 {
            family inet6 {
                address fc00::1/64;
                address fc00::2/64;
            }
        }
    }
}
policy-options {
    prefix-list p {
        fc00::1/128;
        fc00::2/128;
    }
    community c members [ 1:1 1:2 ];
    as-path x "1 2";
}
snmp {
    community c;
    community d;
}
"""


@pytest.mark.parametrize(
    ("old", "new", "alike"),
    [
        ("host-name a;", "host-name b;", True),
        ("# one", "# two", True),
        ("# one", "# two (2)", False),
        ('"x y"', '"z y"', True),
        ('"x y"', '"y"', False),
        ("fc00::1/64", "fc00::2/64", False),
        ("fc00::1/64", "fc00::3/64", True),
        ("        fc00::1/128;\n        fc00::2/128;", "        fc00::2/128;\n        fc00::1/128;", True),
        ("et-0/0/0 {", "et-0/0/1 {", True),
        ("address fc00::1/64", "addresses fc00::1/64", False),
        ("community c;", "community e;", True),
        ("community d;", "community c;", False),
        ("community c members", "community e members", False),
        ("host-name a;", "domain-name a;", False),
        ("host-name a;", "host-name set;", False),
        ("host-name a;", "host-name a ;", False),
        ("unit 0 {", "unit term {", False),
        ("    host-name a;", "    # host", False),
    ],
)
def test_what_is_alike(old: str, new: str, alike: bool) -> None:
    assert old in SMALL
    assert is_alike(SMALL, SMALL.replace(old, new)) == alike


def test_the_name_of_the_file_counts() -> None:
    """Headings of two devices are found by the name of the file."""
    text = "snmp {\n    location x;\n}\n# a1\nsystem {\n    services;\n}\n# a2\nchassis {\n    alarm;\n}\n"
    reader = AlikeReader()
    reader.read(text, "x.conf")
    with pytest.raises(JunosSyntaxError, match="second device"):
        reader.read(text, "a1.conf")


def test_nodes_in_which_nothing_differs_are_the_same_objects() -> None:
    reader = AlikeReader()
    one, reference = reader.read(SMALL, "a")
    other, again = reader.read(SMALL.replace("host-name a", "host-name b"), "b")
    assert reference is again and reference.root is one
    assert {word for word in one.children if one.children[word] is other.children[word]} == {
        "interfaces", "policy-options", "snmp",
    }  # fmt: skip


def test_what_is_made_of_a_node_is_made_once() -> None:
    calls: list[str] = []

    def made(node: Node, reuse: Reuse, *about: str) -> str:
        calls.append(node.word)
        return "".join(to_curly(node)) + "".join(about)

    reader = AlikeReader()
    for name in "abac":
        root, reference = reader.read(SMALL.replace("host-name a", f"host-name {name}"), name)
        for node in root:
            assert reference.reuse(made, node) == made(node, reference.reuse)
            assert reference.reuse(made, node, "x") == made(node, reference.reuse, "x")
    plain = 4 * 4 * 2
    assert len(calls) - plain == 2 * (4 + 2), "the tops of the first text, and `system` of two others"


def test_texts_of_other_shapes_do_not_pile_up() -> None:
    reader = AlikeReader()
    first, reference = reader.read(SMALL, "a")
    for number in range(9):
        reader.read("".join(f"snmp {{\n    community c{one};\n}}\n" for one in range(number + 1)), "b")
    root, other = reader.read(SMALL, "a")
    assert other is not reference
    assert dump(root) == dump(first)
