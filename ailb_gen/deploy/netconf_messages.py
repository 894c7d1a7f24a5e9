"""NETCONF messages of a device to trees, at a constant cost per byte, whatever comes.

Every message is parsed while it comes in and never held as text. What it may take is limited by the kind of its
request: a commit is answered in a few lines, a configuration is one long text, and of routes only a few elements
matter. Comments, processing instructions and namespaces are left out. There is no DTD in NETCONF (RFC 6241, section
3.2), and so no entity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from lxml import etree
from ncclient import NCClientError
from ncclient.xml_ import qualify

from ailb_gen.deploy.resource_limits import Share, TooMuchError

# Levels of elements: Junos has a dozen. Attributes of an element: it has four. Bytes of a tag or a comment.
MAX_DEPTH, MAX_ATTRIBUTES, MAX_TAG = 64, 16, 1 << 20
# Bytes in memory that an element takes, in addition to the text itself.
ELEMENT_BYTES = 300
PIECE, PIECES = 16 << 10, 256
ERROR = "rpc-error"


class AnswerError(NCClientError):
    """An answer that is too long, or that is no answer; the session is of no use any more."""


@dataclass(frozen=True, slots=True)
class Limit:
    """What a message may have: bytes, elements, bytes of them that are kept, letters of one text.

    Only elements of `only` are kept, if there are any; the others count all the same.
    """

    size: int
    elements: int
    kept: int
    text: int
    only: frozenset[str] = frozenset()


# A few lines, also with an error for each of a thousand statements; a greeting with all YANG models of a device.
SHORT = Limit(2 << 20, 20_000, 8 << 20, 2 << 20)
# Twenty times the configuration of a spine with 512 leaves.
CONFIGURATION = Limit(6 << 20, 1_000, 4 << 20, 4 << 20)
# Sessions, neighbors, advertisements: three times those of such a spine.
LONG = Limit(12 << 20, 120_000, 40 << 20, 1 << 20)
# What may be around every answer, or in place of it.
AROUND = frozenset({"rpc-reply", "multi-routing-engine-results", "multi-routing-engine-item", ERROR, "output"})
# What is read of a session, and the elements that lead there: a third of what comes.
SESSION = AROUND.union(
    ("bgp-information", "bgp-peer", "peer-address", "peer-as", "peer-state", "bgp-rib", "accepted-prefix-count")
)
SESSIONS = replace(LONG, only=SESSION)
# What is read of a route, and the elements that lead there: 40,000 routes.
ROUTE = AROUND.union(
    ("route-information", "route-table", "rt", "rt-destination", "rt-prefix-length", "rt-entry"),
    ("communities", "community", "extended-community", "bgp-aigp"),
)
ROUTES = Limit(32 << 20, 1_000_000, 32 << 20, 1 << 20, ROUTE)
# By the element of a request; any other that begins with `get-` is LONG, and the rest SHORT.
LIMITS: Mapping[str, Limit] = {
    "get-configuration": CONFIGURATION,
    "get-rollback-information": CONFIGURATION,
    # A hundred alarms, fifty commits, the next hops of one route.
    "get-alarm-information": SHORT,
    "get-system-alarm-information": SHORT,
    "get-commit-information": SHORT,
    "get-forwarding-table-information": SHORT,
    "get-bgp-summary-information": SESSIONS,
    "get-route-information": ROUTES,
}


def limit_of(request: str) -> Limit:
    """Return the limit of the answer to a request, by the name of its element."""
    return LIMITS.get(request, LONG if request.startswith("get-") else SHORT)


class Message:
    """A message while it comes in: `feed` its bytes, then `root`. Both raise AnswerError for what is none."""

    def __init__(self, limit: Limit, share: Share) -> None:
        self.limit, self.share = limit, share
        self.size = 0
        # Short ones are parsed when they are whole.
        self._raw = bytearray() if limit is SHORT else None
        self._builder = _TreeBuilder(limit, share)
        # In every other encoding a parser and this program might see different things.
        target: Any = self._builder
        self._parser = etree.XMLParser(
            target=target, encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False
        )
        self._seen = self._unseen = 0

    def feed(self, data: bytes) -> None:
        """Take in some bytes."""
        if not self.size:
            data = data.lstrip()
        self.size += len(data)
        if self.size > self.limit.size:
            raise AnswerError(f"it is longer than {self.limit.size >> 20} MiB")
        if self._raw is not None:
            self._raw += data
            return
        self._parse(data)

    def _parse(self, data: bytes) -> None:
        for start in range(0, len(data), PIECE):
            piece = data[start : start + PIECE]
            try:
                self._parser.feed(piece)
            except AnswerError:
                # The error may live long, and all that its traceback names.
                self._builder.drop()
                raise
            except etree.XMLSyntaxError as error:
                self._builder.drop()
                raise _no_xml(error) from error
            if self._builder.events != self._seen:
                self._seen, self._unseen = self._builder.events, 0
                continue
            self._unseen += len(piece)
            if self._unseen > MAX_TAG:
                raise AnswerError(f"a tag or comment in it is longer than {MAX_TAG >> 20} MiB")

    def root(self) -> etree._Element:
        """End the message, and return its tree."""
        if not self.size:
            raise AnswerError("it is empty")
        if self._raw is not None:
            self._parse(bytes(self._raw))
        try:
            self._parser.close()
        except etree.XMLSyntaxError as error:
            raise _no_xml(error) from error
        root = self._builder.root
        if root is None:
            raise AnswerError("it is empty")
        return root


def _no_xml(error: etree.XMLSyntaxError) -> AnswerError:
    text = str(error).removesuffix(" (<string>, line 0)").partition(" (<string>")[0]
    if "encoding" in text or "not proper UTF-8" in text:
        return AnswerError("it is not UTF-8 text")
    return AnswerError(f"it is not XML: {text[:160]}")


class _TreeBuilder:
    """What the parser calls: it counts everything, and builds the tree of what is kept."""

    def __init__(self, limit: Limit, share: Share) -> None:
        self.limit, self.share = limit, share
        # Tags, texts, comments: as long as some come, none is too long.
        self.events = self.elements = self.depth = self.kept = self.letters = 0
        self.root: etree._Element | None = None
        self.stack: list[etree._Element] = []
        # How many levels lie in an element that is not kept; and whether an error is open.
        self.hidden = 0
        self.error = False
        self.last: etree._Element | None = None
        self.pieces: list[str] = []
        self.blocks: list[str] = []

    def start(self, tag: str, attributes: Mapping[str, str], nsmap: Mapping[str | None, str]) -> None:
        self.events += 1
        self.elements += 1
        self.depth += 1
        name = tag.rpartition("}")[2] if tag[0] == "{" else tag
        if self.elements > self.limit.elements:
            raise AnswerError(f"it has more than {self.limit.elements} elements")
        if self.depth > MAX_DEPTH or len(attributes) + len(nsmap) > MAX_ATTRIBUTES:
            raise AnswerError(f"<{name[:40]}> in it is nested too deeply, or has too many attributes")
        if name == ERROR:
            self._begin_error()
        if self.hidden or not (self.error or not self.limit.only or name in self.limit.only):
            self.hidden += 1
            return
        self._end_text()
        # Most have none, and this is called for every element of all devices.
        more = sum(4 * len(one) + ELEMENT_BYTES for one in attributes.values()) if attributes else 0
        self._keep(ELEMENT_BYTES + more)
        # What ncclient looks for is an error in NETCONF's namespace.
        name = qualify(name) if self.error else name
        known = {key.rpartition("}")[2]: value for key, value in attributes.items()} if attributes else None
        element = etree.SubElement(self.stack[-1], name, known) if self.stack else etree.Element(name, known)
        self.root = element if self.root is None else self.root
        self.stack.append(element)
        self.last = None

    def _begin_error(self) -> None:
        # Libraries copy an error several times, and the whole answer with it.
        if self.error:
            raise AnswerError("an error is nested in an error")
        self.error = True
        if self.limit.size > SHORT.size:
            self.limit = replace(self.limit, elements=self.elements + SHORT.elements, kept=SHORT.kept)
            self._keep(0)

    def end(self, tag: str) -> None:
        self.events += 1
        self.depth -= 1
        if self.error and tag.rpartition("}")[2] == ERROR:
            self.error = False
        if self.hidden:
            self.hidden -= 1
            return
        self._end_text(over=True)
        self.last = self.stack.pop()

    def data(self, text: str) -> None:
        """Add text; that around the elements that are left out is left out."""
        self.events += 1
        if self.hidden:
            return
        # One character beyond the first plane makes four bytes of each.
        self._keep(len(text) if text.isascii() else 4 * len(text))
        self.letters += len(text)
        if self.letters > self.limit.text:
            raise AnswerError(f"a text in it is longer than {self.limit.text >> 20} MiB")
        self.pieces.append(text)
        if len(self.pieces) >= PIECES:
            self.blocks.append("".join(self.pieces))
            self.pieces.clear()

    def _keep(self, size: int) -> None:
        self.kept += size
        if self.kept > self.limit.kept:
            raise AnswerError(f"it takes more than {self.limit.kept >> 20} MiB")
        try:
            self.share.need(self.kept)
        except TooMuchError as error:
            raise AnswerError(str(error)) from error

    def _end_text(self, over: bool = False) -> None:
        """Put the text where it belongs; `over`: its element ends."""
        if not self.pieces and not self.blocks:
            return
        text, self.letters = "".join([*self.blocks, *self.pieces]), 0
        self.pieces.clear()
        self.blocks.clear()
        # Blanks beside elements are layout, as to ncclient.
        if not self.stack or (not text.strip() and (self.last is not None or not over)):
            return
        if self.last is None:
            self.stack[-1].text = text
        else:
            self.last.tail = text

    def comment(self, text: str) -> None:
        self.events += 1

    def pi(self, target: str, text: str | None = None) -> None:
        self.events += 1

    def doctype(self, *_: object) -> NoReturn:
        raise AnswerError("it has a DTD")

    def drop(self) -> None:
        self.root = self.last = None
        for one in (self.stack, self.pieces, self.blocks):
            one.clear()

    def close(self) -> None:
        pass
