"""The gNMI service of a device: Capabilities, Get and Subscribe; Set is refused.

User and password come as metadata `username` and `password` with every call, as on Junos. Source: gNMI specification
0.8.0, sections 3.1 to 3.5.
"""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from typing import NoReturn

import grpc
from pygnmi.spec.v080 import gnmi_pb2

from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.gnmi.encode import WRITERS, Encoder
from ailb_gen.emulator.gnmi.errors import GnmiRefusedError
from ailb_gen.emulator.gnmi.get import answers
from ailb_gen.emulator.gnmi.paths import Steps
from ailb_gen.emulator.gnmi.selection import PathSelection, StateRow
from ailb_gen.emulator.gnmi.subscription import Feed, feeds, selected
from ailb_gen.emulator.gnmi.view import DeviceView
from ailb_gen.emulator.host import FleetLogin
from ailb_gen.errors import AilbError

VERSION = "0.8.0"
# The models of which there are paths, and the organization that publishes them.
MODELS = (
    "openconfig-bfd",
    "openconfig-bgp",
    "openconfig-if-ethernet",
    "openconfig-interfaces",
    "openconfig-network-instance",
    "openconfig-platform",
    "openconfig-platform-transceiver",
    "openconfig-qos",
    "openconfig-system",
)
OWNER = "OpenConfig working group"
Context = grpc.aio.ServicerContext[object, object]
Status = grpc.StatusCode


class GnmiService:
    """The calls of gNMI about one device, by their names in the protocol, in the thread of its fleet."""

    def __init__(self, device: EmulatedDevice, login: FleetLogin) -> None:
        self._device, self._login = device, login
        self._view = DeviceView(device)

    async def Capabilities(self, request: gnmi_pb2.CapabilityRequest, context: Context) -> gnmi_pb2.CapabilityResponse:
        """Answer with models and encodings."""
        async with self._answering(context):
            models = [gnmi_pb2.ModelData(name=name, organization=OWNER) for name in MODELS]
            return gnmi_pb2.CapabilityResponse(
                supported_models=models, supported_encodings=list(WRITERS), gNMI_version=VERSION
            )

    async def Get(self, request: gnmi_pb2.GetRequest, context: Context) -> gnmi_pb2.GetResponse:
        """Answer with the state under every path, a notification each."""
        async with self._answering(context):
            self._check_target(request.prefix)
            return gnmi_pb2.GetResponse(notification=answers(self._view, request, time.time_ns()))

    async def Set(self, request: gnmi_pb2.SetRequest, context: Context) -> gnmi_pb2.SetResponse:
        """Refuse: configurations come over NETCONF."""
        async with self._answering(context):
            raise GnmiRefusedError(Status.UNIMPLEMENTED, "Set is not emulated; configure the device over NETCONF")

    async def Subscribe(
        self, requests: AsyncIterator[gnmi_pb2.SubscribeRequest], context: Context
    ) -> AsyncIterator[gnmi_pb2.SubscribeResponse]:
        """Answer once, at every poll, or until the client has enough."""
        async with self._answering(context):
            first = await anext(requests, None)
            if first is None or first.WhichOneof("request") != "subscribe":
                raise GnmiRefusedError(Status.INVALID_ARGUMENT, "the first message must hold the subscriptions")
            request = first.subscribe
            if not request.subscription:
                raise GnmiRefusedError(Status.INVALID_ARGUMENT, "no path is subscribed to")
            self._check_target(request.prefix)
            encoder = Encoder(request.prefix, request.encoding)
            kind = {
                gnmi_pb2.SubscriptionList.STREAM: self._stream,
                gnmi_pb2.SubscriptionList.ONCE: self._once,
                gnmi_pb2.SubscriptionList.POLL: self._poll,
            }.get(request.mode)
            if kind is None:
                raise GnmiRefusedError(Status.INVALID_ARGUMENT, f"there is no mode {request.mode}")
            async for response in kind(request, encoder, requests):
                yield response

    async def _once(
        self,
        request: gnmi_pb2.SubscriptionList,
        encoder: Encoder,
        requests: AsyncIterator[gnmi_pb2.SubscribeRequest],
    ) -> AsyncIterator[gnmi_pb2.SubscribeResponse]:
        for response in self._state(encoder, selected(request), request.updates_only):
            yield response

    async def _poll(
        self,
        request: gnmi_pb2.SubscriptionList,
        encoder: Encoder,
        requests: AsyncIterator[gnmi_pb2.SubscribeRequest],
    ) -> AsyncIterator[gnmi_pb2.SubscribeResponse]:
        found = selected(request)
        for response in self._state(encoder, found, request.updates_only):
            yield response
        async for more in requests:
            if more.WhichOneof("request") != "poll":
                raise GnmiRefusedError(Status.INVALID_ARGUMENT, "after the subscriptions only polls can follow")
            for response in self._state(encoder, found):
                yield response

    def _state(
        self, encoder: Encoder, found: PathSelection, silent: bool = False
    ) -> Iterator[gnmi_pb2.SubscribeResponse]:
        """Yield the state now, with `silent` nothing of it, and that it was all."""
        yield from _responses(encoder, () if silent else found.rows(self._view))
        yield gnmi_pb2.SubscribeResponse(sync_response=True)

    async def _stream(
        self,
        request: gnmi_pb2.SubscriptionList,
        encoder: Encoder,
        requests: AsyncIterator[gnmi_pb2.SubscribeRequest],
    ) -> AsyncIterator[gnmi_pb2.SubscribeResponse]:
        made = feeds(request)
        for feed in made:
            for response in _responses(encoder, feed.start(self._view, time.monotonic(), request.updates_only)):
                yield response
        yield gnmi_pb2.SubscribeResponse(sync_response=True)
        more = asyncio.ensure_future(anext(requests, None))
        try:
            while True:
                wait_s = max(min(feed.due_s for feed in made) - time.monotonic(), 0.0)
                if more.done():
                    await asyncio.sleep(wait_s)
                else:
                    await asyncio.wait([more], timeout=wait_s)
                if more.done() and more.result() is not None:
                    raise GnmiRefusedError(Status.INVALID_ARGUMENT, "a stream takes no further message")
                for response in self._due(made, encoder):
                    yield response
        finally:
            more.cancel()

    def _due(self, made: Iterable[Feed], encoder: Encoder) -> Iterator[gnmi_pb2.SubscribeResponse]:
        now_s = time.monotonic()
        for feed in made:
            if feed.due_s <= now_s:
                yield from _responses(encoder, *feed.collect(self._view, now_s))

    def _check_target(self, prefix: gnmi_pb2.Path) -> None:
        if prefix.target not in ("", self._device.name, self._device.host_name):
            raise GnmiRefusedError(
                Status.NOT_FOUND, f"target {prefix.target!r} is not here; this device is {self._device.name}"
            )

    @asynccontextmanager
    async def _answering(self, context: Context) -> AsyncIterator[None]:
        """Check the login; turn errors into the status of the call."""
        try:
            self._check_login(context)
            yield
        except GnmiRefusedError as error:
            await _abort(context, error.status, error.text)
        except AilbError as error:
            await _abort(context, Status.UNAVAILABLE, str(error))

    def _check_login(self, context: Context) -> None:
        sent = {str(key): value for key, value in context.invocation_metadata() or ()}
        user, password = (_bytes(sent.get(key, "")) for key in ("username", "password"))
        right = hmac.compare_digest(password, self._login.password.encode())
        known = hmac.compare_digest(user, self._login.user.encode())
        if not (right and known and self._login.password):
            raise GnmiRefusedError(
                Status.UNAUTHENTICATED, "wrong or no username and password in the metadata of the call"
            )


async def _abort(context: Context, status: grpc.StatusCode, text: str) -> NoReturn:
    await context.abort(status, text)
    raise AssertionError  # `abort` raises


def _bytes(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode()


def _responses(
    encoder: Encoder, rows: Iterable[StateRow], gone: Iterable[Steps] = ()
) -> Iterator[gnmi_pb2.SubscribeResponse]:
    for update in encoder.notifications(rows, gone, time.time_ns()):
        yield gnmi_pb2.SubscribeResponse(update=update)
