"""What the intent takes out of service: not expected, told as missing capacity, all else still proved."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ailb_gen.checks.expected import expected_fabric
from ailb_gen.checks.expected_paths import ExpectedPaths
from ailb_gen.checks.families.paths import CONNECTED
from ailb_gen.checks.model import Run
from ailb_gen.design.build import build
from ailb_gen.errors import IntentError, UsageError
from ailb_gen.intent.load import Intent
from ailb_gen.render.artifacts import RenderOptions
from ailb_gen.render.generate import rendering as planned
from ailb_gen.render.generate import write_rendering
from tests.checks.test_run import validated
from tests.checks.trees import change, rendered, shown
from tests.conftest import EXAMPLES, examples, intent_of
from tests.mutations.tree import read_tree

LAB = (EXAMPLES / "lab" / "fabric.yaml").read_text()
EIGHT = (EXAMPLES / "jvd-8-uplinks" / "fabric.yaml").read_text()
# Half as many colors as spines, and two links to each of them.
MIXED = LAB.replace("spines: 4", "spines: 4\nlinks_per_spine: 3").replace("[green, blue, red, orange]", "6")
TWO = LAB.replace("[green, blue, red, orange]", "[green, blue]")
NAMED = LAB.replace("[green, blue, red, orange]", "{names: [a, b, c, d], backup: {a: b, b: c, c: d, d: a}}")
# A fabric of 4 spines with 2 links each that has grown, and keeps the colors of its first links.
GROWN = LAB.replace("spines: 4", "spines: 8\nlinks_per_spine: 2").replace(
    "[green, blue, red, orange]", "{count: 8, step: 4}"
)
STRICT = TWO.replace("[green, blue]", "{names: [green, blue], backup: none}")

# intent, what is drained, what the report says
CASES = [
    (LAB, "spine3", ["spine3 (4 of 16 uplinks of color red, 25 % of capacity)"]),
    (LAB, "blue", ["blue (4 of 16 uplinks of color blue, 25 % of capacity)"]),
    (LAB, '"spine[12]"', ["spine[12] (8 of 16 uplinks of colors green, blue, 50 % of capacity)"]),
    (
        LAB,
        '[spine3, "stripe1-leaf1 et-0/0/1"]',
        [
            "spine3 (4 of 16 uplinks of color red, 25 % of capacity)",
            "stripe1-leaf1 et-0/0/1 (1 of 16 uplinks of color blue, 6.2 % of capacity)",
            "in all (5 of 16 uplinks of colors blue, red, 31.2 % of capacity)",
        ],
    ),
    # What two entries name is missing once.
    (
        LAB,
        "[spine3, red, gpu-s1-1]",
        [
            "spine3 (4 of 16 uplinks of color red, 25 % of capacity)",
            "red (4 of 16 uplinks of color red, 25 % of capacity)",
            "gpu-s1-1 (2 server ports)",
            "in all (4 of 16 uplinks of color red, 25 % of capacity; 2 server ports)",
        ],
    ),
    (LAB, '"spine2:et-0/0/3"', ["spine2 et-0/0/3 (1 of 16 uplinks of color blue, 6.2 % of capacity)"]),
    (LAB, '"stripe2-* spine4"', ["stripe2-* spine4 (2 of 16 uplinks of color orange, 12.5 % of capacity)"]),
    (LAB, "[gpu-s1-1]", ["gpu-s1-1 (2 server ports)"]),
    (LAB, '"stripe1-leaf1 et-0/0/16"', ["stripe1-leaf1 et-0/0/16 (1 server port)"]),
    (EIGHT, "spine2", ["spine2 (32 of 128 uplinks of colors blue, yellow, 25 % of capacity)"]),
    (
        EIGHT,
        '"stripe1-leaf1 et-0/0/1:0"',
        ["stripe1-leaf1 et-0/0/1:0 (1 of 128 uplinks of color blue, 0.8 % of capacity)"],
    ),
    (MIXED, "spine1", ["spine1 (12 of 48 uplinks of colors green, purple, red, 25 % of capacity)"]),
    (MIXED, '["stripe1-leaf1 et-0/0/0", "stripe2-leaf2 spine3"]', None),
    (TWO, "spine1", ["spine1 (4 of 16 uplinks of color green, 25 % of capacity)"]),
    (TWO, '["stripe1-leaf1 spine1", "stripe2-leaf1 spine3"]', None),
    (NAMED, '["stripe1-leaf1 spine1"]', None),
    (GROWN, '[spine3, "stripe1-leaf1 et-0/0/1", cyan]', None),
    (STRICT, "spine3", ["spine3 (4 of 16 uplinks of color green, 25 % of capacity)"]),
]


@pytest.mark.long
@pytest.mark.parametrize(("text", "drain", "lines"), CASES)
def test_a_drained_fabric_passes_and_says_what_is_missing(
    text: str, drain: str, lines: list[str] | None, tmp_path: Path
) -> None:
    done = proved(f"{text}drain: {drain}\n", tmp_path)
    assert not shown(done.results)
    assert lines is None or said(done) == lines
    figures = next(result.figures for result in done.results if result.check is CONNECTED)
    assert figures == tuple(("drained", line) for line in said(done))


def said(done: Run) -> list[str]:
    """What the report says of capacity that is missing."""
    return [note.removeprefix("drained: ") for note in done.notes if note.startswith("drained: ")]


def proved(text: str, folder: Path) -> Run:
    """Generate and validate a fabric file given as text; both must say the same of what is drained."""
    intent, root = rendered(text, folder)
    done = validated(intent, root)
    assert said(done) == list(build(intent)[0].drained)
    return done


def test_single_ports_that_the_intent_disables_are_drained_links(tmp_path: Path) -> None:
    ports = "{ports: {et-0/0/0: {disabled: on}}}"
    done = proved(f"{LAB}overrides: {{leaves: {{stripe1-leaf1: {ports}}}, spines: {{spine2: {ports}}}}}\n", tmp_path)
    assert not shown(done.results)
    assert said(done) == [
        "stripe1-leaf1 et-0/0/0 (1 of 16 uplinks of color green, 6.2 % of capacity)",
        "spine2 et-0/0/0 (1 of 16 uplinks of color blue, 6.2 % of capacity)",
        "in all (2 of 16 uplinks of colors green, blue, 12.5 % of capacity)",
    ]


def test_a_server_port_that_the_intent_disables_is_missing_too(tmp_path: Path) -> None:
    done = proved(
        f"{LAB}overrides: {{leaves: {{stripe1-leaf1: {{ports: {{et-0/0/16: {{disabled: on}}}}}}}}}}\n", tmp_path
    )
    assert not shown(done.results)
    assert said(done) == ["stripe1-leaf1 et-0/0/16 (1 server port)"]


def test_draining_disables_both_ends_and_undraining_gives_the_same_bytes(tmp_path: Path) -> None:
    def files(intent: Intent) -> dict[str, object]:
        write_rendering(planned(build(intent)[0], tmp_path / "out", RenderOptions()))
        return dict(read_tree(tmp_path / "out"))

    before = files(intent_of(LAB))
    during = files(intent_of(f"{LAB}drain: spine3\n"))
    changed = {path for path in before if before[path] != during[path]}
    switches = {path for path in changed if path.startswith("switches/")}
    leaves = {f"switches/stripe{stripe}-leaf{leaf}.conf" for stripe in (1, 2) for leaf in (1, 2)}
    assert switches == {"switches/spine3.conf", *leaves}
    assert changed - switches <= {"manifest.json", "topology.json"}
    text = (tmp_path / "out/switches/spine3.conf").read_text()
    assert text.count("        disable;\n") == 4
    assert files(intent_of(LAB)) == before


# what stands in the files while spine3 is drained, what comes instead, the check that must find it
DAMAGES = [
    ("stripe1-leaf1", "        disable;\n", "", "AILB108"),
    ("stripe1-leaf1", "                backup-color all-colors;\n", "", "AILB305"),
    ("stripe1-leaf1", "                    interface et-0/0/1.0;\n", "", "AILB201"),
    ("stripe1-leaf1", "                    interface et-0/0/2.0;\n", "", "AILB201"),
    ("spine1", "            fabric-color green;\n", "            fabric-color blue;\n", "AILB302"),
    ("stripe2-leaf1", "        export PFE-LB;\n", "", "AILB405"),
    ("stripe2-leaf1", "            family inet6;", "            family inet;", "AILB108"),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("name", "old", "new", "check"), DAMAGES)
def test_everything_else_is_still_proved(name: str, old: str, new: str, check: str, tmp_path: Path) -> None:
    intent, root = rendered(f"{LAB}drain: spine3\n", tmp_path)
    change(root / f"switches/{name}.conf", old, new)
    assert check in {finding.check for result in validated(intent, root).results for finding in result.findings}


def test_a_link_that_comes_up_though_it_is_drained_is_told(tmp_path: Path) -> None:
    intent, root = rendered(f"{LAB}drain: spine3\n", tmp_path)
    for name in ("stripe1-leaf1", "spine3"):
        change(root / f"switches/{name}.conf", "        disable;\n", "")
    told = shown(validated(intent, root).results)
    assert any("a session comes up" in line and "takes out of service" in line for line in told)


CUTS = [
    (LAB, '"spine*"'),
    (LAB, "stripe1-leaf1"),
    (LAB, '["stripe1-leaf1 spine1", "stripe1-leaf1 spine2", "stripe2-leaf1 spine3", "stripe2-leaf1 spine4"]'),
    (STRICT, "green"),
    (STRICT, '["stripe1-leaf1 spine1", "stripe2-leaf1 spine3"]'),
    (NAMED, "[spine1, spine2]"),
    # The only spine that is left has three colors; it sends the prefix in one of them, and which is not said.
    (MIXED, '[spine2, spine3, spine4, "stripe1-leaf1 et-0/0/0"]'),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("text", "drain"), CUTS)
def test_a_drain_that_cuts_a_pair_is_refused_and_found(text: str, drain: str, tmp_path: Path) -> None:
    intent = intent_of(f"{text}drain: {drain}\n")
    with pytest.raises(IntentError, match="error\\[drain-cuts\\]"):
        build(intent)
    assert list(ExpectedPaths(expected_fabric(intent.fabric)).partitions())
    _, root = rendered(text, tmp_path)
    told = validated(intent, root)
    assert next(result for result in told.results if result.check is CONNECTED).findings


def test_unknown_names_say_what_was_meant_when_proving_too() -> None:
    with pytest.raises(UsageError, match="no switch, server or color is called 'spin3'; did you mean 'spine3'"):
        expected_fabric(intent_of(f"{LAB}drain: spin3\n").fabric)


LINKS = [f"stripe{stripe}-leaf{leaf} spine{spine}" for stripe in (1, 2) for leaf in (1, 2) for spine in (1, 2, 3, 4)]
PARTS = ["spine1", "spine2", "spine4", "green", "blue", *LINKS, "stripe1-leaf2 et-0/0/0", "spine3 et-0/0/1*"]


@pytest.mark.long
@given(st.sampled_from([LAB, MIXED, TWO, NAMED, STRICT]), st.lists(st.sampled_from(PARTS), max_size=5, unique=True))
@settings(
    max_examples=examples(10),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    phases=[Phase.generate, Phase.shrink],
)
def test_whatever_is_drained_is_refused_or_passes(tmp_path: Path, text: str, parts: list[str]) -> None:
    names = ", ".join(f"'{part}'" for part in parts)
    written = f"{text}drain: [{names}]\n"
    try:
        build(intent_of(written))
    except IntentError as error:
        assert {problem.code for problem in error.problems if problem.severity == "error"} <= {
            "drain-cuts",
            "unknown-device",
            "unused-port",
        }
        return
    assert not shown(proved(written, tmp_path).results)
