"""What a lab shows is judged: a computed lab of sound files gives no finding, every deviation the right one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path as FilePath
from typing import Any

import pytest

from ailb_gen.addresses import Prefix
from ailb_gen.checks.catalogue import OF_LAB, checks_of
from ailb_gen.checks.causes import causes
from ailb_gen.checks.context import Context
from ailb_gen.checks.model import Finding, Findings
from ailb_gen.errors import IntentError
from ailb_gen.lab.advertisements import Advertisement
from ailb_gen.lab.bird.model import BfdState, SessionState
from ailb_gen.lab.check import failures
from ailb_gen.lab.check.failures import double
from ailb_gen.lab.check.observed import HIDDEN, Hops, Observed, ObservedRecoloring, Samples
from ailb_gen.lab.check.paths import pairs
from ailb_gen.lab.check.run import LabCheckOptions, check_lab, check_state
from ailb_gen.lab.check.trials import Recoloring, check_recoloring, probes, recoloring
from ailb_gen.lab.faults import FaultKind
from ailb_gen.lab.kernel import KernelNextHop, KernelRule
from ailb_gen.network.fabric import End, Network
from ailb_gen.routing.rib import Path
from tests.checks.test_drains import NAMED
from tests.checks.trees import GOLDEN, fabric_of, findings, network_of, rendered, shown
from tests.conftest import EXAMPLES, examples
from tests.intents import random_intent
from tests.lab.check.computed import ComputedLab
from tests.lab.check.damages import DAMAGES, Damage, damaged

ALL = frozenset(check.id for check in checks_of(OF_LAB))
FAILING = ("AILBL31", "AILBL32", "AILBL33", "AILBL34", "AILBL35")
LEAF, PEER, SPINE = "stripe1-leaf1", "stripe2-leaf1", "spine2"
UPLINK, NIC = End(LEAF, "et-0/0/1"), End("gpu-s1-1", "gpu0_eth")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait: nothing changes by itself in a computed lab."""
    for name in ("FLAP_S", "QUIET_S", "PAUSE_S"):
        monkeypatch.setattr(failures, name, 0.0)
    monkeypatch.setattr(failures, "_noticed_s", lambda context, ends: 0.0)


def context_of(example: str) -> Context:
    """The context of an example's golden tree."""
    return Context(fabric_of(example), network_of(GOLDEN / example))


@cache
def lab() -> tuple[Context, Observed]:
    """The lab and all that is to be seen of it."""
    context = context_of("lab")
    look = Samples(context.routing.prefixes, tuple(pairs(context, 10**6, 1)[0]), probes(context))
    return context, ComputedLab(context.network).measure(look)


def found(seen: Observed) -> list[Finding]:
    """The findings about the lab when it shows something else."""
    all_of = Findings()
    check_state(lab()[0], seen, all_of)
    return findings(all_of.results(checks_of(OF_LAB)))


@pytest.mark.parametrize(
    "example", ["lab", "jvd", pytest.param("jvd-8-uplinks", marks=pytest.mark.long), "brownfield", "static"]
)
def test_sound_files_give_no_findings(example: str) -> None:
    context = context_of(example)
    results = list(
        check_lab(ComputedLab(context.network), context, LabCheckOptions(ALL, 1, doubles=4, faults=True, traces=200))
    )
    assert shown(results) == []
    assert [result.check.id for result in results] == sorted(ALL)
    assert all(result.examined for result in results)


def test_colors_that_are_exchanged_keep_their_backups(tmp_path: FilePath) -> None:
    """By the backup of another color a prefix may have no path: b of a spine that is out of service, backed up by b."""
    intent, root = rendered(f"{NAMED}graceful_shutdown: spine2\n", tmp_path)
    context = Context(intent.fabric, network_of(root))
    change = recoloring(context)
    assert change is not None
    before = {route.prefix: (route.color, route.backup) for route in context.network.switches[change.leaf].routes}
    after = {route.prefix: (route.color, route.backup) for route in change.changed.routes}
    one, other = change.prefixes
    assert (after[one], after[other]) == (before[other], before[one])
    assert {**after, one: before[one], other: before[other]} == before


@pytest.mark.parametrize("entries", ["spine3", "[spine1, spine2, spine4]"])
def test_spines_in_graceful_shutdown_are_the_last_choice_whatever_fails(entries: str, tmp_path: FilePath) -> None:
    """With one spine left in full service, its links fail, and the others are all that is left."""
    text = (EXAMPLES / "lab" / "fabric.yaml").read_text()
    intent, root = rendered(f"{text}graceful_shutdown: {entries}\n", tmp_path)
    context = Context(intent.fabric, network_of(root))
    options = LabCheckOptions(ALL, rounds=4, doubles=4, faults=True, traces=100)
    assert shown(check_lab(ComputedLab(context.network), context, options)) == []


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.name)
def test_every_damage_to_files_is_found(damage: Damage, tmp_path: FilePath) -> None:
    context = Context(fabric_of("lab"), network_of(damaged(damage, tmp_path)))
    results = list(check_lab(ComputedLab(context.network), context, LabCheckOptions(ALL, rounds=1)))
    assert damage.found_by <= {finding.check for finding in findings(results)}, shown(results)
    explained = causes(results)
    roots = [row for row in findings(results) if row not in explained]
    # What is wrong with routes is seen where they arrive.
    if not damage.found_by <= {"AILBL07", "AILBL08", "AILBL31"}:
        assert {row.place.file for row in roots if row.place is not None} == {damage.file}, shown(results)
    # The lab is computed from the same files: the two never differ.
    assert not {"AILBL21", "AILBL22", "AILBL23", "AILBL32"} & {finding.check for finding in findings(results)}


def test_every_uplink_is_down_once_in_as_many_rounds_as_a_leaf_has() -> None:
    context, _ = lab()
    running = ComputedLab(context.network)
    assert shown(check_lab(running, context, LabCheckOptions(ALL, rounds=4, traces=0))) == []
    rounds = [set(ends) for ends in running.failed]
    assert [len(ends) for ends in rounds] == [4] * 4
    assert set.union(*rounds) == {cable.a for cable in context.network.links}
    assert running.broken == frozenset()


def test_links_that_failed_before_are_no_finding_and_stay_down() -> None:
    context, _ = lab()
    first, *_, last = context.network.links
    before = frozenset({first.a, first.b, last.a, last.b})
    running = ComputedLab(context.network, before)
    assert shown(check_lab(running, context, LabCheckOptions(ALL, rounds=1))) == []
    assert running.broken == before


def test_double_failures_are_spines_and_links_by_turns_and_leave_a_spine() -> None:
    context, _ = lab()
    found = double(context, 1)
    assert len(found) == 6 + 4 * 12
    assert [len(ends) for _, ends in found[:4]] == [8, 5, 8, 5]
    assert found == double(context, 1) != double(context, 2)
    running = ComputedLab(context.network)
    assert shown(check_lab(running, context, LabCheckOptions(ALL, rounds=0, doubles=3, traces=0))) == []
    assert [set(ends) for ends in running.failed] == [set(ends) for _, ends in found[:3]]


def test_links_flap_and_lose_packets_one_way() -> None:
    context, _ = lab()
    running = ComputedLab(context.network)
    assert shown(check_lab(running, context, LabCheckOptions(ALL, rounds=0, faults=True, traces=0))) == []
    assert [len(ends) for ends in running.failed] == [4] * (1 + failures.FLAPS)
    assert [change.leaf for change in running.recolored] == [LEAF]


class Partial(ComputedLab):
    """A lab in which a device does not run, or a link is down, and nobody made it fail in the lab's own way."""

    def __init__(self, context: Context, device: str, link: End | None) -> None:
        cables = context.network.links
        ends = [(one.a, one.b) for one in cables if device in (one.a.device, one.b.device) or link in (one.a, one.b)]
        super().__init__(context.network, frozenset(end for pair in ends for end in pair))
        self.device = device

    @property
    def dark(self) -> frozenset[End]:
        return self.before

    def down(self) -> frozenset[End]:
        return frozenset()

    def hops(self) -> Hops:
        return {name: rows for name, rows in super().hops().items() if name != self.device}

    def measure(self, look: Samples) -> Observed:
        seen = super().measure(look)
        gone = {nic for nic, leaf in self.network.attachments.items() if self.device in (nic[0], leaf.device)}
        return replace(
            seen,
            devices=seen.devices - {self.device},
            advertisements={end: one for end, one in seen.advertisements.items() if (end.device, end.port) not in gone},
            ribs={name: rib for name, rib in seen.ribs.items() if name != self.device},
            traces=tuple(one for one in seen.traces if self.device not in (one.source.device, one.target.device)),
        )


@pytest.mark.parametrize(
    ("device", "link", "root"),
    [(SPINE, None, "AILBL02"), (LEAF, None, "AILBL02"), (NIC.device, None, "AILBL02"), ("", UPLINK, "AILBL03")],
    ids=["a spine", "a leaf", "a server", "a link"],
)
def test_what_is_down_is_one_cause(device: str, link: End | None, root: str) -> None:
    context, _ = lab()
    results = list(check_lab(Partial(context, device, link), context, LabCheckOptions(ALL, 1, doubles=1, faults=True)))
    explained = causes(results)
    roots = [row for row in findings(results) if row not in explained]
    assert [row.check for row in roots] == [root], [f"{row.check} {row.scope}: {row.message}" for row in roots]
    assert {"AILBL06", "AILBL08"} <= {row.check for row in explained} or device == NIC.device
    assert link is None or roots[0].message.endswith(f"{UPLINK}: the link has no carrier")
    # A link without carrier is no reason for this program and the lab to disagree.
    assert not {"AILBL21", "AILBL22", "AILBL23", "AILBL32"} & {row.check for row in explained}
    skipped = {one.check.id: one.skipped for one in results if one.skipped}
    reason = f"no failures are caused while switches do not run: {device}"
    assert skipped == (dict.fromkeys(FAILING, reason) if device in context.network.switches else {})


class Silent(Partial):
    """A lab in which a link has carrier, and passes nothing."""

    @property
    def dark(self) -> frozenset[End]:
        return frozenset()


def test_a_session_that_is_missing_is_missing_in_failures_too() -> None:
    context, _ = lab()
    rows = findings(check_lab(Silent(context, "", UPLINK), context, LabCheckOptions(ALL, 1, doubles=1, faults=True)))
    checks = {row.check for row in rows}
    assert {"AILBL06", "AILBL21", "AILBL23", "AILBL31"} <= checks
    assert not {"AILBL32", "AILBL33"} & checks
    assert not any("carrier" in row.message for row in rows)


def test_a_nic_that_is_down_is_one_cause() -> None:
    context, seen = lab()
    off = End(LEAF, "irb.2")
    down = replace(
        seen,
        advertisements=cut("advertisements", NIC)(seen).advertisements,
        addresses={**seen.addresses, NIC: frozenset()},
        tables={
            **seen.tables,
            NIC.device: {
                number: {
                    prefix: frozenset(hop for hop in hops if hop.link != NIC.port) for prefix, hops in rows.items()
                }
                for number, rows in seen.tables[NIC.device].items()
            },
        },
    )
    all_of = Findings()
    check_state(context, down, all_of)
    check_recoloring(lambda change: ObservedRecoloring(9, 9, 900.0, "a flow"), context, frozenset(), all_of)
    results = list(all_of.results(checks_of(OF_LAB)))
    explained = causes(results)
    roots = [row for row in findings(results) if row not in explained]
    assert [(row.check, row.device, row.part) for row in roots] == [("AILBL03", off.device, off.port)]
    assert {row.check for row in explained} == {"AILBL04", "AILBL05", "AILBL35"}


class Stubborn(ComputedLab):
    """A lab that does not notice what has no carrier loss, keeps what flapped away, and drops packets."""

    def fail(self, ends: Iterable[End], kind: FaultKind = FaultKind.CARRIER) -> None:
        if kind is FaultKind.CARRIER:
            super().fail(ends)

    def repair(self) -> None:
        if len(self.failed) < failures.FLAPS:
            super().repair()

    def recolor(self, change: Recoloring) -> ObservedRecoloring:
        return ObservedRecoloring(1000, 200, 800.0, "gpu-s2-1:gpu0_eth to gpu-s1-1:gpu0_eth, QP 1", moved=False)


def test_what_goes_wrong_in_faults_is_found() -> None:
    context, _ = lab()
    rows = findings(
        check_lab(Stubborn(context.network), context, LabCheckOptions(ALL, rounds=0, faults=True, traces=0))
    )
    assert {row.check for row in rows} == {"AILBL33", "AILBL34", "AILBL35"}
    messages = [row.message for row in rows]
    assert any("dropping packets from the leaves: " in message for message in messages)
    assert any("went down 4 times: it has other next hops than before" in message for message in messages)
    assert any("was interrupted for 800 ms, more than 100; 200 of 1000 packets were lost" in one for one in messages)
    assert any("packets from other leaves did not follow" in message for message in messages)


class WithoutBfd(Stubborn):
    """A lab without BFD on one of the links that lose packets in one direction."""

    def __init__(self, network: Network, without: End) -> None:
        super().__init__(network)
        self.without = without
        self.losing: list[tuple[End, ...]] = []

    def fail(self, ends: Iterable[End], kind: FaultKind = FaultKind.CARRIER) -> None:
        super().fail(ends, kind)
        if kind is FaultKind.MUTE:
            self.losing.append(tuple(ends))

    def measure(self, look: Samples) -> Observed:
        seen = super().measure(look)
        return cut("bfd", self.without)(seen)


def test_a_loss_that_nobody_can_notice_is_not_tried_again() -> None:
    context, _ = lab()
    running = WithoutBfd(context.network, failures.mute_uplinks(context, 0)[1])
    rows = findings(check_lab(running, context, LabCheckOptions(ALL, rounds=0, faults=True, traces=0)))
    assert {"AILBL13", "AILBL34"} <= {row.check for row in rows}
    assert [running.without in ends for ends in running.losing] == [True]


def test_a_loss_that_goes_as_the_intent_asks_is_not_tried_again(tmp_path: FilePath) -> None:
    damage = next(one for one in DAMAGES if one.name == "multipath missing in one group")
    context = Context(fabric_of("lab"), network_of(damaged(damage, tmp_path)))
    # BIRD merges the paths of this group, too.
    running = ComputedLab(lab()[0].network)
    rows = findings(check_lab(running, context, LabCheckOptions(ALL, rounds=1, faults=True, traces=0)))
    assert "AILBL34" not in {row.check for row in rows}
    assert len(running.failed) == 1 + 1 + failures.FLAPS


@pytest.mark.parametrize(
    ("seen", "before", "reason"),
    [
        (ObservedRecoloring(skipped="leaf1 does not run"), frozenset(), "leaf1 does not run"),
        (ObservedRecoloring(1), frozenset({UPLINK}), "links have failed"),
    ],
)
def test_colors_that_cannot_be_changed_are_skipped(
    seen: ObservedRecoloring, before: frozenset[End], reason: str
) -> None:
    all_of = Findings()
    check_recoloring(lambda change: seen, lab()[0], before, all_of)
    (result,) = (one for one in all_of.results(checks_of(OF_LAB)) if one.check.id == "AILBL35")
    assert result.skipped == reason


Change = Callable[[Observed], Observed]


def put(field: str, key: Any, value: Any, within: str = "") -> Change:
    """Let a mapping of the observed state, or one in it, have another value; a function makes it of the old one."""

    def change(seen: Observed) -> Observed:
        whole = getattr(seen, field)
        inner = whole[within] if within else whole
        changed = {**inner, key: value(inner[key]) if callable(value) else value}
        new: Any = {**whole, within: changed} if within else changed
        return replace(seen, **{field: new})

    return change


def cut(field: str, key: Any) -> Change:
    """Let a mapping of the observed state lack a key."""

    def change(seen: Observed) -> Observed:
        rest: Any = {name: value for name, value in getattr(seen, field).items() if name != key}
        return replace(seen, **{field: rest})

    return change


def prefix_of(leaf: str, color: int) -> Prefix:
    return context_of("lab").expected.switches[leaf].prefixes[color - 1]


def hops(*ports: str) -> Change:
    return put("hops", prefix_of(PEER, 1), frozenset(ports), LEAF)


def path(device: str, new: Mapping[str, Any] = {}, **attributes: Any) -> Change:
    def changed(paths: tuple[Path, ...]) -> tuple[Path, ...]:
        return (replace(paths[0], route=replace(paths[0].route, **attributes), **new), *paths[1:])

    return put("ribs", prefix_of(PEER, 2), changed, device)


def first_trace(**new: Any) -> Change:
    def change(seen: Observed) -> Observed:
        number = next(at for at, one in enumerate(seen.traces) if len(one.hops) == 3)
        traces = list(seen.traces)
        traces[number] = traces[number]._replace(**new)
        return replace(seen, traces=tuple(traces))

    return change


def session(state: str, peer_asn: int, at: End = UPLINK) -> Change:
    return put("sessions", at, SessionState(state, 65101, peer_asn))


UP = "Established"
SERVER, IRB = NIC.device, End(LEAF, "irb.2")
# By name: the change, the numbers of the checks that must find it, and a part of a message.
DEVIATIONS: dict[str, tuple[Change, str, str]] = {
    "a statement that is left out": (put("untranslated", LEAF, (("then metric 5", 7),)), "01", "then metric 5"),
    "a device that does not run": (
        lambda seen: replace(seen, devices=seen.devices - {"gpu-s2-2"}),
        "02",
        "does not run",
    ),
    "no advertisement over a link": (
        cut("advertisements", UPLINK),
        "03",
        f"no router advertisement of {SPINE} arrives over",
    ),
    "an advertisement without prefixes": (
        put("advertisements", NIC, Advertisement(1800)),
        "03",
        "is not advertised to gpu-s1-1:gpu0_eth",
    ),
    "another router lifetime": (
        put("advertisements", NIC, lambda one: replace(one, lifetime_s=0)),
        "03",
        "router lifetime at gpu-s1-1:gpu0_eth is 0 s, expected 1800 s",
    ),
    "an address that is missing": (put("addresses", NIC, frozenset()), "04", "has no address"),
    "an address too many": (put("addresses", NIC, lambda own: own | {5}), "04", "has the address ::5"),
    "an IRB without gateways": (put("addresses", IRB, frozenset()), "04", "irb.2 has no address"),
    "no rules": (put("rules", SERVER, frozenset()), "05", "has no rule"),
    "a rule too many": (
        put("rules", SERVER, lambda own: own | {KernelRule(1, Prefix(0, 0), 7)}),
        "05",
        "has the rule 1: from ::/0 lookup 7",
    ),
    "a table with another gateway": (
        put("tables", 10000, {Prefix(0, 0): frozenset({KernelNextHop(NIC.port, 9)})}, SERVER),
        "05",
        "table 10000 has the route default via ::9 dev gpu0_eth",
    ),
    "a session that is down": (session("Idle", 65002), "06 21", "is not established: Idle"),
    "a session that is not there": (cut("sessions", UPLINK), "06 21", "has no session with spine2:et-0/0/0"),
    "a session with another AS": (
        session(UP, 65009),
        "06 21",
        "is between AS 65101 and 65009, expected AS 65101 and 65002",
    ),
    "a session too many": (session(UP, 65009, End(LEAF, "et-0/0/9")), "06 21", "no link in service"),
    "a copy without AIGP": (path(SPINE, aigp=None), "07 22", "without AIGP"),
    "a copy with AIGP": (path("spine1", aigp=0), "07 22", "with AIGP"),
    "a copy of another color": (
        path(SPINE, communities=frozenset({"color:0:3"})),
        "07 22",
        "with color:0:3 over a session of color:0:2",
    ),
    "a copy with another path": (
        path(LEAF, as_path=(65002, 65001, 65103)),
        "07 22",
        "with the AS path 65002 65001 65103",
    ),
    "a copy that is hidden": (path(LEAF, {"status": HIDDEN}), "07 22", "is hidden"),
    "a copy from another leaf": (path(SPINE, {"interface": "et-0/0/1.0"}), "07 22", "which must not readvertise it"),
    "a copy with another preference": (path(LEAF, local_preference=7), "22", "preference 7"),
    "no route in a kernel": (hops(), "08 23", "next hops are none, expected et-0/0/0"),
    "another color's uplink": (hops("et-0/0/2"), "08 23", "next hops are et-0/0/2, expected et-0/0/0"),
    "an uplink too many": (hops("et-0/0/0", "et-0/0/1"), "08 23", "next hops are et-0/0/0, et-0/0/1"),
    "a trace over another spine": (
        first_trace(hops=(LEAF, "spine4", "stripe1-leaf2")),
        "09",
        "pass stripe1-leaf1 - spine4 - stripe1-leaf2, not stripe1-leaf1 - spine1 - stripe2-leaf1",
    ),
    "a trace that ends early": (first_trace(hops=(LEAF,), end="no route"), "09", "end there: no route"),
    "a port with a small MTU": (
        put("mtus", UPLINK, 1586),
        "11",
        "the MTU of et-0/0/1 is 1586 bytes without Ethernet headers, not 9202; spine2:et-0/0/0 sends up to 9202",
    ),
    "a NIC with a small MTU": (put("mtus", NIC, 1500), "11", "the MTU of gpu0_eth is 1500"),
    "an IRB with a small MTU": (put("mtus", IRB, 1500), "11", "the MTU of irb.2 is 1500"),
    "a large packet that is lost": (
        lambda seen: replace(seen, sizes=(seen.sizes[0]._replace(end="no answer"), *seen.sizes[1:])),
        "12",
        "a packet of 9000 bytes of queue pair 1 from gpu-s1-1:gpu0_eth to",
    ),
    "a session without BFD": (
        cut("bfd", UPLINK),
        "13",
        f"BFD with {SPINE}:et-0/0/0 is none, expected every 300 ms, lost after 900 ms",
    ),
    "BFD that is down": (
        put("bfd", UPLINK, BfdState(False, 1000, 0)),
        "13",
        "is down (every 1000 ms, lost after 0 ms)",
    ),
    "a probe that another leaf sends on": (
        put("probed", LEAF, {"spine1": frozenset({"et-0/0/0", "et-0/0/1"})}),
        "10",
        "readvertises a prefix of stripe1-leaf1, learned from a spine, to spine1:et-0/0/1",
    ),
}


def ids(numbers: str) -> set[str]:
    return {f"AILBL{number}" for number in numbers.split()}


@pytest.mark.parametrize("name", DEVIATIONS)
def test_every_deviation_has_its_finding(name: str) -> None:
    change, checks, text = DEVIATIONS[name]
    rows = found(change(lab()[1]))
    assert {row.check for row in rows} == ids(checks), rows
    assert any(text in row.message for row in rows), rows


def test_every_check_of_the_steady_state_has_a_deviation() -> None:
    of_failures = {"AILBL31", "AILBL32", "AILBL33", "AILBL34", "AILBL35"}
    # Of AILBL14 nothing is seen in a lab: it says what the lab cannot show.
    assert set().union(*(ids(checks) for _, checks, _ in DEVIATIONS.values())) == ALL - of_failures - {"AILBL14"}


@pytest.mark.parametrize("seed", range(examples(12)))
def test_random_fabrics_give_no_findings(seed: int, tmp_path: FilePath) -> None:
    try:
        intent, root = rendered(random_intent(seed), tmp_path)
    except IntentError:
        # The random file asks for what cannot be; tests/test_intents.py counts how many do.
        return
    context = Context(intent.fabric, network_of(root))
    assert shown(check_lab(ComputedLab(context.network), context, LabCheckOptions(ALL, rounds=2, traces=200))) == []
