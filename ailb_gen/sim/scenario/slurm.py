"""The jobs that Slurm lists, with their servers: the output of `squeue` and of `scontrol show job`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ailb_gen.errors import Place, Problem

# Instead of nodes: none, or the reason why a job waits.
NONE = re.compile(r"\(.*\)|")
_KEY = re.compile(r"(\w+)=(\S*)")
NODES = re.compile(r"NODELIST(\(REASON\))?")
Lines = Sequence[tuple[int, str]]


@dataclass(frozen=True, slots=True)
class SlurmJob:
    """A job by its id and name, the list of its nodes, and the line of it."""

    id: str
    name: str
    nodes: str
    line: int


def reader(first: str) -> Callable[[Lines, str, list[Problem]], list[SlurmJob]] | None:
    """Return the function that reads a file with this first line; None if it is no list of jobs."""
    if first.startswith("JobId="):
        return _shown
    words = first.split()
    return _queue if "JOBID" in words and any(NODES.fullmatch(word) for word in words) else None


def _queue(lines: Lines, file: str, problems: list[Problem]) -> list[SlurmJob]:
    """Return the jobs of `squeue` that run; the columns are named in its first line."""
    head = lines[0][1].split()
    found = []
    for number, line in lines[1:]:
        # The reason why a job waits may have blanks.
        words = line.split(None, len(head) - 1)
        if len(words) != len(head):
            reason = f"the row has {len(words)} of {len(head)} columns; give names without blanks"
            problems.append(Problem("wrong-count", Place(file, number), "", reason))
            continue
        row = {"NODELIST" if NODES.fullmatch(key) else key: word for key, word in zip(head, words, strict=True)}
        found.append(SlurmJob(row["JOBID"], row.get("NAME", ""), row["NODELIST"].strip(), number))
    return [job for job in found if not NONE.fullmatch(job.nodes)]


def _shown(lines: Lines, file: str, problems: list[Problem]) -> list[SlurmJob]:
    """Return the jobs of `scontrol show job` that have nodes."""
    found = []
    for block in _blocks(lines):
        keys = {key: (value, number) for number, line in block for key, value in _KEY.findall(line)}
        (job, number), (nodes, line) = keys["JobId"], keys.get("NodeList", ("", block[0][0]))
        if "NodeList" not in keys:
            problems.append(Problem("missing-key", Place(file, number), f"job {job}", "the job has no NodeList"))
        elif not NONE.fullmatch(nodes):
            found.append(SlurmJob(job, keys.get("JobName", ("", 0))[0], nodes, line))
    return found


def _blocks(lines: Lines) -> Iterator[list[tuple[int, str]]]:
    """Yield the lines of every job; the first one begins with its id."""
    block: list[tuple[int, str]] = []
    for number, line in lines:
        if line.startswith("JobId=") and block:
            yield block
            block = []
        block.append((number, line))
    yield block
