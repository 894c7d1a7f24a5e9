"""No finding of a check shows a secret of the files that it is about."""

from pathlib import Path

import pytest

from tests.deploy.fabric import run

FABRIC = """\
name: small
platform: generic
stripes: 1
rails: 2
spines: 2
servers: 1
extra_config: |
  snmp { community hunter2comm { authorization read-only; } }
  system { radius-server { 192.0.2.1 secret "hunter2radius"; } services { rest { api-key hunter2api; } } }
  protocols { bgp { group x { authentication-key "hunter2bgp"; unknown hunter2; } } }
"""
FORMATS = ("json", "junit", "sarif", "md", "html")


@pytest.mark.parametrize("kind", FORMATS)
def test_no_report_shows_a_secret(kind: str, tmp_path: Path) -> None:
    fabric, artifacts, report = tmp_path / "fabric.yaml", tmp_path / "out", tmp_path / "report"
    fabric.write_text(FABRIC.replace(" unknown hunter2;", ""))
    made = run("generate", str(fabric), "-o", str(artifacts))
    assert made.code == 0
    file = artifacts / "switches" / "spine1.conf"
    file.write_text(file.read_text().replace("hunter2", "other hunter2"))
    done = run("validate", str(fabric), str(artifacts), "--all", "--report", f"{kind}={report}", "--report", "table")
    assert done.code == 1
    text = report.read_text()
    assert "radius-server 192.0.2.1 secret ***" in text
    assert "hunter2" not in f"{made.err}{done.out}{done.err}{text}"


def test_no_difference_and_no_warning_shows_a_secret(tmp_path: Path) -> None:
    fabric, artifacts = tmp_path / "fabric.yaml", tmp_path / "out"
    fabric.write_text(FABRIC.replace("unknown hunter2;", "unknown { token hunter2; }"))
    done = run("generate", str(fabric), "-o", str(artifacts), "--diff")
    assert "secret ***;" in done.out
    assert "is not modeled" in done.err
    assert "hunter2" not in f"{done.out}{done.err}"
