"""The one Jinja environment: strict, deterministic, with a user's templates before the shipped ones."""

import gc
import re
import shlex
from pathlib import Path
from types import FrameType, GeneratorType

import jinja2
from jinja2.compiler import CodeGenerator
from jinja2.nodes import Node
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from ailb_gen.errors import TemplateError
from ailb_gen.render import budget
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


def _names(shipped: Path) -> list[Path]:
    return [path.relative_to(shipped) for kind in ("junos", "host") for path in (shipped / kind).iterdir()]


def make_environment(user_templates: Path | None = None) -> jinja2.Environment:
    """Build the environment; a file in `user_templates` replaces the shipped one of the same name.

    Templates are code. Those of a user, and the shipped ones beside them, run in Jinja's sandbox: they reach what they
    are given, change none of it, and nothing of Python behind it.

    Raises TemplateError when `user_templates` is not a folder, replaces none, or cannot be limited here.
    """
    folders = [shipped_templates()]
    if user_templates is not None:
        try:
            usable = user_templates.is_dir()
        except OSError:
            usable = False
        name = str(user_templates)[:200]
        if not usable:
            raise TemplateError(f"{name}: --templates must name a directory with junos/ or host/ in it")
        if not any(user_templates.joinpath(path).is_file() for path in _names(folders[0])):
            reason = "no template in it has the name of a shipped one"
            raise TemplateError(f"{name}: --templates: {reason}, such as junos/leaf.conf.j2 or host/nccl.env.j2")
        if not budget.MEMORY.exists():
            raise TemplateError(f"{name}: --templates needs Linux, which limits their memory; use a container")
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

    __slots__ = ("environment", "limited")

    def __init__(self, user_templates: Path | None = None) -> None:
        self.environment = make_environment(user_templates)
        self.limited = user_templates is not None

    def render(self, name: str, device_name: str, values: dict[str, object]) -> str:
        """Fill the template `name` for a device. Raises TemplateError."""
        try:
            template = self.environment.get_template(name)
            text = _limited_text(template, values) if self.limited else template.render(values)
            text.encode()
            return text
        except jinja2.TemplateSyntaxError as error:
            raise TemplateError(f"{error.filename or error.name}:{error.lineno}: {error.message}") from error
        except jinja2.TemplateNotFound as error:
            raise TemplateError(f"template {error.name} is missing (needed for {device_name})") from error
        except (MemoryError, budget.TooLongError) as error:
            budget.release()
            raise _failure(error, name, device_name) from None
        except Exception as error:  # noqa: BLE001 - a user's template is code and can raise anything
            # Without the error itself: what it says can be as long as memory allows.
            raise _failure(error, name, device_name) from None


def _limited_text(template: jinja2.Template, values: dict[str, object]) -> str:
    """Fill a template piece by piece, until there is too much. Raises whatever a template raises."""
    pieces, size = [], 0
    filled = template.generate(values)
    for piece in filled:
        pieces.append(piece)
        size += len(piece.encode())
        if size > budget.FILE_BYTES:
            raise budget.TooMuchTextError(_writing(filled))
    return "".join(pieces)


def _writing(filled: object) -> str:
    """Return file and line of the innermost template that waits in a generator: an include iterates over its own."""
    place = ""
    while isinstance(filled, GeneratorType) and filled.gi_frame is not None:
        frame = filled.gi_frame
        template = frame.f_globals.get("__jinja_template__")
        if isinstance(template, jinja2.Template):
            place = f"{frame.f_code.co_filename}:{template.get_corresponding_lineno(frame.f_lineno)}"
        filled = next((one for one in gc.get_referents(filled) if isinstance(one, GeneratorType)), None)
    return place


def _failure(error: BaseException, name: str, device_name: str) -> TemplateError:
    place = str(error) if isinstance(error, budget.TooMuchTextError) else _where(error, name)
    return TemplateError(f"{place}: {budget.reason_of(error)} (while rendering {device_name})")


def _where(error: BaseException, name: str) -> str:
    """Return file and line of the innermost place in a template that an exception went through."""
    file, line = name, 0
    trace = error.__traceback__
    while trace is not None:
        file, line = _place(trace.tb_frame, trace.tb_lineno, file, line)
        trace = trace.tb_next
    return f"{file}:{line}" if line else file


def _place(frame: FrameType, line: int, file: str, before: int) -> tuple[str, int]:
    """Return the file and line of a template that a frame is about, or those before it."""
    code, known = frame.f_code, frame.f_locals
    template = frame.f_globals.get("__jinja_template__")
    if isinstance(template, jinja2.Template):
        # Jinja did not get to replace the lines of the code that it made of the template.
        return code.co_filename, template.get_corresponding_lineno(line)
    if code.co_filename.endswith(".j2"):
        return code.co_filename, line
    compiler, node = known.get("self"), known.get("node")
    if isinstance(compiler, jinja2.Environment) and isinstance(named := known.get("filename"), str):
        # Python compiles what Jinja made of all lines.
        return named, 0
    if isinstance(compiler, Parser):
        return compiler.filename or file, compiler.stream.current.lineno
    if isinstance(compiler, CodeGenerator):
        return compiler.filename or file, node.lineno if isinstance(node, Node) else before
    return file, before
