"""Findings of the commit check."""

from __future__ import annotations

from dataclasses import dataclass, field

# Kinds of violations.
UNKNOWN = "unknown"
TYPE, RANGE, LENGTH, ENUMERATION, PATTERN = "type", "range", "length", "enumeration", "pattern"
MISSING = "missing"
DUPLICATE = "duplicate"
TOO_MANY = "too-many"
CHOICE = "choice"
MUST = "must"
RELEASE = "release"
VALUE_KINDS = frozenset({TYPE, RANGE, LENGTH, ENUMERATION, PATTERN, TOO_MANY})


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that a device would refuse.

    `path` is the statement from the top, `line` its last word's; `juniper` is the message of the models, `hint` a way
    out; both may be empty.
    """

    kind: str
    path: tuple[str, ...]
    line: int
    message: str
    juniper: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Unevaluated:
    """A constraint, or a pattern, that could not be evaluated: where it stands and why."""

    expression: str
    path: tuple[str, ...]
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of checking one configuration: findings by line, and counts.

    `words` counts the words that the schema explained, `evaluated` the commit constraints that were evaluated,
    `unmodeled` the statements below each top hierarchy that the models do not have, `unmodeled_lines` where each
    starts.
    """

    findings: tuple[Violation, ...]
    evaluated: int
    unevaluated: tuple[Unevaluated, ...]
    unmodeled: dict[str, int] = field(default_factory=dict)
    words: int = 0
    unmodeled_lines: dict[str, int] = field(default_factory=dict)
