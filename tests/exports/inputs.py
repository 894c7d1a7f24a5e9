"""What the exports for the boot of devices are given in tests: a fabric whose devices are partly known, and a key."""

from pathlib import Path
from typing import Any

from ailb_gen.design.build import build
from ailb_gen.design.model import Design
from ailb_gen.exports.kind import BootOptions, ExportInput
from ailb_gen.intent.load import load

FOLDER = Path(__file__).parent
KEY = FOLDER / "boot.pub"
URL, URL6, PREFIX6 = "http://192.0.2.5:8000/day0/", "http://[2001:db8::5]:8000/", "2001:db8::/64"


def boot_design() -> Design:
    """Compute the design of `boot.yaml`: six switches, of which two have neither MAC nor serial number."""
    return build(load(FOLDER / "boot.yaml"))[0]


def boot_input(design: Design | None = None, told: list[str] | None = None, **options: Any) -> ExportInput:
    """Return the input of an export of `boot.yaml`, or of another design; `told` takes the lines for people."""
    usual = {"ssh_keys": (KEY,), "url": URL, "prefix6": PREFIX6, "nic_type": "1021"}
    tell = (lambda line: None) if told is None else told.append
    return ExportInput(design or boot_design(), boot=BootOptions(**(usual | options)), tell=tell)
