"""The one Jinja environment: strict, deterministic, with a user's templates before the shipped ones."""

import re
import shlex
from pathlib import Path

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from ailb_gen.errors import TemplateError
from ailb_gen.shipped import shipped_templates

# A colon at the end would make a load tag of a word: `delete:`.
BARE_WORD = re.compile(r"^[A-Za-z0-9_.:/%@+,-]*[A-Za-z0-9_./%@+,-]$")


def quoted(text: str) -> str:
    """Write a Junos string, in quotes only where Junos would put them."""
    return text if BARE_WORD.match(text) else f'"{text}"'


def members(values: tuple[str, ...]) -> str:
    """Write a Junos list: the value alone, or `[ a b ]`."""
    return values[0] if len(values) == 1 else f"[ {' '.join(values)} ]"


def systemd_name(text: str) -> str:
    """Escape a name for a systemd unit name (systemd.unit(5), string escaping)."""
    return text.replace("-", "\\x2d")


def make_environment(user_templates: Path | None = None) -> jinja2.Environment:
    """Build the environment; a file in `user_templates` replaces the shipped one of the same name.

    Templates are code. Those of a user, and the shipped ones beside them, run in Jinja's sandbox: they reach what they
    are given, change none of it, and nothing of Python behind it.

    Raises TemplateError when `user_templates` is not a folder.
    """
    folders = [shipped_templates()]
    if user_templates is not None:
        try:
            usable = user_templates.is_dir()
        except OSError:
            usable = False
        if not usable:
            name = str(user_templates)[:200]
            raise TemplateError(f"{name}: --templates must name a folder with junos/ or host/ in it")
        folders.insert(0, user_templates)
    kind = jinja2.Environment if user_templates is None else ImmutableSandboxedEnvironment
    environment = kind(
        loader=jinja2.FileSystemLoader([str(folder) for folder in folders]),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    environment.filters |= {
        "members": members,
        "quoted": quoted,
        "shell": shlex.quote,
        "systemd_path": systemd_name,
    }
    return environment


class Templates:
    """Fills templates by name; failures name template, line and device."""

    __slots__ = ("environment",)

    def __init__(self, user_templates: Path | None = None) -> None:
        self.environment = make_environment(user_templates)

    def render(self, name: str, device_name: str, values: dict[str, object]) -> str:
        """Fill the template `name` for a device. Raises TemplateError."""
        try:
            text = self.environment.get_template(name).render(values)
            text.encode()
            return text
        except jinja2.TemplateSyntaxError as error:
            raise TemplateError(f"{error.filename or error.name}:{error.lineno}: {error.message}") from error
        except jinja2.TemplateNotFound as error:
            raise TemplateError(f"template {error.name} is missing (needed for {device_name})") from error
        except Exception as error:  # a user's template is code and can raise anything
            reason = str(error) or type(error).__name__
            raise TemplateError(f"{_where(error, name)}: {reason} (while rendering {device_name})") from error


def _where(error: BaseException, name: str) -> str:
    """Return file and line of the innermost template frame of an exception."""
    place = name
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.endswith(".j2"):
            place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place
