"""`validate --batfish` through the real client, and `batfish snapshot`.

The service is `tests.batfish.fake`, because a real one cannot run where the tests run; `tests/batfish/test_real.py`
asks a real one.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ailb_gen.batfish import unsupported
from ailb_gen.optional import how_to_install
from tests.batfish.fake.near import ALL
from tests.batfish.fake.service import FakeBatfish, dies, says
from tests.batfish.fake.store import Kept, Network
from tests.checks.trees import GOLDEN
from tests.cli.verbs import changed, refused, run
from tests.conftest import EXAMPLES, ROOT

LAB = (str(EXAMPLES / "lab" / "fabric.yaml"), str(GOLDEN / "lab"))
START = "start one with: docker run -d --name batfish -p 9996:9996 batfish/batfish"


@pytest.fixture
def server() -> Iterator[FakeBatfish]:
    with FakeBatfish() as found:
        yield found


def statuses(report: Path) -> dict[str, str]:
    """Return how Batfish's checks went, by id, as the JSON report says."""
    document: dict[str, Any] = json.loads(report.read_text())
    return {check["id"]: check["status"] for check in document["checks"] if check["id"] in ALL}


def test_a_clean_fabric_passes(server: FakeBatfish, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    code, out, err = run("validate", *LAB, "--batfish", server.address, "--report", f"json={report}")
    assert (code, err) == (0, "")
    assert out.endswith("PASS: no findings; 112 checks passed; 8 skipped; 6 not applicable\n")
    assert statuses(report) == dict.fromkeys(ALL, "pass")
    assert server.networks == {}
    assert {name.split("/")[-1] for name in server.created if "/" in name} == {
        "files",
        "shadow",
        *(f"spine-{n}" for n in range(1, 5)),
        *(f"link-{n}" for n in range(1, 5)),
    }


def test_damage_fails_the_gate(server: FakeBatfish, tmp_path: Path) -> None:
    shutil.copytree(GOLDEN / "lab", tmp_path / "out")
    first = "route fc00:1:1:1::/64 {\n                color "
    changed(tmp_path / "out", "switches/stripe1-leaf1.conf", f"{first}green;", f"{first}red;")
    report = tmp_path / "report.json"
    words = ("--batfish", server.address, "--checks", "batfish", "--report", f"json={report}")
    code, out, err = run("validate", LAB[0], str(tmp_path / "out"), *words)
    assert (code, err) == (1, "")
    assert "over et-0/0/2, not et-0/0/0" in out
    assert {name for name, status in statuses(report).items() if status == "fail"} == {"AILB815", "AILB818", "AILB819"}
    assert server.networks == {}


@pytest.mark.parametrize(
    ("version", "doubt"),
    [
        ("0.0.0", "cannot be compared with 0.36.0, the version of docs/batfish.md: it may support more or less"),
        (
            "0.0.0-SNAPSHOT",
            "cannot be compared with 0.36.0, the version of docs/batfish.md: it may support more or less",
        ),
        ("local", "cannot be compared with 0.36.0, the version of docs/batfish.md: it may support more or less"),
        ("0.9.0", "is older than 0.36.0, the version of docs/batfish.md: it may support less"),
        ("0.36.0.1", ""),
        ("1.0.0", ""),
    ],
)
def test_what_is_doubtful_about_a_version(version: str, doubt: str) -> None:
    assert unsupported.doubt(version) == doubt


@pytest.mark.parametrize("version", ["0.9.0", "1.0.0"])
def test_a_version_that_nobody_measured_is_said(version: str, tmp_path: Path) -> None:
    report, doubt = tmp_path / "report.json", unsupported.doubt(version)
    with FakeBatfish(version=version) as server:
        words = ("--batfish", server.address, "--checks", "AILB801", "--report", f"json={report}")
        code, _, err = run("validate", *LAB, *words)
    assert (code, err) == (0, f"warning: the version of this Batfish, {version}, {doubt}\n" if doubt else "")
    (check,) = (check for check in json.loads(report.read_text())["checks"] if check["id"] == "AILB801")
    shown = f"{version}, which {doubt}" if doubt else version
    assert check["figures"] == [{"name": "the service is Batfish", "value": shown}]


@pytest.mark.parametrize(
    ("word", "spines", "links"), [("2", 1, 1), ("6", 4, 2), pytest.param("all", 4, 16, marks=pytest.mark.long)]
)
def test_the_number_of_failures(server: FakeBatfish, word: str, spines: int, links: int, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    words = ("--batfish", server.address, "--checks", "AILB818,AILB819", "--batfish-failures", word)
    code, _, err = run("validate", *LAB, *words, "--report", f"json={report}")
    assert (code, err) == (0, "")
    assert {name.split("/")[-1] for name in server.created if "/" in name} == {
        "shadow",
        *(f"spine-{number + 1}" for number in range(spines)),
        *(f"link-{number + 1}" for number in range(links)),
    }
    figures = [figure["value"] for check in json.loads(report.read_text())["checks"] for figure in check["figures"]]
    kind = "of 1 kind; those of one kind differ only in color and neighbors"
    assert figures == [
        f"all {total}" if size == total else f"{size} of {total}, {kind}" for size, total in ((spines, 4), (links, 16))
    ]


@pytest.mark.parametrize("word", ["", "1", "0", "-3", "x", "ALL", "1.5", "\u0663", "9" * 30, "9" * 5000])
def test_a_bad_number_of_failures_is_refused_before_anything_runs(word: str) -> None:
    code, out, err = run("validate", *LAB, "--batfish", "localhost", "--batfish-failures", word)
    assert (code, out) == (2, "")
    assert err == (
        f"ailb-gen: --batfish-failures {word[:12]!r}: must be all, or a number from 2, for one spine and one link; "
        "for none exclude the checks: --checks '*,!AILB818,!AILB819,!AILB822,!AILB823'\n"
    )


def test_a_number_of_failures_needs_a_service() -> None:
    code, out, err = run("validate", *LAB, "--batfish-failures", "all")
    assert (code, out) == (2, "")
    assert err == "ailb-gen: --batfish-failures: no Batfish service was given; add --batfish HOST\n"


def test_without_a_service_nothing_is_said_of_batfish(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    code, out, _ = run("validate", *LAB, "--report", f"json={report}")
    assert code == 0
    assert "atfish" not in out.replace(str(ROOT), "")
    assert statuses(report) == {}


def test_asked_for_without_a_service_its_checks_are_skipped(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    code, out, _ = run("validate", *LAB, "--checks", "batfish,AILB001", "--report", f"json={report}")
    assert code == 0
    assert "AILB801 to AILB823 (20 checks): no Batfish service was given (--batfish HOST)" in out
    assert statuses(report) == dict.fromkeys(ALL, "skip")


def test_nobody_listens(tmp_path: Path) -> None:
    """Exit 3 and what to do; all other checks are in the reports."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    report = tmp_path / "report.json"
    code, out, err = run("validate", *LAB, "--batfish", f"127.0.0.1:{port}", "--report", f"json={report}")
    assert code == 3
    assert err == f"ailb-gen: Batfish at 127.0.0.1:{port}: connecting: connection refused; {START}\n"
    assert out.endswith("INCOMPLETE: no findings; 92 checks passed; 28 skipped; 6 not applicable\n")
    assert json.loads(report.read_text())["passed"] is False
    assert statuses(report) == dict.fromkeys(ALL, "skip")


def test_a_service_that_dies_in_the_middle(server: FakeBatfish, tmp_path: Path) -> None:
    """What it judged before stays; the rest is skipped with the reason."""
    server.acts[r"POST .*/snapshots:fork"] = dies
    report = tmp_path / "report.json"
    code, out, err = run("validate", *LAB, "--batfish", server.address, "--report", f"json={report}")
    assert code == 3
    assert f"Batfish at {server.address}: forking snapshot 'spine-1' from 'shadow': " in err
    assert "the network ailb-gen-" in err and "remains on Batfish" in err
    forked = {"AILB818", "AILB819", "AILB822", "AILB823"}
    assert statuses(report) == {name: "skip" if name in forked else "pass" for name in ALL}
    assert "108 checks passed" in out


def test_what_cannot_be_deleted_is_said(server: FakeBatfish) -> None:
    server.acts[r"DELETE .*/networks/[^/]+$"] = says(b"no", 500)
    code, _, err = run("validate", *LAB, "--batfish", server.address, "--checks", "AILB801")
    assert code == 0
    (network,) = server.networks
    where = f"remains on Batfish at {server.address}, not deleted: it answers HTTP 500: no"
    assert err == f"warning: the network {network} {where}\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--batfish", "localhost:99999"), "--batfish 'localhost:99999': '99999' is not a port from 1 to 65535"),
        (("--batfish", ""), "--batfish '': the host is missing"),
        (("--batfish", "http://x"), "--batfish 'http://x': this is a URL; leave 'http://' away"),
    ],
)
def test_bad_addresses_are_refused_before_anything_runs(words: tuple[str, ...], message: str) -> None:
    code, out, err = run("validate", *LAB, *words)
    hint = "give HOST[:PORT], for example localhost or localhost:9996"
    assert (code, out, err) == (2, "", f"ailb-gen: {message}; {hint}\n")


@pytest.mark.parametrize("seconds", ["0", "-1", "x", "86401"])
def test_the_limit_is_a_number_of_seconds(seconds: str) -> None:
    refused(run("validate", *LAB, "--batfish", "localhost", "--batfish-timeout", seconds), "--batfish-timeout")


PROBE = """
import sys
from ailb_gen.batfish import unsupported
from ailb_gen.optional import how_to_install
from ailb_gen.__main__ import main
try:
    main()
except SystemExit as done:
    print("code", done.code, sorted({"pybatfish", "pandas", "requests"} & set(sys.modules)))
"""


def told(script: str, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script, *words], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.splitlines()[-1] + done.stderr


@pytest.mark.long
def test_pybatfish_is_imported_only_when_asked_for(tmp_path: Path) -> None:
    assert told(PROBE, "validate", *LAB) == "code 0 []"
    assert told(PROBE, "batfish", "snapshot", LAB[1], "-o", str(tmp_path / "snapshots")) == "code 0 []"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    assert told(PROBE, "validate", *LAB, "--batfish", f"127.0.0.1:{port}").startswith(
        "code 3 ['pandas', 'pybatfish', 'requests']"
    )


def test_without_pybatfish() -> None:
    """None among the modules is how Python says that there is none."""
    script = f"import sys; sys.modules['pybatfish'] = None\n{PROBE}"
    assert told(script, "validate", *LAB, "--batfish", "localhost").split("ailb-gen: ") == [
        "code 3 ['pybatfish']",
        f"--batfish: pybatfish is not installed; {how_to_install('batfish')}\n",
    ]


def test_snapshots(tmp_path: Path) -> None:
    out = tmp_path / "snapshots"
    code, said, err = run("batfish", "snapshot", LAB[1], "-o", str(out))
    assert (code, err) == (0, "")
    assert said == f"8 switches: {out / 'files'}, {out / 'shadow'}; numbers in {out / 'numbers.csv'}\n"
    for path in sorted((GOLDEN / "lab" / "switches").iterdir()):
        assert (out / "files" / "configs" / path.name).read_bytes() == path.read_bytes()
    shadow = {path.name: path.read_text() for path in (out / "shadow" / "configs").iterdir()}
    assert shadow == {path.name: path.read_text() for path in (GOLDEN / "shadow-lab").iterdir()}


def test_snapshots_of_a_damaged_tree_say_what_is_missing(tmp_path: Path) -> None:
    shutil.copytree(GOLDEN / "lab", tmp_path / "out")
    (tmp_path / "out" / "switches" / "spine1.conf").write_text("system {\n")
    before = "protocol bgp;\n"
    changed(tmp_path / "out", "switches/spine2.conf", before, f"{before}                neighbor fe80::1;\n")
    text = (tmp_path / "out" / "switches" / "spine2.conf").read_text()
    line = text[: text.index("neighbor fe80::1;")].count("\n") + 1
    code, _, err = run("batfish", "snapshot", str(tmp_path / "out"), "-o", str(tmp_path / "snapshots"))
    assert code == 0
    assert [line for line in err.splitlines() if "not in the shadow" in line] == [
        f"warning: switches/spine2.conf:{line}: not in the shadow: policy FABRIC-OUT: 'from neighbor'"
    ]
    assert "warning: switches/spine1.conf:" in err
    assert not (tmp_path / "snapshots" / "shadow" / "configs" / "spine1.cfg").exists()


def test_snapshots_of_nothing(tmp_path: Path) -> None:
    code, out, err = run("batfish", "snapshot", str(tmp_path), "-o", str(tmp_path / "snapshots"))
    assert (code, out) == (2, "")
    assert err.endswith("there is no switches/ in it; name the directory that 'ailb-gen generate -o DIR' wrote\n")


HOUR_S = 3600
NOW = time.time()


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
    assert (code, err) == (
        2,
        "ailb-gen: cannot ask for confirmation without a terminal; review it with --dry-run, then use --yes\n",
    )
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
    assert err.startswith(f"ailb-gen: Batfish at {server.address}: reading network {name}: ")
    assert server.deleted == []


def test_no_service_and_bad_addresses() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    code, _, err = run("batfish", "clean", f"127.0.0.1:{port}")
    assert code == 3 and "connecting: connection refused" in err
    code, _, err = run("batfish", "clean", "http://x")
    hint = "give HOST[:PORT], for example localhost or localhost:9996"
    assert (code, err) == (2, f"ailb-gen: 'http://x': this is a URL; leave 'http://' away; {hint}\n")
