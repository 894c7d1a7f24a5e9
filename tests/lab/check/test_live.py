"""`lab check` on labs that run: sound files give no finding, damage does; failures go as computed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ailb_gen.checks.catalogue import OF_LAB, checks_of
from ailb_gen.checks.context import Context
from ailb_gen.checks.families.lab import AGREE_FAILED, AGREE_HOPS, FAILED
from ailb_gen.checks.model import Findings
from ailb_gen.intent.models import Fabric
from ailb_gen.lab.check.agreement import check_same_hops, computed_hops
from ailb_gen.lab.check.failures import check_failed, hops_without, settle
from ailb_gen.lab.check.live import RunningLab
from ailb_gen.lab.check.run import LabCheckOptions, check_lab
from tests.checks.trees import GOLDEN, fabric_of, findings, network_of, rendered, shown
from tests.conftest import EXAMPLES
from tests.lab.check.damages import NETPLAN, Damage, damaged, seen_by_a_lab
from tests.lab.isolated import isolated
from tests.lab.labs import with_servers

ALL = frozenset(check.id for check in checks_of(OF_LAB))
TOOLS = ("ip", "bird", "nft")


def flow_result(root: Path, example: str, faults: bool) -> tuple[list[str], dict[str, int]]:
    """Bring the files of an example up, and judge them; returns all findings, and how much every check examined."""
    return judged(fabric_of(example), root, faults)


def shutdown_result(folder: Path, entries: str) -> tuple[list[str], dict[str, int]]:
    """Do the same with the lab while spines are in graceful shutdown."""
    text = (EXAMPLES / "lab" / "fabric.yaml").read_text()
    intent, root = rendered(f"{text}graceful_shutdown: {entries}\n", folder)
    return judged(intent.fabric, root, True)


def judged(fabric: Fabric, root: Path, faults: bool) -> tuple[list[str], dict[str, int]]:
    """Bring files up, and judge them."""
    context = Context(fabric, network_of(root))
    plan = with_servers(root)
    results = list(
        check_lab(RunningLab(plan, context), context, LabCheckOptions(ALL, rounds=1, doubles=2 * faults, faults=faults))
    )
    return shown(results), {result.check.id: result.examined for result in results}


def found_by(root: Path, example: str, rounds: int, hosts: str) -> tuple[set[str], list[str]]:
    """Bring damaged files up, and judge them; returns the checks that found something, and what."""
    context = Context(fabric_of(example), network_of(root))
    plan = with_servers(root, hosts)
    results = list(check_lab(RunningLab(plan, context), context, LabCheckOptions(ALL, rounds)))
    return {finding.check for finding in findings(results)}, shown(results)


def single_links(root: Path, example: str, count: int | None, part: int = 0) -> tuple[list[str], int]:
    """Take links down one after the other: all, or so many of a seeded sample, the part of that number.

    Returns all findings, also those about next hops that are others after the repair, and the number of links.
    """
    context = Context(fabric_of(example), network_of(root))
    plan = with_servers(root)
    lab, found = RunningLab(plan, context), Findings()
    cables = list(context.network.links)
    if count is not None:
        random.Random(1).shuffle(cables)
        cables = cables[part * count : (part + 1) * count]
    computed = computed_hops(context.routing.graph, context.routing.states)
    before = settle(lab.hops, computed)
    check_same_hops(computed, before, AGREE_HOPS, "", found)
    unlike = []
    for cable in cables:
        ends = frozenset({cable.a})
        ours = hops_without(context, ends)
        lab.fail(ends)
        check_failed(context, ends, ours, settle(lab.hops, ours), f"{cable.a} down: ", found)
        lab.repair()
        if settle(lab.hops, before) != before:
            unlike.append(f"{cable.a}: not as before after the repair")
    return shown(found.results((AGREE_HOPS, FAILED, AGREE_FAILED))) + unlike, len(cables)


def test_nothing_is_found_in_a_lab_of_sound_files() -> None:
    found, examined = isolated(flow_result, GOLDEN / "lab", "lab", False, tools=TOOLS)
    assert found == [], "\n".join(found)
    assert {check for check in ALL if not examined[check]} == {"AILBL34", "AILBL35"}


@pytest.mark.long
@pytest.mark.parametrize(
    "example", ["lab", "jvd", pytest.param("jvd-8-uplinks", marks=pytest.mark.exhaustive), "brownfield", "static"]
)
def test_nothing_is_found_when_everything_fails_in_a_lab_of_sound_files(example: str) -> None:
    found, examined = isolated(flow_result, GOLDEN / example, example, True, tools=TOOLS)
    assert found == [], "\n".join(found)
    assert examined.keys() == ALL and all(examined.values()), examined


@pytest.mark.long
@pytest.mark.parametrize("entries", ["spine3", pytest.param("[spine1, spine2, spine4]", marks=pytest.mark.exhaustive)])
def test_nothing_is_found_while_spines_are_in_graceful_shutdown(entries: str, tmp_path: Path) -> None:
    """With one spine left in full service its failure, too, is one that the others take over."""
    found, examined = isolated(shutdown_result, tmp_path, entries, tools=TOOLS)
    assert found == [], "\n".join(found)
    # Over one spine no prefix changes its links with its color.
    assert {check for check in ALL if not examined[check]} <= {"AILBL35"}


@pytest.mark.long
@pytest.mark.parametrize("damage", seen_by_a_lab(), ids=lambda damage: damage.name)
def test_a_lab_shows_every_damage(damage: Damage, tmp_path: Path) -> None:
    hosts, tools = ("netplan", (*TOOLS, "netplan")) if damage.file == NETPLAN else ("script", TOOLS)
    checks, found = isolated(found_by, damaged(damage, tmp_path), "lab", 1, hosts, tools=tools)
    assert damage.found_by <= checks, found
    # What BIRD and kernels make of damaged files is what this program computes.
    assert not {"AILBL21", "AILBL22", "AILBL23", "AILBL32", "AILBL33"} & checks, found


@pytest.mark.long
def test_every_single_link_of_the_lab_fails_as_computed() -> None:
    found, count = isolated(single_links, GOLDEN / "lab", "lab", None, tools=TOOLS)
    assert found == [], "\n".join(found)
    assert count == 16


@pytest.mark.long
@pytest.mark.parametrize("part", [pytest.param(part, marks=pytest.mark.exhaustive) for part in range(2)])
def test_forty_links_of_the_reference_fabric_fail_as_computed(part: int) -> None:
    found, count = isolated(single_links, GOLDEN / "jvd", "jvd", 20, part, tools=TOOLS)
    assert found == [], "\n".join(found)
    assert count == 20
