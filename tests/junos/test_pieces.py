"""Texts read by their pieces: the same trees as when they are read whole, or none."""

from __future__ import annotations

import pytest

from ailb_gen.junos.pieces import SMALL, Pieces
from ailb_gen.junos.reader import read
from ailb_gen.junos.tree import Node
from tests.checks.trees import GOLDEN

LONG = "".join(f"        unit {number} {{\n            mtu 9{number:03};\n        }}\n" for number in range(30))
PORT = f"interfaces {{\n    et-0/0/0 {{\n{LONG}    }}\n}}\n"


def shape(node: Node) -> object:
    """Everything of a tree but lines and comments, in order."""
    return node.word, node.flags, [shape(child) for child in node]


@pytest.mark.parametrize("name", ["lab", "jvd"])
def test_generated_files_are_the_same_trees(name: str) -> None:
    pieces = Pieces()
    for path in sorted((GOLDEN / name / "switches").glob("*.conf")):
        text = path.read_text(encoding="utf-8")
        found = pieces.read(text)
        assert found is not None and shape(found) == shape(read(text)), path.name


def test_equal_blocks_are_the_same_nodes() -> None:
    pieces = Pieces()
    first, second = pieces.read(f"system {{\n    host-name a;\n}}\n{PORT}"), pieces.read(f"vlans {{\n}}\n{PORT}")
    assert first is not None and second is not None
    assert first.children["interfaces"] is second.children["interfaces"]
    other = pieces.read(PORT.replace("mtu 9007", "mtu 1500"))
    assert other is not None and len(PORT) > SMALL
    one, two = (list(tree.each("interfaces", "et-0/0/0", "unit")) for tree in (first, other))
    assert [unit is same for unit, same in zip(one, two, strict=True)] == [number != 7 for number in range(30)]


GOOD = {
    "two blocks that begin alike": "a {\n    group b {\n        c 1;\n    }\n    group d {\n        c 2;\n    }\n}\n",
    "values of one word": "a {\n    b [ c d ];\n    e {\n        f;\n    }\n    b g;\n}\n",
    "comments": "/* x */\na {\n    # y\n    b {\n        c;\n    }\n    /* z */\n}\n",
    "no end of line": "a {\n    b;\n}",
    "brace in a string": 'a {\n    b "x }\n}\n y";\n}\n',
    "other layout": "a {\nb {\nc;\n}\n}\n",
    "one line": "a { b { c; } }\nd { e; }\n",
    "carriage returns": "a {\r\n    b;\r\n}\r\nc {\r\n    d;\r\n}\r\n",
    "a statement between blocks": "a {\n    b {\n        c;\n    }\n    d 1;\n    e {\n        f;\n    }\n}\nh 1;\n",
}


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("filled", [False, True])
def test_what_is_read_by_pieces_equals_the_whole(name: str, filled: bool) -> None:
    text = GOOD[name]
    text = f"{text}{PORT}" if filled and text.endswith("\n") else text
    found = Pieces().read(text)
    assert found is None or shape(found) == shape(read(text))
    assert found is not None or name in ("brace in a string", "other layout", "values of one word")


WHOLE = {
    "groups": "groups {\n    g {\n        a;\n    }\n}\napply-groups g;\n",
    "ranges": "interfaces {\n    interface-range r {\n        mtu 9;\n    }\n}\n",
    "inactive": "inactive: a {\n    b;\n}\n",
    "protected": "protect: a {\n    b;\n}\n",
    "commands": "set system host-name a\n",
    "a captured session": "a@b> show configuration\na {\n    b;\n}\n",
    "a block twice": "a {\n    b 1;\n}\na {\n    b 2;\n}\n",
    "two devices": "system {\n    host-name a;\n}\nsystem {\n    host-name b;\n}\n",
    "an open block": "a {\n    b {\n        c;\n}\n",
    "a brace too many": "a {\n    b;\n}\n}\n",
    "no semicolon": "a {\n    b\n}\n",
    "an open string": 'a {\n    b "c;\n}\n',
    "an open comment": "a {\n    /* b;\n}\nc {\n    d;\n}\n",
    "XML": "<configuration>\n</configuration>\n",
}


@pytest.mark.parametrize("name", WHOLE)
def test_everything_else_is_left_to_the_reader(name: str) -> None:
    assert Pieces().read(WHOLE[name]) is None
    assert Pieces().read(WHOLE[name] + PORT) is None
