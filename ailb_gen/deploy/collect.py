"""Configurations, state and files read from devices, as a directory that `validate` reads like a generated one.

No fabric can be asked for everything that such a directory holds. What no device reports is taken from the intent, and
the manifest says so: under `collected` stands where the cables come from, and which servers were not read.
"""

import errno
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG, S_IXUSR
from typing import Any

from lxml.etree import _Element

from ailb_gen.confined import private_directory, remove_below, write_below
from ailb_gen.deploy.servers.calls import look
from ailb_gen.deploy.servers.ssh import Server
from ailb_gen.deploy.switch import Switch
from ailb_gen.deploy.verify import alarms, announcing, peers
from ailb_gen.design.model import Design, Link
from ailb_gen.errors import OutputError
from ailb_gen.layout import (
    CABLING,
    MANIFEST,
    SERVERS,
    STATE,
    TOPOLOGY,
    owner,
    profile_folder,
    server_folder,
    switch_file,
)
from ailb_gen.manifest import COLLECTED, Manifest, read_any
from ailb_gen.redact.files import redact_file
from ailb_gen.redact.text import redact
from ailb_gen.render.artifacts import LINK, RenderOptions, render
from ailb_gen.render.fabric_files import cabling, manifest_of, topology
from ailb_gen.wording import counted

LLDP, INTENT = "lldp", "intent"
# What write_below raises where something else stands in place of a folder.
IN_THE_WAY = (errno.ENOTDIR, errno.ELOOP, errno.EISDIR)
PORT = re.compile(r"[a-z]{2,3}-\d{1,3}/\d{1,3}/\d{1,3}(?::\d{1,2})?")


@dataclass(frozen=True, slots=True)
class Heard:
    """The other end of a port by LLDP."""

    port: str
    system: str
    remote_port: str


@dataclass(frozen=True, slots=True)
class Collected:
    """Data read from a device: its files by their names below the directory, and its LLDP neighbors.

    `scripts` are the files that can be executed.
    """

    files: Mapping[str, bytes]
    scripts: frozenset[str] = frozenset()
    heard: tuple[Heard, ...] = ()


def collect_switch(name: str, switch: Switch) -> Collected:
    """Read a switch: its configuration, secrets replaced, and its state as JSON. Raises DeviceError."""
    heard = lldp(switch)
    found: dict[str, Any] = {
        "name": name,
        "neighbors": [asdict(peer) for peer in peers(switch)],
        "router_advertisements": sorted(announcing(switch)),
        "lldp": [asdict(row) for row in heard],
        "alarms": sorted(map(redact, alarms(switch))),
        "commits": [asdict(replace(commit, log=redact(commit.log))) for commit in switch.commits()[:10]],
    }
    state = json.dumps(found, indent=1) + "\n"
    files = {
        switch_file(name): redact(switch.running()).encode("utf-8", "backslashreplace"),
        f"{STATE}/{name}.json": state.encode(),
    }
    return Collected(files, heard=heard)


def collect_host(name: str, server: Server) -> Collected:
    """Read the files of a server that earlier pushes put there; secrets replaced. Raises DeviceError."""
    found = look(server, {}).found
    plain = {f"{SERVERS}/{name}/{path}": file for path, file in found.items() if S_ISREG(file.mode)}
    scripts = frozenset(path for path, file in plain.items() if file.mode & S_IXUSR)
    return Collected({path: _shown(path, file.content) for path, file in plain.items()}, scripts)


def _shown(path: str, content: bytes) -> bytes:
    """Return a file with secrets replaced: somebody may have added one on the server."""
    return redact_file(path, content.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def lldp(switch: Switch) -> tuple[Heard, ...]:
    """Read `show lldp neighbors` (get-lldp-neighbors-information)."""
    reply = switch.ask("get-lldp-neighbors-information")

    def text(entry: _Element, *names: str) -> str:
        return next((found.strip() for name in names if (found := entry.findtext(name))), "")

    return tuple(
        Heard(
            text(entry, "lldp-local-port-id", "lldp-local-interface"),
            text(entry, "lldp-remote-system-name"),
            text(entry, "lldp-remote-port-id", "lldp-remote-port-description"),
        )
        for entry in reply.iter("lldp-neighbor-information")
    )


@dataclass(frozen=True, slots=True)
class Written:
    """Number of written files, and the parts of them that no device has reported."""

    files: int
    notes: tuple[str, ...]


def write(out: Path, design: Design, found: Mapping[str, Collected], unmanaged: Sequence[str]) -> Written:
    """Write what was read of devices, and what belongs to it: topology, cabling, manifest.

    `unmanaged` are servers that are not logged in to: theirs are the files of the intent. Files of devices that were
    not read now stay as they are. Raises OutputError, also for a directory that holds anything else.
    """
    before = check_target(out, design.name)
    links, sources = cables(design, {name: one.heard for name, one in found.items()})
    real = replace(design, links=links)
    given = Collected(dict(_intended(design, unmanaged)))
    given = replace(given, scripts=frozenset(path for path in given.files if "/sbin/" in path))
    fabric = Collected({TOPOLOGY: topology(real), CABLING: cabling(real)})
    everything = [*found.values(), given, fabric]
    files = {path: content for one in everything for path, content in one.files.items()}
    scripts = frozenset[str]().union(*(one.scripts for one in everything))
    devices = {*found, *unmanaged}
    stale = [path for path in before if owner(path)[1] in devices and path not in files]
    kept = {path: digest for path, digest in before.items() if path not in stale and path not in files}
    digests = {**kept, **{path: sha256(content).hexdigest() for path, content in files.items()}}
    about = {
        "read": sorted({*found, *filter(None, (owner(path)[1] for path in kept))} - set(unmanaged)),
        "servers_as_intended": sorted(unmanaged),
        "cables": sources,
    }
    files[MANIFEST] = manifest_of(design, digests, design.digest, {COLLECTED: about})
    path = ""
    try:
        with private_directory(out) as directory:
            for path in stale:
                remove_below(directory, path)
            # The manifest comes last: a run that was cut off shows, because the digests are not those of the files.
            for path, content in files.items():
                write_below(directory, path, content, path in scripts)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        blocked = getattr(error, "errno", None) in IN_THE_WAY
        hint = "; a link or a file stands where a folder is to be" if blocked else ""
        raise OutputError(f"{out / path}: cannot be written: {reason}{hint}") from error
    return Written(len(files), tuple(_notes(sources, unmanaged)))


def _notes(sources: Mapping[str, str], unmanaged: Sequence[str]) -> Iterator[str]:
    """Yield the parts of the tree that were not read."""
    heard = sum(source == LLDP for source in sources.values())
    if heard < len(sources):
        yield f"cables: {heard} of {len(sources)} between switches by LLDP, all others as the intent has them"
    else:
        yield "cables: between switches by LLDP, to servers as the intent has them"
    if unmanaged:
        verb, whose = ("is", "its") if len(unmanaged) == 1 else ("are", "their")
        yield f"{counted(len(unmanaged), 'server')} {verb} not managed: {whose} files are those of the intent"


def check_target(out: Path, fabric: str) -> Mapping[str, str]:
    """Return the digests of what was collected into a directory before.

    Raises OutputError if the directory holds anything else.
    """
    hint = "choose an empty directory"
    found: Manifest | None = read_any(out)
    if found is None:
        try:
            if out.exists() and any(out.iterdir()):
                raise OutputError(f"{out}: the directory holds what 'ailb-gen collect' did not write; {hint}")
        except OSError as error:
            raise OutputError(f"{out}: cannot be read: {error.strerror}; {hint}") from error
        return {}
    if not found.collected:
        raise OutputError(f"{out}: the directory holds what 'ailb-gen generate' wrote; {hint}")
    if found.fabric != fabric:
        raise OutputError(f"{out}: the directory holds what was collected from the fabric {found.fabric!a}; {hint}")
    return found.files


def _intended(design: Design, servers: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the files that the intent asks for on servers, each in the folder of its server."""
    if not servers:
        return
    tree = render(design, RenderOptions(), set(servers))
    for name in servers:
        own = server_folder(name)
        link = tree.get(own)
        folder = profile_folder(link.content.decode().rpartition("/")[2]) if link and link.mode == LINK else own
        for path, artifact in tree.items():
            if path.startswith(f"{folder}/"):
                yield f"{own}{path.removeprefix(folder)}", artifact.content


def cables(design: Design, heard: Mapping[str, Sequence[Heard]]) -> tuple[tuple[Link, ...], dict[str, str]]:
    """Return the cables between switches, and where each comes from by its leaf port.

    What a leaf hears counts, then what a spine hears, then the intent. Only ports and names of the fabric count:
    the other end of a cable chooses what it sends.
    """
    leaves, spines = ({switch.name for switch in some} for some in (design.leaves, design.spines))
    ends: dict[tuple[str, str], tuple[str, str]] = {}
    for name, rows in heard.items():
        for row in rows:
            port, other = row.port.partition(".")[0], row.remote_port.partition(".")[0]
            if not PORT.fullmatch(port) or not PORT.fullmatch(other):
                continue
            if name in leaves and row.system in spines:
                ends[name, port] = (row.system, other)
            elif name in spines and row.system in leaves:
                ends.setdefault((row.system, other), (name, port))
    links, sources = [], {}
    for link in design.links:
        spine, port = ends.get((link.leaf, link.leaf_interface), ("", ""))
        links.append(link._replace(spine=spine, spine_interface=port) if spine else link)
        sources[f"{link.leaf} {link.leaf_interface}"] = LLDP if spine else INTENT
    return tuple(links), sources
