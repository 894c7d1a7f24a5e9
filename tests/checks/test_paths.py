"""The checks of paths and balance: where packets go from every leaf, and how switches spread them."""

from pathlib import Path

import pytest

from ailb_gen.checks.context import Context
from ailb_gen.checks.expected import ExpectedFabric, expected_fabric
from ailb_gen.checks.families.paths import BALANCED
from ailb_gen.checks.model import Result
from ailb_gen.network.fabric import Network
from tests.checks.edited import LEAF, SPINE, Edit, edited, intended, judged, lines, network, text_of, unchanged, without
from tests.checks.trees import change, findings, ids, network_of, rendered, run_family
from tests.checks.variants import VARIANTS

GREEN = "                    interface et-0/0/0.0;\n"
ADDRESS = "                address fc00:1:1:2::1/64;\n"
DLB = "forwarding-options {\n    enhanced-hash-key {\n        ecmp-dlb {\n"
POLICY = "        then {\n            load-balance per-packet;\n        }\n"


def run(asked: ExpectedFabric, found: Network) -> list[Result]:
    return run_family("AILB4", Context(asked.fabric, found))


# edit, the checks that find it, a part of the line that a finding of the first points at
DAMAGES: list[tuple[Edit, set[str], str]] = [
    ((LEAF, GREEN, ""), {"401", "405"}, "bgp {"),
    ((SPINE, GREEN, ""), {"401", "405"}, "group fabric-blue"),
    ((LEAF, "fabric-color blue", "fabric-color green"), {"401", "405"}, "group fabric-green"),
    ((LEAF, ADDRESS, ""), {"402", "405"}, "## stripe1-leaf1"),
    ((SPINE, "protocol bgp", "protocol direct"), {"401", "405"}, "group fabric-blue"),
    ((LEAF, POLICY, POLICY.replace("per-packet", "per-prefix")), {"406"}, "forwarding-table {"),
    ((LEAF, POLICY, "        from protocol direct;\n" + POLICY), {"406"}, "forwarding-table {"),
    ((LEAF, POLICY, "        from interface et-0/0/0.0;\n" + POLICY), {"406"}, "forwarding-table {"),
    ((LEAF, POLICY, "        term a { then reject; }\n" + POLICY), {"406"}, "forwarding-table {"),
    ((LEAF, POLICY, "        term a { then next policy; }\n" + POLICY), {"406"}, "forwarding-table {"),
    ((LEAF, POLICY, "        term a { from protocol direct; then accept; }\n" + POLICY), {"406"}, "forwarding-table {"),
    ((LEAF, POLICY, POLICY.replace("per-packet", "per-flow")), set(), ""),
    ((LEAF, "interfaces {\n", "chassis { maximum-ecmp 3; }\ninterfaces {\n"), {"406"}, "chassis"),
    ((SPINE, "interfaces {\n", "chassis { maximum-ecmp 3; }\ninterfaces {\n"), set(), ""),
    ((LEAF, "inactivity-interval 128", "inactivity-interval 129"), {"407"}, "inactivity-interval 129"),
    ((LEAF, "prob-threshold 3", "prob-threshold 4"), {"407"}, "prob-threshold 4"),
    ((LEAF, "quality-delta 6", "quality-delta 5"), {"407"}, "quality-delta 5"),
    ((LEAF, "                    quality-delta 6;\n", ""), {"407"}, "ecmp-dlb {"),
    ((LEAF, "sampling-rate 1000000", "sampling-rate 100000"), {"407"}, "sampling-rate 100000"),
    ((LEAF, "                ipv6;\n", "                ipv6; ipv4;\n"), {"407"}, "ipv4"),
    ((LEAF, DLB, DLB + "            egress-quantization { min 10; }\n"), {"407"}, "egress-quantization"),
    ((SPINE, "    bgp {\n", "    bgp {\n        global-load-balancing { helper-only; }\n"), {"408"}, "helper-only"),
]


@pytest.mark.parametrize(("edit", "checks", "part"), DAMAGES)
def test_a_damage_is_found_by_the_checks_that_name_it(edit: Edit, checks: set[str], part: str) -> None:
    texts = edited(edit)
    found = judged(run, network(texts))
    assert {one.check for one in found} == {f"AILB{check}" for check in checks}, found
    if checks:
        first = f"AILB{min(checks)}"
        places = [line for check, line in lines(texts, found) if check == first]
        assert any(part in line for line in places), places


def messages(*edits: Edit) -> list[str]:
    """Findings about the lab with some edits."""
    return [f"{one.scope}: {one.message}" for one in judged(run, network(edited(*edits)))]


def test_a_prefix_on_other_uplinks_is_told_with_both() -> None:
    found = messages((SPINE, GREEN, ""))
    backups = "et-0/0/0.0, et-0/0/2.0, et-0/0/3.0"
    assert f"stripe2-leaf2: fc00:1:1:2::/64 is reached over {backups}; the uplinks of its color are et-0/0/1.0" in found
    assert f"{LEAF}: fc00:2:2:2::/64 is reached over {backups}; the uplinks of its color are none" in found


def test_a_prefix_that_nobody_reaches_is_told_by_leaf() -> None:
    color = "                backup-color all-colors;\n"
    found = messages((LEAF, color, ""), (LEAF, GREEN, ""))
    lost = "fc00:1:1:1::/64 is unreachable: no route at"
    leaves = ("stripe1-leaf2", "stripe2-leaf1", "stripe2-leaf2")
    assert [line for line in found if lost in line] == [f"{leaf}: {lost} {leaf}" for leaf in leaves]


def test_a_prefix_that_is_on_no_switch() -> None:
    assert f"{LEAF}: fc00:1:1:2::/64 is on no switch: it is unreachable" in messages((LEAF, ADDRESS, ""))
    found = [one for one in judged(run, without(LEAF)) if one.check == "AILB402"]
    assert [(one.scope, one.place) for one in found] == [(LEAF, None)] * 4


def test_the_modes_of_dynamic_load_balancing_are_compared_before_their_values() -> None:
    text = text_of(LEAF)
    start = text.index("            flowlet {")
    flowlet = text[start : text.index("            ether-type")]
    assert messages((LEAF, flowlet, "per-packet;\n")) == [
        f"{LEAF}: dynamic load balancing is per-packet; the intent specifies flowlet"
    ]
    assert messages((LEAF, flowlet, "")) == [f"{LEAF}: dynamic load balancing is off; the intent specifies flowlet"]
    assert messages((LEAF, "inactivity-interval 128;", "inactivity-interval 16;")) == [
        f"{LEAF}: ecmp-dlb has flowlet inactivity-interval 16; the intent specifies 128"
    ]
    assert messages((LEAF, "            sampling-rate 1000000;\n", "")) == [
        f"{LEAF}: ecmp-dlb lacks sampling-rate 1000000"
    ]
    assert messages((LEAF, DLB, DLB + "egress-quantization { max 50; }\n")) == [
        f"{LEAF}: ecmp-dlb has egress-quantization max 50; the intent specifies nothing there"
    ]


def test_global_load_balancing_has_a_side_for_each_role(tmp_path: Path) -> None:
    intent, root = rendered(VARIANTS["per-packet"], tmp_path)
    change(root / "switches/stripe1-leaf1.conf", "load-balancer-only", "helper-only")
    change(root / "switches/spine1.conf", "helper-only;", "")
    change(root / "switches/spine2.conf", "global-load-balancing {", "inactive: global-load-balancing {")
    found = network_of(root)
    told = [f"{one.check} {one.scope}: {one.found}" for one in findings(run(expected_fabric(intent.fabric), found))]
    assert told == ["AILB408 spine1: plain", "AILB408 spine2: off", "AILB408 stripe1-leaf1: helper-only"]


def test_a_way_through_a_third_leaf(tmp_path: Path) -> None:
    """Two spines of a color, each without one of two leaves; a third leaf leaks, and one of the spines believes it."""
    intent, root = rendered(VARIANTS["fewer-colors-than-spines"], tmp_path)
    change(root / "switches/stripe1-leaf2.conf", "            then reject;", "            then accept;")
    change(root / "switches/spine3.conf", "            import FABRIC-IN;\n", "")
    change(root / "switches/spine3.conf", "                    interface et-0/0/0.0;\n", "")
    change(root / "switches/spine1.conf", "                    interface et-0/0/2.0;\n", "")
    found = network_of(root)
    told = [one for one in findings(run(expected_fabric(intent.fabric), found)) if one.check == "AILB403"]
    assert [f"{one.scope}: {one.message}" for one in told] == ["stripe2-leaf1: fc00:1:1:1::/64 takes 4 hops"]
    assert (told[0].expected, told[0].found) == ("2", "4")


def test_routes_that_do_not_converge() -> None:
    context = Context(intended().fabric, unchanged())
    states = context.routing.states
    prefix = intended().leaves[0].prefixes[0]
    # The states of alike prefixes would follow from it.
    states.known.update(states)
    states.known[prefix] = states[prefix]._replace(stable=False)
    (found,) = findings(run_family("AILB4", context))
    assert (found.check, found.message) == ("AILB404", f"the routes of {prefix} do not converge")


def test_uneven_loads_are_given_as_the_most_loaded_over_the_mean() -> None:
    found = messages((SPINE, GREEN, ""))
    # Of three destinations one lost a color, which its three others share: (3 + 1/3) / 3 on each of these uplinks.
    assert "stripe2-leaf2: all-to-all loads its uplinks unevenly: peak/mean 1.111" in found
    # Along the rail all goes to that destination: 4/3.
    assert "stripe2-leaf1: ring all-reduce loads its uplinks unevenly: peak/mean 1.333" in found
    assert not [line for line in found if line.startswith(f"{LEAF}: ") and "unevenly" in line]


def test_figures_compare_with_hashing() -> None:
    (balanced,) = (one for one in run(intended(), unchanged()) if one.check == BALANCED)
    figures = dict(balanced.figures)
    assert figures.keys() == {"ring all-reduce", "all-to-all", "permutation"}
    assert figures["all-to-all"].startswith("peak/mean load: up 1.000, down 1.000; with ECMP hashing: ")


@pytest.mark.parametrize("names", [(LEAF,), (SPINE,), (LEAF, SPINE), tuple(unchanged().switches)])
def test_switches_without_a_file_are_no_reason_to_stop(names: tuple[str, ...]) -> None:
    found = without(*names)
    results = list(run(intended(), found))
    assert [result.check.id for result in results] == ids("AILB4")
