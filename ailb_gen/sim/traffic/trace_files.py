"""The files of an execution trace, read and joined."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from ailb_gen.errors import Place, Problem
from ailb_gen.paths import absent
from ailb_gen.sim.traffic.chakra import rank_files, read_rank
from ailb_gen.sim.traffic.flowlist import refuse
from ailb_gen.sim.traffic.trace import ExecutionTrace, TraceNode, TraceStep, are_ranks
from ailb_gen.textio import read_text, text_problem


def read_trace(folder: Path, prefix: str, groups: str | None = None) -> tuple[list[TraceStep], int]:
    """Return the steps of a Chakra trace and the number of its ranks; `groups` names the JSON file of its groups.

    Names are below `folder`. Raises IntentError with all problems, by file and number of the node in it.
    """
    files = rank_files(folder, prefix)
    if not files:
        hint = "of the files trace.0.et, trace.1.et, ... write trace"
        raise text_problem(f"{prefix}.0.et", "unreadable", absent(folder / f"{prefix}.0.et", "file"), hint=hint)
    problems: list[Problem] = []
    known = {} if groups is None else _groups(folder / groups, groups, problems)
    nodes: list[list[TraceNode]] = [read_rank(folder / name, name, problems, known) for name in files]
    # What a damaged file lacks would look like an error of the other ranks.
    refuse(problems, prefix)
    steps = ExecutionTrace(files, nodes, known).steps(problems)
    refuse(problems, prefix)
    return steps, len(files)


def _groups(path: Path, name: str, problems: list[Problem]) -> dict[str, tuple[int, ...]]:
    """Return the ranks of groups by name."""
    try:
        data = json.loads(read_text(path, name))
    except (ValueError, RecursionError) as error:
        problems.append(Problem("wrong-type", Place(name), "", f"not JSON: {error}"))
        return {}
    found: dict[str, tuple[int, ...]] = {}
    for key, ranks in (data if isinstance(data, Mapping) else {"": None}).items():
        if ranks and are_ranks(ranks):
            found[key] = tuple(ranks)
        else:
            reason = "must be a mapping from names to lists of different ranks"
            problems.append(Problem("wrong-type", Place(name), key[:40], reason))
    return found
