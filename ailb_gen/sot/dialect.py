"""The Protocol of a source of truth: stored records are read and written in bulk; plan, push and pull know no more."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from ailb_gen.errors import AilbError, ExitCode
from ailb_gen.sot.records import Id, Ref, SourceRecord, Value

# How much of a refusal is shown, in characters.
SHOWN = 400
# The tag of everything that this program creates; each fabric has another one after it.
TAG = "ailb-gen"
# The custom field with the color of a cable, an interface or a prefix.
COLOR_FIELD = "ailb_color"
# The custom field with the fabric of an object, for what is too many to be tagged.
FABRIC_FIELD = "ailb_fabric"


class SourceError(AilbError):
    """A source of truth cannot be reached, refuses, or answers something else; names the request, never the token."""

    exit_code = ExitCode.ENVIRONMENT


class ServiceFaultError(SourceError):
    """A service fails at a request with an error of its own (500), which names no object of it."""


class RecordsRefusedError(SourceError):
    """A service refuses some records of a request, and stored none of it; `reasons` by record."""

    def __init__(self, message: str, reasons: Mapping[Ref, str]) -> None:
        super().__init__(message)
        self.reasons = reasons


def refused(service: str, reasons: Mapping[Ref, object]) -> RecordsRefusedError:
    """Return the error of a request with records that a service refuses; reasons are JSON of the service."""
    texts = {ref: printable(json.dumps(reason))[:SHOWN] for ref, reason in reasons.items()}
    (ref, text), *others = texts.items()
    more = f" ({len(others)} more objects of this request, too)" if others else ""
    return RecordsRefusedError(f"{ref}: {service} refuses it: {text}{more}", texts)


def printable(text: str) -> str:
    """Return a text of a service without control characters."""
    return "".join(one if one.isprintable() else "?" for one in text)


def fabric_tag(fabric: str) -> str:
    """Return the tag of the objects of a fabric."""
    return f"{TAG}-{fabric}"


@dataclass(frozen=True, slots=True)
class SourceScope:
    """What is read: a site, the objects with the tag of a fabric, and what lies in networks and AS number ranges.

    `networks`: prefixes and addresses in these are read whoever owns them. `asns`: first and last. `models`: those of
    the device types, or none for all.
    """

    site: str
    fabric: str
    networks: tuple[str, ...] = ()
    asns: tuple[tuple[int, int], ...] = ()
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stored:
    """A record as a service has it, with its id.

    `owned`: it has the tag of the fabric, or the fabric's name in the custom field. `others`: it has the tag of another
    fabric, too.
    Fields have every value that the service has, also those that a push never writes.
    """

    record: SourceRecord
    id: Id
    owned: bool
    others: bool = False


@dataclass(frozen=True, slots=True)
class RecordChange:
    """An update: the stored object, and the fields that get other values; `adopt`: it gets our tags, too."""

    stored: Stored
    fields: Mapping[str, Value]
    adopt: bool = False


# The ids of the objects that records refer to.
Ids: TypeAlias = Mapping[Ref, Id]


class Dialect(Protocol):
    """A source of truth. All methods raise SourceError."""

    @property
    def name(self) -> str:
        """How the service is called: `NetBox`."""

    def kinds(self) -> Mapping[str, frozenset[str]]:
        """Return the kinds of records that the service can hold, of some plug-ins decide, and the fields of each.

        Other kinds and fields of a design are not compared and never written.
        """

    def read(self, kinds: Sequence[str], scope: SourceScope) -> Iterator[Stored]:
        """Yield the stored records of these kinds; several may have the same key."""

    def create(self, kind: str, records: Sequence[SourceRecord], ids: Ids, scope: SourceScope) -> list[Id]:
        """Create records of one kind, with the tags of the fabric; return their ids in the same order.

        Late fields are left out. A request may hold fewer records: those of requests before a failing one stay.
        """

    def update(self, kind: str, changes: Sequence[RecordChange], ids: Ids, scope: SourceScope) -> None:
        """Set fields of stored records of one kind; other fields and tags stay."""

    def delete(self, kind: str, stored: Sequence[Stored]) -> None:
        """Delete stored records of one kind; those that are gone already are no error."""
