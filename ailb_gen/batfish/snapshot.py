"""Writing both snapshots as Batfish takes them: the files themselves, and their IPv4 shadow."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from ailb_gen.batfish.shadow import Shadow
from ailb_gen.errors import OutputError, UsageError
from ailb_gen.network.fabric import Network

WRITTEN = FILES, SHADOW, NUMBERS = "files", "shadow", "numbers.csv"
CONFIGS = "configs"
FOLDERS = (FILES, SHADOW, f"{FILES}/{CONFIGS}", f"{SHADOW}/{CONFIGS}")


def write_snapshots(root: Path, network: Network, shadow: Shadow, out: Path) -> None:
    """Write `files/`, `shadow/` and `numbers.csv` into a directory; nothing there is touched before all is written.

    A directory that is there must be empty or hold nothing but earlier snapshots, which are replaced. Raises
    UsageError for any other, OutputError when it cannot be written.
    """
    try:
        _check(out)
        is_new = not out.exists()
        out.mkdir(parents=True, exist_ok=True)
        try:
            # Inside of it: it may be a mount point, or the current directory of a process.
            with TemporaryDirectory(prefix=".", dir=out) as folder:
                stage, earlier = Path(folder) / "new", Path(folder) / "earlier"
                write_files(root, network, stage / FILES)
                write_shadow(shadow, stage / SHADOW)
                (stage / NUMBERS).write_text(numbers(shadow), encoding="utf-8")
                earlier.mkdir()
                for name in WRITTEN:
                    if (out / name).exists():
                        (out / name).replace(earlier / name)
                    (stage / name).replace(out / name)
        except BaseException:
            if is_new:
                shutil.rmtree(out, ignore_errors=True)
            raise
    except OSError as error:
        raise OutputError(f"{out}: cannot write the snapshots: {error.strerror or error}") from error


def _check(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise UsageError(f"-o {out}: this is a file; name a directory")
    others = list(_others(out)) if out.exists() else []
    if others:
        raise UsageError(f"-o {out}: holds other files ({', '.join(others[:3])}); name an empty or new directory")


def _others(folder: Path, below: str = "") -> Iterator[str]:
    """Name the files that are no part of earlier snapshots, and would be deleted with them."""
    for path in sorted(folder.iterdir()):
        name = f"{below}{path.name}"
        if path.is_dir() and name in FOLDERS:
            yield from _others(path, f"{name}/")
        elif path.is_dir() or not (name == NUMBERS or below.endswith(f"{CONFIGS}/")):
            yield name


def write_files(root: Path, network: Network, folder: Path) -> None:
    """Copy every readable switch's file as it is, so that line numbers stay the same."""
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
    """Return, as CSV, the meaning of every IPv4 prefix and address."""
    rows = ["ipv4,stands_for"]
    rows += [f"{network},{prefix}" for prefix, network in shadow.numbering.prefixes.items()]
    rows += [f"{address},{own} - {peer}" for address, (own, peer) in shadow.numbering.ends.items()]
    return "\n".join(rows) + "\n"
