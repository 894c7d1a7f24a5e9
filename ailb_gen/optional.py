"""Optional dependencies: the extras of the program, and how to install one into this installation.

No package index has the program. So what is told names where this installation came from (PEP 610), never a name that
pip would look up and somebody else could take.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ailb_gen.errors import UsageError

PROJECT = "ailb-gen"
# Written by pipx into the environments that it makes.
PIPX = "pipx_metadata.json"


def without_extra(subject: str, found: str, extra: str) -> UsageError:
    """Return the error of a subject, an option or a verb, that needs the packages of an extra."""
    return UsageError(f"{subject}: {found}; {how_to_install(extra)}")


def how_to_install(extra: str) -> str:
    """Return the command that adds an extra to this installation."""
    program = "pipx install --force" if (Path(sys.prefix) / PIPX).is_file() else "pip install"
    found = _requirement(extra)
    return f"{program} '{found}'" if found else f"in the checkout: {program} '.[{extra}]'"


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
