"""Chakra traces: files that Google's encoder wrote as the generators of ASTRA-sim do, and damaged ones."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.errors import IntentError, Problem
from ailb_gen.sim.fabric import PS_PER_US
from ailb_gen.sim.traffic.chakra import rank_files, read_rank
from ailb_gen.sim.traffic.trace import TraceNode
from tests.conftest import examples

TRACES = Path(__file__).parent / "traces"


def read(name: str, folder: Path = TRACES) -> tuple[list[TraceNode], list[Problem], dict[str, tuple[int, ...]]]:
    problems: list[Problem] = []
    groups: dict[str, tuple[int, ...]] = {}
    return read_rank(folder / name, name, problems, groups), problems, groups


def test_a_microbenchmark_of_astra_sim() -> None:
    """examples/workload/microbenchmarks/all_reduce/4npus_1MB: an all-reduce of 1 MiB; ids go on over the ranks."""
    assert rank_files(TRACES, "all_reduce") == [f"all_reduce.{rank}.et" for rank in range(4)]
    for rank in range(4):
        nodes, problems, _ = read(f"all_reduce.{rank}.et")
        assert problems == []
        wanted = TraceNode(1, rank, ())
        assert nodes == [wanted.collecting("all-reduce", 1 << 20)]


def test_all_kinds_of_values_and_nodes() -> None:
    (group, compute, gather, message), problems, groups = read("mixed.0.et")
    assert problems == []
    assert groups == {"7": (1, 0)}
    assert (group.kind, compute.kind, compute.ps, compute.waits) == ("nothing", "compute", 5 * PS_PER_US, (1,))
    assert (gather.collective, gather.size, gather.group, gather.waits) == ("all-gather", 1000, "7", (2,))
    assert (message.kind, message.peer, message.size, message.tag, message.waits) == ("send", 1, 2000, 3, (300, 2))
    assert read("mixed.1.et")[0][3].kind == "receive"


def written(tmp_path: Path, *nodes: bytes) -> Path:
    data = b"\x00" + b"".join(bytes([len(node)]) + node for node in nodes)
    (tmp_path / "t.0.et").write_bytes(data)
    return tmp_path


def attribute(name: bytes, value: bytes) -> bytes:
    inner = b"\x0a" + bytes([len(name)]) + name + value
    return b"\x52" + bytes([len(inner)]) + inner


COLLECTIVE = b"\x08\x05\x18\x07"
SIZE = attribute(b"comm_size", b"\x48\x08")


@pytest.mark.parametrize(
    ("node", "code", "reason"),
    [
        (COLLECTIVE + SIZE, "missing-key", "node 5.comm_type: must be a whole number"),
        (COLLECTIVE + SIZE + attribute(b"comm_type", b"\x48\x03"), "wrong-value", "the collective GATHER is not sim"),
        (COLLECTIVE + SIZE + attribute(b"comm_type", b"\x48\x63"), "wrong-value", "the collective 99 is not sim"),
        (COLLECTIVE + attribute(b"comm_type", b"\x48\x00"), "missing-key", "node 5.comm_size"),
        (
            COLLECTIVE + attribute(b"comm_type", b"\x48\x00") + attribute(b"comm_size", b"\xea\x01\x01x"),
            "wrong-type",
            "node 5.comm_size",
        ),
        (b"\x08\x05\x18\x05" + SIZE, "missing-key", "node 5.comm_dst"),
        (b"\x08\x05\x18\x2a", "wrong-value", "unknown node type 42"),
        (b"\x08\x05\x18\x04\x38" + b"\xff" * 9 + b"\x01", "out-of-range", "a duration of"),
        (b"\x08\x05\x18", "wrong-type", "not a node: the file ends inside a number"),
        (
            COLLECTIVE + SIZE + attribute(b"comm_type", b"\x48\x00")
            + attribute(b"involved_dim", b"\xe2\x01\x04\x0a\x02\x01\x00"),
            "wrong-value",
            "some dimensions of a topology",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_by_node(tmp_path: Path, node: bytes, code: str, reason: str) -> None:
    _, problems, _ = read("t.0.et", written(tmp_path, b"\x08\x04", node))
    assert [one.code for one in problems] == [code]
    assert reason in str(problems[0])
    assert str(problems[0].place).startswith("t.0.et:2")


def groups_of(text: bytes) -> bytes:
    """Return a metadata node with process groups as values of its inputs."""
    inner = b"\x0a" + bytes([len(text)]) + text
    return b"\x08\x05\x18\x01\x42" + bytes([len(inner)]) + inner


def test_process_groups(tmp_path: Path) -> None:
    rows = b'[{"pg_name": "1", "ranks": []}, {"pg_name": "2", "ranks": [3, 1]}]'
    assert read("t.0.et", written(tmp_path, groups_of(rows)))[1:] == ([], {"1": (), "2": (3, 1)})
    for wrong in (rows.replace(b"3, 1", b"1, 1"), rows.replace(b"ranks", b"rang"), rows.replace(b", 1]", b", -1]")):
        _, (problem,), _ = read("t.0.et", written(tmp_path, groups_of(wrong)))
        assert "process groups: not a list of groups" in str(problem)


def test_truncated_and_missing_files(tmp_path: Path) -> None:
    data = (TRACES / "mixed.0.et").read_bytes()
    (tmp_path / "t.0.et").write_bytes(data[:-1])
    nodes, (problem,), _ = read("t.0.et", tmp_path)
    assert len(nodes) == 3
    assert "this one may be truncated" in str(problem)
    (tmp_path / "t.0.et").write_bytes(b"")
    assert "the file is empty" in str(read("t.0.et", tmp_path)[1][0])
    with pytest.raises(IntentError, match="cannot read"):
        read("t.9.et", tmp_path)


@settings(max_examples=examples(200))
@given(st.integers(0, 264), st.integers(0, 255))
def test_any_damage_is_read_or_said(at: int, byte: int) -> None:
    """No other exception, whatever byte is changed."""
    data = bytearray((TRACES / "mixed.0.et").read_bytes())
    data[at] = byte
    problems: list[Problem] = []
    with TemporaryDirectory() as name:
        (Path(name) / "t.et").write_bytes(bytes(data))
        nodes = read_rank(Path(name) / "t.et", "t.et", problems, {})
    assert problems or 1 <= len(nodes) <= 4
