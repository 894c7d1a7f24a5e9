"""The fake behind the interface of the client, in this process: faster than over HTTP; and runs of both engines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ailb_gen.batfish.answers import Answer, Row
from ailb_gen.batfish.run import SecondOpinion, second_opinion
from ailb_gen.checks.catalogue import BY_ID, WITH_BATFISH, checks_of
from ailb_gen.checks.model import Finding, Result, RunOptions
from ailb_gen.checks.run import examine
from ailb_gen.intent.load import Intent
from tests.batfish.fake import answers
from tests.batfish.fake.snapshot import Flow, Snapshot, read

ALL = frozenset(check.id for check in checks_of(WITH_BATFISH))
OF_SHADOW = frozenset(name for name in ALL if name > "AILB810")
# What other checks find in the files, for comparison: addresses, sessions, colors, paths, failures.
FAMILIES = ("AILB1", "AILB2", "AILB3", "AILB4", "AILB5")


class Near:
    """Answers like a service; `edit` may change an answer: it gets question, snapshot and rows."""

    version = "0.36.0"
    left_behind = ""

    def __init__(self, edit: Callable[[str, str, list[Row]], list[Row]] | None = None) -> None:
        self.snapshots: dict[str, Snapshot] = {}
        self.asked: list[tuple[str, str, dict[str, object]]] = []
        self.edit = edit

    def upload(self, snapshot: str, folder: Path) -> None:
        self.snapshots[snapshot] = read(folder)

    def fork(
        self, base: str, snapshot: str, nodes: Sequence[str] = (), interfaces: Sequence[tuple[str, str]] = ()
    ) -> None:
        self.snapshots[snapshot] = self.snapshots[base].without(nodes, interfaces)

    def ask(self, question: str, snapshot: str, reference: str | None = None, **parameters: object) -> Answer:
        self.asked.append((question, snapshot, parameters))
        rows = self._rows(question, snapshot, reference, parameters)
        edited = rows if self.edit is None else self.edit(question, snapshot, rows)
        return lambda: edited

    def _rows(self, question: str, snapshot: str, reference: str | None, parameters: Mapping[str, Any]) -> list[Row]:
        given = dict(parameters)
        if reference is not None:
            given = {"headers": {"dstIps": given["dst_ips"]}, "pathConstraints": {"startLocation": given["start"]}}
        before = None if reference is None else self.snapshots[reference]
        return [_plain(row) for row in answers.answer(self.snapshots[snapshot], question, before, **given)]


def _plain(row: Mapping[str, Any]) -> Row:
    """Write a flow as the client does: as text, with three columns more."""
    flow = row.get("Flow")
    if not isinstance(flow, Flow):
        return dict(row)
    parts = {"Flow.ingressNode": flow.node, "Flow.ingressInterface": flow.interface, "Flow.dstIp": str(flow.address)}
    return {**row, "Flow": str(flow), **parts}


class Counted:
    """Progress that is written down: the units of every stage, and how many of them were done."""

    def __init__(self) -> None:
        self.stages: list[tuple[str, int]] = []
        self.done: list[int] = []

    def __call__(self, count: int) -> None:
        self.done[-1] += count

    def stage(self, name: str, total: int) -> None:
        self.stages.append((name, total))
        self.done.append(0)


def opinion(intent: Intent, root: Path, chosen: frozenset[str] = ALL) -> SecondOpinion:
    """Return what a second opinion of a tree is made from; no other check runs."""
    _, context = examine(intent, root, RunOptions(frozenset(), executor="serial"))
    return SecondOpinion(context, chosen)


def judged(
    intent: Intent, root: Path, chosen: frozenset[str] = ALL, batfish: Near | None = None, seed: int = 1
) -> tuple[list[Result], list[Finding]]:
    """Return Batfish's results for a tree, and what the other checks find in it."""
    ids = frozenset(name for name in BY_ID if name[:5] in FAMILIES)
    run, context = examine(intent, root, RunOptions(ids, seed=seed, executor="serial"))
    results = list(second_opinion(batfish or Near(), SecondOpinion(context, chosen), Counted()))
    return results, [finding for result in run.results for finding in result.findings]
