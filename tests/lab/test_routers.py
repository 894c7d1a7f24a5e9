"""Daemons of switches: what happens when they cannot start, refuse a configuration, or end."""

from __future__ import annotations

import pytest

from ailb_gen.errors import LabError
from ailb_gen.lab.namespaces import add
from ailb_gen.lab.routers import Router, control_socket
from tests.lab.isolated import isolated

GOOD = "router id 10.0.0.1;\nprotocol device { }\n"
KERNEL = GOOD + "protocol kernel kernel6 { ipv6 { export all; }; }\n"


def failing() -> dict[str, object]:
    add(["leaf1"])
    router = Router("leaf1")
    found: dict[str, object] = {"off": router.running}
    with pytest.raises(LabError) as refused:
        router.configure("router id 10.0.0.1;\nnonsense\n")
    found["start"] = str(refused.value)
    router.configure(GOOD)
    with pytest.raises(LabError) as refused:
        router.configure(GOOD + "nonsense\n")
    found["change"], found["kept"] = str(refused.value), (router.running, router.text == GOOD)
    router.configure(KERNEL)
    states: list[str] = []
    for on in (False, True):
        router.switch_on("kernel6", on)
        lines = router.control.lines("show protocols kernel6")
        states += [line.split()[3] for line in lines if line.startswith("kernel6")]
    found["states"] = states
    router.stop()
    found["ended"] = (router.running, control_socket("leaf1").exists())
    router.configure(GOOD)
    found["again"] = router.running
    return found


def test_daemons() -> None:
    found = isolated(failing, tools=("ip", "bird"))
    assert found["off"] is False
    assert "leaf1: BIRD does not start:" in str(found["start"])
    assert ":2:" in str(found["start"])
    assert "syntax error" in str(found["change"])
    assert found["kept"] == (True, True)
    assert found["states"] == ["down", "up"]
    assert found["ended"] == (False, False)
    assert found["again"] is True
