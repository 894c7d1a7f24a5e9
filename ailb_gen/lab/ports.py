"""Ports of the host that are forwarded to devices of a lab.

A socket stays in the network namespace that it was made in. The listening sockets are therefore made first, and the
lab is isolated afterwards.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Thread

from ailb_gen.errors import LabError, UsageError

LAST_PORT = 65535
PIECE_BYTES = 1 << 16


def listeners(
    address: str, base_port: int, names: Sequence[str], option: str = "--base-port"
) -> dict[str, socket.socket]:
    """Listen on a port for each name, from `base_port` on, or on free ones for 0. Raises UsageError."""
    if base_port and base_port + len(names) - 1 > LAST_PORT:
        raise UsageError(f"{len(names)} devices do not fit above port {base_port}; choose a lower {option}")
    found: dict[str, socket.socket] = {}
    for number, name in enumerate(names):
        port = base_port + number if base_port else 0
        try:
            found[name] = socket.create_server((address, port), backlog=100)
        except OSError as error:
            for made in found.values():
                made.close()
            raise UsageError(
                f"{name}: cannot listen on {address} port {port}: {error.strerror}; choose another {option}"
            ) from error
    return found


@contextmanager
def forwarded(listening: Mapping[str, socket.socket], targets: Mapping[str, int]) -> Iterator[None]:
    """Pass connections on, in a thread of its own; `targets` are ports of 127.0.0.1 inside. Raises LabError."""
    loop, ready = asyncio.new_event_loop(), Event()
    pairs = [(listening[name], port) for name, port in targets.items()]
    thread = Thread(target=_run, args=(loop, pairs, ready), name="ports", daemon=True)
    thread.start()
    if not ready.wait(60):
        raise LabError("the ports of the lab do not open")
    try:
        yield
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


def _run(loop: asyncio.AbstractEventLoop, pairs: Sequence[tuple[socket.socket, int]], ready: Event) -> None:
    asyncio.set_event_loop(loop)
    opening = (asyncio.start_server(_passing_to(port), sock=listening) for listening, port in pairs)
    servers = [loop.run_until_complete(one) for one in opening]
    ready.set()
    loop.run_forever()
    for server in servers:
        server.close()
    for task in asyncio.all_tasks(loop):
        task.cancel()
        with suppress(asyncio.CancelledError):
            loop.run_until_complete(task)
    loop.close()


def _passing_to(port: int) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[object, object, None]]:
    async def passed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            # The device is away: new connections are closed.
            writer.close()
            return
        await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))

    return passed


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while piece := await reader.read(PIECE_BYTES):
            writer.write(piece)
            await writer.drain()
    with suppress(ConnectionError):
        writer.close()
