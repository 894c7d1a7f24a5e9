"""Placement of jobs: the order in which the ranks of a job take the servers of a fabric, also from files of schedulers.

GPUs of a server have consecutive ranks, as NCCL joins them; servers come in the order of their first rank.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path

import numpy as np

from ailb_gen.errors import Place, Problem, UsageError
from ailb_gen.paths import absent
from ailb_gen.sim.fabric import FabricArrays, Int32
from ailb_gen.sim.scenario.slurm import Lines, SlurmJob, reader
from ailb_gen.sim.traffic.builder import stream
from ailb_gen.sim.traffic.flowlist import numbered_lines, refuse
from ailb_gen.textio import line_field, read_text, text_problem
from ailb_gen.wording import counted, did_you_mean

IN_ORDER, SCATTERED = "in-order", "scattered"
PLACEMENTS = (IN_ORDER, SCATTERED)
# More servers than any fabric has; a range such as [1-999999999] must not fill the memory.
MAX_SERVERS = 100_000
SHOWN_JOBS = 5

_HOST = re.compile(
    r"(?P<names>(?:[^\s\[\]:=]|\[[0-9,-]*\])+)(?::(?P<gpus>[0-9]{1,6}))?(?:\s+slots=(?P<slots>[0-9]{1,6}))?"
    r"(?:\s+max[-_]slots=[0-9]+)?"
)
_RANK = re.compile(r"rank\s+(?P<rank>[0-9]{1,9})\s*=\s*(?P<name>[^\s=]+)(?:\s+slots?\s*=\s*\S+)?")
# Commas in brackets do not separate names.
_NAMES = re.compile(r"(?:[^\[\],]|\[[^\[\]]*\])+")
_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")


@dataclass(frozen=True, slots=True)
class PlacedServer:
    """A server that a file names, and how many of its GPUs the job has; None: all."""

    name: str
    gpus: int | None = None
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class Placement:
    """A placement: in order, scattered, or the `servers` of the file called `name`.

    Of a list of jobs: the servers of every one, by its id and name.
    """

    name: str = IN_ORDER
    servers: tuple[PlacedServer, ...] = ()
    jobs: tuple[tuple[SlurmJob, tuple[PlacedServer, ...]], ...] = ()

    def of(self, job: str | None) -> Placement:
        """Return the placement of a job, without one that of the only job. Raises UsageError for another one."""
        if not self.jobs:
            if job is not None:
                raise UsageError(f"job: {self.name} is no list of jobs (squeue, scontrol show job)")
            return self
        found = [servers for one, servers in self.jobs if job is None or job in (one.id, one.name)]
        if len(found) == 1:
            return Placement(self.name, found[0])
        known = ", ".join(f"{one.id} ({one.name})" for one, _ in self.jobs[:SHOWN_JOBS])
        what = "which of the jobs?" if job is None else f"{len(found)} jobs are called {job!r}:"
        raise UsageError(f"job: {what} {self.name} has {known}{', ...' if len(self.jobs) > SHOWN_JOBS else ''}")


AS_LISTED = Placement()


def placed(hosts: Int32, placement: Placement, fabric: FabricArrays, seed: int) -> Int32:
    """Return hosts in the order of ranks: as they are, or by server.

    Scattered servers are drawn by `seed`, as a cluster in use has them free. Of a file, servers that have none of
    `hosts` are left out, and hosts that it does not name.
    """
    if placement.name == IN_ORDER:
        return hosts
    servers: dict[str, list[int]] = {}
    for host, name in zip(hosts.tolist(), servers_by_name(fabric, hosts), strict=True):
        servers.setdefault(name, []).append(host)
    if placement.servers:
        chosen = [servers.get(one.name, [])[: one.gpus] for one in placement.servers]
    else:
        groups = list(servers.values())
        chosen = [groups[number] for number in stream(seed, SCATTERED).permutation(len(groups))]
    return np.array([host for group in chosen for host in group], dtype=np.int32)


def servers_by_name(fabric: FabricArrays, hosts: Int32) -> list[str]:
    """Return the server of every host, by its name: `SERVER:NIC`."""
    return [fabric.names[host].partition(":")[0] for host in hosts.tolist()]


def read_placement(name: str, folder: Path, fabric: FabricArrays) -> Placement:
    """Return the placement of a name: one of PLACEMENTS, or a file below `folder`.

    The file is a list of servers (`scontrol show hostnames`, SLURM_JOB_NODELIST, hostfiles and machinefiles of MPI), a
    rankfile of Open MPI, or a list of jobs (`squeue`, `scontrol show job`). Raises IntentError with everything that is
    wrong.
    """
    if name in PLACEMENTS:
        return Placement(name)
    path = folder / name
    if reason := absent(path, "file"):
        hint = did_you_mean(name, PLACEMENTS) or f"a placement is {', '.join(PLACEMENTS)} or a file of servers"
        raise text_problem(name, "unreadable", reason, hint=hint)
    lines = [
        (number, words)
        for number, line in numbered_lines(read_text(path, name))
        if (words := line.split("#")[0].strip())
    ]
    if not lines:
        raise text_problem(name, "missing-key", "the file names no server; write one per line")
    problems: list[Problem] = []
    jobs = reader(lines[0][1])
    if jobs is not None:
        return _of_jobs(jobs(lines, name, problems), name, fabric, problems)
    read = _ranked if lines[0][1].startswith("rank ") else _listed
    servers = tuple(read(lines, name, problems))
    # A list that cannot be read has no servers to look for.
    refuse(problems or _unknown(servers, name, fabric), name)
    return Placement(name, servers)


def _of_jobs(jobs: list[SlurmJob], file: str, fabric: FabricArrays, problems: list[Problem]) -> Placement:
    """Return the placement of a list of jobs; their servers must differ only within each."""
    found = tuple((job, tuple(_listed([(job.line, job.nodes)], file, problems))) for job in jobs)
    if not found and not problems:
        problems.append(Problem("missing-key", Place(file), "", "no job of the list has nodes"))
    every = tuple(server for _, servers in found for server in servers)
    refuse(problems or _unknown(every, file, fabric), file)
    return Placement(file, jobs=found)


def _listed(lines: Lines, file: str, problems: list[Problem]) -> Iterator[PlacedServer]:
    """Yield the servers of a list, each once."""
    before: dict[str, int] = {}
    for number, line in lines:
        found = _HOST.fullmatch(line)
        if found is None:
            reason = (
                f"{line[:40]!r} is not a server; write NAME, NAME:GPUS, NAME slots=GPUS or a list such as gpu[01-16]"
            )
            problems.append(Problem("wrong-value", Place(file, number), "", reason))
            continue
        gpus = found["gpus"] or found["slots"]
        try:
            names = expand_hostlist(found["names"])
        except ValueError as error:
            problems.append(Problem("bad-range", Place(file, number), "", str(error)))
            continue
        for name in names:
            if name in before:
                reason = f"{name} is on line {before[name]} already"
                hint = f"write a server once, with its number of GPUs: {name}:8"
                problems.append(Problem("duplicate-name", Place(file, number), "", reason, hint))
            before.setdefault(name, number)
            yield PlacedServer(name, int(gpus) if gpus is not None else None, number)


def _ranked(lines: Lines, file: str, problems: list[Problem]) -> Iterator[PlacedServer]:
    """Yield the servers of a rankfile, in the order of their first ranks."""
    ranks: dict[int, tuple[str, int]] = {}
    for number, line in lines:
        found = _RANK.fullmatch(line)
        if found is None:
            reason = f"{line[:40]!r} is not a rank; write rank N=NAME slot=SLOT on all lines"
            problems.append(Problem("wrong-value", Place(file, number), "", reason))
        elif (rank := int(found["rank"])) in ranks:
            reason = f"rank {rank} is on line {ranks[rank][1]} already"
            problems.append(Problem("duplicate-name", Place(file, number), "", reason))
        else:
            ranks[rank] = found["name"], number
    missing = next((rank for rank in range(len(ranks)) if rank not in ranks), None)
    if missing is not None and not problems:
        reason = f"rank {missing} is missing; {counted(len(ranks), 'rank')} are 0 to {len(ranks) - 1}"
        problems.append(Problem("wrong-count", Place(file), "", reason))
    names = [ranks[rank] for rank in sorted(ranks)]
    lines_of = dict(reversed(names))
    counts = Counter(name for name, _ in names)
    yield from (PlacedServer(name, count, lines_of[name]) for name, count in counts.items())


def _unknown(servers: tuple[PlacedServer, ...], file: str, fabric: FabricArrays) -> Iterator[Problem]:
    """Yield the problems of servers that the fabric lacks, or that have fewer GPUs."""
    counts = Counter(servers_by_name(fabric, np.arange(fabric.host_count, dtype=np.int32)))
    for one in servers:
        yield from _problems_of(one, Place(file, one.line), counts)


def _problems_of(one: PlacedServer, place: Place, counts: Mapping[str, int]) -> Iterator[Problem]:
    if one.name not in counts:
        hint = did_you_mean(one.name, counts) or f"names are such as {next(iter(counts), 'none')}"
        yield Problem("wrong-value", place, "", f"the fabric has no server {one.name[:80]!r}", hint)
    elif one.gpus is not None and not 1 <= one.gpus <= counts[one.name]:
        reason = f"{one.name} has {counted(counts[one.name], 'GPU NIC')}, and the file takes {one.gpus}"
        yield Problem("out-of-range", place, "", reason)


def expand_hostlist(text: str) -> list[str]:
    """Return the names of a list as Slurm writes it: `gpu[01-04,07],login`. Raises ValueError for what is not one.

    Numbers keep the width of the first one of their range; several brackets are all combinations.
    """
    items = _NAMES.findall(text)
    if ",".join(items) != text:
        raise ValueError(f"{text[:40]!r} is not a list of names; separate them with one comma")
    found: list[str] = []
    for item in items:
        # Text and ranges in turn.
        choices = [_numbers(part) if odd % 2 else [part] for odd, part in enumerate(re.split(r"\[([^\[\]]*)\]", item))]
        if len(found) + prod(map(len, choices)) > MAX_SERVERS:
            raise ValueError(f"{item[:40]!r} names more than {MAX_SERVERS:,} servers")
        found += map("".join, product(*choices))
    return found


def _numbers(ranges: str) -> list[str]:
    """Return the numbers of `01-04,07`, as text of their width."""
    found: list[str] = []
    for part in ranges.split(","):
        match = _RANGE.fullmatch(part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match is not None else (1, 0)
        if match is None or last < first:
            raise ValueError(f"[{ranges[:40]}] is not a list of ranges; write them as [01-04,07]")
        if last - first >= MAX_SERVERS:
            raise ValueError(f"[{ranges[:40]}] names more than {MAX_SERVERS:,} servers")
        found += [str(number).zfill(len(match[1])) for number in range(first, last + 1)]
    return found
