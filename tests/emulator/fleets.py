"""A small fleet for tests, and ways to reach it with the clients that operators use."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jnpr.junos.device import Device as Pyez
from ncclient import manager
from ncclient.manager import Manager

from ailb_gen.emulator.device import Device, Spec
from ailb_gen.emulator.fabric import EmulatedFabric
from ailb_gen.emulator.fleet import Fleet
from ailb_gen.emulator.host import Login
from ailb_gen.emulator.source import factory
from ailb_gen.network.fabric import Cable, End

USER, PASSWORD = "admin", "correct horse"
LEAF, SPINE = "leaf1", "spine1"
LINK = Cable(End(LEAF, "et-0/0/0"), End(SPINE, "et-0/0/0"))
ASNS = {LEAF: (65101, 65001), SPINE: (65001, 65101)}
# What makes the session between the two devices.
BGP = """\
interfaces {{ et-0/0/0 {{ unit 0 {{ family inet6; }} }} }}
protocols {{
    router-advertisement {{ interface et-0/0/0.0; }}
    bgp {{
        group up {{
            type external;
            family inet6 {{ unicast; }}
            local-as {own};
            peer-as-list PEERS;
            dynamic-neighbor D {{
                peer-auto-discovery {{ family inet6 {{ ipv6-nd; }} interface et-0/0/0.0; }}
            }}
        }}
    }}
}}
policy-options {{ as-list PEERS members {peer}; }}
routing-options {{ autonomous-system {own}; }}
"""


def bgp_of(name: str) -> str:
    """Return the curly text that a device's half of the session takes."""
    own, peer = ASNS[name]
    return BGP.format(own=own, peer=peer)


@contextmanager
def two_devices(state: Path | None = None, minute_s: float = 60.0) -> Iterator[Fleet]:
    """Run a leaf and a spine with a cable between them, as they come from the factory."""
    specs = [Spec(name, factory(name, USER)) for name in (LEAF, SPINE)]
    with Fleet(specs, EmulatedFabric([LINK]), Login(USER, PASSWORD), state, minute_s=minute_s) as fleet:
        yield fleet


@contextmanager
def netconf(fleet: Fleet, name: str = LEAF, password: str = PASSWORD, **options: object) -> Iterator[Manager]:
    """Connect with ncclient."""
    session = manager.connect(
        host=fleet.address,
        port=fleet.port(name),
        username=USER,
        password=password,
        hostkey_verify=False,
        allow_agent=False,
        look_for_keys=False,
        device_params={"name": "junos"},
        **options,
    )
    try:
        yield session
    finally:
        if session.connected:
            session._session.close()


@contextmanager
def pyez(fleet: Fleet, name: str = LEAF, password: str = PASSWORD) -> Iterator[Pyez]:
    """Connect with PyEZ."""
    device = Pyez(
        fleet.address, port=fleet.port(name), user=USER, password=password, gather_facts=False, allow_agent=False
    )
    device.open(auto_probe=0)
    try:
        yield device
    finally:
        if device.connected:
            device.close()


def active_text(device: Device) -> str:
    """Return what is active on a device."""
    return device.database.active_text
