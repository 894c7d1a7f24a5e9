"""Curly Junos text as `set` lines: the same statements, one per line, as `display set` prints them."""

from ailb_gen.errors import TemplateError
from ailb_gen.intent.junos_text import JunosTextError, statements

# Tags that say how to load a statement; in set form they are commands of their own.
LOAD_TAGS = frozenset({"delete:", "inactive:", "active:", "protect:", "unprotect:", "replace:"})


def check(text: str, subject: str) -> None:
    """Raise TemplateError if the text of the device `subject` is not balanced."""
    try:
        for _ in statements(text):
            pass
    except JunosTextError as error:
        raise TemplateError(f"{subject}:{error.line}: {error.reason}") from error


def to_set(text: str, subject: str) -> str:
    """Write the curly text of the device `subject` as set lines; comments are left out.

    Raises TemplateError for unbalanced text, and for load tags such as `delete:`.
    """
    check(text, subject)
    lines = []
    for words in statements(text):
        tags = LOAD_TAGS.intersection(words)
        if tags:
            reason = f"{min(tags)} has no set form; use --format curly"
            raise TemplateError(f"{subject}: {' '.join(words)}: {reason}")
        lines.append(f"set {' '.join(words)}\n")
    return "".join(lines)
