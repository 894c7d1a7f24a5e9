"""`--checks` and `--limit` of `ailb-gen validate`: which checks run, and which devices their findings are about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from fnmatch import fnmatchcase

from ailb_gen.checks.model import Check, Result
from ailb_gen.errors import UsageError
from ailb_gen.selection import patterns_of
from ailb_gen.wording import did_you_mean


def pick_checks(
    catalogue: Sequence[Check], families: Mapping[str, str], values: Iterable[str], unasked: str = ""
) -> tuple[Check, ...]:
    """Return the checks that the patterns pick, in the order of the catalogue; all of them for no pattern.

    Those of the family `unasked` only if a pattern picks them.

    A pattern is an id, a glob over ids (`AILB2*`), or a family (`AILB2`, `sessions`); `!` before it takes away
    what it picks. When every pattern takes away, it is from the whole catalogue. Upper and lower case count as equal.
    Raises UsageError for a pattern that picks nothing, and when nothing is left.
    """
    patterns = patterns_of("--checks", values)
    chosen: set[str] = set()
    if all(pattern.startswith("!") for pattern in patterns):
        chosen = {check.id for check in catalogue if check.family != unasked}
    for pattern in patterns:
        word = pattern.removeprefix("!")
        found = {
            check.id
            for check in catalogue
            if fnmatchcase(check.id, word.upper())
            or word.upper() == check.family
            or word.lower() == families[check.family]
        }
        if not found:
            known = [*(check.id for check in catalogue), *families.values()]
            hint = did_you_mean(word, known) or f"ids, globs such as 'AILB2*', or {', '.join(families.values())}"
            raise UsageError(f"no check is called {word!r}; {hint}")
        chosen = chosen - found if pattern.startswith("!") else chosen | found
    if not chosen:
        raise UsageError(f"{','.join(patterns)!r} selects no check")
    return tuple(check for check in catalogue if check.id in chosen)


def limited(
    results: Iterable[Result], devices: AbstractSet[str] | None, folders: Iterable[tuple[str, str]] = ()
) -> tuple[Result, ...]:
    """Return the results with the findings whose scope names one of the devices; all of them for None.

    `folders` are pairs of a device and the folder of its files, which scopes name where devices share one.
    """
    if devices is None:
        return tuple(results)
    names = devices | {folder for device, folder in folders if device in devices}
    return tuple(
        replace(
            result,
            findings=tuple(finding for finding in result.findings if not names.isdisjoint(finding.scope.split())),
        )
        for result in results
    )
