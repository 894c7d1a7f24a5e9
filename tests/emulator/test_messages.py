"""Hello, rpc, rpc-reply and rpc-error."""

from pathlib import Path

import pytest
from lxml import etree

from ailb_gen.emulator.messages import (
    BASE,
    BASE_1_1,
    MessageError,
    RpcError,
    RpcRefusedError,
    hello,
    parse,
    parse_hello,
    parse_rpc,
    reply,
)


def test_the_hello_says_what_junos_says() -> None:
    root = parse(hello(4711))
    assert root.tag == f"{{{BASE}}}hello"
    assert root.findtext(f"{{{BASE}}}session-id") == "4711"
    assert {BASE_1_1, "http://xml.juniper.net/netconf/junos/1.0"} <= parse_hello(hello(1))


def test_a_request_without_its_namespaces() -> None:
    rpc = parse_rpc(
        b'<nc:rpc xmlns:nc="urn:ietf:params:xml:ns:netconf:base:1.0" message-id="7"><nc:edit-config>'
        b'<system nc:operation="delete"/></nc:edit-config></nc:rpc>'
    )
    assert rpc.attributes == (("message-id", "7"),)
    assert rpc.operation.tag == "edit-config"
    assert (rpc.operation[0].tag, rpc.operation[0].get("operation")) == ("system", "delete")


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (b"<rpc", "not XML"),
        (b"<rpc/>", "one operation, not 0"),
        (b"<rpc><a/><b/></rpc>", "one operation, not 2"),
        (b"<hello/>", "a request is <rpc>, not <hello>"),
    ],
)
def test_what_is_no_request(message: bytes, reason: str) -> None:
    with pytest.raises(MessageError, match=reason):
        parse_rpc(message)


def test_entities_are_refused(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hunter2")
    bomb = f'<!DOCTYPE rpc [<!ENTITY a SYSTEM "file://{secret}">]><rpc><x>&a;</x></rpc>'
    with pytest.raises(MessageError, match="document type"):
        parse_rpc(bomb.encode())


def test_a_reply_repeats_the_attributes() -> None:
    root = parse(reply([("message-id", 'a"<b')], "<ok/>", "25.4R1"))
    assert root.get("message-id") == 'a"<b'
    assert root.nsmap["junos"] == "http://xml.juniper.net/junos/25.4R1/junos"


def test_errors_are_written_in_junipers_order() -> None:
    error = RpcError(
        "no <such> thing", "invalid-value", path="[edit system]", element="host-name", daemon="mgd", holder=9
    )
    root = etree.fromstring(RpcRefusedError(error, error, wrapper="load-configuration-results", counted=True).xml())
    assert [child.tag for child in root] == ["rpc-error", "rpc-error", "load-error-count"]
    assert [child.tag for child in root[0]] == [
        "error-type",
        "error-tag",
        "error-severity",
        "source-daemon",
        "error-path",
        "error-message",
        "error-info",
    ]
    assert (root[0].findtext("error-message") or "").strip() == "no <such> thing"
    assert root[0].findtext("error-info/bad-element") == "host-name"
    assert root[0].findtext("error-info/session-id") == "9"
    assert root.findtext("load-error-count") == "2"
