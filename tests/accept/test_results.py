"""The load of colors by a job: which leaves are uneven, and why."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import pytest

from ailb_gen.accept.counters import PortCounters, Readings
from ailb_gen.accept.nccl_tests import NcclRow, NcclRun
from ailb_gen.accept.results import marks, share_results
from ailb_gen.checks.families.acceptance import MARKS, SHARES
from ailb_gen.checks.model import Findings
from ailb_gen.network.fabric import End, Network
from tests.checks.trees import GOLDEN, network_of

RUN = NcclRun((NcclRow(8, 1.0, 1.0, 1.0, 0),), 1.0)
NIC = End("h100-01", "gpu0_eth")
MIB = 1 << 20


@cache
def jvd() -> Network:
    return network_of(GOLDEN / "jvd")


def readings(sent: Mapping[str, int]) -> Readings:
    """What all leaves have sent by color, in MiB."""
    ports = {cable.a: PortCounters(output_bytes=sent[cable.color] * MIB) for cable in jvd().links}
    return Readings(ports, devices=frozenset(end.device for end in ports))


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        ((100, 100, 100, 100), ""),
        ((104, 98, 100, 99), ""),
        # One of two servers puts everything on the first color.
        ((500, 100, 100, 100), "62% of its octets are of color green, 25% would be even: one of "),
        ((500, 103, 102, 101), "25% would be even: one of "),
        # Both do.
        ((800, 0, 0, 0), "100% of its octets are of color green, few or none of blue, red, orange"),
        ((100, 100, 100, 10), "few or none of orange"),
    ],
)
def test_shares(sent: tuple[int, ...], reason: str) -> None:
    found = Findings()
    share_results(
        found, jvd(), "all-reduce", readings(dict(zip(("green", "blue", "red", "orange"), sent, strict=True))), [RUN]
    )
    texts = [one.message for one in found.found[SHARES.id]]
    assert len(texts) == (16 if reason else 0)
    assert all(reason in text for text in texts)


def test_an_uplink_whose_counters_started_again() -> None:
    now = readings(dict.fromkeys(("green", "blue", "red", "orange"), 100))
    gone = jvd().links[0].a
    found = Findings()
    kept = Readings({end: row for end, row in now.ports.items() if end != gone}, devices=now.devices)
    share_results(found, jvd(), "all-reduce", kept, [RUN])
    assert [(one.device, one.part) for one in found.found[SHARES.id]] == [(gone.device, gone.port)]


def test_counters_of_nics() -> None:
    found = Findings()
    marks(found, Readings(suspicious={NIC: {"cnp_sent": 3, "ecn_marked": 0, "out_of_order": -7}}))
    assert [one.message for one in found.found[MARKS.id]] == [
        "gpu0_eth: 3 CNPs sent",
        "gpu0_eth: packets out of order: counted anew meanwhile",
    ]
