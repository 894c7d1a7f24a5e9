"""Policies of the shadow do to any route what our own engine does, with what stands for fabric colors and AIGP."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from ipaddress import IPv4Address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.addresses import Prefix
from ailb_gen.batfish.communities import communities
from ailb_gen.batfish.policies import Translator
from ailb_gen.batfish.shadow import Shadow, shadow
from ailb_gen.junos.reader import read
from ailb_gen.network.fabric import Cable, End, Network
from ailb_gen.network.model import FabricRoute, Switch
from ailb_gen.network.policy import Policy, RouteFilter, Term
from ailb_gen.network.switch import switch
from ailb_gen.routing.policy import evaluate
from ailb_gen.routing.route import BGP, DEFAULT_LOCAL_PREFERENCE, DIRECT, Route
from ailb_gen.routing.speaker import direct, exported, lists_of, originated, received, rules
from tests.batfish.fake.model import Neighbor
from tests.batfish.fake.routes import Route as Row
from tests.batfish.fake.routes import through
from tests.batfish.fake.snapshot import from_texts
from tests.batfish.test_policies import REST, alone, translator
from tests.conftest import examples
from tests.routing.fabrics import prefix

# In order: 10.0.0.0/24 and so on, then 10.192.0.0/32.
ONE, TWO, THREE, FAR, HOST = map(
    prefix, ("fc00:1:1:1::/64", "fc00:1:1:2::/64", "fc00:1:1:3::/64", "fc00:2:1:1::/64", "fd00:ff::1/128")
)
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
    snapshot = from_texts({f"configs/{one.name}.cfg": "\n".join(one.lines) + "\n" for one in found.switches})
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


@pytest.mark.long
@settings(max_examples=examples(200))
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


@settings(max_examples=examples(150))
@given(mild, session_colors, st.booleans(), st.sampled_from(PREFIXES), arriving)
def test_what_is_received_is_the_same(
    chain: tuple[Policy, ...], color: str | None, aigp: bool, at: Prefix, route: Route
) -> None:
    pair = Pair(fabric(chain, color, aigp))
    # Which paths MED is compared among is no matter of policies.
    assert not [gap for one in pair.shadow.switches for gap in one.gaps if "MED" not in gap.message]
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


@settings(max_examples=examples(150))
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
    # Which paths MED is compared among is no matter of policies.
    assert not [gap for one in pair.shadow.switches for gap in one.gaps if "MED" not in gap.message]
    own = next((route for route in routes if route.prefix == at), None)
    ours = originated(pair.leaf, own, pair.rule) if own is not None else None
    ours = ours or exported(pair.rule, pair.lists, at, direct())
    theirs = through(pair.neighbor.exports, pair.row(at, direct(), 200), accept=False)
    assert theirs == (None if ours is None else replace(pair.row(at, ours, 200), protocol=DIRECT))
    passed = exported(pair.rule, pair.lists, at, heard)
    # MED stays within an AS.
    row = replace(pair.row(at, heard, 200), metric=0)
    assert through(pair.neighbor.exports, row, accept=True) == (None if passed is None else pair.row(at, passed, 200))


def test_groups_name_no_policy_of_which_nothing_is_left() -> None:
    chain = (
        Policy("P", (Term("v4", families=("inet",), verdict="reject"),)),
        Policy("Q R", (Term("all", verdict="accept"),)),
        Policy("SHADOW-1", (Term("all", verdict="accept"),)),
    )
    for color, own in (("green", ["SHADOW-OUT-g"]), (None, [])):
        leaf, _ = shadow(fabric(chain, color)).switches
        head = "set protocols bgp group g "
        lines = [line.removeprefix(head) for line in leaf.lines if line.startswith(head)]
        assert [line.split()[1] for line in lines if line.startswith("export")] == [*own, "SHADOW-2", "SHADOW-3"]
        assert [line.split()[1] for line in lines if line.startswith("import")] == [
            *("SHADOW-IN-g", "SHADOW-2", "SHADOW-3")
        ]
        defined = {line.split()[3] for line in leaf.lines if line.startswith("set policy-options policy-statement")}
        assert defined == {"SHADOW-IN-g", "SHADOW-2", "SHADOW-3", *own}
