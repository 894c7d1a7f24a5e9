"""An artifact directory to a Network: every switch's file, every server's folder, topology and cabling."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any, Generic, TypeVar

from ailb_gen.errors import ExpansionError, IntentError, JunosSyntaxError, Place, UsageError
from ailb_gen.hosts.model import Host, HostDefect, ServerProfile
from ailb_gen.hosts.read import read_hosts
from ailb_gen.junos.alike import AlikeReader
from ailb_gen.junos.groups import APPLY, inherited
from ailb_gen.junos.interface_ranges import expand_ranges
from ailb_gen.junos.reader import check_protection
from ailb_gen.junos.tree import Node, anew
from ailb_gen.layout import CABLING, SUFFIXES, SWITCHES, TOPOLOGY, is_left_over
from ailb_gen.network.fabric import Defect, Network
from ailb_gen.network.links import cables
from ailb_gen.network.model import Switch
from ailb_gen.network.records import NO_RECORDS, Records
from ailb_gen.network.switch import applied_groups, switch
from ailb_gen.network.topology import Topology, read_cabling, read_topology
from ailb_gen.paths import absent
from ailb_gen.textio import MAX_TABLE_BYTES, read_text

ROLES = ("leaf", "spine")
# The least and the most files that a process reads at a time, and how many times.
CHUNK, LARGE_CHUNK, CHUNKS = 8, 64, 16
NONE_KNOWN: Mapping[str, Any] = {}

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CableLists:
    """The lists of cables by file; `roles` and `defects` are those that they name.

    `merged` is what both say together, None where they do not have all cables, so that descriptions of ports count.
    With it the tables have their entries alone: a large fabric has hundreds of megabytes of cables.
    """

    tables: Mapping[str, Topology]
    roles: Mapping[str, str]
    defects: tuple[Defect, ...]
    merged: Topology | None = None


NO_LISTS = CableLists({}, {}, ())


class RecordsByFile(Mapping[str, Records]):
    """The entries of lists of cables by file; they are looked up when they are needed."""

    def __init__(self, lists: CableLists) -> None:
        self._tables = lists.tables

    def __getitem__(self, file: str) -> Records:
        return self._tables[file].records

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)


@dataclass(frozen=True, slots=True)
class Reading(Generic[T]):
    """A network, the lists of cables, and what `inspect` returned for every switch."""

    network: Network
    lists: CableLists
    inspected: dict[str, T]

    @property
    def records(self) -> Mapping[str, Records]:
        """The entries of topology and cabling by file."""
        return RecordsByFile(self.lists)


def network_of(root: Path) -> Network:
    """Read everything below `root` and look at nothing else in its trees. Raises UsageError as `read_network`."""
    return read_network(root, nothing).network


def nothing(written: Node, tree: Node) -> None:
    """Look at nothing; workers import it by its name."""


def read_network(
    root: Path,
    inspect: Callable[[Node, Node], T],
    executor: Executor | None = None,
    advance: Callable[[int], None] = lambda count: None,
    known: Mapping[str, tuple[Switch, T]] = NONE_KNOWN,
    profiles: Mapping[str, ServerProfile] = NONE_KNOWN,
    lists: CableLists | None = None,
) -> Reading[T]:
    """Read everything below `root`.

    `inspect` is called with every switch's tree, as written and with groups inherited, in a process of `executor` if
    there is one, so it must be possible to pickle it. `advance` is called with how many files were read. `known` are
    switches by file, with what `inspect` returned, whose files are not read again; nor are the folders of known
    `profiles`, and the `lists` of cables if they are given. Raises UsageError when `root` is no artifact directory; all
    other errors are defects of the network.
    """
    files, defects = switch_files(root)
    switches: dict[str, Switch] = {}
    inspected: dict[str, T] = {}
    unread = [file for file in files if file not in known]
    read = dict(zip(unread, _read_all(root, unread, inspect, executor, advance), strict=True))
    advance(len(files) - len(unread))
    for path in files:
        name, found = Path(path).stem, known.get(path) or read[path]
        if isinstance(found, Defect):
            defects.append(found)
        else:
            switches[name], inspected[name] = found
    hosts, host_defects = read_hosts(root, executor, profiles)
    lists = lists or read_lists(root)
    # Without a topology a leaf is what has IRBs: collected configurations come without one.
    roles = {
        name: role if (role := lists.roles.get(name)) in ROLES else "leaf" if "irb" in device.ports else "spine"
        for name, device in switches.items()
    }
    merged = lists.merged
    if merged is None:
        merged = replace(cables(switches, roles, lists.tables[TOPOLOGY], lists.tables[CABLING]), records=NO_RECORDS)
        if has_all_cables(lists.tables.values()):
            entries = {file: Topology(records=table.records) for file, table in lists.tables.items()}
            lists = replace(lists, tables=entries, merged=merged)
    whole = replace(merged, roles=roles, defects=(*lists.defects, *merged.defects))
    return Reading(assembled(switches, hosts, host_defects, whole, defects), lists, inspected)


def has_all_cables(tables: Collection[Topology]) -> bool:
    """Return whether lists of cables have both links and attachments, so that descriptions of ports do not count."""
    return any(table.links for table in tables) and any(table.attachments for table in tables)


def read_lists(root: Path) -> CableLists:
    """Read topology and cabling."""
    topology, cabling = optional(root, TOPOLOGY, read_topology), optional(root, CABLING, read_cabling)
    return CableLists({TOPOLOGY: topology, CABLING: cabling}, topology.roles, (*topology.defects, *cabling.defects))


def assembled(
    switches: Mapping[str, Switch],
    hosts: Mapping[str, Host],
    host_defects: Iterable[HostDefect],
    cables: Topology,
    defects: Iterable[Defect],
) -> Network:
    """Put a network together; its defects are those of switches, of servers and of cables."""
    unusable = (Defect("host-folder", defect.folder, defect.reason, defect.place) for defect in host_defects)
    return Network(
        switches=switches,
        hosts=hosts,
        roles=cables.roles,
        links=cables.links,
        attachments={(cable.b.device, cable.b.port): cable.a for cable in cables.attachments},
        defects=(*defects, *unusable, *cables.defects),
        attachment_bps={cable.a: cable.speed_bps for cable in cables.attachments if cable.speed_bps},
        rails=cables.rails,
    )


def switch_count(root: Path) -> int:
    """Return how many switch files there are below `root`. Raises UsageError like `read_network`."""
    return len(switch_files(root)[0])


def switch_files(root: Path) -> tuple[list[str], list[Defect]]:
    """List the switch files, one per name, in order."""
    folder = root / SWITCHES
    try:
        if reason := absent(root, "directory"):
            raise UsageError(f"{root}: {reason}; name the directory that 'ailb-gen generate -o DIR' wrote")
        if not folder.is_dir():
            raise UsageError(
                f"{root}: there is no {SWITCHES}/ in it; name the directory that 'ailb-gen generate -o DIR' wrote"
            )
        entries = sorted(path.name for path in folder.iterdir())
    except OSError as error:
        raise UsageError(f"{root}: cannot be read: {error.strerror}") from error
    files: dict[str, str] = {}
    defects = []
    for entry in entries:
        stem, suffix = Path(entry).stem, Path(entry).suffix
        place = Place(f"{SWITCHES}/{entry}")
        if suffix not in SUFFIXES:
            if is_left_over(entry):
                continue
            defects.append(
                Defect("stray-file", entry, f"not a switch's file; those end in {' or '.join(SUFFIXES)}", place)
            )
        elif stem in files:
            message = f"{files[stem]} describes the same switch; only that one was read; delete the stale one"
            defects.append(Defect("stray-file", stem, message, place))
        else:
            files[stem] = f"{SWITCHES}/{entry}"
    return list(files.values()), defects


def _read_all(
    root: Path,
    files: list[str],
    inspect: Callable[[Node, Node], T],
    executor: Executor | None,
    advance: Callable[[int], None],
) -> Iterator[tuple[Switch, T] | Defect]:
    # A chunk has a reader of its own in a process: the more files it has, the more are alike.
    size = min(max(len(files) // CHUNKS, CHUNK), LARGE_CHUNK)
    chunks = [files[start : start + size] for start in range(0, len(files), size)]
    work = partial(_read_chunk, root, inspect)
    done: Iterable[list[tuple[Switch, T] | Defect]] = (
        map(work, chunks, repeat(AlikeReader())) if executor is None else executor.map(work, chunks)
    )
    for results in done:
        advance(len(results))
        yield from results


def _read_chunk(
    root: Path, inspect: Callable[[Node, Node], T], files: list[str], reader: AlikeReader | None = None
) -> list[tuple[Switch, T] | Defect]:
    reader = reader or AlikeReader()
    return [read_switch(root, file, inspect, reader) for file in files]


def read_switch(
    root: Path, file: str, inspect: Callable[[Node, Node], T], reader: AlikeReader
) -> tuple[Switch, T] | Defect:
    """Return a switch and what `inspect`, as that of `read_network`, finds in it, or why its file cannot be read."""
    name = Path(file).stem
    try:
        text = read_text(root / file, file, "utf-8")
        written, alike = reader.read(text, file)
        check_protection(text, file)
        tree = inherited(written)
        acting = expand_ranges(written, tree)
    except IntentError as error:
        problem = error.problems[0]
        return Defect("unreadable", name, problem.reason, problem.place)
    except JunosSyntaxError as error:
        place = Place(file, error.line, error.column)
        return Defect("unreadable", name, f"not Junos text: {error.reason}", place)
    except ExpansionError as error:
        return Defect("unreadable", name, f"{error.what}: {error.reason}", Place(file, error.line))
    if not written.children:
        return Defect("unreadable", name, "there is no statement in it", Place(file))
    found = switch(name, file, acting, alike.reuse if acting is written else anew)
    # Few files have the word, and the whole tree must be walked for it.
    if APPLY in text:
        found = replace(found, unknown_groups=applied_groups(tree))
    return found, inspect(written, tree)


def optional(root: Path, file: str, parse: Callable[[str], Topology]) -> Topology:
    """Read `topology.json` or `cabling.csv`; what cannot be read is a defect."""
    try:
        return parse(read_text(root / file, file, most=MAX_TABLE_BYTES))
    except IntentError as error:
        problem = error.problems[0]
        return Topology(defects=(Defect("unreadable", file, problem.reason, problem.place),))
