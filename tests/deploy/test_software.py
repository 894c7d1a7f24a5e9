"""New software for switches: real PyEZ over SSH, against the emulator, whose devices say what was done to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from unittest import mock

import pytest
from lxml import etree

from ailb_gen.deploy import software
from ailb_gen.deploy.maintenance_work import WorkDevice, WorkError
from ailb_gen.deploy.session import Access, DeploySession, open_session
from ailb_gen.deploy.software import SoftwareWork, software_work
from ailb_gen.emulator.config_database import UserSession
from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.faults import Fault
from ailb_gen.emulator.rpc import answer
from ailb_gen.emulator.software import CopiedFile
from tests.deploy.fabric import DRIVERS, SPINES, Generated, Site, hurried, site

OLD, NEW = "25.4R1.12-EVO", "25.4R2.1-EVO"
NAME = f"junos-evo-install-qfx-ms-x86-64-{NEW}.iso"
CONTENT = b"not really an image\n" * 5000
SPINE = SPINES[0]


@dataclass
class Bench:
    """A fabric that is emulated, a session to it, an image; `told` is what was said."""

    site: Site
    session: DeploySession
    image: Path
    told: list[str] = field(default_factory=list)
    stopped: bool = False

    def device(self, name: str = SPINE) -> WorkDevice:
        return WorkDevice(
            name, "spine", "", self.session, self.site.folder, tell=self.told.append, stopped=lambda: self.stopped
        )

    def work(self, **options: object) -> SoftwareWork:
        return software_work(self.image, **{"release": "25.4R2-EVO", "restart_s": 30.0, **options})  # type: ignore[arg-type]

    def fault(self, kind: str, phase: str, seconds: float | None = None) -> None:
        self.site.fleet.add_faults(SPINE, Fault(kind, phase, seconds=seconds))

    @property
    def releases(self) -> tuple[str, str]:
        """What runs, and what boots next."""
        there = self.site.device(SPINE).software
        return there.running, there.following

    @property
    def steps(self) -> list[str]:
        """What was said, without the device and what depends on the image."""
        return [text.removeprefix(f"{SPINE}: ").replace(NAME, "IMAGE") for text in self.told]


@pytest.fixture
def driver() -> str:
    return DRIVERS[1]


@pytest.fixture
def bench(small_fabric: Generated, tmp_path: Path, driver: str) -> Iterator[Bench]:
    image = tmp_path / "images" / NAME
    image.parent.mkdir()
    image.write_bytes(CONTENT)
    with ExitStack() as stack:
        stack.enter_context(hurried())
        for name, seconds in (("LOOK_S", 0.2), ("BEGIN_S", 2.0)):
            stack.enter_context(mock.patch.object(software, name, seconds))
        stack.enter_context(mock.patch("ailb_gen.emulator.netconf.REBOOT_S", 1.2))
        place = stack.enter_context(site(small_fabric, tmp_path))
        session = stack.enter_context(
            open_session(small_fabric.fabric, None, place.inventory, [], Access(driver=driver, jobs=4))
        )
        yield Bench(place, session, image)


@pytest.mark.parametrize("driver", DRIVERS)
def test_the_whole_of_it_and_again(bench: Bench) -> None:
    work = bench.work(digest=sha256(CONTENT).hexdigest().upper())
    assert work.check(bench.device()) == ""
    assert bench.releases == (OLD, OLD)
    assert bench.site.device(SPINE).software.files == {}
    work(bench.device())
    assert bench.releases == (NEW, NEW)
    assert bench.site.device(SPINE).software.files[f"/var/tmp/{NAME}"].digests["sha-256"] == work.image.sha256
    assert bench.steps == [
        "IMAGE copied, its SHA-256 is right",
        "installing IMAGE, which takes minutes",
        "restarting",
        f"runs {NEW}, before {OLD}",
    ]
    bench.told.clear()
    assert work.check(bench.device()) == f"it runs {NEW} already"
    started = bench.site.device(SPINE).started
    work(bench.device())
    assert bench.steps == [f"runs {NEW} already"]
    assert bench.site.device(SPINE).started == started
    # The other one has not been touched.
    assert bench.site.device(SPINES[1]).software.running == OLD


def test_a_damaged_copy_is_not_installed_and_copied_again(bench: Bench) -> None:
    bench.fault("damaged", "copy")
    work = bench.work()
    with pytest.raises(WorkError, match=f"{SPINE}: the SHA-256 of .* is [0-9a-f]{{64}} after copying"):
        work(bench.device())
    assert bench.releases == (OLD, OLD)
    assert bench.told == []
    work(bench.device())
    assert bench.steps[0] == "IMAGE copied, its SHA-256 is right"
    assert bench.releases == (NEW, NEW)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("kind", "phase", "reason", "first"),
    [
        ("drop-before", "copy", "copy: .*lost", "IMAGE copied, its SHA-256 is right"),
        ("drop-after", "copy", "copy: .*lost", "IMAGE is in /var/tmp already, with the same SHA-256"),
        ("disk-full", "copy", "copy: .*No space left on device", "IMAGE copied, its SHA-256 is right"),
        ("drop-before", "install", "install: the session was lost", "IMAGE is in /var/tmp already"),
        ("drop-after", "install", "install: the session was lost", f"{NEW} is installed already and boots next"),
        ("error", "install", "install: install fails: an injected fault", "IMAGE is in /var/tmp already"),
        (
            "bad-package",
            "install",
            f"{SPINE}: it refuses {NAME}: ERROR: {NAME} is not a valid package for this platform",
            "IMAGE is in /var/tmp already",
        ),
    ],
)
def test_a_repeated_call_goes_on(bench: Bench, kind: str, phase: str, reason: str, first: str) -> None:
    bench.fault(kind, phase)
    work = bench.work()
    with pytest.raises(WorkError, match=reason) as refused:
        work(bench.device())
    assert str(refused.value).startswith(SPINE)
    assert bench.releases[0] == OLD
    bench.told.clear()
    work(bench.device())
    assert bench.steps[0].startswith(first)
    assert bench.releases == (NEW, NEW)


def test_a_device_that_comes_back_with_the_old_release(bench: Bench) -> None:
    bench.fault("old-release", "restart")
    work = bench.work()
    with pytest.raises(WorkError, match=f"{SPINE}: it runs {OLD} after the restart, not 25.4R2-EVO"):
        work(bench.device())
    assert bench.releases == (OLD, OLD)
    bench.told.clear()
    work(bench.device())
    assert bench.steps[0].startswith("IMAGE is in /var/tmp already")
    assert bench.releases == (NEW, NEW)


def test_a_device_that_does_not_come_back(bench: Bench) -> None:
    bench.fault("no-return", "restart")
    with pytest.raises(WorkError, match=f"{SPINE}: it does not answer .* after it was restarted with 25.4R2-EVO"):
        bench.work(restart_s=3.0)(bench.device())
    assert bench.told[-1] == f"{SPINE}: restarting"
    # It may be restarting since a former call: a repeated one waits, and says that it did nothing.
    with pytest.raises(WorkError, match=r"connect: .*; nothing was done"):
        bench.work(restart_s=0.0)(bench.device())


def test_a_device_that_does_not_restart(bench: Bench) -> None:
    with (
        mock.patch("ailb_gen.emulator.host.DeviceHost.reboot"),
        pytest.raises(WorkError, match=f"{SPINE}: it has not begun to restart after 2 s"),
    ):
        bench.work()(bench.device())
    assert bench.releases == (OLD, NEW)


def test_a_device_that_was_restarted_by_a_former_call(bench: Bench) -> None:
    work = bench.work()
    bench.fault("drop-after", "install")
    with pytest.raises(WorkError, match="lost"):
        work(bench.device())
    bench.site.fleet.reboot(SPINE, 0.5)
    bench.told.clear()
    work(bench.device())
    assert bench.steps == [f"runs {NEW} already"]


def test_a_login_that_is_refused_is_not_repeated(bench: Bench) -> None:
    bench.site.fleet.add_faults(SPINE, Fault("refuse-auth", "connect", 0))
    with pytest.raises(WorkError, match=r"the login is refused; .*; nothing was done"):
        bench.work(restart_s=600.0)(bench.device())


def test_two_at_once(bench: Bench) -> None:
    work = bench.work()
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(work, map(bench.device, SPINES)))
    assert {bench.site.device(name).version for name in SPINES} == {NEW}


def test_a_signal_while_the_device_restarts(bench: Bench) -> None:
    bench.fault("no-return", "restart")
    device = bench.device()

    def tell(text: str) -> None:
        bench.stopped = "restarting" in text

    stopping = WorkDevice("spine1", "spine", "", device.session, device.folder, tell=tell, stopped=device.stopped)
    with pytest.raises(WorkError, match=f"{SPINE}: stopped while it restarts; repeat the command"):
        bench.work()(stopping)


def test_validation_is_junos_own_and_can_be_left_out(bench: Bench) -> None:
    refused = "<output>no</output><package-result>1</package-result>"
    with mock.patch("ailb_gen.emulator.netconf.answer", side_effect=_instead("request-package-add", refused)) as asked:
        for validate in (True, False):
            with pytest.raises(WorkError, match=f"{SPINE}: it refuses {NAME}: no$"):
                bench.work(validate=validate)(bench.device())
    added = [call.args[2] for call in asked.call_args_list if call.args[2].tag == "request-package-add"]
    assert [one.find("no-validate") is not None for one in added] == [False, True]


def test_no_room_on_the_device(bench: Bench) -> None:
    there = bench.site.device(SPINE).software
    there.files["/var/tmp/cores"] = CopiedFile(there.free_bytes)
    with pytest.raises(WorkError, match=r"has 100,000 bytes, and 0 are free in /var/tmp; 'request system storage"):
        bench.work().check(bench.device())
    # What is there already needs no room.
    there.files[f"/var/tmp/{NAME}"] = CopiedFile(len(CONTENT), {"sha-256": sha256(CONTENT).hexdigest()})
    assert bench.work().check(bench.device()) == ""


def test_an_image_of_another_family(bench: Bench) -> None:
    bench.image = bench.image.with_name("junos-evo-install-acx-f-x86-64-25.4R2.1-EVO.iso")
    bench.image.write_bytes(CONTENT)
    for act in (bench.work().check, bench.work()):
        with pytest.raises(WorkError, match="is of the family junos-evo-install-acx-f-x86-64, and the device runs"):
            act(bench.device())
    assert bench.releases == (OLD, OLD)


def test_a_release_of_the_other_system(bench: Bench) -> None:
    bench.image = bench.image.rename(bench.image.with_name("image.iso"))
    for act in (bench.work(release="25.4R2").check, bench.work(release="25.4R2")):
        with pytest.raises(WorkError, match=f"it runs {OLD} of Junos OS Evolved, and 25.4R2 is of Junos OS; correct"):
            act(bench.device())
    assert bench.releases == (OLD, OLD)


def test_several_routing_engines_are_refused(bench: Bench) -> None:
    both = (
        "<multi-routing-engine-results>"
        + "".join(
            f"<multi-routing-engine-item><re-name>re{number}</re-name><software-information>"
            f"<product-model>qfx5240-64od</product-model><junos-version>{OLD}</junos-version>"
            "</software-information></multi-routing-engine-item>"
            for number in (0, 1)
        )
        + "</multi-routing-engine-results>"
    )
    with (
        mock.patch("ailb_gen.emulator.netconf.answer", _instead("get-software-information", both)),
        pytest.raises(WorkError, match=r"several routing engines or members of a virtual chassis \(re0, re1\)"),
    ):
        bench.work().check(bench.device())


def test_a_server_is_refused(bench: Bench) -> None:
    with pytest.raises(WorkError, match="stripe1-h1: it is no switch"):
        bench.work().check(bench.device("stripe1-h1"))


def _instead(tag: str, body: str) -> Callable[[EmulatedDevice, UserSession, etree._Element], str]:
    """Return what answers as the emulator does, and one request with another body."""

    def answered(device: EmulatedDevice, session: UserSession, operation: etree._Element) -> str:
        return body if operation.tag == tag else answer(device, session, operation)

    return answered
