"""Reading devices in threads, each at its own pace: at most one thread per device, and a deadline for each.

Who has answered before is waited for; a device that takes much longer than it did is not, and is read on. When it has
not answered by its deadline its connection is ended, and with it its thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Generic, TypeVar

from ailb_gen.deploy.switch_driver import DeviceError, Phase, UnknownOutcomeError

T = TypeVar("T")
# A device is not waited for any more after so many times the seconds that it took the last time, and some more.
LONGER, MORE_S = 3.0, 5.0
# The most readings at once of devices that are not waited for: each takes a thread and a connection.
MOST_LATE = 256
# Seconds that the threads are given to end their connections when all is over.
END_S = 1.0
# Not one of those that the end of the program treats as working on a device's configuration.
THREADS = "reading"


@dataclass(slots=True)
class _Flight:
    """A reading that is under way; `awaited` says whether the round waits for it, `stop` ends its connection."""

    began: float
    until: float
    awaited: bool
    thread: Thread
    stop: Event = field(default_factory=Event)


class DevicePace(Generic[T]):
    """Reads devices; `read` gives the value of a device or its error, and returns soon after its event is set.

    `jobs` devices that are waited for are read at once. `deadline_s` is how long a device may take.
    """

    def __init__(
        self, names: Collection[str], read: Callable[[str, Event], T | DeviceError], jobs: int, deadline_s: float
    ) -> None:
        self._names, self._read, self._jobs, self._deadline_s = tuple(names), read, jobs, deadline_s
        self._waiting: dict[str, None] = {}
        self._flights: dict[str, _Flight] = {}
        self._done: SimpleQueue[tuple[str, T | DeviceError]] = SimpleQueue()
        self._took_s: dict[str, float] = {}
        # Those that did not answer the last time: nobody waits for them.
        self._silent: set[str] = set()

    @property
    def threads(self) -> int:
        """How many devices are being read."""
        return len(self._flights)

    def begin(self) -> None:
        """Begin a round: read every device that is not being read."""
        self._waiting |= dict.fromkeys(name for name in self._names if name not in self._flights)

    def awaited(self, everyone: bool = False) -> bool:
        """Return whether a device is waited for; with `everyone` also those that did not answer, or are late."""
        if everyone:
            return bool(self._waiting or self._flights)
        return any(name not in self._silent for name in self._waiting) or any(
            flight.awaited for flight in self._flights.values()
        )

    def step(self, wait_s: float) -> list[tuple[str, T | DeviceError, float]]:
        """Start what can be started, end what is over its deadline; wait at most so long for what is read.

        Returns what was read, each with its device before it and the seconds that it took behind it.
        """
        self._start()
        found: list[tuple[str, T | DeviceError]] = []
        try:
            found.append(self._done.get(timeout=wait_s))
            while True:
                found.append(self._done.get_nowait())
        except Empty:
            pass
        now = time.monotonic()
        ended = [self._ended(name, value, now) for name, value in found]
        usual_s = max(self._took_s.values(), default=0.0)
        for name, flight in self._flights.items():
            took_s = self._took_s.get(name, usual_s)
            if took_s and now > flight.began + LONGER * took_s + MORE_S:
                flight.awaited = False
            if now > flight.until:
                flight.awaited = False
                flight.stop.set()
        return ended

    def _start(self) -> None:
        awaited = sum(flight.awaited for flight in self._flights.values())
        late = len(self._flights) - awaited
        for name in list(self._waiting):
            silent = name in self._silent
            if late >= (min(self._jobs, MOST_LATE) if silent else MOST_LATE) or (not silent and awaited >= self._jobs):
                continue
            stop, now = Event(), time.monotonic()
            thread = Thread(target=self._work, args=(name, stop), name=f"{THREADS} {name}", daemon=True)
            try:
                thread.start()
            except RuntimeError:
                # No room for a thread: when others have ended.
                return
            del self._waiting[name]
            self._flights[name] = _Flight(now, now + self._deadline_s, not silent, thread, stop)
            awaited, late = awaited + (not silent), late + silent

    def _work(self, name: str, stop: Event) -> None:
        self._done.put((name, self._read(name, stop)))

    def _ended(self, name: str, value: T | DeviceError, now: float) -> tuple[str, T | DeviceError, float]:
        flight = self._flights.pop(name)
        took_s = now - flight.began
        if not isinstance(value, DeviceError):
            self._silent.discard(name)
            self._took_s[name] = took_s
        else:
            self._silent.add(name)
            if flight.stop.is_set():
                # Ending a connection looks to its driver as if the other end had gone.
                value = UnknownOutcomeError(name, Phase.READ, f"it was not read within {self._deadline_s:g} s")
        return name, value, took_s

    def close(self) -> None:
        """End all readings; wait a little until their threads have ended."""
        self._waiting.clear()
        for flight in self._flights.values():
            flight.stop.set()
        until = time.monotonic() + END_S
        for flight in self._flights.values():
            flight.thread.join(max(0.0, until - time.monotonic()))
