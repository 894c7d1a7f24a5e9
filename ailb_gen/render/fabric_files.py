"""Files about the whole fabric: `topology.json`, the cabling list, and the manifest."""

import json
import os
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain
from typing import Any

from ailb_gen.design.model import Design, DesignServer, DesignSwitch, HostPort
from ailb_gen.layout import CABLING, TOPOLOGY
from ailb_gen.manifest import LINK as LINKED
from ailb_gen.manifest import entry_of
from ailb_gen.render.artifacts import LINK, Artifact, Tree
from ailb_gen.textio import csv_text
from ailb_gen.version import NAME_AND_VERSION

CABLING_COLUMNS = ("a_device", "a_port", "b_device", "b_port", "speed", "kind", "color", "rail")


encode = json.JSONEncoder(ensure_ascii=False).encode


def _json(body: dict[str, Any]) -> bytes:
    """Write a document with one line per entry of its mappings, and of its lists, whose entries are encoded already.

    So diffs stay readable, and C does the work.
    """
    parts = []
    for key, value in body.items():
        if isinstance(value, list):
            rows, marks = [f"  {row}" for row in value], "[]"
        elif isinstance(value, dict):
            rows, marks = [f"  {encode(name)}: {encode(row)}" for name, row in value.items()], "{}"
        else:
            parts.append(f" {encode(key)}: {encode(value)}")
            continue
        parts.append(f" {encode(key)}: {marks[0]}\n" + ",\n".join(rows) + f"\n {marks[1]}")
    return ("{\n" + ",\n".join(parts) + "\n}\n").encode()


def _switch(device: DesignSwitch) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": device.name,
        "role": device.role,
        "platform": device.platform,
        "asn": device.asn,
        "router_id": device.router_id,
    }
    if device.loopback:
        row["loopback"] = device.loopback
    if device.management:
        row["management"] = device.management.address
    if device.vlan:
        row |= {"stripe": device.stripe, "rail": device.number - 1, "vlan": device.vlan.id}
        row["prefixes"] = [{"prefix": p.text, "gateway": p.gateway, "color": p.color.name} for p in device.prefixes]
    return row


def _server(server: DesignServer) -> dict[str, Any]:
    row: dict[str, Any] = {"name": server.name, "role": "server", "stripe": server.stripe}
    if server.management:
        row["management"] = server.management
    row["nics"] = [
        {"name": nic.name, "rdma": nic.rdma, "leaf": nic.leaf, "leaf_port": port}
        | ({"mac": nic.mac, "addresses": list(nic.addresses)} if nic.mac else {})
        for nic, port in zip(server.config.nics, server.ports, strict=True)
    ]
    return row


def _links(design: Design) -> Iterator[str]:
    """Yield the entries of links as they are written; their few names and ports are encoded once each."""
    text = cache(encode)
    for link in design.links:
        near = f'"leaf": {text(link.leaf)}, "leaf_port": {text(link.leaf_interface)}'
        far = f'"spine": {text(link.spine)}, "spine_port": {text(link.spine_interface)}'
        yield f'{{{near}, {far}, "color": {text(link.color.name)}, "speed": "{link.speed_gbps}g"}}'


def topology(design: Design) -> bytes:
    """Return the fabric as JSON: devices, ports, links, colors and prefixes (the job of jnpr-fabric-topo-gen)."""
    colors = [{"name": c.name, "community": c.community, "backup": c.backup or None} for c in design.colors]
    devices = chain(map(_switch, design.switches), map(_server, design.servers))
    return _json(
        {
            "fabric": design.name,
            "pool": design.pool,
            "colors": list(map(encode, colors)),
            "devices": list(map(encode, devices)),
            "links": list(_links(design)),
        }
    )


def cabling(design: Design) -> bytes:
    """Return the list of cables as CSV: leaf-spine links, then leaf-server links."""
    links = ((*link[:4], f"{link.speed_gbps}g", "fabric", link.color.name, "") for link in design.links)
    servers = (
        (leaf.name, port.interface, port.server, port.nic, f"{port.speed_gbps}g", "host", "", leaf.number - 1)
        for leaf in design.leaves
        for port in leaf.interfaces
        if isinstance(port, HostPort)
    )
    return csv_text(CABLING_COLUMNS, chain(links, servers)).encode()


def add_fabric_files(tree: Tree, design: Design) -> None:
    """Add topology and cabling to the tree."""
    tree[TOPOLOGY] = Artifact(topology(design))
    tree[CABLING] = Artifact(cabling(design))


def manifest(tree: Tree, design: Design, kept: dict[str, str], input_sha256: str | None) -> bytes:
    """Return the manifest: sha256 of the input and of every file, `link:TARGET` for symbolic links.

    `kept` are files of the tree that were not rendered now; `input_sha256` is None for a tree that was never
    rendered as a whole.
    """
    digests: dict[int, str] = {}
    files = dict(kept)
    for path, artifact in tree.items():
        if artifact.mode == LINK:
            files[path] = f"{LINKED}{os.fsdecode(artifact.content)}"
            continue
        key = id(artifact.content)
        if key not in digests:
            digests[key] = entry_of(artifact.content)
        files[path] = digests[key]
    return manifest_of(design, files, input_sha256)


def manifest_of(
    design: Design, files: Mapping[str, str], input_sha256: str | None, more: Mapping[str, Any] | None = None
) -> bytes:
    """Return a manifest with these digests by path."""
    body = {
        "generator": NAME_AND_VERSION,
        "fabric": design.name,
        "input_sha256": input_sha256,
        **(more or {}),
        "files": dict(sorted(files.items())),
    }
    return _json(body)
