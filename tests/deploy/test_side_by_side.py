"""What a push changes, side by side: every change is in it, each side says what its configuration says, no secret."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from ailb_gen.deploy.servers.files import link, plain
from ailb_gen.deploy.side_by_side import (
    CHANGES,
    SideBySideRow,
    changes_of,
    files_side_by_side,
    packed,
    side_by_side,
    unpacked,
)
from ailb_gen.junos.diff import diff
from ailb_gen.junos.reader import read
from ailb_gen.junos.tree import Node
from tests.conftest import examples
from tests.junos.test_writer import TREES


def rows(first: str, second: str) -> list[SideBySideRow]:
    return [*side_by_side(read(first), read(second))]


def told(first: str, second: str) -> list[str]:
    """The rows as lines: kind, depth, both sides."""
    return [f"{row.kind}{row.depth} {row.left} | {row.right}" for row in rows(first, second)]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("a { b; c; }", "a { c; b; }", []),
        ("a { mtu 1; }", "a { mtu 2; }", [" 0 a { | a {", "~1 mtu 1; | mtu 2;", " 0 } | }"]),
        (
            "a; x { y; }",
            "a; b { c; } x { y; }",
            [" 0 a; | a;", "+0  | b {", "+1  | c;", "+0  | }", " 0 x { … } | x { … }"],
        ),
        (
            "a { b { c; } d; }",
            "a { d; }",
            [" 0 a { | a {", "-1 b { | ", "-2 c; | ", "-1 } | ", " 1 d; | d;", " 0 } | }"],
        ),
        ("x [ a b ];", "x [ b c ];", ["~0 x [ a b ]; | x [ b c ];"]),
        ("a { b; }", "inactive: a { b; }", ["~0 a { … } | inactive: a { … }"]),
        ("a { b { c; } }", "a { b; }", [" 0 a { | a {", "~1 b { | b;", "-2 c; | ", "-1 } | ", " 0 } | }"]),
        ("a { b; }", "a { b { c; } }", [" 0 a { | a {", "~1 b; | b {", "+2  | c;", "+1  | }", " 0 } | }"]),
        (
            "p { term a { x; } term b { y; } }",
            "p { term b { y; } term a { x; } }",
            [" 0 p { | p {", "<1 term a { … } | ", " 1 term b { … } | term b { … }", ">1  | term a { … }", " 0 } | }"],
        ),
        (
            "then { community add x; community delete y; }",
            "then { community delete y; community add x; }",
            [
                " 0 then { | then {",
                "<1 community add x; | ",
                " 1 community delete y; | community delete y;",
                ">1  | community add x;",
                " 0 } | }",
            ],
        ),
    ],
)
def test_rows(first: str, second: str, expected: list[str]) -> None:
    assert told(first, second) == expected


def test_what_is_far_from_a_change_is_counted() -> None:
    first = "box { " + "".join(f"s{n};" for n in range(10)) + " mtu 1; " + "".join(f"e{n};" for n in range(5)) + "} z;"
    assert told(first, first.replace("mtu 1", "mtu 2")) == [
        " 0 box { | box {",
        "…1 7 | ",
        *(f" 1 s{n}; | s{n};" for n in (7, 8, 9)),
        "~1 mtu 1; | mtu 2;",
        *(f" 1 e{n}; | e{n};" for n in (0, 1, 2)),
        "…1 2 | ",
        " 0 } | }",
    ]


def test_secrets_are_replaced_wherever_they_stand() -> None:
    """By the blocks around them, by the mark of Junos, and in what only stands around a change."""
    group = 'protocols { bgp { group a { authentication-key "old"; mtu 1; } } }'
    first = f"{group} snmp {{ community public; }} s x; ## SECRET-DATA"
    second = first.replace("old", "new").replace("mtu 1", "mtu 2").replace("public", "other")
    found = rows(first, second)
    text = repr(found)
    assert not any(secret in text for secret in ('"old"', '"new"', "public", "other", "SECRET-DATA"))
    assert SideBySideRow("~", 3, "authentication-key ***;", "authentication-key ***;") in found
    assert [row.kind for row in found].count("~") == 3


def test_a_value_of_several_lines_stays_one_row() -> None:
    found = rows('a { message "one\ntwo"; }', 'a { message "one\nthree"; }')
    assert found[1] == SideBySideRow("~", 1, 'message "one\ntwo";', 'message "one\nthree";')


def test_a_text_of_a_thousand_levels_is_folded() -> None:
    text = "a { " * 1000 + "mtu 1;" + "}" * 1000
    found = rows(text, text.replace("mtu 1", "mtu 2"))
    assert any(row.kind == "~" for row in found)
    assert max(row.depth for row in found) < 70
    assert max(row.depth for row in rows("x;", text)) < 70


def lines_of(tree: Node) -> set[str]:
    """All statements of a tree, with their blocks folded and opened."""
    text = {row.right for row in side_by_side(Node(""), tree)}
    return text | {line.removesuffix("{") + "{ … }" for line in text if line.endswith("{")}


@settings(max_examples=examples(40))
@given(TREES, TREES)
def test_there_are_rows_where_there_is_a_difference_and_each_side_says_what_it_has(first: Node, second: Node) -> None:
    found = side_by_side(first, second)
    changed = [row for row in found if row.kind in CHANGES]
    if not [*diff(first, second)]:
        return
    assert changed
    for row in found:
        if row.kind != "…":
            assert (not row.left) or row.left in lines_of(first)
            assert (not row.right) or row.right in lines_of(second)
    assert unpacked(packed(found)) == found


def test_what_two_devices_have_in_common_is_the_change_and_where_it_is() -> None:
    one = rows("i { a { d x; mtu 1; } }", "i { a { d x; mtu 2; } }")
    other = rows("i { a { d y; mtu 1; } }", "i { a { d y; mtu 2; } }")
    elsewhere = rows("i { b { d y; mtu 1; } }", "i { b { d y; mtu 2; } }")
    assert one != other
    assert [*changes_of(one)] == [*changes_of(other)] == [("~", "i {", "a {", "mtu 1;", "mtu 2;")]
    assert [*changes_of(elsewhere)] != [*changes_of(one)]


def test_files_of_a_server() -> None:
    old = {"etc/a": plain(b"one\ntwo\nthree\n", 0o644), "etc/gone": link("there"), "etc/same": plain(b"x", 0o600)}
    binary = plain(b"\xff\0", 0o600)
    new = {"etc/a": plain(b"one\n2\nthree\nfour\n", 0o644), "etc/same": old["etc/same"], "etc/b": binary}
    *rows, digest, gone, target = files_side_by_side(old, new)
    assert [f"{row.kind}{row.depth} {row.left} | {row.right}" for row in (*rows, gone, target)] == [
        " 0 /etc/a | /etc/a",
        " 1 mode 644 | mode 644",
        " 1 one | one",
        "~1 two | 2",
        " 1 three | three",
        "+1  | four",
        "+0  | /etc/b",
        "-0 /etc/gone | ",
        "-1 link to there | ",
    ]
    assert (digest.kind, digest.depth, digest.right.partition(", SHA-256 ")[0]) == ("+", 1, "2 bytes")


def test_a_password_in_a_url_of_a_file() -> None:
    found = files_side_by_side({}, {"etc/x": plain(b"proxy http://me:hunter2@host/\n", 0o644)})
    assert "hunter2" not in repr(found)


def test_a_file_of_secrets_without_names() -> None:
    old, new = ({"etc/ppp/chap-secrets": plain(f"ops * {word} *\n".encode(), 0o600)} for word in ("hunter2", "hunter3"))
    assert [row.left for row in files_side_by_side(old, new)] == ["/etc/ppp/chap-secrets", "mode 600", "ops ***"]


def test_secrets_in_the_files_of_a_server_are_replaced_also_in_the_middle_of_a_key() -> None:
    lines = [f"hunter{number}" for number in range(9)]
    text = "password: hunter2\n-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n"
    old = {"etc/x": plain(text.format("\n".join(lines)).encode(), 0o600)}
    new = {"etc/x": plain(text.format("\n".join([*lines[:5], "hunter", *lines[6:]])).encode(), 0o600)}

    found = files_side_by_side(old, new)

    assert "hunter" not in repr(found)
    assert [row.kind for row in found if row.kind != " "] == ["~"]
