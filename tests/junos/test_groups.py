"""Groups inherited and inactive statements left out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.errors import UsageError
from ailb_gen.junos.groups import active, expand_groups, inherited
from ailb_gen.junos.reader import read
from ailb_gen.junos.writer import to_set


def lines(text: str) -> list[str]:
    return to_set(inherited(read(text)), comments=False).splitlines()


def test_nothing_to_do_costs_nothing() -> None:
    root = read("system { host-name a; }")
    assert inherited(root) is root


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("inactive: a { b; } c;", ["set c"]),
        ("a { inactive: mtu 9000; } c;", ["set a", "set c"]),
        ("x { inactive: unit 0; unit 1; }", ["set x unit 1"]),
        ("x { inactive: unit 0; }", ["set x"]),
        ("delete: a; b;", ["set b"]),
        ("set a mtu 1\nset a b\ndeactivate a mtu\n", ["set a b"]),
        ("set a mtu 1\ndeactivate a mtu\n", ["set a"]),
        ("protect: a { b; }", ["set a b", "protect a"]),
    ],
)
def test_inactive_statements_do_not_count(text: str, expected: list[str]) -> None:
    assert lines(text) == expected


GROUPS = """
groups {
    A {
        system { host-name a; services { ssh; } }
        interfaces {
            <et-*> { mtu 9000; unit <*> { family inet6 { mtu 1500; } } }
            lo0 { unit 0; }
            <ae?> { mtu 1; }
        }
        protocols { bgp { group <*> { export [ P Q ]; } } }
        nowhere { <*> { a; } }
    }
    B { system { host-name b; location here; } }
    inactive: C { system { contact c; } }
}
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("apply-groups B; system { host-name mine; }", ["set system host-name mine", "set system location here"]),
        (
            "apply-groups [ B A ];",
            [
                "set system host-name b",
                "set system location here",
                "set system services ssh",
                "set interfaces lo0 unit 0",
            ],
        ),
        ("system { apply-groups B; }", ["set system host-name b", "set system location here"]),
        (
            "apply-groups A; system { apply-groups B; apply-groups-except A; }",
            ["set system host-name b", "set system location here", "set interfaces lo0 unit 0"],
        ),
        ("apply-groups [ C NONE ];", ["set apply-groups C", "set apply-groups NONE"]),
        ("inactive: apply-groups B; a;", ["set a"]),
        (
            "interfaces { apply-groups A; et-0/0/0 { unit 0; unit 1 { family inet6 { mtu 9; } } } xe-0 { unit 0; } }",
            [
                "set interfaces et-0/0/0 unit 0 family inet6 mtu 1500",
                "set interfaces et-0/0/0 unit 1 family inet6 mtu 9",
                "set interfaces et-0/0/0 mtu 9000",
                "set interfaces xe-0 unit 0",
                "set interfaces lo0 unit 0",
            ],
        ),
        (
            "protocols { bgp { group g { apply-groups A; export Z; } } }",
            [f"set protocols bgp group g export {x}" for x in "ZPQ"],
        ),
        (
            "interfaces { et-0/0/0 { apply-groups A; mtu 5; } ae0 { apply-groups A; } }",
            ["set interfaces et-0/0/0 mtu 5", "set interfaces ae0 mtu 1"],
        ),
    ],
)
def test_groups_are_inherited(text: str, expected: list[str]) -> None:
    assert lines(GROUPS + text) == expected
    # The same in set text, where only the reader's tables tell what is a block.
    assert sorted(lines(to_set(read(GROUPS + text)))) == sorted(expected)


def test_an_interface_with_one_word_in_set_text_inherits() -> None:
    text = "set groups G interfaces <et-*> mtu 9000\nset apply-groups G\nset interfaces et-0/0/0 disable\n"
    assert lines(text) == ["set interfaces et-0/0/0 disable", "set interfaces et-0/0/0 mtu 9000"]


def test_statements_keep_the_line_of_their_group() -> None:
    root = inherited(read(GROUPS + "apply-groups B;"))
    assert root.get("system", "location", "here").line == 13  # type: ignore[union-attr]
    assert not root.has("groups")


def test_groups_may_apply_groups_but_not_in_a_circle() -> None:
    nested = "groups { A { x { apply-groups B; } } B { x { y; } } } apply-groups A;"
    assert lines(nested) == ["set x y"]
    with pytest.raises(UsageError, match=r"groups \(line 1\): A, B apply each other in a cycle"):
        expand_groups(read("groups { A { x { apply-groups B; } } B { x { apply-groups A; } } } apply-groups A;"))
    with pytest.raises(UsageError, match=r"groups \(line 2\): B applies itself in a cycle"):
        expand_groups(read("groups { A { x { apply-groups B; } }\nB { x { apply-groups B; } } } apply-groups A;"))
    # Both are applied at the top before either applies the other one.
    with pytest.raises(UsageError, match="apply each other in a cycle"):
        expand_groups(read("groups { A { apply-groups B; } B { apply-groups A; } } apply-groups [ A B ];"))


@pytest.mark.parametrize("length", [24, 3000])
def test_a_chain_of_groups_is_no_circle(length: int) -> None:
    chain = "".join(f"g{n} {{ apply-groups g{n + 1}; x {{ a{n % 3}; }} }}\n" for n in range(length))
    assert lines(f"groups {{ {chain} g{length} {{ y; }} }} apply-groups g0;") == [
        "set x a0", "set x a1", "set x a2", "set y"
    ]  # fmt: skip


def test_groups_that_share_a_group_are_no_circle() -> None:
    shared = "groups { A { apply-groups C; } B { apply-groups C; } C { x; } } apply-groups [ A B ];"
    assert lines(shared) == ["set x"]
    elsewhere = "groups { A { x { apply-groups B; } } B { x { b; } y { apply-groups A; } } } apply-groups A; y { c; }"
    assert lines(elsewhere) == ["set y c", "set x b"]
    itself = "groups { A { x { apply-groups A; } y { z; } } } apply-groups A;"
    with pytest.raises(UsageError, match="A applies itself"):
        lines(itself)


@pytest.mark.long
def test_groups_that_ask_for_too_much() -> None:
    """Twice as much on every level."""
    names = [
        f"<*> {{ {'<*> { ' * n}l {{ apply-groups g{n + 1}; }} r {{ apply-groups g{n + 1}; }}{' }' * n} }}"
        for n in range(24)
    ]
    groups = "".join(f"g{n} {{ {name} }}\n" for n, name in enumerate(names))
    with pytest.raises(UsageError, match=r"groups \(line 1\): applying them takes more than 1,000,000 steps"):
        expand_groups(read(f"groups {{ {groups} g24 {{ z; }} }} apply-groups g0; a {{ b; }}"))


@pytest.mark.long
def test_groups_that_look_at_many_interfaces() -> None:
    """Every group looks at every interface."""
    many = "".join(f"g{n} {{ interfaces {{ <*> {{ a{n}; }} }} }}\n" for n in range(1500))
    ports = "".join(f"p{n} {{ b; }}" for n in range(1500))
    applied = " ".join(f"g{n}" for n in range(1500))
    with pytest.raises(UsageError, match="steps"):
        expand_groups(read(f"groups {{ {many} }} apply-groups [ {applied} ]; interfaces {{ {ports} }}"))


@pytest.mark.long
def test_depth_is_no_matter() -> None:
    deep = "a { " * 50_000 + "b;" + "}" * 50_000
    root = read(f"groups {{ G {{ {deep} }} }} apply-groups G; inactive: c;")
    assert sum(1 for _ in inherited(root).paths()) == 1


PIECES = st.lists(
    st.sampled_from(["mtu 1;", "mtu 2;", "unit 0;", "unit 1 { family inet6; }", "<*> { x; }", "y { z; }"]),
    max_size=4,
    unique_by=lambda piece: piece[:4],
)


@given(PIECES, PIECES, PIECES)
def test_the_configuration_is_never_lost(first: list[str], second: list[str], own: list[str]) -> None:
    text = f"groups {{ A {{ {' '.join(first)} }} B {{ {' '.join(second)} }} }} apply-groups [ A B ]; {' '.join(own)}"
    root = read(text)
    result = inherited(root)
    assert set(read(" ".join(own)).paths()) - {()} <= set(result.paths()) | {path[:-1] for path in result.paths()}
    assert inherited(result) is result and active(root) is root
    assert result.values("mtu") == root.values("mtu") or not root.has("mtu")


DLB = "forwarding-options enhanced-hash-key ecmp-dlb"


@pytest.mark.parametrize(
    ("block", "own", "group", "left"),
    [
        (DLB, "per-packet;", "flowlet { inactivity-interval 1; }", []),
        (
            DLB,
            "flowlet { reassignment { quality-delta 6; } }",
            "flowlet { inactivity-interval 1; } sampling-rate 5;",
            ["flowlet inactivity-interval 1", "sampling-rate 5"],
        ),
        ("protocols bgp", "local-as 65001;", "local-as 65000 loops 2;", ["local-as loops 2"]),
        ("protocols bgp", "local-as loops 3;", "local-as 65000 loops 2;", ["local-as 65000"]),
        ("routing-options", "autonomous-system 1;", "autonomous-system 2 loops 2;", ["autonomous-system loops 2"]),
        ("protocols bgp global-load-balancing", "helper-only;", "load-balancer-only;", []),
        ("protocols bgp", "group g { advertise-peer-as; }", "group <*> { no-advertise-peer-as; }", []),
        ("protocols bgp", "group g { hold-time 9; }", "group <*> { type external; }", ["group g type external"]),
        ("interfaces et-0/0/0", "vlan-tagging;", "flexible-vlan-tagging; mtu 9;", ["mtu 9"]),
        ("interfaces et-0/0/0 unit 7", "vlan-id 5;", "vlan-tags outer 1 inner 2;", []),
        ("interfaces", "et-0/0/0 { ether-options { no-loopback; } }", "<et-*> { ether-options { loopback; } }", []),
        (
            "routing-options static",
            "route ::/0 discard;",
            "route ::/0 { next-hop ::1; retain; }",
            ["route ::/0 retain"],
        ),
        (
            "policy-options policy-statement p",
            "term t { then { metric add 5; accept; } }",
            "term t { then { metric 10; reject; next-hop self; } }",
            ["term t then next-hop self"],
        ),
        (
            "policy-options policy-statement p",
            "term no-x { then accept; }",
            "term x { then accept; } term no-x { then reject; }",
            ["term x then accept"],
        ),
        (
            "class-of-service schedulers s",
            "transmit-rate percent 9;",
            "transmit-rate 1g exact;",
            ["transmit-rate exact"],
        ),
        ("class-of-service schedulers s", "shaping-rate 1g;", "shaping-rate percent 10;", []),
        ("vlans", "v { vlan-id 5; }", "<*> { vlan-id-list 1-9; description x; }", ["v description x"]),
        ("firewall policer p", "if-exceeding { bandwidth-limit 1g; }", "if-exceeding-pps { pps-limit 1; }", []),
        ("firewall filter f term t from", "protocol tcp;", "protocol-except udp; port 1;", ["port 1"]),
    ],
)
def test_what_the_device_chose_leaves_no_room_for_the_groups_choice(
    block: str, own: str, group: str, left: list[str]
) -> None:
    mine = f"{block} {{ {own} }}"
    applied = lines(f"groups {{ G {{ {block} {{ {group} }} }} }} apply-groups G; {mine}")
    assert [line for line in applied if line not in lines(mine)] == [f"set {block} {line}" for line in left]


def test_of_two_groups_the_first_chooses() -> None:
    text = "groups { B { protocols { bgp { local-as 2; } } } C { protocols { bgp { local-as 3 private; } } } }"
    assert lines(f"{text} apply-groups [ B C ];") == [
        "set protocols bgp local-as 2",
        "set protocols bgp local-as private",
    ]


def test_of_one_group_both_choices_are_kept_for_the_check_to_find() -> None:
    text = "groups { A { protocols { bgp { advertise-peer-as; no-advertise-peer-as; } } } } apply-groups A;"
    assert len(lines(text)) == 2
