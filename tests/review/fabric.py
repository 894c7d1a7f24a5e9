"""A small fabric before and after a change, as directories and as a git repository."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from ailb_gen.api.review import review
from ailb_gen.design.build import build
from ailb_gen.intent.load import load
from ailb_gen.render.artifacts import RenderOptions
from ailb_gen.render.generate import rendering, write_rendering
from ailb_gen.review.model import Review
from tests.conftest import SMALL

FABRIC = SMALL.replace("spines: 2", "spines: 3")
# One spine is taken out of service, and every session gets another timer.
CHANGED = f"{FABRIC}drain: [spine2]\nbfd: {{interval_ms: 300, multiplier: 4}}\n"
SAFE = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
AUTHOR = ("-c", "user.name=x", "-c", "user.email=x@example.net")


def write(folder: Path, text: str) -> tuple[Path, Path]:
    """Write a fabric file and what is generated from it below a folder; return both paths."""
    folder.mkdir(parents=True, exist_ok=True)
    fabric, artifacts = folder / "fabric.yaml", folder / "generated"
    fabric.write_text(text, encoding="utf-8")
    write_rendering(rendering(build(load(fabric))[0], artifacts, RenderOptions()))
    return fabric, artifacts


def git(folder: Path, *words: str) -> str:
    """Run git without the settings of this machine; return what it says."""
    done = subprocess.run(
        ["git", "-C", str(folder), *AUTHOR, *words],
        env=os.environ | SAFE,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def commit(folder: Path) -> str:
    """Commit all files of a folder; return the commit."""
    if not (folder / ".git").exists():
        git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "change")
    return git(folder, "rev-parse", "HEAD")


def reviewed(before: tuple[Path, Path], after: tuple[Path, Path], waivers: Path | None = None) -> Review:
    """Review a change in this process."""
    return review(*after, before=before, executor="serial", waivers=waivers)
