"""differentialReachability between two snapshots: what arrives in one of them only."""

from __future__ import annotations

import re
from ipaddress import IPv4Network
from typing import TYPE_CHECKING, Any

from tests.batfish.plain_text import PlainError
from tests.batfish.plain_walk import DELIVERED, Flow, networks, paths, target

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.batfish.plain import Snapshot
    from tests.batfish.plain_rows import Row

START = re.compile(r"@enter\(/(.*)/\[/(.*)/\]\)")
SUCCESS = "success"


def differential(snapshot: Snapshot, reference: Snapshot, parameters: Mapping[str, Any]) -> Iterator[Row]:
    """Give, for every start, a flow that arrives in the reference only, and one that arrives in the snapshot only.

    As of the real service, a start is an interface that is up in both, and each kind of difference at a start is
    shown by one example: what else changes there is not listed. Raises PlainError for parameters that are not known.
    """
    if parameters.get("actions", SUCCESS).lower() != SUCCESS:
        raise PlainError(f"differentialReachability: actions={parameters['actions']!r} is not known here")
    inside = _destinations(parameters.get("headers") or {})
    intended = sorted({*networks(snapshot.tables), *networks(reference.tables)})
    for node, interface in _starts(snapshot, reference, parameters.get("pathConstraints") or {}):
        shown: set[bool] = set()
        for network in intended:
            flow = Flow(node, interface, target(network))
            if inside is None or flow.address in inside:
                arrives, arrived = (_arrives(one, flow) for one in (snapshot, reference))
                if arrives != arrived and arrives not in shown:
                    shown.add(arrives)
                    yield _row(flow, snapshot, reference)


def _destinations(headers: Mapping[str, Any]) -> IPv4Network | None:
    unknown = sorted(name for name, value in headers.items() if value is not None and name != "dstIps")
    if unknown:
        raise PlainError(f"differentialReachability: headers: {', '.join(unknown)} is not known here")
    return IPv4Network(headers["dstIps"]) if headers.get("dstIps") else None


def _starts(snapshot: Snapshot, reference: Snapshot, constraints: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    unknown = sorted(name for name, value in constraints.items() if value is not None and name != "startLocation")
    found = START.fullmatch(constraints.get("startLocation") or "")
    if unknown or found is None:
        raise PlainError(f"differentialReachability: pathConstraints {dict(constraints)} are not known here")
    node, interface = (re.compile(pattern) for pattern in found.groups())
    for name, device in snapshot.devices.items():
        for port in device.ports:
            up = all(name in one.devices and port.name in one.links.active[name] for one in (snapshot, reference))
            if up and node.search(name) and interface.search(port.name):
                yield name, port.name


def _arrives(snapshot: Snapshot, flow: Flow) -> bool:
    return any(path.end == DELIVERED for path in paths(snapshot.tables, flow.node, flow.address))


def _row(flow: Flow, snapshot: Snapshot, reference: Snapshot) -> Row:
    row: Row = {"Flow": flow}
    for name, one in (("Snapshot", snapshot), ("Reference", reference)):
        found = list(paths(one.tables, flow.node, flow.address))
        row[f"{name}_Traces"] = found
        row[f"{name}_TraceCount"] = len(found)
    return row
