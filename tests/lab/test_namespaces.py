"""Programs that a lab needs."""

import pytest

from ailb_gen import programs
from ailb_gen.errors import LabError
from ailb_gen.lab.namespaces import batch, located, output, require
from tests.conftest import need_tool

USER = "/usr/local/bin:/usr/bin:/bin"


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """No program is installed."""
    monkeypatch.setattr(programs, "SYSTEM", ())
    monkeypatch.setenv("PATH", "/nowhere")


@pytest.mark.usefixtures("nothing")
def test_what_is_missing_and_how_to_install_it() -> None:
    with pytest.raises(LabError, match="not installed: bird, ip; install with: sudo apt install bird2 iproute2"):
        require()
    with pytest.raises(LabError, match="not installed: nft; install with: sudo apt install nftables"):
        require(("nft",))
    with pytest.raises(LabError, match=r"^not installed: ip; install with: sudo apt install iproute2$"):
        batch(["link show"])
    with pytest.raises(LabError, match=r"^not installed: no-such-program$"):
        located("no-such-program")


def test_what_is_found_with_a_users_path_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    bird = need_tool("bird")
    monkeypatch.setenv("PATH", USER)
    require(("bird",))
    assert located("bird") == bird
    assert output("", ("bird", "--version")) == ""
    # Programs that it starts by name are found, too.
    assert output("", ("sh", "-c", "command -v bird")).strip() == bird
