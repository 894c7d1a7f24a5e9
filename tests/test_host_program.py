"""`ailb-host` as one file: it needs Python and nothing of this project, and is the same bytes everywhere."""

from __future__ import annotations

import ast
import io
import sys
import zipfile

from ailb_gen.host_program import SOURCE, host_program


def test_modules_import_the_standard_library_and_each_other() -> None:
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"), feature_version=(3, 8))):
            if isinstance(node, ast.Import):
                assert all(name.name.partition(".")[0] in sys.stdlib_module_names for name in node.names), path
            elif isinstance(node, ast.ImportFrom) and not node.level:
                assert (node.module or "").partition(".")[0] in sys.stdlib_module_names, path


def test_archive_holds_all_modules_and_nothing_that_changes() -> None:
    program = host_program()
    assert program.startswith(b"#!/usr/bin/env python3\nPK")
    with zipfile.ZipFile(io.BytesIO(program)) as archive:
        assert archive.testzip() is None
        names = {f"ailb_host/{path.relative_to(SOURCE)}" for path in SOURCE.rglob("*.py") if path.name != "__main__.py"}
        assert set(archive.namelist()) == names | {"__main__.py"}
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {member.compress_type for member in archive.infolist()} == {zipfile.ZIP_STORED}
