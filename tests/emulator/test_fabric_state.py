"""NETCONF shows what the state of a fabric says, whoever measures it; and the one way into the thread of a fleet.

The second implementation of FabricState is the lab's: `tests/lab/test_state.py`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from unittest import mock

import pytest
from lxml import etree
from ncclient.operations import RPCError

from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.fabric import EmulatedFabric
from ailb_gen.emulator.fabric_state import PrefixCounts, TrafficCounters
from ailb_gen.emulator.faults import Fault
from ailb_gen.emulator.fleet import Fleet
from ailb_gen.errors import LabError
from ailb_gen.junos.tree import Node
from tests.emulator.fleets import LEAF, LINK, SPINE, bring_up, fleet_of, netconf


class Measured(EmulatedFabric):
    """A leaf and a spine, some of whose state is written down as another fabric would measure it."""

    def __init__(self) -> None:
        super().__init__([LINK])
        self.threads: set[threading.Thread] = set()

    def commit(self, name: str, tree: Node) -> None:
        self.threads.add(threading.current_thread())
        super().commit(name, tree)

    def counters(self, device: str, interface: str) -> TrafficCounters:
        return TrafficCounters(1000, 2000, 10, 20) if device == LEAF else TrafficCounters()

    def prefix_counts(self, name: str) -> dict[str, PrefixCounts]:
        return {"et-0/0/0.0": PrefixCounts(3, 5, 4)}


@pytest.fixture
def fabric() -> Measured:
    return Measured()


@pytest.fixture
def fleet(fabric: Measured) -> Iterator[Fleet]:
    with fleet_of(LEAF, SPINE, fabric=fabric) as running:
        yield running


def ask(fleet: Fleet, text: str) -> etree._Element:
    with netconf(fleet) as session:
        reply = session.rpc(etree.fromstring(text))
        return etree.fromstring(str(reply).encode())


def test_netconf_shows_what_the_fabric_says(fleet: Fleet) -> None:
    bring_up(fleet)
    summary = ask(fleet, "<get-bgp-summary-information/>").find(".//bgp-peer/bgp-rib")
    assert summary is not None
    counts = [summary.findtext(f"{name}-prefix-count") for name in ("active", "received", "accepted")]
    assert counts == ["3", "5", "4"]
    ports = ask(fleet, "<get-interface-information><extensive/></get-interface-information>")
    assert ports.findtext(".//physical-interface/oper-status") == "up"
    assert ports.findtext(".//physical-interface/traffic-statistics/output-bytes") == "2000"


def test_state_that_cannot_be_measured_is_an_error(fleet: Fleet, fabric: Measured) -> None:
    with netconf(fleet) as session, mock.patch.object(fabric, "sessions", side_effect=LabError("BIRD does not answer")):
        with pytest.raises(RPCError, match="BIRD does not answer"):
            session.rpc(etree.fromstring("<get-bgp-summary-information/>"))
        assert session.connected


def test_one_thread_calls_the_fabric(fleet: Fleet, fabric: Measured) -> None:
    fabric.threads.clear()
    with netconf(fleet) as session:
        session.commit()
    fleet.do(SPINE, EmulatedDevice.power_on)
    assert [thread.name for thread in fabric.threads] == ["emulator"]


def test_errors_reach_the_caller(fleet: Fleet) -> None:
    def broken(device: EmulatedDevice) -> None:
        raise ValueError(device.name)

    with pytest.raises(ValueError, match=LEAF):
        fleet.do(LEAF, broken)
    with pytest.raises(KeyError, match="nobody"):
        fleet.add_faults("nobody", Fault("error", "commit"))
    assert fleet.do(LEAF, lambda device: device.name) == LEAF


def test_a_call_does_not_wait_for_ever(fleet: Fleet) -> None:
    release = threading.Event()
    waiting = threading.Thread(target=fleet.do, args=(LEAF, lambda device: release.wait(30)))
    waiting.start()
    with pytest.raises(TimeoutError, match=r"not answered within 0\.05 s"):
        fleet.do(SPINE, lambda device: time.time(), timeout_s=0.05)
    release.set()
    waiting.join()
    assert fleet.do(SPINE, lambda device: device.name) == SPINE


def test_a_call_that_would_wait_for_itself(fleet: Fleet) -> None:
    with pytest.raises(RuntimeError, match="from other threads than its own"):
        fleet.do(LEAF, lambda device: fleet.do(SPINE, EmulatedDevice.power_off))
    stopped = fleet_of()
    with pytest.raises(RuntimeError, match="while it runs"):
        stopped.reboot(LEAF, 1)
    stopped.stop()
