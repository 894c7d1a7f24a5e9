"""Switch platforms: port names, speeds and breakouts. A profile is data; a fabric can bring its own."""

import re
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, Strict, model_validator

from ailb_gen.intent.scalars import Positive, Speed, parse_speed
from ailb_gen.validation import Int, Model, wrong
from ailb_gen.yamlio import read_yaml

MAX_PORTS = 4096
# Names and numbers of parts as vendors write them.
PART = r"^[A-Za-z0-9][A-Za-z0-9 ._/+-]{0,62}$"
PROFILE_DIR = Path(__file__).parent / "platform_data"


def _speed_keys(value: object) -> object:
    if not isinstance(value, dict):
        raise wrong("wrong-type", "must map a speed to its possible numbers of sub-ports, such as {400g: [1, 2]}")
    speeds = [parse_speed(key) for key in value]
    if len(set(speeds)) < len(speeds):
        raise wrong("duplicate-key", "a speed is written twice")
    return dict(zip(speeds, value.values(), strict=True))


def _span(value: object) -> object:
    """Read `5` or `0-63` as the pair of first and last number."""
    found = re.fullmatch(r"([0-9]{1,4})(?:-([0-9]{1,4}))?", str(value)) if isinstance(value, int | str) else None
    if not found:
        raise wrong("bad-range", f"{str(value)[:40]!r} is not a number or a range such as 0-63")
    span = (int(found[1]), int(found[2] or found[1]))
    if span[1] < span[0]:
        raise wrong("bad-range", f"the range {value} must go upwards")
    return span


Span = Annotated[tuple[int, int], BeforeValidator(_span, json_schema_input_type=int | str)]
SpeedTable = Annotated[
    dict[int, Annotated[tuple[Annotated[Positive, Field(le=16)], ...], Field(min_length=1)]],
    Field(min_length=1),
    BeforeValidator(_speed_keys, json_schema_input_type=dict[str, list[int]]),
]


class PortGroup(Model):
    """Ports that are alike: `TYPE-FPC/PIC/PORT` for every FPC and port in the ranges."""

    type: Literal["et", "xe", "ge"] = Field("et", description="type of the port names")
    fpcs: Span = Field((0, 0), description="FPC number, or a range")
    pic: Int = Field(0, ge=0, le=99, description="PIC number")
    ports: Span = Field(description="port number, or a range")
    speeds: SpeedTable = Field(description="speed -> possible numbers of sub-ports; 1: not split")
    native: Speed = Field(description="the speed a port has without a speed statement")

    @model_validator(mode="after")
    def _check(self) -> "PortGroup":
        size = (self.fpcs[1] - self.fpcs[0] + 1) * (self.ports[1] - self.ports[0] + 1)
        if size > MAX_PORTS or self.fpcs[1] > 999:
            raise wrong("too-large", f"the group has {size} ports; a platform may have at most {MAX_PORTS}")
        if 1 not in self.speeds.get(self.native, ()):
            raise wrong("conflict", f"the native speed {self.native}g must be among the speeds, as [1]")
        return self

    def names(self) -> tuple[str, ...]:
        """Physical port names in order."""
        fpcs, ports = range(self.fpcs[0], self.fpcs[1] + 1), range(self.ports[0], self.ports[1] + 1)
        return tuple(f"{self.type}-{fpc}/{self.pic}/{port}" for fpc in fpcs for port in ports)


class Optic(Model):
    """A published optic of a platform for a port of a speed, split or not."""

    speed: Speed = Field(description="speed of the whole port")
    media: Literal["smf", "mmf"] = Field("smf", description="smf: single-mode fiber; mmf: multimode fiber")
    name: Annotated[str, Strict(), Field(pattern=PART)] = Field(description="name of the optic")
    part: Annotated[str, Strict(), Field(pattern=PART)] = Field(description="part number")


class Profile(Model):
    """A switch model: its fabric-capable ports, in the order in which they are handed out."""

    description: str = Field("", description="description of model and ports")
    management_interface: str = Field(
        "re0:mgmt-0",
        pattern=r"^(?:re[01]:mgmt-[0-9]|(?:fxp|em|me)[0-9]|vme)$",
        description="name of the management port",
    )
    cage: Annotated[str, Strict(), Field(pattern=f"^$|{PART}")] = Field(
        "", description="form factor of the optics, such as OSFP"
    )
    optics: tuple[Optic, ...] = Field((), max_length=64, description="optics with part numbers, for `export bom`")
    port_groups: tuple[PortGroup, ...] = Field(
        min_length=1,
        max_length=64,
        description="groups of identical ports, in the order of assignment",
    )

    @model_validator(mode="after")
    def _check(self) -> "Profile":
        names = self.port_names()
        if len(names) > MAX_PORTS:
            raise wrong("too-large", f"the platform has {len(names)} ports; at most {MAX_PORTS} are possible")
        if len(set(names)) < len(names):
            twice = next(name for number, name in enumerate(names) if name in names[:number])
            raise wrong("duplicate-port", f"port {twice} is in two port groups")
        return self

    def port_names(self) -> tuple[str, ...]:
        """All physical port names in order."""
        return tuple(name for group in self.port_groups for name in group.names())


def shipped_names() -> tuple[str, ...]:
    """Names of the profiles that come with the program."""
    return tuple(sorted(path.stem for path in PROFILE_DIR.glob("*.yaml")))


@cache
def shipped(name: str) -> Profile:
    """Load the shipped profile `name`."""
    path = PROFILE_DIR / f"{name}.yaml"
    return Profile.model_validate(read_yaml(path.read_text(encoding="utf-8"), path.name).data)
