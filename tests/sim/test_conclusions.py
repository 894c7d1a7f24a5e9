"""Sentences about simulated variants: the fastest, what others cost, and why some are equal."""

from __future__ import annotations

from typing import Any

import pytest

from ailb_gen.sim.conclusions import conclusions, nccl_choices, no_collisions, remark


def times(*values: float | None) -> list[dict[str, object]]:
    """The statistics of seeds whose job took so many us."""
    return [{"jobs": {"job": {"time_us": value}}, "flows": {}} for value in values]


def test_the_fastest_is_named_first_and_the_slowest_last() -> None:
    found = list(conclusions({"ecmp": times(130, 150), "rlb": times(100, 100), "dlb": times(100.01, 100.02)}))
    assert found == [
        "rlb and dlb are fastest, within 0.1 %: the job takes 100 us.",
        "ecmp takes 40.0 % more (seed by seed 30.0 to 50.0 %).",
    ]


def test_what_does_not_end_is_not_fast() -> None:
    found = list(conclusions({"a": times(None, 50), "b": times(None, None), "c": times(100, 100), "d": times(90, 120)}))
    assert found == [
        "c is fastest: the job takes 100 us.",
        "d takes 5.0 % more (seed by seed -10.0 to 20.0 %); not with every seed.",
        "a does not complete with 1 of 2 seeds.",
        "b does not complete.",
    ]
    assert list(conclusions({"a": times(5), "b": times(5)})) == [
        "All take the same time, within 0.1 %: the job takes 5 us."
    ]
    assert list(conclusions({"a": times(None)})) == ["No job and no flow completed."]
    assert list(conclusions({"a": times(5)})) == ["The job takes 5 us."]
    assert list(conclusions({"a": []})) == []


def loaded(between: float, host: float) -> list[dict[str, object]]:
    """The statistics of a seed with the loads of the busiest links: between switches, and of a host."""
    links = {
        "host to leaf": {"max_load": host},
        "leaf to host": {"max_load": host / 2},
        "leaf to spine": {"max_load": between / 2},
        "spine to leaf": {"max_load": between},
    }
    return [{**one, "links": links} for one in times(5)]


@pytest.mark.parametrize(
    ("between", "host", "why"),
    [
        (
            0.052,
            0.1,
            " 5.2 % of its rate: too low for collisions. Larger messages or a permutation show more.",
        ),
        (0.494, 0.987, " 49.4 % of its rate, that of a host at 98.7 %: hosts are the bottleneck."),
        (0.95, 0.6, " 95.0 % of its rate."),
    ],
)
def test_why_variants_are_equal(between: float, host: float, why: str) -> None:
    equal = "All take the same time, within 0.1 %: the job takes 5 us. The peak load of a link between switches is"
    assert remark({"rlb": loaded(0.01, 0.01), "ecmp": loaded(between, host)}) == equal + why


@pytest.mark.parametrize(
    ("between", "host", "before"),
    [
        (0.052, 0.1, "is 5.2 % of its rate."),
        (0.95, 0.99, "is 95.0 % of its rate, that of a host at 99.0 %: hosts are the bottleneck."),
    ],
)
def test_flows_to_slower_nics_do_not_need_to_collide(between: float, host: float, before: str) -> None:
    seeds = [{**one, "to_slower_nic": {"flows": 400, "of": 1600}} for one in 3 * loaded(between, host)]
    where = "1,200 of 4,800 flows go from a faster to a slower NIC: their queues build at the ports to the receivers."
    assert remark({"rlb": seeds, "ecmp": seeds}).endswith(f"The peak load of a link between switches {before} {where}")
    slow = [{**one, "jobs": {"job": {"time_us": 6.5}}} for one in seeds]
    assert remark({"rlb": slow, "ecmp": seeds}) == where, "also where one is faster"
    assert list(conclusions({"rlb": slow, "ecmp": seeds}))[2:] == [where]


def test_the_first_burst_of_rlb_is_named_as_long_as_it_can_be_the_reason() -> None:
    more = "rlb takes 0.49 us more: all NICs begin with the first color at once. Larger messages do not make it longer."
    assert remark({"rlb": times(26.34), "ecmp": times(25.85)}) == more
    assert list(conclusions({"rlb": times(26.34), "ecmp": times(25.85)}))[2:] == [more]
    assert remark({"rlb": times(27.0), "ecmp": times(25.85)}) == ""
    assert remark({"dlb": times(26.34), "ecmp": times(25.85)}) == ""
    assert remark({"rlb": times(None), "ecmp": times(25.85)}) == ""


def test_flows_that_cannot_collide_are_why_variants_are_equal() -> None:
    within, alone = ({"no_collisions": {"flows": count, "of": 8}} for count in (0, 2))
    points = loaded(0.052, 0.1)
    words = "All take the same time, within 0.1 %: the job takes 5 us. No flows can collide between switches: "
    equal = [{**one, **within} for one in points]
    assert remark({"rlb": equal, "ecmp": equal}) == f"{words}none crosses a spine."
    seeds = [equal[0], {**points[0], **alone}]
    assert remark({"rlb": seeds, "ecmp": seeds}) == f"{words}at most one enters or leaves a leaf."
    assert no_collisions(seeds).startswith("No flows can collide")
    assert no_collisions([*seeds, points[0]]) == no_collisions([]) == "", "in one point they can"


def test_choices_of_nccl_are_named_once() -> None:
    points: list[dict[str, Any]] = [
        {"flows": {"all-reduce (tree, LL128)": {}, "mice (ring, red)": {}}},
        {"flows": {"all-gather": {}}},
    ]
    assert nccl_choices([*points, *points]) == "NCCL chooses: all-reduce (tree, LL128)."
    assert nccl_choices(points[1:]) == nccl_choices([{}]) == ""


def test_without_a_tie_nothing_is_said() -> None:
    assert remark({"rlb": loaded(0.1, 0.2)}) == ""
    assert remark({"rlb": loaded(0.1, 0.2), "ecmp": times(9)}) == ""
    assert remark({"rlb": times(None), "ecmp": times(None)}) == ""
