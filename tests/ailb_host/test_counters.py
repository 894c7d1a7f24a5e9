"""Counters of NICs by vendor: totals, rates, what a NIC does not have, and the file of the node exporter."""

from __future__ import annotations

import json
import re
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ailb_gen.ailb_host.counters import COUNTERS, CounterReading, rates
from ailb_gen.ailb_host.counters_report import short
from ailb_gen.layout import HOST_FILE, HOST_PROGRAM
from ailb_gen.shipped import PACKAGE_DIR
from tests.ailb_host.servers import VENDORS, FakeNic, nics_of, oldest_python, run, write_sysfs
from tests.golden_trees import GOLDEN
from tests.lab.isolated import isolated

PROFILE = GOLDEN / "lab" / "profiles" / "stripe1"
# Programs read these names: they stay.
NAMES = [
    *("rdma_tx_bytes", "rdma_tx_packets", "rdma_rx_bytes", "rdma_rx_packets"),
    *("net_tx_bytes", "net_tx_packets", "net_rx_bytes", "net_rx_packets"),
    *("cnp_sent", "cnp_handled", "cnp_ignored", "ecn_marked", "out_of_order", "duplicates"),
    *("ack_timeouts", "sequence_naks", "implied_naks", "rnr_naks", "retries_exceeded", "out_of_buffer"),
    *("icrc_errors", "rdma_tx_discards", "rdma_rx_discards", "port_tx_discards", "port_rx_discards"),
    *("net_tx_dropped", "net_rx_dropped", "net_tx_errors", "net_rx_errors", "tx_pauses", "rx_pauses"),
    *(f"tx_pauses_{priority}" for priority in range(8)),
    *(f"rx_pauses_{priority}" for priority in range(8)),
]
STATISTICS = {
    f"net_{way}_{what}": f"statistics/{way}_{what}"
    for way in ("tx", "rx")
    for what in ("bytes", "packets", "dropped", "errors")
}
MLX5 = {
    "rdma_tx_bytes": "counters/port_xmit_data",
    "rdma_tx_packets": "counters/port_xmit_packets",
    "rdma_rx_bytes": "counters/port_rcv_data",
    "rdma_rx_packets": "counters/port_rcv_packets",
    "cnp_sent": "hw_counters/np_cnp_sent",
    "cnp_handled": "hw_counters/rp_cnp_handled",
    "cnp_ignored": "hw_counters/rp_cnp_ignored",
    "ecn_marked": "hw_counters/np_ecn_marked_roce_packets",
    "out_of_order": "hw_counters/out_of_sequence",
    "duplicates": "hw_counters/duplicate_request",
    "ack_timeouts": "hw_counters/local_ack_timeout_err",
    "sequence_naks": "hw_counters/packet_seq_err",
    "implied_naks": "hw_counters/implied_nak_seq_err",
    "rnr_naks": "hw_counters/rnr_nak_retry_err",
    "retries_exceeded": "hw_counters/req_transport_retries_exceeded",
    "out_of_buffer": "hw_counters/out_of_buffer",
    "icrc_errors": "hw_counters/rx_icrc_encapsulated",
}
BNXT = {
    "rdma_tx_bytes": "hw_counters/tx_bytes",
    "rdma_tx_packets": "hw_counters/tx_pkts",
    "rdma_rx_bytes": "hw_counters/rx_bytes",
    "rdma_rx_packets": "hw_counters/rx_pkts",
    "cnp_sent": "hw_counters/tx_cnp_pkts",
    "cnp_handled": "hw_counters/rx_cnp_pkts",
    "ecn_marked": "hw_counters/rx_ecn_marked_pkts",
    "out_of_order": "hw_counters/oos_drop_count",
    "duplicates": "hw_counters/dup_req",
    "ack_timeouts": "hw_counters/to_retransmits",
    "sequence_naks": "hw_counters/seq_err_naks_rcvd",
    "implied_naks": "hw_counters/missing_resp",
    "rnr_naks": "hw_counters/rnr_naks_rcvd",
    "retries_exceeded": "hw_counters/max_retry_exceeded",
    "out_of_buffer": "hw_counters/rx_out_of_buffer",
    "rdma_tx_discards": "hw_counters/tx_roce_discards",
    "rdma_rx_discards": "hw_counters/rx_roce_discards",
}
IONIC = {
    "rdma_tx_bytes": "hw_counters/tx_rdma_ucast_bytes",
    "rdma_tx_packets": "hw_counters/tx_rdma_ucast_pkts",
    "rdma_rx_bytes": "hw_counters/rx_rdma_ucast_bytes",
    "rdma_rx_packets": "hw_counters/rx_rdma_ucast_pkts",
    "cnp_sent": "hw_counters/tx_rdma_cnp_pkts",
    "cnp_handled": "hw_counters/rx_rdma_cnp_pkts",
    "ecn_marked": "hw_counters/rx_rdma_ecn_pkts",
    "out_of_order": "hw_counters/resp_rx_outouf_seq",
    "duplicates": "hw_counters/resp_rx_dup_request",
    "ack_timeouts": "hw_counters/tx_rdma_ack_timeout",
    "sequence_naks": "hw_counters/req_rx_pkt_seq_err",
    "implied_naks": "hw_counters/req_rx_impl_nak_seq_err",
    "rnr_naks": "hw_counters/req_rx_rnr_retry_err",
    "retries_exceeded": "hw_counters/req_tx_retry_excd_err",
    "out_of_buffer": "hw_counters/resp_rx_outof_buf",
}
SOURCES = {"ConnectX-7": MLX5, "BlueField-3": MLX5, "Broadcom Thor": BNXT, "AMD Pollara": IONIC}


def server(root: Path, vendor: str = "ConnectX-7", counters: Mapping[str, object] = {}) -> list[FakeNic]:
    """Write a server with the NICs of a vendor, and with other values of counters of the first NIC."""
    shutil.copytree(PROFILE, root, dirs_exist_ok=True)
    file, chosen = root / HOST_FILE, VENDORS[vendor]
    text = re.sub(r"mlx5_(\d)", lambda found: chosen.rdma.format(i=found[1]), file.read_text("utf-8"))
    file.write_text(text, "utf-8")
    nics = nics_of(root, chosen)
    nics[0].counters |= counters
    write_sysfs(root, nics)
    return nics


def write_ethtool(root: Path, script: str) -> None:
    """Write the program ethtool of a server: a shell script."""
    path = root / "usr/sbin/ethtool"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    path.chmod(0o755)


def totals(root: Path) -> list[dict[str, Any]]:
    """Return the totals by NIC of a server on which nothing is missing."""
    done = run(root, "counters", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return [nic["totals"] for nic in json.loads(done.stdout)["nics"]]


@pytest.mark.parametrize("vendor", VENDORS)
def test_every_vendor(tmp_path: Path, vendor: str) -> None:
    nics = server(tmp_path, vendor)
    for nic, found in zip(nics, totals(tmp_path), strict=True):
        sources = SOURCES[vendor] | STATISTICS
        values = {name: int(str(nic.counters[source])) for name, source in sources.items()}
        if vendor in ("ConnectX-7", "BlueField-3"):
            values |= {name: values[name] * 4 for name in ("rdma_tx_bytes", "rdma_rx_bytes")}
        assert {name: value for name, value in found.items() if value is not None} == values
    rows = {line.split()[0]: line.split()[1:] for line in run(tmp_path, "counters").stdout.splitlines()}
    assert rows["counter"] == ["gpu0_eth", "gpu1_eth"] and rows["device"] == [f"{nic.rdma}:1" for nic in nics]
    assert rows["port_rx_discards"] == rows["rx_pauses"] == ["-", "-"] and "rx_pauses_3" not in rows
    assert rows["ecn_marked"] == [str(nic.counters[SOURCES[vendor]["ecn_marked"]]) for nic in nics]


def test_broadcom_with_the_names_of_mlx5(tmp_path: Path) -> None:
    """Test the names of the patch of 2025, which kept one of its own."""
    nics = server(tmp_path, "Broadcom Thor")
    renamed = {BNXT[name]: source for name, source in MLX5.items() if name in BNXT and source.startswith("hw_")}
    renamed |= {"hw_counters/tx_cnp_pkts": "hw_counters/np_cnp_pkts"}
    del renamed["hw_counters/max_retry_exceeded"]
    directory = tmp_path / "sys/class/infiniband" / nics[0].rdma / "ports/1"
    before = totals(tmp_path)[0]
    for old, new in renamed.items():
        (directory / old).rename(directory / new)
    assert totals(tmp_path)[0] == before


def test_json_keeps_its_shape(tmp_path: Path) -> None:
    server(tmp_path)
    answer = json.loads(run(tmp_path, "counters", "--json").stdout)
    assert list(answer) == ["format", "fabric", "time", "seconds", "nics"]
    assert (answer["format"], answer["fabric"], answer["seconds"]) == (1, "lab", None)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", answer["time"])
    assert [list(nic) for nic in answer["nics"]] == [["nic", "device", "color", "totals", "rates"]] * 2
    assert [nic["rates"] for nic in answer["nics"]] == [None, None]
    assert list(answer["nics"][0]["totals"]) == NAMES == list(COUNTERS)


def test_large_totals_are_exact(tmp_path: Path) -> None:
    server(tmp_path, counters={"counters/port_xmit_data": 2**62 + 1, "statistics/tx_bytes": 2**64 - 2})
    found = totals(tmp_path)[0]
    assert (found["rdma_tx_bytes"], found["net_tx_bytes"]) == (2**64 + 4, 2**64 - 2)


@pytest.mark.parametrize(
    ("source", "value", "name"),
    [
        ("counters/port_xmit_data", 2**32 - 1, "rdma_tx_bytes"),
        ("counters/port_rcv_packets", "N/A (no PMA)", "rdma_rx_packets"),
        ("hw_counters/np_cnp_sent", 2**64 - 1, "cnp_sent"),
        ("statistics/rx_bytes", "", "net_rx_bytes"),
    ],
)
def test_no_value_is_not_zero(tmp_path: Path, source: str, value: object, name: str) -> None:
    server(tmp_path, counters={source: value})
    found = totals(tmp_path)
    assert found[0][name] is None and found[1][name] is not None


def test_no_rdma_device(tmp_path: Path) -> None:
    """Test a server of the lab: interfaces and nothing else."""
    nics = server(tmp_path)
    shutil.rmtree(tmp_path / "sys/class/infiniband")
    answer = json.loads(run(tmp_path, "counters", "--json").stdout)
    assert [nic["device"] for nic in answer["nics"]] == [None, None]
    for nic, found in zip(nics, totals(tmp_path), strict=True):
        assert {name for name, value in found.items() if value is not None} == set(STATISTICS)
        assert found["net_rx_packets"] == nic.counters["statistics/rx_packets"]


def test_no_interface(tmp_path: Path) -> None:
    server(tmp_path)
    shutil.rmtree(tmp_path / "sys/class/net/gpu1_eth")
    for words in ((), ("--interval", "0.1", "--count", "2")):
        done = run(tmp_path, "counters", *words)
        assert done.returncode == 1 and "net_tx_bytes" in done.stdout
        assert done.stderr == "ailb-host: gpu1_eth: there is no such interface; check its name and driver: ip link\n"


PAUSES = """     tx_prio0_pause: 0
     tx_prio3_pause: 8412093
     rx_prio3_pause: 127
     rx_pause_ctrl_phy: 127
     tx_pause_ctrl_phy: 8412093
     rx_discards_phy: 5
     rx_prio3_pause_duration: 99"""


def test_ethtool_has_pauses_and_discards(tmp_path: Path) -> None:
    server(tmp_path)
    write_ethtool(tmp_path, f'test "$1 $2" = "-S gpu0_eth" || exit 94\ncat <<END\nNIC statistics:\n{PAUSES}\nEND')
    first, second = totals(tmp_path)
    assert {name: value for name, value in first.items() if "pauses" in name and value is not None} == {
        "tx_pauses": 8412093,
        "rx_pauses": 127,
        "tx_pauses_0": 0,
        "tx_pauses_3": 8412093,
        "rx_pauses_3": 127,
    }
    assert (first["port_rx_discards"], first["port_tx_discards"]) == (5, None)
    assert {second[name] for name in NAMES if "pauses" in name or name.startswith("port_")} == {None}
    rows = {line.split()[0]: line.split()[1:] for line in run(tmp_path, "counters").stdout.splitlines()}
    assert rows["tx_pauses_3"] == ["8412093", "-"] and "tx_pauses_0" not in rows


@pytest.mark.parametrize(
    "line",
    ["rx_pfc_ena_frames_pri3: 7", "rx_pfc_frames: 7", "frames_rx_pripause: 7"],
    ids=["bnxt", "bnxt, all", "ionic, all"],
)
def test_ethtool_of_other_vendors(tmp_path: Path, line: str) -> None:
    server(tmp_path)
    write_ethtool(tmp_path, f"echo '     {line}'")
    name = "rx_pauses_3" if "pri3" in line else "rx_pauses"
    assert {key for key, value in totals(tmp_path)[0].items() if value == 7} == {name}


def test_ethtool_that_hangs_is_left(tmp_path: Path) -> None:
    server(tmp_path)
    write_ethtool(tmp_path, 'test "$2" = gpu0_eth && exec sleep 60\necho rx_prio3_pause: 4')
    start = time.monotonic()
    done = run(tmp_path, "counters", "--json", "--interval", "0.1", "--count", "3")
    assert time.monotonic() - start < 10
    program = tmp_path / "usr/sbin/ethtool"
    assert done.stderr == (
        f"ailb-host: {program} did not answer for gpu0_eth; going on without pauses and port discards\n"
    )
    assert done.returncode == 0
    answers = [json.loads(line)["nics"] for line in done.stdout.splitlines()]
    assert [nic["totals"]["rx_pauses_3"] for answer in answers for nic in answer] == [None] * 6


def test_ethtool_that_hangs_hides_no_other(tmp_path: Path) -> None:
    server(tmp_path)
    write_ethtool(tmp_path, 'test "$2" = gpu0_eth && exec sleep 60\necho rx_prio3_pause: 4')
    answer = json.loads(run(tmp_path, "counters", "--json").stdout)
    assert [nic["totals"]["rx_pauses_3"] for nic in answer["nics"]] == [None, 4]


def test_ethtool_that_does_not_run(tmp_path: Path) -> None:
    server(tmp_path)
    write_ethtool(tmp_path, "")
    (tmp_path / "usr/sbin/ethtool").write_bytes(b"\x7fELF of another machine")
    done = run(tmp_path, "counters")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == f"ailb-host: {tmp_path}/usr/sbin/ethtool: Exec format error; repair or remove it\n"


def reading(at: float, **found: int | None) -> CounterReading:
    """Return a reading of one NIC."""
    return CounterReading(at, {"gpu0_eth": dict.fromkeys(NAMES) | found}, ())


@pytest.mark.parametrize(
    ("before", "after", "rate"),
    [
        ({"net_tx_bytes": 1000}, {"net_tx_bytes": 6000}, {"net_tx_bytes": 500.0}),
        ({"out_of_order": 2**32 - 10}, {"out_of_order": 20}, {"out_of_order": 3.0}),
        # A counter of another vendor that is beyond 32 bits does not wrap there; one that drops by little never wraps.
        ({"out_of_order": 2**32 + 5}, {"out_of_order": 20}, {"out_of_order": None}),
        ({"out_of_order": 1000}, {"out_of_order": 20}, {"out_of_order": None}),
        ({"net_tx_bytes": 5000}, {"net_tx_bytes": 70}, {"net_tx_bytes": None}),
        # What started again takes with it all of the NIC, also counters that look as if they grew or wrapped.
        (
            {"rdma_tx_bytes": 5000, "cnp_sent": 1, "out_of_order": 2**32 - 1},
            {"rdma_tx_bytes": 70, "cnp_sent": 9, "out_of_order": 0},
            {"rdma_tx_bytes": None, "cnp_sent": None, "out_of_order": None},
        ),
        ({"cnp_sent": None}, {"cnp_sent": 9}, {"cnp_sent": None}),
        ({"cnp_sent": 9}, {"cnp_sent": None}, {"cnp_sent": None}),
    ],
)
def test_rates(before: dict[str, int | None], after: dict[str, int | None], rate: dict[str, float | None]) -> None:
    found = rates(reading(100.0, **before), reading(110.0, **after))["gpu0_eth"]
    assert {name: found[name] for name in rate} == rate


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((None, "-"), (0, "0"), (9_999_999, "9999999"), (10_000_000, "10M"), (12_345_678_901, "12.35G")),
        *((0.0, "0"), (0.5, "0.5"), (1234.5, "1.234k"), (50e9, "50G"), (2**64, "18.45E")),
    ],
)
def test_short_numbers(value: float | None, text: str) -> None:
    assert short(value) == text


def test_interval_prints_rates(tmp_path: Path) -> None:
    server(tmp_path)
    start = time.monotonic()
    done = run(tmp_path, "counters", "--json", "--interval", "0.2", "--count", "3")
    assert time.monotonic() - start > 0.6
    assert (done.returncode, done.stderr) == (0, "")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == 3
    for answer in answers:
        assert 0.1 < answer["seconds"] < 5
        assert answer["nics"][0]["rates"]["cnp_sent"] == 0 and answer["nics"][0]["rates"]["rx_pauses"] is None
        assert answer["nics"][0]["totals"]["cnp_sent"] == 1028
    table = run(tmp_path, "counters", "--interval", "0.1", "--count", "2").stdout.split("\n\n")
    assert len(table) == 3 and re.match(r"\d{4}-.*Z, per second, over 0\.\d s\ncounter +gpu0_eth", table[1])


def test_interval_goes_on_until_it_is_interrupted(tmp_path: Path) -> None:
    server(tmp_path)
    assert run(tmp_path, "counters").returncode == 0
    words = [oldest_python(), str(tmp_path / HOST_PROGRAM), "--root", str(tmp_path), "counters", "--interval", "0.1"]
    with subprocess.Popen([*words, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        lines = [process.stdout.readline() for _ in range(3)]
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (130, "")
    for line in [*lines, *rest.splitlines(keepends=True)]:
        assert line.endswith("\n") and json.loads(line)["fabric"] == "lab"


def samples(text: str) -> dict[tuple[str, str, str], int]:
    """Parse metrics, with every rule of the format that they use: by name, NIC and priority."""
    found: dict[tuple[str, str, str], int] = {}
    families: list[str] = []
    assert text.endswith("\n")
    for line in text.splitlines():
        if head := re.fullmatch(r"# HELP ([a-z_]+) \S.*", line):
            assert head[1] not in families
            families.append(head[1])
            expected = "type"
        elif line.startswith("#"):
            assert line == f"# TYPE {families[-1]} counter" and expected == "type"
            expected = "sample"
        else:
            sample = re.fullmatch(r"([a-z_]+_total)\{(.*)\} (\d+)", line)
            assert sample and sample[1] == families[-1] and expected == "sample"
            labels = re.findall(r'([a-z]+)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)', sample[2])
            assert ",".join(f'{name}="{value}"' for name, value in labels) == sample[2]
            by_name = dict(labels)
            key = (sample[1], by_name["nic"], by_name.get("priority", ""))
            assert len(by_name) == len(labels) and key not in found
            found[key] = int(sample[3])
    return found


def test_textfile(tmp_path: Path) -> None:
    root, directory = tmp_path / "root", tmp_path / "collector"
    server(root, counters={"hw_counters/np_cnp_sent": 2**53 + 1})
    write_ethtool(root, f"cat <<END\n{PAUSES}\nEND")
    directory.mkdir()
    file = directory / "ailb.prom"
    file.write_text("old", "utf-8")
    done = run(root, "counters", "--textfile", str(file))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [path.name for path in directory.iterdir()] == ["ailb.prom"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    text = file.read_text("utf-8")
    found = samples(text)
    assert found["ailb_host_cnp_sent_total", "gpu0_eth", ""] == 2**53 + 1
    assert found["ailb_host_net_rx_bytes_total", "gpu1_eth", ""] == 2002
    assert found["ailb_host_tx_pauses_by_priority_total", "gpu0_eth", "3"] == 8412093
    assert found["ailb_host_tx_pauses_total", "gpu0_eth", ""] == 8412093
    assert not [key for key in found if "rdma_rx_discards" in key[0]]
    assert 'ailb_host_net_tx_bytes_total{fabric="lab",nic="gpu0_eth",device="mlx5_0:1"} 1000\n' in text


def test_textfile_with_one_color_and_strange_names(tmp_path: Path) -> None:
    """Test that a color is told only where all traffic has it."""
    server(tmp_path)
    shutil.rmtree(tmp_path / "sys/class/infiniband")
    data = json.loads((tmp_path / HOST_FILE).read_text("utf-8"))
    data["fabric"] = 'a "b" \\ c'
    del data["nics"][0]["colors"][1:]
    (tmp_path / HOST_FILE).write_text(json.dumps(data), "utf-8")
    assert run(tmp_path, "counters", "--textfile", str(tmp_path / "x.prom")).returncode == 0
    text = (tmp_path / "x.prom").read_text("utf-8")
    assert len(samples(text)) == 2 * len(STATISTICS)
    assert r'{fabric="a \"b\" \\ c",nic="gpu0_eth",color="green"} 1000' in text
    assert r'{fabric="a \"b\" \\ c",nic="gpu1_eth"} 2000' in text


def test_textfile_that_cannot_be_written(tmp_path: Path) -> None:
    server(tmp_path)
    done = run(tmp_path, "counters", "--textfile", str(tmp_path / "no/x.prom"))
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        f"ailb-host: {tmp_path}/no/x.prom: No such file or directory; "
        "choose a directory with space that this user can write to\n"
    )


def on_a_full_disk(root: Path) -> tuple[subprocess.CompletedProcess[str], str, list[str]]:
    """Write a file, then the same again on a file system without space for it."""
    server(root)
    folder, words = root / "full", ("counters", "--textfile", f"{root}/full/x.prom")
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", folder], check=True)
    assert run(root, *words).returncode == 0
    before = (folder / "x.prom").read_text("utf-8")
    with suppress(OSError), (folder / "filler").open("wb", 0) as filler:
        while filler.write(bytes(4096)):
            pass
    done = run(root, *words)
    assert (folder / "x.prom").read_text("utf-8") == before
    return done, before, sorted(path.name for path in folder.iterdir())


def test_textfile_on_a_full_disk_is_the_one_before(tmp_path: Path) -> None:
    done, before, files = isolated(on_a_full_disk, tmp_path)
    assert len(samples(before)) > 8 and files == ["filler", "x.prom"]
    assert done.returncode == 3
    assert done.stderr.endswith(
        ": No space left on device; choose a directory with space that this user can write to\n"
    )


def test_output_on_a_full_disk(tmp_path: Path) -> None:
    server(tmp_path)
    run(tmp_path, "counters")
    command = [oldest_python(), "-I", str(tmp_path / HOST_PROGRAM), "--root", str(tmp_path), "counters"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (3, "ailb-host: No space left on device\n")
    closed = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *command], stderr=subprocess.PIPE, text=True, check=False)
    assert (closed.returncode, closed.stderr) == (0, "")


@pytest.mark.parametrize("data", [b"", b"\xff\x00", "²".encode(), b"9" * 5000, b"-1", b"1\n2"])
def test_counters_that_are_no_numbers(tmp_path: Path, data: bytes) -> None:
    server(tmp_path)
    for path in (tmp_path / "sys/class").glob("*/*/**/*x_bytes"):
        path.write_bytes(data)
    done = run(tmp_path, "counters", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert {nic["totals"]["net_tx_bytes"] for nic in json.loads(done.stdout)["nics"]} == {None}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--count 3", "--count needs --interval"),
        ("--interval 0", "'0' is not a number from 0.1 to 86400"),
        ("--interval nan", "'nan' is not a number from 0.1 to 86400"),
        ("--interval x", "'x' is not a number from 0.1 to 86400"),
        ("--interval 1 --count 0", "'0' is not a number from 1 to 1000000000"),
        ("--interval 1 --count 1.5", "'1.5' is not a number from 1 to 1000000000"),
        ("--textfile x.txt", "x.txt does not end in .prom: the node exporter would not read it"),
        ("--textfile x.prom --json", "not allowed with argument"),
    ],
)
def test_wrong_arguments(tmp_path: Path, words: str, message: str) -> None:
    done = run(tmp_path, "counters", *words.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_help_and_docs_say_that_colors_are_not_counted(tmp_path: Path) -> None:
    assert "NICs do not count by color" in " ".join(run(tmp_path, "counters", "--help").stdout.split())
    page = (PACKAGE_DIR.parent / "docs/how-to/counters.md").read_text("utf-8")
    assert "count by color" in page
    documented = re.findall(r"^\| `([a-z_]+)`", page, re.MULTILINE)
    assert documented == [name for name in NAMES if not name[-1].isdigit()]
