"""Between two waves some switches are old and some new: a push is refused where they would not get along."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.deploy.device_diff import SwitchDiff
from ailb_gen.deploy.planning import Paths, Wave, check_min_paths, lost_paths, paths_of
from ailb_gen.errors import UsageError
from tests.deploy import lab

LEAVES = [name for name in lab.NAMES if "leaf" in name]
SPINES = [name for name in lab.NAMES if "spine" in name]


def judged(looks: Sequence[SwitchDiff], order: Sequence[Sequence[str]], min_paths: int) -> None:
    found = {name: lab.look(name) for name in lab.NAMES} | {one.name: one for one in looks}
    fabric_model = lab.fabric_model().after({name: one.before for name, one in found.items()})
    waves = [Wave(f"wave {number}", tuple(names)) for number, names in enumerate(order, 1)]
    check_min_paths(fabric_model, found, waves, paths_of(fabric_model, found), min_paths)


def renumbered(leaf: str) -> SwitchDiff:
    """A leaf that gets an AS number which no spine expects."""
    asn = lab.model(leaf).asn
    return lab.look(leaf, after=lab.edited(leaf, (str(asn), "64900")))


def test_what_gets_along_is_not_refused() -> None:
    slower = [
        lab.look(name, after=lab.edited(name, ("minimum-interval 300", "minimum-interval 400"))) for name in SPINES
    ]
    judged(slower, [[name] for name in SPINES], 4)


def test_an_as_number_that_the_other_end_does_not_expect() -> None:
    with pytest.raises(UsageError, match=r"after the wave 'wave 1', .*stripe1-leaf1.* would have 0 of 4 paths"):
        judged([renumbered("stripe1-leaf1")], [["stripe1-leaf1"]], 1)
    judged([renumbered("stripe1-leaf1")], [["stripe1-leaf1"]], 0)


def test_fewer_paths_than_asked_for_in_the_end() -> None:
    disabled = ("description facing_spine1:et-0/0/0;", "description facing_spine1:et-0/0/0; disable;")
    less = lab.look("stripe1-leaf1", after=lab.edited("stripe1-leaf1", disabled))
    judged([less], [["stripe1-leaf1"]], 3)
    with pytest.raises(UsageError, match="would have 3 of 4 paths, fewer than --min-paths 4"):
        judged([less], [["stripe1-leaf1"]], 4)


def test_what_is_down_counts_as_down_and_may_stay_down() -> None:
    """One spine of four is down at a leaf; the change takes another one away from it."""
    disabled = ("description facing_spine1:et-0/0/0;", "description facing_spine1:et-0/0/0; disable;")
    less = lab.look("stripe1-leaf1", after=lab.edited("stripe1-leaf1", disabled))
    crippled = replace(less, up=less.up - {"et-0/0/3.0"})
    judged([crippled], [["stripe1-leaf1"]], 2)
    with pytest.raises(UsageError, match="would have 2 of 3 paths, fewer than --min-paths 3"):
        judged([crippled], [["stripe1-leaf1"]], 3)


SPINE_SETS = st.frozensets(st.sampled_from(SPINES))


@given(st.dictionaries(st.sampled_from(LEAVES), st.tuples(SPINE_SETS, SPINE_SETS)), st.integers(0, 5))
def test_lost_paths_by_looking_at_every_pair(
    leaves: dict[str, tuple[frozenset[str], frozenset[str]]], min_paths: int
) -> None:
    now, then = (Paths({name: pair[n] for name, pair in leaves.items()}) for n in (0, 1))
    wrong = {
        (left, before)
        for one in leaves
        for other in leaves
        if one < other
        for before, left in [(len(now.spines[one] & now.spines[other]), len(then.spines[one] & then.spines[other]))]
        if left < min(min_paths, before)
    }
    found = lost_paths(now, then, min_paths)
    assert (found is None) == (not wrong)
    assert found is None or found[:2] in wrong
