from ailb_gen.paint import Style, painted, unpainted


def test_a_style_begins_and_ends() -> None:
    assert painted("FAIL", Style.FAIL) == "\x1b[1;31mFAIL\x1b[0m"
    assert painted("", Style.FAIL) == ""
    assert unpainted("FAIL", Style.FAIL) == "FAIL"
