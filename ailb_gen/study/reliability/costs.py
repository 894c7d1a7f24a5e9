"""Cost and power of a fabric: its bill of materials, with prices and watts from the user's table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum

from ailb_gen.design.model import Design
from ailb_gen.errors import IntentError, Problem
from ailb_gen.exports.materials import Item, bill_of_materials
from ailb_gen.exports.places import Places
from ailb_gen.intent.csv_table import Columns, TableRow, table_rows

ITEM, PRICE, WATTS = "item", "price", "watts"
COLUMNS = Columns((ITEM, PRICE, WATTS), (ITEM,), "items", max_rows=10_000)
# Fiber, copper and couplers use no power.
POWERED = ("switch", "optic")
_NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,15})?")


@dataclass(frozen=True, slots=True)
class Prices:
    """Price and watts by item, in lower case; None where the table does not say."""

    price: Mapping[str, float | None]
    watts: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class FabricCost:
    """What a fabric consists of, by category, and its cost and power; None without the data of the items `missing`."""

    counts: Mapping[str, int]
    price: float | None
    watts: float | None
    missing: tuple[str, ...]


def read_prices(text: str, file: str) -> Prices:
    """Return a table. Raises IntentError with all that is wrong."""
    problems: list[Problem] = []
    price: dict[str, float | None] = {}
    watts: dict[str, float | None] = {}
    for row in table_rows(text, file, COLUMNS, problems):
        item = row.cells[ITEM].lower()
        if item in price:
            problems.append(row.problem("duplicate-key", ITEM, f"{row.cells[ITEM][:40]!r} is repeated"))
        price[item], watts[item] = _cell(row, PRICE, problems), _cell(row, WATTS, problems)
    if problems:
        raise IntentError(problems)
    return Prices(price, watts)


def _cell(row: TableRow, column: str, problems: list[Problem]) -> float | None:
    text = row.cells.get(column, "")
    if not text:
        return None
    if _NUMBER.fullmatch(text):
        return float(text)
    problems.append(row.problem("wrong-type", column, f"{text[:40]!r} is not a number, such as 1250 or 9.5"))
    return None


def cost_of(design: Design, media: str, prices: Prices | None) -> FabricCost:
    """Return the cost of a fabric without its servers and NICs. Raises UsageError for media that do not fit it."""
    rows = bill_of_materials(design, Places(), media).rows
    counts = Counter[str]()
    for row in rows:
        counts[row.item.category] += row.used
    if prices is None:
        return FabricCost(counts, None, None, ())
    cost = {row: _of_item(row.item, prices.price) for row in rows}
    power = {row: _of_item(row.item, prices.watts) for row in rows if row.item.category in POWERED}
    missing = [f"{_name(row.item)} ({PRICE})" for row, value in cost.items() if value is None]
    missing += [f"{_name(row.item)} ({WATTS})" for row, value in power.items() if value is None]
    sums = [
        None if None in found.values() else fsum(row.used * (value or 0) for row, value in found.items())
        for found in (cost, power)
    ]
    return FabricCost(counts, sums[0], sums[1], tuple(missing))


def _of_item(item: Item, known: Mapping[str, float | None]) -> float | None:
    """Return the number of an item by its name, else by its description, else by its category."""
    names = (item.name, item.description, item.category)
    return next((value for name in names if name and (value := known.get(name.lower())) is not None), None)


def _name(item: Item) -> str:
    return item.name or item.description
