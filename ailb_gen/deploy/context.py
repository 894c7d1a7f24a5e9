"""The context of commands that connect: intent, inventory, files, the selected devices, and the pool of devices."""

import getpass
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ailb_gen.addresses import Prefix
from ailb_gen.deploy.device_pool import ByDevice, DevicePool
from ailb_gen.deploy.fabric_model import read_fabric_model, switch_of
from ailb_gen.deploy.fleet import Access, fleet
from ailb_gen.deploy.forwarding_state import Forwarding, expected_forwarding, read_forwarding, sampled, without
from ailb_gen.deploy.inputs import Inputs, Trust, read_inputs
from ailb_gen.deploy.inventory import Inventory, Target, need_inventory, read_inventory
from ailb_gen.deploy.ownership import ownership
from ailb_gen.deploy.servers.ssh import Server
from ailb_gen.deploy.servers.transaction import ServerTransaction
from ailb_gen.deploy.servers.verify import expected_of
from ailb_gen.deploy.servers.verify import verify as verify_host
from ailb_gen.deploy.switch import Phase, Switch
from ailb_gen.deploy.transaction import MARK, Aim, FileAim, SwitchTransaction, Transaction, tree_of
from ailb_gen.deploy.verify import Expected
from ailb_gen.errors import UsageError
from ailb_gen.garbage import rare_garbage_collection
from ailb_gen.intent.load import Intent, load
from ailb_gen.redact.text import redact
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Routing
from ailb_gen.selection import pick_devices

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Context:
    """`switches` and `servers` are all managed ones, `picked` the devices that the run is limited to."""

    intent: Intent
    inventory: Inventory
    inputs: Inputs
    switches: Mapping[str, Target]
    servers: Mapping[str, Target]
    picked: frozenset[str]
    pool: DevicePool
    mask: Callable[[str], str]

    @property
    def user(self) -> str:
        """The user who runs this, for the record; in a container it may be only a number."""
        try:
            return getpass.getuser()
        except (KeyError, OSError):
            return str(os.getuid())

    @property
    def roles(self) -> dict[str, str]:
        """The role of every managed device."""
        return {target.name: target.role for target in self.inventory.managed}

    def file_aim(self, name: str) -> FileAim:
        """Aim at the file of a switch."""
        target, pool = self.switches[name], self.intent.fabric.addressing.pool
        rights = ownership(target.own, target.keep)
        return FileAim(name, lambda: self.inputs.text(name), rights, Prefix(pool.network, pool.length))

    def differences(self, advance: Callable[[int], None] = lambda number: None) -> ByDevice[tuple[str, ...]]:
        """Compare the state of the picked switches with what all files together must bring about."""
        models = {name: switch_of(name, tree_of(name, self.inputs.text(name))) for name in self.switches}
        fabric_model = read_fabric_model(self.inputs.artifacts, models)
        graph = Graph(fabric_model.network)
        routing = Routing(fabric_model.network, graph=graph)
        prefixes = {name: sampled(routing, name) for name in self.switches if name in self.picked}

        def look(name: str, switch: Switch) -> tuple[frozenset[str], tuple[str, ...], Forwarding]:
            # No alarm is part of the design: all are shown.
            return *fabric_model.expected(name).seen(switch), read_forwarding(name, switch, prefixes[name])

        def look_at_host(name: str, server: Server) -> tuple[str, ...]:
            expected = expected_of(self.inputs.trees[name], self.inputs.hosts[name].profile)
            return tuple(map(str, verify_host(server, expected)))

        seen = self.pool.run(prefixes, look, Phase.VERIFY, advance, keep=False)
        # A session that is down is one finding, not one for each route that goes another way for it.
        left = without(graph, ((name, one) for name, (down, _, _) in seen.good.items() for one in down))
        found: ByDevice[tuple[str, ...]] = ByDevice(seen.bad)
        for name, (_, wrong, forwarding) in seen.good.items():
            expected = expected_forwarding(fabric_model, left, name, prefixes[name])
            found[name] = (*wrong, *expected.differences(forwarding))
        servers = [name for name in self.servers if name in self.picked]
        found.update(self.pool.run(servers, look_at_host, Phase.VERIFY, advance, keep=False))
        return found

    def ask(
        self,
        switch: Callable[[str, Switch], T],
        server: Callable[[str, Server], T],
        phase: Phase,
        advance: Callable[[int], None],
    ) -> ByDevice[T]:
        """Do one thing with the picked switches, another with the picked servers; no connection is kept."""
        found: ByDevice[T] = ByDevice()
        for devices, work in ((self.switches, switch), (self.servers, server)):
            picked = [name for name in devices if name in self.picked]
            found.update(self.pool.run(picked, work, phase, advance, keep=False))
        return found

    def transactions(
        self,
        run: str,
        aim: Callable[[str], Aim],
        old: Mapping[str, str],
        legs: Mapping[str, int],
        approved: Mapping[str, str],
    ) -> Callable[[str, Expected], Transaction[Any]]:
        """Return what makes the transactions of a run; `old` are the fingerprints that its devices began with.

        `legs` count how often the run had been resumed when a device was last changed: a host knows every apply by a
        name of its own. `approved` are the digests of the changes that may be made; none where nothing is staged.
        """

        def make(name: str, expected: Expected) -> Transaction[Any]:
            digest = approved.get(name, "")
            if name in self.switches:
                return SwitchTransaction(name, aim(name), old[name], f"{MARK}{run} ", expected, digest)
            files = self.inputs.trees[name]
            there = expected_of(files, self.inputs.hosts[name].profile)
            return ServerTransaction(name, files, old[name], f"{run}.{legs.get(name, 0)}", there, digest)

        return make


NO_FILES = Inputs(Path(), {}, "")


@contextmanager
def open_context(
    fabric: Path,
    artifacts: Path | None,
    inventory: Path | None,
    limit: Sequence[str],
    access: Access,
    trust: Trust = "files",
    limited_by: str = "--limit",
) -> Iterator[Context]:
    """Read everything that there is to read, and give the context. Raises IntentError, UsageError, OutputError.

    Without artifacts only what needs no files can be done; `trust` says what they must be like, `limited_by` where
    the limit was given.
    """
    intent = load(fabric)
    found = read_inventory(fabric, inventory or fabric.parent)
    need_inventory(found, fabric, inventory)
    switches = {target.name: target for target in found.managed if target.kind == "switch"}
    if not switches:
        raise UsageError(f"{fabric}: the inventory has no managed switch; look at 'managed: false' in hosts.yaml")
    picked = pick_devices({target.name: target.role for target in found.managed}, limit, limited_by)
    servers = {target.name: target for target in found.managed if target.kind == "server"}
    inputs = read_inputs(intent, artifacts, switches, servers, trust) if artifacts is not None else NO_FILES
    with fleet(found, access) as pool, rare_garbage_collection():
        yield Context(
            intent,
            found,
            inputs,
            switches,
            servers,
            frozenset(picked if picked is not None else (target.name for target in found.managed)),
            pool,
            lambda text: redact(access.secrets.redactor(text)),
        )
