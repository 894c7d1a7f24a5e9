"""The start of the program."""

from types import SimpleNamespace

import pytest

from ailb_gen import __main__ as program


def test_windows_gets_a_hint_instead_of_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(program, "os", SimpleNamespace(name="nt"))
    with pytest.raises(SystemExit) as ended:
        program.main()
    assert ended.value.code == 3
    assert "WSL 2" in capsys.readouterr().err
