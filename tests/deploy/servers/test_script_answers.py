"""A server in somebody else's hands: whatever it answers is an error with its name, or harmless."""

from __future__ import annotations

import base64
import json
import random
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from ipaddress import IPv6Address
from stat import S_IFCHR, S_IFDIR, S_IFIFO, S_IFLNK

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.addresses import Prefix, address_text, eui64
from ailb_gen.checks.model import Finding
from ailb_gen.deploy.artifacts import collect_host
from ailb_gen.deploy.servers.expected import ExpectedRoute, ExpectedServer
from ailb_gen.deploy.servers.files import MAX_FILES, MAX_WIDE
from ailb_gen.deploy.servers.observed import PARTS, observe
from ailb_gen.deploy.servers.script import status
from ailb_gen.deploy.servers.ssh import SHORT_ANSWER, ScriptAnswer, ServerConnection
from ailb_gen.deploy.servers.verify import beyond_push, compare_all, verify
from ailb_gen.deploy.switch_driver import DeviceError, Phase
from ailb_gen.hosts.text import MAX_BYTES
from tests.deploy.servers.steps import probe_text

NAME = "gpu-1"
MAC = "a0:88:c2:3b:00:01"
GOOD = "etc/netplan/60-ailb-gpu.yaml"
NOTHING = ExpectedServer({}, {}, (), (), (), {})
STATUS = {
    "run": "applied", "pending": "r1", "pending_state": "applied", "remaining": 7, "current": None, "busy": False,
    "way": "netplan",
}  # fmt: skip


class Liar(ServerConnection):
    """A server that answers everything with the same words."""

    name = NAME

    def __init__(self, out: bytes) -> None:
        self.out = out

    def run(self, script: str, phase: Phase, timeout_s: float, most: int = SHORT_ANSWER) -> ScriptAnswer:
        """Answer."""
        assert script
        assert timeout_s > 0
        assert most > len(self.out)
        return ScriptAnswer(0, self.out, "")


def looked(names: Iterable[str], before: str = "", content: bytes = b"x", mode: int = 0o100644) -> Liar:
    """A host that has these files."""
    files = "".join(f"= {mode:x} 0 0 {name}\n{base64.encodebytes(content).decode()}" for name in names)
    text = f"== before\n{before}== files\n{files}== end\n"
    return Liar(text.encode("utf-8", "surrogateescape"))


def probed(**sections: str) -> Liar:
    return Liar(probe_text(**sections).encode())


def refused(act: Callable[[], object], phase: Phase) -> str:
    with pytest.raises(DeviceError) as error:
        act()
    assert (error.value.device, error.value.phase) == (NAME, phase)
    assert str(error.value).isprintable()
    return str(error.value)


def test_what_it_says_in_good_faith() -> None:
    found = collect_host(NAME, looked([GOOD, "usr/local/sbin/ailb-net"]))
    assert sorted(found.files) == [f"servers/{NAME}/{path}" for path in (GOOD, "usr/local/sbin/ailb-net")]
    assert status(Liar(json.dumps(STATUS).encode()), "r1").remaining == 7
    assert verify(probed(), NOTHING) == ()


def test_a_secret_that_somebody_has_added_is_not_collected() -> None:
    added = looked([GOOD], content="# ü\npassword: hunter2\nmtu: 9000\n".encode() + b"\xff")
    (content,) = collect_host(NAME, added).files.values()
    assert content == "# ü\npassword: ***\nmtu: 9000\n".encode() + b"\xff"


@pytest.mark.parametrize(
    "name",
    [
        "../../../x", "etc/../../../x", "/etc/netplan/x", "etc/netplan/../x", "etc/./x", "etc//x",
        "root/.ssh/authorized_keys", "home/u/x", "switches/leaf1.conf", "../gpu-2/etc/netplan/x", "etc/netplan/a\nb",
        "etc/netplan/\x1b[2J", "etc/netplan/\u202ex", "etc/netplan/a b", "etc/netplan/\udcff", f"etc/{'n' * 256}",
        "etc", "", "-rf",
    ],
)  # fmt: skip
def test_names_that_no_push_has_written(name: str) -> None:
    told = refused(lambda: collect_host(NAME, looked([GOOD, name])), Phase.READ)
    assert any(text in told for text in ("no push has written", "cannot be read", "is not text"))
    listed = looked([GOOD], before=f"{'0' * 64} {name}\n")
    refused(lambda: collect_host(NAME, listed), Phase.READ)


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        ((GOOD, GOOD), "twice"),
        ((GOOD, GOOD.upper().replace("ETC", "etc")), "twice"),
        (("etc/a", "etc/a/b"), "no push has written"),
        (("etc/A", "etc/a/b"), "no push has written"),
        (tuple(f"etc/{number}" for number in range(MAX_FILES + 1)), f"more than {MAX_FILES}"),
    ],
)
def test_names_that_do_not_go_together(names: tuple[str, ...], reason: str) -> None:
    assert reason in refused(lambda: collect_host(NAME, looked(names)), Phase.READ)


def test_what_is_no_file() -> None:
    """Links, devices and folders are told, never followed; a file that is too large is named."""
    for kind in (S_IFLNK, S_IFCHR, S_IFIFO, S_IFDIR):
        answer = looked([GOOD], content=b"/etc/shadow", mode=kind | 0o777)
        assert collect_host(NAME, answer).files == {}
    large = refused(lambda: collect_host(NAME, looked([GOOD], content=bytes(MAX_BYTES + 1))), Phase.READ)
    assert f"/{GOOD} is larger than 2 MiB; no push has written such a file; inspect it" in large
    assert len(collect_host(NAME, looked([GOOD], content=bytes(MAX_BYTES))).files) == 1


def listed(record: str) -> bytes:
    return f"== before\n== files\n{record}== end\n".encode()


@pytest.mark.parametrize(
    "out",
    [
        b"", b"\xff", b"== before\n", b"== files\n", b"== before\nnonsense\n== files\n", b"== before\n== files\n!!!!",
        b"== before\n== files\nQUJD\n== end\n",
        *map(listed, [
        "= 81a4 0 0\n", "= 81a4 0 etc/a\n", "= -1 0 0 etc/a\n", "= 81a4 0 99999999999 etc/a\n", "81a4 0 0 etc/a\n",
        "= 81a4 0 0 etc/a\nQQ\n", "= 81a4 0 0 etc/a\n====\n", "= 81a4 0 0 etc/a\nQQ==QQ==\n",
        "=" * 100_000, "\n= " * 100_000, "\n= x" * 100_000, f"= {'8' * 100_000} 0 0 etc/a\n",
        f"= 81a4 0 0 {'etc/' * 100_000}a\n", f"= 81a4 0 0 {'.' * 100_000}\n", "x",
        ]),
    ],
)  # fmt: skip
def test_a_list_of_files_that_is_none(out: bytes) -> None:
    refused(lambda: collect_host(NAME, Liar(out)), Phase.READ)


def test_a_long_answer_is_ascii() -> None:
    """One other letter takes four bytes of memory for every letter."""
    long = b"== before\n== files\n" + b"x" * MAX_WIDE
    assert "is not ASCII" in refused(lambda: collect_host(NAME, Liar(long + "\U0001f600".encode())), Phase.READ)
    assert "no list of files" in refused(lambda: collect_host(NAME, Liar(long + b"\n== end\n")), Phase.READ)


@pytest.mark.parametrize(
    "said",
    [
        [], 7, "x", None, {}, {**STATUS, "remaining": "7"}, {**STATUS, "remaining": True}, {**STATUS, "pending": 1},
        {**STATUS, "pending": "../x"}, {**STATUS, "current": "\x1b]0;x\a"}, {**STATUS, "way": "\x1b[2J"},
        {**STATUS, "run": "mine"}, {**STATUS, "pending_state": []},
    ],
)  # fmt: skip
def test_a_status_that_is_none(said: object) -> None:
    refused(lambda: status(Liar(json.dumps(said).encode()), "r1"), Phase.READ)


def test_json_that_is_too_deep() -> None:
    refused(lambda: status(Liar(b"[" * 200_000), "r1"), Phase.READ)
    refused(lambda: verify(probed(route="[" * 200_000), NOTHING), Phase.VERIFY)


@pytest.mark.parametrize(
    ("section", "text"),
    [
        ("rule", "not json"), ("rule", '[{"priority": 1}]'), ("link", '[{"ifname": "x"}]'), ("files", "= etc/a"),
        ("link", "{}"), ("link", "[[]]"), ("link", '[{"ifname": "a", "mtu": "x", "operstate": "UP"}]'),
        ("rule", '[{"priority": "1", "src": "all", "table": "9"}]'), ("rule", '["x"]'), ("rule", "7"),
        ("rule", '[{"priority": 1, "src": "all", "table": Infinity}]'), ("route", '[{"dst": 7}, 7]'),
        ("route", '[{"dst": "default", "dev": "a", "table": "main"}]'), ("ping", "a b"), ("files", "QQ"),
        ("addr", "7"), ("addr", '[{"ifname": "a"}]'), ("addr", '[{"ifname": "a", "addr_info": 7}]'),
        ("addr", '[{"ifname": "a", "addr_info": [7]}]'), ("addr", '[{"ifname": "a/b c d e f g h i", "addr_info": []}]'),
        ("nic", "gpu0_eth 400000"), ("plugin", "digest x"), ("plugin", "rdma -1"),
    ],
)  # fmt: skip
def test_a_probe_that_cannot_be_read(section: str, text: str) -> None:
    with pytest.raises(DeviceError, match=r"answer cannot be read|files of the host cannot be read") as error:
        verify(probed(**{section: text}), NOTHING)
    assert error.value.device == NAME
    assert error.value.phase in (Phase.VERIFY, Phase.READ)


# Addresses apart by this have one hash, those apart by the number below it have not.
PRIME = (1 << 61) - 1


def addresses(step: int) -> list[str]:
    return [str(IPv6Address((0xFC << 120) + step * n)) for n in range(15_000)]


def found_in_time(judged: Callable[[list[str]], Sequence[Finding]]) -> Sequence[Finding]:
    """Return the findings about addresses with one hash, which may not take longer than about others."""
    start = time.process_time()
    judged(addresses(PRIME - 1))
    others = time.process_time() - start
    found = judged(addresses(PRIME))
    assert time.process_time() - start - others < 5 * others
    return found


def test_any_number_of_routes_is_some_findings() -> None:
    """Also where all of them have one hash: what a table is looked up in is not what a host has sent."""
    expected = replace(NOTHING, routes=(ExpectedRoute(9, Prefix(0, 0), "a", None),))

    def judged(texts: list[str]) -> Sequence[Finding]:
        routes = [{"dst": text, "dev": "a", "table": "9"} for text in texts]
        return verify(probed(route=json.dumps(routes)), expected)

    found = found_in_time(judged)
    assert len(found) == 1001
    assert found[-1].message.endswith(" table 9; 14,000 more findings")


def test_any_number_of_addresses_is_some_findings(expected: ExpectedServer) -> None:
    def judged(texts: list[str]) -> Sequence[Finding]:
        rows = [{"family": "inet6", "local": text, "prefixlen": 64, "scope": "global"} for text in texts]
        answer = probed(addr=json.dumps([{"ifname": "gpu0_eth", "address": "a0:88:c2:3b:00:01", "addr_info": rows}]))
        return beyond_push(NAME, expected, observe(answer, expected))

    found = found_in_time(judged)
    assert len(found) == 1001
    assert found[-1].message.endswith("; 13,999 more findings")


def right(expected: ExpectedServer) -> dict[str, str]:
    """Return the sections of a server that has all that is expected."""
    own = {(nic, prefix): prefix.value | eui64(MAC) for nic, port in expected.ports.items() for prefix in port.prefixes}
    rows = {
        "link": [{"ifname": nic, "mtu": mtu, "operstate": "UP"} for nic, mtu in expected.mtus.items()],
        "addr": [{"ifname": nic, "address": MAC, "addr_info": [
            {"family": "inet6", "local": address_text(own[one]), "prefixlen": 64, "scope": "global", "dynamic": True}
            for one in own if one[0] == nic
        ]} for nic in expected.ports],
        "rule": [
            {"priority": one.priority, "src": address_text(one.source.value), "srclen": 64, "table": str(one.table)}
            for one in expected.rules
        ],
        "route": [
            {"dst": str(one.to) if one.to.length else "default", "dev": one.nic, "table": str(one.table)}
            | ({"gateway": address_text(one.gateway)} if one.gateway is not None else {})
            for one in expected.routes
        ],
    }  # fmt: skip
    files = "".join(
        f"= {one.mode:x} 0 0 {path}\n{base64.encodebytes(one.content).decode()}" for path, one in expected.tree.items()
    )
    lines = {
        "sysctl": [f"{key} = {value}" for key, value in expected.sysctls.items()],
        "nic": [f"{nic} 400000 mlx5_core 28.39.1002" for nic in expected.ports],
        "ping": [f"{one.words} {address_text(own[one.nic, one.prefix])} yes" for one in expected.gateways],
        "plugin": ["rdma 2", f"path /usr/lib/{expected.jobs.library}", f"digest {'a' * 64}"],
    }
    texts = {title: "\n".join(body) for title, body in lines.items()} | {"way": "ailb-net", "files": files.rstrip()}
    return texts | {title: json.dumps(body) for title, body in rows.items()} | {"qos": "exit 0", "gids": "exit 0"}


def outcome(expected: ExpectedServer, sections: dict[str, str]) -> str:
    """Return the error, or the first finding, of an answer; empty where all is right."""
    try:
        found = compare_all(NAME, expected, observe(probed(**sections), expected))
    except DeviceError as error:
        return str(error)
    return found[0].message if found else ""


# Interfaces of a server that are nobody's business: containers, VLANs, management, virtual functions.
OTHERS = {
    "docker0": {"local": "172.17.0.1", "family": "inet", "prefixlen": 16, "scope": "global"},
    "mgmt0": {"local": "10.0.0.7", "family": "inet", "prefixlen": 24, "scope": "global"},
    "gpu0_eth.100": {"local": "2001:db8::7", "family": "inet6", "prefixlen": 64, "scope": "global"},
    "eno1": {"local": "2001:db8:1::7", "family": "inet6", "prefixlen": 64, "scope": "global", "temporary": True},
    "gpu0_eth_v0": {"local": "fc00:1:1:2:ff:fe00:7:1", "family": "inet6", "prefixlen": 64, "scope": "global"},
}


def test_a_right_server_has_no_findings_whatever_else_it_has(expected: ExpectedServer) -> None:
    jobs = replace(expected.jobs, library="libnccl-net-x.so")
    sections = right(replace(expected, jobs=jobs))
    assert outcome(replace(expected, jobs=jobs), sections) == ""
    # With NCCL_NET_PLUGIN=none nothing is asked, and nothing is told.
    assert outcome(replace(expected, jobs=replace(jobs, library="")), sections | {"plugin": ""}) == ""
    rows = json.loads(sections["addr"])
    # `{}` is what an old ip prints instead of what it leaves out.
    rows += [{}, *({"ifname": name, "address": MAC, "addr_info": [{}, one]} for name, one in OTHERS.items())]
    there = sections | {"addr": json.dumps(rows)}
    assert outcome(replace(expected, jobs=jobs), there | {"functions": "gpu0_eth_v0"}) == ""
    assert "gpu0_eth_v0: fc00:1:1:2:ff:fe00:7:1 is in a prefix" in outcome(replace(expected, jobs=jobs), there)
    # A host cannot hide a GPU port as a virtual function.
    rows[0]["addr_info"].append(OTHERS["mgmt0"])
    hidden = sections | {"addr": json.dumps(rows[:2]), "functions": "gpu0_eth\ngpu1_eth"}
    assert "the IPv4 address 10.0.0.7/24 takes a GID" in outcome(replace(expected, jobs=jobs), hidden)


# Where nothing is said nothing is wrong: no variables of other files, no virtual functions.
SILENT = ("environment", "functions")


@pytest.mark.parametrize("title", [title for title in PARTS[:-1] if title not in SILENT])
def test_a_section_that_is_empty_nonsense_or_of_another_never_passes(expected: ExpectedServer, title: str) -> None:
    expected = replace(expected, jobs=replace(expected.jobs, library="libnccl-net-x.so"))
    sections = right(expected)
    # Two programs that have nothing to report say the same.
    others = [one for one in (sections.get(other, "") for other in PARTS[:-1]) if one != sections[title]]
    empty = ["", "[]", "[{}]", "{}", "null", "\x00\x01\x7f", "\u202e", "x" * 100_000, "[" * 5000]
    for text in dict.fromkeys((*empty, *others)):
        told = outcome(expected, sections | {title: text})
        assert told, (title, text[:80])
        assert told.isprintable()
    for other in PARTS[:-1]:
        if sections.get(other, "") != sections[title]:
            swapped = sections | {title: sections.get(other, ""), other: sections[title]}
            assert outcome(expected, swapped), (title, other)


KEYS = st.sampled_from(["src", "dst", "dev", "mtu", "table", "ifname", "addr_info", "local"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner),
    max_leaves=8,
)  # fmt: skip


@given(JSON, st.sampled_from(["link", "addr", "rule", "route"]))
def test_any_json_is_read_or_told(value: object, section: str) -> None:
    with suppress(DeviceError):
        verify(probed(**{section: json.dumps(value)}), NOTHING)


@given(st.integers(0, 2**32), st.integers(1, 12))
def test_mutated_answers_are_read_or_told(seed: int, count: int) -> None:
    draw = random.Random(seed)
    for good in (looked([GOOD, "etc/x"], f"{'a' * 64} etc/x\n"), probed(), Liar(json.dumps(STATUS).encode())):
        out = bytearray(good.out)
        for _ in range(count):
            at = draw.randrange(len(out))
            out[at : at + draw.choice((0, 1, 1, 9))] = bytes(draw.choices(range(256), k=draw.choice((0, 1, 1, 5))))
        liar = Liar(bytes(out))
        for act in (partial(collect_host, NAME, liar), partial(verify, liar, NOTHING), partial(status, liar, "r1")):
            with suppress(DeviceError):
                act()
