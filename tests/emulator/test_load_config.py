"""What a load makes of the candidate."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.emulator.load_config import Action, load, load_set
from ailb_gen.errors import JunosSyntaxError
from ailb_gen.junos.reader import read_curly
from ailb_gen.junos.tree import Node
from ailb_gen.junos.writer import to_curly

OLD = """\
system { host-name a; services { ssh; netconf { ssh; } } }
interfaces { et-0/0/0 { mtu 9216; unit 0 { family inet6 { address fe80::1/64; } } } }
routing-options { autonomous-system 65001 loops 2; }
"""


def old() -> Node:
    return load(Node(""), read_curly(OLD), "override")


@pytest.mark.parametrize(
    ("action", "text", "expected"),
    [
        ("merge", "system { host-name b; }", ["set system host-name b"]),
        (
            "merge",
            "interfaces { et-0/0/0 { unit 0 { family inet6 { address fe80::2/64; } } } }",
            ["set interfaces et-0/0/0 unit 0 family inet6 address fe80::2/64"],
        ),
        ("merge", "routing-options { autonomous-system 65002; }", ["set routing-options autonomous-system 65002"]),
        ("merge", "inactive: system { host-name b; }", ["inactive"]),
        ("merge", "replace: system { host-name b; }", ["netconf"]),
        ("merge", "system { delete: services; }", ["no services"]),
        ("replace", "replace: system { host-name b; }", ["no services"]),
        ("replace", "system { replace: services { ssh; } }", ["no netconf"]),
        ("override", "system { host-name b; }", ["no interfaces"]),
        ("update", "system { host-name b; delete: services; }", ["no interfaces", "no services"]),
    ],
)
def test_actions(action: Action, text: str, expected: list[str]) -> None:
    before = to_curly(old())
    candidate = old()
    result = to_curly(load(candidate, read_curly(text), action))
    assert to_curly(candidate) == before
    for sign in expected:
        if sign.startswith("no "):
            assert sign[3:] not in result
        else:
            assert sign.split()[-1] in result
    if "host-name b" in text:
        assert "host-name a" not in result


def test_what_devices_do_not_keep() -> None:
    text = "/* kept */\nsystem {\n    ## gone\n    # gone\n    host-name a; # gone\n}\n## gone\n"
    assert to_curly(load(Node(""), read_curly(text), "override")) == "/* kept */\nsystem {\n    host-name a;\n}\n"


def test_secrets_are_marked_once() -> None:
    text = "system { root-authentication { encrypted-password $6$a$b; } }"
    loaded = load(Node(""), read_curly(text), "override")
    marked = 'encrypted-password "$6$a$b"; ## SECRET-DATA\n'
    assert marked in to_curly(loaded)
    assert to_curly(load(loaded, read_curly(to_curly(loaded)), "merge")).count("SECRET-DATA") == 1
    assert to_curly(load(loaded, read_curly("system { host-name x; }"), "merge")).count("SECRET-DATA") == 1


def test_too_deep() -> None:
    with pytest.raises(JunosSyntaxError, match="words deep"):
        load(Node(""), read_curly("a { " * 200 + "b;" + " }" * 200), "override")


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        ("deactivate interfaces et-0/0/0", "inactive: et-0/0/0 {"),
        ('annotate system "hello"', "/* hello */"),
        ('set system login message "two\nlines"', '"two\nlines"'),
        ("set vlans v vlan-id-list [ 1 2 ]", "[ 1 2 ]"),
        ("delete interfaces et-0/0/0 unit 0 family inet6 address fe80::1/64", "family inet6;"),
    ],
)
def test_set_commands(commands: str, expected: str) -> None:
    result, warnings = load_set(old(), commands)
    assert expected in f"\n{to_curly(result)}"
    assert warnings == []


def test_deleting_leaves_no_empty_containers() -> None:
    result, _ = load_set(
        old(), "delete system services ssh\ndelete system services netconf ssh\ndelete system host-name"
    )
    assert not result.has("system")


def test_what_is_not_there_is_a_warning() -> None:
    result, warnings = load_set(old(), "delete nothing here\ndeactivate neither\nset system host-name b")
    assert warnings == ["statement not found"] * 2
    assert result.value("system", "host-name") == "b"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("set", "nothing after"),
        ("delete", "nothing after"),
        ("frobnicate system", "is not a command"),
        ("# a comment\nset a [ b", "not closed"),
        ("set a ]", "is not allowed here"),
        ("delete a [ b ]", "a list is not allowed here"),
        ("insert system host-name before foo", "insert takes"),
        ('annotate system "a */ b"', "cannot hold"),
        ('set a "b', "not closed"),
    ],
)
def test_bad_commands_change_nothing(text: str, reason: str) -> None:
    tree = old()
    with pytest.raises(JunosSyntaxError, match=reason):
        load_set(tree, f"set system host-name changed\n{text}")
    assert tree.value("system", "host-name") == "a"


WORDS = st.sampled_from(["system", "host-name", "a", "b", "unit", "0", "family", "inet6", "mtu", "address"])
PATHS = st.lists(st.lists(WORDS, min_size=1, max_size=5), max_size=8)


@given(PATHS)
def test_loading_twice_is_loading_once(paths: list[list[str]]) -> None:
    text = "".join(f"set {' '.join(path)}\n" for path in paths)
    once, _ = load_set(Node(""), text)
    curly = to_curly(once)
    assert to_curly(load(once, read_curly(curly), "merge")) == to_curly(load(Node(""), read_curly(curly), "override"))
