"""Commands that start nccl-tests on servers of a fabric, one process per GPU.

Every variable of a server's `nccl.env` goes along. Names are safe as they are: servers have letters, digits, `-`, `_`
and `.` (`ailb_gen.validation.NAME_PATTERN`), and values of variables are one printable line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from ailb_gen.design.model import Design, DesignServer
from ailb_gen.errors import UsageError
from ailb_gen.intent.nccl import SOCKET_NAMES
from ailb_gen.selection import pick_devices
from ailb_gen.wording import counted, did_you_mean

Launcher = Literal["mpirun", "srun"]
# Programs of nccl-tests by the name of their collective.
PROGRAMS = {
    "all-reduce": "all_reduce_perf",
    "all-gather": "all_gather_perf",
    "all-to-all": "alltoall_perf",
    "broadcast": "broadcast_perf",
    "gather": "gather_perf",
    "reduce": "reduce_perf",
    "reduce-scatter": "reduce_scatter_perf",
    "scatter": "scatter_perf",
    "send-receive": "sendrecv_perf",
}
# As of nccl-tests that were built with MPI=1 and NAME_SUFFIX=_mpi.
SUFFIX = "_mpi"
LIBRARIES = "LD_LIBRARY_PATH"
GID_INDEX = "UCX_IB_GID_INDEX"
# Each process takes the variables of its own server, and becomes the program that stands behind.
OWN_ENVIRONMENT = 'set -a; . /etc/ailb/nccl.env; set +a; exec "$@"'
FOUND_INDEX = 'found=$(/usr/local/sbin/ailb-host gids --env) && eval "$found" && exec "$@"'

_PROGRAM = re.compile(r"[A-Za-z0-9_./+-]+", re.ASCII)
_SIZE = re.compile(r"([1-9][0-9]{0,11})([KMG]?)", re.ASCII)
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


@dataclass(frozen=True, slots=True)
class Measurement:
    """Sizes and repetitions of nccl-tests: sizes as it reads them (K, M, G: powers of 1024), each twice the last."""

    smallest: str = "8M"
    largest: str = "8G"
    iterations: int = 20
    warmup: int = 5

    def words(self) -> list[str]:
        """Return the arguments of the program."""
        sizes = ["-b", self.smallest, "-e", self.largest, "-f", "2", "-g", "1"]
        return [*sizes, "-n", str(self.iterations), "-w", str(self.warmup)]


def sizes_of(text: str) -> tuple[str, str]:
    """Read `SMALLEST-LARGEST`, or one size, such as `8M-8G`. Raises UsageError."""
    first, _, last = text.partition("-")
    found = [_SIZE.fullmatch(one) for one in (first, last or first)]
    counts = [int(one[1]) * _UNITS[one[2]] for one in found if one is not None]
    if len(counts) != 2 or text.endswith("-"):
        raise UsageError(f"--sizes {text!r}: write SMALLEST-LARGEST as nccl-tests reads them, such as 8M-8G")
    if counts[0] > counts[1]:
        raise UsageError(f"--sizes {text!r}: the first size is larger than the last; write {last}-{first}")
    return first, last or first


def check_program(test: str) -> None:
    """Check that a name or path is a program of nccl-tests. Raises UsageError."""
    name = PurePosixPath(test).name.removesuffix(SUFFIX)
    if _PROGRAM.fullmatch(test) is None or test.startswith("-") or name not in PROGRAMS.values():
        programs = list(PROGRAMS.values())
        hint = did_you_mean(name, programs) or f"there are {', '.join(programs)}"
        raise UsageError(f"--test {test[:80]!r} is not a program of nccl-tests; {hint}")


def job_servers(design: Design, patterns: Sequence[str] = ()) -> tuple[DesignServer, ...]:
    """Return the servers with GPUs that patterns pick, all without one, in the order of the fabric.

    Servers without GPUs are left out. Raises UsageError for a pattern that picks no server, and when none is left.
    """
    picked = pick_devices({one.name: "server" for one in design.servers}, patterns, "--servers")
    chosen = tuple(one for one in design.servers if one.config.environment and (picked is None or one.name in picked))
    if not chosen:
        which = "the fabric has no server with GPUs" if picked is None else "none of these servers has GPUs"
        raise UsageError(f"--servers: {which}" if picked is not None else which)
    return chosen


def gpus_of(server: DesignServer) -> int:
    """Return the number of GPUs of a server: each has a NIC of its own."""
    return len(server.config.nics)


def equal_gpus(servers: Sequence[DesignServer], who: str) -> int:
    """Return the number of GPUs that all servers have. Raises UsageError where they differ; `who` needs the same."""
    numbers = {gpus_of(one): one.name for one in reversed(servers)}
    if len(numbers) > 1:
        (a, first), (b, second) = list(numbers.items())[::-1][:2]
        reason = f"{first} has {counted(a, 'GPU')}, {second} has {b}"
        raise UsageError(f"{who} starts the same number of processes on all servers, and {reason}; choose by --servers")
    return next(iter(numbers))


def shared_environment(servers: Sequence[DesignServer]) -> dict[str, str]:
    """Return the variables that have the same value on all servers."""
    rows = [set(one.config.environment) for one in servers]
    return {name: value for name, value in servers[0].config.environment if all((name, value) in row for row in rows)}


def wrapper(servers: Sequence[DesignServer]) -> list[str]:
    """Return the words before a program that give a process the variables of its server; none if all share them."""
    if any(dict(one.config.environment).get(GID_INDEX) == "auto" for one in servers):
        return ["sh", "-c", FOUND_INDEX, "sh"]
    if any(len(shared_environment(servers)) < len(one.config.environment) for one in servers):
        return ["sh", "-c", OWN_ENVIRONMENT, "sh"]
    return []


def job_command(
    design: Design,
    servers: Sequence[str],
    test: str = PROGRAMS["all-reduce"],
    launcher: Launcher = "mpirun",
    measurement: Measurement = Measurement(),
    *,
    hostfile: str = "",
    library_path: str = "",
) -> list[str]:
    """Return the words of a command that runs a program of nccl-tests once; no shell reads them.

    `servers` are names in the order of their ranks, all servers with GPUs if empty; `test` is a program or its path.
    `hostfile` is a file where the command starts, in place of the names. `library_path` is the LD_LIBRARY_PATH that
    processes have already: the directories of `nccl.env` follow it. Raises UsageError for unknown servers or programs.
    """
    check_program(test)
    known = {one.name: one for one in job_servers(design)}
    for name in servers:
        if name not in known:
            hint = did_you_mean(name, known) or f"names are such as {next(iter(known))}"
            raise UsageError(f"the fabric has no server with GPUs that is called {name!r}; {hint}")
    chosen = [known[name] for name in servers or known]
    environment = shared_environment(chosen)
    before = wrapper(chosen)
    if before:
        # UCX would take any GID; the process has the index that was found.
        environment.pop(GID_INDEX, None)
    if library_path and LIBRARIES in environment:
        environment[LIBRARIES] = f"{library_path}:{environment[LIBRARIES]}"
    program = [*before, test, *measurement.words()]
    if launcher == "srun":
        return [*_srun(chosen, environment), *program]
    return [*_mpirun(chosen, environment, hostfile), *program]


def _mpirun(servers: Sequence[DesignServer], environment: dict[str, str], hostfile: str) -> list[str]:
    """Return the words of Open MPI up to the program."""
    where = ["--hostfile", hostfile] if hostfile else ["--host", ",".join(f"{s.name}:{gpus_of(s)}" for s in servers)]
    processes = sum(map(gpus_of, servers))
    variables = [word for name, value in environment.items() for word in ("-x", f"{name}={value}")]
    return [
        *("mpirun", "-np", str(processes), *where, "--map-by", "slot", "--bind-to", "none"),
        *socket_words(environment.get(SOCKET_NAMES, "")),
        *variables,
    ]


def socket_words(chosen: str) -> list[str]:
    """Return the options by which Open MPI uses the interfaces of NCCL_SOCKET_IFNAME for its own sockets."""
    names = chosen.lstrip("^=")
    if not names:
        return []
    # A list of what is left out replaces Open MPI's own, which has the loopback.
    side, names = ("exclude", f"lo,{names}") if chosen.startswith("^") else ("include", names)
    return ["--mca", f"btl_tcp_if_{side}", names, "--mca", f"oob_tcp_if_{side}", names]


def _srun(servers: Sequence[DesignServer], environment: dict[str, str]) -> list[str]:
    """Return the words of Slurm up to the program. Its `--export` splits values at commas; `env` does not."""
    gpus = equal_gpus(servers, "srun")
    return [
        *("env", *(f"{name}={value}" for name, value in environment.items())),
        *("srun", "--mpi=pmix", f"--nodes={len(servers)}", f"--ntasks-per-node={gpus}"),
        *(f"--nodelist={','.join(one.name for one in servers)}", "--export=ALL"),
    ]
