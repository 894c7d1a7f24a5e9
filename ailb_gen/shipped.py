"""The files that come with the program besides its code: templates, scripts, styles and examples."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import jinja2

PACKAGE_DIR = Path(__file__).parent


def shipped_templates() -> Path:
    """Return the folder of the templates."""
    return _shipped("templates")


def shipped_examples() -> dict[str, Path]:
    """Return the fabric file, or the cluster file, of every example that has one, by name."""
    folders = sorted(_shipped("examples").iterdir())
    files = (folder / name for folder in folders for name in ("fabric.yaml", "cluster.yaml"))
    return {file.parent.name: file for file in files if file.is_file()}


def _shipped(folder: str) -> Path:
    """Return a folder of the repository: in the wheel, or beside the package in a checkout."""
    inside = PACKAGE_DIR / folder
    return inside if inside.is_dir() else PACKAGE_DIR.parent / folder


@cache
def template(folder: str, name: str) -> jinja2.Template:
    """Return a template that no user replaces, for plain text, by its folder and its name."""
    import jinja2

    environment = jinja2.Environment(  # noqa: S701 - not HTML
        loader=jinja2.FileSystemLoader(str(shipped_templates() / folder)),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(name)
