"""The commands between two configurations turn the one into the other."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.junos import diff as module
from ailb_gen.junos.diff import diff
from ailb_gen.junos.grammar import FIRST_COUNTS
from ailb_gen.junos.reader import read
from ailb_gen.junos.tree import DELETE, ENDS, INACTIVE, PROTECT, REPLACE, Node
from ailb_gen.junos.writer import to_set
from tests.junos.test_writer import TREES, said


def commands(first: str, second: str) -> list[str]:
    return [str(change) for change in diff(read(first), read(second))]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("a { b; c; }", "a { c; b; }", []),
        ("a { b c; }", 'set a b "c"', []),
        ("a { mtu 1; b; }", "a { mtu 2; b; }", ["delete a mtu", "set a mtu 2"]),
        ("a { b { c; d; } e; }", "a { e; }", ["delete a b"]),
        ("a;", "a; b { c; d; }", ["set b c", "set b d"]),
        ("a { b; }", "a { }", ["delete a", "set a"]),
        ("a { }", "a { b; }", ["set a b"]),
        ("a { b { c; } }", "a { b; }", ["delete a b", "set a b"]),
        ("a { b; }", "inactive: a { b; }", ["deactivate a"]),
        ("inactive: a { b; }", "a { b; c; }", ["set a c", "activate a"]),
        ("a;", "protect: a; inactive: b { c; }", ["set b c", "deactivate b", "protect a"]),
        ("inactive: mtu 1;", "inactive: mtu 2;", ["delete mtu", "set mtu 2", "deactivate mtu"]),
        ("x [ a b ];", "x [ b c ];", ["delete x a", "set x c"]),
        ("export [ a b c ];", "export [ c a b ];", ["insert export c before a"]),
        ("p { term a { x; } term b { y; } }", "p { term b { y; } term a { x; } }", ["insert p term b before term a"]),
        (
            "p { term a; term b; }",
            "p { term a; term new; term b; }",
            ["set p term new", "insert p term new after term a"],
        ),
        ("other [ a b ];", "other [ b a ];", []),
        (
            "unit 0 { family inet; }",
            "unit 0 { family inet6; }",
            ["delete unit 0 family inet", "set unit 0 family inet6"],
        ),
        ("x { mtu 1; unit 0 { a; } unit 1; }", "x { mtu 1; }", ["delete x unit 0", "delete x unit 1"]),
        ("x { family inet { a; } }", "x { b; }", ["delete x family inet", "set x b"]),
        ("lldp { interface a; }", "lldp { interface b; }", ["delete lldp interface a", "set lldp interface b"]),
        (
            "from { route-filter ::/0 exact; }",
            "from { route-filter ::/0 upto /8; }",
            ["delete from route-filter ::/0 exact", "set from route-filter ::/0 upto /8"],
        ),
        (
            "then { community add x; community delete y; }",
            "then { community delete y; community add x; }",
            ["delete then community", "set then community delete y", "set then community add x"],
        ),
        (
            "then { community add x; }",
            "then { community add y; }",
            ["delete then community add x", "set then community add y"],
        ),
    ],
)
def test_commands(first: str, second: str, expected: list[str]) -> None:
    assert sorted(commands(first, second)) == sorted(expected)
    apply(read(first), read(second))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("protect: a { b; }", "protect: a { b; }", []),
        ("protect: a { b; }", "protect: a { b; c; }", ["unprotect a", "set a c", "protect a"]),
        ("protect: a { b; }", "a { c; }", ["unprotect a", "delete a", "set a c"]),
        ("protect: mtu 1;", "protect: mtu 2;", ["unprotect mtu", "delete mtu", "set mtu 2", "protect mtu"]),
        ("protect: a { b; } c;", "c;", ["unprotect a", "delete a"]),
        # A device keeps what is protected in a block that is deleted.
        ("a { b { protect: d; } } c;", "c;", ["unprotect a b d", "delete a"]),
        ("protect: a { protect: b { d; } } c;", "c;", ["unprotect a", "unprotect a b", "delete a"]),
    ],
)
def test_what_is_protected_is_unprotected_before_it_changes(first: str, second: str, expected: list[str]) -> None:
    assert commands(first, second) == expected
    apply(read(first), read(second))


def test_places() -> None:
    changes = list(diff(read("a;\nb {\n c;\n d;\n}\n"), read("a;\n\nb {\n d;\n e;\n}\n")))
    assert [(str(change), change.line) for change in changes] == [("delete b c", 3), ("set b e", 5)]


def orders(root: Node) -> dict[tuple[str, ...], list[str]]:
    """Return the order of everything whose order counts."""
    found = {}
    stack: list[tuple[tuple[str, ...], Node]] = [((), root)]
    while stack:
        path, node = stack.pop()
        if node.word in FIRST_COUNTS:
            found[path] = list(node.children)
        stack += [((*path, child.word), child) for child in node]
    return found


def apply(first: Node, second: Node) -> None:
    """Carry out the commands on the first tree, as a device would, and see the second."""
    done = read(to_set(first) + "".join(f"{change}\n" for change in diff(first, second)))
    stack = [done]
    order: list[tuple[Node, Node]] = []
    while stack:
        node = stack.pop()
        for child in list(node):
            child.flags &= ~REPLACE
            if child.flags & DELETE:
                del node.children[child.word]
            else:
                stack.append(child)
                order.append((node, child))
    for node, child in reversed(order):
        # Without its last entry, a list is not there.
        if not child.children and not child.flags & ENDS:
            del node.children[child.word]
    assert said(done) == said(second)
    assert orders(done) == orders(second)


@given(TREES, TREES, st.booleans())
def test_the_commands_do_what_they_say(first: Node, second: Node, inactive: bool) -> None:
    for child in second:
        child.flags |= INACTIVE if inactive else PROTECT
    first, second = read(to_set(first)), read(to_set(second))
    assert list(diff(first, first)) == []
    apply(first, second)


def test_what_is_the_same_is_not_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    inner = module._changed

    def changed(old: Node, new: Node, path: list[str]) -> Iterator[module.Change]:
        looked.append(" ".join(path))
        return inner(old, new, path)

    monkeypatch.setattr(module, "_changed", changed)
    first = "a { b { c 1; d 2; } e { f 3; } } g { h { i; j; } }"
    assert commands(first, first) == []
    assert looked == [""]
    looked.clear()
    assert commands(first, first.replace("f 3", "f 4")) == ["delete a e f", "set a e f 4"]
    assert looked == ["", "a", "a e", "a e f"]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("a { b { c { d; } } }", "a { b { inactive: c { d; } } }", ["deactivate a b c"]),
        ("a { b { protect: c; } }", "a { b { c; } }", ["unprotect a b c"]),
        ("a { b { c; d; } }", "a { b { d; c; } }", []),
        (
            "policy-options { policy-statement p { term a { then accept; } term b { then reject; } } }",
            "policy-options { policy-statement p { term b { then reject; } term a { then accept; } } }",
            ["insert policy-options policy-statement p term b before term a"],
        ),
    ],
)
def test_marks_and_orders_below_what_is_the_same_otherwise(first: str, second: str, expected: list[str]) -> None:
    assert commands(first, second) == expected
