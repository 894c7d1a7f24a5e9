"""`--report html=FILE` of `plan`, `deploy`, `rollback` and `confirm`: written however it ended, never in the way."""

from __future__ import annotations

import os
import re
import signal
from html import unescape
from pathlib import Path
from unittest import mock

import pytest

from ailb_gen.deploy.switch_state import ExpectedState
from ailb_gen.emulator.faults import Fault
from tests.deploy.fabric import CANARY, LAST, ORDER, SPINES, Hooks, Site, assert_sound, run
from tests.deploy.test_deployment_rollback import killed


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
    done = run(*tiny.place("plan"), "--brief", "--report", f"html={page}")
    assert (done.code, done.err) == (0, "")
    told = "4 devices of 4 change in 4 waves; 6 statements come and 6 go; no pair of leaf and prefix loses its path"
    assert verdict(page) == told
    assert sections(page) == ["fabric", "waves", "changes", "impact"]
    text = page.read_text()
    assert "2 devices alike: stripe1-leaf1, stripe1-leaf2" in text
    assert "minimum-interval <b>1000;</b></td>" in text
    assert "minimum-interval <b>300;</b></td>" in text
    assert re.search(r"while its spines are away</dt><dd>0 pairs lost, links carry up to 2.00 times as much", text)

    assert tiny.deploy("--report", f"html={page}").code == 0
    assert re.fullmatch(r"4 devices confirmed in \d+\.\d+ s", verdict(page))
    assert sections(page) == ["outcomes", "fabric", "waves", "changes", "impact", "record"]
    assert outcomes(page) == dict.fromkeys(ORDER, "confirmed")
    assert '<svg class="timeline" role="img"' in page.read_text()


@pytest.mark.long
def test_a_plan_without_changes_has_a_page_too(tiny: Site, tmp_path: Path) -> None:
    assert tiny.deploy().code == 0
    page = tmp_path / "plan.html"
    assert run(*tiny.place("plan"), "--report", f"html={page}").code == 0
    assert verdict(page) == "Nothing to do: 4 devices match their files"
    assert tiny.deploy("--report", f"html={page}").code == 0
    assert verdict(page) == "Nothing to do"
    tiny.fleet.add_faults(CANARY, Fault("refuse-auth", "connect", 0))
    assert run(*tiny.place("plan"), "--report", f"html={page}").code == 3
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
    assert run(*tiny.words("rollback", "--report", f"html={page}")).code == 0
    assert re.fullmatch(r"4 devices confirmed in \d+\.\d+ s", verdict(page))
    assert "Takes back" in page.read_text()
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
    assert text.count(">not begun</span>") == 2


@pytest.mark.long
def test_a_refused_dry_run(tiny: Site, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    tiny.fleet.add_faults(LAST, Fault("error", "check"))
    assert tiny.deploy("--dry-run", "--report", f"html={page}").code == 3
    assert verdict(page).startswith("Dry run: 1 device of 4 refuse the change")
    assert outcomes(page)[LAST] == "refused"


def test_a_page_that_cannot_be_written_breaks_no_push(tiny: Site, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    page = tmp_path / "file" / "page.html"
    done = tiny.deploy("--report", f"html={page}")
    assert done.code == 3
    assert f"{page}: " in done.err
    assert assert_sound(tiny) == dict.fromkeys(ORDER, "confirmed")
    assert tiny.events()[-1]["event"] == "done"
    lost = run(*tiny.place("plan"), "--report", f"html={page}")
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
@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("pdf=x", "there is no such format; formats: html"),
        ("html", "name a file: html=FILE"),
        ("html=", "the name of the file is missing"),
    ],
)
def test_reports_that_cannot_be_written(verb: str, word: str, message: str) -> None:
    done = run(verb, "fabric.yaml", "build", "--report", word)
    assert (done.code, message in done.err) == (2, True), done


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
    assert run(*tiny.place("confirm"), "--state", str(tiny.records.path), "--report", f"html={page}").code == 0
    assert re.fullmatch(r"1 confirmed, 3 untouched in [0-9.]+ s", verdict(page))
    assert sections(page) == ["outcomes", "waves", "record"]
    assert outcomes(page) == {CANARY: "confirmed"} | dict.fromkeys(ORDER[1:], "untouched")
    text = page.read_text()
    assert ">broken off</span>" in text
    assert "interrupted devices (settled)" in text

    assert run(*tiny.words("deploy", "--resume", cut_off, "--report", f"html={page}")).code == 0
    assert re.fullmatch(r"4 devices confirmed in [0-9.]+ s", verdict(page))
    assert sections(page) == ["outcomes", "fabric", "waves", "changes", "impact", "record"]
    assert page.read_text().count(">not begun</span>") == 0
