"""Open MPI: the hostfile read back, and the script run with a mpirun that prints its words."""

import os
import subprocess
from pathlib import Path

import pytest

from ailb_gen.design.model import Design
from ailb_gen.errors import UsageError
from ailb_gen.jobs.command import Benchmark, JobRequest, job_command
from ailb_gen.jobs.openmpi import hostfile, mpirun_script
from tests.conftest import SMALL, design_of, example
from tests.jobs.test_command import KINDS

# A value that a shell would change in every way that it knows.
HOSTILE = (
    """nccl: {environment: {NCCL_DEBUG: "a 'b' $c `d` \\\\ \\"e\\" *"}, socket_ifname: eno1, gid_index: found}\n"""
)
# Prints its words, and keeps its environment beside itself.
FAKE = r"""#!/bin/sh
printf '%s\0' "$0" "$@"
printf '\n\0'
env -0 > "${0%/*}/environment"
"""


def run_with(program: str, script: str, tmp_path: Path, *arguments: str) -> list[list[str]]:
    """Run a script with a program of this name that prints its words; return them run by run.

    The environment of the last run is in the file `environment`.
    """
    fake = tmp_path / program
    fake.write_text(FAKE, encoding="utf-8")
    fake.chmod(0o755)
    file = tmp_path / "script.sh"
    file.write_text(script, encoding="utf-8")
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "LD_LIBRARY_PATH": "/opt/cuda lib"}
    done = subprocess.run(
        ["sh", file, *arguments], env=environment, capture_output=True, text=True, check=True, timeout=20
    )
    runs = done.stdout.split("\n\0")
    assert runs.pop() == ""
    return [run.partition(f"{fake}\0")[2].rstrip("\0").split("\0") for run in runs]


def test_a_hostfile_has_the_servers_in_order_with_a_slot_per_gpu() -> None:
    design = example("mixed")
    rows = [line.split(" slots=") for line in hostfile(design, JobRequest()).splitlines()[1:]]
    expected = [[one.name, str(len(one.config.nics))] for one in design.servers if one.config.environment]
    assert rows == expected
    assert len(rows) < len(design.servers)
    some = hostfile(design, JobRequest(patterns=("h100-0[24]",)))
    assert some.splitlines()[1:] == ["h100-02 slots=4", "h100-04 slots=4"]


@pytest.mark.parametrize("text", [SMALL, SMALL + HOSTILE, KINDS], ids=["small", "hostile", "kinds"])
def test_the_script_runs_the_command_of_the_job(text: str, tmp_path: Path) -> None:
    design = design_of(text)
    request = JobRequest(test="/opt/nccl-tests/alltoall_perf", benchmark=Benchmark("1M", "2M"), repeats=2)
    runs = run_with("mpirun", mpirun_script(design, request), tmp_path, "my hosts")
    command = job_command(
        design, (), request.test, benchmark=request.benchmark, hostfile="my hosts", library_path="/opt/cuda lib"
    )
    assert runs == [command[1:], command[1:]]


def test_the_hostfile_is_in_the_working_directory_unless_it_is_named(jvd: Design, tmp_path: Path) -> None:
    words = run_with("mpirun", mpirun_script(jvd, JobRequest(repeats=1)), tmp_path)[0]
    assert words[words.index("--hostfile") + 1] == "hostfile"


def test_a_script_ends_with_the_first_run_that_fails(jvd: Design, tmp_path: Path) -> None:
    (tmp_path / "mpirun").write_text("#!/bin/sh\nexit 7\n", encoding="utf-8")
    (tmp_path / "mpirun").chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    script = mpirun_script(jvd, JobRequest())
    done = subprocess.run(["sh", "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (7, "# run 1\n")


@pytest.mark.parametrize("image", ["", "a b", "x\ny", "ü"])
def test_images_have_names_without_blanks(image: str) -> None:
    with pytest.raises(UsageError, match="is no name of an image"):
        JobRequest(image=image)


def test_a_request_names_a_program_of_nccl_tests() -> None:
    with pytest.raises(UsageError, match="'ls' is not a program of nccl-tests"):
        JobRequest(test="ls")
