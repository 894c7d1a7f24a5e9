"""What may keep the next push from a switch, by how this push logs in."""

from typing import Any

import pytest

from ailb_gen.deploy.inventory import Target
from ailb_gen.deploy.switch_state import switch_of
from ailb_gen.deploy.unmanaged import warnings
from ailb_gen.emulator.load_config import load_set
from ailb_gen.junos.reader import read
from tests.deploy import lab

USER = "set system login user admin class"
OPS = f"{USER} ops\nset system login class ops"
NOTHING = "may change nothing, a push is refused"


def told(lines: str, target: Target) -> tuple[str, ...]:
    tree, unknown = load_set(read(lab.text_of("stripe1-leaf1")), lines)
    assert not unknown
    switch = switch_of("leaf", tree)
    return warnings(switch, switch, target)


@pytest.fixture
def target() -> Any:
    login = type("Login", (), {"username": "admin"})()
    return type("Target", (), {"port": 20830, "login": login})()


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (f"{USER} read-only", f"user admin: class read-only {NOTHING}"),
        (f"{USER} unauthorized", f"user admin: class unauthorized {NOTHING}"),
        (f"{OPS} permissions [ view clear ]", f"user admin: class ops {NOTHING}"),
        (
            f"{OPS} permissions all\nset system login class ops deny-commands commit",
            "system login class ops deny-commands commit: a push that sends such a command is refused",
        ),
        (
            f"{OPS} permissions all\nset system login class ops deny-configuration-regexps bgp",
            "system login class ops deny-configuration-regexps bgp: a push that changes such a statement is refused",
        ),
        (
            f"{OPS} permissions configure\nset system login class ops allowed-days sunday",
            "system login class ops allowed-days sunday: on other days a push is refused",
        ),
        (
            "set system services netconf ssh port 22830",
            "system services netconf ssh port 22830: a push connects to port 20830, "
            "unless the inventory says otherwise",
        ),
    ],
)
def test_what_the_login_of_a_push_is_kept_from(lines: str, reason: str, target: Any) -> None:
    assert told(lines, target) == (reason,)


@pytest.mark.parametrize(
    "lines",
    [
        "",
        f"{USER} super-user",
        f"{OPS} permissions all\nset system login class ops idle-timeout 5",
        "set system login user bob class read-only\nset system login class bobs deny-commands .*",
        "set system services netconf ssh port 20830",
        "set system services netconf ssh port 830",
    ],
)
def test_what_concerns_other_logins_is_quiet(lines: str, target: Any) -> None:
    assert told(lines, target) == ()


@pytest.mark.parametrize(("port", "number", "told_of"), [(22, 2222, True), (22, 22, False), (830, 2222, False)])
def test_another_port_of_ssh_matters_where_netconf_is_on_it(port: int, number: int, told_of: bool, target: Any) -> None:
    target.port = port
    found = told(f"set system services ssh port {number}", target)
    told_now = [text for text in found if text.startswith(f"system services ssh port {number}: a push connects to")]
    assert bool(told_now) == told_of
