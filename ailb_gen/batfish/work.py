"""Pieces of work on a Batfish service: how each begins, when it has ended, its rows in plain values, and time limits.

Importing this module needs pybatfish.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import NoReturn, TypeVar

from pybatfish.client import restv2helper, workhelper
from pybatfish.client.consts import WorkStatusCode
from pybatfish.client.session import Session
from pybatfish.datamodel import HeaderConstraints, PathConstraints
from pybatfish.datamodel.answer import TableAnswer
from pybatfish.datamodel.flow import Flow
from pybatfish.exception import BatfishException
from pybatfish.question.question import QuestionBase

from ailb_gen.batfish.answers import Row
from ailb_gen.batfish.causes import NO_MEMORY
from ailb_gen.errors import BatfishError

T = TypeVar("T")

# Seconds between two polls of a piece of work, while it is young.
POLL_S = 0.01
# Later it is polled after this part of the work's age.
SHARE = 20
LONGEST_S = 1.0


def poll_delay_s(age_s: float) -> float:
    """Return for how many seconds to sleep before polling work of this age (seconds) again: most takes little."""
    return min(LONGEST_S, max(POLL_S, age_s / SHARE))


def within(limit_s: float, work: Callable[[], T]) -> T:
    """Do the work and return its result. Raises TimeoutError after the limit (seconds), and the exceptions of the work.

    A thread does it, and is left alone when its time is up. The limits of requests are for a single read: a server
    that drips bytes, the look-up of a name and pybatfish's polling have none. Ctrl-C ends the waiting at once, and the
    thread does not keep the program from ending.
    """
    result: Future[T] = Future()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:  # noqa: BLE001 - the one who waits raises it
            result.set_exception(error)

    threading.Thread(target=run, name="batfish", daemon=True).start()
    return result.result(limit_s)


@dataclass(slots=True, eq=False)
class Work:
    """A piece of work for the service: its description; `send` begins it and returns its id there.

    `collect` fetches its result, into `result`. `trouble` is why it could not be begun.
    """

    doing: str
    snapshot: str
    send: Callable[[], str]
    collect: Callable[[], object] = lambda: None
    id: str = ""
    trouble: BatfishError | None = None
    ended: WorkStatusCode | None = None
    result: object = None

    def poll(self, session: Session) -> bool:
        """Ask the service whether the work has ended."""
        if self.ended is None:
            status = WorkStatusCode(workhelper.get_work_status(self.id, session)["workstatus"])
            self.ended = status if WorkStatusCode.is_terminated(status) else None
        return self.ended is not None

    def check_end(self, session: Session) -> None:
        """Raise BatfishException for work that did not end well, with the log of the service, if it has one."""
        match self.ended:
            case WorkStatusCode.TERMINATEDNORMALLY:
                return
            case WorkStatusCode.ASSIGNMENTERROR | WorkStatusCode.REQUEUEFAILURE:
                raise BatfishException(f"Work finished with status {self.ended.value}")
            case _:
                how = "abnormally" if self.ended is WorkStatusCode.TERMINATEDABNORMALLY else "by a user"
                log = restv2helper.get_work_log(session, self.snapshot, self.id)
                raise BatfishException(f"Work terminated {how}\n{log}")


@dataclass(slots=True)
class SnapshotQuestion:
    """A question of a snapshot: `send` asks it and returns the id of the work, `collect` fetches the answer."""

    session: Session
    template: Callable[..., QuestionBase]
    snapshot: str
    reference: str | None
    parameters: Row
    name: str = ""

    def send(self) -> str:
        """Ask the question; return the id of the work. `dst_ips` and `start` become pybatfish's constraints."""
        parameters = dict(self.parameters)
        if (addresses := parameters.pop("dst_ips", None)) is not None:
            parameters["headers"] = HeaderConstraints(dstIps=str(addresses))
        if (start := parameters.pop("start", None)) is not None:
            parameters["pathConstraints"] = PathConstraints(startLocation=str(start))
        question = self.template(**parameters)
        self.name = str(question.get_name())
        return str(question.answer(self.snapshot, self.reference, background=True))

    def collect(self) -> TableAnswer:
        """Fetch the answer. Raises BatfishException for one that is not a table."""
        answer = self.session.get_answer(self.name, self.snapshot, self.reference)
        if not isinstance(answer, TableAnswer):
            memory = NO_MEMORY.search(str(answer))
            raise BatfishException(memory[0] if memory else "the answer is not a table")
        return answer


def send_snapshot(session: Session, snapshot: str, send: Callable[[], object]) -> str:
    """Send a snapshot and begin parsing it; return the id of the work."""
    send()
    item = workhelper.get_workitem_parse(session, snapshot)
    workhelper.queue_work(session, item)
    return str(item.id)


class AnsweredRow(Row):
    """A row whose missing columns are the server's fault: another version names them differently."""

    def __init__(self, values: Row, error: Callable[[str], BatfishError]) -> None:
        super().__init__(values)
        self.error = error

    def __missing__(self, column: str) -> NoReturn:
        raise self.error(column)


def plain_row(row: dict[str, object]) -> Row:
    """Return a row in plain values; a flow is text and three columns more."""
    plain: Row = {}
    for column, value in row.items():
        plain[column] = _plain(value)
        if isinstance(value, Flow):
            for part in ("ingressNode", "ingressInterface", "dstIp"):
                plain[f"{column}.{part}"] = getattr(value, part)
    return plain


def _plain(value: object) -> object:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(element) for element in value]
    return value if isinstance(value, str | int) else str(value)
