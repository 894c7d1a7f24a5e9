"""Writing both snapshots as Batfish takes them: the files themselves, and their IPv4 shadow."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from ailb_gen.errors import OutputError, UsageError

if TYPE_CHECKING:
    from ailb_gen.batfish.shadow import Shadow
    from ailb_gen.network.fabric import Network

FILES, SHADOW, NUMBERS = "files", "shadow", "numbers.csv"
CONFIGS = "configs"


def write_snapshots(root: Path, network: Network, shadow: Shadow, out: Path) -> None:
    """Write `files/`, `shadow/` and `numbers.csv` into a directory, as a whole or not at all.

    A directory that is there must be empty or hold nothing but an earlier pair of snapshots. Raises UsageError for any
    other, OutputError when it cannot be written.
    """
    try:
        _check(out)
        out.parent.mkdir(parents=True, exist_ok=True)
        stage = Path(mkdtemp(prefix=f".{out.name}-", dir=out.parent))
        try:
            stage.chmod(0o755)
            write_files(root, network, stage / FILES)
            write_shadow(shadow, stage / SHADOW)
            (stage / NUMBERS).write_text(numbers(shadow), encoding="utf-8")
            if out.exists():
                shutil.rmtree(out)
            stage.replace(out)
        finally:
            shutil.rmtree(stage, ignore_errors=True)
    except OSError as error:
        raise OutputError(f"{out}: cannot write the snapshots: {error.strerror or error}") from error


def _check(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise UsageError(f"-o {out}: this is a file; name a directory")
    others = (
        sorted(path.name for path in out.iterdir() if path.name not in (FILES, SHADOW, NUMBERS)) if out.exists() else []
    )
    if others:
        raise UsageError(f"-o {out}: holds other things ({', '.join(others[:3])}); name an empty or new directory")


def write_files(root: Path, network: Network, folder: Path) -> None:
    """Copy every readable switch's file as it is, so that line numbers stay what they are."""
    configs = folder / CONFIGS
    configs.mkdir(parents=True)
    for switch in network.switches.values():
        shutil.copyfile(root / switch.file, configs / Path(switch.file).name)


def write_shadow(shadow: Shadow, folder: Path) -> None:
    """Write a file for every switch of the shadow."""
    configs = folder / CONFIGS
    configs.mkdir(parents=True)
    for switch in shadow.switches:
        (configs / f"{switch.name}.cfg").write_text("\n".join(switch.lines) + "\n", encoding="utf-8")


def numbers(shadow: Shadow) -> str:
    """Return, as CSV, which IPv4 prefix or address stands for what."""
    rows = ["ipv4,stands_for"]
    rows += [f"{network},{prefix}" for prefix, network in shadow.numbering.prefixes.items()]
    rows += [f"{address},{own} - {peer}" for address, (own, peer) in shadow.numbering.ends.items()]
    return "\n".join(rows) + "\n"
