"""BIRD and kernels against `routing` on random fabrics, with every mistake that files can have."""

from __future__ import annotations

import random
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from ailb_gen.addresses import Prefix
from ailb_gen.errors import IntentError
from ailb_gen.network.read import read_network
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Routing
from tests.checks.trees import rendered
from tests.lab.bird.compare import differences
from tests.lab.bird.twin import build, cut, measure, start, stop
from tests.lab.isolated import Remote
from tests.mutations.fuzz import DAMAGES
from tests.routing.fabrics import Case, cases, random_fabrics
from tests.routing.naive import Fabric, solutions

PATIENCE_S = 60.0
# From then on it is asked whether there is one solution only.
DOUBT_S = 8.0
# Fabrics that run at the same time: they mostly wait.
TOGETHER = 4


def routing_of(case: Case) -> Routing:
    graph = Graph(case.network)
    failed = frozenset(number for number, one in enumerate(graph.sessions.up) if one.cable in case.failed)
    return Routing(case.network, failed, graph)


def ambiguous(case: Case, prefixes: set[Prefix]) -> set[Prefix]:
    """Return the prefixes that have more than one stable solution: who is heard first decides."""
    fabric = Fabric(case.network, case.failed)
    return {prefix for prefix in prefixes if solutions(fabric, prefix) is None}


def compare(twin: Remote, group: list[Case]) -> None:
    tags = [f"x{number}" for number in range(len(group))]
    for tag, case in zip(tags, group, strict=True):
        twin.call(build, tag, case.network)
    try:
        translations = {tag: twin.call(start, tag) for tag in tags}
        for tag, case in zip(tags, group, strict=True):
            for cable in case.failed:
                twin.call(cut, tag, cable)
        left = {tag: routing_of(case) for tag, case in zip(tags, group, strict=True)}
        found: dict[str, list[tuple[Prefix, str]]] = {}
        begin = time.monotonic()
        while left and time.monotonic() < begin + PATIENCE_S:
            waited = time.monotonic() > begin + DOUBT_S
            for tag, routing in list(left.items()):
                found[tag] = differences(routing, translations[tag], twin.call(measure, tag))
                if waited:
                    open_ended = ambiguous(group[tags.index(tag)], {prefix for prefix, _ in found[tag]})
                    found[tag] = [row for row in found[tag] if row[0] not in open_ended]
                if not found[tag]:
                    del left[tag]
            time.sleep(0.1)
        assert not left, "\n".join(text for tag in left for _, text in found[tag][:20])
    finally:
        for tag in tags:
            twin.call(stop, tag)


@st.composite
def damaged_files(draw: st.DrawFn, folder: Path) -> Case:
    """Give a fabric of at most four leaves and three spines, as its files say it after some damage to them."""
    spines, links = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    uplinks = spines * links
    colors = draw(st.sampled_from([count for count in range(1, uplinks + 1) if uplinks % count == 0]))
    # Without AIGP there can be no backups, and none for several colors on one spine.
    aigp, backup = draw(st.sampled_from((("true", "all"), ("true", "all"), ("true", "none"), ("false", "none"))))
    text = (
        f"name: small\nstripes: {draw(st.integers(1, 2))}\nrails: {draw(st.integers(1, 2))}\nservers: 0\n"
        f"spines: {spines}\nlinks_per_spine: {links}\naigp: {aigp}\ncolors: {{count: {colors}, backup: {backup}}}\n"
    )
    number = draw(st.integers(0, 1 << 32))
    try:
        _, root = rendered(text, folder / f"{number:x}")
    except IntentError:
        reject()
    rng = random.Random(number)
    files = sorted((root / "switches").iterdir())
    for _ in range(draw(st.integers(0, 4))):
        file = rng.choice(files)
        lines = file.read_text().splitlines(keepends=True)
        rng.choice(DAMAGES)(rng, lines)
        file.write_text("".join(lines))
    limit = draw(st.sampled_from((None, None, 1, 2, 3)))
    if limit is not None:
        file = rng.choice(files)
        file.write_text(f"{file.read_text()}chassis {{ maximum-ecmp {limit}; }}\n")
    network = read_network(root, lambda *trees: None).network
    shutil.rmtree(root)
    failed = draw(st.sets(st.sampled_from(network.links), max_size=2)) if network.links else set()
    return Case(network, frozenset(failed))


@pytest.mark.long
@given(st.data())
@random_fabrics(8)
def test_damaged_files_route_as_computed(
    twin: Remote, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.getbasetemp()
    compare(twin, [data.draw(damaged_files(folder)) for _ in range(TOGETHER)])


@pytest.mark.long
@given(st.lists(cases(), min_size=TOGETHER, max_size=TOGETHER))
@random_fabrics(8)
def test_random_fabrics_route_as_computed(twin: Remote, group: list[Case]) -> None:
    compare(twin, group)
