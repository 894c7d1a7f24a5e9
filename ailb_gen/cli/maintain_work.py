"""The work of `ailb-gen maintain`: a command behind `--`, or Junos software; new, and made again from a record."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ailb_gen.cli.live import progress
from ailb_gen.errors import UsageError

if TYPE_CHECKING:
    from ailb_gen.deploy.maintenance_work import MaintenanceWork

IMAGE = Annotated[
    Path | None,
    typer.Option(
        "--software", help="Junos image to install, in place of a command.", metavar="FILE", show_default=False
    ),
]
DIGEST = Annotated[
    str | None,
    typer.Option("--sha256", help="SHA-256 that the image must have.", metavar="HEX", show_default=False),
]
RELEASE = Annotated[
    str | None,
    typer.Option(
        "--release",
        help="Release that runs after it, as 25.4R2-EVO.",
        metavar="RELEASE",
        show_default="that in the image's name",
    ),
]
NO_VALIDATE = Annotated[
    bool, typer.Option("--no-validate", help="Do not let Junos compare the configuration with the new release.")
]
RESTART = Annotated[
    int | None,
    typer.Option(
        "--restart-timeout", min=1, max=604800, help="Seconds for the restart with --software.", show_default="2400"
    ),
]
TIMEOUT_S = 3600


@dataclass(frozen=True, slots=True)
class GivenWork:
    """What the command line says of the work; None and no words where it says nothing."""

    words: tuple[str, ...]
    timeout: int | None
    image: Path | None = None
    digest: str | None = None
    release: str | None = None
    no_validate: bool = False
    restart: int | None = None

    @property
    def about_image(self) -> str:
        """The options that are given and only are about an image."""
        named = {
            "--sha256": self.digest is not None,
            "--release": self.release is not None,
            "--no-validate": self.no_validate,
            "--restart-timeout": self.restart is not None,
        }
        return ", ".join(name for name, on in named.items() if on)

    @property
    def contradictions(self) -> list[tuple[bool, str]]:
        """Whether options contradict each other, and the message for it."""
        return [
            (bool(self.words and self.image), "--software and a command behind '--': give one of them"),
            (
                bool(self.about_image and self.words),
                f"{self.about_image}: there is a command and no --software; omit it",
            ),
        ]

    def given(self, continuing: bool) -> bool:
        """Return whether there is any work, for a new maintenance; one that goes on has it in its record."""
        return continuing or bool(self.words or self.image)

    def begin(self) -> MaintenanceWork:
        """Return the work. Raises UsageError."""
        return self._software({}) if self.image is not None else self._command(self.words, self.timeout or TIMEOUT_S)

    def again(self, recorded: dict[str, Any], whole: bool) -> MaintenanceWork:
        """Return the work of a record, with what the command line says in its place. Raises UsageError.

        `whole`: no secret was taken out of the record.
        """
        if not whole and not self.words and self.image is None:
            what, where = ("image", "with --software") if "image" in recorded else ("command", "behind '--'")
            raise UsageError(f"the record does not hold the {what} as it was: it has a secret; give it again {where}")
        if not self.words and (self.image is not None or "image" in recorded):
            return self._software(recorded if self.image is None else {})
        if self.about_image:
            raise UsageError(f"{self.about_image}: the record has a command and no image; omit it, or give --software")
        kept = tuple(map(str, recorded.get("command", ())))
        return self._command(self.words or kept, self.timeout or float(recorded.get("timeout_s", TIMEOUT_S)))

    @staticmethod
    def _command(words: tuple[str, ...], timeout_s: float) -> MaintenanceWork:
        from ailb_gen.deploy.maintenance_work import command_work

        return command_work(words, timeout_s)

    def _software(self, recorded: dict[str, Any]) -> MaintenanceWork:
        from ailb_gen.deploy.software import INSTALL_S, RESTART_S, software_work

        path = self.image or Path(str(recorded.get("image", "")))
        if not path.name:
            raise UsageError("the record has no image; give it with --software")
        return software_work(
            path.absolute(),
            self.digest if self.digest is not None else str(recorded.get("sha256", "")),
            self.release if self.release is not None else str(recorded.get("release", "")),
            validate=not self.no_validate and bool(recorded.get("validate", True)),
            install_s=self.timeout or float(recorded.get("install_s", INSTALL_S)),
            restart_s=self.restart or float(recorded.get("restart_s", RESTART_S)),
            progress=progress,
        )
