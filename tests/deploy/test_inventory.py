"""The inventory: devices from the intent, the files beside it, and Nornir's view of both.

Bad files are in `inventories/CASE/`, with the exact messages they give; `AILB_UPDATE_GOLDEN=1` renews the messages.
"""

import os
import sys
import traceback
from pathlib import Path
from textwrap import dedent

import pytest
from nornir.core.inventory import Inventory as NornirInventory

from ailb_gen.deploy.credentials import CommandReference, EnvironmentReference, KeyringReference, LoginReference
from ailb_gen.deploy.inventory import (
    AilbInventory,
    ConnectionOptions,
    Inventory,
    Target,
    need_inventory,
    read_inventory,
)
from ailb_gen.design.build import build
from ailb_gen.design.devices import automatic_groups, devices
from ailb_gen.errors import IntentError, UsageError
from ailb_gen.intent.load import load
from tests.conftest import EXAMPLES, ROOT, SMALL, intent_of
from tests.deploy.fabric import run


def read(folder: Path, fabric: str = SMALL, **files: str) -> Inventory:
    (folder / "fabric.yaml").write_text(fabric, encoding="utf-8")
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(dedent(text), encoding="utf-8")
    return read_inventory(folder / "fabric.yaml", folder)


def test_without_files_everything_follows_from_the_intent(tmp_path: Path) -> None:
    inventory = read(tmp_path)
    assert list(inventory.targets) == [
        *("stripe1-leaf1", "stripe1-leaf2", "stripe2-leaf1", "stripe2-leaf2", "spine1", "spine2"),
        *("server-001", "server-002", "server-003", "server-004"),
    ]
    leaf, spine, server = (inventory.targets[name] for name in ("stripe2-leaf1", "spine2", "server-003"))
    assert leaf == Target(
        name="stripe2-leaf1",
        role="leaf",
        stripe=2,
        rail=0,
        colors=(),
        address="",
        place=leaf.place,
        server_kind="",
        groups=("rail0", "stripe2", "leaf", "switch"),
        hostname="stripe2-leaf1",
        port=830,
        platform="junos",
        login=LoginReference(agent=True),
        options=ConnectionOptions(120, 30, 30),
        known_hosts=(Path.home() / ".ssh/known_hosts",),
        ssh_config=Path.home() / ".ssh/config",
        managed=True,
        own=(),
        keep=(),
        labels={},
    )
    assert leaf.kind == "switch"
    assert (spine.stripe, spine.rail, spine.colors, spine.groups) == (0, None, ("blue",), ("spine", "switch"))
    assert (server.kind, server.stripe, server.rail, server.groups) == ("server", 2, None, ("stripe2", "server"))
    assert (server.port, server.platform) == (22, "linux")
    assert len(inventory.managed) == 10


@pytest.mark.parametrize(
    "name",
    [
        # The design of the largest takes seconds.
        pytest.param(path.parent.name, marks=pytest.mark.long if path.parent.name == "frontier" else ())
        for path in sorted(EXAMPLES.glob("*/fabric.yaml"))
    ],
)
def test_devices_are_those_of_the_design(name: str) -> None:
    """Computed without the design, and yet the same: names, places, colors, addresses."""
    intent = load(EXAMPLES / name / "fabric.yaml")
    design, _ = build(intent)
    order = [color.name for color in design.colors]
    expected: list[tuple[object, ...]] = []
    for switch in design.switches:
        colors = {port.color.name for port in switch.fabric_ports} if switch.role == "spine" else set()
        address = switch.management.address.partition("/")[0] if switch.management else ""
        rail = switch.number - 1 if switch.role == "leaf" else None
        expected.append((switch.name, switch.role, switch.stripe, rail, sorted(colors, key=order.index), address))
    for server in design.servers:
        expected.append((server.name, "server", server.stripe, None, [], server.management.partition("/")[0]))
    assert [(d.name, d.role, d.stripe, d.rail, list(d.colors), d.address) for d in devices(intent)] == expected


def test_a_spine_has_all_the_colors_of_its_links() -> None:
    spines = [d for d in devices(intent_of(f"{SMALL}links_per_spine: 2\n")) if d.role == "spine"]
    assert [spine.colors for spine in spines] == [("green", "red"), ("blue", "orange")]


def test_the_address_is_that_of_hosts_then_the_management_then_the_name(tmp_path: Path) -> None:
    fabric = f"{SMALL}management: {{spines: 192.0.2.1/24}}\n"
    found = read(tmp_path, fabric, hosts="spine2: {hostname: 2001:DB8::1}\n").targets
    assert [found[name].hostname for name in ("spine1", "spine2", "stripe1-leaf1")] == [
        "192.0.2.1",
        "2001:db8::1",
        "stripe1-leaf1",
    ]


def test_the_most_specific_level_wins_key_by_key(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        defaults="""
            username: everybody
            password: {env: AILB_DEFAULT}
            options: {timeout_s: 300}
            data: {known_hosts: [known_hosts, /etc/ssh/ssh_known_hosts], labels: {site: x, row: 1}}
            """,
        groups="""
            switch: {port: 22, options: {keepalive_s: 0}}
            leaf: {username: {env: AILB_LEAF}}
            stripe1: {groups: [hall], data: {labels: {row: 2}}}
            rail1: {key_file: keys/rail1}
            hall: {port: 2022, sudo_password: {command: [pass, hall]}}
            lab: {groups: [hall], password: {keyring: {service: lab, username: ops}}, data: {labels: {lab: true}}}
            server: {password: {env: AILB_SERVER}, agent: on}
            """,
        hosts="""
            spine1: {groups: [lab], port: 10830, data: {managed: off}}
            spine2:
            stripe1-leaf2: {data: {ssh_config: none}}
            """,
    ).targets
    plain, leaf, rail, lab = (found[name] for name in ("spine2", "stripe1-leaf1", "stripe1-leaf2", "spine1"))
    default = EnvironmentReference("AILB_DEFAULT")
    assert (plain.port, plain.options) == (22, ConnectionOptions(300, 30, 0))
    assert plain.login == LoginReference("everybody", default, agent=False)
    assert plain.known_hosts == (tmp_path / "known_hosts", Path("/etc/ssh/ssh_known_hosts"))
    assert plain.labels == {"site": "x", "row": 1}
    assert leaf.groups == ("rail0", "stripe1", "hall", "leaf", "switch")
    assert (leaf.port, leaf.labels) == (2022, {"site": "x", "row": 2})
    assert leaf.login == LoginReference(
        EnvironmentReference("AILB_LEAF"), default, sudo_password=CommandReference(("pass", "hall")), agent=False
    )
    assert (rail.login.key_file, rail.ssh_config) == (tmp_path / "keys/rail1", None)
    assert lab.groups == ("lab", "hall", "spine", "switch")
    assert (lab.port, lab.managed, lab.labels) == (10830, False, {"site": "x", "row": 1, "lab": True})
    assert lab.login.password == KeyringReference("lab", "ops")
    assert found["server-001"].login.agent is True


def test_nothing_may_take_back_what_a_level_above_says(tmp_path: Path) -> None:
    found = read(tmp_path, defaults="password: {env: A}\n", hosts="spine1: {password: null}\n").targets
    assert (found["spine1"].login.password, found["spine1"].login.agent) == (None, True)


def test_devices_may_share_an_address_on_ports_of_their_own_or_when_one_is_left_alone(tmp_path: Path) -> None:
    hosts = """
        spine1: {hostname: 127.0.0.1, port: 1}
        spine2: {hostname: 127.0.0.1, port: 2}
        stripe1-leaf1: {hostname: 127.0.0.1, port: 2, data: {managed: false}}
        """
    inventory = read(tmp_path, hosts=hosts)
    assert [target.name for target in inventory.managed if target.hostname == "127.0.0.1"] == ["spine1", "spine2"]


def test_the_starter_is_valid() -> None:
    folder = ROOT / "inventory"
    inventory = read_inventory(folder / "fabric.yaml", folder)
    spine, server = inventory.targets["spine1"], inventory.targets["pod1-s1-01"]
    assert (spine.hostname, spine.port, spine.login.agent) == ("192.0.2.1", 830, True)
    assert (server.hostname, server.port, server.login.agent) == ("192.0.2.101", 22, True)


def test_nornir_sees_the_managed_devices_and_no_credential(tmp_path: Path) -> None:
    read(
        tmp_path,
        groups="leaf: {username: ops, password: {env: AILB_SECRET_NAME}}\n",
        hosts="spine1: {data: {managed: false}}\nspine2: {hostname: 192.0.2.2, data: {labels: {row: 7}}}\n",
    )
    nornir = AilbInventory(str(tmp_path / "fabric.yaml")).load()
    assert isinstance(nornir, NornirInventory)
    assert "spine1" not in nornir.hosts
    spine, leaf = nornir.hosts["spine2"], nornir.hosts["stripe1-leaf2"]
    assert (spine.hostname, spine.port, spine.platform, spine["row"]) == ("192.0.2.2", 830, "junos", 7)
    assert (leaf.username, leaf.password, leaf["rail"], leaf["stripe"]) == ("ops", None, 1, 1)
    assert leaf["target"].login.password == EnvironmentReference("AILB_SECRET_NAME")
    assert {host.name for host in nornir.children_of_group("stripe2")} == {
        *("stripe2-leaf1", "stripe2-leaf2", "server-003", "server-004")
    }
    assert [group.name for group in leaf.groups] == ["rail1", "stripe1", "leaf", "switch"]
    assert len(nornir.filter(role="spine").hosts) == 1


def test_the_plugin_reads_files_of_another_folder(fabric: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "defaults.yaml").write_text("port: 8300\n", encoding="utf-8")
    nornir = AilbInventory(fabric, other).load()
    assert {host.port for host in nornir.hosts.values()} == {8300}


def calls(folder: Path, stripes: int) -> int:
    """Count the calls that reading an inventory takes in which every device has an entry."""
    fabric = SMALL.replace("stripes: 2", f"stripes: {stripes}").replace("servers: 2", "servers: 16")
    names = read(folder, fabric).targets
    hosts = "".join(f"{name}: {{hostname: 127.0.0.1, port: {1024 + n}}}\n" for n, name in enumerate(names))
    count = 0

    def counted(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        read(folder, fabric, hosts=hosts)
    finally:
        sys.setprofile(None)
    (folder / "hosts.yaml").unlink()
    return count


def test_the_work_grows_with_the_devices_and_no_faster(tmp_path: Path) -> None:
    assert calls(tmp_path, 40) < 9 * calls(tmp_path, 5)


def test_thousands_of_wrong_names_are_told_without_looking_for_thousands_of_likely_ones(tmp_path: Path) -> None:
    names = ", ".join(f"spine-of-elsewhere{n}" for n in range(2000))
    with pytest.raises(IntentError) as caught:
        read(tmp_path, hosts=f"spine1: {{groups: [{names}]}}", groups="spine-of-elsewhere: {}")
    assert len(caught.value.problems) == 2001
    # The group that nobody is in has its own.
    assert 1 < sum(bool(problem.hint) for problem in caught.value.problems) <= 21


def test_who_may_sign_plans_is_said_once_for_the_fabric(tmp_path: Path) -> None:
    assert read(tmp_path).allowed_signers is None
    found = read(tmp_path, defaults="approval: {allowed_signers: approvers}\nport: 1\n")
    assert found.allowed_signers == tmp_path / "approvers"
    assert found.targets["spine1"].port == 1
    with pytest.raises(IntentError, match=r"groups.yaml:1:9: error\[unknown-key\]: spine.approval: unknown key"):
        read(tmp_path, groups="spine: {approval: {allowed_signers: mine}}")
    with pytest.raises(IntentError, match=r"error\[missing-key\]"):
        read(tmp_path, defaults="approval: {}", groups="")


@pytest.fixture
def fabric(tmp_path: Path) -> Path:
    """A small fabric."""
    path = tmp_path / "fabric.yaml"
    path.write_text(SMALL, encoding="utf-8")
    return path


def refusal(fabric: Path, directory: Path | None = None) -> str:
    """Return why what is there does not do as an inventory; empty where it does."""
    try:
        need_inventory(read_inventory(fabric, directory or fabric.parent), fabric, directory)
    except UsageError as error:
        return str(error)
    return ""


def test_without_any_inventory_devices_are_not_tried_by_name(fabric: Path, tmp_path: Path) -> None:
    told = refusal(fabric)
    assert told.startswith(
        f"{tmp_path}: no inventory here: no hosts.yaml, groups.yaml or defaults.yaml, and fabric.yaml gives "
        f"no management addresses; name the directory that has one with -i, or write a minimal one:\n"
    )
    assert "stripe1-leaf1: {hostname: ADDRESS}" in told


@pytest.mark.parametrize("name", ["defaults", "groups", "hosts"])
def test_any_inventory_file_is_an_inventory(name: str, fabric: Path, tmp_path: Path) -> None:
    (tmp_path / f"{name}.yaml").touch()
    assert refusal(fabric) == refusal(fabric, tmp_path) == ""


def test_management_addresses_are_an_inventory_unless_another_folder_was_named(fabric: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    fabric.write_text(f"{SMALL}management: {{leaves: 192.0.2.11/24}}\n", encoding="utf-8")
    other.mkdir()
    assert refusal(fabric) == ""
    assert refusal(fabric, other).startswith(f"{other}: no inventory here: no hosts.yaml, groups.yaml or")
    assert "and fabric.yaml gives" not in refusal(fabric, other)


@pytest.mark.parametrize("verb", ["plan", "drift", "verify", "deploy", "rollback", "confirm"])
def test_every_verb_says_that_there_is_no_inventory(verb: str, tmp_path: Path) -> None:
    fabric, artifacts = tmp_path / "fabric.yaml", tmp_path / "artifacts"
    fabric.write_text((EXAMPLES / "lab" / "fabric.yaml").read_text())
    assert run("generate", str(fabric), "-o", str(artifacts)).code == 0
    done = run(verb, str(fabric), str(artifacts))
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"ailb-gen: {tmp_path}: no inventory here: ")
    assert "hostkey" not in done.err


CASES = Path(__file__).parent / "inventories"
NAMES = sorted(path.name for path in CASES.iterdir() if path.is_dir())


def test_there_are_enough_cases() -> None:
    assert len(NAMES) >= 20


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_messages_are_exact_and_repeat_no_secret(name: str, fabric: Path) -> None:
    with pytest.raises(IntentError) as caught:
        read_inventory(fabric, CASES / name)
    got = str(caught.value).replace(f"{CASES / name}{os.sep}", "") + "\n"
    expected = CASES / name / "expected.txt"
    if os.environ.get("AILB_UPDATE_GOLDEN"):
        expected.write_text(got, encoding="utf-8")
    assert got == expected.read_text(encoding="utf-8")
    shown = "".join(traceback.format_exception(caught.value))
    for word in ("hunter2", "never-shown", "12345678"):
        assert word not in shown


def test_a_folder_that_is_not_there(fabric: Path, tmp_path: Path) -> None:
    told = r"^\S+nowhere: error\[unreadable\]: there is no such directory; .*hosts\.yaml, groups"
    with pytest.raises(IntentError, match=told):
        read_inventory(fabric, tmp_path / "nowhere")


@pytest.mark.parametrize("kind", ["directory", "dangling", "fifo"])
def test_a_file_that_cannot_be_read(kind: str, fabric: Path, tmp_path: Path) -> None:
    path = tmp_path / "hosts.yaml"
    if kind == "directory":
        path.mkdir()
    elif kind == "dangling":
        path.symlink_to(tmp_path / "nowhere")
    else:
        os.mkfifo(path)
    with pytest.raises(IntentError, match=r"error\[unreadable\]: cannot read the file"):
        read_inventory(fabric, tmp_path)


def test_problems_of_all_files_are_told_at_once(fabric: Path, tmp_path: Path) -> None:
    for name in ("hosts", "groups", "defaults"):
        (tmp_path / f"{name}.yaml").write_text("wrong: {\n", encoding="utf-8")
    with pytest.raises(IntentError) as caught:
        read_inventory(fabric, tmp_path)
    assert {Path(problem.place.file).stem for problem in caught.value.problems} == {"hosts", "groups", "defaults"}


def test_an_unusable_fabric_is_told_as_such(fabric: Path, tmp_path: Path) -> None:
    fabric.write_text(f"{SMALL}management: {{leaves: 192.0.2.254/24}}\n", encoding="utf-8")
    with pytest.raises(IntentError, match=r"fabric\.yaml:7:.*pool-exhausted"):
        read_inventory(fabric, tmp_path)


def test_servers_of_a_kind_are_a_group() -> None:
    """The kind is the most specific of the groups that a server belongs to by what it is."""
    given = {device.name: device for device in devices(load(EXAMPLES / "mixed" / "fabric.yaml"))}
    assert automatic_groups(given["store-2-1"]) == ("storage", "stripe2", "server")
    assert automatic_groups(given["h100-01"]) == ("stripe1", "server")
