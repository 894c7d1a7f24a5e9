"""Clean fabrics and damaged ones through both engines; stages, seeds, and a service that fails in the middle."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ailb_gen.batfish.answers import Row
from ailb_gen.batfish.run import SecondOpinion, second_opinion
from ailb_gen.checks.catalogue import BY_ID, skipped_by_batfish
from ailb_gen.checks.causes import causes
from ailb_gen.checks.families.batfish import NO_SERVICE
from ailb_gen.checks.model import Result, RunOptions
from ailb_gen.checks.run import examine
from ailb_gen.errors import BatfishError
from ailb_gen.intent.load import Intent, load
from tests.batfish.fake.near import ALL, OF_SHADOW, Counted, Near, judged, opinion
from tests.checks.trees import GOLDEN, rendered, shown
from tests.conftest import EXAMPLES
from tests.mutations.catalogue import KINDS
from tests.mutations.kind import changes_of, chosen
from tests.mutations.score import golden
from tests.mutations.tree import copy_with

NO_ROUTE = "AILB815 AILB816 AILB818 AILB819"
# Damage that the shadow can show, by its name in the catalogue of mutations, with the checks by which Batfish finds it.
# AILB82x stands where the two engines differ, and docs/batfish.md says why.
DAMAGE = {
    "switch-missing": "AILB813 AILB815 AILB818 AILB819",
    # A file without a statement counts as missing: the shadow is without the switch.
    "switch-empty": "AILB813 AILB815",
    "bgp-removed": f"AILB813 {NO_ROUTE}",
    "cable-moved-in-both": "AILB813 AILB815 AILB816 AILB818 AILB819",
    "irb-removed": NO_ROUTE,
    "irb-disabled": NO_ROUTE,
    "gateway-missing": NO_ROUTE,
    "gateway-of-another-leaf": f"AILB814 {NO_ROUTE}",
    "vlan-removed": NO_ROUTE,
    "vlan-irb-wrong": NO_ROUTE,
    "fabric-color-missing-leaf": "AILB815 AILB816 AILB818 AILB819",
    "fabric-colors-swapped": "AILB815 AILB816 AILB818 AILB819",
    "fabric-color-of-another-spine": "AILB815 AILB816 AILB818 AILB819",
    "aigp-missing-leaf": "AILB815",
    "aigp-missing-spine": "AILB815",
    "advertise-color-wrong": "AILB815 AILB818 AILB819",
    "advertise-no-color": "AILB815",
    "backup-missing": "AILB816 AILB818 AILB819",
    "backup-one-color": "AILB816 AILB818 AILB819",
    "leaf-as-twice": "AILB815 AILB818 AILB819",
    "local-as-off-by-one": "AILB812 AILB815 AILB818 AILB819 AILB821 AILB822 AILB823",
    "multipath-missing": "AILB812",
    "local-set": "AILB812 AILB815 AILB821 AILB822 AILB823",
    "color-added": "AILB812",
}


FORKED = frozenset({"AILB818", "AILB819", "AILB822", "AILB823"})


def lab() -> Intent:
    return load(EXAMPLES / "lab" / "fabric.yaml")


def found(results: list[Result]) -> set[str]:
    return {finding.check for result in results for finding in result.findings}


@pytest.mark.long
@pytest.mark.parametrize("name", ["lab", "jvd", "jvd-8-uplinks", "mixed", "brownfield", "static"])
def test_shipped_fabrics_are_clean(name: str) -> None:
    """Every check looks at something and finds nothing; a spine and a link less as well."""
    results, others = judged(load(EXAMPLES / name / "fabric.yaml"), GOLDEN / name)
    assert not shown(results) and not others
    assert {result.check.id for result in results} == ALL
    assert all(result.examined for result in results)


def damaged(name: str, out: Path) -> Path:
    """Write the lab with a damage of the catalogue of mutations."""
    kind = next(kind for kind in KINDS if kind.name == name)
    tree = golden("lab")
    copy_with(GOLDEN / "lab", changes_of(kind, tree, chosen(kind, tree, "lab", 1)), out)
    return out


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_found_by_both_engines(name: str, tmp_path: Path) -> None:
    results, others = judged(lab(), damaged(name, tmp_path / "out"), OF_SHADOW)
    assert found(results) == set(DAMAGE[name].split()), shown(results)
    assert others


def test_findings_point_at_the_files(tmp_path: Path) -> None:
    """A prefix with the color of another one: what is told, of whom, and where."""
    file = "switches/stripe1-leaf1.conf"
    text = (GOLDEN / "lab" / file).read_text("utf-8")
    copy_with(GOLDEN / "lab", {file: text.replace("color green;\n", "color blue;\n", 1).encode()}, tmp_path / "out")
    results, _ = judged(lab(), tmp_path / "out", frozenset({"AILB815"}))
    bgp = {
        name: (GOLDEN / "lab" / f"switches/{name}.conf").read_text("utf-8").split("\n").index("    bgp {") + 1
        for name in ("stripe1-leaf2", "stripe2-leaf1", "stripe2-leaf2")
    }
    assert [(one.scope, one.message, str(one.place)) for result in results for one in result.findings] == [
        (
            name,
            "in Batfish packets go to fc00:1:1:1::/64 over et-0/0/1, not et-0/0/0",
            f"switches/{name}.conf:{line}:1",
        )
        for name, line in bgp.items()
    ]


def test_stages_are_asked_for() -> None:
    near = Near()
    results, _ = judged(lab(), GOLDEN / "lab", frozenset({"AILB804", "AILB201"}), near)
    assert [result.check.id for result in results] == ["AILB804"]
    assert set(near.snapshots) == {"files"}
    near = Near()
    results, _ = judged(lab(), GOLDEN / "lab", frozenset({"AILB818"}), near)
    assert [result.check.id for result in results] == ["AILB818"]
    assert set(near.snapshots) == {"shadow", "spine-1", "spine-2", "spine-3", "spine-4"}


def second(chosen: frozenset[str] = ALL) -> SecondOpinion:
    return opinion(lab(), GOLDEN / "lab", chosen)


def test_every_piece_of_work_is_a_step() -> None:
    for one in (second(), second(frozenset({"AILB801"})), second(frozenset({"AILB815"})), second(frozenset())):
        progress = Counted()
        list(second_opinion(Near(), one, progress))
        assert progress.done == [total for _, total in progress.stages]


def test_what_was_judged_before_a_failure_is_kept() -> None:
    """The service dies at the first fork: the results of files and shadow are there."""

    class Dying(Near):
        def fork(self, *_: object, **__: object) -> None:
            raise BatfishError("gone")

    results: list[Result] = []
    with pytest.raises(BatfishError, match="gone"):
        for result in second_opinion(Dying(), second(), Counted()):
            results.append(result)
    rest = list(skipped_by_batfish(ALL, results, "gone"))
    assert {result.check.id for result in rest} == {"AILB818", "AILB819", "AILB822", "AILB823"}
    assert {result.skipped for result in rest} == {"gone"}
    assert {result.check.id for result in [*results, *rest]} == ALL
    assert [result.skipped for result in skipped_by_batfish(frozenset({"AILB801", "AILB001"}), [], NO_SERVICE)] == [
        NO_SERVICE
    ]


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("interfaceProperties", "stripe1-leaf1:et-0/0/0, and says that it is up"),
        ("routes", "spine1, and still computes routes for it"),
    ],
)
def test_a_failure_that_batfish_ignored_is_no_result(question: str, message: str) -> None:
    """Names that it does not know it ignores silently; then everything would look fine."""

    class Ignoring(Near):
        def fork(self, base: str, snapshot: str, *_: object, **__: object) -> None:
            self.snapshots[snapshot] = self.snapshots[base]

    chosen = frozenset({"AILB819"} if question == "interfaceProperties" else {"AILB818"})
    with pytest.raises(BatfishError) as caught:
        list(second_opinion(Ignoring(), second(chosen), Counted()))
    update = "update both: docker pull batfish/batfish, pip install -U pybatfish"
    assert str(caught.value) == f"Batfish 0.36.0 was asked to deactivate {message}; {update}"


def test_an_empty_answer_is_a_finding() -> None:
    """A service that answers nothing must not look like a clean fabric."""
    results, _ = judged(lab(), GOLDEN / "lab", batfish=Near(lambda question, snapshot, rows: []), chosen=ALL - FORKED)
    assert found(results) == {
        "AILB801",
        "AILB806",
        "AILB807",
        "AILB808",
        "AILB811",
        "AILB813",
        "AILB815",
        "AILB816",
        "AILB821",
    }


@pytest.mark.parametrize("question", ["detectLoops", "multipathConsistency"])
def test_loops_and_inconsistent_paths(question: str) -> None:
    flow: Row = {"Flow": "start=spine1", "Flow.ingressNode": "spine1", "Flow.dstIp": "10.0.1.1"}
    near = Near(lambda asked, snapshot, rows: [flow] if asked == question else rows)
    results, _ = judged(lab(), GOLDEN / "lab", frozenset({"AILB817"}), near)
    what = {"detectLoops": "loops", "multipathConsistency": "arrives on only some of its paths"}[question]
    assert [(one.scope, one.message) for result in results for one in result.findings] == [
        ("spine1", f"in Batfish a packet to fc00:1:1:2::/64 {what}")
    ]


MULTIPATH = "            multipath {\n                multiple-as;\n            }\n"


def rewritten(tmp_path: Path, change: Callable[[str, str], str]) -> Path:
    """Copy the files of lab; `change` gets every switch's name and text."""
    files = sorted((GOLDEN / "lab" / "switches").iterdir())
    texts = {f"switches/{path.name}": change(path.stem, path.read_text("utf-8")).encode() for path in files}
    before = {f"switches/{path.name}": path.read_bytes() for path in files}
    copy_with(GOLDEN / "lab", {name: text for name, text in texts.items() if text != before[name]}, tmp_path / "out")
    return tmp_path / "out"


def test_a_single_next_hop_after_a_failure_is_too_few(tmp_path: Path) -> None:
    """Without multipath in any group both engines agree, and everything is still reached."""
    root = rewritten(tmp_path, lambda name, text: text.replace(MULTIPATH, ""))
    results, _ = judged(lab(), root, OF_SHADOW)
    assert found(results) == {"AILB818", "AILB819"}
    messages = [one.message for result in results for one in result.findings]
    assert messages[0] == (
        "spine1 fails: in Batfish stripe1-leaf1 has 1 next hop to fc00:1:2:1::/64, not 3 (and 11 more prefixes)"
    )
    assert len(messages) == 8
    assert all("fails: in Batfish stripe" in one and "has 1 next hop to" in one for one in messages)


def without_multipath(text: str, groups: int) -> str:
    """Take multipath from the first so many groups."""
    return text.replace(MULTIPATH, "", groups)


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_where_groups_differ_in_multipath_batfish_does_not_judge_it(groups: int, tmp_path: Path) -> None:
    """It then has one next hop in all groups, and says so; AILB205 names the groups that lack it."""

    def change(name: str, text: str) -> str:
        return without_multipath(text, groups) if name == "stripe1-leaf1" else text

    results, others = judged(lab(), rewritten(tmp_path, change), OF_SHADOW)
    assert found(results) == {"AILB812"}
    assert {one.scope for result in results for one in result.findings} == {"stripe1-leaf1"}
    assert [one.scope.split()[0] for one in others if one.check == "AILB205"] == ["stripe1-leaf1"] * groups


def test_a_switch_with_mixed_groups_hides_no_other_damage(tmp_path: Path) -> None:
    """Its routes over wrong colors, and the widths of all others, are judged as before."""

    def change(name: str, text: str) -> str:
        if name == "stripe1-leaf2":
            return text.replace(MULTIPATH, "")
        if name != "stripe1-leaf1":
            return text
        first = "route fc00:1:1:1::/64 {\n                color "
        assert f"{first}green;" in text
        return without_multipath(text.replace(f"{first}green;", f"{first}red;"), 1)

    results, _ = judged(lab(), rewritten(tmp_path, change), OF_SHADOW)
    assert found(results) == {"AILB812", "AILB815", "AILB818", "AILB819"}
    narrow = [one.message for result in results for one in result.findings if "next hop" in one.message]
    assert narrow and all("Batfish stripe1-leaf2 has 1 next hop" in one for one in narrow)


def test_a_spine_without_multipath_has_too_few_next_hops(tmp_path: Path) -> None:
    """Two links of a color to each leaf: a spine that uses one of them halves what arrives."""
    intent, root = rendered(
        "name: planes\nstripes: 2\nrails: 2\nspines: 2\nlinks_per_spine: 2\ncolors: 2\nservers: 2\n", tmp_path
    )
    for file in (root / "switches").glob("spine*"):
        text = file.read_text("utf-8")
        assert MULTIPATH in text
        file.write_text(text.replace(MULTIPATH, ""), "utf-8")
    results, _ = judged(intent, root, OF_SHADOW)
    assert found(results) == {"AILB818", "AILB819"}
    messages = [one.message for result in results for one in result.findings]
    assert all("in Batfish spine" in one and "has 1 next hop to" in one and "not 2" in one for one in messages)


def test_a_community_that_batfish_does_not_honor_explains_why_the_engines_disagree(tmp_path: Path) -> None:
    """A spine that keeps everything to itself: nothing arrives in our control plane, everything in Batfish's."""
    policy = (
        "policy-options {\n    policy-statement HOME {\n        then {\n            community add home;\n"
        "            accept;\n        }\n    }\n    community home members no-export-subconfed;\n"
    )

    def kept(name: str, text: str) -> str:
        if name != "spine1":
            return text
        text = text.replace("policy-options {\n", policy, 1)
        return text.replace("            type external;\n", "            type external;\n            import HOME;\n")

    root = rewritten(tmp_path, kept)
    results, others = judged(lab(), root, OF_SHADOW)
    assert {"AILB812", "AILB821"} <= found(results) and others
    assert [one.message for result in results for one in result.findings if one.check == "AILB812"] == [
        "not in the shadow: policy HOME: Batfish readvertises routes with no-export-subconfed"
    ]
    explained = causes(results)
    assert not [one for result in results for one in result.findings if one.check > "AILB820" and one not in explained]


TINY = "name: tiny\nstripes: 2\nrails: 2\nspines: 4\nservers: {}\n{}"
UPLINK = "stripe1-leaf1 et-0/0/3:0"
DISABLED = 'overrides: {leaves: {stripe1-leaf1: {ports: {"et-0/0/3:0": {disabled: on}}}}}\n'


@pytest.mark.parametrize(
    ("servers", "more"),
    [(0, ""), (2, DISABLED), (2, f'drain: ["{UPLINK}"]\n'), (2, "drain: spine3\n"), (0, "drain: spine3\n")],
    ids=["no servers", "disabled uplink", "drained uplink", "drained spine", "no servers, drained spine"],
)
def test_what_the_intent_leaves_out_is_not_found(servers: int, more: str, tmp_path: Path) -> None:
    intent, root = rendered(TINY.format(servers, more), tmp_path)
    results, others = judged(intent, root)
    assert not shown(results) and not others


PLANES = "name: planes\nstripes: 2\nrails: 2\nspines: 2\nlinks_per_spine: 2\ncolors: 4\nservers: 1\ndrain: [{}]\n"


@pytest.mark.parametrize(
    "drained",
    ["stripe1-leaf2 et-0/0/0:1, stripe1-leaf1 et-0/0/1:1", "stripe1-leaf1 et-0/0/0:0, stripe2-leaf1 et-0/0/0:1"],
)
def test_what_no_spine_need_pass_on_is_not_missed(drained: str, tmp_path: Path) -> None:
    """A spine sends its active route alone, and may have it in a color that the other leaf has drained."""
    intent, root = rendered(PLANES.format(drained), tmp_path)
    results, others = judged(intent, root, OF_SHADOW)
    assert not shown(results) and not others


def test_one_host_name_of_two_switches_is_one_finding(tmp_path: Path) -> None:
    """Batfish calls both otherwise: nothing that it says of them is taken for a difference."""
    intent, root = rendered(TINY.format(2, ""), tmp_path)
    file = root / "switches" / "stripe1-leaf2.conf"
    text = file.read_text("utf-8")
    file.write_text(text.replace("host-name stripe1-leaf2;", "host-name Stripe1-Leaf1;"), "utf-8")
    results, _ = judged(intent, root)
    assert [(one.check, one.scope, one.message) for result in results for one in result.findings] == [
        (
            "AILB801",
            "stripe1-leaf2",
            "the host name Stripe1-Leaf1 is that of switches/stripe1-leaf1.conf, too: Batfish renames such devices",
        )
    ]


@pytest.mark.parametrize(
    ("name", "check"),
    [("switch-missing", "AILB001"), ("fabric-color-missing-leaf", "AILB302"), ("local-set", "AILB306")],
)
def test_what_both_engines_find_is_one_headline(name: str, check: str, tmp_path: Path) -> None:
    own = frozenset(one for one in BY_ID if one < "AILB8")
    run, context = examine(lab(), damaged(name, tmp_path / "out"), RunOptions(own, executor="serial"))
    results = [*run.results, *second_opinion(Near(), SecondOpinion(context, ALL), Counted())]
    explained = causes(results)
    heads = {one.check for result in results for one in result.findings if one not in explained}
    assert any(one.check > "AILB8" for one in explained)
    # The shadow itself says what it does not show, and that is why the engines disagree.
    assert heads == {check}
