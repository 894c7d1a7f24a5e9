"""The fake of Batfish against the recorded answers of a real service: without them nothing else holds."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
from pybatfish.client.session import Session
from pybatfish.datamodel import ListWrapper

from tests.batfish.fake.answers import COLUMNS, answer
from tests.batfish.fake.service import FakeBatfish
from tests.batfish.fake.snapshot import from_texts, read
from tests.batfish.fake.text import PlainError
from tests.batfish.recorded import FILES, SHADOWS, recorded
from tests.conftest import need_shared

ASKED = re.compile(r"(\w+)(?:\((.*)\))?")
NAMES = (*FILES, *SHADOWS)


def questions(name: str) -> list[tuple[str, dict[str, Any], Mapping[str, Any]]]:
    """Return the questions of a recording, their parameters and answers, as far as the fake answers them."""
    found = []
    for text, told in recorded(name).items():
        match = ASKED.fullmatch(text)
        assert match is not None
        call = ast.parse(f"_({match[2] or ''})", mode="eval").body
        assert isinstance(call, ast.Call)
        if match[1] in COLUMNS and "error" not in told:
            given = {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
            found.append((match[1], given, told))
    return found


def compare(question: str, rows: list[dict[str, Any]], told: Mapping[str, Any]) -> None:
    """Compare rows with a recorded answer, of which at most 40 rows are recorded, in the columns that are read."""
    columns = [column for column in COLUMNS[question] if column in told["columns"]]
    assert columns == list(COLUMNS[question]), question
    ours, theirs = ([_text(row, columns) for row in each] for each in (rows, told["rows"]))
    assert len(ours) == told["row_count"], question
    assert sorted(ours) == sorted(theirs) if len(theirs) == len(ours) else set(theirs) <= set(ours), question


def _text(row: Mapping[str, Any], columns: list[str]) -> str:
    """Write a row free of order: Batfish gives sets."""
    values = (row[column] for column in columns)
    return json.dumps([sorted(map(str, value)) if isinstance(value, list) else value for value in values])


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_those_of_the_real_service(name: str) -> None:
    snapshot = read(need_shared(f"batfish-rows/snapshots/{name}"))
    for question, given, told in questions(name):
        compare(question, answer(snapshot, question, **given), told)


def plain(value: object) -> object:
    """Write a value of pybatfish's as the recorded ones are: numbers, lists, and texts for all else."""
    if isinstance(value, ListWrapper):
        return [plain(one) for one in value]
    return value if value is None or isinstance(value, str | int) else str(value)


@pytest.mark.parametrize("name", ["a_v6", "d_v4la_bad"])
def test_answers_over_http_are_those_of_the_real_service(name: str) -> None:
    with FakeBatfish() as server:
        session = Session(server.host, server.port, timeout=10)
        session.set_network("net")
        session.init_snapshot(str(need_shared(f"batfish-rows/snapshots/{name}")), name=name)
        for question, given, told in questions(name):
            frame = getattr(session.q, question)(**given).answer().frame()
            rows = [{column: plain(value) for column, value in row.items()} for row in frame.to_dict(orient="records")]
            compare(question, rows, told)


def test_a_statement_of_a_shadow_that_the_fake_does_not_know_is_an_error() -> None:
    with pytest.raises(PlainError, match=r"configs/leaf\.cfg:2: .*: set protocols bgp keep all"):
        from_texts({"configs/leaf.cfg": "set system host-name leaf\nset protocols bgp keep all\n"})
