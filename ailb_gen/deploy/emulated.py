"""Whether devices are those of an emulator: whether it runs, and which of them it has."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from ailb_gen.background import EMULATOR, INVENTORY_HEADLINE, running
from ailb_gen.deploy.inventory import Target
from ailb_gen.deploy.switch_driver import DeviceError, Phase
from ailb_gen.redact.known import causes


@dataclass(frozen=True, slots=True)
class Emulator:
    """The emulator that wrote an inventory, and the command that starts it."""

    directory: Path
    start: str
    runs: bool

    def lacks(self, target: Target) -> DeviceError | None:
        """Return the error of a device that the fabric got after the emulator was started; None for any other."""
        if target.listed:
            return None
        reason = f"not in {self.directory}: its emulator was started before the fabric had such a device"
        stop = EMULATOR.stop.format(directory=shlex.quote(str(self.directory)))
        return DeviceError(target.name, Phase.CONNECT, reason, f"restart it with: {stop} && {self.start}")

    def stopped(self, target: Target, error: BaseException) -> DeviceError | None:
        """Return the error of a device that refused a connection because its emulator is not running; else None."""
        if self.runs or not any(isinstance(one, ConnectionRefusedError) for one in causes(error)):
            return None
        reason = f"the emulator of {self.directory} is not running"
        return DeviceError(target.name, Phase.CONNECT, reason, f"start it with: {self.start}")


def emulator_of(directory: Path, source: Path) -> Emulator | None:
    """Return the emulator that wrote the inventory in a directory; None for an inventory of another origin.

    `source` is what it would be started from: an artifact directory or a fabric file.
    """
    try:
        with (directory / "hosts.yaml").open("rb") as file:
            own = file.read(len(INVENTORY_HEADLINE)) == INVENTORY_HEADLINE
    except OSError:
        # Reading the inventory has told what is wrong, or there is none.
        return None
    if not own or not (directory / EMULATOR.file).is_file():
        return None
    start = shlex.join(["ailb-gen", "emulate", str(source), "-i", str(directory), "--daemon"])
    return Emulator(directory, start, running(directory, EMULATOR) is not None)
