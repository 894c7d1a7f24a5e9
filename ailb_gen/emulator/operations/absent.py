"""What a device of such a fabric has none of: the reply is there, and nothing is in it.

Any rpc that is in no table is a syntax error, as on a device whose software lacks the feature.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ailb_gen.emulator.operations.build import element

if TYPE_CHECKING:
    from collections.abc import Callable

    from lxml import etree

    from ailb_gen.emulator.rpc_context import Operation, RpcContext

REPLIES = {
    "get-accounting-profile-information": "accounting-profile-information",
    "get-isis-adjacency-information": "isis-adjacency-information",
    "get-isis-database-information": "isis-database-information",
    "get-lacp-interface-information": "lacp-interface-information-list",
    "get-ldp-neighbor-information": "ldp-neighbor-information",
    "get-mpls-lsp-information": "mpls-lsp-information",
    "get-ospf-interface-information": "ospf-interface-information",
    "get-ospf-neighbor-information": "ospf-neighbor-information",
    "get-ospf3-neighbor-information": "ospf3-neighbor-information",
    "get-probe-results": "probe-results",
    "get-rsvp-neighbor-information": "rsvp-neighbor-information",
    "get-snmp-v3-general-information": "snmp-v3-general-information",
    "get-stp-bridge-information": "stp-bridge",
    "get-system-core-dumps": "directory-list",
}


def _nothing(tag: str) -> Callable[[RpcContext, etree._Element], etree._Element]:
    def answer(context: RpcContext, rpc: etree._Element) -> etree._Element:
        return element(tag)

    return answer


OPERATIONS: dict[str, Operation] = {rpc: _nothing(tag) for rpc, tag in REPLIES.items()}
