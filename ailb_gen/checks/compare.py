"""Compare expected with observed: one rule for every observer, such as files, kernels, daemons and services."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Subject = TypeVar("Subject")
Expected = TypeVar("Expected")
Observed = TypeVar("Observed")


@dataclass(frozen=True, slots=True)
class Deviation(Generic[Subject, Expected, Observed]):
    """A subject, such as a port or a prefix, with its expected and its observed value, None where there is none."""

    subject: Subject
    expected: Expected | None
    observed: Observed | None


def deviations(
    expected: Mapping[Subject, Expected],
    observed: Mapping[Subject, Observed],
    holds: Callable[[Expected, Observed], bool] = operator.eq,
    extra: bool = True,
) -> list[Deviation[Subject, Expected, Observed]]:
    """Return every subject, in order, whose observed value does not satisfy the expected one.

    A subject that only one of the two has always deviates; without `extra`, only one that is expected. `holds` compares
    values that are not plainly equal.
    """
    wrong = [
        Deviation(subject, want, have)
        for subject, want in expected.items()
        if (have := observed.get(subject)) is None or not holds(want, have)
    ]
    if extra:
        wrong += [Deviation(subject, None, have) for subject, have in observed.items() if subject not in expected]
    return sorted(wrong, key=_subject)


def _subject(deviation: Deviation[Any, Any, Any]) -> Any:  # noqa: ANN401 - whatever the subjects are, they have an order
    return deviation.subject


def summary(messages: Sequence[str]) -> str:
    """Return the first of some messages, and the number of the others."""
    return f"{messages[0]} (and {len(messages) - 1} more)" if len(messages) > 1 else messages[0]
