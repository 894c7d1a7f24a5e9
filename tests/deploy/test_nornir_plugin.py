"""nornir.yaml: plug-ins of others give addresses; the fabric says which devices there are, hosts.yaml wins.

With the real services: tests/sot/test_nornir.py.
"""

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, ClassVar

import pytest
from nornir.core.inventory import Defaults, Group, Groups, Host, Hosts, Inventory, ParentGroups

from ailb_gen.deploy import nornir_plugin
from ailb_gen.deploy.credentials import CredentialError
from ailb_gen.deploy.inventory import read_inventory
from ailb_gen.deploy.plugin_session import PluginError
from ailb_gen.errors import IntentError, MissingExtraError, UsageError
from tests.conftest import SMALL

NAMES = ("stripe1-leaf1", "stripe1-leaf2", "stripe2-leaf1", "stripe2-leaf2", "spine1", "spine2")
FILE = "inventory: {plugin: Fake}\n"
SERVERS = "".join(f"server-00{n}: {{data: {{managed: off}}}}\n" for n in range(1, 5))


class Fake:
    """A plug-in with the hosts of `rows`: fields of a Host by name."""

    rows: ClassVar[dict[str, dict[str, Any]]] = {}
    error: BaseException | None = None

    def __init__(self, **options: Any) -> None:
        self.options = options

    def load(self) -> Inventory:
        if self.error is not None:
            raise self.error
        hosts = Hosts()
        for name, row in self.rows.items():
            fields = dict(row)
            groups = ParentGroups(Group(group) for group in fields.pop("groups", ()))
            hosts[name] = Host(name, **fields, groups=groups, defaults=Defaults())
        return Inventory(hosts, Groups(), Defaults())


def addresses() -> dict[str, dict[str, Any]]:
    return {name: {"hostname": f"192.0.2.{n}", "groups": ["platform__junos"]} for n, name in enumerate(NAMES, 1)}


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> type[Fake]:
    point = EntryPoint("Fake", "tests.deploy.test_nornir_plugin:Fake", nornir_plugin.GROUP)
    original = entry_points

    def found(group: str, name: str) -> list[EntryPoint]:
        return [point] if name == "Fake" else list(original(group=group, name=name))

    monkeypatch.setattr(nornir_plugin, "entry_points", found)
    monkeypatch.setattr(Fake, "rows", addresses())
    monkeypatch.setattr(Fake, "error", None)
    return Fake


def write(folder: Path, nornir: str = FILE, fabric: str = SMALL, hosts: str = SERVERS, **files: str) -> None:
    for name, text in {"fabric": fabric, "nornir": nornir, "hosts": hosts, **files}.items():
        (folder / f"{name}.yaml").write_text(text)


def told(folder: Path) -> list[str]:
    with pytest.raises(IntentError) as found:
        read_inventory(folder / "fabric.yaml", folder)
    return [f"{problem.code} {Path(problem.place.file).name}: {problem.reason}" for problem in found.value.problems]


def test_addresses_come_from_the_plugin_and_hosts_yaml_wins(fake: type[Fake], tmp_path: Path) -> None:
    fake.rows = addresses() | {"spine2": {"hostname": "192.0.2.9", "port": 22, "username": "there"}}
    write(
        tmp_path, hosts=SERVERS + "spine1: {hostname: 198.51.100.1}\nspine2: {username: here}\n",
        groups="platform__junos: {username: ops, port: 8300}\nspine: {username: two}\n",
    )  # fmt: skip
    found = read_inventory(tmp_path / "fabric.yaml", tmp_path).targets
    assert [found[name].hostname for name in NAMES] == [
        *(f"192.0.2.{n}" for n in range(1, 5)), "198.51.100.1", "192.0.2.9",
    ]  # fmt: skip
    leaf, spine1, spine2 = found["stripe1-leaf1"], found["spine1"], found["spine2"]
    assert leaf.groups == ("rail0", "stripe1", "leaf", "switch", "platform__junos")
    assert (leaf.login.username, leaf.port) == ("ops", 8300)
    # The groups of the fabric come before those of the plug-in.
    assert (spine1.login.username, spine1.port, spine1.role) == ("two", 8300, "spine")
    assert (spine2.login.username, spine2.port) == ("here", 22)


def test_port_and_username_from_the_data(fake: type[Fake], tmp_path: Path) -> None:
    for row in fake.rows.values():
        row["data"] = {"custom_fields": {"netconf_port": 2022, "user": "kim"}}
    write(tmp_path, FILE + "port: custom_fields.netconf_port\nusername: custom_fields.user\n")
    found = read_inventory(tmp_path / "fabric.yaml", tmp_path).targets["spine1"]
    assert (found.port, found.login.username) == (2022, "kim")


def test_a_host_without_address_has_that_of_the_fabric(fake: type[Fake], tmp_path: Path) -> None:
    fake.rows["spine1"]["hostname"] = "spine1"
    write(tmp_path)
    assert read_inventory(tmp_path / "fabric.yaml", tmp_path).targets["spine1"].hostname == "spine1"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"pdu1": {"hostname": "192.0.2.99"}},
         "unknown-device nornir.yaml: Fake gives pdu1, which the fabric does not have"),
        ({"a\n{{x}}": {}}, "unknown-device nornir.yaml: Fake gives a?{{x}}, which the fabric does not have"),
        ({"spine1": None}, "unknown-device nornir.yaml: it does not give spine1"),
        ({"spine1": {"password": "hunter2"}}, "wrong-value nornir.yaml: Fake gives spine1 a password in plain text"),
        ({"spine1": {"hostname": "192.0.2.1"}},
         "duplicate-address fabric.yaml: spine1 is reached at 192.0.2.1 port 830, which is stripe1-leaf1"),
        ({"spine1": {"hostname": "x; rm -rf /"}},
         "wrong-value nornir.yaml: Fake gives spine1 a hostname that cannot be used: "
         "must be a DNS name or an IP address, without user, port or brackets"),
        ({"spine1": {"username": "a\nb"}},
         "wrong-value nornir.yaml: Fake gives spine1 a username that cannot be used: "
         "must be the name of a user, or {env: NAME}"),
        ({"spine1": {"port": 70000}},
         "wrong-value nornir.yaml: Fake gives spine1 a port that cannot be used: "
         "Input should be less than or equal to 65535"),
    ],
)  # fmt: skip
def test_conflicts(changes: Mapping[str, Any], expected: str, fake: type[Fake], tmp_path: Path) -> None:
    fake.rows = {name: row for name, row in (addresses() | dict(changes)).items() if row is not None}
    write(tmp_path)
    assert told(tmp_path) == [expected]


def test_the_fabric_has_another_address(fake: type[Fake], tmp_path: Path) -> None:
    fabric = SMALL + "management: {leaves: 10.9.0.1/24, spines: 10.9.1.1/24, servers: 10.9.2.1/24}\n"
    write(tmp_path, fabric=fabric)
    found = told(tmp_path)
    assert len(found) == len(NAMES)
    assert found[0].startswith("conflict fabric.yaml: ")
    assert "and 192.0.2.1 in nornir.yaml's source" in " ".join(found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("inventory: {plugin: AilbInventory}", "it is the plug-in of this program, which reads this file"),
        ("inventory: {plugin: NBInventory}", "it is deprecated; use NetBoxInventory2"),
        ("inventory: {plugin: Fake, options: {nb_token: abc}}", "the option nb_token would be a secret in plain text"),
        ("inventory: {plugin: Fake, options: {ssl_verify: false}}", "certificates are always verified"),
        ("inventory: {plugin: Fake, options: 3}", "must be a mapping of the options of the plug-in"),
        ("inventory: {plugin: 'a b'}", "text does not match"),
        ("port: 3", ""),
    ],
)
def test_bad_files(text: str, expected: str, fake: type[Fake], tmp_path: Path) -> None:
    write(tmp_path, text)
    found = told(tmp_path)
    assert expected in found[0]
    assert "abc" not in found[0]


def test_without_the_plugin(tmp_path: Path) -> None:
    write(tmp_path, "inventory: {plugin: OtherInventory}")
    with pytest.raises(MissingExtraError, match="no inventory plug-in of Nornir is called OtherInventory"):
        read_inventory(tmp_path / "fabric.yaml", tmp_path)


@pytest.mark.parametrize("error", [KeyError("custom\nfields"), SystemExit(1), ValueError("x" * 5000)])
def test_a_plugin_that_fails(error: BaseException, fake: type[Fake], tmp_path: Path) -> None:
    fake.error = error
    write(tmp_path)
    with pytest.raises(PluginError, match=f"the plug-in Fake failed: {type(error).__name__}") as found:
        read_inventory(tmp_path / "fabric.yaml", tmp_path)
    assert len(str(found.value)) < 700
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("url", ["netbox", "ftp://a", "https://kim:secret@a", "https://a?x=1", "", "https://[a"])
def test_bad_urls(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETBOX_TOKEN", "abc")
    monkeypatch.setenv("NETBOX_URL", url)
    write(tmp_path, "inventory: {plugin: NetBoxInventory2}")
    with pytest.raises(UsageError, match="NETBOX_URL: must be like https:") as found:
        read_inventory(tmp_path / "fabric.yaml", tmp_path)
    assert "secret" not in str(found.value)


def test_without_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NETBOX_TOKEN", raising=False)
    write(tmp_path, "inventory: {plugin: NetBoxInventory2, options: {nb_url: 'https://127.0.0.1:1'}}")
    with pytest.raises(CredentialError, match="keyring"):
        read_inventory(tmp_path / "fabric.yaml", tmp_path)
