"""Every condition, every action and every default of a routing policy, from its text to its verdict."""

import pytest

from ailb_gen.addresses import prefix_value
from ailb_gen.junos.reader import read
from ailb_gen.junos.tree import Node, anew
from ailb_gen.network.policies import policy_options
from ailb_gen.routing.policy import Lists, PolicyVerdict, evaluate
from ailb_gen.routing.route import BGP, DIRECT, Route

LISTS = """\
    prefix-list pool { fc00::/16; } prefix-list bits { fc00:5::7/32; }
    prefix-list others { 10.0.0.0/8; 2001:db8::/32; fc00:9::1; }
    community green members color:0:1;
    community blue members color:0:2;
    community kept members no-export; community local members 0:15;
    community pair members [ color:0:1 0:15 ];
    community any-color members "color:0:*";
    community digits members "^0:[0-9]+$";
    community broken members "0:("; community repeated members "6{1}50{3}:[0-9]+"; community nested members "((1+)*)*:";
"""


def run(body: str, prefix: str = "fc00:1:1:1::/64", default: bool = True, route: Route | None = None) -> PolicyVerdict:
    """Evaluate the policies P, Q, R ... of a text in this order."""
    tree = read("policy-options {\n" + LISTS + body + "}\n", "x.conf")
    found = prefix_value(prefix)
    assert found is not None
    options = policy_options(tree.get("policy-options") or Node(""), anew)
    lists = Lists(options.communities, options.prefix_lists)
    return evaluate(tuple(options.policies.values()), lists, found, route or Route(), default)


def matches(conditions: str, prefix: str = "fc00:1:1:1::/64", route: Route | None = None) -> bool:
    body = f"policy-statement P {{ term t {{ from {{ {conditions} }} then accept; }} }}"
    return run(body, prefix, default=False, route=route).accepted


def colored(*values: str) -> Route:
    return Route(communities=frozenset(values))


@pytest.mark.parametrize("default", [True, False])
def test_the_end_of_the_chain_is_the_default(default: bool) -> None:
    verdict = run("policy-statement P { term t { then metric 5; } }", default=default)
    assert (verdict.accepted, verdict.by, verdict.route.med) == (default, "", 5)
    assert run("", default=default) == PolicyVerdict(default, Route(), "")


@pytest.mark.parametrize(
    ("condition", "route", "held"),
    [
        ("protocol bgp;", Route(protocol=BGP), True),
        ("protocol bgp;", Route(protocol=DIRECT), False),
        ("protocol [ bgp direct ];", Route(protocol=DIRECT), True),
        ("family inet6;", Route(), True),
        ("family inet;", Route(), False),
        ("community green;", colored("color:0:1"), True),
        ("community green;", colored("color:0:2", "0:15"), False),
        ("community [ green blue ];", colored("color:0:2"), True),
        ("community pair;", colored("color:0:1"), False),
        ("community pair;", colored("color:0:1", "0:15", "0:1"), True),
        ("community any-color;", colored("color:0:77"), True),
        ("community any-color;", colored("0:15"), False),
        ("community digits;", colored("0:15"), True),
        ("community digits;", colored("color:0:1"), False),
        ("community broken;", colored("0:("), False),
        ("community repeated;", colored("65000:1"), True),
        ("community nested;", colored("1111111111111111111111111111111111111111:2"), False),
        ("community nothing;", colored("color:0:1"), False),
        ("protocol bgp; community green;", colored("color:0:2"), False),
        ("protocol bgp; community green;", colored("color:0:1"), True),
        # What is not evaluated never holds.
        ("as-path long;", Route(), False),
        ("protocol bgp; neighbor 10.0.0.1;", Route(), False),
    ],
)
def test_conditions_on_routes(condition: str, route: Route, held: bool) -> None:
    assert matches(condition, route=route) is held


@pytest.mark.parametrize(
    ("condition", "prefix", "held"),
    [
        ("prefix-list pool;", "fc00::/16", True),
        ("prefix-list pool;", "fc00:1::/32", False),
        ("prefix-list others;", "fc00:9::1/128", True),
        ("prefix-list nothing;", "fc00::/16", False),
        ("prefix-list bits;", "fc00:5::/32", True),
        ("route-filter fc00:1::7/32 exact;", "fc00:1::/32", True),
        ("prefix-list-filter pool exact;", "fc00:1::/32", False),
        ("prefix-list-filter pool orlonger;", "fc00::/16", True),
        ("prefix-list-filter pool orlonger;", "fc00:1:1:1::/64", True),
        ("prefix-list-filter pool longer;", "fc00::/16", False),
        ("prefix-list-filter pool longer;", "fc00::/17", True),
        ("prefix-list-filter pool orlonger;", "fd00::/32", False),
        ("prefix-list-filter pool orlonger;", "::/0", False),
        ("prefix-list others; prefix-list-filter pool orlonger;", "fc00:1::/32", True),
        ("prefix-list others; route-filter fd00::/16 orlonger;", "fd00:1::/32", True),
        ("route-filter fc00:1::/32 exact;", "fc00:1::/32", True),
        ("route-filter fc00:1::/32 exact;", "fc00:1::/33", False),
        ("route-filter fc00:1::/32 orlonger;", "fc00:1::/32", True),
        ("route-filter fc00:1::/32 longer;", "fc00:1::/32", False),
        ("route-filter fc00:1::/32 longer;", "fc00:1:8::/45", True),
        ("route-filter fc00:1::/32 upto /48;", "fc00:1:1::/48", True),
        ("route-filter fc00:1::/32 upto /48;", "fc00:1::/32", True),
        ("route-filter fc00:1::/32 upto /48;", "fc00:1:1::/49", False),
        ("route-filter fc00:1::/32 prefix-length-range /48-/56;", "fc00:1:2::/47", False),
        ("route-filter fc00:1::/32 prefix-length-range /48-/56;", "fc00:1:1::/48", True),
        ("route-filter fc00:1::/32 prefix-length-range /48-/56;", "fc00:1:1::/57", False),
        ("route-filter ::/0 orlonger;", "fc00:1:1::/57", True),
        ("route-filter ::/0 exact;", "::/0", True),
        # Only the filters with the longest prefix around the route count, even if a shorter one would match.
        ("route-filter fc00::/16 orlonger; route-filter fc00:1::/32 exact;", "fc00:1:1::/48", False),
        ("route-filter fc00::/16 orlonger; route-filter fc00:1::/32 exact;", "fc00:2:1::/48", True),
        ("route-filter fc00:1::/32 exact; route-filter fc00:1::/32 upto /48;", "fc00:1:1::/48", True),
        # A list beside the filters is another way to match; it does not take part in the longest match.
        ("prefix-list-filter pool orlonger; route-filter fc00:1::/32 exact;", "fc00:1:1::/48", True),
        ("protocol direct; route-filter fc00::/16 orlonger;", "fc00:1::/32", False),
        ("route-filter 10.0.0.0/8 orlonger;", "fc00:1::/32", False),
        ("route-filter fc00::/16 through fc00:1::/32;", "fc00:1::/32", False),
        ("route-filter fc00::/16 upto sixty;", "fc00:1::/32", False),
    ],
)
def test_conditions_on_prefixes(condition: str, prefix: str, held: bool) -> None:
    assert matches(condition, prefix) is held


def test_a_term_without_conditions_always_holds() -> None:
    verdict = run("policy-statement P { then reject; }")
    assert (verdict.accepted, verdict.by) == (False, "P")


def test_the_first_verdict_counts_and_is_named() -> None:
    body = """policy-statement P {
        term first { from community blue; then reject; }
        term second { from community green; then accept; }
        term third { then reject; }
    }"""
    verdict = run(body, route=colored("color:0:1"))
    assert (verdict.accepted, verdict.by) == (True, "P term second")
    assert verdict.line == 13
    assert run(body).by == "P term third"


def test_terms_come_before_the_policys_own_then() -> None:
    body = "policy-statement P { then reject; term t { from community green; then accept; } }"
    assert run(body, route=colored("color:0:1")).accepted
    assert not run(body).accepted


@pytest.mark.parametrize(
    ("first", "accepted", "med"),
    [
        ("then accept;", True, 1),
        ("then reject;", False, 1),
        ("", False, 3),
        ("then { next term; }", False, 3),
        ("then { next policy; }", False, 3),
    ],
)
def test_what_a_verdict_does_to_the_chain(first: str, accepted: bool, med: int) -> None:
    """The second term accepts and sets 2, the second policy rejects and sets 3."""
    then = first or "then metric 1;"
    second = "term b { from community green; then { metric 2; accept; } }"
    body = f"""policy-statement P {{ term a {{ {then} }} {second} }}
        policy-statement Q {{ term c {{ then {{ metric 3; reject; }} }} }}"""
    verdict = run(body.replace("term a {", "term a { then metric 1;"))
    assert (verdict.accepted, verdict.route.med) == (accepted, med)


def test_next_policy_skips_the_rest_of_its_policy() -> None:
    body = """policy-statement P { term a { then { metric 1; next policy; } } term b { then accept; } }
        policy-statement Q { term c { then reject; } }"""
    assert not run(body).accepted
    assert run(body.replace("next policy", "next term")).accepted


def test_next_policy_at_the_last_policy_is_the_default() -> None:
    body = "policy-statement P { term a { then { next policy; } } term b { then reject; } }"
    assert run(body, default=True).accepted
    assert not run(body, default=False).accepted


@pytest.mark.parametrize(
    ("action", "before", "after"),
    [
        ("community add local;", {"color:0:1"}, {"color:0:1", "0:15"}),
        ("community + local;", {"color:0:1"}, {"color:0:1", "0:15"}),
        ("community set local;", {"color:0:1"}, {"0:15"}),
        ("community = local;", {"color:0:1"}, {"0:15"}),
        ("community delete green;", {"color:0:1", "0:15"}, {"0:15"}),
        ("community - green;", {"color:0:1", "0:15"}, {"0:15"}),
        ("community delete any-color;", {"color:0:1", "color:0:2", "0:15"}, {"0:15"}),
        ("community delete pair;", {"color:0:1", "color:0:2", "0:15"}, {"color:0:2"}),
        ("community add pair;", set(), {"color:0:1", "0:15"}),
        ("community add nothing;", {"0:15"}, {"0:15"}),
        ("community delete nothing;", {"0:15"}, {"0:15"}),
        ("community set nothing;", {"0:15"}, set()),
        ("community add kept;", set(), {"65535:65281"}),
        ("community delete kept;", {"65535:65281"}, set()),
        ("community delete any-color; community add green;", {"color:0:2"}, {"color:0:1"}),
    ],
)
def test_actions_on_communities(action: str, before: set[str], after: set[str]) -> None:
    verdict = run(f"policy-statement P {{ term t {{ then {{ {action} accept; }} }} }}", route=colored(*before))
    assert verdict.route.communities == after


def test_changes_of_earlier_terms_are_seen_by_later_ones() -> None:
    body = """policy-statement P {
        term a { then { community add local; local-preference 200; metric 7; } }
        term b { from community local; then { local-preference 300; accept; } }
    }"""
    route = run(body, default=False).route
    assert (route.local_preference, route.med) == (300, 7)
    assert route.communities == {"0:15"}


def test_other_attributes_stay() -> None:
    route = Route((65001, 65101), frozenset({"color:0:1"}), 0, 100, None)
    assert run("policy-statement P { term t { then accept; } }", route=route).route is route
    assert run("policy-statement P { term t { then { community add local; accept; } } }", route=route).route.aigp == 0


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("from as-path x; then accept;", "from as-path"),
        ("from route-filter 10.0.0.0/8 exact; then accept;", "from route-filter 10.0.0.0/8"),
        ("from route-filter fc00::/16 orlonger reject;", "from route-filter fc00::/16"),
        ("from route-filter fc00::/16 upto /48 reject;", "from route-filter fc00::/16"),
        ("to protocol bgp; then accept;", "to"),
        ("then as-path-prepend 65000;", "then as-path-prepend"),
        ("then local-preference add 5;", "then local-preference"),
        ("then metric igp;", "then metric"),
        ("then community remove x;", "then community remove"),
        ("then next ;", "then next"),
    ],
)
def test_what_is_not_evaluated_is_listed(text: str, unknown: str) -> None:
    tree = read(f"policy-options {{ policy-statement P {{ term t {{ {text} }} }} }}", "x.conf")
    (term,) = policy_options(tree.get("policy-options") or Node(""), anew).policies["P"].terms
    assert [name for name, _ in term.unknown] == [unknown]
