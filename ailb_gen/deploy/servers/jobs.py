"""What a job gets on a server: NCCL's plug-in, and variables that contradict its environment file.

Sources: NVIDIA's NCCL user guide (NCCL_NET_PLUGIN, the files /etc/nccl.conf and ~/.nccl.conf).
"""

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ailb_gen.checks import subjects as about
from ailb_gen.checks.model import Finding
from ailb_gen.deploy.servers.addresses import NicHardware
from ailb_gen.deploy.servers.files import DIGEST
from ailb_gen.deploy.switch_state import deviation
from ailb_gen.hosts.model import ServerProfile
from ailb_gen.intent.nccl import NcclNetwork, faults
from ailb_gen.layout import ENVIRONMENT
from ailb_gen.wording import counted, some

PLUGIN, SEARCH = "NCCL_NET_PLUGIN", "LD_LIBRARY_PATH"
# Values of NCCL_NET_PLUGIN with which NCCL loads none.
NO_PLUGIN = ("", "none")
WORD = re.compile(r"[\w.+/-]+", re.ASCII)
# A line of the probe: the file, the line in it, the variable and its value as written.
ASSIGNED = re.compile(r"(/[^:]{1,200}):([0-9]{1,9}):\s*(?:export\s+)?([A-Z][A-Z0-9_]{0,99})=(.*)")
# Letters of a value that is shown.
SHOWN = 80


@dataclass(frozen=True, slots=True)
class ExpectedJobs:
    """What jobs are to have: the plug-in's file name, where it is looked for, the variables, and the NICs.

    Without GPUs there are no variables; `library` is empty when they name no plug-in.
    """

    library: str = ""
    folders: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    network: NcclNetwork = field(default_factory=lambda: NcclNetwork((), None))

    @property
    def words(self) -> str:
        """The words of the query for the plug-in; folders that no shell takes as one word are left out."""
        return f"{self.library} {':'.join(self.folders)}".rstrip()


def expected_jobs(profile: ServerProfile) -> ExpectedJobs:
    """Return what jobs are to have by the files of a server."""
    environment = {one.key: str(one.value) for one in profile.environment if one.key}
    # `${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}/usr/local/lib`
    folders = [one for one in environment.pop(SEARCH, "").rpartition("}")[2].split(":") if WORD.fullmatch(one)]
    plugin = environment.get(PLUGIN, "")
    folder, _, library = plugin.rpartition("/")
    if not library.endswith(".so"):
        library = f"libnccl-net-{library}.so"
    if plugin.lower() in NO_PLUGIN or WORD.fullmatch(plugin) is None:
        library = ""
    nics = profile.host_nics
    network = NcclNetwork([nic.rdma for nic in nics], None, [nic.name for nic in nics])
    return ExpectedJobs(library, (folder,) if folder else tuple(folders), environment, network)


@dataclass(frozen=True, slots=True)
class PlugIn:
    """NCCL's plug-in on a server: its path and SHA-256, empty when it is not there, and what it lacks.

    `missing` are the libraries that its loader does not find. `rdma_devices` is the number of the server's devices,
    None where nothing was asked.
    """

    path: str = ""
    digest: str = ""
    missing: tuple[str, ...] = ()
    rdma_devices: int | None = None


@dataclass(frozen=True, slots=True)
class Assignment:
    """A variable that a file of the host sets for everybody, or for root."""

    file: str
    line: int
    variable: str
    value: str


def read_plug_in(lines: Iterable[str]) -> PlugIn:
    """Read the lines `KEY VALUE` of the probe. Raises ValueError."""
    rows = [line.partition(" ")[::2] for line in lines]
    if not rows:
        return PlugIn()
    values = {key: value for key, value in rows if key != "missing"}
    digest, devices = values.get("digest", ""), values.get("rdma", "")
    if (digest and DIGEST.fullmatch(digest) is None) or not (devices.isdecimal() and len(devices) < 6):
        raise ValueError("not the description of a plug-in")
    missing = tuple(value[:SHOWN] for key, value in rows if key == "missing")
    return PlugIn(values.get("path", "")[:200], digest, missing, int(devices))


def read_assignments(lines: Iterable[str]) -> tuple[Assignment, ...]:
    """Read the lines `FILE:LINE:NAME=VALUE` of the probe; other lines are none of a shell's assignments."""
    found = map(ASSIGNED.fullmatch, lines)
    return tuple(Assignment(one[1], int(one[2]), one[3], _value(one[4])) for one in found if one is not None)


def _value(text: str) -> str:
    try:
        words = shlex.split(text[:SHOWN], comments=True)
    except ValueError:
        return text[:SHOWN]
    return words[0] if words else ""


def contradictions(name: str, expected: ExpectedJobs, observed: Iterable[Assignment]) -> Iterator[Finding]:
    """Yield the variables of other files that contradict the environment file, or that do not work."""
    if not expected.environment:
        return
    for one in observed:
        here, own = f"{one.file}:{one.line}: {one.variable}={one.value}", expected.environment.get(one.variable)
        if own == one.value:
            continue
        why, remedy = faults({one.variable: one.value}, expected.network).get(one.variable, ("", ""))
        if own is not None:
            reason = f"{here} contradicts /{ENVIRONMENT}, which has {own}; remove the line"
        elif why:
            reason = f"{here}: {why}; write {remedy}"
        else:
            continue
        yield deviation(name, "environment", reason, about.file(one.file.lstrip("/")))


def plug_in(name: str, expected: ExpectedJobs, observed: PlugIn) -> Iterator[Finding]:
    """Yield why jobs cannot load the plug-in; of a server without RDMA devices only what is wrong with its file."""
    if not expected.library:
        return
    if not observed.path:
        if observed.rdma_devices:
            yield deviation(name, "plug-in", _absent(expected))
        return
    for library in observed.missing:
        reason = f"{observed.path} cannot be loaded: {library} is missing; install it, and run: ldconfig"
        yield deviation(name, "plug-in", reason)


def _absent(expected: ExpectedJobs) -> str:
    where = f"in {' or '.join(expected.folders)}" if expected.folders else "where libraries are"
    return f"{expected.library} is not {where}, and NCCL uses no plug-in: one color carries all; install it"


def unlike(expected: Mapping[str, ExpectedJobs], observed: Mapping[str, PlugIn]) -> Iterator[Finding]:
    """Yield the servers whose plug-in is not the one that most servers have; of equal numbers the first one counts."""
    for library in sorted({one.library for one in expected.values()} - {""}):
        found = {name: one for name, one in sorted(observed.items()) if expected[name].library == library}
        count = Counter(one.digest for one in found.values() if one.digest)
        if not count:
            continue
        usual, number = count.most_common(1)[0]
        for name, one in found.items():
            if not one.path and not one.rdma_devices:
                yield deviation(name, "plug-in", _absent(expected[name]))
            elif one.path and one.digest != usual:
                same = f"that of {counted(number, 'other server')} is {usual[:12]}"
                reason = f"{one.path} is another file (SHA-256 {one.digest[:12]}, {same}); install the same version"
                yield deviation(name, "plug-in", reason)


def hardware_figures(observed: Mapping[str, Mapping[str, NicHardware]]) -> tuple[tuple[str, str], ...]:
    """Return the firmware versions of NICs by driver, the most frequent first, the others with their NICs."""
    versions: dict[str, dict[str, list[str]]] = {}
    for name, nics in sorted(observed.items()):
        for nic, one in nics.items():
            if one.driver and one.firmware:
                versions.setdefault(one.driver, {}).setdefault(one.firmware, []).append(f"{name}:{nic}")
    rows = []
    for driver, found in sorted(versions.items()):
        (usual, most), *others = sorted(found.items(), key=lambda row: -len(row[1]))
        texts = [f"{usual} on {counted(len(most), 'NIC')}", *(f"{one} on {some(nics)}" for one, nics in others)]
        rows.append((f"firmware of {driver}", "; ".join(texts)))
    return tuple(rows)
