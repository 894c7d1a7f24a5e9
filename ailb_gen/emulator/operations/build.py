"""Making the elements of replies: names without namespaces, attributes of Junos in theirs."""

from __future__ import annotations

from datetime import UTC, datetime

from lxml import etree

# The prefix `junos` of replies: of `junos:seconds`, `junos:style` and the like.
JUNOS = "http://xml.juniper.net/junos/25.4R1/junos"
# In front of the module in the default namespace of a reply, which has no minor release.
RELEASE = "http://xml.juniper.net/junos/25.4R0"
MINUTE, HOUR, DAY, WEEK = 60, 3600, 86400, 604800

Child = etree._Element | tuple[str, object] | None


def element(tag: str, *children: Child, text: object = None, **junos: object) -> etree._Element:
    """Make an element. A pair is a child with its text, None is no child, nor its text; keywords are attributes."""
    # Declared everywhere, it is written once: at the root of the reply.
    made = etree.Element(tag, nsmap={"junos": JUNOS})
    for name, value in junos.items():
        made.set(f"{{{JUNOS}}}{name}", str(value))
    if text is not None:
        made.text = str(text)
    for child in children:
        if isinstance(child, tuple):
            if child[1] is not None:
                etree.SubElement(made, child[0]).text = str(child[1])
        elif child is not None:
            made.append(child)
    return made


def flag(rpc: etree._Element, *names: str) -> bool:
    """Return whether an rpc has one of some arguments; `detail` stands for `<detail/>` and `<level>detail</level>`."""
    return any(rpc.find(name) is not None for name in names) or rpc.findtext("level", "").strip() in names


def argument(rpc: etree._Element, name: str) -> str:
    """Return the text of an argument, empty without one."""
    return rpc.findtext(name, "").strip()


def date(when: float) -> str:
    """Write a time of the device: `2026-01-31 12:00:00 UTC`."""
    return datetime.fromtimestamp(int(when), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def dated(tag: str, when: float) -> etree._Element:
    """Make an element with a time."""
    return element(tag, text=date(when), seconds=int(when))


def lasted(tag: str, seconds: float) -> etree._Element:
    """Make an element with how long the system has been doing something: `6w2d 18:00`."""
    return element(tag, text=length(seconds), seconds=int(seconds))


def length(seconds: float) -> str:
    """Write a length of time as `show system uptime` does: hours and minutes, with days and weeks in front."""
    whole = int(seconds)
    weeks, days = whole // WEEK, whole % WEEK // DAY
    front = f"{weeks}w{days}d " if weeks else f"{days}d " if days else ""
    return f"{front}{whole % DAY // HOUR:02}:{whole % HOUR // MINUTE:02}"


def in_words(seconds: float) -> str:
    """Write a length of time as `show chassis` does: `5 days, 3 hours, 24 minutes, 13 seconds`."""
    whole = int(seconds)
    parts = ((whole // DAY, "day"), (whole % DAY // HOUR, "hour"), (whole % HOUR // MINUTE, "minute"))
    counted = [f"{count} {unit}{'' if count == 1 else 's'}" for count, unit in parts if count]
    return ", ".join([*counted, f"{whole % MINUTE} second{'' if whole % MINUTE == 1 else 's'}"])


def elapsed(seconds: float) -> str:
    """Write a length of time as `show bgp summary` does: `2:05`, `1:02:05`, `3d 1:02:05`, `1w3d1h`."""
    whole = int(seconds)
    weeks, days, hours = whole // WEEK, whole % WEEK // DAY, whole % DAY // HOUR
    minutes, rest = whole % HOUR // MINUTE, whole % MINUTE
    if weeks:
        return f"{weeks}w{days}d{hours}h"
    if days:
        return f"{days}d {hours}:{minutes:02}:{rest:02}"
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def age(seconds: float) -> str:
    """Write the age of a route: `00:02:08`, `1d 00:02:08`, `2w1d 00:02:08`."""
    return f"{length(seconds)}:{int(seconds) % MINUTE:02}"
