"""A fabric whose devices are maintained: emulated as its files have it, with files of its own for every test.

Whether a device is in graceful shutdown is asked of the databases of the emulated devices.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import yaml

from ailb_gen.api.connect import records_of
from ailb_gen.api.maintain import Maintainer, maintainer
from ailb_gen.deploy.maintenance_record import RecordedMaintenance, maintenances, newest
from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.fabric import EmulatedFabric
from ailb_gen.emulator.fleet import Fleet
from ailb_gen.emulator.source import entries, servers, specs, unmanaged, write_inventory
from ailb_gen.render.artifacts import RenderOptions
from ailb_gen.render.generate import rendering, write_rendering
from tests.conftest import design_of
from tests.deploy.fabric import BEFORE, LOGIN, PASSWORD, USER, VARIABLE, Outcome, run, statements

SENDER = "protocols bgp graceful-shutdown sender"
# What an upgrade installs, and how long the emulator then restarts, in seconds.
NEW, RESTART_S = "25.4R2.1-EVO", 1.2
IMAGE, CONTENT = f"junos-evo-install-qfx-ms-x86-64-{NEW}.iso", os.urandom(1 << 20)
TEXT = f"# The pod of the tests.\n{BEFORE}"


def generated(folder: Path, text: str = TEXT) -> Path:
    """Write a fabric file and its artifacts."""
    (folder / "fabric.yaml").write_text(text)
    write_rendering(rendering(design_of(text), folder / "artifacts", RenderOptions("curly", None)))
    return folder


@dataclass(frozen=True, slots=True)
class Pod:
    """A running fleet with its files; `before` are the bytes of all files, `old` the configurations of all devices."""

    folder: Path
    fleet: Fleet
    state: EmulatedFabric
    before: Mapping[str, bytes]
    old: Mapping[str, tuple[str, ...]]

    @property
    def fabric(self) -> Path:
        """The fabric file."""
        return self.folder / "fabric.yaml"

    @property
    def inventory(self) -> Path:
        """The folder of the inventory."""
        return self.folder / "inventory"

    @property
    def words(self) -> list[str]:
        """The beginning of the command line."""
        return ["maintain", str(self.fabric), str(self.folder / "artifacts"), "-i", str(self.inventory)]

    def command_line(self, *more: str) -> list[str]:
        """Return a whole command line, patient with nothing."""
        times = ["--pause", "0.02", "--minute", "1", "--verify-timeout", "5", "--confirm-minutes", "10"]
        return [*self.words, "--yes", *times, *more]

    def maintain(self, *more: str) -> Outcome:
        """Run the verb in this process."""
        return run(*self.command_line(*more))

    def service(self) -> Maintainer:
        """Return the service behind the verb."""
        return maintainer(self.fabric, self.folder / "artifacts", inventory=self.inventory)

    def files(self) -> dict[str, bytes]:
        """Return the bytes of the fabric file and of all generated files."""
        return files_of(self.folder)

    def configuration(self, name: str) -> tuple[str, ...]:
        """Return what a device says that it has."""
        return self.fleet.do(name, _active)

    def in_shutdown(self) -> set[str]:
        """Return the devices that are in graceful shutdown."""
        return {name for name in self.fleet.devices if any(SENDER in line for line in self.configuration(name))}

    def last(self) -> RecordedMaintenance | None:
        """Return the newest maintenance by its record, None if there is none."""
        return newest(maintenances(records_of(self.fabric)))

    def states(self) -> dict[str, str]:
        """Return what is told of the devices of the newest maintenance."""
        last = self.last()
        return {name: one.text for name, one in last.devices.items()} if last is not None else {}

    def assert_as_before(self) -> None:
        """Assert that files and devices are as they were before anything was done."""
        assert self.files() == self.before
        assert {name: self.configuration(name) for name in self.fleet.devices} == dict(self.old)

    def assert_told(self) -> None:
        """Assert that what is told of every device is true."""
        shut, states = self.in_shutdown(), self.states()
        for name in self.fleet.devices:
            text = states.get(name, "not begun")
            if text.startswith("in graceful shutdown"):
                assert name in shut, states
            elif text in ("not begun", "done", "given up, work not done"):
                assert name not in shut, states
        named = set(yaml.safe_load(self.fabric.read_text()).get("graceful_shutdown", []))
        sure = {name for name, text in states.items() if not text.startswith("going")}
        assert named & sure == shut & sure, states


def write_image(folder: Path) -> Path:
    """Write what the emulator takes for an image."""
    path = folder / IMAGE
    path.write_bytes(CONTENT)
    return path


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the bytes of the fabric file and of all generated files."""
    files = [folder / "fabric.yaml", *(path for path in (folder / "artifacts").rglob("*") if path.is_file())]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def _active(device: EmulatedDevice) -> tuple[str, ...]:
    return statements(device.database.active)


@contextmanager
def pod(made: Path, folder: Path, timeout_s: float = 60) -> Iterator[Pod]:
    """Emulate a copy of a generated fabric; an answer is waited for so long."""
    shutil.copytree(made, folder, dirs_exist_ok=True)
    artifacts = folder / "artifacts"
    state = EmulatedFabric.read(artifacts)
    with Fleet(specs(artifacts, USER, loaded=True), state, LOGIN, minute_s=1.0) as fleet:
        everything = entries(fleet) | unmanaged(servers(artifacts))
        write_inventory(folder / "inventory", everything, fleet.known_hosts(), USER, VARIABLE)
        defaults = folder / "inventory" / "defaults.yaml"
        said = yaml.safe_load(defaults.read_text()) | {"options": {"timeout_s": timeout_s, "connect_timeout_s": 2}}
        defaults.write_text(yaml.safe_dump(said))
        old = {name: statements(device.database.active) for name, device in fleet.devices.items()}
        with (
            mock.patch.dict("os.environ", {VARIABLE: PASSWORD}),
            mock.patch("ailb_gen.emulator.netconf.REBOOT_S", RESTART_S),
        ):
            yield Pod(folder, fleet, state, files_of(folder), old)
