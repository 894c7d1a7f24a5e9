"""Measure a run of the command line: CPU, time and memory of all its processes, start-up included."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds, user and system, and wall-clock seconds of a run; the peak of its memory in MiB.

    Memory is the sum over its processes of what each would free by ending (proportional set size), sampled.
    """

    cpu_s: float
    wall_s: float
    memory_mib: float


# Becomes the parent of processes that the command leaves behind (Linux: prctl 36), to count the CPU time of workers.
CHILD = """
import ctypes, json, os, resource, sys, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)

def below(pid):
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children") as file:
            for child in file.read().split():
                yield child
                yield from below(child)

def used(pid):
    with open(f"/proc/{pid}/smaps_rollup") as file:
        return next((int(line.split()[1]) for line in file if line.startswith("Pss:")), 0)

started = time.monotonic()
pid = os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
code, peak = None, 0
while True:
    try:
        found, status = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        break
    if found == pid:
        code = os.waitstatus_to_exitcode(status)
    if not found:
        looked = time.monotonic()
        try:
            peak = max(peak, sum(map(used, below(os.getpid()))))
        except (OSError, ValueError):
            pass  # a process ended during the sample: the next sample counts
        time.sleep(max(0.05, 9 * (time.monotonic() - looked)))
gone = time.monotonic() - started
spent = resource.getrusage(resource.RUSAGE_CHILDREN)
largest = max(peak, spent.ru_maxrss)
print(json.dumps([code, spent.ru_utime + spent.ru_stime, gone, largest / 1024]), file=sys.stderr)
"""


def cost(*words: str, codes: tuple[int, ...] = (0,)) -> Cost:
    """Measure one run of the command line in a new process; an exit code not in `codes` ends the program."""
    command = [sys.executable, "-m", "ailb_gen", *words]
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *command],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    code, cpu_s, wall_s, memory_mib = json.loads(done.stderr.splitlines()[-1])
    if code not in codes:
        raise SystemExit(f"{' '.join(words)}: exit code {code}\n{done.stdout}{done.stderr}")
    return Cost(cpu_s, wall_s, memory_mib)


def best(runs: int, words: tuple[str, ...]) -> Cost:
    """Return the cheapest of several runs: the machine is shared, and noise only adds."""
    return min((cost(*words) for _ in range(runs)), key=lambda row: row.cpu_s)
