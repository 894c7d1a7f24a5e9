"""The measured fabric answers as the computed one does, from what BIRD and the kernels say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ailb_gen.emulator.fabric_state import BgpSession, FabricState
from ailb_gen.network.fabric import End
from tests.lab.isolated import isolated
from tests.lab.running import emulated, running
from tests.network.lab import LAB

TOOLS = ("ip", "bird")


def answers(fabric: FabricState, names: tuple[str, ...]) -> dict[str, Any]:
    """Ask everything but times."""
    return {question: answer for name in names for question, answer in asked(fabric, name)}


def asked(fabric: FabricState, name: str) -> Iterator[tuple[str, Any]]:
    ports = [port for port in fabric.switch(name).ports if port.startswith("et-")]
    yield f"{name} links", {port: fabric.link_up(name, port) for port in ports}
    yield f"{name} neighbors", {port: fabric.neighbor(name, port) for port in ports}
    yield f"{name} advertisers", {port: fabric.advertiser(name, f"{port}.0") for port in ports}
    sessions = fabric.sessions(name)
    yield f"{name} sessions", tuple(replace(one, since=None) for one in sessions)
    yield f"{name} counts", dict(fabric.prefix_counts(name))
    yield f"{name} totals", fabric.route_totals(name)
    for prefix in fabric.prefixes(name):
        yield f"{name} {prefix} paths", sorted(fabric.paths(name, prefix), key=lambda path: path.interface)
        yield f"{name} {prefix} next hops", tuple(fabric.next_hops(name, prefix))
    for one in sessions:
        yield f"{name} to {one.interface}", dict(fabric.advertised(name, one))
        yield f"{name} to {one.interface}, count", fabric.advertised_count(name, one)


def lab_answers(root: Path, names: tuple[str, ...]) -> dict[str, Any]:
    return answers(running(root), names)


def test_measured_and_computed_answers_are_the_same() -> None:
    expected = emulated(LAB)
    names = tuple(sorted(path.stem for path in (LAB / "switches").glob("*.conf")))
    want = answers(expected, names)
    assert sum(1 for one in want if "paths" in one) > len(names)
    got = isolated(lab_answers, LAB, names, tools=TOOLS)
    assert got.keys() == want.keys()
    assert {one: got[one] for one in got if got[one] != want[one]} == {}
