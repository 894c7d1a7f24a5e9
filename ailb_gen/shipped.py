"""The files that come with the program besides its code: templates, scripts and styles."""

from __future__ import annotations

from pathlib import Path

PACKAGE_DIR = Path(__file__).parent


def shipped_templates() -> Path:
    """Return the folder of the templates: in the wheel, or beside the package in a checkout."""
    inside = PACKAGE_DIR / "templates"
    return inside if inside.is_dir() else PACKAGE_DIR.parent / "templates"
