"""Routing policies and filters as they are configured: `show policy`, `show firewall`.

No packet passes a filter: its counters are zero. Source: Juniper, CLI Reference; operational YANG model
junos-rpc-firewall.
"""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.operations.build import argument, check_found, element, fill, output
from ailb_gen.junos.interface_ranges import effective
from ailb_gen.junos.tree import Node


def policies(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show policy`: the names, or the terms of one. Raises RpcRefusedError for a name that is not there."""
    found = effective(device.committed()).get("policy-options", "policy-statement")
    names, requested = {node.word: node for node in found or ()}, argument(rpc, "policy-name")
    check_found(requested in names, "Policy", requested)
    if not requested:
        return output(["Configured policies:", *sorted(names)])
    return output([f"Policy {requested}: [CHANGED-RESOLVED/]", *_terms(names[requested])])


def _terms(policy: Node) -> Iterator[str]:
    for name, block in [*((one.word, one) for one in policy.each("term")), ("unnamed", policy)]:
        if block is policy and not (policy.has("from") or policy.has("then")):
            continue
        yield f"    Term {name}:"
        for word in ("from", "to", "then"):
            path = block.get(word)
            texts = [" ".join(words[1:]) for words in path.paths()] if path is not None else []
            for at, text in enumerate(texts):
                yield f"        {word if at == 0 else ' ' * len(word)} {text}"


def firewall(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show firewall`: the filters of the configuration, each with its counters and policers.

    Raises RpcRefusedError for a filter that is not there.
    """
    root, requested = effective(device.committed()), argument(rpc, "filtername")
    filters = [*root.each("firewall", "filter")]
    filters += [one for family in root.each("firewall", "family") for one in family.each("filter")]
    found = [one for one in filters if requested in ("", one.word)]
    check_found(found, "filter", requested)
    return element("firewall-information", *(_filter(one) for one in found))


def _filter(one: Node) -> etree._Element:
    counters = {name: None for term in one.each("term") if (name := term.value("then", "count"))}
    policers = {f"{name}-{term.word}": None for term in one.each("term") if (name := term.value("then", "policer"))}
    return fill(
        "filter-information",
        name=one.word,
        counters=[fill("counter", name=name) for name in counters],
        policers=[fill("policer", name=name) for name in policers],
    )
