"""Collect all problems of a design before it is refused."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from functools import cache

from ailb_gen.errors import IntentError, Place, Problem
from ailb_gen.intent.load import Intent
from ailb_gen.yamlio import Path

ALIKE = 4
# (value, owner, where the value was decided)
Claim = tuple[Hashable, str, Path]


@dataclass(slots=True)
class Problems:
    """Problems found so far; every one points at a path of the intent."""

    intent: Intent
    found: list[Problem] = field(default_factory=list)

    def error(self, code: str, path: Path, reason: str, hint: str = "") -> None:
        """Note an error at `path`."""
        self.found.append(self.intent.problem(code, path, reason, hint))

    def warning(self, code: str, path: Path, reason: str, hint: str = "") -> None:
        """Note something that works but is probably not what was meant."""
        self.found.append(self.intent.problem(code, path, reason, hint, "warning"))

    def where(self, levels: tuple[Path, ...], *key: str | int) -> Path:
        """Return the path where `key` was written: at the most specific of `levels` that says it, else the last."""
        places = self.intent.source.places
        for level in levels:
            for end in range(len(key), 0, -1):
                if (*level, *key[:end]) in places:
                    return (*level, *key)
        return (*levels[-1], *key)

    @property
    def errors(self) -> list[Problem]:
        """Problems that make the intent unusable."""
        return [problem for problem in self.found if problem.severity == "error"]

    @property
    def warnings(self) -> list[Problem]:
        """Warnings for the user."""
        return [problem for problem in self.found if problem.severity != "error"]

    def stop_on_errors(self, later: str = "") -> None:
        """Raise IntentError with all problems if there is an error among them; `later` as in IntentError."""
        if self.errors:
            raise IntentError(collapsed(self.found), later)


def collapsed(problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems with rows of the same kind at the same path cut to the first and a count.

    One wrong plan repeats on hundreds of switches; the reader needs it once.
    """
    rows: dict[tuple[str, Place, str], list[Problem]] = {}
    for problem in dict.fromkeys(problems):
        rows.setdefault((problem.code, problem.place, problem.path), []).append(problem)
    result = []
    for same in rows.values():
        if len(same) < ALIKE:
            result += same
        else:
            result.append(replace(same[0], reason=f"{same[0].reason} (and {len(same) - 1} more like it)"))
    return result


def duplicates(
    code: str, what: str, claims: Iterable[Claim], problems: Problems, text: Callable[..., str] = str
) -> None:
    """Note every value that more than one owner claims, at the path of one device if there is one."""
    owners: dict[Hashable, list[tuple[str, Path]]] = defaultdict(list)
    for value, owner, path in sorted(claims, key=lambda claim: is_specific(claim[2])):
        owners[value].append((owner, path))
    for value, rows in owners.items():
        first = rows[0][0]
        for owner, path in rows[1:]:
            problems.error(code, path, f"{what} {text(value)} of {owner} is already used by {first}")


@cache
def is_specific(path: Path) -> bool:
    """Return whether a path names one device, not a plan for all."""
    return path[0] in ("overrides", "spines", "stripes") or any(isinstance(step, int) for step in path)
