"""Things that a check cannot tell apart: one of a kind is evaluated, and what holds for it holds for all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable

from ailb_gen.checks.model import Findings

Evaluation = Callable[[Findings], None]


class Kinds:
    """Evaluate things of a check by kind: where one has no findings, the others have none, and as much is examined.

    Where one has findings, every other one is evaluated, too, for findings name what they are about. The second,
    fourth, eighth and so on of a kind is evaluated in any case, and compared.
    """

    __slots__ = ("counted", "findings", "known")

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        # By kind, what one of it examines; None where it has findings.
        self.known: dict[Hashable, Counter[str] | None] = {}
        self.counted: Counter[Hashable] = Counter()

    def evaluate(self, kind: Hashable, evaluation: Evaluation) -> None:
        """Evaluate a thing of a kind. Raises AssertionError when it has findings or counts that others lack."""
        self.counted[kind] += 1
        number = self.counted[kind]
        if number == 1:
            self.known[kind] = _counts_of(evaluation)
        counts = self.known[kind]
        if counts is None:
            evaluation(self.findings)
            return
        if number > 1 and number & (number - 1) == 0 and _counts_of(evaluation) != counts:
            raise AssertionError(f"things that a check should not tell apart differ: {kind}")
        self.findings.counts.update(counts)


def _counts_of(evaluation: Evaluation) -> Counter[str] | None:
    """Return what is examined, by check; None if there are findings, figures or checks that are skipped."""
    own = Findings()
    evaluation(own)
    return own.counts if not (any(own.found.values()) or own.figures or own.skipped) else None
