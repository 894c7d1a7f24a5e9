"""The inputs of services: how many processes work."""

import os

import pytest

from ailb_gen.api.inputs import processes


@pytest.mark.parametrize(("cores", "expected"), [(3, 3), (None, 1)])
def test_elsewhere_than_on_linux_the_cores_of_the_machine_count(
    monkeypatch: pytest.MonkeyPatch, cores: int | None, expected: int
) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert processes(None) == expected
    assert processes(5) == 5
