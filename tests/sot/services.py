"""Real services for the tests of sources of truth: installed and migrated once, started when a test asks for one.

A test takes the fixture `netbox` (tests/sot/conftest.py) and gets a `Running`: `url`, `token`, tokens with fewer
rights, and `reset()`. It has the service alone until its module ends, and finds the database as after installation.

Without pytest, `python -m tests.sot netbox` starts it, prints its address and token, and ends it at Ctrl-C; tests of
the same checkout that begin meanwhile use this one, and start in no time.

Below build/services, or the folder that AILB_SERVICES names, are kept, for each set of versions: a virtual environment
with the service, and a PostgreSQL cluster after all migrations. A start copies the cluster to a temporary directory.

Whoever uses a service holds a shared lock on a file. The process that started it, the keeper, ends it when nobody holds
the lock any more: a test that dies lets go of its lock, however it dies. What the keeper starts dies with the keeper.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from urllib.error import HTTPError, URLError

from tests.ports import free_ports

ROOT = Path(__file__).parent.parent.parent
BUILD = ROOT / "build" / "services"
CACHE = Path(os.environ.get("AILB_SERVICES", BUILD))
# A first start installs and migrates, perhaps while other tests use both processors.
PATIENCE_S = 840
# How long a service has to answer its first request.
START_S = 180
# No durability: a machine that crashes ends the tests as well.
POSTGRES = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "wal_level=minimal", "max_wal_senders=0",
            "autovacuum=off", "listen_addresses=", "max_connections=60", "max_wal_size=4GB")  # fmt: skip
# Settings that both services have, as Django applications.
DJANGO = """\
ALLOWED_HOSTS = ["127.0.0.1", "localhost"]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "service",
        "USER": "ailb",
        "HOST": %(folder)r,
        "CONN_MAX_AGE": 300,
        # Tests replace the database.
        "CONN_HEALTH_CHECKS": True,
    }
}
SECRET_KEY = "0123456789" * 5
"""


class ServiceError(Exception):
    """A service cannot run on this machine; the text says why."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A service: what is installed, for which Python, and how it is set up and run.

    `write` makes its configuration files, in `Instance.folder`. `migrate` are programs that fill an empty database,
    `serve` is the program that answers requests at `Instance.port`; both run with what `environment` returns.
    `version` of the recipe: a change makes new databases. `tokens` are those that `migrate` creates, by name.
    """

    name: str
    packages: tuple[str, ...]
    pythons: tuple[str, ...]
    version: int
    write: Callable[[Instance], None]
    environment: Callable[[Instance], Mapping[str, str]]
    migrate: Callable[[Instance], tuple[tuple[str, ...], ...]]
    serve: Callable[[Instance], tuple[str, ...]]
    probe: str
    tokens: Mapping[str, str]

    @property
    def key(self) -> str:
        """The name of what is kept for these versions."""
        return f"{self.name}-{sha256(repr((self.packages, self.version)).encode()).hexdigest()[:12]}"


@dataclass(slots=True)
class Instance:
    """A service in a temporary directory, with a PostgreSQL and a Redis of its own."""

    kind: Kind
    folder: Path
    port: int
    redis_port: int
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def venv(self) -> Path:
        """Where the service is installed."""
        return CACHE / self.kind.key / "venv"

    def spawn(self, *command: str, environment: Mapping[str, str] | None = None, user: str | None = None) -> None:
        """Start a program that dies with this process; it prints to the log."""
        with (self.folder / "log").open("ab") as log:
            self.processes.append(
                subprocess.Popen(
                    (*as_user(user), *command),
                    env=dict(environment) if environment is not None else None,
                    cwd=self.folder,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
            )

    def run(self, *command: str, environment: Mapping[str, str] | None = None, user: str | None = None) -> None:
        """Run a program to its end in the folder. Raises ServiceError with what it printed last."""
        run(self.folder, *as_user(user), *command, environment=environment)

    def start_databases(self) -> None:
        """Start PostgreSQL on the cluster in the folder, and Redis."""
        options = [word for option in POSTGRES for word in ("-c", option)]
        self.spawn(
            postgres_program("postgres"), "-D", str(self.folder / "cluster"), "-k", str(self.folder), *options,
            user=postgres_user(),
        )  # fmt: skip
        self.spawn(
            need("redis-server"), "--port", str(self.redis_port), "--bind", "127.0.0.1", "--save", "", "--appendonly",
            "no",
        )  # fmt: skip
        wait_for(lambda: answers(self.redis_port) and self.accepts(), "PostgreSQL and Redis", self)

    def accepts(self) -> bool:
        """Whether PostgreSQL takes connections."""
        ready = (postgres_program("pg_isready"), "-q", "-h", str(self.folder))
        return subprocess.run(ready, check=False).returncode == 0

    def stop(self) -> None:
        """End all processes, the last one first, and wait for them. SIGINT is PostgreSQL's fast shutdown."""
        for process in reversed(self.processes):
            process.send_signal(signal.SIGINT)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes.clear()


@dataclass(frozen=True, slots=True)
class Running:
    """A service that answers at `url`; `token` may do everything.

    `tokens` holds tokens by name: `read-only` may not write, `no-rights` is of a user without permissions, and `v1` is
    of the old kind. `log` is what the service printed.
    """

    url: str
    token: str
    tokens: Mapping[str, str]
    folder: Path
    redis_port: int
    name: str

    @property
    def log(self) -> str:
        """All that the service printed."""
        return (self.folder / "log").read_text(errors="replace")

    def reset(self) -> None:
        """Put the database back to how it was after installation; takes half a second."""
        sql(
            self.folder,
            "DROP DATABASE IF EXISTS service WITH (FORCE)",
            "CREATE DATABASE service TEMPLATE pristine STRATEGY FILE_COPY",
        )
        with socket.create_connection(("127.0.0.1", self.redis_port), 10) as redis:
            redis.sendall(b"FLUSHALL\r\n")
            redis.recv(100)


def run(folder: Path, *command: str, environment: Mapping[str, str] | None = None) -> None:
    """Run a program to its end in a folder. Raises ServiceError with what it printed last."""
    done = subprocess.run(
        command,
        env=dict(environment) if environment is not None else None,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        said = (done.stdout + done.stderr).decode(errors="replace")[-2000:]
        raise ServiceError(f"{' '.join(command)[:200]} failed with {done.returncode}:\n{said}")


def sql(folder: Path, *statements: str) -> None:
    """Run statements, each by itself, on the cluster whose socket is in a folder. Raises ServiceError."""
    words = [word for statement in statements for word in ("-c", statement)]
    options = ("-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", str(folder), "-U", "ailb", "-d", "postgres")
    run(folder, postgres_program("psql"), *options, *words)


def need(program: str) -> str:
    """Return the path of a program. Raises ServiceError."""
    found = shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if found is None:
        raise ServiceError(f"the program {program} is not installed")
    return found


def postgres_program(name: str) -> str:
    """Return a program of PostgreSQL, the newest installed; Debian has some outside of PATH."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    return str(versions[-1] / name) if versions and (versions[-1] / name).exists() else need(name)


def postgres_user() -> str | None:
    """Return the user of PostgreSQL, which refuses to be root's; None for ourselves."""
    return "postgres" if os.geteuid() == 0 else None


def as_user(user: str | None) -> tuple[str, ...]:
    """Return the words before a command that make it die with us, and run as a user."""
    change = ("--reuid", user, "--regid", user, "--clear-groups") if user else ()
    return (need("setpriv"), *change, "--pdeathsig", "INT")


def python(names: tuple[str, ...]) -> str:
    """Return a Python of one of these versions, on PATH or pyenv's. Raises ServiceError."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for name in names:
        for found in (shutil.which(f"python{name}"), *sorted(pyenv.glob(f"{name}.*/bin/python"))):
            # A shim of pyenv exists for versions that are not chosen, and fails.
            if found and subprocess.run((found, "-c", ""), capture_output=True, check=False).returncode == 0:
                return str(found)
    raise ServiceError(f"Python {' or '.join(names)} is neither on PATH nor in {pyenv}")


def answers(port: int) -> bool:
    """Whether somebody accepts connections at a port."""
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def wait_for(ready: Callable[[], bool], name: str, instance: Instance) -> None:
    """Wait until something is ready. Raises ServiceError if a process of the instance ends before."""
    end = time.monotonic() + START_S
    while not ready():
        if time.monotonic() > end or any(process.poll() is not None for process in instance.processes):
            raise ServiceError(
                f"{name} did not start:\n{(instance.folder / 'log').read_text(errors='replace')[-3000:]}"
            )
        time.sleep(0.1)


@contextmanager
def locked(path: Path, how: int = fcntl.LOCK_EX) -> Iterator[None]:
    """Hold a lock on a file; the system lets go of it if we die."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        fcntl.flock(file, how)
        yield


def install(kind: Kind) -> None:
    """Make the virtual environment of a service and its migrated database, once. Raises ServiceError."""
    home = CACHE / kind.key
    with locked(CACHE / f"{kind.key}.lock"):
        if not (home / "installed").exists():
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir(parents=True)
            with temporary(kind) as instance:
                instance.run(python(kind.pythons), "-m", "venv", str(instance.venv))
                pip = ("-m", "pip", "install", "-q", "--disable-pip-version-check", *kind.packages)
                instance.run(str(instance.venv / "bin" / "python"), *pip)
            (home / "installed").touch()
        if not (home / "migrated").exists():
            shutil.rmtree(home / "cluster", ignore_errors=True)
            with temporary(kind) as instance:
                migrate(instance)
                copy(instance.folder / "cluster", home / "cluster")
            (home / "migrated").touch()


def copy(cluster: Path, to: Path) -> None:
    """Copy a cluster with its owner and rights."""
    subprocess.run(("cp", "-a", "--reflink=auto", str(cluster), str(to)), check=True)


def migrate(instance: Instance) -> None:
    """Make a cluster, and in it the databases `pristine` and `service`, both as after installation."""
    cluster = instance.folder / "cluster"
    cluster.mkdir()
    if user := postgres_user():
        shutil.chown(cluster, user, user)
    instance.run(
        postgres_program("initdb"), "-D", str(cluster), "-U", "ailb", "-A", "trust", "-E", "UTF8", "--locale=C",
        "--no-sync", user=postgres_user(),
    )  # fmt: skip
    instance.start_databases()
    sql(instance.folder, "CREATE DATABASE service")
    instance.kind.write(instance)
    for command in instance.kind.migrate(instance):
        instance.run(*command, environment=instance.kind.environment(instance))
    sql(instance.folder, "VACUUM", "CREATE DATABASE pristine TEMPLATE service", "CHECKPOINT")
    instance.stop()


@contextmanager
def temporary(kind: Kind) -> Iterator[Instance]:
    """Return an instance in a temporary directory that PostgreSQL's user can enter; ends and removes it."""
    folder = Path(tempfile.mkdtemp(prefix=f"ailb-{kind.name}-", dir="/tmp"))
    # PostgreSQL makes its socket in it.
    folder.chmod(0o777)
    first = free_ports(2)
    instance = Instance(kind, folder, first, first + 1)
    try:
        yield instance
    finally:
        instance.stop()
        shutil.rmtree(folder, ignore_errors=True)


def keep(kind: Kind, state: Path) -> None:
    """Run a service until nobody holds the lock `users` in the folder `state`. Raises ServiceError."""
    install(kind)
    with temporary(kind) as instance, (state / "users").open("a") as users:
        copy(CACHE / kind.key / "cluster", instance.folder / "cluster")
        instance.start_databases()
        kind.write(instance)
        instance.spawn(*kind.serve(instance), environment=kind.environment(instance))
        url = f"http://127.0.0.1:{instance.port}"
        wait_for(lambda: probe(f"{url}{kind.probe}", kind.tokens["all"]), kind.name, instance)
        known = {"url": url, "folder": str(instance.folder), "redis_port": instance.redis_port}
        (state / "ready").write_text(json.dumps(known))
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            if any(process.poll() is not None for process in instance.processes):
                break
            time.sleep(0.5)
        (state / "ready").unlink(missing_ok=True)


def probe(url: str, token: str) -> bool:
    """Whether a page can be had; anything but an answer that the server is not ready is an answer."""
    request = urllib.request.Request(url, headers={"Authorization": f"Token {token}"})
    try:
        urllib.request.urlopen(request, timeout=60).close()
    except HTTPError as error:
        error.close()
        return error.code < 500
    except (URLError, OSError):
        return False
    return True


@contextmanager
def service(kind: Kind) -> Iterator[Running]:
    """Use a service with others: start it if nobody did, and let it end after the last user. Raises ServiceError."""
    state = BUILD / f"run-{kind.name}"
    with ExitStack() as stack:
        stack.enter_context(locked(state / "users", fcntl.LOCK_SH))
        with locked(state / "start"):
            known = _known(kind, state) or _started(kind, state)
        yield known


@contextmanager
def alone(running: Running) -> Iterator[Running]:
    """Use a running service without others, from a database as after installation."""
    with locked(BUILD / f"run-{running.name}" / "alone"):
        running.reset()
        yield running


def _known(kind: Kind, state: Path) -> Running | None:
    """Return the service that runs, if one does; a keeper that was killed left its file behind."""
    if not (state / "ready").exists():
        return None
    known = json.loads((state / "ready").read_text())
    if not probe(f"{known['url']}{kind.probe}", kind.tokens["all"]):
        return None
    tokens = dict(kind.tokens)
    return Running(known["url"], tokens["all"], tokens, Path(known["folder"]), known["redis_port"], kind.name)


def _started(kind: Kind, state: Path) -> Running:
    """Start a keeper; return the service when it answers."""
    for name in ("ready", "failed"):
        (state / name).unlink(missing_ok=True)
    # In a session of its own, so that Ctrl-C in the terminal of the tests leaves it time to end what it started.
    command = (need("setsid"), "--fork", sys.executable, "-m", "tests.sot", "--keep", kind.name, str(state))
    with (state / "log").open("wb") as log:
        subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=True)
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if (state / "failed").exists():
            raise ServiceError((state / "failed").read_text())
        if known := _known(kind, state):
            return known
        time.sleep(0.2)
    raise ServiceError(f"{kind.name} did not start within {PATIENCE_S} s; see {state / 'log'}")
