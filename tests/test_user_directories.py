"""Where the user's caches and state are, and which directories are trusted with code."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from ailb_gen.errors import UsageError
from ailb_gen.user_directories import cache_home, make_private, state_home
from tests.conftest import ROOT

FUNCTIONS = {"XDG_CACHE_HOME": (cache_home, ".cache"), "XDG_STATE_HOME": (state_home, ".local/state")}


@pytest.mark.parametrize("variable", FUNCTIONS)
def test_where_they_are(variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    function, default = FUNCTIONS[variable]
    monkeypatch.setenv("HOME", str(tmp_path))
    for unset in (None, ""):
        if unset is None:
            monkeypatch.delenv(variable, raising=False)
        else:
            monkeypatch.setenv(variable, unset)
        assert function() == tmp_path / default / "ailb-gen"
    monkeypatch.setenv(variable, str(tmp_path / "x"))
    assert function() == tmp_path / "x" / "ailb-gen"
    for relative in ("relative", ".", "~/x"):
        monkeypatch.setenv(variable, relative)
        with pytest.raises(UsageError, match=f"{variable} is '{relative}', not an absolute path; give one"):
            function()
    monkeypatch.delenv(variable)
    monkeypatch.setenv("HOME", ".")
    with pytest.raises(UsageError, match=rf"HOME is '\.', not an absolute path; give one, or set {variable}"):
        function()


@pytest.mark.parametrize("variable", FUNCTIONS)
def test_a_link_that_is_changed_later_leads_nowhere_else(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "x")
    monkeypatch.setenv(variable, str(link))
    assert FUNCTIONS[variable][0]() == tmp_path / "x" / "ailb-gen"


def test_a_directory_of_the_user_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    made = tmp_path / "ailb-gen" / "engine" / "state"
    for _ in range(2):
        make_private(made)
        folders = (made, made.parent, made.parent.parent)
        assert [stat.S_IMODE(one.stat().st_mode) for one in folders] == [0o700] * 3
        # As earlier versions made them: nobody else could write there.
        for one in folders:
            one.chmod(0o755)


@pytest.mark.parametrize("which", ["ailb-gen", "ailb-gen/engine", "ailb-gen/engine/state"])
@pytest.mark.parametrize("how", ["others write", "a group writes", "another owner", "a link", "a file"])
def test_a_directory_that_others_may_have_filled(
    which: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, engine = tmp_path / which, tmp_path / "ailb-gen/engine/state"
    path.parent.mkdir(parents=True, exist_ok=True)
    if how == "a link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        path.symlink_to(tmp_path / "elsewhere")
    elif how == "a file":
        path.touch()
    else:
        path.mkdir(mode=0o700)
    if how == "others write":
        path.chmod(0o702)
    elif how == "a group writes":
        path.chmod(0o770)
        lstat = Path.lstat
        monkeypatch.setattr(Path, "lstat", lambda self: _of_group(lstat(self), 4711))
    elif how == "another owner":
        uid = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: uid + 1)
    with pytest.raises(PermissionError, match=r"others can write|belongs to another user|is not a directory|is a link"):
        make_private(engine)


@pytest.mark.parametrize("how", ["others write", "a link"])
def test_what_others_could_get_to_may_be_theirs(how: str, tmp_path: Path) -> None:
    """A directory that was open: Numba's own in it may have been writable, and then what it holds is not trusted."""
    engine = tmp_path / "ailb-gen/engine/state"
    inner = engine / "of numba"
    make_private(engine)
    if how == "a link":
        inner.symlink_to(tmp_path)
    else:
        inner.mkdir()
        inner.chmod(0o777)
    # Nobody else gets there.
    make_private(engine)
    engine.chmod(0o755)
    with pytest.raises(PermissionError, match=rf"{re.escape(str(inner))}( is a link)?; remove it"):
        make_private(engine)
    assert stat.S_IMODE(engine.stat().st_mode) == 0o755


def _of_group(found: os.stat_result, group: int) -> os.stat_result:
    return os.stat_result([*found[:5], group, *found[6:]])


def test_a_place_where_others_can_replace_directories(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    with pytest.raises(PermissionError, match=f"others can write to {shared}"):
        make_private(shared / "ailb-gen")
    # Like /tmp: what is there can be replaced by its owner only.
    shared.chmod(0o1777)
    make_private(shared / "ailb-gen")


ENGINE = "from ailb_gen.sim.engine import jit, loop; print(jit.CACHE, jit.NOT_KEPT, type(loop.advance._cache).__name__)"


def asked(cache: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_CACHE_HOME": cache, "PYTHONPATH": str(ROOT), "NUMBA_DISABLE_JIT": "0"}
    words = [sys.executable, "-c", ENGINE]
    return subprocess.run(words, env=environment, cwd=cache, capture_output=True, text=True, check=False)


def test_compiled_functions_are_loaded_only_from_there(tmp_path: Path) -> None:
    good = asked(str(tmp_path))
    assert str(tmp_path / "ailb-gen/engine") in good.stdout, good.stderr
    assert "NullCache" not in good.stdout
    (tmp_path / "ailb-gen/engine").chmod(0o777)
    bad = asked(str(tmp_path))
    remedy = "remove it; another directory can be named in XDG_CACHE_HOME"
    assert bad.stdout == f"None others can write to {tmp_path}/ailb-gen/engine; {remedy} NullCache\n", bad.stderr
