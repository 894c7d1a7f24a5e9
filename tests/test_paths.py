"""Where paths lead, and why nothing is there; also of symbolic links in a circle."""

from pathlib import Path

from ailb_gen.paths import absent, real


def test_circles_lead_somewhere(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.symlink_to("other")
    other.symlink_to("one")
    assert real(one) in (one, other)
    assert absent(one, "file") == "this symbolic link to other does not point to a file"


def test_what_is_missing(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("nowhere")
    assert real(link) == tmp_path / "nowhere"
    assert absent(link, "directory") == "this symbolic link to nowhere does not point to a directory"
    for name in ("nowhere", "a\0b"):
        assert absent(tmp_path / name, "file") == "there is no such file"
    assert absent(tmp_path / ("a" * 300), "file") == "cannot be read: File name too long"


def test_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert absent(tmp_path / "file", "file") == absent(tmp_path, "directory") == ""
    assert absent(tmp_path, "file") == "this is a directory"
    assert absent(tmp_path / "file", "directory") == "this is a file"
    assert absent(tmp_path / "file" / "below", "file") == "there is no such file"
    assert absent(Path("/dev/null"), "file") == "this is a special file"
