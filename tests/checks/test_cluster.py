"""Checks across the fabrics of a cluster: each finds a mutation that nothing else finds."""

from pathlib import Path

import pytest

from ailb_gen.checks.catalogue import OF_CLUSTER, checks_of
from tests.checks.clusters import added, failed, generated

B = "plane-b.yaml"
MAC = 'overrides: {servers: {gpu-s1-1: {nics: {0: {mac: "02:00:00:00:00:01"}}}}}'
# By the check that alone finds it: the edits of the fabric files.
MUTATIONS = {
    "AILBX01": {B: ('leaf: "b-', 'leaf: "a-')},
    "AILBX02": {B: ("fc0b::", "fc0a::")},
    "AILBX03": {B: ("leaves: 65301-65399", "leaves: 65101-65199")},
    "AILBX04": {B: ("leaves: 10.2.16.0", "leaves: 10.1.16.0")},
    "AILBX05": added("plane-a.yaml", "management: {leaves: 192.0.2.1/24}")
    | added(B, "management: {leaves: 192.0.2.4/24}"),
    "AILBX06": {B: ("first_nic: 2", "first_nic: 2, rdma: [mlx5_1, mlx5_2]")},
    "AILBX07": added(B, "tables: {first: 9996}"),
    "AILBX08": added("plane-a.yaml", MAC) | added(B, MAC),
}


def test_nothing_is_found_in_the_example(tmp_path: Path) -> None:
    assert failed(*generated(tmp_path)) == set()


@pytest.mark.parametrize("check", MUTATIONS)
def test_a_mutation_is_found_by_its_check_alone(check: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # `generate` refuses most of them; the proof must not depend on it.
    monkeypatch.setattr("ailb_gen.api.cluster.check_cluster", lambda cluster, designs: ())
    assert failed(*generated(tmp_path, MUTATIONS[check])) == {check}


def test_an_edited_server_is_found(tmp_path: Path) -> None:
    file, tree = generated(tmp_path)
    edited = next((tree / "profiles").glob("*/etc/sysctl.d/*.conf"))
    edited.write_text(edited.read_text() + "# by hand\n")
    assert failed(file, tree) == {"AILBX09"}


def test_a_missing_manifest_and_other_input_are_found(tmp_path: Path) -> None:
    file, tree = generated(tmp_path)
    file.write_text(file.read_text() + "# another line\n")
    assert failed(file, tree) == {"AILBX09"}
    (tree / "manifest.json").write_text("{")
    assert failed(file, tree) == {"AILBX09"}
    (tree / "manifest.json").unlink()
    assert failed(file, tree) == {"AILBX09"}


def test_every_check_of_the_family_has_a_mutation() -> None:
    assert {*MUTATIONS, "AILBX09"} == {check.id for check in checks_of(OF_CLUSTER)}
