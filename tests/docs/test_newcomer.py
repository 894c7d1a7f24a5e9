"""What a newcomer does first: Start and Tutorial, as one script on a clean clone."""

from __future__ import annotations

import os
import re
import shutil
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.conftest import ROOT, need_tool
from tests.docs.script import differences, run, silent, steps

PAGES = [ROOT / "docs" / name for name in ("start.md", "tutorial.md")]
PICTURES = sorted(path.name for path in (ROOT / "docs/pictures").glob("pod7-*.svg"))
# The identity and the branch names of a user's Git; programs print what they print on a terminal of 80 columns.
GIT = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Kim"), ("EMAIL", "kim@example.net"))
}
OURS = ("PYTHONPATH", "VIRTUAL_ENV", "AILB_YANG", "AILB_PASSWORD")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Give what a clone of this checkout has, with the changes that are not committed yet."""
    ignored = [line.rstrip("/") for line in (ROOT / ".gitignore").read_text(encoding="utf-8").split()]
    return Path(
        shutil.copytree(ROOT, tmp_path / "ailb-gen", symlinks=True, ignore=shutil.ignore_patterns(".git", *ignored))
    )


@pytest.mark.long
def test_start_and_tutorial_are_true(clone: Path) -> None:
    need_tool("ssh")
    need_tool("git")
    todo = [step for page in PAGES for step in steps(page)]
    env = {name: value for name, value in os.environ.items() if name not in OURS}
    env |= {"COLUMNS": "80", "LC_ALL": "C.UTF-8", "GIT_CONFIG_GLOBAL": "/dev/null", **GIT}
    run(todo, clone, env)
    assert silent(todo, clone.parent) == []
    assert differences(todo) == []
    # The last page says what to delete to start over.
    told = re.search(r"To start over, delete (.*?)\n\n", PAGES[-1].read_text(encoding="utf-8"), re.S)
    assert told is not None
    named = re.findall(r"`\.\./([^`]+)`", told[1])
    left = [path.name for path in clone.parent.iterdir() if path != clone]
    assert [name for name in left if not any(fnmatch(name, pattern) for pattern in named)] == []
    # What they show is compared by tests/test_pictures.py.
    assert sorted(path.name for path in clone.parent.glob("*.svg")) == PICTURES
