"""An SSH server on loopback that lets nobody do anything, and remembers who tried to log in."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from threading import Event, Thread

import asyncssh

from ailb_gen.deploy.host_keys import HostKey

KINDS = ("ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa")


@cache
def private_key(kind: str, number: int = 0) -> asyncssh.SSHKey:
    """A key of a type; the same number gives the same key."""
    assert number >= 0
    return asyncssh.generate_private_key(kind)


def public(key: asyncssh.SSHKey) -> HostKey:
    """The public half, as a line of known_hosts has it."""
    kind, text = key.export_public_key().decode().split()[:2]
    return HostKey(kind, text)


@dataclass
class Running:
    """A server that runs: its port and every attempt to log in, as (user, password)."""

    port: int = 0
    tried: list[tuple[str, str]] = field(default_factory=list)


@contextmanager
def ssh_server(keys: Sequence[asyncssh.SSHKey], host: str = "127.0.0.1", port: int = 0) -> Iterator[Running]:
    """Run a server with these host keys until the block ends."""
    running, ready, stop = Running(), Event(), asyncio.Event()
    loop = asyncio.new_event_loop()
    connections: list[asyncssh.SSHServerConnection] = []

    class Server(asyncssh.SSHServer):
        def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
            connections.append(conn)

        def begin_auth(self, username: str) -> bool:
            running.tried.append((username, ""))
            return True

        def password_auth_supported(self) -> bool:
            return True

        def validate_password(self, username: str, password: str) -> bool:
            running.tried.append((username, password))
            return True

    async def serve() -> None:
        async with asyncssh.listen(host, port, server_factory=Server, server_host_keys=list(keys)) as server:
            running.port = server.sockets[0].getsockname()[1]
            ready.set()
            await stop.wait()
            for one in connections:
                one.abort()
                await one.wait_closed()

    thread = Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(30)
        yield running
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(30)
        loop.close()
