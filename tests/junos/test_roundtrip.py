"""Random configurations through every form, and damaged ones that must be refused, never crash."""

from collections.abc import Callable
from functools import cache

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from ailb_gen.errors import JunosSyntaxError
from ailb_gen.junos.commands import COMMANDS
from ailb_gen.junos.groups import active
from ailb_gen.junos.interface_ranges import effective
from ailb_gen.junos.reader import read
from ailb_gen.junos.tree import Node
from ailb_gen.junos.writer import to_curly, to_json, to_set
from tests.conftest import need_shared
from tests.junos.models import signature

TAGS = st.sampled_from(["", "", "", "", "inactive: ", "protect: ", "replace: "])
NAME = st.sampled_from(["a", "b", "file", "messages", "size", "traceoptions", "class", "A", "et-0/0/0:0", '"a b"', "7"])
VALUES = st.lists(st.tuples(TAGS, st.sampled_from(["x", "y", '"z w"', "65000", "fc00::/64", "all"])), max_size=4)

# `N` is a name, `V` a value or a list, `T` a tag or nothing; in front of every statement a tag may stand.
LEAVES = """
    mtu N|description N|export V|members V|interface V|flex-algorithm V|apply-groups V|local-as 65000 T:loops 2
    local-as T:private|traceoptions file N T:size 10m T:files 3 T:microsecond-stamp|flag all T:detail|any notice|match N
    route-filter fc00::/16 orlonger|route-filter fc00::/16 upto /64 accept|community add N|then accept|route N T:tag N
    forwarding-classes class N T:queue-num 4 T:no-loss|hold-time T:up 100 T:down 200|vlan-tags outer 1 T:inner 2
    autonomous-system 65000|address fc00::1/64|neighbor N|unit 0|family inet|interface N T:passive|ntp server N
    server N T:key 1 T:prefer|archive T:size 1m T:files 2|N|prefix-list-filter N exact|as-path N N|priority N
"""
BLOCKS = """
    interfaces|N|unit 0|family inet6|protocols|bgp|group N|traceoptions|system|syslog|policy-statement N|term N
    from|then|routing-options|forwarding-classes|static|route N|ntp|dynamic-neighbor N
    peer-auto-discovery|login|scripts|op|sampling|output
"""


def _pieces(table: str) -> st.SearchStrategy[str]:
    return st.sampled_from([piece.strip() for line in table.strip().split("\n") for piece in line.split("|")])


@st.composite
def _filled(draw: st.DrawFn, table: str) -> str:
    words = [draw(TAGS)]
    for word in draw(_pieces(table)).split():
        if word.startswith("T:"):
            words.append(draw(TAGS) + word[2:] + " ")
        elif word == "V":
            values = [tag + value for tag, value in draw(VALUES)]
            words.append(f"[ {' '.join(values)} ] " if values else "x ")
        else:
            words.append((draw(NAME) if word == "N" else word) + " ")
    return "".join(words).strip()


@st.composite
def statements(draw: st.DrawFn, depth: int = 3) -> str:
    """Draw the statements of a block, one a line."""
    lines = []
    for _ in range(draw(st.integers(0, 4))):
        if depth and draw(st.booleans()):
            lines.append(f"{draw(_filled(BLOCKS))} {{\n{draw(statements(depth - 1))}}}\n")
        else:
            lines.append(draw(_filled(LEAVES)) + ";\n")
    return "".join(lines)


def ways(root: Node) -> list[tuple[str, ...]]:
    """Return what counts: the statements that are left, sorted."""
    return sorted(effective(root).paths())


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(statements())
def test_curly_set_and_curly_again_are_the_same_tree(text: str) -> None:
    try:
        root = read(f"protocols {{\n{text}}}\n")
    except JunosSyntaxError as error:
        # A statement, and once more with `replace:` or `delete:` in front of it.
        assert "which stands above already" in error.reason
        reject()
    curly = to_curly(root)
    assert signature(read(curly)) == signature(root)
    assert to_curly(read(curly)) == curly
    lines = to_set(root)
    assert signature(read(lines)) == signature(root)
    assert sorted(to_set(read(lines)).splitlines()) == sorted(lines.splitlines())
    through = to_curly(read(lines))
    assert signature(read(through)) == signature(root)
    assert ways(read(curly)) == ways(root)
    assert ways(read(through)) == ways(read(lines))


@cache
def _published() -> list[str]:
    root = need_shared("junos-corpus")
    paths = sorted(path for path in root.rglob("*") if path.suffix in (".conf", ".set"))
    return [path.read_text(encoding="utf-8") for path in paths]


SPLICES = st.one_of(
    st.sampled_from(
        ["{", "}", "[", "]", ";", '"', "/*", "*/", "#", " inactive: ", "\n", "[ a b ]", "( ", " )", "\\", "set "]
    ),
    st.sampled_from(
        ["user@host> show\n", "{master:0}\n", "---(more)---\n", "R1\n", "\ufeff", "\x00", "\x1b[K", "delete: "]
    ),
    st.text(max_size=4),
)


def _damage(text: str, cuts: list[tuple[float, float, str]]) -> str:
    for at, size, splice in cuts:
        start = int(at * len(text))
        text = text[:start] + splice + text[start + int(size * 40) :]
    return text


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(
    st.integers(0, 1000),
    st.floats(0, 1),
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), SPLICES), min_size=1, max_size=4),
)
@pytest.mark.parametrize("work", [to_curly, to_set, to_json, active], ids=["curly", "set", "json", "active"])
def test_damaged_text_is_read_or_refused(
    work: Callable[[Node], object], number: int, start: float, cuts: list[tuple[float, float, str]]
) -> None:
    texts = _published()
    text = texts[number % len(texts)]
    piece = text[int(start * len(text)) :][:1500]
    try:
        root = read(_damage(piece, cuts), "f")
    except JunosSyntaxError as error:
        assert str(error).startswith("f:")
        assert error.line >= 1
        return
    work(root)
    # `set set a` is no statement of Junos; as curly text it would be a command.
    if COMMANDS.isdisjoint(root.children):
        assert signature(read(to_curly(root))) == signature(root)
