"""NETCONF messages: hello, rpc, rpc-reply and rpc-error as Junos writes them.

Source: RFC 6241; Juniper, "NETCONF XML Management Protocol Developer Guide".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from xml.sax.saxutils import escape, quoteattr

from lxml import etree

BASE = "urn:ietf:params:xml:ns:netconf:base:1.0"
BASE_1_0 = "urn:ietf:params:netconf:base:1.0"
BASE_1_1 = "urn:ietf:params:netconf:base:1.1"
CAPABILITIES = (
    BASE_1_0,
    BASE_1_1,
    "urn:ietf:params:netconf:capability:candidate:1.0",
    "urn:ietf:params:netconf:capability:confirmed-commit:1.0",
    "urn:ietf:params:netconf:capability:validate:1.0",
    "urn:ietf:params:netconf:capability:url:1.0?scheme=http,ftp,file",
    "urn:ietf:params:xml:ns:netconf:base:1.0",
    "urn:ietf:params:xml:ns:netconf:capability:candidate:1.0",
    "urn:ietf:params:xml:ns:netconf:capability:confirmed-commit:1.0",
    "urn:ietf:params:xml:ns:netconf:capability:validate:1.0",
    "urn:ietf:params:xml:ns:netconf:capability:url:1.0?protocol=http,ftp,file",
    "urn:ietf:params:xml:ns:yang:ietf-netconf-monitoring",
    "http://xml.juniper.net/netconf/junos/1.0",
    "http://xml.juniper.net/dmi/system/1.0",
)
OK = "<ok/>\n"
ErrorType = Literal["transport", "rpc", "protocol", "application"]


@dataclass(frozen=True, slots=True)
class RpcError:
    """One `<rpc-error>` (RFC 6241 section 4.3). Empty fields are not written.

    `path` is the `<error-path>`, `daemon` Juniper's `<source-daemon>`, `element` the `<bad-element>`, `holder` the
    session that holds a lock.
    """

    message: str
    tag: str = "operation-failed"
    type: ErrorType = "protocol"
    severity: Literal["error", "warning"] = "error"
    path: str = ""
    element: str = ""
    daemon: str = ""
    holder: int = 0

    def xml(self) -> str:
        """Return the element as text."""
        info = f"<bad-element>{escape(self.element)}</bad-element>\n" if self.element else ""
        info += f"<session-id>{self.holder}</session-id>\n" if self.holder else ""
        rows = (
            ("error-type", self.type),
            ("error-tag", self.tag),
            ("error-severity", self.severity),
            ("source-daemon", escape(self.daemon)),
            ("error-path", escape(self.path)),
            ("error-message", f"\n{escape(self.message)}\n"),
            ("error-info", f"\n{info}" if info else ""),
        )
        body = "".join(f"<{name}>{text}</{name}>\n" for name, text in rows if text)
        return f"<rpc-error>\n{body}</rpc-error>\n"


def error_at(
    path: Sequence[str], message: str, tag: str = "operation-failed", type: ErrorType = "protocol"
) -> RpcError:
    """Return the error of a statement of the configuration, as the management daemon tells it."""
    level = f"[edit{''.join(f' {word}' for word in path[:-1])}]"
    return RpcError(message, tag, type, path=level, element=path[-1] if path else "", daemon="mgd")


class RpcRefusedError(Exception):
    """An rpc that is answered with errors.

    `wrapper` is the element of the reply that holds them, if any; with `counted` it ends in `<load-error-count>`.
    """

    def __init__(self, *errors: RpcError, wrapper: str = "", counted: bool = False) -> None:
        super().__init__("; ".join(error.message for error in errors))
        self.errors, self.wrapper, self.counted = errors, wrapper, counted

    def xml(self) -> str:
        """Return the content of the reply."""
        body = "".join(error.xml() for error in self.errors)
        if self.counted:
            body += f"<load-error-count>{len(self.errors)}</load-error-count>\n"
        return f"<{self.wrapper}>\n{body}</{self.wrapper}>\n" if self.wrapper else body


def refusal(
    message: str,
    tag: str = "operation-failed",
    type: ErrorType = "protocol",
    element: str = "",
    holder: int = 0,
) -> RpcRefusedError:
    """Return the exception that answers an rpc with one error; the arguments are the fields of `RpcError`."""
    return RpcRefusedError(RpcError(message, tag, type, element=element, holder=holder))


class MessageError(Exception):
    """A message that RFC 6241 does not let a client send."""


@dataclass(frozen=True, slots=True)
class Rpc:
    """A request: the attributes of `<rpc>`, which the reply repeats, and its one child without namespaces."""

    attributes: tuple[tuple[str, str], ...]
    operation: etree._Element


def parse(message: bytes) -> etree._Element:
    """Parse a message; no entity is resolved and nothing is fetched. Raises MessageError."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(message.strip(), parser)
    except etree.XMLSyntaxError as error:
        raise MessageError(f"not XML: {error}") from error
    if root.getroottree().docinfo.internalDTD is not None:
        raise MessageError("a document type declaration")
    return root


def local(tag: object) -> str:
    """Return a name without its namespace."""
    return str(tag).rpartition("}")[2]


def strip_namespaces(root: etree._Element) -> etree._Element:
    """Take the namespaces off the names of an element and all below it, in place; return it."""
    for element in root.iter(etree.Element):
        element.tag = local(element.tag)
        for name in [name for name in element.attrib if str(name)[0] == "{"]:
            element.set(local(name), element.attrib.pop(name))
    return root


def hello(session: int) -> bytes:
    """Return the hello of the device."""
    capabilities = "".join(f"    <capability>{name}</capability>\n" for name in CAPABILITIES)
    text = (
        f'<hello xmlns="{BASE}">\n  <capabilities>\n{capabilities}  </capabilities>\n'
        f"  <session-id>{session}</session-id>\n</hello>\n"
    )
    return text.encode()


def parse_hello(message: bytes) -> frozenset[str]:
    """Return the capabilities of a client. Raises MessageError."""
    root = strip_namespaces(parse(message))
    if root.tag != "hello":
        raise MessageError(f"the first message is <hello>, not <{root.tag}>")
    return frozenset((found.text or "").strip() for found in root.iter("capability"))


def parse_rpc(message: bytes) -> Rpc:
    """Return a request. Raises MessageError."""
    root = parse(message)
    if local(root.tag) != "rpc":
        raise MessageError(f"a request is <rpc>, not <{local(root.tag)}>")
    attributes = tuple((str(name), str(value)) for name, value in root.attrib.items() if str(name)[0] != "{")
    operations = list(root.iterchildren(etree.Element))
    if len(operations) != 1:
        raise MessageError(f"a request holds one operation, not {len(operations)}")
    return Rpc(attributes, strip_namespaces(operations[0]))


def reply(attributes: Sequence[tuple[str, str]], body: str, release: str) -> bytes:
    """Return a reply; `release` is the one whose namespace Junos names, such as `25.4R1`."""
    repeated = "".join(f" {name}={quoteattr(value)}" for name, value in attributes)
    junos = f"http://xml.juniper.net/junos/{release}/junos"
    return f'<rpc-reply xmlns="{BASE}" xmlns:junos="{junos}"{repeated}>\n{body}</rpc-reply>\n'.encode()
