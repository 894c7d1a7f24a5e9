"""The fabric and the settings of every variant: colors count for RLB alone, files say what scenarios do not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ailb_gen.errors import IntentError, UsageError
from ailb_gen.sim.balancers import BALANCERS
from ailb_gen.sim.balancers import SPREAD as EVENLY
from ailb_gen.sim.fabric import SPINE, FabricArrays
from ailb_gen.sim.point import Point
from ailb_gen.sim.scenario.fabrics import NO_LOSS, NO_QUEUES, NO_SWITCHES, NOT_WHOLE, REORDERING, points_of, reordering
from ailb_gen.sim.scenario.load import parse
from tests.conftest import ROOT
from tests.sim.walk import shares

FILES = "fabric: {files: {artifacts: tests/golden/jvd}}"
CLOS = "fabric: {clos: {leaves: 2, spines: 4, hosts_per_leaf: 1, colors: 4}}"
TRAFFIC = "traffic: [{collective: {kind: all-reduce, bytes: 1M}}]"


def all_points(*lines: str) -> tuple[list[Point], list[str]]:
    return points_of(parse("\n".join([*lines, TRAFFIC]), "scenario.yaml"), ROOT)


def points(*lines: str) -> dict[str, Point]:
    found, warnings = all_points(*lines)
    assert not warnings
    return {point.settings.balancer.name: point for point in found}


def spines(fabric: FabricArrays, source: int, target: int, pair: int, state: int = 0) -> int:
    """How many spines packets of a queue pair pass."""
    load, arrived = shares(fabric, source, int(fabric.first_destination[target]) + pair, state)
    assert arrived == 1
    return sum(int(fabric.tier[fabric.link_target[link]]) == SPINE for link in load)


@pytest.mark.parametrize(("fabric", "ends"), [(FILES, (0, 31)), (CLOS, (0, 1))])
def test_colors_count_for_rlb_alone(fabric: str, ends: tuple[int, int]) -> None:
    found = points(fabric, "balancer: [rlb, dlb, glb, ecmp]")
    assert list(found) == ["rlb", "dlb", "glb", "ecmp"]
    for name, point in found.items():
        assert [spines(point.fabric, *ends, pair) for pair in range(4)] == [1 if name == "rlb" else 4] * 4
        assert np.diff(point.fabric.first_destination).tolist() == [4] * point.fabric.host_count
    assert found["dlb"].fabric is found["ecmp"].fabric


def test_a_connection_has_a_queue_pair_for_every_address() -> None:
    point = points(FILES, "balancer: rlb")["rlb"]
    workload = point.recipe.build(point.fabric, 1).workload
    flows = workload.queue_pair[workload.source >= 0]
    assert (np.bincount(flows) == len(flows) / 4).all()


def test_outages_hold_for_all_of_them() -> None:
    found = points(FILES, "balancer: [rlb, ecmp]", "failures: [{name: stripe1-leaf1-spine2, at: 1ms, detection: 1us}]")
    assert [spines(found["rlb"].fabric, 0, 31, pair, 1) for pair in range(4)] == [1, 3, 1, 1]
    assert [spines(found["ecmp"].fabric, 0, 31, pair, 1) for pair in range(4)] == [3, 3, 3, 3]


def test_drawn_links_fail_like_named_ones_by_the_seed() -> None:
    words = ("balancer: ecmp", "failures: [{random: 3 links, at: 1ms, back: 2ms, detection: 1us}]", "seeds: 3")
    for fabric in (CLOS, FILES):
        found, _ = all_points(fabric, *words)
        down = [[point.fabric.link_names[one.link] for one in point.fabric.changes if not one.up] for point in found]
        assert [len(names) for names in down] == [6, 6, 6]
        assert down[0] != down[1] or down[1] != down[2]
        times = [[state.at_ps for state in point.fabric.forwarding] for point in found]
        assert times == [[0, 1_001_000_000, 2_001_000_000]] * 3


def test_loss_and_delay_have_no_effect_on_flows_and_it_says_so() -> None:
    words = ("level: flow", "failures: ['leaf1-spine1,rate=50%', 'leaf1-spine2,loss=1%']")
    assert all_points(CLOS, *words)[1] == ["level flow: 'delay' and 'loss' of failures have no effect; 'rate' has"]
    assert all_points(CLOS, words[0], "failures: [{name: leaf1-spine1, rate: 50%}]")[1] == []
    switches = "switches: {exceptions: [{at: leaf1, parameters: {dynamic: 0}}]}"
    assert all_points(CLOS, words[0], switches, "balancer: dlb")[1] == [NO_SWITCHES]
    assert all_points(CLOS, words[0], switches, "balancer: ecmp")[1] == []
    switches = "switches: {loss: {links: 'leaf1*', probability: 1%}, exceptions: [{at: leaf1, headroom: 3, ecn: off}]}"
    dcqcn = "congestion: dcqcn"
    assert all_points(CLOS, words[0], switches, dcqcn)[1] == [NO_LOSS, NO_QUEUES.format("headroom")]
    assert all_points(CLOS, words[0], switches)[1] == [NO_LOSS, NO_QUEUES.format("ecn, headroom")]
    assert all_points(CLOS, switches, dcqcn)[1] == []


@pytest.mark.parametrize(
    ("transport", "warned"),
    [("go-back-n", True), ("selective-repeat", False), ("timeout-only", False), ("raw", False)],
)
def test_reordering_that_go_back_n_takes_for_losses_is_told_once(transport: str, warned: bool) -> None:
    words = (CLOS, f"transport: {transport}", "balancer: [ecmp, presto, spray, letflow]", "seeds: 2")
    assert reordering(all_points(*words)[0]) == ([REORDERING.format("presto, spray")] if warned else [])
    assert reordering(all_points(*words, "level: flow")[0]) == []


def test_a_timeout_is_not_shorter_than_the_delays_of_a_round_trip() -> None:
    """Links of 1 us: two there, and two back."""
    assert all_points(CLOS, "transport: {timeout: 4us}")[1] == []
    for words in ("timeout: 3999ns", "timeout: 1ms, timeout_few: 3999ns"):
        with pytest.raises(UsageError, match=r"is 3\.999 us, and the delays of the shortest round trip are 4 us"):
            all_points(CLOS, f"transport: {{{words}}}")
        for other in ("level: flow", "transport: {name: raw, timeout: 1ps}"):
            assert all_points(CLOS, other)[1] == []


def test_rates_that_packets_cannot_have_are_told() -> None:
    fabric = CLOS.replace("}}", ", uplink_rate: [400g, 700g, 800g, 3.2t]}}")
    told = [NOT_WHOLE.format(700, 727.273), NOT_WHOLE.format(3200, 4000)]
    assert all_points(fabric)[1] == told
    assert all_points(fabric, "level: flow")[1] == []
    with pytest.raises(UsageError, match="links of 17t: a byte takes no picosecond"):
        all_points(fabric.replace("3.2t", "17t"))


def test_what_is_spread_over_all_paths_reorders() -> None:
    assert {one.name for one in BALANCERS.values() if one.rule == EVENLY} < {
        one.name for one in BALANCERS.values() if one.reorders
    }


def test_the_files_say_what_the_scenario_does_not() -> None:
    found = points(
        FILES, "balancer: [rlb, {name: dlb, parameters: {inactivity_us: 5}}, ecmp]", "switches: {headroom: 7}"
    )
    files: dict[str, float] = {"inactivity_us": 128, "flowset_entries": 2048, "quality_delta": 6}
    files |= {"probability": 3 / 256, "sampling_rate": 1_000_000}
    assert found["rlb"].settings.balancer.parameters == files
    assert found["dlb"].settings.balancer.parameters == files | {"inactivity_us": 5}
    assert found["ecmp"].settings.balancer.parameters == {}
    for point in found.values():
        assert point.settings.switches.pfc
        assert point.settings.switches.headroom_bytes == 7
        assert point.settings.switches.ecn_min_bytes is not None


def test_a_name_that_does_not_exist_is_refused() -> None:
    message = r"failures\[0\].name: 'stripe1-leaf1-spin2': there is no such link or switch; did you mean"
    with pytest.raises(IntentError, match=message):
        points(FILES, "failures: [{name: stripe1-leaf1-spin2, at: 1ms}]")


def test_all_names_that_do_not_exist_are_told_with_their_places() -> None:
    text = (
        "fabric: {clos: {leaves: 2, spines: 2, hosts_per_leaf: 2}}\n"
        "traffic: [{collective: {kind: all-gather, bytes: 1MiB}}]\n"
        "failures: [spine1@1ms,\n  spine9@1ms, 9 links]\n"
        "switches:\n  loss: {links: nowhere, probability: 1%}\n"
        "  exceptions:\n    - at: [leaf1, leaf9]\n      ecn: off\n"
    )
    with pytest.raises(IntentError) as caught:
        points_of(parse(text, "x.yaml"), Path())
    found = [(str(one.place), one.path, one.reason.partition(";")[0]) for one in caught.value.problems]
    assert found == [
        ("x.yaml:4:3", "failures[1].name", "'spine9': there is no such link or switch"),
        ("x.yaml:4:15", "failures[2].random", "9 links are to fail, and there are 4 between switches"),
        ("x.yaml:6:10", "switches.loss.links", "no link is called 'nowhere'"),
        ("x.yaml:8:19", "switches.exceptions[0].at[1]", "no switch or port is called 'leaf9'"),
    ]


@pytest.mark.parametrize(
    ("words", "delays"),
    [
        ("", (1_000_000, 1_000_000)),
        (", delay: 2us", (2_000_000, 2_000_000)),
        (", host_delay: 600ns", (600_000, 1_000_000)),
        (", delay: 2us, uplink_delay: 3us", (2_000_000, 3_000_000)),
    ],
)
def test_links_of_hosts_and_uplinks_have_their_delays(words: str, delays: tuple[int, int]) -> None:
    (point,) = points(CLOS.replace("}}", f"{words}}}}}")).values()
    fabric = point.fabric
    own = (fabric.link_source < fabric.host_count) | (fabric.link_target < fabric.host_count)
    assert set(fabric.delay_ps[own].tolist()) == {delays[0]}
    assert set(fabric.delay_ps[~own].tolist()) == {delays[1]}
