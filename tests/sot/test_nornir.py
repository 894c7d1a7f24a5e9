"""The inventory plug-ins by name: emulated switches are reached at addresses of the real NetBox and Nautobot."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pynautobot
import pynetbox
import pytest
import yaml

from ailb_gen.emulator.source import servers, unmanaged
from tests.conftest import ROOT
from tests.deploy.fabric import Generated, Outcome, Site, generated, run, site
from tests.sot.services import Running
from tests.test_docs import blocks

pytestmark = pytest.mark.long

PAGE = ROOT / "docs" / "how-to" / "nornir-inventory.md"


@pytest.fixture(scope="module")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Generated:
    """The fabric of the tests of pushes: one stripe, two rails, two spines."""
    return generated(tmp_path_factory.mktemp("fabric"))


@contextmanager
def emulated(source: Running, fabric: Generated, folder: Path, number: int) -> Iterator[Site]:
    """Run its switches with a `nornir.yaml` of the page, the block of that number; their addresses are not in files."""
    with site(fabric, folder) as found:
        (found.inventory / "hosts.yaml").write_text(yaml.safe_dump(unmanaged(servers(fabric.artifacts))))
        text = blocks(PAGE, "yaml")[number]
        assert source.name in text
        (found.inventory / "nornir.yaml").write_text(text.replace(f"https://{source.name}.example.net", source.url))
        yield found


@pytest.fixture
def pod(netbox: Running, fabric: Generated, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """The switches, with addresses and ports in NetBox."""
    monkeypatch.setenv("NETBOX_TOKEN", netbox.token)
    with emulated(netbox, fabric, tmp_path, 0) as found:
        netbox.reset()
        fill(netbox, addresses(found))
        yield found


@pytest.fixture
def nautobot_pod(
    nautobot: Running, fabric: Generated, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Site]:
    """The switches, with addresses and ports in Nautobot."""
    monkeypatch.setenv("NAUTOBOT_TOKEN", nautobot.tokens["read-only"])
    with emulated(nautobot, fabric, tmp_path, 1) as found:
        fill_nautobot(nautobot, addresses(found))
        yield found


def addresses(pod: Site) -> dict[str, tuple[str, int]]:
    """Return address and NETCONF port of each device."""
    return {name: (pod.fleet.address, pod.fleet.port(name)) for name in pod.fleet.devices}


def fill(netbox: Running, devices: Mapping[str, tuple[str, int]]) -> None:
    """Create devices with an address and a port at the site pod1."""
    api = pynetbox.api(netbox.url, token=netbox.token)
    site = api.dcim.sites.create(name="pod1", slug="pod1").id
    maker = api.dcim.manufacturers.create(name="Juniper", slug="juniper").id
    tag = api.extras.tags.create(name="ailb-gen-pod1", slug="ailb-gen-pod1").id
    common = {
        "tags": [tag],
        "site": site,
        "device_type": api.dcim.device_types.create(manufacturer=maker, model="QFX5240", slug="qfx5240").id,
        "role": api.dcim.device_roles.create(name="Leaf", slug="leaf").id,
        "platform": api.dcim.platforms.create(name="Junos Evolved", slug="junos").id,
    }
    api.extras.custom_fields.create(name="netconf_port", type="integer", object_types=["dcim.device"])
    rows = [{"name": name, "custom_fields": {"netconf_port": port}, **common} for name, (_, port) in devices.items()]
    for device, (address, _) in zip(api.dcim.devices.create(rows), devices.values(), strict=True):
        port = api.dcim.interfaces.create(device=device.id, name="re0:mgmt-0", type="1000base-t")
        # All emulated devices are at one address, which NetBox allows for roles such as this.
        given = {"assigned_object_type": "dcim.interface", "assigned_object_id": port.id, "role": "anycast"}
        device.update({"primary_ip4": api.ipam.ip_addresses.create(address=f"{address}/32", **given).id})


def fill_nautobot(nautobot: Running, devices: Mapping[str, tuple[str, int]]) -> None:
    """Create devices with a port at the location pod1, all at one address."""
    api = pynautobot.api(nautobot.url, token=nautobot.token)
    active, kind = {"name": "Active"}, ["dcim.device"]
    api.dcim.location_types.create(name="Site", content_types=kind)
    api.dcim.locations.create(name="pod1", location_type={"name": "Site"}, status=active)
    api.dcim.manufacturers.create(name="Juniper")
    api.dcim.device_types.create(manufacturer={"name": "Juniper"}, model="QFX5240")
    api.dcim.platforms.create(name="junos-evo", network_driver="juniper_junos")
    api.extras.roles.create(name="leaf", content_types=kind)
    api.extras.custom_fields.create(label="NETCONF port", key="netconf_port", type="integer", content_types=kind)
    api.ipam.prefixes.create(prefix="127.0.0.0/8", status=active)
    (address,) = {address for address, _ in devices.values()}
    host = api.ipam.ip_addresses.create(address=f"{address}/32", status=active, namespace={"name": "Global"}).id
    common = {"device_type": {"model": "QFX5240"}, "role": {"name": "leaf"}, "location": {"name": "pod1"}}
    common |= {"status": active, "platform": {"name": "junos-evo"}}
    rows = [{"name": name, "custom_fields": {"netconf_port": port}, **common} for name, (_, port) in devices.items()]
    for device in api.dcim.devices.create(rows):
        port = api.dcim.interfaces.create(device=device.id, name="re0:mgmt-0", type="1000base-t", status=active)
        api.ipam.ip_address_to_interface.create(ip_address=host, interface=port.id)
        device.update({"primary_ip4": host})


def verify(pod: Site, *more: str) -> Outcome:
    """Compare the emulated switches with what the fabric expects of them."""
    return run(*pod.place("verify"), *more)


def test_deploy_verify_and_drift_reach_what_netbox_names(pod: Site) -> None:
    (pod.inventory / "groups.yaml").write_text("platform__junos: {options: {connect_timeout_s: 11}}\n")
    pushed = pod.deploy()
    assert pushed.code == 0, pushed.err
    pod.assert_all(pod.new)
    checked = verify(pod)
    assert checked.code == 0, checked.out + checked.err
    assert run(*pod.place("drift")).code == 0


def test_a_device_that_moved_in_netbox(netbox: Running, pod: Site) -> None:
    """The address counts that NetBox has now: with a wrong port there the device is not found."""
    api = pynetbox.api(netbox.url, token=netbox.token)
    api.dcim.devices.get(name="spine1").update({"custom_fields": {"netconf_port": 9}})
    found = run(*pod.place("plan"), "--brief")
    said = " ".join((found.out + found.err).split())
    assert found.code == 2, said
    assert "spine1: connect: no host key of [127.0.0.1]:9 is known" in said


@pytest.mark.parametrize("name", ["pdu1", 'x"; {{ y }} $(id) <b>', "ü" * 60])
def test_a_device_of_others_is_told(name: str, netbox: Running, pod: Site) -> None:
    api = pynetbox.api(netbox.url, token=netbox.token)
    one = api.dcim.devices.get(name="spine1")
    common = {key: getattr(one, key).id for key in ("site", "device_type", "role")} | {"tags": [one.tags[0].id]}
    api.dcim.devices.create(name=name, **common)
    found = verify(pod)
    assert found.code == 2
    assert "the fabric does not have" in found.err
    assert "filter_parameters" in found.err or "did you mean" in found.err


def test_a_device_that_netbox_lacks_is_told(netbox: Running, pod: Site) -> None:
    pynetbox.api(netbox.url, token=netbox.token).dcim.devices.get(name="spine1").delete()
    found = verify(pod)
    assert found.code == 2
    assert "it does not give spine1" in found.err


@pytest.mark.parametrize(("name", "told"), [("read-only", ""), ("v1", ""), ("wrong", "answers 403")])
def test_tokens(name: str, told: str, netbox: Running, pod: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokens of both versions, and one that may not write, are enough; a wrong one is told, and not shown."""
    token = netbox.tokens.get(name, "nbt_abcdefghijkl.wrongwrongwrong")
    monkeypatch.setenv("NETBOX_TOKEN", token)
    found = run(*pod.place("plan"), "--brief")
    assert token not in found.out + found.err
    assert found.code == (3 if told else 0), found.err
    assert told in found.err
    for path in pod.folder.rglob("*"):
        assert not path.is_file() or token.encode() not in path.read_bytes()
    assert json.dumps(token) not in pod.told()


def test_nautobot_names_the_devices(nautobot: Running, nautobot_pod: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """All switches are reached; then a port that changed, a device of others and a wrong token are told."""
    plan = (*nautobot_pod.place("plan"), "--brief")
    found = run(*plan)
    assert found.code == 0, found.out + found.err
    api = pynautobot.api(nautobot.url, token=nautobot.token)
    spine = api.dcim.devices.get(name="spine1")
    spine.update({"custom_fields": {"netconf_port": 9}})
    found = run(*plan)
    said = " ".join((found.out + found.err).split())
    assert (found.code, "spine1: connect: no host key of [127.0.0.1]:9 is known" in said) == (2, True), said
    spine.update({"name": 'x"; {{ y }} $(id) <b>'})
    found = run(*plan)
    assert (found.code, "the fabric does not have" in found.err) == (2, True), found.err
    wrong = "9" * 40
    monkeypatch.setenv("NAUTOBOT_TOKEN", wrong)
    found = run(*plan)
    assert (found.code, "answers 403; the token is not accepted" in found.err) == (3, True), found.err
    assert wrong not in found.out + found.err
