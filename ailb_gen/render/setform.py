"""Curly Junos text as `set` lines: the same statements, one per line, as `display set` prints them."""

from ailb_gen.errors import JunosSyntaxError, TemplateError
from ailb_gen.junos import writer
from ailb_gen.junos.reader import read_curly
from ailb_gen.junos.tree import Node


def check(text: str, device_name: str) -> Node:
    """Return the tree of the text of a device; raise TemplateError if it is not balanced."""
    try:
        return read_curly(text)
    except JunosSyntaxError as error:
        raise TemplateError(f"{device_name}:{error.line}:{error.column}: {error.reason}") from error


def to_set(text: str, device_name: str) -> str:
    """Write the curly text of a device as set lines; comments are left out.

    Raises TemplateError for unbalanced text, and for `delete:` and `replace:`: a rendered file says what is, not what
    to do about something that was before.
    """
    lines = writer.to_set(check(text, device_name), comments=False)
    for line in lines.splitlines():
        if line.startswith("delete "):
            raise TemplateError(f"{device_name}: {line}: a delete: or replace: tag has no set form; use --format curly")
    return lines
