"""The schema that several tests share, and short ways to check a text."""

from functools import cache
from pathlib import Path

from ailb_gen.junos.check import check
from ailb_gen.junos.check_result import CheckResult
from ailb_gen.junos.groups import active, inherited
from ailb_gen.junos.reader import read
from ailb_gen.junos.schema import Schema, load_schema
from ailb_gen.junos.tree import TAGGED, Node
from tests.conftest import need_shared

MODELS = "yang/24.4R1-EVO"


@cache
def _schema(directory: Path) -> Schema:
    # From the user's cache: the first test process of all builds it, the others wait and read it.
    return load_schema(directory)


def schema() -> Schema:
    """Return the schema of the shared models, or skip."""
    return _schema(need_shared(MODELS))


def outcome_of(text: str) -> CheckResult:
    """Check a text as the verb does."""
    return outcome_of_tree(read(text))


def outcome_of_file(path: Path) -> CheckResult:
    """Check a file as the verb does."""
    return outcome_of_tree(read(path.read_text(encoding="utf-8"), str(path)))


def outcome_of_tree(root: Node) -> CheckResult:
    """Check what a tree amounts to, and its groups."""
    written = active(root)
    return check(inherited(written), schema(), written.get("groups"))


def said(text: str) -> list[tuple[str, str, str]]:
    """Return kind, statement and message of every violation, Juniper's words where there are any."""
    return [(one.kind, " ".join(one.path), one.juniper or one.message) for one in outcome_of(text).findings]


def signature(root: Node) -> list[tuple[tuple[str, ...], int]]:
    """Return every word of a tree by its path, with its tags."""
    found = []
    stack: list[tuple[tuple[str, ...], Node]] = [((), root)]
    while stack:
        path, node = stack.pop()
        for child in node:
            words = (*path, child.word)
            found.append((words, child.flags & TAGGED))
            stack.append((words, child))
    return sorted(found)
