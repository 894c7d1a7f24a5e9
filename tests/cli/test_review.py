"""`ailb-gen review`: formats, exit codes, cost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ailb_gen.errors import ExitCode
from tests.cli.verbs import run
from tests.review.fabric import CHANGED, FABRIC, write


def words(tmp_path: Path, after: tuple[Path, Path], *more: str) -> list[str]:
    before = write(tmp_path / "before", FABRIC)
    return ["review", *map(str, after), "--before", *map(str, before), "--executor", "serial", *more]


def test_formats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kinds = {
        "md": "<!-- ailb-gen review: small -->",
        "json": "{",
        "junit": "<?xml",
        "sarif": "{",
        "html": "<!doctype html>",
    }
    reports = [word for kind in kinds for word in ("--report", f"{kind}=reports/{kind}")]
    after = write(tmp_path / "after", CHANGED)
    code, out, _ = run("-v", *words(tmp_path, after, *reports))
    assert code == 0 and "Waves of a push" in out
    for kind, start in kinds.items():
        assert (tmp_path / "reports" / kind).read_text().lower().startswith(start), kind
    code, out, err = run("-v", *words(tmp_path, after, "--json"))
    assert (code, json.loads(out)["fabric"]) == (0, "small")
    assert "review: of 7 switch files before the change, 7 differ and were read" in err


def test_exit_codes(tmp_path: Path) -> None:
    after = write(tmp_path / "after", CHANGED)
    switch = after[1] / "switches/stripe1-leaf1.conf"
    switch.write_text(switch.read_text().replace("fabric-color green", "fabric-color blue"))
    code, out, _ = run(*words(tmp_path, after))
    assert code == ExitCode.FINDINGS and "stripe1-leaf1" in out
    code, _, err = run("review", *map(str, after))
    assert code == ExitCode.BAD_INPUT and "--base REVISION, or --before FABRIC ARTIFACTS" in err
    code, _, err = run(*words(tmp_path, after, "--report", f"md={after[0]}"))
    assert code == ExitCode.BAD_INPUT and "is an input of this command" in err
