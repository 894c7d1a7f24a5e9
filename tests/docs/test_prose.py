"""The style of the prose finds what it is meant to find, and nothing in code."""

from __future__ import annotations

import runpy
from typing import Any

import pytest

from tests.conftest import ROOT

STYLE: dict[str, Any] = runpy.run_path(str(ROOT / "docs/site/prose.py"))
ALL = (*STYLE["SPELLING"], *STYLE["WORDS"])


def found(text: str) -> list[str]:
    return list(STYLE["_styled"]("page.md", STYLE["prose"](text), ALL))


@pytest.mark.parametrize(
    "text",
    [
        "the colour of a route", "Neighbours come up", "an optimised path", "the centre of a plane", "an artefact",
        "each of the rooms", "nobody knows why", "a seamless upgrade", "it leverages BGP", "obviously wrong",
        "the leaf is told so", "in order to push", "e.g. a leaf", "the the leaf",
    ],
)  # fmt: skip
def test_what_is_found(text: str) -> None:
    assert [line.split(":")[:2] for line in found(f"# Page\n\n{text}\n")] == [["page.md", "3"]]


@pytest.mark.parametrize(
    "text",
    [
        "the color of a route", "there is room for 4", "utilization of a link", "advertise, raise, otherwise",
        "`colour`", "```text\nneighbour-port-info-display\nobviously\n```", "[link](colour.md#behaviour)",
        "lldp neighbour-port-info-display", "<!-- colour -->",
    ],
)  # fmt: skip
def test_what_is_not(text: str) -> None:
    assert found(f"# Page\n\n{text}\n") == []


def test_places_stay_where_they_are() -> None:
    text = "# Page\n\n```text\ncolour\n```\n\nthe `x` colour\n"
    assert [line.split(": ")[0] for line in found(text)] == ["page.md:7"]
    assert len(STYLE["prose"](text)) == len(text)
