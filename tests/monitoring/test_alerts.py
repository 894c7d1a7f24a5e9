"""Alerts: a right fabric fires none in ten minutes, and what is wrong fires exactly its alert in two intervals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ailb_gen.api.generate import generate
from ailb_gen.design.build import build
from ailb_gen.exports.labels import UplinkEnd, uplinks
from ailb_gen.intent.load import load
from ailb_gen.monitoring.alerts import ALERTS, alert_rules
from tests.conftest import ROOT, SMALL, example
from tests.golden_trees import GOLDEN
from tests.monitoring.series import CHANGED_S, INTERVAL_S, Observed, Watched, damaged, loads_in, with_loads

LAB = GOLDEN / "lab"
LEAF, PORT, SPINE_PORT = "stripe1-leaf1", ("stripe1-leaf1", "et-0/0/0"), ("spine1", "et-0/0/0")
PLACE = {"device": LEAF, "interface": "et-0/0/0"}
# Two scrape intervals after the change, and when alerts fire that a first rate does not raise.
SOON, LATER = CHANGED_S + 2 * INTERVAL_S, CHANGED_S + 3 * INTERVAL_S
# A term of a policy that takes one prefix away: sessions are up, and other colors carry its traffic.
LOST = "term lost {\n from {\n route-filter fc00:1:1:1::/64 exact;\n }\n then reject;\n }\n"
JVD = pytest.param("jvd", "gnmic", marks=pytest.mark.long)
POLICY = "policy-statement FABRIC-IN {\n"


@pytest.fixture(scope="module")
def right() -> Observed:
    return Observed(loads_in(LAB))


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    return Watched(example("lab"), LAB, tmp_path_factory.mktemp("lab"))


def ends(watched: Watched) -> dict[tuple[str, str], UplinkEnd]:
    return {(end.device, end.interface): end for end in uplinks(watched.design)}


@pytest.mark.parametrize(("name", "collector"), [("lab", "gnmic"), ("lab", "telegraf"), JVD])
def test_a_right_fabric_fires_none_in_ten_minutes(name: str, collector: str, tmp_path: Path) -> None:
    watched = Watched(example(name), GOLDEN / name, tmp_path, collector)
    state = Observed(loads_in(GOLDEN / name))
    assert watched.firing(state, state, *range(INTERVAL_S, 601, INTERVAL_S)) == []


@pytest.mark.parametrize("key", ["drain: [spine1]", "graceful_shutdown: [spine1]"])
def test_a_drained_part_fires_none(key: str, tmp_path: Path) -> None:
    """A spine that is drained may be switched off: it has no counters."""
    (tmp_path / "fabric.yaml").write_text(f"{(ROOT / 'examples/lab/fabric.yaml').read_text()}{key}\n")
    generate(tmp_path / "fabric.yaml", tmp_path / "files")
    design, _ = build(load(tmp_path / "fabric.yaml"))
    state = Observed(loads_in(tmp_path / "files"))
    watched = Watched(design, tmp_path / "files", tmp_path / "watched")
    assert watched.firing(state, state, *range(INTERVAL_S, 601, INTERVAL_S)) == []


@pytest.mark.parametrize(("name", "collector"), [("lab", "gnmic"), JVD])
def test_a_wrong_color_is_found_at_the_leaf_that_advertises_it(name: str, collector: str, tmp_path: Path) -> None:
    root = GOLDEN / name
    watched = Watched(example(name), root, tmp_path / "watched", collector)
    wrong = damaged(
        root, tmp_path / "wrong", f"switches/{LEAF}.conf", lambda text: text.replace(" green;", " blue;", 1)
    )
    before, after = Observed(loads_in(root)), Observed(loads_in(wrong))
    assert watched.firing(before, after, CHANGED_S) == []
    found = [{"alertname": "AilbWrongColor", "color": "green", "device": LEAF}]
    assert watched.firing(before, after, SOON) == found
    # And no other one later.
    assert watched.firing(before, after, *range(SOON, 601, INTERVAL_S)) == found


def test_a_server_on_its_backup_is_found(lab: Watched, right: Observed, tmp_path: Path) -> None:
    lost = damaged(LAB, tmp_path / "lost", "switches/spine1.conf", lambda text: text.replace(POLICY, POLICY + LOST, 1))
    found = [{"alertname": "AilbColorOnBackup", "color": "green", "device": LEAF}]
    assert lab.firing(right, Observed(loads_in(lost)), SOON, 600) == found


@pytest.mark.parametrize("both", [True, False])
def test_a_silent_link_is_found(lab: Watched, right: Observed, both: bool) -> None:
    """The port stays up and carries nothing, both ways or out of the leaf; the leaf's other uplinks carry its part."""
    loads = dict(loads_in(LAB, (PORT,)))
    if not both:
        sent = {port: (load[0], right.loads[port][1]) for port, load in loads.items() if port[0] == LEAF}
        loads = {**right.loads, **sent}
    found = [{"alertname": "AilbSilentLink", "color": "green"} | PLACE]
    assert lab.firing(right, replace(right, loads=loads), SOON, 600) == found


@pytest.mark.parametrize(("much", "less"), [(1.6, 0.8), (6, 0.4)])
def test_a_hot_spine_is_found(lab: Watched, right: Observed, much: float, less: float) -> None:
    peers = {port: end.peer for port, end in ends(lab).items()}

    def hot(port: tuple[str, str], load: tuple[float, float]) -> tuple[float, float]:
        factor = much if "spine2" in (port[0], peers[port]) else less
        return load[0] * factor, load[1] * factor

    found = [{"alertname": "AilbHotSpine", "spine": "spine2"}]
    assert lab.firing(right, with_loads(right, hot), SOON, 600) == found


def test_one_uplink_with_too_much_load_is_found(lab: Watched, right: Observed) -> None:
    uneven = with_loads(right, lambda port, load: (load[0] * 1.9, load[1]) if port == PORT else load)
    assert lab.firing(right, uneven, SOON) == []
    assert lab.firing(right, uneven, LATER) == [{"alertname": "AilbUnevenLoad", "device": LEAF}]


def test_a_link_that_is_down_explains_its_session(lab: Watched, right: Observed) -> None:
    ports = frozenset({PORT, SPINE_PORT})
    down = Observed(loads_in(LAB, (PORT,)), down=ports, lost_sessions=ports)
    assert lab.firing(right, down, SOON) == [
        {"alertname": "AilbColorOnBackup", "color": "green", "device": LEAF},
        {"alertname": "AilbUplinkDown", "color": "green", "device": "spine1", "interface": "et-0/0/0"},
        {"alertname": "AilbUplinkDown", "color": "green"} | PLACE,
    ]


def test_a_session_that_is_down_on_a_link_that_is_up_is_found(lab: Watched, right: Observed) -> None:
    down = Observed(loads_in(LAB, (PORT,)), lost_sessions=frozenset({PORT, SPINE_PORT}))
    assert lab.firing(right, down, LATER) == [
        {"alertname": "AilbColorOnBackup", "color": "green", "device": LEAF},
        {"alertname": "AilbSessionsDown", "device": "spine1"},
        {"alertname": "AilbSessionsDown", "device": LEAF},
    ]


def test_a_switch_without_counters_is_found(lab: Watched, right: Observed) -> None:
    gone = replace(right, silent_devices=frozenset({"spine3"}))
    assert lab.firing(right, gone, 600) == [{"alertname": "AilbNoTelemetry", "device": "spine3"}]


def test_counters_that_should_stand_still_are_watched(lab: Watched, right: Observed) -> None:
    watched = {
        "tx_discards": ("et-0/0/0", "green", "AilbDrops"),
        "rx_discards": ("et-0/0/1", "blue", "AilbDrops"),
        "rx_errors": ("et-0/0/2", "red", "AilbLinkErrors"),
        "rx_pauses": ("et-0/0/3", "orange", "AilbPauses"),
    }
    bad = replace(right, rates={(counter, (LEAF, port)): 2000.0 for counter, (port, _, _) in watched.items()})
    assert lab.firing(right, bad, 600) == [
        {"alertname": alert, "color": color, "device": LEAF, "interface": port}
        for port, color, alert in watched.values()
    ]


def test_servers_that_see_reordering_or_marks_are_named(lab: Watched, right: Observed) -> None:
    rates = {("out_of_order", "gpu-s1-1"): 40.0, ("cnp_sent", "gpu-s1-2"): 2000.0, ("cnp_sent", "gpu-s2-1"): 200.0}
    assert lab.firing(right, replace(right, servers=rates), 600) == [
        {"alertname": "AilbCongestion", "server": "gpu-s1-2"},
        {"alertname": "AilbOutOfOrder", "server": "gpu-s1-1"},
    ]


WATCH = 'ailb_watch_{}{{fabric="lab"{}}}'
FOUND = "findings", ',check="{}",severity="error",device="{}"'


def of_watch(ended: float = 1e9, **answers: float) -> dict[str, float]:
    """Return what `watch` shows with rounds every minute, and who answers."""
    times = {"last_round_timestamp_seconds": ended, "interval_seconds": 60.0, "round_seconds": 0.5}
    shown = {WATCH.format(name, ""): value for name, value in times.items()}
    devices = {LEAF: 1.0, "spine1": 1.0} | answers
    return shown | {WATCH.format("device_answers", f',device="{name}"'): value for name, value in devices.items()}


def test_what_watch_finds(lab: Watched, right: Observed) -> None:
    well = replace(right, watch=of_watch())
    assert lab.firing(well, well, SOON, 600) == []
    drift = {WATCH.format(FOUND[0], FOUND[1].format("AILBD02", LEAF)): 3.0}
    state = {WATCH.format(FOUND[0], FOUND[1].format("AILBD03", "spine1")): 1.0}
    bad = replace(right, watch=of_watch() | drift | state)
    assert lab.firing(well, bad, SOON) == [{"alertname": "AilbDrift", "device": LEAF}]
    assert lab.firing(well, bad, 600) == [
        {"alertname": "AilbDeviation", "device": "spine1"},
        {"alertname": "AilbDrift", "device": LEAF},
    ]
    # Repaired: the series are gone.
    assert lab.firing(bad, well, 600) == []
    # Files may be unusable for one round while they are written.
    former = [replace(right, watch=of_watch() | {WATCH.format("former_files_rounds", ""): n}) for n in (0.0, 1.0, 2.0)]
    assert lab.firing(former[0], former[1], 600) == []
    assert lab.firing(former[1], former[2], SOON) == [{"alertname": "AilbFilesUnusable"}]


def test_a_device_that_does_not_answer_watch_and_a_watch_that_ended(lab: Watched, right: Observed) -> None:
    well = replace(right, watch=of_watch())
    assert lab.firing(well, replace(right, watch=of_watch(spine1=0.0)), 600) == [
        {"alertname": "AilbNotAnswering", "device": "spine1"}
    ]
    # The last round was at 200 s, and with the program its series are gone.
    ended = replace(right, watch=of_watch(200.0))
    assert lab.firing(ended, right, 360) == []
    assert lab.firing(ended, right, 420) == [{"alertname": "AilbWatchStopped"}]
    # Rounds that take longer than the interval come as often as they can.
    slow = replace(right, watch=of_watch(200.0) | {WATCH.format("round_seconds", ""): 120.0})
    assert lab.firing(slow, slow, 600) == []


def test_an_idle_fabric_fires_none(lab: Watched, right: Observed) -> None:
    """Sessions and probes alone are no load that could be uneven."""
    idle = with_loads(right, lambda port, load: (1e-6, 0.0) if port == PORT else (0.0, 0.0))
    assert lab.firing(idle, idle, 300, 600) == []


def test_without_expectations_an_alert_says_so(lab: Watched, right: Observed, tmp_path: Path) -> None:
    watched = Watched(lab.design, LAB, tmp_path)
    watched.files = dict(watched.files) | {"expected.prom": b"", "uplinks.prom": b""}
    assert [one["alertname"] for one in watched.firing(right, right, 600)] == ["AilbNoExpectations"]


@pytest.mark.long
@pytest.mark.parametrize(
    "shape",
    ["stripes: 2\nrails: 2\nspines: 2", "stripes: 1\nrails: 3\nspines: 3", "stripes: 2\nrails: 2\nspines: 8"],
)
def test_causes_are_told_apart_in_other_fabrics(shape: str, tmp_path: Path) -> None:
    """With two colors, a prefix on its backup looks like one with a wrong color."""
    colors = min(4, int(shape[-1]))
    text = SMALL.partition("stripes")[0] + f"{shape}\nservers: 2\ncolors: [{', '.join('abcd'[:colors])}]\n"
    (tmp_path / "fabric.yaml").write_text(text)
    root = tmp_path / "out"
    generate(tmp_path / "fabric.yaml", root)
    watched = Watched(build(load(tmp_path / "fabric.yaml"))[0], root, tmp_path / "watched")
    right = Observed(loads_in(root))
    wrong = damaged(
        root, tmp_path / "wrong", f"switches/{LEAF}.conf", lambda text: text.replace("color a;", "color b;", 1)
    )
    assert watched.firing(right, Observed(loads_in(wrong)), SOON) == [
        {"alertname": "AilbWrongColor", "color": "a", "device": LEAF}
    ]
    silent = replace(right, loads=loads_in(root, (PORT,)))
    assert watched.firing(right, silent, SOON) == [{"alertname": "AilbSilentLink", "color": "a"} | PLACE]
    peer = ends(watched)[PORT].peer
    down = frozenset({PORT, (peer, ends(watched)[PORT].peer_interface)})
    found = watched.firing(right, Observed(loads_in(root, (PORT,)), down=down, lost_sessions=down), SOON)
    # Where a color has another spine, nothing takes its backup.
    expected = {"AilbUplinkDown"} | ({"AilbColorOnBackup"} if "8" not in shape else set())
    assert {one["alertname"] for one in found} == expected


def test_every_alert_has_a_page_that_names_it() -> None:
    for alert in ALERTS:
        page = ROOT / "docs" / "troubleshooting" / f"{alert.page}.md"
        assert alert.name in page.read_text(encoding="utf-8"), page
    index = (ROOT / "docs" / "troubleshooting" / "index.md").read_text(encoding="utf-8")
    assert [alert.page for alert in ALERTS if f"({alert.page}.md)" not in index] == []


def test_alerts_link_to_the_documentation_where_it_is() -> None:
    linked = alert_rules("lab", 15, "https://docs.example.net/gpu/", False)[0]["annotations"]
    assert linked["runbook_url"] == "https://docs.example.net/gpu/troubleshooting/wrong-color.html"
    assert alert_rules("lab", 15, "", False)[0]["annotations"]["runbook"] == "docs/troubleshooting/wrong-color.md"
