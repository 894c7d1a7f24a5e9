"""The order of a push: everybody once, a canary first, and never fewer paths than asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.deploy.device_diff import SwitchDiff
from ailb_gen.deploy.planning import Paths, Position, Wave, check_min_paths, lost_paths, paths_of, waves
from ailb_gen.errors import UsageError
from tests.deploy import lab

COLORS = ("green", "blue", "observer")
NOBODY = Paths({})


def leaf(stripe: int, rail: int) -> Position:
    return Position("leaf", str(rail), f"stripe{stripe}-leaf{rail + 1}")


def spine(number: int) -> Position:
    return Position("spine", COLORS[(number - 1) % len(COLORS)], f"spine{number}")


def server(stripe: int, number: int) -> Position:
    return Position("server", str(stripe), f"gpu-s{stripe}-{number}")


def full(leaves: int, spines: int) -> Paths:
    """Every leaf has a session with every spine."""
    names = frozenset(f"spine{number}" for number in range(1, spines + 1))
    return Paths({f"leaf{number}": names for number in range(1, leaves + 1)})


def test_the_order() -> None:
    seats = [
        *(server(stripe, number) for stripe in (2, 1) for number in (1, 2)),
        *(spine(number) for number in (6, 5, 4, 3, 2, 1)),
        *(leaf(stripe, rail) for stripe in (2, 1) for rail in (10, 2, 0)),
    ]
    assert waves(seats, COLORS, NOBODY, 1) == (
        Wave("canary leaf", ("stripe1-leaf1",)),
        Wave("spines of green", ("spine1", "spine4")),
        Wave("spines of blue", ("spine2", "spine5")),
        Wave("spines of observer", ("spine3", "spine6")),
        Wave("leaves of rail 0", ("stripe2-leaf1",)),
        Wave("leaves of rail 2", ("stripe1-leaf3", "stripe2-leaf3")),
        Wave("leaves of rail 10", ("stripe1-leaf11", "stripe2-leaf11")),
        Wave("canary server", ("gpu-s1-1",)),
        Wave("servers of stripe 1", ("gpu-s1-2",)),
        Wave("servers of stripe 2", ("gpu-s2-1", "gpu-s2-2")),
    )


def test_nobody() -> None:
    assert waves([], COLORS, NOBODY, 1) == ()


def test_the_canary_where_there_is_no_leaf() -> None:
    assert waves([server(1, 1), spine(2)], COLORS, NOBODY, 1)[0] == Wave("canary spine", ("spine2",))
    assert waves([server(1, 1)], COLORS, NOBODY, 1) == (Wave("canary server", ("gpu-s1-1",)),)


def test_a_wave_that_would_leave_too_few_paths_is_cut() -> None:
    seats = [leaf(1, 0), *(Position("spine", "green", f"spine{number}") for number in (1, 2, 3, 4))]
    named = [wave.name for wave in waves(seats, COLORS, full(2, 4), 2)]
    assert named == ["canary leaf", "spines of green, 1 of 2", "spines of green, 2 of 2"]
    assert len(waves(seats, COLORS, full(2, 4), 0)) == 2
    assert len(waves(seats, COLORS, full(2, 4), 3)) == 5


def test_no_order_will_do() -> None:
    paths = Paths({"leaf1": frozenset({"spine1"}), "leaf2": frozenset({"spine1", "spine2"}), "leaf3": frozenset()})
    with pytest.raises(UsageError) as error:
        waves([spine(1)], COLORS, paths, 1)
    assert str(error.value) == (
        "while spine1 is changed, leaf1 and leaf2 would have 0 of their 1 paths left, fewer than --min-paths 1 or "
        "than they have now; bring up what is down, or allow fewer"
    )
    # Two leaves without a path have none to lose, nor has one leaf alone.
    assert waves([spine(2)], COLORS, paths, 1) == (Wave("canary spine", ("spine2",)),)
    assert waves([spine(1)], COLORS, Paths({"leaf1": frozenset({"spine1"}), "leaf2": frozenset()}), 1)
    assert waves([spine(1)], COLORS, paths, 0)


@st.composite
def fabrics(draw: st.DrawFn) -> tuple[list[Position], Paths]:
    """Give devices to change, and which sessions are up between all."""
    spines = [spine(number) for number in range(1, draw(st.integers(1, 8)) + 1)]
    leaves = [leaf(stripe, rail) for stripe in range(1, draw(st.integers(1, 3)) + 1) for rail in range(3)]
    servers = [server(1, number) for number in range(draw(st.integers(0, 3)))]
    up = st.sets(st.sampled_from([one.name for one in spines])).map(frozenset)
    mostly = st.one_of(st.just(frozenset(one.name for one in spines)), up)
    paths = Paths({one.name: draw(mostly) for one in leaves})
    every = [*spines, *leaves, *servers]
    seats = draw(st.permutations(every))[: draw(st.integers(0, len(every)))]
    return seats, paths


def kept(paths: Paths, away: tuple[str, ...], min_paths: int) -> bool:
    """Tell, pair by pair, whether enough paths are left."""
    here = {name: spines for name, spines in paths.spines.items() if name not in away}
    return all(
        len((one & other) - set(away)) >= min(min_paths, len(one & other))
        for one, other in combinations(here.values(), 2)
    )


@given(fabrics(), st.integers(0, 4))
def test_what_holds_of_every_order(fabric: tuple[list[Position], Paths], min_paths: int) -> None:
    seats, paths = fabric
    roles = {seat.name: seat.role for seat in seats}
    try:
        found = waves(seats, COLORS, paths, min_paths)
    except UsageError:
        # Refused only because of a spine that may not even be away alone.
        assert any(not kept(paths, (seat.name,), min_paths) for seat in seats if seat.role == "spine")
        return
    devices = [name for wave in found for name in wave.devices]
    assert sorted(devices) == sorted(roles)
    assert all(wave.devices for wave in found)
    assert len({wave.name for wave in found}) == len(found)
    assert all(len({roles[name] for name in wave.devices}) == 1 for wave in found)
    assert all(kept(paths, wave.devices, min_paths) for wave in found if roles[wave.devices[0]] == "spine")
    if found:
        assert len(found[0].devices) == 1
        assert "leaf" not in roles.values() or roles[devices[0]] == "leaf"
    # The first server is alone as well.
    assert [len(wave.devices) for wave in found if roles[wave.devices[0]] == "server"][:1] in ([], [1])
    after = [roles[name] for name in devices[1:]]
    assert after == sorted(after, key=("spine", "leaf", "server").index)
    # The order in which the devices are given does not count.
    assert waves(sorted(seats), COLORS, paths, min_paths) == found


LEAVES = [name for name in lab.NAMES if "leaf" in name]
SPINES = [name for name in lab.NAMES if "spine" in name]


def judged(
    looks: Sequence[SwitchDiff], order: Sequence[Sequence[str]], min_paths: int
) -> tuple[tuple[str, tuple[str, str]], ...]:
    found = {name: lab.look(name) for name in lab.NAMES} | {one.name: one for one in looks}
    fabric_model = lab.fabric_model().after({name: one.before for name, one in found.items()})
    waves = [Wave(f"wave {number}", tuple(names)) for number, names in enumerate(order, 1)]
    return check_min_paths(fabric_model, found, waves, paths_of(fabric_model, found), min_paths)


def renumbered(leaf: str) -> SwitchDiff:
    """A leaf that gets an AS number which no spine expects."""
    asn = lab.model(leaf).asn
    return lab.look(leaf, after=lab.edited(leaf, (str(asn), "64900")))


def test_what_gets_along_is_not_refused() -> None:
    slower = [
        lab.look(name, after=lab.edited(name, ("minimum-interval 300", "minimum-interval 400"))) for name in SPINES
    ]
    assert judged(slower, [[name] for name in SPINES], 4) == ()


def test_an_as_number_that_the_other_end_does_not_expect() -> None:
    with pytest.raises(UsageError, match=r"after the wave 'wave 1', .*stripe1-leaf1.* would have 0 of 4 paths"):
        judged([renumbered("stripe1-leaf1")], [["stripe1-leaf1"]], 1)
    (wave, pair) = judged([renumbered("stripe1-leaf1")], [["stripe1-leaf1"]], 0)[0]
    assert wave == "wave 1"
    assert "stripe1-leaf1" in pair


@pytest.mark.parametrize(("down", "least", "told"), [((), 3, "3 of 4 paths"), (("et-0/0/3.0",), 2, "2 of 3 paths")])
def test_fewer_paths_than_asked_for_in_the_end(down: tuple[str, ...], least: int, told: str) -> None:
    """What is down counts as down, and may stay down; the change takes another path away."""
    disabled = ("description facing_spine1:et-0/0/0;", "description facing_spine1:et-0/0/0; disable;")
    less = lab.look("stripe1-leaf1", after=lab.edited("stripe1-leaf1", disabled))
    less = replace(less, up=less.up - {*down})
    judged([less], [["stripe1-leaf1"]], least)
    with pytest.raises(UsageError, match=f"would have {told}, fewer than --min-paths {least + 1}"):
        judged([less], [["stripe1-leaf1"]], least + 1)


SPINE_SETS = st.frozensets(st.sampled_from(SPINES))


@given(st.dictionaries(st.sampled_from(LEAVES), st.tuples(SPINE_SETS, SPINE_SETS)), st.integers(0, 5))
def test_lost_paths_by_looking_at_every_pair(
    leaves: dict[str, tuple[frozenset[str], frozenset[str]]], min_paths: int
) -> None:
    now, then = (Paths({name: pair[n] for name, pair in leaves.items()}) for n in (0, 1))
    wrong = {
        (one, other): (left, before)
        for one, other in combinations(sorted(leaves), 2)
        for before, left in [(len(now.spines[one] & now.spines[other]), len(then.spines[one] & then.spines[other]))]
        if left < min(min_paths, before)
    }
    found = lost_paths(now, then, min_paths)
    assert (found is None) == (not wrong)
    if found is not None:
        left, before, (one, other) = found
        assert wrong[min(one, other), max(one, other)] == (left, before)
