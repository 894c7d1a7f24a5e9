"""Connection matrices of csg-htsim: what is read, what a trigger becomes, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.errors import IntentError
from ailb_gen.sim.traffic.connection_matrix import read_connection_matrix
from ailb_gen.sim.workload import Workload
from tests.conftest import examples
from tests.sim.traffic.executor import finish_times

HEAD = "Nodes 8\nConnections {}\nTriggers {}\n"


def read(tmp_path: Path, text: str, hosts: int = 128) -> Workload:
    path = tmp_path / "x.cm"
    path.write_text(text, encoding="utf-8")
    return read_connection_matrix(path, "x.cm", hosts)


def test_flows_with_start_times(tmp_path: Path) -> None:
    flows = ["# both ways", "0->13 start 0 size 2000000", "13->0 start 77.000 size 5", "", "1->2 id 9 size 1 start 5"]
    text = "\n".join(["Nodes 16", "Connections 3", *flows, ""])
    workload = read(tmp_path, text)
    assert workload.source.tolist() == [0, 13, 1]
    assert workload.target.tolist() == [13, 0, 2]
    assert workload.amount.tolist() == [2_000_000, 5, 1]
    assert workload.start_ps.tolist() == [0, 77, 5]


def test_triggers_become_dependencies(tmp_path: Path) -> None:
    flows = [
        "0->1 id 1 start 0 size 10 send_done_trigger 1",
        "1->2 id 2 trigger 1 size 20 recv_done_trigger 2",
        "2->3 id 3 start 5 size 40 send_done_trigger 2",
        "3->4 id 4 trigger 2 size 1",
        "4->5 id 5 trigger 2 size 2 send_done_trigger 3",
    ]
    triggers = ["trigger id 1 oneshot", "trigger id 2 barrier count 2", "trigger id 3 multishot"]
    text = "\n".join([HEAD.format(5, 3), *flows, *triggers])
    workload = read(tmp_path, text)
    assert finish_times(workload)[:5] == [10, 30, 45, 46, 47]


@settings(max_examples=examples(30))
@given(st.integers(2, 8), st.integers(1, 100))
def test_a_ring_of_triggers_runs_round_by_round(tmp_path_factory: pytest.TempPathFactory, n: int, size: int) -> None:
    """As gen_allreduce.py of csg-htsim writes them: a chain of 2n - 1 flows from every rank on."""
    lines: list[str] = []
    triggers = 0
    for rank in range(n):
        for distance in range(2 * n - 1):
            source = (rank + distance) % n
            begin = f"trigger {triggers}" if distance else "start 0"
            more = distance < 2 * n - 2
            triggers += more
            done = f" send_done_trigger {triggers}" if more else ""
            lines.append(f"{source}->{(source + 1) % n} id {len(lines) + 1} {begin} size {size}{done}")
    lines += [f"trigger id {number} oneshot" for number in range(1, triggers + 1)]
    text = HEAD.format(n * (2 * n - 1), triggers) + "\n".join(lines)
    workload = read(tmp_path_factory.mktemp("cm"), text)
    ends = finish_times(workload)
    assert sorted(ends) == sorted(size * (step + 1) for step in range(2 * n - 1) for _ in range(n))


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        ("Connections 0\n", ["x.cm:1:1: error[missing-key]: Nodes"]),
        ("Nodes 4\n0->1 start 0 size 1", ["error[missing-key]: Connections"]),
        ("Nodes 4\nConnections 2\n0->1 start 0 size 1", ["announces 2, and 1 follow; the file may be truncated"]),
        ("Nodes x\nConnections 0", ["x.cm:1:1: error[wrong-type]: Nodes: 'x' is not a whole number"]),
        ("Nodes 4\nNodes 4\nConnections 0", ["x.cm:2:1: error[duplicate-key]: Nodes"]),
        ("Nodes 4\nConnections 1\n0->4 start 0 size 1", ["there is no host 4: the fabric has hosts 0 to 3"]),
        ("Nodes 999\nConnections 1\n0->128 start 0 size 1", ["there is no host 128: the fabric has hosts 0 to 127"]),
        ("Nodes 4\nConnections 1\n0->0 start 0 size 1", ["host 0 sends to itself"]),
        ("Nodes 4\nConnections 1\n0->1 start 0 size 0", ["bytes: 0: a flow has at least 1 byte"]),
        ("Nodes 4\nConnections 1\n0->1 start 0 size -3", ["size: -3 must be at least 0"]),
        ("Nodes 4\nConnections 1\n0->1 start 0.5 size 3", ["start: '0.5' is not a whole number"]),
        ("Nodes 4\nConnections 1\n0->1 start 0", ["x.cm:3:1: error[missing-key]: size: a flow needs its size"]),
        ("Nodes 4\nConnections 1\n0->1 start 0 size", ["size: '' is not a whole number"]),
        ("Nodes 4\nConnections 1\n0->1 size 4", ["a flow needs either a start or a trigger"]),
        ("Nodes 4\nConnections 1\n0->1 start 0 start 1 size 4", ["error[duplicate-key]: start"]),
        ("Nodes 4\nConnections 1\n0->1 start 0 sise 4", ["error[unknown-key]: sise", "did you mean 'size'"]),
        ("Nodes 4\nConnections 1\n0->1 start 0 size 4 prio 1", ["error[unknown-key]: prio"]),
        ("Nodes 4\nConnections 1\n0-> start 0 size 4", ["'0->' is not a pair of hosts such as 3->17"]),
        ("Nodes 4\nConection 1\n", ["error[unknown-key]: Conection", "did you mean 'Connections'"]),
        ("Nodes 4\nConnections 0\nfailure switch_type TOR", ["failures are not supported here"]),
        (HEAD.format(1, 0) + "0->1 id 1 trigger 4 size 9", ["there is no trigger 4 in the file"]),
        (HEAD.format(1, 1) + "0->1 id 1 trigger 4 size 9\ntrigger id 4 oneshot", ["trigger 4, which none activates"]),
        (HEAD.format(0, 1) + "trigger id 4", ["a trigger needs an id and one of oneshot, multishot, barrier"]),
        (
            HEAD.format(0, 1) + "trigger id 4 oneshot often",
            ["error[unknown-key]: often: triggers cannot have this word"],
        ),
        (HEAD.format(0, 2) + "trigger id 4 oneshot\ntrigger id 4 oneshot", ["trigger 4 is defined twice"]),
        (HEAD.format(0, 0) + "trigger id 4 oneshot", ["Triggers: the header announces 0, and 1 follow"]),
        (
            HEAD.format(1, 1) + "0->1 id 1 start 0 size 9 send_done_trigger 4\ntrigger id 4 barrier count 2",
            ["x.cm:5:1: error[wrong-count]: count: barrier 4 counts 2, and 1 flows activate it"],
        ),
        (
            HEAD.format(3, 1) + "0->1 start 0 size 9 send_done_trigger 4\n1->2 start 0 size 9 send_done_trigger 4\n"
            "2->3 trigger 4 size 1\ntrigger id 4 multishot",
            ["2 flows activate the multishot trigger 4", "use `barrier count 2`"],
        ),
        (
            HEAD.format(2, 2) + "0->1 trigger 1 size 9 send_done_trigger 2\n1->2 trigger 2 size 9 send_done_trigger 1\n"
            "trigger id 1 oneshot\ntrigger id 2 oneshot",
            ["x.cm:4:1: error[conflict]: trigger: the flow never starts", "x.cm:5:1: error[conflict]"],
        ),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, text: str, errors: list[str]) -> None:
    with pytest.raises(IntentError) as caught:
        read(tmp_path, text)
    for error in errors:
        assert error in str(caught.value)
