"""What gnmic does with its file: it subscribes by pygnmi, and names values as gnmic's output for Prometheus does.

Names and labels: event messages and `prometheus` output of openconfig/gnmic (pkg/formatters, pkg/outputs): a name is
the path without keys, a label is an element with its key; tags of the target and of processors are labels, too; a value
that is no number is left out.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any

import yaml
from pygnmi.client import gNMIclient

from tests.emulator.gnmi.collector import PASSWORD, USER

KEY = re.compile(r"\[([^=]+)=([^]]*)\]")
OTHERS = re.compile(r"[^a-zA-Z0-9_]+")


@dataclass
class Gnmic:
    """Subscriptions of a file and the newest sample of every series: value and time in milliseconds.

    Intervals are `faster` than in the file. `answered` has a path without keys of every value that came, by target and
    subscription; `scraped` when Prometheus asked.
    """

    config: Mapping[str, Any]
    faster: float = 1.0
    scraped: list[float] = field(default_factory=list)
    samples: dict[str, tuple[float, int]] = field(default_factory=dict)
    answered: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    _ended: Event = field(default_factory=Event)
    _series: dict[tuple[str, str, str], tuple[str, str]] = field(default_factory=dict)

    def text(self) -> str:
        """Return the page that Prometheus scrapes."""
        self.scraped.append(time.time())
        return "".join(f"{name} {value} {at}\n" for name, (value, at) in list(self.samples.items()))

    @contextmanager
    def running(self, ports: Mapping[str, int], trusted: Path, password: str = PASSWORD) -> Iterator[None]:
        """Subscribe to all targets, each at a port of this machine."""
        with ExitStack() as stack:
            streams = []
            for name, target in self.config["targets"].items():
                place = "127.0.0.1", ports[name]
                client = stack.enter_context(
                    gNMIclient(place, username=USER, password=password, path_root=str(trusted))
                )
                for one in target["subscriptions"]:
                    streams.append((name, one, client.subscribe2(self._request(one))))
            threads = [Thread(target=self._collect, args=one) for one in streams]
            for thread in threads:
                thread.start()
            try:
                yield
            finally:
                self._ended.set()
                for thread in threads:
                    thread.join(30)

    def _request(self, name: str) -> dict[str, Any]:
        body = self.config["subscriptions"][name]
        interval = int(int(body["sample-interval"].removesuffix("s")) * 10**9 / self.faster)
        rows = [{"path": path, "mode": body["stream-mode"], "sample_interval": interval} for path in body["paths"]]
        return {"subscription": rows, "mode": body["mode"], "encoding": self.config["encoding"]}

    def _collect(self, target: str, subscription: str, stream: Any) -> None:
        came = self.answered.setdefault((target, subscription), set())
        while not self._ended.is_set():
            try:
                told = stream.get_update(timeout=1).get("update", {})
            except TimeoutError:
                continue
            at = told.get("timestamp", 0) // 10**6
            for update in told.get("update", ()):
                path = update["path"]
                key = target, subscription, path
                if key not in self._series:
                    self._series[key] = self._named(*key)
                    came.add(path)
                name, series = self._series[key]
                value = self._number(name, update.get("val"))
                if value is not None:
                    self.samples[series] = value, at

    def _named(self, target: str, subscription: str, path: str) -> tuple[str, str]:
        """Return the path without keys, and the series with its labels."""
        steps = [(one.partition("[")[0], KEY.findall(one)) for one in re.findall(r"(?:[^/\[]|\[[^]]*\])+", path)]
        name = "".join(f"/{step}" for step, _ in steps)
        tags = {f"{step}_{key}": value for step, keys in steps for key, value in keys}
        tags |= self.config["targets"][target]["event-tags"]
        tags |= {"subscription-name": subscription, "source": target}
        for body in self._processors("event-add-tag"):
            if any(re.search(pattern, value) for pattern in body["tags"] for value in tags.values()):
                tags |= {key: value for key, value in body["add"].items() if key not in tags}
        labels = ",".join(f'{OTHERS.sub("_", key)}="{value}"' for key, value in sorted(tags.items()))
        return name, f"{OTHERS.sub('_', name).lstrip('_')}{{{labels}}}"

    def _processors(self, kind: str) -> Iterator[Mapping[str, Any]]:
        for name in self.config["outputs"]["prometheus"]["event-processors"]:
            if kind in (body := self.config["processors"][name]):
                yield body[kind]

    def _number(self, name: str, value: Any) -> float | None:
        """Return a value as a number; words of states become theirs, others have none."""
        if isinstance(value, str):
            for body in self._processors("event-strings"):
                if any(re.search(pattern, name) for pattern in body["value-names"]):
                    for one in body["transforms"]:
                        value = value.replace(one["replace"]["old"], one["replace"]["new"])
            return float(value) if re.fullmatch(r"[0-9.]+", value) and value.count(".") <= 1 else None
        # pygnmi has no doubles, which light is.
        return None if value is None else float(value)


def gnmic_of(files: Mapping[str, bytes], faster: float) -> Gnmic:
    """Return gnmic with the file that `monitoring` wrote."""
    return Gnmic(yaml.safe_load(files["gnmic/gnmic.yaml"]), faster)
