"""A second, tiny implementation of FabricState behind real NETCONF; and the one way into the thread of a fleet."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from unittest import mock

import pytest
from lxml import etree
from ncclient.operations import RPCError

from ailb_gen.addresses import Prefix
from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.fabric_state import (
    BgpSession,
    FabricState,
    PrefixCounts,
    RouteTotals,
    TrafficCounters,
    link_local,
)
from ailb_gen.emulator.faults import Fault
from ailb_gen.emulator.fleet import Fleet
from ailb_gen.errors import LabError
from ailb_gen.junos.tree import Node
from ailb_gen.network.fabric import End
from ailb_gen.network.model import RouterAdvertisement, Switch
from ailb_gen.network.switch import switch
from ailb_gen.routing.rib import NextHop, Path
from ailb_gen.routing.route import BGP, Route
from tests.emulator.fleets import LEAF, SPINE, bgp_of, fleet_of, netconf
from tests.routing.fabrics import prefix

PORT, UNIT = "et-0/0/0", "et-0/0/0.0"
LEARNED, OWN = prefix("fc00:1:2:1::/64"), prefix("fc00:1:1:1::/64")
SESSION = BgpSession(UNIT, 0, 65101, SPINE, UNIT, 65001, established=True)


class Written:
    """A leaf and a spine whose state is written down, as another fabric would measure it."""

    def __init__(self) -> None:
        self.switches: dict[str, Switch] = {}
        self.kept_down: list[str] = []
        self.threads: set[threading.Thread] = set()

    def commit(self, name: str, tree: Node) -> None:
        self.threads.add(threading.current_thread())
        self.switches[name] = switch(name, name, tree)

    def power_off(self, name: str) -> None:
        del self.switches[name]

    def switch(self, name: str) -> Switch:
        return self.switches.get(name) or switch(name, name, Node(""))

    def neighbor(self, device: str, port: str) -> End | None:
        return End({LEAF: SPINE, SPINE: LEAF}[device], PORT) if port == PORT else None

    def mac(self, device: str, interface: str = "") -> str:
        return {LEAF: "02:00:00:00:00:00", SPINE: "02:00:00:00:00:01"}[device]

    def link_up(self, device: str, port: str) -> bool:
        return port == PORT and len(self.switches) == 2

    def cable_bps(self, device: str, port: str) -> int | None:
        return None

    def counters(self, device: str, interface: str) -> TrafficCounters:
        return TrafficCounters(1000, 2000, 10, 20) if device == LEAF else TrafficCounters()

    def advertiser(self, device: str, interface: str) -> End | None:
        return self.neighbor(device, PORT) if interface == UNIT and self.link_up(device, PORT) else None

    def advertisement(self, device: str, interface: str) -> RouterAdvertisement | None:
        far = self.advertiser(device, interface)
        return RouterAdvertisement(f"{PORT}.0", (), (), None, None, 77) if far is not None else None

    def sessions(self, name: str) -> tuple[BgpSession, ...]:
        return (SESSION,) if name == LEAF and self.link_up(name, PORT) and not self.kept_down else ()

    def keep_down(self, device: str, interface: str) -> None:
        self.kept_down.append(interface)

    def restore(self, device: str, interface: str) -> None:
        self.kept_down.remove(interface)

    def prefixes(self, name: str) -> Sequence[Prefix]:
        return (LEARNED,) if self.sessions(name) else ()

    def paths(self, name: str, prefix: Prefix) -> Sequence[Path]:
        return (Path(Route(as_path=(65001, 65102), protocol=BGP), "active", "", SPINE, UNIT, "up"),)

    def next_hops(self, name: str, prefix: Prefix) -> Sequence[NextHop]:
        return (NextHop(UNIT, SPINE),)

    def prefix_counts(self, name: str) -> Mapping[str, PrefixCounts]:
        return {UNIT: PrefixCounts(3, 5, 4)}

    def route_totals(self, name: str) -> RouteTotals:
        return RouteTotals(3, 5, 1, 5)

    def advertised(self, name: str, session: BgpSession) -> Mapping[Prefix, Route]:
        return {OWN: Route(protocol=BGP, aigp=0)}

    def advertised_count(self, name: str, session: BgpSession) -> int:
        return 1


@pytest.fixture
def fabric() -> Written:
    return Written()


@pytest.fixture
def fleet(fabric: FabricState) -> Iterator[Fleet]:
    with fleet_of(LEAF, SPINE, fabric=fabric) as running:
        yield running


def ask(fleet: Fleet, text: str) -> etree._Element:
    with netconf(fleet) as session:
        reply = session.rpc(etree.fromstring(text))
        return etree.fromstring(str(reply).encode())


def test_netconf_shows_what_the_fabric_says(fleet: Fleet, fabric: Written) -> None:
    with netconf(fleet) as session:
        session.load_configuration(config=bgp_of(LEAF), format="text")
        session.commit()
    assert fabric.switches[LEAF].groups[0].name == "up"
    peer = link_local(fabric, SPINE, UNIT)
    assert peer == "fe80::ff:fe00:1"
    summary = ask(fleet, "<get-bgp-summary-information/>").find(".//bgp-peer")
    assert summary is not None
    assert (summary.findtext("peer-address"), summary.findtext("peer-as")) == (f"{peer}%{UNIT}", "65001")
    assert summary.findtext("bgp-rib/received-prefix-count") == "5"
    ports = ask(fleet, "<get-interface-information><extensive/></get-interface-information>")
    assert ports.findtext(".//physical-interface/oper-status") == "up"
    assert ports.findtext(".//physical-interface/traffic-statistics/output-bytes") == "2000"
    assert ask(fleet, "<get-ipv6-nd-information/>").findtext(".//ipv6-nd-neighbor-address") == peer
    heard = ask(fleet, "<get-ipv6-ra-information/>").find(".//ipv6-ra-advertisement")
    assert heard is not None
    assert (heard.findtext("ipv6-source-address"), heard.findtext("ipv6-ra-default-lifetime")) == (peer, "77")
    route = ask(fleet, "<get-route-information/>").find(".//rt")
    assert route is not None
    assert (route.findtext("rt-destination"), route.findtext("rt-entry/as-path")) == (str(LEARNED), "65001 65102 I")
    sent = "<advertising-protocol-name>bgp</advertising-protocol-name>"
    text = f"<get-route-information>{sent}<neighbor>{peer}</neighbor><detail/></get-route-information>"
    assert ask(fleet, text).findtext(".//bgp-aigp") == "0"
    assert ask(fleet, f"<ping><host>{peer}</host></ping>").find(".//ping-success") is not None


def test_state_that_cannot_be_measured_is_an_error(fleet: Fleet, fabric: Written) -> None:
    with netconf(fleet) as session, mock.patch.object(fabric, "sessions", side_effect=LabError("BIRD does not answer")):
        with pytest.raises(RPCError, match="BIRD does not answer"):
            session.rpc(etree.fromstring("<get-bgp-summary-information/>"))
        assert session.connected


def test_faults_and_power_reach_the_fabric(fleet: Fleet, fabric: Written) -> None:
    fleet.add_faults(LEAF, Fault("session-down", "commit"))
    with netconf(fleet) as session:
        session.commit()
    assert fabric.kept_down == [UNIT]
    assert ask(fleet, "<get-bgp-summary-information/>").find(".//bgp-peer") is None
    fleet.clear_faults(LEAF)
    assert fabric.kept_down == []
    fleet.do(SPINE, EmulatedDevice.power_off)
    assert ask(fleet, "<get-bgp-summary-information/>").find(".//bgp-peer") is None


def test_one_thread_calls_the_fabric(fleet: Fleet, fabric: Written) -> None:
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
    stopped = fleet_of(fabric=Written())
    with pytest.raises(RuntimeError, match="while it runs"):
        stopped.reboot(LEAF, 1)
    stopped.stop()
