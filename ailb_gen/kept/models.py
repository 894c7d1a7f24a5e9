"""What a run read, kept as pickled models: reading JSON of as much takes longer than reading the files.

Only classes of models are looked up when they are read back, so that nothing is executed but their constructors.
"""

from __future__ import annotations

import copyreg
import io
import pickle
from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from operator import attrgetter
from types import NoneType
from typing import Any, TypeGuard

import ailb_gen.addresses
import ailb_gen.errors
import ailb_gen.hosts.model
import ailb_gen.junos.check_result
import ailb_gen.network.cos
import ailb_gen.network.fabric
import ailb_gen.network.filters
import ailb_gen.network.model
import ailb_gen.network.policy
import ailb_gen.network.records
import ailb_gen.network.topology
from ailb_gen.checks.before import FabricFacts
from ailb_gen.hosts.model import ServerProfile
from ailb_gen.junos.check_result import CheckResult
from ailb_gen.kept.inputs import TreeEntry
from ailb_gen.kept.run_json import DAMAGED
from ailb_gen.layout import CABLING, TOPOLOGY
from ailb_gen.network.model import Switch
from ailb_gen.network.read import CableLists
from ailb_gen.network.topology import Topology

MODULES = (
    ailb_gen.addresses,
    ailb_gen.errors,
    ailb_gen.hosts.model,
    ailb_gen.junos.check_result,
    ailb_gen.network.cos,
    ailb_gen.network.fabric,
    ailb_gen.network.filters,
    ailb_gen.network.model,
    ailb_gen.network.policy,
    ailb_gen.network.records,
    ailb_gen.network.topology,
)


# What the unpickler and the constructors of models raise for bytes that `encode` did not write.
UNREADABLE = (*DAMAGED, pickle.UnpicklingError, EOFError, OverflowError, MemoryError)


@dataclass(frozen=True, slots=True)
class Models:
    """What a run read of the files of `tree`: switches by file, profiles of servers by folder, and lists of cables.

    These are pickled by themselves, as `tables`: most runs need only what follows from them.
    """

    tree: tuple[TreeEntry, ...]
    facts: FabricFacts
    switches: Mapping[str, tuple[Switch, CheckResult]]
    profiles: Mapping[str, ServerProfile]
    lists: CableLists
    tables: bytes


# Given why the kept lists of cables cannot be used, returns what their files hold.
Reread = Callable[[ValueError], Mapping[str, Topology]]


class KeptTables(Mapping[str, Topology]):
    """Lists of cables by file, read back when one is looked up; those that are damaged are read from their files."""

    def __init__(self, body: bytes, reread: Reread) -> None:
        self._body, self._reread = body, reread

    @cached_property
    def _tables(self) -> Mapping[str, Topology]:
        try:
            return _tables_of(_loaded(self._body))
        except ValueError as error:
            return self._reread(error)

    def __getitem__(self, file: str) -> Topology:
        return self._tables[file]

    def __iter__(self) -> Iterator[str]:
        return iter((TOPOLOGY, CABLING))

    def __len__(self) -> int:
        return 2


def _classes() -> dict[tuple[str, str], type[Any]]:
    found: dict[tuple[str, str], type[Any]] = {
        (kind.__module__, kind.__name__): kind for kind in (Models, FabricFacts, CableLists, array)
    }
    for module in MODULES:
        for name, kind in vars(module).items():
            if isinstance(kind, type) and kind.__module__ == module.__name__ and _is_model(kind):
                found[module.__name__, name] = kind
    return found


def _is_model(kind: type[Any]) -> bool:
    return is_dataclass(kind) or (issubclass(kind, tuple) and hasattr(kind, "_fields"))


CLASSES = _classes()


def _made_of(kind: type[Any]) -> Callable[[Any], tuple[type[Any], tuple[Any, ...]]]:
    """Return how a model is written: its class with its fields, which are read twice as fast as its state."""
    names = [row.name for row in fields(kind)]
    values = attrgetter(*names)
    return lambda one: (kind, values(one) if len(names) > 1 else (values(one),))


class _Writer(pickle.Pickler):
    """Writes models by the fields of their classes."""

    dispatch_table = (
        copyreg.dispatch_table
        | {kind: _made_of(kind) for kind in CLASSES.values() if is_dataclass(kind)}
        | {array: lambda one: (array, (one.typecode, one.tobytes()))}
    )


class _Reader(pickle.Unpickler):
    """Reads models, and nothing of another class."""

    def find_class(self, module: str, name: str) -> type[Any]:
        """Return a class of models. Raises UnpicklingError for anything else."""
        kind = CLASSES.get((module, name))
        if kind is None:
            raise pickle.UnpicklingError(f"{module}.{name} is no model")
        return kind


def encode(models: Models) -> bytes:
    """Return models as bytes; their tables are those of their lists."""
    tables = _dumped(dict(models.lists.tables))
    return _dumped(replace(models, lists=replace(models.lists, tables={}), tables=tables))


def _dumped(value: object) -> bytes:
    out = io.BytesIO()
    _Writer(out, pickle.HIGHEST_PROTOCOL).dump(value)
    return out.getvalue()


def decode(body: bytes, reread: Reread) -> Models:
    """Return the models that `encode` wrote. Raises ValueError for anything else.

    The tables are decoded when they are looked up; those that are damaged are what `reread` returns.
    """
    found = _loaded(body)
    if not _is_whole(found):
        raise ValueError("not what was written")
    return replace(found, lists=replace(found.lists, tables=KeptTables(found.tables, reread)))


def _is_whole(found: object) -> TypeGuard[Models]:
    """Return whether something is models, and has all that is looked up in them, whatever that holds."""
    if not isinstance(found, Models):
        return False
    kinds = {"facts": FabricFacts, "tree": tuple, "lists": CableLists, "tables": bytes}
    return (
        all(isinstance(getattr(found, name), kind) for name, kind in kinds.items())
        and all([*map(type, row)] == [str, int, str] for row in found.tree)
        and _are(found.switches, tuple)
        and all([*map(type, pair)] == [Switch, CheckResult] for pair in found.switches.values())
        and _are(found.profiles, ServerProfile)
        and type(found.lists.merged) in (Topology, NoneType)
    )


def _are(found: object, kind: type[Any]) -> bool:
    """Return whether something is a table of things of a kind by name."""
    return (
        isinstance(found, dict)
        and all(isinstance(name, str) for name in found)
        and {*map(type, found.values())} <= {kind}
    )


def _tables_of(found: object) -> dict[str, Topology]:
    if not isinstance(found, dict) or {*found} != {TOPOLOGY, CABLING} or not _are(found, Topology):
        raise ValueError("not what was written")
    return found


def _loaded(body: bytes) -> object:
    try:
        return _Reader(io.BytesIO(body)).load()
    except UNREADABLE as error:
        raise ValueError(f"not what was written: {error}") from error
