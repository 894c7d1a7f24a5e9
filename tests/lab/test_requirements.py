"""Programs that a lab needs."""

import pytest

from ailb_gen.errors import LabError
from ailb_gen.lab import requirements
from ailb_gen.lab.requirements import program, require


def test_what_is_missing_and_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements, "SYSTEM", ())
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(LabError, match="not installed: bird, ip; install with: sudo apt install bird2 iproute2"):
        require()
    with pytest.raises(LabError, match="not installed: nft; install with: sudo apt install nftables"):
        require(("nft",))


def test_programs_outside_of_path(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("sbin")
    (folder / "bird").write_text("#!/bin/sh\n", encoding="ascii")
    (folder / "bird").chmod(0o755)
    monkeypatch.setattr(requirements, "SYSTEM", (str(folder),))
    monkeypatch.setenv("PATH", "/nowhere")

    assert program("bird") == str(folder / "bird")
    require(("bird",))
