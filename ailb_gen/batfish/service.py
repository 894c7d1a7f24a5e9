"""The Batfish service through pybatfish, which nothing else imports; its failures in words.

Importing this module raises UsageError where pybatfish is not installed.
"""

from __future__ import annotations

import io
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

from ailb_gen.batfish.clock import nap_s
from ailb_gen.batfish.deadline import within
from ailb_gen.batfish.leftovers import OURS, RunNetwork, began_at, network_name
from ailb_gen.batfish.model import Answer, Batfish, Row
from ailb_gen.errors import BatfishError
from ailb_gen.optional import without_extra

try:
    import pybatfish
    import requests
    from pybatfish.client import restv2helper, workhelper
    from pybatfish.client.consts import WorkStatusCode
    from pybatfish.client.session import Session
    from pybatfish.datamodel import HeaderConstraints, Interface, PathConstraints
    from pybatfish.datamodel.answer import TableAnswer
    from pybatfish.exception import BatfishException
    from pybatfish.question.question import QuestionBase, QuestionMeta
    from pybatfish.util import zip_dir

    from ailb_gen.batfish.causes import FORESEEN, NO_MEMORY, VERSIONS, explain
    from ailb_gen.batfish.http import proxies, retries
    from ailb_gen.batfish.rows import AnsweredRow, plain_row
except ImportError as error:
    found = "pybatfish is not installed" if error.name == "pybatfish" else f"pybatfish cannot be used ({error})"
    raise without_extra("--batfish", found, "batfish") from error

T = TypeVar("T")

# Both write on standard error what is reported better here: templates that cannot be loaded, and retries.
for _name in ("pybatfish", "urllib3.connectionpool"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)

DELETE_LIMIT_S = 10.0
# Questions with a row for every file or port of a snapshot, and none is without.
NEVER_EMPTY = ("fileParseStatus", "interfaceProperties")


@contextmanager
def connect(host: str, port: int, timeout_s: float) -> Iterator[Batfish]:
    """Open a separate network on a Batfish service; it is always deleted at the end.

    `timeout_s` (seconds) bounds every single piece of work: connecting, an upload, a fork, a question.
    Raises BatfishError, which names the network if it is left on the server.
    """
    with visit(host, port, timeout_s) as service:
        service.network = network_name()
        try:
            service.within("making a network", lambda: service.session.set_network(service.network))
            yield service
            service.settle()
        except BaseException as error:
            left = service.delete()
            if left and isinstance(error, BatfishError):
                raise BatfishError(f"{error}; {left}") from error
            if left:
                error.add_note(left)
            raise
        service.left_behind = service.delete()


@contextmanager
def visit(host: str, port: int, timeout_s: float) -> Iterator[Service]:
    """Open a Batfish service without a network of one's own. Raises BatfishError."""
    name = f"[{host}]" if ":" in host else host
    session = Session(name, port, load_questions=False, timeout=timeout_s, proxies=proxies(host))
    with retries(f"http://{name}:{port}/"):
        service = Service(f"{name}:{port}", timeout_s, session)
        service.greet()
        yield service


@dataclass(slots=True, eq=False)
class _Piece:
    """A piece of work for the service: what it is in words, and what begins it and returns its id there.

    `collect` fetches what came of it, into `result`. `trouble` is why it could not be begun.
    """

    doing: str
    snapshot: str
    send: Callable[[], str]
    collect: Callable[[], object] = lambda: None
    id: str = ""
    trouble: BatfishError | None = None
    ended: WorkStatusCode | None = None
    result: object = None


@dataclass(slots=True)
class Service:
    """A session of pybatfish; see Batfish. `waiting` are the pieces of work that nobody has waited for yet, in order.

    The service does one piece of work after the other, and hands the next one out every 100 ms (its default). So
    several are begun at once: it would be idle between an answer and the next question.
    """

    address: str
    limit_s: float
    session: Session
    network: str = ""
    version: str = ""
    left_behind: str = ""
    snapshots: list[str] = field(default_factory=list)
    waiting: list[_Piece] = field(default_factory=list)

    def greet(self) -> None:
        """Learn the version and the questions. Raises BatfishError."""
        self.version = self.within("connecting", partial(_greet, self.session))
        if not self.session.q.list():
            raise self.error("connecting", "it has no questions that pybatfish knows", VERSIONS)

    def upload(self, snapshot: str, folder: Path) -> None:
        """Upload a snapshot; see Batfish."""
        zipped = io.BytesIO()
        zip_dir(str(folder), zipped)
        zipped.seek(0)
        send = partial(restv2helper.upload_snapshot, self.session, snapshot, zipped)
        self.parse(f"uploading snapshot {snapshot!r}", snapshot, send)

    def fork(
        self, base: str, snapshot: str, nodes: Sequence[str] = (), interfaces: Sequence[tuple[str, str]] = ()
    ) -> None:
        """Copy a snapshot without some nodes and interfaces; see Batfish."""
        order = {
            "snapshotBase": base,
            "snapshotNew": snapshot,
            "deactivateNodes": list(nodes),
            "deactivateInterfaces": [Interface(*interface) for interface in interfaces],
        }
        send = partial(restv2helper.fork_snapshot, self.session, order)
        self.parse(f"forking snapshot {snapshot!r} from {base!r}", snapshot, send)

    def parse(self, doing: str, snapshot: str, send: Callable[[], object]) -> None:
        """Send a snapshot and begin parsing it."""
        self.snapshots.append(snapshot)
        self.begin(_Piece(doing, snapshot, partial(_parse, self.session, snapshot, send)))

    def ask(self, question: str, snapshot: str, reference: str | None = None, **parameters: object) -> Answer:
        """Ask; see Batfish."""
        against = f" against {reference!r}" if reference else ""
        doing = f"asking {question} of snapshot {snapshot!r}{against}"
        template = getattr(self.session.q, question, None)
        piece = _Piece(doing, snapshot, str)
        if isinstance(template, QuestionMeta):
            asked = _Question(self.session, template, snapshot, reference, _constraints(parameters))
            piece.send, piece.collect = asked.send, asked.collect
        else:
            piece.trouble = self.error(doing, "it has no such question", VERSIONS)
        self.begin(piece)

        def rows() -> list[Row]:
            self.settle(piece)
            found = cast("TableAnswer", piece.result).frame().to_dict(orient="records")  # type: ignore[no-untyped-call]
            if not found and question in NEVER_EMPTY:
                raise self.error(doing, "the answer is empty", VERSIONS)
            return [AnsweredRow(plain_row(row), partial(self.no_column, doing)) for row in found]

        return rows

    def begin(self, piece: _Piece) -> None:
        """Begin a piece of work. If that fails it is raised in its turn, and nothing more is begun."""
        broken = any(other.trouble for other in self.waiting)
        self.waiting.append(piece)
        if piece.trouble is None and not broken:
            try:
                piece.id = within(self.limit_s, piece.send)
            except FORESEEN as error:
                piece.trouble = self.explained(piece.doing, error)

    def settle(self, piece: _Piece | None = None) -> None:
        """Wait for a piece of work and all that were begun before it, or for all there are. Raises BatfishError."""
        while self.waiting and (piece is None or piece in self.waiting):
            first = self.waiting.pop(0)
            if first.trouble is not None:
                raise first.trouble
            try:
                self.finish(first)
                first.result = within(self.limit_s, first.collect)
            except FORESEEN as error:
                raise self.explained(first.doing, error) from error

    def finish(self, piece: _Piece) -> None:
        """Wait until a piece of work has ended well. Raises what is foreseen.

        The time that one may take begins again when another one has ended: they are done one after the other.
        """
        began = since = time.monotonic()
        while not self.looked(piece):
            now = time.monotonic()
            if now - since >= self.limit_s:
                others = [self.looked(other) for other in self.waiting if other.id and other.ended is None]
                if not any(others):
                    raise TimeoutError
                since = now
            time.sleep(min(nap_s(now - began), self.limit_s))
        within(self.limit_s, partial(_check_end, self.session, piece))

    def looked(self, piece: _Piece) -> bool:
        """Look whether a piece of work has ended. Raises what is foreseen."""
        if piece.ended is None:
            answer = within(self.limit_s, partial(workhelper.get_work_status, piece.id, self.session))
            status = WorkStatusCode(answer["workstatus"])
            piece.ended = status if WorkStatusCode.is_terminated(status) else None
        return piece.ended is not None

    def within(self, doing: str, work: Callable[[], T]) -> T:
        """Do one piece of work in the time that one may take. Raises BatfishError."""
        try:
            return within(self.limit_s, work)
        except FORESEEN as error:
            raise self.explained(doing, error) from error

    def explained(self, doing: str, error: BaseException) -> BatfishError:
        """Return the error for something foreseen that happened while something was being done."""
        found = self.error(doing, *explain(error, self.limit_s, connecting=not self.version))
        found.__cause__ = error
        return found

    def error(self, doing: str, why: str, what_to_do: str) -> BatfishError:
        """Return the error that says what was being done where, why it failed and what to do."""
        hint = what_to_do.format(server=self.version, client=pybatfish.__version__)
        return BatfishError(f"Batfish at {self.address}: {doing}: {why}; {hint}")

    def no_column(self, doing: str, column: str) -> BatfishError:
        """Return the error for a column that an answer does not have."""
        return self.error(doing, f"the answer has no column {column!r}", VERSIONS)

    def run_networks(self) -> list[RunNetwork]:
        """Return the networks of runs, also of other programs of this kind, by name. Raises BatfishError."""
        names = self.within("listing networks", self.session.list_networks)
        ours = [name for name in sorted(names) if OURS.fullmatch(name)]
        found = [self.within(f"looking at network {name}", partial(_run_network, self.session, name)) for name in ours]
        return [network for network in found if network is not None]

    def delete_network(self, name: str) -> str:
        """Delete a network of another run; return why it is left, or nothing."""
        try:
            within(self.limit_s, partial(_delete, [partial(self.session.delete_network, name)]))
        except FORESEEN as error:
            return explain(error, self.limit_s, connecting=False)[0]
        return ""

    def delete(self) -> str:
        """Delete the snapshots and the network; return what is left behind and why, or nothing."""
        limit = min(self.limit_s, DELETE_LIMIT_S)
        self.session.timeout = limit
        gone = [partial(self.session.delete_snapshot, snapshot) for snapshot in self.snapshots]
        try:
            within(limit, partial(_delete, [*gone, partial(self.session.delete_network, self.network)]))
        except FORESEEN as error:
            why, _ = explain(error, limit, connecting=False)
            return f"the network {self.network} is left on Batfish at {self.address} and takes space: {why}"
        return ""


@dataclass(slots=True)
class _Question:
    """A question of a snapshot: `send` asks it and returns the id of the work, `collect` fetches the answer."""

    session: Session
    template: Callable[..., QuestionBase]
    snapshot: str
    reference: str | None
    parameters: Row
    name: str = ""

    def send(self) -> str:
        question = self.template(**self.parameters)
        self.name = str(question.get_name())  # type: ignore[no-untyped-call]
        return str(question.answer(self.snapshot, self.reference, background=True))

    def collect(self) -> TableAnswer:
        answer = self.session.get_answer(self.name, self.snapshot, self.reference)
        if not isinstance(answer, TableAnswer):
            memory = NO_MEMORY.search(str(answer))
            raise BatfishException(memory[0] if memory else "the answer is not a table")
        return answer


def _parse(session: Session, snapshot: str, send: Callable[[], object]) -> str:
    send()
    item = workhelper.get_workitem_parse(session, snapshot)
    workhelper.queue_work(session, item)
    return str(item.id)


def _check_end(session: Session, piece: _Piece) -> None:
    """Raise BatfishException for a piece of work that did not end well, with the log of the service, if it has one."""
    match piece.ended:
        case WorkStatusCode.TERMINATEDNORMALLY:
            return
        case WorkStatusCode.ASSIGNMENTERROR | WorkStatusCode.REQUEUEFAILURE:
            raise BatfishException(f"Work finished with status {piece.ended.value}")
        case _:
            how = "abnormally" if piece.ended is WorkStatusCode.TERMINATEDABNORMALLY else "by a user"
            log = restv2helper.get_work_log(session, piece.snapshot, piece.id)
            raise BatfishException(f"Work terminated {how}\n{log}")


def _greet(session: Session) -> str:
    version = session.get_component_versions().get("Batfish")
    if not version:
        raise BatfishException("it names no version of Batfish")
    session.q.load()
    return str(version)


def _constraints(parameters: Row) -> Row:
    """Return the parameters with pybatfish's objects for the header and the start of flows."""
    rest = dict(parameters)
    if (addresses := rest.pop("dst_ips", None)) is not None:
        rest["headers"] = HeaderConstraints(dstIps=str(addresses))
    if (start := rest.pop("start", None)) is not None:
        rest["pathConstraints"] = PathConstraints(startLocation=str(start))
    return rest


def _run_network(session: Session, name: str) -> RunNetwork | None:
    """Return what there is of a network, or nothing if it is gone by now."""
    # Not `set_network`, which makes what is not there.
    session.network = name
    try:
        snapshots = restv2helper.list_snapshots(session, verbose=True)
        unfinished = len(restv2helper.list_incomplete_work(session))
    except requests.HTTPError as error:
        if error.response is not None and error.response.status_code == requests.codes.not_found:
            return None
        raise
    began = began_at(name)
    signs = [] if began is None else [began]
    return RunNetwork(name, len(snapshots), (*signs, *map(_made_at, snapshots)), unfinished)


def _made_at(snapshot: object) -> float | None:
    """Return when a snapshot was made (seconds since 1970), None where the service does not say it in a known form."""
    metadata = snapshot.get("metadata") if isinstance(snapshot, dict) else None
    made = metadata.get("creationTimestamp") if isinstance(metadata, dict) else None
    if isinstance(made, int | float):
        return float(made)
    try:
        return datetime.fromisoformat(str(made)).timestamp()
    except ValueError:
        return None


def _delete(steps: Sequence[Callable[[], None]]) -> None:
    for step in steps:
        try:
            step()
        except requests.HTTPError as error:
            # What does not exist: making it was what failed.
            if error.response is None or error.response.status_code != requests.codes.not_found:
                raise
