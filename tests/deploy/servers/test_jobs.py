"""NCCL's plug-in on hosts, variables that contradict the environment file, and what differs among servers."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ailb_gen.deploy.servers.addresses import NicHardware
from ailb_gen.deploy.servers.expected import ExpectedServer
from ailb_gen.deploy.servers.jobs import (
    ExpectedJobs,
    PlugIn,
    expected_jobs,
    hardware_figures,
    plug_in,
    read_assignments,
    read_plug_in,
    unlike,
)
from ailb_gen.deploy.servers.observed import observe
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.hosts.model import Setting
from ailb_gen.hosts.read import read_hosts
from tests.conftest import need_tool
from tests.deploy.servers.sandbox import Host, run
from tests.deploy.servers.steps import sysfs
from tests.network.lab import LAB

Told = Callable[..., list[str]]
LIBRARY = "libnccl-net-juniper-ib.so"
PATH = f"/usr/local/lib/{LIBRARY}"
ABSENT = f"{LIBRARY} is not in /usr/local/lib, and NCCL uses no plug-in: one color carries all; install it"
JOBS = ExpectedJobs(LIBRARY, ("/usr/local/lib",))
# A file of the host, a line in it, and what is told of it; nothing where it does no harm.
OTHER = "{} contradicts /etc/ailb/nccl.env, which has %s; remove the line"
LINES = (
    ("etc/environment", "NCCL_IB_QPS_PER_CONNECTION=1", OTHER % "4"),
    ("etc/profile.d/site.sh", "export NCCL_NET_PLUGIN='none'", OTHER % "juniper-ib"),
    (
        "etc/nccl.conf", "NCCL_IB_GID_INDEX=3",
        "{}: a fixed GID gives all queue pairs the same address, and so one color; write -1, or leave it out",
    ),
    ("etc/nccl.conf", "NCCL_IB_QPS_PER_CONNECTION=4", ""),
    ("etc/nccl.conf", "NCCL_DEBUG=INFO", ""),
    ("etc/nccl.conf", "# NCCL_IB_GID_INDEX=3", ""),
)  # fmt: skip


@pytest.mark.parametrize(("path", "line", "told"), LINES, ids=map(str, range(len(LINES))))
def test_variables_of_other_files(shared: Host, all_told: Told, path: str, line: str, told: str) -> None:
    file = shared.root / path
    before = file.read_text(encoding="utf-8") if file.exists() else None
    file.write_text(f"{before or ''}# ours\n{line}\n", encoding="utf-8")
    number = len(file.read_text(encoding="utf-8").splitlines())
    shown = line.removeprefix("export ").replace("'", "")
    try:
        assert all_told() == ([told.format(f"/{path}:{number}: {shown}")] if told else [])
    finally:
        file.unlink()
        if before is not None:
            file.write_text(before, encoding="utf-8")


def built(folder: Path, name: str, *needs: Path) -> Path:
    """Return a library, which needs others."""
    need_tool("cc")
    made = folder / name
    options = ("-x", "none", "-Wl,--no-as-needed", f"-Wl,-soname,{name}")
    run("cc", "-shared", "-o", str(made), "-x", "c", "/dev/null", *options, *map(str, needs))
    return made


def test_the_plug_in_of_a_host(
    shared: Host, shared_server: ServerConnection, tmp_path: Path, all_told: Told, expected: ExpectedServer
) -> None:
    """Without RDMA devices nobody needs it."""
    folder = shared.root / "usr-local/lib"
    folder.mkdir(exist_ok=True)
    verbs = built(tmp_path, "libverbs-test.so")
    plugin = built(tmp_path, LIBRARY, verbs)

    def told() -> list[str]:
        # There is no other device, which is told, too.
        return [message for message in all_told() if LIBRARY in message]

    assert all_told() == []
    with sysfs(shared, tmp_path / "class", "mlx5_0"):
        assert told() == [ABSENT]
        shutil.copy(plugin, folder)
        (message,) = told()
        assert message == f"{PATH} cannot be loaded: libverbs-test.so is missing; install it, and run: ldconfig"
        built(folder, LIBRARY)
        assert told() == []
        digest = hashlib.sha256((folder / LIBRARY).read_bytes()).hexdigest()
        assert observe(shared_server, expected).plug_in == PlugIn(PATH, digest, (), 1)
        (folder / LIBRARY).write_bytes(b"\0")
        (message,) = told()
        assert message.startswith(f"{PATH} cannot be loaded: anything that the loader can read (ldd: ")
    (folder / LIBRARY).unlink()


def test_the_odd_ones_out_have_another_plug_in() -> None:
    right, other = PlugIn(PATH, "a" * 64), PlugIn(PATH, "b" * 64)
    servers = {"gpu-1": right, "gpu-2": other, "gpu-3": right, "gpu-4": PlugIn(), "gpu-5": PlugIn(rdma_devices=8)}
    found = [(one.device, one.message) for one in unlike(dict.fromkeys(servers, JOBS), servers)]
    reason = f"(SHA-256 {'b' * 12}, that of 2 other servers is {'a' * 12}); install the same version"
    # What a server with RDMA devices lacks is told where it is compared with its files.
    assert found == [("gpu-2", f"{PATH} is another file {reason}"), ("gpu-4", ABSENT)]
    assert [one.message for one in plug_in("gpu-5", JOBS, servers["gpu-5"])] == [ABSENT]


def test_servers_that_have_no_plug_in_or_need_none() -> None:
    """In a lab no server has one; storage servers have no variables."""
    assert [*unlike({"a": JOBS, "b": JOBS}, {"a": PlugIn(), "b": PlugIn()})] == []
    none = ExpectedJobs()
    assert [*unlike({"a": JOBS, "b": none}, {"a": PlugIn(PATH, "a" * 64), "b": PlugIn()})] == []
    assert [*plug_in("b", none, PlugIn(rdma_devices=1))] == []


@pytest.mark.parametrize(
    ("value", "library", "folders"),
    [
        ("juniper-ib", LIBRARY, ("/usr/local/lib", "/opt/x")),
        ("libnccl-net-juniper-ib.so", LIBRARY, ("/usr/local/lib", "/opt/x")),
        (f"/opt/nccl/{LIBRARY}", LIBRARY, ("/opt/nccl",)),
        ("none", "", ("/usr/local/lib", "/opt/x")),
        ("x; reboot", "", ("/usr/local/lib", "/opt/x")),
    ],
)
def test_where_the_plug_in_is_looked_for(value: str, library: str, folders: tuple[str, ...]) -> None:
    search = "${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}/usr/local/lib:/opt/x:a b"
    profile = next(iter(read_hosts(LAB)[0].values())).profile
    environment = (Setting("NCCL_NET_PLUGIN", value), Setting("LD_LIBRARY_PATH", search))
    found = expected_jobs(replace(profile, environment=environment))
    assert (found.library, found.folders) == (library, folders)
    assert found.words == f"{library} {':'.join(folders)}"


@pytest.mark.parametrize("lines", [["digest x"], ["rdma x"], ["rdma 1000000"], [f"digest {'A' * 64}"]])
def test_a_plug_in_that_is_none(lines: list[str]) -> None:
    with pytest.raises(ValueError, match="plug-in"):
        read_plug_in(lines)


def test_lines_that_set_nothing() -> None:
    assert read_assignments(["", "a", "/etc/nccl.conf:1:x=1", "/etc/nccl.conf:x:NCCL_X=1", "/a:1:NCCL_X"]) == ()
    (one,) = read_assignments([f"/a:1:NCCL_X={'x' * 9999}'"])
    assert one.value == "x" * 80


def test_firmware_is_a_figure() -> None:
    usual, other = NicHardware(400_000, "mlx5_core", "28.39.1002"), NicHardware(None, "mlx5_core", "28.41.1000")
    nics = {
        "gpu-1": {"a": usual, "b": usual},
        "gpu-2": {"a": usual, "b": other},
        "gpu-3": {"a": NicHardware(1, "", "")},
    }
    assert hardware_figures(nics) == (("firmware of mlx5_core", "28.39.1002 on 3 NICs; 28.41.1000 on gpu-2:b"),)
