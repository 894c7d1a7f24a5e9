"""The lab with its tables, and PDF as other programs read it."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

from ailb_gen.exports.kind import ExportInput
from ailb_gen.exports.print_request import PrintRequest
from tests.conftest import EXAMPLES, ROOT, example, need_tool

RACKS, LENGTHS = EXAMPLES / "lab" / "racks.csv", EXAMPLES / "lab" / "lengths.csv"
# Sets of rules for CSV, Markdown, PDF and programs that read them, in one name of a rack.
HOSTILE = "A<script>1|2\"3,4;`x` {{7}} $(id) Zürich '=cmd"


def lab(**options: Any) -> ExportInput:
    """Return the lab with its racks and lengths, and with other options of printing."""
    return ExportInput(example("lab"), printed=replace(PrintRequest(RACKS, LENGTHS), **options))


def with_rack(folder: Path, rack: str, device: str = "spine1") -> Path:
    """Write a table with one device in a rack."""
    quoted = rack.replace('"', '""')
    path = folder / "racks.csv"
    path.write_text(f'device,rack,unit\n{device},"{quoted}",7\n', encoding="utf-8")
    return path


def pdf_text(data: bytes, *words: str) -> str:
    """Return the text of a PDF as pdftotext reads it."""
    need_tool("pdftotext")
    return subprocess.run(["pdftotext", *words, "-", "-"], input=data, capture_output=True, check=True).stdout.decode()


def pdf_picture(data: bytes, folder: Path, dpi: int = 300) -> Path:
    """Return the first page of a PDF as a picture, drawn by pdftoppm."""
    need_tool("pdftoppm")
    (folder / "page.pdf").write_bytes(data)
    words = ["pdftoppm", "-r", str(dpi), "-f", "1", "-l", "1", "-png", "-singlefile", "page.pdf", "page"]
    subprocess.run(words, cwd=folder, check=True)
    return folder / "page.png"


def compare_golden(name: str, text: str) -> None:
    """Compare with a file that people have read; AILB_UPDATE_GOLDEN renews it. Blanks between columns do not count."""
    text = "".join(f"{' '.join(line.split())}\n" for line in text.splitlines() if line.strip())
    path = ROOT / "tests" / "golden" / "exports" / "printed" / name
    if os.environ.get("AILB_UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
