"""Slurm: the batch script run with a srun that prints its words, the topology read back."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.design.model import Design
from ailb_gen.errors import UsageError
from ailb_gen.jobs.command import JobRequest, job_command, job_servers
from ailb_gen.jobs.slurm import batch_script, hostlist, topology_conf
from ailb_gen.sim.scenario.placement import expand_hostlist
from tests.conftest import SMALL, design_of, example
from tests.jobs.test_command import KINDS, variables_of
from tests.jobs.test_openmpi import HOSTILE, run_with

NAMES = st.from_regex(r"(?a:(?:gpu|a1-|r0-g)[0-9]{0,3}[a-z]?)", fullmatch=True)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["gpu01", "gpu02", "gpu04"], "gpu[01-02,04]"),
        (["gpu9", "gpu10", "gpu11"], "gpu[9-11]"),
        (["gpu09", "gpu010"], "gpu[09,010]"),
        (["gpu2", "gpu1"], "gpu[2,1]"),
        (["login", "gpu1", "gpu1b"], "login,gpu1,gpu1b"),
        (["a1-1", "a2-2"], "a1-1,a2-2"),
        (["n1234567890123", "n1234567890124"], "n1234567890123,n1234567890124"),
        ([], ""),
    ],
)
def test_names_are_listed_as_slurm_has_them(names: list[str], expected: str) -> None:
    assert hostlist(names) == expected


@given(st.lists(NAMES, min_size=1, max_size=30))
def test_a_list_expands_to_its_names_in_their_order(names: list[str]) -> None:
    assert expand_hostlist(hostlist(names)) == names


def directives(script: str) -> dict[str, str]:
    """Return the options of sbatch in a script; one without a value is empty."""
    rows = [row.partition("=") for row in re.findall(r"^#SBATCH --(\S+)", script, re.M)]
    return {name: value for name, _, value in rows}


@pytest.mark.parametrize("text", [SMALL, SMALL + HOSTILE], ids=["small", "hostile"])
def test_the_script_runs_the_command_of_the_job(text: str, tmp_path: Path) -> None:
    design = design_of(text)
    script = batch_script(design, JobRequest(repeats=2))
    command = job_command(design, (), launcher="srun", library_path="/opt/cuda lib")
    # Slurm has chosen the servers before the script starts.
    words = [word for word in command[command.index("srun") + 1 :] if not word.startswith("--nodelist")]
    assert run_with("srun", script, tmp_path) == [words, words]
    found = dict(pair.split("=", 1) for pair in (tmp_path / "environment").read_text().split("\0")[:-1])
    assert {name: found.get(name) for name in variables_of(command)} == variables_of(command)


def test_directives_are_those_of_the_servers(jvd: Design) -> None:
    assert directives(batch_script(jvd, JobRequest())) == {
        "job-name": "nccl-tests", "nodes": "4", "ntasks-per-node": "8", "gpus-per-node": "8", "exclusive": ""
    }  # fmt: skip
    some = directives(batch_script(jvd, JobRequest(patterns=("h100-0[13]",))))
    assert (some["nodes"], some["nodelist"]) == ("2", "h100-[01,03]")


def test_servers_of_a_batch_script_have_the_same_number_of_gpus() -> None:
    with pytest.raises(UsageError, match="full1 has 2 GPUs, slim1 has 1"):
        batch_script(design_of(KINDS), JobRequest())


@pytest.mark.parametrize("name", ["jvd", "mixed", "frontier"])
def test_the_topology_has_every_server_below_its_stripe(name: str) -> None:
    design = example(name)
    rows = [
        dict(word.split("=") for word in line.split())
        for line in topology_conf(design, JobRequest()).splitlines()
        if not line.startswith("#")
    ]
    nodes = {row["SwitchName"]: expand_hostlist(row["Nodes"]) for row in rows if "Nodes" in row}
    expected: dict[str, list[str]] = {}
    for server in job_servers(design):
        expected.setdefault(f"stripe{server.stripe}", []).append(server.name)
    assert nodes == expected
    above = [(row["SwitchName"], expand_hostlist(row["Switches"])) for row in rows if "Switches" in row]
    assert above == ([("spines", list(nodes))] if len(nodes) > 1 else [])


def test_one_stripe_has_nothing_above_it(jvd: Design) -> None:
    text = topology_conf(jvd, JobRequest(patterns=("h100-0[34]",)))
    assert text.splitlines()[1:] == ["# stripe2-leaf[1-8]", "SwitchName=stripe2 Nodes=h100-[03-04]"]
