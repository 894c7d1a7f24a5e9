"""Switch platforms: port names, speeds and breakouts. A profile is data; a fabric can bring its own."""

from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field

from ailb_gen.intent.scalars import PortName, Positive, Speed, parse_speed, wrong
from ailb_gen.intent.settings import Model
from ailb_gen.intent.source import read_yaml

PROFILE_DIR = Path(__file__).parent / "platform_data"


def _speed_keys(value: object) -> object:
    if not isinstance(value, dict):
        raise wrong("wrong-type", "must map a speed to its possible numbers of sub-ports, such as {400g: [1, 2]}")
    return {parse_speed(key): counts for key, counts in value.items()}


def _span(value: object) -> object:
    """Read `5` or `0-63` as the pair of first and last number."""
    first, dash, last = str(value).partition("-")
    if isinstance(value, bool) or not first.isdecimal() or (dash and not last.isdecimal()):
        raise wrong("bad-range", f"{value!r} is not a number or a range such as 0-63")
    span = (int(first), int(last or first))
    if span[1] < span[0] or span[1] - span[0] > 4095:
        raise wrong("bad-range", f"the range {value} must go upwards and hold at most 4096 numbers")
    return span


Span = Annotated[tuple[int, int], BeforeValidator(_span, json_schema_input_type=int | str)]
SpeedTable = Annotated[
    dict[int, tuple[Positive, ...]],
    BeforeValidator(_speed_keys, json_schema_input_type=dict[str, list[int]]),
]


class PortGroup(Model):
    """Ports that are alike: `TYPE-FPC/PIC/PORT` for every FPC and port in the ranges."""

    type: str = Field("et", pattern="^[a-z]{2}$")
    fpcs: Span = (0, 0)
    pic: int = Field(0, ge=0)
    ports: Span
    speeds: SpeedTable = Field(description="speed -> possible numbers of sub-ports; 1 is the port unsplit")
    native: Speed = Field(description="the speed a port has without a speed statement")

    def names(self) -> tuple[str, ...]:
        """Physical port names in order."""
        fpcs, ports = range(self.fpcs[0], self.fpcs[1] + 1), range(self.ports[0], self.ports[1] + 1)
        return tuple(f"{self.type}-{fpc}/{self.pic}/{port}" for fpc in fpcs for port in ports)


class Profile(Model):
    """A switch model: its fabric-capable ports, in the order in which they are handed out."""

    description: str = ""
    management_interface: str = Field("re0:mgmt-0", pattern=r"^[A-Za-z0-9:/.-]{1,32}$")
    port_groups: tuple[PortGroup, ...] = Field(min_length=1)

    def group_of(self, name: PortName) -> PortGroup | None:
        """Return the group the physical port belongs to, if the platform has it."""
        return next((group for group in self.port_groups if name in group.names()), None)

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
