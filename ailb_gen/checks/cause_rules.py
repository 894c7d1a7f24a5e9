"""The rules by which findings follow from others, as tables: what is computed follows from what stands in a file."""

from __future__ import annotations

from enum import Enum
from itertools import chain


class Relation(Enum):
    """The relation of a consequence to its cause.

    LINE and FILE: they are at one line, or anywhere in one file. TOPIC: they name one thing, such as a port or a
    prefix. PART: they name one thing, in one file. OWN: the scope of one is that of the other, or a part of it.
    INVOLVED: the consequence involves what the cause is about. ANYWHERE: wherever both are. ALIKE: both are marked so
    (`Finding.alike`); it needs no rule. GAP: for both the same statement is missing, or is written wrongly.
    """

    LINE = 1
    FILE = 2
    TOPIC = 3
    OWN = 4
    INVOLVED = 5
    ANYWHERE = 6
    ALIKE = 7
    PART = 8
    GAP = 9


def _ids(text: str) -> tuple[str, ...]:
    """Write ids: `201 202` are AILB201 and AILB202."""
    return tuple(f"AILB{word}" for word in text.split())


# Every check, the more fundamental first: a cause stands before its consequences.
_LEVELS = (
    # Files that are not there or cannot be read, and statements that no switch takes.
    _ids("001 002 003 004 601 908 901 902 903 905 904 011"),
    # Cables, and the files that describe them.
    _ids("009 008 006 007"),
    # What stands on one device.
    _ids("209 105 102 101 106 108 109 103 104 107 110 111 112 202 301 207 302 203 208 204 205 206 212 210 211 010"),
    _ids("304 305 308 306 307 311 406 407 408 702 701 703 704 705 706 710 711"),
    # What follows for the two ends of a link, for routes, for paths, and for failures.
    _ids("409 709 707 201 303 309 310 402 401 403 404 405 501 504 506 502 507 503 505"),
    _ids("602 603 604 605 606 607 608 609 610 611 612 613 614 615 708 616 617 618 619"),
    _ids("801 802 803 804 805 806 807 808 811 812 814 813 815 816 817 818 819 821 822 823"),
    # What a lab shows: files, hosts, sessions, routes, packets, failures.
    _ids("L01 L02 L03 L11 L14 L04 L05 L06 L13 L07 L10 L21 L22 L08 L23 L09 L12 L31 L34 L32 L33 L35"),
    # What only repeats that something is amiss.
    _ids("906 907 005 090 091"),
)
ORDER = {check: number for number, check in enumerate(chain(*_LEVELS))}

_UNREADABLE = _ids("001 002")
_SYNTAX = _ids("901 902 903 904 905")
_CABLES = _ids("009 008 006")
# What decides about routes.
_CONTROL = _ids(
    "001 002 011 901 902 903 904 905 009 008 006 105 102 101 108 109 103 107 202 301 302 207 203 208 205 206"
)
_CONTROL += _ids("011 304 305 308 306 307 406 201 106 209")
_QOS = _ids("001 002 011 901 902 903 904 905 702 701 703 704 705 706")
_COMPUTED = _ids("303 309 310 402 401 403")
_STATEMENTS = tuple(chain(*_LEVELS[:4]))
SERVER = frozenset(_LEVELS[5])
# What is about lines of files, by any check.
_WRITTEN = (*_STATEMENTS, "AILB201", *_LEVELS[5], *_LEVELS[6], *_ids("906 907"))

Rules = tuple[tuple[str, tuple[str, ...], Relation], ...]
# Consequences, their causes with the likeliest first, and how they belong together; the first rule that applies counts.
_RULES: Rules = (
    # A value that no switch takes is the reason why the value is wrong.
    ("101 102 106 108 111 201 204 205 208 302 304 305 407 710", _SYNTAX, Relation.PART),
    # What is in a place where it is not read is not modelled, and what belongs there is missing.
    ("107 201 206 306 704", _ids("209"), Relation.PART),
    ("208", _ids("301"), Relation.PART),
    ("906", _ids("106 108 102 105 103 208 207 201 304"), Relation.TOPIC),
    # Cables.
    ("006 007 008", _CABLES, Relation.TOPIC),
    # The topology is made of the same intent, and nothing is wired by it.
    ("201 302 109 602 606 207", _ids("009 006"), Relation.TOPIC),
    ("106 108", _ids("009 006"), Relation.INVOLVED),
    ("008 009", _UNREADABLE, Relation.FILE),
    ("008", _ids("008"), Relation.TOPIC),
    ("009", _ids("009"), Relation.TOPIC),
    ("007", _ids("106 108 003"), Relation.OWN),
    ("203", (*_UNREADABLE, "AILB003"), Relation.INVOLVED),
    ("203", _ids("202 009 006 207 302 201"), Relation.INVOLVED),
    ("207 107 004 203", _ids("003"), Relation.OWN),
    # Addresses and VLANs.
    ("103 101", _ids("102 101"), Relation.TOPIC),
    ("208", _ids("208"), Relation.OWN),
    ("208", _ids("102 108 106 103"), Relation.TOPIC),
    ("103 104", _ids("102 108 106"), Relation.TOPIC),
    ("106", _ids("105"), Relation.TOPIC),
    ("304 606", _ids("101 102 304 105"), Relation.TOPIC),
    ("304", _ids("105 102 101"), Relation.INVOLVED),
    ("606", _ids("106 105 102 101"), Relation.FILE),
    ("304", _ids("304"), Relation.INVOLVED),
    # Sessions and colors.
    ("201", _UNREADABLE, Relation.INVOLVED),
    ("201 302", _ids("108 207 302 103 208"), Relation.TOPIC),
    ("201", _ids("202 203"), Relation.INVOLVED),
    ("107", _ids("107"), Relation.OWN),
    ("301", _ids("301"), Relation.TOPIC),
    ("302", _ids("301"), Relation.TOPIC),
    ("308", _ids("308 208 201"), Relation.INVOLVED),
    ("311", _ids("308 306 307 406"), Relation.OWN),
    # What is computed.
    ("402", _ids("409"), Relation.ANYWHERE),
    ("303", _CONTROL, Relation.OWN),
    ("309 310 401 402 403", _CONTROL, Relation.INVOLVED),
    ("309 310 401 402 403", _CONTROL, Relation.OWN),
    ("401 402 403", _COMPUTED, Relation.INVOLVED),
    ("404 405 501 502 503 504 505 506 507", (*_CONTROL, *_COMPUTED), Relation.ANYWHERE),
    # Class of service and MTU.
    ("703 704 705 706", _ids("702"), Relation.TOPIC),
    ("701 705 706", _ids("702 703"), Relation.INVOLVED),
    ("707 708", _QOS, Relation.INVOLVED),
    ("703", _ids("703"), Relation.TOPIC),
    ("709 613", _ids("710"), Relation.TOPIC),
    ("613", _ids("613"), Relation.INVOLVED),
    # Servers.
    ("601", _UNREADABLE, Relation.FILE),
    ("602", _ids("601"), Relation.OWN),
    ("607 610", _ids("602"), Relation.PART),
    ("708", _ids("708"), Relation.INVOLVED),
    ("602 603 604 605 606", _ids("601"), Relation.FILE),
    ("607 608 610 611", _ids("601"), Relation.TOPIC),
    ("604 605 606", _ids("603 604 605 606"), Relation.TOPIC),
    ("607", _ids("603 604 605"), Relation.TOPIC),
    ("607", _ids("602"), Relation.OWN),
    ("607", _ids("607"), Relation.TOPIC),
    ("616", _ids("602 607 708 616"), Relation.TOPIC),
    # What Batfish says of a line, a port, a VLAN or a session that a check of ours names, too.
    ("801", (*_UNREADABLE, *_SYNTAX), Relation.OWN),
    ("803 804 806 807 808", _ids("105 102 103 104 106 108 208 110 109 009"), Relation.TOPIC),
    ("807 808", _ids("803 804 806 807"), Relation.TOPIC),
    ("813", _ids("201 302 207 009 108 106"), Relation.TOPIC),
    ("814", _ids("102 101 103"), Relation.TOPIC),
    # Its routes follow from all that decides about routes; that the engines disagree, only from what one leaves out.
    ("815 816 817 818 819", (*_CONTROL, *_COMPUTED), Relation.ANYWHERE),
    ("812", _ids("306 307 308 311"), Relation.OWN),
    ("821 822 823", _ids("812"), Relation.ANYWHERE),
    ("822 823", _ids("821"), Relation.ANYWHERE),
    # In a lab: nothing of a device that does not run; no session without advertisements, no routes without a session,
    # no packets without routes. A session that only this program has is one that is not established.
    ("L03", _ids("L02"), Relation.OWN),
    ("L03 L04 L06 L12 L13 L21", _ids("L02"), Relation.INVOLVED),
    ("L22 L23 L32", _ids("L02"), Relation.ANYWHERE),
    ("L03", _ids("L03"), Relation.TOPIC),
    ("L04 L05", _ids("L03"), Relation.INVOLVED),
    ("L06", _ids("L03 L06"), Relation.TOPIC),
    ("L21", _ids("L03 L06 L21"), Relation.TOPIC),
    ("L07 L08", _ids("L02 L06"), Relation.INVOLVED),
    ("L07 L08", _ids("L07"), Relation.INVOLVED),
    ("L09", _ids("L04 L05"), Relation.OWN),
    ("L09", _ids("L02 L04 L05 L06 L08"), Relation.INVOLVED),
    ("L12", _ids("L11"), Relation.OWN),
    ("L12", _ids("L11"), Relation.INVOLVED),
    ("L31 L34 L35", _ids("L02 L06 L07 L08 L14"), Relation.ANYWHERE),
    ("L34", _ids("L13"), Relation.ANYWHERE),
    # Flows that do not arrive anyway are interrupted while colors change, too.
    ("L35", _ids("L03 L04 L05 L09"), Relation.ANYWHERE),
    ("L22 L23 L32", _ids("L01 L14 L21"), Relation.ANYWHERE),
    ("L23 L32", _ids("L22 L23"), Relation.ANYWHERE),
    # A file that is not as it was generated: what is wrong in it says more.
    ("005", tuple(chain(*_LEVELS[:4], *_LEVELS[5:6])), Relation.OWN),
)


# Where something missing and something too much, in one file, are one thing written wrongly. What is seen on devices is
# not among them: there every difference was made on purpose.
REPLACED = frozenset(_ids("008 009 102 103 105 203 304 602 604 607 608 609 610 611 612 615"))


def _table() -> dict[str, list[tuple[tuple[str, ...], Relation]]]:
    # A line is one statement, and one cause; so is a statement that is missing.
    found = {check: [(_WRITTEN, Relation.LINE), (_WRITTEN, Relation.GAP)] for check in _WRITTEN}
    for effects, causes, relation in _RULES:
        for effect in _ids(effects):
            found.setdefault(effect, []).append((causes, relation))
    return found


RULES = _table()
