"""The review on a terminal, its tables and its JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from ailb_gen.report.check_report import CheckReport
from ailb_gen.review.json import review_json
from ailb_gen.review.model import Review
from ailb_gen.review.tables import SHOWN, cable_table
from ailb_gen.review.text import text
from tests.report.samples import NASTY, verdict_of
from tests.review.fabric import CHANGED, FABRIC, reviewed, write


def test_nothing_changes(tmp_path: Path) -> None:
    found = text(reviewed(write(tmp_path / "a", FABRIC), write(tmp_path / "b", FABRIC)))
    assert "No device and no cable changes\nFindings: 0 new, 0 gone, 0 as before; before the change: PASS\n" in found
    assert found.splitlines()[-1].startswith("PASS: no findings; ")
    assert "Waves" not in found and "Loads" not in found


def test_the_json_has_everything(tmp_path: Path) -> None:
    review = reviewed(write(tmp_path / "a", FABRIC), write(tmp_path / "b", CHANGED))
    found = json.loads(review_json(review))
    assert found["version"] == 1 and found["passed"] and found["missing"] == ""
    spine = found["devices"]["spine2"]
    assert (spine["role"], spine["kind"], spine["colors"]) == ("spine", "changed", ["blue"])
    assert {"kind": "add", "statement": "interfaces et-0/0/0 disable"} in spine["edits"]
    assert sorted(name for group in found["groups"] for name in group["devices"]) == sorted(found["devices"])
    impact = found["impact"]
    assert impact["sessions_up"] == {"before": 12, "after": 8} and impact["highest_load"] == {
        "before": 1.0,
        "after": 1.5,
    }
    assert {row["name"]: row["paths_left"] for row in impact["waves"]}["spines of green"] == [3, 2]
    assert review_json(review) == review_json(review)


def test_servers_in_json(tmp_path: Path) -> None:
    before, after = write(tmp_path / "a", FABRIC), write(tmp_path / "b", FABRIC.replace("servers: 2", "servers: 3"))
    found = json.loads(review_json(reviewed(before, after)))
    assert {row["kind"] for row in found["devices"].values() if row["role"] == "server"} >= {"new"}
    assert found["cables"]["added"]


def test_no_comparison() -> None:
    review = Review("main", CheckReport(verdict_of()), missing="there is no fabric in main")
    assert "No comparison: there is no fabric in main. All findings count as new\n" in text(review)
    found = json.loads(review_json(review))
    assert found["impact"] is None and found["verdict_before"] is None and len(found["findings"]["new"]) > 0


def test_what_would_not_print_is_written_out() -> None:
    review = Review(NASTY, CheckReport(verdict_of(fabric=NASTY)), missing=NASTY, cables=((NASTY,), ()))
    for one in (review, replace(review, missing="")):
        assert all(line.isprintable() for line in text(one).splitlines())


def test_more_rows_are_counted() -> None:
    names = tuple(f"cable {n}" for n in range(SHOWN + 5))
    table = cable_table(Review("main", CheckReport(verdict_of()), cables=(names, ())))
    assert len(table.shown) == SHOWN and table.left_out == "5 more; the report as JSON lists all."
    assert "5 more; the report as JSON lists all." in text(Review("x", CheckReport(verdict_of()), cables=(names, ())))
