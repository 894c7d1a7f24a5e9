"""Debian's Prometheus scrapes a watch of emulated switches, and evaluates the rules of `monitoring`."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path

import pytest
import yaml

from ailb_gen.api.watch import watch
from ailb_gen.monitoring.alerts import alert_rules
from tests.cli.verbs import by_hand, committed
from tests.deploy.fabric import CANARY, SPINES, generated, site
from tests.monitoring.server import asked, prometheus, until

INTERVAL_S = 1


@pytest.mark.long
def test_a_change_by_hand_raises_an_alert_and_its_repair_ends_it(tmp_path: Path) -> None:
    fabric = generated(tmp_path)
    every_rule = [rule for waiting in (False, True) for rule in alert_rules("tiny", INTERVAL_S, "", waiting)]
    rules = [rule for rule in every_rule if "ailb_watch" in rule["expr"]]
    own = {"AilbDrift", "AilbDeviation", "AilbNotAnswering", "AilbFilesUnusable", "AilbWatchStopped"}
    assert {rule["alert"] for rule in rules} == own
    stop = threading.Event()
    with site(fabric, tmp_path) as pushed:
        for name, tree in fabric.after.items():
            pushed.fleet.do(name, partial(committed, tree=tree))
        with watch(
            *(fabric.fabric, fabric.artifacts),
            inventory=pushed.inventory,
            every_s=1.0,
            listen=("127.0.0.1", 0),
            signals=stop.is_set,
        ) as found:
            thread = threading.Thread(target=lambda: list(found.rounds()))
            thread.start()
            try:
                target = {"job_name": "watch", "honor_labels": True, "static_configs": [{"targets": []}]}
                target["static_configs"] = [{"targets": [f"127.0.0.1:{found.port}"]}]
                every = f"{INTERVAL_S}s"
                config = {
                    "global": {"scrape_interval": every, "scrape_timeout": every, "evaluation_interval": every},
                    "rule_files": ["rules.yml"],
                    "scrape_configs": [target],
                }
                (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(config))
                (tmp_path / "rules.yml").write_text(yaml.safe_dump({"groups": [{"name": "watch", "rules": rules}]}))
                with prometheus(tmp_path) as api:

                    def of(query: str) -> list[tuple[str, str]]:
                        rows = asked(f"{api}/query?query={query}")["result"]
                        return [(row["metric"].get("device", ""), row["value"][1]) for row in rows]

                    def firing() -> set[tuple[str, str]]:
                        alerts = asked(f"{api}/alerts")["alerts"]
                        named = [one["labels"] for one in alerts if one["state"] == "firing"]
                        return {(one["alertname"], one.get("device", "")) for one in named}

                    assert until(lambda: len(of("ailb_watch_device_answers==1")) == 4)
                    assert firing() == set()
                    by_hand(pushed, CANARY, "set protocols bgp group fabric-blue description x\n")
                    by_hand(pushed, SPINES[0], "set chassis maximum-ecmp 2\n")
                    raised = {("AilbDrift", CANARY), ("AilbDrift", SPINES[0]), ("AilbDeviation", SPINES[0])}
                    assert until(lambda: firing() == raised)
                    by_hand(pushed, CANARY, "delete protocols bgp group fabric-blue description\n")
                    by_hand(pushed, SPINES[0], "set chassis maximum-ecmp 16\n")
                    assert until(lambda: firing() == set())
                    text = fabric.fabric.read_text()
                    fabric.fabric.write_text("name: [\n")
                    assert until(lambda: firing() == {("AilbFilesUnusable", "")})
                    fabric.fabric.write_text(text)
                    assert until(lambda: firing() == set())
                    stop.set()
                    assert until(lambda: firing() == {("AilbWatchStopped", "")})
            finally:
                stop.set()
                thread.join(30)
