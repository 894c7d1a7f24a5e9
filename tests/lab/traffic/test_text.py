"""Results as text: 80 columns, bars in proportion."""

from __future__ import annotations

import json
from dataclasses import replace

from ailb_gen.lab.traffic.model import Flow, FlowResult, TrafficLoad, TrafficResult, Uplink
from ailb_gen.lab.traffic.text import as_json, bar, report
from ailb_gen.paint import painted

EVEN = {Uplink("leaf1", f"et-0/0/{k}", f"spine{k + 1}"): 1_000_000 for k in range(4)}
UNEVEN = dict(zip(EVEN, (1_000_000, 0, 2_000_000, 1_000_000), strict=True))


def flow(qp: int, sent: int = 100, received: int = 100, late: int = 0, outage_ms: float = 0.0) -> FlowResult:
    return FlowResult(Flow("h1", "gpu0", 1, "h2", "gpu0", 2, qp, 49152), sent, received, late, outage_ms)


def test_two_runs_side_by_side() -> None:
    pinned = TrafficResult((flow(0), flow(1, received=95, outage_ms=5.0)), EVEN, TrafficLoad())
    hashed = TrafficResult((flow(0), flow(1, late=2)), UNEVEN, TrafficLoad())

    text = report({"pinned": pinned, "ECMP": hashed})

    assert (
        text
        == """\
traffic  flows  packets  lost  reordered  outage ms  peak/mean
-------  -----  -------  ----  ---------  ---------  ---------
pinned       2      200     5          0          5      1.000
ECMP         2      200     0          2          0      2.000

bytes per uplink
leaf1                         pinned, MB               ECMP, MB
  et-0/0/0     spine1             1.000 ██████▌            1.000 ██████▌
  et-0/0/1     spine2             1.000 ██████▌            0.000
  et-0/0/2     spine3             1.000 ██████▌            2.000 █████████████
  et-0/0/3     spine4             1.000 ██████▌            1.000 ██████▌
  peak/mean                       1.000                    2.000

pinned: flows with loss or reordering
flow                      lost  reordered  outage ms
------------------------  ----  ---------  ---------
h1:gpu0 to h2:gpu0, QP 2     5          0        5.0

ECMP: flows with loss or reordering
flow                      lost  reordered  outage ms
------------------------  ----  ---------  ---------
h1:gpu0 to h2:gpu0, QP 2     0          2        0.0
"""
    )


def test_a_leaf_that_sent_nothing_has_no_peak() -> None:
    result = TrafficResult(
        (flow(0),), dict.fromkeys(EVEN, 0) | {Uplink("leaf2", "et-0/0/0", "spine1"): 5}, TrafficLoad()
    )
    idle = TrafficResult((flow(0),), dict.fromkeys(result.uplinks, 0), TrafficLoad())
    shown = [
        line.split() for line in report({"pinned": result, "ECMP": idle}).splitlines() if line[:11] == "  peak/mean"
    ]
    assert shown == [["peak/mean", "1.000", "-"]]


def test_json_has_the_peak_of_every_leaf() -> None:
    (found,) = json.loads(as_json({"ECMP": TrafficResult((flow(0),), UNEVEN, TrafficLoad())})).values()
    assert found["peak_over_mean"] == found["max_over_mean"] == {"leaf1": 2.0}


def test_many_leaves_are_cut_short() -> None:
    links = {Uplink(f"a-leaf-with-a-long-name-{n}", "et-0/0/0:0", "spine-with-a-long-name"): n for n in range(9)}
    links |= {Uplink(f"a-leaf-with-a-long-name-{n}", "et-0/0/1:0", "spine-with-a-long-name"): 5 for n in range(9)}
    flows = tuple(flow(n, received=90) for n in range(40))

    lines = report({"pinned": TrafficResult(flows, links, TrafficLoad())}).splitlines()

    assert max(map(len, lines)) <= 80
    assert "bytes per uplink; the leaves with the largest spread" in lines
    assert "5 more leaves: peak/mean 1.231 or less" in lines
    assert lines[-1] == "and 28 more"


def test_bars() -> None:
    assert [bar(share, 2) for share in (0, 1 / 16, 0.5, 0.75, 1, 7)] == ["  ", "▏ ", "█ ", "█▌", "██", "██"]


def test_what_is_lost_or_late_has_a_color() -> None:
    result = TrafficResult((flow(0), flow(1, received=95, late=2, outage_ms=5.0)), EVEN, TrafficLoad())
    lines = report({"pinned": result}, painted).splitlines()
    lost, late, outage = (f"\x1b[{style}m" for style in ("1;31", "33", "33"))
    assert (
        lines[2]
        == f"pinned       2      200  {lost}   5\x1b[0m  {late}        2\x1b[0m  {outage}        5\x1b[0m      1.000"
    )
    assert lines[-1] == f"h1:gpu0 to h2:gpu0, QP 2  {lost}   5\x1b[0m  {late}        2\x1b[0m  {outage}      5.0\x1b[0m"


def test_names_are_whole() -> None:
    """Names of one domain differ in front, those of a naming scheme behind: both must be told apart."""
    links = {Uplink(f"leaf-1.pod7.row{n}.example.net", f"et-0/0/{n}", f"spine-{n}.pod7.example.net"): 5 for n in (1, 2)}
    long = Flow("gpu-01.pod7.example.net", "gpu0_eth", 1, "gpu-03.pod7.example.net", "gpu0_eth", 2, 0, 49152)
    flows = (FlowResult(long, 12_345, 12_000, 0, 0.0), FlowResult(replace(long, qp=1), 12_345, 11_000, 0, 0.0))

    text = report({"pinned": TrafficResult(flows, links, TrafficLoad())})

    for name in (*(str(uplink.leaf) for uplink in links), *(uplink.spine for uplink in links)):
        assert name in text
    assert "QP 1" in text and "QP 2" in text
    assert " 24,690 " in text and " 1,345 " in text
    assert max(map(len, text.splitlines())) <= 80
