"""gNMI of emulated devices with published clients, against what `show` says of the same devices."""

import json
import socket
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import grpc
import pytest
from lxml import etree
from pygnmi.client import gNMIclient
from pygnmi.spec.v080 import gnmi_pb2

from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.fabric import EmulatedFabric
from ailb_gen.emulator.fleet import Fleet
from ailb_gen.emulator.gnmi.options import GnmiOptions
from ailb_gen.emulator.gnmi.state import CONTAINERS
from ailb_gen.emulator.host import FleetLogin
from ailb_gen.emulator.operations import reply_of
from ailb_gen.emulator.operations.commands import rpc_of
from ailb_gen.emulator.traffic import LinkRate
from ailb_gen.errors import UsageError
from ailb_gen.network.fabric import End
from tests.conftest import example
from tests.emulator.fleets import until
from tests.emulator.gnmi.collector import (
    LOGIN,
    ON_CHANGE,
    ONCE,
    PASSWORD,
    POLL,
    SECOND,
    TARGET_DEFINED,
    USER,
    Collector,
    collector,
    lab_fleet,
    lab_specs,
    leaves,
    path_of,
    subscription,
)
from tests.emulator.operations.lab import LEAF, NAMES, SPINE
from tests.exports.fabrics import written
from tests.exports.test_gnmic import read as read_gnmic
from tests.network.lab import LAB

PORT = "et-0/0/0"
COUNTERS = f"/interfaces/interface[name={PORT}]/state/counters"
NEIGHBORS = "/network-instances/network-instance/protocols/protocol/bgp/neighbors/neighbor"
STATE = f"{NEIGHBORS}/state"
BITS = 8 * 10**9


class Clock:
    """The time of the fabric, which stands still."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def fleet(clock: Clock) -> Iterator[Fleet]:
    fabric = EmulatedFabric.read(LAB, clock=clock)
    with lab_fleet(fabric) as running:
        # Both directions of a link, one of them with losses; then the clock moves once.
        running.do(
            LEAF, lambda _: fabric.send({End(LEAF, PORT): LinkRate(BITS), End(SPINE, PORT): LinkRate(BITS, 0.25)})
        )
        clock.now += 100
        yield running


@pytest.fixture
def leaf(fleet: Fleet) -> Iterator[Collector]:
    with collector(fleet) as found:
        yield found


@pytest.fixture
def spine(fleet: Fleet) -> Iterator[Collector]:
    with collector(fleet, SPINE) as found:
        yield found


def show(fleet: Fleet, name: str, command: str) -> etree._Element:
    """Return the reply to a command."""
    return fleet.do(name, lambda device: reply_of(device, rpc_of(command)))


def numbers(found: etree._Element | None, *tags: str) -> list[int]:
    assert found is not None
    return [int(found.findtext(f".//{tag}") or -1) for tag in tags]


def test_capabilities(fleet: Fleet, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_bytes(fleet.gnmi_certificate)
    target = ("127.0.0.1", fleet.gnmi_ports()[LEAF])
    with gNMIclient(target, username=USER, password=PASSWORD, path_root=str(tmp_path / "ca.pem")) as client:
        found = client.capabilities()
        assert found["gnmi_version"] == "0.8.0"
        assert found["supported_encodings"] == ["json", "proto", "json_ietf"]
        assert "openconfig-qos" in {one["name"] for one in found["supported_models"]}
        (told,) = client.get(path=[f"{COUNTERS}/out-octets"], encoding="json_ietf")["notification"]
        assert [one["val"] for one in told["update"]] == [str(BITS // 8 * 100)]


def test_counters_are_those_of_show(fleet: Fleet, leaf: Collector, spine: Collector) -> None:
    for name, asked in ((LEAF, leaf), (SPINE, spine)):
        reply = show(fleet, name, f"show interfaces {PORT} extensive")
        tags = ("input-bytes", "input-packets", "output-bytes", "output-packets", "output-drops")
        found = asked.get(COUNTERS)
        leafs = ("in-octets", "in-pkts", "out-octets", "out-pkts", "out-discards")
        assert numbers(reply.find("physical-interface"), *tags) == [found[f"{COUNTERS}/{one}"] for one in leafs]
    # Octets of the leaf as they were sent, those of the spine without the dropped ones; both directions differ.
    assert leaf.get(COUNTERS)[f"{COUNTERS}/out-octets"] == BITS // 8 * 100
    assert leaf.get(COUNTERS)[f"{COUNTERS}/in-octets"] == BITS // 8 * 75


def test_queues_are_those_of_show(fleet: Fleet, spine: Collector) -> None:
    found = spine.get(f"/qos/interfaces/interface[interface-id={PORT}]")
    rows = show(fleet, SPINE, f"show interfaces queue {PORT}").iterfind(".//queue")
    tags = [
        f"queue-counters-{one}" for one in ("trans-packets", "trans-bytes", "total-drop-packets", "total-drop-bytes")
    ]
    shown = {row.findtext("queue-number"): numbers(row, *tags) for row in rows}
    told = ("transmit-pkts", "transmit-octets", "dropped-pkts", "dropped-octets")
    at = f"/qos/interfaces/interface[interface-id={PORT}]/output/queues/queue[name={{}}]/state/"
    assert shown == {queue: [found[at.format(queue) + one] for one in told] for queue in shown}
    assert shown["4"] == [BITS * 75 // 8 // 4178, BITS * 75 // 8, BITS * 25 // 8 // 4178, BITS * 25 // 8]
    assert len(found) == 7 * len(shown) == 28


def test_sessions_are_those_of_show(fleet: Fleet, leaf: Collector) -> None:
    found = leaf.get(NEIGHBORS)
    shown = show(fleet, LEAF, "show bgp summary")
    for peer in shown.iterfind("bgp-peer"):
        (address,) = {value for path, value in found.items() if value == peer.findtext("peer-address")}
        own = {path.rpartition("/")[2]: value for path, value in found.items() if f"={address}]" in path}
        assert own["session-state"] == str(peer.findtext("peer-state")).upper() == "ESTABLISHED"
        assert own["peer-as"] == int(peer.findtext("peer-as") or 0)
        counts = numbers(peer.find("bgp-rib"), "received-prefix-count", "accepted-prefix-count", "active-prefix-count")
        assert counts == [own[one] for one in ("received-pre-policy", "received", "installed")]
        assert own["sent"] > 0
    assert len([path for path in found if path.endswith("/session-state")]) == 4


def test_bfd_and_light_are_those_of_show(fleet: Fleet, leaf: Collector) -> None:
    shown = show(fleet, LEAF, "show bfd session extensive")
    ids = shown.findall(".//local-discriminator")
    found = leaf.get("/bfd")
    assert sorted(value for path, value in found.items() if path.endswith("/local-discriminator")) == sorted(
        str(one.text) for one in ids
    )
    assert {value for path, value in found.items() if path.endswith("/session-state")} == {"UP"}
    optics = show(fleet, LEAF, f"show interfaces diagnostics optics {PORT}")
    voltage = leaf.get(f"/components/component[name={PORT}]/transceiver/state")
    assert [f"{one:.4f}" for one in voltage.values()] == [optics.findtext(".//module-voltage")]
    light = leaf.get(f"/components/component[name={PORT}]/.../input-power")
    lanes = optics.iterfind(".//laser-rx-optical-power-dbm")
    assert list(light.values()) == [float(str(one.text)) for one in lanes] == [-1.2] * 8


def test_interfaces_are_those_of_show(fleet: Fleet, leaf: Collector) -> None:
    found = leaf.get("/interfaces/interface/state", "/interfaces/interface/subinterfaces")
    shown = show(fleet, LEAF, "show interfaces terse")
    for port in shown.iterfind("physical-interface"):
        name = port.findtext("name")
        at = f"/interfaces/interface[name={name}]/state"
        states = [found[f"{at}/{one}"] for one in ("admin-status", "oper-status")]
        assert states == [str(port.findtext(one)).upper() for one in ("admin-status", "oper-status")]
        for unit in port.iterfind("logical-interface"):
            index = str(unit.findtext("name")).rpartition(".")[2]
            at = f"/interfaces/interface[name={name}]/subinterfaces/subinterface[index={index}]/state"
            assert found[f"{at}/oper-status"] == str(unit.findtext("oper-status")).upper()


@pytest.mark.parametrize("name", NAMES)
def test_every_exported_path_is_answered(fleet: Fleet, tmp_path: Path, name: str) -> None:
    """Those of gnmic, switch by switch; Telegraf's are the same without keys."""
    config = read_gnmic(example("lab"), tmp_path)
    target = config["targets"][name]
    paths = [path for one in target["subscriptions"] for path in config["subscriptions"][one]["paths"]]
    telegraf = (written(example("lab"), "telegraf", tmp_path) / "telegraf.conf").read_text().splitlines()
    paths += [json.loads(line.partition(" = ")[2]) for line in telegraf if line.startswith("  path = ")]
    assert len(paths) > 10
    with collector(fleet, name) as asked:
        for path in paths:
            assert asked.once(path), path


def test_every_leaf_is_of_its_container(leaf: Collector) -> None:
    """What is answered is what the table lists, and one path finds all of it."""
    found = leaf.once("/")
    for container in CONTAINERS:
        names = container.path.split("/")
        start = f"/{names[1]}"
        told = {path for path in found if path.startswith(start)}
        assert {one for one in container.leaves if any(path.endswith(f"/{one}") for path in told)}, container.path
    assert found == leaf.once("/...") == leaf.once("/*") == leaf.get("/")


@pytest.mark.parametrize("encoding", [gnmi_pb2.JSON, gnmi_pb2.JSON_IETF])
def test_encodings_say_the_same(leaf: Collector, encoding: int) -> None:
    values = leaf.get("/", encoding=gnmi_pb2.PROTO)
    told = {path: json.loads(text) for path, text in leaf.get("/", encoding=encoding).items()}
    wide = [f"{COUNTERS}/in-octets", "/system/state/boot-time"]
    if encoding == gnmi_pb2.JSON_IETF:
        assert all(isinstance(told[path], str) for path in wide)
        assert {path: str(value) for path, value in told.items()} == {
            path: str(value) for path, value in values.items()
        }
    else:
        assert told == values


def test_the_target_comes_back(leaf: Collector) -> None:
    prefix = gnmi_pb2.Path(target=LEAF, elem=[gnmi_pb2.PathElem(name="system")])
    found = list(leaf.subscribe(subscription("/state", mode=ONCE, prefix=prefix)))
    assert {one.update.prefix.target for one in found[:-1]} == {LEAF}
    assert "/system/state/hostname" in leaves(one.update for one in found[:-1])
    with pytest.raises(grpc.RpcError, match="target 'spine9' is not here; this device is stripe1-leaf1") as error:
        leaf.get("/system", prefix=gnmi_pb2.Path(target="spine9"))
    assert error.value.code() == grpc.StatusCode.NOT_FOUND


@pytest.mark.parametrize(
    "login", [(), LOGIN[:1], LOGIN[1:], (("username", USER), ("password", "")), (("username", "root"), LOGIN[1])]
)
def test_a_wrong_login(leaf: Collector, login: Any) -> None:
    calls = (
        lambda: leaf.stub.Capabilities(gnmi_pb2.CapabilityRequest(), metadata=login),
        lambda: leaf.get("/system", login=login),
        lambda: leaf.stub.Set(gnmi_pb2.SetRequest(), metadata=login),
        lambda: list(leaf.subscribe(subscription("/system", mode=ONCE), login=login)),
    )
    for call in calls:
        with pytest.raises(grpc.RpcError) as error:
            call()
        assert error.value.code() == grpc.StatusCode.UNAUTHENTICATED


SUBSCRIBED = subscription("/system/state", sample_interval=SECOND)


@pytest.mark.parametrize(
    ("requests", "status", "text"),
    [
        ([], "INVALID_ARGUMENT", "the first message must hold the subscriptions"),
        ([gnmi_pb2.SubscribeRequest(poll=gnmi_pb2.Poll())], "INVALID_ARGUMENT", "the first message"),
        ([subscription()], "INVALID_ARGUMENT", "no path"),
        ([SUBSCRIBED, SUBSCRIBED], "INVALID_ARGUMENT", "a stream takes no further message"),
        ([subscription("/system", mode=POLL), SUBSCRIBED], "INVALID_ARGUMENT", "only polls"),
        ([subscription("/system", mode=7)], "INVALID_ARGUMENT", "no mode 7"),
        ([subscription("/system", how=7)], "INVALID_ARGUMENT", "no mode 7 of a subscription"),
        (
            [subscription("/nosuch/path")],
            "INVALID_ARGUMENT",
            "/nosuch/path: no such path here; there are paths under bfd",
        ),
        ([subscription("/interfaces/interface[index=1]/state")], "INVALID_ARGUMENT", "no such path"),
        ([subscription("/system", sample_interval=1000)], "INVALID_ARGUMENT", "1000 ns is too short"),
        ([subscription(COUNTERS, how=ON_CHANGE)], "INVALID_ARGUMENT", "has counters only"),
        ([subscription("/system", encoding=gnmi_pb2.ASCII)], "UNIMPLEMENTED", "encoding ASCII is not supported"),
        ([subscription("/system", prefix=gnmi_pb2.Path(origin="cli"))], "INVALID_ARGUMENT", "origin 'cli'"),
        ([subscription("/system", prefix=gnmi_pb2.Path(target="x"))], "NOT_FOUND", "target 'x'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_subscription_that_is_refused(leaf: Collector, requests: Any, status: str, text: str) -> None:
    with pytest.raises(grpc.RpcError) as error:
        list(leaf.subscribe(*requests))
    assert error.value.code() == grpc.StatusCode[status]
    assert text in str(error.value.details())


def test_get_and_set_that_are_refused(leaf: Collector) -> None:
    for call, status in (
        (lambda: leaf.get("/interfaces/interface[name=et-9/9/9]"), "NOT_FOUND"),
        (lambda: leaf.get("/nosuch"), "INVALID_ARGUMENT"),
        (lambda: leaf.get("/interfaces", type=gnmi_pb2.GetRequest.CONFIG), "UNIMPLEMENTED"),
        (lambda: leaf.stub.Set(gnmi_pb2.SetRequest(), metadata=LOGIN), "UNIMPLEMENTED"),
    ):
        with pytest.raises(grpc.RpcError) as error:
            call()
        assert error.value.code() == grpc.StatusCode[status]


def test_polls(leaf: Collector) -> None:
    polls = [gnmi_pb2.SubscribeRequest(poll=gnmi_pb2.Poll())] * 2
    found = list(leaf.subscribe(subscription("/system/state", mode=POLL, updates_only=True), *polls))
    # Nothing but the end of nothing, then the state twice.
    assert [one.sync_response for one in found] == [True, False, True, False, True]


def test_samples_and_updates_only(leaf: Collector) -> None:
    started = time.monotonic()
    call = leaf.subscribe(subscription("/system/state", sample_interval=SECOND, updates_only=True))
    first, *others = islice(call, 3)
    call.cancel()
    assert first.sync_response
    assert [set(leaves([one.update])) for one in others] == [set(leaf.get("/system/state"))] * 2
    assert time.monotonic() - started >= 2


def test_a_session_that_goes_down_is_told_at_once(fleet: Fleet, leaf: Collector) -> None:
    call = leaf.subscribe(subscription(f"{STATE}/session-state", how=ON_CHANGE), login=LOGIN)
    first, sync = next(call), next(call)
    assert sync.sync_response
    assert set(leaves([first.update]).values()) == {"ESTABLISHED"}
    fleet.do(LEAF, EmulatedDevice.keep_session_down)
    changed = leaves([next(call).update])
    fleet.do(LEAF, EmulatedDevice.restore_session)
    restored = leaves([next(call).update])
    call.cancel()
    assert (list(changed.values()), list(restored.values())) == (["ACTIVE"], ["ESTABLISHED"])
    assert set(changed) == set(restored)


def test_target_defined_sends_what_changes_when_it_does(fleet: Fleet, leaf: Collector) -> None:
    request = subscription(f"/interfaces/interface[name={PORT}]/state", how=TARGET_DEFINED, sample_interval=SECOND)
    call = leaf.subscribe(request)
    rows = list(islice(call, 5))
    call.cancel()
    start = {path for one in rows[:2] for path in leaves([one.update])}
    assert start == set(leaf.get(f"/interfaces/interface[name={PORT}]/state"))
    assert rows[2].sync_response
    # From then on only counters: nothing else has changed.
    assert {path.rpartition("/")[0] for one in rows[3:] for path in leaves([one.update])} == {COUNTERS}


def test_a_device_that_reboots_is_away_and_comes_back(fleet: Fleet) -> None:
    with collector(fleet, SPINE) as asked:
        call = asked.subscribe(subscription("/system/state", sample_interval=SECOND))
        next(call)
        fleet.reboot(SPINE, 0.5)
        with pytest.raises(grpc.RpcError) as error:
            list(call)
        assert error.value.code() == grpc.StatusCode.UNAVAILABLE

        def back() -> bool:
            try:
                return bool(asked.get("/system"))
            except grpc.RpcError:
                return False

        until(back)


def test_without_tls_and_with_the_wrong_certificate(fleet: Fleet) -> None:
    with lab_fleet(plain=True) as plain, collector(plain) as asked:
        assert plain.gnmi_certificate == b""
        assert asked.get("/system")["/system/state/hostname"] == LEAF
        place = f"127.0.0.1:{fleet.gnmi_ports()[LEAF]}"
        with grpc.insecure_channel(place) as channel, pytest.raises(grpc.RpcError) as error:
            Collector(channel).get("/system")
        assert error.value.code() == grpc.StatusCode.UNAVAILABLE


def test_ports_that_cannot_be_used() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        specs_fleet = Fleet(
            lab_specs()[:1],
            EmulatedFabric.read(LAB),
            FleetLogin(USER, PASSWORD),
            gnmi=GnmiOptions(port),
        )
        with pytest.raises(UsageError, match=f"cannot listen on 127.0.0.1 port {port}: .*choose another --gnmi-port"):
            specs_fleet.start()
    with pytest.raises(UsageError, match="8 devices do not fit above port 65530; choose a lower --gnmi-port"):
        Fleet(lab_specs(), EmulatedFabric.read(LAB), FleetLogin(USER, PASSWORD), gnmi=GnmiOptions(65530))
    with pytest.raises(UsageError, match="--gnmi-port needs a password"):
        Fleet(lab_specs(), EmulatedFabric.read(LAB), FleetLogin(USER, ""), gnmi=GnmiOptions())


def test_names_with_their_module(leaf: Collector) -> None:
    """Names with the module in front, as some clients write them, are the same names."""
    module = gnmi_pb2.Path(elem=[gnmi_pb2.PathElem(name="openconfig-system:system")])
    asked = gnmi_pb2.GetRequest(path=[module], encoding=gnmi_pb2.PROTO)
    told = leaves(leaf.stub.Get(asked, metadata=LOGIN).notification)
    assert told == leaf.get("/system") == leaf.get("openconfig-system:system")
    assert path_of("openconfig-system:system").origin == "openconfig-system"
