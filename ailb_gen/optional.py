"""Optional dependencies: the extras of the program, and how to install one into this installation.

No package index has the program. So what is told names where this installation came from (PEP 610), never a name that
pip would look up and somebody else could take.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ailb_gen.errors import MissingExtraError

PROJECT = "ailb-gen"
# How to install into an environment, by what the program that made it writes there.
MAKERS = {"pipx_metadata.json": "pipx install --force", "uv-receipt.toml": "uv tool install --force"}


def without_extra(subject: str, found: str, extra: str) -> MissingExtraError:
    """Return the error of a subject, an option or a verb, that needs the packages of an extra."""
    return MissingExtraError(f"{subject}: {found}; {how_to_install(extra)}")


def how_to_install(extra: str) -> str:
    """Return the command that adds an extra to this installation."""
    made = (words for name, words in MAKERS.items() if (Path(sys.prefix) / name).is_file())
    words = next(made, None) or _pip()
    found = _requirement(extra)
    return f"{words} '{found}'" if found else f"in the checkout: {words} '.[{extra}]'"


def _pip() -> str:
    """Return how this environment's pip is called: whose environment is not activated has another `pip`, or none."""
    own, first = Path(sys.executable).parent, shutil.which("pip")
    return (
        "pip install"
        if first is not None and Path(first).parent == own
        else f"{shlex.quote(sys.executable)} -m pip install"
    )


def _requirement(extra: str) -> str:
    """Return what pip installs for this installation with an extra; empty where its origin was not recorded."""
    try:
        record = distribution(PROJECT).read_text("direct_url.json")
    except PackageNotFoundError:
        return ""
    if record is None:
        return ""
    origin = json.loads(record)
    url, vcs = origin["url"], origin.get("vcs_info")
    if vcs is not None:
        return f"{PROJECT}[{extra}] @ {vcs['vcs']}+{url}@{vcs['commit_id']}"
    parts = urlsplit(url)
    return f"{unquote(parts.path)}[{extra}]" if parts.scheme == "file" else f"{PROJECT}[{extra}] @ {url}"
