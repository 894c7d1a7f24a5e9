"""The files to push: the generated files, if they were generated from this very intent.

Every file is read once, so exactly the bytes that were checked are pushed, even if the directory changes.
"""

import errno
import json
import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path, PurePath
from stat import S_ISREG, S_IXUSR
from typing import Any, Literal

from ailb_gen.confined import private_directory, remove_below, write_below
from ailb_gen.deploy.servers.files import Tree, files_of
from ailb_gen.deploy.servers.script import observe
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.switch_driver import SwitchDriver
from ailb_gen.deploy.switch_state import alarms, announcing, bgp_sessions, text_in
from ailb_gen.design.model import Design, Link
from ailb_gen.errors import IntentError, OutputError, UsageError
from ailb_gen.host_program import host_program
from ailb_gen.hosts.model import Host
from ailb_gen.hosts.read import read_hosts
from ailb_gen.intent.load import Intent
from ailb_gen.layout import (
    CABLING,
    MANIFEST,
    SERVERS,
    STATE,
    SUFFIXES,
    SWITCHES,
    TOPOLOGY,
    owner,
    profile_folder,
    server_folder,
    switch_file,
)
from ailb_gen.manifest import COLLECTED, LINK, Manifest, cluster_above, entry_of, read_any, read_generated
from ailb_gen.redact.files import redact_file
from ailb_gen.redact.text import redact
from ailb_gen.render.artifacts import LINK as LINK_MODE
from ailb_gen.render.artifacts import RenderOptions, render
from ailb_gen.render.fabric_files import cabling, manifest_of, topology
from ailb_gen.textio import read_bytes, text_of
from ailb_gen.wording import counted

# More doubts are counted.
SHOWN = 9
AGAIN = "run 'ailb-gen generate', review, and validate"
# What files must be like: as their manifest has them; also files without any manifest; also files that differ from it,
# for what takes changes back and pushes no file.
Trust = Literal["manifest", "files", "any"]


@dataclass(frozen=True, slots=True)
class Inputs:
    """An artifact directory; `files` is the file of every switch, relative to it, `digest` identifies all inputs.

    `hosts` are the servers as their files describe them, `trees` the files of each of them, `texts` the file contents
    for every switch, compressed. `doubts` are the files that are not as they were generated.
    """

    artifacts: Path
    files: Mapping[str, str]
    digest: str
    hosts: Mapping[str, Host] = field(default_factory=dict)
    trees: Mapping[str, Tree] = field(default_factory=dict)
    texts: Mapping[str, bytes] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()

    def text(self, switch: str) -> str:
        """Return the file of a switch as it was when the inputs were read. Raises UsageError."""
        if switch not in self.texts:
            raise UsageError(f"{self.artifacts}: there is no file for {switch}; {AGAIN}")
        try:
            return text_of(zlib.decompress(self.texts[switch]), str(self.artifacts / self.files[switch]), "utf-8")
        except IntentError as error:
            raise UsageError(str(error)) from error

    def size(self, switch: str) -> int:
        """Return the bytes of the file of a switch; none has 0."""
        return len(zlib.decompress(self.texts[switch])) if switch in self.texts else 0


def read_inputs(
    intent: Intent,
    artifacts: Path,
    switches: Iterable[str],
    servers: Collection[str] = (),
    trust: Trust = "manifest",
) -> Inputs:
    """Read the files of devices; check that they are there, and as generated from the intent. Raises UsageError."""
    if not (artifacts / SWITCHES).is_dir():
        raise UsageError(f"{artifacts}: there is no {SWITCHES}/ in it; name the directory that 'generate -o' wrote")
    manifest = read_generated(artifacts)
    known = manifest.here if manifest is not None else {}
    doubts = _doubts_of_manifest(intent, artifacts, manifest, trust)
    digests: list[str] = [intent.digest or ""]
    files: dict[str, str] = {}
    texts: dict[str, bytes] = {}

    def seen(file: str, entry: str) -> None:
        if manifest is not None and not manifest.lists(file, entry):
            doubts.append(f"{artifacts}/{file}: it was edited after it was generated; {AGAIN}")
        digests.append(f"{file} {entry}")

    for name in switches:
        found = [file for suffix in SUFFIXES if (artifacts / (file := switch_file(name, suffix))).is_file()]
        if not found:
            doubts.append(f"{artifacts}: there is no file for {name}; {AGAIN}")
            continue
        # The curly one, where both are there, as `validate` reads them.
        files[name] = found[0]
        data = _read(artifacts / found[0])
        texts[name] = zlib.compress(data, 1)
        seen(found[0], entry_of(data))
    hosts, trees = _servers(artifacts, servers)
    for folder, file, entry in _server_entries(hosts, trees, known):
        seen(f"{folder}/{file}", entry)
    # What is connected to what decides what is expected of the switches.
    for file in (TOPOLOGY, CABLING):
        seen(file, entry_of(_read(artifacts / file)))
    for name, host in hosts.items():
        # Servers that share a profile are links to it.
        link = known.get(server_folder(name), "")
        if link and link != f"{LINK}../{host.profile.folder}":
            doubts.append(f"{artifacts}/{server_folder(name)}: it points to another profile; {AGAIN}")
        digests.append(f"{name} {host.profile.folder}")
    if doubts and trust != "any":
        more = [f"and {len(doubts) - SHOWN} more"] if len(doubts) > SHOWN else []
        raise UsageError("\n".join([*doubts[:SHOWN], *more]))
    return Inputs(artifacts, files, sha256("\n".join(digests).encode()).hexdigest(), hosts, trees, texts, tuple(doubts))


def _doubts_of_manifest(intent: Intent, artifacts: Path, manifest: Manifest | None, trust: Trust) -> list[str]:
    if manifest is not None and manifest.input_sha256 != intent.digest:
        return [f"{artifacts}: it was generated from another version of the fabric file; {AGAIN}"]
    if manifest is None and trust == "manifest":
        reason = f"there is no {MANIFEST} in it: edits of its files cannot be detected"
        return [f"{artifacts}: {reason}; {AGAIN}, or give --allow-unverified"]
    return []


def _servers(artifacts: Path, names: Collection[str]) -> tuple[dict[str, Host], dict[str, Tree]]:
    """Read the files for servers; those with one profile share them."""
    if not names:
        return {}, {}
    hosts, defects = read_hosts(artifacts)
    wrong = [
        f"{artifacts}/{defect.folder}: {defect.reason}" for defect in defects if PurePath(defect.folder).name in names
    ]
    wrong += [f"{artifacts}: there are no files for {name}" for name in names if name not in hosts]
    if wrong:
        cluster = cluster_above(artifacts)
        beside = (
            f"those of the cluster {cluster!r} are in {artifacts.parent / SERVERS}, with the NICs of all its fabrics"
        )
        hint = (
            AGAIN if cluster is None else f"{beside}: push them with your own tools, and give --limit leaf,spine here"
        )
        raise UsageError("\n".join([*wrong, hint]))
    found = {name: hosts[name] for name in names}
    one_of_each = {host.profile.folder: host for host in reversed(found.values())}
    trees = {folder: files_of(artifacts, host) for folder, host in one_of_each.items()}
    return found, {name: trees[host.profile.folder] for name, host in found.items()}


def _server_entries(
    hosts: Mapping[str, Host], trees: Mapping[str, Tree], known: Mapping[str, str]
) -> Iterator[tuple[str, str, str]]:
    """Yield folder, file and manifest entry of all files of servers as read; an empty entry for one that is missing."""
    by_folder = {host.profile.folder: trees[name] for name, host in hosts.items()}
    for folder, tree in sorted(by_folder.items()):
        # The links that enable services are made here, and are in no directory.
        found = {path: entry_of(file.content) for path, file in tree.items() if not file.is_link}
        generated = {name.removeprefix(f"{folder}/") for name in known if name.startswith(f"{folder}/")}
        for path in sorted(generated | found.keys()):
            yield folder, path, found.get(path, "")


def _read(path: Path) -> bytes:
    try:
        return read_bytes(path, str(path))
    except IntentError as error:
        raise UsageError(f"{path}: {error.problems[0].reason}") from error


LLDP, INTENT = "lldp", "intent"
# What write_below raises where something else stands in place of a folder.
IN_THE_WAY = (errno.ENOTDIR, errno.ELOOP, errno.EISDIR)
PORT = re.compile(r"[a-z]{2,3}-\d{1,3}/\d{1,3}/\d{1,3}(?::\d{1,2})?")


@dataclass(frozen=True, slots=True)
class LldpNeighbor:
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
    heard: tuple[LldpNeighbor, ...] = ()


def collect_switch(name: str, switch: SwitchDriver) -> Collected:
    """Read a switch: its configuration, secrets replaced, and its state as JSON. Raises DeviceError."""
    heard = lldp(switch)
    found: dict[str, Any] = {
        "name": name,
        "neighbors": [asdict(peer) for peer in bgp_sessions(switch)],
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


def collect_host(name: str, server: ServerConnection) -> Collected:
    """Read the files of a server that earlier pushes put there; secrets replaced. Raises DeviceError."""
    found = observe(server, {}).found
    plain = {f"{SERVERS}/{name}/{path}": file for path, file in found.items() if S_ISREG(file.mode)}
    scripts = frozenset(path for path, file in plain.items() if file.mode & S_IXUSR)
    return Collected({path: _shown(path, file.content) for path, file in plain.items()}, scripts)


def _shown(path: str, content: bytes) -> bytes:
    """Return a file with secrets replaced: somebody may have added one on the server, but not to our program."""
    if content == host_program():
        return content
    return redact_file(path, content.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def lldp(switch: SwitchDriver) -> tuple[LldpNeighbor, ...]:
    """Read `show lldp neighbors` (get-lldp-neighbors-information)."""
    reply = switch.ask("get-lldp-neighbors-information")
    return tuple(
        LldpNeighbor(
            text_in(entry, "lldp-local-port-id", "lldp-local-interface"),
            text_in(entry, "lldp-remote-system-name"),
            text_in(entry, "lldp-remote-port-id", "lldp-remote-port-description"),
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
        hint = "; there is a link or a file instead of a directory" if blocked else ""
        raise OutputError(f"{out / path}: cannot be written: {reason}{hint}") from error
    return Written(len(files), tuple(_notes(sources, unmanaged)))


def _notes(sources: Mapping[str, str], unmanaged: Sequence[str]) -> Iterator[str]:
    """Yield the parts of the tree that were not read."""
    heard = sum(source == LLDP for source in sources.values())
    if heard < len(sources):
        yield f"cables: {heard} of {len(sources)} between switches by LLDP, all others from the intent"
    else:
        yield "cables: between switches by LLDP, to servers from the intent"
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
                raise OutputError(f"{out}: the directory holds files that 'ailb-gen collect' did not write; {hint}")
        except OSError as error:
            raise OutputError(f"{out}: cannot be read: {error.strerror}; {hint}") from error
        return {}
    if not found.collected:
        raise OutputError(f"{out}: the directory holds the output of 'ailb-gen generate'; {hint}")
    if found.fabric != fabric:
        raise OutputError(f"{out}: the directory holds files collected from the fabric {found.fabric!a}; {hint}")
    return found.files


def _intended(design: Design, servers: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the files that the intent specifies on servers, each in the folder of its server."""
    if not servers:
        return
    tree = render(design, RenderOptions(), set(servers))
    for name in servers:
        own = server_folder(name)
        link = tree.get(own)
        folder = profile_folder(link.content.decode().rpartition("/")[2]) if link and link.mode == LINK_MODE else own
        for path, artifact in tree.items():
            if path.startswith(f"{folder}/"):
                yield f"{own}{path.removeprefix(folder)}", artifact.content


def cables(design: Design, heard: Mapping[str, Sequence[LldpNeighbor]]) -> tuple[tuple[Link, ...], dict[str, str]]:
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
