"""Policies of the shadow: every condition and action by its lines, and what they do to any route."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from ipaddress import IPv4Address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.addresses import Prefix
from ailb_gen.batfish.communities import communities
from ailb_gen.batfish.numbering import number
from ailb_gen.batfish.policies import Gap, Translator, plain_name
from ailb_gen.batfish.shadow import Shadow, shadow
from ailb_gen.junos.reader import read
from ailb_gen.network.fabric import Cable, End, Network
from ailb_gen.network.model import FabricRoute, Switch
from ailb_gen.network.policy import Policy, RouteFilter, Term
from ailb_gen.network.switch import switch
from ailb_gen.routing.policy import evaluate
from ailb_gen.routing.route import BGP, DEFAULT_LOCAL_PREFERENCE, DIRECT, Route
from ailb_gen.routing.speaker import direct, exported, lists_of, originated, received, rules
from tests.batfish import plain
from tests.batfish.plain_model import Neighbor
from tests.batfish.plain_routes import Route as Row
from tests.batfish.plain_routes import through
from tests.batfish.test_numbering import prefix

# In order: 10.0.0.0/24 and so on, then 10.192.0.0/32.
ONE, TWO, THREE, FAR, HOST = map(
    prefix, ("fc00:1:1:1::/64", "fc00:1:1:2::/64", "fc00:1:1:3::/64", "fc00:2:1:1::/64", "fd00:ff::1/128")
)
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
    return Translator(found, number(network), communities(network), {name: name for name in found.policies})


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
        ("community pair;", ["from community 0-15_and_0-99"]),
        ("community any-color;", ["from community color-0-1", "from community color-0-2"]),
        ("community digits;", ["from community 0-15", "from community 0-99"]),
        ("community [ digits local ];", ["from community 0-15", "from community 0-99"]),
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
        ("metric 7;", ["then metric 7"]),
        ("metric 0;", ["then metric 0"]),
        ("community add local;", ["then community add 0-15"]),
        ("community add pair;", ["then community add 0-15", "then community add 0-99"]),
        ("community add digits; accept;", ["then accept"]),
        ("community delete pair;", ["then community delete 0-15", "then community delete 0-99"]),
        ("community delete digits;", ["then community delete 0-15", "then community delete 0-99"]),
        (
            "community delete pair; community add local; metric 7; reject;",
            [
                *("then community delete 0-15", "then community delete 0-99", "then community add 0-15"),
                *("then metric 7", "then reject"),
            ],
        ),
        # Spreading packets is no matter of BGP.
        ("load-balance per-packet; accept;", ["then accept"]),
    ],
)  # fmt: skip
def test_actions(actions: str, lines: list[str]) -> None:
    assert translated("protocol bgp;", actions) == (["from protocol bgp", *lines], [])


# Gaps

COLORS = "policy P: it changes the colors of routes"
TOO_MANY = "policy P: community many has wildcards for too many values"


@pytest.mark.parametrize(
    ("conditions", "actions", "lines", "gaps"),
    [
        ("as-path long;", "accept;", [], [Gap("policy P: 'from as-path'", FROM)]),
        ("protocol bgp; neighbor fe80::1; interface et-0/0/0.0;", "accept;", [],
         [Gap("policy P: 'from neighbor'", FROM), Gap("policy P: 'from interface'", FROM)]),
        ("route-filter 10.0.0.0/8 exact;", "accept;", [], [Gap("policy P: 'from route-filter 10.0.0.0/8'", FROM)]),
        ("", "as-path-prepend 65001; accept;", ["then accept"], [Gap("policy P: 'then as-path-prepend'", THEN)]),
        ("", "community frobnicate green;", [], [Gap("policy P: 'then community frobnicate'", THEN)]),
        ("", "community add green;", ["then community add color-0-1"], [Gap(COLORS, IN_TERM)]),
        ("", "community delete any-color;",
         ["then community delete color-0-1", "then community delete color-0-2"], [Gap(COLORS, IN_TERM)]),
        ("", "community set local;", ["then community set 0-15"], [Gap(COLORS, IN_TERM)]),
        ("", "community set pair;", ["then community set 0-15", "then community add 0-99"], [Gap(COLORS, IN_TERM)]),
        ("", "community set nothing;", [], [Gap(COLORS, IN_TERM)]),
        ("", "local-preference 120; accept;", ["then local-preference 240", "then accept"],
         [Gap("policy P: AIGP beside a local preference of its own", IN_TERM)]),
    ],
)  # fmt: skip
def test_gaps(conditions: str, actions: str, lines: list[str], gaps: list[Gap]) -> None:
    assert translated(conditions, actions) == (lines, gaps)


def test_traffic_to_somewhere_is_a_gap() -> None:
    text = TERM.format(conditions="to { rib inet6.0; }", actions="accept;")
    found = translator(alone(text))
    assert (own_lines(found), found.gaps) == ([], [Gap("policy P: 'to'", FROM)])


@pytest.mark.parametrize(
    ("count", "members", "written", "gaps"),
    [
        (64, '"9:[0-9]+"', 64, []),
        (65, '"9:[0-9]+"', 0, [Gap(TOO_MANY, IN_TERM)]),
        (9, '[ "9:[0-9]+" "[0-9]:.*" ]', 0, [Gap(TOO_MANY, IN_TERM)]),
    ],
)  # fmt: skip
def test_wildcards_for_too_many_values(count: int, members: str, written: int, gaps: list[Gap]) -> None:
    values = " ".join(f"9:{at}" for at in range(count))
    text = TERM.format(conditions="from community [ many green ];", actions="accept;")
    text += f"policy-options {{ community many members {members}; community values members [ {values} ]; }}\n"
    found = translator(alone(text))
    lines = [line.removeprefix("policy-options policy-statement P term t ") for line in own_lines(found)]
    assert len([line for line in lines if line.startswith("from community 9-")]) == written
    assert [line for line in lines if not line.startswith("from community 9-")] == [
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
        "policy-options community 0-15 members 0:15",
        "policy-options community 0-15_and_0-99 members 0:15",
        "policy-options community 0-15_and_0-99 members 0:99",
        "policy-options community 0-99 members 0:99",
    ]


# What stands for fabric colors and AIGP

BGP_TEXT = """\
protocols {{
    bgp {{
        fabric-advertise {{
            {routes}
        }}
        group g {{
            type external;
            family inet6 {{ unicast {aigp} }}
            multipath multiple-as;
            peer-as-list all;
            {color}
            dynamic-neighbor peers {{ peer-auto-discovery {{ family inet6 {{ ipv6-nd; }} interface et-0/0/0.0; }} }}
        }}
    }}
}}
"""


def speaking(routes: str = "", color: str = "green", aigp: bool = True) -> tuple[Translator, Switch]:
    text = BGP_TEXT.format(
        routes=routes, aigp="{ aigp; }" if aigp else ";", color=f"fabric-color {color};" if color else ""
    )
    network = alone(text)
    return translator(network), network.switches["leaf1"]


def sent(routes: str, color: str = "green", aigp: bool = True) -> list[str]:
    """Return the lines of what routes pass before the own export policies."""
    found, device = speaking(routes, color, aigp)
    head = "policy-options policy-statement OUT term "
    return [line.removeprefix(head) for line in found.outgoing("OUT", device.groups[0])]


OTHERS = ["other-colors from community color-0-2", "other-colors then reject"]
NO_AIGP = ["without-aigp then community delete aigp"]


def term(number: int, *networks: str, add: tuple[str, ...] = ("color-0-1",)) -> list[str]:
    name = f"fabric-advertise-{number}"
    return [
        f"{name} from protocol direct",
        *(f"{name} from route-filter {network} orlonger" for network in networks),
        *(f"{name} then community add {each}" for each in add),
        f"{name} then accept",
    ]


AIGP = ("color-0-1", "aigp")


@pytest.mark.parametrize(
    ("routes", "expected"),
    [
        ("", []),
        ("route fc00:1:1:1::/64 color green;", term(1, "10.0.0.0/24")),
        ("route fc00:1:1:1::/64 { color green; backup-color blue; }", term(1, "10.0.0.0/24", add=AIGP)),
        ("route fc00:1:1:1::/64 { color green; backup-color all-colors; }", term(1, "10.0.0.0/24", add=AIGP)),
        ("route fc00:1:1:1::/64 { color blue; backup-color green; }", term(1, "10.0.0.0/24")),
        ("route fc00:1:1:1::/64 { color blue; backup-color all-colors; }", term(1, "10.0.0.0/24")),
        ("route fc00:1:1:1::/64 color blue;", []),
        ("route fc00:1:1:1::/64 { color blue; backup-color nothing; }", []),
        ("route fc00:1:1:1::/64 color nothing;", []),
        ("route fc00:1:1:1::/64 { color nothing; backup-color green; }", term(1, "10.0.0.0/24")),
        ("route fc00:1:1:1::/64 color all-colors;", term(1, "10.0.0.0/24")),
        ("route fc00:1:1:1::/64 { color all-colors; backup-color blue; }", term(1, "10.0.0.0/24", add=AIGP)),
        ("route fc00:1:1:1::/64;", term(1, "10.0.0.0/24", add=())),
        # A prefix that no interface has is announced by nobody; it has a number between the others.
        ("route fc00:1:1:2:1::/80 color green;", term(1, "10.0.2.0/24")),
        (
            "route fc00:1:1:2::/64 { color blue; backup-color all-colors; } route fd00:ff::1/128;"
            "route fc00:1:1:1::/64 { color green; backup-color all-colors; }"
            "route fc00:1:1:3::/64 { color blue; backup-color green; }",
            [
                *term(1, "10.0.1.0/24", "10.0.2.0/24"),
                *term(2, "10.192.0.0/32", add=()),
                *term(3, "10.0.0.0/24", add=AIGP),
            ],
        ),
    ],
)
def test_fabric_advertise(routes: str, expected: list[str]) -> None:
    assert sent(routes) == [*expected, *OTHERS]


def test_without_aigp_on_a_session_it_is_neither_sent_nor_kept() -> None:
    both = "route fc00:1:1:1::/64 { color green; backup-color all-colors; } route fc00:1:1:2::/64 color green;"
    assert sent(both) == [*term(1, "10.0.0.0/24", add=AIGP), *term(2, "10.0.1.0/24"), *OTHERS]
    assert sent(both, aigp=False) == [*term(1, "10.0.0.0/23"), *NO_AIGP, *OTHERS]


@pytest.mark.parametrize("color", ["", "nothing", "pair"])
def test_sessions_without_a_color_get_routes_without_a_color_alone(color: str) -> None:
    routes = "route fc00:1:1:1::/64 { color green; backup-color all-colors; } route fc00:1:1:2::/64;"
    assert sent(routes, color) == term(1, "10.0.1.0/24", add=())
    assert sent("route fc00:1:1:1::/64 color all-colors;", color) == []


def test_a_session_whose_color_is_no_color_community() -> None:
    routes = "route fc00:1:1:1::/64 color local;"
    assert sent(routes, "local") == [
        *term(1, "10.0.0.0/24", add=("0-15",)),
        "other-colors from community color-0-1",
        "other-colors from community color-0-2",
        "other-colors then reject",
    ]


@pytest.mark.parametrize(("color", "others"), [("green", OTHERS), ("", []), ("nothing", [])])
def test_what_comes_in(color: str, others: list[str]) -> None:
    head = "policy-options policy-statement IN term "
    for aigp, last in (
        (True, ["with-aigp from community aigp", "with-aigp then local-preference 201"]),
        (False, ["with-aigp then community delete aigp"]),
    ):
        found, device = speaking(color=color, aigp=aigp)
        lines = [line.removeprefix(head) for line in found.incoming("IN", device.groups[0])]
        assert lines == [*others, "without-aigp then local-preference 200", *last]
        assert "policy-options community aigp members 65534:0" in list(found.definitions())


# Any policy does to any route what our own engine does

MATCHES = ("exact", "orlonger", "longer")
NAMES = ("green", "blue", "local", "pair", "any-color", "digits", "broken", "nothing")
WITH_VALUES = ("green", "blue", "local", "pair")
VALUES = ("0:15", "0:99", "color:0:1", "color:0:2")
PREFIXES = (ONE, TWO, THREE, FAR, HOST)
LISTS = ("stripe1", "two", "elsewhere", "nothing")
AROUND = tuple(map(prefix, ("::/0", "fc00::/16", "fc00:1::/32", "fc00:1:1:2::/63", "fd00::/8"))) + PREFIXES


def few(*values: object) -> st.SearchStrategy[tuple[object, ...]]:
    """Give mostly none of some values, and seldom two."""
    some = st.lists(st.sampled_from(values), min_size=1, max_size=2, unique=True).map(tuple)
    return st.one_of(st.just(()), st.just(()), some)


route_filters = st.builds(
    lambda entry, match, low, more: RouteFilter(entry, match, max(low, entry.length), max(low, entry.length) + more),
    st.sampled_from(AROUND),
    st.sampled_from([*MATCHES, "upto", "prefix-length-range"]),
    st.sampled_from([0, 32, 64, 128]),
    st.sampled_from([0, 16, 64]),
)
harmless = st.tuples(st.sampled_from(["add", "delete"]), st.sampled_from(["local", "pair", "digits", "nothing"]))
changes = st.one_of(
    st.tuples(st.sampled_from(["add", "delete"]), st.sampled_from(NAMES)),
    # One without values would take all communities away, which the shadow cannot show: a gap, see above.
    st.tuples(st.just("set"), st.sampled_from(WITH_VALUES)),
)


def terms(change: st.SearchStrategy[tuple[str, str]], preferences: tuple[int | None, ...]) -> st.SearchStrategy[Term]:
    return st.builds(
        Term,
        name=st.sampled_from(["one", "two", "SHADOW-1", "SHADOW-2", "no valley", ""]),
        families=few("inet", "inet6"),
        protocols=few("bgp", "direct", "static"),
        communities=few(*NAMES),
        prefix_lists=few(*LISTS),
        prefix_list_filters=few(*((name, match) for name in LISTS for match in MATCHES)),
        route_filters=st.one_of(st.just(()), st.lists(route_filters, max_size=3).map(tuple)),
        changes=st.lists(change, max_size=2).map(tuple),
        local_preference=st.sampled_from(preferences),
        metric=st.sampled_from([None, None, 5, 9]),
        verdict=st.sampled_from(["", "accept", "reject", "next-term", "next-policy"]),
    )


def chains(term: st.SearchStrategy[Term]) -> st.SearchStrategy[tuple[Policy, ...]]:
    """Give up to two policies."""
    some = st.lists(term, min_size=1, max_size=3, unique_by=lambda one: one.name).map(tuple)
    return st.lists(some, max_size=2).map(lambda all_: tuple(Policy(f"P{at}", one) for at, one in enumerate(all_)))


@cache
def two_switches() -> Network:
    """Read a leaf and a spine with a session between them."""
    text = BGP_TEXT.format(routes="", aigp=";", color="")
    asn = "system {{ host-name {0}; }} routing-options {{ autonomous-system {1}; router-id 10.0.0.{1}; }}\n"
    advertised = "protocols { router-advertisement { interface et-0/0/0.0; } }\n"
    switches = {
        name: switch(name, f"switches/{name}.conf", read(asn.format(name, number) + text + advertised + REST, name))
        for name, number in (("leaf1", 1), ("spine1", 2))
    }
    cable = Cable(End("leaf1", "et-0/0/0"), End("spine1", "et-0/0/0"))
    return Network(switches, {}, {}, (cable,), {}, ())


def fabric(
    chain: tuple[Policy, ...], color: str | None = None, aigp: bool = True, routes: tuple[FabricRoute, ...] = ()
) -> Network:
    """Return both switches; the leaf imports and exports by a chain of policies."""
    known = two_switches()
    leaf, names = known.switches["leaf1"], tuple(policy.name for policy in chain)
    group = replace(leaf.groups[0], imports=names, exports=names, color=color, aigp=aigp)
    leaf = replace(leaf, policies={policy.name: policy for policy in chain}, groups=(group,), routes=routes)
    return replace(known, switches={**known.switches, "leaf1": leaf})


def of_leaf(found: Shadow) -> Neighbor:
    """Read the shadow, and return the leaf's only neighbor."""
    snapshot = plain.from_texts({f"configs/{one.name}.cfg": "\n".join(one.lines) + "\n" for one in found.switches})
    (neighbor,) = snapshot.devices["leaf1"].neighbors
    return neighbor


class Pair:
    """A fabric and its shadow."""

    def __init__(self, network: Network) -> None:
        self.leaf = network.switches["leaf1"]
        self.rule = rules(self.leaf, self.leaf.groups[0])
        self.lists = lists_of(self.leaf)
        self.shadow = shadow(network)
        self.neighbor = of_leaf(self.shadow)
        self.values = communities(network)

    def row(self, at: Prefix, route: Route, local_preference: int) -> Row:
        """Write a route as one of the shadow."""
        numbers = {self.values.values[value] for value in route.communities}
        if route.aigp is not None:
            numbers.add(self.values.aigp)
        return Row(
            network=self.shadow.numbering.prefixes[at],
            protocol=route.protocol,
            peer=IPv4Address(0),
            peer_id=IPv4Address(0),
            local_preference=local_preference,
            metric=route.med or 0,
            communities=frozenset(numbers),
        )


any_routes = st.builds(
    Route,
    communities=st.frozensets(st.sampled_from(VALUES)),
    med=st.sampled_from([None, 0, 7]),
    protocol=st.sampled_from([BGP, DIRECT]),
)


@settings(max_examples=200)
@given(chains(terms(changes, (None, None, 50, 150))), st.sampled_from(PREFIXES), any_routes, st.booleans())
def test_own_policies_do_the_same(chain: tuple[Policy, ...], at: Prefix, route: Route, default: bool) -> None:
    pair = Pair(fabric(chain, "green"))
    verdict = evaluate(chain, pair.lists, at, route, default)
    before = pair.row(at, route, 2 * DEFAULT_LOCAL_PREFERENCE)
    # The first policy is the shadow's, for the color of the session.
    after = through(pair.neighbor.imports[1:], before, accept=default)
    expected = pair.row(at, verdict.route, 2 * verdict.route.local_preference)
    assert after == (expected if verdict.accepted else None)
    assert through(pair.neighbor.exports[1:], before, accept=default) == after


mild = chains(terms(harmless, (None,)))
session_colors = st.sampled_from([None, "green", "blue", "local", "pair", "nothing"])
arriving = st.builds(
    lambda color, others, aigp, med: Route((65001,), frozenset({*color, *others}), aigp, med=med),
    st.sampled_from([(), ("color:0:1",), ("color:0:2",)]),
    st.frozensets(st.sampled_from(["0:15", "0:99"])),
    st.sampled_from([None, 0]),
    st.sampled_from([None, 0, 7]),
)


@settings(max_examples=150)
@given(mild, session_colors, st.booleans(), st.sampled_from(PREFIXES), arriving)
def test_what_is_received_is_the_same(
    chain: tuple[Policy, ...], color: str | None, aigp: bool, at: Prefix, route: Route
) -> None:
    pair = Pair(fabric(chain, color, aigp))
    assert not any(one.gaps for one in pair.shadow.switches)
    ours = received(pair.rule, pair.lists, at, route)
    theirs = through(pair.neighbor.imports, pair.row(at, route, DEFAULT_LOCAL_PREFERENCE), accept=True)
    # AIGP comes before everything but local preference.
    assert theirs == (None if ours.hidden else pair.row(at, ours.route, 200 + (ours.route.aigp is not None)))


named = st.sampled_from(["green", "blue", "local", "nothing", "all-colors", None])
advertised = st.lists(
    st.builds(FabricRoute, st.sampled_from([ONE, TWO, THREE, HOST, prefix("fc00:9::/64")]), named, named),
    max_size=4,
    unique_by=lambda route: route.prefix,
).map(tuple)


@settings(max_examples=150)
@given(mild, session_colors, st.booleans(), advertised, st.sampled_from(PREFIXES), arriving)
def test_what_is_sent_is_the_same(
    chain: tuple[Policy, ...],
    color: str | None,
    aigp: bool,
    routes: tuple[FabricRoute, ...],
    at: Prefix,
    heard: Route,
) -> None:
    pair = Pair(fabric(chain, color, aigp, routes))
    assert not any(one.gaps for one in pair.shadow.switches)
    own = next((route for route in routes if route.prefix == at), None)
    ours = originated(pair.leaf, own, pair.rule) if own is not None else None
    ours = ours or exported(pair.rule, pair.lists, at, direct())
    theirs = through(pair.neighbor.exports, pair.row(at, direct(), 200), accept=False)
    assert theirs == (None if ours is None else replace(pair.row(at, ours, 200), protocol=DIRECT))
    passed = exported(pair.rule, pair.lists, at, heard)
    # MED stays within an AS.
    row = replace(pair.row(at, heard, 200), metric=0)
    assert through(pair.neighbor.exports, row, accept=True) == (None if passed is None else pair.row(at, passed, 200))
