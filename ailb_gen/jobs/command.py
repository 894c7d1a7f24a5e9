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
# What a process runs first: the variables of its own server; the index that its NICs have now.
OWN_ENVIRONMENT = "set -a; . /etc/ailb/nccl.env; set +a; "
FOUND_INDEX = f'found=$(/usr/local/sbin/ailb-host gids --env | grep "^export {GID_INDEX}=") || exit; eval "$found"; '

_PROGRAM = re.compile(r"[A-Za-z0-9_./+-]+", re.ASCII)
_SIZE = re.compile(r"([1-9][0-9]{0,11})([KMG]?)", re.ASCII)
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Sizes and repetitions of nccl-tests: sizes as it reads them (K, M, G: powers of 1024), each twice the last."""

    smallest: str = "8M"
    largest: str = "8G"
    iterations: int = 20
    warmup: int = 5

    def words(self) -> list[str]:
        """Return the arguments of the program."""
        sizes = ["-b", self.smallest, "-e", self.largest, "-f", "2", "-g", "1"]
        return [*sizes, "-n", str(self.iterations), "-w", str(self.warmup)]


@dataclass(frozen=True, slots=True)
class JobRequest:
    """A job to export: the servers that `patterns` pick, a program of nccl-tests, how often it runs, and an image.

    The runs are three by default, as in the published comparison of load balancers. Raises UsageError for a program
    that nccl-tests lacks, and for an image whose name has blanks.
    """

    patterns: tuple[str, ...] = ()
    test: str = PROGRAMS["all-reduce"]
    benchmark: Benchmark = Benchmark()
    repeats: int = 3
    image: str = "nccl-tests"

    def __post_init__(self) -> None:
        check_program(self.test)
        if re.fullmatch(r"[!-~]+", self.image) is None:
            raise UsageError(f"--image {self.image[:80]!r} is no name of an image; write one such as nccl-tests:1.0")


def sizes_of(text: str) -> tuple[str, str]:
    """Read `FROM-TO`, or one size, such as `8M-8G`. Raises UsageError."""
    first, _, last = text.partition("-")
    found = [_SIZE.fullmatch(one) for one in (first, last or first)]
    counts = [int(one[1]) * _UNITS[one[2]] for one in found if one is not None]
    if len(counts) != 2 or text.endswith("-"):
        raise UsageError(f"--sizes {text!r}: write FROM-TO as nccl-tests reads them, such as 8M-8G")
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
    picked = pick_devices({one.name: "server" for one in design.servers}, patterns, "--limit")
    chosen = tuple(one for one in design.servers if one.config.environment and (picked is None or one.name in picked))
    if not chosen:
        which = "the fabric has no server with GPUs" if picked is None else "none of these servers has GPUs"
        raise UsageError(f"--limit: {which}" if picked is not None else which)
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
        raise UsageError(f"{who} starts the same number of processes on all servers, and {reason}; choose by --limit")
    return next(iter(numbers))


def shared_environment(servers: Sequence[DesignServer]) -> dict[str, str]:
    """Return the variables that have the same value on all servers."""
    rows = [set(row) for row in {one.config.environment for one in servers}]
    return {name: value for name, value in servers[0].config.environment if all((name, value) in row for row in rows)}


def job_environment(servers: Sequence[DesignServer]) -> dict[str, str]:
    """Return the variables that a command sets: those that all servers share, without an index that is found."""
    found = any(index_is_found(one) for one in servers)
    return {name: value for name, value in shared_environment(servers).items() if not (found and name == GID_INDEX)}


def wrapper(servers: Sequence[DesignServer]) -> list[str]:
    """Return the words before a program that give a process the variables of its server; none if all share them."""
    own = len({one.config.environment for one in servers}) > 1
    found = any(index_is_found(one) for one in servers)
    first = OWN_ENVIRONMENT * own + FOUND_INDEX * found
    return ["sh", "-c", f'{first}exec "$@"', "sh"] if first else []


def index_is_found(server: DesignServer) -> bool:
    """Return whether the GID index of a server is found when a job starts."""
    return dict(server.config.environment).get(GID_INDEX) == "auto"


def job_command(
    design: Design,
    servers: Sequence[str],
    test: str = PROGRAMS["all-reduce"],
    launcher: Launcher = "mpirun",
    benchmark: Benchmark = Benchmark(),
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
    environment = job_environment(chosen)
    if library_path and LIBRARIES in environment:
        environment[LIBRARIES] = f"{library_path}:{environment[LIBRARIES]}"
    program = [*wrapper(chosen), test, *benchmark.words()]
    names = [one.name for one in chosen]
    if launcher == "srun":
        # Its own --export splits values at commas.
        variables = [f"{name}={value}" for name, value in (environment | socket_variables(environment)).items()]
        return ["env", *variables, *srun_words(chosen), f"--nodelist={','.join(names)}", *program]
    slots = ",".join(f"{one.name}:{gpus_of(one)}" for one in chosen)
    where = ["--hostfile", hostfile] if hostfile else ["--host", slots]
    variables = [word for name, value in environment.items() for word in ("-x", f"{name}={value}")]
    return [*mpirun_words(chosen), *where, *socket_words(environment), *variables, *program]


def mpirun_words(servers: Sequence[DesignServer]) -> list[str]:
    """Return the first words of Open MPI's command: it fills the servers in their order."""
    return ["mpirun", "-np", str(sum(map(gpus_of, servers))), "--map-by", "slot", "--bind-to", "none"]


def srun_words(servers: Sequence[DesignServer]) -> list[str]:
    """Return the first words of Slurm's command. Raises UsageError where servers have different numbers of GPUs."""
    gpus = equal_gpus(servers, "srun")
    return ["srun", "--mpi=pmix", f"--nodes={len(servers)}", f"--ntasks-per-node={gpus}", "--export=ALL"]


def socket_choice(environment: dict[str, str]) -> tuple[str, str]:
    """Return how Open MPI names the interfaces of NCCL_SOCKET_IFNAME: `include` or `exclude`, and the names."""
    chosen = environment.get(SOCKET_NAMES, "")
    names = chosen.lstrip("^=")
    # A list of what is left out replaces Open MPI's own, which has the loopback.
    return ("exclude", f"lo,{names}") if chosen.startswith("^") else ("include", names)


def socket_words(environment: dict[str, str]) -> list[str]:
    """Return the options with which mpirun and its processes use the interfaces of NCCL's sockets."""
    side, names = socket_choice(environment)
    return [word for layer in ("btl", "oob") if names for word in ("--mca", f"{layer}_tcp_if_{side}", names)]


def socket_variables(environment: dict[str, str]) -> dict[str, str]:
    """Return the variables with which processes that srun starts use the interfaces of NCCL's sockets."""
    side, names = socket_choice(environment)
    return {f"OMPI_MCA_btl_tcp_if_{side}": names} if names else {}
