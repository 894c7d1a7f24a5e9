"""Answers of NETCONF itself, errors and configurations, have the structure of those of real devices.

The real replies are in the shared test data. Values, and the statements of a configuration, are never compared.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import unescape

import pytest
from lxml import etree

from ailb_gen.emulator.config_database import UserSession
from ailb_gen.emulator.fleet import Fleet
from ailb_gen.emulator.messages import RpcRefusedError, reply
from ailb_gen.emulator.netconf import REBOOT_RESULTS
from ailb_gen.emulator.rpc import answer
from tests.conftest import need_shared
from tests.emulator.fleets import LEAF
from tests.emulator.replies import trees
from tests.emulator.replies.compare import OWN, subjects
from tests.emulator.replies.ours import answers
from tests.emulator.replies.samples import Sample, samples

LOAD = '<load-configuration action="{}" format="text"><configuration-{}>{}</configuration-{}></load-configuration>'
DELETED = LOAD.format("set", "set", "delete system root-authentication", "set")
WRONG = LOAD.format("merge", "text", "system { host-name; } }", "text")
# What is asked for a folder of samples: the last answer is compared.
ASKED = {
    "netconf-commit-results": [[DELETED, "<commit-configuration/>"]],
    "netconf-get-config": [["<get-config><source><running/></source></get-config>"]],
    "netconf-load-configuration-results": [[WRONG]],
    "netconf-rpc-error": [["<get-permission-denied/>"], ["<get-configuration database='x'/>"]],
    "request-reboot": [["<request-reboot/>"]],
    "show-configuration-compare": [[DELETED, "<get-configuration compare='rollback' rollback='0' format='text'/>"]],
    "show-display-xml-rpc": [
        ["<command>show interfaces routing-instance all media et-0/0/0.0 | display xml rpc</command>"],
        ["<command>show system uptime | display xml rpc</command>"],
    ],
    "show-configuration": [["<get-configuration/>"], ["<get-configuration database='committed' changed='changed'/>"]],
}
# The elements that are compared, with all that is in them; others depend on what is configured.
COMPARED = {
    *("data", "configuration", "configuration-information", "rpc", "rpc-error", "load-configuration-results"),
    *("commit-results", "request-reboot-results"),
}
# Other replies are wrapped in these, which are the command line's.
WITHOUT = {"request-reboot": {"rpc"}}
XNM = "http://xml.juniper.net/xnm/1.1/xnm"
MODELS = "http://yang.juniper.net/yang/1.1/jc/configuration/junos-es/17.3R2.10"
LOST = "the sample has TIMESTAMP in place of the time of the commit"
# Differences from real replies by folder, and why.
KNOWN = {
    "netconf-commit-results": {
        "commit-results lacks error": "Junos XML protocol has <xnm:error> where NETCONF has <rpc-error>",
    },
    "netconf-get-config": {
        "data/configuration lacks @timestamp": LOST,
        "data/configuration has @junos:commit-localtime": LOST,
        "data/configuration has @junos:commit-seconds": LOST,
        f"data/configuration namespace {XNM}, there {MODELS}": "the sampled device is configured as rfc-compliant",
    },
    "netconf-load-configuration-results": {
        "load-configuration-results/rpc-error has error-message before error-info": "so have errors of other requests",
    },
    "show-configuration": {
        f"configuration namespace {XNM}, there -": "the samples are of the command line, which names none",
    },
}


def _answered(fleet: Fleet, requests: list[str]) -> etree._Element:
    """Send requests of one session; return the last reply."""
    device, session = fleet.devices[LEAF], UserSession(7, "admin", 0.0, "netconf")
    body = ""
    for text in requests:
        try:
            operation = etree.XML(text)
            body = REBOOT_RESULTS if operation.tag == "request-reboot" else answer(device, session, operation)
        except RpcRefusedError as refused:
            body = refused.xml()
    return etree.fromstring(reply((), body, "25.4R1"))


def _below(root: etree._Element, folder: str) -> list[etree._Element]:
    """Return the outermost elements that are compared, configurations without what is configured."""
    compared = COMPARED - WITHOUT.get(folder, set())
    found = [child for child in trees.unwrapped(root) if trees.name(child) in compared]
    for one in [one for top in found for one in top.iter("{*}configuration")]:
        for child in list(one):
            one.remove(child)
        one.text = "x"
    return found


def _real(rows: list[Sample]) -> trees.Shape:
    made: trees.Shape = {}
    for row in rows:
        text = row.text().lstrip("\ufeff").encode()
        root = etree.fromstring(text, etree.XMLParser(recover=True)) if row.form == "xml" else None
        for path, seen in trees.shape(_below(root, row.folder), row.source).items() if root is not None else ():
            made.setdefault(path, []).extend(seen)
    return made


@pytest.mark.parametrize("folder", ASKED)
def test_answers_of_netconf(fleet: Fleet, folder: str) -> None:
    need_shared("junos-replies/INDEX.csv")
    real = _real(samples()[folder])
    ours = [found for requests in ASKED[folder] for found in _below(_answered(fleet, requests), folder)]
    assert ours
    found = trees.differences(trees.shape(ours, OWN), real)
    assert found == list(KNOWN.get(folder, {}))


def _orders(value: object) -> Iterator[tuple[str, ...]]:
    """Iterate over how an object names its own things: attributes in front of other elements, behind its text."""
    if isinstance(value, list):
        for one in value:
            yield from _orders(one)
    elif isinstance(value, dict):
        own = tuple(key if key in ("attributes", "data") else "elements" for key in value)
        yield tuple(dict.fromkeys(own))
        for key, one in value.items():
            if key not in ("attributes", "data"):
                yield from _orders(one)


def test_json_is_written_in_the_order_of_real_devices() -> None:
    need_shared("junos-replies/INDEX.csv")
    real, ours = set(), set()
    for folder, form in subjects():
        rows = [row for row in samples()[folder] if row.form == "json"]
        if form != "tree" or not rows:
            continue
        for row in rows:
            real |= set(_orders(json.JSONDecoder().raw_decode(row.text().strip())[0]))
        for text in answers(folder, rows, "json"):
            ours |= set(_orders(json.loads(unescape(text))))
    assert ours <= real
    assert {("data", "attributes"), ("attributes", "elements")} <= ours
