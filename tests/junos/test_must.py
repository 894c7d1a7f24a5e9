import re
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.junos import must
from ailb_gen.junos.instance import Instance
from ailb_gen.junos.must import NodePath, Scope, Unevaluable, compile_must, evaluate, parse_path
from ailb_gen.junos.reader import read
from ailb_gen.junos.tree import Node, words_of
from tests.junos.models import outcome_of, said, schema

TEXT = """
set interfaces et-0/0/0 mtu 9000
set interfaces et-0/0/0 unit 0 family inet6 mtu 8000
set interfaces et-0/0/1 unit 0 family inet6
set interfaces et-0/0/1 unit 7 family inet
set interfaces st0 unit 0
set vlans v2 vlan-id 2
set vlans v3 vlan-id 3
set protocols lldp interface et-0/0/0
"""


def scope(value: str | None = None, leaf: bool = False) -> Scope:
    """Stand at unit 0 of et-0/0/0, or at a leaf in it."""
    root = read(TEXT)
    top = Instance(schema().root, root, None)
    interfaces = _below(top, "interfaces")
    entry = Instance(interfaces.definition.bare[0], interfaces.node.children["et-0/0/0"], interfaces, ("et-0/0/0",))
    unit = Instance(entry.definition.words["unit"], entry.node.children["unit"].children["0"], entry, ("0",))
    return Scope(root, {}, unit, value, leaf, {}, words_of(root))


def _below(instance: Instance, word: str) -> Instance:
    return Instance(instance.definition.words[word], instance.node.children[word], instance)


@pytest.mark.parametrize(
    ("expression", "holds"),
    [
        ('("vlans")', True),
        ('("vlans v2 vlan-id 2")', True),
        ('("vlans v2 vlan-id 3")', False),
        ('(!("vlans v9"))', True),
        ('(!(!("vlans v9")))', False),
        ('("vlans v2" && "vlans v3")', True),
        ('("vlans v2" && "vlans v9")', False),
        ('("vlans v9" || "vlans v3")', True),
        ('("vlans v9" || "vlans v8")', False),
        ('("vlans v2" || "vlans v8" && "vlans v9")', True),
        ('(("vlans v2" || "vlans v8") && "vlans v9")', False),
        ('(any "vlans <*> vlan-id 3")', True),
        ('(any "vlans <*> vlan-id 4")', False),
        ('(all "vlans <*> vlan-id")', True),
        ('(all "interfaces <*> mtu")', False),
        ('(all "interfaces <et*> unit <*> family")', True),
        ('(all "interfaces <et*> unit <*> family inet6")', False),
        ('(all "interfaces <xe*> unit")', True),
        ('(unique "vlans <*> vlan-id 3")', True),
        ('(unique "interfaces <*> unit 0")', False),
        ('(any "interfaces <st*>")', True),
        ('(any "interfaces <xe*>")', False),
        ('(". family inet6")', True),
        ('(".. mtu")', True),
        ('(".. mtu 9000")', True),
        ('(".. .. et-0/0/1")', True),
        ('(".. unit $$={0} family inet6")', True),
        ('("interfaces ${interface} unit ${unit} family inet6 mtu 8000")', True),
        ('("interfaces ${interface} unit ${unit} family inet")', False),
        ('(!("routing-instances ${instance} instance-type vrf"))', True),
    ],
)
def test_what_holds_at_a_list_entry(expression: str, holds: bool) -> None:
    assert evaluate(expression, scope()) is holds


@pytest.mark.parametrize(
    ("expression", "value", "holds"),
    [
        ('("interfaces $$")', "et-0/0/1", True),
        ('("interfaces $$")', "et-0/0/9", False),
        ('("interfaces $$-IFL family inet")', "et-0/0/1.7", True),
        ('("interfaces $$-IFL family inet6")', "et-0/0/1.7", False),
        ('("interfaces $$-IFD unit 7")', "et-0/0/1.7", True),
        ('("interfaces $$-IFD unit 7")', "et-0/0/1", True),
        ('(any "vlans <*> vlan-id $$")', "3", True),
        ('(any "interfaces <*> unit $$ family inet")', "7", True),
        ('(any "interfaces <*> unit $$ family inet")', "0", False),
        ('(unique "interfaces <*> unit $$")', "7", True),
        ('(unique "interfaces <*> unit $$")', "0", False),
        ('(unique "interfaces <*> unit $$ family inet6 mtu")', "0", True),
        ('(".. family inet6 mtu $$")', "8000", True),
        ('(".. .. mtu")', "x", True),
        ('(".. mtu")', "x", False),
    ],
)
def test_what_holds_at_a_leaf(expression: str, value: str, holds: bool) -> None:
    known = scope(value, leaf=True)
    known.known = True
    assert bool(compile_must(expression)(known)) is holds


def test_a_path_that_cannot_be_written_is_not_held_against_the_text() -> None:
    # `no-such` is no statement of an interface: that it is not there is known, that it should be is not.
    assert evaluate('(!(".. no-such"))', scope())
    assert evaluate('(".. no-such" || ".. mtu")', scope())
    with pytest.raises(Unevaluable, match="do not have in that place"):
        evaluate('(".. no-such")', scope())
    with pytest.raises(Unevaluable, match="do not have in that place"):
        evaluate('(".. no-such" && ".. mtu")', scope())
    assert not evaluate('(".. description")', scope())


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("", "it is incomplete"),
        ("(", "it is incomplete"),
        ('("a"', "not closed"),
        ('"a" "b"', "left over"),
        ("any", "path in quotes is missing"),
        ('("")', "empty path"),
        ('"a" & "b"', "not an expression at"),
        ("!" * 5000 + '"a"', "too many brackets"),
        ("(" * 5000, "too many brackets"),
    ],
)
def test_what_is_not_an_expression(expression: str, reason: str) -> None:
    with pytest.raises(Unevaluable, match=reason):
        compile_must(expression)


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ('("vlans ${nobody}")', "outside a list of that name"),
        ('("interfaces $$")', "has no value"),
        ('("interfaces $$-WHAT")', "is not known"),
    ],
)
def test_what_cannot_be_evaluated(expression: str, reason: str) -> None:
    with pytest.raises(Unevaluable, match=reason):
        evaluate(expression, scope())


def test_paths() -> None:
    assert parse_path("", "a b") == must.NodePath("", -1, ("a", "b"))
    assert parse_path("", ". a") == must.NodePath("", 0, ("a",))
    assert parse_path("", " .. ..  a") == must.NodePath("", 2, ("a",))
    assert parse_path("any", "..inner-vlan members") == must.NodePath("any", 1, ("inner-vlan", "members"))
    assert parse_path("", "..") == must.NodePath("", 1, ())


def _expressions() -> set[str]:
    models = schema()
    found: set[str] = set()
    stack = [models.block(number) for number in range(models.blocks)]
    while stack:
        one = stack.pop()
        if isinstance(one, str):
            if re.search(r'^\s*\(.*"', one):
                found.add(one)
        elif isinstance(one, dict):
            stack += one.values()
        elif isinstance(one, list):
            stack += one
    return found


def test_every_expression_of_the_models_is_read() -> None:
    expressions = _expressions()
    assert len(expressions) > 1500
    wrong = []
    for one in expressions:
        try:
            compile_must(one)
        except Unevaluable as reason:
            wrong.append((one, str(reason)))
    assert wrong == []


@given(st.text(alphabet='()!&|" .$<>*{}=anyluiqe-', max_size=60))
def test_any_text_is_an_expression_or_not(text: str) -> None:
    try:
        compile_must(text)
    except Unevaluable as reason:
        assert str(reason)


REAL = [
    (
        "set vlans v2 vlan-id 2\nset vlans v2 l3-interface irb.2",
        "vlans v2 l3-interface irb.2",
        "set vlans v2 l3-interface irb.2",
    ),
    (
        "set protocols bgp fabric-advertise route fc00::/64 color green\n"
        "set protocols bgp fabric-advertise route fc00::/64 backup-color all-colors",
        "protocols bgp fabric-advertise route fc00::/64 backup-color all-colors",
        "set protocols bgp fabric-advertise route fc00::/64 backup-color all-colors",
    ),
    (
        "set protocols bgp group g type external\nset protocols bgp group g fabric-color green",
        "protocols bgp group g fabric-color green",
        "set protocols bgp group g type internal\nset protocols bgp group g fabric-color green",
    ),
    (
        "set interfaces irb unit 2 family inet6\nset protocols router-advertisement interface irb.2",
        "protocols router-advertisement interface irb.2",
        "set interfaces irb unit 2 family inet\nset protocols router-advertisement interface irb.2",
    ),
]


@pytest.mark.parametrize(("good", "statement", "bad"), REAL, ids=[case[1] for case in REAL])
def test_real_constraints(good: str, statement: str, bad: str) -> None:
    assert said(good) == []
    [(kind, where, message)] = said(bad)
    assert (kind, where) == ("must", statement)
    assert message
    assert outcome_of(bad).evaluated


def test_a_path_with_a_word_that_nothing_has_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    followed: list[NodePath] = []

    def noted(path: NodePath, at: Scope) -> Iterable[Node]:
        followed.append(path)
        return matches(path, at)

    matches = must._matches
    monkeypatch.setattr(must, "_matches", noted)
    there = scope()
    assert evaluate('(!(".. vpls") && (!("vlans v9") && "vlans v2"))', there)
    assert [path.steps for path in followed] == [("vlans", "v2")]
    # A variable may have no value: that is told although nothing has the other words.
    with pytest.raises(Unevaluable):
        evaluate('("nowhere $$")', there)
