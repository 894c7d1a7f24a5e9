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
    kind("switch-missing", put(removed("switches/*")), "AILB001"),
    kind("switch-missing-unsealed", put(removed("switches/*")), "AILB001", seal=False),
    kind("switch-extra", put(lambda tree: [{"switches/spine9.conf": tree["switches/spine1.conf"]}]), "AILB003 AILB002"),
    kind("switch-stray", put(lambda _: [{"switches/notes.txt": b"remember\n"}]), "AILB003 AILB002"),
    kind("switch-twice", put(lambda _: [{"switches/spine1.set": b"set system host-name spine1\n"}]), "AILB003 AILB002"),
    kind("switch-empty", rewrite("switches/*", lambda _: b""), "AILB002 AILB001 AILB004"),
    kind(
        "switch-folder", put(lambda tree: [{path: Folder()} for path in files(tree, "switches/*")]), "AILB002 AILB001"
    ),
    kind("switch-binary", rewrite("switches/*", lambda old: b"\xff\xfe\x00" + old), "AILB002 AILB001"),
    kind("switch-nul", rewrite("switches/*", lambda old: old.replace(b"lldp", b"ll\0p")), "AILB002 AILB001"),
    kind("switches-exchanged", put(swapped_contents), "AILB004"),
    kind("host-name", borrow(text("switches/*", r"host-name .*;"), r"host-name (.+);", across=True), "AILB004"),
    kind("host-name-missing", delete(text("switches/*", r"^ *host-name .*;\n")), "AILB004"),
    kind("netplan-missing", put(removed("*/60-ailb-gpu.yaml")), "AILB601"),
    kind("sysctl-file-missing", put(removed("*/99-accept-ra.conf")), "AILB601"),
    kind("script-missing", put(removed("*/sbin/ailb-net")), "AILB601"),
    kind("host-program-missing", put(removed("*/sbin/ailb-host")), "AILB601"),
    kind("host-file-missing", put(removed("*/ailb/host.json")), "AILB601"),
    kind("qos-script-missing", put(removed("*/sbin/ailb-qos")), "AILB601"),
    kind("unit-missing", put(removed("*/system/ailb-*.service")), "AILB601"),
    kind("table-names-missing", put(removed("*/jnpr_nccl_net.conf")), "AILB601"),
    kind("env-missing", put(removed("*/nccl.env")), "AILB601"),
    kind("drop-in-missing", put(removed("*/50-ailb.conf")), "AILB601 AILB611"),
    kind(
        "netplan-folder", put(lambda tree: [{path: Folder()} for path in files(tree, "*/60-ailb-gpu.yaml")]), "AILB601"
    ),
    kind("netplan-binary", rewrite("*/60-ailb-gpu.yaml", lambda old: b"\xff\xfe" + old), "AILB601"),
    kind(
        "netplan-second",
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
    kind("server-missing", put(lambda tree: [{path: None} for path, _ in links(tree)]), "AILB601"),
    kind("server-broken-link", put(relinked("../profiles/stripe7")), "AILB601"),
    kind(
        "server-other-profile",
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
        put(lambda tree: [{path: Link(path.rpartition("/")[2])} for path, _ in links(tree)]),
        "AILB601",
    ),
    kind("server-link-outside", put(relinked("/usr")), "AILB601"),
    kind("server-link-file", put(relinked("../topology.json")), "AILB601"),
    kind("server-extra", put(lambda _: [{"servers/gpu-x99": Link("../profiles/stripe1")}]), "AILB601"),
    kind("server-file", put(lambda tree: [{path: b"profile 1\n"} for path, _ in links(tree)]), "AILB601"),
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
    kind("manifest-missing", put(removed(MANIFEST)), "AILB005 AILB002", seal=False),
    kind("manifest-not-json", rewrite(MANIFEST, lambda old: old[:-5]), "AILB005 AILB002", seal=False),
    kind("manifest-list", rewrite(MANIFEST, lambda _: b"[]\n"), "AILB005 AILB002", seal=False),
    kind("manifest-digest", replace(DIGEST, r': "([0-9a-f]{4})', "beef"), "AILB005", seal=False),
    kind("manifest-stale", stale_digest, "AILB005", seal=False),
    kind("manifest-entry-missing", delete(text(MANIFEST, r'^  "[^"]+": ".*,\n')), "AILB005", seal=False),
    kind(
        "manifest-entry-extra", replace(DIGEST, r"(?s)\A()", '  "switches/gone.conf": "00",\n'), "AILB005", seal=False
    ),
    kind("manifest-link", replace(DIGEST, r'"link:(.+)"', "../profiles/other"), "AILB005", seal=False),
    kind("manifest-entry-twice", replace(DIGEST, r"(?s).+,\n", lambda old: old + old), "AILB002", seal=False),
    kind(
        "manifest-generator",
        replace(text(MANIFEST, r'^ "generator": .*\n'), r"ailb-gen", "other"),
        "AILB005",
        seal=False,
    ),
    kind("manifest-input", rewrite(MANIFEST, other_input), "AILB005", seal=False),
    kind(
        "manifest-fabric", replace(text(MANIFEST, r'^ "fabric": .*\n'), value("fabric"), "other"), "AILB005", seal=False
    ),
)

KINDS = (*FILES, *MANIFESTS)
