"""Damage to the tree itself: missing, extra and unreadable files, links, and the manifest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from itertools import pairwise

from tests.mutations.edits import Damage, borrow, delete, put, replace, rewrite
from tests.mutations.kind import kind
from tests.mutations.kinds.topology import removed, value
from tests.mutations.spots import files, switches, text
from tests.mutations.tree import Changes, Folder, Link, Tree, text_of

MANIFEST = "manifest.json"
DIGEST = text(MANIFEST, r'^  "[^"]+": ".*\n')


def links(tree: Tree) -> list[tuple[str, Link]]:
    """Return the symbolic links."""
    return [(path, entry) for path, entry in tree.items() if isinstance(entry, Link)]


def swapped_contents(tree: Tree) -> list[Changes]:
    """Exchange the files of two leaves."""
    names = switches(tree, "leaf")
    return [{a: tree[b], b: tree[a]} for a, b in pairwise(names)]


def relinked(target: str) -> Callable[[Tree], list[Changes]]:
    """Let a server's link lead elsewhere."""
    return lambda tree: [{path: Link(target)} for path, entry in links(tree) if entry.target != target]


FILES = (
    kind("switch-missing", "a switch has no file", put(removed("switches/*")), "AILB001"),
    kind(
        "switch-missing-unsealed", "a file of the manifest is gone", put(removed("switches/*")), "AILB001", seal=False
    ),
    kind(
        "switch-extra",
        "there is a file of a switch that is not in the fabric",
        put(lambda tree: [{"switches/spine9.conf": tree["switches/spine1.conf"]}]),
        "AILB003 AILB002",
    ),
    kind(
        "switch-stray",
        "there is a file that is no switch's",
        put(lambda _: [{"switches/notes.txt": b"remember\n"}]),
        "AILB003 AILB002",
    ),
    kind(
        "switch-twice",
        "a switch has a .conf and a .set file",
        put(lambda _: [{"switches/spine1.set": b"set system host-name spine1\n"}]),
        "AILB003 AILB002",
    ),
    kind("switch-empty", "a switch's file is empty", rewrite("switches/*", lambda _: b""), "AILB002 AILB001 AILB004"),
    kind(
        "switch-folder",
        "a switch's file is a directory",
        put(lambda tree: [{path: Folder()} for path in files(tree, "switches/*")]),
        "AILB002 AILB001",
    ),
    kind(
        "switch-binary",
        "a switch's file is not text",
        rewrite("switches/*", lambda old: b"\xff\xfe\x00" + old),
        "AILB002 AILB001",
    ),
    kind(
        "switch-nul",
        "a switch's file holds a zero byte",
        rewrite("switches/*", lambda old: old.replace(b"lldp", b"ll\0p")),
        "AILB002 AILB001",
    ),
    kind("switches-exchanged", "two leaves have each other's file", put(swapped_contents), "AILB004"),
    kind(
        "host-name",
        "a switch has the name of another",
        borrow(text("switches/*", r"host-name .*;"), r"host-name (.+);", across=True),
        "AILB004",
    ),
    kind("host-name-missing", "a switch has no name", delete(text("switches/*", r"^ *host-name .*;\n")), "AILB004"),
    kind("netplan-missing", "a server has no netplan file", put(removed("*/60-ailb-gpu.yaml")), "AILB601"),
    kind("sysctl-file-missing", "a server has no sysctls", put(removed("*/99-accept-ra.conf")), "AILB601"),
    kind("script-missing", "a server has no script", put(removed("*/sbin/ailb-net")), "AILB601"),
    kind("qos-script-missing", "a server has no RoCE script", put(removed("*/sbin/ailb-qos")), "AILB601"),
    kind("unit-missing", "a server lacks a unit", put(removed("*/system/ailb-*.service")), "AILB601"),
    kind("table-names-missing", "a server has no names of tables", put(removed("*/jnpr_nccl_net.conf")), "AILB601"),
    kind("env-missing", "a server has no NCCL environment", put(removed("*/nccl.env")), "AILB601"),
    kind("drop-in-missing", "a NIC has no drop-in", put(removed("*/50-ailb.conf")), "AILB601 AILB611"),
    kind(
        "netplan-folder",
        "a netplan file is a directory",
        put(lambda tree: [{path: Folder()} for path in files(tree, "*/60-ailb-gpu.yaml")]),
        "AILB601",
    ),
    kind(
        "netplan-binary",
        "a netplan file is not text",
        rewrite("*/60-ailb-gpu.yaml", lambda old: b"\xff\xfe" + old),
        "AILB601",
    ),
    kind(
        "netplan-second",
        "a second netplan file gives NICs other settings",
        put(
            lambda tree: [
                {
                    path.replace(
                        "60-ailb-gpu", "70-local"
                    ): b"network:\n  version: 2\n  ethernets:\n    gpu0_eth:\n      dhcp4: true\n"
                }
                for path in files(tree, "*/60-ailb-gpu.yaml")
            ]
        ),
        "AILB609 AILB602",
    ),
    kind(
        "server-missing",
        "a server has no files",
        put(lambda tree: [{path: None} for path, _ in links(tree)]),
        "AILB601",
    ),
    kind("server-broken-link", "a server's link leads nowhere", put(relinked("../profiles/stripe7")), "AILB601"),
    kind(
        "server-other-profile",
        "a server has the profile of another stripe",
        put(
            lambda tree: [
                {
                    path: Link(
                        entry.target.replace("stripe1", "stripe9")
                        .replace("stripe2", "stripe1")
                        .replace("stripe9", "stripe2")
                    )
                }
                for path, entry in links(tree)
            ]
        ),
        "AILB606",
    ),
    kind(
        "server-link-loop",
        "a server's link leads to itself",
        put(lambda tree: [{path: Link(path.rpartition("/")[2])} for path, _ in links(tree)]),
        "AILB601",
    ),
    kind("server-link-outside", "a server's link leaves the directory", put(relinked("/usr")), "AILB601"),
    kind("server-link-file", "a server's link leads to a file", put(relinked("../topology.json")), "AILB601"),
    kind(
        "server-extra",
        "there is a server that is not in the fabric",
        put(lambda _: [{"servers/gpu-x99": Link("../profiles/stripe1")}]),
        "AILB601",
    ),
    kind(
        "server-file",
        "a server is a file",
        put(lambda tree: [{path: b"profile 1\n"} for path, _ in links(tree)]),
        "AILB601",
    ),
)


def stale_digest(tree: Tree) -> list[Damage]:
    """Change a file and leave its digest."""
    return [Damage(path, {path: text_of(tree, path).encode() + b"\n"}) for path in files(tree, "switches/*")]


def other_input(old: bytes) -> bytes:
    """Return the manifest of another input."""
    body = json.loads(old)
    body["input_sha256"] = hashlib.sha256(b"other").hexdigest()
    return f"{json.dumps(body, indent=1)}\n".encode()


MANIFESTS = (
    kind("manifest-missing", "there is no manifest", put(removed(MANIFEST)), "AILB005 AILB002", seal=False),
    kind(
        "manifest-not-json",
        "the manifest is no JSON",
        rewrite(MANIFEST, lambda old: old[:-5]),
        "AILB005 AILB002",
        seal=False,
    ),
    kind(
        "manifest-list", "the manifest is a list", rewrite(MANIFEST, lambda _: b"[]\n"), "AILB005 AILB002", seal=False
    ),
    kind("manifest-digest", "a digest is another", replace(DIGEST, r': "([0-9a-f]{4})', "beef"), "AILB005", seal=False),
    kind("manifest-stale", "a file was edited by hand", stale_digest, "AILB005", seal=False),
    kind(
        "manifest-entry-missing",
        "a file is not in the manifest",
        delete(text(MANIFEST, r'^  "[^"]+": ".*,\n')),
        "AILB005",
        seal=False,
    ),
    kind(
        "manifest-entry-extra",
        "a file of the manifest is not there",
        replace(DIGEST, r"(?s)\A()", '  "switches/gone.conf": "00",\n'),
        "AILB005",
        seal=False,
    ),
    kind(
        "manifest-link",
        "a link leads elsewhere than the manifest says",
        replace(DIGEST, r'"link:(.+)"', "../profiles/other"),
        "AILB005",
        seal=False,
    ),
    kind(
        "manifest-entry-twice",
        "a file has two digests",
        replace(DIGEST, r"(?s).+,\n", lambda old: old + old),
        "AILB002",
        seal=False,
    ),
    kind(
        "manifest-generator",
        "the manifest is of another program",
        replace(text(MANIFEST, r'^ "generator": .*\n'), r"ailb-gen", "other"),
        "AILB005",
        seal=False,
    ),
    kind("manifest-input", "the files are of another input", rewrite(MANIFEST, other_input), "AILB005", seal=False),
    kind(
        "manifest-fabric",
        "the manifest is of another fabric",
        replace(text(MANIFEST, r'^ "fabric": .*\n'), value("fabric"), "other"),
        "AILB005",
        seal=False,
    ),
)

KINDS = (*FILES, *MANIFESTS)
