"""Every kind of export, byte by byte (`make golden` renews them)."""

import os
from pathlib import Path
from typing import Any

import pytest

from ailb_gen.exports.kind import ExportInput, Kind
from ailb_gen.exports.registry import KINDS
from tests.conftest import ROOT, example
from tests.exports.inputs import URL6, boot_input

GOLDEN = ROOT / "tests" / "golden" / "exports"
# The golden trees of generate have these files.
GENERATED = ("topology", "cabling")
# Other programs read these, in tests of their own: how bytes are compressed is not ours.
COMPRESSED = ("cable-labels-pdf", "racks-pdf")
# The example that shows an export, where it is not the reference fabric.
EXAMPLE: dict[str, str] = {"containerlab": "lab", "nornir": "mixed", "ansible": "mixed"}
# Exports of `boot.yaml`, with the options that they need.
BOOT: dict[str, dict[str, Any]] = {
    "ztp": {},
    "dhcp-kea4": {},
    "dhcp-kea6": {"url": URL6},
    "dhcp-isc": {},
    "network-operator": {},
}


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind.name not in GENERATED + COMPRESSED], ids=lambda kind: kind.name
)
def test_every_export_has_the_same_bytes_as_before(kind: Kind) -> None:
    folder = GOLDEN / kind.name
    given = boot_input(**BOOT[kind.name]) if kind.name in BOOT else ExportInput(example(EXAMPLE.get(kind.name, "jvd")))
    files = kind.write(given)
    if os.environ.get("AILB_UPDATE_GOLDEN"):
        for path, data in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
    assert files == {_name(path, folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _name(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()


def test_names_are_unique() -> None:
    assert len({kind.name for kind in KINDS}) == len(KINDS)
