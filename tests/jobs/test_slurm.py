"""Slurm: the batch script run with a srun that prints its words, the topology read back."""

import os
import re
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.design.model import Design
from ailb_gen.errors import UsageError
from ailb_gen.jobs.command import JobRequest, job_command, job_servers
from ailb_gen.jobs.slurm import batch_script, block_conf, hostlist, topology_conf, topology_yaml
from ailb_gen.sim.scenario.placement import expand_hostlist
from tests.conftest import SMALL, design_of, example, need_tool
from tests.jobs import newer_slurm
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


# What topology.yaml(5) of Slurm 25.05 says about the two kinds of topologies that are written.
TEXT = {"type": "string", "minLength": 1}
SWITCH = {
    "type": "object",
    "properties": {"switch": {**TEXT, "maxLength": 64}, "children": TEXT, "nodes": TEXT},
    "required": ["switch"],
    "minProperties": 2,
    "maxProperties": 2,
    "additionalProperties": False,
}
BLOCK = {
    "type": "object",
    "properties": {"block": TEXT, "nodes": TEXT},
    "required": ["block", "nodes"],
    "additionalProperties": False,
}
TREE_OF = {"type": "object", "properties": {"switches": {"type": "array", "items": SWITCH}}, "required": ["switches"]}
BLOCKS_OF = {
    "type": "object",
    "properties": {
        "block_sizes": {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 1},
        "blocks": {"type": "array", "items": BLOCK, "minItems": 1},
    },
    "required": ["block_sizes", "blocks"],
    "additionalProperties": False,
}
SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"topology": TEXT, "cluster_default": {"type": "boolean"}, "tree": TREE_OF, "block": BLOCKS_OF},
        "required": ["topology"],
        "oneOf": [{"required": ["tree"]}, {"required": ["block"]}],
        "additionalProperties": False,
    },
}
CONTROLLER = """\
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/pgid
MpiDefault=none
TopologyPlugin=topology/tree
SelectType=select/cons_tres
StateSaveLocation={folder}
SlurmctldPidFile={folder}/pid
SlurmctldLogFile={folder}/log
NodeName={nodes} NodeAddr=127.0.0.1
PartitionName=all Nodes=ALL Default=YES
"""


@pytest.mark.parametrize("name", ["lab", "jvd", "mixed", "frontier"])
def test_topology_yaml_is_as_its_manual_says(name: str) -> None:
    design = example(name)
    tree, block = yaml.safe_load(topology_yaml(design, JobRequest()))
    jsonschema.validate([tree, block], SCHEMA)
    assert (tree["cluster_default"], block["cluster_default"]) == (True, False)
    expected = {one.name for one in job_servers(design)}
    for rows in (tree["tree"]["switches"], block["block"]["blocks"]):
        names = [node for row in rows if "nodes" in row for node in expand_hostlist(row["nodes"])]
        assert len(names) == len(expected)
        assert set(names) == expected
    sizes = [len(expand_hostlist(row["nodes"])) for row in block["block"]["blocks"]]
    assert block["block"]["block_sizes"] == [min(sizes)]


def test_a_name_like_a_number_is_text_in_every_yaml() -> None:
    text = topology_yaml(design_of(SMALL.replace("servers: 2", "servers: [{name: '1e5', stripe: 1}]")), JobRequest())
    # YAML 1.2 reads it as a number without quotes.
    assert text.count('nodes: "1e5"') == 2


def test_blocks_are_the_stripes() -> None:
    assert block_conf(example("lab"), JobRequest()).splitlines()[1:] == [
        "BlockName=stripe1 Nodes=gpu-s1-[1-2]",
        "BlockName=stripe2 Nodes=gpu-s2-[1-2]",
        "BlockSizes=2",
    ]


@pytest.mark.parametrize("name", ["lab", "jvd"])
def test_slurm_reads_the_tree(name: str, tmp_path: Path) -> None:
    """The controller itself reads `topology.conf`, and says which servers are below which switch."""
    design = example(name)
    (tmp_path / "topology.conf").write_text(topology_conf(design, JobRequest()))
    environment = {**os.environ, "SLURM_CONF": str(tmp_path / "slurm.conf")}
    programs = need_tool("slurmctld"), need_tool("scontrol")
    with _controller(design, tmp_path, programs, environment) as shown:
        assert shown("SwitchName") == _stripes(design) | {"spines": {one.name for one in job_servers(design)}}


@pytest.mark.long
@pytest.mark.parametrize("name", ["lab", "jvd", "frontier"])
@pytest.mark.parametrize("file", ["topology.yaml", "topology.conf"])
def test_the_newest_slurm_reads_tree_and_blocks(name: str, file: str, tmp_path: Path) -> None:
    """Slurm 25.05 and newer reads `topology.yaml`, 23.11 and newer the blocks of `topology.conf`."""
    design, place = example(name), newer_slurm.newer_slurm()
    text = topology_yaml(design, JobRequest()) if file == "topology.yaml" else block_conf(design, JobRequest())
    (tmp_path / file).write_text(text)
    environment = newer_slurm.environment(place, tmp_path / "slurm.conf")
    programs = str(place / "slurmctld"), str(place / "scontrol")
    more = f"PluginDir={newer_slurm.plugins(place)}\n"
    if file == "topology.conf":
        more += "TopologyPlugin=topology/block\n"
    with _controller(design, tmp_path, programs, environment, more) as shown:
        if file == "topology.yaml":
            assert shown("SwitchName") == _stripes(design) | {"spines": {one.name for one in job_servers(design)}}
        assert shown("BlockName", *["block"] * (file == "topology.yaml")) == _stripes(design)


def _stripes(design: Design) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for server in job_servers(design):
        found.setdefault(f"stripe{server.stripe}", set()).add(server.name)
    return found


@contextmanager
def _controller(
    design: Design, folder: Path, programs: tuple[str, str], environment: dict[str, str], more: str = ""
) -> Iterator[Callable[..., dict[str, set[str]]]]:
    """Run a controller; yield a function that returns the servers below each switch or block as it has them."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    nodes = hostlist([one.name for one in job_servers(design)])
    user = os.environ.get("USER", "root")
    conf = CONTROLLER.format(port=port, folder=folder, nodes=nodes, user=user)
    if "TopologyPlugin" in more:
        conf = conf.replace("TopologyPlugin=topology/tree\n", "")
    (folder / "slurm.conf").write_text(conf + more)

    def shown(key: str, *words: str) -> dict[str, set[str]]:
        command, end = [programs[1], "show", "topology", *words], time.monotonic() + 60
        while True:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
            if rows := re.findall(rf"^{key}=(\S+) .*Nodes=(\S+)", done.stdout, re.M):
                return {name: set(expand_hostlist(nodes)) for name, nodes in rows}
            assert time.monotonic() < end, done.stdout + done.stderr + (folder / "log").read_text()
            time.sleep(0.1)

    words, quiet = [programs[0], "-D", "-c", "-f", str(folder / "slurm.conf")], subprocess.DEVNULL
    with subprocess.Popen(words, env=environment, stdout=quiet, stderr=quiet) as controller:
        try:
            yield shown
        finally:
            controller.terminate()
            controller.wait(60)
