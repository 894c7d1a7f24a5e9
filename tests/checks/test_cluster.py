"""Checks across the fabrics of a cluster: each finds a mutation that nothing else finds."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from shutil import copytree

import pytest

from ailb_gen.api.cluster import generate_cluster, validate_cluster
from ailb_gen.checks.catalogue import OF_CLUSTER, checks_of
from tests.checks.clusters import EXAMPLE, added, cluster_file, failed, generated

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


def _without(tree: Path, prefix: str) -> None:
    manifest = json.loads((tree / "manifest.json").read_text())
    manifest["files"] = {name: entry for name, entry in manifest["files"].items() if not name.startswith(prefix)}
    (tree / "manifest.json").write_text(json.dumps(manifest, indent=1))


def _value(key: str, value: str) -> Callable[[Path], None]:
    def change(tree: Path) -> None:
        manifest = json.loads((tree / "manifest.json").read_text())
        (tree / "manifest.json").write_text(json.dumps({**manifest, key: value}, indent=1))

    return change


def _edited(tree: Path, name: str) -> None:
    (tree / name).write_text((tree / name).read_text() + "\n")


# Changes of the directory, and the file at whose place each is found.
STRAY: dict[str, tuple[Callable[[Path], object], str]] = {
    "another fabric": (_value("fabric", "other"), "manifest.json"),
    "another generator": (_value("generator", "me"), "manifest.json"),
    "servers that it does not list": (partial(_without, prefix="profiles/plane-a+stripe2"), "manifest.json"),
    "the manifest of a fabric": (partial(_edited, name="plane-a/manifest.json"), "plane-a/manifest.json"),
    "a file": (lambda tree: (tree / "passwords.yaml").write_text("a: b"), "passwords.yaml"),
    "a folder": (lambda tree: copytree(tree / "plane-b", tree / "plane-c"), "plane-c"),
}


@pytest.mark.parametrize("name", STRAY)
def test_what_the_manifest_does_not_say_is_found(name: str, tmp_path: Path) -> None:
    change, place = STRAY[name]
    file, tree = generated(tmp_path)
    change(tree)
    report = validate_cluster(file, tree, executor="serial", html=False, checks=("files", "cluster"))
    assert {finding.check for finding in report.findings} == {"AILBX09"}
    assert {finding.place.file for finding in report.findings if finding.place} == {place}


def test_an_edit_is_found_beside_a_manifest_of_other_input(tmp_path: Path) -> None:
    file, tree = generated(tmp_path)
    _edited(tree, "profiles/plane-a+stripe1+plane-b+stripe1/etc/ailb/nccl.env")
    file.write_text(file.read_text() + "# another line\n")
    report = validate_cluster(file, tree, executor="serial", html=False, checks=("cluster",))
    messages = [finding.message for finding in report.findings]
    assert len(messages) == 2
    assert messages[0].startswith("the cluster file, a fabric file or a CSV file has changed")
    assert messages[1].endswith("nccl.env was edited after it was generated")


def test_servers_in_the_folder_of_a_fabric_are_found(tmp_path: Path) -> None:
    file, tree = generated(tmp_path)
    for name in ("servers", "profiles"):
        copytree(tree / name, tree / "plane-a" / name, symlinks=True)
    report = validate_cluster(file, tree, executor="serial", html=False, checks=("files", "cluster"))
    found = [(finding.check, finding.place.file) for finding in report.findings if finding.place]
    assert found == [("AILB005", "plane-a/profiles"), ("AILB005", "plane-a/servers")]


def test_a_server_that_leads_to_a_fabric_has_places_that_exist(tmp_path: Path) -> None:
    file, tree = generated(tmp_path)
    (tree / "servers/gpu-s1-1").unlink()
    (tree / "servers/gpu-s1-1").symlink_to("../plane-a")
    report = validate_cluster(file, tree, executor="serial", html=False, checks=("hosts",))
    assert report.findings
    assert not [one for one in report.findings if one.place and one.place.file.startswith("plane-a/plane-a")]


def test_a_management_address_is_found_at_its_line(tmp_path: Path) -> None:
    edits = added("plane-a.yaml", "management: {leaves: 192.0.2.1/24}")
    file, tree = generated(tmp_path, edits | added(B, "management: {leaves: 192.0.2.101/24}"))
    leaf = tree / "plane-b/switches/b-stripe1-leaf1.conf"
    leaf.write_text(leaf.read_text().replace("192.0.2.101/24", "192.0.2.1/24"))
    report = validate_cluster(file, tree, executor="serial", html=False, checks=("AILBX05",))
    [found] = report.findings
    assert found.place
    lines = leaf.read_text().splitlines()[found.place.line - 1 : found.place.line + 4]
    assert "192.0.2.1/24" in "".join(lines)


def test_twenty_fabrics_have_folders_with_names_that_fit(tmp_path: Path) -> None:
    file = cluster_file(tmp_path / "in")
    text = (EXAMPLE / "plane-a.yaml").read_text().partition("\nstripes")[0].replace("plane-a", "plane-{n}")
    text += (
        "\nstripes: 1\nrails: 1\nspines: 2\n"
        'servers: {{count: 1, name: "gpu{{n}}"}}\n'
        'names: {{leaf: "p{n}-s{{s}}-leaf{{l}}", spine: "p{n}-spine{{k}}"}}\n'
        'addressing: {{pool: "fc{n}::/16"}}\n'
        "asn: {{leaves: 42000{n}001-42000{n}001, spines: 42000{n}002-42000{n}003}}\n"
        "router_ids: {{leaves: 10.{n}.16.0/24, spines: 10.{n}.0.0/24}}\n"
        "hosts: {{first_nic: {nic}}}\n"
    )
    for number in range(20):
        (file.parent / f"{number + 10}.yaml").write_text(text.format(n=number + 10, nic=number))
    file.write_text(f"name: many\nfabrics: [{', '.join(f'{number + 10}.yaml' for number in range(20))}]\n")
    generate_cluster(file, tmp_path / "out")
    [profile] = (tmp_path / "out/profiles").iterdir()
    assert len(profile.name) < 255
    assert failed(file, tmp_path / "out") == set()


def test_every_check_of_the_family_has_a_mutation() -> None:
    assert {*MUTATIONS, "AILBX09"} == {check.id for check in checks_of(OF_CLUSTER)}
