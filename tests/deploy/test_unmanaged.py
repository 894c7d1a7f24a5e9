"""What acts on a switch besides its file is found, and an operator's usual statements are not."""

from typing import Any

import pytest

from ailb_gen.addresses import Prefix
from ailb_gen.deploy import device_diff as module
from ailb_gen.deploy.device_diff import switch_diff
from ailb_gen.deploy.inventory import Target
from ailb_gen.deploy.ownership import ownership
from ailb_gen.deploy.switch_state import model_of, switch_of
from ailb_gen.deploy.transaction import FileSource
from ailb_gen.deploy.unmanaged import warnings
from ailb_gen.emulator.load_config import load, load_set
from ailb_gen.emulator.source import factory
from ailb_gen.junos.reader import read
from ailb_gen.junos.tree import Node
from ailb_gen.junos.writer import to_curly
from ailb_gen.network.model import Switch
from tests.deploy import lab
from tests.deploy.test_planning import Fake

LEAF = "stripe1-leaf1"
UPLINK = "et-0/0/0"
POOL = Prefix(0xFC << 120, 16)


def found(
    commands: str, keep: tuple[str, ...] = (), own: tuple[str, ...] = ()
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what a plan would change on a leaf that is as its file says, but for some commands, and what besides."""
    running = load(factory(LEAF, "admin"), read(lab.text_of(LEAF)), "merge")
    running, warnings = load_set(running, commands)
    assert not warnings
    switch: Any = Fake(to_curly(running))
    seen = switch_diff(LEAF, FileSource(LEAF, lambda: lab.text_of(LEAF), ownership(own, keep), POOL), switch)
    return seen.commands, tuple(seen.unmanaged)


def grouped(statement: str, where: str = "") -> str:
    """Return commands that put a statement into a group, and apply it."""
    return f"set groups G {statement}\nset {where}apply-groups G"


OFF = f"interfaces {UPLINK} disable"
NARROW = "interface-range off"
ETHERNET = "interfaces ae0 unit 0 family ethernet-switching vlan members"
TAKEN = "it takes the id or the IRB of VLAN vn2"
AMONG = "overlaps the fabric's addresses"
COMMANDS = "event-options policy P then change-configuration"


@pytest.mark.parametrize(
    ("commands", "told"),
    [
        (grouped(OFF), f"{OFF}: takes effect"),
        (grouped("interfaces <et-*> disable", "interfaces "), OFF),
        (grouped("protocols bgp disable"), "protocols bgp disable: takes effect"),
        (grouped("protocols bgp group <*> import NONE"), "import NONE: takes effect"),
        (
            f"set interfaces {NARROW} member {UPLINK}\nset interfaces {NARROW} disable",
            f"{OFF}: takes effect",
        ),
        (
            "set interfaces interface-range all member-range et-0/0/0 to et-0/0/3\n"
            "set interfaces interface-range all unit 0 disable",
            f"interfaces {UPLINK} unit 0 disable",
        ),
        (f"set groups G interfaces {NARROW} member {UPLINK}\n{grouped(f'interfaces {NARROW} disable')}", OFF),
        (
            f"set routing-instances VRF interface {UPLINK}.0\nset routing-instances VRF instance-type virtual-router",
            "routing-instances VRF",
        ),
        (
            "set firewall family inet6 filter RE term a then discard\n"
            "set interfaces lo0 unit 0 family inet6 filter input RE",
            "on lo0.0 (input)",
        ),
        ("set interfaces lo0 unit 0 disable", "lo0"),
        ("set chassis fpc 0 power off", "chassis fpc 0 power off"),
        ("set protocols mstp interface all", "protocols mstp"),
        ("set system processes routing disable", "system processes routing"),
        ("set routing-options static route fc00::/16 discard", "routing-options"),
        (
            "set firewall family ethernet-switching filter V term a then discard\n"
            + grouped("vlans <vn*> forwarding-options filter input V"),
            "filter V on vn2 (input): not in the file",
        ),
        ("set switch-options interface-mac-limit 1", "switch-options"),
        (grouped(f"interfaces {UPLINK} unused"), f"interfaces {UPLINK} unused: takes effect"),
        (f'set event-options policy P events UI_COMMIT\nset {COMMANDS} commands "set {OFF}"', COMMANDS),
        ("set protocols lldp interface all disable", "protocols lldp interface all disable: not in the file; LLDP"),
        ("set protocols lldp disable", "protocols lldp disable: not in the file; LLDP is off on"),
        (f"set protocols lldp interface {UPLINK} disable", f"LLDP is off on {UPLINK}: cables cannot be compared"),
        (grouped("protocols lldp interface all disable"), "LLDP is off on"),
        ("set chassis maximum-ecmp 8", "chassis maximum-ecmp 8: not in the file; a route has up to 8 next hops"),
        (grouped("chassis maximum-ecmp 8"), "chassis maximum-ecmp 8"),
        ("set interfaces lo0 unit 0 family inet6 address fc00:1:2:1::1/128", AMONG),
        ("set interfaces ae0 unit 0 family inet6 address fc00:1:2:1::1/64", AMONG),
        ("set interfaces ae0 unit 0 family inet6 address ::/0", AMONG),
        ("set interfaces em0 unit 0 family inet6 address fc00:1:2:1::9/64", AMONG),
        ("set interfaces re0:mgmt-0 unit 0 family inet6 address fc00::9/16", AMONG),
        (f"set {ETHERNET} vn2", "ae0.0 joins VLAN vn2 of the fabric"),
        (f"set {ETHERNET} 1-5", "ae0.0 joins VLAN vn2"),
        (f"set {ETHERNET} all", "ae0.0 joins VLAN vn2"),
        ("set vlans other vlan-id 2", f"vlans other vlan-id 2: not in the file; {TAKEN}"),
        ("set vlans other l3-interface irb.2", TAKEN),
        ("set routing-options static route 10.0.0.0/8 discard", "routing-options static"),
        ("set protocols ospf3 area 0 interface all\nset protocols ospf3 area 1 interface all", "protocols ospf3"),
    ],
)
def test_what_acts_besides_the_file(commands: str, told: str) -> None:
    changes, besides = found(commands)
    assert changes == (), "none of it is in an owned text"
    assert any(told in text for text in besides), besides


def test_a_prefix_list_of_the_file_with_more_in_it() -> None:
    name = next(iter(read(lab.text_of(LEAF)).each("policy-options", "prefix-list")), None)
    text = f"set policy-options prefix-list {name.word if name else 'X'} ::/0"
    changes, besides = found(text)
    assert name is None or any("::/0: takes effect" in line for line in besides)
    assert changes == ()


@pytest.mark.parametrize(
    "commands",
    [
        "",
        "set system syslog host 10.0.0.1 any notice\nset snmp location here\nset system ntp server 10.0.0.2",
        grouped("snmp contact me"),
        "set interfaces re0:mgmt-0 unit 0 family inet address 10.9.9.9/24",
        "set interfaces re0:mgmt-0 unit 0 family inet6 address 2001:db8::9/64",
        "set system login class ops permissions view",
        "set policy-options prefix-list MANAGERS 10.0.0.0/8\n"
        "set firewall family inet filter RE4 term a from source-prefix-list MANAGERS\n"
        "set firewall family inet filter RE4 term a then accept\n"
        "set interfaces re0:mgmt-0 unit 0 family inet filter input RE4",
        f"set groups G {OFF}",
        f"set protocols lldp interface {UPLINK}\nset protocols lldp interface all",
        "set protocols lldp interface re0:mgmt-0 disable",
        "set chassis maximum-ecmp 16",
        "set interfaces lo0 unit 0 family inet address 10.9.9.9/32",
        "set interfaces lo0 unit 0 family inet6 address 2001:db8::9/128",
        "set interfaces lo0 unit 0 family inet6 address 2001:db8::9/128 preferred",
        "set interfaces ae0 unit 0 family ethernet-switching vlan members [ 100-200 other ]",
        "set interfaces xe-0/0/60 disable\nset interfaces xe-0/0/60 description spare",
        "set vlans other vlan-id 999\nset vlans other l3-interface irb.999",
        "set firewall family inet6 filter M term a then discard\n"
        "set interfaces re0:mgmt-0 unit 0 family inet6 filter input M",
        "set system syslog file all any any\nprotect system syslog",
        "set firewall family ethernet-switching filter V term a then discard\n"
        "set vlans other vlan-id 999\nset vlans other forwarding-options filter input V",
        "set system processes snmp disable",
        "set system scripts snmp file load.slax",
    ],
)
def test_what_an_operator_has_is_quiet(commands: str) -> None:
    assert found(commands) == ((), ())


def test_what_is_kept_is_accepted() -> None:
    assert found(grouped(OFF), keep=(OFF,))[1] == ()
    assert found("set chassis fpc 0 power off", keep=("chassis",))[1] == ()


def test_a_file_is_computed_only_where_something_besides_it_has_to_be_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[str] = []

    def model(name: str, root: Node) -> Switch:
        computed.append(name)
        return model_of(name, root)

    monkeypatch.setattr(module, "model_of", model)
    assert found("") == ((), ())
    assert len(computed) == 1
    computed.clear()
    assert found(
        "set firewall family inet6 filter F term t then discard\nset interfaces lo0 unit 0 family inet6 filter input F"
    )[1]
    assert len(computed) > 1


def test_more_of_what_the_file_has_already() -> None:
    """A statement that is not modeled, in the file by intent, does not hide others beside it."""
    areas = "set protocols ospf3 area 0 interface a\nset protocols ospf3 area 1 interface b\n"
    text = to_curly(load_set(read(lab.text_of(LEAF)), areas)[0])
    running = load(factory(LEAF, "admin"), read(text), "merge")
    aim = FileSource(LEAF, lambda: text, ownership(), POOL)
    assert switch_diff(LEAF, aim, Fake(to_curly(running))).unmanaged == {}  # type: ignore[arg-type]
    more, _ = load_set(running, "set protocols ospf3 area 2 interface c")
    told = tuple(switch_diff(LEAF, aim, Fake(to_curly(more))).unmanaged)  # type: ignore[arg-type]
    assert [one.split(":")[0] for one in told] == ["protocols ospf3 area 2 interface c"]


USER = "set system login user admin class"
OPS = f"{USER} ops\nset system login class ops"
NOTHING = "may change nothing, a push is refused"


def warned(lines: str, target: Target) -> tuple[str, ...]:
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
    assert warned(lines, target) == (reason,)


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
    assert warned(lines, target) == ()


@pytest.mark.parametrize(("port", "number", "told_of"), [(22, 2222, True), (22, 22, False), (830, 2222, False)])
def test_another_port_of_ssh_matters_where_netconf_is_on_it(port: int, number: int, told_of: bool, target: Any) -> None:
    target.port = port
    found = warned(f"set system services ssh port {number}", target)
    told_now = [text for text in found if text.startswith(f"system services ssh port {number}: a push connects to")]
    assert bool(told_now) == told_of
