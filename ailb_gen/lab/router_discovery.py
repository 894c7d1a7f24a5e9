"""Router discovery on the cables between switches (RFC 4861, 6): report which router is heard on which link."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ailb_gen.errors import LabError
from ailb_gen.lab.advertisements import Advertisement, RaSocket
from ailb_gen.lab.plan import LabPlan, link_local

# Changes are reported after a quiet time, and at the latest after a longest delay. Seconds.
QUIET_S, LATEST_S = 0.05, 0.5
# How long until a report that failed is repeated. Seconds.
AGAIN_S = 1.0
# Pause between solicitations on a link without a router, at first and at most. Seconds.
ASK_S, ASK_MOST_S = 1.0, 16.0
# Pause between two searches for expired lifetimes. Seconds.
SWEEP_S = 1.0


@dataclass(slots=True)
class _Device:
    """The routers that a switch hears: the last advertisement of each, by link and address, with its monotonic time.

    `reported` is the last report, `changed` the time of the first change since then, `quiet` that of the last change.
    """

    last: dict[tuple[str, int], tuple[Advertisement, float]] = field(default_factory=dict)
    reported: Mapping[str, int] = field(default_factory=dict)
    changed: float | None = None
    quiet: float = 0.0

    def change(self, now: float) -> None:
        """Note that the routers differ from the last report."""
        self.changed = now if self.changed is None else self.changed
        self.quiet = now

    def due(self, now: float) -> bool:
        """Return whether it is time to report."""
        return self.changed is not None and (now - self.quiet >= QUIET_S or now - self.changed >= LATEST_S)


class RaListener:
    """Listens on the cables between switches, and reports when a router comes or goes.

    It listens from its creation and reports after `start`; use it as a context manager. A router is gone when it
    announces a lifetime of 0 or when its lifetime has expired. On links without a router it sends solicitations: when
    they get an address, and periodically. Raises LabError.
    """

    def __init__(self, plan: LabPlan) -> None:
        # With its own address, to recognize its own advertisements.
        self._ports = {
            name: {
                port.link: link_local(port.mac) for port in switch.ports.values() if port.far.device in plan.switches
            }
            for name, switch in plan.switches.items()
        }
        self._ears = RaSocket(plan.switches, addresses=True)
        self._lock = threading.RLock()
        self._devices = {name: _Device() for name in plan.switches}
        self._wake_read, self._wake_write = os.pipe()
        self._ears.watch(self._wake_read)
        self._thread: threading.Thread | None = None
        self._ended = False
        self._ask_at, self._ask_pause_s, self._swept = 0.0, ASK_S, 0.0

    def __enter__(self) -> RaListener:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, tell: Callable[[str, Mapping[str, int]], None]) -> None:
        """Call `tell` with the device and the link-local addresses of its routers by link, in a thread of its own.

        A LabError that `tell` raises is written to the standard error, and the report is repeated.
        """
        self._thread = threading.Thread(target=self._run, args=(tell,), name="router advertisements", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        self._ended = True
        os.write(self._wake_write, b"x")
        if self._thread is not None:
            self._thread.join()
        self._ears.close()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def routers(self, device: str) -> dict[str, int]:
        """Return the link-local addresses of the routers that a switch hears, by link: of several the lowest."""
        found: dict[str, int] = {}
        with self._lock:
            for link, source in self._devices[device].last:
                found[link] = min(source, found.get(link, source))
        return found

    def advertisements(self, device: str) -> tuple[Advertisement, ...]:
        """Return the last advertisement of every router that a switch hears."""
        with self._lock:
            return tuple(heard for heard, _ in self._devices[device].last.values())

    def _run(self, tell: Callable[[str, Mapping[str, int]], None]) -> None:
        while not self._ended:
            self._ask_silent(time.monotonic())
            heard = self._ears.hear(self._patience_s(time.monotonic()))
            self._ask(self._ears.readdressed)
            self._ears.readdressed.clear()
            now = time.monotonic()
            with self._lock:
                self._note(heard, now)
                due = [(name, self.routers(name)) for name, device in self._devices.items() if device.due(now)]
                for name, _ in due:
                    self._devices[name].changed = None
            for name, routers in due:
                self._tell(tell, name, routers)

    def _tell(self, tell: Callable[[str, Mapping[str, int]], None], name: str, routers: Mapping[str, int]) -> None:
        device = self._devices[name]
        if routers == device.reported:
            return
        try:
            tell(name, routers)
        except LabError as error:
            sys.stderr.write(f"{name}: routers discovered on {', '.join(routers)}: {error}\n")
            device.change(time.monotonic() + AGAIN_S)
            return
        device.reported = routers

    def _patience_s(self, now: float) -> float:
        pending = any(device.changed is not None for device in self._devices.values())
        return min(QUIET_S if pending else SWEEP_S, max(0.0, self._ask_at - now))

    def _ask_silent(self, now: float) -> None:
        if now >= self._ask_at:
            self._ask_at, self._ask_pause_s = now + self._ask_pause_s, min(2 * self._ask_pause_s, ASK_MOST_S)
            self._ask(self._ports)

    def _ask(self, names: Iterable[str]) -> None:
        """Solicit routers on the links of devices where none is heard."""
        with self._lock:
            silent = [(name, self._ports[name].keys() - self.routers(name).keys()) for name in names]
        for name, links in silent:
            for link in links:
                self._ears.ask(name, link)

    def _note(self, heard: Iterable[Advertisement], now: float) -> None:
        """Note advertisements, and, once in a while, routers whose lifetime is over."""
        for one in heard:
            if self._ports[one.device].get(one.link, one.source) == one.source:
                continue
            device, key = self._devices[one.device], (one.link, one.source)
            if (one.lifetime_s > 0) != (key in device.last):
                device.change(now)
            device.last.pop(key, None)
            if one.lifetime_s:
                device.last[key] = (one, now)
        if now < self._swept + SWEEP_S:
            return
        self._swept = now
        for device in self._devices.values():
            for key in [key for key, (last, at) in device.last.items() if at + last.lifetime_s <= now]:
                del device.last[key]
                device.change(now)
