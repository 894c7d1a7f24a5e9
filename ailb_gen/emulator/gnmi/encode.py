"""Values and updates on the wire, in the encodings that are supported.

Source: gNMI specification 0.8.0, sections 2.2.3 and 2.3; RFC 7951 for JSON_IETF: numbers of 64 bits, and
decimal ones, are strings.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator

import grpc
from pygnmi.spec.v080 import gnmi_pb2

from ailb_gen.emulator.gnmi.errors import GnmiRefusedError
from ailb_gen.emulator.gnmi.paths import Steps, message_of
from ailb_gen.emulator.gnmi.selection import StateRow, leaf_paths
from ailb_gen.emulator.gnmi.state import CONTAINERS
from ailb_gen.emulator.gnmi.view import Value

# Leaves in a message: with their paths about 50 kB.
CHUNK = 500
# Leaves with numbers of 64 bits.
WIDE = frozenset(name for container in CONTAINERS if container.counted for name in container.leaves) | {
    "boot-time",
    "established-transitions",
    "last-change",
    "last-established",
}
# How the value of a leaf is written into a message.
Writer = Callable[[gnmi_pb2.TypedValue, str, Value], None]


def _proto(target: gnmi_pb2.TypedValue, name: str, value: Value) -> None:
    if isinstance(value, str):
        target.string_val = value
    elif isinstance(value, bool):
        target.bool_val = value
    elif isinstance(value, float):
        target.double_val = value
    else:
        target.uint_val = value


def _json(target: gnmi_pb2.TypedValue, name: str, value: Value) -> None:
    target.json_val = json.dumps(value).encode()


def _json_ietf(target: gnmi_pb2.TypedValue, name: str, value: Value) -> None:
    target.json_ietf_val = json.dumps(str(value) if name in WIDE else value).encode()


# By the number of an encoding.
WRITERS: dict[int, Writer] = {
    gnmi_pb2.JSON: _json,
    gnmi_pb2.PROTO: _proto,
    gnmi_pb2.JSON_IETF: _json_ietf,
}


def writer_of(encoding: int) -> Writer:
    """Return how values are written in an encoding. Raises GnmiRefusedError for one that is not supported."""
    if encoding not in WRITERS:
        known = ", ".join(gnmi_pb2.Encoding.Name(one) for one in WRITERS)
        name = gnmi_pb2.Encoding.Name(encoding) if encoding in gnmi_pb2.Encoding.values() else encoding
        raise GnmiRefusedError(grpc.StatusCode.UNIMPLEMENTED, f"encoding {name} is not supported; there are {known}")
    return WRITERS[encoding]


class Encoder:
    """Notifications of a device: each with the target that the request named, at most CHUNK leaves in one."""

    def __init__(self, prefix: gnmi_pb2.Path, encoding: int) -> None:
        """Prepare messages. Raises GnmiRefusedError for an encoding that is not supported."""
        self._write = writer_of(encoding)
        self._prefix = gnmi_pb2.Path(target=prefix.target, origin=prefix.origin)

    def notifications(
        self, rows: Iterable[StateRow], gone: Iterable[Steps], at_ns: int
    ) -> Iterator[gnmi_pb2.Notification]:
        """Yield the messages with rows, and with paths that are no more."""
        write, made = self._write, self._begin(at_ns)
        made.delete.extend(message_of(path) for path in gone)
        updates = made.update
        for row in rows:
            paths = leaf_paths(row.number, row.keys)
            for name, value in row.values.items():
                update = updates.add()
                update.path.MergeFromString(paths[name])
                write(update.val, name, value)
            if len(updates) >= CHUNK:
                yield made
                made = self._begin(at_ns)
                updates = made.update
        if updates or made.delete:
            yield made

    def _begin(self, at_ns: int) -> gnmi_pb2.Notification:
        return gnmi_pb2.Notification(timestamp=at_ns, prefix=self._prefix)


def path_of(row: StateRow) -> Steps:
    """Return the path of an instance of a container."""
    return CONTAINERS[row.number].steps(row.keys)
