"""The checks of RoCE and MTU: shipped trees are clean, and every damage to class-of-service is found."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ailb_gen.checks.context import Context
from ailb_gen.checks.model import Finding
from ailb_gen.intent.models import Fabric
from ailb_gen.junos.reader import read
from ailb_gen.network.cos import class_of_service
from ailb_gen.network.fabric import End, Network
from ailb_gen.network.switch import switch
from tests.checks.trees import GOLDEN, fabric_of, findings, network_of, rendered, run_family, shown
from tests.conftest import SMALL, intent_of

LAB = fabric_of("lab")
LEAF, SPINE = "stripe1-leaf1", "spine2"


@pytest.fixture(scope="module")
def lab() -> Network:
    return network_of(GOLDEN / "lab")


def text_of(name: str) -> str:
    return (GOLDEN / f"lab/switches/{name}.conf").read_text()


def judged(network: Network, name: str, text: str, fabric: Fabric = LAB) -> list[Finding]:
    """Findings when one switch of the lab has another text."""
    changed = switch(name, f"switches/{name}.conf", read(text, name))
    return findings(
        run_family("AILB7", Context(fabric, replace(network, switches={**network.switches, name: changed})))
    )


# text, replacement, checks that find it
DAMAGES = [
    ("code-points 011010", "code-points 011011", {"AILB701", "AILB707", "AILB708"}),
    ("code-points 110000", "code-points 101110", {"AILB706", "AILB707", "AILB708"}),
    ("code-points 011010;", "code-points [ 011010 000000 ];", {"AILB701", "AILB707"}),
    ("code-points 110000;", "code-points [ 110000 000000 ];", {"AILB706", "AILB707"}),
    ("loss-priority low code-points 011010", "loss-priority high code-points 011010", {"AILB701"}),
    (" no-loss pfc-priority 3", "", {"AILB701", "AILB707", "AILB708"}),
    ("pfc-priority 3", "pfc-priority 4", {"AILB701", "AILB707", "AILB708"}),
    ("NO-LOSS queue-num 4", "NO-LOSS queue-num 5", {"AILB701", "AILB707"}),
    ("CNP queue-num 3", "CNP queue-num 4", {"AILB701", "AILB706", "AILB707"}),
    ("class CNP queue-num 3;", "class CNP queue-num 3 no-loss;", {"AILB701", "AILB707"}),
    ("class CNP queue-num 3;", "", {"AILB702", "AILB706", "AILB707"}),
    ("scheduler s1;", "scheduler s9;", {"AILB702", "AILB705", "AILB707"}),
    ("scheduler s1;", "scheduler s2-cnp;", {"AILB701", "AILB705", "AILB707"}),
    ("drop-profile dp1;", "drop-profile dp9;", {"AILB702", "AILB705", "AILB707"}),
    ("explicit-congestion-notification;", "", {"AILB705", "AILB707"}),
    ("fill-level [ 55 90 ]", "fill-level [ 55 91 ]", {"AILB705", "AILB707"}),
    ("drop-probability [ 0 100 ]", "drop-probability [ 0 10 ]", {"AILB705", "AILB707"}),
    ("percent 5", "percent 50", {"AILB706"}),
    ("strict-high", "low", {"AILB706"}),
    ("pfc-watchdog;", "", {"AILB704"}),
    ("pfc;", "", {"AILB704", "AILB707"}),
    ("code-point 011010 {", "code-point 110000 {", {"AILB704", "AILB707"}),
    ("code-point 011 {", "code-point 100 {", {"AILB704", "AILB707"}),
    ("flow-control-queue 4", "flow-control-queue 3", {"AILB704"}),
    ("flow-control-queue 4;", "flow-control-queue [ 3 4 ];", {"AILB704", "AILB707"}),
    ("congestion-notification-profile cnp;", "", {"AILB703", "AILB707"}),
    ("scheduler-map sm1;", "", {"AILB703", "AILB705", "AILB706", "AILB707"}),
    ("dscp mydscp;", "", {"AILB703", "AILB707", "AILB708"}),
    ("dscp mydscp;", "dscp other;", {"AILB702", "AILB707", "AILB708"}),
    (
        "scheduler s2-cnp;",
        "scheduler s2-cnp; forwarding-class best-effort scheduler s2-cnp;",
        {"AILB701"},
    ),
    ("et-* {", "xe-* {", {"AILB703", "AILB707", "AILB708"}),
]


@pytest.mark.parametrize(("old", "new", "checks"), DAMAGES)
def test_a_damage_is_found_by_the_checks_that_name_it(old: str, new: str, checks: set[str], lab: Network) -> None:
    text = text_of(LEAF)
    assert old in text
    found = judged(lab, LEAF, text.replace(old, new))
    named = {finding.check for finding in found}
    assert named == checks
    lines = text.count("\n")
    places = [finding.place for finding in found if finding.place is not None]
    assert len(places) == len(found)
    assert all(place.file == f"switches/{LEAF}.conf" or place.file.startswith("switches/spine") for place in places)
    assert all(1 <= place.line <= lines for place in places)


def test_an_entry_that_no_port_has_is_where_that_of_the_ports_is_missing(lab: Network) -> None:
    found = next(one for one in judged(lab, LEAF, text_of(LEAF).replace("et-* {", "alll {")) if one.check == "AILB703")
    assert found.statement == "class-of-service interfaces alll"


def test_the_place_is_that_of_the_statement(lab: Network) -> None:
    text = text_of(LEAF).replace("NO-LOSS queue-num 4", "NO-LOSS queue-num 5")
    found = next(finding for finding in judged(lab, LEAF, text) if finding.check == "AILB701")
    assert found.place is not None
    assert "class NO-LOSS queue-num 5" in text.split("\n")[found.place.line - 1]
    assert (found.scope, found.expected, found.found) == (LEAF, "4", "5")


def test_one_port_without_pfc_is_named(lab: Network) -> None:
    hidden = "et-0/0/17 { scheduler-map sm1; unit 0 { classifiers { dscp mydscp; } } } et-* {"
    found = judged(lab, LEAF, text_of(LEAF).replace("et-* {", hidden))
    assert [(finding.check, finding.scope) for finding in found] == [("AILB703", f"{LEAF} et-0/0/17")]
    assert "congestion-notification-profile" in found[0].message


def test_a_port_that_carries_no_rdma_may_be_without(lab: Network) -> None:
    assert not judged(lab, LEAF, text_of(LEAF).replace("et-* {", "et-0/0/9 { scheduler-map sm1; } et-* {"))


def test_no_class_of_service_at_all(lab: Network) -> None:
    text = text_of(LEAF)
    start, end = text.index("class-of-service {"), text.index("routing-options {")
    found = judged(lab, LEAF, text[:start] + text[end:])
    assert {"AILB703", "AILB707", "AILB708"} <= {finding.check for finding in found}


def test_mtus_of_ports_links_and_irbs(lab: Network) -> None:
    text = text_of(LEAF)
    start = text.index("et-0/0/2 {")
    one = text[:start] + text[start:].replace("mtu 9216", "mtu 9215", 1)
    assert {(finding.check, finding.scope) for finding in judged(lab, LEAF, one)} == {
        ("AILB709", f"{LEAF} et-0/0/2"),
        ("AILB710", f"{LEAF} et-0/0/2"),
    }
    found = judged(lab, LEAF, text.replace("mtu 9170", "mtu 9171"))
    assert [(finding.check, finding.scope, finding.expected) for finding in found] == [
        ("AILB710", f"{LEAF} irb.2", "9170")
    ]
    found = judged(lab, LEAF, text.replace("family inet6;", "family inet6 { mtu 9169; }", 1))
    assert [(finding.check, finding.scope, finding.found) for finding in found] == [
        ("AILB710", f"{LEAF} et-0/0/0.0", "9169")
    ]
    assert not judged(lab, LEAF, text.replace("family inet6;", "family inet6 { mtu 9170; }", 1))
    start = text.index("    irb {")
    found = judged(lab, LEAF, text[:start] + text[start:].replace("mtu 9216;", "", 1))
    assert [(finding.check, finding.scope) for finding in found] == [("AILB710", LEAF)]
    start = text.index("et-0/0/16 {")
    found = judged(lab, LEAF, text[:start] + text[start:].replace("mtu 9216;", "", 1))
    assert [(finding.check, finding.found) for finding in found] == [("AILB710", "Junos's default")]


def test_the_intent_counts_by_level(lab: Network) -> None:
    intent = (GOLDEN.parent.parent / "examples/lab/fabric.yaml").read_text()
    changed = intent_of(intent + f"overrides: {{leaves: {{{LEAF}: {{roce: {{ecn: {{max_fill: 80}}}}}}}}}}\n").fabric
    found = findings(run_family("AILB7", Context(changed, lab)))
    assert [(finding.check, finding.scope, finding.expected, finding.found) for finding in found] == [
        ("AILB705", LEAF, "55 80", "55 90")
    ]
    agreed = text_of(LEAF).replace("[ 55 90 ]", "[ 55 80 ]")
    assert not judged(lab, LEAF, agreed, changed)


def test_roce_that_is_switched_off_must_be_off(lab: Network) -> None:
    intent = (GOLDEN.parent.parent / "examples/lab/fabric.yaml").read_text()
    found = findings(run_family("AILB7", Context(intent_of(intent + "roce: {enabled: off}\n").fabric, lab)))
    assert {finding.check for finding in found} == {"AILB701"}
    assert {finding.scope for finding in found} == set(lab.switches)


def test_buffers_are_compared(tmp_path: Path) -> None:
    intent, root = rendered(SMALL + "roce: {buffers: {lossless: 60}}\n", tmp_path)
    network = network_of(root)
    other = intent_of(SMALL + "roce: {buffers: {lossless: 61}}\n").fabric
    assert not shown(run_family("AILB7", Context(intent.fabric, network)))
    assert {finding.check for finding in findings(run_family("AILB7", Context(other, network)))} == {"AILB711"}
    none = {finding.found for finding in findings(run_family("AILB7", Context(intent_of(SMALL).fabric, network)))}
    assert "dedicated-buffer ingress percent 15" in none


def test_junos_knows_some_classes_without_being_told(lab: Network) -> None:
    row = "forwarding-class best-effort { loss-priority low code-points 000000; } forwarding-class CNP {"
    text = text_of(LEAF).replace("forwarding-class CNP {", row, 1)
    text = text.replace("scheduler s2-cnp;", "scheduler s2-cnp; forwarding-class best-effort scheduler s1;", 1)
    assert class_of_service(read(text, "x")).written
    assert not judged(lab, LEAF, text)


def test_a_leaf_and_a_nic_that_disagree(lab: Network) -> None:
    profile = lab.hosts["gpu-s1-1"].profile
    assert profile.qos is not None
    values = tuple(replace(s, value=28) if s.key == "dscp" else s for s in profile.qos.settings)
    own = replace(profile, qos=replace(profile.qos, settings=values))
    hosts = {**lab.hosts, "gpu-s1-1": replace(lab.hosts["gpu-s1-1"], profile=own)}
    found = findings(run_family("AILB7", Context(LAB, replace(lab, hosts=hosts))))
    assert {finding.check for finding in found} == {"AILB708"}
    assert "gpu-s1-1 gpu0_eth" in {finding.scope for finding in found}


def test_cables_to_switches_and_ports_that_are_not_there(lab: Network) -> None:
    link = replace(lab.links[0], b=End("spine9", "et-0/0/0"))
    port = replace(lab.links[1], b=End(SPINE, "et-0/0/99"))
    attachments = {**lab.attachments, ("gpu-s1-1", "gpu0_eth"): End("nowhere", "et-0/0/0")}
    network = replace(lab, links=(link, port, *lab.links[2:]), attachments=attachments)
    assert not shown(run_family("AILB7", Context(LAB, network)))


def _block(lines: list[str], start: int) -> int:
    """The line behind the block that opens at `start`."""
    depth = 0
    for number in range(start, len(lines)):
        depth += lines[number].count("{") - lines[number].count("}")
        if depth == 0:
            return number + 1
    raise AssertionError("no end")


def _damages(lines: list[str], numbers: list[int]) -> Iterator[list[str]]:
    """Delete every statement and block, count up every number, turn every bit, rename every word."""
    for number in numbers:
        line = lines[number]
        if not line.strip(" };"):
            continue
        end = number + 1 if line.endswith(";") else _block(lines, number)
        yield [*lines[:number], *lines[end:]]
        for found in re.finditer(r"(?<![\w.-])[01]{3,6}(?!\w)|\d+|[a-zA-Z][\w-]*", line):
            word = found[0]
            words = [word + "x"] if word[0].isalpha() else [str(int(word) + 1)]
            if re.fullmatch("[01]{3,6}", word):
                words = [word[:k] + "10"[int(word[k])] + word[k + 1 :] for k in range(len(word))]
            for changed in words:
                yield [*lines[:number], line[: found.start()] + changed + line[found.end() :], *lines[number + 1 :]]


@pytest.mark.parametrize("name", [LEAF, SPINE])
def test_every_change_of_class_of_service_and_mtus_is_found(name: str, lab: Network) -> None:
    lines = text_of(name).split("\n")
    start = lines.index("class-of-service {")
    stanza = range(start, _block(lines, start))
    numbers = [n for n, line in enumerate(lines) if n in stanza or line.strip().startswith("mtu ")]
    texts = ["\n".join(changed) for changed in _damages(lines, numbers)]
    missed = [text for text in texts if not judged(lab, name, text)]
    assert len(texts) > 150
    assert not missed
