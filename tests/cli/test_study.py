"""`ailb-gen study`: a user's file; bad input, interrupts, going on, what is missing or cannot be written."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import ailb_gen.study
from ailb_gen.errors import WorkerError
from ailb_gen.optional import how_to_install
from ailb_gen.study import catalog
from tests.cli.verbs import Told, files, refused, run
from tests.conftest import ROOT
from tests.sim import double
from tests.study.made import STUDY

pytest.importorskip("numba")
JVD = str(ROOT / "examples/study/jvd.yaml")
LAB = f"""\
fabric: {ROOT}/examples/lab/fabric.yaml
job: {{data: 4, tensor: 2, gradient_bytes: 64KiB, tensor_bytes: 64KiB, forward: 10us, backward: 20us}}
balancers: [rlb, ecmp]
failures: [spine1]
"""
BeforeEach = Callable[[Callable[[int], object]], None]


@pytest.fixture
def studied(monkeypatch: pytest.MonkeyPatch, doubled: BeforeEach) -> BeforeEach:
    """A small study in the table, on the plain engine."""
    made = replace(STUDY, quantities=STUDY.quantities[:1], published=STUDY.published[:1])
    monkeypatch.setitem(catalog.STUDIES, "made-up", catalog.StudyEntry("made up", lambda options: made))
    return doubled


@pytest.fixture
def lab(tmp_path: Path) -> str:
    path = tmp_path / "lab.yaml"
    path.write_text(LAB)
    return str(path)


def study(*words: str) -> Told:
    return run("study", *words, "--executor", "serial")


BAD = [
    ((), "name a study: there are"),
    (("scale-unti",), "there is no study 'scale-unti'; did you mean 'scale-unit'?"),
    (("",), "there is no study ''; there are scale-unit"),
    (("scale-unit", JVD), "scale-unit reads no file"),
    (("what-if",), "what-if needs a file with the fabric, the job, load balancers and failures, such as examples"),
    (("what-if", "nowhere.yaml"), "nowhere.yaml"),
    (("what-if", str(ROOT)), "a directory"),
    (("what-if", str(ROOT / "examples/jvd/fabric.yaml")), "job: this key is required and missing"),
    (("what-if", JVD, "--seeds", "10001"), "less than or equal to 10000"),
]


@pytest.mark.parametrize(("words", "message"), BAD)
def test_bad_input_is_told_and_nothing_is_written(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    refused(study(*words, "-o", str(out)), message)
    assert not out.exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "[spine1]",
            "[spine9]",
            "lab.yaml:4:12: error[wrong-value]: failures[0].name: 'spine9': there is no such link",
        ),
        (
            "[rlb, ecmp]",
            "[rlb, emcp]",
            "lab.yaml:3:18: error[wrong-value]: balancers[1]: there is no load balancer 'emcp'",
        ),
        ("data: 4", "data: 8", "= 16 GPUs, and the fabric 'lab' has 8 NICs in 4 servers"),
        ("fabric.yaml", "fabrik.yaml", "error[unreadable]: fabric: "),
    ],
)
@pytest.mark.usefixtures("studied")
def test_a_wrong_file_is_told_with_its_place(old: str, new: str, message: str, lab: str, tmp_path: Path) -> None:
    Path(lab).write_text(LAB.replace(old, new))
    refused(study("what-if", lab, "-o", str(tmp_path / "out")), message)
    assert not (tmp_path / "out").exists()


def test_the_studies_are_listed() -> None:
    code, shown, told = run("study", "--list")
    assert (code, told) == (0, "")
    assert [line.split()[0] for line in shown.splitlines()[2:]] == list(catalog.STUDIES)


@pytest.mark.usefixtures("studied")
def test_what_if_writes_table_page_and_figure(lab: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out = tmp_path / "out"
    code, shown, told = study("what-if", lab, "-o", str(out))
    assert (code, told) == (0, "")
    lines = shown.splitlines()
    assert lines[2].split("  ")[0] == "balancer"
    assert [line.split()[:2] for line in lines[4:8]] == [
        [name, failure] for name in ("rlb", "ecmp") for failure in ("none", "spine1")
    ]
    assert {path.name for path in out.iterdir()} == {
        "points",
        "step-time.png",
        "step-time.svg",
        "study.json",
        "study.md",
    }
    found = json.loads((out / "study.json").read_text())
    assert found["study"] == "what-if"
    assert len(found["summary"]["table"]) == 5
    page = (out / "study.md").read_text()
    assert "published" not in page and "deviation" not in page
    assert "## Conclusions" in page
    before = files(out)
    assert study("what-if", lab, "-o", str(out)) == (0, shown, "")
    assert files(out) == before


@pytest.mark.usefixtures("studied")
def test_a_report_shows_what_follows_and_charts_of_every_failure(lab: str, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    code, shown, told = study("what-if", lab, "--report", f"html={path}")
    assert (code, told) == (0, "")
    assert "balancer" in shown
    text = path.read_text()
    assert "Conclusions" in text and "Queue depth and load over time" in text
    assert text.count("failure: spine1") == 3
    refused(study("what-if", lab, "--report", f"html={lab}"), "is an input of this command; name another file")


def test_an_interrupt_keeps_finished_points_and_the_next_run_goes_on(
    lab: str, tmp_path: Path, studied: BeforeEach
) -> None:
    pytest.importorskip("matplotlib")
    out = tmp_path / "out"
    ran: list[int] = []

    def interrupt(seed: int) -> None:
        ran.append(seed)
        if len(ran) == 3:
            os.kill(os.getpid(), signal.SIGINT)

    studied(interrupt)
    code, shown, told = study("what-if", lab, "-o", str(out))
    assert code == 130
    assert f"this study is partial; {out} holds the finished points, and the same command continues from there" in told
    assert [line.split()[:2] for line in shown.splitlines()[4:6]] == [["rlb", "none"], ["rlb", "spine1"]]
    assert json.loads((out / "study.json").read_text())["interrupted"] is True
    assert study("what-if", lab, "-o", str(out))[0] == 0
    assert len(ran) == 5, "two were finished, the third one was cut short"
    assert study("what-if", lab, "-o", str(tmp_path / "whole"))[0] == 0
    names = [name for name in files(out) if "points" not in name]
    assert {name: files(out)[name] for name in names} == {
        name: body for name, body in files(tmp_path / "whole").items() if name in names
    }


@pytest.mark.usefixtures("studied")
def test_kept_points_have_what_a_later_report_charts(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out, page = tmp_path / "out", tmp_path / "page.html"
    assert study("made-up", "-o", str(out))[0] == 0
    code, _, told = study("made-up", "-o", str(out), "--report", f"html={page}")
    assert (code, told) == (0, "")
    text = page.read_text()
    assert "Queue depth and load over time" in text and "Peak queue depth, host to leaf" in text
    for path in sorted(out.glob("points/*.profile.json"))[:3]:
        path.unlink()
    assert study("made-up", "-o", str(out))[2] == "", "without a report nothing is missing"
    code, _, told = study("made-up", "-o", str(out), "--report", f"html={page}")
    assert told == "3 of 4 finished points have no usable data for charts; they are simulated again\n"
    assert page.read_text() == text


def test_a_worker_that_is_gone_loses_nothing_that_is_finished(lab: str, tmp_path: Path, studied: BeforeEach) -> None:
    out = tmp_path / "out"
    ran: list[int] = []

    def die(seed: int) -> None:
        ran.append(seed)
        if len(ran) == 3:
            raise WorkerError("a worker process ended")

    studied(die)
    refused(study("what-if", lab, "-o", str(out)), "a worker process ended", code=3)
    assert study("what-if", lab, "-o", str(out))[0] == 0
    assert len(ran) == 3 + 2


@pytest.mark.usefixtures("studied")
@pytest.mark.parametrize("words", [(), ("--quick",), ("--seeds", "1")])
def test_without_matplotlib_there_is_a_table_and_no_directory(
    words: tuple[str, ...], lab: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "ailb_gen.study.figures", raising=False)
    monkeypatch.delattr(ailb_gen.study, "figures", raising=False)
    assert study("what-if", lab, *words)[0] == 0
    refused(
        study("what-if", lab, *words, "-o", str(tmp_path / "out")),
        f"matplotlib is not installed; {how_to_install('study')}",
        code=3,
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("studied")
def test_a_directory_of_something_else_is_left_alone(lab: str, tmp_path: Path) -> None:
    before = files(tmp_path)
    refused(study("what-if", lab, "-o", str(tmp_path)), "files that are not results", code=3)
    refused(study("what-if", lab, "-o", lab), "is an input of this command")
    refused(study("balancers", "-o", lab), "this is not a directory", code=3)
    assert files(tmp_path) == before


@pytest.mark.usefixtures("studied")
def test_a_directory_that_cannot_be_written_is_known_before_the_start(
    lab: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(double, "simulate", None)
    refused(study("what-if", lab, "-o", "/proc/results"), "cannot be written", code=3)


@pytest.mark.usefixtures("studied")
def test_a_study_in_the_directory_of_another_keeps_its_points(lab: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out = tmp_path / "out"
    assert study("what-if", lab, "-o", str(out))[0] == 0
    points = {name: body for name, body in files(out).items() if name.startswith("points/")}
    code, _, told = study("made-up", "-o", str(out))
    assert (code, told) == (0, f"warning: {out} held the study 'what-if': its figures and points stay\n")
    assert points.items() <= files(out).items()


@pytest.mark.long
def test_the_quick_example_for_real() -> None:
    """RLB has no collisions; ECMP has them: the strided servers send twice the rate of a NIC over the spines."""
    code, shown, _ = study("what-if", JVD, "--quick")
    assert code == 0
    assert "Quick run: 4 cases (rlb, none; rlb, spine1; dlb, none; and 1 more), 1 seed" in " ".join(shown.split())
    lines = shown.split("---\n")[-1].splitlines()[:4]
    rows = {tuple(line.split()[:2]): line.split()[2:] for line in lines}
    assert set(rows) == {("rlb", "none"), ("rlb", "spine1"), ("dlb", "none"), ("dlb", "spine1")}
    assert rows["rlb", "none"][3:] == ["0", "0"], "in order, without pauses"
    assert float(rows["rlb", "none"][1]) == 0 < float(rows["dlb", "none"][1])
