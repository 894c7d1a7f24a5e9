"""Spines in graceful shutdown: sessions stay up, traffic goes as if they were drained, and all of it is proved."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from ailb_gen.checks.expected import expected_fabric
from ailb_gen.checks.expected_paths import ExpectedPaths
from ailb_gen.checks.families.paths import CONNECTED
from ailb_gen.design.build import build
from ailb_gen.errors import IntentError, UsageError
from ailb_gen.intent.load import Intent
from ailb_gen.monitoring.expected import expectations
from ailb_gen.routing.rib import Routing
from tests.checks.test_drains import EIGHT, GROWN, LAB, MIXED, NAMED, STRICT, TWO, proved, said
from tests.checks.test_run import validated
from tests.checks.trees import change, findings, network_of, rendered, shown
from tests.conftest import examples, intent_of
from tests.intents import random_intent
from tests.mutations.tree import read_tree

BGP = "    bgp {\n"
STATEMENT = "        graceful-shutdown {\n            sender;\n        }\n"
# By leaf and prefix: the interfaces that packets leave by.
Fib = dict[tuple[str, str], frozenset[str]]

# intent, what is in graceful shutdown, what the report says
CASES = [
    pytest.param(LAB, "spine3", ["spine3 in graceful shutdown (4 of 16 uplinks of color red, 25 % of capacity)"]),
    pytest.param(
        LAB,
        '"spine[12]"\ndrain: [spine3, "stripe1-leaf1 spine1"]',
        [
            "spine3 (4 of 16 uplinks of color red, 25 % of capacity)",
            "stripe1-leaf1 spine1 (1 of 16 uplinks of color green, 6.2 % of capacity)",
            "spine1 in graceful shutdown (4 of 16 uplinks of color green, 25 % of capacity)",
            "spine2 in graceful shutdown (4 of 16 uplinks of color blue, 25 % of capacity)",
            "in all (12 of 16 uplinks of colors green, blue, red, 75 % of capacity)",
        ],
    ),
    pytest.param(MIXED, "spine1", None, marks=pytest.mark.long),
    pytest.param(TWO, "spine1", None, marks=pytest.mark.long),
    pytest.param(NAMED, "spine1", None, marks=pytest.mark.long),
    pytest.param(GROWN, "[spine3, spine6]", None, marks=pytest.mark.long),
    pytest.param(STRICT, "spine3", None, marks=pytest.mark.long),
    pytest.param(EIGHT, "spine2", None, marks=pytest.mark.long),
]


@pytest.mark.parametrize(("text", "entries", "lines"), CASES)
def test_a_fabric_passes_and_says_what_is_missing(
    text: str, entries: str, lines: list[str] | None, tmp_path: Path
) -> None:
    done = proved(f"{text}graceful_shutdown: {entries}\n", tmp_path)
    assert not shown(done.results)
    assert lines is None or said(done) == lines


@pytest.fixture(scope="module")
def static(tmp_path_factory: pytest.TempPathFactory) -> tuple[Intent, Path]:
    """A fabric of static neighbors with a spine in graceful shutdown."""
    return rendered(f"{LAB}bgp: {{neighbors: static}}\ngraceful_shutdown: spine3\n", tmp_path_factory.mktemp("static"))


def test_one_statement_of_the_spine_is_all_that_changes(tmp_path: Path) -> None:
    _, before = rendered(LAB, tmp_path / "before")
    _, during = rendered(f"{LAB}graceful_shutdown: spine3\n", tmp_path / "during")
    files, now = (dict(read_tree(root)) for root in (before, during))
    changed = {path for path in files if files[path] != now[path]}
    assert (changed - {"manifest.json", "topology.json"}, files.keys()) == ({"switches/spine3.conf"}, now.keys())
    spine = "switches/spine3.conf"
    assert (during / spine).read_text().replace(STATEMENT, "") == (before / spine).read_text()


def fib(text: str, folder: Path) -> Fib:
    """Where every leaf sends packets to the prefixes of leaves, by the files that are generated."""
    network = network_of(rendered(text, folder)[1])
    routing = Routing(network)
    index = routing.graph.index
    return {
        (leaf, str(prefix)): frozenset(hop.interface for hop in routing.next_hops(index[leaf], prefix))
        for leaf, role in network.roles.items()
        if role == "leaf"
        for prefix, owners in routing.graph.owners.items()
        if {network.roles[routing.graph.names[owner]] for owner in owners} == {"leaf"}
    }


@pytest.mark.parametrize(
    ("text", "spines"), [(LAB, "[spine3]"), (MIXED, "[spine2]"), (GROWN, "[spine1, spine8]"), (STRICT, "[spine1]")]
)
def test_leaves_send_packets_as_if_the_spines_were_drained(text: str, spines: str, tmp_path: Path) -> None:
    found = fib(f"{text}graceful_shutdown: {spines}\n", tmp_path / "shut")
    assert found == fib(f"{text}drain: {spines}\n", tmp_path / "drained")
    assert found != fib(text, tmp_path / "whole")


@pytest.mark.long
def test_leaves_of_any_fabric_send_packets_as_if_a_spine_was_drained(tmp_path: Path) -> None:
    compared = 0
    for seed in range(examples(30)):
        data = yaml.safe_load(random_intent(seed))
        data.pop("drain", None), data.pop("graceful_shutdown", None)
        text = yaml.safe_dump(data, sort_keys=False)
        try:
            name = build(intent_of(text))[0].spines[seed % 2].name
            build(intent_of(f"{text}graceful_shutdown: {name}\n"))
        except (IntentError, IndexError):
            continue
        shut = fib(f"{text}graceful_shutdown: {name}\n", tmp_path / f"{seed}-shut")
        assert shut == fib(f"{text}drain: {name}\n", tmp_path / f"{seed}-drained"), seed
        compared += 1
    assert compared > 2


def test_without_another_path_a_spine_goes_on_forwarding(tmp_path: Path) -> None:
    """No backups: what is red has no path but over spine3, which is now the last choice and still one."""
    text = LAB.replace("[green, blue, red, orange]", "{names: [green, blue, red, orange], backup: none}")
    whole = fib(text, tmp_path / "whole")
    change(tmp_path / "whole/out/switches/spine3.conf", BGP, f"{BGP}{STATEMENT}")
    network = network_of(tmp_path / "whole/out")
    routing = Routing(network)
    index = routing.graph.index
    leaf, owner = "stripe1-leaf1", "stripe2-leaf2"
    routes = {route.color: route.prefix for route in network.switches[owner].routes}
    for color, preference in (("red", 0), ("green", 100)):
        (path,) = routing.paths(index[leaf], routes[color])
        assert (path.route.local_preference, path.route.communities >= {"65535:0"}) == (preference, color == "red")
        hops = frozenset(hop.interface for hop in routing.next_hops(index[leaf], routes[color]))
        assert hops == whole[leaf, str(routes[color])]


# what stands in the files while spine3 is shut down, what comes instead, the checks that must find it
DAMAGES = [
    ("spine3", STATEMENT, "", {"AILB213", "AILB401"}),
    ("spine1", BGP, f"{BGP}{STATEMENT}", {"AILB213", "AILB401"}),
    (
        "stripe1-leaf1",
        "    bgp {\n",
        "    bgp {\ngraceful-shutdown { receiver { disable; } }\n",
        {"AILB213", "AILB401"},
    ),
    (
        "stripe1-leaf1",
        "    bgp {\n",
        "    bgp {\ngraceful-shutdown { receiver { local-preference 5; } }\n",
        {"AILB213"},
    ),
    ("stripe1-leaf1", "                backup-color all-colors;\n", "", {"AILB305"}),
    ("stripe1-leaf1", "                    interface et-0/0/2.0;\n", "", {"AILB201"}),
    ("spine3", "            fabric-color red;\n", "            fabric-color blue;\n", {"AILB302"}),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("name", "old", "new", "checks"), DAMAGES)
def test_everything_else_is_still_proved(name: str, old: str, new: str, checks: set[str], tmp_path: Path) -> None:
    intent, root = rendered(f"{LAB}graceful_shutdown: spine3\n", tmp_path)
    change(root / f"switches/{name}.conf", old, new)
    assert checks <= {finding.check for finding in findings(validated(intent, root).results)}


SENDER, OFF, FIVE = (
    f"graceful-shutdown {{ {text} }}"
    for text in ("sender;", "receiver { disable; }", "receiver { local-preference 5; }")
)
# the switch, the line of its file after which something is added, what, and how the line begins that the finding names
LINES = [
    ("spine1", "    bgp {", SENDER, "graceful-shutdown"),
    ("spine1", "        group fabric-green {", SENDER, "graceful-shutdown"),
    ("spine1", "            neighbor fd00::1:1:2 {", SENDER, "graceful-shutdown"),
    (
        "spine1",
        "    host-name spine1;",
        "} groups { g { protocols { bgp { " + SENDER + " } } } } apply-groups g; system {",
        "} gr",
    ),
    ("stripe1-leaf1", "        group fabric-red {", FIVE, "graceful-shutdown"),
    ("stripe1-leaf1", "            neighbor fd00::1:1:5 {", OFF, "graceful-shutdown"),
    # Junos refuses to disable the receiver of a sender.
    ("spine3", "            sender;", "receiver { disable; }", "receiver"),
    ("spine3", "        graceful-shutdown {", "inactive:", "sender"),
]


@pytest.mark.parametrize(("name", "after", "added", "line"), LINES)
def test_the_line_is_that_of_the_statement_that_counts(
    name: str, after: str, added: str, line: str, static: tuple[Intent, Path], tmp_path: Path
) -> None:
    intent, root = static
    copy = shutil.copytree(root, tmp_path / "out")
    change(copy / f"switches/{name}.conf", f"{after}\n", f"{after}\n{added}\n")
    (found,) = findings(validated(intent, copy, frozenset({"AILB213"})).results)
    assert found.place is not None
    assert (copy / found.place.file).read_text().splitlines()[found.place.line - 1].strip().startswith(line)


@pytest.mark.parametrize(
    ("text", "entries"),
    [(LAB, '"spine*"'), (NAMED, "[spine1, spine2]"), (LAB, "[spine1, spine2]\ndrain: [spine3, spine4]")],
)
def test_what_leaves_a_pair_to_the_last_choice_is_refused_and_found(text: str, entries: str, tmp_path: Path) -> None:
    intent = intent_of(f"{text}graceful_shutdown: {entries}\n")
    with pytest.raises(IntentError, match="error\\[drain-cuts\\]"):
        build(intent)
    assert list(ExpectedPaths(expected_fabric(intent.fabric)).partitions())
    told = validated(intent, rendered(text, tmp_path)[1])
    assert next(result for result in told.results if result.check is CONNECTED).findings


def test_unknown_names_say_what_was_meant_when_proving_too() -> None:
    with pytest.raises(UsageError, match="graceful_shutdown: no spine is called 'spin3'; did you mean 'spine3'"):
        expected_fabric(intent_of(f"{LAB}graceful_shutdown: spin3\n").fabric)


def test_idle_uplinks_have_sessions_and_no_expected_load(tmp_path: Path) -> None:
    intent, root = rendered(f"{LAB}graceful_shutdown: spine3\n", tmp_path)
    text = expectations(build(intent)[0], network_of(root)).text()
    assert 'ailb_switch_expected_sessions{fabric="lab",device="spine3"} 4\n' in text
    lines = [line for line in text.splitlines() if "expected_share{" in line]
    assert lines and not [line for line in lines if 'color="red"' in line or 'spine="spine3"' in line]
