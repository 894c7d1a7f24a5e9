"""Derive the state of a lab's daemons and kernels from configurations and discovered routers."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from ailb_gen.emulator.fabric_state import unconfigured
from ailb_gen.errors import UsageError
from ailb_gen.junos.interface_ranges import effective
from ailb_gen.junos.tree import Node
from ailb_gen.lab.advertisements import cease
from ailb_gen.lab.bird.model import BirdPeer
from ailb_gen.lab.links import Interface, powered_off, settings
from ailb_gen.lab.plan import LabPlan, PortPlan, link_local, port_of, unit_link
from ailb_gen.lab.router_discovery import RaListener
from ailb_gen.lab.switches import LabSwitch
from ailb_gen.layout import switch_file
from ailb_gen.network.fabric import End
from ailb_gen.network.model import Switch
from ailb_gen.network.sessions import local_as, session_groups
from ailb_gen.network.switch import switch


class ConfiguredFabric:
    """The switches of a lab with their configurations; any thread may call it.

    Namespaces and links of the plan exist. Until `started`, commits reach the kernels alone, and no daemon; until
    `forwarding`, daemons keep their routes from the kernels. Everything raises LabError when a daemon or a kernel does
    not answer.
    """

    def __init__(self, plan: LabPlan) -> None:
        self.plan = plan
        self.lock = threading.RLock()
        self.switches = {name: LabSwitch(found) for name, found in plan.switches.items()}
        self.started = self.forwarding = False
        # The link-local addresses of routers that were heard, by switch and link.
        self._heard: dict[str, Mapping[str, int]] = {}
        self._listener: RaListener | None = None

    def start(self) -> None:
        """Start the daemons of all switches that are configured; they advertise, and have no sessions yet."""
        with self.lock:
            on = [own for own in self.switches.values() if own.on]
            for own in on:
                own.router.begin(own.render({}, held=True))
            for own in on:
                own.router.wait()

    def connect(self) -> None:
        """Let daemons have sessions with the routers that are heard, from now on."""
        with self.lock:
            self.started = True
            self._configure(tuple(self.switches))

    def forward(self) -> None:
        """Let daemons bring their routes into the kernels, from now on."""
        with self.lock:
            self.forwarding = True
            for name, own in self.switches.items():
                if own.on:
                    own.forward(self.peers(name))

    def unaddressed(self) -> tuple[str, ...]:
        """Return the links between switches that lack their link-local address, as text."""
        with self.lock:
            return tuple(
                f"{name}: {link} has no link-local address"
                for name, own in self.switches.items()
                for link in sorted(self._linked(own) - own.addressed())
            )

    def _linked(self, own: LabSwitch) -> set[str]:
        """Return the links of a switch with `family inet6` whose both ends are enabled."""
        own_ends = {port.link: self._settings(End(own.name, port.port)) for port in own.ports.values()}
        far_ends = {port.link: self._settings(port.far) for port in own.ports.values()}
        return {link for link, here in own_ends.items() if here.inet6 and here.enabled and far_ends[link].enabled}

    def _settings(self, end: End) -> Interface:
        other = self.switches.get(end.device)
        if other is None or other.settings is None:
            return Interface()
        return other.settings[other.ports[end.port].link]

    def unheard(self) -> tuple[str, ...]:
        """Return the routers that advertise by their configuration and are not heard at the other end, as text."""
        with self.lock:
            return tuple(
                f"{name}:{port.port} receives no router advertisement of {port.far}"
                for name, own in self.switches.items()
                for port in own.ports.values()
                if not self._hears(own, port) and self._advertises(port.far) and port.link in self._linked(own)
            )

    def _advertises(self, end: End) -> bool:
        return f"{end.port}.0" in self._model(end.device).advertisements and self._settings(end).inet6

    def _model(self, name: str) -> Switch:
        return self.switch(name) if name in self.switches else unconfigured(name)

    def _hears(self, own: LabSwitch, port: PortPlan) -> bool:
        """Return whether a switch hears the router that its cable leads to."""
        far = self.switches.get(port.far.device)
        return far is not None and self._heard.get(own.name, {}).get(port.link) == link_local(
            far.ports[port.far.port].mac
        )

    def commit(self, name: str, tree: Node) -> None:
        """Take over the active configuration of a device, as written; a device that was off is on again.

        Sessions that both configurations define equally stay up. Raises UsageError when groups apply each other in a
        circle; then nothing has changed. Raises LabError.
        """
        found = switch(name, switch_file(name), effective(tree))
        with self.lock:
            own = self.switches[name]
            silent = _falling_silent(own, found) if self.started else ()
            # Links may lose their addresses; and the daemon has a last word.
            cease(name, silent)
            own.take(found, settings(self.plan, found))
            self._configure([name, *self._neighbors(name)])
            cease(name, silent)

    def power_off(self, name: str) -> None:
        """Take a device out of the fabric: its links and sessions are down until it commits again."""
        with self.lock:
            own = self.switches[name]
            own.router.stop()
            own.take(None, powered_off(self.plan, name))
            self._configure(self._neighbors(name))

    def listen(self, listener: RaListener) -> None:
        """Record router advertisements from a listener on all links from now on."""
        self._listener = listener
        listener.start(self.hear)

    def hear(self, name: str, routers: Mapping[str, int]) -> None:
        """Note which routers a switch hears: link-local addresses by link."""
        with self.lock:
            self._heard[name] = dict(routers)
            self._configure([name])

    def _neighbors(self, name: str) -> list[str]:
        far = (port.far.device for port in self.switches[name].ports.values())
        return list(dict.fromkeys(one for one in far if one in self.switches))

    def _configure(self, names: Sequence[str]) -> None:
        """Let the daemons of switches run the translation of configurations and heard routers."""
        for name in names if self.started else ():
            own = self.switches[name]
            if own.on:
                own.configure(self.peers(name), held=not self.forwarding)

    def peers(self, name: str) -> dict[str, BirdPeer]:
        """Return the neighbors of a switch, heard or static, that have an AS number there, by logical interface."""
        found = {}
        own = self.switches[name]
        for port in own.ports.values():
            side = own.sides().get(f"{port.port}.0")
            address = self._heard.get(name, {}).get(port.link)
            if side is not None and side.neighbor is not None:
                address = side.neighbor.address
            asn = self._asn(port.far) if address is not None else None
            if address is not None and asn is not None:
                found[f"{port.port}.0"] = BirdPeer(address, asn)
        return found

    def _asn(self, end: End) -> int | None:
        """Return the AS number that a switch has on the session of a port."""
        other = self._model(end.device)
        group = session_groups(other).get(f"{end.port}.0")
        return local_as(other, other.groups[group]) if group is not None else None

    def keep_down(self, device: str, interface: str) -> None:
        """Keep the BGP session on a logical interface down, even if it is configured. Raises UsageError."""
        self._far(device, interface)
        with self.lock:
            self.switches[device].keep_down(interface)

    def restore(self, device: str, interface: str) -> None:
        """Let the BGP session on a logical interface come up again. Raises UsageError."""
        far = self._far(device, interface)
        with self.lock:
            self.switches[device].restore(interface)
            self.switches[far.device].restore(f"{far.port}.0")

    def _far(self, device: str, interface: str) -> End:
        far = self.neighbor(device, port_of(interface))
        if far is None:
            raise UsageError(f"{device} has no cable to another switch on {interface}; no session could be kept down")
        return far

    def switch(self, name: str) -> Switch:
        """Return the model of a device's active configuration, which is empty while it is off."""
        return self.switches[name].switch

    def cable_bps(self, device: str, port: str) -> int | None:
        """Return the speed that the files give for the cable on a port, in bit/s; None where they give none."""
        found = self.switches[device].ports.get(port)
        return found.speed_bps if found is not None else None

    def neighbor(self, device: str, port: str) -> End | None:
        """Return the port of a switch at the other end of a cable; None for a server, or without a cable."""
        found = self.switches[device].ports.get(port)
        return found.far if found is not None and found.far.device in self.switches else None


def _falling_silent(own: LabSwitch, found: Switch) -> tuple[str, ...]:
    """Return the links on which another configuration sends no more router advertisements."""
    speaking = {name for name in found.advertisements if (unit := found.unit(name)) is not None and unit.inet6}
    links = (unit_link(own.plan, name) for name in own.switch.advertisements if name not in speaking)
    return tuple(link for link in links if link is not None)
