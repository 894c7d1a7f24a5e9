"""The models of an earlier run: files that are the same now are not read again, and checks that hold do not run."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from ailb_gen.checks.before import NOTHING_BEFORE, Before, TakenOver, facts_of
from ailb_gen.checks.context import Context
from ailb_gen.checks.model import Result, Run
from ailb_gen.checks.run import NOTHING
from ailb_gen.kept.folder import MAX_BYTES
from ailb_gen.kept.inputs import TreeEntry
from ailb_gen.kept.models import Models, decode, encode
from ailb_gen.kept.proof import KeptProof, KeptProofs
from ailb_gen.layout import CABLING, TOPOLOGY
from ailb_gen.manifest import LINK
from ailb_gen.network.read import read_lists
from ailb_gen.network.topology import Topology

# Models are written again where more than this share of the switches was read anew.
SHARE = 1 / 8


def earlier(proofs: KeptProofs, models: Models | None) -> TakenOver:
    """Return what the kept models save; nothing without them."""
    if models is None:
        return TakenOver(replace(NOTHING_BEFORE, entries=entries_of(proofs.inputs.tree)))
    # The proof of the same files would have been taken over as a whole.
    proof = proofs.proof_of(models.tree) if models.tree != proofs.inputs.tree else None
    return TakenOver(before_of(models, proofs.inputs.tree, proof))


def kept_models(proofs: KeptProofs) -> Models | None:
    """Return the models that are kept of this fabric file and question; warn of those that are damaged."""
    name = proofs.models_name

    def reread(error: ValueError) -> Mapping[str, Topology]:
        proofs.warn(f"the kept models {name} are damaged, and lists of cables are read again ({error})")
        return read_lists(proofs.asked.artifacts).tables

    try:
        body = proofs.read(name)
        return decode(body, reread) if body is not None else None
    except ValueError as error:
        proofs.warn(f"the kept models {name} are damaged, and all files are read again ({error})")
        return None


def before_of(models: Models, tree: tuple[TreeEntry, ...], proof: KeptProof | None) -> Before:
    """Return what of models holds for the files of a tree; `proof` is the one of their own tree, if it is kept."""
    changed = frozenset(path for path, _, _ in {*models.tree} ^ {*tree})
    # What links lead to is not known from below a folder.
    links = {path for path, mode, _ in tree if stat.S_ISLNK(mode)}
    above = {str(folder) for path in changed | links for folder in PurePosixPath(path).parents}
    files = {path for path, mode, _ in tree if stat.S_ISREG(mode)} - changed
    folders = {path for path, mode, _ in tree if stat.S_ISDIR(mode)} - changed - above
    missing = {TOPOLOGY, CABLING} - {path for path, _, _ in tree} - changed
    return Before(
        known={file: pair for file, pair in models.switches.items() if file in files},
        profiles={folder: profile for folder, profile in models.profiles.items() if folder in folders},
        lists=models.lists if {TOPOLOGY, CABLING} <= files | missing else None,
        changed=changed,
        old={pair[0].named: pair for file, pair in models.switches.items() if file not in files},
        facts=models.facts if proof is not None else None,
        results={result.check.id: result for result in proof.run.results} if proof is not None else {},
        entries=entries_of(tree),
    )


def entries_of(tree: Iterable[TreeEntry]) -> dict[str, str]:
    """Return what a manifest would have of the files and links of a tree."""
    found = {path: digest for path, mode, digest in tree if stat.S_ISREG(mode)}
    return found | {path: f"{LINK}{target}" for path, mode, target in tree if stat.S_ISLNK(mode)}


def keep_models(proofs: KeptProofs, run: Run, context: Context, over: TakenOver) -> None:
    """Keep what a run read, unless the models that are kept serve the next run as well."""
    before, switches = over.before, context.network.switches
    read = sum(switch.file not in before.known for switch in switches.values())
    serves = before.facts is not None and before.lists is not None
    # What found something is checked again each time.
    if serves and read <= SHARE * len(switches) and _failed(before.results.values()) <= _failed(run.results):
        return
    write_models(proofs, models_of(proofs, context, over))


def models_of(proofs: KeptProofs, context: Context, over: TakenOver) -> Models:
    """Return the models of what a run read."""
    commit = context.commit or {}
    return Models(
        proofs.inputs.tree,
        facts_of(context),
        {switch.file: (switch, commit.get(name, NOTHING)) for name, switch in context.network.switches.items()},
        {host.profile.folder: host.profile for host in context.network.hosts.values()},
        over.lists,
        b"",
    )


def write_models(proofs: KeptProofs, models: Models) -> None:
    """Keep models in place of those that are kept of this fabric file, unless they are too large."""
    body = encode(models)
    # Others would have to go for it.
    if len(body) <= MAX_BYTES // 2:
        proofs.write(proofs.models_name, body)


def _failed(results: Iterable[Result]) -> int:
    return sum(bool(result.findings) for result in results)
