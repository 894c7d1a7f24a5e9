"""A fabric to push to, generated once."""

import pytest

from tests.deploy.fabric import Generated, generated


@pytest.fixture(scope="session")
def small_fabric(tmp_path_factory: pytest.TempPathFactory) -> Generated:
    """One stripe, two rails, two spines, two colors; before and after a change."""
    return generated(tmp_path_factory.mktemp("fabric"))
