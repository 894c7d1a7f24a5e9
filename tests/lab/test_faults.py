"""Cables that fail and are repaired: what both ends see, and what a configuration changes meanwhile."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import replace

import pytest

from ailb_gen.errors import UsageError
from ailb_gen.lab.faults import FaultKind, fail, fail_one_way, faults_of, repair
from ailb_gen.lab.kernel import links
from ailb_gen.lab.links import LinkSettings, apply
from ailb_gen.lab.namespaces import batch, inside
from ailb_gen.lab.plan import LabPlan, link_local
from tests.lab.isolated import isolated
from tests.lab.labs import carrier, until, wired_up, with_link_local

LEAF, SPINE, SERVER = "stripe1-leaf1", "spine1", "gpu-s1-1"
CABLE = "stripe1-leaf1:et-0/0/0 - spine1:et-0/0/0"
PORT = 4791


def arrives(plan: LabPlan, sender: str, receiver: str) -> bool:
    """Whether a packet of one end of the cable reaches the other."""
    with inside(receiver):
        there = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        there.bind(("::", PORT))
        there.settimeout(0.3)
    with inside(sender):
        here = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        index = socket.if_nametoindex("et-0-0-0")
    address = socket.inet_ntop(
        socket.AF_INET6, link_local(plan.switches[receiver].ports["et-0/0/0"].mac).to_bytes(16, "big")
    )
    with here, there:
        here.sendto(b"x", (address, PORT, 0, index))
        try:
            return there.recv(10) == b"x"
        except TimeoutError:
            return False


def carrier_lost(plan: LabPlan) -> None:
    """Both ends lose carrier, and nothing else."""
    faults = fail(plan, "stripe1-leaf1:et-0/0/0", FaultKind.CARRIER)

    assert [str(fault) for fault in faults] == [f"{CABLE}: no carrier"]
    assert "et-0-0-0" not in carrier(LEAF) | carrier(SPINE)
    # The far end is not disabled, and keeps its address.
    assert links(SPINE)["et-0-0-0"].enabled
    assert {"et-0-0-1", "et-0-0-2", "et-0-0-3"} <= carrier(LEAF) & carrier(SPINE)
    assert faults_of(plan) == faults
    assert repair(plan) == faults
    until(lambda: "et-0-0-0" in carrier(LEAF) & carrier(SPINE) & with_link_local(LEAF) & with_link_local(SPINE))
    assert faults_of(plan) == ()
    assert repair(plan) == ()


def silent(plan: LabPlan) -> None:
    """Packets are lost in both directions, with carrier."""
    until(lambda: arrives(plan, LEAF, SPINE) and arrives(plan, SPINE, LEAF))
    (fault,) = fail(plan, CABLE, FaultKind.SILENT)

    assert str(fault) == f"{CABLE}: drops all packets"
    assert not arrives(plan, LEAF, SPINE)
    assert not arrives(plan, SPINE, LEAF)
    assert "et-0-0-0" in carrier(LEAF) & carrier(SPINE)
    # Once more it changes nothing; without carrier besides, both are known.
    assert fail(plan, CABLE, FaultKind.SILENT) == (fault,)
    assert fail(plan, "spine1:stripe1-leaf1", FaultKind.CARRIER) == (replace(fault, kind=FaultKind.CARRIER),)
    assert faults_of(plan) == (replace(fault, kind=FaultKind.CARRIER), fault)
    assert len(repair(plan, "spine1")) == 2
    until(lambda: "et-0-0-0" in with_link_local(LEAF) and arrives(plan, LEAF, SPINE) and arrives(plan, SPINE, LEAF))


def one_way(plan: LabPlan) -> None:
    """Only what one end sends is lost, whichever end it is."""
    (fault,) = fail_one_way(plan, f"{LEAF}:et-0/0/0")
    assert str(fault) == f"{CABLE}: drops all packets from {LEAF}:et-0/0/0"
    assert not arrives(plan, LEAF, SPINE)
    assert arrives(plan, SPINE, LEAF)
    assert repair(plan) == (*faults_of(plan), fault)
    for word in (f"{SPINE}:{LEAF}", "spine1:et-0/0/0 - stripe1-leaf1:et-0/0/0"):
        (fault,) = fail_one_way(plan, word)
        assert str(fault) == f"{CABLE}: drops all packets from {SPINE}:et-0/0/0"
        assert arrives(plan, LEAF, SPINE)
        assert not arrives(plan, SPINE, LEAF)
        assert repair(plan, word) == (fault,)
    until(lambda: arrives(plan, LEAF, SPINE) and arrives(plan, SPINE, LEAF))


def of_devices(plan: LabPlan) -> None:
    """All cables of a switch, and of a server."""
    batch(["link set gpu0_eth up", "link set gpu1_eth up", "address add fd00::1/64 dev gpu0_eth"], SERVER)
    until(lambda: {"gpu0_eth", "gpu1_eth"} <= carrier(SERVER) & with_link_local(SERVER))

    assert len(fail(plan, SPINE, FaultKind.CARRIER)) == 4
    assert carrier(SPINE) == {"lo"}
    assert len(fail(plan, SERVER, FaultKind.CARRIER)) == 2
    assert not carrier(SERVER) & {"gpu0_eth", "gpu1_eth"}
    # A server keeps its addresses when a cable is pulled.
    assert {"gpu0_eth", "gpu1_eth"} <= with_link_local(SERVER)
    assert len(repair(plan, SERVER)) == 2
    assert [fault.b.device for fault in faults_of(plan)] == [SPINE] * 4
    assert len(repair(plan)) == 4
    for word, message in (("spine1:nothing", "no such cable"), ("spine2", "has no failure to repair")):
        with pytest.raises(UsageError, match=message):
            repair(plan, word)


def configured_meanwhile(plan: LabPlan, asked: Mapping[str, LinkSettings]) -> None:
    """A commit repairs nothing, and a repair enables no port."""
    (fault,) = fail(plan, CABLE, FaultKind.CARRIER)
    port = asked[LEAF]["et-0-0-0"]
    disabled = {**asked[LEAF], "et-0-0-0": replace(port, enabled=False)}

    apply(LEAF, asked[LEAF], disabled)
    apply(LEAF, disabled, asked[LEAF])
    assert not links(LEAF)["et-0-0-0"].enabled
    apply(LEAF, asked[LEAF], disabled)
    assert repair(plan) == (fault,)
    assert not links(LEAF)["et-0-0-0"].enabled
    apply(LEAF, disabled, asked[LEAF])
    until(lambda: "et-0-0-0" in carrier(LEAF))


def all_of_it() -> None:
    _, plan, asked = wired_up()
    carrier_lost(plan)
    silent(plan)
    one_way(plan)
    of_devices(plan)
    configured_meanwhile(plan, asked)


def test_cables_fail_and_are_repaired() -> None:
    isolated(all_of_it, tools=("ip", "nft"))
