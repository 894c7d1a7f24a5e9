"""The output of nccl-tests, as it prints it, and as nobody should."""

from __future__ import annotations

import re

import pytest

from ailb_gen.accept.nccl_tests import parse_run, spread
from ailb_gen.errors import UsageError

# Written after src/common.cu of nccl-tests; no GPU of ours has printed it.
HEAD = """\
# nThread 1 nGpus 1 minBytes 8388608 maxBytes 16777216 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1
#
# Using devices
#  Rank  0 Group  0 Pid  41250 on    gpu-s1-1 device  0 [0x1b] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid  41251 on    gpu-s2-1 device  0 [0x1b] NVIDIA H100 80GB HBM3
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
"""
ROWS = """\
     8388608       2097152     float     sum      -1    371.9   22.56   42.29      0    371.2   22.60   42.37      0
    16777216       4194304     float     sum      -1    703.5   23.85   44.71      0    702.9   23.87   44.75      0
"""
TAIL = """\
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 43.5307
#
"""
ALL_TO_ALL = """\
     8388608        262144     float    none      -1    512.2   16.38   15.35      0    509.9   16.45   15.42    N/A
"""


def test_a_run() -> None:
    run = parse_run(HEAD + ROWS + TAIL)
    assert [(row.size, row.time_us, row.algbw, row.busbw) for row in run.rows] == [
        (8388608, 371.9, 22.56, 42.29),
        (16777216, 703.5, 23.85, 44.71),
    ]
    assert (run.average, run.wrong, run.without_plugin) == (43.5307, 0, frozenset())


def test_all_to_all_has_no_wrong_values_in_place() -> None:
    assert parse_run(HEAD + ALL_TO_ALL + TAIL).rows[0].busbw == 15.35


@pytest.mark.parametrize("tag", ["[1,0]<stdout>:", "[1,0]<stdout>: ", "0: "])
def test_tags_of_launchers(tag: str) -> None:
    text = "".join(f"{tag}{line}\n" for line in (HEAD + ROWS + TAIL).splitlines())
    assert parse_run(text) == parse_run(HEAD + ROWS + TAIL)


def test_a_server_without_the_plug_in() -> None:
    line = "gpu-s2-1:41251:41251 [0] NCCL INFO NET/Plugin: Could not find: libnccl-net.so. Using internal net plugin.\n"
    assert parse_run(line + HEAD + ROWS + TAIL).without_plugin == {"gpu-s2-1"}


def test_wrong_values() -> None:
    wrong = ROWS.replace("42.29      0", "42.29      7")
    assert parse_run(HEAD + wrong + TAIL.replace("0 OK", "7 FAILED")).wrong == 7


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the job printed no table of nccl-tests; its last line: 'nothing'"),
        ("mpirun: command not found\n", "no table of nccl-tests; its last line: 'mpirun: command not found'"),
        (HEAD + ROWS, "no average bus bandwidth"),
        (HEAD + TAIL, "no table of nccl-tests"),
        (HEAD + ROWS.replace("42.29", "inf") + TAIL, "line 10 of the job's output has no number at 'inf'"),
        (HEAD + ROWS.replace("42.29", "-1") + TAIL, "line 10 of the job's output has no number at '-1'"),
        (HEAD + ROWS.replace("  371.2", "") + TAIL, "line 10 of the job's output has 12 columns, not 13"),
        (HEAD + ROWS + TAIL.replace("43.5307", "1e999"), "no number at '1e999'"),
        (HEAD + ROWS + TAIL.replace("0 OK", "7 FAILED"), "7 values out of bounds, and no row with wrong ones"),
        ("x\n" * 200_001, "the job printed 200,001 lines, more than 200,000"),
    ],
)
def test_output_that_is_none(text: str, reason: str) -> None:
    with pytest.raises(UsageError, match=re.escape(reason)):
        parse_run(text)


def test_spread() -> None:
    assert str(spread([40.0, 41.0, 42.0])) == "41.00 GB/s, spread 4.9%"
    assert spread([0.0]).share == 0.0
