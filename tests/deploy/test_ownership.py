"""What of a switch is the program's, and that the commands it sends make exactly what is wanted."""

from fnmatch import fnmatchcase
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.deploy.ownership import OWNED, _without, commands, expected_configuration, fingerprint, matches, ownership
from ailb_gen.emulator.load_config import load, load_set
from ailb_gen.emulator.source import factory
from ailb_gen.errors import UsageError
from ailb_gen.junos.reader import read, read_file
from ailb_gen.junos.tree import ENDS, INACTIVE, PROTECT, Node, copy
from ailb_gen.junos.writer import to_curly
from tests.conftest import ROOT, need_shared
from tests.junos.drawn import every, trees

GOLDEN = ROOT / "tests" / "golden"
# Leaves and spines of every kind; the others differ from them in numbers only.
FILES = (
    "brownfield/switches/core-a.conf",
    "brownfield/switches/r1l3.conf",
    "jvd/switches/stripe1-leaf3.conf",
    "lab/switches/spine2.conf",
)
RIGHTS = ownership()
RUNNING = """\
system {
    host-name a;
    services { ssh; telnet; }
    root-authentication { encrypted-password "$6$x"; }
}
interfaces {
    re0:mgmt-0 { unit 0 { family inet { address 10.0.0.1/24; } } }
    et-0/0/0 { mtu 1500; unit 0 { family inet6 { address fe80::1/64; } } }
    et-0/0/63 { unit 0; }
}
policy-options {
    prefix-list MANAGERS { 10.0.0.0/8; }
    policy-statement OLD { term a { then reject; } }
}
routing-options { router-id 1.1.1.1; static { route 0.0.0.0/0 next-hop 10.0.0.254; } }
vlans { default { vlan-id 1; } vn9 { vlan-id 9; } }
"""
FILE = """\
system { host-name a; services { netconf { ssh; } } }
interfaces { et-0/0/0 { mtu 9216; unit 0 { family inet6; } } }
routing-options { router-id 10.1.1.1; }
policy-options { policy-statement NEW { term a { then accept; } term b { then reject; } } }
vlans { vn2 { vlan-id 2; } }
"""


def device(text: str) -> Node:
    """Return a configuration as a device has it."""
    return load(Node(""), read(text, "device"), "override")


def below(path: tuple[str, ...]) -> bool:
    """Tell whether a path is inside an owned hierarchy."""
    return any(len(path) >= len(pattern) and all(map(fnmatchcase, path, pattern)) for pattern in OWNED)


def check(running: Node, file: Node) -> None:
    """Make sure of everything that `wanted` and `commands` promise of two configurations."""
    before = to_curly(running), to_curly(file)
    target = expected_configuration(running, file, RIGHTS)
    # What is owned is what the file says, and nothing else.
    assert {path for path in target.paths() if below(path)} == {path for path in file.paths() if below(path)}
    # Of the rest, everything stays that the file says no other value for, and only what the file says comes.
    for path in running.paths():
        if not below(path):
            assert target.has(*path) or (file.has(*path[:-1]) and not file.has(*path)), path
    for path in target.paths():
        assert running.has(*path) or file.has(*path), path
    # The device makes of the commands what is wanted, and then there is nothing more to do.
    done, warnings = load_set(running, commands(running, target))
    again = device(to_curly(done))
    for one in (done, again):
        assert commands(target, one) == ""
        assert fingerprint(one) == fingerprint(target)
    assert warnings == []
    assert commands(again, expected_configuration(again, file, RIGHTS)) == ""
    assert (to_curly(running), to_curly(file)) == before


@given(trees(st.sampled_from("abc"), tagged=True), st.lists(st.sampled_from([("a",), ("*", "b"), ("[bc]", "*", "a")])))
def test_what_is_owned_is_left_out_as_if_it_had_been_deleted(tree: Node, patterns: list[tuple[str, ...]]) -> None:
    expected = copy(tree)
    for pattern in patterns:
        for path, parent, _ in matches(expected, pattern):
            del parent.children[path[-1]]
    assert shown(_without(tree, patterns)) == shown(expected)


@pytest.mark.parametrize("file", FILES)
def test_what_a_file_owns_is_left_out_as_if_it_had_been_deleted(file: str) -> None:
    tree = read_file(GOLDEN / file)
    expected = copy(tree)
    for pattern in OWNED:
        for path, parent, _ in matches(expected, pattern):
            del parent.children[path[-1]]
    assert shown(_without(tree, OWNED)) == shown(expected) != shown(tree)


def shown(node: Node) -> object:
    """Return all that a tree has, orders included."""
    return (node.word, node.line, node.flags, node.comment, [(word, shown(one)) for word, one in node.children.items()])


@pytest.mark.long
@pytest.mark.parametrize("file", FILES)
def test_every_published_configuration_becomes_what_a_file_says(file: str) -> None:
    published = [path for path in need_shared("junos-corpus").rglob("*") if path.suffix in (".conf", ".set")]
    assert len(published) > 20
    for path in sorted(published):
        check(load(Node(""), read_file(path), "override"), read_file(GOLDEN / file))


def test_statements_below_what_the_file_has_without_any_go_and_what_makes_a_switch_reachable_stays() -> None:
    target = expected_configuration(device(RUNNING), read(FILE), RIGHTS)
    check(device(RUNNING), read(FILE))
    assert target.get("interfaces", "et-0/0/0", "unit", "0", "family", "inet6") is not None
    assert not target.has("interfaces", "et-0/0/0", "unit", "0", "family", "inet6", "address")
    assert target.values("system", "services") == ("ssh", "telnet", "netconf")
    assert target.has("interfaces", "re0:mgmt-0", "unit", "0", "family", "inet", "address", "10.0.0.1/24")
    assert target.has("policy-options", "prefix-list", "MANAGERS", "10.0.0.0/8")
    assert target.value("routing-options", "router-id") == "10.1.1.1"
    assert target.values("policy-options", "policy-statement") == ("NEW",)
    assert target.values("vlans") == ("default", "vn2")
    assert not target.has("interfaces", "et-0/0/63")


def test_keep_and_own_of_the_inventory() -> None:
    rights = ownership(own=["policy-options prefix-list MAN*"], keep=["interfaces et-0/0/6*", "vlans vn9"])
    target = expected_configuration(device(RUNNING), read(FILE), rights)
    assert target.has("interfaces", "et-0/0/63", "unit", "0")
    assert target.value("vlans", "vn9", "vlan-id") == "9"
    assert not target.has("policy-options", "prefix-list")
    assert expected_configuration(target, read(FILE), rights).values("interfaces") == target.values("interfaces")


def test_what_is_kept_is_kept_even_from_the_file() -> None:
    keep = ["interfaces et-0/0/0 mtu", "system host-name"]
    target = expected_configuration(device(RUNNING), read(FILE), ownership(keep=keep))
    assert target.value("interfaces", "et-0/0/0", "mtu") == "1500"
    absent = expected_configuration(device("system { services { ssh; } }"), read(FILE), ownership(keep=["vlans"]))
    assert not absent.has("vlans")


@pytest.mark.parametrize("which", ["own", "keep"])
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        *((text, "does not name a part of the configuration") for text in ("", "  ", "*", "* mtu")),
        *((f"interfaces{blank}et-0/0/63", f"U\\+{ord(blank):04X}") for blank in "\xa0\u3000\u2028"),
    ],
)
def test_a_pattern_that_is_none(which: str, text: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        ownership(**{which: [text]})


def test_the_file_says_what_is_active() -> None:
    running = device("inactive: protocols { inactive: bgp { group a { type external; } } lldp { interface all; } }")
    file = read("protocols { bgp { group a { type external; } } }")
    check(running, file)
    done, _ = load_set(running, commands(running, expected_configuration(running, file, RIGHTS)))
    assert "inactive" not in to_curly(done)


def test_protected_statements_are_changed_all_the_same() -> None:
    check(device("protect: interfaces { protect: et-0/0/0 { mtu 1; } }"), read(FILE))


def test_set_text_says_the_same_as_curly_text() -> None:
    lines = commands(Node(""), read(FILE))
    assert lines.startswith("set ")
    targets = [expected_configuration(device(RUNNING), read(text), RIGHTS) for text in (lines, FILE)]
    assert commands(*targets) == ""
    assert fingerprint(targets[0]) == fingerprint(targets[1])


# How a device is damaged: which of its statements, and what becomes of it.
Damage = list[tuple[int, str]]
ACTS = st.sampled_from(["delete", "rename", "turn", "deactivate", "protect", "add", "annotate"])
DAMAGES: st.SearchStrategy[Damage] = st.lists(st.tuples(st.integers(0, 10**6), ACTS), min_size=1, max_size=6)


def damage(root: Node, damages: Damage) -> Node:
    """Return what somebody has made of a configuration."""
    result = copy(root)
    for number, kind in damages:
        found = [(node, child) for node in every(result) for child in node]
        node, child = found[number % len(found)]
        if kind == "delete":
            del node.children[child.word]
        elif kind == "rename":
            twin = Node(f"{child.word}9", child.line, child.flags)
            twin.children = child.children
            node.children = {(one.word): one for one in (twin if one is child else one for one in node)}
        elif kind == "turn":
            child.children = dict(reversed(child.children.items()))
        elif kind in ("deactivate", "protect"):
            flag = INACTIVE if kind == "deactivate" else PROTECT
            child.flags |= flag
            result.flags |= flag
        elif kind == "add":
            child.children.setdefault("junk", Node("junk", 1, ENDS))
        else:
            child.comment = ["/* somebody was here */"]
    return result


@pytest.mark.long
@given(st.sampled_from(FILES), DAMAGES)
def test_whatever_somebody_did_is_repaired(name: str, damages: Damage) -> None:
    file = read_file(GOLDEN / name)
    good = load(factory("a", "admin"), file, "merge")
    running = device(to_curly(damage(good, damages)))
    target = expected_configuration(running, file, RIGHTS)
    done, warnings = load_set(running, commands(running, target))
    assert (commands(target, done), warnings) == ("", [])
    assert fingerprint(done) == fingerprint(target)
    # Nothing of what the file says is missing, and pushing again changes nothing.
    assert all(done.has(*path) for path in file.paths())
    assert commands(done, expected_configuration(done, file, RIGHTS)) == ""


WORDS = st.sampled_from(["a", "unit", "0", "family", "inet6", "export", "mtu", "term", "then", "community", "add"])


CONFIGURATIONS = trees(WORDS).map(lambda root: device(to_curly(root)))


@given(CONFIGURATIONS, CONFIGURATIONS)
def test_one_fingerprint_for_what_says_the_same(first: Node, second: Node) -> None:
    assert (fingerprint(first) == fingerprint(second)) == (commands(first, second) == "")
    assert fingerprint(device(to_curly(first))) == fingerprint(first)


@given(CONFIGURATIONS, st.randoms(use_true_random=False))
def test_order_counts_in_a_fingerprint_where_it_counts_in_junos(root: Node, random: Random) -> None:
    shuffled = copy(root)
    for node in every(shuffled):
        rows = list(node.children.items())
        random.shuffle(rows)
        node.children = dict(rows)
    assert (fingerprint(shuffled) == fingerprint(root)) == (commands(root, shuffled) == "")


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("a { b; c; }", "a { c; b; }", True),
        ("/* note */ a;", "a; ## Last commit: now", True),
        ("a [ x y ];", "a { y; x; }", True),
        ("export [ x y ];", "export [ y x ];", False),
        ("p { term a; term b; }", "p { term b; term a; }", False),
        ("then { community add x; community delete y; }", "then { community delete y; community add x; }", False),
        ("a;", "inactive: a;", False),
        ("a b;", "a c;", False),
        ("a;", "", False),
    ],
)
def test_fingerprints(first: str, second: str, same: bool) -> None:
    assert (fingerprint(read(first)) == fingerprint(read(second))) is same


def test_a_number_with_attributes_gives_way() -> None:
    running = device("routing-options { autonomous-system 65000 loops 2; }")
    file = read("routing-options { autonomous-system 65001; }")
    check(running, file)
    target = expected_configuration(running, file, RIGHTS)
    assert target.values("routing-options", "autonomous-system") == ("65001", "loops")


@pytest.mark.parametrize("name", ["term", "from", "then", "export", "unit", "policy", "members", "apply-groups"])
def test_names_equal_to_keywords_are_names(name: str) -> None:
    body = (
        f"policy-options {{ policy-statement {name} {{ term {name} {{ then accept; }} term b {{ then reject; }} }} }}"
    )
    running = device(body)
    file = read(body.replace("term b", "term a { then reject; } term b").replace("then accept", "from family inet6"))
    check(running, file)
    check(device(to_curly(expected_configuration(running, file, RIGHTS))), read(body))
