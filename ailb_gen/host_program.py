"""`ailb-host` as one file: the modules of `ailb_gen/ailb_host` in a zip archive that Python runs (PEP 441)."""

from __future__ import annotations

import io
import zipfile
from functools import cache

from ailb_gen.shipped import PACKAGE_DIR

SOURCE = PACKAGE_DIR / "ailb_host"
START = b"#!/usr/bin/env python3\n"
# Ctrl-C may come while modules are compiled.
MAIN = """import sys

try:
    from ailb_host.main import main

    code = main()
except KeyboardInterrupt:
    code = 130
sys.exit(code)
"""
# The least that a zip archive can say: the same modules are the same bytes everywhere.
WHEN = (1980, 1, 1, 0, 0, 0)


@cache
def host_program() -> bytes:
    """Return the program, not compressed: compressors of one version differ from those of another."""
    modules = {path.relative_to(SOURCE).as_posix(): path for path in SOURCE.rglob("*.py") if path.name != "__main__.py"}
    texts = {f"ailb_host/{name}": modules[name].read_text(encoding="utf-8") for name in sorted(modules)}
    buffer = io.BytesIO()
    buffer.write(START)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_STORED) as archive:
        for name, text in {"__main__.py": MAIN, **texts}.items():
            member = zipfile.ZipInfo(name, WHEN)
            member.create_system, member.external_attr = 3, 0o644 << 16
            archive.writestr(member, text)
    return buffer.getvalue()
