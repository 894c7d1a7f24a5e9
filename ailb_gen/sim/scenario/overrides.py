"""Values for paths of a scenario, from `--set` and from `sweep`, put into the data before it is checked."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable
from typing import Any

from ailb_gen.errors import IntentError, Place, Problem, UsageError
from ailb_gen.wording import did_you_mean
from ailb_gen.yamlio import Path, Source, dotted, read_yaml

# Sections for which a name can stand.
NAMED = frozenset({"balancer", "transport", "congestion"})
STEP = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*)((?:\[[0-9]{1,6}\])*)")


def read_path(text: str, what: str) -> Path:
    """Read a path such as `traffic[0].load`; `what` names it in messages. Raises UsageError."""
    path: Path = ()
    for part in text.split("."):
        found = STEP.fullmatch(part)
        if found is None:
            raise UsageError(f"{what}: {text!r} is not a path; write keys and list places, such as traffic[0].load")
        path = (*path, found[1], *map(int, re.findall(r"[0-9]+", found[2])))
    return path


def with_settings(source: Source, words: Iterable[str]) -> Source:
    """Return a scenario with every `PATH=VALUE` put in; values are YAML. Raises UsageError, IntentError."""
    for word in words:
        name, equals, text = word.partition("=")
        what = f"--set {word}"
        if not equals:
            raise UsageError(f"{what}: write PATH=VALUE")
        value = read_yaml(text, what)
        path = read_path(name.strip(), what)
        source = replaced(source, path, value.data, Place(what, 0))
    return source


def replaced(source: Source, path: Path, value: Any, place: Place) -> Source:  # noqa: ANN401 - what YAML holds
    """Return a source with another value at a path; mappings that lead there are made. Raises IntentError."""
    data = copy.deepcopy(source.data)
    parent = holder = data
    for depth, step in enumerate(path):
        here = path[:depth]
        if isinstance(holder, str) and here[0] in NAMED:
            # `transport: raw` is short for `transport: {name: raw}`.
            parent[path[depth - 1]] = holder = {"name": holder}
        if isinstance(step, int):
            count = len(holder) if isinstance(holder, list) else 0
            if step >= count:
                reason = f"there is no entry {step}: {dotted(here) or 'this'} has {count}, counted from 0"
                raise IntentError([Problem("out-of-range", place, dotted(path), reason)])
        elif not isinstance(holder, dict):
            reason = f"{dotted(here)} is not a mapping; give all of it"
            raise IntentError([Problem("wrong-type", place, dotted(path), reason)])
        if depth + 1 == len(path):
            holder[step] = value
        else:
            if not isinstance(step, int) and holder.get(step) is None:
                if isinstance(path[depth + 1], int):
                    reason, hint = "there is no such list", did_you_mean(step, holder)
                    raise IntentError([Problem("unknown-key", place, dotted(path[: depth + 1]), reason, hint)])
                holder[step] = {}
            parent, holder = holder, holder[step]
    places = {known: where for known, where in source.places.items() if known[: len(path)] != path}
    # Keys above it that the file lacks have this place, too.
    for end in range(1, len(path) + 1):
        places.setdefault(path[:end], place)
    return Source(source.file, data, places)
