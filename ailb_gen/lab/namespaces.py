"""Namespaces of a lab: private to its processes, so that the kernel frees everything when the first of them ends.

The lab has mount, process-ID and network namespaces of its own and, without root, a user namespace. Its devices'
network namespaces are mounted in a /run of its own; a process that joins the lab finds it by `run_directory`, and keeps
the machine's files for what its user reads and writes. A socket stays in the network namespace that it was made in:
what the lab listens on for others is opened before. See namespaces(7), user_namespaces(7).
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path
from typing import Any

from ailb_gen.errors import LabError
from ailb_gen.lab import run_directory
from ailb_gen.programs import program, search_path

# From linux/sched.h, linux/mount.h and linux/prctl.h.
NEW_MOUNTS, NEW_USERS, NEW_PROCESSES, NEW_NETWORK = 0x00020000, 0x10000000, 0x20000000, 0x40000000
KINDS = (("pid", NEW_PROCESSES), ("net", NEW_NETWORK))
RECURSIVE, PRIVATE, SLAVE = 0x4000, 1 << 18, 1 << 19
NO_SETUID, NO_DEVICES, NO_PROGRAMS = 2, 4, 8
SIGNAL_OF_PARENT = 1
# SI_USER of asm-generic/siginfo.h: kill(2) sent the signal, not the terminal.
FROM_PROCESS = 0
# How long a program that sets something up, or answers a question, may take. Seconds.
PATIENCE_S = 60.0
# Signals that end a lab.
ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)

# setsockopt(2) of raw sockets: RFC 3542, 3.2; a bit that is set blocks the type.
ICMP6_FILTER = 1
# SO_RCVBUFFORCE of asm-generic/socket.h.
RECEIVE_BUFFER_FORCE = 33
# The package of every program. Those that are not always needed are for some verbs.
PACKAGES = {
    "bird": "bird2",
    "ip": "iproute2",
    "nft": "nftables",
    "netplan": "netplan.io",
    "sshd": "openssh-server",
    "unshare": "util-linux",
    "nsenter": "util-linux",
}
ALWAYS = ("bird", "ip")


@cache
def _libc() -> Any:  # noqa: ANN401 - the type of a library that is loaded at run time
    return ctypes.CDLL(None, use_errno=True)


def _call(what: str, name: str, *arguments: object) -> None:
    if getattr(_libc(), name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise LabError(f"{what}: {os.strerror(number)}")


def _mount(kind: str, target: str, flags: int = 0, options: str = "") -> None:
    words = (kind.encode(), target.encode(), kind.encode(), flags, options.encode())
    _call(f"cannot mount {kind} on {target}", "mount", *words)


def set_propagation(flags: int) -> None:
    """Choose whether mounts of this mount namespace reach others: PRIVATE or SLAVE. Raises LabError."""
    _call("cannot make the mounts private", "mount", None, b"/", None, RECURSIVE | flags, None)


def isolate() -> int:
    """Continue as the first process of new namespaces, with an empty /run; return its number on the host.

    Must be called before there are threads. The calling process waits for the new one, passes on the signals that end
    it, and exits with its code. Raises LabError.
    """
    user, group = os.getuid(), os.getgid()
    kinds = NEW_MOUNTS | NEW_PROCESSES | NEW_NETWORK | (NEW_USERS if user else 0)
    hint = "" if not user else "; user namespaces must be allowed (kernel.unprivileged_userns_clone), or run it as root"
    if _libc().unshare(kinds) != 0:
        raise LabError(f"cannot make namespaces: {os.strerror(ctypes.get_errno())}{hint}")
    if user:
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1", encoding="ascii")
    parent = os.getpid()
    _continue_in_child(alone=True)
    if Path("/proc/self/stat").read_text(encoding="ascii").split()[3] != str(parent):
        os._exit(1)
    # As the mounted /proc, the host's, knows it.
    number = int(Path("/proc/self").readlink().name)
    set_propagation(PRIVATE)
    _mount("proc", "/proc", NO_SETUID | NO_DEVICES | NO_PROGRAMS)
    _mount("tmpfs", "/run", NO_DEVICES, "mode=755")
    namespace("").mkdir()
    batch(["link set lo up"])
    return number


def end_with_parent() -> None:
    """Let the kernel end this process when the one that started it ends."""
    _libc().prctl(SIGNAL_OF_PARENT, signal.SIGKILL)


def _continue_in_child(alone: bool) -> None:
    """Continue in a new process, which ends with this one; this one leaves with its exit code.

    This one passes on signals that the terminal has not sent to both. `alone`: open files are the child's alone.
    """
    passed = {*ENDING, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, passed)
    child = os.fork()
    if not child:
        end_with_parent()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, passed)
        return
    if alone:
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(nothing, descriptor)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    while True:
        caught = signal.sigwaitinfo(passed)
        if caught.si_signo != signal.SIGCHLD:
            if caught.si_code == FROM_PROCESS:
                os.kill(child, caught.si_signo)
            continue
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            os._exit(exit_code(status))


def exit_code(status: int) -> int:
    """Return the exit code of a process by what `waitpid` says, as a shell gives it."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def join(process: int) -> None:
    """Continue as a process of a running lab, which ends with it; `process` is the number of its first one.

    Files stay those of the machine; the lab's /run is found by `run_directory`. Must be called before there are
    threads. The calling process waits for the new one and exits with its code. Raises LabError.
    """
    files = []
    try:
        if Path(f"/proc/{process}/ns/user").readlink() != Path("/proc/self/ns/user").readlink():
            files.append((os.open(f"/proc/{process}/ns/user", os.O_RDONLY), NEW_USERS))
        files += [(os.open(f"/proc/{process}/ns/{kind}", os.O_RDONLY), flag) for kind, flag in KINDS]
        run_directory.open_root(Path(f"/proc/{process}/root"))
    except OSError as error:
        raise LabError(
            f"the lab's process {process} cannot be reached: {error.strerror}; is it another user's?"
        ) from error
    for file, flag in files:
        _call(f"cannot enter the namespaces of process {process}", "setns", file, flag)
        os.close(file)
    _continue_in_child(alone=False)


def see_files(process: int) -> None:
    """See the files of a lab that was joined from now on, in the same directory if the lab has it. Raises LabError.

    Must be called while there are no threads.
    """
    here = Path.cwd()
    try:
        file = os.open(f"/proc/{process}/ns/mnt", os.O_RDONLY)
    except OSError as error:
        raise LabError(f"the lab's process {process} cannot be reached: {error.strerror}") from error
    _call(f"cannot see the files of process {process}", "setns", file, NEW_MOUNTS)
    os.close(file)
    run_directory.take(str(run_directory.RUN))
    # Entering a mount namespace changes to its root directory.
    with suppress(OSError):
        os.chdir(here)


def end_by_signals() -> None:
    """Let signals that end a process raise SystemExit, so that it can tidy up; a second one does nothing."""

    def end(number: int, _: object) -> None:
        for other in ENDING:
            signal.signal(other, signal.SIG_IGN)
        sys.exit(128 + number)

    for number in ENDING:
        signal.signal(number, end)


def namespace(name: str) -> Path:
    """Return the file of the network namespace of a device."""
    return run_directory.here("netns") / name


def add(names: Iterable[str]) -> None:
    """Make network namespaces, each with `lo` up. Raises LabError."""
    made = list(names)
    batch([f"netns add {name}" for name in made])
    for name in made:
        batch(["link set lo up"], name)


@contextmanager
def inside(name: str) -> Iterator[None]:
    """Put this thread into a network namespace; sockets made there stay there. Raises LabError."""
    back = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        _enter(name)
        yield
    finally:
        _call("cannot leave a network namespace", "setns", back, NEW_NETWORK)
        os.close(back)


def _enter(name: str) -> None:
    try:
        with namespace(name).open("rb", buffering=0) as there:
            _call(f"cannot enter the network namespace of {name}", "setns", there.fileno(), NEW_NETWORK)
    except OSError as error:
        raise LabError(f"there is no namespace of {name}: {error.strerror}") from error


def require(names: Iterable[str] = ALWAYS) -> None:
    """Raise LabError for programs that are not installed, with the command that installs them."""
    absent = [name for name in names if program(name) is None]
    if absent:
        packages = " ".join(PACKAGES[name] for name in absent)
        raise LabError(f"not installed: {', '.join(absent)}; install with: sudo apt install {packages}")


def located(name: str) -> str:
    """Return the path by which a program is started. Raises LabError if it is not installed."""
    found = program(name)
    if found is None:
        hint = f"; install with: sudo apt install {PACKAGES[name]}" if name in PACKAGES else ""
        raise LabError(f"not installed: {name}{hint}")
    return found


def environment() -> dict[str, str]:
    """Return the environment of programs of a lab: they find the others that only root's PATH leads to."""
    return {**os.environ, "PATH": search_path()}


def spawn(name: str, words: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401 - as Popen's
    """Start a program in a network namespace; it ends with the lab. Raises LabError.

    Options are those of Popen; files that they do not name are /dev/null, so that no pipe stays open.
    """
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **options}
    words = (located(words[0]), *words[1:])
    try:
        with inside(name):
            return subprocess.Popen(words, env=environment(), **options)
    except OSError as error:
        raise LabError(f"{words[0]} cannot be started: {error.strerror}") from error


def output(name: str, words: Sequence[str], stdin: str | None = None) -> str:
    """Run a program to its end, in a network namespace if one is named, and return its output. Raises LabError."""
    argv = (located(words[0]), *words[1:])
    try:
        with inside(name) if name else nullcontext():
            done = subprocess.run(
                argv, input=stdin, capture_output=True, text=True, check=False, timeout=PATIENCE_S, env=environment()
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LabError(f"{' '.join(words)}: {error}") from error
    if done.returncode:
        where = f" in {name}" if name else ""
        raise LabError(f"{' '.join(words)}{where}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def batch(commands: Sequence[str], name: str = "", family: str = "") -> None:
    """Run commands of `ip` in one process, in a network namespace if one is named; `family` is -6 or nothing.

    Raises LabError with the line that failed.
    """
    if not commands:
        return
    try:
        output(name, ("ip", *filter(None, [family]), "-batch", "-"), "\n".join(commands) + "\n")
    except LabError as error:
        text = str(error)
        line = text.rpartition("Command failed -:")[2].strip()
        failed = commands[int(line) - 1] if line.isdigit() and int(line) <= len(commands) else ""
        raise LabError(f"{text}{f' ({failed})' if failed else ''}") from error


def write_sysctl(name: str, values: Mapping[str, object]) -> None:
    """Set kernel parameters of a network namespace, by names as `net.ipv6.conf.all.forwarding`. Raises LabError.

    A name of an interface may have dots if the parameter is written with slashes, as sysctl(8) allows.
    """
    with inside(name):
        for key, value in values.items():
            path = Path("/proc/sys") / (key if "/" in key else key.replace(".", "/"))
            try:
                path.write_text(f"{value}\n", encoding="ascii")
            except OSError as error:
                raise LabError(f"{name}: {key} = {value} cannot be set: {error.strerror}") from error


def open_socket(name: str, family: int, kind: int, protocol: int = 0) -> socket.socket:
    """Open a socket in the namespace of a device. Raises LabError."""
    with inside(name):
        try:
            return socket.socket(family, kind, protocol)
        except OSError as error:
            raise LabError(f"{name}: a socket cannot be opened: {error.strerror}") from error


def icmp6_socket(name: str, types: Iterable[int] = ()) -> socket.socket:
    """Open a raw socket that receives some types of ICMPv6 messages. Raises LabError."""
    made = open_socket(name, socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
    blocked = [0xFFFFFFFF] * 8
    for number in types:
        blocked[number // 32] &= ~(1 << number % 32)
    made.setsockopt(socket.IPPROTO_ICMPV6, ICMP6_FILTER, struct.pack("@8I", *blocked))
    return made


def widen(receiving: socket.socket, size: int) -> None:
    """Give a socket room for a burst; without the right to force it, as much as the system allows."""
    try:
        receiving.setsockopt(socket.SOL_SOCKET, RECEIVE_BUFFER_FORCE, size)
    except PermissionError:
        receiving.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
