"""Trees written: curly, set and JSON say the same, and what was read comes out again."""

import json
from collections.abc import Callable
from functools import cache
from itertools import chain

import pytest
from hypothesis import HealthCheck, assume, given, reject, settings
from hypothesis import strategies as st

from ailb_gen.errors import JunosSyntaxError
from ailb_gen.junos.commands import COMMANDS
from ailb_gen.junos.groups import active
from ailb_gen.junos.interface_ranges import effective
from ailb_gen.junos.reader import read, read_file
from ailb_gen.junos.tree import DELETE, ENDS, INACTIVE, LIST, PROTECT, QUOTED, REPLACE, Node
from ailb_gen.junos.writer import to_curly, to_json, to_set
from tests.conftest import ROOT, need_shared
from tests.junos.drawn import possible, trees
from tests.junos.models import signature

TAGS = INACTIVE | PROTECT | REPLACE | DELETE
CURLY = """\
## head
system {
    /* said "so" */
    inactive: ntp {
        server 1.1.1.1 key 1 prefer;
        inactive: boot-server 2.2.2.2;
    }
    replace: login {
        user a {
            class b;
        }
    }
    delete: services;
}
class-of-service {
    forwarding-classes {
        inactive: class A queue-num 1 no-loss;
        protect: class B queue-num 2;
        class C {
            queue-num 3;
        }
    }
}
protocols {
    bgp {
        group x {
            export [ ( A && B ) "c d" ];
            inactive: import [ a b ];
        }
    }
}
# end
"""
SET = """\
## head
set system ntp server 1.1.1.1 key 1
set system ntp server 1.1.1.1 prefer
set system ntp boot-server 2.2.2.2
deactivate system ntp boot-server
deactivate system ntp
edit system
annotate ntp "said \\"so\\""
top
delete system login
set system login user a class b
delete system services
set class-of-service forwarding-classes class A queue-num 1
set class-of-service forwarding-classes class A no-loss
deactivate class-of-service forwarding-classes class A
set class-of-service forwarding-classes class B queue-num 2
protect class-of-service forwarding-classes class B
set class-of-service forwarding-classes class C queue-num 3
set protocols bgp group x export ( A && B )
set protocols bgp group x export "c d"
set protocols bgp group x import a
set protocols bgp group x import b
deactivate protocols bgp group x import
# end
"""


def test_curly_text_comes_out_as_it_was() -> None:
    assert to_curly(read(CURLY)) == CURLY


def test_set_text_comes_out_as_it_was() -> None:
    assert to_set(read(CURLY)) == SET
    assert to_set(read(SET)) == SET
    lines = SET.splitlines()
    plain = [line for line in lines if line.split()[0] not in ("##", "#", "edit", "annotate", "top")]
    assert to_set(read(CURLY), comments=False).splitlines() == plain


def test_the_boundaries_of_set_text_are_found() -> None:
    text = CURLY.replace("class C {\n            queue-num 3;\n        }", "class C queue-num 3;")
    # A comment on a line of its own goes to the statement of the next line, which has more words.
    assert to_curly(read(SET)).replace("        ## head\n", "") == text.replace("## head\n", "")


def test_json() -> None:
    data = json.loads(to_json(read("/* why */ inactive: a { b [ c d ]; } e;")))
    assert data == {
        "@a": {"inactive": True, "comment": ["/* why */"]},
        "a": {"@b": {"list": True}, "b": {"c": {}, "d": {}}},
        "e": {},
    }
    assert json.loads(to_json(read(""))) == {}


@pytest.mark.parametrize(
    ("lines", "curly"),
    [
        (["interfaces et-0/0/0 unit 0 family inet6"], ["interfaces {", "et-0/0/0 {", "unit 0 {", "family inet6;"]),
        (["protocols bgp group g family inet6 unicast"], ["group g {", "family inet6 {", "unicast;"]),
        (["policy-options policy-statement p term t from protocol bgp"], ["term t {", "from protocol bgp;"]),
        (["policy-options policy-statement p then load-balance per-packet"], ["then {", "load-balance per-packet;"]),
        (["policy-options policy-statement p term t then reject"], ["then reject;"]),
        (["policy-options policy-statement p term t from route-filter ::/0 exact"], ["route-filter ::/0 exact;"]),
        (
            ["policy-options community c members 1:1", "policy-options community c members 1:2"],
            ["community c members [ 1:1 1:2 ];"],
        ),
        (["policy-options prefix-list p 1.0.0.0/8"], ["prefix-list p {", "1.0.0.0/8;"]),
        (["interfaces et-0/0/0 disable", "interfaces apply-groups G"], ["et-0/0/0 {", "disable;", "apply-groups G;"]),
        (["unheard of thing"], ["unheard {", "of thing;"]),
        (["unheard thing a", "unheard thing b"], ["thing {", "a;", "b;"]),
    ],
)
def test_grouping_of_set_lines(lines: list[str], curly: list[str]) -> None:
    written = to_curly(read("".join(f"set {line}\n" for line in lines)))
    assert [line for line in map(str.strip, written.splitlines()) if line in curly] == curly


@pytest.mark.parametrize(
    ("lines", "curly"),
    [
        ("set p then accept\ndeactivate p then accept\n", "p {\n    then {\n        inactive: accept;\n    }\n}\n"),
        ("set p then accept\ndeactivate p then\n", "p {\n    inactive: then accept;\n}\n"),
        (
            'set p then accept\nedit p then\nannotate accept "so"\ntop\n',
            "p {\n    then {\n        /* so */\n        accept;\n    }\n}\n",
        ),
        ("set unit 0 family inet\ndeactivate unit 0 family inet\n", "unit 0 {\n    inactive: family inet;\n}\n"),
        ("set import a\nset import b\ndeactivate import b\n", "import {\n    a;\n    inactive: b;\n}\n"),
        ("set unheard of\nprotect unheard of\n", "unheard {\n    protect: of;\n}\n"),
    ],
)
def test_tags_and_annotations_stay_where_they_are(lines: str, curly: str) -> None:
    assert to_curly(read(lines)) == curly
    assert to_set(read(curly)) == lines


def test_a_tag_on_one_entry_leaves_the_others_alone() -> None:
    text = "unit 0 {\n    family inet6;\n    inactive: family inet;\n}\n"
    assert to_curly(read(text)) == text


# Words of every kind; none that the grammar splits at, or that says which form a text has.
WORDS = st.one_of(
    st.sampled_from(["a", "unit", "0", "family", "inet6", "export", "mtu", "et-0/0/0:0", "fc00::/64", "<*>", "term"]),
    st.sampled_from(["", "a b", "{", 'say "x"', "a\\.b", "tab\there", "/*", "#", ";", "inactive:", "line\nbreak", "("]),
)


TREES = trees(WORDS, longest=5)


def said(root: Node) -> dict[tuple[str, ...], int]:
    """Return what a tree says: every statement, and every tag with the words it stands on."""
    found = dict.fromkeys(root.paths(), 0)
    stack: list[tuple[tuple[str, ...], Node]] = [((), root)]
    while stack:
        path, node = stack.pop()
        for child in node:
            if child.flags & TAGS:
                found[(*path, child.word)] = child.flags & TAGS
            stack.append(((*path, child.word), child))
    return found


@given(TREES)
def test_every_tree_survives_every_form(root: Node) -> None:
    statements = said(root) if root.children else {(): 0}
    curly = to_curly(root)
    assert said(read(curly)) == statements
    lines = to_set(read(curly))
    assert said(read(lines)) == statements
    again = to_curly(read(lines))
    assert said(read(again)) == statements
    assert to_curly(read(to_set(read(again)))) == again


@given(TREES, st.sampled_from([INACTIVE, PROTECT, REPLACE]))
def test_tags_survive_set_text(root: Node, flag: int) -> None:
    for child in root:
        child.flags |= flag | ENDS
    assert said(read(to_set(root))) == said(root)


def bare(text: str) -> list[str]:
    """Return the lines of a text without comments, banners and the marks of secrets."""
    lines = (line.partition("; ##")[0].removesuffix(";") for line in text.splitlines())
    return [line for line in lines if line.strip() and not line.strip().startswith(("#", "/*", "show "))]


# These were not printed by a device: where one statement stands in a `from`, `then` or `vlan`, their author used braces
# in some places and none in others, which set text cannot tell.
OTHER_STYLE = "qfx5130|qfx5220"


@pytest.mark.long
def test_published_and_golden_text_comes_out_as_it_was() -> None:
    """Curly to curly, and curly to set to curly, which is a fixed point from then on."""
    published = need_shared("junos-corpus").rglob("*.conf")
    golden = (ROOT / "tests" / "golden").glob("*/switches/*.conf")
    exact = 0
    for path in chain(published, golden):
        text = path.read_text(encoding="utf-8")
        root = read(text)
        lines = to_set(root)
        through_set = to_curly(read(lines))
        assert to_set(read(lines)) == lines
        assert set(read(through_set).paths()) == set(root.paths()), path
        assert to_curly(read(to_set(read(through_set)))) == through_set, path
        # A second `system` of the user's own goes to the first.
        expected = bare(text) if text.count("\nsystem {") + text.startswith("system {") < 2 else bare(to_curly(root))
        assert bare(to_curly(root)) == expected, path
        if not any(kind in path.name for kind in OTHER_STYLE.split("|")):
            assert bare(through_set) == expected, path
            exact += 1
    assert exact >= 60


def test_published_pairs_line_by_line() -> None:
    for path in need_shared("junos-corpus/pairs").glob("*.conf"):
        written = set(to_set(read_file(path), comments=False).splitlines())
        published = set(to_set(read_file(path.with_suffix(".set"))).splitlines())
        raw = {line.rstrip() for line in path.with_suffix(".set").read_text().splitlines() if line.startswith("set ")}
        assert published == raw
        # One address of this device is mistyped in the curly text and lost in the other.
        typo = "set interfaces ae12 unit 0 family inet"
        expected = {f"{typo} address 10.12..1.2/30", typo} if path.stem == "dci2_mx304" else set()
        assert written ^ published == expected, path


def test_flags_that_only_the_writer_needs() -> None:
    root = read('a [ b ];\nc "d";\n')
    assert root.get("a").flags & LIST  # type: ignore[union-attr]
    assert root.get("c", "d").flags & QUOTED  # type: ignore[union-attr]
    assert to_curly(root) == 'a [ b ];\nc "d";\n'


LEADS = st.sampled_from(["", "", "", "", "inactive: ", "protect: ", "replace: "])
NAME = st.sampled_from(["a", "b", "file", "messages", "size", "traceoptions", "class", "A", "et-0/0/0:0", '"a b"', "7"])
VALUES = st.lists(st.tuples(LEADS, st.sampled_from(["x", "y", '"z w"', "65000", "fc00::/64", "all"])), max_size=4)

# `N` is a name, `V` a value or a list, `T` a tag or nothing; before every statement a tag may stand.
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
    words = [draw(LEADS)]
    for word in draw(_pieces(table)).split():
        if word.startswith("T:"):
            words.append(draw(LEADS) + word[2:] + " ")
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
        # A statement, and once more with `replace:` or `delete:` before it.
        assert "which is already defined above" in error.reason
        reject()
    assume(possible(root))
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
