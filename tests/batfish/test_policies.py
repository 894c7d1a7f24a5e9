"""Policies of the shadow: every condition and action by its lines, and what cannot be shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ailb_gen.batfish.communities import communities
from ailb_gen.batfish.numbering import number
from ailb_gen.batfish.policies import Gap, Translator, plain_name
from ailb_gen.junos.reader import read
from ailb_gen.network.fabric import Network
from ailb_gen.network.switch import switch

# Behind what is tested, so that its lines are those of its own text.
REST = """\
interfaces {
    irb {
        unit 2 {
            family inet6 {
                address fc00:1:1:1::1/64;
                address fc00:1:1:2::1/64;
                address fc00:1:1:3::1/64;
                address fc00:2:1:1::1/64;
            }
        }
    }
    lo0 { unit 0 { family inet6 { address fd00:ff::1/128; } } }
    et-0/0/0 { unit 0 { family inet6; } }
}
vlans { vn2 { vlan-id 2; l3-interface irb.2; } }
policy-options {
    prefix-list stripe1 { fc00:1::/32; }
    prefix-list two { fc00:1:1:2::/64; fd00:ff::1; }
    prefix-list elsewhere { fc00:9::/32; 10.0.0.0/8; }
    community green members color:0:1;
    community blue members color:0:2;
    community local members 0:15;
    community pair members [ 0:15 0:99 ];
    community any-color members "color:*:*";
    community digits members "^0:[0-9]+$";
    community broken members "0:(";
    community home members no-export-subconfed;
    community number members 65535:65283;
    community kept members [ no-export 65535:65282 ];
    as-list all members 1-65535;
}
"""
TERM = """\
policy-options {{
    policy-statement P {{
        term t {{
            {conditions}
            then {{
                {actions}
            }}
        }}
    }}
}}
"""
FROM, THEN, IN_TERM = 4, 6, 3
Translated = tuple[list[str], list[Gap]]


def alone(text: str) -> Network:
    """Read one switch."""
    return Network(
        {"leaf1": switch("leaf1", "switches/leaf1.conf", read(text + REST, "leaf1.conf"))}, {}, {}, (), {}, ()
    )


def translator(network: Network) -> Translator:
    found = network.switches["leaf1"]
    return Translator(found, number(network), communities(network), {name: name for name in found.policies}, {})


def own_lines(found: Translator) -> list[str]:
    return [line for lines in found.own().values() for line in lines]


def translated(conditions: str = "", actions: str = "accept;") -> Translated:
    """Return the lines of a term, without what they all begin with, and the gaps."""
    text = TERM.format(conditions=f"from {{ {conditions} }}" if conditions else "", actions=actions)
    found = translator(alone(text))
    head = "policy-options policy-statement P term t "
    lines = own_lines(found)
    assert all(line.startswith(head) for line in lines)
    return [line.removeprefix(head) for line in lines], found.gaps


# Conditions


@pytest.mark.parametrize(
    ("conditions", "lines"),
    [
        ("", []),
        ("family inet6;", []),
        ("family [ inet inet6 ];", []),
        ("protocol bgp;", ["from protocol bgp"]),
        ("protocol direct;", ["from protocol direct"]),
        ("protocol [ direct static bgp ];", ["from protocol bgp", "from protocol direct"]),
        ("community green;", ["from community color-0-1"]),
        ("community [ blue green ];", ["from community color-0-2", "from community color-0-1"]),
        ("community [ nothing green ];", ["from community color-0-1"]),
        ("community pair;", ["from community value-0-15_and_value-0-99"]),
        ("community any-color;", ["from community color-0-1", "from community color-0-2"]),
        ("community digits;", ["from community value-0-15", "from community value-0-99"]),
        ("community [ digits local ];", ["from community value-0-15", "from community value-0-99"]),
        ("prefix-list two;", ["from route-filter 10.0.1.0/24 orlonger", "from route-filter 10.192.0.0/32 orlonger"]),
        (
            "prefix-list-filter stripe1 orlonger;",
            ["from route-filter 10.0.0.0/23 orlonger", "from route-filter 10.0.2.0/24 orlonger"],
        ),
        ("prefix-list-filter two exact; prefix-list elsewhere;", TWO_LINES := [
            "from route-filter 10.0.1.0/24 orlonger", "from route-filter 10.192.0.0/32 orlonger"]),
        ("route-filter fc00:1:1:2::/64 exact; route-filter fd00::/16 orlonger;", TWO_LINES),
        ("route-filter fc00::/16 orlonger;", ["from route-filter 10.0.0.0/22 orlonger"]),
        ("route-filter fc00::/16 longer;", ["from route-filter 10.0.0.0/22 orlonger"]),
        ("route-filter fc00::/16 upto /64;", ["from route-filter 10.0.0.0/22 orlonger"]),
        ("route-filter ::/0 prefix-length-range /65-/128;", ["from route-filter 10.192.0.0/32 orlonger"]),
        (
            # Of several filters the longest prefix decides.
            "route-filter fc00::/16 orlonger; route-filter fc00:1::/32 exact;",
            ["from route-filter 10.0.3.0/24 orlonger"],
        ),
        (
            "family inet6; protocol bgp; community green; route-filter fc00:2::/32 orlonger;",
            ["from protocol bgp", "from community color-0-1", "from route-filter 10.0.3.0/24 orlonger"],
        ),
    ],
)  # fmt: skip
def test_conditions(conditions: str, lines: list[str]) -> None:
    assert translated(conditions) == ([*lines, "then accept"], [])


@pytest.mark.parametrize(
    "conditions",
    [
        "family inet;",
        "protocol static;",
        "protocol [ static aggregate ];",
        "community nothing;",
        "community broken;",
        "prefix-list elsewhere;",
        "prefix-list nothing;",
        "prefix-list-filter stripe1 exact;",
        "prefix-list-filter nothing orlonger;",
        "route-filter fc00::/16 exact;",
        "route-filter fc00::/16 upto /63;",
        "protocol bgp; community green; route-filter fc00:9::/32 orlonger;",
    ],
)
def test_terms_that_no_route_meets_are_left_out(conditions: str) -> None:
    assert translated(conditions, "community add green; local-preference 200; accept;") == ([], [])


def test_terms_that_do_nothing_are_left_out() -> None:
    assert translated("community green;", "load-balance per-packet;") == ([], [])
    assert translated("community green;", "community add nothing; community delete broken;") == ([], [])


# Actions


@pytest.mark.parametrize(
    ("actions", "lines"),
    [
        ("accept;", ["then accept"]),
        ("reject;", ["then reject"]),
        ("next term;", ["then next term"]),
        ("next policy;", ["then next policy"]),
        ("community add local;", ["then community add value-0-15"]),
        ("community add pair;", ["then community add value-0-15", "then community add value-0-99"]),
        ("community add digits; accept;", ["then accept"]),
        ("community delete pair;", ["then community delete value-0-15", "then community delete value-0-99"]),
        ("community delete digits;", ["then community delete value-0-15", "then community delete value-0-99"]),
        (
            "community delete pair; community add local; reject;",
            [
                *("then community delete value-0-15", "then community delete value-0-99"),
                *("then community add value-0-15", "then reject"),
            ],
        ),
        # Spreading packets is no matter of BGP.
        ("load-balance per-packet; accept;", ["then accept"]),
    ],
)  # fmt: skip
def test_actions(actions: str, lines: list[str]) -> None:
    assert translated("protocol bgp;", actions) == (["from protocol bgp", *lines], [])


# Gaps

COLORS = "it changes the colors of routes"
MED = "Batfish compares the MED of all paths, Junos within one neighboring AS"
TOO_MANY = "community many has wildcards for too many values"


@pytest.mark.parametrize(
    ("conditions", "actions", "lines", "gaps"),
    [
        ("as-path long;", "accept;", [], [Gap("P", "'from as-path'", FROM)]),
        ("protocol bgp; neighbor fe80::1; interface et-0/0/0.0;", "accept;", [],
         [Gap("P", "'from neighbor'", FROM), Gap("P", "'from interface'", FROM)]),
        ("route-filter 10.0.0.0/8 exact;", "accept;", [], [Gap("P", "'from route-filter 10.0.0.0/8'", FROM)]),
        ("", "as-path-prepend 65001; accept;", ["then accept"], [Gap("P", "'then as-path-prepend'", THEN)]),
        ("", "community frobnicate green;", [], [Gap("P", "'then community frobnicate'", THEN)]),
        ("", "community add green;", ["then community add color-0-1"], [Gap("P", COLORS, IN_TERM)]),
        ("", "community delete any-color;",
         ["then community delete color-0-1", "then community delete color-0-2"], [Gap("P", COLORS, IN_TERM)]),
        ("", "community set local;", ["then community set value-0-15"], [Gap("P", COLORS, IN_TERM)]),
        ("", "community set pair;",
         ["then community set value-0-15", "then community add value-0-99"], [Gap("P", COLORS, IN_TERM)]),
        ("", "community set nothing;", [], [Gap("P", COLORS, IN_TERM)]),
        ("", "metric 7; accept;", ["then metric 7", "then accept"], [Gap("P", MED, IN_TERM)]),
        ("", "metric 0; reject;", ["then metric 0", "then reject"], [Gap("P", MED, IN_TERM)]),
        # Batfish honors no-export and no-advertise alone.
        ("", "community add home; accept;", ["then community add no-export-subconfed", "then accept"],
         [Gap("P", "Batfish readvertises routes with no-export-subconfed", IN_TERM)]),
        ("", "community add number; accept;", ["then community add no-export-subconfed", "then accept"],
         [Gap("P", "Batfish readvertises routes with no-export-subconfed", IN_TERM)]),
        ("", "community delete home; accept;", ["then community delete no-export-subconfed", "then accept"], []),
        ("", "community add kept; accept;",
         ["then community add no-export", "then community add no-advertise", "then accept"], []),
        ("", "local-preference 120; accept;", ["then local-preference 240", "then accept"],
         [Gap("P", "AIGP together with a local preference", IN_TERM)]),
    ],
)  # fmt: skip
def test_gaps(conditions: str, actions: str, lines: list[str], gaps: list[Gap]) -> None:
    assert translated(conditions, actions) == (lines, gaps)


def test_traffic_to_somewhere_is_a_gap() -> None:
    text = TERM.format(conditions="to { rib inet6.0; }", actions="accept;")
    found = translator(alone(text))
    assert (own_lines(found), found.gaps) == ([], [Gap("P", "'to'", FROM)])


@pytest.mark.parametrize(
    ("count", "members", "written", "gaps"),
    [
        (64, '"9:[0-9]+"', 64, []),
        (65, '"9:[0-9]+"', 0, [Gap("P", TOO_MANY, IN_TERM)]),
        (9, '[ "9:[0-9]+" "[0-9]:.*" ]', 0, [Gap("P", TOO_MANY, IN_TERM)]),
    ],
)  # fmt: skip
def test_wildcards_for_too_many_values(count: int, members: str, written: int, gaps: list[Gap]) -> None:
    values = " ".join(f"9:{at}" for at in range(count))
    text = TERM.format(conditions="from community [ many green ];", actions="accept;")
    text += f"policy-options {{ community many members {members}; community values members [ {values} ]; }}\n"
    found = translator(alone(text))
    lines = [line.removeprefix("policy-options policy-statement P term t ") for line in own_lines(found)]
    assert len([line for line in lines if line.startswith("from community value-9-")]) == written
    assert [line for line in lines if not line.startswith("from community value-9-")] == [
        "from community color-0-1",
        "then accept",
    ]
    assert found.gaps == gaps


# Names and definitions


def test_terms_are_in_order_and_the_last_has_no_name() -> None:
    text = """\
policy-options {
    policy-statement P {
        term one { from protocol bgp; then metric 1; }
        term "no valley" then reject;
        term SHADOW-4 then metric 4;
        term term-5 then metric 5;
        then accept;
    }
    policy-statement Q { term one { then reject; } }
    policy-statement PFE-LB { then { load-balance per-packet; } }
}
"""
    found = translator(alone(text))
    assert own_lines(found) == [
        "policy-options policy-statement P term one from protocol bgp",
        "policy-options policy-statement P term one then metric 1",
        "policy-options policy-statement P term SHADOW-2 then reject",
        "policy-options policy-statement P term SHADOW-3 then metric 4",
        "policy-options policy-statement P term term-5 then metric 5",
        "policy-options policy-statement P term SHADOW-5 then accept",
        "policy-options policy-statement Q term one then reject",
    ]
    found = replace(found, names={"Q": "R"})
    assert own_lines(found) == ["policy-options policy-statement R term one then reject"]


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("FABRIC-OUT", "FABRIC-OUT"),
        ("a.b_c-1", "a.b_c-1"),
        ("7", "7"),
        ("", "SHADOW-3"),
        ("two words", "SHADOW-3"),
        ("a/b", "SHADOW-3"),
        ("grün", "SHADOW-3"),
        ("SHADOW-LB", "SHADOW-3"),
        ("SHADOW-4", "SHADOW-3"),
        ("MY-SHADOW-4", "MY-SHADOW-4"),
    ],
)
def test_names_that_need_no_quotes_and_are_none_of_the_shadow(name: str, plain: str) -> None:
    assert plain_name(name, 3) == plain


def test_only_what_is_used_is_defined() -> None:
    text = TERM.format(conditions="from community [ pair digits ];", actions="community delete local; accept;")
    found = translator(alone(text))
    assert list(found.definitions()) == []
    own_lines(found)
    assert list(found.definitions()) == [
        "policy-options community value-0-15 members 0:15",
        "policy-options community value-0-15_and_value-0-99 members 0:15",
        "policy-options community value-0-15_and_value-0-99 members 0:99",
        "policy-options community value-0-99 members 0:99",
    ]
