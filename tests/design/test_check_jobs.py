"""Warnings about jobs: sockets, queue pairs, load balancing and the order of packets."""

import pytest

from ailb_gen.design.build import build
from tests.conftest import SMALL, example, intent_of

SERVERS = "management: {servers: 192.0.2.101/24}\n"
PER_PACKET = "load_balancing: {dlb: per-packet}\n"
INTERVAL = "load_balancing: {dlb: {job: dlrm, inactivity_interval_us: %d}}\n"
KINDS = SMALL.replace("servers: 2", "servers: [{count: 1, kind: a}, {count: 1, kind: b}]")


def codes(text: str) -> list[str]:
    """Return the codes of the warnings."""
    return [problem.code for problem in build(intent_of(text))[1]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SMALL, []),
        (SMALL + SERVERS, ["no-socket-ifname"]),
        (SMALL + "overrides: {servers: {server-002: {management: 192.0.2.7/24}}}\n", ["no-socket-ifname"]),
        (SMALL + SERVERS + "nccl: {socket_ifname: eno1}\n", []),
        (SMALL + SERVERS + "nccl: {environment: {NCCL_SOCKET_IFNAME: ^gpu}}\n", []),
        (SMALL.replace("stripes: 2", "stripes: 1") + SERVERS, []),
        (SMALL.replace("servers: 2", "servers: 0") + SERVERS, []),
    ],
)
def test_sockets_need_a_name_where_stripes_part_the_gpu_nics(text: str, expected: list[str]) -> None:
    assert codes(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SMALL + PER_PACKET, ["packets-out-of-order"]),
        (SMALL + PER_PACKET + "hosts: {out_of_order: on}\n", []),
        (SMALL.replace("servers: 2", "servers: 0") + PER_PACKET, []),
        (KINDS + PER_PACKET + "server_kinds: {a: {out_of_order: on}, b: {gpus: off}}\n", []),
        (KINDS + PER_PACKET + "server_kinds: {a: {out_of_order: on}, b: {}}\n", ["packets-out-of-order"]),
        (
            KINDS + PER_PACKET + "hosts: {out_of_order: on}\nserver_kinds: {a: {}, b: {out_of_order: off}}\n",
            ["packets-out-of-order"],
        ),
        (SMALL + "overrides: {spines: {spine2: {load_balancing: {dlb: per-packet}}}}\n", ["packets-out-of-order"]),
    ],
)
def test_packets_of_any_order_need_nics_that_take_them(text: str, expected: list[str]) -> None:
    assert codes(text) == expected


@pytest.mark.parametrize(
    ("balancing", "expected"),
    [
        ("{glb: on}", ["glb-not-graded"]),
        ("{glb: on, dlb: {egress_quantization: {min: 20, max: 50, rate_weightage: 80}}}", []),
        ("{glb: off}", []),
    ],
)
def test_glb_needs_grades(balancing: str, expected: list[str]) -> None:
    assert codes(SMALL + f"load_balancing: {balancing}\n") == expected


@pytest.mark.parametrize(("interval", "wrong"), [(18, True), (19, False), (128, False), (500, False), (501, True)])
def test_the_interval_of_a_named_job(interval: int, wrong: bool) -> None:
    """At 400 Gb/s 37 to 500 µs are recommended; less is told below a half."""
    assert codes(SMALL + INTERVAL % interval) == ["unfit-interval"] * wrong


def test_without_a_job_or_flowlets_any_interval_is_taken() -> None:
    assert codes(SMALL + "load_balancing: {dlb: {inactivity_interval_us: 30000}}\n") == []
    assert codes(SMALL + "load_balancing: {dlb: {mode: off, job: dlrm, inactivity_interval_us: 30000}}\n") == []


def test_the_environment_has_the_keys() -> None:
    text = SMALL + "nccl: {socket_ifname: =eno1, gid_index: found}\nhosts: {out_of_order: on}\n"
    (config,) = {id(one.config): dict(one.config.environment) for one in build(intent_of(text))[0].servers[:1]}.values()
    assert config["NCCL_SOCKET_IFNAME"] == "=eno1"
    assert config["UCX_IB_GID_INDEX"] == "auto"
    assert config["NCCL_IB_ADAPTIVE_ROUTING"] == "1"


def test_the_environment_of_the_reference_has_no_others() -> None:
    (names,) = {tuple(dict(one.config.environment)) for one in example("jvd").servers}
    assert {"NCCL_SOCKET_IFNAME", "NCCL_IB_ADAPTIVE_ROUTING"}.isdisjoint(names)
