"""Take over the findings of a proof of the same inputs, and keep those of a new one."""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ailb_gen.checks.model import Run
from ailb_gen.errors import AilbError, UsageError
from ailb_gen.kept import folder
from ailb_gen.kept.inputs import (
    ChangeTimes,
    TreeEntry,
    change_times,
    intent_digests,
    models_digest,
    program_digest,
    program_paths,
    tree_entries,
)
from ailb_gen.kept.run_json import DAMAGED, from_json, text_of, to_json, without_functions
from ailb_gen.paths import real
from ailb_gen.progress import Warn


@dataclass(frozen=True, slots=True)
class AskedProof:
    """What is proved, as it was given: paths, patterns of checks, the YANG models, and the seed of samples.

    A base is proved for an `origin`, the fabric file whose models are then those of the base.
    """

    fabric: Path
    artifacts: Path
    checks: tuple[str, ...]
    yang: Path | None
    seed: int
    origin: Path | None = None


@dataclass(frozen=True, slots=True)
class ProofInputs:
    """Everything that the findings follow from, by digest; `general` is all but the tree of files.

    `changed` tells whether a file was edited and put back during a run; it is no part of the record. Nor is `installed`
    with the times of the program and the models, which need not be read again where these are the same.
    """

    general: str
    tree: tuple[TreeEntry, ...]
    changed: ChangeTimes
    installed: ChangeTimes = field(compare=False)

    @property
    def name(self) -> str:
        """The name of the record."""
        return f"{_short(self.general)}-{_short(json.dumps(self.tree))}.json"


@dataclass(frozen=True, slots=True)
class KeptProof:
    """A run that was kept, when it was made, and the ids of the checks that were chosen and that waivers may name."""

    run: Run
    made: str
    chosen: frozenset[str]
    waivable: frozenset[str]


def read_inputs(asked: AskedProof) -> ProofInputs:
    """Return the inputs of a proof. Raises AilbError where one cannot be read, or a link leads out of the tree."""
    now = time.time_ns()
    try:
        intent, tree = intent_digests(asked.fabric), tree_entries(asked.artifacts)
        files = [asked.fabric, *(asked.fabric.parent / name for name in intent if name)]
        below = [f"{asked.artifacts}/{path}" for path, _, _ in tree]
        models, read = models_digest(asked.yang)
        general = {
            "program": program_digest(),
            "intent": intent,
            "checks": asked.checks,
            "models": models,
            "seed": asked.seed,
        }
        changed = change_times([*files, asked.artifacts, *below], now)
        return ProofInputs(json.dumps(general), tree, changed, change_times([*program_paths(), *read], now))
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}") from error


def inputs_of(asked: AskedProof) -> ProofInputs | None:
    """Return the inputs of a proof; None where they cannot be read, or a link leads out of the tree.

    What cannot be read is then reported by the proof itself, which is not kept.
    """
    try:
        return read_inputs(asked)
    except AilbError:
        return None


@dataclass(slots=True)
class KeptProofs:
    """The kept proofs, as far as one of these inputs is asked for.

    A folder that cannot be used is one warning, and from then on nothing is read or kept.
    """

    asked: AskedProof
    inputs: ProofInputs
    warn: Warn
    usable: bool = True

    def recall(self) -> KeptProof | None:
        """Return the proof of these inputs if one is kept; warn of one that cannot be used."""
        try:
            body = self.read(self.inputs.name)
            return _decoded(body, self.asked, self.inputs) if body is not None else None
        except DAMAGED as error:
            self.warn(f"the kept proof {self.inputs.name} is damaged, and all is proved again ({error})")
            return None

    def proof_of(self, tree: tuple[TreeEntry, ...]) -> KeptProof | None:
        """Return the proof of another tree that is kept, all else being the same."""
        return replace(self, inputs=replace(self.inputs, tree=tree)).recall()

    @property
    def models_name(self) -> str:
        """The name of the models that runs of this fabric file and this question keep."""
        general = json.loads(self.inputs.general)
        question = json.dumps([general[name] for name in ("program", "checks", "models", "seed")])
        return f"{_short(question)}-{_short(str(real(self.asked.origin or self.asked.fabric)))}{folder.MODELS}"

    def read(self, name: str) -> bytes | None:
        """Return a file of the folder, None where there is none or the folder cannot be used. Raises ValueError."""
        try:
            return folder.read(folder.folder(), name) if self.usable else None
        except (OSError, UsageError) as error:
            self._give_up(error)
            return None

    def write(self, name: str, body: bytes) -> None:
        """Write a file of the folder, if that can be used."""
        try:
            folder.write(folder.folder(), name, body)
        except (OSError, UsageError) as error:
            self._give_up(error)

    def keep(self, run: Run, chosen: Collection[str], waivable: Collection[str]) -> bool:
        """Keep a proof, unless it is incomplete or its inputs have changed since they were read; return whether."""
        if not self.usable or run.trouble or not self._unchanged():
            return False
        body = {
            "general": self.inputs.general,
            "tree": self.inputs.tree,
            "made": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M} UTC",
            "chosen": sorted(chosen),
            "waivable": sorted(waivable),
            "run": to_json(run),
        }
        encoded = json.dumps(body, separators=(",", ":")).encode()
        # A text that is not the same after it was read back would make another verdict.
        if _decoded(encoded, self.asked, self.inputs).run != without_functions(run):
            return False
        self.write(self.inputs.name, encoded)
        return self.usable

    def _unchanged(self) -> bool:
        inputs = self.inputs
        return (inputs.changed.hold() and inputs.installed.hold()) or inputs_of(self.asked) == inputs

    def _give_up(self, error: OSError | UsageError) -> None:
        self.usable = False
        reason = str(error)
        if isinstance(error, OSError) and error.strerror:
            # An error of writing names no file.
            reason = f"{error.filename or folder.folder()}: {error.strerror}"
        self.warn(f"proofs cannot be kept: {reason}; repair that, set XDG_CACHE_HOME, or use --no-cache")


def _decoded(body: bytes, asked: AskedProof, inputs: ProofInputs) -> KeptProof:
    data: Any = json.loads(body)
    if (data["general"], [tuple(row) for row in data["tree"]]) != (inputs.general, list(inputs.tree)):
        raise ValueError(f"{inputs.name} is of other inputs")
    run = from_json(data["run"], str(asked.fabric), str(asked.artifacts))
    return KeptProof(
        run, text_of(data["made"]), *(frozenset(map(text_of, data[name])) for name in ("chosen", "waivable"))
    )


def _short(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
