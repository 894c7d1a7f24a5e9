"""The checks of files: shipped trees are clean, and every damage is found by the check that names it."""

import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from ailb_gen.checks.causes import causes
from ailb_gen.checks.context import Context
from ailb_gen.checks.model import Finding, Result
from ailb_gen.intent.load import Intent, load
from ailb_gen.network.read import read_network
from tests.checks.trees import GOLDEN, change, findings, run_family, shown
from tests.conftest import EXAMPLES

TOPOLOGY, CABLING, MANIFEST = "topology.json", "cabling.csv", "manifest.json"
LEAF, SPINE = "switches/stripe1-leaf1.conf", "switches/spine1.conf"
NETPLAN = "profiles/stripe1/etc/netplan/60-ailb-gpu.yaml"
CABLE = "stripe1-leaf1,et-0/0/1,spine2,et-0/0/0,400g,fabric,blue,\n"
HOST_CABLE = "stripe1-leaf2,et-0/0/16,gpu-s1-1,gpu1_eth,400g,host,,1\n"
LINK = (
    '  {"leaf": "stripe1-leaf1", "leaf_port": "et-0/0/1", "spine": "spine2", "spine_port": "et-0/0/0", '
    '"color": "blue", "speed": "400g"},\n'
)
NIC = '"rdma": "mlx5_1", "leaf": "stripe1-leaf2", "leaf_port": "et-0/0/17"'


def intent_of_example(name: str) -> Intent:
    return load(EXAMPLES / name / "fabric.yaml")


LAB = intent_of_example("lab")


def context_of(root: Path, intent: Intent = LAB) -> Context:
    reading = read_network(root, lambda *trees: True)
    return Context(intent.fabric, reading.network, intent.digest, root, reading.records)


def judged(root: Path, intent: Intent = LAB) -> list[Result]:
    return run_family("AILB0", context_of(root, intent))


def seal(root: Path) -> None:
    """Renew the digests of the manifest, so that it gives nothing away."""
    body = json.loads((root / MANIFEST).read_text())
    for name in body["files"]:
        path = root / name
        if path.is_file() and not path.is_symlink():
            body["files"][name] = sha256(path.read_bytes()).hexdigest()
    body["files"] = {name: digest for name, digest in body["files"].items() if (root / name).exists()}
    (root / MANIFEST).write_text(json.dumps(body, indent=1))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the lab."""
    return Path(shutil.copytree(GOLDEN / "lab", tmp_path / "lab", symlinks=True))


Told = tuple[str, str]


def told(found: list[Finding]) -> set[Told]:
    return {(finding.check, finding.scope) for finding in found}


# file, text, replacement, what is found, a part of the line of that file that a finding points at, if any does
DAMAGES: list[tuple[str, str, str, set[Told], str]] = [
    (LEAF, "host-name stripe1-leaf1", "host-name leaf1", {("AILB004", "stripe1-leaf1")}, "host-name leaf1"),
    (LEAF, "system {", "system", {("AILB002", "stripe1-leaf1")}, ""),
    (CABLING, CABLE, "", {("AILB006", "stripe1-leaf1 et-0/0/1"), ("AILB009", "stripe1-leaf1 et-0/0/1")}, ""),
    (CABLING, CABLE, CABLE * 2, {("AILB006", "spine2 et-0/0/0"), ("AILB009", "stripe1-leaf1 et-0/0/1")}, CABLE[:40]),
    (CABLING, CABLE, CABLE.replace("400g", "800g"), {("AILB009", "stripe1-leaf1 et-0/0/1")}, "800g"),
    (CABLING, CABLE, CABLE.replace("blue,", "blue,1"), {("AILB009", "stripe1-leaf1 et-0/0/1")}, "blue,1"),
    (CABLING, CABLE, CABLE.replace("spine2,et-0/0/0", "spine2,et-0/0/9"), {("AILB007", "spine2 et-0/0/0")}, ""),
    (CABLING, CABLE, CABLE.replace("fabric", "optic"), {("AILB002", CABLING)}, "optic"),
    (CABLING, HOST_CABLE, HOST_CABLE.replace(",,1", ",,0"), {("AILB009", "gpu-s1-1 gpu1_eth")}, "host,,0"),
    (CABLING, HOST_CABLE, HOST_CABLE.replace("s1-1", "s1-9"), {("AILB009", "gpu-s1-9 gpu1_eth")}, "gpu-s1-9"),
    (TOPOLOGY, LINK, "", {("AILB006", "stripe1-leaf1 et-0/0/1"), ("AILB008", "stripe1-leaf1 et-0/0/1")}, ""),
    (TOPOLOGY, LINK, LINK.replace("blue", "red"), {("AILB008", "stripe1-leaf1 et-0/0/1")}, '"red"'),
    (TOPOLOGY, '"asn": 65001', '"asn": 65009', {("AILB008", "spine1")}, "65009"),
    (TOPOLOGY, '"asn": 65001', '"asn": "65001"', {("AILB008", "spine1")}, '"65001"'),
    (TOPOLOGY, '"asn": 65001', '"asn": 65001, "asn": 65002', {("AILB002", TOPOLOGY)}, "{"),
    (TOPOLOGY, '"platform": "generic", "asn": 65001', '"asn": 65001', {("AILB008", "spine1")}, "spine1"),
    (TOPOLOGY, '"platform": "generic"', '"x": 1, "platform": "generic"', {("AILB008", "stripe1-leaf1")}, '"x": 1'),
    (TOPOLOGY, '"rail": 1', '"rail": 0', {("AILB008", "stripe1-leaf2")}, "stripe1-leaf2"),
    (TOPOLOGY, '"gateway": "fc00:1:2:3::1"', '"gateway": "::1"', {("AILB008", "stripe1-leaf2")}, "stripe1-leaf2"),
    (TOPOLOGY, NIC, NIC.replace("mlx5_1", "mlx5_9"), {("AILB008", "gpu-s1-2")}, "mlx5_9"),
    (TOPOLOGY, '"fabric": "lab"', '"fabric": "jvd"', {("AILB008", "topology.json fabric")}, '"fabric"'),
    (TOPOLOGY, ' "fabric": "lab",\n', "", {("AILB008", "topology.json fabric")}, ""),
    (MANIFEST, '"fabric": "lab"', '"fabric": "jvd"', {("AILB005", "manifest.json fabric")}, '"fabric"'),
    (MANIFEST, '"generator": "ailb-gen', '"generator": "by hand', {("AILB005", "manifest.json generator")}, "by hand"),
    (MANIFEST, LAB.digest, "0" * 64, {("AILB005", "manifest.json input_sha256")}, "000000"),
    (MANIFEST, f'"{LAB.digest}"', "null", {("AILB005", "manifest.json input_sha256")}, "null"),
    (MANIFEST, '"link:../profiles/stripe1"', '"link:../profiles/stripe9"', {("AILB005", "servers/gpu-s1-1")}, ""),
    (MANIFEST, ' "files": {', ' "files": [', {("AILB002", MANIFEST)}, "cabling.csv"),
]


@pytest.mark.parametrize(("file", "old", "new", "intended", "pointed"), DAMAGES)
def test_a_damage_is_found_where_it_is(
    file: str, old: str, new: str, intended: set[Told], pointed: str, tree: Path
) -> None:
    path = tree / file
    change(path, old, new)
    if file != MANIFEST:
        seal(tree)
    found = findings(judged(tree))
    assert intended <= told(found)
    assert not {finding.check for finding in found} & {"AILB001", "AILB003"}
    places = [finding.place for finding in found if (finding.check, finding.scope) in intended]
    lines = path.read_text().split("\n")
    assert any(place and place.file == file and pointed in lines[place.line - 1] for place in places) or not pointed


def removed(tree: Path, name: str) -> None:
    path = tree / name
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


@pytest.mark.parametrize(
    ("damage", "intended"),
    [
        (lambda tree: removed(tree, LEAF), ("AILB001", "stripe1-leaf1")),
        (lambda tree: removed(tree, TOPOLOGY), ("AILB002", TOPOLOGY)),
        (lambda tree: removed(tree, CABLING), ("AILB002", CABLING)),
        (lambda tree: removed(tree, MANIFEST), ("AILB005", MANIFEST)),
        (lambda tree: shutil.copy(tree / LEAF, tree / "switches/spine9.conf"), ("AILB003", "spine9")),
        (lambda tree: (tree / "switches/notes.txt").write_text("x"), ("AILB003", "notes.txt")),
        (lambda tree: (tree / LEAF).with_suffix(".set").write_text(""), ("AILB003", "stripe1-leaf1")),
        (lambda tree: (tree / MANIFEST).write_text("[]"), ("AILB002", MANIFEST)),
        (lambda tree: (tree / MANIFEST).write_bytes(b"\xff"), ("AILB002", MANIFEST)),
        (lambda tree: (tree / LEAF).write_bytes((tree / LEAF).read_bytes() + b"\n"), ("AILB005", "stripe1-leaf1")),
        (lambda tree: (tree / NETPLAN).write_bytes(b""), ("AILB005", "profiles/stripe1")),
        (lambda tree: removed(tree, NETPLAN), ("AILB005", "profiles/stripe1")),
        (lambda tree: removed(tree, "servers/gpu-s1-1"), ("AILB005", "servers/gpu-s1-1")),
        (lambda tree: (tree / "password").write_text("x"), ("AILB005", "password")),
        (lambda tree: (tree / "inventory").mkdir(), ("AILB005", "inventory")),
    ],
)
def test_files_that_are_missing_strange_or_edited(damage: Callable[[Path], object], intended: Told, tree: Path) -> None:
    damage(tree)
    assert intended in told(findings(judged(tree)))


def test_what_generate_writes_is_in_the_manifest(tree: Path) -> None:
    body, context = json.loads((tree / MANIFEST).read_text()), context_of(tree)
    for name in body["files"]:
        left = {other: digest for other, digest in body["files"].items() if other != name}
        (tree / MANIFEST).write_text(json.dumps({**body, "files": left}))
        (found,) = findings(run_family("AILB0", context))
        assert (found.check, found.message) == (
            "AILB005",
            f"{name} is not in manifest.json: no edit can be detected",
        )


def test_files_of_ones_own_are_nobody_elses_business(tree: Path) -> None:
    (tree / "README.md").write_text("ours\n")
    (tree / "profiles/stripe1/etc/netplan/50-own.yaml").write_text("network: {version: 2}\n")
    assert not shown(judged(tree))


def test_any_version_may_have_written_the_files(tree: Path) -> None:
    path = tree / MANIFEST
    body = json.loads(path.read_text())
    path.write_text(json.dumps({**body, "generator": "ailb-gen 99.1.2"}, indent=1))
    assert not shown(judged(tree))


def test_another_layout_of_the_topology_is_no_damage(tree: Path) -> None:
    path = tree / TOPOLOGY
    body = json.loads(path.read_text())
    path.write_text(json.dumps({**body, "devices": body["devices"][::-1]}, indent=4))
    seal(tree)
    assert not shown(judged(tree))


@pytest.mark.parametrize("lost", ["", TOPOLOGY, MANIFEST])
def test_files_of_another_fabric_are_the_cause_of_all_findings(lost: str, tmp_path: Path) -> None:
    root = Path(shutil.copytree(GOLDEN / "jvd", tmp_path / "jvd", symlinks=True))
    if lost:
        (root / lost).unlink()
    results = judged(root)
    found = causes(results)
    (root_cause,) = set(found.values())
    assert root_cause.scope == (f"{MANIFEST} fabric" if lost == TOPOLOGY else f"{TOPOLOGY} fabric")
    assert root_cause.message == (
        "these files are of the fabric jvd, not of lab: the intent has 12 devices, the files have 24, and 8 names are "
        "in both; name the fabric file of jvd, or the directory of lab"
    )
    assert {root_cause, *found} == set(findings(results))


@pytest.mark.parametrize("file", [TOPOLOGY, MANIFEST])
@pytest.mark.parametrize("name", ["jvd", "[x](y)"])
def test_an_edited_name_alone_makes_no_other_fabric(file: str, name: str, tree: Path) -> None:
    (tree / "switches" / "spine1.conf").unlink()
    change(tree / file, '"fabric": "lab"', f'"fabric": "{name}"')
    results = judged(tree)
    assert any(finding.message == f"fabric is {name}; it must be lab" for finding in findings(results))
    assert not any(finding.same_cause for finding in findings(results))


def test_a_name_that_no_fabric_has_is_not_repeated_in_the_verdict(tree: Path) -> None:
    for file in (TOPOLOGY, MANIFEST):
        change(tree / file, '"fabric": "lab"', '"fabric": "[x](y)"')
    assert not any(finding.same_cause for finding in findings(judged(tree)))


def test_a_moved_cable_is_found_though_both_files_agree(tree: Path) -> None:
    """Both ends of the cables of two uplinks change places: only intent and descriptions tell."""
    for file, one, other in (
        (CABLING, "et-0/0/1,spine2,", "et-0/0/1,spine3,"),
        (CABLING, "et-0/0/2,spine3,", "et-0/0/2,spine2,"),
        (TOPOLOGY, '"et-0/0/1", "spine": "spine2"', '"et-0/0/1", "spine": "spine3"'),
        (TOPOLOGY, '"et-0/0/2", "spine": "spine3"', '"et-0/0/2", "spine": "spine2"'),
    ):
        change(tree / file, one, other)
    seal(tree)
    found = findings(judged(tree))
    assert {finding.check for finding in found} == {"AILB007", "AILB008", "AILB009"}
    (moved,) = (one for one in found if (one.check, one.scope) == ("AILB009", "stripe1-leaf1 et-0/0/1"))
    assert (moved.message, moved.expected, moved.found) == ("b_device is spine3; it must be spine2", "spine2", "spine3")
    assert moved.place is not None
    assert (moved.place.file, moved.place.line) == (CABLING, 3)


def test_a_port_of_another_number_is_found_though_all_files_agree(tree: Path) -> None:
    renames = (
        (LEAF, "et-0/0/1 {", "et-0/0/41 {"),
        (LEAF, "et-0/0/1.0", "et-0/0/41.0"),
        ("switches/spine2.conf", "facing_stripe1-leaf1:et-0/0/1", "facing_stripe1-leaf1:et-0/0/41"),
        (CABLING, "stripe1-leaf1,et-0/0/1,", "stripe1-leaf1,et-0/0/41,"),
        (TOPOLOGY, '"stripe1-leaf1", "leaf_port": "et-0/0/1"', '"stripe1-leaf1", "leaf_port": "et-0/0/41"'),
    )
    for file, old, new in renames:
        change(tree / file, old, new, -1)
    seal(tree)
    assert told(findings(judged(tree))) == {
        (check, f"stripe1-leaf1 et-0/0/{port}") for check in ("AILB008", "AILB009") for port in (1, 41)
    }


def test_without_lists_of_cables_descriptions_are_compared(tree: Path) -> None:
    (tree / CABLING).unlink()
    (tree / TOPOLOGY).unlink()
    assert {finding.check for finding in findings(judged(tree))} == {"AILB002", "AILB005"}
    for file, old, new in ((LEAF, ":et-0/0/0;", ":et-0/0/1;"), (SPINE, "facing_stripe1-leaf1:", "to:")):
        change(tree / file, old, new)
    found = [finding for finding in findings(judged(tree)) if finding.check == "AILB009"]
    assert [(finding.scope, finding.message, finding.place) for finding in found] == [
        ("stripe1-leaf1 et-0/0/0", "the cable is missing", None)
    ]


def test_files_with_nothing_in_them_lack_everything(tree: Path) -> None:
    """As long as the file is there, descriptions do not stand in for it."""
    (tree / CABLING).write_text((tree / CABLING).read_text().partition("\n")[0] + "\n")
    (tree / TOPOLOGY).write_text('{"devices": [], "links": [], "colors": []}\n')
    found = findings(judged(tree))
    for check in ("AILB008", "AILB009"):
        missing = [finding for finding in found if finding.check == check]
        assert ("stripe1-leaf1 et-0/0/0", True) in {
            (finding.scope, finding.message.endswith("is missing")) for finding in missing
        }


@pytest.mark.parametrize(
    ("old", "new", "scopes"),
    [
        ("192.0.2.250", "192.0.2.251", {"r1l1 system ntp server 192.0.2.250"}),
        ("    ntp {\n        server 192.0.2.250;\n    }\n", "", {"r1l1 system ntp server 192.0.2.250"}),
        ("192.0.2.250;", "192.0.2.250;\n        server 192.0.2.251;", set()),
    ],
)
def test_what_extra_config_asks_for_stands_in_the_file(old: str, new: str, scopes: set[str], tmp_path: Path) -> None:
    root = Path(shutil.copytree(GOLDEN / "brownfield", tmp_path / "out", symlinks=True))
    change(root / "switches/r1l1.conf", old, new)
    found = findings(judged(root, intent_of_example("brownfield")))
    assert {finding.scope for finding in found if finding.check == "AILB010"} == scopes


def test_a_wrong_role_in_the_topology_changes_nothing_else(tree: Path) -> None:
    change(tree / TOPOLOGY, '"role": "leaf"', '"role": "router"')
    seal(tree)
    (found,) = findings(judged(tree))
    assert (found.check, found.scope, found.found) == ("AILB008", "stripe1-leaf1", "router")
    assert read_network(tree, lambda *trees: True).network.roles["stripe1-leaf1"] == "leaf"
