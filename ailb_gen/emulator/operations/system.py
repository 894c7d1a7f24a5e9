"""Facts of a device: software, hardware, files, times, commits, alarms.

Source: Juniper's operational YANG models (junos-rpc-system, junos-rpc-chassis, junos-rpc-version); what PyEZ reads
in `jnpr.junos.facts`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from lxml import etree

from ailb_gen.emulator.device import Device
from ailb_gen.emulator.disk import Commit
from ailb_gen.emulator.messages import refusal
from ailb_gen.emulator.operations.build import (
    DAY,
    HOUR,
    MINUTE,
    argument,
    date,
    dated,
    element,
    flag,
    in_words,
    lasted,
)

HOME = "/var/home/admin"
# PyEZ recognizes Junos OS Evolved by this file.
EVOLVED = "/usr/share/cevo/cevo_version"
ENGINE = "RE-QFX5240"
MEMORY_MB, USED_PERCENT, DISK_MB = 32768, 15, 144000
# Of 1, 5 and 15 minutes.
LOADS = ("0.10", "0.10", "0.10")
FANS, POWER_SUPPLIES = 4, 2


def host_name(device: Device) -> str:
    """Return the configured host name; a device without one is called by the name that its fabric knows it by."""
    return device.fabric.switch(device.name).host_name or device.name


def software(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show version`; with `node all` wrapped as for several routing engines, of which re0 is the only one."""
    node = argument(rpc, "node")
    if node not in ("", "all", "re0"):
        return element("output", text=f"\nerror: node {node} is not present\n")
    model = device.model.lower()
    package = f"junos-evo-install-qfx-ms-x86-64-{device.version}"
    made = element(
        "software-information",
        ("host-name", host_name(device)),
        ("product-model", model),
        ("product-name", model),
        ("os-name", "junos-evo"),
        ("junos-version", device.version),
        element(
            "package-information",
            ("name", package),
            ("package-name", package),
            ("comment", f"JUNOS-EVO OS 64-bit [{package}]"),
        ),
    )
    if node != "all":
        return made
    item = element("multi-routing-engine-item", ("re-name", "re0"), made)
    return element("multi-routing-engine-results", item)


def system_information(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show system information`."""
    return element(
        "system-information",
        ("hardware-model", device.model.lower()),
        ("os-name", "junos-evo"),
        ("os-version", device.version),
        ("serial-number", device.serial),
        ("host-name", host_name(device)),
    )


def nodes(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show system nodes`: one routing engine, which is active."""
    attributes = ("RE (Active)", "FPC (Active)")
    made = [("system-node-info-node-attribute", text) for text in attributes]
    return element(
        "system-nodes-information",
        element(
            "system-nodes-info-entry",
            ("system-node-info-node-name", "re0"),
            element("system-node-info-node-attributes-list", *made),
            ("system-node-info-node-status", "online, apps-ready"),
        ),
    )


def routing_engine(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show chassis routing-engine`."""
    up = device.now() - device.started
    return element(
        "route-engine-information",
        element(
            "route-engine",
            ("slot", 0),
            ("mastership-state", "Master"),
            ("mastership-priority", "Master (default)"),
            ("status", "OK"),
            element("temperature", text="35 degrees C / 95 degrees F", celsius=35),
            element("cpu-temperature", text="35 degrees C / 95 degrees F", celsius=35),
            ("memory-dram-size", f"{MEMORY_MB} MB"),
            ("memory-installed-size", f"({MEMORY_MB} MB installed)"),
            ("memory-buffer-utilization", USED_PERCENT),
            ("memory-system-total-used", MEMORY_MB * USED_PERCENT // 100),
            ("cpu-user", 2),
            ("cpu-background", 0),
            ("cpu-system", 1),
            ("cpu-interrupt", 0),
            ("cpu-idle", 97),
            ("model", ENGINE),
            ("serial-number", device.serial),
            dated("start-time", device.started),
            element("up-time", text=in_words(up), seconds=int(up)),
            ("last-reboot-reason", "power cycle/failure"),
            *zip(("load-average-one", "load-average-five", "load-average-fifteen"), LOADS, strict=True),
        ),
    )


def chassis(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show chassis hardware`; with `detail` also the disk of the routing engine."""
    disk = element(
        "chassis-re-disk-module",
        ("name", "sda"),
        ("disk-size", DISK_MB),
        ("model", "EMULATED"),
        ("serial-number", device.serial),
        ("description", "Hard Disk"),
    )
    engine = element(
        "chassis-module",
        ("name", "Routing Engine 0"),
        ("version", "REV 01"),
        ("description", ENGINE),
        disk if flag(rpc, "detail") else None,
    )
    return element(
        "chassis-inventory",
        element(
            "chassis",
            ("name", "Chassis"),
            ("serial-number", device.serial),
            ("description", device.model),
            engine,
            element("chassis-module", ("name", "FPC 0"), ("description", device.model)),
            style="inventory",
        ),
    )


def uptime(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show system uptime`."""
    now = device.now()
    commits = device.commits()

    def since(tag: str, when: float, user: str | None = None) -> etree._Element:
        return element(tag, dated("date-time", when), lasted("time-length", now - when), ("user", user))

    return element(
        "system-uptime-information",
        element("current-time", dated("date-time", now)),
        ("time-source", " LOCAL CLOCK "),
        since("system-booted-time", device.started),
        since("protocols-started-time", device.started),
        since("last-configured-time", commits[0].when, commits[0].user) if commits else None,
        uptime_information(device),
    )


def uptime_information(device: Device, *users: etree._Element) -> etree._Element:
    """Make the line of uptime(1): the time, how long the system is up, open sessions, loads; and a table of users."""
    now, up, count = device.now(), int(device.now() - device.started), len(device.sessions)
    days = f"{up // DAY} day{'' if up // DAY == 1 else 's'}, " if up >= DAY else ""
    clock = f"{up % DAY // HOUR}:{up % HOUR // MINUTE:02}" if up % DAY >= HOUR else f"{up % HOUR // MINUTE} mins"
    return element(
        "uptime-information",
        element("date-time", text=datetime.fromtimestamp(now, UTC).strftime("%I:%M%p").lstrip("0"), seconds=int(now)),
        element("up-time", text=f"{days}{clock}", seconds=up),
        element("active-user-count", text=count, format=f"{count} user{'' if count == 1 else 's'}"),
        *zip(("load-average-1", "load-average-5", "load-average-15"), LOADS, strict=True),
        element("user-table", *users),
    )


def _commit(tag: str, commit: Commit, sequence: int | None = None, log: str = "") -> etree._Element:
    return element(
        tag,
        ("sequence-number", sequence),
        ("revision", commit.revision),
        ("user", commit.user),
        ("client", commit.client),
        dated("date-time", commit.when),
        ("comment", commit.comment or None),
        ("log", log or None),
    )


def commits(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show system commit`."""
    rows = [_commit("commit-history", one, one.sequence, one.log) for one in device.commits()]
    return element("commit-information", *rows)


def revision(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show system commit revision`; NAPALM asks it for a pending confirmed commit."""
    history = device.commits()
    if not history:
        raise refusal("no commit has been made")
    return _commit("commit-revision-information", history[0])


def file_list(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `file list`: the home directory is there, and nothing in it."""
    path = argument(rpc, "path")
    if path.rstrip("/") not in ("", "~", HOME):
        raise refusal(f"{path}: No such file or directory")
    directory = element("directory", ("directory-name", f"{HOME}/"), ("total-files", 0))
    directory.set("name", f"{HOME}/")
    made = element("directory-list", directory, seconds=int(device.now()), style="brief")
    made.set("root-path", f"{HOME}/")
    return made


def file_text(device: Device, path: str) -> str:
    """Return one of the two files by which clients recognize the device. Raises RefusedError."""
    files: dict[str, Callable[[], str]] = {
        EVOLVED: lambda: f"\n{device.version}\n",
        "/etc/hosts.junos": lambda: "\n128.0.0.1 master re0\n",
    }
    if path not in files:
        raise refusal(f"could not resolve file: {path}: No such file or directory")
    return files[path]()


def file_show(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `file show`."""
    name = argument(rpc, "filename")
    return element("file-content", text=file_text(device, name), filename=name, encoding="text")


def chassis_alarms(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show chassis alarms`."""
    return _alarms(device, device.alarms())


def system_alarms(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show system alarms`: none; those of the chassis are not system alarms."""
    return _alarms(device, ())


def _alarms(device: Device, active: tuple[str, ...]) -> etree._Element:
    if not active:
        summary = element("alarm-summary", element("no-active-alarms"))
        return element("alarm-information", summary)
    summary = element("alarm-summary", ("active-alarm-count", len(active)))
    details = [
        element(
            "alarm-detail",
            element("alarm-time", text=date(device.started), seconds=int(device.started)),
            ("alarm-class", "Major"),
            ("alarm-description", text),
            ("alarm-short-description", text[:20]),
            ("alarm-type", "Chassis"),
        )
        for text in active
    ]
    return element("alarm-information", summary, *details)


def environment(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show chassis environment`: no fault."""
    items: list[tuple[str, str, int | None]] = [(f"PSM {slot}", "Power", None) for slot in range(POWER_SUPPLIES)]
    items += [("Routing Engine 0", "Temp", 35), ("FPC 0 Intake Temp Sensor", "Temp", 28)]
    items += [(f"Fan Tray {tray} Fan 1", "Fans", None) for tray in range(FANS)]
    made = []
    for name, kind, celsius in items:
        heat = None
        if celsius is not None:
            heat = element(
                "temperature", text=f"{celsius} degrees C / {celsius * 9 // 5 + 32} degrees F", celsius=celsius
            )
        made.append(element("environment-item", ("name", name), ("class", kind), ("status", "OK"), heat))
    return element("environment-information", *made)


def temperature_thresholds(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show chassis temperature-thresholds`."""
    names = ("Routing Engine 0", "FPC 0 Intake Temp Sensor")
    limits = (
        ("fan-normal-speed", 55), ("fan-high-speed", 65), ("bad-fan-yellow-alarm", 65), ("bad-fan-red-alarm", 75),
        ("yellow-alarm", 75), ("red-alarm", 90), ("fire-shutdown", 100),
    )  # fmt: skip
    made = [element("temperature-threshold", ("name", name), *limits) for name in names]
    return element("temperature-threshold-information", *made)
