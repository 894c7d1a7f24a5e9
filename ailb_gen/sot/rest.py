"""The common part of NetBox and Nautobot: session and client, version, ownership, and requests that write."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from ailb_gen.errors import UsageError
from ailb_gen.optional import without_extra
from ailb_gen.sot.dialect import FABRIC_FIELD, TAG, Ids, RecordChange, SourceError, SourceScope, fabric_tag
from ailb_gen.sot.netbox_fields import Row
from ailb_gen.sot.records import Id, Ref, Value

if TYPE_CHECKING:
    from ailb_gen.sot.http import ServiceSession

# The limit of both; a service with a lower one answers with shorter pages.
PAGE = 1000
# Requests at once.
CONNECTIONS = 8
TEMPLATES = "dcim/interface-templates"


class WritableField(Protocol):
    """A field of a service."""

    @property
    def write(self) -> Callable[[Value, Ids], Row]:
        """What a request says for a neutral value."""


class RestDialect(ABC):
    """A service with bulk endpoints, reached with a token. Raises MissingExtraError without its client.

    `client`: the package of its maintained client. `oldest`: the first version that will do. `untagged`: kinds without
    tags of ownership. `marked`: those that have their fabric in a custom field instead.
    """

    name: ClassVar[str]
    client: ClassVar[str]
    oldest: ClassVar[tuple[int, int]]
    untagged: ClassVar[Collection[str]]
    marked: ClassVar[Collection[str]]

    def __init__(self, url: str, token: str) -> None:
        try:
            client = import_module(self.client)
        except ImportError as error:
            missing = f"the package {self.client} is not installed"
            raise without_extra("inventory", missing, self.name.lower()) from error
        from ailb_gen.sot.http import ServiceSession

        self.session: ServiceSession = ServiceSession(url, token, CONNECTIONS)
        # It knows how tokens are sent, which depends on their version.
        self._api: Any = client.api(url, token=token)
        self._api.http_session = self.session

    def __repr__(self) -> str:
        return f"{self.name}({self._api.base_url!r})"

    @abstractmethod
    def _fields(self, kind: str) -> Mapping[str, WritableField]:
        """Return the fields of a kind."""

    @abstractmethod
    def _tagged(self, kind: str, ids: Sequence[Id]) -> Iterable[Row]:
        """Read objects of a kind with their tags."""

    def _release(self, status: object) -> tuple[int, int]:
        """Return the version in an answer about versions. Raises UsageError if it is another service, or an old one."""
        text = str(status.get(f"{self.name.lower()}-version", "")) if isinstance(status, dict) else ""
        if not (found := re.match(r"(\d+)\.(\d+)", text)):
            raise UsageError(f"{self._api.base_url}: no {self.name} answers there")
        release = int(found[1]), int(found[2])
        if release < self.oldest:
            oldest = ".".join(map(str, self.oldest))
            raise UsageError(f"{self._api.base_url}: this is {self.name} {text[:20]}; {oldest} or later is needed")
        return release

    @contextmanager
    def _request(self, path: str, query: Row, **given: object) -> Iterator[Any]:
        """Yield a request of the client. Raises SourceError."""
        from requests import JSONDecodeError

        module = import_module(f"{self.client}.core.query")
        base = f"{self._api.base_url}/{path}/"
        try:
            yield module.Request(base=base, http_session=self.session, token=self._api.token, filters=query, **given)
        # The client looks for `results` and `next` in every answer, and knows only one of the JSON errors of requests.
        except (module.ContentError, JSONDecodeError, KeyError) as error:
            raise SourceError(f"{base}: the answer is not {self.name}'s JSON: is a {self.name} there?") from error

    def _send(self, verb: str, path: str, bodies: Sequence[Row], query: Row | None = None) -> list[Row]:
        """Send objects in one request; return those of the answer. Raises SourceError."""
        with self._request(path, query or {}) as request:
            answer = getattr(request, verb)(list(bodies))
        return answer if isinstance(answer, list) else []

    def _body(self, kind: str, values: Mapping[str, Value], ids: Ids) -> Row:
        """Return what a request says about fields of a record."""
        fields, body = self._fields(kind), Row()
        for name, value in values.items():
            if name in fields:
                body |= fields[name].write(value, ids)
        return body

    def _changed(self, kind: str, changes: Sequence[RecordChange], ids: Ids, scope: SourceScope) -> list[Row]:
        """Return what a request says about changes; the ports that a device type lacks are added at once."""
        tags = self._tags_of(kind, [change.stored.id for change in changes if change.adopt])
        bodies = []
        for change in changes:
            values = dict(change.fields)
            if (ports := values.pop("ports", None)) is not None:
                self._add_ports(change.stored.id, ports)
            body = self._body(kind, values, ids)
            if change.adopt:
                body |= self._owning(kind, ids, scope, tags.get(change.stored.id, ()), body)
            if body:
                bodies.append({"id": change.stored.id, **body})
        return bodies

    def _tags_of(self, kind: str, ids: Sequence[Id]) -> Mapping[Id, list[Id]]:
        """Return the tags that objects have."""
        if not ids or kind in (*self.untagged, *self.marked):
            return {}
        return {row["id"]: [tag["id"] for tag in row["tags"]] for row in self._tagged(kind, ids)}

    def _owning(self, kind: str, ids: Ids, scope: SourceScope, tags: Sequence[Id], body: Row) -> Row:
        """Return what makes an object ours: its tags, with those that it has already, or a custom field."""
        if kind in self.untagged:
            return {}
        if kind in self.marked:
            return {"custom_fields": {**body.get("custom_fields", {}), FABRIC_FIELD: scope.fabric}}
        return {"tags": list(dict.fromkeys([*tags, *our_tags(ids, scope)]))}

    def _add_ports(self, number: Id, ports: Value) -> None:
        """Add ports to a device type."""
        bodies = [
            {"device_type": number, "name": port[0], "type": port[1]}
            for port in (ports if isinstance(ports, tuple) else ())
            if isinstance(port, tuple)
        ]
        if bodies:
            self._send("post", TEMPLATES, bodies)


def our_tags(ids: Ids, scope: SourceScope) -> list[Id]:
    """Return the ids of the tags of a fabric's objects."""
    return [ids[Ref("tag", (name,))] for name in (TAG, fabric_tag(scope.fabric))]


def whose_mark(row: Row, scope: SourceScope) -> tuple[bool, bool]:
    """Return whether an object whose fabric is in a custom field is ours, and whether it is another fabric's."""
    fabric = row["custom_fields"].get(FABRIC_FIELD)
    return fabric == scope.fabric, fabric not in (None, "", scope.fabric)
