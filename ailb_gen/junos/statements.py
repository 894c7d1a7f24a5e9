"""The schema's representation of the statements of Juniper's models: the builder makes it, the walk reads it.

A statement is a list that JSON can hold, its first member the kind:

    [CONTAINER, name, flags, musts, children]
    [LIST, name, flags, musts, children, keys, max-elements or 0]
    [LEAF, name, flags, musts, type]
    [LEAF_LIST, name, flags, musts, type, max-elements or 0]
    [CHOICE, name, [[children of a case], …]]
    [USES, number of a grouping]

A grouping is the list of its children, a must `[expression, message]`. A type is one of

    ["empty"], ["boolean"], ["wildcard"], ["junos", name of a type of junos-common-types]
    ["string", length, [["posix" or "xsd", pattern, message], …]]
    ["enumeration", names, {name: musts}]
    ["union", types]
    [name of a number type, range if any]
"""

from __future__ import annotations

from typing import Any

# What json.loads returns; a recursive type would need a cast at every step.
Json = Any

CONTAINER, LIST, LEAF, LEAF_LIST, CHOICE, USES = range(6)

# Flags of a statement.
NOKEYWORD = 1  # its own name is not written
ONE_LINE = 2  # `oneliner`, `oneliner-plus`: what belongs to it follows on the same line
PRESENCE = 4  # it means something without anything in it
PLAIN = 8  # from a module without `cli-feature`: which names are written has to be guessed
