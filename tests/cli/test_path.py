"""`ailb-gen path`: queue pairs followed port by port, with failures, to addresses, and on damaged trees."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema
import pytest

from ailb_gen import compute_routes
from tests.checks.trees import GOLDEN, rendered
from tests.cli.test_routes import NUMBER, TEXT, closed, listed
from tests.cli.verbs import Told, changed, refused, run
from tests.conftest import SMALL

LAB, JVD, BROWNFIELD = (str(GOLDEN / name) for name in ("lab", "jvd", "brownfield"))
END = closed(
    device=TEXT,
    port=TEXT,
    prefix=TEXT,
    address={"type": ["string", "null"]},
    certain={"type": "boolean"},
    cable={"type": ["string", "null"]},
)
HOP = closed(
    switch=TEXT,
    **{"in": TEXT},
    prefix={"type": ["string", "null"]},
    ways=listed(closed(interface=TEXT, peer=TEXT)),
    taken=NUMBER,
    color=TEXT,
)
TRACE = closed(
    queue_pair={"type": "integer"},
    source=END,
    destination=END,
    rule=NUMBER,
    table=TEXT,
    nic=TEXT,
    entered=TEXT,
    hops=listed(HOP),
    problem=TEXT,
)


def path(*words: str, tree: str = LAB) -> Told:
    return run("path", *words, "-C", tree)


def spines(out: str) -> list[str]:
    """The spines that the queue pairs go over, in order."""
    return [line.split()[1] for line in out.splitlines() if line.startswith(" 3  spine")]


def test_a_queue_pair_hop_by_hop() -> None:
    """What a cable tester needs: every port, in and out, from server to server."""
    assert path("h100-01", "h100-04", "--qp", "2", tree=JVD) == (
        0,
        """\
queue pair 2: h100-01 gpu0_eth fc00:1:1:2::/64
           -> h100-04 gpu0_eth fc00:2:1:2::/64
 1  h100-01        rule 10001, table gpu0_subnet2
                   via fc00:1:1:2::1 dev gpu0_eth
 2  stripe1-leaf1  in et-0/0/16:0, out et-0/0/1:0.0 to spine2 (blue)
 3  spine2         in et-0/0/0:0.0, out et-0/0/8:0.0 to stripe2-leaf1 (blue)
 4  stripe2-leaf1  in et-0/0/1:0.0, fc00:2:1:2::/64 is direct
 5  h100-04        in gpu0_eth from et-0/0/16:1
""",
        "",
    )


def test_all_queue_pairs_of_a_connection() -> None:
    code, out, err = path("gpu-s1-1", "gpu-s2-2")
    assert (code, err) == (0, "")
    assert [line for line in out.splitlines() if line.startswith("queue pair")] == [
        f"queue pair {k}: gpu-s1-1 gpu0_eth fc00:1:1:{k}::/64" for k in range(1, 5)
    ]
    assert spines(out) == ["spine1", "spine2", "spine3", "spine4"]
    assert out.endswith("\n\n4 of 4 queue pairs arrive\n")


def test_a_failed_link_makes_queue_pairs_share() -> None:
    """Color 2 moves to one of the other three, which then carries two: the operator sees which, and the choice."""
    code, out, err = path("gpu-s1-1", "gpu-s2-2", "--fail", "stripe1-leaf1:spine2")
    assert (code, err) == (0, "")
    first, second, *rest = spines(out)
    assert [first, *rest] == ["spine1", "spine3", "spine4"]
    assert second in ("spine1", "spine3", "spine4")
    number = int(second.removeprefix("spine"))
    for spine in {1, 3, 4} - {number}:
        assert f"                   or out et-0/0/{spine - 1}.0 to spine{spine}\n" in out
    pairs = ", ".join(map(str, sorted((2, number))))
    assert out.endswith(
        "\n\n4 of 4 queue pairs arrive\n"
        f"stripe1-leaf1 et-0/0/{number - 1}.0 carries queue pairs {pairs}\n"
        f"{second} et-0/0/2.0 carries queue pairs {pairs}\n"
    )


def test_the_hash_picks_among_next_hops() -> None:
    """Three ways are left; the same number always takes the same one."""
    routes = compute_routes(LAB, ["spine2"])
    taken = [routes.trace("gpu-s1-1", "gpu-s2-2", 2, number)[0].hops[1].device for number in range(14)]
    assert set(taken) == {"spine1", "spine3", "spine4"}
    words = ("gpu-s1-1", "gpu-s2-2", "--qp", "2", "--fail", "spine2", "--hash")
    for number in (0, taken.index("spine3")):
        assert spines(path(*words, str(number))[1]) == [taken[number]]


def test_many_ways_are_counted(tmp_path: Path) -> None:
    """One of 8 spines fails: 7 ways are left, of which one is taken and four are named."""
    _, out = rendered(SMALL.replace("spines: 2", "spines: 8"), tmp_path)
    first, last = sorted(folder.name for folder in (out / "servers").iterdir())[0::2]
    code, text, _ = path(first, last, "--qp", "1", "--fail", "spine1", tree=str(out))
    assert code == 0
    assert text.count(" or out et-") == 4
    assert text.count(" or one of 2 more\n") == 1


def test_the_same_leaf() -> None:
    """On one's own prefix there is no gateway, and no spine."""
    code, out, _ = path("gpu-s1-1", "gpu-s1-2", "--qp", "1")
    assert (code, out) == (
        0,
        """\
queue pair 1: gpu-s1-1 gpu0_eth fc00:1:1:1::/64
           -> gpu-s1-2 gpu0_eth fc00:1:1:1::/64
 1  gpu-s1-1       rule 10000, table gpu0_subnet1
                   dev gpu0_eth
 2  stripe1-leaf1  in et-0/0/16, fc00:1:1:1::/64 is direct
 3  gpu-s1-2       in gpu0_eth from et-0/0/17
""",
    )


def test_the_nic_of_the_rail() -> None:
    out = path("h100-01:gpu3_eth", "h100-04", "--qp", "1", tree=JVD)[1]
    assert out.splitlines()[1] == "           -> h100-04 gpu3_eth fc00:2:4:1::/64"


def test_addresses_name_the_queue_pair() -> None:
    """With MAC addresses in the files an address is one NIC's, and belongs to one queue pair."""
    target = "fd12:3456:789a:2042:a288:c2ff:fe02:200"
    code, out, _ = path("a-gpu1", target, tree=BROWNFIELD)
    assert code == 0
    assert out.startswith("queue pair 2: a-gpu1 eth0_gpu fd12:3456:789a:1042:a288:c2ff:fe01:100\n")
    assert f"           -> b-gpu2 eth0_gpu {target}\n" in out
    assert out.endswith(" 5  b-gpu2  in eth0_gpu from et-0/0/0:1\n")
    code, out, _ = path(target, "a-gpu1", tree=BROWNFIELD)
    assert (code, out.splitlines()[0]) == (0, f"queue pair 2: b-gpu2 eth0_gpu {target}")


def test_an_address_that_could_be_several_servers() -> None:
    code, out, _ = path("gpu-s1-1", "fc00:2:1:3::17")
    assert code == 0
    lines = out.splitlines()
    assert lines[:2] == [
        "queue pair 3: gpu-s1-1 gpu0_eth fc00:1:1:3::/64",
        "           -> gpu-s2-1? gpu0_eth fc00:2:1:3::17",
    ]
    assert lines[-2:] == [
        " 5  gpu-s2-1?      in gpu0_eth",
        "    ? one of several servers: the files do not say which MAC address is whose",
    ]


def test_a_gateway_is_an_address_of_the_leaf() -> None:
    code, out, _ = path("gpu-s1-1", "fc00:1:1:2::1", "--qp", "2")
    assert code == 0
    assert out.splitlines()[1] == "           -> stripe1-leaf1 irb.2 fc00:1:1:2::1"
    assert out.splitlines()[-1] == " 2  stripe1-leaf1  in et-0/0/16, fc00:1:1:2::/64 is direct"


def fails(*words: str, tree: str = LAB) -> str:
    """Return what goes wrong on the way of a queue pair that does not arrive."""
    code, out, _ = path(*words, tree=tree)
    assert code == 1
    (problem,) = [line for line in out.splitlines() if "FAILS" in line]
    assert json.loads(path(*words, "--json", tree=tree)[1])[0]["problem"] == problem.removeprefix("    FAILS: ")
    assert path(*words, "--json", tree=tree)[0] == 1
    return problem


DOWN = [
    ("stripe1-leaf1", "    FAILS: stripe1-leaf1 is down"),
    ("gpu-s1-1", "    FAILS: the cable from gpu0_eth to stripe1-leaf1:et-0/0/16 is down"),
    ("stripe1-leaf1:et-0/0/16", "    FAILS: the cable from gpu0_eth to stripe1-leaf1:et-0/0/16 is down"),
    ("gpu-s2-2:gpu0_eth", "    FAILS: the cable from stripe2-leaf1:et-0/0/17 to gpu0_eth is down"),
    ("stripe2-leaf1", "    FAILS: no route at stripe1-leaf1"),
]


@pytest.mark.parametrize(("word", "problem"), DOWN)
def test_what_stops_a_packet(word: str, problem: str) -> None:
    assert fails("gpu-s1-1", "gpu-s2-2", "--qp", "2", "--fail", word) == problem


def test_a_dead_leaf_does_not_switch_either() -> None:
    """Both servers are on it: no route is missing, but nothing is there to forward."""
    assert fails("gpu-s1-1", "gpu-s1-2", "--qp", "1", "--fail", "stripe1-leaf1") == "    FAILS: stripe1-leaf1 is down"


def test_some_arrive() -> None:
    """Color 4 has no backup any more: that queue pair fails, and is not counted as sharing."""
    down = [f"stripe1-leaf1:spine{k}" for k in (1, 2, 3)] + ["stripe2-leaf1:spine4"]
    code, out, _ = path("gpu-s1-1", "gpu-s2-2", *(part for word in down for part in ("--fail", word)))
    assert code == 1
    assert out.endswith("\n\n0 of 4 queue pairs arrive\n")
    code, out, _ = path("gpu-s1-1", "gpu-s2-2", *(part for word in down[:3] for part in ("--fail", word)))
    assert code == 0
    assert "\n\n4 of 4 queue pairs arrive\nstripe1-leaf1 et-0/0/3.0 carries queue pairs 1, 2, 3, 4\n" in out


def test_as_json() -> None:
    code, out, err = path("gpu-s1-1", "gpu-s2-2", "--json", "--fail", "stripe1-leaf1:spine2")
    assert (code, err) == (0, "")
    found = json.loads(out)
    jsonschema.validate(found, listed(TRACE))
    assert [trace["queue_pair"] for trace in found] == [1, 2, 3, 4]
    assert found[0]["source"] == {
        "device": "gpu-s1-1",
        "port": "gpu0_eth",
        "prefix": "fc00:1:1:1::/64",
        "address": None,
        "certain": True,
        "cable": "stripe1-leaf1:et-0/0/16",
    }
    assert (found[0]["rule"], found[0]["table"], found[0]["entered"]) == (10000, "gpu0_subnet1", "et-0/0/16")
    assert found[0]["hops"][1] == {
        "switch": "spine1",
        "in": "et-0/0/0.0",
        "prefix": "fc00:2:1:1::/64",
        "ways": [{"interface": "et-0/0/2.0", "peer": "stripe2-leaf1"}],
        "taken": 0,
        "color": "green",
    }
    assert (found[0]["hops"][2]["ways"], found[0]["hops"][2]["taken"]) == ([], None)
    assert len(found[1]["hops"][0]["ways"]) == 3
    jsonschema.validate(json.loads(path("gpu-s1-1", "fc00:1:1:2::1", "--json")[1]), listed(TRACE))
    failed = path("gpu-s1-1", "gpu-s2-2", "--json", "--fail", "stripe1-leaf1")[1]
    jsonschema.validate(json.loads(failed), listed(TRACE))


BAD = [
    (["nobody", "gpu-s1-1"], "'nobody': there is no server called 'nobody'; there are 4: gpu-s1-1, "),
    (["gpu-s1-1", "gpu-s2-22"], "'gpu-s2-22': there is no server called 'gpu-s2-22'; did you mean 'gpu-s2-2'?\n"),
    (["spine1", "gpu-s1-1"], "'spine1': this is a switch; name a server, or an address\n"),
    (["gpu-s1-1:gpu0eth", "gpu-s1-2"], "this server has no NIC 'gpu0eth'; did you mean 'gpu0_eth'?\n"),
    (["gpu-s1-1", "gpu-s1-1"], "the same NIC; such packets never leave the server\n"),
    (["gpu-s1-1", "gpu-s1-2", "--qp", "5"], "--qp 5: gpu0_eth of gpu-s1-1 has 4 prefixes, counted from 1\n"),
    (["fc00:1:1:3::17", "gpu-s1-2", "--qp", "1"], "--qp 1: fc00:1:1:3::17 is the address of queue pair 3\n"),
    (["gpu-s1-1", "2001:db8::1"], "2001:db8::1: no server and no switch has an address there; "),
    (["2001:db8::1", "gpu-s1-1"], "2001:db8::1: no server and no switch has an address there; "),
    (["gpu-s1-1", "gpu-s1-2", "--fail", "gpu-s1-1:gpu7"], "no such cable or switch; did you mean 'gpu-s1-1:gpu"),
]


@pytest.mark.parametrize(
    ("words", "message"), BAD, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_bad_input(words: list[str], message: str) -> None:
    code, out, err = path(*words)
    assert (code, out) == (2, "")
    assert message in err and err.startswith("ailb-gen: ") and err.count("\n") == 1


@pytest.mark.parametrize("words", [("--qp", "0"), ("--qp", "x"), ("--hash", "-1")], ids=str)
def test_bad_numbers(words: tuple[str, str]) -> None:
    refused(path("gpu-s1-1", "gpu-s1-2", *words), f"Invalid value for '{words[0]}'")


def test_an_address_that_no_server_has() -> None:
    """All MAC addresses on that prefix are known, and none makes this address."""
    code, out, err = path("a-gpu1", "fd12:3456:789a:2041::5", tree=BROWNFIELD)
    assert (code, out) == (2, "")
    assert err == (
        "ailb-gen: fd12:3456:789a:2041::5: no server has this address; on fd12:3456:789a:2041::/64 are"
        " b-gpu1 eth0_gpu, b-gpu2 eth0_gpu, b-gpu3 eth0_gpu\n"
    )


NETPLAN = "profiles/stripe1/etc/netplan/60-ailb-gpu.yaml"


def test_a_gateway_that_is_not_the_leafs(lab_copy: Path) -> None:
    changed(lab_copy, NETPLAN, 'via: "fc00:1:1:2::1"', 'via: "fc00:1:1:2::9"')
    assert fails("gpu-s1-1", "gpu-s2-2", "--qp", "2", tree=str(lab_copy)) == (
        "    FAILS: the gateway fc00:1:1:2::9 is not an address of stripe1-leaf1"
    )


def test_a_rule_with_the_wrong_table(lab_copy: Path) -> None:
    """The packets leave by the gateway of another prefix: they arrive, and the table tells why that is wrong."""
    changed(lab_copy, NETPLAN, "table: 10001\n          priority: 10001", "table: 10002\n          priority: 10001")
    code, out, _ = path("gpu-s1-1", "gpu-s2-2", "--qp", "2", tree=str(lab_copy))
    assert code == 0
    assert out.splitlines()[2:4] == [
        " 1  gpu-s1-1       rule 10001, table gpu0_subnet3",
        "                   via fc00:1:1:3::1 dev gpu0_eth",
    ]


def test_missing_files(lab_copy: Path) -> None:
    (lab_copy / "switches/stripe2-leaf1.conf").unlink()
    warning = "warning: stripe2-leaf1: it has cables but no usable file: it is treated as down\n"
    code, out, err = path("gpu-s1-1", "gpu-s2-2", "--qp", "2", tree=str(lab_copy))
    assert (code, err) == (1, warning)
    assert out.endswith("    FAILS: no route at stripe1-leaf1\n")
    assert fails("gpu-s2-2", "gpu-s1-1", "--qp", "2", tree=str(lab_copy)) == (
        "    FAILS: gpu0_eth of gpu-s2-2 is cabled to no known switch"
    )


def test_missing_servers(lab_copy: Path) -> None:
    shutil.rmtree(lab_copy / "servers")
    assert path("gpu-s1-1", "gpu-s2-2", tree=str(lab_copy)) == (
        2,
        "",
        "ailb-gen: 'gpu-s1-1': the server has cables but no usable files\n",
    )


def test_netplan_without_rules(lab_copy: Path) -> None:
    (lab_copy / NETPLAN).write_text("network:\n  version: 2\n  ethernets:\n    gpu0_eth: {dhcp4: false}\n")
    code, out, err = path("gpu-s1-1", "gpu-s2-2", tree=str(lab_copy))
    assert (code, out) == (2, "")
    assert err.endswith(
        "ailb-gen: gpu-s1-1: gpu0_eth has no usable routing rules, so no queue pair has an address there\n"
    )


def test_lines_fit_a_terminal() -> None:
    for words, folder in (
        (["h100-01", "h100-04", "--fail", "spine2"], JVD),
        (["gpu-s1-1", "gpu-s2-2", "--fail", "spine2"], LAB),
        (["gpu-s1-1", "fc00:2:1:3::17"], LAB),
        (["a-gpu1", "b-gpu2"], BROWNFIELD),
    ):
        out = path(*words, tree=folder)[1]
        assert max(map(len, out.splitlines())) <= 80, out


def test_without_an_option_the_files_are_here_or_where_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = path("gpu-s1-1", "gpu-s1-2")
    assert run("path", "gpu-s1-1", "gpu-s1-2", artifacts=LAB) == expected
    monkeypatch.chdir(LAB)
    assert run("path", "gpu-s1-1", "gpu-s1-2") == expected
