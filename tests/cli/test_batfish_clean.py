"""`batfish clean`: what killed runs have left on a service, and nothing else."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from tests.batfish.fake.service import FakeBatfish, dies, says
from tests.batfish.fake.store import Kept, Network
from tests.cli.verbs import run

HOUR_S = 3600
NOW = time.time()


@pytest.fixture
def server() -> Iterator[FakeBatfish]:
    with FakeBatfish() as found:
        yield found


def named(hours: float, number: int = 1) -> str:
    return f"ailb-gen-{int(NOW - hours * HOUR_S):08x}{number:08x}"


def add(server: FakeBatfish, name: str, *hours: float, work: int = 0) -> str:
    """Put a network there, with snapshots that were made so many hours ago, and unfinished work."""
    made = [(datetime.now(UTC) - timedelta(hours=one)).isoformat() for one in hours]
    snapshots = {f"s{number}": Kept({}, created=text) for number, text in enumerate(made)}
    server.networks[name] = Network(snapshots, queued=[{"id": str(number)} for number in range(work)])
    return name


FOREIGN = (
    "ailb-gen",
    "ailb-gen-mine",
    f"{named(99)}-copy",
    f"x{named(99)}",
    "AILB-GEN-0123456789ab",
    "prod",
    "new\nline",
)


def test_what_killed_runs_have_left_is_deleted_and_nothing_else(server: FakeBatfish) -> None:
    for name in FOREIGN:
        add(server, name, 99)
    old = add(server, named(5), 4, 3)
    earlier = add(server, "ailb-gen-0123456789ab", 4)
    empty = add(server, named(6))
    young = add(server, named(1), 0.5)
    # It began long ago, and has made a snapshot a moment ago.
    failing = add(server, named(30), 30, 29, 0.1)
    busy = add(server, named(9), 9, work=2)
    undated = add(server, "ailb-gen-ba9876543210")
    code, out, err = run("batfish", "clean", server.address, "--yes")
    assert (code, err) == (0, "")
    assert server.deleted == sorted([old, earlier, empty])
    assert list(server.networks) == [*FOREIGN, young, failing, busy, undated]
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert lines[old].split()[1:] == ["3", "h", "2", "left", "over"]
    assert lines[busy].endswith("runs: unfinished work")
    assert lines[young].endswith("may run: under 120 min")
    assert lines[failing].endswith("may run: under 120 min")
    assert lines[undated].endswith("age not known")
    assert out.endswith("3 networks deleted\n")
    assert not [name for name in FOREIGN if name in lines]


@pytest.mark.parametrize(("minutes", "deleted"), [("30", 1), ("0", 2), ("600", 0)])
def test_how_old_is_left_over(server: FakeBatfish, minutes: str, deleted: int) -> None:
    for hours in (0.01, 2.0):
        add(server, named(hours), hours)
    code, out, _ = run("batfish", "clean", server.address, "--yes", "--older-than", minutes)
    assert code == 0
    assert len(server.deleted) == deleted
    assert ("deleted\n" in out) is bool(deleted)


def test_a_dry_run_shows_and_deletes_nothing(server: FakeBatfish) -> None:
    old = add(server, named(5), 4)
    code, out, err = run("batfish", "clean", server.address, "--dry-run")
    assert (code, err) == (0, "")
    assert old in out and out.endswith("1 network left over; nothing was deleted\n")
    assert server.deleted == []
    assert not [request for request in server.log if not request.line.startswith("GET ")]


def test_nothing_is_left(server: FakeBatfish) -> None:
    add(server, "prod", 99)
    assert run("batfish", "clean", server.address) == (0, "0 networks left over\n", "")


def test_nobody_is_asked_without_a_terminal(server: FakeBatfish) -> None:
    add(server, named(5), 4)
    code, _, err = run("batfish", "clean", server.address)
    assert (code, err) == (2, "ailb-gen: there is no terminal to ask on; review it with --dry-run, then use --yes\n")
    assert server.deleted == []


@pytest.mark.parametrize("answer", [True, False])
def test_a_person_decides(server: FakeBatfish, answer: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    questions: list[str] = []

    def ask(question: str) -> bool:
        questions.append(question)
        return answer

    monkeypatch.setattr("ailb_gen.cli.batfish.asked", ask)
    monkeypatch.setattr("ailb_gen.cli.batfish.sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True)))
    old = add(server, named(5), 4)
    code, out, _ = run("batfish", "clean", server.address)
    assert questions == ["Delete 1 network?"]
    assert code == (0 if answer else 3)
    assert server.deleted == ([old] if answer else [])
    assert out.endswith("1 network deleted\n" if answer else "Nothing was deleted.\n")


def test_what_cannot_be_deleted_is_told_and_the_rest_is_deleted(server: FakeBatfish) -> None:
    first, second, third = (add(server, named(5, number), 4) for number in (1, 2, 3))
    server.acts[f"DELETE .*/{second}$"] = says(b"disk full", 500)
    code, out, err = run("batfish", "clean", server.address, "--yes")
    assert code == 3
    assert out.endswith("2 networks deleted\n")
    assert err == (
        f"ailb-gen: Batfish at {server.address}: 1 network could not be deleted:\n"
        f"  {second}: it answers HTTP 500: disk full\n"
    )
    assert list(server.networks) == [second]
    assert {first, third} == set(server.deleted)


def test_what_has_gone_meanwhile_is_no_failure(server: FakeBatfish) -> None:
    """Its run ended after the networks were listed."""
    add(server, named(5), 4)
    server.acts[r"GET .*/networks/[^/]+/snapshots"] = says(b"gone", 404)
    assert run("batfish", "clean", server.address, "--yes") == (0, "0 networks left over\n", "")
    server.acts = {r"DELETE .*": says(b"gone", 404)}
    code, out, err = run("batfish", "clean", server.address, "--yes")
    assert (code, err) == (0, "") and out.endswith("1 network deleted\n")


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        (b'[{"name": "s", "metadata": {"creationTimestamp": "yesterday"}}]', "age not known"),
        (b'[{"name": "s", "metadata": {}}]', "age not known"),
        (b'["s"]', "age not known"),
        (b'[{"name": "s", "metadata": {"creationTimestamp": 1600000000.5}}]', "left over"),
        (b'[{"name": "s", "metadata": {"creationTimestamp": "2020-09-13T12:26:40.5Z"}}]', "left over"),
    ],
)
def test_dates_that_nobody_knows_keep_a_network(server: FakeBatfish, metadata: bytes, said: str) -> None:
    name = add(server, named(5), 4)
    server.acts[r"GET .*/snapshots"] = says(metadata, 200)
    code, out, _ = run("batfish", "clean", server.address, "--dry-run")
    assert code == 0
    assert next(line for line in out.splitlines() if name in line).endswith(said)


def test_a_service_that_fails_while_it_is_looked_at(server: FakeBatfish) -> None:
    name = add(server, named(5), 4)
    server.acts[r"GET .*/work$"] = dies
    code, out, err = run("batfish", "clean", server.address, "--yes")
    assert (code, out) == (3, "")
    assert err.startswith(f"ailb-gen: Batfish at {server.address}: looking at network {name}: ")
    assert server.deleted == []


def test_no_service_and_bad_addresses() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    code, _, err = run("batfish", "clean", f"127.0.0.1:{port}")
    assert code == 3 and "connecting: connection refused" in err
    code, _, err = run("batfish", "clean", "http://x")
    hint = "give HOST[:PORT], for example localhost or localhost:9996"
    assert (code, err) == (2, f"ailb-gen: 'http://x': this is a URL; leave 'http://' away; {hint}\n")
