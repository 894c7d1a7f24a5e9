"""The tables by which a page traces paths: what is in them, and which failures can be chosen."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from ailb_gen.checks.context import Context
from ailb_gen.checks.failure_outcomes import CHUNK
from ailb_gen.report.html import paths
from ailb_gen.report.html.page import Page, html
from ailb_gen.report.html.paths import paths_section
from tests.checks.edited import LEAF, edited, intended, network, unchanged, without

Tables = Mapping[str, Any]


def tables(context: Context) -> Tables:
    data = paths_section(context).data
    found: Tables = json.loads(json.dumps(data))
    return found


def lab(**others: Any) -> Context:
    return Context(intended().fabric, unchanged(), **others)


def rows(packed: Sequence[str]) -> list[Any]:
    return [row for part in packed for row in json.loads(gzip.decompress(base64.b64decode(part)))]


def test_servers_and_switches_are_known_by_name_and_cable() -> None:
    found = tables(lab())
    assert found["devices"][: found["switches"]] == list(unchanged().switches)
    for name, profile, cables in found["hosts"]:
        nics = found["profiles"][profile]["nics"]
        assert nics == list(unchanged().hosts[name].profile.nics)
        for number, nic in enumerate(nics):
            device, port = cables[2 * number : 2 * number + 2]
            end = unchanged().attachments[name, nic]
            assert (found["devices"][device], found["texts"][port]) == (end.device, end.port)
    assert len(found["sessions"]) == len(unchanged().links)
    assert found["unstable"] == []


def test_all_failures_can_be_chosen_in_a_small_fabric() -> None:
    links, leaves = tables(lab())["failures"]
    assert links["links"] == list(range(16)) and len(links["switches"]) == 4
    assert len(leaves["switches"]) == 4 and not leaves["links"]
    assert len(rows(links["packed"])) == 20 and len(rows(leaves["packed"])) == 4


def test_what_the_check_of_failures_computed_is_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    context = lab(keep_changes=True)
    alone = tables(context)["failures"][0]
    assert context.failure_outcomes is not None and context.kept_outcomes is context.failure_outcomes
    monkeypatch.setattr(paths, "LEAVES", 0)
    monkeypatch.setattr(paths, "_changes", lambda *args: pytest.fail("computed again"))
    (kept,) = tables(context)["failures"]
    assert kept["size"] == CHUNK
    assert rows(kept["packed"]) == rows(alone["packed"])
    plain = lab()
    assert plain.failure_outcomes is not None and plain.failure_outcomes.changes == ()


def test_a_large_fabric_has_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "LINKS", 4)
    monkeypatch.setattr(paths, "LEAVES", 3)
    section = paths_section(lab())
    (only,) = json.loads(json.dumps(section.data))["failures"]
    assert only["links"] == [0, 4, 8, 12] and len(only["switches"]) == 4
    assert section.values["what"] == "a sample of 4 of the 16 fabric links, 4 switches, or the cable of a NIC"
    marked = ("spine2", "stripe1-leaf1:et-0/0/0 - spine1:et-0/0/0", "nobody")
    (more,) = json.loads(json.dumps(paths_section(lab(), marked).data))["failures"]
    assert more["links"] == [0, 1, 4, 5, 8, 9, 12]


def test_broken_trees_have_tables_too() -> None:
    """A leaf without a file, no switch at all, no server at all."""
    gone = tables(replace(lab(), network=without(LEAF)))
    assert LEAF in gone["devices"][gone["switches"] :]
    nothing = tables(replace(lab(), network=without(*unchanged().switches)))
    assert nothing["switches"] == 0 and nothing["sessions"] == [] and nothing["fib"] == []
    empty = replace(lab(), network=replace(unchanged(), hosts={}))
    assert tables(empty)["routed"] == 0
    assert "no paths to trace" in html(Page("a", "info", "a", sections=(paths_section(empty),)))


def test_prefixes_inside_and_around_a_queue_pairs_are_routed() -> None:
    own = "address fc00:1:1:1::1/64;"
    texts = edited((LEAF, own, f"{own} address fc00:1:1:1:8000::1/65; address fc00::9/16;"))
    found = tables(replace(lab(), network=network(texts)))
    routed = found["prefixes"][: found["routed"]]
    assert {text.split("/")[1] for text in routed} == {"16", "64", "65"}
