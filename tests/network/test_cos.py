"""Class of service read from text, and what it means on one port."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.junos.reader import read
from ailb_gen.junos.tree import Node
from ailb_gen.network.cos import BUFFERS, ClassOfService, class_of_service, code_point
from ailb_gen.network.port_qos import PortQos, port_entry, qos_of
from tests.conftest import ROOT, need_shared

TEXT = (ROOT / "tests/golden/lab/switches/stripe1-leaf1.conf").read_text()
STANZA = TEXT[TEXT.index("class-of-service {") : TEXT.index("routing-options {")]


def cos_of(text: str) -> ClassOfService:
    return class_of_service(read(text, "x.conf"))


COS = cos_of(TEXT)


def effective(cos: ClassOfService, port: str) -> PortQos:
    return qos_of(cos, port_entry(cos, port))


def line_of(part: str) -> int:
    return next(number for number, line in enumerate(TEXT.split("\n"), 1) if part in line)


def test_a_port_of_the_lab() -> None:
    qos = effective(COS, "et-0/0/3")
    assert not qos.missing
    assert qos.watchdog
    assert [point.dscp for point in qos.pfc] == [26]
    assert [(pause.priority, pause.queue) for pause in qos.pauses] == [(3, 4)]
    (lossless,) = qos.lossless
    assert (lossless.dscp, lossless.queue, lossless.pfc_priority, lossless.pfc, lossless.ecn) == (26, 4, 3, True, True)
    assert (lossless.fill, lossless.probability) == (("55", "90"), ("0", "100"))
    assert lossless.line == line_of("code-points 011010")
    assert lossless.class_line == line_of("class NO-LOSS queue-num")
    cnp = qos.of(48)
    assert cnp is not None
    assert (cnp.queue, cnp.priority, cnp.rate, cnp.no_loss) == (3, "strict-high", ("percent 5",), False)
    assert qos.of(0) is None


def test_lines_do_not_count_in_comparisons() -> None:
    other = cos_of("\n\n\n" + TEXT)
    assert other == COS
    assert hash(other) == hash(COS)
    assert effective(other, "et-0/0/3") == effective(COS, "et-0/0/9:1")
    assert other.line == COS.line + 3


@pytest.mark.parametrize(("name", "dscp"), [("roce", 26), ("af31", 1)])
def test_a_code_point_by_an_alias_of_the_switch_itself(name: str, dscp: int) -> None:
    aliases = f"code-point-aliases {{ dscp {{ {name} {dscp:06b}; }} ieee-802.1 {{ {name} 101; }} }}"
    text = STANZA.replace("011010", name).replace("code-point 011 {", f"code-point {name} {{")
    assert text.count(name) == 3
    (lossless,) = effective(cos_of(text.replace("{", "{ " + aliases, 1)), "et-0/0/3").lossless
    assert lossless.dscp == dscp
    qos = effective(cos_of(text.replace("{", "{ " + aliases, 1)), "et-0/0/3")
    assert [point.dscp for point in qos.pfc] == [dscp]
    assert [pause.priority for pause in qos.pauses] == [5]


def test_no_class_of_service_at_all() -> None:
    cos = class_of_service(Node(""))
    assert not cos.written
    assert [missing.what for missing in effective(cos, "et-0/0/0").missing] == ["interfaces"]


@pytest.mark.parametrize(
    ("patterns", "port", "best"),
    [
        (("et-*", "et-0/0/1"), "et-0/0/1", "et-0/0/1"),
        (("et-*", "et-0/0/1"), "et-0/0/1:0", "et-*"),
        (("et-0/0/*", "et-*", "*"), "et-0/0/7", "et-0/0/*"),
        (("et-0/0/1", "xe-*"), "et-0/0/7", None),
        (("et-0/0/[0-3]", "et-*"), "et-0/0/7", "et-*"),
    ],
)
def test_the_most_specific_entry_counts(patterns: tuple[str, ...], port: str, best: str | None) -> None:
    entries = "".join(f'"{pattern}" {{ scheduler-map sm1; }} ' for pattern in patterns)
    entry = port_entry(cos_of(f"class-of-service {{ interfaces {{ {entries} }} }}"), port)
    assert (entry.pattern if entry is not None else None) == best


def test_an_exact_entry_hides_the_wildcard() -> None:
    text = STANZA.replace("et-* {", "et-0/0/1 { scheduler-map sm1; }\n et-* {")
    qos = effective(cos_of(text), "et-0/0/1")
    assert {missing.what for missing in qos.missing} == {"classifiers dscp", "congestion-notification-profile"}
    assert not effective(cos_of(text), "et-0/0/2").missing


@pytest.mark.parametrize(
    ("old", "new", "missing"),
    [
        ("class NO-LOSS queue-num 4 no-loss pfc-priority 3;", "", "forwarding-classes class NO-LOSS"),
        ("drop-profile dp1", "drop-profile dp2", "drop-profiles dp2"),
        ("dscp mydscp;", "dscp other;", "classifiers dscp other"),
        ("dscp mydscp;", "", "classifiers dscp"),
        ("scheduler-map sm1;", "scheduler-map sm2;", "scheduler-map sm2"),
        ("scheduler-map sm1;", "", "scheduler-map"),
        ("scheduler s1;", "scheduler s3;", "schedulers s3"),
        ("congestion-notification-profile cnp;", "", "congestion-notification-profile"),
        ("forwarding-class CNP scheduler s2-cnp;", "", "scheduler of forwarding class CNP"),
    ],
)
def test_what_is_referred_to_and_not_there(old: str, new: str, missing: str) -> None:
    assert old in STANZA
    qos = effective(cos_of(STANZA.replace(old, new)), "et-0/0/0")
    assert missing in [entry.what for entry in qos.missing]


def test_a_classifier_for_ipv6_goes_before_that_for_all() -> None:
    six = "dscp-ipv6 six { forwarding-class CNP { loss-priority high code-points [ cs6 af31 ]; } }"
    text = STANZA.replace("dscp mydscp;", "dscp mydscp; dscp-ipv6 six;").replace(
        "dscp mydscp {", f"{six} dscp mydscp {{"
    )
    qos = effective(cos_of(text), "et-0/0/0")
    assert [(t.dscp, t.forwarding_class, t.loss_priority) for t in qos.treatments] == [
        (26, "CNP", "high"),
        (48, "CNP", "high"),
    ]


def test_buffers_are_kept_as_statements() -> None:
    text = "class-of-service { shared-buffer { ingress { buffer-partition lossy { percent 10; } } } }"
    assert cos_of(text).buffers == ("shared-buffer ingress buffer-partition lossy percent 10",)
    assert BUFFERS == ("shared-buffer", "dedicated-buffer")


@pytest.mark.parametrize(("text", "value"), [("011010", 26), ("ef", 46), ("af31", 26), ("cs6", 48), ("x", None)])
def test_code_points(text: str, value: int | None) -> None:
    assert code_point(text) == value


def test_the_published_configurations_say_the_same_on_every_port() -> None:
    files = sorted(need_shared("junos-corpus/aiml_multitenancy_backend/conf").glob("*.conf"))
    found = {effective(cos_of(file.read_text()), "et-0/0/0:0") for file in files}
    assert len(files) == 8
    assert found == {effective(COS, "et-0/0/0")}


WORDS = re.findall(r"[A-Za-z0-9*.-]+", STANZA)


@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=7), max_size=12))
def test_any_subset_and_any_order_of_words_can_be_read(statements: list[list[str]]) -> None:
    text = "".join(f"set class-of-service {' '.join(words)}\n" for words in statements)
    assert isinstance(effective(cos_of(text), "et-0/0/0").treatments, tuple)


@given(st.data())
def test_any_damaged_line_can_be_read(data: st.DataObject) -> None:
    lines = STANZA.split("\n")
    leaves = [number for number, line in enumerate(lines) if line.endswith(";")]
    number = data.draw(st.sampled_from(leaves))
    words = lines[number].rstrip(";").split()
    kept = data.draw(st.lists(st.sampled_from(words), min_size=1, max_size=len(words)))
    lines[number] = " ".join(word for word in kept if word not in "[]") + " x;"
    assert isinstance(effective(cos_of("\n".join(lines)), "et-0/0/0").missing, tuple)
