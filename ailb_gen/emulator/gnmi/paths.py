"""Paths of gNMI as tuples, and what a path with wildcards covers.

Source: gNMI specification 0.8.0, sections 2.2.2 and 2.4; "Schema path encoding conventions for gNMI".
"""

from __future__ import annotations

import grpc
from pygnmi.spec.v080 import gnmi_pb2

from ailb_gen.emulator.gnmi.errors import GnmiRefusedError

# A name, and the keys of a list.
Step = tuple[str, tuple[tuple[str, str], ...]]
Steps = tuple[Step, ...]
ANY, ANY_DEPTH = "*", "..."
# Those of the models here; without one it is theirs, too.
ORIGINS = ("", "openconfig")


def absolute(prefix: gnmi_pb2.Path, path: gnmi_pb2.Path) -> Steps:
    """Return a path of a request behind its prefix. Raises GnmiRefusedError for an origin that is not served."""
    for origin in (prefix.origin, path.origin):
        if origin not in ORIGINS and not origin.startswith("openconfig-"):
            raise GnmiRefusedError(
                grpc.StatusCode.INVALID_ARGUMENT, f"origin {origin!r} is not served; use 'openconfig', or none"
            )
    return tuple(_step(one) for one in (*prefix.elem, *path.elem))


def _step(element: gnmi_pb2.PathElem) -> Step:
    """Return an element; the module in front of a name says nothing here: no two names differ by it alone."""
    return element.name.rpartition(":")[2], tuple(sorted(element.key.items()))


def covers(pattern: Steps, path: Steps) -> bool:
    """Return whether a path of a request names a node of the data, or one above it.

    Keys that the pattern lacks name every entry of a list.
    """
    if not pattern:
        return True
    if pattern[0][0] == ANY_DEPTH:
        return any(covers(pattern[1:], path[at:]) for at in range(len(path) + 1))
    return bool(path) and _fits(pattern[0], path[0]) and covers(pattern[1:], path[1:])


def below(pattern: Steps, path: Steps) -> bool:
    """Return whether a path of a request could name something below a node of the data."""
    if not path or not pattern or pattern[0][0] == ANY_DEPTH:
        return True
    return _fits(pattern[0], path[0]) and below(pattern[1:], path[1:])


def _fits(pattern: Step, step: Step) -> bool:
    if pattern[0] not in (ANY, step[0]):
        return False
    keys = dict(step[1])
    # A key of the schema has the value of every entry.
    return all(name in keys and (value == keys[name] or ANY in (value, keys[name])) for name, value in pattern[1])


def text_of(path: Steps) -> str:
    """Return a path as people write it."""
    names = (name + "".join(f"[{key}={value}]" for key, value in keys) for name, keys in path)
    return "/" + "/".join(names)


def message_of(path: Steps) -> gnmi_pb2.Path:
    """Return a path as a message."""
    return gnmi_pb2.Path(elem=[gnmi_pb2.PathElem(name=name, key=dict(keys)) for name, keys in path])
