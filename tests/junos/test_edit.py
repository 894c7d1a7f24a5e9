"""One engine changes configurations: merges, replacements, and the commands that make one of another."""

from functools import cache
from itertools import pairwise
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ailb_gen.deploy.ownership import fingerprint
from ailb_gen.junos.diff import diff
from ailb_gen.junos.edit import Order, apply, merge
from ailb_gen.junos.reader import read, read_file
from ailb_gen.junos.tree import DELETE, ENDS, FLAT, INACTIVE, LIST, PROTECT, REPLACE, Node, copy
from ailb_gen.junos.writer import to_curly, to_set
from tests.conftest import ROOT, examples, need_shared
from tests.junos.drawn import every, possible, trees

GOLDEN = ROOT / "tests" / "golden"


def lines(root: Node) -> list[str]:
    return sorted(to_set(copy(root), comments=False).splitlines())


def merged(first: str, second: str, replace: bool = False, marks: bool = False) -> Node:
    target, source = read(first), read(second)
    before = to_curly(source)
    merge(target, source, replace, marks)
    assert to_curly(source) == before
    return target


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # A value gives way to another one.
        ("system { host-name a; }", "system { host-name b; }", ["set system host-name b"]),
        ("interfaces { e { mtu 1; unit 0; } }", "interfaces { e { mtu 2; } }", ["e mtu 2", "e unit 0"]),
        ("x { unknown a; }", "x { unknown b; }", ["set x unknown b"]),
        # In front of attributes as well, which stay: they are statements of their own.
        (
            "routing-options { autonomous-system 65000 loops 2; }",
            "routing-options { autonomous-system 65001; }",
            ["set routing-options autonomous-system 65001", "set routing-options autonomous-system loops 2"],
        ),
        (
            "routing-options { autonomous-system 65000; }",
            "routing-options { autonomous-system 65001 loops 3; }",
            ["set routing-options autonomous-system 65001", "set routing-options autonomous-system loops 3"],
        ),
        (
            "routing-options { autonomous-system 65000 loops 2 asdot-notation; }",
            "routing-options { autonomous-system loops 5; }",
            ["autonomous-system 65000", "autonomous-system asdot-notation", "autonomous-system loops 5"],
        ),
        (
            "protocols { bgp { group g { local-as 1 loops 2 private; } } }",
            "protocols { bgp { group g { local-as 2 alias; } } }",
            ["local-as 2", "local-as alias", "local-as loops 2", "local-as private"],
        ),
        (
            "s { q { transmit-rate percent 5; } r { transmit-rate 1g; } }",
            "s { q { transmit-rate percent 7; } r { transmit-rate { 2g; exact; } } }",
            ["q transmit-rate percent 7", "r transmit-rate 2g", "r transmit-rate exact"],
        ),
        # Lists add up, in their order.
        ("p { export a; }", "p { export [ b c ]; }", ["export a", "export b", "export c"]),
        ("p { export [ a b ]; }", "p { export c; }", ["export a", "export b", "export c"]),
        ("p { unknown [ a b ]; }", "p { unknown c; }", ["unknown a", "unknown b", "unknown c"]),
        # Entries and blocks stand beside each other.
        ("x { unit 0 { a; } }", "x { unit 1; }", ["unit 0 a", "unit 1"]),
        ("x { unknown { a; } }", "x { unknown { b; } }", ["unknown a", "unknown b"]),
        ("x { unit 0 { family inet; } }", "x { unit 0 { family inet6; } }", ["family inet", "family inet6"]),
        ("lldp { interface a; }", "lldp { interface b; }", ["interface a", "interface b"]),
        ("x { route-filter ::/0 exact; }", "x { route-filter ::/0 orlonger; }", ["::/0 exact", "::/0 orlonger"]),
        # What is inactive stays so; what is merged as inactive becomes so.
        ("inactive: a { b; }", "a { c; }", ["set a b", "set a c", "deactivate a"]),
        ("a { b; }", "inactive: a { c; }", ["set a b", "set a c", "deactivate a"]),
        # Tags are carried out.
        ("a { b; c; }", "a { delete: b; }", ["set a c"]),
        ("a { b; }", "a { c { d; delete: e; } }", ["set a b", "set a c d"]),
    ],
)
def test_merging(first: str, second: str, expected: list[str]) -> None:
    once = merged(first, second)
    found = lines(once)
    assert len(found) == len(expected)
    for sign in expected:
        assert any(line.endswith(sign) for line in found), found
    assert lines(merged(to_set(read(first)), second)) == found
    again = copy(once)
    merge(again, read(second))
    assert lines(again) == found


def test_replacing() -> None:
    target = merged("a { b; c { d; } }", "a { replace: c { e; } }", replace=True)
    assert lines(target) == ["set a b", "set a c e"]
    assert lines(merged("a { c { d; } }", "a { replace: c { e; } }")) == ["set a c d", "set a c e"]


def test_marks_of_the_source_count_where_it_decides() -> None:
    assert lines(merged("inactive: a { protect: b; }", "a { b; c; }", marks=True)) == ["set a b", "set a c"]
    assert lines(merged("a { b; }", "a { inactive: b; }", marks=True)) == ["deactivate a b", "set a b"]


@pytest.mark.parametrize(
    ("before", "text", "expected"),
    [
        ("a { mtu 1; }", "set a mtu 2", ["set a mtu 2"]),
        ("a { mtu 1; }", "set a mtu 2\nset a mtu 3", ["set a mtu 3"]),
        ("", "set a mtu 2\nset a mtu 3", ["set a mtu 3"]),
        ("", "set system host-name a\nset system host-name b", ["set system host-name b"]),
        ("", "set unknown a\nset unknown b", ["set unknown a", "set unknown b"]),
        ("unknown a;", "delete unknown\nset unknown b\nset unknown c", ["set unknown b", "set unknown c"]),
        ("x { y { z; } }", "edit x y\nset w\nup\nset v\ntop\nset u", ["set u", "set x v", "set x y w", "set x y z"]),
        ("x { y { z; } }", "edit x\ndelete\n", []),
        (
            "g { export ( A && B ); }",
            "deactivate g export ( A && B )",
            ["deactivate g export ( A && B )", "set g export ( A && B )"],
        ),
        ("inactive: a { b; }", "set a c\nactivate a", ["set a b", "set a c"]),
        ("a { b; }", 'deactivate a b\nannotate a "why"\nprotect a', ["deactivate a b", "protect a", "set a b"]),
        ("protect: a { b; }", "unprotect a\nset a c", ["set a b", "set a c"]),
        (
            "routing-options { autonomous-system 1 loops 2; }",
            "set routing-options autonomous-system 2",
            ["set routing-options autonomous-system 2", "set routing-options autonomous-system loops 2"],
        ),
        ("p { export [ a b ]; }", "set p export c\ninsert p export c before a", ["set p export a", "b", "c"]),
    ],
)
def test_commands_are_carried_out(before: str, text: str, expected: list[str]) -> None:
    root = read(before)
    shown = to_curly(root)
    found, warnings = apply(root, text)
    assert warnings == []
    assert to_curly(root) == shown
    assert len(lines(found)) == len(expected)
    assert all(line.endswith(sign) for line, sign in zip(lines(found), expected, strict=True))


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ("set a d", "a d"),
        ("delete a b", "a b"),
        ("delete a", "a"),
        ("deactivate a b", "a b"),
        ("annotate a why", "a why"),
        ("rename a b to c", "a b to c"),
        ("edit a\nset d", "a d"),
    ],
)
def test_what_is_protected_is_left_as_it_is(change: str, path: str) -> None:
    found, warnings = apply(read("a { b; }"), f"protect a\n{change}")
    assert warnings == [f"[a] is protected, '{path}' cannot be changed"]
    assert lines(found) == lines(read("protect: a { b; }"))
    assert apply(found, f"unprotect a\n{change.replace('rename a b to c', 'delete a b')}")[1] == []


def test_insert_moves_entries() -> None:
    found, _ = apply(read("p { export [ a b c ]; }"), "insert p export c before a\ninsert p export a after b")
    assert found.values("p", "export") == ("c", "b", "a")


def check(running: Node, target: Node) -> None:
    """Make sure that the commands between two configurations do what they say."""
    before = to_set(copy(running)), to_set(copy(target))
    changes = list(map(str, diff(running, target)))
    made, warnings = apply(running, "".join(f"{change}\n" for change in changes))
    assert warnings == []
    assert lines(made) == lines(target)
    assert fingerprint(made) == fingerprint(target)
    assert list(diff(made, target)) == []
    assert (to_set(copy(running)), to_set(copy(target))) == before


@pytest.mark.parametrize("around", ["{}", "inactive: box {{ {} }}", "box {{ protect: {} }}"])
def test_a_value_of_an_unknown_word_becomes_one_of_several(around: str) -> None:
    one, several = (read(around.format(text)) for text in ("word { x a; }", "word { x { a; b; } }"))
    check(one, several)
    check(several, one)


@pytest.mark.parametrize("after", ["set family a route\n", "set family a route\ndeactivate family a route\n"])
def test_a_word_that_could_be_a_key_leaves_nothing_behind(after: str) -> None:
    check(read("set family a route unit unit a\n"), read(after))


@cache
def configurations() -> tuple[Node, ...]:
    """Published configurations and our own."""
    files = [path for path in need_shared("junos-corpus").rglob("*") if path.suffix in (".conf", ".set")]
    files += GOLDEN.rglob("switches/*.conf")
    found = []
    for path in sorted(files):
        root = read_file(path)
        if root.flags & FLAT:
            # As a device would show it.
            root = read(to_curly(root))
        found.append(settled(root))
    return tuple(found)


def settled(root: Node) -> Node:
    """Return a configuration as a device keeps it: without tags that are carried out."""
    made = Node("")
    merge(made, root)
    for node in every(made):
        node.flags &= ~(REPLACE | DELETE)
    return made


@pytest.mark.long
def test_every_configuration_becomes_every_other() -> None:
    known = configurations()
    assert len(known) > 40
    order = list(known)
    Random(7).shuffle(order)
    for first, second in pairwise(order):
        check(first, second)
    for root in known[::3]:
        check(Node(""), root)
        check(root, Node(""))


@pytest.mark.long
@settings(max_examples=examples(20))
@given(st.data(), st.randoms(use_true_random=False))
def test_any_order_and_any_mark(data: st.DataObject, random: Random) -> None:
    running = data.draw(st.sampled_from(configurations()))
    target = copy(running)
    for node in random.sample(every(target)[1:], min(8, len(every(target)) - 1)):
        kind = random.choice(["turn", "inactive", "protect", "drop", "rename", "add"])
        if kind == "turn":
            rows = list(node.children.items())
            random.shuffle(rows)
            node.children = dict(rows)
        elif kind in ("inactive", "protect"):
            flag = INACTIVE if kind == "inactive" else PROTECT
            node.flags ^= flag
            target.flags |= flag
        elif kind == "drop" and node.flags & ENDS:
            node.children.clear()
        elif kind == "rename" and node.children:
            word, child = random.choice(list(node.children.items()))
            twin = Node(f"{word}9", child.line, child.flags)
            twin.children = child.children
            node.children = {
                (twin.word if one is child else name): (twin if one is child else one)
                for name, one in node.children.items()
            }
        elif kind == "add" and node.flags & (ENDS | LIST):
            node.children.setdefault("more", Node("more", 1, ENDS))
    check(running, target)
    check(target, running)


WORDS = st.sampled_from(
    ["a", "b", "unit", "0", "family", "inet6", "export", "mtu", "term", "then", "community", "add", "interface",
     "loops", "autonomous-system", "local-as", "1", "2", "apply-groups", "members", "route", "next-hop",
     "flag", "class"]
)  # fmt: skip


def shown(root: Node) -> Node:
    """Return a random configuration as a device would show it: it keeps the last value."""
    made, _ = apply(Node(""), to_set(root, comments=False))
    return settled(read(to_curly(made)))


CONFIGURATIONS = trees(WORDS, tagged=True).map(shown).filter(possible)


@given(CONFIGURATIONS, CONFIGURATIONS)
def test_any_tree_becomes_any_other(first: Node, second: Node) -> None:
    check(first, second)


ENTRIES = st.sampled_from("abcdefg")


@example([("b", "a", "add"), ("a", "a", "add"), ("b", "a", "after"), ("a", "a", "last")])
@given(st.lists(st.tuples(ENTRIES, ENTRIES, st.sampled_from(["add", "last", "before", "after"]))))
def test_moves_between_additions(steps: list[tuple[str, str, str]]) -> None:
    block = Node("block")
    order = Order(block)
    plain: list[str] = []
    for word, other, step in steps:
        if step == "add" and word not in plain:
            block.children[word] = Node(word)
            plain.append(word)
        elif step == "last" and word in plain:
            # What a reader does with a value that is set again.
            order.update()
            block.children[word] = block.children.pop(word)
            order.update(word)
            plain.append(plain.pop(plain.index(word)))
        elif {word, other} <= {*plain} and step in ("before", "after"):
            order.move(word, other, step == "after")
            if word != other:
                plain.remove(word)
                plain.insert(plain.index(other) + (step == "after"), word)
    order.apply()
    assert [*block.children] == plain
    assert all(word == node.word for word, node in block.children.items())


def test_thousands_of_moves_between_commands_that_set_and_delete() -> None:
    many = range(5_000)
    text = "".join(f"set p e{number} x\ninsert p e{number} before e0\n" for number in many)
    assert [*read(text).children["p"].children] == [f"e{number}" for number in (*many[1:], 0)]
    again = f"{text}delete p\nset p b\nset p a\ninsert p a before b\n"
    assert [*read(again).children["p"].children] == ["a", "b"]


def test_values_that_are_set_again_between_moves() -> None:
    text = "set p a\nset p b\nset p c\ninsert p c before a\nset p d\nset p a\nset p d\n"
    assert [*read(text).children["p"].children] == ["c", "b", "a", "d"]
    text = "set p b\nset p a\ninsert p b after a\nset p a\n"
    assert [*read(text).children["p"].children] == ["b", "a"]
