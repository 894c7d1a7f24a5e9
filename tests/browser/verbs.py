"""Reports of the verbs that look at devices, push to them, judge a lab that runs and answer what-if questions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from unittest import mock

from ailb_gen.checks.catalogue import OF_LAB, checks_of
from ailb_gen.checks.model import RunOptions
from ailb_gen.checks.run import examine
from ailb_gen.intent.load import load
from ailb_gen.lab.check.live import RunningLab
from ailb_gen.lab.check.run import LabCheckOptions, check_lab
from ailb_gen.report.html.verdict_page import verdict_html
from ailb_gen.report.verdict import judge
from ailb_gen.sim import point, sweep
from tests.cli import verbs
from tests.cli.test_study import LAB
from tests.conftest import EXAMPLES
from tests.deploy.fabric import SPINES, generated, run, site
from tests.deploy.test_deployment_rollback import killed
from tests.lab.check.damages import DAMAGES, damaged
from tests.lab.isolated import isolated
from tests.lab.labs import with_servers
from tests.sim import double

# What somebody has changed by hand.
HAND = "set interfaces et-0/0/0 disable\ndelete protocols bgp group fabric-blue multipath\n"


def pages_of_a_push(folder: Path) -> dict[str, Path]:
    """Write the reports of a fabric's way from one state to the next, and back; return them by verb."""
    found = {verb: folder / f"{verb}.html" for verb in ("plan", "confirm", "deploy", "drift", "verify", "rollback")}
    report = {verb: ("--report", f"html={path}") for verb, path in found.items()}
    with site(generated(folder), folder) as tiny:
        codes = [run(*tiny.place("plan"), *report["plan"]).code]
        killed(tiny, "verified")
        codes.append(run(*tiny.place("confirm"), "--state", str(tiny.records.path), *report["confirm"]).code)
        codes.append(tiny.deploy(*report["deploy"]).code)
        codes.append(run(*tiny.words("rollback", *report["rollback"])).code)
        assert codes == [0, 0, 0, 0]
        assert tiny.deploy().code == 0
        verbs.by_hand(tiny, SPINES[0], HAND)
        assert [run(*tiny.place(verb), *report[verb]).code for verb in ("drift", "verify")] == [1, 1]
    return found


def page_of_a_lab(folder: Path) -> Path:
    """Write the report of `lab check` about a lab in which a color is wrong."""
    path = folder / "lab-check.html"
    path.write_text(isolated(_lab_checked, damaged(DAMAGES[0], folder), tools=("ip", "bird")))
    return path


def _lab_checked(root: Path) -> str:
    chosen = frozenset(check.id for check in checks_of(OF_LAB))
    done, context = examine(load(EXAMPLES / "lab" / "fabric.yaml"), root, RunOptions(frozenset(), jobs=1))
    plan = with_servers(root)
    results = tuple(check_lab(RunningLab(plan, context), context, LabCheckOptions(chosen, 1)))
    verdict = judge(replace(done, results=results), (), chosen, (), "error")
    return verdict_html(verdict, context, "lab check")


def page_of_a_what_if(folder: Path) -> Path:
    """Write the report of `study what-if`, with a plain engine in place of the compiled one."""
    path, asked = folder / "what-if.html", folder / "lab.yaml"
    asked.write_text(LAB)
    engines = mock.patch.dict(point.ENGINES, dict.fromkeys(point.ENGINES, double.NAME))
    with engines, mock.patch.object(sweep, "must_compile", lambda prepared: False):
        done = verbs.run("study", "what-if", str(asked), "--executor", "serial", "--report", f"html={path}")
    assert done[0] == 0, done
    return path
