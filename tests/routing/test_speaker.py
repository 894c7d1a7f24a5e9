"""What one speaker originates, sends and accepts: BGP-DPF on top of Junos's own rules."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from ailb_gen.junos.reader import read
from ailb_gen.network.model import Switch
from ailb_gen.network.switch import switch
from ailb_gen.routing.route import BGP, DIRECT, Route, rank
from ailb_gen.routing.speaker import Rules, color_value, exported, lists_of, originated, received, rules
from tests.routing.fabrics import prefix

TEXT = """
policy-options {
    community green members color:0:1;
    community blue members color:0:2;
    community also-green members color:0:1;
    community two members [ color:0:1 color:0:2 ];
    community wide members "color:0:*";
    community local members 0:15;
    policy-statement IN { term a { from community local; then reject; } term b { then { local-preference 90; } } }
    policy-statement OUT { term a { from protocol direct; then accept; } }
    policy-statement TAG { term a { then { community add local; metric 50; local-preference 300; accept; } } }
    policy-statement PAINT { term a { then { community set blue; accept; } } }
    policy-statement PAINT-GREEN { term a { then { community set green; accept; } } }
    policy-statement NONE { then reject; }
}
protocols {
    bgp {
        group green { fabric-color green; family inet6 { unicast { aigp; } } import IN; export [ OUT missing ]; }
        group blue { fabric-color blue; family inet6 { unicast; } export TAG; }
        group plain { family inet6 { unicast { aigp; } } export PAINT; }
        group undefined { fabric-color nothing; family inet6 { unicast { aigp; } } }
        group doubtful { fabric-color two; family inet6 { unicast; } }
        group paints-green { fabric-color green; family inet6 { unicast { aigp; } } export PAINT; }
        group leaving { fabric-color green; family inet6 { unicast { aigp; } } import IN; export PAINT-GREEN;
            graceful-shutdown { sender; } }
        group lowest-5 { fabric-color green; family inet6 { unicast { aigp; } } import IN;
            graceful-shutdown { receiver { local-preference 5; } } }
        group ignores { fabric-color green; family inet6 { unicast { aigp; } } import IN;
            graceful-shutdown { receiver { disable; } } }
        group silent { fabric-color green; family inet6 { unicast { aigp; } } export NONE; }
        fabric-advertise {
            route fc00:1::/64 { %s }
        }
    }
}
"""


PREFIX = prefix("fc00:1::/64")


def of(route: str = "") -> Switch:
    return switch("a", "a.conf", read(TEXT % route, "a.conf"))


def rule(group: str) -> Rules:
    found = of()
    return rules(found, next(entry for entry in found.groups if entry.name == group))


def test_rules_of_a_group() -> None:
    green, blue = rule("green"), rule("blue")
    assert (green.color, blue.color, rule("plain").color) == ("color:0:1", "color:0:2", None)
    assert (green.aigp, blue.aigp) == (True, False)
    assert [policy.name for policy in (*green.imports, *green.exports)] == ["IN", "OUT"]
    assert green.undefined == ("missing",)
    assert (rule("undefined").color, rule("undefined").undefined) == (None, ("nothing",))
    assert (rule("doubtful").color, rule("doubtful").undefined) == (None, ("two",))


@pytest.mark.parametrize(
    ("name", "value"),
    [("green", "color:0:1"), ("local", "0:15"), ("two", None), ("wide", None), ("nothing", None), (None, None)],
)
def test_values_of_colors(name: str | None, value: str | None) -> None:
    assert color_value(of(), name) == value


GREEN = Route(communities=frozenset({"color:0:1"}))
BLUE = Route(communities=frozenset({"color:0:2"}))
WITH_AIGP = Route(communities=frozenset({"color:0:1"}), aigp=0)


@pytest.mark.parametrize(
    ("route", "group", "sent"),
    [
        # The route's own color, with AIGP 0 only with a backup, and only where the session has AIGP.
        ("color green;", "green", GREEN),
        ("color green; backup-color blue;", "green", WITH_AIGP),
        ("color green; backup-color all-colors;", "green", WITH_AIGP),
        ("color green; backup-color nothing;", "green", WITH_AIGP),
        ("color also-green; backup-color blue;", "green", WITH_AIGP),
        ("color blue; backup-color green;", "blue", BLUE),
        # A backup color: that session's community, no AIGP.
        ("color green; backup-color blue;", "blue", BLUE),
        ("color green; backup-color all-colors;", "blue", BLUE),
        ("color blue; backup-color green;", "green", GREEN),
        ("color blue; backup-color all-colors;", "green", GREEN),
        # Any other color: nothing.
        ("color green;", "blue", None),
        ("color blue; backup-color nothing;", "green", None),
        ("color nothing; backup-color nothing;", "green", None),
        ("color nothing; backup-color all-colors;", "green", GREEN),
        ("color two; backup-color two;", "green", None),
        # Every color is the route's own.
        ("color all-colors;", "blue", BLUE),
        ("color all-colors; backup-color blue;", "green", WITH_AIGP),
        # Sessions without a color, or without one that can be used, hear of colored routes nothing.
        ("color green; backup-color all-colors;", "plain", None),
        ("color green; backup-color all-colors;", "undefined", None),
        ("color all-colors; backup-color all-colors;", "doubtful", None),
        # A route without a color goes over every session, without any attribute.
        ("", "green", Route()),
        ("", "plain", Route()),
        ("", "doubtful", Route()),
    ],
)
def test_what_fabric_advertise_sends(route: str, group: str, sent: Route | None) -> None:
    found = of(route)
    assert originated(found, found.routes[0], rule(group)) == sent


def sent(group: str, active: Route) -> Route | None:
    return exported(rule(group), lists_of(of()), PREFIX, active)


ACTIVE = Route((65001,), frozenset({"color:0:1"}), 0, 200, 7)


def test_bgp_routes_are_sent_by_default_without_what_stays_in_the_as() -> None:
    assert sent("undefined", ACTIVE) == Route((65001,), frozenset({"color:0:1"}), 0, 100, None)


def test_direct_routes_are_not() -> None:
    assert sent("undefined", Route(protocol=DIRECT)) is None
    assert sent("green", Route(protocol=DIRECT)) == Route(protocol=BGP)


def test_a_policy_sets_what_is_sent() -> None:
    tagged = Route((65001,), frozenset({"color:0:2", "0:15"}), None, 100, 50)
    assert sent("blue", Route((65001,), frozenset({"color:0:2"}), 0)) == tagged
    # Also when a route came in with the same MED that the policy sets.
    assert sent("blue", Route((65001,), frozenset({"color:0:2"}), 0, 100, 50)) == tagged


@pytest.mark.parametrize("number", [65281, 65282, 65283])
def test_what_carries_a_well_known_community_goes_to_no_other_as(number: int) -> None:
    """RFC 1997: what a route carries decides, before any policy is asked."""
    kept = frozenset({"color:0:2", f"65535:{number}"})
    for group in ("undefined", "blue", "plain"):
        assert sent(group, replace(ACTIVE, communities=kept)) is None
        assert sent(group, replace(ACTIVE, communities=frozenset({"color:0:2", "65535:65284"}))) is not None


def test_a_policy_may_reject() -> None:
    assert sent("silent", ACTIVE) is None


@pytest.mark.parametrize(
    ("group", "communities", "goes"),
    [
        ("green", {"color:0:1"}, True),
        ("green", {"color:0:2"}, False),
        ("green", {"color:0:2", "0:15"}, False),
        ("green", {"color:0:1", "color:0:2"}, True),
        ("green", {"0:15"}, True),
        ("green", set(), True),
        ("undefined", {"color:0:2"}, True),
        ("plain", {"color:0:9"}, True),
        # What the policy makes of the colors decides, not what they were.
        ("paints-green", {"color:0:1"}, False),
    ],
)
def test_colored_sessions_take_their_color_or_none(group: str, communities: set[str], goes: bool) -> None:
    assert (sent(group, Route((65001,), frozenset(communities))) is not None) is goes


def got(group: str, route: Route, looped: bool = False) -> tuple[Route, str]:
    found = received(rule(group), lists_of(of()), PREFIX, route, looped)
    return found.route, found.hidden


def test_what_is_received_goes_through_the_import_policy() -> None:
    route, hidden = got("green", Route((65001,), frozenset({"color:0:1"}), 0))
    assert (route.local_preference, route.aigp, hidden) == (90, 0, "")
    assert got("green", Route(communities=frozenset({"0:15"})))[1] == "rejected by IN term a"


@pytest.mark.parametrize(
    ("group", "values", "hidden"),
    [
        ("green", {"color:0:2"}, "color mismatch: the route has color:0:2, the session color:0:1"),
        (
            "green",
            {"color:0:9", "color:0:2"},
            "color mismatch: the route has color:0:2, color:0:9, the session color:0:1",
        ),
        # The color is looked at first.
        ("green", {"color:0:2", "0:15"}, "color mismatch: the route has color:0:2, the session color:0:1"),
        ("green", {"color:0:2", "color:0:1"}, ""),
        ("green", set(), ""),
        ("plain", {"color:0:2"}, ""),
        ("undefined", {"color:0:2"}, ""),
    ],
)
def test_routes_of_another_color_are_hidden(group: str, values: set[str], hidden: str) -> None:
    assert got(group, Route(communities=frozenset(values)))[1] == hidden


def test_aigp_is_ignored_where_it_is_not_configured() -> None:
    assert got("blue", Route(aigp=0))[0].aigp is None
    assert got("plain", Route(aigp=0))[0].aigp == 0


def test_loops_are_hidden_before_anything_is_looked_at() -> None:
    assert got("blue", Route((65001,), frozenset({"color:0:1"}), 0), looped=True) == (
        Route((65001,), frozenset({"color:0:1"})),
        "AS path loop",
    )


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (Route((1, 2, 3), local_preference=101), Route((1,), aigp=0)),
        (Route((1, 2, 3), aigp=0), Route((1,))),
        (Route((1, 2, 3), aigp=5), Route((1,), aigp=6)),
        (Route((1, 2)), Route((1, 2, 3))),
    ],
)
def test_the_order_of_preference(better: Route, worse: Route) -> None:
    assert rank(better) < rank(worse)


@pytest.mark.parametrize(
    "change",
    [
        lambda route: Route(route.as_path, route.communities, route.aigp, route.local_preference, 9),
        lambda route: Route((9, 9), frozenset({"0:1"}), route.aigp, route.local_preference),
    ],
)
def test_what_does_not_rank(change: Callable[[Route], Route]) -> None:
    """MED is compared within one neighboring AS only; communities and AS numbers never."""
    route = Route((1, 2), aigp=0)
    assert rank(change(route)) == rank(route)


SHUT = "65535:0"
MARKED = Route(communities=GREEN.communities | {SHUT})


def test_a_sender_marks_all_that_it_sends_whatever_its_policy_sets() -> None:
    assert sent("leaving", ACTIVE) == Route((65001,), GREEN.communities | {SHUT}, 0)
    found = of("color green; backup-color blue;")
    assert originated(found, found.routes[0], rule("leaving")) == replace(WITH_AIGP, communities=MARKED.communities)
    assert sent("leaving", replace(ACTIVE, communities=frozenset({"65535:65281"}))) is None


@pytest.mark.parametrize(
    ("group", "route", "preference"),
    [
        # The policy IN sets 90, which a graceful shutdown lowers.
        ("green", GREEN, 90),
        ("green", MARKED, 0),
        ("lowest-5", MARKED, 5),
        ("ignores", MARKED, 90),
        ("leaving", GREEN, 0),
    ],
)
def test_what_is_marked_is_the_last_choice(group: str, route: Route, preference: int) -> None:
    found = received(rule(group), lists_of(of()), PREFIX, route)
    assert (found.route.local_preference, found.hidden) == (preference, "")
    assert found.route.communities == (MARKED if group == "leaving" else route).communities
    assert rank(GREEN) < rank(replace(WITH_AIGP, local_preference=0))


def test_a_route_that_is_rejected_is_left_alone() -> None:
    leaked = Route(communities=frozenset({"0:15", SHUT}))
    found = received(rule("green"), lists_of(of()), PREFIX, leaked)
    assert (found.route, found.hidden) == (leaked, "rejected by IN term a")
