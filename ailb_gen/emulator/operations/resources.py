"""Memory, storage, cards, power, users and NTP of a device: plausible figures, always the same for the same device.

Source: Juniper's operational YANG models (junos-rpc-system, junos-rpc-chassis); what NAPALM, PyEZ and Ansible read.
"""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import md5, sha1, sha256

from lxml import etree

from ailb_gen.emulator.device import Device
from ailb_gen.emulator.messages import refusal
from ailb_gen.emulator.operations.build import Child, argument, dated, element, flag, in_words
from ailb_gen.emulator.operations.ports import port_up, shown_ports, speed_bps
from ailb_gen.emulator.operations.system import MEMORY_MB, POWER_SUPPLIES, USED_PERCENT, file_text, uptime_information
from ailb_gen.network.speeds import GIGABIT

PSM_WATTS, PSM_LOAD_WATTS, PSM_VOLTS = 3000, 900, 12
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
# Parts of the memory, in percent.
MEMORY = (("reserved", 1), ("wired", 4), ("active", 5), ("inactive", 3), ("cache", 2), ("free", 85))
# What every transceiver says of itself.
TRANSCEIVER = (
    ("sfp-vendor-name", "EMULATED"), ("sfp-vendor-pno", "EMULATED"), ("wavelength", "1310 nm"), ("sfp-jnpr-ver", "0.0")
)  # fmt: skip
DIGESTS = {"md5": md5, "sha1": sha1, "sha-256": sha256}


def memory(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show system memory`."""
    made: list[Child] = []
    for name, percent in (("total", 100), *MEMORY):
        made.append((f"system-memory-{name}", f"{MEMORY_MB * 1024 * percent // 100:>7}"))
        made.append((f"system-memory-{name}-percent", f"{percent:>3}%"))
    return element("system-memory-information", element("system-memory-summary-information", *made))


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
    """Answer `show chassis fpc`: one, which is the switch itself. Raises RefusedError for another slot."""
    _check_slots(rpc, "fpc-slot")
    long = flag(rpc, "detail", "extensive")
    up = device.now() - device.started
    names = ("cpu-total", "cpu-interrupt", "cpu-1min-avg", "cpu-5min-avg", "cpu-15min-avg")
    load: list[Child] = list(zip(names, (3, 0, 3, 3, 3), strict=True))
    return element(
        "fpc-information",
        element(
            "fpc",
            ("slot", 0),
            ("state", "Online"),
            element("temperature", text=28, celsius=28),
            *([] if long else load),
            ("memory-dram-size", MEMORY_MB),
            *([] if long else [("memory-heap-utilization", USED_PERCENT), ("memory-buffer-utilization", USED_PERCENT)]),
            *([dated("start-time", device.started)] if long else []),
            element("up-time", text=in_words(up), seconds=int(up)) if long else None,
        ),
        style="detail" if long else "brief",
    )


def _check_slots(rpc: etree._Element, *names: str) -> None:
    for name in names:
        slot = argument(rpc, name)
        if slot not in ("", "0"):
            raise refusal(f"{'PIC' if name == 'pic-slot' else 'FPC'} {slot} is not present", element=slot)


def pics(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show chassis fpc pic-status`. Raises RefusedError for another slot."""
    _check_slots(rpc, "slot")
    pic = element("pic", ("pic-slot", 0), ("pic-state", "Online"), ("pic-type", device.model))
    fpc = element("fpc", ("slot", 0), ("state", "Online"), ("description", device.model), pic)
    return element("fpc-information", fpc, style="pic-style")


def pic_detail(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show chassis pic`: a transceiver in every port with a cable. Raises RefusedError for another slot."""
    _check_slots(rpc, "fpc-slot", "pic-slot")
    switch = device.fabric.switch(device.name)
    rows = [
        element(
            "port",
            ("port-number", port.name.rpartition("/")[2].partition(":")[0]),
            ("cable-type", _cable_type(speed_bps(device, switch, port) // GIGABIT)),
            ("fiber-mode", "SM"),
            *TRANSCEIVER,
        )
        for port in shown_ports(switch)
        if port.name.startswith("et-")
        and (device.fabric.neighbor(device.name, port.name) is not None or port_up(device, port))
    ]
    up = int(device.now() - device.started)
    made = element(
        "pic-detail",
        ("slot", 0),
        ("pic-slot", 0),
        ("pic-type", device.model),
        ("state", "Online"),
        ("pic-version", "1.0"),
        element("up-time", text=in_words(up), seconds=up),
        element("port-information", *rows),
    )
    return element("fpc-information", element("fpc", made))


def _cable_type(gbps: int) -> str:
    return f"{gbps}GBASE DR{max(gbps // 100, 1)}"


def power_usage(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show chassis power detail`."""
    rows = [
        element(
            "power-usage-item",
            ("name", f"PSM {slot}"),
            ("state", "Online"),
            element("ac-input-detail", ("ac-input", "OK"), ("ac-expect-feed", 1), ("ac-actual-feed", 1)),
            element("pem-capacity-detail", ("capacity-actual", PSM_WATTS), ("capacity-max", PSM_WATTS)),
            element(
                "dc-output-detail",
                ("dc-power", PSM_LOAD_WATTS),
                ("zone", 0),
                ("dc-current", PSM_LOAD_WATTS // PSM_VOLTS),
                ("dc-voltage", PSM_VOLTS),
                ("dc-load", PSM_LOAD_WATTS * 100 // PSM_WATTS),
            ),
        )
        for slot in range(POWER_SUPPLIES)
    ]
    total = POWER_SUPPLIES * PSM_WATTS
    used = POWER_SUPPLIES * PSM_LOAD_WATTS
    summary = element(
        "power-usage-system",
        element(
            "power-usage-zone-information",
            ("zone", 0),
            ("capacity-actual", total),
            ("capacity-max", total),
            ("capacity-allocated", used),
            ("capacity-remaining", total - used),
            ("capacity-actual-usage", used),
        ),
        ("capacity-sys-actual", total),
        ("capacity-sys-max", total),
        ("capacity-sys-remaining", total - used),
    )
    return element("power-usage-information", *rows, summary)


def users(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show system users`: the sessions that are open."""
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
    return element("system-users-information", uptime_information(device, *rows))


def ntp_associations(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show ntp associations`: the configured servers, none of which is ever heard."""
    ntp = device.committed().get("system", "ntp")
    names = [name for kind in ("server", "peer") for name in (ntp.values(kind) if ntp is not None else ())]
    rows = [
        f" {name:<15} .INIT.          -     16 u    -   64    0    0.000   +0.000    0.000    0.000      0.000"
        for name in names
    ]
    return element("output", text="".join(f"{row}\n" for row in (*NTP_HEAD, *rows)))
