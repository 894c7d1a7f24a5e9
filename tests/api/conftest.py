"""A fabric that is maintained, generated once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.maintenance import Pod, generated, pod


@pytest.fixture(scope="session")
def generated_pod(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of one stripe with two rails, two spines and two colors."""
    return generated(tmp_path_factory.mktemp("pod"))


@pytest.fixture
def small_pod(generated_pod: Path, tmp_path: Path) -> Iterator[Pod]:
    """That fabric, emulated."""
    with pod(generated_pod, tmp_path) as found:
        yield found
