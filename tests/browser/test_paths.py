"""Paths in the page equal those of `ailb-gen path --json`: every failure to choose, clean and damaged trees."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest
from playwright.sync_api import Page as BrowserPage

from ailb_gen.api.routes import outage
from ailb_gen.checks.context import EXACT, Context
from ailb_gen.cli.path import trace_json
from ailb_gen.errors import UsageError
from ailb_gen.forwarding.endpoints import flows
from ailb_gen.forwarding.trace import View, trace_pair
from ailb_gen.report.html.page import Page, html
from ailb_gen.report.html.paths import paths_section
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Routing
from tests.browser.conftest import Opener
from tests.browser.reports import Reports
from tests.checks.trees import GOLDEN, fabric_of, network_of

# A question to both: source, destination, what is down, hash.
Question = tuple[str, str, str, int]
ASK = """async (questions) => {
  const answers = [];
  for (const [from, to, word, hash] of questions) {
    try { answers.push((await ailb.paths.traced(from, to, word, hash)).map((one) => one.path)); }
    catch (error) { answers.push(error.message); }
  }
  return answers;
}"""


@dataclass(frozen=True)
class Case:
    """A fabric in both forms: read from files, and as a page."""

    context: Context
    page: BrowserPage

    @cached_property
    def nics(self) -> list[str]:
        return [f"{host.name}:{nic}" for host in self.context.network.hosts.values() for nic in host.profile.nics]

    @cached_property
    def words(self) -> list[str]:
        """Every word of `--fail` that names one thing: nothing, a link, a switch, the cable of a NIC."""
        network = self.context.network
        graph = self.context.routing.graph
        links = [f"{session.cable.a} - {session.cable.b}" for session in graph.sessions.up]
        asked = self.context.expected.switches
        cabled = {end.device for end in network.link_ends()} | {end.device for end in network.attachments.values()}
        switches = [name for name in graph.names if name in asked and name in cabled]
        cables = [nic for nic in self.nics if tuple(nic.split(":")) in network.attachments]
        return ["", *links, *switches, *cables[:8]]

    def questions(self, every: int, seed: str) -> Iterator[Question]:
        """Give questions about every failure, between `every` pairs of NICs each, also of a NIC with itself."""
        source = random.Random(seed)
        for word in self.words:
            for _ in range(every):
                ends = source.choices(self.nics, k=2)
                yield ends[0], ends[1], word, source.choice((0, 0, 1, 12345678901234567890))

    def differences(self, questions: list[Question]) -> list[object]:
        """Return what the page says otherwise."""
        answers = self.page.evaluate(ASK, [[*row[:3], str(row[3])] for row in questions])
        graph = Graph(self.context.network)
        views = {word: seen(graph, word) for word in {row[2] for row in questions}}
        wrong: list[object] = []
        for (start, end, word, number), answer in zip(questions, answers, strict=True):
            view = views[word]
            try:
                pairs = flows(view.network, start, end)
                expected: object = [trace_json(trace_pair(view, *pair, number)) for pair in pairs]
            except UsageError as error:
                expected = str(error)
            if answer != expected:
                wrong.append(((start, end, word, number), answer, expected))
        return wrong


def seen(graph: Graph, word: str) -> View:
    """The fabric as the command sees it."""
    down, dead, nics = outage(graph, [word] if word else [])
    return View(graph.network, Routing(graph.network, down, graph), dead, nics)


def case_of(name: str, root: Path, folder: Path, opened: Opener) -> Case:
    context = Context(fabric_of(name), network_of(root), root=root, keep_changes=True)
    # The pass of the failure check, if the steady state lets it run; else the page has a sample of failures.
    assert (context.failure_outcomes is None) == (context.baseline.lost > EXACT)
    path = folder / "report.html"
    path.write_text(html(Page("paths", "info", "Paths", sections=(paths_section(context),))))
    return Case(context, opened(path))


def damaged(name: str, seed: int, folder: Path) -> Path:
    """Copy a golden tree without some lines: of switches, of servers, of cables."""
    root = folder / "tree"
    shutil.copytree(GOLDEN / name, root)
    source = random.Random(seed)
    files = [path for path in sorted(root.rglob("*")) if path.is_file() and path.suffix in (".conf", ".yaml", ".csv")]
    for path in source.sample(files, min(4, len(files))):
        lines = path.read_text("utf-8").splitlines(keepends=True)
        # A statement, not a brace: what cannot be read at all is a switch less.
        gone = [at for at, line in enumerate(lines) if line.rstrip().endswith(";") or path.suffix != ".conf"]
        for at in source.sample(gone, min(3, len(gone))):
            lines[at] = ""
        path.write_text("".join(lines), "utf-8")
    return root


# The first, because it takes longest.
@pytest.mark.exhaustive
def test_paths_of_the_largest_fabric_equal_those_of_the_command(opened: Opener, reports: Reports) -> None:
    """A sample: a link of the damaged leaf, one of the damaged spine, a link that a path takes, a whole spine."""
    path = reports("frontier", "damaged")
    network = network_of(path.parent / "build" / "frontier")
    graph, page = Graph(network), opened(path)
    links = [f"{session.cable.a} - {session.cable.b}" for session in graph.sessions.up]
    near = [next(link for link in links if name in link) for name in ("stripe3-leaf2:", "spine5:", "stripe64-leaf1:")]
    ends = [("s03-gpu01:gpu1_eth", "s64-gpu64:gpu1_eth"), ("s64-gpu01:gpu0_eth", "s03-gpu01:gpu1_eth")]
    questions = [(*pair, word, 7) for word in ("", *near, "s64-gpu64:gpu1_eth") for pair in ends]
    questions.append((*ends[0], "spine9", 0))
    answers = page.evaluate(ASK, [[*row[:3], str(row[3])] for row in questions])
    for (start, end, word, number), answer in zip(questions, answers, strict=True):
        view = seen(graph, word)
        assert answer == [trace_json(trace_pair(view, *pair, number)) for pair in flows(network, start, end)], word
    assert any(path["problem"] for answer in answers for path in answer)
    assert len({str(answer) for answer in answers}) > len(near)


@pytest.mark.long
@pytest.mark.parametrize(("name", "every"), [("lab", 20), ("jvd", 4), ("jvd-8-uplinks", 1), ("brownfield", 10)])
def test_paths_equal_those_of_the_command(name: str, every: int, opened: Opener, tmp_path: Path) -> None:
    case = case_of(name, GOLDEN / name, tmp_path, opened)
    questions = list(case.questions(every, name))
    # Of the fabric with parallel links a sample of the failures; of the others all.
    assert case.differences(questions[::6] if name == "jvd-8-uplinks" else questions) == []


@pytest.mark.long
@pytest.mark.parametrize("seed", range(9))
def test_paths_of_damaged_trees_equal_those_of_the_command(seed: int, opened: Opener, tmp_path: Path) -> None:
    name = ("lab", "brownfield", "jvd")[seed % 3]
    case = case_of(name, damaged(name, seed, tmp_path), tmp_path, opened)
    questions = list(case.questions(2, f"{name} {seed}"))
    assert len(questions) > 50
    assert case.differences(questions) == []
