"""The checks of failures: bounds, samples, what is lost, moved and loaded, and the same from another process."""

import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.checks import failure_outcomes
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected import ExpectedFabric
from ailb_gen.checks.families import failures
from ailb_gen.checks.model import Result
from ailb_gen.checks.progress import RunProgress
from ailb_gen.forwarding import failure_kinds
from ailb_gen.forwarding.failures import Assessment, Impact
from ailb_gen.forwarding.link_loads import by_link, loads_of
from ailb_gen.network.fabric import Network
from ailb_gen.routing.rib import Routing
from tests.checks.edited import LEAF, Edit, edited, intended, judged, network, unchanged, without
from tests.checks.trees import ids, run_family

BACKUP = "                backup-color all-colors;\n"


class Counting(RunProgress):
    """Steps that keep the counts of what is done."""

    def __init__(self, told: list[int]) -> None:
        super().__init__(lambda count: None, lambda name: None)
        self.told = told

    def begin(self, name: str, total: int, also: str = "") -> Callable[[int], None]:
        return self.told.append


def run(asked: ExpectedFabric, found: Network) -> list[Result]:
    return run_family("AILB5", Context(asked.fabric, found))


# edit, the checks that find it
DAMAGES: list[tuple[Edit, set[str]]] = [
    ((LEAF, BACKUP, ""), {"501", "504", "506"}),
    ((LEAF, BACKUP, BACKUP.replace("all-colors", "green")), {"501", "504", "506"}),
    ((LEAF, BACKUP, BACKUP.replace("all-colors", "red")), {"503", "505", "506"}),
    ((LEAF, "            multipath {\n                multiple-as;\n            }\n", ""), {"503", "505"}),
    ((LEAF, "        export PFE-LB;\n", ""), {"503", "505"}),
    ((LEAF, "interfaces {\n", "chassis { maximum-ecmp 1; }\ninterfaces {\n"), {"503", "505"}),
]


@pytest.mark.parametrize(("edit", "checks"), DAMAGES)
def test_a_damage_is_found_by_the_checks_that_name_it(edit: Edit, checks: set[str]) -> None:
    assert {one.check for one in judged(run, network(edited(edit)))} == {f"AILB{check}" for check in checks}


def test_a_finding_names_the_failure_who_loses_what_and_the_cable() -> None:
    found = judged(run, network(edited((LEAF, BACKUP, ""))))
    link = next(one for one in found if one.check == "AILB501")
    assert link.scope == f"{LEAF} et-0/0/0"
    lost = "loses fc00:1:1:1::/64 (no route at"
    assert link.message.startswith(f"{LEAF}:et-0/0/0 - spine1:et-0/0/0 fails: stripe1-leaf2 {lost} stripe1-leaf2)")
    assert link.message.endswith(") and 2 more")
    assert link.place is not None
    rows = (network_root() / "cabling.csv").read_text().split("\n")
    assert "stripe1-leaf1,et-0/0/0,spine1,et-0/0/0" in rows[link.place.line - 1]
    (spine,) = (one for one in found if one.check == "AILB504")
    assert (spine.scope, spine.place) == ("spine1", None)


def network_root() -> Path:
    return Path(__file__).parent.parent / "golden" / "lab"


def test_a_load_is_told_with_its_link() -> None:
    found = judged(run, network(edited((LEAF, BACKUP, BACKUP.replace("all-colors", "red")))))
    told = [one.message for one in found if one.check == "AILB503"]
    moved = f"{LEAF}:et-0/0/2 - spine3:et-0/0/0"
    assert f"{LEAF}:et-0/0/0 - spine1:et-0/0/0 fails: {moved} carries 2.000 times its previous load" in told


def test_where_not_everything_arrives_failures_are_not_looked_at() -> None:
    found = network(edited((LEAF, BACKUP, ""), (LEAF, "                    interface et-0/0/0.0;\n", "")))
    results = list(run(intended(), found))
    assert [result.check.id for result in results] == ids("AILB5")
    assert all("AILB402" in result.skipped and not result.findings for result in results)


def test_pairs_that_move_without_a_reason_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Routing(unchanged())
    device = found.graph.index["stripe2-leaf1"]
    strayed = tuple((device, prefix) for prefix in intended().leaves[0].prefixes[:2])

    def stray(self: Assessment) -> Impact:
        return Impact(self.failure, 7, (), strayed if 3 in self.failure.sessions else (), 1.0, 0)

    monkeypatch.setattr(Assessment, "run", stray)
    # What is alike strays alike: here each is computed.
    monkeypatch.setattr(failure_kinds, "MOST", 0)
    results = {result.check: result for result in run(intended(), found.graph.network)}
    (one,) = results[failures.LINK_CALM].findings
    cable = found.graph.sessions.up[3].cable
    assert (
        one.message
        == f"{cable.a} - {cable.b} fails: stripe2-leaf1 reroutes fc00:1:1:1::/64, which did not use it and 1 more"
    )
    assert results[failures.LINK_CALM].figures == (("most FIB entries changed by a failure", "7"),)
    pairs = results[failures.PAIR_CALM].findings
    assert pairs and all(f"{cable.a} - {cable.b}" in other.message for other in pairs)
    assert not results[failures.LINK_REACH].findings


def test_what_no_path_is_left_for_is_no_finding() -> None:
    results = {result.check: result for result in run(intended("brownfield"), unchanged("brownfield"))}
    assert dict(results[failures.PAIR_REACH].figures)["unavoidable losses, not counted (no cabled path left)"]
    assert not results[failures.PAIR_REACH].findings


@given(st.integers(0, 40), st.integers(0, 80), st.integers())
def test_pairs_are_sampled_without_repetition(count: int, size: int, seed: int) -> None:
    found = failure_outcomes.sampled_pairs(count, size, seed)
    assert len(found) == len(set(found)) == min(size, count * (count - 1) // 2)
    assert all(0 <= a < b < count for a, b in found)
    assert found == failure_outcomes.sampled_pairs(count, size, seed)


def test_destinations_are_what_is_there() -> None:
    context = Context(intended().fabric, without(LEAF))
    found = context.destinations
    assert {context.routing.graph.names[device] for device in found} == {
        "stripe1-leaf2",
        "stripe2-leaf1",
        "stripe2-leaf2",
    }
    assert not Context(intended().fabric, without(*unchanged().switches)).destinations


def test_another_process_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    context = Context(intended().fabric, network(edited((LEAF, BACKUP, ""))))
    alone: list[int] = []
    told: list[int] = []
    here = run_family("AILB5", replace(context, steps=Counting(alone)))
    monkeypatch.setattr(failure_outcomes, "CHUNK", 16)
    collecting = gc.isenabled()
    try:
        with ThreadPoolExecutor(1) as executor:
            there = run_family("AILB5", replace(context, executor=executor, steps=Counting(told)))
    finally:
        # A worker holds the collector off for good; here that was this process.
        if collecting:
            gc.enable()
    assert here == there
    assert sum(alone) == sum(told) and max(told) == 16


def test_a_file_that_holds_no_baseline_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "baseline"
    path.write_bytes(b"N.")
    with pytest.raises(TypeError, match="holds no baseline"):
        failure_outcomes.assess_stored(path, failure_outcomes.Chunk(0, (), 0))


@pytest.mark.parametrize("executor", [None, ThreadPoolExecutor(1)])
def test_peaks_are_the_highest_loads_over_all_single_failures(
    executor: ThreadPoolExecutor | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compared with the loads of all-to-all computed anew for every failure; a link that is down is no peak."""
    monkeypatch.setattr(failure_outcomes, "CHUNK", 5)
    collecting = gc.isenabled()
    context = replace(Context(intended().fabric, unchanged()), executor=executor)
    found = context.failure_outcomes
    if collecting:
        gc.enable()
    assert found is not None
    graph, routing = context.routing.graph, context.routing
    every = [loads_of(routing, "all-to-all", failed=frozenset({at})) for at in range(len(graph.sessions.up))]
    every += [loads_of(routing, "all-to-all", dead=frozenset({graph.index[one.failure.name]})) for one in found.spines]
    seen = by_link(graph, found.peaks.load / found.baseline.highest)
    for number, name in enumerate(seen):
        for way in (0, 1):
            assert seen[name][way] == pytest.approx(max(1.0, *(one[name][way] for one in every)), abs=1e-3)
            cause = int(found.peaks.cause[2 * number + way])
            assert every[cause][name][way] == pytest.approx(seen[name][way], abs=1e-3)
    assert [one.failure.name for one in found.single[:2]] == [graph.link_name(0), graph.link_name(1)]
    assert found.single[-1].failure.name == "spine4"
