"""Fabrics for exports: management addresses, two kinds of servers, and names that YAML takes for something else."""

from pathlib import Path

from ailb_gen.design.build import build
from ailb_gen.design.model import Design
from ailb_gen.exports.kind import ExportInput
from ailb_gen.exports.registry import KINDS
from ailb_gen.intent.load import load

# Names that a fabric may have: YAML 1.1 or 1.2 reads them as booleans, numbers, dates or nothing.
ODD = ("on", "No", "y", "null", "1e5", "0x1f", "1_000", "12.5", "2026-01-01", "0o17", "007", "True")
TEXT = """\
name: "1e3"
platform: qfx5240-64od
stripes: 1
rails: 2
spines: [{name: "off"}, {}]
colors: [Green, blue]
management: {gateway: 192.0.2.254, leaves: 192.0.2.11/24, spines: 192.0.2.1/24, servers: 192.0.2.101/24}
servers: {csv: servers.csv}
server_kinds: {storage: {rails: [1], gpus: off}}
"""


def fabric_file(folder: Path, names: tuple[str, ...] = ODD) -> Path:
    """Write a fabric with servers of these names from CSV, the last one of the kind storage."""
    rows = [f"{name},1,{'storage' if name == names[-1] else ''}\n" for name in names]
    (folder / "servers.csv").write_text("name,stripe,kind\n" + "".join(rows), encoding="utf-8")
    (folder / "fabric.yaml").write_text(TEXT, encoding="utf-8")
    return folder / "fabric.yaml"


def odd_design(folder: Path, names: tuple[str, ...] = ODD) -> Design:
    """Return the design of that fabric."""
    return build(load(fabric_file(folder, names)))[0]


def written(design: Design, kind: str, folder: Path) -> Path:
    """Write the files of an export into a folder, and return it."""
    (write,) = [one.write for one in KINDS if one.name == kind]
    for path, data in write(ExportInput(design)).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder
