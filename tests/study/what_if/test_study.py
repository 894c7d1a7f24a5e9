"""What-if files as scenarios: valid, scaled, generated or read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ailb_gen.errors import UsageError
from ailb_gen.sim.scenario.load import variants
from ailb_gen.study.model import CaseResults, Study, StudyOptions
from ailb_gen.study.points import folder_of, study_points
from ailb_gen.study.rows import study_table
from ailb_gen.study.what_if.job import amounts, time_text
from ailb_gen.study.what_if.load import load, parse
from ailb_gen.study.what_if.study import failure_name, study_of, what_if
from ailb_gen.study.what_if.text import message_bytes
from ailb_gen.yamlio import Source
from tests.conftest import EXAMPLES

LAB = """\
fabric: lab/fabric.yaml
job: {data: 4, tensor: 2, gradient_bytes: 1MB, tensor_bytes: 64KiB, forward: 10ms, backward: 20ms}
balancers: [rlb, {name: letflow, parameters: {gap_us: 5}}, letflow]
"""
PS_PER_MS = 10**9


def study(text: str) -> Study:
    question = parse(text, "file.yaml", EXAMPLES)
    return study_of(question, list(question.what_if.seeds))


def scenario(text: str) -> dict[str, Any]:
    return dict(study(text).cases[-1].scenario)


# Its fabric is large.
LONG = "frontier.yaml"
FILES = [
    pytest.param(path, id=path.name, marks=[pytest.mark.long] if path.name == LONG else [])
    for path in sorted((EXAMPLES / "study").glob("*.yaml"))
]


@pytest.mark.parametrize("path", FILES)
def test_all_scenarios_of_the_examples_are_valid(path: Path) -> None:
    full, quick = what_if(StudyOptions(file=path)), what_if(StudyOptions(quick=True, file=path))
    for case in full.cases:
        (variant,) = variants(Source(case.name, dict(case.scenario)))
        assert variant.scenario.traffic[0].kind == "training"
    file = load(path).what_if
    assert len(quick.cases) == len(file.balancers[:2]) * (1 + len(file.failures[:1]))
    assert {case.name for case in quick.cases} <= {case.name for case in full.cases}


def test_a_case_for_every_balancer_and_failure() -> None:
    text = LAB + "failures: [spine1@5ms, {random: 5%}, {name: leaf1, at: 1ms, back: 2ms, detection: 1us}]\n"
    text = text.replace("leaf1", "stripe1-leaf1")
    assert [case.name for case in study(text).cases[:4]] == [
        "rlb, none",
        "rlb, spine1 at 5 ms",
        "rlb, 5 % of cables",
        "rlb, stripe1-leaf1 at 1 ms to 2 ms, detected after 1 us",
    ]
    assert [case.name for case in study(LAB).cases] == ["rlb, none", "letflow gap_us=5, none", "letflow, none"]


def test_points_are_those_of_generated_files() -> None:
    one = study(LAB + "seeds: 2\nfailures: [spine1]\n")
    with folder_of(one) as folder:
        points, warnings = study_points(one, folder)
    assert len(points) == 3 * 2 * 2
    assert warnings == []
    assert {point.fabric.host_count for point in points} == {8}
    # Inside a server nothing is sent; rings are between the 2 servers.
    workload = points[0].recipe.build(points[0].fabric, 1).workload
    sent = workload.source >= 0
    names = points[0].fabric.names
    assert sent.any()
    assert all(
        names[a].split(":")[0] != names[b].split(":")[0]
        for a, b in zip(workload.source[sent].tolist(), workload.target[sent].tolist(), strict=True)
    )


def test_a_factor_divides_bytes_and_times() -> None:
    failures = "failures: [{name: spine1, at: 50ms, back: 100ms}]\nuntil: 1s\n"
    degraded = "failures: [{random: 2 links, at: 50ms, rate: 25%, delay: 1us, loss: 1%}]\nscale: 10\n"
    whole, small = scenario(LAB + failures), scenario(LAB + failures + "scale: 10\n")
    assert scenario(LAB + degraded)["failures"] == [
        {"random": "2 links", "rate": 0.25, "loss": 0.01, "delay": "1000000ps", "at": "5000000000ps"}
    ]
    (job,), (smaller,) = ([part["training"] for part in one["traffic"]] for one in (whole, small))
    for name in ("forward", "backward"):
        assert int(job[name][:-2]) == 10 * int(smaller[name][:-2])
    assert (job["gradient_bytes"], smaller["gradient_bytes"]) == (1_000_000, 100_000)
    assert job["tensor_collectives"] == smaller["tensor_collectives"]
    assert whole["failures"] == [
        {"name": "spine1", "at": "50000000000ps", "back": "100000000000ps", "detection": "1000000000ps"}
    ]
    assert small["failures"] == [
        {"name": "spine1", "at": "5000000000ps", "back": "10000000000ps", "detection": "100000000ps"}
    ]
    assert (whole["until"], small["until"]) == ("1000000000000ps", "100000000000ps")
    assert (whole["transport"], small["transport"]) == ({}, {})


def test_timeouts_stay_above_round_trips() -> None:
    found = scenario(
        LAB.replace("1MB", "100MB").replace("64KiB", "8MiB")
        + "scale: 1000\ntransport: {name: selective-repeat, timeout: 4ms}\n"
    )
    assert found["transport"] == {"name": "selective-repeat", "timeout": "100000000ps"}


def test_settings_of_simulations_are_passed_on() -> None:
    found = scenario(LAB + "congestion: none\nlevel: flow\npackets: {payload: 1KiB}\n")
    assert (found["congestion"], found["level"], found["packets"]) == ("none", "flow", {"payload": "1KiB"})
    assert scenario(LAB)["congestion"] == "dcqcn"


def test_nccl_chooses_by_the_generation_of_the_gpus() -> None:
    gpu = "gpu: {flops: 1T, utilization: 50%, nvlink: 3600g, generation: blackwell}"
    text = LAB.replace("{data: 4", f"{{algorithm: nccl, {gpu}, data: 4")
    (job,) = (part["training"] for part in scenario(text)["traffic"])
    assert (job["algorithm"], job["gpu"]) == ("nccl", "blackwell")
    assert "are those that NCCL chooses by its size." in study(text).text
    assert scenario(LAB)["traffic"][0]["training"]["algorithm"] == "ring"


def test_artifacts_are_read_where_they_are_named() -> None:
    question = parse(LAB, "file.yaml", EXAMPLES)
    file = question.what_if.model_copy(update={"artifacts": "../build/lab"})
    found = study_of(replace(question, what_if=file), [1])
    files = found.cases[0].scenario["fabric"]["files"]
    assert (files["fabric"], files["artifacts"]) == ("lab/fabric.yaml", "../build/lab")
    assert found.intents == {}


def test_the_page_says_what_the_job_is() -> None:
    text = what_if(StudyOptions(file=EXAMPLES / "study" / "jvd.yaml")).text
    for words in (
        "32 of the 32 GPUs of the fabric `jvd`: data 4 ",
        "| gradients of a rank, over the replicas | (P ",
        "send nothing over the fabric",
        "divided by 100",
        "1.63 GiB |",
    ):
        assert words in text
    small = study(LAB.replace("1MB", "10MB").replace("64KiB", "1MiB") + "scale: 100\n").text
    assert "**The scale is too large:** a message of the gradients has 6.1 KiB per queue pair" in small


def test_messages_of_gradients_are_those_of_rings_over_data_and_context() -> None:
    """A ring of 4 ranks sends quarters, each queue pair its share."""
    job = "{data: 2, context: 2, context_bytes: 1MB, "
    text = LAB.replace("{data: 4, ", job).replace("gradient_bytes: 1MB", "gradient_bytes: 5MB")
    question = parse(text, "file.yaml", EXAMPLES)
    assert message_bytes(question, amounts(question.what_if.job)) == 5_000_000 // (2 * 2 * len(question.design.colors))


def test_the_page_says_how_uneven_experts_are() -> None:
    """Loads 1, 1/2, 1/3, 1/4, the first limited to 1.5 times their mean: 0.781 of a mean of 0.466; 0.219 of 2.083."""
    job = "{expert: 4, expert_bytes: 1MB, expert_skew: 1, expert_capacity: 1.5, "
    assert "has 1.68 times the mean of the tokens; 10.5% are dropped" in study(LAB.replace("{", job, 1)).text


def test_without_results_there_is_no_table() -> None:
    assert "no results" in study_table(study(LAB), CaseResults({}))


def test_a_file_is_needed() -> None:
    with pytest.raises(UsageError, match=r"what-if needs a file .* examples/study/jvd\.yaml"):
        what_if(StudyOptions())


@pytest.mark.parametrize(
    ("ps", "text"),
    [(1, "1 ps"), (1500, "1.5 ns"), (2 * PS_PER_MS, "2 ms"), (1_234_567 * 10**6, "1.235 s"), (0, "0 ps")],
)
def test_times_have_units(ps: int, text: str) -> None:
    assert time_text(ps) == text


def test_failures_have_names() -> None:
    listed = "failures: [a-b, {random: 2.5%}, '5 links@1ms', 'a-b@1ms,back=2ms,rate=25%,delay=1us,loss=0.5%']\n"
    file = parse(LAB + listed, "file.yaml", EXAMPLES).what_if
    assert [failure_name(one) for one in file.failures] == [
        "a-b",
        "2.5 % of cables",
        "5 links at 1 ms",
        "a-b at 1 ms to 2 ms, 25 % of the rate, 1 us later, 0.5 % loss",
    ]
