"""What two fabrics of a cluster must not share: errors with file, line and key of the second one."""

from pathlib import Path

import pytest

from ailb_gen.api.cluster import generate_cluster
from ailb_gen.errors import IntentError, UsageError
from ailb_gen.intent.cluster import load_cluster
from tests.checks.clusters import added, cluster_file, generated

A, B = "plane-a.yaml", "plane-b.yaml"
MAC = 'overrides: {servers: {gpu-s1-1: {nics: {0: {mac: "02:00:00:00:00:01"}}}}}'
# By the edits: code, key, and a part of the message.
CONFLICTS = (
    ({B: ('leaf: "b-', 'leaf: "a-')}, "duplicate-name", "names.leaf", "the device name a-stripe1-leaf1"),
    ({B: ("fc0b::", "fc0a::")}, "overlapping-pools", "addressing.pool", "prefix fc0a:1:1:1::/64 of b-stripe1-leaf1"),
    ({B: ("10.2.16.0", "10.1.16.0")}, "duplicate-router-id", "router_ids.leaves", "router-id 10.1.16.1"),
    ({B: ("first_nic: 2", "first_nic: 1")}, "duplicate-name", "hosts.first_nic", "the NIC name gpu1_eth"),
    (
        {B: ("first_nic: 2", "first_nic: 2, rdma: [mlx5_0, x]")},
        "duplicate-name",
        "hosts.rdma",
        "the RDMA device mlx5_0",
    ),
    (added(B, "tables: {first: 9996}"), "conflict", "tables.first", "on gpu-s1-1 table 10000"),
    (added(B, "tables: {priority: 9996}"), "conflict", "tables.priority", "rule priority 10000"),
    (added(A, MAC) | added(B, MAC), "duplicate-mac", "servers", "MAC address 02:00:00:00:00:01"),
    (
        added(A, "management: {leaves: 192.0.2.1/24}") | added(B, "management: {spines: 192.0.2.4/24}"),
        "duplicate-address",
        "management.spines",
        "management address 192.0.2.4 of b-spine1",
    ),
    (
        added(A, "management: {servers: 192.0.2.1/24}") | added(B, "management: {leaves: 192.0.2.1/24}"),
        "duplicate-address",
        "management.leaves",
        "already that of gpu-s1-1",
    ),
    (
        added(A, 'loopbacks: {leaves: "fd00:9:1::/64", spines: "fd00:9::/64"}')
        | added(B, 'loopbacks: {leaves: "fd00:9:1::/64", spines: "fd00:8::/64"}'),
        "duplicate-address",
        "loopbacks.leaves",
        "loopback",
    ),
    (added(B, "roce: {dscp: 24}"), "conflict", "roce", "class of service for RoCE"),
    ({B: ("first_nic: 2", "first_nic: 2, forwarding: on")}, "conflict", "hosts.forwarding", "forwarding of packets"),
    (added(B, "nccl: {socket_ifname: eno1}"), "conflict", "nccl", "NCCL_SOCKET_IFNAME of server gpu-s1-1"),
    (
        {A: ('spine: "a-spine{k}"', 'spine: "store-{k}"')} | {B: ('name: "gpu-s{s}-{i}"', 'name: "store-{n}"')},
        "duplicate-name",
        "servers",
        "the name of a switch in fabric plane-a",
    ),
    (
        {B: ('name: "gpu-s{s}-{i}"', 'name: "GPU-s{s}-{i}"')},
        "duplicate-name",
        "servers",
        "server GPU-s1-1 has the name of server gpu-s1-1 in fabric plane-a in other letters",
    ),
    (
        added(A, "management: {servers: 192.0.2.1/24}") | added(B, "management: {servers: 192.0.2.65/24}"),
        "conflict",
        "management.servers",
        "server gpu-s1-1 has the management address 192.0.2.1/24 in fabric plane-a",
    ),
)


@pytest.mark.parametrize(("edits", "code", "path", "text"), CONFLICTS)
def test_conflicts_are_told_with_their_place(
    edits: dict[str, tuple[str, str]], code: str, path: str, text: str, tmp_path: Path
) -> None:
    with pytest.raises(IntentError) as error:
        generated(tmp_path, edits)
    found = [one for one in error.value.problems if (one.code, one.path) == (code, path) and text in one.reason]
    assert found, str(error.value)
    assert Path(found[0].place.file).name in (A, B)
    assert not (tmp_path / "out").exists()


def test_an_as_number_in_two_fabrics_is_a_warning(tmp_path: Path) -> None:
    file = cluster_file(tmp_path / "in", {B: ("spines: 65201-65299", "spines: 65001-65099")})
    made = generate_cluster(file, tmp_path / "out")
    assert [(one.code, one.path) for one in made.warnings] == [("duplicate-asn", "asn.spines")] * 2


@pytest.mark.parametrize(
    ("edits", "code"),
    [
        ({"cluster.yaml": ("plane-b.yaml", "none.yaml")}, "unreadable"),
        ({"cluster.yaml": ("plane-b.yaml", "plane-a.yaml")}, "duplicate-name"),
        ({"cluster.yaml": ("name: planes", "nam: planes")}, "unknown-key"),
        ({"cluster.yaml": ("[plane-a.yaml, plane-b.yaml]", "[]")}, "out-of-range"),
        ({B: ("name: plane-b", "name: servers")}, "reserved-name"),
        ({B: ("stripes: 2", "stripes: 0")}, "out-of-range"),
        ({B: ("name: plane-b", "fabrics: [plane-b.yaml]")}, "wrong-value"),
    ],
)
def test_cluster_files_that_cannot_be_used(edits: dict[str, tuple[str, str]], code: str, tmp_path: Path) -> None:
    with pytest.raises(IntentError) as error:
        load_cluster(cluster_file(tmp_path, edits))
    assert code in {one.code for one in error.value.problems}


def test_a_file_without_a_mapping_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").write_text("- fabrics\n")
    with pytest.raises(IntentError, match="must hold a mapping"):
        load_cluster(tmp_path / "cluster.yaml")


def test_a_limit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="generate the whole cluster"):
        generate_cluster(cluster_file(tmp_path / "in"), tmp_path / "out", limit=("a-spine1",))
