"""The Batfish service through pybatfish: networks, snapshots, questions; its failures in words.

Importing this module raises MissingExtraError where pybatfish is not installed.
"""

from __future__ import annotations

import io
import ipaddress
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

from ailb_gen.batfish.answers import Answer, Batfish, Row
from ailb_gen.batfish.leftovers import OURS, RunNetwork, began_at, network_name
from ailb_gen.errors import BatfishError
from ailb_gen.optional import without_extra

try:
    import pybatfish
    import requests
    from pybatfish.client import restv2helper
    from pybatfish.client.restv2helper import _requests_session, _requests_session_fail_fast
    from pybatfish.client.session import Session
    from pybatfish.datamodel import Interface
    from pybatfish.datamodel.answer import TableAnswer
    from pybatfish.exception import BatfishException
    from pybatfish.question.question import QuestionMeta
    from pybatfish.util import zip_dir
    from requests.adapters import HTTPAdapter
    from urllib3 import Retry

    from ailb_gen.batfish.causes import FORESEEN, VERSIONS, explain
    from ailb_gen.batfish.work import (
        AnsweredRow,
        SnapshotQuestion,
        Work,
        plain_row,
        poll_delay_s,
        send_snapshot,
        within,
    )
except ImportError as error:
    why = "pybatfish is not installed" if error.name == "pybatfish" else f"pybatfish cannot be used ({error})"
    raise without_extra("--batfish", why, "batfish") from error

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
            service.within("creating a network", lambda: service.session.set_network(service.network))
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
def visit(host: str, port: int, timeout_s: float) -> Iterator[BatfishService]:
    """Open a Batfish service without a network of one's own. Raises BatfishError."""
    name = f"[{host}]" if ":" in host else host
    session = Session(name, port, load_questions=False, timeout=timeout_s, proxies=_proxies(host))
    with _retries(f"http://{name}:{port}/"):
        service = BatfishService(f"{name}:{port}", timeout_s, session)
        service.greet()
        yield service


@dataclass(slots=True)
class BatfishService:
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
    waiting: list[Work] = field(default_factory=list)

    def greet(self) -> None:
        """Learn the version and the questions. Raises BatfishError."""
        self.version = self.within("connecting", partial(_greet, self.session))
        if not self.session.q.list():
            raise self.error("connecting", "it has no questions known to pybatfish", VERSIONS)

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
        self.begin(Work(doing, snapshot, partial(send_snapshot, self.session, snapshot, send)))

    def ask(self, question: str, snapshot: str, reference: str | None = None, **parameters: object) -> Answer:
        """Ask; see Batfish."""
        against = f" against {reference!r}" if reference else ""
        doing = f"asking {question} of snapshot {snapshot!r}{against}"
        template = getattr(self.session.q, question, None)
        work = Work(doing, snapshot, str)
        if isinstance(template, QuestionMeta):
            begun = SnapshotQuestion(self.session, template, snapshot, reference, parameters)
            work.send, work.collect = begun.send, begun.collect
        else:
            work.trouble = self.error(doing, "it has no such question", VERSIONS)
        self.begin(work)

        def rows() -> list[Row]:
            self.settle(work)
            records = cast("TableAnswer", work.result).frame().to_dict(orient="records")
            if not records and question in NEVER_EMPTY:
                raise self.error(doing, "the answer is empty", VERSIONS)
            return [AnsweredRow(plain_row(record), partial(self.no_column, doing)) for record in records]

        return rows

    def begin(self, work: Work) -> None:
        """Begin a piece of work. If that fails it is raised in its turn, and nothing more is begun."""
        broken = any(other.trouble for other in self.waiting)
        self.waiting.append(work)
        if work.trouble is None and not broken:
            try:
                work.id = within(self.limit_s, work.send)
            except FORESEEN as error:
                work.trouble = self.explained(work.doing, error)

    def settle(self, work: Work | None = None) -> None:
        """Wait for a piece of work and all that were begun before it, or for all there are. Raises BatfishError."""
        while self.waiting and (work is None or work in self.waiting):
            first = self.waiting.pop(0)
            if first.trouble is not None:
                raise first.trouble
            try:
                self.finish(first)
                first.result = within(self.limit_s, first.collect)
            except FORESEEN as error:
                raise self.explained(first.doing, error) from error

    def finish(self, work: Work) -> None:
        """Wait until a piece of work has ended well. Raises the exceptions that FORESEEN names.

        The time that one may take begins again when another one has ended: they are done one after the other.
        """
        began = since = time.monotonic()
        while not self.poll(work):
            now = time.monotonic()
            if now - since >= self.limit_s:
                others = [self.poll(other) for other in self.waiting if other.id and other.ended is None]
                if not any(others):
                    raise TimeoutError
                since = now
            time.sleep(min(poll_delay_s(now - began), self.limit_s))
        within(self.limit_s, partial(work.check_end, self.session))

    def poll(self, work: Work) -> bool:
        """Return whether a piece of work has ended. Raises the exceptions that FORESEEN names."""
        return within(self.limit_s, partial(work.poll, self.session))

    def within(self, doing: str, work: Callable[[], T]) -> T:
        """Do one piece of work in the time that one may take. Raises BatfishError."""
        try:
            return within(self.limit_s, work)
        except FORESEEN as error:
            raise self.explained(doing, error) from error

    def explained(self, doing: str, error: BaseException) -> BatfishError:
        """Return the error for an exception that FORESEEN names, raised by some work."""
        explained = self.error(doing, *explain(error, self.limit_s, connecting=not self.version))
        explained.__cause__ = error
        return explained

    def error(self, doing: str, why: str, remedy: str) -> BatfishError:
        """Return the error that names the work, the service, the reason and the remedy."""
        hint = remedy.format(server=self.version, client=pybatfish.__version__)
        return BatfishError(f"Batfish at {self.address}: {doing}: {why}; {hint}")

    def no_column(self, doing: str, column: str) -> BatfishError:
        """Return the error for a column that an answer does not have."""
        return self.error(doing, f"the answer has no column {column!r}", VERSIONS)

    def run_networks(self) -> list[RunNetwork]:
        """Return the networks of runs, also of other programs of this kind, by name. Raises BatfishError."""
        names = self.within("listing networks", self.session.list_networks)
        ours = [name for name in sorted(names) if OURS.fullmatch(name)]
        networks = (self.within(f"reading network {name}", partial(_run_network, self.session, name)) for name in ours)
        return [network for network in networks if network is not None]

    def delete_network(self, name: str) -> str:
        """Delete a network of another run; return why it is left, or nothing."""
        try:
            within(self.limit_s, partial(_delete, [partial(self.session.delete_network, name)]))
        except FORESEEN as error:
            return explain(error, self.limit_s, connecting=False)[0]
        return ""

    def delete(self) -> str:
        """Delete the snapshots and the network; return which network is left behind and why, or nothing."""
        limit = min(self.limit_s, DELETE_LIMIT_S)
        self.session.timeout = limit
        gone = [partial(self.session.delete_snapshot, snapshot) for snapshot in self.snapshots]
        try:
            within(limit, partial(_delete, [*gone, partial(self.session.delete_network, self.network)]))
        except FORESEEN as error:
            why, _ = explain(error, limit, connecting=False)
            return f"the network {self.network} remains on Batfish at {self.address}, not deleted: {why}"
        return ""


@contextmanager
def _retries(prefix: str) -> Iterator[None]:
    """Set our time limits on pybatfish's HTTP sessions with the server whose URLs begin like this.

    Its own is up to 204 s for a server that has gone away, and it swallows the text of an answer with status 500. Two
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


def _proxies(host: str) -> dict[str, str] | None:
    """Return the setting by which a server on this machine has no proxy; for others the environment decides."""
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = host.lower().rstrip(".").endswith("localhost")
    return {"no_proxy": host} if loopback else None


def _greet(session: Session) -> str:
    version = session.get_component_versions().get("Batfish")
    if not version:
        raise BatfishException("it reports no version of Batfish")
    session.q.load()
    return str(version)


def _run_network(session: Session, name: str) -> RunNetwork | None:
    """Return the state of a network, or None if it is gone by now."""
    # Not `set_network`, which makes a network that is not there.
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
            # It does not exist: making it failed.
            if error.response is None or error.response.status_code != requests.codes.not_found:
                raise
