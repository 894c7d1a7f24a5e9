"""YAML that every reader takes for the same values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import yaml

# A plain word that no version of YAML takes for anything but text. All other text stands in quotes: YAML 1.1 reads
# `on` as true and `2026-01-01` as a date, YAML 1.2 reads `1e5` as a number, and all of them are names of devices.
_PLAIN = re.compile(r"(?!(?:y|n|yes|no|on|off|true|false|null)\Z)[A-Za-z_][A-Za-z0-9_]*(?:[-./][A-Za-z0-9_]+)*", re.I)
# Text of several lines that stands as it is: of other text, a block would lose characters.
_LINES = re.compile(r"[!-~][ -~]*(?:\n[ -~]*)+")


@cache
def _dumper() -> type[yaml.CSafeDumper]:
    import yaml

    class Dumper(yaml.CSafeDumper):
        def ignore_aliases(self, data: object) -> bool:
            return True

    def text(dumper: yaml.CSafeDumper, value: str) -> yaml.ScalarNode:
        style = None if _PLAIN.fullmatch(value) else "|" if _LINES.fullmatch(value) else '"'
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    return Dumper


def to_yaml(value: dict[str, Any] | list[dict[str, Any]], comment: str) -> str:
    """Return a mapping, or a list of them, as YAML in its own order, below a line of comment."""
    return documents([value], comment)


def documents(values: Iterable[dict[str, Any] | list[dict[str, Any]]], comment: str) -> str:
    """Return several documents in one text, as `to_yaml` has one."""
    import yaml

    texts = (
        yaml.dump(value, Dumper=_dumper(), sort_keys=False, width=10_000_000, allow_unicode=False) for value in values
    )
    return f"# {comment}\n" + "".join(f"---\n{text}" for text in texts)


def inline(value: object) -> str:
    """Return a value as YAML within a line; brackets hold the items of lists and mappings."""
    import yaml

    # In brackets, a text of several lines is quoted, too.
    text: str = yaml.dump([value], Dumper=_dumper(), sort_keys=False, width=10_000_000, default_flow_style=True)
    return text.strip()[1:-1]
