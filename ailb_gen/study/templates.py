"""Templates of study files: axes of variables, and the text and scenarios that are filled with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

Variables = Mapping[str, Any]
# By name of an axis its values, or rows of variables of which one has the axis's name.
Axes = dict[str, list[Any]]


def combinations(each: Mapping[str, Sequence[Any]], given: Variables) -> Iterator[dict[str, Any]]:
    """Yield the variables of every combination of the axes, the last axis fastest, added to those given."""
    axes = [[row if isinstance(row, dict) else {axis: row} for row in rows] for axis, rows in each.items()]
    for chosen in product(*axes):
        variables = dict(given)
        for row in chosen:
            variables |= row
        yield variables


def filled(template: Any, variables: Variables) -> Any:  # noqa: ANN401 - values of YAML
    """Return a template with its variables replaced.

    Text that is one variable in braces becomes the variable's value, of any type; entries without a value are left out.
    """
    if isinstance(template, str):
        name = template[1:-1]
        if template == f"{{{name}}}" and name in variables:
            return variables[name]
        return template.format_map(variables)
    if isinstance(template, dict):
        parts = {key: filled(part, variables) for key, part in template.items()}
        return {key: part for key, part in parts.items() if part is not None}
    if isinstance(template, list):
        return [part for entry in template if (part := filled(entry, variables)) is not None]
    return template


def text(template: str, variables: Variables) -> str:
    """Return a template of text, filled."""
    return template.format_map(variables)
