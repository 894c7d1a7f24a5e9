"""Scalar types of scenario files: sizes, times and rates with the units that people write."""

import math
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, WithJsonSchema

from ailb_gen.validation import Int, checked_text, wrong

NUMBER = r"[0-9]{1,30}(?:\.[0-9]{1,12})?"
MAX = 2**62
MAX_SEEDS = 10_000
LINKS = re.compile("([0-9]{1,6}) links?")
# K, M and G alone are those of nccl-tests.
BYTES = {
    "": 1,
    "b": 1,
    **{f"{letter}b": 1000**power for power, letter in enumerate("kmgt", 1)},
    **{f"{letter}{end}": 1024**power for power, letter in enumerate("kmgt", 1) for end in ("", "ib")},
}
# In ps.
TIMES = {"ps": 1, "ns": 10**3, "us": 10**6, "µs": 10**6, "ms": 10**9, "s": 10**12}
# In bit/s.
RATES = {letter: 1000**power for power, letter in enumerate("kmgt", 1)}
# In FLOP/s.
FLOPS = {"g": 10**9, "t": 10**12, "p": 10**15}


def with_unit(what: str, units: Mapping[str, int], names: str, example: str) -> Callable[[object], int]:
    """Make a validator for a number with a unit, which returns it in the smallest unit, rounded; `names` for people."""
    compiled = re.compile(rf"({NUMBER}) ?([a-zA-Zµ]*)")

    def check(value: object) -> int:
        plain = isinstance(value, int | float) and not isinstance(value, bool)
        text = repr(value) if plain else checked_text(value, f"a {what}")
        if text == "0":
            return 0
        found = compiled.fullmatch(text)
        factor = units.get(found[2].lower()) if found else None
        if plain and "" not in units:
            raise wrong("bad-quantity", f"write the {what} with its unit, such as {example}")
        if text.startswith("-"):
            raise wrong("out-of-range", f"the {what} must not be negative, as {text[:40]} is")
        if found is None or factor is None:
            raise wrong("bad-quantity", f"{text[:40]!r} is not a {what}; write a number and {names}, such as {example}")
        result = round(Fraction(found[1]) * factor)
        if result >= MAX:
            raise wrong("out-of-range", f"{text[:40]} is too large for this program")
        return result

    return check


def quantity_schema(units: Mapping[str, int], example: str, least: int = 0) -> WithJsonSchema:
    """Make the JSON Schema of a number with a unit; `least` 0 allows a plain 0."""
    letters = "|".join("".join(f"[{c}{c.upper()}]" if c.isascii() else c for c in name) for name in units if name)
    text: dict[str, Any] = {"type": "string", "pattern": f"^{NUMBER} ?(?:{letters})$", "examples": [example]}
    if "" in units:
        return WithJsonSchema({"anyOf": [text, {"type": "integer", "minimum": least}]})
    return WithJsonSchema(text if least else {"anyOf": [text, {"const": 0}]})


def positive(what: str) -> AfterValidator:
    """Make a validator that refuses zero."""

    def check(value: float) -> float:
        if value <= 0:
            raise wrong("out-of-range", f"the {what} must be more than zero")
        return value

    return AfterValidator(check)


def written(text: str, description: str = "") -> Any:  # noqa: ANN401 - a field of any type
    """Make a field whose default is given as people write it."""
    return Field(text, validate_default=True, description=description or None)


def several(value: object) -> object:
    """Let one entry stand for a list of it."""
    return value if isinstance(value, list) else [value]


read_bytes = with_unit("size", BYTES, "KiB, MiB, GiB (powers of 1024) or kB, MB, GB (of 1000)", "64KiB")
read_time = with_unit("time", TIMES, "ps, ns, us, ms or s", "2ms")
read_flops = with_unit("computing rate", FLOPS, "G, T or P (FLOP/s)", "989T")
read_rate = with_unit("rate", RATES, "k, m, g or t (bit/s)", "100g")

Bytes = Annotated[int, PlainValidator(read_bytes), quantity_schema(BYTES, "64KiB")]
SomeBytes = Annotated[int, PlainValidator(read_bytes), positive("size"), quantity_schema(BYTES, "64KiB", 1)]
Time = Annotated[int, PlainValidator(read_time), quantity_schema(TIMES, "2ms")]
SomeTime = Annotated[int, PlainValidator(read_time), positive("time"), quantity_schema(TIMES, "2ms", 1)]
Rate = Annotated[int, PlainValidator(read_rate), positive("rate"), quantity_schema(RATES, "100g", 1)]
Flops = Annotated[int, PlainValidator(read_flops), positive("computing rate"), quantity_schema(FLOPS, "989T", 1)]


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise wrong("wrong-type", f"must be a number, not {str(value)[:40]!r}")
    return float(value)


def read_share(value: object) -> float:
    """Read a share such as `25%` or 0.25."""
    found = re.fullmatch(rf"({NUMBER}) ?%", value) if isinstance(value, str) else None
    # As options have it.
    if isinstance(value, str) and re.fullmatch(NUMBER, value):
        value = float(value)
    share = float(Fraction(found[1]) / 100) if found else _number(value)
    if share < 0:
        raise wrong("out-of-range", f"must not be negative, as {share:g} is")
    if share > 1:
        hint = "" if found else f"; did you mean {share:g}%?"
        raise wrong("out-of-range", f"must be at most 100%, not {share * 100:.12g}%{hint}")
    return share


def read_random(value: object) -> float | int:
    """Read a share, or a number of links such as `5 links`, which is an integer."""
    found = LINKS.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        if isinstance(value, str) and not re.fullmatch(f"{NUMBER} ?%?", value):
            raise wrong("bad-quantity", f"write a share such as 5%, or links such as '5 links', not {value[:40]!r}")
        return read_share(value)
    if int(found[1]) == 0:
        raise wrong("out-of-range", "the number of links must be more than zero")
    return int(found[1])


Names = Annotated[tuple[str, ...], BeforeValidator(several, json_schema_input_type=str | list[str])]
Number = Annotated[float, PlainValidator(_number), WithJsonSchema({"type": "number"})]
_SHARES: list[dict[str, Any]] = [
    {"type": "string", "pattern": rf"^{NUMBER} ?%$", "examples": ["25%"]},
    {"type": "number", "minimum": 0, "maximum": 1},
]
Share = Annotated[float, PlainValidator(read_share), WithJsonSchema({"anyOf": _SHARES})]
SomeShare = Annotated[float, PlainValidator(read_share), positive("share"), WithJsonSchema({"anyOf": _SHARES})]
ShareOrLinks = Annotated[
    float | int,
    PlainValidator(read_random),
    WithJsonSchema({"anyOf": [*_SHARES, {"type": "string", "pattern": f"^{LINKS.pattern}$", "examples": ["5 links"]}]}),
]


def _seeds(value: object) -> object:
    """Let a count stand for the seeds 1 to that."""
    if isinstance(value, int) and not isinstance(value, bool):
        if not 1 <= value <= MAX_SEEDS:
            raise wrong("out-of-range", f"must be 1 to {MAX_SEEDS} seeds, or a list of them, not {value}")
        return list(range(1, value + 1))
    if not isinstance(value, list):
        raise wrong("wrong-type", f"must be a number of seeds or a list of them, not {str(value)[:40]!r}")
    return value


SeedNumber = Annotated[Int, Field(ge=0, lt=2**63)]
Seeds = Annotated[
    tuple[SeedNumber, ...],
    BeforeValidator(_seeds, json_schema_input_type=int | list[int]),
    Field(min_length=1, max_length=MAX_SEEDS),
]
