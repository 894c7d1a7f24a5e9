"""What nccl-tests prints: a table of sizes with their bandwidths, wrong values, and the average bus bandwidth.

Source: src/common.cu of nccl-tests; rows of `alltoall_perf` have `N/A` for wrong values in place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ailb_gen.errors import UsageError

# Of Open MPI (`--tag-output`) and Slurm (`srun --label`), before every line.
TAG = re.compile(r"^(?:\[\d+,\d+\]<std(?:out|err)>: ?|\d+: )")
# Bytes, elements, type, operation, root; then twice the time in µs, algbw and busbw in GB/s, and wrong values.
ROW = re.compile(r"^\s*(\d{1,20})\s+(\d{1,20})\s+([a-z]\w*)\s+(\w+)\s+(-?\d+)\s+(\S.*)$", re.ASCII)
NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,9})?(?:e[+-]?\d{1,2})?", re.ASCII)
AVERAGE = re.compile(r"^# Avg bus bandwidth\s*:\s*(\S+)\s*$")
OUT_OF_BOUNDS = re.compile(r"^# Out of bounds values\s*:\s*(\d+)\s+(OK|FAILED)\s*$")
# What NCCL says, with NCCL_DEBUG=INFO, when its plug-in is not loaded; the host comes first.
NO_PLUGIN = re.compile(r"^(\S+?):\d+:\d+ .*NCCL INFO NET/Plugin: (?:Could not find|Failed to|No plugin found)")
COLUMNS = 4
MOST_LINES, SHOWN = 200_000, 200


@dataclass(frozen=True, slots=True)
class NcclRow:
    """A size in bytes, out of place: time in µs, algorithm and bus bandwidth in GB/s; wrong values of both forms."""

    size: int
    time_us: float
    algbw: float
    busbw: float
    wrong: int


@dataclass(frozen=True, slots=True)
class NcclRun:
    """One run: its rows, the average bus bandwidth in GB/s, and the hosts on which NCCL did not load its plug-in."""

    rows: tuple[NcclRow, ...]
    average: float
    without_plugin: frozenset[str] = frozenset()

    @property
    def wrong(self) -> int:
        """Wrong values of all sizes."""
        return sum(row.wrong for row in self.rows)


def parse_run(text: str) -> NcclRun:
    """Read the output of a program of nccl-tests. Raises UsageError with the line that cannot be read."""
    lines = text.splitlines()
    if len(lines) > MOST_LINES:
        raise UsageError(f"the job printed {len(lines):,} lines, more than {MOST_LINES:,}")
    rows: list[NcclRow] = []
    average, bounds, without = None, 0, set()
    for number, tagged in enumerate(lines, 1):
        line = TAG.sub("", tagged)
        if found := ROW.match(line):
            rows.append(_row(number, line, found))
        elif found := AVERAGE.match(line):
            average = _number(number, line, found[1])
        elif found := OUT_OF_BOUNDS.match(line):
            bounds = max(bounds, int(found[1]), found[2] == "FAILED")
        elif found := NO_PLUGIN.match(line):
            without.add(found[1])
    if average is None or not rows:
        last = next((line for line in reversed(lines) if line.strip()), "nothing")
        lacking = "no table of nccl-tests" if not rows else "no average bus bandwidth"
        raise UsageError(f"the job printed {lacking}; its last line: {last[:SHOWN]!a}")
    if bounds and not any(row.wrong for row in rows):
        raise UsageError(f"the job reports {bounds} values out of bounds, and no row with wrong ones")
    return NcclRun(tuple(rows), average, frozenset(without))


def _row(number: int, line: str, found: re.Match[str]) -> NcclRow:
    cells = found[6].split()
    if len(cells) != 2 * COLUMNS:
        raise UsageError(f"line {number} of the job's output has {len(cells) + 5} columns, not 13: {line[:SHOWN]!a}")
    time_us, algbw, busbw = (_number(number, line, cell) for cell in cells[:3])
    wrong = sum(int(_number(number, line, cell)) for cell in (cells[3], cells[7]) if cell != "N/A")
    return NcclRow(int(found[1]), time_us, algbw, busbw, wrong)


def _number(number: int, line: str, cell: str) -> float:
    if NUMBER.fullmatch(cell) is None:
        raise UsageError(f"line {number} of the job's output has no number at {cell[:40]!a}: {line[:SHOWN]!a}")
    return float(cell)


@dataclass(frozen=True, slots=True)
class BandwidthSpread:
    """The mean of some runs, and how far the fastest and the slowest are apart, as a share of it."""

    mean: float
    share: float

    def __str__(self) -> str:
        return f"{self.mean:.2f} GB/s, spread {self.share:.1%}"


def spread(values: Sequence[float]) -> BandwidthSpread:
    """Return the mean and spread of bandwidths."""
    mean = sum(values) / len(values)
    return BandwidthSpread(mean, (max(values) - min(values)) / mean if mean else 0.0)
