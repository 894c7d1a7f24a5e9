"""Facts of a device: software, hardware, files, times, commits, alarms, memory, power, users, NTP.

The figures are plausible and always the same. Source: Juniper's operational YANG models (junos-rpc-system,
junos-rpc-chassis, junos-rpc-version); the facts that PyEZ, NAPALM and Ansible read.
"""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import new

from lxml import etree

from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.messages import refusal
from ailb_gen.emulator.operations.build import DAY, HOUR, MINUTE, argument, element, fill, flag
from ailb_gen.emulator.operations.ports import port_up, shown_ports, speed_bps
from ailb_gen.emulator.software import PACKAGE, TOTAL_KIB
from ailb_gen.network.model import GIGABIT

HOME = "/var/home/admin"
# The files by which clients recognize the device, PyEZ the first one as that of Junos OS Evolved.
FILES = {"/usr/share/cevo/cevo_version": "\n{version}\n", "/etc/hosts.junos": "\n128.0.0.1 master re0\n"}
NTP_HEAD = (
    "",
    "     remote         refid           auth  st t when poll reach  delay     offset    jitter  rootdelay  rootdisp",
    "=" * 109,
)
NTP_ROW = " {:<15} .INIT.          -     16 u    -   64    0    0.000   +0.000    0.000    0.000      0.000"
SOFTWARE_HEAD = (
    "-" * 31,
    "node: re0",
    "-" * 31,
    "Active boot device is primary: /dev/sda",
    "List of installed version(s) :",
    "",
    "    '-' running version",
    "    '>' next boot version after upgrade/downgrade",
    "    '<' rollback boot version",
    "    '*' deleted JSU version",
    "",
)
# How an algorithm is called in an answer.
METHODS = {"md5": "MD5", "sha1": "SHA1", "sha-256": "SHA256"}
GIB_KIB = 1 << 20


def software(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show version`; with `node all` wrapped as for several routing engines, re0 being the only one."""
    node = argument(rpc, "node")
    if node not in ("", "all", "re0"):
        return element("output", text=f"\nerror: node {node} is not present\n")
    made = fill("software-information", device=device)
    return fill("multi-routing-engine-results", reply=made) if node == "all" else made


def chassis(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show chassis hardware`; with `detail` also the disk of the routing engine."""
    disk = fill("chassis-re-disk-module", device=device) if flag(rpc, "detail") else None
    return fill("chassis-inventory", device=device, disk=disk)


def uptime(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show system uptime`."""
    now, commits = device.now(), device.commits()
    configured = fill("last-configured-time", commit=commits[0], ago=now - commits[0].when) if commits else None
    return fill(
        "system-uptime-information",
        device=device,
        now=now,
        up=device.up_s,
        configured=configured,
        summary=_uptime_information(device),
    )


def _uptime_information(device: EmulatedDevice, *users: etree._Element) -> etree._Element:
    """Make the line of uptime(1): the time, how long the system is up, open sessions, loads; and a table of users."""
    now, up = device.now(), int(device.up_s)
    days = f"{up // DAY} day{'' if up // DAY == 1 else 's'}, " if up >= DAY else ""
    clock = f"{up % DAY // HOUR}:{up % HOUR // MINUTE:02}" if up % DAY >= HOUR else f"{up % HOUR // MINUTE} mins"
    return fill(
        "uptime-information",
        now=now,
        clock=datetime.fromtimestamp(now, UTC).strftime("%I:%M%p").lstrip("0"),
        up=up,
        length=f"{days}{clock}",
        count=len(device.sessions),
        users=users,
    )


def commits(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show system commit`."""
    rows = [
        fill("commit-history", commit=commit, comment=commit.comment or None, log=commit.log or None)
        for commit in device.commits()
    ]
    return element("commit-information", *rows)


def revision(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show system commit revision`; NAPALM asks it for a pending confirmed commit."""
    history = device.commits()
    if not history:
        raise refusal("no commit has been made")
    return fill("commit-revision-information", commit=history[0], comment=history[0].comment or None)


def file_list(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `file list`: the home directory is there, and nothing in it."""
    path = argument(rpc, "path")
    if path.rstrip("/") not in ("", "~", HOME):
        raise refusal(f"{path}: No such file or directory")
    return fill("directory-list", now=device.now())


def _file_text(device: EmulatedDevice, path: str) -> str:
    """Return one of the two files by which clients recognize the device. Raises RpcRefusedError."""
    if path not in FILES:
        raise refusal(f"could not resolve file: {path}: No such file or directory")
    return FILES[path].format(version=device.version)


def file_show(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `file show`."""
    name = argument(rpc, "filename")
    return fill("file-content", name=name, text=_file_text(device, name))


def chassis_alarms(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show chassis alarms`."""
    active = device.alarms()
    if not active:
        return fill("no-alarm")
    details = [fill("alarm-detail", device=device, text=text) for text in active]
    return fill("alarm-information", count=len(active), details=details)


def directory_usage(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show system directory-usage`: nothing is kept there."""
    return fill("directory-usage-information", path=argument(rpc, "path") or "/")


def checksum(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `file checksum` for files that were copied, or that `file show` knows. Raises RpcRefusedError."""
    path = argument(rpc, "path")
    # Junos has a request for each algorithm; some take its name as an element.
    named = (
        str(rpc.tag).removeprefix("get-").removesuffix("checksum-information").strip("-").replace("sha256", "sha-256")
    )
    algorithm = named or next((name for name in METHODS if rpc.find(name) is not None), "md5")
    copied = device.software.files.get(path)
    digest = copied.digests[algorithm] if copied is not None else _digest(_file_text(device, path), algorithm)
    return fill("checksum-information", method=METHODS[algorithm], path=path, digest=digest)


def _digest(text: str, algorithm: str) -> str:
    return new(algorithm.replace("-", ""), text.encode(), usedforsecurity=False).hexdigest()


def storage(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show system storage`: files that were copied take place on /var."""
    used = device.software.used_kib
    free = TOTAL_KIB - used
    return fill(
        "storage",
        used=used,
        used_text=f"{used / GIB_KIB:.1f}G",
        free=free,
        free_text=f"{free / GIB_KIB:.1f}G",
        percent=round(100 * used / TOTAL_KIB),
    )


def software_list(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show system software list`: the release that runs, the one that boots next, and others."""
    software = device.software
    rows = [
        f" {software.mark(release)}   {PACKAGE}{release} - [{datetime.fromtimestamp(when, UTC):%Y-%m-%d %H:%M:%S}]"
        for release, when in sorted(software.installed.items(), key=lambda one: -one[1])
    ]
    return element("output", text="\n".join(("", *SOFTWARE_HEAD, *rows, "")))


def fpcs(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show chassis fpc`: one, which is the switch itself. Raises RpcRefusedError for another slot."""
    _check_slots(rpc, "fpc-slot")
    return fill("fpc-detail" if flag(rpc, "detail", "extensive") else "fpc-brief", device=device)


def _check_slots(rpc: etree._Element, *names: str) -> None:
    for name in names:
        slot = argument(rpc, name)
        if slot not in ("", "0"):
            raise refusal(f"{'PIC' if name == 'pic-slot' else 'FPC'} {slot} is not present", element=slot)


def pics(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show chassis fpc pic-status`. Raises RpcRefusedError for another slot."""
    _check_slots(rpc, "slot")
    return fill("pics", device=device)


def pic_detail(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show chassis pic`: a transceiver in every port with a cable. Raises RpcRefusedError for another slot."""
    _check_slots(rpc, "fpc-slot", "pic-slot")
    rows = []
    for port in shown_ports(device.switch):
        cabled = device.fabric.neighbor(device.name, port.name) is not None or port_up(device, port)
        if port.name.startswith("et-") and cabled:
            gbps, number = speed_bps(device, port) // GIGABIT, port.name.rpartition("/")[2].partition(":")[0]
            rows.append(fill("port", number=number, gbps=gbps, lanes=max(gbps // 100, 1)))
    return fill("pic-detail", device=device, ports=rows)


def users(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show system users`: the sessions that are open."""
    rows = [
        fill(
            "user-entry",
            session=session,
            tty=f"pts/{number}" if session.client == "cli" else "-",
            clock=datetime.fromtimestamp(session.since, UTC).strftime("%I:%M%p"),
            command="-cli" if session.client == "cli" else session.client,
        )
        for number, session in enumerate(device.sessions.values())
    ]
    return element("system-users-information", _uptime_information(device, *rows))


def ntp_associations(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show ntp associations`: the configured servers, which never answer."""
    ntp = device.committed().get("system", "ntp")
    names = [name for kind in ("server", "peer") for name in (ntp.values(kind) if ntp is not None else ())]
    return element("output", text="".join(f"{row}\n" for row in (*NTP_HEAD, *map(NTP_ROW.format, names))))
