"""Software of devices: what PyEZ sends to install it, over real SSH, and what SCP may write."""

from __future__ import annotations

from hashlib import md5, sha1, sha256
from pathlib import Path

import pytest
from jnpr.junos.exception import RpcError
from jnpr.junos.utils.fs import FS
from jnpr.junos.utils.sw import SW
from scp import SCPException

from ailb_gen.emulator.device import VERSION
from ailb_gen.emulator.faults import Fault
from ailb_gen.emulator.fleet import Fleet
from ailb_gen.emulator.software import TOTAL_KIB, CopiedFile, Software
from tests.emulator.fleets import LEAF, pyez, ssh, until

NEW = "25.4R2.1-EVO"
NAME = f"junos-evo-install-qfx-ms-x86-64-{NEW}.iso"
CONTENT = b"an image" * 20_000


@pytest.fixture
def image(tmp_path: Path) -> Path:
    path = tmp_path / NAME
    path.write_bytes(CONTENT)
    return path


@pytest.mark.usefixtures("quick_reboots")
def test_what_pyez_does_to_install_an_image(fleet: Fleet, image: Path) -> None:
    told: list[str] = []
    with pyez(fleet) as device:
        before = FS(device).storage_usage()["re0"]["/dev/sda6"]
        software = SW(device)
        done, text = software.install(
            str(image),
            checksum=sha256(CONTENT).hexdigest(),
            checksum_algorithm="sha256",
            cleanfs=False,
            progress=lambda _device, report: told.append(report),
        )
        assert (done, text.splitlines()[-1]) == (True, "NOTE: A reboot is required to start using the new software.")
        assert "checksum check passed." in told
        for algorithm, digest in (("md5", md5), ("sha1", sha1), ("sha256", sha256)):
            there = software.remote_checksum(f"/var/tmp/{NAME}", algorithm=algorithm)
            assert there == digest(CONTENT).hexdigest(), algorithm
        after = FS(device).storage_usage()["re0"]["/dev/sda6"]
        assert before["avail_block"] - after["avail_block"] == -(-len(CONTENT) // 1024)
        rows = device.cli("show system software list", warning=False).splitlines()
        assert [row[:4] for row in rows if "junos-evo-install" in row] == [" >  ", " -  "]
        assert device.facts["version"] == VERSION
        software.reboot()
    until(lambda: fleet.do(LEAF, lambda one: one.version) == NEW)

    def version() -> str:
        try:
            with pyez(fleet) as device:
                return str(device.facts["version"])
        except Exception as error:  # noqa: BLE001 - the device is away
            return type(error).__name__

    until(lambda: version() == NEW)


def test_a_package_that_is_refused(fleet: Fleet, tmp_path: Path) -> None:
    other = tmp_path / "jinstall-ppc-18.4R3-S10-signed.tgz"
    other.write_bytes(b"x")
    with pyez(fleet) as device:
        software = SW(device)
        assert software.pkgadd("/var/tmp/none.iso") == (
            False,
            "\nERROR: package: /var/tmp/none.iso is not found or empty\n",
        )
        software.put(str(other))
        done, text = software.pkgadd(f"/var/tmp/{other.name}")
        assert (done, text.strip()) == (False, f"ERROR: {other.name} is not a valid package for this platform")
        with pytest.raises(RpcError, match="syntax error"):
            device.rpc.request_package_add(package_name="/var/tmp/x.iso", unlink=True)
    assert fleet.devices[LEAF].software.following == VERSION


def test_only_one_directory_can_be_written(fleet: Fleet, image: Path) -> None:
    with pyez(fleet) as device:
        for path in ("/etc", "/var/tmp/../../etc", "/var/tmp/none/x", str(image.parent)):
            with pytest.raises(SCPException, match=r"Permission denied|No such file"):
                SW(device).put(str(image), remote_path=path)
    assert fleet.devices[LEAF].software.files == {}


def test_nothing_can_be_read(fleet: Fleet) -> None:
    fleet.do(LEAF, lambda one: one.software.files.update({"/var/tmp/x": CopiedFile(1)}))
    out, err, code = ssh(fleet, "scp -f /var/tmp/x")
    assert (code, "unknown command" in out + err) == (1, True), (out, err, code)


def test_a_file_that_does_not_fit(fleet: Fleet, image: Path) -> None:
    fleet.do(LEAF, lambda one: one.software.files.update({"/var/tmp/x": CopiedFile(TOTAL_KIB * 1024)}))
    assert fleet.devices[LEAF].software.free_bytes == 0
    with pyez(fleet) as device, pytest.raises(SCPException, match="No space left on device"):
        SW(device).put(str(image))


@pytest.mark.parametrize("kind", ["damaged", "disk-full"])
def test_faults_of_copying(fleet: Fleet, image: Path, kind: str) -> None:
    fleet.add_faults(LEAF, Fault(kind, "copy"))
    with pyez(fleet) as device:
        software = SW(device)
        if kind == "disk-full":
            with pytest.raises(SCPException, match="No space left on device"):
                software.put(str(image))
        else:
            software.put(str(image))
        assert software.remote_checksum(f"/var/tmp/{NAME}") != md5(CONTENT).hexdigest()
        software.put(str(image))
        assert software.remote_checksum(f"/var/tmp/{NAME}") == md5(CONTENT).hexdigest()


def test_a_release_that_was_installed_before_boots_again() -> None:
    software = Software("A", 1.0)
    software.files["/var/tmp/" + NAME] = CopiedFile(1)
    assert software.install("/var/tmp/" + NAME, 2.0) == ""
    assert [software.mark(release) for release in software.installed] == ["-", ">"]
    software.boot()
    assert (software.running, [software.mark(release) for release in software.installed]) == (NEW, [" ", "-"])
