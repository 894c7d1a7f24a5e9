"""Kubernetes: objects with the fields of their kinds, their values from the design, their scripts run."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from ailb_gen.design.model import Design
from ailb_gen.errors import UsageError
from ailb_gen.jobs.command import Benchmark, JobRequest
from ailb_gen.jobs.kubernetes import dns_label, kubernetes_objects
from tests.conftest import SMALL, design_of, example
from tests.jobs.test_command import KINDS
from tests.jobs.test_openmpi import HOSTILE, run_with

# Fields of Kubernetes' API, Multus' NetworkAttachmentDefinition and mpi-operator's MPIJob v2beta1, as far as used.
FIELDS: dict[str, Any] = {
    "ConfigMap": {"data": None},
    "NetworkAttachmentDefinition": {"spec": {"config": None}},
    "MPIJob": {
        "spec": {
            "slotsPerWorker": None,
            "runPolicy": {"cleanPodPolicy": None},
            "mpiReplicaSpecs": {role: {"replicas": None, "template": "POD"} for role in ("Launcher", "Worker")},
        }
    },
    "POD": {
        "metadata": {"annotations": None},
        "spec": {
            "restartPolicy": None,
            "affinity": {"nodeAffinity": None},
            "initContainers": "CONTAINER",
            "containers": "CONTAINER",
            "volumes": {"name": None, "emptyDir": {"medium": None}, "hostPath": {"path": None, "type": None}},
        },
    },
    "CONTAINER": {
        **dict.fromkeys(("name", "image", "command", "args", "envFrom", "env")),
        "resources": {"limits": None},
        "securityContext": {"capabilities": {"add": None}},
        "volumeMounts": dict.fromkeys(("name", "mountPath", "readOnly")),
    },
}


def unknown(found: Any, fields: Any, place: str) -> list[str]:
    """Return the places of fields that a kind does not have."""
    fields = FIELDS[fields] if isinstance(fields, str) else fields
    if fields is None:
        return []
    if isinstance(found, list):
        return [one for number, row in enumerate(found) for one in unknown(row, fields, f"{place}[{number}]")]
    extra = [f"{place}.{key}" for key in found if key not in fields]
    return extra + [one for key in found if key in fields for one in unknown(found[key], fields[key], f"{place}.{key}")]


def objects(design: Design, request: JobRequest) -> dict[tuple[str, str], Any]:
    """Return the objects of an export by kind and name."""
    found = list(yaml.safe_load_all(kubernetes_objects(design, request)))
    by_name = {(one["kind"], one["metadata"]["name"]): one for one in found}
    assert len(by_name) == len(found)
    return by_name


def pods_of(job: Any) -> tuple[Any, Any]:
    """Return the pods of the launcher and of a worker."""
    specs = job["spec"]["mpiReplicaSpecs"]
    return specs["Launcher"]["template"], specs["Worker"]["template"]


@pytest.mark.parametrize("text", [SMALL, SMALL + HOSTILE], ids=["small", "hostile"])
def test_objects_have_the_fields_of_their_kinds(text: str) -> None:
    found = objects(design_of(text), JobRequest(patterns=("*1",)))
    versions = {
        "ConfigMap": "v1",
        "NetworkAttachmentDefinition": "k8s.cni.cncf.io/v1",
        "MPIJob": "kubeflow.org/v2beta1",
    }
    for (kind, name), one in found.items():
        assert one.pop("apiVersion") == versions[kind]
        assert set(one.pop("metadata")) <= {"name", "annotations"}
        del one["kind"]
        assert unknown(one, kind, name) == []
    assert unknown({"spec": {"containers": [{"img": ""}]}}, "POD", "pod") == ["pod.spec.containers[0].img"]


def test_a_rail_has_a_resource_and_a_network(jvd: Design) -> None:
    found = objects(jvd, JobRequest())
    plugin = json.loads(found["ConfigMap", "jvd-device-plugin"]["data"]["config.json"])
    resources = {f"{row['resourcePrefix']}/{row['resourceName']}": row for row in plugin["resourceList"]}
    worker = pods_of(found["MPIJob", "jvd-nccl-tests"])[1]
    networks = json.loads(worker["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"])
    limits = worker["spec"]["containers"][0]["resources"]["limits"]
    nics = jvd.servers[0].config.nics
    assert networks == [{"name": f"rail{nic.rail}", "interface": nic.name} for nic in nics]
    assert limits == {"nvidia.com/gpu": 8} | dict.fromkeys(resources, 1)
    for nic in nics:
        network = found["NetworkAttachmentDefinition", f"rail{nic.rail}"]
        resource = resources[network["metadata"]["annotations"]["k8s.v1.cni.cncf.io/resourceName"]]
        assert resource["selectors"] == {"pfNames": [nic.name], "isRdma": True}
        config = json.loads(network["spec"]["config"])
        assert [plugin["type"] for plugin in config["plugins"]] == ["host-device", "tuning"]
        assert "ipam" not in config["plugins"][0]


def test_a_nic_has_the_settings_of_the_server() -> None:
    design = design_of(SMALL.replace("spines: 2", "spines: 16") + "hosts: {forwarding: on}\n")
    config = design.servers[0].config
    network = objects(design, JobRequest())["NetworkAttachmentDefinition", "rail1"]
    sysctl = json.loads(network["spec"]["config"])["plugins"][1]["sysctl"]
    assert sysctl["net.ipv6.conf.IFNAME.accept_ra"] == "2"
    assert sysctl["net.ipv6.conf.IFNAME.max_addresses"] == str(config.max_addresses)
    assert config.max_addresses


def test_variables_are_those_of_the_servers_but_sockets(jvd: Design) -> None:
    data = objects(jvd, JobRequest())["ConfigMap", "jvd-nccl"]["data"]
    expected = dict(jvd.servers[0].config.environment) | {"NCCL_SOCKET_IFNAME": "eth0"}
    del expected["NCCL_SOCKET_FAMILY"], expected["LD_LIBRARY_PATH"]
    assert data == expected
    hostile = design_of(SMALL + HOSTILE)
    found = objects(hostile, JobRequest())["ConfigMap", "small-nccl"]["data"]
    assert found["NCCL_DEBUG"] == dict(hostile.servers[0].config.environment)["NCCL_DEBUG"]
    assert "UCX_IB_GID_INDEX" not in found


@pytest.mark.parametrize("text", [SMALL, SMALL + HOSTILE], ids=["small", "hostile"])
def test_the_launcher_runs_the_program_on_every_gpu(text: str, tmp_path: Path) -> None:
    request = JobRequest(test="/opt/nccl-tests/alltoall_perf", benchmark=Benchmark("1M", "2M"), repeats=2)
    found = objects(design_of(text), request)
    launcher = pods_of(found["MPIJob", "small-nccl-tests"])[0]["spec"]["containers"][0]
    assert launcher["command"] == ["sh", "-euc"]
    first, second = run_with("mpirun", launcher["args"][0], tmp_path)
    assert first == second
    assert first[:2] == ["-np", "8"]
    passed = [first[number + 1] for number, word in enumerate(first) if word == "-x"]
    assert passed == [*found["ConfigMap", "small-nccl"]["data"], "LD_LIBRARY_PATH"]
    assert " ".join(first).endswith("/opt/nccl-tests/alltoall_perf -b 1M -e 2M -f 2 -g 1 -n 20 -w 5")
    environment = (tmp_path / "environment").read_text().split("\0")
    assert "LD_LIBRARY_PATH=/opt/cuda lib:/usr/local/lib" in environment


def test_kubernetes_changes_no_directory_of_libraries() -> None:
    """It replaces `$(NAME)` and `$$` in arguments."""
    text = SMALL + "nccl: {environment: {LD_LIBRARY_PATH: '/opt/$(HOME)/$$'}}\n"
    job = objects(design_of(text), JobRequest())["MPIJob", "small-nccl-tests"]
    first = pods_of(job)[0]["spec"]["containers"][0]["args"][0].splitlines()[0]
    assert first.replace("$$", "$").endswith("'/opt/$(HOME)/$$'")


def test_files_of_the_server_are_there_where_they_are_read() -> None:
    for text, names in (("", set()), ("nccl: {gid_index: found}\n", {"/usr/local/sbin/ailb-host", "/etc/ailb"})):
        worker = pods_of(objects(design_of(SMALL + text), JobRequest())["MPIJob", "small-nccl-tests"])[1]["spec"]
        paths = {one["name"]: one["hostPath"]["path"] for one in worker["volumes"] if "hostPath" in one}
        mounts = [*worker["containers"][0]["volumeMounts"], *worker["initContainers"][0]["volumeMounts"]]
        read = {one["mountPath"]: paths[one["name"]] for one in mounts if one["name"] in paths}
        assert read == {path: path for path in {"/usr/local/sbin/ailb-net", *names}}
        assert len(read) == len(paths)


@pytest.mark.parametrize(("code", "expected"), [(0, 0), (1, 124)])
def test_a_pod_waits_until_its_routes_are_right(code: int, expected: int, tmp_path: Path) -> None:
    worker = pods_of(objects(design_of(SMALL), JobRequest())["MPIJob", "small-nccl-tests"])[1]["spec"]
    script = worker["initContainers"][0]["args"][0]
    program = tmp_path / "ailb-net"
    program.write_text(
        f'#!/bin/sh\necho "$1" >> {tmp_path}/calls\ntest "$1" = apply || exit {code}\n', encoding="utf-8"
    )
    program.chmod(0o755)
    text = script.replace("/usr/local/sbin/ailb-net", str(program)).replace("timeout 60", "timeout 1")
    done = subprocess.run(["sh", "-euc", text], env={"PATH": os.environ["PATH"]}, timeout=20, check=False)
    assert done.returncode == expected
    assert (tmp_path / "calls").read_text().split()[:2] == ["apply", "verify"]


def test_pods_run_on_the_servers_that_are_chosen(jvd: Design) -> None:
    worker = pods_of(objects(jvd, JobRequest())["MPIJob", "jvd-nccl-tests"])[1]["spec"]
    assert "affinity" not in worker
    job = objects(jvd, JobRequest(patterns=("h100-0[14]",)))["MPIJob", "jvd-nccl-tests"]
    node = pods_of(job)[1]["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    expressions = [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["h100-01", "h100-04"]}]
    assert node == {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
    assert job["spec"]["mpiReplicaSpecs"]["Worker"]["replicas"] == 2


@pytest.mark.parametrize("pattern", ["gpu_{n}", "gpu{n}-", "gpu{n}."])
def test_servers_that_cannot_be_nodes_are_not_chosen_by_name(pattern: str) -> None:
    named = design_of(SMALL.replace("servers: 2", f"servers: {{count: 2, name: '{pattern}'}}"))
    assert objects(named, JobRequest())
    with pytest.raises(UsageError, match=r"--limit picks .* a node of Kubernetes has"):
        kubernetes_objects(named, JobRequest(patterns=("*1*",)))


def test_servers_of_other_kinds_are_no_workers_of_one_job() -> None:
    with pytest.raises(UsageError, match="slim1 and full1 differ in names of NICs, rails or variables; choose"):
        kubernetes_objects(design_of(KINDS), JobRequest())
    assert objects(design_of(KINDS), JobRequest(patterns=("slim*",)))
    with pytest.raises(UsageError, match="b200-01 and h100-01 differ"):
        kubernetes_objects(example("mixed"), JobRequest())


def test_names_of_objects_are_dns_labels() -> None:
    assert dns_label("Pod_7.East-") == "pod-7-east"
    assert dns_label("7-east") == "fabric-7-east"
    assert len(dns_label("a" * 63) + "-device-plugin") <= 63
