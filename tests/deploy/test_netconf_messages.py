"""Every parser of a device's answers takes any answer: it reads it, or says what is wrong with it."""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from ncclient.transport.session import NetconfBase
from ncclient.xml_ import qualify

from ailb_gen.deploy import resource_limits
from ailb_gen.deploy.artifacts import lldp
from ailb_gen.deploy.drivers import ask, commit_of, history, text_of
from ailb_gen.deploy.netconf import _Framing
from ailb_gen.deploy.netconf_messages import (
    CONFIGURATION,
    LONG,
    ROUTES,
    SESSIONS,
    SHORT,
    AnswerError,
    Limit,
    Message,
    limit_of,
)
from ailb_gen.deploy.resource_limits import Share, Shared, TooMuchError
from ailb_gen.deploy.switch_driver import DeviceError, Phase
from ailb_gen.deploy.switch_state import (
    ExpectedPrefix,
    ExpectedSession,
    ExpectedState,
    advertised,
    alarms,
    announcing,
    bgp_sessions,
)

NAME = "leaf1"
ANSWERS = {
    "get-bgp-summary-information": """<bgp-information><bgp-peer><peer-address>fe80::1%et-0/0/0.0+179</peer-address>
        <peer-as>65001</peer-as><peer-state>Established</peer-state><bgp-rib><accepted-prefix-count>7
        </accepted-prefix-count></bgp-rib></bgp-peer></bgp-information>""",
    "get-route-information": """<route-information><route-table><rt><rt-destination>fc00::</rt-destination>
        <rt-prefix-length>64</rt-prefix-length><rt-entry><communities><community>color:0:1</community></communities>
        <bgp-aigp>0</bgp-aigp></rt-entry></rt></route-table></route-information>""",
    "get-ipv6-ra-information": """<ipv6-ra-information><ipv6-ra-interface><interface-name>irb.2</interface-name>
        <ipv6-ra-advertisements-sent>9</ipv6-ra-advertisements-sent></ipv6-ra-interface></ipv6-ra-information>""",
    "get-alarm-information": """<alarm-information><alarm-summary/><alarm-detail><alarm-description>Fan
        </alarm-description></alarm-detail></alarm-information>""",
    "get-system-alarm-information": "<alarm-information><alarm-summary><no-active-alarms/></alarm-summary>"
    "</alarm-information>",
    "get-lldp-neighbors-information": """<lldp-neighbors-information><lldp-neighbor-information>
        <lldp-local-port-id>et-0/0/0</lldp-local-port-id><lldp-remote-system-name>spine1</lldp-remote-system-name>
        <lldp-remote-port-id>et-0/0/1</lldp-remote-port-id></lldp-neighbor-information></lldp-neighbors-information>""",
    "get-commit-information": """<commit-information><commit-history><sequence-number>0</sequence-number>
        <user>x</user><date-time seconds="1700000000">t</date-time><comment>commit confirmed, rollback in 10mins
        </comment><log>y</log></commit-history></commit-information>""",
}
TEXTS = ("", " ", "x", "-1", "1e9", "٣", "9" * 5000, "\u202e\x85", "%s{}", "../../x", "2" * 19, "\t\n", "0x10", "NaN")
EXPECTED = ExpectedState(
    NAME,
    (ExpectedSession("et-0/0/0.0", "spine1", 65001, 5),),
    (ExpectedPrefix("et-0/0/0.0", "fc00::/64", "color:0:1", 0),),
    frozenset({"irb.2"}),
)  # fmt: skip


def mutated(text: str, draw: random.Random) -> Any:
    """Return an answer with some of it removed, repeated, renamed or replaced."""
    root = etree.fromstring(text)
    for _ in range(draw.randrange(1, 6)):
        one = draw.choice(list(root.iter()))
        what = draw.randrange(6)
        above = one.getparent()
        if what == 0 and above is not None:
            above.remove(one)
        elif what == 1:
            one.text = draw.choice(TEXTS).replace("\x85", "\u0085")
        elif what == 2:
            one.tag = draw.choice(["x", *(other.tag for other in root.iter())])
        elif what == 3:
            one.append(deepcopy(draw.choice(list(root.iter()))))
        elif what == 4:
            one.set("seconds", draw.choice(TEXTS))
        else:
            one.insert(0, draw.choice([etree.Comment("x"), etree.ProcessingInstruction("x", "y"), etree.Element("x")]))
    return root


class Told:
    """A PyEZ device, and a Switch on it, that answers the names of requests."""

    name = NAME

    def __init__(self, answer: Callable[[str], object]) -> None:
        self.answer, self.rpc = answer, self

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda **_: self.answer(name.replace("_", "-"))

    def ask(self, rpc: str, **arguments: str | bool) -> Any:
        """Send an RPC as a Switch does."""
        return ask(self, NAME, Phase.VERIFY, rpc, **arguments)


PARSERS: dict[str, Callable[[Any], object]] = {
    "peers": bgp_sessions,
    "advertised": lambda told: advertised(told, "fe80::1"),
    "announcing": announcing,
    "alarms": alarms,
    "lldp": lldp,
    "history": lambda told: history(told, NAME),
    "differences": EXPECTED.deviations,
}


@pytest.mark.parametrize("what", PARSERS)
@given(seed=st.integers(0, 2**32))
def test_a_mutated_answer_is_read_or_told(what: str, seed: int) -> None:
    draw = random.Random(seed)
    try:
        PARSERS[what](Told(lambda rpc: True if draw.random() < 0.05 else mutated(ANSWERS[rpc], draw)))
    except DeviceError as error:
        assert error.device == NAME
        assert "get-" in error.reason


def test_good_answers_are_read() -> None:
    good: Any = Told(lambda rpc: etree.fromstring(ANSWERS[rpc]))
    assert EXPECTED.deviations(good) == ("new alarm: Fan",)
    assert history(good, NAME)[0].pending_minutes == 10
    assert [row.system for row in lldp(good)] == ["spine1"]


@pytest.mark.parametrize("rpc", ["get-commit-information", "get-alarm-information", "get-system-alarm-information"])
def test_silence_is_no_good_news(rpc: str) -> None:
    with pytest.raises(DeviceError, match=f"its answer to {rpc} cannot be read: it has no "):
        Told(lambda rpc: True).ask(rpc)


@pytest.mark.parametrize("text", [*TEXTS, None])
def test_an_entry_of_the_history(text: str | None) -> None:
    entry = etree.fromstring(ANSWERS["get-commit-information"])[0]
    number = entry.find("sequence-number")
    assert number is not None
    number.text = text
    with suppress(DeviceError):
        assert str(commit_of(NAME, entry).number) == text


@pytest.mark.parametrize("reply", [True, None, "", " \n", etree.Element("x"), 7])
def test_a_configuration_that_is_none(reply: object) -> None:
    with pytest.raises(DeviceError, match="its answer to get-configuration cannot be read"):
        text_of(NAME, reply)


class Text:
    """A message that keeps its bytes."""

    def __init__(self) -> None:
        self.size, self.text = 0, bytearray()

    def feed(self, data: bytes) -> None:
        self.text += data


class Heard:
    """A session that keeps the messages it is given."""

    def __init__(self, base: object) -> None:
        self._base, self.messages = base, list[str]()

    def message(self) -> Text:
        return Text()

    def arrived(self, message: Text) -> None:
        self.messages.append(message.text.decode().strip())


def heard(base: object, pieces: list[bytes]) -> list[str]:
    session: Any = Heard(base)
    framing = _Framing(session)
    for piece in pieces:
        framing.parse(piece)
    return list(session.messages)


def cut(data: bytes, at: list[int]) -> list[bytes]:
    ends = sorted({min(one, len(data)) for one in at} | {len(data)})
    return [data[start:end] for start, end in zip([0, *ends], ends, strict=False)]


MESSAGES = st.lists(
    st.text(string.ascii_letters + "ü€𝄞<>#]\n", min_size=1).filter(lambda text: "]]>" not in text), max_size=4
)


@given(MESSAGES, st.lists(st.integers(0, 300)), st.integers(1, 9))
def test_messages_in_any_pieces(messages: list[str], at: list[int], size: int) -> None:
    wanted = [message.strip() for message in messages]
    old = b"".join(message.encode() + b"\n]]>]]>" for message in messages)
    assert heard(NetconfBase.BASE_10, cut(old, at)) == wanted
    new = b""
    for message in messages:
        data = message.encode()
        chunks = [data[start : start + size] for start in range(0, len(data), size)]
        new += b"".join(b"\n#%d\n%b" % (len(chunk), chunk) for chunk in chunks) + b"\n##\n"
    assert heard(NetconfBase.BASE_11, cut(new, at)) == wanted


@given(
    st.lists(st.binary(max_size=40) | st.sampled_from([b"\n#", b"\n##\n", b"\n#3\nabc", b"]]>]]>", b"<a>", b"\xff"]))
)
def test_any_bytes_are_messages_or_told(pieces: list[bytes]) -> None:
    class Parsing(Heard):
        def message(self) -> Any:
            return Message(LONG, Share(Shared()))

        def arrived(self, message: Any) -> None:
            message.root()

    for base in (NetconfBase.BASE_10, NetconfBase.BASE_11):
        session: Any = Parsing(base)
        framing = _Framing(session)
        with suppress(AnswerError):
            for piece in pieces:
                framing.parse(piece)


HEADERS = (b"\n#99999999999\n", b"\n#0\n", b"\n#-1\n", b"\n# 1\n", b"hello there")


@pytest.mark.parametrize("header", HEADERS)
def test_chunks_that_are_none(header: bytes) -> None:
    with pytest.raises(AnswerError):
        heard(NetconfBase.BASE_11, [header, b"x" * 20])


def parsed(text: str, limit: Limit = LONG, share: Share | None = None) -> Any:
    """Return the tree of a message that comes in pieces."""
    data = text.encode()
    size = 7 if len(data) < 1000 else 5000
    message = Message(limit, share or Share(Shared()))
    for start in range(0, len(data), size):
        message.feed(data[start : start + size])
    return message.root()


@pytest.mark.parametrize("limit", [SHORT, LONG])
@pytest.mark.parametrize(
    "text",
    ["<!DOCTYPE a>", "<?xml version='1.0'?><!DOCTYPE a><a/>", "<!-- <a> --><!DOCTYPE a><a/>", "<?a?>", "", "x<a/>",
     "+ADw-", "<?a <!-- ?><!DOCTYPE a []><a/>", "<!-- -- - --><!ENTITY", "\ufeff<!DOCTYPE a><a/>", "<a>&b;</a>",
     "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "<a/><b/>", "<a", "<a><b></a>"],
)  # fmt: skip
def test_what_is_no_plain_document(text: str, limit: Limit) -> None:
    with pytest.raises(AnswerError):
        parsed(text, limit)


PLAIN = "<?xml version='1.0'?>\n<!-- - <!DOCTYPE --><a><![CDATA[<!DOCTYPE]]></a>"
REPLY = """
<rpc-reply xmlns="urn:ietf:params:xml:ns:netconf:base:1.0" xmlns:junos="http://x" message-id="7">
  <?p i?><x xmlns="http://y" junos:style="brief">
    <y> 1 </y><!-- c --><y>2&lt;<![CDATA[<3]]></y> tail <z> </z>
  </x>
</rpc-reply>"""


@pytest.mark.parametrize("limit", [SHORT, LONG, CONFIGURATION])
def test_a_plain_document(limit: Limit) -> None:
    assert parsed(PLAIN, limit).text == "<!DOCTYPE"
    inner = '<x style="brief"><y> 1 </y><y>2&lt;&lt;3</y> tail <z> </z></x>'
    assert etree.tostring(parsed(REPLY, limit)).decode() == f'<rpc-reply message-id="7">{inner}</rpc-reply>'


def test_an_error_is_one_in_any_namespace() -> None:
    for space in ("", ' xmlns="urn:ietf:params:xml:ns:netconf:base:1.0"', ' xmlns="http://xml.juniper.net/x"'):
        found = parsed(
            f"<rpc-reply><a/><rpc-error{space}><error-message>no</error-message></rpc-error><b/></rpc-reply>"
        )
        assert [one.tag for one in found] == ["a", qualify("rpc-error"), "b"]
        assert found[1].findtext(qualify("error-message")) == "no"


def test_only_what_matters_of_routes_is_kept() -> None:
    text = f"<rpc-reply>{ANSWERS['get-route-information'].replace('<rt-entry>', '<rt-entry><as-path>x<b/></as-path>')}"
    assert "as-path" not in etree.tostring(parsed(f"{text}</rpc-reply>", ROUTES)).decode()
    good: Any = etree.tostring(parsed(f"{text}</rpc-reply>", ROUTES)[0])
    assert b"color:0:1" in good and b"bgp-aigp" in good and b"rt-prefix-length" in good


def test_what_is_read_of_sessions_is_kept_and_nothing_else() -> None:
    rest = "<flap-count>3</flap-count><description>x<b>y</b></description>"
    body = ANSWERS["get-bgp-summary-information"].replace("<peer-as>", f"{rest}<peer-as>")
    text = f"<rpc-reply><multi-routing-engine-results>{body}</multi-routing-engine-results></rpc-reply>"
    whole: Any = Told(lambda rpc: parsed(text, LONG))
    part: Any = Told(lambda rpc: parsed(text, SESSIONS))
    assert bgp_sessions(part) == bgp_sessions(whole) != ()
    assert b"flap" not in etree.tostring(parsed(text, SESSIONS))
    assert limit_of("get-bgp-summary-information") is SESSIONS
    assert "BGP is not running" in etree.tostring(parsed(f"<rpc-reply>{NOT_RUNNING}</rpc-reply>", SESSIONS)).decode()


NOT_RUNNING = "<output>BGP is not running</output>"
REFUSED = {
    "elements": ("<a>" + "<b/>" * 30_000, SHORT, "more than 20000 elements"),
    "elements of routes": ("<a>" + "<b/>" * 3000, replace(ROUTES, elements=2000), "more than 2000 elements"),
    "text": ("<a>" + "x" * (5 << 20), CONFIGURATION, "more than 4 MiB"),
    "wide text": ("<a>" + "\U0001f600x" * (1 << 20), CONFIGURATION, "more than 4 MiB"),
    "length": ("<a>" + "<!-- x -->" * (2 << 20), LONG, "longer than 12 MiB"),
    "a comment": (f"<a><!--{'x' * 1_200_000}--></a>", LONG, "tag or comment in it is longer than 1 MiB"),
    "a comment before": (f"<!--{'x' * 1_200_000}--><a></a>", LONG, "tag or comment in it is longer than 1 MiB"),
    "an instruction": (f"<a><?x {'x' * 1_200_000}?></a>", LONG, "tag or comment in it is longer than 1 MiB"),
    "a name": (f"<a><{'x' * 1_200_000}/></a>", LONG, "tag or comment in it is longer than 1 MiB"),
    "an attribute": (f"<a><b c='{'x' * 1_200_000}'/></a>", LONG, "tag or comment in it is longer than 1 MiB"),
    "blanks before": (f"<!-- -->{' ' * 1_200_000}<a></a>", LONG, "tag or comment in it is longer than 1 MiB"),
    "attributes": ("<a><b " + " ".join(f"c{n}='x'" for n in range(70)) + "/></a>", LONG, "too many attributes"),
    "namespaces": ("<a><b " + " ".join(f"xmlns:c{n}='x'" for n in range(70)) + "/></a>", LONG, "too many attributes"),
    "depth": ("<a>" * 70, LONG, "too deep"),
    "errors in errors": ("<a>" + "<rpc-error>" * 2, LONG, "an error is nested in an error"),
    "a long error": ("<a><rpc-error/>" + f"<b>{'x' * (1 << 20)}</b>" * 9, LONG, "more than 8 MiB"),
    "a long text": (f"<a><b>{'x' * (1 << 20)}x</b></a>", LONG, "a text in it is longer than 1 MiB"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_too_much(what: str) -> None:
    text, limit, reason = REFUSED[what]
    with pytest.raises(AnswerError, match=reason):
        parsed(text, limit)


def test_devices_share_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short answers always fit; a long one waits for room, and is refused when there is none."""
    monkeypatch.setattr(resource_limits, "PATIENCE_S", 0.01)
    shared = Shared(9 << 20)
    text = f"<a>{'x' * 4_000_000}</a>"
    *others, last = (Share(shared) for _ in range(4))
    for share in others:
        parsed(text, CONFIGURATION, share)
    with pytest.raises(AnswerError, match="use fewer at once"):
        parsed(text, CONFIGURATION, last)
    parsed(f"<a>{'x' * (1 << 19)}</a>", CONFIGURATION, last)
    for share in (*others, last):
        share.done()
    assert shared.left == 9 << 20
    parsed(text, CONFIGURATION, last)


def test_what_is_read_slowly_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that has the most of those that still read; not an answer that is whole."""
    monkeypatch.setattr(resource_limits, "LEASE_S", 0.0)
    shared, ousted = Shared(9 << 20), list[str]()

    def share(name: str) -> Share:
        def oust() -> None:
            ousted.append(name)
            # As the session's end does.
            shares[name].done()

        return Share(shared, oust)

    shares = {name: share(name) for name in ("whole", "small", "large", "new")}
    for name, size in (("whole", 5 << 20), ("small", 2 << 20), ("large", 5 << 20)):
        shares[name].need(size)
    shares["whole"].whole()
    shares["new"].need(3 << 20)
    assert ousted == ["large"]
    with pytest.raises(TooMuchError, match="long and slow"):
        shares["large"].need(9 << 20)


def test_an_answer_that_is_none_is_let_go() -> None:
    message = Message(CONFIGURATION, Share(Shared()))
    with pytest.raises(AnswerError):
        message.feed(b"<a>" + b"x" * (5 << 20))
    assert (message._builder.root, message._builder.pieces, message._builder.blocks) == (None, [], [])
