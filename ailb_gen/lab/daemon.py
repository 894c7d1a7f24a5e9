"""A lab while it runs: everything that is started for it, in order, and ends with it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from socket import socket

from ailb_gen.emulator.fleet import Fleet
from ailb_gen.emulator.gnmi.options import GnmiOptions
from ailb_gen.emulator.host import FleetLogin
from ailb_gen.emulator.source import check_inventory, entries, password_of, specs, unmanaged, write_inventory
from ailb_gen.lab import convergence, links, neighbor_table, registry
from ailb_gen.lab.namespaces import end_by_signals, isolate
from ailb_gen.lab.plan import LabPlan, plan
from ailb_gen.lab.ports import forwarded, listeners
from ailb_gen.lab.registry import Lab
from ailb_gen.lab.router_discovery import RaListener
from ailb_gen.lab.servers import boot, ssh
from ailb_gen.lab.state import LabFabric
from ailb_gen.network.fabric import Network

# In the folder of the inventory.
SSH_KEY = "ssh_key"
PASSWORD = "AILB_PASSWORD"  # noqa: S105 - the name of a variable


@dataclass(frozen=True, slots=True)
class Start:
    """Options to start a lab; `patience_s` is the timeout of sessions and routes.

    `gnmi_port` is the first port of gNMI, 0 for free ones, None for no gNMI.
    """

    lab: Lab
    base_port: int = 0
    user: str = "admin"
    minute_s: float = 60.0
    patience_s: float = 120.0
    gnmi_port: int | None = None


@dataclass(frozen=True, slots=True)
class Ready:
    """A lab that has started; as text its missing parts, and a note about changes outside of it, made or impossible."""

    lab: Lab
    missing: tuple[str, ...]
    note: str = ""


def run(start: Start, network: Network, announce: Callable[[Ready], None], step: Callable[[str], None]) -> None:
    """Start a lab, announce it, and keep it until a signal ends it.

    Must be called before there are threads. `announce` is called once when everything has come that comes, `step` with
    the name of every step. Raises UsageError for cables or ports that cannot be used, OutputError, LabError.
    """
    lab, made = start.lab, plan(network)
    inventory, artifacts = Path(lab.inventory), Path(lab.artifacts)
    check_inventory(inventory)
    password, new = password_of(os.environ, PASSWORD)
    outside = listeners(lab.address, start.base_port, made.devices)
    ports = {name: listening.getsockname()[1] for name, listening in outside.items()}
    collected = (
        {} if start.gnmi_port is None else listeners(lab.address, start.gnmi_port, [*made.switches], "--gnmi-port")
    )
    gnmi = {name: listening.getsockname()[1] for name, listening in collected.items()}
    note = neighbor_table.reserve(registry.directory(lab.name), made.neighbors_needed)
    # The first process of a namespace ignores signals that it does not handle.
    end_by_signals()
    process = isolate()
    with ExitStack() as stack:
        step("namespaces and cables")
        registry.keep_plan(made)
        links.create(made)
        listener = stack.enter_context(RaListener(made))
        fabric = LabFabric(made)
        step("configurations")
        found = specs(artifacts, start.user, not lab.fresh)
        login, options = FleetLogin(start.user, password), GnmiOptions() if gnmi else None
        fleet = Fleet(found, fabric, login, minute_s=start.minute_s, gnmi=options)
        step("servers")
        hosts, known = _reachable(stack, made, inventory, outside, lab.address)
        booted = stack.enter_context(boot.boot(made, network, artifacts, lab.hosts))
        step("BGP")
        fabric.listen(listener)
        missing = convergence.start(fabric, start.patience_s)
        step("addresses of servers")
        missing += tuple(_lacking(booted, made, network, lab.fresh))
        stack.enter_context(fleet)
        stack.enter_context(forwarded(outside, {name: fleet.port(name) for name in fleet.devices}))
        stack.enter_context(forwarded(collected, fleet.gnmi_ports()))
        switches = {name: ports[name] for name in fleet.devices}
        entered = entries(fleet, switches) | hosts
        keys, kept = fleet.known_hosts(switches) + known, password if new else ""
        write_inventory(inventory, entered, keys, start.user, PASSWORD, kept, fleet.gnmi_certificate)
        step("")
        announce(Ready(replace(lab, process=process, ports=ports, hosts=booted.method, gnmi=gnmi), missing, note))
        while True:
            signal.pause()


def _reachable(
    stack: ExitStack, made: LabPlan, inventory: Path, outside: Mapping[str, socket], address: str
) -> tuple[dict[str, object], str]:
    """Let servers be reached over SSH where that is possible; return their inventory entries and host keys."""
    if ssh.why_not():
        return unmanaged(tuple(made.servers)), ""
    keys = ssh.make_keys(inventory / SSH_KEY)
    stack.enter_context(ssh.accepted({name: outside[name] for name in made.servers}))
    ports = {name: outside[name].getsockname()[1] for name in made.servers}
    return ssh.entries(keys, address, ports), ssh.known_hosts(keys, address, ports)


def _lacking(booted: boot.Servers, made: LabPlan, network: Network, fresh: bool) -> Iterator[str]:
    """Wait for the addresses of servers; yield the missing ones. Leaves without configuration advertise none."""
    lost = {} if fresh else boot.wait(made, network.hosts)
    yield from (f"{server} {nic}: no address in {prefix}" for (server, nic), row in lost.items() for prefix in row)
    yield from (f"{server}: {text}" for server, texts in booted.warnings.items() for text in texts)
