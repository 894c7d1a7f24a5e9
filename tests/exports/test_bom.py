"""The bill of materials as CSV, Markdown and JSON, and names that come from the fabric file."""

import csv
import io
import json
from html import escape

from markdown_it import MarkdownIt

from ailb_gen.design.build import build
from ailb_gen.exports.bom import COLUMNS, bom_csv, bom_json, bom_markdown
from ailb_gen.exports.kind import ExportInput
from tests.conftest import intent_of
from tests.exports.printed import lab

HOSTILE = '=cmd|"x", {{7}} $(id)\\n<script> ![a](http://x/y) *b* ~~c~~ _d_ [e]: &lt; `f`'
FABRIC = f"""
name: f
stripes: 1
rails: 1
spines: 1
servers: 1
platform: own
platforms:
  own:
    description: '{HOSTILE}'
    cage: QSFP112
    optics: [{{speed: 400g, name: Q-400G, part: 12-34}}]
    port_groups: [{{ports: 0-31, native: 400g, speeds: {{400g: [1]}}}}]
"""


def test_the_three_forms_say_the_same() -> None:
    given = lab(spares=10)
    rows = list(csv.reader(io.StringIO(bom_csv(given))))
    body = json.loads(bom_json(given))
    assert [[str(value) for value in item.values()] for item in body["items"]] == rows[1:]
    assert tuple(rows[0]) == COLUMNS == tuple(body["items"][0])
    table = [line for line in bom_markdown(given).splitlines() if line.startswith("|")]
    assert len(table) == len(rows) + 1
    assert (body["media"], body["spares_percent"]) == ("auto", 10)
    assert body["proof"]["ports"] == body["proof"]["optics"] + body["proof"]["direct_ends"]


def test_a_platform_of_the_fabric_brings_its_optics_and_a_hostile_description_stays_in_its_cell() -> None:
    given = ExportInput(build(intent_of(FABRIC))[0])
    rows = list(csv.reader(io.StringIO(bom_csv(given))))
    assert {len(row) for row in rows} == {len(COLUMNS)}
    assert rows[1][1] == f"switch, {HOSTILE}"
    assert rows[2][1:4] == ["QSFP112 optic, 400G, single-mode", "Q-400G", "12-34"]
    line = next(line for line in bom_markdown(given).splitlines() if "cmd" in line)
    inline = MarkdownIt().parseInline(line.replace("\\|", "|"))[0].children or []
    assert {part.type for part in inline} <= {"text", "text_special"}
    assert f"| switch, {HOSTILE} |" in "".join(part.content for part in inline)
    table = MarkdownIt().enable("table").render(bom_markdown(given))
    assert f"<td>switch, {escape(HOSTILE)}</td>" in table and table.count("<td>") == len(COLUMNS) * (len(rows) - 1)
    assert json.loads(bom_json(given))["items"][0]["description"] == f"switch, {HOSTILE}"


def test_a_description_has_one_line_without_control_characters() -> None:
    given = ExportInput(build(intent_of(FABRIC.replace(f"'{HOSTILE}'", '"a\\e[31m\\nb\\u202e"')))[0])
    assert list(csv.reader(io.StringIO(bom_csv(given))))[1][1] == r"switch, a\x1b[31m b\u202e"
