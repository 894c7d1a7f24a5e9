"""A small fleet for tests, and ways to reach it with the clients that operators use."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import asyncssh
from jnpr.junos.device import Device as Pyez
from napalm import get_network_driver
from ncclient import manager
from ncclient.manager import Manager
from netmiko import ConnectHandler

from ailb_gen.emulator.device import EmulatedDevice, Spec
from ailb_gen.emulator.fabric import EmulatedFabric
from ailb_gen.emulator.fabric_state import FabricState
from ailb_gen.emulator.fleet import Fleet
from ailb_gen.emulator.host import FleetLogin
from ailb_gen.emulator.source import factory
from ailb_gen.network.fabric import Cable, End

USER, PASSWORD = "admin", "correct horse"
# Seconds that something may take before a test gives up.
PATIENCE_S = 60
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


def fleet_of(*names: str, fabric: FabricState | None = None, user: str = USER, **options: Any) -> Fleet:
    """Return devices as they come from the factory; as a context, they run."""
    specs = [Spec(name, factory(name, user)) for name in names]
    return Fleet(specs, fabric or EmulatedFabric([]), **{"login": FleetLogin(user, PASSWORD), **options})


def two_devices(state: Path | None = None, minute_s: float = 60.0) -> Fleet:
    """Return a leaf and a spine with a cable between them."""
    return fleet_of(LEAF, SPINE, fabric=EmulatedFabric([LINK]), state=state, minute_s=minute_s)


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


def active_text(device: EmulatedDevice) -> str:
    """Return what is active on a device."""
    return device.database.active_text


def until(true: Callable[[], object]) -> None:
    """Wait for something that happens by itself."""
    end = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)


def bring_up(fleet: Fleet) -> None:
    """Configure the session between the two devices."""
    for name in (LEAF, SPINE):
        with netconf(fleet, name) as session:
            session.load_configuration(action="merge", format="text", config=bgp_of(name))
            session.commit()


def ssh(fleet: Fleet, command: str = "", typed: str = "", pty: bool = False) -> tuple[str, str, int]:
    """Run a command, or type lines; returns output, errors and the exit code."""

    async def work() -> tuple[str, str, int]:
        async with asyncssh.connect(
            fleet.address, fleet.port(LEAF), username=USER, password=PASSWORD, known_hosts=None, config=None
        ) as connection:
            how: dict[str, Any] = {"term_type": "xterm", "term_size": (80, 24)} if pty else {}
            done = await connection.run(command or None, input=typed or None, **how)
            assert done.exit_status is not None
            return str(done.stdout), str(done.stderr), done.exit_status

    return asyncio.run(work())


@contextmanager
def napalm(fleet: Fleet, **options: object) -> Iterator[Any]:
    """Connect with NAPALM."""
    driver = get_network_driver("junos")(
        fleet.address, USER, PASSWORD, timeout=20, optional_args={"port": fleet.port(LEAF), **options}
    )
    driver.open()
    try:
        yield driver
    finally:
        device: Any = driver.device
        if device.connected:
            driver.close()


@contextmanager
def netmiko(fleet: Fleet, kind: str = "juniper_junos", user: str = USER) -> Iterator[Any]:
    """Connect with netmiko."""
    connection = ConnectHandler(
        device_type=kind,
        host=fleet.address,
        port=fleet.port(LEAF),
        username=user,
        password=PASSWORD,
        session_timeout=60,
    )
    try:
        yield connection
    finally:
        connection.disconnect()
