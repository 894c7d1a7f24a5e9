"""One switch of a lab: its active configuration, its daemon, and the answers of both daemon and kernel."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial

from ailb_gen.addresses import Prefix
from ailb_gen.emulator.fabric_state import TrafficCounters, unconfigured
from ailb_gen.lab import kernel
from ailb_gen.lab.bird import parse
from ailb_gen.lab.bird.config import render
from ailb_gen.lab.bird.model import BFD, KERNEL, BirdPeer, RibRoute, SessionState, Translation
from ailb_gen.lab.links import LinkSettings, apply
from ailb_gen.lab.plan import LINK_LOCAL, SwitchPlan
from ailb_gen.lab.polling import AnswerCache
from ailb_gen.lab.ribs import by_prefix
from ailb_gen.lab.routers import Router
from ailb_gen.network.fabric import Cable, End, Network
from ailb_gen.network.model import Switch
from ailb_gen.network.sessions import Side, sides

# Answers about what another configuration changes are given after the first, and after the second at the latest.
SETTLING_S, SETTLING_MOST_S = 0.3, 2.0
PAUSE_S = 0.05


class LabSwitch:
    """A switch of a lab. Raises LabError when its daemon or its kernel does not answer.

    `switch` and `settings` follow from its active configuration, empty and None while it is off; its daemon runs
    `translation`.
    `kept_down` are logical interfaces whose session must not come up.
    """

    def __init__(self, plan: SwitchPlan) -> None:
        self.plan, self.name = plan, plan.name
        self.router = Router(plan.name)
        self.answers = AnswerCache()
        self.switch = unconfigured(plan.name)
        self.on = False
        self.settings: LinkSettings | None = None
        self.translation: Translation | None = None
        self.kept_down: set[str] = set()
        # In the order of cables.
        self.ports = {port.port: port for port in sorted(plan.ports.values(), key=lambda one: one.cable)}
        self.units = {port.link: f"{port.port}.0" for port in self.ports.values()}
        self._cables = tuple(Cable(End(plan.name, port.port), port.far) for port in self.ports.values())
        self._sides: dict[str, Side] | None = None
        # When the daemon got another configuration, until it has applied it.
        self._changed: float | None = None

    def take(self, found: Switch | None, wanted: LinkSettings) -> None:
        """Let the kernel have other settings, those of another configuration; None while the switch is off."""
        apply(self.name, self.settings, wanted)
        self.switch, self.on, self.settings = found or unconfigured(self.name), found is not None, wanted
        self._sides = None
        self.answers.forget()

    def sides(self) -> Mapping[str, Side]:
        """Return its own side of the sessions that its configuration allows, by logical interface."""
        if self._sides is None:
            network = Network({self.name: self.switch}, {}, {}, self._cables, {}, ())
            own = (side for _, side, _ in sides(network) if isinstance(side, Side))
            self._sides = {side.interface: side for side in own}
        return self._sides

    def configure(self, peers: Mapping[str, BirdPeer], held: bool) -> None:
        """Let the daemon run the translation of the active configuration, with some peers by logical interface.

        `held`: its routes do not reach the kernel.
        """
        self.answers.forget()
        if self.router.configure(self.render(peers, held)):
            self._changed = time.monotonic()
        for interface in self.kept_down:
            self._switch_session(interface, on=False)

    def forward(self, peers: Mapping[str, BirdPeer]) -> None:
        """Let the daemon bring its routes into the kernel and begin BFD: its configuration from now on.

        A new configuration says the same, and takes as long as reading all routes again.
        """
        text = self.render(peers, held=False)
        for protocol in (KERNEL, BFD):
            if f" {protocol} " in text:
                self.router.switch_on(protocol, on=True)
        self.router.note(text)

    def render(self, peers: Mapping[str, BirdPeer], held: bool) -> str:
        """Return the daemon's configuration with some peers; nothing while the switch is off."""
        if not self.on:
            return ""
        self.translation = render(self.switch, self.plan, peers, held)
        return self.translation.text

    def keep_down(self, interface: str) -> None:
        """Keep the session on a logical interface down from now on."""
        self.kept_down.add(interface)
        self._switch_session(interface, on=False)

    def restore(self, interface: str) -> None:
        """Let the session on a logical interface come up again."""
        if interface in self.kept_down:
            self.kept_down.discard(interface)
            self._switch_session(interface, on=True)

    def _switch_session(self, interface: str, on: bool) -> None:
        protocol = self.protocol(interface)
        if protocol is not None and self.router.running:
            self.router.switch_on(protocol, on)
            self.answers.forget()

    def protocol(self, interface: str) -> str | None:
        """Return the name of the daemon's session on a logical interface; None without one."""
        return self.translation.sessions.get(interface) if self.translation is not None else None

    def _settle(self) -> None:
        """Wait until the daemon has applied another configuration: it asks neighbors for their routes again."""
        before: Mapping[str, SessionState] | None = None
        while self._changed is not None and self.router.running:
            now, quiet = parse.sessions(self.router.control), time.monotonic() - self._changed
            if (now == before and quiet >= SETTLING_S) or quiet >= SETTLING_MOST_S:
                break
            before = now
            time.sleep(PAUSE_S)
        self._changed = None

    def sessions(self) -> Mapping[str, SessionState]:
        """Return the daemon's sessions by protocol."""
        self._settle()
        return self.answers.get("sessions", partial(parse.sessions, self.router.control)) if self.router.running else {}

    def rib(self) -> Mapping[Prefix, tuple[RibRoute, ...]]:
        """Return the daemon's routes by prefix, in order."""
        self._settle()
        if not self.router.running:
            return {}
        return self.answers.get("rib", lambda: by_prefix(parse.rib(self.router.control)))

    def fib(self) -> Mapping[Prefix, tuple[str, ...]]:
        """Return the logical interfaces by which the kernel sends packets to prefixes, in the order of cables."""
        self._settle()
        return self.answers.get("fib", self._fib)

    def _fib(self) -> Mapping[Prefix, tuple[str, ...]]:
        found = {}
        for prefix, hops in kernel.routes(self.name, protocol=kernel.BIRD).items():
            used = {hop.link for hop in hops if hop.gateway is not None}
            found[prefix] = tuple(unit for link, unit in self.units.items() if link in used)
        return found

    def links(self) -> Mapping[str, kernel.KernelLink]:
        """Return the links of its kernel by name."""
        return self.answers.get("links", partial(kernel.links, self.name))

    def addressed(self) -> frozenset[str]:
        """Return the links that have a link-local address now."""
        return frozenset(one.link for one in kernel.addresses(self.name) if one.value >> 118 == LINK_LOCAL >> 118)

    def counters(self) -> Mapping[str, TrafficCounters]:
        """Return the traffic of its links."""
        return self.answers.get("counters", partial(kernel.counters, self.name))

    def bfd_up(self) -> frozenset[str]:
        """Return the links on which a BFD session is up."""
        states = self.answers.get("bfd", partial(parse.bfd, self.router.control)) if self.router.running else {}
        return frozenset(link for link, state in states.items() if state.up)

    def exported(self, protocol: str) -> tuple[RibRoute, ...]:
        """Return the routes that the daemon sends over a session."""
        return self.answers.get(("exported", protocol), partial(parse.exported, self.router.control, protocol))
