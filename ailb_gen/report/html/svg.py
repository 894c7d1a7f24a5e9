"""SVG as text: elements with escaped attributes."""

from __future__ import annotations

from functools import cache

from markupsafe import Markup, escape


def tag(name: str, *inside: str, **attributes: object) -> Markup:
    """Return an element: `_` in the name of an attribute is `-`, at its end nothing (`class_`); None leaves it out.

    Text inside is escaped unless it is markup.
    """
    named = "".join(
        f' {_attribute(key)}="{escape(_text(value))}"' for key, value in attributes.items() if value is not None
    )
    # Formatting of Markup is slow for the ten thousands of elements of a page.
    return Markup(f"<{name}{named}>{together(*inside)}</{name}>")  # noqa: S704 - everything is escaped


@cache
def _attribute(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _text(value: object) -> str:
    """Return a tenth of a pixel for what is a number."""
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def together(*parts: str) -> Markup:
    """Return elements one after the other; what is no markup is escaped."""
    # Markup gives itself when it is escaped.
    return Markup("".join(map(escape, parts)))  # noqa: S704
