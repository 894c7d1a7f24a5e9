"""Exports: the texts that start a job, byte by byte (`make golden` renews them), and names that do not exist."""

import os

import pytest

from ailb_gen.api.export import JOBS, export, exports, job_export
from ailb_gen.design.model import Design
from ailb_gen.errors import UsageError
from ailb_gen.jobs.command import JobRequest
from tests.conftest import ROOT

GOLDEN = ROOT / "tests" / "golden" / "jobs"


@pytest.mark.parametrize("name", JOBS)
def test_jobs_of_the_reference_fabric_start_as_before(name: str, jvd: Design) -> None:
    text = export(jvd, name)
    if os.environ.get("AILB_UPDATE_GOLDEN"):
        GOLDEN.mkdir(exist_ok=True)
        (GOLDEN / name).write_text(text, encoding="utf-8")
    assert text == (GOLDEN / name).read_text(encoding="utf-8")
    assert text == job_export(jvd, name, JobRequest())


def test_jobs_are_listed_with_the_exports_of_tables() -> None:
    assert list(exports())[:4] == ["topology", "cabling", "netbox-cables", "hostfile"]
    assert set(JOBS) <= set(exports())


def test_an_unknown_export_is_refused_with_the_nearest_name(jvd: Design) -> None:
    with pytest.raises(UsageError, match="there is no export 'kubernets'; did you mean 'kubernetes'"):
        export(jvd, "kubernets")
