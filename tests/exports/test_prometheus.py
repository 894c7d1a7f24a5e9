"""Prometheus: promtool reads everything."""

import json
import subprocess
from pathlib import Path

from ailb_gen.exports.labels import labels
from tests.conftest import example, need_tool
from tests.exports.fabrics import odd_design, written

KEYS = ("fabric", "device", "server", "role", "stripe", "rail", "color", "kind")


def promtool(*words: str, given: str = "") -> str:
    run = subprocess.run(
        [need_tool("promtool"), *words], input=given, capture_output=True, text=True, check=False, timeout=60
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def test_promtool_reads_the_configuration_and_the_targets(tmp_path: Path) -> None:
    design = odd_design(tmp_path)
    file = str(written(design, "prometheus", tmp_path) / "prometheus.yml")
    assert "SUCCESS" in promtool("check", "config", file)
    for job, devices in (("servers", design.servers), ("switches", design.switches)):
        found = json.loads(promtool("check", "service-discovery", file, job, "--timeout=2s"))
        own = [{key: row["labels"][key] for key in row["labels"] if key in KEYS} for row in found]
        assert sorted(map(sorted, (row.items() for row in own))) == sorted(
            sorted(labels(design, one).items()) for one in devices
        )


def test_promtool_reads_the_colors_of_uplinks(tmp_path: Path) -> None:
    text = (written(example("jvd"), "prometheus", tmp_path) / "uplinks.prom").read_text()
    promtool("check", "metrics", given=text)
    assert text.count("ailb_uplink_info{") == 2 * 64
    assert (
        'device="spine2",interface="et-0/0/0:0",color="blue",peer="stripe1-leaf1",peer_interface="et-0/0/1:0"' in text
    )
