"""The files to push: the generated files, if they were generated from this very intent.

Every file is read once, so exactly the bytes that were checked are pushed, even if the directory changes.
"""

import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path, PurePath
from typing import Literal

from ailb_gen.deploy.servers.files import files_of
from ailb_gen.deploy.servers.model import Tree
from ailb_gen.errors import IntentError, UsageError
from ailb_gen.hosts.model import Host
from ailb_gen.hosts.read import read_hosts
from ailb_gen.intent.load import Intent
from ailb_gen.layout import CABLING, MANIFEST, SUFFIXES, SWITCHES, TOPOLOGY, server_folder, switch_file
from ailb_gen.manifest import LINK, Manifest, entry_of, read_generated
from ailb_gen.textio import read_bytes, text_of

# More doubts are counted.
SHOWN = 9
AGAIN = "run 'ailb-gen generate', review, and validate"
# What files must be like: as their manifest has them; also files without any manifest; also files that differ from it,
# for what takes changes back and pushes no file.
Trust = Literal["manifest", "files", "any"]


@dataclass(frozen=True, slots=True)
class Inputs:
    """An artifact directory; `files` is the file of every switch, relative to it, `digest` identifies all inputs.

    `hosts` are the servers with what their files ask for, `trees` what is to be on each of them, `texts` what was read
    for every switch, compressed. `doubts` say what is not as it was generated.
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
            doubts.append(f"{artifacts}/{file}: it is not as it was generated; {AGAIN}")
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
            doubts.append(f"{artifacts}/{server_folder(name)}: it does not lead to where it was generated to; {AGAIN}")
        digests.append(f"{name} {host.profile.folder}")
    if doubts and trust != "any":
        more = [f"and {len(doubts) - SHOWN} more"] if len(doubts) > SHOWN else []
        raise UsageError("\n".join([*doubts[:SHOWN], *more]))
    return Inputs(artifacts, files, sha256("\n".join(digests).encode()).hexdigest(), hosts, trees, texts, tuple(doubts))


def _doubts_of_manifest(intent: Intent, artifacts: Path, manifest: Manifest | None, trust: Trust) -> list[str]:
    if manifest is not None and manifest.input_sha256 != intent.digest:
        return [f"{artifacts}: it was generated from another version of the fabric file; {AGAIN}"]
    if manifest is None and trust == "manifest":
        reason = f"there is no {MANIFEST} in it: whether its files were edited is unknown"
        return [f"{artifacts}: {reason}; {AGAIN}, or give --allow-unverified"]
    return []


def _servers(artifacts: Path, names: Collection[str]) -> tuple[dict[str, Host], dict[str, Tree]]:
    """Read what servers are to have; those with one profile share it."""
    if not names:
        return {}, {}
    hosts, defects = read_hosts(artifacts)
    wrong = [
        f"{artifacts}/{defect.folder}: {defect.reason}" for defect in defects if PurePath(defect.folder).name in names
    ]
    wrong += [f"{artifacts}: there are no files for {name}" for name in names if name not in hosts]
    if wrong:
        raise UsageError("\n".join([*wrong, AGAIN]))
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
