"""A base, such as the branch that a change goes to, whose proof another proof takes over where it holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ailb_gen.checks.before import FINDINGS, TakenOver
from ailb_gen.checks.reads import EVERYTHING
from ailb_gen.kept.earlier import before_of
from ailb_gen.kept.inputs import is_folder
from ailb_gen.kept.models import Models
from ailb_gen.kept.proof import KeptProof, KeptProofs
from ailb_gen.wording import counted, some

# Why every check runs where the intent is not the same.
INTENT = "intent"
# In a sentence, reasons that are no parts of files.
TOLD = {EVERYTHING: "any file", FINDINGS: "findings in the base", INTENT: "fabric file"}


@dataclass(frozen=True, slots=True)
class Since:
    """What a proof took over from that of `base`.

    `changed` of `files` on either side differ. `taken_over` are the checks whose results hold, and `checked` the
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
        files = f"{self.changed:,} of {counted(self.files, 'artifact')} changed"
        rows: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
        for check, parts in self.checked.items():
            rows[parts].append(check)
        if (INTENT,) in rows:
            files += ", and the fabric file; those that are the same were not read again"
        each = (f"  {', '.join(TOLD.get(part, part) for part in parts)}: {some(rows[parts])}" for parts in rows)
        return [f"since {self.base}: {files}; {held} of {counted(held + ran, 'check')} taken over", *each]


@dataclass(frozen=True, slots=True)
class ProvedBase:
    """A base with its proof, what was read for it, and the `general` inputs; `after` are the files that follow it."""

    name: str
    general: str
    models: Models
    proof: KeptProof
    after: KeptProofs

    @property
    def same_intent(self) -> bool:
        """Whether all but the artifacts is the same."""
        return self.general == self.after.inputs.general

    def held(self) -> KeptProof | None:
        """Return the proof of the base as that of the files after it, if all inputs are the same."""
        if not self.same_intent or self.models.tree != self.after.inputs.tree:
            return None
        asked = self.after.asked
        return replace(
            self.proof, run=replace(self.proof.run, intent=str(asked.fabric), artifacts=str(asked.artifacts))
        )

    def over(self) -> TakenOver:
        """Return what of the base holds for the files after it; of another intent only what was read."""
        return TakenOver(before_of(self.models, self.after.inputs.tree, self.proof if self.same_intent else None))

    def since(self, over: TakenOver | None = None) -> Since:
        """Return what was taken over; without `over` that is everything."""
        trees = (self.models.tree, self.after.inputs.tree)
        old, new = ({entry for entry in tree if not is_folder(entry)} for tree in trees)
        changed, files = ({path for path, _, _ in entries} for entries in (old ^ new, old | new))
        held = over.held if over is not None else [result.check.id for result in self.proof.run.results]
        checked = over.checked if over is not None else {}
        why = {check: checked[check] if self.same_intent else (INTENT,) for check in sorted(checked)}
        return Since(self.name, len(changed), len(files), tuple(sorted(held)), why)
