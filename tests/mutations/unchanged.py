"""Read once what mutations leave alone: files that are still hard links to those of the golden tree."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from unittest.mock import patch

import ailb_gen.hosts.read
import ailb_gen.network.read
from ailb_gen.hosts.alike_yaml import AlikeYaml
from ailb_gen.hosts.model import ServerProfile
from ailb_gen.junos.alike import AlikeReader

read_switch = ailb_gen.network.read.read_switch
# What was changed is alike to what was not.
READER = AlikeReader()
_read_profile = ailb_gen.hosts.read.read_profile


@contextmanager
def reading_once(golden: Path) -> Iterator[None]:
    """Have copies of a golden tree read with what was read of that tree, wherever nothing was changed."""
    with (
        patch.object(ailb_gen.network.read, "read_switch", partial(_switch, golden)),
        patch.object(ailb_gen.hosts.read, "read_profile", partial(_profile, golden)),
    ):
        yield


def _switch(golden: Path, root: Path, file: str, inspect: Callable[..., object], reader: AlikeReader) -> object:
    if _is_unchanged(golden / file, root / file):
        return _golden_switch(golden, file, inspect)
    return read_switch(root, file, inspect, READER)


def _profile(golden: Path, root: Path, name: str, yaml: AlikeYaml) -> ServerProfile:
    here, there = _entries(root / name), _golden_entries(golden / name)
    if here == there and all(_is_unchanged(golden / name / entry, root / name / entry) for entry in here):
        return _golden_profile(golden, name)
    return _read_profile(root, name, yaml)


def _is_unchanged(old: Path, new: Path) -> bool:
    """Return whether two paths are the same file, or folders with the same mode; never true of links."""
    try:
        was, now = old.lstat(), new.lstat()
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(now.st_mode):
        return was.st_mode == now.st_mode
    return stat.S_ISREG(now.st_mode) and os.path.samestat(was, now)


def _entries(folder: Path) -> list[str]:
    """List the files, links and folders below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@cache
def _golden_entries(folder: Path) -> list[str]:
    return _entries(folder)


@cache
def _golden_switch(golden: Path, file: str, inspect: Callable[..., object]) -> object:
    return read_switch(golden, file, inspect, READER)


@cache
def _golden_profile(golden: Path, name: str) -> ServerProfile:
    return _read_profile(golden, name)
