"""The Batfish service through pybatfish, which nothing else imports; its failures in words.

Importing this module raises UsageError where pybatfish is not installed.
"""

from __future__ import annotations

import io
import ipaddress
import logging
import math
import re
import socket
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple, NoReturn, TypeVar

from ailb_gen.batfish.clock import Clock
from ailb_gen.batfish.deadline import within
from ailb_gen.batfish.model import Batfish, Row
from ailb_gen.errors import BatfishError, UsageError

try:
    import pybatfish
    import requests
    from pybatfish.client import workhelper
    from pybatfish.client.restv2helper import _requests_session, _requests_session_fail_fast
    from pybatfish.client.session import Session
    from pybatfish.datamodel import HeaderConstraints, Interface, PathConstraints
    from pybatfish.datamodel.answer import TableAnswer
    from pybatfish.datamodel.flow import Flow
    from pybatfish.exception import BatfishException, QuestionValidationException
    from pybatfish.question.question import QuestionMeta
    from pybatfish.util import zip_dir
    from requests.adapters import HTTPAdapter
    from urllib3 import Retry
    from urllib3 import exceptions as urllib3_errors
except ImportError as error:
    found = "pybatfish is not installed" if error.name == "pybatfish" else f"pybatfish cannot be used ({error})"
    raise UsageError(f"--batfish: {found}; pip install 'ailb-gen[batfish]'") from error

T = TypeVar("T")

# Both write on standard error what is reported better here: templates that cannot be loaded, and retries.
for _name in ("pybatfish", "urllib3.connectionpool"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)

DELETE_LIMIT_S = 10.0
CUT = 200

_START = "start one with: docker run -d --name batfish -p 9996:9996 batfish/batfish"
_OTHER = "is this Batfish? it listens on port 9996"
_READY = f"{_OTHER}, and needs some seconds after its start"
_MEMORY = "give the server more memory: its Java takes 80 % of what its container may use (docker run --memory)"
_SLOW = f"raise --batfish-timeout, or {_MEMORY}"
_DIED = "the server died in the middle: 'docker logs batfish' may say why, often a lack of memory (docker run --memory)"
_LOGS = "'docker logs batfish' may say more"
_VERSIONS = (
    "the server is Batfish {server}, the client pybatfish {client}; "
    "update both: docker pull batfish/batfish, pip install -U pybatfish"
)


class Cause(NamedTuple):
    """A kind of failure: what raises it, why in words, what to do while connecting, what to do later."""

    kinds: tuple[type[BaseException], ...]
    why: str
    early: str
    late: str


# The first row that fits any link of the chain of exceptions counts.
CAUSES = (
    Cause((requests.HTTPError,), "it answers {detail}", _OTHER, _LOGS),
    Cause((requests.exceptions.ProxyError,), "the proxy of $http_proxy fails", "put the host into $no_proxy", _LOGS),
    Cause((socket.gaierror,), "unknown host", _START, _DIED),
    Cause((ConnectionRefusedError,), "connection refused", _START, _DIED),
    Cause(
        (TimeoutError, requests.Timeout, urllib3_errors.TimeoutError),
        "no result within {limit:g} s",
        f"{_READY}; if it is only slow, raise --batfish-timeout",
        _SLOW,
    ),
    Cause((requests.exceptions.JSONDecodeError,), "the answer is not JSON", _OTHER, _VERSIONS),
    Cause(
        (
            ConnectionError,
            urllib3_errors.ProtocolError,
            requests.exceptions.ChunkedEncodingError,
            requests.exceptions.ContentDecodingError,
        ),
        "the connection was lost",
        _READY,
        _DIED,
    ),
    Cause(
        (requests.TooManyRedirects, requests.exceptions.InvalidSchema), "it leads elsewhere: {detail}", _OTHER, _LOGS
    ),
    Cause((OSError, urllib3_errors.HTTPError), "{detail}", _START, _DIED),
    Cause((QuestionValidationException,), "it does not take the question: {detail}", _VERSIONS, _VERSIONS),
    Cause((BatfishException,), "{detail}", _OTHER, _LOGS),
    Cause(
        # What pybatfish raises over JSON of another shape than it knows.
        (ValueError, LookupError, TypeError, AttributeError, AssertionError, RecursionError),
        "the answer is not what pybatfish knows ({kind}: {detail})",
        _OTHER,
        _VERSIONS,
    ),
)
# Java's error texts, also inside other exceptions, and the text of a server that canceled a task.
NO_MEMORY = re.compile(r"OutOfMemoryError|Java heap space|GC overhead limit")
GIVEN_UP = re.compile(r"Work finished with status (?:\w+\.)?(\w+)")
FORESEEN = tuple(kind for cause in CAUSES for kind in cause.kinds)


@contextmanager
def connect(host: str, port: int, timeout_s: float) -> Iterator[Batfish]:
    """Open a separate network on a Batfish service; it is always deleted at the end.

    `timeout_s` (seconds) bounds every single piece of work: connecting, an upload, a fork, a question.
    Raises BatfishError, which names the network if it is left on the server.
    """
    name = f"[{host}]" if ":" in host else host
    session = Session(name, port, load_questions=False, timeout=timeout_s, proxies=_proxies(host))
    service = _Service(f"{name}:{port}", timeout_s, session, f"ailb-gen-{uuid.uuid4().hex[:12]}")
    with _retries(f"http://{name}:{port}/"), _polling():
        service.greet()
        try:
            service.within("making a network", lambda: session.set_network(service.network))
            yield service
        except BaseException as error:
            left = service.delete()
            if left and isinstance(error, BatfishError):
                raise BatfishError(f"{error}; {left}") from error
            if left:
                error.add_note(left)
            raise
        service.left_behind = service.delete()


@dataclass(slots=True)
class _Service:
    """A session of pybatfish; see Batfish."""

    address: str
    limit_s: float
    session: Session
    network: str
    version: str = ""
    left_behind: str = ""
    snapshots: list[str] = field(default_factory=list)

    def greet(self) -> None:
        """Learn the version and the questions. Raises BatfishError."""
        self.version = self.within("connecting", partial(_greet, self.session))
        if not self.session.q.list():
            raise self.error("connecting", "it has no questions that pybatfish knows", _VERSIONS)

    def upload(self, snapshot: str, folder: Path) -> None:
        zipped = io.BytesIO()
        zip_dir(str(folder), zipped)
        zipped.seek(0)
        self.snapshots.append(snapshot)
        # pybatfish takes a file as well as a path, and leaves its own file behind when the upload fails.
        work = partial(self.session.init_snapshot, zipped, name=snapshot)  # type: ignore[arg-type]
        self.within(f"uploading snapshot {snapshot!r}", work)

    def fork(
        self, base: str, snapshot: str, nodes: Sequence[str] = (), interfaces: Sequence[tuple[str, str]] = ()
    ) -> None:
        self.snapshots.append(snapshot)
        work = partial(
            self.session.fork_snapshot,
            base,
            name=snapshot,
            deactivate_nodes=list(nodes),
            deactivate_interfaces=[Interface(*interface) for interface in interfaces],
        )
        self.within(f"forking snapshot {snapshot!r} from {base!r}", work)

    def ask(self, question: str, snapshot: str, reference: str | None = None, **parameters: object) -> list[Row]:
        against = f" against {reference!r}" if reference else ""
        doing = f"asking {question} of snapshot {snapshot!r}{against}"
        template = getattr(self.session.q, question, None)
        if not isinstance(template, QuestionMeta):
            raise self.error(doing, "it has no such question", _VERSIONS)
        work = partial(_answer, template, snapshot, reference, _constraints(parameters))
        rows = self.within(doing, work).frame().to_dict(orient="records")  # type: ignore[no-untyped-call]
        return [_Row(_plain_row(row), partial(self.no_column, doing)) for row in rows]

    def within(self, doing: str, work: Callable[[], T]) -> T:
        """Do one piece of work in the time that one may take. Raises BatfishError."""
        try:
            return within(self.limit_s, work)
        except FORESEEN as error:
            why, what_to_do = _explain(error, self.limit_s, connecting=not self.version)
            raise self.error(doing, why, what_to_do) from error

    def error(self, doing: str, why: str, what_to_do: str) -> BatfishError:
        """Return the error that says what was being done where, why it failed and what to do."""
        hint = what_to_do.format(server=self.version, client=pybatfish.__version__)
        return BatfishError(f"Batfish at {self.address}: {doing}: {why}; {hint}")

    def no_column(self, doing: str, column: str) -> BatfishError:
        """Return the error for a column that an answer does not have."""
        return self.error(doing, f"the answer has no column {column!r}", _VERSIONS)

    def delete(self) -> str:
        """Delete the snapshots and the network; return what is left behind and why, or nothing."""
        limit = min(self.limit_s, DELETE_LIMIT_S)
        self.session.timeout = limit
        gone = [partial(self.session.delete_snapshot, snapshot) for snapshot in self.snapshots]
        try:
            within(limit, partial(_delete, [*gone, partial(self.session.delete_network, self.network)]))
        except FORESEEN as error:
            why, _ = _explain(error, limit, connecting=False)
            return f"the network {self.network} is left on Batfish at {self.address} and takes space: {why}"
        return ""


class _Row(Row):
    """A row whose missing columns are the server's fault: another version names them differently."""

    def __init__(self, values: Row, error: Callable[[str], BatfishError]) -> None:
        super().__init__(values)
        self.error = error

    def __missing__(self, column: str) -> NoReturn:
        raise self.error(column)


@contextmanager
def _retries(prefix: str) -> Iterator[None]:
    """Set our time limits on pybatfish's HTTP sessions with the server whose URLs begin like this.

    Its own is up to 204 s for a server that has gone away, and it swallows what a server says with status 500. Two
    tries after the first, 0 s and 0.2 s later, are enough for a connection that was closed between two questions.
    """
    adapter = HTTPAdapter(
        max_retries=Retry(2, status_forcelist=(), backoff_factor=0.1, respect_retry_after_header=False)
    )
    sessions = (_requests_session, _requests_session_fail_fast)
    for http in sessions:
        http.mount(prefix, adapter)
    try:
        yield
    finally:
        for http in sessions:
            http.adapters.pop(prefix, None)
        adapter.close()


@contextmanager
def _polling() -> Iterator[None]:
    """Replace the clock of pybatfish with ours."""
    names = vars(workhelper)
    before, names["time"] = names["time"], Clock()
    try:
        yield
    finally:
        names["time"] = before


def _proxies(host: str) -> dict[str, str] | None:
    """Return what keeps a proxy away from a server on this machine; for all others the environment decides."""
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = host.lower().rstrip(".").endswith("localhost")
    return {"no_proxy": host} if loopback else None


def _greet(session: Session) -> str:
    version = session.get_component_versions().get("Batfish")
    if not version:
        raise BatfishException("it names no version of Batfish")
    session.q.load()
    return str(version)


def _answer(template: Callable[..., object], snapshot: str, reference: str | None, parameters: Row) -> TableAnswer:
    answer = template(**parameters).answer(snapshot, reference)  # type: ignore[attr-defined]
    if not isinstance(answer, TableAnswer):
        memory = NO_MEMORY.search(str(answer))
        raise BatfishException(memory[0] if memory else "the answer is not a table")
    return answer


def _constraints(parameters: Row) -> Row:
    """Return the parameters with pybatfish's objects for the header and the start of flows."""
    rest = dict(parameters)
    if (addresses := rest.pop("dst_ips", None)) is not None:
        rest["headers"] = HeaderConstraints(dstIps=str(addresses))
    if (start := rest.pop("start", None)) is not None:
        rest["pathConstraints"] = PathConstraints(startLocation=str(start))
    return rest


def _plain_row(row: dict[str, object]) -> Row:
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


def _delete(steps: Sequence[Callable[[], None]]) -> None:
    for step in steps:
        try:
            step()
        except requests.HTTPError as error:
            # What does not exist: making it was what failed.
            if error.response is None or error.response.status_code != requests.codes.not_found:
                raise


def _explain(error: BaseException, limit_s: float, *, connecting: bool) -> tuple[str, str]:
    """Return why something foreseen happened and what to do."""
    chain = list(_chain(error))
    if any(NO_MEMORY.search(_said(link)) for link in chain):
        return "it ran out of memory", _MEMORY
    for cause in CAUSES:
        for link in chain:
            if isinstance(link, cause.kinds):
                why = cause.why.format(detail=_detail(link, chain), kind=type(link).__name__, limit=limit_s)
                if any(GIVEN_UP.match(_said(one)) for one in chain):
                    return why, f"often it lacks memory: {_MEMORY}; {_LOGS}"
                return why, cause.early if connecting else cause.late
    raise AssertionError(error)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and all that it was made of: requests and urllib3 keep causes in three places."""
    yield error
    for cause in (*error.args, getattr(error, "reason", None), error.__cause__):
        if isinstance(cause, BaseException):
            yield from _chain(cause)


def _said(link: BaseException) -> str:
    """Return all that an exception says, with the body of an answer."""
    body = link.response.text if isinstance(link, requests.HTTPError) and link.response is not None else ""
    return f"{link} {body}"


def _detail(link: BaseException, chain: Sequence[BaseException]) -> str:
    """Return the short reason in what a server or a library says."""
    if isinstance(link, requests.HTTPError) and link.response is not None:
        body = _line(link.response.text)
        words = f": {body}" if body and not body.startswith("<") else ""
        return f"HTTP {link.response.status_code}{words}"
    if isinstance(link, BatfishException):
        return _log_line(str(link))
    system = [cause.strerror for cause in chain if isinstance(cause, OSError) and cause.strerror]
    return system[-1].lower() if system else _line(str(link))


def _log_line(text: str) -> str:
    """Return what failed and the root of it: the last cause in the log of the work, or the log's last line."""
    given_up = GIVEN_UP.match(text)
    if given_up is not None:
        return f"the server gave the work up ({given_up[1]})"
    head, *log = [line.strip() for line in text.splitlines() if line.strip()] or ["Batfish does not say why"]
    words = [line.removeprefix("log: ") for line in log if not line.startswith(("work_item:", "at ", "... "))]
    causes = [line for line in words if line.startswith("Caused by: ") or "exception:" in line]
    reason = re.split(r"Caused by: |exception:", (causes or words or [""])[-1])[-1]
    reason = re.sub(r"^(?:[a-z]\w*\.)+(?=[A-Z])", "", reason.strip())
    return _line(f"{head}: {reason}" if reason else head)


def _line(text: str) -> str:
    """Return the first line that says something, printable and not too long."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    shown = "".join(letter if letter.isprintable() else "?" for letter in line)
    return shown if len(shown) <= CUT else f"{shown[:CUT]}..."
