"""Memory, storage, cards, power, users and NTP of a device: plausible figures, always the same for the same device.

Source: Juniper's operational YANG models (junos-rpc-system, junos-rpc-chassis); what NAPALM, PyEZ and Ansible read.
"""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import md5, sha1, sha256

from lxml import etree

from ailb_gen.emulator.device import Device
from ailb_gen.emulator.messages import refusal
from ailb_gen.emulator.operations.build import argument, dated, element, lasted, length
from ailb_gen.emulator.operations.system import MEMORY_MB, POWER_SUPPLIES, file_text

USED_PERCENT = 15
PSM_WATTS, PSM_LOAD_WATTS = 3000, 900
# Name, total blocks of 1 KiB, used percent, mount point.
FILESYSTEMS = (
    ("/dev/sda5", 98304000, 12, "/soft"),
    ("/dev/sda6", 49152000, 4, "/var"),
    ("tmpfs", 16384000, 1, "/run"),
)
NTP_HEAD = (
    "",
    "     remote         refid           auth  st t when poll reach  delay     offset    jitter  rootdelay  rootdisp",
    "=" * 109,
)
DIGESTS = {"md5": md5, "sha1": sha1, "sha-256": sha256}


def memory(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show system memory`."""
    used = MEMORY_MB * USED_PERCENT // 100
    return element(
        "system-memory-information",
        element(
            "system-memory-summary-information",
            ("system-memory-total", MEMORY_MB),
            ("system-memory-total-percent", 100),
            ("system-memory-free", MEMORY_MB - used),
            ("system-memory-free-percent", 100 - USED_PERCENT),
        ),
    )


def storage(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show system storage`, as Junos OS Evolved does for its one node."""
    rows = []
    for name, blocks, percent, mount in FILESYSTEMS:
        used = blocks * percent // 100
        rows.append(
            element(
                "filesystem",
                ("filesystem-name", name),
                element("total-blocks", text=blocks, format=_size(blocks)),
                element("used-blocks", text=used, format=_size(used)),
                element("available-blocks", text=blocks - used, format=_size(blocks - used)),
                ("used-percent", percent),
                ("mounted-on", mount),
            )
        )
    item = element("multi-routing-engine-item", ("re-name", "re0"), element("system-storage-information", *rows))
    return element("multi-routing-engine-results", item)


def _size(blocks: int) -> str:
    return f"{blocks / 1024 / 1024:.1f}G"


def directory_usage(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show system directory-usage`: nothing is kept there."""
    path = argument(rpc, "path") or "/"
    row = element("directory", ("directory-name", path), element("used-space", ("used-blocks", 0)))
    return element("directory-usage-information", row)


def checksum(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `file checksum` for the files that `file show` knows. Raises RefusedError."""
    path = argument(rpc, "path")
    algorithm = next((name for name in DIGESTS if rpc.find(name) is not None), "md5")
    digest = DIGESTS[algorithm](file_text(device, path).encode()).hexdigest()
    row = element(
        "file-checksum", ("computation-method", algorithm.upper()), ("input-file", path), ("checksum", digest)
    )
    return element("checksum-information", row)


def fpcs(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show chassis fpc`: one, which is the switch itself."""
    slot = argument(rpc, "fpc-slot")
    if slot not in ("", "0"):
        raise refusal(f"FPC {slot} is not present", element=slot)
    return element(
        "fpc-information",
        element(
            "fpc",
            ("slot", 0),
            ("state", "Online"),
            element("temperature", text=28, celsius=28),
            ("cpu-total", 3),
            ("cpu-interrupt", 0),
            ("memory-dram-size", MEMORY_MB),
            ("memory-heap-utilization", USED_PERCENT),
            ("memory-buffer-utilization", USED_PERCENT),
            dated("start-time", device.started),
            lasted("up-time", device.now() - device.started),
        ),
        style="brief",
    )


def pics(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show chassis fpc pic-status`."""
    pic = element("pic", ("pic-slot", 0), ("pic-state", "Online"), ("pic-type", device.model))
    fpc = element("fpc", ("slot", 0), ("state", "Online"), ("description", device.model), pic)
    return element("fpc-information", fpc, style="pic-style")


def power_usage(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show chassis power detail`."""
    rows = [
        element(
            "power-usage-item",
            ("name", f"PSM {slot}"),
            ("state", "Online"),
            element("pem-capacity-detail", ("capacity-actual", PSM_WATTS), ("capacity-max", PSM_WATTS)),
            element("dc-output-detail2", ("str-dc-power", PSM_LOAD_WATTS), ("str-dc-load", 30)),
            element("dc-output-detail", ("dc-power", PSM_LOAD_WATTS), ("dc-load", 30)),
        )
        for slot in range(POWER_SUPPLIES)
    ]
    total = POWER_SUPPLIES * PSM_WATTS
    used = POWER_SUPPLIES * PSM_LOAD_WATTS
    summary = element(
        "power-usage-system",
        ("capacity-sys-actual", total),
        ("capacity-sys-max", total),
        ("capacity-sys-remaining", total - used),
    )
    return element("power-usage-information", *rows, summary)


def users(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show system users`: the sessions that are open."""
    now = device.now()
    rows = [
        element(
            "user-entry",
            ("user", one.user),
            ("tty", f"pts/{number}" if one.client == "cli" else "-"),
            ("from", "127.0.0.1"),
            element(
                "login-time", text=datetime.fromtimestamp(one.since, UTC).strftime("%I:%M%p"), seconds=int(one.since)
            ),
            element("idle-time", text="-", seconds=0),
            ("command", "-cli" if one.client == "cli" else one.client),
        )
        for number, one in enumerate(device.sessions.values())
    ]
    return element(
        "system-users-information",
        element(
            "uptime-information",
            dated("date-time", now),
            element("up-time", text=length(now - device.started), seconds=int(now - device.started)),
            ("active-user-count", len(rows)),
            *(("load-average-1", "0.10"), ("load-average-5", "0.10"), ("load-average-15", "0.10")),
            element("user-table", *rows),
        ),
    )


def ntp_associations(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show ntp associations`: the configured servers, none of which is ever heard."""
    ntp = device.committed().get("system", "ntp")
    names = [name for kind in ("server", "peer") for name in (ntp.values(kind) if ntp is not None else ())]
    rows = [
        f" {name:<15} .INIT.          -     16 u    -   64    0    0.000   +0.000    0.000    0.000      0.000"
        for name in names
    ]
    return element("output", text="".join(f"{row}\n" for row in (*NTP_HEAD, *rows)))
