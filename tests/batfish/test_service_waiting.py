"""How much of a run is waiting for the coordinator of the service, and what is begun before an answer is waited for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ailb_gen.batfish.answers import Answer, Batfish
from ailb_gen.batfish.run import second_opinion
from ailb_gen.batfish.service import connect
from ailb_gen.errors import BatfishError
from ailb_gen.intent.load import load
from tests.batfish.fake.near import Counted, opinion
from tests.batfish.fake.service import FakeBatfish, Handler, Request, says
from tests.batfish.fake.store import table
from tests.batfish.test_service import files, status
from tests.checks.trees import GOLDEN, shown
from tests.conftest import EXAMPLES

__all__ = ["files"]
LAB = load(EXAMPLES / "lab" / "fabric.yaml")
# Each begins with an empty queue: files, shadow, spines, links.
STAGES = 4


@pytest.fixture
def server() -> Iterator[FakeBatfish]:
    with FakeBatfish() as running:
        yield running


class OneByOne:
    """Asks no question before the last one is answered, as a simple client does."""

    left_behind = ""

    def __init__(self, batfish: Batfish) -> None:
        self.upload, self.fork, self.version, self.begin = batfish.upload, batfish.fork, batfish.version, batfish.ask

    def ask(self, question: str, snapshot: str, reference: str | None = None, **parameters: object) -> Answer:
        rows = self.begin(question, snapshot, reference, **parameters)()
        return lambda: rows


def begun(log: Sequence[Request]) -> tuple[int, int, int]:
    """Return how many failures were forked, how many questions about them answered, and the most begun at a time."""
    forked = answered = most = 0
    for request in log:
        forked += "snapshots:fork" in request.line
        answered += "/answer?snapshot=" in request.line and any(
            f"={kind}-" in request.line for kind in ("spine", "link")
        )
        most = max(most, forked - answered // 2)
    return forked, answered, most


def test_the_service_is_never_idle_within_a_stage(server: FakeBatfish) -> None:
    """One tick for every piece of work, and one per stage to learn that the last is done.

    The next snapshot is forked while the questions of this one are answered; a large fabric fits once more.
    """
    with connect(server.host, server.port, 60) as batfish:
        results = list(second_opinion(batfish, opinion(LAB, GOLDEN / "lab"), Counted()))
    assert begun(server.log) == (8, 16, 2)
    assert not shown(results)
    snapshots = [name for name in server.created if "/" in name]
    with_routes = len(snapshots) - 1
    pieces = len(server.asked) + len(snapshots) + with_routes
    assert pieces == 51
    assert server.ticks <= pieces + STAGES
    ticks = server.ticks
    with connect(server.host, server.port, 60) as batfish:
        assert list(second_opinion(OneByOne(batfish), opinion(LAB, GOLDEN / "lab"), Counted())) == results
    assert server.ticks - ticks > 1.5 * ticks


def test_what_fails_is_told_in_the_order_of_asking(server: FakeBatfish) -> None:
    """The second question cannot even be asked, the first fails only when its answer is fetched: that one is told."""
    server.acts = {"GET .*/answer": says("late", 500), "PUT .*parseWarning": says("early", 500)}
    with (
        pytest.raises(BatfishError, match="asking fileParseStatus of snapshot 'files': it answers HTTP 500: late"),
        connect(server.host, server.port, 60) as batfish,
    ):
        list(second_opinion(batfish, opinion(LAB, GOLDEN / "lab"), Counted()))
    # Nothing was begun behind the one that failed.
    assert not server.requests("PUT .*initIssues")
    assert server.networks == {}


def test_the_time_of_a_piece_of_work_begins_when_the_one_before_it_ends(files: Path) -> None:
    """The first is done only after its limit, but another one was done within it: the service is busy, not stuck."""
    looked: list[str] = []

    def busy(handler: Handler) -> None:
        looked.append(handler.path)
        code = "ASSIGNED" if handler.path == looked[0] and len(set(looked)) == 1 else "TERMINATEDNORMALLY"
        status(code)(handler)

    with (
        FakeBatfish({"GET .*/work/": busy, "/answer": says(table({"Node": "String"}, [{"Node": "leaf1"}]))}) as other,
        connect("127.0.0.1", other.port, 1) as batfish,
    ):
        batfish.upload("files", files)
        assert batfish.ask("ipOwners", "files")()
    assert len(set(looked)) == 2


def test_what_nobody_waits_for_may_not_fail_silently(files: Path) -> None:
    with (
        FakeBatfish({"GET .*/work/": status("TERMINATEDABNORMALLY"), "worklog": says("no")}) as other,
        pytest.raises(BatfishError, match="uploading snapshot 'files': Work terminated abnormally: no"),
        connect("127.0.0.1", other.port, 30) as batfish,
    ):
        batfish.upload("files", files)
