"""`--report FORMAT[=FILE]`: what every verb takes, and where it goes."""

from __future__ import annotations

import os
import re
import shutil
import signal
from functools import reduce
from html import unescape
from pathlib import Path
from unittest import mock

import pytest

from ailb_gen.cli.reports import check_place, targets, write_reports
from ailb_gen.deploy.switch_state import ExpectedState
from ailb_gen.emulator.faults import Fault
from ailb_gen.errors import OutputError, UsageError
from tests.cli.verbs import refused, run
from tests.conftest import ROOT
from tests.deploy.fabric import CANARY, LAST, ORDER, SPINES, Hooks, Site, assert_sound
from tests.deploy.fabric import run as push
from tests.deploy.test_deployment_rollback import killed

FABRIC, GOLDEN = str(ROOT / "examples/lab/fabric.yaml"), ROOT / "tests/golden/lab"

FINDINGS = ("table", "json", "html")
ONLY = ("html",)


def test_a_table_goes_to_standard_output_unless_something_else_does() -> None:
    assert targets([], [], FINDINGS) == [("table", None)]
    assert targets(["json"], [], FINDINGS) == [("json", None)]
    assert targets(["html=a.html"], [], FINDINGS) == [("html", Path("a.html")), ("table", None)]


def test_a_verb_with_text_of_its_own_writes_reports_to_files() -> None:
    assert targets([], [], ONLY) == []
    assert targets(["html=a.html"], [], ONLY) == [("html", Path("a.html"))]
    for word in ("html", "html=-"):
        with pytest.raises(UsageError, match="name a file: html=FILE"):
            targets([word], [], ONLY)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["htm=x"], "did you mean 'html'"),
        (["json=x"], "formats: html"),
        (["html="], "the name of the file is missing"),
        (["html=a", "html=./a"], "is written to twice"),
        (["html=/"], "--report html: / is a directory; name a file"),
        (["html=in.yaml"], "in.yaml is an input of this command; name another file"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(words: list[str], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        targets(words, [Path("in.yaml")], ONLY)


def test_links_in_a_circle_fail_where_they_are_used(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    assert targets([f"html={loop}"], [tmp_path / "in.yaml"], ONLY) == [("html", loop)]
    with pytest.raises(UsageError, match="is an input of this command"):
        targets([f"html={loop}"], [loop], ONLY)


@pytest.mark.parametrize("name", ["topology.json", "cabling.csv", "switches/spine1.conf", "servers/a/x", "profiles/p"])
def test_no_report_replaces_a_generated_file(tmp_path: Path, name: str) -> None:
    (tmp_path / "profiles" / "p").mkdir(parents=True)
    (tmp_path / "servers").mkdir()
    (tmp_path / "servers" / "a").symlink_to("../profiles/p")
    with pytest.raises(UsageError, match="belongs to the generated files; name another file"):
        targets([f"html={tmp_path / name}"], [Path("in.yaml"), tmp_path], ONLY)


WRITING = [
    ("draw", "FABRIC", "TREE", "-o", "TREE/switches/spine1.svg"),
    ("plan", "FABRIC", "TREE", "-o", "TREE/topology.json"),
    ("plan", "FABRIC", "TREE", "--exit-code", "--report", "html=TREE/cabling.csv"),
    ("collect", "FABRIC", "-o", "TREE/state/found"),
    ("simulate", "FABRIC", "TREE", "--bytes", "1M", "-o", "TREE/switches/results"),
    ("study", "balancers", "-o", "TREE/servers/results"),
    ("study", "balancers", "--report", "html=TREE/manifest.json"),
    ("batfish", "snapshot", "TREE", "-o", "TREE/profiles/snapshot"),
    ("init", "TREE/topology.json", "--force", "--yes"),
]


@pytest.mark.parametrize("words", WRITING, ids=lambda words: f"{words[0]} {words[-1]}")
def test_no_option_of_any_verb_replaces_a_generated_file(words: tuple[str, ...], tmp_path: Path) -> None:
    tree = tmp_path / "lab"
    tree.mkdir()
    for name in ("manifest.json", "topology.json"):
        shutil.copy(GOLDEN / name, tree)
    before = {path: path.read_bytes() for path in tree.rglob("*")}
    paths = {"FABRIC": FABRIC, "TREE": str(tree)}
    code, out, error = run(*(reduce(lambda word, name: word.replace(name, paths[name]), paths, word) for word in words))
    assert (code, out) == (1 if "--exit-code" in words else 2, "")
    assert "belongs to the generated files; name another file" in error
    assert {path: path.read_bytes() for path in tree.rglob("*")} == before


@pytest.mark.parametrize("option", ["-o", "--report"])
def test_no_option_of_a_push_replaces_the_inventory(option: str, tmp_path: Path) -> None:
    file = tmp_path / "hosts.yaml"
    file.write_text("spine1: {hostname: 127.0.0.1}")
    word = str(file) if option == "-o" else f"html={file}"
    refused(
        run("plan", FABRIC, str(GOLDEN), "-i", str(tmp_path), option, word),
        f"{file} is an input of this command; name another file",
    )
    assert file.read_text() == "spine1: {hostname: 127.0.0.1}"


def test_a_manifest_of_another_program_makes_no_generated_files(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"name": "a web page"}')
    check_place("-o", tmp_path / "state" / "a.svg")


def test_a_report_may_lie_beside_the_generated_files(tmp_path: Path) -> None:
    assert targets([f"html={tmp_path / 'a.html'}"], [tmp_path], ONLY) == [("html", tmp_path / "a.html")]


def test_what_cannot_be_written_is_said_when_the_others_are(tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path
    with pytest.raises(OutputError, match="cannot write the report"):
        write_reports([("html", bad), ("json", good)], {"html": lambda: "a", "json": lambda: "b"})
    assert good.read_text() == "b"


@pytest.mark.parametrize("mode", [None, 0o644])
def test_nobody_else_can_read_an_html_report(mode: int | None, tmp_path: Path) -> None:
    page, other = tmp_path / "page.html", tmp_path / "report.json"
    for path in (page, other):
        if mode is not None:
            path.touch()
            path.chmod(mode)
    write_reports([("html", page), ("json", other)], {"html": lambda: "<p>", "json": lambda: "{}"})
    assert page.stat().st_mode & 0o777 == 0o600
    assert other.stat().st_mode & 0o044


def verdict(path: Path) -> str:
    return unescape(path.read_text().partition('id="verdict">')[2].partition("</p>")[0])


def sections(path: Path) -> list[str]:
    return re.findall(r'<section id="(\w+)"', path.read_text())


def outcomes(path: Path) -> dict[str, str]:
    return dict(
        re.findall(r'data-device="([^"]+)">[^<]+</button></th><td><span class="state \w+">([^<]+)', path.read_text())
    )


def test_pages_of_a_plan_and_of_its_push(tiny: Site, tmp_path: Path) -> None:
    page = tmp_path / "plan.html"
    done = push(*tiny.place("plan"), "--brief", "--report", f"html={page}")
    assert (done.code, done.err) == (0, "")
    told = "4 devices of 4 change in 4 waves; 6 statements added, 6 removed; no reachability lost"
    assert verdict(page) == told
    assert sections(page) == ["fabric", "waves", "changes", "impact"]
    text = page.read_text()
    assert "2 devices alike: stripe1-leaf1, stripe1-leaf2" in text
    assert "minimum-interval <b>1000;</b></td>" in text
    assert "minimum-interval <b>300;</b></td>" in text
    assert re.search(r"while its spines are down</dt><dd>0 pairs unreachable, peak link load 2.00 times", text)

    assert tiny.deploy("--report", f"html={page}").code == 0
    assert re.fullmatch(r"4 devices confirmed in \d+\.\d+ s", verdict(page))
    assert sections(page) == ["outcomes", "fabric", "waves", "changes", "impact", "record"]
    assert outcomes(page) == dict.fromkeys(ORDER, "confirmed")
    assert '<svg class="timeline" role="img"' in page.read_text()


@pytest.mark.long
def test_a_plan_without_changes_has_a_page_too(tiny: Site, tmp_path: Path) -> None:
    assert tiny.deploy().code == 0
    page = tmp_path / "plan.html"
    assert push(*tiny.place("plan"), "--report", f"html={page}").code == 0
    assert verdict(page) == "Nothing to do: 4 devices match their files"
    assert tiny.deploy("--report", f"html={page}").code == 0
    assert verdict(page) == "Nothing to do"
    tiny.fleet.add_faults(CANARY, Fault("refuse-auth", "connect", 0))
    assert push(*tiny.place("plan"), "--report", f"html={page}").code == 3
    assert verdict(page).startswith("1 device could not be read")
    assert "These devices could not be read" in page.read_text()
    assert f"<dt>{CANARY}</dt>" in page.read_text(), "a button would open nothing"


@pytest.mark.long
def test_a_push_and_its_rollback(tiny: Site, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert tiny.deploy("--dry-run", "--report", f"html={page}").code == 0
    assert verdict(page) == "Dry run: 4 devices accept the change; nothing was committed"
    assert set(outcomes(page).values()) == {"accepts the change"}

    assert tiny.deploy().code == 0
    assert push(*tiny.words("rollback", "--report", f"html={page}")).code == 0
    assert re.fullmatch(r"4 devices confirmed in \d+\.\d+ s", verdict(page))
    assert "Rolls back" in page.read_text()
    assert "minimum-interval <b>1000;</b></td></tr>" in page.read_text()


def test_a_push_that_is_rolled_back_shows_what_verification_found(tiny: Site, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    wrong = ("the session with stripe1-leaf1 on et-0/0/0.0 is Active", "new alarm: fan <b>1</b>")

    def deviations(expected: ExpectedState, _: object) -> tuple[str, ...]:
        return wrong if expected.name == SPINES[0] else ()

    with mock.patch.object(ExpectedState, "deviations", deviations):
        done = tiny.deploy("--report", f"html={page}", verify_s=1)
    assert done.code == 4
    assert assert_sound(tiny) == {CANARY: "confirmed", SPINES[0]: "rolled back"}
    (found,) = (event["differences"] for event in tiny.events() if event.get("differences"))
    assert found == {SPINES[0]: list(wrong)}
    text = page.read_text()
    assert "<li>new alarm: fan &lt;b&gt;1&lt;/b&gt;</li>" in text
    counts = "1 confirmed, 2 untouched, 1 rolled back in [0-9.]+ s"
    told = f"{counts}; wave 2 failed: {SPINES[0]}: verify: the session with .*"
    assert re.fullmatch(told, verdict(page))
    assert outcomes(page) == {
        SPINES[0]: "rolled back",
        CANARY: "confirmed",
        SPINES[1]: "untouched",
        LAST: "untouched",
    }
    assert text.count(">not started</span>") == 2


@pytest.mark.long
def test_a_refused_dry_run(tiny: Site, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    tiny.fleet.add_faults(LAST, Fault("error", "check"))
    assert tiny.deploy("--dry-run", "--report", f"html={page}").code == 3
    assert verdict(page).startswith("Dry run: 1 device of 4 reject the change")
    assert outcomes(page)[LAST] == "refused"


def test_a_page_that_cannot_be_written_breaks_no_push(tiny: Site, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    page = tmp_path / "file" / "page.html"
    done = tiny.deploy("--report", f"html={page}")
    assert done.code == 3
    assert f"{page}: " in done.err
    assert assert_sound(tiny) == dict.fromkeys(ORDER, "confirmed")
    assert tiny.events()[-1]["event"] == "done"
    lost = push(*tiny.place("plan"), "--report", f"html={page}")
    assert (lost.code, "Nothing to do" in lost.out) == (3, True)


@pytest.mark.long
def test_a_page_that_cannot_be_made_hides_no_failure(tiny: Site, tmp_path: Path) -> None:
    """Whatever is wrong with it: the exit code stays that of the push."""
    tiny.fleet.add_faults(SPINES[0], Fault("error", "commit"))
    with mock.patch("ailb_gen.deploy.report.pages.run_page", side_effect=ValueError("nobody foresaw this")):
        done = tiny.deploy("--report", f"html={tmp_path / 'page.html'}")
    assert done.code == 3
    assert "the report could not be made: ValueError: nobody foresaw this" in done.err
    assert f"{SPINES[0]}: commit:" in done.err


@pytest.mark.parametrize("verb", ["plan", "deploy", "rollback", "confirm"])
def test_reports_that_cannot_be_written(verb: str) -> None:
    done = push(verb, "fabric.yaml", "build", "--report", "pdf=x")
    assert (done.code, "unknown format; formats: html" in done.err) == (2, True), done


def test_a_push_that_is_refused_replaces_the_page_of_the_last_one(tiny: Site, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("4 devices confirmed")
    tiny.fleet.add_faults(CANARY, Fault("refuse-auth", "connect", 0))
    done = tiny.deploy("--report", f"html={page}", "--min-paths", "0")
    assert (done.code, tiny.records.runs()) == (3, [])
    assert verdict(page).startswith(f"Nothing was changed: {CANARY}: connect: ")
    assert sections(page) == []


@pytest.mark.long
def test_an_interrupted_push_has_a_page(tiny: Site, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    waves = 0

    def second() -> None:
        nonlocal waves
        waves += 1
        if waves == 2:
            os.kill(os.getpid(), signal.SIGINT)
        else:
            hooks.acts["committing"] = second

    hooks = Hooks({"committing": second})
    with hooks.watching():
        done = tiny.deploy("--report", f"html={page}")
    assert done.code == 4, done
    assert outcomes(page)[CANARY] == "confirmed"
    assert outcomes(page)[SPINES[0]] == "rolled back"
    assert re.fullmatch(r"1 confirmed, 2 untouched, 1 rolled back in [0-9.]+ s; it was interrupted", verdict(page))


@pytest.mark.long
def test_a_run_that_was_cut_off_has_a_page_when_it_is_settled(tiny: Site, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    cut_off = killed(tiny, "verified")
    assert push(*tiny.place("confirm"), "--state", str(tiny.records.path), "--report", f"html={page}").code == 0
    assert re.fullmatch(r"1 confirmed, 3 untouched in [0-9.]+ s", verdict(page))
    assert sections(page) == ["outcomes", "waves", "record"]
    assert outcomes(page) == {CANARY: "confirmed"} | dict.fromkeys(ORDER[1:], "untouched")
    text = page.read_text()
    assert ">interrupted</span>" in text
    assert "interrupted devices (settled)" in text

    assert push(*tiny.words("deploy", "--resume", cut_off, "--report", f"html={page}")).code == 0
    assert re.fullmatch(r"4 devices confirmed in [0-9.]+ s", verdict(page))
    assert sections(page) == ["outcomes", "fabric", "waves", "changes", "impact", "record"]
    assert page.read_text().count(">not started</span>") == 0
