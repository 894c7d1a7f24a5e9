from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.errors import UsageError
from ailb_gen.sim.clos import clos, with_outages
from ailb_gen.sim.fabric import LEAF, LOCAL, SPINE, Degradation, FabricArrays, LinkChange
from ailb_gen.sim.failures import FailureNames, Outage, random_cables, random_links
from tests.sim.files import fabric
from tests.sim.test_clos import SMALL
from tests.sim.walk import check_arrays, next_links, shares

NAMES = {True: "up", False: "down"}


def small(**changed: int) -> FabricArrays:
    return clos(**{"leaves": 3, "spines": 2, "hosts_per_leaf": 2, "host_bps": 10, "uplink_bps": 10} | changed)


def links(found: FabricArrays, word: str) -> set[str]:
    return {found.link_names[link] for link in FailureNames(found).named(word).links}


def changes(found: FabricArrays) -> list[tuple[int, str, str]]:
    return [(one.at_ps, found.link_names[one.link], NAMES[one.up]) for one in found.changes]


def test_both_directions_go_down_and_come_back_and_routing_follows() -> None:
    found = with_outages(small(), [Outage("leaf1-spine2", 100, 500, 30)])
    cable = ["leaf1:spine2", "spine2:leaf1"]
    assert sorted(changes(found)) == [(at, name, way) for at, way in ((100, "down"), (500, "up")) for name in cable]
    assert [state.at_ps for state in found.forwarding] == [0, 130, 530]
    assert found.forwarding[2].next_hops is found.forwarding[0].next_hops
    check_arrays(found)
    for source, target in ((0, 2), (2, 0)):
        load, arrived = shares(found, source, target, 1)
        assert arrived == 1
        assert "spine2" not in {found.names[found.link_target[link]] for link in load}
    # What does not need the link uses both spines as before.
    assert len(shares(found, 2, 4, 1)[0]) == 6


def test_what_comes_back_before_it_is_noticed_changes_no_route() -> None:
    found = with_outages(small(), [Outage("leaf1-spine2", 100, 130, 30)])
    assert len(found.changes) == 4
    assert [state.at_ps for state in found.forwarding] == [0]


def test_failures_overlap() -> None:
    outages = [Outage("leaf1-spine2", 10, 50, 5), Outage("spine1", 20, 60, 5), Outage("leaf1:spine2", 30, 70, 5)]
    found = with_outages(small(), outages)
    assert [state.at_ps for state in found.forwarding] == [0, 15, 25, 65, 75]
    # Leaf 1 has lost both spines, then spine 2 only.
    assert shares(found, 0, 2, 2)[1] == 0
    assert shares(found, 2, 4, 2)[1] == 1
    assert shares(found, 0, 2, 3)[1] == 1
    # Two outages of one cable are one.
    mine = [(at, way) for at, name, way in changes(found) if name == "leaf1:spine2"]
    assert mine == [(10, "down"), (70, "up")]
    assert [at for at, name, way in changes(found) if name == "spine1:leaf3" and way == "up"] == [60]
    assert all(one.at_ps <= other.at_ps for one, other in pairwise(found.changes))


def test_degraded_links_add_up_and_routing_does_not_notice() -> None:
    outages = [
        Outage("leaf1-spine2", 10, 50, 5, Degradation(rate=0.5, loss=0.1)),
        Outage("leaf1:spine2", 20, 40, 5, Degradation(rate=0.5, delay_ps=7, loss=0.1)),
        Outage("spine2-leaf1", 30, 35, 100),
    ]
    found = with_outages(small(), outages)
    assert [state.at_ps for state in found.forwarding] == [0]
    mine = [one for one in found.changes if found.link_names[one.link] == "leaf1:spine2"]
    assert [(one.at_ps, one.up) for one in mine] == [
        (10, True), (20, True), (30, False), (35, True), (40, True), (50, True),
    ]  # fmt: skip
    assert [(one.degraded.rate, one.degraded.delay_ps) for one in mine] == [
        (0.5, 0), (0.25, 7), (0.25, 7), (0.25, 7), (0.5, 0), (1.0, 0),
    ]  # fmt: skip
    assert [round(one.degraded.loss, 12) for one in mine] == [0.1, 0.19, 0.19, 0.19, 0.1, 0.0]
    assert len(found.changes) == 2 * len(mine)


def test_a_failure_from_the_start_is_the_first_state() -> None:
    found = with_outages(small(), [Outage("spine1", 0)])
    assert [state.at_ps for state in found.forwarding] == [0]
    load, arrived = shares(found, 0, 2)
    assert arrived == 1
    assert len(load) == 4
    assert found.changes[0] == LinkChange(0, found.changes[0].link, up=False)


def test_a_color_that_fails_uses_all_spines_that_are_left() -> None:
    found = with_outages(small(spines=4, colors=4), [Outage("leaf2-spine3", 7)])
    ways = [{found.names[found.link_target[at]] for at in next_links(found, 6, 4 * 2 + c, 1)} for c in range(4)]
    assert ways == [{"spine1"}, {"spine2"}, {"spine1", "spine2", "spine4"}, {"spine4"}]
    # To the third leaf color 3 still has its spine.
    assert {found.names[found.link_target[at]] for at in next_links(found, 6, 4 * 4 + 2, 1)} == {"spine3"}


def test_a_dead_leaf_is_unreachable() -> None:
    found = with_outages(small(), [Outage("leaf2", 7)])
    assert shares(found, 0, 2, 1)[1] == 0
    assert shares(found, 0, 4, 1)[1] == 1
    assert {name for _, name, _ in changes(found)} >= {"leaf2:host3", "host3:leaf2", "spine1:leaf2"}


@given(SMALL, st.data())
def test_routes_avoid_exactly_what_is_broken(found: FabricArrays, data: st.DataObject) -> None:
    """Against a plain search: of every set the links stay that are up and lead on; a leaf has any uplink as rescue."""
    inner = [link for link in range(found.link_count) if min(tiers(found, link)) >= LEAF]
    broken = data.draw(st.sets(st.sampled_from(inner), max_size=8))
    down = broken | {int(found.link_reverse[link]) for link in broken}
    failed = with_outages(found, [Outage(found.link_names[link], 5) for link in sorted(broken)])
    check_arrays(failed)
    state = len(failed.forwarding) - 1
    for number in range(len(found.destination_prefix)):
        for node in range(found.host_count, len(found.names)):
            before = next_links(found, node, number)
            if found.forwarding[0].next_hops[node - found.host_count, found.destination_prefix[number]] == LOCAL:
                expected = before
            elif found.tier[node] == SPINE:
                expected = [link for link in before if link not in down]
            else:
                able = [link for link in sorted(inner) if found.link_source[link] == node and link not in down]
                able = [link for link in able if leads_on(found, link, number, down)]
                expected = [link for link in before if link in able] or able
            assert next_links(failed, node, number, state) == expected


def tiers(found: FabricArrays, link: int) -> tuple[int, int]:
    return int(found.tier[found.link_source[link]]), int(found.tier[found.link_target[link]])


def leads_on(found: FabricArrays, link: int, destination: int, down: set[int]) -> bool:
    spine = int(found.link_target[link])
    return any(one not in down for one in next_links(found, spine, destination))


def test_names_as_users_write_them() -> None:
    found = fabric("jvd")
    both = {"stripe1-leaf1:et-0/0/1:0", "spine2:et-0/0/0:0"}
    for word in (
        "stripe1-leaf1:et-0/0/1:0",
        "stripe1-leaf1:et-0/0/1:0.0",
        "stripe1-leaf1 et-0/0/1:0",
        "spine2:et-0/0/0:0",
        "stripe1-leaf1-spine2",
        "spine2-stripe1-leaf1",
        "stripe1-leaf1:spine2",
        "stripe1-leaf1:et-0/0/1:0 - spine2:et-0/0/0:0",
    ):
        assert links(found, word) == both, word
    assert links(found, "h100-01:gpu0_eth") == {"h100-01:gpu0_eth", "stripe1-leaf1:et-0/0/16:0"}
    assert len(links(found, "h100-01")) == 16
    assert len(links(found, "spine2")) == 2 * 16
    assert FailureNames(found).named("spine2").switches == {found.names.index("spine2")}
    assert len(links(fabric("jvd-8-uplinks"), "stripe1-leaf1-spine2")) == 4


@pytest.mark.parametrize(
    ("word", "ends"),
    [
        # A line card, several switches, a bundle of cables.
        ("leaf1:s*", ["leaf1:spine1", "leaf1:spine2"]),
        ("leaf[12]-spine2", ["leaf1:spine2", "leaf2:spine2"]),
        ("spine2:leaf?", ["spine2:leaf1", "spine2:leaf2", "spine2:leaf3"]),
        ("spine*", ["spine1:leaf1", "spine1:leaf2", "spine1:leaf3", "spine2:leaf1", "spine2:leaf2", "spine2:leaf3"]),
    ],
)
def test_globs_stand_for_all_that_they_match(word: str, ends: list[str]) -> None:
    found = small()
    turned = {f"{other}:{one}" for one, other in (end.split(":") for end in ends)}
    assert links(found, word) == {*ends, *turned}
    assert len(FailureNames(found).named(word).switches) == (2 if word == "spine*" else 0)


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("spin2", "did you mean 'spine2'?"),
        ("leaf1-spine9", "did you mean 'leaf1-spine"),
        ("leaf1:leaf2", "did you mean"),
        ("leaf9:*", "did you mean"),
        ("", "name a port as DEVICE:PORT, two devices as ONE-OTHER, or a switch"),
    ],
)
def test_unknown_names_are_refused(word: str, hint: str) -> None:
    expected = f"{word!r}: there is no such link or switch; {hint}"
    with pytest.raises(UsageError, match=re.escape(expected)):
        with_outages(small(), [Outage(word, 1)])


def test_random_cables() -> None:
    found = clos(8, 4, 4, host_links=8, leaf_spine_links=8, host_bps=1, uplink_bps=1)
    drawn = [random_cables(found, 0.05, seed) for seed in range(200)]
    assert random_cables(found, 0.05, 7).tolist() == drawn[7].tolist()
    # 512 cables, 5 % of which are 25.6; the mean of 200 draws is within five standard errors of that.
    assert abs(float(np.mean([len(one) for one in drawn])) - 25.6) < 5 * (512 * 0.05 * 0.95 / 200) ** 0.5
    assert len(random_cables(found, 1, 1)) == 512
    assert not set(random_cables(found, 1, 1)) & set(found.link_reverse[random_cables(found, 1, 1)])


def test_exactly_as_many_links_are_drawn_and_each_as_often_as_others() -> None:
    found = clos(4, 2, 4, leaf_spine_links=2, host_bps=1, uplink_bps=1)
    drawn = [random_links(found, 5, seed) for seed in range(400)]
    assert random_links(found, 5, 7) == drawn[7]
    assert all(len(set(names)) == 5 and not any("host" in name for name in names) for names in drawn)
    # 16 links, 125 times each; the standard deviation is 9.3.
    counts = Counter(name for names in drawn for name in names)
    assert len(counts) == 16
    assert all(abs(count - 125) < 45 for count in counts.values())
    with pytest.raises(UsageError, match="17 links are to fail, and there are 16 between switches"):
        random_links(found, 17, 1)
