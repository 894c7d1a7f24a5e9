"""The script on the host, and how it is called: as one text on the standard input of a shell.

The command on the host is always `sh -s`: no argument, no file and no secret shows in a list of processes or in
sudo's log. The call stands in braces, so that a text that was cut off is a syntax error, and nothing of it runs.
"""

import base64
import hashlib
import io
import shlex
import tarfile
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from stat import S_IMODE

from ailb_gen.deploy.servers.files import (
    RUN,
    FileChange,
    HostFile,
    HostState,
    HostStatus,
    Tree,
    fingerprint,
    listing,
    sections,
    status_of,
    unpack,
)
from ailb_gen.deploy.servers.ssh import SHORT_ANSWER, ScriptAnswer, ServerConnection
from ailb_gen.deploy.switch_driver import DeviceError, Phase, RequestRefusedError, UnknownOutcomeError
from ailb_gen.hosts.text import MAX_BYTES

PARTS = ("common", "runs", "network", "files", "probe", "verbs")
END = "AILB_END_OF_DATA"


@cache
def host_script() -> str:
    """Return the functions of the script, without a call."""
    folder = files("ailb_gen.deploy.servers") / "host"
    return "\n".join((folder / f"{part}.sh").read_text(encoding="utf-8") for part in PARTS)


def call(verb: str, *words: str, data: str = "") -> str:
    """Return the text that makes a host do something; `data` is what the verb reads from its standard input."""
    arguments = " ".join(map(shlex.quote, (verb, *words)))
    return f"{host_script()}\n{{\nmain {arguments} <<'{END}'\n{data.rstrip()}\n{END}\nexit\n}}\n"


def pack(tree: Mapping[str, HostFile]) -> tuple[str, str]:
    """Return the files of a run for `apply`, a tar archive in base64, and the digest of its list of files."""
    listing = "".join(f"{file.digest} {path}\n" for path, file in sorted(tree.items())).encode()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        _add(archive, "agent", f'{host_script()}\nmain "$@"\n'.encode(), 0o700)
        _add(archive, "wanted", listing, 0o600)
        for path, file in sorted(tree.items()):
            if file.is_link:
                member = tarfile.TarInfo(f"tree/{path}")
                member.type, member.linkname = tarfile.SYMTYPE, file.content.decode()
                archive.addfile(member)
            else:
                _add(archive, f"tree/{path}", file.content, S_IMODE(file.mode))
    return base64.encodebytes(buffer.getvalue()).decode(), hashlib.sha256(listing).hexdigest()


def _add(archive: tarfile.TarFile, name: str, content: bytes, mode: int) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), mode
    archive.addfile(member, io.BytesIO(content))


# Seconds for one answer. `netplan apply` and the services may take two minutes each, see attempt in network.sh.
LOOK_S, CHANGE_S = 60.0, 600.0
# Bytes of the longest answer to verbs that read files: a hundred times that of a large server.
MOST_BYTES: Mapping[str, int] = {"look": 8 << 20, "probe": 8 << 20}
# Bytes that the script sends of a file: one more than are accepted.
FILE_BYTES = str(MAX_BYTES + 1)
# The prefixes of the script's own errors, and of its warnings.
SAYS, WARNS = "ailb-stage: ", "warning: "
# Exit code of the script for what it refuses -> phase, and what to do. See common.sh. After any other code the host
# has to be queried for its state.
REFUSALS: Mapping[int, tuple[Phase, str]] = {
    10: (Phase.LOCK, "confirm or restore that run first"),
    11: (Phase.LOCK, "wait until it has ended, and try again"),
    12: (Phase.CONFIRM, "push again"),
    13: (Phase.COMMIT, "the old files are in place"),
    14: (Phase.CHECK, "nothing was changed"),
    15: (Phase.LOAD, "nothing was changed"),
}


def observe(server: ServerConnection, files: Tree) -> HostState:
    """Compare the files on a server with those that it is to have; changes nothing there. Raises DeviceError."""
    answer = ask(server, Phase.READ, LOOK_S, "look", FILE_BYTES, data="\n".join(files))
    parts = sections(server.name, answer, ("before", "files", "end"))
    return state_of(files, unpack(server.name, parts["files"]), listing(server.name, parts["before"]))


def state_of(files: Tree, found: Tree, before: Iterable[str]) -> HostState:
    """Compare the files found with those to have; `before` are the paths of what was put there."""
    changes = {path: _change(files.get(path), found.get(path)) for path in sorted({*files, *before})}
    return HostState(found, changes, fingerprint(found))


def _change(expected: HostFile | None, found: HostFile | None) -> FileChange:
    if expected == found:
        return FileChange.SAME
    if found is None:
        return FileChange.ADDED
    return FileChange.REMOVED if expected is None else FileChange.CHANGED


def apply(server: ServerConnection, files: Tree, run: str, minutes: float, always: bool = False) -> tuple[str, ...]:
    """Put the files in place and set the network to them; the host takes them back after `minutes`.

    `run` names what is done: letters, digits, dots and dashes, another one for every apply. With `always` the network
    is set again even when no file differs. Returns warnings. Raises RefusedError when the host is as it was before,
    UnknownOutcomeError when that is not known.
    """
    data, digest = pack(files)
    words = (str(max(1, round(minutes * 60))), digest, "always" if always else "changed")
    return _warnings(ask(server, Phase.COMMIT, CHANGE_S, "apply", _named(server, run), *words, data=data))


def confirm(server: ServerConnection, run: str) -> None:
    """Let the files of a run stay. Raises RefusedError when the host has restored the old ones."""
    ask(server, Phase.CONFIRM, CHANGE_S, "confirm", _named(server, run))


def restore(server: ServerConnection, run: str) -> tuple[str, ...]:
    """Bring back what was there before a run, pending or the last confirmed; a run that is on its way is forbidden.

    Returns warnings. Raises DeviceError.
    """
    return _warnings(ask(server, Phase.ROLLBACK, CHANGE_S, "restore", _named(server, run)))


def status(server: ServerConnection, run: str = "", wait_s: int = 60) -> HostStatus:
    """Ask for the state of the runs of a server; waits for a call that is under way, at most `wait_s` seconds."""
    words = (_named(server, run) if run else "-", str(wait_s))
    answer = ask(server, Phase.READ, LOOK_S + wait_s, "status", *words)
    return status_of(server.name, answer)


def _named(server: ServerConnection, run: str) -> str:
    if RUN.fullmatch(run) is None:
        raise DeviceError(server.name, Phase.LOAD, f"{run!r} cannot be the name of a run")
    return run


def ask(
    server: ServerConnection, phase: Phase, timeout_s: float, verb: str, *words: str, data: str = ""
) -> ScriptAnswer:
    """Call the script, and return its answer. Raises DeviceError."""
    answer = server.run(call(verb, *words, data=data), phase, timeout_s, MOST_BYTES.get(verb, SHORT_ANSWER))
    if answer.code == 0:
        return answer
    if answer.code in REFUSALS:
        failed, hint = REFUSALS[answer.code]
        raise RequestRefusedError(server.name, failed, _reason(answer), hint)
    hint = "the host tries again when the time of the run is over; its log is in /var/lib/ailb-gen/runs"
    raise UnknownOutcomeError(server.name, phase, _reason(answer), hint)


def _reason(answer: ScriptAnswer) -> str:
    lines = [line.removeprefix(SAYS) for line in answer.err.splitlines() if line.strip()]
    return "; ".join(lines)[-1000:] or f"the script on the host ended with {answer.code}"


def _warnings(answer: ScriptAnswer) -> tuple[str, ...]:
    return tuple(line.removeprefix(WARNS) for line in answer.err.splitlines() if line.startswith(WARNS))
