"""Kept models that were damaged and signed again are refused as a whole, and never end a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pickletools import genops
from typing import NoReturn

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ailb_gen.api.validate import validate
from ailb_gen.kept.models import KeptTables, Models, decode, encode
from ailb_gen.layout import CABLING, TOPOLOGY
from ailb_gen.network.read import read_lists
from ailb_gen.network.records import NO_RECORDS
from ailb_gen.network.topology import Topology
from tests.conftest import EXAMPLES
from tests.mutations.score import GOLDEN

# Models hold a memo of each thing once; a place in it that is far away would take gigabytes.
PLACES = 1 << 20


def refuse(error: ValueError) -> NoReturn:
    raise error


@pytest.fixture(scope="module")
def body(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What is kept of the lab, with a switch and a few cables of it, so that damage meets all kinds of values."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(home))
        root = GOLDEN / "lab"
        fabric = EXAMPLES / "lab" / "fabric.yaml"
        validate(fabric, root, checks=("AILB001",), executor="serial", html=False, remember=True)
    (kept,) = home.glob("ailb-gen/proofs/*.models")
    models = decode(kept.read_bytes().partition(b"\n")[2], refuse)
    # As in a fabric whose lists of cables do not agree, which are kept in full.
    few = {
        file: replace(table, links=table.links[:4], attachments=table.attachments[:4], records=NO_RECORDS)
        for file, table in read_lists(root).tables.items()
    }
    one = dict([*models.switches.items()][:1])
    return encode(replace(models, switches=one, lists=replace(models.lists, tables=few)))


def damage(whole: bytes, data: st.DataObject) -> bytes:
    """Return bytes of which some are others, or of which the end is missing."""
    changed = bytearray(whole)
    # Half of the damages are at the beginning, where what is kept as a whole is described.
    ends = st.sampled_from((400, len(whole)))
    for _ in range(data.draw(st.integers(1, 3))):
        changed[data.draw(st.integers(0, data.draw(ends) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.none() | st.integers(0, len(whole)))
    assume(_places(bytes(changed)) < PLACES)
    return bytes(changed[:cut])


def _places(body: bytes) -> int:
    """Return the farthest place of the memo that is written by its number."""
    farthest = 0
    try:
        for operation, argument, _ in genops(body):
            if operation.name in {"LONG_BINPUT", "PUT"} and isinstance(argument, int):
                farthest = max(farthest, argument)
    except (ValueError, UnicodeDecodeError, IndexError):
        pass
    return farthest


def test_what_is_written_comes_back(body: bytes) -> None:
    models = decode(body, refuse)
    assert len(models.switches) == 1
    assert {*models.lists.tables} == {TOPOLOGY, CABLING}
    assert all(models.lists.tables[file].links for file in models.lists.tables)
    assert decode(encode(models), refuse).switches == models.switches


@given(data=st.data())
def test_damaged_models_are_refused_or_have_their_form(data: st.DataObject, body: bytes) -> None:
    try:
        found = decode(damage(body, data), refuse)
    except ValueError:
        return
    assert isinstance(found, Models)
    assert {len(pair) for pair in found.switches.values()} <= {2}


@given(data=st.data())
def test_damaged_lists_of_cables_are_read_again(data: st.DataObject, body: bytes) -> None:
    models = decode(body, refuse)
    read_again = dict(models.lists.tables)
    errors: list[ValueError] = []

    def reread(error: ValueError) -> Mapping[str, Topology]:
        errors.append(error)
        return read_again

    tables = KeptTables(damage(models.tables, data), reread)
    assert all(isinstance(tables[file], Topology) for file in (TOPOLOGY, CABLING))
    assert not errors or dict(tables) == read_again
    assert len(errors) <= 1
