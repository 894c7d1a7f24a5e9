"""Pages of a plan and of a run that are the same every time: the lab, and a run whose clock is made up."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from unittest import mock

from ailb_gen.deploy.device_diff import SwitchDiff
from ailb_gen.deploy.impact import PushImpact, SwitchImpact, TrafficImpact, impact_of
from ailb_gen.deploy.planning import Plan, Wave
from ailb_gen.deploy.report.pages import Ending, PageSubject, plan_page, run_page
from ailb_gen.deploy.report.trace import trace_of
from ailb_gen.deploy.run_history import RecordedRun
from ailb_gen.deploy.side_by_side import SideBySideRow, packed
from ailb_gen.intent.load import load
from tests.conftest import EXAMPLES
from tests.deploy import lab
from tests.deploy.test_wave_rollout import BAD, WAVES, machine, run

LEAVES = tuple(name for name in lab.NAMES if "leaf" in name)
SPINES = tuple(name for name in lab.NAMES if "spine" in name)
SCRIPT = "<script>window.hacked=1</script>"
FACTS = (("Command", "ailb-gen plan"), ("Fabric", "fabric.yaml"), ("Files", "build/lab"))


def changed(name: str, *edits: tuple[str, str]) -> SwitchDiff:
    """A switch whose file has some texts replaced."""
    return lab.look(name, after=lab.edited(name, *edits))


def lab_plan() -> Plan:
    """BFD gets slower everywhere; a leaf gets a description that would be a script if anything took it for HTML."""
    slower = ("minimum-interval 300", "minimum-interval 400")
    evil = (f"facing_{SPINES[0]}:et-0/0/1", f'"{SCRIPT}"')
    looks = {name: changed(name, slower) for name in (*LEAVES, *SPINES)}
    looks[LEAVES[1]] = changed(LEAVES[1], slower, evil)
    plan = lab.plan_of(*looks.values())
    waves = (Wave("canary leaf", LEAVES[:1]), Wave("spines", SPINES[:2]), Wave("other spines", SPINES[2:]))
    return replace(plan, waves=(*waves, Wave("leaves", LEAVES[1:])))


def subject(verb: str, example: str = "lab") -> PageSubject:
    """What the pages are about."""
    return PageSubject(load(EXAMPLES / example / "fabric.yaml").fabric, verb, FACTS, str)


def write_plan(path: Path) -> Path:
    """Write the page of the lab's plan."""
    plan = lab_plan()
    path.write_text(plan_page(subject("plan"), plan, impact_of(plan)))
    return path


def write_run(path: Path) -> Path:
    """Write the page of a run in which a leaf is not as expected, and the last wave is rolled back."""
    devices = machine(stripe2_leaf1=BAD)
    record = devices.write

    def write(event: str, **fields: object) -> None:
        now = datetime.fromtimestamp(devices.clock.now, UTC).isoformat(timespec="milliseconds")
        record(event, time=now, **fields)

    begin = {"approved": {"by": SCRIPT, "how": "--yes"}, "version": "1"}
    with mock.patch.object(devices, "write", write):
        devices.write("begin", **begin)
        ended = run(devices)
    plan = lab_plan()
    plan = replace(plan, waves=WAVES)
    trace = trace_of(RecordedRun("1-20261122T120000.000Z-abcd", devices.events))
    ending = Ending(ended.refused, ended.stopped)
    path.write_text(run_page(subject("deploy"), trace, ".ailb/runs/1/log.jsonl", ending, plan, impact_of(plan)))
    return path


def write_large(path: Path, model_of_frontier: Plan) -> Path:
    """Write the page of a plan that touches every session of 576 switches."""
    plan = model_of_frontier
    devices = {
        name: SwitchImpact(
            tuple(f"{end.port}.0" for cable in plan.fabric_model.cables[name] for end in (cable.a, cable.b)
                  if end.device == name),
            ("blue",),
            (),
        )
        for name in plan.changed_switches
    }  # fmt: skip
    waves = {wave.name: (0, 1.14) for wave in plan.waves if "spines" in wave.name}
    impact = PushImpact(devices, TrafficImpact((1, 1), (1, 1), (32768, 32768), waves))
    path.write_text(plan_page(subject("plan", "frontier"), plan, impact))
    return path


def large_rows(name: str, count: int) -> bytes:
    """The rows of a switch: ports with another MTU; its AS number makes it unlike every other switch."""
    rows = [SideBySideRow(" ", 0, "interfaces {", "interfaces {")]
    for port in range(count):
        rows += [
            SideBySideRow(" ", 1, f"et-0/0/{port} {{", f"et-0/0/{port} {{"),
            SideBySideRow(" ", 2, f"description {name}-{port};", f"description {name}-{port};"),
            SideBySideRow("~", 2, "mtu 9216;", "mtu 9170;"),
            SideBySideRow(" ", 1, "}", "}"),
        ]
    return packed([*rows, SideBySideRow(" ", 0, "}", "}"), SideBySideRow("+", 0, "", f"asn-of {name};")])
