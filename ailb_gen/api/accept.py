"""Accept a cluster: verify it, send packets and jobs through it, and compare its counters and speed with the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ailb_gen.api.connect import Connection, report_of
from ailb_gen.errors import AilbError
from ailb_gen.progress import Progress, quiet

if TYPE_CHECKING:
    from collections.abc import Callable

    from ailb_gen.accept.steps import AcceptOptions
    from ailb_gen.deploy.session import DeploySession
    from ailb_gen.report.check_report import CheckReport


def accept(
    connection: Connection,
    options: AcceptOptions,
    *,
    limit: Sequence[str] = (),
    html: bool = True,
    progress: Progress = quiet,
) -> CheckReport:
    """Answer whether a cluster can be handed over: the steps of `ailb_gen.accept`, as a report of their checks.

    Raises UsageError where a job cannot be started.
    """
    from ailb_gen.accept.steps import accept as run
    from ailb_gen.deploy.verification import NOT_READ

    session = connection.context
    with progress("accepting", options.steps) as advance:

        def step(name: str) -> None:
            advance.step(name)
            advance(1)

        results = run(session, options, predictions(session), step)
    return report_of(session, "accept", results, limit, html, (NOT_READ,))


def predictions(session: DeploySession) -> Callable[[str, int], float | str]:
    """Return what predicts the bus bandwidth of a collective on the files of a fabric, by simulating its flows."""

    def predict(collective: str, size: int) -> float | str:
        from ailb_gen.api.points import Execution
        from ailb_gen.api.simulate import simulate_collective
        from ailb_gen.network.read import network_of
        from ailb_gen.sim.network_balancer import balancer_settings

        files = session.inputs.artifacts
        try:
            balancer = balancer_settings(network_of(files)).name
            report = simulate_collective(
                session.intent.source.file,
                files,
                str(size),
                collective,
                ["level=flow"],
                balancers=[balancer],
                # Its files are those that are pushed, with waivers.
                force=True,
                execution=Execution("serial"),
            )
        except AilbError as error:
            return f"none: {error}"
        found = report.records[0]["bus_bandwidth"]
        return float(found["mean"]) if found else "none: the simulated job did not end"

    return predict
