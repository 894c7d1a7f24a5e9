"""Check the manifest of an artifact directory against its files and the intent (AILB005)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ailb_gen.checks.context import Context
from ailb_gen.checks.families.files import READABLE, compare_records
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import Check, Findings, Severity
from ailb_gen.errors import IntentError, Place
from ailb_gen.layout import (
    CABLING,
    MANIFEST,
    PLAIN_FILES,
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


def _check_manifest(context: Context, findings: Findings) -> None:
    """Compare the manifest with the files of the artifact directory, and with the intent."""
    place, root = Place(MANIFEST), context.root
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
        check = READABLE if (root / MANIFEST).exists() else UNCHANGED
        findings.add(check, MANIFEST, message, Place(MANIFEST, line))
        return
    _check_head(context, manifest.body, text, findings)
    compare_files(UNCHANGED, root, manifest, manifest.here, findings)
    for name in _generated(context.network, root):
        if name not in manifest.here:
            message = f"{name} is not in {MANIFEST}: no edit can be detected"
            findings.add(UNCHANGED, _owner(name), message, place)
    for name in _foreign(root):
        message = f"{name} is none of the generated files: whoever gets them, as from version control, gets it, too"
        findings.add(UNCHANGED, name, message, Place(name))


def compare_files(check: Check, root: Path, manifest: Manifest, names: Iterable[str], findings: Findings) -> None:
    """Compare files below `root` with their digests in the manifest."""
    names = list(names)
    findings.look(check, len(names))
    for name in names:
        try:
            found = found_entry(root / name)
        except OSError as error:
            findings.add(check, _owner(name), f"{name} cannot be read: {error.strerror}", Place(name))
            continue
        if not found:
            findings.add(check, _owner(name), f"{name} was generated and is missing", Place(MANIFEST))
        elif not manifest.lists(name, found):
            message = f"{name} was edited after it was generated"
            findings.add(check, _owner(name), message, Place(name), manifest.here[name], found)


def _foreign(root: Path) -> list[str]:
    """List the other entries at the top of an artifact directory, without texts for people and hidden files."""
    names = sorted(path.name for path in root.iterdir())
    return [name for name in names if not (is_artifact(name) or is_left_over(name) or name.startswith("."))]


def _check_head(context: Context, data: Mapping[str, Any], text: str, findings: Findings) -> None:
    generator = data.get("generator")
    # Any version may have written the files; the newest need not have changed them.
    known = isinstance(generator, str) and GENERATOR.fullmatch(generator)
    expected = {
        "generator": generator if known else NAME_AND_VERSION,
        "fabric": context.fabric.name,
        "input_sha256": context.digest,
    }
    records = [Record("value", key, {key: value}) for key, value in expected.items()]
    compare_records(UNCHANGED, MANIFEST, records, values(data, text.split("\n")), findings, context.other_fabric)


def _owner(name: str) -> str:
    """Return the owner of a file: a switch, the folder of a server or of a profile, else the file itself."""
    folder, device = owner(name)
    if folder == SWITCHES:
        return device
    return f"{folder}/{device}" if folder else name


def _generated(network: Network, root: Path) -> Iterator[str]:
    """Iterate over the files that are there and that `generate` writes; others are not its own."""
    yield from (name for name in (TOPOLOGY, CABLING) if (root / name).is_file())
    yield from (switch.file for switch in network.switches.values())
    profiles = {}
    # Those of a cluster are in the manifest of the cluster.
    if not (root / SERVERS).is_dir():
        return
    for name, host in network.hosts.items():
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
