"""Execution traces of MLCommons Chakra, as ASTRA-sim runs them: a file per rank, PREFIX.RANK.et.

A file holds a message GlobalMetadata and then a message Node per operation (et_def.proto of Chakra; Sridharan et al.
2023). Nodes are numbered in the file from 1 on, as lines are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from ailb_gen.errors import Place, Problem
from ailb_gen.paths import absent
from ailb_gen.sim.fabric import PS_PER_US
from ailb_gen.sim.traffic import protobuf
from ailb_gen.sim.traffic.protobuf import FIXED32, FIXED64, LENGTH, VARINT, WireError
from ailb_gen.sim.traffic.trace import TraceNode, are_ranks
from ailb_gen.textio import read_bytes

MAX_NODES = 2_000_000
MAX_PS = 2**62
# Numbers of the fields of Node and of AttributeProto.
ID, TYPE, CONTROL, DATA, DURATION, INPUTS, ATTRIBUTE = 1, 3, 4, 5, 7, 8, 10
ATTRIBUTE_NAME, VALUES = 1, 1
STRING, BOOLS = 29, 28
# Wire type and meaning of the scalar values of an attribute, by field.
SCALARS: Mapping[int, tuple[int, Callable[[int], int]]] = {
    **dict.fromkeys((7, 9, 11, 13, 27), (VARINT, protobuf.signed)),
    **dict.fromkeys((15, 17), (VARINT, protobuf.zigzag)),
    **{field: (kind, int) for field, kind in ((19, FIXED32), (21, FIXED64), (23, FIXED32), (25, FIXED64))},
}
# By NodeType.
COMPUTE, SEND, RECEIVE, COLLECTIVE = 4, 5, 6, 7
METADATA = 1
# Nodes that take the duration that they give: memory, storage, batches, checkpoints.
TIMED = (2, 3, COMPUTE, 8, 9, 10)
# By CollectiveCommType; those that are absent cannot be simulated, nor does ASTRA-sim.
BARRIER = 9
COLLECTIVES = {0: "all-reduce", 2: "all-gather", 5: "broadcast", 6: "all-to-all", 7: "reduce-scatter",
               8: "reduce-scatter", BARRIER: "barrier"}  # fmt: skip
NOT_SIMULATED = {1: "REDUCE", 3: "GATHER", 4: "SCATTER"}

Attributes = dict[str, int | str | list[int]]


def rank_files(folder: Path, prefix: str) -> list[str]:
    """Return the names of the files of ranks 0, 1, ... below a folder, as far as they exist without a gap."""
    found: list[str] = []
    while not absent(folder / f"{prefix}.{len(found)}.et", "file"):
        found.append(f"{prefix}.{len(found)}.et")
    return found


def read_rank(path: Path, name: str, problems: list[Problem], groups: dict[str, tuple[int, ...]]) -> list[TraceNode]:
    """Return the nodes of a rank's file, and append what is wrong.

    Process groups that PyTorch notes in metadata nodes go to `groups`. Raises IntentError if it cannot be read.
    """
    data, nodes, number = read_bytes(path, name), [], 0
    try:
        for number, message in enumerate(protobuf.messages(data)):
            if number > MAX_NODES:
                reason = f"more than {MAX_NODES:,} nodes"
                problems.append(Problem("too-large", Place(name, number), "", reason))
                break
            try:
                if number:
                    nodes.append(_node(message, number, Place(name, number), problems, groups))
                else:
                    list(protobuf.fields(message))
            except WireError as error:
                what = "a node" if number else "metadata"
                problems.append(Problem("wrong-type", Place(name, max(number, 1)), "", f"not {what}: {error}"))
    except WireError as error:
        reason = f"after {number:,} messages: {error}"
        hint = "a Chakra trace is a file PREFIX.RANK.et; this one may be truncated"
        problems.append(Problem("wrong-type", Place(name, max(number, 1)), "", reason, hint))
    if not data:
        problems.append(Problem("missing-key", Place(name), "", "the file is empty; it must begin with its metadata"))
    return nodes


def _node(
    message: bytes, number: int, place: Place, problems: list[Problem], groups: dict[str, tuple[int, ...]]
) -> TraceNode:
    values: dict[int, int] = {}
    texts: dict[int, bytes] = {}
    waits: list[int] = []
    attributes: Attributes = {}
    for field, _, value in protobuf.fields(message):
        if field in (CONTROL, DATA):
            waits += protobuf.packed(value)
        elif field == ATTRIBUTE and isinstance(value, bytes):
            _attribute(value, attributes)
        elif isinstance(value, int):
            values[field] = value
        else:
            texts[field] = value
    kind, node_id = values.get(TYPE, 0), values.get(ID, 0)
    if kind == METADATA:
        groups.update(_process_groups(texts.get(INPUTS, b""), place, problems))
    path = f"node {node_id}"
    ps = values.get(DURATION, 0) * PS_PER_US
    if ps >= MAX_PS:
        problems.append(Problem("out-of-range", place, path, f"a duration of {values[DURATION]:,} us is too long"))
        ps = 0
    node = TraceNode(number, node_id, tuple(dict.fromkeys(waits)), group=_text(attributes.get("pg_name")))
    if kind in TIMED:
        operations = attributes.get("num_ops", 0)
        return node.computing(ps, operations if isinstance(operations, int) else 0, bool(attributes.get("is_cpu_op")))
    if kind in (SEND, RECEIVE, COLLECTIVE):
        return _communication(node, kind, attributes, place, problems)
    if kind not in (0, METADATA):
        problems.append(Problem("wrong-value", place, path, f"unknown node type {kind}"))
    return node


def _communication(
    node: TraceNode, kind: int, attributes: Attributes, place: Place, problems: list[Problem]
) -> TraceNode:
    """Return a node with what it sends."""
    path = f"node {node.id}"

    def number(name: str, default: int | None = None) -> int:
        value = attributes.get(name, default)
        if isinstance(value, int) and 0 <= value < MAX_PS:
            return value
        code = "missing-key" if value is None else "wrong-type"
        problems.append(Problem(code, place, f"{path}.{name}", "must be a whole number, 0 or more"))
        return 0

    size = number("comm_size", 0 if attributes.get("comm_type") == BARRIER else None)
    if kind != COLLECTIVE:
        peer = number("comm_dst" if kind == SEND else "comm_src")
        return node.sending("send" if kind == SEND else "receive", peer, number("comm_tag", 0), size)
    chosen = number("comm_type")
    dimensions = attributes.get("involved_dim")
    if isinstance(dimensions, list) and not all(dimensions):
        reason = "a collective over some dimensions of a topology; name its ranks as a group (pg_name)"
        problems.append(Problem("wrong-value", place, f"{path}.involved_dim", reason))
    if chosen not in COLLECTIVES:
        reason = f"the collective {NOT_SIMULATED.get(chosen, chosen)} is not simulated"
        problems.append(Problem("wrong-value", place, f"{path}.comm_type", reason))
        return node
    return node.collecting(COLLECTIVES[chosen], size)


def _attribute(message: bytes, attributes: Attributes) -> None:
    """Add an attribute by its name; values that no node needs are left out."""
    name = ""
    found: int | str | list[int] | None = None
    for field, kind, value in protobuf.fields(message):
        if field == ATTRIBUTE_NAME and isinstance(value, bytes):
            name = value.decode("utf-8", "replace")
        elif field in SCALARS and kind == SCALARS[field][0]:
            number = value if isinstance(value, int) else int.from_bytes(value, "little")
            found = SCALARS[field][1](number)
        elif field == STRING and isinstance(value, bytes):
            found = value.decode("utf-8", "replace")
        elif field == BOOLS and kind == LENGTH and isinstance(value, bytes):
            found = [
                one for inner, _, part in protobuf.fields(value) if inner == VALUES for one in protobuf.packed(part)
            ]
    if found is not None:
        attributes[name] = found


def _text(value: object) -> str:
    """Return the name of a group; 0 is all ranks, as without a name."""
    return "" if value in (None, 0, "0") else str(value)


def _process_groups(inputs: bytes, place: Place, problems: list[Problem]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the process groups of PyTorch by name: a list of mappings in the values of the inputs.

    Those of all ranks are written without any.
    """
    text = next(
        (part for field, _, part in protobuf.fields(inputs) if field == VALUES and isinstance(part, bytes)), b""
    )
    start, end = text.find(b"[{"), text.rfind(b"}]")
    if start < 0 or end < start:
        return
    try:
        rows = json.loads(text[start : end + 2])
        for row in rows:
            if not are_ranks(row["ranks"]):
                raise ValueError("'ranks' is not a list of different ranks")
            yield _text(str(row["pg_name"])), tuple(row["ranks"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        problems.append(Problem("wrong-type", place, "process groups", f"not a list of groups: {error}"))
