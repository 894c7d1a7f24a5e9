"""What a switch or server in somebody else's hands may answer; a process of its own (`python -m tests.deploy.attacks`).

Its arguments are devices: a kind, an attack, and what it is the answer to. It prints its host key and a port for each,
serves every connection of a port its attack, prints `asked` and the number of the device when the attack begins, and
ends with its standard input.
"""

from __future__ import annotations

import base64
import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from functools import partial
from itertools import count, repeat
from threading import Event

import paramiko

from tests.deploy.hostile import END, HOST_KEY, Behave, netconf, send, serving, ssh

PIECE = 1 << 16
# `%ID%` stands for the message-id; the pieces of an answer come one after the other.
Answer = Iterable[str]
# Whatever is asked.
ANY = "any"


def _many(text: str) -> Iterator[str]:
    return repeat(text * max(1, PIECE // len(text)))


def _numbered(text: str) -> Iterator[str]:
    return ("".join(text.replace("%", str(number)) for number in range(at, at + 1000)) for at in count(0, 1000))


def _first(number: int, text: str) -> Iterator[str]:
    return (text.replace("%", str(at)) for at in range(number))


def _answer(text: str) -> str:
    return f'<rpc-reply message-id="%ID%">{text}</rpc-reply>{END}'


def _reply(text: Iterable[str], tag: str = "x") -> Answer:
    before, _, after = _answer(f"<{tag}>|</{tag}>").partition("|")
    yield before
    yield from text
    yield after


_config = partial(_reply, tag="configuration-text")


def _slowly(pieces: Iterable[str], seconds: float) -> Iterator[str]:
    for piece in pieces:
        time.sleep(seconds)
        yield piece


def _up_to(size: int, text: Iterable[str]) -> Iterator[str]:
    for piece in text:
        if size <= 0:
            return
        yield piece
        size -= len(piece)


# The largest configuration that is taken, and a bit less.
FULL, WORDS = 4_100_000, 149_000
POLICY = "policy-statement p% { term t { from community c%; then accept; } }\n"
PORT = "et-0/0/% { mtu 9; unit 0 { family inet6 { address fe80::%/64; } } }\n"
GROUPS = "".join(f"g{n} {{ a {{ apply-groups g{n + 1}; }} b {{ apply-groups g{n + 1}; }} }}\n" for n in range(30))
SWITCH: Mapping[str, Callable[[], Answer]] = {
    "silence": tuple,
    "drip": lambda: _reply(_slowly(repeat(" "), 1)),
    # Each answer in time, and all of them not.
    "slow": lambda: _slowly([_answer("<alarm-summary/><x/>")], 2),
    "comments": lambda: _reply(_many("<!-- x -->")),
    "a long comment": lambda: _reply(["<!--", *repeat("x" * PIECE, 2000)]),
    "a comment in front": lambda: ["<!--", *repeat("x" * PIECE, 2000)],
    "instructions": lambda: _reply(_many("<?x y?>")),
    "elements": lambda: _reply(_many("<a/>")),
    "names": lambda: _reply(_numbered("<a%/>")),
    "attributes": lambda: _reply(["<a ", *_up_to(1 << 24, _numbered(" b%='%'"))]),
    "text": lambda: _config(_many("x")),
    "wide text": lambda: _config(_many("\U0001f600 ")),
    "entities": lambda: _config(_many("ab&lt;")),
    "errors": lambda: _reply(_many("<rpc-error><error-message>x</error-message></rpc-error>")),
    "errors in errors": lambda: _reply(_many("<rpc-error><error-info>")),
    "no XML": lambda: _many("<rpc-reply>routing-engine"),
    "no XML at all": lambda: _many("<rpc-error>" + "x" * 100),
    "messages": lambda: _many(f"<rpc-reply/>{END}"),
    "notifications": lambda: _many(f"<notification xmlns='urn:ietf:params:xml:ns:netconf:notification:1.0'/>{END}"),
    "statements": lambda: _config(_up_to(FULL, _many("a;\n"))),
    "different statements": lambda: _config(_up_to(FULL, _numbered("a%;"))),
    "blocks": lambda: _config(_up_to(FULL, _numbered("a%{b{c;}}"))),
    "open blocks": lambda: _config(_up_to(FULL, _many("a{"))),
    "words": lambda: _config(_up_to(FULL, _many("a "))),
    "values": lambda: _config(["a [", *_up_to(FULL, _numbered(" %")), "];"]),
    "quotes": lambda: _config(_up_to(FULL, _many('"'))),
    "escapes": lambda: _config(['a "', *_up_to(FULL, _many('\\\\"'))]),
    "config comments": lambda: _config(_up_to(FULL, _many("/*"))),
    "blank lines": lambda: _config(_up_to(FULL, _many("\n"))),
    "one long word": lambda: _config(_up_to(FULL, _many("a"))),
    "URLs": lambda: _config(_up_to(FULL, _many("a://b:"))),
    "schemes": lambda: _config(["a://b:c@d ", *_up_to(FULL, _many("a"))]),
    "dollars": lambda: _config(_up_to(FULL, _many("$1$"))),
    "secrets": lambda: _config(_up_to(FULL, _many("password "))),
    "groups": lambda: _config([f"groups {{ {GROUPS} g30 {{ c; }} }} apply-groups g0;"]),
    # What has as many words as a configuration may have.
    "settings": lambda: _config(["system {\n", *_first(WORDS // 3, "a% b;\n"), "}"]),
    "neighbors": lambda: _config(
        ["protocols { bgp { group g {\n", *_first(WORDS // 8, "neighbor fe80::% { peer-as %; }\n"), "} } }"]
    ),
    "policies": lambda: _config(["policy-options {\n", *_first(WORDS // 16, POLICY), "}"]),
    "ports": lambda: _config(["interfaces {\n", *_first(WORDS // 18, PORT), "}"]),
    "lines of words": lambda: _config(["a [\n", *_first(WORDS - 10, "%\n"), "];"]),
    "annotations": lambda: _config(_first(WORDS // 6, "/* x */ a;\n")),
    "nested": lambda: _config(["a% {\n" * (WORDS // 4), "b;", "}\n" * (WORDS // 4)]),
    "passwords": lambda: _config(["system {\n", *_first(WORDS // 5, 'password "$9$%";\n'), "}"]),
    "lines of URLs": lambda: _config(_first(33, f"a% \"{'a://b:' * 20_000}\";\n")),
    "long words": lambda: _config(_first(11, f"a% {'a' * 360_000};\n")),
    "long words and a URL": lambda: _config(["x a://b:c@d;\n", *_first(11, f"a% {'a' * 360_000};\n")]),
    "wildcards": lambda: _config(
        ["groups { g { &lt;*> { &lt;*> { &lt;*> { &lt;*> { x; } } } } } } apply-groups g; interfaces {"]
        + [f"a{n} {{ b{n} {{ c{n} {{ d{n}; }} }} }}" for n in range(13_000)]
        + ["}"]
    ),
    "patterns": lambda: _config(
        ["groups { g { interfaces {"] + [f"&lt;{'*a' * 30}b{n}> {{ x; }}" for n in range(300)]
        + ["} } } apply-groups g;"]
        + ["interfaces {"] + [f"{'a' * 200}{n};" for n in range(300)] + ["}"]
    ),
    "ranges": lambda: _config(
        ["interfaces {"]
        + [f"interface-range r{n} {{ member-range et-0/0/0 to et-0/0/400; mtu 9; }}" for n in range(1500)]
        + [f"et-0/0/{n} {{ mtu 9000; }}" for n in range(400)] + ["}"]
    ),
    "regular expressions": lambda: _config(
        ["policy-options { community c members \"" + "(a*)*" * 30 + "b\"; as-path p \"" + "(1*)*" * 30 + "\"; }"]
    ),
}  # fmt: skip
# What stands in the answers to questions about state.
ROWS: Mapping[str, str] = {
    "get-bgp-summary-information": "<bgp-peer><peer-address>fe80::%</peer-address><peer-as>7</peer-as>"
    "<peer-state>Established</peer-state><bgp-rib><accepted-prefix-count>1</accepted-prefix-count></bgp-rib></bgp-peer>",
    "get-alarm-information": "<alarm-summary/><alarm-detail><alarm-description>a%</alarm-description></alarm-detail>",
    "get-commit-information": "<commit-history><sequence-number>%</sequence-number><user>u%</user>"
    "<date-time seconds='%'/><log>l%</log></commit-history>",
    "get-route-information": "<rt><rt-destination>fc00::%</rt-destination><rt-prefix-length>64</rt-prefix-length>"
    "<rt-entry><communities><extended-community>color:0:%</extended-community></communities></rt-entry></rt>",
    "get-interface-information": "<physical-interface><name>et-%</name><mtu>%</mtu><logical-interface>"
    "<name>et-%.0</name></logical-interface></physical-interface>",
    "get-forwarding-table-information": "<rt-entry><rt-destination>a%</rt-destination>"
    "<nh><via>b%</via></nh></rt-entry>",
    "get-ipv6-ra-information": "<ipv6-ra-interface><interface-name>a%</interface-name><ipv6-ra-advertisements-sent>1"
    "</ipv6-ra-advertisements-sent></ipv6-ra-interface>",
    "get-lldp-neighbors-information": "<lldp-neighbor-information><lldp-local-port-id>et-0/0/%</lldp-local-port-id>"
    "<lldp-remote-system-name>s%</lldp-remote-system-name></lldp-neighbor-information>",
}
# Bytes of an answer that are taken, and of one text in it.
TAKEN, LONG_TEXT = 15_000_000, 10_000_000


def _rows(kind: str, size: int = TAKEN) -> Answer:
    """Answer a question with as many rows as are taken, or as many as fit."""
    return _reply(_up_to(size, _numbered(ROWS[kind])))


def _values(kind: str) -> Answer:
    """Answer a question with long values."""
    row, long = ROWS[kind].partition("%"), "7" * LONG_TEXT
    return _reply([f"{row[0]}{long}{row[2].replace('%', '1')}"])


def _odd(kind: str) -> Answer:
    """Answer a question with values that are no numbers, and rows without any."""
    rows = ROWS[kind]
    without = re.sub(r"<([a-z-]+)>[^<]*</\1>", "", rows.replace("%", "1"))
    return _reply([rows.replace("%", "\u0664\x85"), re.sub(r">[^<]+<", "><", rows).replace("%", "1"), without])


OF_STATE: Mapping[str, Callable[[str], Answer]] = {
    "rows": _rows,
    "some rows": lambda kind: _rows(kind, 3_000_000),
    "long values": _values,
    "odd values": _odd,
}
CONFIG = _answer("<configuration-text>system {}\n</configuration-text>")
# The run that the last commit of every switch is of.
RUN = "1-20261125T000000-abcd"
GOOD = {
    "get-alarm-information": "<alarm-information><alarm-summary/></alarm-information>",
    "get-system-alarm-information": "<alarm-information><alarm-summary/></alarm-information>",
    "get-commit-information": "<commit-information><commit-history><sequence-number>0</sequence-number><user>x</user>"
    '<date-time seconds="1700000000">t</date-time>'
    f"<log>ailb-gen {RUN} push</log></commit-history></commit-information>",
    # All sessions of stripe1-leaf1 in the lab are up: only then its routes are asked for.
    "get-bgp-summary-information": "<bgp-information>"
    + "".join(
        f"<bgp-peer><peer-address>fe80::{n}%et-0/0/{n - 1}.0</peer-address><peer-as>6500{n}</peer-as>"
        "<peer-state>Established</peer-state></bgp-peer>"
        for n in range(1, 5)
    )
    + "</bgp-information>",
}


def switch(name: str, when: str, device: int) -> Behave:
    """Speak NETCONF, and answer one kind of request, or all others than those of GOOD, with the attack."""
    attack = SWITCH[name] if name in SWITCH else partial(OF_STATE[name], when)

    def answer(kind: str) -> Iterator[bytes]:
        if when == ANY or kind in when.split("+"):
            tell(f"asked {device}")
            return map(str.encode, attack())
        good = CONFIG if kind == "get-configuration" else _answer(GOOD.get(kind, "<ok/>"))
        return iter([good.encode()])

    return netconf(answer)


def tell(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _probe(**sections: Iterable[str]) -> Answer:
    parts: dict[str, Iterable[str]] = {"way": ["netplan"], "files": []}
    parts |= {title: ["[]"] for title in ("link", "addr", "rule", "route")}
    parts |= {title: [] for title in ("sysctl", "functions", "environment", "ping")}
    parts |= {"nic": ["gpu0_eth - - -\ngpu1_eth - - -"], "plugin": ["rdma 0"], "qos": ["exit 0"], "gids": ["exit 0"]}
    for title, body in (parts | sections).items():
        yield f"== {title}\n"
        yield from body
        yield "\n"
    yield "== end\n"


def _look(files: Iterable[str], before: Iterable[str] = ()) -> Answer:
    yield "== before\n"
    yield from before
    yield "\n== files\n"
    yield from files
    yield "\n== end\n"


PRIME = (1 << 61) - 1
MOST = 8_000_000
FILE = "= 81a4 0 0 etc/netplan/60-ailb-gpu.yaml\n"
STATUS = {"run": None, "pending": None, "pending_state": None, "remaining": 0, "current": None, "busy": False}
LOOKS: Mapping[str, Callable[[], Answer]] = {
    "silence": lambda: repeat(""),
    "endless": lambda: _many("x"),
    "sections": lambda: _up_to(MOST, _many("\n== ")),
    "records": lambda: _look(_up_to(MOST, _many("\n= "))),
    "headers": lambda: _look(["= ", *_up_to(MOST, _many("8"))]),
    "a deep name": lambda: _look(["= 81a4 0 0 etc/", *_up_to(MOST, _many("a/")), "a\n"]),
    "dots": lambda: _look(["= 81a4 0 0 etc/", *_up_to(MOST, _many("./")), "a\n"]),
    "base64": lambda: _look([FILE, *_up_to(MOST, _many("A"))]),
    "lines of base64": lambda: _look([FILE, *_up_to(MOST, _many("A\n"))]),
    "paddings": lambda: _look([FILE, *_up_to(MOST, _many("="))]),
    "lines": lambda: _look([], _up_to(MOST, _many("x\n"))),
    "blank lines": lambda: _look([], _up_to(MOST, _many("\n"))),
    "an archive": lambda: _look([base64.encodebytes(b"16 size=" + b"9" * 40_000 + b"\n").decode()]),
    "a large file": lambda: _look([FILE, *_up_to(2_900_000, _many("A" * 76 + "\n"))]),
    "wide text": lambda: _look(["\U0001f600", *_up_to(MOST, _many("x"))]),
}
PROBES: Mapping[str, Callable[[], Answer]] = {
    "objects": lambda: _probe(link=["[", *_up_to(2_000_000, _many('{"":0},')), "{}]"]),
    "lists": lambda: _probe(route=["[", *_up_to(2_000_000, _many("[],")), "[]]"]),
    "levels": lambda: _probe(route=_up_to(2_000_000, _many("["))),
    "digits": lambda: _probe(rule=['[{"priority":', *_up_to(2_000_000, _many("9")), ',"src":"all","table":"9"}]']),
    "a fraction": lambda: _probe(rule=['[{"priority":0.', *_up_to(2_000_000, _many("9")), ',"src":"all"}]']),
    "an exponent": lambda: _probe(rule=['[{"priority":1e', *_up_to(2_000_000, _many("9")), ',"src":"all"}]']),
    "equal hashes": lambda: _probe(
        route=[json.dumps([{"dst": f"fc00::{_hex(PRIME * n)}", "dev": "a", "table": "10000"} for n in range(30_000)])]
    ),
    "equal priorities": lambda: _probe(
        rule=[json.dumps([{"priority": PRIME * (n % 4), "src": f"fc00::{n:x}", "table": "1"} for n in range(30_000)])]
    ),
    "long prefixes": lambda: _probe(route=['[{"dev":"a","dst":"', *_up_to(2_000_000, _many("f")), '"}]']),
    "addresses": lambda: _probe(addr=['[{"ifname":"a","addr_info":[', *_up_to(2_000_000, _many("{},")), "{}]}]"]),
    "hardware": lambda: _probe(nic=_up_to(MOST, _many("a b c d\n"))),
    "variables": lambda: _probe(environment=_up_to(MOST, _many("/a:1:NCCL_X=1\n"))),
    "a variable": lambda: _probe(environment=["/a:1:NCCL_X=", *_up_to(MOST, _many("'a"))]),
    "libraries": lambda: _probe(plugin=_up_to(MOST, _many("missing x\n"))),
    "settings": lambda: _probe(sysctl=_up_to(MOST, _many("ab\n"))),
    "one setting": lambda: _probe(sysctl=_up_to(MOST, _many(" = "))),
    "pings": lambda: _probe(ping=_up_to(MOST, _many("a b c d e\n"))),
    "blanks": lambda: _probe(ping=_up_to(MOST, _many(" "))),
    "escapes": lambda: _probe(link=['["', *_up_to(2_000_000, _many("\\u0041")), '"]']),
}
SERVER = {**LOOKS, **PROBES}


def _hex(value: int) -> str:
    text = f"{value & ((1 << 112) - 1):x}".zfill(24)
    return ":".join(text[at : at + 4] for at in range(0, len(text), 4)).replace("fc00::", "")


def server(name: str, when: str, device: int) -> Behave:
    """Be a shell that answers a verb of the script with the attack, and says that nothing is pending."""

    def talk(channel: paramiko.Channel, stop: Event) -> None:
        channel.sendall(b"ailb-ready\n")
        channel.settimeout(0.2)
        script = b""
        while not stop.is_set() and not channel.closed:
            with suppress(TimeoutError):
                data = channel.recv(PIECE)
                script += data
                if not data:
                    break
        verb = re.findall(rb"^main ([a-z]+)", script, re.MULTILINE)[-1].decode()
        if verb == when:
            tell(f"asked {device}")
            answer: Answer = SERVER[name]()
        elif verb == "status":
            answer = [json.dumps({**STATUS, "way": "netplan"})]
        else:
            answer = _look([])
        for piece in answer:
            if stop.is_set() or channel.closed:
                return
            send(channel, piece.encode(), stop)
        channel.send_exit_status(0)
        channel.shutdown_write()

    return ssh(talk=talk)


if __name__ == "__main__":
    rows = [sys.argv[at : at + 3] for at in range(1, len(sys.argv), 3)]
    with ExitStack() as stack:
        ports = [
            stack.enter_context(serving((switch if kind == "switch" else server)(attack, request, number)))
            for number, (kind, attack, request) in enumerate(rows)
        ]
        tell(f"{HOST_KEY.get_name()} {HOST_KEY.get_base64()} {' '.join(map(str, ports))}")
        sys.stdin.read()
