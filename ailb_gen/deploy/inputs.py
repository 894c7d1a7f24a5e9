"""What is to be pushed: the generated files, if they are what was generated from this very intent."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import PurePath
from typing import TYPE_CHECKING

from ailb_gen.deploy.servers.files import files_of
from ailb_gen.deploy.servers.model import HostFiles
from ailb_gen.errors import IntentError, UsageError
from ailb_gen.hosts.read import read_hosts
from ailb_gen.intent.csvfile import read_text
from ailb_gen.network.read import SUFFIXES, SWITCHES
from ailb_gen.network.topology import CABLING, TOPOLOGY
from ailb_gen.render.manifest import read_manifest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

    from ailb_gen.deploy.servers.model import HostFile
    from ailb_gen.hosts.model import Host
    from ailb_gen.intent.load import Intent

AGAIN = "run 'ailb-gen generate', review, and validate"


@dataclass(frozen=True, slots=True)
class Inputs:
    """An artifact directory; `files` is the file of every switch, relative to it, `digest` identifies all inputs.

    `hosts` are the servers with what their files ask for, `trees` what is to be on each of them.
    """

    artifacts: Path
    files: Mapping[str, str]
    digest: str
    hosts: Mapping[str, Host] = field(default_factory=dict)
    trees: Mapping[str, HostFiles] = field(default_factory=dict)

    def text(self, switch: str) -> str:
        """Read the file of a switch. Raises UsageError."""
        file = self.files[switch]
        try:
            return read_text(self.artifacts / file, str(self.artifacts / file))
        except IntentError as error:
            raise UsageError(str(error)) from error


def read_inputs(intent: Intent, artifacts: Path, switches: Iterable[str], servers: Collection[str] = ()) -> Inputs:
    """Check that the files of devices are there, and as they were generated from the intent. Raises UsageError.

    Without a manifest nothing tells whether they were edited: they are taken as they are.
    """
    if not (artifacts / SWITCHES).is_dir():
        raise UsageError(f"{artifacts}: there is no {SWITCHES}/ in it; name the directory that 'generate -o' wrote")
    manifest = read_manifest(artifacts)
    if manifest is not None and manifest[1] != intent.digest:
        raise UsageError(f"{artifacts}: it was generated from another version of the fabric file; {AGAIN}")
    known = manifest[0] if manifest is not None else None
    files: dict[str, str] = {}
    digests: list[str] = [intent.digest or ""]
    for name in switches:
        found = [
            f"{SWITCHES}/{name}{suffix}" for suffix in SUFFIXES if (artifacts / SWITCHES / f"{name}{suffix}").is_file()
        ]
        if not found:
            raise UsageError(f"{artifacts}: there is no file for {name}; {AGAIN}")
        # The curly one, where both are there, as `validate` reads them.
        files[name] = found[0]
    hosts, trees = _servers(artifacts, servers)
    folders = sorted({host.profile.folder for host in hosts.values()})
    own = [f"{host}/{path}" for host in folders for path in _below(artifacts / host)]
    # What is connected to what decides what is expected of the switches.
    for file in (*files.values(), *own, TOPOLOGY, CABLING):
        digest = _digest(artifacts / file)
        if known is not None and known.get(file) != digest:
            raise UsageError(f"{artifacts}/{file}: it is not as it was generated; {AGAIN}")
        digests.append(f"{file} {digest}")
    for name, host in hosts.items():
        # Servers that share a profile are links to it.
        link = (known or {}).get(f"servers/{name}", "")
        if link and link != f"link:../{host.profile.folder}":
            raise UsageError(f"{artifacts}/servers/{name}: it does not lead to where it was generated to; {AGAIN}")
        digests.append(f"{name} {host.profile.folder}")
    return Inputs(artifacts, files, sha256("\n".join(digests).encode()).hexdigest(), hosts, trees)


def _servers(artifacts: Path, names: Collection[str]) -> tuple[dict[str, Host], dict[str, HostFiles]]:
    """Read what servers are to have; those with one profile share it."""
    if not names:
        return {}, {}
    hosts, faults = read_hosts(artifacts)
    wrong = [f"{artifacts}/{fault.folder}: {fault.reason}" for fault in faults if PurePath(fault.folder).name in names]
    wrong += [f"{artifacts}: there are no files for {name}" for name in names if name not in hosts]
    if wrong:
        raise UsageError("\n".join([*wrong, AGAIN]))
    trees: dict[str, Mapping[str, HostFile]] = {}
    for name in names:
        folder = hosts[name].profile.folder
        if folder not in trees:
            trees[folder] = files_of(artifacts, hosts[name]).tree
    found = {name: hosts[name] for name in names}
    return found, {name: HostFiles(name, trees[host.profile.folder]) for name, host in found.items()}


def _below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def _digest(path: Path) -> str:
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
