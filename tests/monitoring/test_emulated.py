"""From the emulated fabric to the alert: gNMI of its switches, a collector, and a Prometheus with the written rules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ailb_gen.emulator.fabric import EmulatedFabric
from ailb_gen.emulator.traffic import LinkRate
from ailb_gen.network.fabric import End
from tests.conftest import example
from tests.emulator.gnmi.collector import lab_fleet
from tests.monitoring.gnmic import Gnmic, gnmic_of
from tests.monitoring.series import Loads, Watched, damaged, loads_in
from tests.monitoring.server import asked, prometheus, served, until, write_files
from tests.monitoring.test_alerts import LAB, LEAF, LOST, PLACE, POLICY, PORT, ends

# Seconds between two scrapes, and of a load of 1.
INTERVAL_S, BITS = 2, 8e9
# Where an alert says what is wrong.
PLACES = ("alertname", "device", "interface", "color", "spine")


def states(watched: Watched, folder: Path) -> list[tuple[Loads, dict[str, str]]]:
    """Return loads that are wrong, each with the alert that says so."""
    wrong = damaged(LAB, folder / "wrong", f"switches/{LEAF}.conf", lambda text: text.replace(" green;", " blue;", 1))
    lost = damaged(LAB, folder / "lost", "switches/spine1.conf", lambda text: text.replace(POLICY, POLICY + LOST, 1))
    peers = {port: end.peer for port, end in ends(watched).items()}
    factors = {port: 1.6 if "spine2" in (port[0], peer) else 0.8 for port, peer in peers.items()}
    hot = {port: (out * factors[port], into * factors[port]) for port, (out, into) in loads_in(LAB).items()}
    return [
        (loads_in(LAB, (PORT,)), {"alertname": "AilbSilentLink", "color": "green"} | PLACE),
        (hot, {"alertname": "AilbHotSpine", "spine": "spine2"}),
        (loads_in(wrong), {"alertname": "AilbWrongColor", "color": "green", "device": LEAF}),
        (loads_in(lost), {"alertname": "AilbColorOnBackup", "color": "green", "device": LEAF}),
    ]


def answered(gnmic: Gnmic) -> bool:
    """Return whether values came for every path of every subscription of every target."""
    expected = {(name, one) for name, target in gnmic.config["targets"].items() for one in target["subscriptions"]}
    return gnmic.answered.keys() == expected and all(
        any(re.sub(r"\[[^]]*\]", "", path).startswith(_schema(one)) and _keys(one) <= _keys(path) for path in came)
        for (_, name), came in gnmic.answered.items()
        for one in gnmic.config["subscriptions"][name]["paths"]
    )


def _schema(path: str) -> str:
    return re.sub(r"\[[^]]*\]", "", path).lstrip("/")


def _keys(path: str) -> set[str]:
    return set(re.findall(r"\[[^]]*\]", path))


# pygnmi's own threads raise when their channels close.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.long
def test_each_wrong_state_of_an_emulated_fabric_raises_exactly_its_alert(tmp_path: Path) -> None:
    watched = Watched(example("lab"), LAB, tmp_path, interval_s=INTERVAL_S)
    fabric = EmulatedFabric.read(LAB)
    gnmic = gnmic_of(watched.files)

    def send(loads: Loads) -> None:
        rates = {End(*port): LinkRate(BITS * out) for port, (out, _) in loads.items()}
        fleet.do(LEAF, lambda _: fabric.send(rates))

    def alerts(*kinds: str) -> list[dict[str, str]]:
        found = asked(f"{url}/alerts")["alerts"]
        return [
            {key: one["labels"][key] for key in PLACES if key in one["labels"]}
            for one in found
            if one["state"] in kinds
        ]

    with (
        lab_fleet(fabric) as fleet,
        gnmic.running(fleet, tmp_path),
        served(gnmic.text) as page,
        served(lambda: "\n".join([*watched.expected(), ""])) as beside,
    ):
        send(loads_in(LAB))
        write_files(watched.files, tmp_path, gnmic=page, uplinks=beside)
        with prometheus(tmp_path) as url:
            steady = f"{url}/query?query=count_over_time(ailb_fabric:spine_load:ratio[60s])%3E5"
            assert len(until(lambda: asked(steady)["result"])) == 4
            assert answered(gnmic)
            assert alerts("pending", "firing") == []
            sessions = asked(f"{url}/query?query=sum(ailb_switch:sessions:established)")["result"]
            assert [one["value"][1] for one in sessions] == ["32"]
            for loads, expected in states(watched, tmp_path):
                send(loads)
                until(lambda: alerts("firing"))
                assert alerts("pending", "firing") == [expected]
                send(loads_in(LAB))
                until(lambda: not alerts("pending", "firing"))
