"""`rename`, `copy` and `replace pattern` as commands of set text that is loaded into a configuration."""

import pytest

from ailb_gen.errors import JunosSyntaxError
from ailb_gen.junos.edit import apply
from ailb_gen.junos.reader import read_curly
from ailb_gen.junos.writer import to_set

TREE = read_curly("""
groups { G { system { location; } } }
apply-groups G;
system { host-name leaf1; login { user admin { class super-user; } } }
interfaces {
    et-0/0/0 { description "to spine1 et-0/0/0"; unit 0 { family inet6; } unit 5; }
    et-0/0/1 { mtu 9000; }
}
protocols { bgp { group up { type external; import [ a b ]; neighbor 10.0.0.1; } } }
policy-options { policy-statement a { term t1 { then accept; } term t2 { then reject; } } }
routing-options { autonomous-system 65001 loops 2; }
""")


def changes(commands: str) -> list[str]:
    """Return the set lines that commands take out and add."""
    before, after = to_set(TREE).splitlines(), to_set(apply(TREE, commands)[0]).splitlines()
    gone = [f"-{line.removeprefix('set')}" for line in before if line not in after]
    return gone + [f"+{line.removeprefix('set')}" for line in after if line not in before]


@pytest.mark.parametrize(
    ("commands", "changed"),
    [
        (
            "rename interfaces et-0/0/1 to et-0/0/9",
            ["- interfaces et-0/0/1 mtu 9000", "+ interfaces et-0/0/9 mtu 9000"],
        ),
        (
            "edit interfaces et-0/0/0\nrename unit 0 to unit 7",
            ["- interfaces et-0/0/0 unit 0 family inet6", "+ interfaces et-0/0/0 unit 7 family inet6"],
        ),
        (
            "rename system login user admin to user bob",
            ["- system login user admin class super-user", "+ system login user bob class super-user"],
        ),
        (
            "rename protocols bgp group up neighbor 10.0.0.1 to neighbor 10.0.0.2",
            ["- protocols bgp group up neighbor 10.0.0.1", "+ protocols bgp group up neighbor 10.0.0.2"],
        ),
        ("copy interfaces et-0/0/1 to et-0/0/2", ["+ interfaces et-0/0/2 mtu 9000"]),
        (
            "copy policy-options policy-statement a term t1 to term t3",
            ["+ policy-options policy-statement a term t3 then accept"],
        ),
        (
            "replace pattern ^G$ with H",
            ["- groups G system location", "- apply-groups G", "+ groups H system location", "+ apply-groups H"],
        ),
        (
            'replace pattern "6500(.)" with "6510\\1"',
            [
                *("- routing-options autonomous-system 65001", "+ routing-options autonomous-system 65101"),
            ],
        ),
        (
            "edit protocols\nreplace pattern ^a$ with c upto 1",
            ["- protocols bgp group up import a", "+ protocols bgp group up import c"],
        ),
        # Words of Junos itself are no identifiers.
        ("replace pattern system with x\nreplace pattern unit with x\nreplace pattern accept with reject", []),
    ],
)
def test_changes(commands: str, changed: list[str]) -> None:
    assert changes(commands) == changed


def test_the_place_of_a_term_stays() -> None:
    tree, _ = apply(TREE, "rename policy-options policy-statement a term t1 to term t9")
    assert tree.values("policy-options", "policy-statement", "a", "term") == ("t9", "t2")
    assert TREE.values("policy-options", "policy-statement", "a", "term") == ("t1", "t2")


def test_every_occurrence_is_replaced() -> None:
    tree, _ = apply(TREE, "replace pattern et-0/0/0 with et-0/0/7")
    assert tree.value("interfaces", "et-0/0/7", "description") == "to spine1 et-0/0/7"
    first, _ = apply(TREE, "replace pattern et-0/0/0 with et-0/0/7 upto 1")
    assert first.value("interfaces", "et-0/0/7", "description") == "to spine1 et-0/0/0"


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("rename interfaces et-0/0/7 to et-0/0/8", "statement not found"),
        ("rename interfaces et-0/0/0 to et-0/0/1", "statement already exists"),
        ("copy interfaces et-0/0/0 unit 0 to unit 5", "statement already exists"),
        ("rename interfaces et-0/0/0 unit 0 to 7", "expecting 'to unit NAME'"),
        ("rename interfaces et-0/0/0", "expecting 'STATEMENT to STATEMENT'"),
        ("rename system login to logins", "'login' is not an identifier"),
        ("rename system host-name leaf1 to x", "'leaf1' is not an identifier"),
        ("replace pattern x", "expecting 'pattern PATTERN with TEXT"),
        ("replace pattern x with y upto z", "not a number: 'z'"),
        ("replace pattern ( with y", "not a regular expression"),
        ('replace pattern leaf with "\\1"', "no group"),
        ('replace pattern leaf1 with ""', "nothing is left"),
        ("replace pattern et-0/0/0 with et-0/0/1", "statement already exists: et-0/0/1"),
    ],
)
def test_what_is_refused(command: str, reason: str) -> None:
    with pytest.raises(JunosSyntaxError, match=reason.replace("(", r"\(")):
        apply(TREE, command)
