"""The part of a server's files that is about one fabric is what that fabric alone generates, and is checked alike."""

from dataclasses import replace
from pathlib import Path

import pytest

from ailb_gen import CheckReport, generate, validate
from ailb_gen.api.cluster import validate_cluster
from ailb_gen.checks.cluster_parts import cluster_parts
from ailb_gen.checks.expected_hosts import expected_hosts
from ailb_gen.hosts.model import ServerProfile
from ailb_gen.hosts.read import read_hosts
from ailb_gen.intent.cluster import load_cluster
from tests.checks.clusters import added, generated

KINDS = """\
server_kinds: {storage: {rails: [1], gpus: off, nic: "ens{i}np0"}}
overrides:
  servers:
    gpu-s1-1: {mtu: 4200, nics: {0: {name: own-nic%s, mac: "02:00:00:00:00:0%s"}}}
nccl: {environment: {NCCL_IB_HCA: "=%s"}}
servers:
  - {count: 2, name: "gpu-s{s}-{i}"}
  - {count: 1, name: "store-{n}", kind: storage}
"""
WHOLE = 'nccl: {environment: {NCCL_IB_HCA: "=mlx5_0,mlx5_1,mlx5_2,mlx5_3"}}'
SERVERS = 'servers: {count: 2, name: "gpu-s{s}-{i}"}\n'


def of_kinds(name: str, number: int, devices: str) -> dict[str, tuple[str, str]]:
    """Return the edits that give a plane servers of two kinds, and one of its own."""
    return {name: (SERVERS, KINDS % (number, number, devices))}


VARIANTS = {
    "example": {},
    "kinds": of_kinds("plane-a.yaml", 1, "mlx5_0,mlx5_1") | of_kinds("plane-b.yaml", 2, "mlx5_2,mlx5_3"),
    "RoCE off": added("plane-a.yaml", "roce: {enabled: off}") | added("plane-b.yaml", "roce: {enabled: off}"),
    "NCCL lists of all devices": added("plane-a.yaml", WHOLE) | added("plane-b.yaml", WHOLE),
    "not all servers": {"plane-b.yaml": ("count: 2", "count: 1")},
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", VARIANTS)
def test_a_part_is_what_the_fabric_alone_generates(name: str, tmp_path: Path) -> None:
    file, tree = generated(tmp_path, VARIANTS[name])
    cluster = load_cluster(file)
    expected = {intent.fabric.name: expected_hosts(intent.fabric) for intent in cluster.intents}
    parts = cluster_parts(*read_hosts(tree), expected)
    assert {name for part in parts.values() for name in part.hosts} == set(read_hosts(tree)[0])
    for fabric in expected:
        generate(file.parent / f"{fabric}.yaml", tmp_path / fabric)
        alone = read_hosts(tmp_path / fabric)[0]
        assert set(alone) == set(parts[fabric].hosts)
        for server, host in parts[fabric].hosts.items():
            assert _without_folder(host.profile) == _without_folder(alone[server].profile), (fabric, server)
    report = validate_cluster(file, tree, executor="serial", html=False)
    assert report.passed, [finding.message for finding in report.findings]
    assert not report.findings


def _without_folder(profile: ServerProfile) -> ServerProfile:
    return replace(profile, folder="")


# File, text, replacement: in a server's files, about plane B.
DAMAGES = (
    ("etc/netplan/60-ailb-gpu.yaml", "table: 10005", "table: 10015"),
    ("etc/netplan/60-ailb-gpu.yaml", "priority: 10006", "priority: 10116"),
    ("etc/netplan/60-ailb-gpu.yaml", 'via: "fc0b:1:1:1::1"', 'via: "fc0b:1:1:1::2"'),
    ("etc/netplan/60-ailb-gpu.yaml", "gpu2_eth:", "gpu9_eth:"),
    ("etc/iproute2/rt_tables.d/jnpr_nccl_net.conf", "gpu3_subnet1", "gpu3_subnet7"),
    ("etc/iproute2/rt_tables.d/jnpr_nccl_net.conf", "10007 ", "10017 "),
    ("etc/sysctl.d/99-accept-ra.conf", "gpu2_eth.accept_ra = 1", "gpu2_eth.accept_ra = 0"),
    ("etc/ailb/nccl.env", "mlx5_3:1", "mlx5_9:1"),
    ("etc/ailb/nccl.env", "PER_CONNECTION=2", "PER_CONNECTION=3"),
    ("etc/ailb/host.json", '"rail": 3', '"rail": 4'),
    ("etc/systemd/system/ailb-net.service", "Wants=sys-subsystem-net-devices-gpu3_eth.device\n", ""),
    ("usr/local/sbin/ailb-qos", "gpu2_eth mlx5_2", "gpu2_eth mlx5_8"),
    ("usr/local/sbin/ailb-net", "gpu3_eth 10006", "gpu3_eth 10008"),
)


def _checks(file: Path, tree: Path) -> set[tuple[str, str]]:
    check = validate_cluster if file.name == "cluster.yaml" else validate
    report: CheckReport = check(file, tree, executor="serial", html=False, checks=("hosts", "roce"))
    return {(finding.check, finding.message) for finding in report.findings}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("path", "old", "new"), DAMAGES)
def test_damages_are_found_as_in_the_fabric_alone(path: str, old: str, new: str, tmp_path: Path) -> None:
    file, tree = generated(tmp_path)
    alone = tmp_path / "plane-b"
    generate(file.parent / "plane-b.yaml", alone)
    for root, profile in ((alone, "stripe1"), (tree, "plane-a+stripe1+plane-b+stripe1")):
        damaged = root / "profiles" / profile / path
        text = damaged.read_text()
        assert old in text
        damaged.write_text(text.replace(old, new))
    found = _checks(file.parent / "plane-b.yaml", alone)
    assert found
    assert found <= _checks(file, tree)


def test_a_server_with_the_files_of_others_is_found(tmp_path: Path) -> None:
    file, tree = generated(tmp_path)
    link = tree / "servers" / "gpu-s1-1"
    link.unlink()
    link.symlink_to("../profiles/plane-a+stripe2+plane-b+stripe2")
    assert _checks(file, tree)
    link.unlink()
    link.symlink_to("/nowhere")
    (tree / "servers" / "stray").symlink_to("../profiles/plane-a+stripe2+plane-b+stripe2")
    report = validate_cluster(file, tree, executor="serial", html=False, checks=("files", "hosts"))
    assert {"gpu-s1-1", "stray"} <= {finding.device.rpartition("/")[2] for finding in report.findings}
