"""Arrivals: loads, sizes and destinations as asked for, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.errors import IntentError, UsageError
from ailb_gen.sim.fabric import PS_PER_S
from ailb_gen.sim.traffic.arrivals import mice, other_hosts, poisson, read_size_distribution, size_distribution
from ailb_gen.sim.traffic.builder import stream
from tests.conftest import examples, need_shared
from tests.sim.traffic.executor import check
from tests.sim.traffic.test_builder import same

SIZES = size_distribution("two", [[0, 0], [1000, 50], [9000, 100]])
HOSTS = np.arange(16, dtype=np.int32)


def test_sizes_follow_the_distribution() -> None:
    drawn = SIZES.draw(200_000, stream(1, "x"))
    assert SIZES.mean_bytes() == 500 * 0.5 + 5000 * 0.5
    assert drawn.mean() == pytest.approx(SIZES.mean_bytes(), rel=0.01)
    assert (drawn <= 1000).mean() == pytest.approx(0.5, abs=0.01)
    assert (drawn <= 5000).mean() == pytest.approx(0.75, abs=0.01)
    assert drawn.min() >= 1
    assert drawn.max() <= 9000


def test_hosts_offer_the_load() -> None:
    rate, load, seconds = 10**9, 0.4, 2
    workload = poisson(HOSTS, rate, load, SIZES, seconds * PS_PER_S, 3)
    check(workload)
    assert workload.amount.sum() * 8 / (16 * rate * seconds) == pytest.approx(load, rel=0.01)
    gaps = np.diff(np.sort(workload.start_ps[workload.source == 5]))
    assert gaps.std() == pytest.approx(gaps.mean(), rel=0.03), "exponential gaps"
    assert (np.diff(workload.start_ps) >= 0).all()
    assert (workload.source != workload.target).all()
    pairs = np.bincount(workload.source * 16 + workload.target, minlength=256).reshape(16, 16)
    expected = workload.count / 240
    assert (np.abs(pairs[~np.eye(16, dtype=bool)] - expected) < 6 * expected**0.5).all()


def test_hosts_of_different_rates_offer_the_same_share_of_each() -> None:
    rates = np.where(HOSTS < 8, 10**9, 4 * 10**9)
    workload = poisson(HOSTS, rates, 0.5, SIZES, PS_PER_S, 3)
    slow = workload.source < 8
    fast_bytes, slow_bytes = workload.amount[~slow].sum(), workload.amount[slow].sum()
    assert fast_bytes / slow_bytes == pytest.approx(4, rel=0.02)


@settings(max_examples=examples(60))
@given(st.lists(st.integers(0, 3), min_size=2, max_size=12), st.integers(0, 2**40))
def test_destinations_are_under_other_leaves(leaves: list[int], seed: int) -> None:
    leaf = np.array(leaves, dtype=np.int32)
    hosts = np.arange(len(leaf), dtype=np.int32)
    source = np.repeat(hosts, 40)
    if len(set(leaves)) == 1:
        with pytest.raises(UsageError, match="a host of another leaf"):
            other_hosts(source, hosts, leaf, stream(seed, "x"))
        return
    target = other_hosts(source, hosts, leaf, stream(seed, "x"))
    assert (leaf[source] != leaf[target]).all()
    anywhere = other_hosts(source, hosts, None, stream(seed, "x"))
    assert (source != anywhere).all()


def test_only_the_given_hosts_take_part() -> None:
    hosts = np.array([3, 7, 11], dtype=np.int32)
    workload = mice(hosts, np.full(300, 10), 5, 1, first_ps=7)
    assert set(workload.source.tolist()) == set(workload.target.tolist()) == {3, 7, 11}
    assert workload.start_ps[:3].tolist() == [7, 12, 17]
    assert same(workload, mice(hosts, np.full(300, 10), 5, 1, first_ps=7))
    assert not same(workload, mice(hosts, np.full(300, 10), 5, 2, first_ps=7))


@pytest.mark.parametrize("name", ["AliStorage2019", "Solar2022", "GoogleRPC2008", "FbHdp2015"])
def test_the_published_distributions_are_read(name: str) -> None:
    path = need_shared("sim/flow-size-cdfs.json")
    points = np.array(json.loads(path.read_text())[name])
    steps = np.interp((np.arange(10**6) + 0.5) / 10**4, points[:, 1], points[:, 0])
    assert read_size_distribution(path, path.name, name).mean_bytes() == pytest.approx(steps.mean(), rel=1e-3)
    with pytest.raises(UsageError, match=f"did you mean '{name}'"):
        read_size_distribution(path, path.name, name[:-1])


@pytest.mark.parametrize(
    ("points", "text"),
    [
        ([], "two or more pairs"),
        ("x", "two or more pairs"),
        ([[1, 2, 3], [1, 2, 3]], "two or more pairs"),
        ([[0, 0], [5, "a"]], "two or more pairs"),
        ([[0, 5], [5, 100]], "begin at 0 %"),
        ([[0, 0], [5, 99]], "end at 100 %"),
        ([[-1, 0], [5, 100]], "begin at 0 %"),
        ([[0, 0], [float("nan"), 50], [5, 100]], "begin at 0 %"),
        ([[0, 0], [5, 50], [4, 100]], "must increase"),
        ([[0, 0], [5, 60], [6, 50], [7, 100]], "must increase"),
        ([[0, 0], [0, 100]], "must increase"),
    ],
)
def test_points_that_are_no_distribution_are_refused(points: Any, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        size_distribution("x", points)


@pytest.mark.parametrize(
    ("text", "error"), [("{", "not JSON"), ('{"a": 1, "a": 2}', "twice"), ("[" * 99999, "not JSON")]
)
def test_files_that_are_no_json_are_refused(tmp_path: Path, text: str, error: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(IntentError, match=error):
        read_size_distribution(tmp_path / "x.json", "x.json", "a")


def test_other_json_has_no_distribution(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps([1]))
    with pytest.raises(UsageError, match="no flow sizes 'a'; known: none"):
        read_size_distribution(tmp_path / "x.json", "x.json", "a")


def test_a_host_alone_has_no_destination() -> None:
    with pytest.raises(UsageError, match="another host"):
        poisson(HOSTS[:1], 10**9, 1, SIZES, PS_PER_S, 1)
