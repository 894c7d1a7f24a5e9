"""Making the elements of replies: names without namespaces, attributes of Junos in theirs.

The trees stand in `replies.xml`: a field is `{name}` or `{name.attribute}`, with a conversion (`{name!date}`) or a
format (`{name:.3f}`), `{}` is an empty text; an element or an attribute whose field is None is left out. `<?name?>`
stands for children. A tree is known by its `id`, without one by its tag.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import cache, reduce
from ipaddress import ip_address
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from ailb_gen.emulator.messages import refusal

# The prefix `junos` of replies: of `junos:seconds`, `junos:style` and the like.
JUNOS = "http://xml.juniper.net/junos/25.4R1/junos"
# In front of the module in the default namespace of a reply, which has no minor release.
RELEASE = "http://xml.juniper.net/junos/25.4R0"
MINUTE, HOUR, DAY, WEEK = 60, 3600, 86400, 604800

Child = etree._Element | tuple[str, object] | None
FIELD = re.compile(r"\{([a-z0-9_.]*)(?:!([a-z]+))?(?::([^{}]*))?\}")


def element(tag: str, *children: Child, text: object = None, **junos: object) -> etree._Element:
    """Make an element. A pair is a child with its text, None is no child, nor its text; keywords are attributes."""
    # Declared everywhere, it is written once: at the root of the reply.
    made = etree.Element(tag, nsmap={"junos": JUNOS})
    for name, value in junos.items():
        made.set(f"{{{JUNOS}}}{name}", str(value))
    if text is not None:
        made.text = str(text)
    _append(made, children)
    return made


def _append(made: etree._Element, children: Iterable[Child]) -> None:
    for child in children:
        if isinstance(child, tuple):
            if child[1] is not None:
                etree.SubElement(made, child[0]).text = str(child[1])
        elif child is not None:
            made.append(child)


def output(rows: Iterable[str]) -> etree._Element:
    """Make a reply that is text."""
    return element("output", text="\n" + "".join(f"{row}\n" for row in rows))


class Field(NamedTuple):
    """A field of a text, and the literal in front of it; `name` is empty behind the last one."""

    literal: str
    name: str
    attributes: list[str]
    convert: Callable[..., object]
    form: str


class Template(NamedTuple):
    """An element of `replies.xml`; a child that is a name stands for children."""

    tag: str
    text: list[Field]
    attributes: list[tuple[str, list[Field]]]
    children: list[Template | str]


def fill(template: str, /, **values: object) -> etree._Element:
    """Make a tree of `replies.xml`, with values in its fields; a value for `<?name?>` is an element, or several."""
    tree = _templates()[template]
    made = etree.Element(tree.tag, nsmap={"junos": JUNOS})
    _fill(made, tree, _text(tree.text, values), values)
    return made


def parts(template: str, /, **values: object) -> list[etree._Element]:
    """Make the children of a tree of `replies.xml`."""
    return list(fill(template, **values))


def _fill(made: etree._Element, template: Template, text: str | None, values: Mapping[str, object]) -> None:
    made.text = text
    for name, fields in template.attributes:
        if (shown := _text(fields, values)) is not None:
            made.set(name, shown)
    for child in template.children:
        if isinstance(child, Template):
            text = _text(child.text, values)
            if text is not None or not child.text:
                _fill(etree.SubElement(made, child.tag), child, text, values)
        else:
            rows = values[child]
            _append(made, [rows] if rows is None or isinstance(rows, etree._Element) else rows)  # type: ignore[arg-type]


def _text(fields: list[Field], values: Mapping[str, object]) -> str | None:
    """Return a text with its fields filled, None without any, and if one of them is None."""
    made = "" if fields else None
    for field in fields:
        made = f"{made}{field.literal}"
        if field.name:
            value = reduce(getattr, field.attributes, values[field.name])
            if value is None:
                return None
            made += format(field.convert(value), field.form)
    return made


@cache
def _templates() -> dict[str, Template]:
    parser = etree.XMLParser(remove_blank_text=True, remove_comments=True)
    root = etree.parse(Path(__file__).with_name("replies.xml"), parser).getroot()
    return {str(tree.attrib.pop("id", tree.tag)): _template(tree) for tree in root}


def _template(tree: etree._Element) -> Template:
    return Template(
        str(tree.tag),
        _fields(tree.text) if tree.text else [],
        [(str(name), _fields(str(text))) for name, text in tree.attrib.items()],
        [str(child.target) if isinstance(child, etree._ProcessingInstruction) else _template(child) for child in tree],
    )


def _fields(text: str) -> list[Field]:
    fields = []
    for literal, found in zip_longest(FIELD.split(text)[::4], FIELD.finditer(text)):
        name, conversion, form = found.groups("") if found is not None else ("", "", "")
        first, *attributes = name.split(".")
        fields.append(Field(literal, first, attributes, CONVERSIONS[conversion], form))
    return fields


def flag(rpc: etree._Element, *names: str) -> bool:
    """Return whether an rpc has one of some arguments; `detail` stands for `<detail/>` and `<level>detail</level>`."""
    return any(rpc.find(name) is not None for name in names) or rpc.findtext("level", "").strip() in names


def argument(rpc: etree._Element, name: str) -> str:
    """Return the text of an argument, empty without one."""
    return rpc.findtext(name, "").strip()


def check_found(found: object, kind: str, name: str) -> None:
    """Raise RpcRefusedError for a name in a request of which nothing was found; without a name nothing need be."""
    if name and not found:
        raise refusal(f"{kind} {name} does not exist", element=name)


def ip_version(text: str) -> int:
    """Return the version of IP that an address is of, with or without a scope; 0 for text that is none."""
    try:
        return ip_address(text.partition("%")[0]).version
    except ValueError:
        return 0


def date(when: float) -> str:
    """Write a time of the device: `2026-01-31 12:00:00 UTC`."""
    return datetime.fromtimestamp(int(when), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


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


def status(up: bool) -> str:
    """Write a state."""
    return "up" if up else "down"


CONVERSIONS: Mapping[str, Callable[..., object]] = {
    "": lambda value: value,
    "age": age,
    "date": date,
    "elapsed": elapsed,
    "int": lambda value: str(int(value)),
    "iso": lambda when: datetime.fromtimestamp(int(when), UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    "length": length,
    "lower": str.lower,
    "ms": lambda value: f"{value / 1000:.3f}",
    "plural": lambda count: "" if count == 1 else "s",
    "state": status,
    "words": in_words,
}
