"""A base, such as the branch that a change goes to, whose proof another proof takes over where it holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ailb_gen.checks.before import TakenOver
from ailb_gen.kept.earlier import before_of
from ailb_gen.kept.inputs import TreeEntry, is_folder
from ailb_gen.kept.models import Models
from ailb_gen.kept.proof import KeptProof, KeptProofs
from ailb_gen.wording import counted

# Why every check runs where the intent is not the same.
INTENT = "fabric file"
# The reasons that are no parts of files, in a sentence.
TOLD = {"everything": "any file", "findings": "findings before"}


@dataclass(frozen=True, slots=True)
class Since:
    """What a proof took over from that of `base`.

    `changed` files of `files` on either side differ. `taken_over` are the checks whose results hold, and `checked` the
    others, each with the changed parts that it reads.
    """

    base: str
    changed: int
    files: int
    taken_over: tuple[str, ...]
    checked: Mapping[str, tuple[str, ...]]

    def lines(self) -> list[str]:
        """Return what was taken over, as text: one line, and one for each set of parts with the checks that ran."""
        held, ran = len(self.taken_over), len(self.checked)
        files = f"{self.changed:,} of {counted(self.files, 'file')} changed"
        rows: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
        for check, parts in self.checked.items():
            rows[parts].append(check)
        each = (f"  {', '.join(TOLD.get(part, part) for part in parts)}: {' '.join(rows[parts])}" for parts in rows)
        return [f"since {self.base}: {files}; {held} of {counted(held + ran, 'check')} taken over", *each]


@dataclass(frozen=True, slots=True)
class ProvedBase:
    """A base with its proof, what was read for it, and the `general` inputs of the proof."""

    name: str
    general: str
    models: Models
    proof: KeptProof

    def held(self, proofs: KeptProofs) -> KeptProof | None:
        """Return the proof of the base as that of other files, if all inputs are the same."""
        if (self.general, self.models.tree) != (proofs.inputs.general, proofs.inputs.tree):
            return None
        run = replace(self.proof.run, intent=str(proofs.asked.fabric), artifacts=str(proofs.asked.artifacts))
        return replace(self.proof, run=run)

    def over(self, proofs: KeptProofs) -> TakenOver:
        """Return what of the base holds for other files; of another intent only what was read."""
        same = self.general == proofs.inputs.general
        return TakenOver(before_of(self.models, proofs.inputs.tree, self.proof if same else None))

    def since(self, tree: tuple[TreeEntry, ...], over: TakenOver | None = None) -> Since:
        """Return what was taken over for the files of a tree; without `over` that is everything."""
        old, new = ({row for row in rows if not is_folder(row)} for rows in (self.models.tree, tree))
        changed, files = ({path for path, _, _ in rows} for rows in (old ^ new, old | new))
        held = over.held if over is not None else [result.check.id for result in self.proof.run.results]
        checked = over.checked if over is not None else {}
        why = {check: checked[check] or (INTENT,) for check in sorted(checked)}
        return Since(self.name, len(changed), len(files), tuple(sorted(held)), why)
