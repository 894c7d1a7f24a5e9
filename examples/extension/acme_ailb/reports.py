"""A report in the form of ACME's chat."""

from ailb_gen import CheckReport


def chat(report: CheckReport) -> str:
    """Return the verdict and the causes, one a line."""
    mark = "✅" if report.passed else "❌"
    causes = [f"• {row.finding.device}: {row.finding.message}" for row in report.causes]
    return "\n".join([f"{mark} {report}", *causes, ""])
