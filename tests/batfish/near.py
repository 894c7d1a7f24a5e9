"""Batfish without a service: the plain interpreter behind the interface of the client, in this process.

A real service cannot run where the tests run, and the stand-in over HTTP is slower; `test_real.py` asks a real one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ailb_gen.batfish.model import Answer, Row
from ailb_gen.batfish.run import SecondOpinion, second_opinion
from ailb_gen.checks.catalogue import BY_ID, WITH_BATFISH, checks_of
from ailb_gen.checks.model import Finding, Result, RunOptions
from ailb_gen.checks.run import examine
from ailb_gen.intent.load import Intent
from tests.batfish import plain_rows, stand_in_text
from tests.batfish.plain import Snapshot, from_texts
from tests.batfish.plain_walk import Flow
from tests.batfish.stand_in_flows import differential
from tests.batfish.stand_in_text import Texts

ALL = frozenset(check.id for check in checks_of(WITH_BATFISH))
OF_SHADOW = frozenset(name for name in ALL if name > "AILB810")
# What other checks find in the files, for comparison: addresses, sessions, colors, paths, failures.
FAMILIES = ("AILB1", "AILB2", "AILB3", "AILB4", "AILB5")


class Near:
    """Answers like a service; `edit` may change an answer: it gets question, snapshot and rows."""

    version = "0.36.0"
    left_behind = ""

    def __init__(self, edit: Callable[[str, str, list[Row]], list[Row]] | None = None) -> None:
        self.snapshots: dict[str, Snapshot | Texts] = {}
        self.asked: list[tuple[str, str]] = []
        self.edit = edit

    def upload(self, snapshot: str, folder: Path) -> None:
        texts = {f"configs/{path.name}": path.read_text("utf-8") for path in folder.glob("configs/*")}
        real = stand_in_text.is_real(texts)
        self.snapshots[snapshot] = stand_in_text.read_texts(texts) if real else from_texts(texts)

    def fork(
        self, base: str, snapshot: str, nodes: Sequence[str] = (), interfaces: Sequence[tuple[str, str]] = ()
    ) -> None:
        self.snapshots[snapshot] = self.snapshots[base].without(nodes, interfaces)

    def ask(self, question: str, snapshot: str, reference: str | None = None, **parameters: object) -> Answer:
        self.asked.append((question, snapshot))
        rows = [_plain(row) for row in self._answer(question, snapshot, reference, parameters)]
        told = rows if self.edit is None else self.edit(question, snapshot, rows)
        return lambda: told

    def _answer(
        self, question: str, snapshot: str, reference: str | None, parameters: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        found = self.snapshots[snapshot]
        if reference is not None:
            before = self.snapshots[reference]
            assert isinstance(found, Snapshot) and isinstance(before, Snapshot)
            constraints = {"startLocation": parameters["start"]}
            asked = {"headers": {"dstIps": parameters["dst_ips"]}, "pathConstraints": constraints}
            return list(differential(found, before, asked))
        if isinstance(found, Texts):
            return stand_in_text.ask(found, question, **parameters)
        return plain_rows.ask(found, question, **parameters)


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


def judged(
    intent: Intent, root: Path, chosen: frozenset[str] = ALL, batfish: Near | None = None, seed: int = 1
) -> tuple[list[Result], list[Finding]]:
    """Return Batfish's results for a tree, and what the other checks find in it."""
    ids = frozenset(name for name in BY_ID if name[:5] in FAMILIES)
    run, context = examine(intent, root, RunOptions(ids, seed=seed, executor="serial"))
    results = list(second_opinion(batfish or Near(), SecondOpinion(context, chosen), Counted()))
    return results, [finding for result in run.results for finding in result.findings]
