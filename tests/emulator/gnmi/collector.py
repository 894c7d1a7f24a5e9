"""A collector: the emulated lab fabric with gNMI, asked with the published stubs of gRPC."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import grpc
from pygnmi.create_gnmi_path import gnmi_path_generator
from pygnmi.spec.v080 import gnmi_pb2, gnmi_pb2_grpc

from ailb_gen.emulator.device import Spec
from ailb_gen.emulator.fabric import EmulatedFabric
from ailb_gen.emulator.fleet import Fleet
from ailb_gen.emulator.gnmi.options import GnmiOptions
from ailb_gen.emulator.host import FleetLogin
from tests.emulator.operations.lab import LEAF, NAMES, tree_of
from tests.network.lab import LAB

USER, PASSWORD = "admin", "correct horse"
LOGIN = (("username", USER), ("password", PASSWORD))
SECOND = 10**9
STREAM, ONCE, POLL = (getattr(gnmi_pb2.SubscriptionList, name) for name in ("STREAM", "ONCE", "POLL"))
SAMPLE, ON_CHANGE, TARGET_DEFINED = (getattr(gnmi_pb2, name) for name in ("SAMPLE", "ON_CHANGE", "TARGET_DEFINED"))
# Seconds after which a call that should have ended fails.
PATIENCE_S = 30


def lab_fleet(fabric: EmulatedFabric | None = None, plain: bool = False) -> Fleet:
    """Return the lab of the golden files with gNMI; as a context, it runs."""
    return Fleet(
        lab_specs(),
        fabric or EmulatedFabric.read(LAB),
        FleetLogin(USER, PASSWORD),
        gnmi=GnmiOptions(plain=plain),
    )


def lab_specs() -> list[Spec]:
    """Return the switches of the lab with their files."""
    return [Spec(name, tree_of(name)) for name in NAMES]


class Collector:
    """A connection to one device."""

    def __init__(self, channel: grpc.Channel) -> None:
        self.stub = gnmi_pb2_grpc.gNMIStub(channel)

    def get(self, *paths: str, login: Any = LOGIN, **options: Any) -> dict[str, Any]:
        """Return the leaves under paths, by their paths."""
        encoding = options.pop("encoding", gnmi_pb2.PROTO)
        asked = gnmi_pb2.GetRequest(path=[path_of(one) for one in paths], encoding=encoding, **options)
        return leaves(self.stub.Get(asked, metadata=login, timeout=PATIENCE_S).notification)

    def subscribe(self, *requests: Any, login: Any = LOGIN) -> Any:
        """Return the responses, as they come."""
        return self.stub.Subscribe(iter(requests), metadata=login, timeout=PATIENCE_S)

    def once(self, *paths: str, **options: Any) -> dict[str, Any]:
        """Return what a subscription for once brings."""
        responses = list(self.subscribe(subscription(*paths, mode=ONCE, **options)))
        assert responses[-1].sync_response
        return leaves(one.update for one in responses[:-1])


@contextmanager
def collector(fleet: Fleet, name: str = LEAF) -> Iterator[Collector]:
    """Connect to a device; with TLS, its certificate is verified."""
    place = f"127.0.0.1:{fleet.gnmi_ports()[name]}"
    trusted = fleet.gnmi_certificate
    with (
        grpc.secure_channel(place, grpc.ssl_channel_credentials(trusted)) if trusted else grpc.insecure_channel(place)
    ) as channel:
        yield Collector(channel)


def path_of(text: str) -> Any:
    """Return a path as a message."""
    return gnmi_path_generator(text)


def subscription(*paths: str, mode: int = STREAM, **options: Any) -> Any:
    """Return a request for subscriptions: options of each, and of all of them."""
    own = {
        key: options.pop(key)
        for key in ("sample_interval", "suppress_redundant", "heartbeat_interval")
        if key in options
    }
    how = options.pop("how", SAMPLE)
    rows = [gnmi_pb2.Subscription(path=path_of(path), mode=how, **own) for path in paths]
    encoding = options.pop("encoding", gnmi_pb2.PROTO)
    asked = gnmi_pb2.SubscriptionList(subscription=rows, mode=mode, encoding=encoding, **options)
    return gnmi_pb2.SubscribeRequest(subscribe=asked)


def leaves(notifications: Iterable[Any]) -> dict[str, Any]:
    """Return the values of notifications by path."""
    found = {}
    for one in notifications:
        assert one.timestamp > 0
        for update in one.update:
            kind = update.val.WhichOneof("value")
            found[text_of(update.path)] = getattr(update.val, kind)
    return found


def text_of(path: Any) -> str:
    """Return a path as people write it."""
    return "".join(f"/{one.name}" + "".join(f"[{key}={one.key[key]}]" for key in sorted(one.key)) for one in path.elem)
