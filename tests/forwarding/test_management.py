"""What keeps the next push from a switch is told; what operators usually have there is not."""

from __future__ import annotations

from functools import cache

import pytest

from ailb_gen.deploy.switch_state import switch_of
from ailb_gen.emulator.load_config import load_set
from ailb_gen.forwarding.management import obstacles, ports_off
from ailb_gen.junos.reader import read
from ailb_gen.junos.tree import Node
from tests.deploy import lab

MANAGED = "set interfaces re0:mgmt-0 unit 0 family inet address 10.1.1.1/24\n"
INPUT = f"{MANAGED}set interfaces re0:mgmt-0 unit 0 family inet filter input F\n"
LO0 = f"{MANAGED}set interfaces lo0 unit 0 family inet filter input F\n"
TERM = "set firewall family inet filter F term"
REST = f"{TERM} rest then accept\n"


@cache
def base() -> Node:
    return read(lab.text_of("stripe1-leaf1"))


def told(lines: str, port: int = 830) -> list[str]:
    tree, warnings = load_set(base(), lines)
    assert not warnings
    found = switch_of("leaf", tree)
    return [stop.reason for stop in (*obstacles(found, port), *ports_off(found))]


@pytest.mark.parametrize(
    ("lines", "reasons"),
    [
        (
            f"{INPUT}{TERM} a from protocol tcp\n{TERM} a from destination-port ssh\n{TERM} a then discard\n{REST}",
            ["on re0:mgmt-0.0 (input): term a of filter F discards SSH (TCP to port 22)"],
        ),
        (
            f"{INPUT}{TERM} a from source-address 0.0.0.0/0\n{TERM} a from protocol tcp\n"
            f"{TERM} a from destination-port 800-900\n{TERM} a then reject\n{REST}",
            ["on re0:mgmt-0.0 (input): term a of filter F discards NETCONF (TCP to port 830)"],
        ),
        (
            f"{LO0}{TERM} a from protocol [ icmp ospf ]\n{TERM} a then accept\n",
            [
                f"on lo0.0 (input): no term of filter F accepts {name}: its default discards them"
                for name in ("SSH (TCP to port 22)", "NETCONF (TCP to port 830)")
            ],
        ),
        (
            f"{MANAGED}set interfaces re0:mgmt-0 unit 0 family inet filter output F\n{TERM} a from protocol tcp\n"
            f"{TERM} a from source-port 830\n{TERM} a then discard\n{REST}",
            ["on re0:mgmt-0.0 (output): term a of filter F discards NETCONF (TCP from port 830)"],
        ),
        (
            f"{INPUT}set firewall filter F term a then discard\n",
            [
                f"on re0:mgmt-0.0 (input): term a of filter F discards {name}"
                for name in ("SSH (TCP to port 22)", "NETCONF (TCP to port 830)")
            ],
        ),
        (
            f"{INPUT}{TERM} a from destination-address 10.1.1.1/32\n{TERM} a from protocol tcp\n"
            f"{TERM} a from destination-port ssh\n{TERM} a then discard\n{REST}",
            ["on re0:mgmt-0.0 (input): term a of filter F discards SSH (TCP to port 22)"],
        ),
    ],
)
def test_filters_that_no_login_passes(lines: str, reasons: list[str]) -> None:
    assert told(lines) == reasons


@pytest.mark.parametrize(
    "lines",
    [
        "",
        MANAGED,
        # Who may log in is known to the operator alone.
        f"{INPUT}{TERM} a from source-address 10.0.0.0/8\n{TERM} a from destination-port [ ssh 830 ]\n"
        f"{TERM} a then accept\n",
        f"{INPUT}set policy-options prefix-list WHO 10.0.0.0/8\n{TERM} a from source-prefix-list WHO\n"
        f"{TERM} a then accept\n{TERM} b then discard\n",
        f"{INPUT}{TERM} a from source-address 0.0.0.0/0\n{TERM} a from source-address 10.0.0.0/8 except\n"
        f"{TERM} a from destination-port ssh\n{TERM} a then discard\n{REST}",
        f"{INPUT}{TERM} a from destination-address 10.9.9.9/32\n{TERM} a then discard\n{REST}",
        f"{INPUT}{TERM} a from protocol udp\n{TERM} a then discard\n{REST}",
        # It is managed over IPv4.
        f"{MANAGED}set interfaces lo0 unit 0 family inet6 filter input F\n"
        "set firewall family inet6 filter F term a from next-header icmp6\n"
        "set firewall family inet6 filter F term a then accept\n",
        # Ports that carry no login.
        f"set interfaces et-0/0/0 unit 0 family inet filter input F\n{TERM} a then discard\n",
        "set system services ssh root-login deny\nset system services ssh connection-limit 10\n"
        "set system services ssh rate-limit 4\nset system services ssh protocol-version v2",
        "set system services netconf ssh port 830",
        "set system configuration-database ephemeral ignore-ephemeral-default",
        "set interfaces re0:mgmt-1 disable\nset interfaces em1 unit 0 disable",
        "set system login deny-sources address 10.9.0.0/16",
        "set system max-configuration-rollbacks 10",
    ],
)
def test_what_lets_a_push_through_is_quiet(lines: str) -> None:
    assert told(lines) == []


@pytest.mark.parametrize(
    ("lines", "statement"),
    [
        ("set system services netconf ssh port 2222", "system services netconf ssh port 2222"),
        ("set system configuration-database ephemeral instance telemetry", "ephemeral instance telemetry"),
        ("set system services ssh connection-limit 1", "system services ssh connection-limit 1"),
        ("set system services netconf ssh rate-limit 2", "system services netconf ssh rate-limit 2"),
        ("set system login deny-sources address 0.0.0.0/0", "deny-sources address 0.0.0.0/0"),
        ("set system max-configuration-rollbacks 0", "max-configuration-rollbacks 0"),
        (f"{MANAGED}set interfaces re0:mgmt-0 disable", "interfaces re0:mgmt-0 disable"),
        (f"{MANAGED}set interfaces re0:mgmt-0 unit 0 disable", "interfaces re0:mgmt-0 unit 0 disable"),
        (f"{MANAGED}set groups G interfaces <*> disable\nset apply-groups G", "interfaces re0:mgmt-0 disable"),
    ],
)
def test_statements_that_shut_a_push_out(lines: str, statement: str) -> None:
    [reason] = told(lines)
    assert statement in reason.partition(": ")[0]


def test_the_port_of_the_inventory_is_no_obstacle() -> None:
    lines = "set system services netconf ssh port 2222"
    assert told(lines, 2222) == []
    assert told(lines, 830) == [f"{lines[4:]}: a push connects to port 830, unless the inventory says otherwise"]
