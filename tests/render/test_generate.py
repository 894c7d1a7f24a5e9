"""Partial runs: `--limit` touches what it names, and the manifest stays true."""

import json
from pathlib import Path
from typing import Any

from ailb_gen.render.artifacts import RenderOptions
from ailb_gen.render.generate import rendering, write_rendering
from tests.conftest import SMALL, design_of

CHANGED = SMALL + "bfd: {multiplier: 5}\nmtu: {host: 4200}\nroce: {enabled: off}\n"


def run(text: str, out: Path, selected: set[str] | None = None) -> tuple[str, ...]:
    planned = rendering(design_of(text), out, RenderOptions(), selected)
    write_rendering(planned)
    return (*planned.changes.new, *planned.changes.changed, *planned.changes.deleted)


def manifest(out: Path) -> dict[str, Any]:
    body: dict[str, Any] = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    return body


def test_a_limited_run_leaves_the_rest_and_the_input_digest(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(SMALL, out)
    before = manifest(out)
    touched = run(CHANGED, out, {"spine1"})
    assert sorted(touched) == ["manifest.json", "switches/spine1.conf"]
    assert manifest(out)["input_sha256"] == before["input_sha256"]
    assert set(manifest(out)["files"]) == set(before["files"])


def test_a_limited_run_removes_what_its_devices_no_longer_have(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(SMALL, out)
    run(CHANGED, out, {"server-001"})
    assert not (out / "profiles/stripe1/usr/local/sbin/ailb-qos").exists()
    assert (out / "profiles/stripe2/usr/local/sbin/ailb-qos").exists()


def test_a_first_limited_run_knows_no_whole_input(tmp_path: Path) -> None:
    run(SMALL, tmp_path / "out", {"spine1"})
    assert manifest(tmp_path / "out")["input_sha256"] is None
    assert list(manifest(tmp_path / "out")["files"]) == ["switches/spine1.conf"]


def test_changing_the_format_replaces_the_switch_files(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(SMALL, out)
    planned = rendering(design_of(SMALL), out, RenderOptions("set"))
    write_rendering(planned)
    assert {path.suffix for path in (out / "switches").iterdir()} == {".set"}
