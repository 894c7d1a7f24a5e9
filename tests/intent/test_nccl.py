"""Values of NCCL's variables: the table, what `fabric.yaml` may say, and what `validate` says of a file."""

import re
from typing import Any

import pytest

from ailb_gen.addresses import Prefix
from ailb_gen.design.build import build
from ailb_gen.errors import IntentError
from ailb_gen.intent.nccl import VARIABLES, NcclNetwork, faults, schema, uneven
from tests.conftest import SMALL, intent_of

NETWORK = NcclNetwork(("mlx5_0", "mlx5_1", "mlx5_10"), 26, ("gpu0_eth", "gpu1_eth"), Prefix(0xFC << 120, 16))
WORDS = ("0", "abc", "AF_INET", "none", "", " ", "-2", "1 ", "99999999999999999999", "9" * 5000, "$(id)")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NCCL_NET_PLUGIN", "juniper-ib"),
        ("NCCL_NET_PLUGIN", "/usr/local/lib/libnccl-net-juniper-ib.so"),
        ("NCCL_NET", "IB"),
        ("NCCL_IB_DISABLE", "0"),
        ("NCCL_IB_QPS_PER_CONNECTION", "128"),
        ("NCCL_IB_SPLIT_DATA_ON_QPS", "1"),
        ("NCCL_IB_ADDR_FAMILY", "AF_INET6"),
        ("NCCL_SOCKET_FAMILY", "AF_INET6"),
        ("NCCL_SOCKET_NTHREADS", "16"),
        ("NCCL_NSOCKS_PERTHREAD", "16"),
        ("NCCL_IB_GID_INDEX", "-1"),
        ("NCCL_IB_ROCE_VERSION_NUM", "2"),
        ("NCCL_IB_TC", "104"),
        ("NCCL_IB_TC", "107"),
        ("NCCL_IB_HCA", "mlx5"),
        ("NCCL_IB_HCA", "=mlx5_0:1,mlx5_1:1,mlx5_10:1"),
        ("NCCL_IB_HCA", "^mlx5_2,mlx4"),
        ("NCCL_IB_HCA", "^=mlx5_100"),
        ("NCCL_IB_TIMEOUT", "22"),
        ("NCCL_IB_RETRY_CNT", "7"),
        ("UCX_IB_GID_INDEX", "auto"),
        ("UCX_NET_DEVICES", "mlx5_0:1,mlx5_1:1"),
        ("UCX_NET_DEVICES", "mlx5_1:1"),
        ("UCX_NET_DEVICES", "all"),
        ("NCCL_SOCKET_IFNAME", "eno1"),
        ("NCCL_SOCKET_IFNAME", "=gpu"),
        ("NCCL_SOCKET_IFNAME", "^docker0,lo"),
        ("NCCL_SOCKET_IFNAME", "^gpu"),
        ("GLOO_SOCKET_IFNAME", "gpu"),
        ("OMPI_MCA_btl_tcp_if_exclude", "gpu0_eth"),
        ("LD_LIBRARY_PATH", "/usr/local/lib:/opt/lib"),
        ("NCCL_DEBUG", "INFO"),
        ("MY_VAR", "anything; at $ALL"),
    ],
)
def test_values_that_work(name: str, value: str) -> None:
    assert faults({name: value}, NETWORK) == {}


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("NCCL_NET_PLUGIN", "none", "only this plug-in"),
        ("NCCL_NET", "Socket", "no RDMA"),
        ("NCCL_IB_DISABLE", "1", "without RDMA"),
        ("NCCL_IB_QPS_PER_CONNECTION", "0", "no other numbers"),
        ("NCCL_IB_QPS_PER_CONNECTION", "129", "no other numbers"),
        ("NCCL_IB_SPLIT_DATA_ON_QPS", "0", "so one color"),
        ("NCCL_IB_ADDR_FAMILY", "AF_INET", "only IPv6 addresses"),
        ("NCCL_SOCKET_FAMILY", "AF_UNSPEC", "only IPv6 addresses"),
        ("NCCL_SOCKET_NTHREADS", "17", "no other numbers"),
        ("NCCL_IB_GID_INDEX", "3", "the same address"),
        ("NCCL_IB_ROCE_VERSION_NUM", "1", "not routed"),
        ("NCCL_IB_TC", "106x", "one byte"),
        ("NCCL_IB_TC", "256", "one byte"),
        ("NCCL_IB_TC", "0", "it is DSCP 0, and the lossless class has DSCP 26"),
        ("NCCL_IB_HCA", "none", "it lacks mlx5_0"),
        ("NCCL_IB_HCA", "=mlx5_0,mlx5_1", "it lacks mlx5_10"),
        ("NCCL_IB_HCA", "^mlx5_1", "it lacks mlx5_1,"),
        ("NCCL_SOCKET_IFNAME", "gpu0_eth", "sockets use gpu0_eth"),
        ("NCCL_SOCKET_IFNAME", "eno1,gpu1_eth", "sockets use gpu1_eth"),
        ("NCCL_SOCKET_IFNAME", "gpu", "sockets use gpu0_eth"),
        ("NCCL_SOCKET_IFNAME", "^eno1", "sockets use gpu0_eth"),
        ("NCCL_SOCKET_IFNAME", "^gpu0", "sockets use gpu1_eth"),
        ("NCCL_OOB_NET_IFNAME", "=gpu1_eth", "sockets use gpu1_eth"),
        ("GLOO_SOCKET_IFNAME", "eno1,gpu1_eth", "sockets use gpu1_eth"),
        ("TP_SOCKET_IFNAME", "gpu0_eth", "sockets use gpu0_eth"),
        ("OMPI_MCA_btl_tcp_if_include", "gpu0_eth", "sockets use gpu0_eth"),
        ("PRTE_MCA_oob_tcp_if_include", "gpu0_eth", "sockets use gpu0_eth"),
        ("MASTER_ADDR", "fc00:1:1:1::7", "is the address of a GPU NIC"),
        ("NCCL_COMM_ID", "[fc00:1:1:1::7]:9000", "is the address of a GPU NIC"),
        ("UCX_NET_DEVICES", "mlx5_0:1,gpu0_eth", "gpu0_eth is not an RDMA device"),
        ("UCX_NET_DEVICES", "eno1", "eno1 is not an RDMA device"),
        ("NCCL_IB_TIMEOUT", "23", "verbs support no more"),
        ("UCX_IB_GID_INDEX", "256", "UCX supports no other"),
        ("UCX_IB_GID_INDEX", "0", "the link-local address"),
        ("UCX_NET_DEVICES", "mlx5_0:0", "separated by commas"),
        ("NCCL_SOCKET_IFNAME", "0", "names of interfaces"),
        ("NCCL_SOCKET_IFNAME", "none", "names of interfaces"),
        ("NCCL_SOCKET_IFNAME", "AF_INET", "names of interfaces"),
        ("NCCL_SOCKET_IFNAME", "eno1 eno2", "names of interfaces"),
        ("LD_LIBRARY_PATH", "lib", "not be found"),
    ],
)
def test_values_that_do_not_work(name: str, value: str, why: str) -> None:
    ((found, (reason, remedy)),) = faults({name: value}, NETWORK).items()
    assert found == name
    assert why in reason
    assert remedy


def test_threads_and_their_sockets() -> None:
    own = {"NCCL_SOCKET_NTHREADS": "8", "NCCL_NSOCKS_PERTHREAD": "9"}
    assert faults(own, NETWORK) == {
        "NCCL_NSOCKS_PERTHREAD": ("with 8 threads these are more than 64 sockets", "1 to 8")
    }


def test_without_roce_any_class_is_taken() -> None:
    assert faults({"NCCL_IB_TC": "0"}, NcclNetwork((), None)) == {}


@pytest.mark.parametrize("name", sorted(VARIABLES))
def test_no_variable_takes_every_word(name: str) -> None:
    refused = {word for word in WORDS if faults({name: word}, NETWORK)}
    assert {"", " ", "1 ", "$(id)"} <= refused


# The design guide's Table 11 and NVIDIA's user guide: accepted values that would also work on this fabric.
ACCEPTED = {
    "NCCL_NET_PLUGIN": {"juniper-ib"},
    "LD_LIBRARY_PATH": {"/usr/local/lib/"},
    "NCCL_IB_QPS_PER_CONNECTION": {"1", "3", "4", "8", "16", "17", "128"},
    "NCCL_IB_SPLIT_DATA_ON_QPS": {"1"},
    "NCCL_IB_ADDR_FAMILY": {"AF_INET6"},
    "NCCL_SOCKET_FAMILY": {"AF_INET6"},
    "NCCL_SOCKET_NTHREADS": {"1", "3", "4", "8", "16"},
    "UCX_IB_GID_INDEX": {"1", "3", "4", "8", "16", "17", "128", "129"},
    "UCX_NET_DEVICES": {"mlx5_0:1,mlx5_1:1"},
}
TRIED = {*WORDS, "1", "3", "4", "8", "16", "17", "128", "129", "256", "AF_INET6", *set().union(*ACCEPTED.values())}


@pytest.mark.parametrize("name", ACCEPTED)
def test_the_values_of_the_guides_table_and_no_others(name: str) -> None:
    assert {word for word in TRIED if name not in faults({name: word}, NETWORK)} == ACCEPTED[name]


@pytest.mark.parametrize(
    ("queue_pairs", "why"),
    [
        (4, ""),
        (1, "loads 1 of its 4 uplinks"),
        (3, "loads 3 of its 4 uplinks"),
        (6, "2 of the 4 colors carry one queue pair more"),
        (8, "2 queue pairs per color make all-to-all slower"),
    ],
)
def test_queue_pairs_and_colors(queue_pairs: int, why: str) -> None:
    assert (why in uneven(queue_pairs, 4)) and bool(why) == bool(uneven(queue_pairs, 4))


@pytest.mark.parametrize("name", sorted(VARIABLES))
def test_the_schema_takes_the_same_words(name: str) -> None:
    shown: Any = schema()["properties"]
    pattern = re.compile(shown[name]["pattern"])
    others = ("1", "2", "juniper-ib", "IB", "socket", "AF_INET6", "mlx5_0:1", "/lib", "-1", "auto")
    for word in (*WORDS, *others):
        direct = re.fullmatch(VARIABLES[name].pattern, word, re.ASCII) is not None
        assert (pattern.search(word) is not None) == direct, word


def test_all_wrong_values_are_told_at_once() -> None:
    text = SMALL + (
        "nccl:\n  environment:\n    NCCL_IB_SPLIT_DATA_ON_QPS: '0'\n    NCCL_IB_GID_INDEX: abc\n"
        "    NCCL_SOCKET_FAMILY: AF_INET\n    NCCL_NET_PLUGIN: none\n    NCCL_IB_TC: '0'\n    NCCL_IB_HCA: none\n"
    )
    with pytest.raises(IntentError) as caught:
        build(intent_of(text))
    found = [problem for problem in caught.value.problems if problem.code == "wrong-value"]
    first = text[: text.index("    NCCL_IB_SPLIT")].count("\n") + 1
    assert [problem.place.line for problem in found] == [first + number for number in range(6)]
    assert all(problem.path.startswith("nccl.environment.NCCL_") and problem.hint for problem in found)
