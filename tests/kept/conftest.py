"""The YANG models, whose schema is not built again in the empty cache of a test."""

from __future__ import annotations

from pathlib import Path

import pytest

import ailb_gen.checks.run
from ailb_gen.junos.schema import Schema
from tests.conftest import need_shared
from tests.junos.models import MODELS, schema


@pytest.fixture(scope="session")
def users_schema() -> Schema:
    """Return the schema from the user's cache, before a test has another one."""
    return schema()


@pytest.fixture
def yang(users_schema: Schema, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the directory of the models."""
    monkeypatch.setattr(ailb_gen.checks.run, "load_schema", lambda *_: users_schema)
    return need_shared(MODELS)
