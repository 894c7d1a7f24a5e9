"""Placement of jobs: orders of servers, lists of Slurm and MPI, and that no placement changes the bytes of a job."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.errors import IntentError, UsageError
from ailb_gen.sim.clos import clos
from ailb_gen.sim.fabric import FabricArrays
from ailb_gen.sim.scenario.fabrics import points_of
from ailb_gen.sim.scenario.load import parse
from ailb_gen.sim.scenario.placement import AS_LISTED, MAX_SERVERS, expand_hostlist, placed, read_placement
from ailb_gen.sim.workload import Workload
from tests.conftest import ROOT

JVD = f"fabric: {{files: {{artifacts: {ROOT / 'tests/golden/jvd'}}}}}"
SERVERS = clos(2, 2, 6, host_bps=10**11, uplink_bps=10**11)  # host1 to host12, a server each


@pytest.fixture(scope="module")
def jvd() -> FabricArrays:
    """Four servers of eight NICs: h100-01 and h100-02 in one stripe, the others in the other."""
    ((point,), _) = points_of(parse(f"{JVD}\ntraffic: [{{collective: {{{RING}}}}}]", "scenario.yaml"), Path())
    return point.fabric


RING = "kind: all-reduce, bytes: 1MiB"


def names(fabric: FabricArrays, text: str, folder: Path, seed: int = 1) -> list[str]:
    """The hosts of a job over all of a fabric, placed by a file with this text."""
    (folder / "hosts").write_text(text)
    hosts = np.arange(fabric.host_count, dtype=np.int32)
    order = placed(hosts, read_placement("hosts", folder, fabric), fabric, seed)
    return [fabric.names[host] for host in order]


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("gpu1", "gpu1"),
        ("gpu[01-03,07],login", "gpu01 gpu02 gpu03 gpu07 login"),
        ("rack[1-2]-n[09-10]", "rack1-n09 rack1-n10 rack2-n09 rack2-n10"),
        ("n[8-11].pod", "n8.pod n9.pod n10.pod n11.pod"),
        ("n[099-101]", "n099 n100 n101"),
    ],
)
def test_lists_of_slurm(text: str, expanded: str) -> None:
    assert expand_hostlist(text) == expanded.split()


@pytest.mark.parametrize("text", ["a,,b", "a[1-", "a]1", "a[]", "a[3-1]", "a[x]", "a[1-2", ",a", "a[1-999999999]"])
def test_a_list_that_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a list|more than"):
        expand_hostlist(text)


def test_combinations_do_not_fill_the_memory() -> None:
    with pytest.raises(ValueError, match=f"names more than {MAX_SERVERS:,} servers"):
        expand_hostlist("a[1-9999][1-9999][1-9999]")


@pytest.mark.parametrize(
    "text",
    [
        "host3\nhost1\n\nhost12\n",
        "# of the job 17\r\nhost3  # first\r\nhost1\r\nhost12\r\n",
        "host[3,1,12]",
        "host3:1\nhost1:1 \nhost12:1\n",
        "host3 slots=1\nhost1 slots=1 max_slots=2\nhost12 slots=1 max-slots=1\n",
        "rank 2=host12 slot=0\nrank 0=host3 slot=0:1\nrank 1=host1\n",
    ],
)
def test_every_form_of_file_says_the_same(text: str, tmp_path: Path) -> None:
    assert names(SERVERS, text, tmp_path) == ["host3", "host1", "host12"]


def test_gpus_of_a_server_stay_together(jvd: FabricArrays, tmp_path: Path) -> None:
    assert names(jvd, "h100-[03-04]:2", tmp_path) == [f"h100-0{n}:gpu{k}_eth" for n in (3, 4) for k in (0, 1)]
    every = names(jvd, "h100-04\nh100-01\n", tmp_path)
    assert [name.partition(":")[0] for name in every] == 8 * ["h100-04"] + 8 * ["h100-01"]
    # Round robin by server, as `mpirun --map-by node` has it: NCCL joins the GPUs of a server.
    ranks = "\n".join(f"rank {rank}=h100-0{4 - rank % 2} slot={rank // 2}" for rank in range(6))
    assert names(jvd, ranks, tmp_path) == [f"h100-0{n}:gpu{k}_eth" for n in (4, 3) for k in (0, 1, 2)]


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("", ["hosts:1:1: error[missing-key]: the file names no server; write one per line"]),
        ("# nothing\n\n", ["hosts:1:1: error[missing-key]: the file names no server"]),
        ("host1\nhots2\n", ["hosts:2:1: error[wrong-value]: the fabric has no server 'hots2'; did you mean 'host2'?"]),
        ("zz\n", ["hosts:1:1: error[wrong-value]: the fabric has no server 'zz'; names are such as host1"]),
        (
            "host1\nhost2\nhost[1-2]\n",
            ["hosts:3:1: error[duplicate-name]: host1 is on line 1 already; write a server once", "host2 is on line 2"],
        ),
        ("host1:2", ["hosts:1:1: error[out-of-range]: host1 has 1 GPU NIC, and the file takes 2"]),
        ("host1 slots=0", ["host1 has 1 GPU NIC, and the file takes 0"]),
        ("host1 cores=4\n", ["hosts:1:1: error[wrong-value]: 'host1 cores=4' is not a server; write NAME, NAME:GPUS"]),
        ("host[2-1]\n,a\n", ["hosts:1:1: error[bad-range]: [2-1] is not a list of ranges", "hosts:2:1"]),
        ("rank 0=host1 slot=0\nhost2\n", ["hosts:2:1: error[wrong-value]: 'host2' is not a rank; write rank N=NAME"]),
        ("rank 0=host1\nrank 0=host2\n", ["hosts:2:1: error[duplicate-name]: rank 0 is on line 1 already"]),
        ("rank 0=host1\nrank 2=host2\n", ["error[wrong-count]: rank 1 is missing; 2 ranks are 0 to 1"]),
        ("rank 0=host1\nrank 1=host1\n", ["hosts:1:1: error[out-of-range]: host1 has 1 GPU NIC, and the file takes 2"]),
    ],
)
def test_errors_of_files(text: str, messages: list[str], tmp_path: Path) -> None:
    with pytest.raises(IntentError) as caught:
        names(SERVERS, text, tmp_path)
    assert [message for message in messages if message not in str(caught.value)] == []


def test_a_placement_that_is_neither_known_nor_a_file(tmp_path: Path) -> None:
    with pytest.raises(IntentError, match=r"scatterd:1:1: .*there is no such file; did you mean 'scattered'\?"):
        read_placement("scatterd", tmp_path, SERVERS)
    with pytest.raises(IntentError, match="a placement is in-order, scattered or a file of servers"):
        read_placement("nowhere.txt", tmp_path, SERVERS)
    for name, reason in ((".", "this is a directory"), ("n" * 300, "cannot be read: File name too long")):
        with pytest.raises(IntentError, match=reason):
            read_placement(name, tmp_path, SERVERS)


def test_in_order_hosts_stay_as_they_are_listed() -> None:
    hosts = np.array([5, 1, 3], dtype=np.int32)
    assert placed(hosts, AS_LISTED, SERVERS, 1) is hosts


def test_scattered_servers_depend_on_the_seed_alone(jvd: FabricArrays, tmp_path: Path) -> None:
    hosts, scattered = np.arange(32, dtype=np.int32), read_placement("scattered", tmp_path, jvd)
    orders = {tuple(placed(hosts, scattered, jvd, seed).tolist()) for seed in range(1, 200)}
    assert len(orders) == 24, "every order of four servers"
    assert all(sorted(order) == hosts.tolist() for order in orders)
    assert all((np.diff(np.reshape(order, (4, 8))) == 1).all() for order in orders), "servers stay whole"
    assert (placed(hosts, scattered, jvd, 7) == placed(hosts, scattered, jvd, 7)).all()


def workload(entry: str, placement: str, folder: Path, seed: int = 1, fabric: str = JVD) -> Workload:
    """The workload of a scenario with one entry."""
    text = f"{fabric}\ntraffic: [{{{entry}}}]\nseeds: [{seed}]\n" + (f"placement: {placement}\n" if placement else "")
    ((point,), _) = points_of(parse(text, "scenario.yaml"), folder)
    return point.recipe.build(point.fabric, point.seed).workload


def crossing(work: Workload, fabric: FabricArrays) -> int:
    """The number of flows between servers of different stripes."""
    flows = work.flows()
    switches = fabric.host_switches()
    return int(np.count_nonzero(switches[work.source[flows]] != switches[work.target[flows]]))


def test_the_default_is_in_order(tmp_path: Path) -> None:
    one, other = (workload(f"collective: {{{RING}}}", placement, tmp_path) for placement in ("", "in-order"))
    for field in fields(Workload):
        assert np.array_equal(getattr(one, field.name), getattr(other, field.name)), field.name


def test_neighbors_of_a_ring_that_alternate_between_stripes_all_cross(jvd: FabricArrays, tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("h100-01\nh100-03\nh100-02\nh100-04\n")
    in_order = workload(f"collective: {{{RING}}}", "in-order", tmp_path)
    alternating = workload(f"collective: {{{RING}}}", "hosts", tmp_path)
    assert crossing(in_order, jvd) == len(in_order.flows()) / 2
    assert crossing(alternating, jvd) == len(alternating.flows())


COLLECTIVES = ("all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast", "permutation", "incast")


@given(st.sampled_from(COLLECTIVES), st.integers(1, 10_000), st.permutations(range(1, 5)), st.integers(0, 99))
def test_any_placement_moves_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, kind: str, size: int, order: list[int], seed: int
) -> None:
    folder = tmp_path_factory.mktemp("placement")
    (folder / "hosts").write_text("".join(f"host{number}\n" for number in order))
    entry = f"collective: {{kind: {kind}, bytes: {size}}}"
    fabric = "fabric: {clos: {leaves: 2, spines: 2, hosts_per_leaf: 2}}"
    works = [workload(entry, name, folder, seed, fabric) for name in ("in-order", "scattered", "hosts")]
    assert len({int(work.amount[work.flows()].sum()) for work in works}) == 1
    assert len({work.count for work in works}) == 1


def test_training_jobs_are_placed_too(jvd: FabricArrays, tmp_path: Path) -> None:
    entry = "training: {data: 4, tensor: 8, gradient_bytes: 1MiB, stream: on}"
    works = [workload(entry, placement, tmp_path, 2) for placement in ("in-order", "scattered")]
    assert len({int(work.amount[work.flows()].sum()) for work in works}) == 1
    (tmp_path / "hosts").write_text("h100-01\nh100-03\n")
    with pytest.raises(UsageError, match=r"traffic\[0\].training: the job needs 32 hosts, and there are 16"):
        workload(entry, "hosts", tmp_path)


def test_hosts_of_an_entry_are_those_that_the_file_names_as_well(jvd: FabricArrays, tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("h100-03\nh100-01\n")
    entry = "collective: {kind: permutation, bytes: 1KiB, shift: 1, queue_pairs: 1, hosts: ['*:gpu0_eth', 'h100-02:*']}"
    work = workload(entry, "hosts", tmp_path)
    assert sorted(jvd.names[host] for host in work.source[work.flows()]) == ["h100-01:gpu0_eth", "h100-03:gpu0_eth"]
    entry = "collective: {kind: all-reduce, bytes: 1KiB, hosts: ['h100-02:*', 'h100-04:*']}"
    with pytest.raises(UsageError, match=r"traffic\[0\].collective: hosts: hosts names no server of this job"):
        workload(entry, "hosts", tmp_path)


def test_a_job_within_one_server_needs_more(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("h100-03\n")
    with pytest.raises(UsageError, match="all 8 ranks of this all-reduce are GPUs of one server"):
        workload(f"collective: {{{RING}}}", "hosts", tmp_path)


SQUEUE = """\
             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)
                17       gpu    train    alice  R    1:02:03      2 h100-[01,03]
                18       gpu    train      bob PD       0:00      4 (Resources or limit)
                19       gpu     eval      bob  R       5:00      2 h100-[02,04]
"""
SCONTROL = """\
JobId=17 JobName=train
   UserId=alice(1000) GroupId=users(100) MCS_label=N/A
   JobState=RUNNING Reason=None Dependency=(null)
   ReqNodeList=(null) ExcNodeList=(null)
   NodeList=h100-[01,03]
   NumNodes=2 NumCPUs=64

JobId=18 JobName=train
   JobState=PENDING
   NodeList=(null)

JobId=19 JobName=eval
   JobState=RUNNING
   NodeList=h100-[02,04]
"""


@pytest.mark.parametrize("text", [SQUEUE, SCONTROL])
def test_several_jobs_of_one_list(text: str, jvd: FabricArrays, tmp_path: Path) -> None:
    (tmp_path / "jobs").write_text(text)
    (tmp_path / "hosts").write_text("h100-02\nh100-01\n")
    entries = ", ".join(
        f"{{collective: {{{RING}, {more}}}}}" for more in ("job: train", "job: '19'", "hostfile: hosts")
    )
    ((point,), _) = points_of(parse(f"{JVD}\ntraffic: [{entries}]\nplacement: jobs\n", "s.yaml"), tmp_path)
    work = point.recipe.build(point.fabric, 1).workload
    found = []
    for job in range(3):
        own = work.flows()[work.job[work.flows()] == job]
        found.append({jvd.names[host].partition(":")[0] for host in work.source[own]})
    assert found == [{"h100-01", "h100-03"}, {"h100-02", "h100-04"}, {"h100-01", "h100-02"}]


@pytest.mark.parametrize(
    ("text", "more", "reason"),
    [
        (SQUEUE, "", r"which of the jobs\? jobs has 17 \(train\), 19 \(eval\)"),
        (SQUEUE, ", job: 'nil'", "0 jobs are called 'nil'"),
        (SQUEUE.replace("eval", "train"), ", job: train", "2 jobs are called 'train'"),
        ("h100-01\nh100-02\n", ", job: train", "jobs is no list of jobs"),
    ],
)
def test_jobs_that_are_not_one(text: str, more: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "jobs").write_text(text)
    with pytest.raises(UsageError, match=reason):
        workload(f"collective: {{{RING}{more}}}", "jobs", tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SQUEUE.replace("h100-[01,03]", "h100-[01,99]"), "jobs:2:1: error[wrong-value]: the fabric has no server"),
        (SQUEUE.replace("  R    1:02:03      2 h100-[01,03]", ""), "jobs:2:1: error[wrong-count]: the row has 4 of 8"),
        (SCONTROL.replace("h100-[02,04]", "h100-[4-2]"), "jobs:14:1: error[bad-range]: [4-2] is not a list"),
        (SCONTROL.replace("   NodeList=(null)\n", ""), "jobs:8:1: error[missing-key]: job 18: the job has no NodeList"),
        ("JobId=1 JobName=a\nNodeList=\n", "no job of the list has nodes"),
    ],
)
def test_errors_of_lists_of_jobs(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "jobs").write_text(text)
    with pytest.raises(IntentError) as caught:
        workload(f"collective: {{{RING}, job: train}}", "jobs", tmp_path)
    assert message in str(caught.value)
