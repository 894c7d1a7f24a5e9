"""Private candidates: the changes of a session, applied to what others have committed since.

Source: Juniper, CLI User Guide, "Using the configure private Command".
"""

from __future__ import annotations

from ailb_gen.emulator.load_config import load_set
from ailb_gen.junos.diff import diff
from ailb_gen.junos.tree import Node
from ailb_gen.junos.writer import set_lines


class ConflictError(Exception):
    """Two sessions have changed the same statement."""


def rebased(base: Node, mine: Node, theirs: Node) -> Node:
    """Return `theirs` with the changes from `base` to `mine`; no tree is changed. Raises ConflictError."""
    if theirs is base:
        return mine
    if mine is base:
        return theirs
    merged, other = _changed(base, mine, theirs), _changed(base, theirs, mine)
    # Changes that do not touch each other give the same whichever comes last.
    odd = set(set_lines(merged, [])) ^ set(set_lines(other, []))
    if odd:
        raise ConflictError(f"merge conflict, another session has changed it too: {min(odd)}")
    return merged


def _changed(base: Node, to: Node, target: Node) -> Node:
    commands = "".join(f"{change}\n" for change in diff(base, to))
    return load_set(target, commands)[0]
