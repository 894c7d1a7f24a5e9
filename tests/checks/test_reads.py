"""What check functions read is what the table says: else a finding could be missed after a change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache
from pathlib import Path

import pytest

import ailb_gen.network.cos
import ailb_gen.network.filters
import ailb_gen.network.model
import ailb_gen.network.policy
from ailb_gen.checks.catalogue import BY_ID
from ailb_gen.checks.context import Context
from ailb_gen.checks.model import Check, Findings
from ailb_gen.checks.reads import EVERYTHING, PART_OF, READS, parts_of
from ailb_gen.checks.run import CommitCheck
from ailb_gen.intent.load import Intent, load
from ailb_gen.network.difference import is_line
from ailb_gen.network.model import Switch
from ailb_gen.network.read import nothing, read_network
from tests.checks.recording import classes_of, recording, unshared
from tests.conftest import EXAMPLES, need_shared
from tests.mutations.catalogue import KINDS
from tests.mutations.kind import changes_of, chosen
from tests.mutations.score import GOLDEN, golden
from tests.mutations.tree import copy_with
from tests.mutations.unchanged import reading_once

TREES = ("lab", "jvd", "mixed", "static", "brownfield", "jvd-8-uplinks")
MODULES = (
    ailb_gen.network.cos,
    ailb_gen.network.filters,
    ailb_gen.network.model,
    ailb_gen.network.policy,
)


@cache
def intent_of(example: str) -> Intent:
    return load(EXAMPLES / example / "fabric.yaml")


def functions(failures: bool = False) -> dict[Callable[[Context, Findings], None], list[Check]]:
    """Return the checks by their function, without those of failures, which take long."""
    found = defaultdict(list)
    for check in BY_ID.values():
        if check.run is not None and (failures or check.family != "AILB5"):
            found[check.run].append(check)
    return found


def unlisted(example: str, root: Path, failures: bool = False) -> list[str]:
    """Return the fields that functions without findings read, and that the table has not."""
    intent = intent_of(example)
    with reading_once(GOLDEN / example):
        reading = read_network(root, nothing)
    network = replace(reading.network, switches=unshared(reading.network.switches))
    classes = set().union(*map(classes_of, network.switches.values()), {Switch})
    wrong = []
    for function, checks in functions(failures).items():
        context, findings = Context(intent.fabric, network, intent.digest, root, reading.records, None, 1), Findings()
        listed = READS.get(checks[0].id)
        if listed is None:
            continue
        with recording(classes) as read:
            function(context, findings)
        if any(findings.found[check.id] for check in checks):
            continue
        counted = {name for name in read if not is_line(name.partition(".")[2])} - {"Network.switches"}
        wrong += [f"{checks[0].id} {name}" for name in sorted(counted) if not parts_of([name]) <= listed]
    return wrong


@pytest.mark.parametrize("example", TREES)
def test_functions_read_what_the_table_says(example: str) -> None:
    assert unlisted(example, GOLDEN / example) == []


def test_failures_read_what_the_table_says() -> None:
    assert unlisted("lab", GOLDEN / "lab", failures=True) == []


@pytest.mark.sampled(60, 8)
@pytest.mark.parametrize("name", [row.name for row in KINDS if "lab" in row.examples])
def test_functions_read_nothing_else_of_what_is_damaged(name: str, tmp_path: Path) -> None:
    row = next(row for row in KINDS if row.name == name)
    changes = changes_of(row, golden("lab"), chosen(row, golden("lab"), "lab", 1))
    copy_with(GOLDEN / "lab", changes, tmp_path / "out")
    assert unlisted("lab", tmp_path / "out") == []


def test_a_field_that_is_read_and_not_listed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(READS, "AILB710", READS["AILB710"] - {"MTUs"})
    assert "AILB710 Port.mtu" in unlisted("lab", GOLDEN / "lab")


def test_the_commit_check_reads_its_own_part() -> None:
    reading = read_network(GOLDEN / "lab", CommitCheck(need_shared("yang/24.4R1-EVO")))
    (function,) = {function for function, checks in functions().items() if checks[0].family == "AILB9"}
    intent, root = intent_of("lab"), GOLDEN / "lab"
    context = Context(intent.fabric, reading.network, intent.digest, root, reading.records, reading.inspected, 1)
    with recording(set().union(*map(classes_of, reading.network.switches.values()))) as read:
        function(context, Findings())
    assert parts_of(read - {"Network.switches", "Switch.file"}) == READS["AILB901"]


def test_checks_with_one_function_have_one_row() -> None:
    for checks in functions(failures=True).values():
        assert len({READS.get(check.id) for check in checks}) == 1, [check.id for check in checks]


def test_rows_name_checks_and_parts_that_exist() -> None:
    assert {*READS} <= {*BY_ID}
    assert frozenset().union(*READS.values()) <= {*PART_OF.values()}


def test_every_field_of_a_switch_is_in_one_part() -> None:
    models = [
        kind
        for module in MODULES
        for kind in vars(module).values()
        if getattr(kind, "__module__", "") == module.__name__
    ]
    for kind in models:
        if isinstance(kind, type) and hasattr(kind, "__dataclass_fields__"):
            names = {f"{kind.__name__}.{row.name}" for row in fields(kind) if not is_line(row.name)}
            assert EVERYTHING not in parts_of(names), kind
    assert parts_of(["Switch.new"]) == {EVERYTHING}
