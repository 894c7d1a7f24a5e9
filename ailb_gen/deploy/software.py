"""New Junos software for a switch, as work of a maintenance.

Every step asks the device first what is true: whether the release runs, whether it is installed, whether the image is
there. So a repeated call goes on where a former one was cut off.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ailb_gen.deploy.junos_release import Image, is_evolved, read_image, same_release
from ailb_gen.deploy.login import LOGIN_REFUSED
from ailb_gen.deploy.maintenance_work import WorkDevice, WorkError
from ailb_gen.deploy.switch_driver import DeviceError, Phase
from ailb_gen.errors import DeployError, UsageError
from ailb_gen.progress import Progress, quiet

if TYPE_CHECKING:
    from ailb_gen.deploy.device_software import DeviceSoftware, RunningSoftware

T = TypeVar("T")
# Seconds: between two looks at a device that restarts, how long it may take to begin, and, without an option, to end.
LOOK_S, BEGIN_S, RESTART_S = 5.0, 600.0, 2400.0
# Seconds that Junos has to install an image.
INSTALL_S = 3600.0
SLICE_S, CLOCK_S = 0.2, 60
MB = 1_000_000
# The reason of a device that refuses an image can be many lines.
LONGEST = 2000


@dataclass(frozen=True, slots=True)
class SoftwareWork:
    """Bring a switch to the release of an image: copy it, install it, restart the switch, compare the release.

    `validate` lets Junos compare the configuration with the new release before. An installation may take `install_s`
    seconds, a restart `restart_s`.
    """

    image: Image
    validate: bool = True
    install_s: float = INSTALL_S
    restart_s: float = RESTART_S

    @property
    def recorded(self) -> Mapping[str, object]:
        """The image, its digest and release, and the options."""
        return {
            "image": str(self.image.path),
            "sha256": self.image.sha256,
            "release": self.image.release,
            "validate": self.validate,
            "install_s": self.install_s,
            "restart_s": self.restart_s,
        }

    def check(self, device: WorkDevice) -> str:
        """Ask what the device runs, and whether the image is for it and fits; nothing is changed. Raises WorkError."""
        self._check_kind(device)
        try:
            running, copied, free = _asked(device, Phase.READ, self._look)
        finally:
            device.session.pool.close([device.name])
        if same_release(self.image.release, running.release):
            return f"it runs {running.release} already"
        self._check_image(device, running)
        if same_release(self.image.release, running.following):
            return ""
        # What is there already, whole or not, is replaced.
        if not copied and free is None:
            device.tell(f"{device.name}: no file system shows what is free on it; make sure that the image fits")
        elif not copied and free is not None and free < self.image.size:
            raise WorkError(
                f"{device.name}: {self.image.name} has {self.image.size:,} bytes, and {free:,} are free in /var/tmp; "
                "'request system storage cleanup' there makes room"
            )
        return ""

    def __call__(self, device: WorkDevice) -> None:
        """Do what is left to do. Raises WorkError."""
        try:
            self._carry_out(device)
        finally:
            device.session.pool.close([device.name])

    def _carry_out(self, device: WorkDevice) -> None:
        self._check_kind(device)
        running = self._reached(device)
        if same_release(self.image.release, running.release):
            device.tell(f"{device.name}: runs {running.release} already")
            return
        self._check_image(device, running)
        if same_release(self.image.release, running.following):
            device.tell(f"{device.name}: {running.following} is installed already and boots next")
        else:
            self._copy(device)
            self._install(device)
        self._restart(device, running)

    @staticmethod
    def _check_kind(device: WorkDevice) -> None:
        if device.name not in device.session.switches:
            raise WorkError(
                f"{device.name}: it is no switch; --software is for Junos, give servers a command behind '--'"
            )

    def _look(self, software: DeviceSoftware) -> tuple[RunningSoftware, bool, int | None]:
        """Return what runs, whether the image is there, and how many bytes are free."""
        running = software.running()
        if same_release(self.image.release, running.release):
            return running, True, None
        return running, software.digest(self.image.name) == self.image.sha256, software.free_bytes()

    def _check_image(self, device: WorkDevice, running: RunningSoftware) -> None:
        """Refuse a device that this work is not for, and an image of another family. Raises WorkError."""
        if running.refused:
            raise WorkError(
                f"{device.name}: {running.refused}; upgrade it as Juniper's manual says, by hand or with a command "
                "behind '--'"
            )
        if is_evolved(self.image.release) != is_evolved(running.release):
            kind, other = ("", " Evolved") if is_evolved(self.image.release) else (" Evolved", "")
            raise WorkError(
                f"{device.name}: it runs {running.release} of Junos OS{kind}, and {self.image.release} is of Junos "
                f"OS{other}; correct --release, or download the image for this platform"
            )
        image = self.image.family
        if image and running.family and image != running.family:
            raise WorkError(
                f"{device.name}: {self.image.name} is of the family {image}, and the device runs {running.family}; "
                "download the image for this platform"
            )

    def _reached(self, device: WorkDevice) -> RunningSoftware:
        """Return what a device runs, as soon as it answers: a former call may have restarted it. Raises WorkError."""
        until = time.monotonic() + self.restart_s
        while True:
            found = _tried(device, Phase.READ, lambda software: software.running())
            if not isinstance(found, DeviceError):
                return found
            if time.monotonic() >= until or not _may_answer(found):
                raise WorkError(f"{found}; nothing was done") from found
            _pause(device)

    def _copy(self, device: WorkDevice) -> None:
        """Copy the image, unless it is there, and compare its digest on the device. Raises WorkError."""
        if _asked(device, Phase.READ, self._copied) == self.image.sha256:
            device.tell(f"{device.name}: {self.image.name} is in /var/tmp already, with the same SHA-256")
            return
        with device.progress(f"{device.name}: copying the image, MB", -(-self.image.size // MB)) as advance:
            _asked(device, Phase.COPY, lambda software: software.copy(self.image.path, in_megabytes(advance)))
        found = _asked(device, Phase.READ, self._copied)
        if found != self.image.sha256:
            raise WorkError(
                f"{device.name}: the SHA-256 of /var/tmp/{self.image.name} is {found or 'missing'} after copying, and "
                f"{self.image.sha256} here; nothing was installed; repeat the command, which copies it again"
            )
        device.tell(f"{device.name}: {self.image.name} copied, its SHA-256 is right")

    def _copied(self, software: DeviceSoftware) -> str:
        return software.digest(self.image.name)

    def _install(self, device: WorkDevice) -> None:
        """Install the image, and look which release boots next. Raises WorkError."""
        device.tell(f"{device.name}: installing {self.image.name}, which takes minutes")
        refused = _asked(
            device, Phase.INSTALL, lambda software: software.install(self.image.name, self.validate, self.install_s)
        )
        if refused:
            raise WorkError(f"{device.name}: it refuses {self.image.name}: {refused[:LONGEST]}")
        following = _asked(device, Phase.READ, lambda software: software.running()).following
        if following and not same_release(self.image.release, following):
            raise WorkError(
                f"{device.name}: {following} boots next after the installation of {self.image.name}, not "
                f"{self.image.release}; it was not restarted; see 'show system software list' there"
            )

    def _restart(self, device: WorkDevice, before: RunningSoftware) -> None:
        """Restart the device, wait until it answers again, and compare its release. Raises WorkError."""
        device.tell(f"{device.name}: restarting")
        asked = _tried(device, Phase.REBOOT, lambda software: software.reboot())
        # A device that is going down need not answer any more; what happens next tells.
        found = self._restarted(device, before, asked if isinstance(asked, DeviceError) else None)
        if not same_release(self.image.release, found.release):
            raise WorkError(
                f"{device.name}: it runs {found.release} after the restart, not {self.image.release}; see "
                "'show system software list' and the log of its installation there"
            )
        device.tell(f"{device.name}: runs {found.release}, before {before.release}")

    def _restarted(self, device: WorkDevice, before: RunningSoftware, refused: DeviceError | None) -> RunningSoftware:
        """Wait until a device has booted again. Raises WorkError when it does not restart, or does not come back."""
        begun = time.monotonic()
        gone = False
        while True:
            found = _tried(device, Phase.READ, lambda software: software.running())
            gone = gone or isinstance(found, DeviceError)
            # A clock that is set moves the time of the last boot as well.
            if not isinstance(found, DeviceError) and found.booted > before.booted + (0 if gone else CLOCK_S):
                return found
            passed = time.monotonic() - begun
            if not gone and passed >= min(BEGIN_S, self.restart_s):
                why = f": {refused}" if refused is not None else ""
                raise WorkError(f"{device.name}: it has not begun to restart after {passed:.0f} s{why}")
            if passed >= self.restart_s:
                reason = f": {found}" if isinstance(found, DeviceError) else ""
                raise WorkError(
                    f"{device.name}: it does not answer {passed:.0f} s after it was restarted with "
                    f"{self.image.release}; look at its console{reason}"
                )
            _pause(device)


def _tried(device: WorkDevice, phase: Phase, act: Callable[[DeviceSoftware], T]) -> T | DeviceError:
    """Do something with the software of a device, which stays connected; return the error if it fails."""

    def work(_name: str, connection: Any) -> T:  # noqa: ANN401 - of the pool
        # PyEZ is imported when a switch is connected to.
        from ailb_gen.deploy.device_software import DeviceSoftware  # noqa: PLC0415

        return act(DeviceSoftware(connection))

    return device.session.pool.run([device.name], work, phase)[device.name]


def _may_answer(error: DeviceError) -> bool:
    """Return whether a device may be restarting: not where it answers, or where this side has no key or password."""
    wrong_here = isinstance(error.__cause__, DeployError) or LOGIN_REFUSED in error.reason
    return error.phase is Phase.CONNECT and not wrong_here


def _asked(device: WorkDevice, phase: Phase, act: Callable[[DeviceSoftware], T]) -> T:
    """Do the same. Raises WorkError."""
    found = _tried(device, phase, act)
    if isinstance(found, DeviceError):
        raise WorkError(f"{found}; repeat the command, which goes on from what the device then has") from found
    return found


def _pause(device: WorkDevice) -> None:
    """Wait until the next look. Raises WorkError on a signal."""
    until = time.monotonic() + LOOK_S
    while (left := until - time.monotonic()) > 0:
        if device.stopped():
            raise WorkError(f"{device.name}: stopped while it restarts; repeat the command, which waits for it")
        time.sleep(min(SLICE_S, left))


def software_work(
    path: Path,
    digest: str = "",
    release: str = "",
    validate: bool = True,
    install_s: float = INSTALL_S,
    restart_s: float = RESTART_S,
    progress: Progress = quiet,
) -> SoftwareWork:
    """Return the work of an image, whose SHA-256 is computed and compared once. Raises UsageError."""
    try:
        size = path.stat().st_size
    except OSError as error:
        raise UsageError(f"{path}: the image cannot be read: {error.strerror}; check the path") from error
    with progress("reading the image, MB", -(-size // MB)) as advance:
        return SoftwareWork(read_image(path, digest, release, in_megabytes(advance)), validate, install_s, restart_s)


def in_megabytes(advance: Callable[[int], None]) -> Callable[[int], None]:
    """Return what counts bytes and gives whole megabytes on."""
    seen = 0

    def count(size: int) -> None:
        nonlocal seen
        before, seen = seen, seen + size
        advance(seen // MB - before // MB)

    return count
