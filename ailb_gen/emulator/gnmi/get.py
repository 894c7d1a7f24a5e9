"""Get: the state under every path of a request, leaf by leaf. Source: gNMI specification 0.8.0, section 3.3."""

from __future__ import annotations

import grpc
from pygnmi.spec.v080 import gnmi_pb2

from ailb_gen.emulator.gnmi.encode import Encoder
from ailb_gen.emulator.gnmi.errors import GnmiRefusedError
from ailb_gen.emulator.gnmi.paths import absolute, text_of
from ailb_gen.emulator.gnmi.selection import selection
from ailb_gen.emulator.gnmi.view import DeviceView


def answers(view: DeviceView, request: gnmi_pb2.GetRequest, at_ns: int) -> list[gnmi_pb2.Notification]:
    """Return the notifications of all paths of a request. Raises GnmiRefusedError for a path without data."""
    encoder = Encoder(request.prefix, request.encoding)
    if request.type == gnmi_pb2.GetRequest.CONFIG:
        raise GnmiRefusedError(
            grpc.StatusCode.UNIMPLEMENTED, "configurations are not emulated here; read them over NETCONF"
        )
    made: list[gnmi_pb2.Notification] = []
    for path in request.path or [gnmi_pb2.Path()]:
        pattern = absolute(request.prefix, path)
        rows = list(selection((pattern,)).rows(view))
        if not any(row.values for row in rows):
            raise GnmiRefusedError(grpc.StatusCode.NOT_FOUND, f"{text_of(pattern)}: there is no data")
        made += encoder.notifications(rows, (), at_ns)
    return made
