"""What acts on a switch besides its file is found, and an operator's usual statements are not."""

from typing import Any

import pytest

from ailb_gen.addresses import Prefix
from ailb_gen.deploy import device_diff as module
from ailb_gen.deploy.device_diff import switch_diff
from ailb_gen.deploy.ownership import ownership
from ailb_gen.deploy.switch_state import model_of
from ailb_gen.deploy.transaction import FileSource
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


@pytest.mark.parametrize(
    ("commands", "told"),
    [
        (
            f"set groups OFF interfaces {UPLINK} disable\nset apply-groups OFF",
            f"interfaces {UPLINK} disable: takes effect",
        ),
        ("set groups OFF interfaces <et-*> disable\nset interfaces apply-groups OFF", f"interfaces {UPLINK} disable"),
        ("set groups OFF protocols bgp disable\nset apply-groups OFF", "protocols bgp disable: takes effect"),
        ("set groups G protocols bgp group <*> import NONE\nset apply-groups G", "import NONE: takes effect"),
        (
            f"set interfaces interface-range off member {UPLINK}\nset interfaces interface-range off disable",
            f"interfaces {UPLINK} disable: takes effect",
        ),
        (
            "set interfaces interface-range all member-range et-0/0/0 to et-0/0/3\n"
            "set interfaces interface-range all unit 0 disable",
            f"interfaces {UPLINK} unit 0 disable",
        ),
        (
            f"set groups G interfaces interface-range off member {UPLINK}\n"
            "set groups G interfaces interface-range off disable\nset apply-groups G",
            f"interfaces {UPLINK} disable",
        ),
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
            "set groups G vlans <vn*> forwarding-options filter input V\nset apply-groups G",
            "filter V on vn2 (input): not in the file",
        ),
        ("set switch-options interface-mac-limit 1", "switch-options"),
        (
            f"set groups OFF interfaces {UPLINK} unused\nset apply-groups OFF",
            f"interfaces {UPLINK} unused: takes effect",
        ),
        (
            "set event-options policy P events UI_COMMIT\n"
            'set event-options policy P then change-configuration commands "set interfaces et-0/0/0 disable"',
            "event-options policy P then change-configuration",
        ),
        ("set protocols lldp interface all disable", "protocols lldp interface all disable: not in the file; LLDP"),
        ("set protocols lldp disable", "protocols lldp disable: not in the file; LLDP is off on"),
        (f"set protocols lldp interface {UPLINK} disable", f"LLDP is off on {UPLINK}: cables cannot be compared"),
        ("set groups G protocols lldp interface all disable\nset apply-groups G", "LLDP is off on"),
        ("set chassis maximum-ecmp 8", "chassis maximum-ecmp 8: not in the file; a route has up to 8 next hops"),
        ("set groups G chassis maximum-ecmp 8\nset apply-groups G", "chassis maximum-ecmp 8"),
        ("set interfaces lo0 unit 0 family inet6 address fc00:1:2:1::1/128", "among the fabric's addresses"),
        ("set interfaces ae0 unit 0 family inet6 address fc00:1:2:1::1/64", "among the fabric's addresses"),
        ("set interfaces ae0 unit 0 family inet6 address ::/0", "among the fabric's addresses"),
        ("set interfaces em0 unit 0 family inet6 address fc00:1:2:1::9/64", "among the fabric's addresses"),
        ("set interfaces re0:mgmt-0 unit 0 family inet6 address fc00::9/16", "among the fabric's addresses"),
        (
            "set interfaces ae0 unit 0 family ethernet-switching vlan members vn2",
            "ae0.0 joins VLAN vn2 of the fabric",
        ),
        ("set interfaces ae0 unit 0 family ethernet-switching vlan members 1-5", "ae0.0 joins VLAN vn2"),
        ("set interfaces ae0 unit 0 family ethernet-switching vlan members all", "ae0.0 joins VLAN vn2"),
        (
            "set vlans other vlan-id 2",
            "vlans other vlan-id 2: not in the file; it takes the id or the IRB of VLAN vn2",
        ),
        ("set vlans other l3-interface irb.2", "it takes the id or the IRB of VLAN vn2"),
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
        "set groups WHO system contact-name me\nset apply-groups WHO",
        "set interfaces re0:mgmt-0 unit 0 family inet address 10.9.9.9/24",
        "set interfaces re0:mgmt-0 unit 0 family inet6 address 2001:db8::9/64",
        "set system login class ops permissions view",
        "set policy-options prefix-list MANAGERS 10.0.0.0/8\n"
        "set firewall family inet filter RE4 term a from source-prefix-list MANAGERS\n"
        "set firewall family inet filter RE4 term a then accept\n"
        "set interfaces re0:mgmt-0 unit 0 family inet filter input RE4",
        f"set groups OFF interfaces {UPLINK} disable",
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
    commands = commands.replace("set groups WHO system contact-name me", "set groups WHO snmp contact me")
    assert found(commands) == ((), ())


def test_what_is_kept_is_accepted() -> None:
    off = f"set groups OFF interfaces {UPLINK} disable\nset apply-groups OFF"
    assert found(off, keep=(f"interfaces {UPLINK} disable",))[1] == ()
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
