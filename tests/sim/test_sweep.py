"""Points, their digests, running them here and in processes, stopping, and memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from distributed import LocalCluster

from ailb_gen.errors import OutputError, UsageError
from ailb_gen.sim import memory, point, sweep
from ailb_gen.sim.clos import clos
from ailb_gen.sim.comparison import compared, comparison_table
from ailb_gen.sim.digest import digest, sources_digest
from ailb_gen.sim.engine import records, senders
from ailb_gen.sim.fabric import FabricArrays
from ailb_gen.sim.outcome import Progress
from ailb_gen.sim.point import Point, Traffic, run_of, simulate
from ailb_gen.sim.results import PointResult, PointRow, finish, keep, open_results, profile_of
from ailb_gen.sim.settings import BalancerSettings, PacketSettings, SimulationSettings, TransportName, TransportSettings
from ailb_gen.sim.statistics import Collective
from ailb_gen.sim.sweep import Board, Options, check_memory, pending, prepare
from ailb_gen.sim.traffic.builder import TaskBuilder
from ailb_gen.sim.workload import LeastTraffic
from tests.sim import double

pq = pytest.importorskip("pyarrow.parquet")
G = 10**9
FABRIC = clos(2, 1, 2, host_bps=8 * G, uplink_bps=8 * G)


@dataclass(frozen=True)
class Ring:
    """So many bytes from host to host, in a row."""

    size: int = 1000

    def build(self, fabric: FabricArrays, seed: int) -> Traffic:
        builder = TaskBuilder(seed)
        job = builder.job("ring")
        end = -1
        for host in range(fabric.host_count):
            target = (host + 1) % fabric.host_count
            end = builder.send(job, np.array([host]), np.array([target]), self.size, end).end.tolist()[0]
        builder.step(job, end)
        return Traffic(builder.finish(), {"ring": Collective("all-reduce", 4, 4 * self.size)})

    def least(self, fabric: FabricArrays, seed: int) -> list[LeastTraffic]:
        return [LeastTraffic(fabric.host_count, 1, self.size)]


def a_point(seed: int = 1, name: str = "ecmp", size: int = 1000) -> Point:
    return Point(name, seed, "packet", FABRIC, SimulationSettings(balancer=BalancerSettings(name)), Ring(size))


def digest_of(one: Point) -> str:
    return run_of(one, one.recipe.build(one.fabric, one.seed)).digest()


@pytest.fixture
def doubled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The plain engine in place of the compiled one."""
    monkeypatch.setitem(point.ENGINES, "packet", double.NAME)
    yield


def run_here(points: list[Point], board: Board | None = None, stop_after: int = 10**9) -> list[PointResult]:
    prepared = prepare(points)
    found: list[PointResult] = []
    board = board or Board(len(points))
    seen = 0

    def told(now: Board) -> None:
        nonlocal seen
        seen += 1
        if seen == stop_after:
            now.stop()

    sweep.sweep(prepared, Options("serial"), found.append, board, told)
    return found


def test_digests_tell_contents_apart_and_nothing_else() -> None:
    arrays = np.arange(4), np.arange(4, dtype=np.int32), np.arange(4).reshape(2, 2), np.zeros((2, 0))
    assert len({digest(array) for array in arrays}) == 4
    assert digest({"a": 1, "b": (2, None)}) == digest({"b": [2, None], "a": 1})
    assert digest(("ab", "c")) != digest(("a", "bc"))
    assert digest(1) != digest(1.0) != digest("1")
    with pytest.raises(TypeError):
        digest(object())


def test_a_point_is_known_by_all_that_it_depends_on() -> None:
    base = a_point()
    others = [
        a_point(seed=2),
        a_point(name="spray"),
        a_point(size=1001),
        replace(base, after_ps=1),
        replace(base, level="flow"),
        replace(base, fabric=clos(2, 1, 2, host_bps=9 * G, uplink_bps=8 * G)),
        replace(base, settings=replace(base.settings, until_ps=5)),
    ]
    names = [digest_of(one) for one in [base, *others]]
    assert len(set(names)) == len(names)
    again = replace(base, variant="another name")
    assert digest_of(again) == names[0]


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the sources of a simulator, by which points are known."""
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "loop.py").write_text("one = 1\n")
    (tmp_path / "statistics.py").write_text("two = 2\n")
    monkeypatch.setattr("ailb_gen.sim.digest.SIMULATOR", tmp_path)
    sources_digest.cache_clear()
    yield tmp_path
    sources_digest.cache_clear()


@pytest.mark.parametrize("changed", ["engine/loop.py", "statistics.py", "engine/new.py"])
def test_a_point_of_another_simulator_is_not_taken_over(copied: Path, changed: str) -> None:
    before, engine = digest_of(a_point()), sources_digest("engine/**/*.py")
    assert digest_of(a_point()) == before
    (copied / changed).write_text("three = 3\n")
    sources_digest.cache_clear()
    assert digest_of(a_point()) != before
    assert (sources_digest("engine/**/*.py") != engine) == changed.startswith("engine")


def test_sources_are_known_by_place_in_the_simulator_and_content(copied: Path) -> None:
    before = sources_digest()
    (copied / "statistics.py").rename(copied / "engine" / "statistics.py")
    sources_digest.cache_clear()
    assert sources_digest() != before


@pytest.mark.usefixtures("doubled")
def test_a_point_gives_statistics_and_tables() -> None:
    found = simulate(a_point(seed=3))
    # 1000 bytes at 8 Gb/s are 1 us, and 3 us for the seed; four times.
    assert found.statistics["jobs"]["ring"]["time_us"] == 16
    assert found.statistics["jobs"]["ring"]["bus_bandwidth"] == 1.5 * 4000 * 1000 / 16e6
    assert not found.statistics["interrupted"] and not found.statistics["stuck"]
    assert found == simulate(a_point(seed=3))
    assert simulate(a_point(seed=3), tables=False) == replace(found, files={})
    profiled = simulate(a_point(seed=3), tables=False, profiled=True)
    assert replace(profiled, files={}) == replace(found, files={})
    assert set(json.loads(profiled.files["profile"])) >= {"fct_us", "loads", "series"}


@pytest.mark.usefixtures("doubled")
def test_all_points_run_and_the_board_says_how_far() -> None:
    points = [a_point(seed, name) for name in ("ecmp", "spray") for seed in (1, 2)]
    board = Board(4)
    found = run_here(points, board)
    assert [one.seed for one in found] == [1, 2, 1, 2]
    assert [ended for ended, _, _ in board.read()] == [3] * 4
    assert len({one.digest for one in found}) == 4


@pytest.mark.usefixtures("doubled")
def test_stopping_keeps_what_is_known() -> None:
    found = run_here([a_point(seed) for seed in (1, 2, 3)], stop_after=7)
    assert [one.seed for one in found] == [1, 2]
    assert [one.statistics["interrupted"] for one in found] == [False, True]
    assert [one.statistics["complete"] for one in found] == [True, False]
    assert 0 < found[1].statistics["ended"] < 4


def test_a_board_holds_what_is_written() -> None:
    board = Board(2)
    board.write(1, Progress(5, 6, 7, 8))
    assert board.read() == [(0, 0, 0), (7, 5, 6)]
    assert not board.stopping
    board.stop()
    assert board.stopping
    assert board.read() == [(0, 0, 0), (7, 5, 6)]


def test_finished_points_and_twins_do_not_run_again() -> None:
    prepared = prepare([a_point(1), a_point(1), a_point(2)])
    assert [one.point.seed for one in pending(prepared, {})] == [1, 2]
    assert [one.point.seed for one in pending(prepared, {prepared[0].digest: {}})] == [2]


def test_what_does_not_fit_into_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = prepare([a_point(1), a_point(2)])
    needed = prepared[0].needed_bytes
    for free, kind, message in (
        (needed - 1, "serial", "ecmp, seed 1: it needs about .* of memory, and .* are free; simulate fewer"),
        (2 * needed - 1, "processes", "2 points at once need about .* of memory, and .* are free; use -j 1"),
    ):
        monkeypatch.setattr(sweep, "available_bytes", lambda free=free: free)
        with pytest.raises(UsageError, match=message):
            check_memory(prepared, Options(kind, 2))
    check_memory(prepared, Options("serial", 2))
    check_memory([], Options("processes", 2))
    monkeypatch.setattr(sweep, "available_bytes", lambda: None)
    check_memory(prepared, Options("processes", 2))


def test_more_packets_than_can_be_counted_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "available_bytes", lambda: None)
    most = 4096 * (2**31 - 1)
    assert len(prepare([a_point(size=most), replace(a_point(size=most + 1), level="flow")])) == 2
    with pytest.raises(UsageError, match=r"ecmp, seed 1: a flow of 8 TiB has more than 2,147,483,647 packets of"):
        prepare([a_point(size=most + 1)])


def test_free_memory_is_what_the_kernel_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:  2048 kB\n")
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    assert memory.available_bytes() == 2 << 20
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "none")
    assert memory.available_bytes() is None
    assert [memory.shown_bytes(n) for n in (5, 2048, 3 << 29)] == ["5 B", "2 KiB", "1.5 GiB"]


@pytest.mark.parametrize(("transport", "packets"), [("raw", 100), ("go-back-n", 100), ("selective-repeat", 5)])
def test_only_what_runs_at_a_time_counts(transport: TransportName, packets: int) -> None:
    settings = SimulationSettings(PacketSettings(1000), transport=TransportSettings(transport, window_bytes=5000))
    if transport == "go-back-n":
        settings = replace(settings, transport=TransportSettings(transport))
    one, row = (memory.needed_bytes(FABRIC, Ring(size).build(FABRIC, 1).workload, settings) for size in (1, 100_000))
    # Of four flows in a row one runs.
    assert row - one == (packets - 1) * memory.PACKET


def test_the_estimate_knows_the_sizes_of_the_engine() -> None:
    assert 3 * records.PACKET.itemsize <= memory.PACKET
    assert records.FLOW.itemsize + records.TIMER.itemsize + senders.SENDER.itemsize <= memory.FLOW
    assert senders.CONTROLLED.itemsize <= memory.CONTROLLED
    assert 3 * senders.STAMPS * senders.STAMP.itemsize <= memory.TELEMETRY
    assert senders.CREDIT.itemsize <= memory.CREDIT
    assert records.TASK.itemsize + 40 <= memory.TASK


def test_a_run_on_several_cores_keeps_the_records_of_all_flows() -> None:
    workload = Ring().build(FABRIC, 1).workload
    one, several = (memory.needed_bytes(FABRIC, workload, SimulationSettings(), divided=many) for many in (False, True))
    # Of four flows in a row one runs.
    assert several - one == 3 * memory.FLOW
    # Two classes of its own and eight of data.
    link = records.LINK.itemsize + records.WIRE.itemsize + records.PORT.itemsize + 4 * records.BUCKETS
    assert link + 10 * (records.QUEUE.itemsize + records.HELD.itemsize) <= memory.LINK


def rows_of(points: list[Point], found: list[PointResult]) -> list[PointRow]:
    known = {one.digest: one.statistics for one in found}
    return [PointRow(one.point.variant, one.point.seed, one.digest, known.get(one.digest)) for one in prepare(points)]


@pytest.mark.usefixtures("doubled")
def test_results_are_files_that_say_what_they_are(tmp_path: Path) -> None:
    out = tmp_path / "out"
    points = [a_point(seed, name) for name in ("ecmp", "spray") for seed in (1, 2)]
    found = run_here(points)
    for one in found:
        keep(out, one)
    rows = rows_of(points, found)
    about = {"scenario": "rings", "scenario_sha256": "abc", "interrupted": False}
    finish(out, rows, about, compared(rows))
    flows, links = (pq.read_table(out / f"{kind}.parquet") for kind in ("flows", "links"))
    assert flows.num_rows == 16
    assert links.num_rows == 4 * FABRIC.link_count
    assert pq.ParquetFile(out / "flows.parquet").num_row_groups == 4
    metadata = {key.decode(): value.decode() for key, value in flows.schema.metadata.items()}
    assert metadata["ailb_gen.program"].startswith("ailb-gen ")
    assert (metadata["ailb_gen.scenario_sha256"], metadata["ailb_gen.seeds"]) == ("abc", "1 2")
    assert flows["variant"].to_pylist() == ["ecmp"] * 8 + ["spray"] * 8
    assert flows["seed"].to_pylist() == ([1] * 4 + [2] * 4) * 2
    assert flows["fct_ps"].to_pylist()[:4] == [2_000_000] * 4
    assert flows["target"].to_pylist()[:4] == ["host2", "host3", "host4", "host1"]
    assert links["load"].to_pylist()[0] == pytest.approx(1000 * 8 / (8 * G * 8e-6))
    single = pq.read_table(out / "points" / f"{found[0].digest}.flows.parquet")
    assert single.schema.metadata[b"ailb_gen.point"].decode() == found[0].digest
    before = {path: path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}
    finish(out, rows, about, compared(rows))
    assert {path: path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()} == before
    assert open_results(out) == {one.digest: one.statistics for one in found}
    assert profile_of(out, found[0].digest) is None
    for one in found[:2]:
        keep(out, replace(one, files={**one.files, "profile": b'{"end_us":1}'}))
    assert len(open_results(out)) == len(found), "a profile is no point"
    assert profile_of(out, found[0].digest) == {"end_us": 1}


def test_a_profile_that_is_damaged_or_not_of_this_point_is_none(tmp_path: Path) -> None:
    for name in ("a", "b"):
        keep(tmp_path, PointResult(name, 1, {}, {"profile": b'{"end_us":1}'}))
    assert profile_of(tmp_path, "a") == {"end_us": 1}
    file, other = (tmp_path / "points" / f"{name}.profile.json" for name in ("a", "b"))
    good = file.read_bytes()
    json.loads(good)
    for data in (b"", b"{}", b'{"end_us":1}', good[:-20], good.replace(b":1", b":2"), b"\xff\n", other.read_bytes()):
        file.write_bytes(data)
        assert profile_of(tmp_path, "a") is None


@pytest.mark.usefixtures("doubled")
def test_interrupted_and_damaged_points_are_not_finished(tmp_path: Path) -> None:
    found = run_here([a_point(seed) for seed in (1, 2, 3, 4)], stop_after=15)
    for one in found:
        keep(tmp_path, one)
    assert len(open_results(tmp_path)) == 3
    (tmp_path / "points" / f"{found[0].digest}.links.parquet").unlink()
    (tmp_path / "points" / f"{found[1].digest}.json").write_text('{"interrupted": ')
    assert list(open_results(tmp_path)) == [found[2].digest]


def test_a_directory_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("x")
    with pytest.raises(OutputError, match="files that are not results"):
        open_results(tmp_path)
    with pytest.raises(OutputError, match="not a directory"):
        open_results(tmp_path / "thesis.txt")
    assert open_results(tmp_path / "none") == {}
    with pytest.raises(OutputError, match="cannot be written"):
        keep(tmp_path / "thesis.txt", PointResult("d", 1, {}, {"flows": b"", "links": b""}))


@pytest.mark.usefixtures("doubled")
def test_nothing_known_still_is_a_result(tmp_path: Path) -> None:
    rows = rows_of([a_point(1)], [])
    finish(tmp_path, rows, {"interrupted": True}, compared(rows))
    assert pq.read_table(tmp_path / "flows.parquet").num_rows == 0
    assert '"statistics": null' in (tmp_path / "summary.json").read_text()


@pytest.mark.usefixtures("doubled")
def test_variants_are_compared_by_mean_and_range_over_seeds() -> None:
    points = [a_point(seed, name) for name in ("ecmp", "spray") for seed in (1, 3)]
    records = list(compared(rows_of(points, run_here(points)[:3])))
    assert [(one["variant"], one["seeds"]) for one in records] == [("ecmp", 2), ("spray", 1)]
    assert records[0]["job_us"] == {"seeds": 2, "mean": 12, "least": 8, "most": 16}
    table = comparison_table(records, "balancer").splitlines()
    assert table[0].split("  ")[0] == "balancer"
    job = table[0].split().index("job")
    assert table[3].split()[:2] == ["ecmp", "2"]
    assert table[3].split()[job] == "12"
    assert "8-16" in table[4].split()
    assert table[5].split()[:2] == ["spray", "1"]
    assert table[6] == ""


@pytest.mark.long
def test_dask_and_processes_find_the_same(tmp_path: Path) -> None:
    points = [a_point(seed, name) for name in ("ecmp", "spray") for seed in (1, 2)]
    prepared = prepare(points)

    def spread(kind: str) -> dict[str, PointResult]:
        found: dict[str, PointResult] = {}
        board = Board(len(points))
        sweep.sweep(prepared, Options(kind, 2), lambda one: found.update({one.digest: one}), board, lambda board: None)
        return found

    here = spread("serial")
    assert spread("processes") == here
    with LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path)
    ) as cluster:
        assert spread(f"dask:{cluster.scheduler_address}") == here
