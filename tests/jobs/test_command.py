"""Commands of jobs: one process per GPU, every variable of `nccl.env`, and nothing for a shell to read."""

import subprocess
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from ailb_gen.design.model import Design
from ailb_gen.errors import UsageError
from ailb_gen.jobs.command import (
    FOUND_INDEX,
    OWN_ENVIRONMENT,
    Launcher,
    Measurement,
    check_program,
    job_command,
    job_servers,
    sizes_of,
)
from tests.conftest import SMALL, design_of

# Servers with other RDMA devices and fewer GPUs, and storage without any.
KINDS = SMALL.replace(
    "servers: 2",
    "servers: [{count: 1, name: 'full{n}'}, {count: 1, name: 'slim{n}', kind: slim},"
    " {count: 1, name: 'nas{n}', kind: nas}]\n"
    "server_kinds: {slim: {rails: [0], rdma: [bnxt_0]}, nas: {rails: [1], gpus: off}}",
)


def variables_of(command: Sequence[str]) -> dict[str, str]:
    """Return the variables that a command sets: by `-x`, or as arguments of `env`."""
    if command[0] == "env":
        return dict(word.split("=", 1) for word in command[1 : command.index("srun")])
    pairs = [after for word, after in pairwise(command) if word == "-x"]
    return dict(pair.split("=", 1) for pair in pairs)


@pytest.mark.parametrize("launcher", ["mpirun", "srun"])
def test_every_variable_of_the_servers_goes_along(launcher: Launcher) -> None:
    design = design_of(SMALL + "nccl: {environment: {NCCL_DEBUG: 'a b,$c'}, socket_ifname: eno1}\n")
    command = job_command(design, (), launcher=launcher)
    assert variables_of(command) == dict(design.servers[0].config.environment)
    assert command[command.index("all_reduce_perf") + 1 :] == [
        *["-b", "8M", "-e", "8G", "-f", "2", "-g", "1", "-n", "20", "-w", "5"]
    ]


@pytest.mark.parametrize(
    ("chosen", "options"),
    [
        (None, ()),
        ("eno1", ("include", "eno1")),
        ("=eno1,eno2", ("include", "eno1,eno2")),
        ("^docker0", ("exclude", "lo,docker0")),
    ],
)
def test_sockets_of_open_mpi_use_the_interfaces_of_nccl(chosen: str | None, options: tuple[str, ...]) -> None:
    design = design_of(SMALL + (f"nccl: {{socket_ifname: '{chosen}'}}\n" if chosen else ""))
    command = job_command(design, ())
    found = {command[n + 1]: command[n + 2] for n, word in enumerate(command) if word == "--mca"}
    side, names = options or ("", "")
    assert found == ({f"{layer}_tcp_if_{side}": names for layer in ("btl", "oob")} if options else {})


def test_processes_are_one_per_gpu_in_the_order_of_the_servers(jvd: Design) -> None:
    command = job_command(jvd, ["h100-03", "h100-01"])
    assert command[:5] == ["mpirun", "-np", "16", "--host", "h100-03:8,h100-01:8"]
    assert job_command(jvd, (), hostfile="hosts.txt")[:5] == ["mpirun", "-np", "32", "--hostfile", "hosts.txt"]
    slurm = job_command(jvd, ["h100-03", "h100-01"], launcher="srun")
    assert slurm[slurm.index("srun") : slurm.index("all_reduce_perf")] == [
        *("srun", "--mpi=pmix", "--nodes=2", "--ntasks-per-node=8", "--nodelist=h100-03,h100-01", "--export=ALL")
    ]


def test_libraries_of_the_plug_in_follow_those_that_are_there(jvd: Design) -> None:
    assert variables_of(job_command(jvd, ()))["LD_LIBRARY_PATH"] == "/usr/local/lib"
    command = job_command(jvd, (), library_path="/usr/local/cuda/lib64")
    assert variables_of(command)["LD_LIBRARY_PATH"] == "/usr/local/cuda/lib64:/usr/local/lib"


def test_values_that_differ_come_from_the_files_of_the_servers() -> None:
    design = design_of(KINDS)
    command = job_command(design, ())
    assert command[command.index("sh") :][:4] == ["sh", "-c", OWN_ENVIRONMENT, "sh"]
    assert "UCX_NET_DEVICES" not in variables_of(command)
    assert command[2] == "6"
    same = job_command(design, ["slim1", "slim2"])
    assert "sh" not in same
    assert variables_of(same)["UCX_NET_DEVICES"] == "bnxt_0:1"


def test_an_index_that_is_found_is_asked_for_on_every_server() -> None:
    command = job_command(design_of(SMALL + "nccl: {gid_index: found}\n"), ())
    assert command[command.index("sh") :][:4] == ["sh", "-c", FOUND_INDEX, "sh"]
    assert "UCX_IB_GID_INDEX" not in variables_of(command)


@pytest.mark.parametrize("before", [OWN_ENVIRONMENT, FOUND_INDEX])
def test_a_process_becomes_the_program_with_the_variables_of_its_server(before: str, tmp_path: Path) -> None:
    file = tmp_path / "nccl.env"
    file.write_text("UCX_IB_GID_INDEX=7\nUCX_NET_DEVICES='a b'\n", encoding="utf-8")
    found = tmp_path / "ailb-host"
    found.write_text(f"#!/bin/sh\ntest \"$*\" = 'gids --env' && sed 's/^/export /' {file}\n", encoding="utf-8")
    found.chmod(0o755)
    text = before.replace("/etc/ailb/nccl.env", str(file)).replace("/usr/local/sbin/ailb-host", str(found))
    program = ["sh", "-c", 'printf "%s|" "$UCX_IB_GID_INDEX" "$UCX_NET_DEVICES" "$@"', "program", "-b", "8 M"]
    done = subprocess.run(["sh", "-c", text, "sh", *program], capture_output=True, text=True, check=True)
    assert done.stdout == "7|a b|-b|8 M|"


def test_a_process_does_not_start_without_an_index(tmp_path: Path) -> None:
    text = FOUND_INDEX.replace("/usr/local/sbin/ailb-host", "false")
    done = subprocess.run(["sh", "-c", text, "sh", "touch", tmp_path / "started"], check=False)
    assert done.returncode != 0
    assert not (tmp_path / "started").exists()


def test_srun_starts_the_same_number_on_all_servers() -> None:
    design = design_of(KINDS)
    with pytest.raises(UsageError, match="full1 has 2 GPUs, slim1 has 1; choose by --servers"):
        job_command(design, (), launcher="srun")
    assert "--ntasks-per-node=1" in job_command(design, ["slim1", "slim2"], launcher="srun")


def test_servers_without_gpus_run_no_job() -> None:
    design = design_of(KINDS)
    assert [one.name for one in job_servers(design)] == ["full1", "slim1", "full2", "slim2"]
    assert [one.name for one in job_servers(design, ["*2", "!nas2"])] == ["full2", "slim2"]
    with pytest.raises(UsageError, match="none of these servers has GPUs"):
        job_servers(design, ["nas*"])
    with pytest.raises(UsageError, match="--servers 'full9': no device is called that; did you mean 'full2'"):
        job_servers(design, ["full9"])
    with pytest.raises(UsageError, match="no server with GPUs that is called 'nas1'"):
        job_command(design, ["nas1"])


@pytest.mark.parametrize("test", ["alltoall_perf", "/opt/nccl-tests/build/all_reduce_perf_mpi", "./sendrecv_perf"])
def test_programs_of_nccl_tests_are_taken_with_their_paths(test: str, jvd: Design) -> None:
    assert test in job_command(jvd, (), test)


@pytest.mark.parametrize("test", ["", "all_reduce", "rm", "-x", "-d/all_reduce_perf", "a b/all_reduce_perf", "$(x)"])
def test_other_programs_are_refused(test: str) -> None:
    with pytest.raises(UsageError, match="is not a program of nccl-tests"):
        check_program(test)


def test_sizes_are_those_of_nccl_tests(jvd: Design) -> None:
    assert sizes_of("8M-8G") == ("8M", "8G")
    assert sizes_of("1024K-1M") == ("1024K", "1M")
    assert sizes_of("512") == ("512", "512")
    command = job_command(jvd, (), measurement=Measurement("1M", "2M", 5, 0))
    assert " ".join(command[-12:]) == "-b 1M -e 2M -f 2 -g 1 -n 5 -w 0"


@pytest.mark.parametrize("text", ["", "8M-", "-8M", "8m", "0", "8M-8G-9G", "1.5G", "8M 8G", "٣M"])
def test_other_sizes_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="write SMALLEST-LARGEST"):
        sizes_of(text)


def test_sizes_go_up() -> None:
    with pytest.raises(UsageError, match="the first size is larger than the last; write 1K-2M"):
        sizes_of("2M-1K")
