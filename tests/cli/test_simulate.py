"""`ailb-gen simulate`: scenario files and the short form, results, resuming, interrupts, bad input."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ailb_gen.sim import sweep
from ailb_gen.sim.engine.partition import Partition
from ailb_gen.sim.engine.parts import divided
from ailb_gen.sim.engine.records import EngineState
from ailb_gen.sim.fabric import FabricArrays
from ailb_gen.sim.outcome import SimulationOutcome
from ailb_gen.sim.scenario.recipe import TrafficRecipe
from ailb_gen.sim.workload import Workload
from tests.cli.verbs import Told, files, program, refused, run
from tests.conftest import ROOT
from tests.sim import double
from tests.sim.engine.cases import needs_compiler

pq = pytest.importorskip("pyarrow.parquet")
BeforeEach = Callable[[Callable[[int], object]], None]
JVD = (str(ROOT / "examples/jvd/fabric.yaml"), str(ROOT / "tests/golden/jvd"))
SMALL = """\
name: small
fabric:
  clos: {leaves: 2, spines: 2, hosts_per_leaf: 2, host_rate: 100g, uplink_rate: 100g}
traffic:
- collective: {kind: all-reduce, bytes: 64KiB, steps: 2}
balancer: [ecmp, spray]
transport: raw
seeds: 2
"""


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return str(path)


def simulate(*words: str) -> Told:
    return run("simulate", *words, "--executor", "serial")


def summary(out: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((out / "summary.json").read_text())
    return found


@pytest.mark.usefixtures("doubled")
def test_a_scenario_gives_a_table_and_files(scenario: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code, shown, told = simulate(scenario, "-o", str(out))
    assert (code, told) == (0, "")
    lines = shown.splitlines()
    assert lines[0].startswith("balancer  seeds")
    assert [line.split()[:2] for line in lines[3:7:2]] == [["ecmp", "2"], ["spray", "2"]]
    found = summary(out)
    assert found["scenario"] == "small"
    assert found["interrupted"] is False
    points = found["points"]
    assert isinstance(points, list)
    assert [(one["variant"], one["seed"]) for one in points] == [("ecmp", 1), ("ecmp", 2), ("spray", 1), ("spray", 2)]
    assert all(one["statistics"]["jobs"]["all-reduce"]["steps"] == 2 for one in points)
    # 2 steps of 6 rounds of 4 flows.
    assert pq.read_table(out / "flows.parquet").num_rows == 4 * 48
    metadata = pq.read_schema(out / "links.parquet").metadata
    assert metadata[b"ailb_gen.scenario_sha256"].decode() == found["scenario_sha256"]


def test_finished_points_are_not_simulated_again(scenario: str, tmp_path: Path, doubled: BeforeEach) -> None:
    out = tmp_path / "out"
    assert simulate(scenario, "-o", str(out), "--seeds", "1")[0] == 0
    simulated: list[int] = []
    doubled(simulated.append)
    assert simulate(scenario, "-o", str(out))[0] == 0
    assert simulated == [2, 2]
    before = files(out)
    assert simulate(scenario, "-o", str(out))[0] == 0
    assert simulated == [2, 2]
    assert files(out) == before
    assert simulate(scenario, "-o", str(tmp_path / "again"))[0] == 0
    assert files(tmp_path / "again") == before


@pytest.mark.usefixtures("doubled")
def test_a_report_shows_the_points_also_those_of_earlier_runs(scenario: str, tmp_path: Path) -> None:
    out, page = tmp_path / "out", tmp_path / "report.html"
    assert simulate(scenario, "-o", str(out), "--seeds", "1")[0] == 0
    before = files(out)
    code, text, told = simulate(scenario, "-o", str(out), "--report", f"html={page}")
    again = "2 of 2 finished points have no usable data for charts; they are simulated again\n"
    assert (code, told) == (0, again)
    assert text.startswith("balancer  seeds")
    profiles = sorted(name for name in files(out) if name.endswith(".profile.json"))
    assert len(profiles) == 4, "points without a profile were simulated again"
    assert {name: data for name, data in files(out).items() if name in before and "points/" in name} == {
        name: data for name, data in before.items() if "points/" in name
    }, "and they are the same"
    first = page.read_text()
    assert "ecmp" in first and "Queue depth and load over time" in first
    assert simulate(scenario, "-o", str(out), "--report", f"html={page}") == (0, text, "")
    assert page.read_text() == first
    for name, data in zip(profiles, ("", "{}", '{"end_us": "x"}'), strict=False):
        (out / name).write_text(data)
    again = "3 of 4 finished points have no usable data for charts; they are simulated again\n"
    assert simulate(scenario, "-o", str(out), "--report", f"html={page}") == (0, text, again)
    assert page.read_text() == first, "damaged data is measured again"
    assert simulate(scenario, "--report", f"html={page}")[0] == 0
    assert page.read_text() == first, "a directory is not needed"


@pytest.mark.usefixtures("doubled")
def test_a_report_needs_a_file_that_can_be_written(scenario: str, tmp_path: Path) -> None:
    refused(simulate(scenario, "--report", "html"), "name a file: html=FILE")
    refused(simulate(scenario, "--report", "pdf=x"), "unknown format")
    refused(simulate(scenario, "--report", f"html={scenario}"), "is an input of this command; name another file")
    (tmp_path / "file").write_text("")
    code, text, told = simulate(scenario, "--report", f"html={tmp_path}/file/report.html")
    assert code == 3
    assert "cannot write the report" in told
    assert text.startswith("balancer  seeds"), "everything else was done"


def test_an_interrupt_keeps_what_is_known_and_the_next_run_goes_on(
    scenario: str, tmp_path: Path, doubled: BeforeEach
) -> None:
    out = tmp_path / "out"
    handler = signal.getsignal(signal.SIGINT)
    doubled(lambda seed: os.kill(os.getpid(), signal.SIGINT) if seed == 2 else None)
    code, shown, told = simulate(scenario, "-o", str(out))
    assert code == 130
    assert "stopping: results so far are kept" in told
    assert "these results are partial: 1 of 4 points are finished" in told
    assert "ecmp (partial)" in shown
    assert signal.getsignal(signal.SIGINT) is handler
    found = summary(out)
    assert found["interrupted"] is True
    points = found["points"]
    assert isinstance(points, list)
    known = [one["statistics"] and one["statistics"]["interrupted"] for one in points]
    assert known == [False, True, None, None]
    doubled(lambda seed: None)
    assert simulate(scenario, "-o", str(out))[0] == 0
    assert simulate(scenario, "-o", str(tmp_path / "whole"))[0] == 0
    assert files(out) == files(tmp_path / "whole")


@pytest.mark.usefixtures("doubled")
def test_traffic_that_cannot_end_is_told(scenario: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = double.simulate

    def lost(*arguments: Any) -> SimulationOutcome:
        fabric, workload, settings, seed, *_ = arguments
        return plain(fabric, workload, settings, seed, lambda now: now.ended < 9)

    monkeypatch.setattr(double, "simulate", lost)
    code, shown, told = simulate(scenario)
    assert code == 0
    assert "warning: traffic did not complete in ecmp (seed 1), ecmp (seed 2)" in told
    assert "ecmp (partial)" in shown


@pytest.mark.usefixtures("doubled")
def test_compiling_is_announced_also_in_a_pipe(scenario: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "must_compile", lambda prepared: True)
    monkeypatch.setattr("ailb_gen.sim.engine.jit.NOT_KEPT", "")
    assert simulate(scenario)[2] == "compiling the engine: up to 2 min, once\n"
    assert simulate(scenario, "-q")[2] == ""
    monkeypatch.setattr("ailb_gen.sim.engine.jit.NOT_KEPT", "it is read-only")
    assert simulate(scenario)[2] == "compiling the engine: up to 2 min; it cannot be cached: it is read-only\n"


@pytest.mark.usefixtures("doubled")
def test_other_values_by_option(scenario: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("--set", "balancer=[rlb, {name: dlb, parameters: {inactivity_us: 64}}]", "--set", "packets.payload=1KiB")
    code, shown, _ = simulate(scenario, "-o", str(out), *words, "--seeds", "1", "--level", "flow")
    assert code == 0
    assert [line.split()[0] for line in shown.splitlines()[3:5]] == ["rlb", "dlb"]
    assert shown.splitlines()[5].startswith("All take the same time")


@pytest.mark.usefixtures("doubled")
def test_sweeps_name_their_variants(scenario: str) -> None:
    code, shown, _ = simulate(scenario, "--set", "sweep={'traffic[0].collective.bytes': [1M, 2M]}", "--seeds", "1")
    assert code == 0
    names = [line for line in shown.splitlines()[3:] if line and line[0] != " "]
    expected = [f"{name}, traffic[0].collective.bytes={size}" for size in ("1M", "2M") for name in ("ecmp", "spray")]
    assert names == [*expected, "No flows can collide between switches: at most one enters or leaves a leaf."]


@pytest.mark.usefixtures("doubled")
def test_the_placement_decides_over_which_servers_rings_go(scenario: str, tmp_path: Path) -> None:
    words: tuple[str, ...] = (scenario, "--seeds", "1")
    hosts = tmp_path / "hosts"
    # Ranks in order: one flow from each leaf to the other.
    _, alone, _ = simulate(*words)
    assert "No flows can collide between switches: at most one enters or leaves a leaf." in " ".join(alone.split())
    assert simulate(*words, "--placement", "in-order")[1] == alone
    hosts.write_text("host1\nhost3\nhost2\nhost4\n")
    code, shown, told = simulate(*words, "--placement", str(hosts))
    assert (code, told) == (0, "")
    assert "collide" not in shown
    # In a scenario, the file is beside it.
    words = (*words, "--set", "traffic[0].collective.hosts=['*']", "--set", "placement=hosts")
    assert simulate(*words)[1] == shown
    hosts.write_text("host2\nhost1\n")
    within = " ".join(simulate(*words)[1].split())
    assert within.endswith("No flows can collide between switches: none crosses a spine.")


@pytest.mark.usefixtures("doubled")
def test_the_short_form_scatters_ranks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("hosts").write_text("h100-[01,02,03,04]\n")
    words = (*JVD, "--bytes", "1M", "--balancer", "rlb", "--json", "-o")
    ways = {"a": (), "b": ("--placement", "scattered"), "c": ("--placement", "in-order"), "d": ("--placement", "hosts")}
    for out, placement in ways.items():
        assert simulate(*words, out, *placement)[0] == 0
    digests = [summary(Path(out))["scenario_sha256"] for out in ways]
    assert digests[0] == digests[1] != digests[2] == digests[3]


@pytest.mark.usefixtures("doubled")
@pytest.mark.parametrize("words", [(), ("--set", "sweep={packets.payload: [1KiB, 2KiB]}")])
def test_a_scenario_without_load_balancer(words: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "plain.yaml"
    path.write_text(SMALL.replace("balancer: [ecmp, spray]\n", ""))
    code, shown, told = simulate(str(path), *words)
    assert (code, told) == (0, "")
    names = [line.split()[0] for line in shown.splitlines()[3:] if line[:1].isalpha()]
    assert names[:2] == (["packets.payload=1KiB", "packets.payload=2KiB"] if words else ["ecmp", "balancer"])


@pytest.mark.usefixtures("doubled")
def test_a_directory_of_another_scenario_keeps_its_points(scenario: str, tmp_path: Path) -> None:
    out, other = tmp_path / "out", tmp_path / "other.yaml"
    assert simulate(scenario, "-o", str(out))[0] == 0
    before = files(out)
    other.write_text(SMALL.replace("name: small", "name: other").replace("64KiB", "32KiB"))
    code, _, told = simulate(str(other), "-o", str(out))
    assert code == 0
    assert f"warning: {out} held the results of 'small': the files of its points stay" in told
    assert {name: body for name, body in files(out).items() if name in before and "points/" in name} == {
        name: body for name, body in before.items() if "points/" in name
    }
    assert simulate(scenario, "-o", str(out))[0] == 0
    assert files(out)["flows.parquet"] == before["flows.parquet"]


@pytest.mark.usefixtures("doubled")
def test_a_directory_that_cannot_be_written_is_known_before_the_start(
    scenario: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(double, "simulate", None)
    refused(simulate(scenario, "-o", "/proc/results"), "cannot be written", code=3)


@pytest.mark.usefixtures("doubled")
def test_the_short_form_compares_load_balancers_on_a_fabric() -> None:
    code, shown, told = simulate(
        *JVD, "--bytes", "1M", "--seeds", "2", "--fail", "stripe1-leaf1-spine[12]@1us,back=9us"
    )
    assert (code, told) == (0, "")
    lines = shown.splitlines()
    # Two blocks, and a line of ranges below every balancer in the first.
    names = [line.split()[0] for line in lines if line[:1].isalpha()]
    assert names[:10] == 2 * ["balancer", "rlb", "dlb", "glb", "ecmp"]
    for title in ("bus", "FCT", "peak", "marks", "pauses", "out of"):
        assert title in lines[0] + lines[12]
    assert max(map(len, lines)) <= 80


ARRIVALS = "traffic[0]={{arrivals: {{load: {}, duration: 1ms, file: x, sizes: y}}}}"
BAD = [
    ((*JVD, "--bytes", "1M", "--balancer", "rlb,letflo"), "no load balancer 'letflo'; did you mean 'letflow'?"),
    ((*JVD, "--bytes", "0"), "--bytes 0: error[out-of-range]: traffic[0].collective.bytes: the size must be"),
    ((*JVD, "--bytes", "1X"), "--bytes 1X: error[bad-quantity]: traffic[0].collective.bytes: '1X' is not a"),
    (JVD, "--bytes is missing"),
    ((*JVD, "--bytes", "1M", "--collective", "all-redcue"), "did you mean 'all-reduce'?"),
    ((*JVD, "--bytes", "1M", "--fail", "stripe1-leaf1-spine9"), "did you mean"),
    ((*JVD, "--bytes", "1M", "--fail", "spine1@soon"), "--fail spine1@soon: error[bad-quantity]"),
    ((*JVD, "--bytes", "1M", "--queue-pairs", "129"), "less than or equal to 128"),
    ((JVD[0], "nowhere", "--bytes", "1M"), "nowhere"),
    (("nothing.yaml",), "nothing.yaml: there is no such file"),
    (("SMALL", "--bytes", "1M"), "--bytes goes with FABRIC and ARTIFACTS"),
    (("SMALL", "--set", "seeds"), "write PATH=VALUE"),
    (("SMALL", "--set", "trafic[0]=x"), "there is no such list; did you mean 'traffic'?"),
    (("SMALL", "--set", "traffic[0].collective.hosts=[host1, host9]"), "no host is called 'host9'"),
    (("SMALL", "--set", "traffic[0].collective.hosts=host1"), "needs at least 2 hosts"),
    (("SMALL", "--set", "traffic[0]={flows: {file: cut.flows}}"), "announces 3 flows, and 1 follow; the file may be"),
    (("SMALL", "--set", ARRIVALS.format("150%")), "must be at most 100%, not 150%"),
    (("SMALL", "--set", ARRIVALS.format("50")), "did you mean 50%?"),
    (("SMALL", "--set", "failures=[{random: 1.0}]"), "have no path: host1 to host2: the source has no link"),
    (("SMALL", "--executor", "dask"), "must be processes, serial, or dask:ADDRESS"),
    ((".",), ".: this is a directory; name a scenario file, or a fabric file and then the directory"),
    ((JVD[0],), "this is a fabric file, not a scenario"),
    ((*JVD, "--bytes", "1M", "--fail", "spine1@"), "--fail spine1@: error[bad-quantity]: failures[0].at"),
    (
        (*JVD, "--bytes", "1M", "--fail", "spine1,rate=0%"),
        "--fail spine1,rate=0%: error[out-of-range]: failures[0].rate",
    ),
    ((*JVD, "--bytes", "1M", "--fail", "spine1,speed=1"), "failures[0].speed: unknown key"),
    (
        (*JVD, "--bytes", "1M", "--fail", "999 links"),
        "--fail 999 links: error[wrong-value]: failures[0].random: 999 links are to fail, and there are 64 between",
    ),
    ((*JVD, "--bytes", "1M", "--fail", ""), "failures[0].name: '': there is no such link or switch; name a port as"),
    ((*JVD, "--bytes", "1M", "--set", "traffic[0].collective.hosts=h100-01:*"), "are GPUs of one server"),
    (("SMALL", "--set", "until=-1ms"), "--set until=-1ms: error[out-of-range]: until: the time must not be negative"),
    (("SMALL", "--set", "seeds=many"), "must be a number of seeds or a list of them, not 'many'"),
    (("SMALL", "--placement", "gone"), "/gone:1:1: error[unreadable]: there is no such file; a placement is"),
    ((*JVD, "--bytes", "1M", "--placement", "scatter"), "scatter:1:1: error[unreadable]: there is no such file; did"),
    (("SMALL", "--set", "placement=cut.flows"), "cut.flows:2:1: error[wrong-value]: '0 1 3 100 2.0' is not a server"),
    (("SMALL", "--seeds", "0"), "greater than or equal to 1"),
    (("SMALL", "-j", "0"), "greater than or equal to 1"),
]


@pytest.mark.parametrize(("words", "message"), BAD)
def test_bad_input_is_told_and_nothing_is_written(
    words: tuple[str, ...], message: str, scenario: str, tmp_path: Path
) -> None:
    (tmp_path / "cut.flows").write_text("3\n0 1 3 100 2.0\n")
    out = tmp_path / "out"
    words = tuple(scenario if word == "SMALL" else word for word in words)
    more = () if "--executor" in words else ("--executor", "serial")
    refused(run("simulate", *words, "-o", str(out), *more), message)
    assert not out.exists()


def test_too_little_memory_is_told_before_the_start(
    scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "available_bytes", lambda: 1 << 20)
    refused(simulate(scenario, "-o", str(tmp_path / "out")), "ecmp, seed 1: it needs about", "1 MiB are free")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("level", ["packet", "flow"])
def test_traffic_that_does_not_fit_is_not_even_made(
    level: str, scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("made")

    monkeypatch.setattr(TrafficRecipe, "build", never)
    monkeypatch.setattr(sweep, "available_bytes", lambda: 16 << 30)
    fabric = "fabric.clos={leaves: 256, spines: 16, hosts_per_leaf: 64}"
    traffic = "traffic[0].collective={kind: all-to-all, bytes: 1GiB}"
    words = ("--set", fabric, "--set", traffic, "--level", level, "-o", str(tmp_path / "out"))
    refused(
        simulate(scenario, *words), "ecmp, seed 1: it needs about", "16 GiB are free; simulate fewer hosts or bytes"
    )
    assert not (tmp_path / "out").exists()


def test_a_fabric_without_servers_is_refused(tmp_path: Path, scenario: str) -> None:
    words = ("--name", "bare", "--stripes", "1", "--spines", "2", "--servers", "1")
    assert run("init", str(tmp_path / "fabric.yaml"), *words)[0] == 0
    text = (tmp_path / "fabric.yaml").read_text()
    assert run("generate", str(tmp_path / "fabric.yaml"), "-o", str(tmp_path / "tree"))[0] == 0
    assert "servers" in text
    for path in sorted((tmp_path / "tree" / "servers").iterdir()):
        path.unlink()
    refused(simulate(scenario, "--set", f"fabric={{files: {{artifacts: {tmp_path / 'tree'}}}}}"), "no servers")


def test_files_of_another_fabric_are_refused(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples/lab", tmp_path, dirs_exist_ok=True)
    told = simulate(str(tmp_path / "fabric.yaml"), JVD[1], "--bytes", "1M")
    refused(told, "these are the files of the fabric 'jvd'")


def test_a_directory_of_something_else_is_left_alone(scenario: str, tmp_path: Path) -> None:
    refused(simulate(scenario, "-o", str(tmp_path)), "files that are not results", code=3)


def interpreted(scenario: str, out: Path, kind: str) -> None:
    """Simulate in a process with the engine as plain Python."""
    words = (scenario, "--set", "traffic[0].collective.bytes=16KiB", "--seeds", "1", "-o", out, "-j", "2")
    done = program("simulate", *words, "--executor", kind, env={"NUMBA_DISABLE_JIT": "1"})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[3].startswith("ecmp")


def test_the_engine_without_compiler(scenario: str, tmp_path: Path) -> None:
    interpreted(scenario, tmp_path / "out", "serial")
    points = summary(tmp_path / "out")["points"]
    assert isinstance(points, list)
    assert points[0]["statistics"]["totals"]["packets"] == 48


@pytest.mark.long
def test_processes_write_the_same(scenario: str, tmp_path: Path) -> None:
    for kind in ("serial", "processes"):
        interpreted(scenario, tmp_path / kind, kind)
    assert files(tmp_path / "serial") == files(tmp_path / "processes")


@needs_compiler
def test_several_cores_write_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "large.yaml"
    text = SMALL.replace("leaves: 2, spines: 2, hosts_per_leaf: 2", "leaves: 4, spines: 2, hosts_per_leaf: 8")
    path.write_text(
        text.replace("transport: raw", "transport: {name: go-back-n}")
        .replace("seeds: 2", "seeds: 1")
        .replace("steps: 2", "steps: 1")
    )
    used: list[int] = []

    def watched(state: EngineState, fabric: FabricArrays, workload: Workload, found: Partition) -> list[EngineState]:
        used.append(found.parts)
        return divided(state, fabric, workload, found)

    monkeypatch.setattr("ailb_gen.sim.engine.run.divided", watched)
    outs = [tmp_path / "one", tmp_path / "two"]
    for cores, out in zip(("1", "2"), outs, strict=True):
        assert simulate(str(path), "-o", str(out), "--cores", cores)[0] == 0
    assert used == [1, 1, 2, 2]
    assert files(outs[0]) == files(outs[1])
    _, _, told = simulate(str(path), "--cores", "2", "--set", "traffic[0].collective.steps=2")
    why = "a task waits for one that ends at another leaf"
    assert f"--cores 2: 2 of 2 points have one core, such as ecmp: {why}" in told.splitlines()


@pytest.mark.long
def test_ctrl_c_ends_running_processes_in_order(scenario: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    sizes = "sweep={'traffic[0].collective.bytes': [64KiB, 64GiB, 65GiB]}"
    words = (scenario, "-o", str(out), "--set", sizes, "--set", "balancer=ecmp", "--seeds", "1", "-j", "2")
    command = [sys.executable, "-m", "ailb_gen", "simulate", *words]
    running = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 300
    while not list((out / "points").glob("*.json")):
        assert running.poll() is None and time.monotonic() < end
        time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=60)
    assert running.returncode == 130, told
    points = summary(out)["points"]
    assert isinstance(points, list)
    assert points[0]["statistics"]["interrupted"] is False
    assert any(one["statistics"] and one["statistics"]["interrupted"] for one in points[1:])
