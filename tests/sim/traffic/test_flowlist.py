"""Flow lists: exact times, and one clear error for what is wrong with a file."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.errors import IntentError
from ailb_gen.sim.traffic.flowlist import read_flow_list
from ailb_gen.sim.workload import Workload
from tests.conftest import examples, need_shared
from tests.sim.traffic.executor import check, packets


def read(tmp_path: Path, text: str | bytes, hosts: int = 128) -> Workload:
    path = tmp_path / "list"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_flow_list(path, "list", hosts, 7)


def refused(tmp_path: Path, text: str | bytes, hosts: int = 128) -> str:
    with pytest.raises(IntentError) as caught:
        read(tmp_path, text, hosts)
    return str(caught.value)


def test_the_published_list_has_its_flows_bytes_and_packets() -> None:
    path = need_shared("sim/alistorage-load50-128hosts-5ms.flows.gz")
    workload = read_flow_list(path, path.name, 128)
    check(workload)
    assert workload.count == 48_988
    assert int(workload.amount.sum()) == 2_000_014_342
    assert packets(workload, 1000) == 2_024_378
    assert workload.start_ps[:3].tolist() == [2_000_000_027_000, 2_000_000_074_000, 2_000_000_191_000]
    assert (np.diff(workload.start_ps) >= 0).all()


def test_a_short_list(tmp_path: Path) -> None:
    text = "3 \n1 2 3 1000 0.5\r\n\n 0 1  3 1 2.000000000001000\n2\t0 3 7 3.\n"
    for data in (text.encode(), gzip.compress(text.encode())):
        workload = read(tmp_path, data)
        assert workload.source.tolist() == [1, 0, 2]
        assert workload.target.tolist() == [2, 1, 0]
        assert workload.amount.tolist() == [1000, 1, 7]
        assert workload.start_ps.tolist() == [500_000_000_000, 2_000_000_000_001, 3_000_000_000_000]
        assert len(set(workload.port.tolist())) == 3


@settings(max_examples=examples(50))
@given(st.lists(st.integers(0, 9 * 10**18), min_size=1, max_size=5))
def test_picoseconds_are_exact(tmp_path_factory: pytest.TempPathFactory, times: list[int]) -> None:
    rows = [f"0 1 3 1 {ps // 10**12}.{ps % 10**12:012}" for ps in times]
    workload = read(tmp_path_factory.mktemp("list"), "\n".join([str(len(rows)), *rows]))
    assert workload.start_ps.tolist() == times


@pytest.mark.parametrize(
    ("rows", "errors"),
    [
        ("1 2 3 4", ["list:2:1: error[wrong-count]: the row has 4 fields, not 5"]),
        ("1 2 3 4 5 6", ["the row has 6 fields"]),
        ("a 2 3 4 5", ["list:2:1: error[wrong-type]: source: 'a' is not a whole number"]),
        ("-1 2 3 4 5", ["source: '-1' is not a whole number"]),
        ("1 2 3 4.5 5", ["bytes: '4.5' is not a whole number"]),
        ("1 2 3 4 5e-3", ["start: '5e-3' is not a time in seconds with up to 12 decimals"]),
        ("1 2 3 4 -5", ["start: '-5' is not a time"]),
        ("1 2 3 4 0.0000000000001", ["start: '0.0000000000001' is not a time"]),
        ("1 2 3 4 999999999", ["start: more than 9000000 seconds"]),
        ("1 2 3 0 5", ["list:2:1: error[out-of-range]: bytes: 0: a flow has at least 1 byte"]),
        ("1 2 3 -7 5", ["bytes: -7: a flow has at least 1 byte"]),
        ("1 128 3 7 5", ["destination: there is no host 128: the fabric has hosts 0 to 127"]),
        ("200 1 3 7 5", ["source: there is no host 200"]),
        ("4 4 3 7 5", ["host 4 sends to itself"]),
        ("1 2 3 4 5\n1 2 4 4 5", ["list:3:1", "priority 4, and flows before it have 3", "[wrong-count]"]),
        ("1 2 3 4 5\n\n1 2 3 4 6", ["list:1:1: error[wrong-count]: the first line announces 1 flows, and 2 follow"]),
        ("", ["the first line announces 1 flows, and 0 follow; the file may be truncated"]),
        ("1 2 3 0 5\nx\n4 4 3 1 1", ["list:2:1", "list:3:1", "list:4:1", "list:1:1"]),
    ],
)
def test_wrong_rows_are_named(tmp_path: Path, rows: str, errors: list[str]) -> None:
    message = refused(tmp_path, f"1\n{rows}")
    for error in errors:
        assert error in message


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", "the file is empty; its first line must be the number of flows"),
        (b"many\n1 2 3 4 5", "'many' is not the number of flows, which must come first"),
        (b"-1\n", "'-1' is not the number of flows"),
        (b"1 2 3 4 5\n", "'1 2 3 4 5' is not the number of flows"),
        (b"\xff\xfe", "not UTF-8"),
        (
            gzip.compress(b"1\n1 2 3 4 5\n")[:-9],
            "list:1:1: error[unreadable]: the compressed file is truncated or damaged",
        ),
        (b"\x1f\x8b nonsense", "cut or damaged"),
        (gzip.compress(b"0" * (64 << 20) + b"1"), "larger than 64 MiB"),
    ],
    ids=["empty", "word", "negative", "no-count", "binary", "cut", "damaged", "bomb"],
)
def test_files_that_are_no_lists_are_refused(tmp_path: Path, data: bytes, error: str) -> None:
    assert error in refused(tmp_path, data)


def test_no_file_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(IntentError, match="cannot read the file: No such file"):
        read_flow_list(tmp_path / "none", "none", 4)


def test_many_problems_are_counted(tmp_path: Path) -> None:
    message = refused(tmp_path, "100\n" + "1 1 3 4 5\n" * 100)
    lines = message.split("\n")
    assert len(lines) == 21
    assert lines[0].startswith("list:2:1: ")
    assert lines[-1] == "list:22:1: error[wrong-value]: and 80 more problems from here on"


@settings(max_examples=examples(60))
@given(st.integers(0, 120))
def test_a_cut_list_never_passes_for_a_whole_one(tmp_path_factory: pytest.TempPathFactory, length: int) -> None:
    text = "4\n" + "".join(f"{i} {i + 1} 3 1000 0.00000002{i}\n" for i in range(4))
    path = tmp_path_factory.mktemp("list")
    # Without the last digits of the last line a list looks whole: what is cut there is only a part of a number.
    if length < text.rindex(" ") + 2:
        assert "error[" in refused(path, text[:length])
    else:
        assert read(path, text[:length]).count == 4
