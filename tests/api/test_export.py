"""Exports of a design: names that do not exist."""

import pytest

from ailb_gen.api.export import export
from ailb_gen.design.model import Design
from ailb_gen.errors import UsageError


def test_an_unknown_export_is_refused_with_the_nearest_name(jvd: Design) -> None:
    with pytest.raises(UsageError, match="there is no export 'kubernets'; did you mean 'kubernetes'"):
        export(jvd, "kubernets")
