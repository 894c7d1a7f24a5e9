"""What is read of the software of a device, and how SCP reaches it."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import paramiko
import pytest
from lxml import etree

from ailb_gen.deploy.credentials import Credentials
from ailb_gen.deploy.device_software import DeviceSoftware, _scp_reach
from ailb_gen.deploy.login import SshReach
from ailb_gen.deploy.switch_driver import DeviceError
from tests.conftest import need_shared

KEY = paramiko.ECDSAKey.generate()
FILESYSTEM = (
    "<filesystem><total-blocks>1</total-blocks><available-blocks{}>{}</available-blocks>"
    "<mounted-on>{}</mounted-on></filesystem>"
)


def reach(port: int, proxy: str = "") -> SshReach:
    keys = paramiko.HostKeys()
    keys.add("leaf1" if port == 22 else f"[leaf1]:{port}", KEY.get_name(), KEY)
    return SshReach(
        "leaf1", "leaf1", port, Credentials("admin", None, None, None, None, False), keys, proxy_command=proxy
    )


@pytest.mark.parametrize(("port", "name", "to"), [(830, "leaf1", 22), (22, "leaf1", 22), (2022, "[leaf1]:2022", 2022)])
def test_scp_goes_to_ssh_where_netconf_has_a_port_alone(port: int, name: str, to: int) -> None:
    found = _scp_reach(reach(port))
    assert found.port == to
    # The same host keys, and no other.
    assert found.known_hosts.check(name, KEY)
    assert list(found.known_hosts.keys()) == [name]


def test_a_proxy_that_leads_to_netconf_alone() -> None:
    with pytest.raises(DeviceError, match=r"leads to port 830, where there is no SCP; write 'port: 22' in hosts\.yaml"):
        _scp_reach(reach(830, "ssh -W [leaf1]:830 jump"))


def free(*rows: str) -> int | None:
    root = etree.XML(f"<system-storage-information>{''.join(rows)}</system-storage-information>")
    driver = mock.Mock(device=None)
    with mock.patch("ailb_gen.deploy.device_software.ask", return_value=root):
        return DeviceSoftware(driver).free_bytes()


@pytest.mark.parametrize(
    ("mounted", "size"),
    [
        (("/", "/var", "/var/log"), 2 << 30),
        (("/", "/data/var", "/soft"), 2 << 30),
        (("/", "/.mount/var", "/.mount/tmp"), 2 << 30),
        (("/", "/.mount", "/tmp"), 2 << 30),
        (("/var/tmp", "/var", "/"), 1 << 30),
        (("/soft", "/run", "/variable"), None),
    ],
)
def test_the_file_system_of_the_directory(mounted: tuple[str, ...], size: int | None) -> None:
    rows = [FILESYSTEM.format(f' format="{number}.0G"', 7, at) for number, at in enumerate(mounted, 1)]
    assert free(*rows) == size


@pytest.mark.parametrize(
    ("attribute", "blocks", "size"),
    [
        (' format="916M"', "1874712", 916 << 20),
        (' format="45.5G"', "47710208", 91 << 29),
        (' format="0B"', "8", 4096),
        ("", "1874712", 1874712 * 512),
        ("", "many", None),
        ("", "", None),
    ],
)
def test_sizes(attribute: str, blocks: str, size: int | None) -> None:
    assert free(FILESYSTEM.format(attribute, blocks, "/var")) == size


def test_storage_of_real_devices() -> None:
    folder = need_shared("junos-replies/show-system-storage")
    found = {}
    for path in sorted(Path(folder).glob("*.xml")):
        root = etree.parse(path).getroot()
        for one in root.iter("{*}available-blocks"):
            shown = next((value for name, value in one.attrib.items() if str(name).endswith("format")), None)
            if shown is not None:
                one.set("format", str(shown))
        for one in root.iter():
            one.tag = etree.QName(one).localname if isinstance(one.tag, str) else one.tag
        found[path.name] = free(*(etree.tostring(one, encoding="unicode") for one in root.iter("filesystem")))
    assert any(size for size in found.values()), found
