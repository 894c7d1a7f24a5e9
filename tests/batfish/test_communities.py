"""Standard communities in place of Junos's: which value stands for what, and what wildcards become."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.batfish.communities import MOST, Communities, communities
from ailb_gen.junos.reader import read
from ailb_gen.network.fabric import Network
from ailb_gen.network.policy import Community, Policy, Term
from ailb_gen.network.switch import switch
from ailb_gen.routing.policy import Lists, evaluate, has_community
from ailb_gen.routing.route import Route
from tests.routing.fabrics import prefix

PLAIN = switch("leaf1", "switches/leaf1.conf", read("", "leaf1.conf"))
ANY = prefix("fc00::/64")


def named(*found: tuple[str, ...]) -> dict[str, Community]:
    return {f"c{at}": Community(f"c{at}", members) for at, members in enumerate(found)}


def of(*switches: dict[str, Community]) -> Communities:
    """Collect what switches name."""
    found = {f"leaf{at}": replace(PLAIN, communities=one) for at, one in enumerate(switches)}
    return communities(Network(found, {}, {}, (), {}, ()))


def test_standard_values_stay_and_all_others_get_numbers() -> None:
    found = of(
        named(("0:15",), ("color:0:2", "65535:65535")),
        named(("color:0:1",), ("large:65001:1:2",), ("target:65001:7", "no-export"), ("70000:1",), ("1:65536",)),
    )
    assert found == Communities(
        {
            "0:15": "0:15",
            "1:65536": "65534:1",
            "65535:65535": "65535:65535",
            "70000:1": "65534:2",
            "color:0:1": "65534:3",
            "color:0:2": "65534:4",
            "65535:65281": "65535:65281",
            "large:65001:1:2": "65534:5",
            "target:65001:7": "65534:6",
        },
        "65534:0",
    )
    assert found.colors == ("color:0:1", "color:0:2")
    assert found.names == {
        "0:15": "value-0-15",
        "65534:0": "aigp",
        "65534:1": "value-65534-1",
        "65535:65535": "value-65535-65535",
        "65534:2": "value-65534-2",
        "65534:3": "color-0-1",
        "65534:4": "color-0-2",
        "65534:5": "large-65001-1-2",
        "65535:65281": "no-export",
        "65534:6": "target-65001-7",
    }


def test_values_that_would_be_called_alike_have_names_by_number() -> None:
    # Nothing of this is a community that a device takes; the names must differ all the same.
    found = of(
        named(
            ("a:b", "a-b", "aigp", "color:0:1"),
        )
    )
    assert found.values == {"a-b": "65534:1", "a:b": "65534:2", "aigp": "65534:3", "color:0:1": "65534:4"}
    assert found.names == {
        "65534:0": "aigp",
        "65534:1": "value-65534-1",
        "65534:2": "value-65534-2",
        "65534:3": "value-65534-3",
        "65534:4": "color-0-1",
    }


def test_without_communities_there_is_aigp() -> None:
    assert of() == of({}) == of(named(())) == Communities({}, "65534:0")


@pytest.mark.parametrize(
    ("used", "own"),
    [
        (("65534:1",), 65533),
        (("65534:70000", "65533:0"), 65532),
        (("color:65534:1", "65535:1", "6553:4"), 65534),
        (tuple(f"{asn}:1" for asn in range(64513, 65535)), 64512),
    ],
)
def test_numbers_are_of_an_as_that_nobody_uses(used: tuple[str, ...], own: int) -> None:
    found = of(named(used, ("color:0:1",)))
    assert found.aigp == f"{own}:0"
    assert found.values["color:0:1"].startswith(f"{own}:")
    assert len({*found.values.values(), found.aigp}) == len(found.values) + 1


KNOWN = of(
    named(("0:1", "0:15", "1:1"), ("color:0:1",), ("color:0:2",), ("color:1:1",), ("large:1:2:3",), ("no-export",))
)


def test_communities_that_are_not_defined_stand_for_nothing() -> None:
    assert KNOWN.added(None) == KNOWN.matching(None) == ()
    assert KNOWN.combinations(None) == ()
    assert KNOWN.combinations(Community("empty", ())) == ()


def test_adding_adds_what_is_no_wildcard() -> None:
    assert KNOWN.added(Community("c", ("color:0:2", "0:*", "0:1"))) == ("0:1", "color:0:2")


def test_wildcards_for_too_many_values_are_not_written_out() -> None:
    assert MOST == 64
    some = of(named(tuple(f"color:0:{at}" for at in range(1, 65))))
    found = some.combinations(Community("c", ("color:0:*",)))
    assert found is not None
    assert len(found) == 64
    assert some.combinations(Community("c", ("color:0:*", "color:0:1"))) is not None
    assert some.combinations(Community("c", ("color:0:*", "color:0:[12]"))) is None
    # Too many of one member matter as little as that one, if another one matches nothing.
    assert some.combinations(Community("c", ("color:0:*", "color:0:[12]", "9:9"))) == ()
    more = of(named(tuple(f"color:0:{at}" for at in range(1, 66))))
    assert more.combinations(Community("c", ("color:0:*",))) is None


VALUES = (
    "0:1",
    "0:15",
    "1:1",
    "65534:1",
    "color:0:1",
    "color:0:2",
    "color:0:12",
    "color:1:1",
    "large:1:2:3",
    "65535:65281",
)
PATTERNS = (
    "color:*:*",
    "color:0:*",
    "color:0:.",
    "*:1",
    "*:*",
    "0:1[0-9]?",
    "^(0|1):1$",
    "large:*",
    "no-.*",
    "0:(",
    "7:*",
)
members_of = st.lists(st.sampled_from([*VALUES, *PATTERNS]), max_size=3, unique=True).map(tuple)


@given(st.lists(members_of, max_size=5), members_of, st.sets(st.sampled_from(VALUES)))
def test_wildcards_mean_the_same_written_out(
    others: list[tuple[str, ...]], members: tuple[str, ...], given_values: set[str]
) -> None:
    """Routes have only values that some switch names: nobody else could have added them."""
    community = Community("c", members)
    known = of(named(members, *others))
    values = frozenset(given_values) & known.values.keys()
    combinations = known.combinations(community)
    assert combinations is not None
    assert any(values.issuperset(one) for one in combinations) is has_community(community, values)
    for how, expected in (
        ("delete", values - set(known.matching(community))),
        ("add", values | set(known.added(community))),
        ("set", frozenset(known.added(community))),
    ):
        policy = Policy("P", (Term("t", changes=((how, "c"),)),))
        verdict = evaluate((policy,), Lists({"c": community}, {}), ANY, Route(communities=values), default=True)
        assert verdict.route.communities == expected


@given(st.lists(st.lists(st.sampled_from(VALUES), max_size=4).map(tuple), max_size=4))
def test_different_values_stay_different(found: list[tuple[str, ...]]) -> None:
    known = of(named(*found))
    assert list(known.values) == sorted({value for members in found for value in members})
    numbers = [*known.values.values(), known.aigp]
    assert len(set(numbers)) == len(numbers)
    assert set(known.names) == set(numbers)
    assert len(set(known.names.values())) == len(numbers)
