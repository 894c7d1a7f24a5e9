"""`docs/simulate.md`: the table of load balancers is that of the program, and all sections and kinds are in it."""

from __future__ import annotations

import os
import re

from ailb_gen.sim.balancers import BALANCERS, Parameter
from ailb_gen.sim.scenario.models import Scenario
from ailb_gen.sim.scenario.traffic import TrafficPart
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "simulate.md"
BEGIN, END = "<!-- load balancers: written by `make golden` -->\n", "<!-- end -->\n"


def default(parameter: Parameter) -> str:
    return f"{parameter.default:,.10g}"


def table() -> str:
    """The load balancers with their parameters, in Markdown."""
    lines = ["| name | what it does | source |", "|---|---|---|"]
    lines += [f"| `{one.name}` | {one.text} | {one.source} |" for one in BALANCERS.values()]
    lines += ["", "| load balancer | parameter | default | meaning |", "|---|---|---|---|"]
    shared: dict[Parameter, list[str]] = {}
    for one in BALANCERS.values():
        for parameter in one.parameters:
            shared.setdefault(parameter, []).append(f"`{one.name}`")
    lines += [f"| {', '.join(names)} | `{p.name}` | {default(p)} | {p.text} |" for p, names in shared.items()]
    return "\n".join(lines) + "\n"


def test_the_page_has_the_load_balancers_of_the_program() -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    shown, end, after = rest.partition(END)
    assert begin and end
    if os.environ.get("AILB_UPDATE_GOLDEN"):
        PAGE.write_text(before + BEGIN + table() + END + after, encoding="utf-8")
    else:
        assert shown == table(), "run: make golden"


def test_the_page_has_all_sections_and_kinds_of_traffic() -> None:
    rows = set(re.findall(r"^\| `([a-z_]+)` \|", PAGE.read_text(encoding="utf-8"), re.M))
    assert {*Scenario.model_fields, *TrafficPart.model_fields} - {"name"} <= rows
