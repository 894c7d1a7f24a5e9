"""Check the manifest of an artifact directory against its files and the intent (AILB005)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ailb_gen.checks.context import Context
from ailb_gen.checks.families.files import MEANINGS, READABLE, compare_records
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import Check, Findings, Severity
from ailb_gen.errors import IntentError, Place
from ailb_gen.hosts.model import Host
from ailb_gen.layout import (
    CABLING,
    MANIFEST,
    PLAIN_FILES,
    PROFILES,
    QOS_FILES,
    SERVERS,
    SWITCHES,
    TOPOLOGY,
    drop_in_file,
    is_artifact,
    is_left_over,
    owner,
    server_folder,
)
from ailb_gen.manifest import Manifest, found_entry, parse
from ailb_gen.network.fabric import Network
from ailb_gen.network.records import Record
from ailb_gen.network.topology import values
from ailb_gen.textio import read_text
from ailb_gen.version import NAME_AND_VERSION

GENERATOR = re.compile(r"ailb-gen \S+")


@dataclass(frozen=True, slots=True)
class Directory:
    """An artifact directory as its intent expects it: `fabric` and `digest` are those of its manifest.

    `other_fabric` is `Context.other_fabric`, `meanings` begin messages about values. `check` is about the files,
    `unusable` about a manifest that cannot be read. `compares` tells which files of the manifest are compared here,
    `generated` are those that it must list, and `is_own` tells which entries belong at the top. `entries` are what a
    manifest would have of paths that were read already.
    """

    root: Path
    fabric: str
    digest: str
    other_fabric: str
    meanings: Mapping[str, str]
    check: Check
    unusable: Check
    compares: Callable[[str], bool]
    generated: Iterable[str]
    is_own: Callable[[str], bool]
    entries: Mapping[str, str] = field(default_factory=dict)


def _check_manifest(context: Context, findings: Findings) -> None:
    """Compare the manifest with the files of the artifact directory, and with the intent."""
    # The servers of a cluster's fabric are in the directory of the cluster.
    servers = context.profiles is None
    check_directory(
        Directory(
            context.root,
            context.fabric.name,
            context.digest,
            context.other_fabric,
            MEANINGS,
            UNCHANGED,
            READABLE,
            lambda name: True,
            _generated(context.network, context.root, servers),
            is_artifact if servers else lambda name: is_artifact(name) and name not in (SERVERS, PROFILES),
            context.entries,
        ),
        findings,
    )


def check_directory(directory: Directory, findings: Findings) -> None:
    """Compare the manifest of a directory with its files, and with the intent."""
    root, check = directory.root, directory.check
    try:
        text = read_text(root / MANIFEST, MANIFEST)
        manifest = parse(text, root)
    except (IntentError, ValueError) as error:
        reason, line = "not written by generate", 1
        if isinstance(error, json.JSONDecodeError):
            reason, line = f"not JSON: {error.msg}", error.lineno
        if isinstance(error, IntentError):
            reason, line = error.problems[0].reason, error.problems[0].place.line
        message = f"the manifest cannot be used ({reason}): nothing was compared"
        found = directory.unusable if (root / MANIFEST).exists() else check
        findings.add(found, MANIFEST, message, Place(MANIFEST, line))
        return
    _check_head(directory, manifest.body, text, findings)
    _compare_files(directory, manifest, findings)
    for name in directory.generated:
        if name not in manifest.here:
            message = f"{name} is not in {MANIFEST}: no edit can be detected"
            findings.add(check, _owner(name), message, Place(MANIFEST))
    for name in sorted(path.name for path in root.iterdir()):
        if not (directory.is_own(name) or is_left_over(name) or name.startswith(".")):
            message = f"{name} is none of the generated files: whoever gets them, as from version control, gets it, too"
            findings.add(check, name, message, Place(name))


def _compare_files(directory: Directory, manifest: Manifest, findings: Findings) -> None:
    """Compare files with their digests in the manifest."""
    root, check = directory.root, directory.check
    names = [name for name in manifest.here if directory.compares(name)]
    findings.look(check, len(names))
    for name in names:
        try:
            found = directory.entries.get(name) or found_entry(root / name)
        except OSError as error:
            findings.add(check, _owner(name), f"{name} cannot be read: {error.strerror}", Place(name))
            continue
        if not found:
            findings.add(check, _owner(name), f"{name} was generated and is missing", Place(MANIFEST))
        elif not manifest.lists(name, found):
            message = f"{name} was edited after it was generated"
            findings.add(check, _owner(name), message, Place(name), manifest.here[name], found)


def _check_head(directory: Directory, data: Mapping[str, Any], text: str, findings: Findings) -> None:
    generator = data.get("generator")
    # Any version may have written the files; the newest need not have changed them.
    known = isinstance(generator, str) and GENERATOR.fullmatch(generator)
    expected = {
        "generator": generator if known else NAME_AND_VERSION,
        "fabric": directory.fabric,
        "input_sha256": directory.digest,
    }
    records = [Record("value", key, {key: value}) for key, value in expected.items()]
    found = values(data, text.split("\n"))
    other, meanings = directory.other_fabric, directory.meanings
    compare_records(directory.check, MANIFEST, records, found, findings, other, meanings)


def _owner(name: str) -> str:
    """Return the owner of a file: a switch, the folder of a server or of a profile, else the file itself."""
    folder, device = owner(name)
    if folder == SWITCHES:
        return device
    return f"{folder}/{device}" if folder else name


def _generated(network: Network, root: Path, servers: bool) -> Iterator[str]:
    """Iterate over the files that are there and that `generate` writes, those of servers with `servers`."""
    yield from (name for name in (TOPOLOGY, CABLING) if (root / name).is_file())
    yield from (switch.file for switch in network.switches.values())
    if servers:
        yield from server_files(network.hosts)


def server_files(hosts: Mapping[str, Host]) -> Iterator[str]:
    """Iterate over the files of servers that are there and that `generate` writes; others are not its own."""
    profiles = {}
    for name, host in hosts.items():
        profiles[host.profile.folder] = host.profile
        if host.profile.folder != server_folder(name):
            yield server_folder(name)
    for folder, profile in profiles.items():
        names = {*PLAIN_FILES, *QOS_FILES, *map(drop_in_file, profile.drop_ins)}
        yield from (f"{folder}/{file}" for file in sorted(profile.files & names))


UNCHANGED = Check(
    "AILB005",
    "every file is as generated from this intent, by the sha256 in manifest.json, and no other files are beside them",
    "a file was edited after it was generated, was generated from another intent, or does not belong here",
    "The next generate overwrites edits by hand, and they were not reviewed in the intent. Other files, such as an "
    "inventory with a password, are committed along with the generated ones.",
    "Put the change into the intent, extra_config or a template, and generate again. Move other files elsewhere.",
    _check_manifest,
    Severity.WARNING,
    layer=Layer.REPETITIONS,
)
