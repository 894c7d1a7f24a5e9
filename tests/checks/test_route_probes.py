"""Probes: whatever a chain of policies can tell apart, one of them stands for it."""

from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.addresses import BITS, Prefix, prefix_value
from ailb_gen.checks.families.route_probes import heard, local, prefixes
from ailb_gen.network.policy import Policy, PrefixList, RouteFilter, Term
from ailb_gen.routing.policy import Lists, evaluate
from ailb_gen.routing.route import Route

POOL = Prefix(0xFC00 << 112, 16)
COLORS = ("color:0:1", "color:0:2")
MATCHES = st.sampled_from(["exact", "orlonger", "longer"])


def prefix(text: str) -> Prefix:
    found = prefix_value(text)
    assert found is not None
    return found


# Few bits, so that prefixes often hold each other.
NEAR = st.builds(
    lambda low, length: Prefix((POOL.value | low << 104) >> (BITS - length) << (BITS - length), length),
    st.integers(0, 255),
    st.sampled_from([0, 8, 16, 17, 18, 20, 24, 64]),
)
FILTERS = st.lists(st.builds(RouteFilter, NEAR, MATCHES), max_size=3).map(tuple)
LISTED = st.lists(st.tuples(st.just("listed"), MATCHES), max_size=1).map(tuple)
VERDICTS = st.sampled_from(["accept", "reject", "", "next-policy"])
TERMS = st.builds(
    Term, st.just("t"), route_filters=FILTERS, prefix_list_filters=LISTED, verdict=VERDICTS, metric=st.integers(0, 9)
)
CHAINS = st.lists(st.builds(Policy, st.just("P"), st.lists(TERMS, max_size=3).map(tuple)), max_size=2).map(tuple)


@given(CHAINS, st.lists(NEAR, max_size=2), st.integers(0, (1 << 20) - 1), st.booleans())
def test_every_subnet_is_treated_like_some_probe(
    chain: tuple[Policy, ...], listed: list[Prefix], high: int, default: bool
) -> None:
    lists = Lists({}, {"listed": PrefixList("listed", tuple(listed), 0)})
    subnet = Prefix(high << 108, 64)
    route = Route()

    def outcome(one: Prefix) -> tuple[bool, Route]:
        verdict = evaluate(chain, lists, one, route, default)
        return verdict.accepted, verdict.route

    assert outcome(subnet) in {outcome(probe) for probe in prefixes(chain, lists, [POOL]) if probe.length == 64}


def test_prefixes_lie_in_the_pool_beyond_it_and_far_away() -> None:
    found = prefixes((), Lists({}, {}), [POOL])
    texts = ["::/64", "fc00::/64", "fc01::/64", "::/0", "fc00::/16", "fc00::/128"]
    assert found == tuple(map(prefix, texts))


def test_what_ends_with_the_address_space_goes_on_at_its_start() -> None:
    assert prefix("::/64") in prefixes((), Lists({}, {}), [prefix("ff00::/8")])


def chain_of(**conditions: object) -> tuple[Policy, ...]:
    return (Policy("P", (Term("t", **conditions),)),)  # type: ignore[arg-type]


def test_one_color_is_enough_for_a_chain_that_looks_at_none() -> None:
    assert [set(route.communities) for route in heard(chain_of(), COLORS, [])] == [{"color:0:1"}, set()]
    adds = chain_of(changes=(("add", "local"),))
    assert len(heard(adds, COLORS, [])) == 2


def test_all_colors_and_marks_for_a_chain_that_looks_at_some() -> None:
    for chain in (chain_of(communities=("x",)), chain_of(changes=(("delete", "x"),))):
        found = [route.communities for route in heard(chain, COLORS, [frozenset({"0:15"})])]
        bare = [{"color:0:1"}, {"color:0:2"}, set()]
        assert found == [*bare, *({*one, "0:15"} for one in bare)]
        assert all(route.aigp == 0 and route.as_path for route in heard(chain, COLORS, []))


def test_own_routes_are_of_every_protocol_that_is_named() -> None:
    assert [route.protocol for route in local(())] == ["direct", "static"]
    assert [route.protocol for route in local(chain_of(protocols=("bgp", "isis")))] == ["direct", "isis", "static"]


def test_a_prefix_list_that_is_not_defined_names_nothing() -> None:
    nothing = Lists({}, {})
    assert prefixes(chain_of(prefix_lists=("missing",)), nothing, [POOL]) == prefixes((), nothing, [POOL])
