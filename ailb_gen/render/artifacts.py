"""From the design to the tree of files: one file per switch, a root file system per server, and the fabric's own.

Servers that are configured alike share a root file system under `profiles/`, and `servers/NAME` is a symbolic
link to it: a change shows once in a diff, not once per server, and a large fabric stays small on disk.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor
from dataclasses import dataclass
from pathlib import Path
from stat import S_IFLNK
from time import process_time

from ailb_gen.design.model import Design, DesignServer, DesignSwitch, HostConfig
from ailb_gen.errors import JunosSyntaxError, TemplateError
from ailb_gen.host_program import host_program
from ailb_gen.junos import writer
from ailb_gen.junos.reader import read_curly
from ailb_gen.junos.tree import Node
from ailb_gen.layout import (
    ENVIRONMENT,
    HOST_FILE,
    HOST_PROGRAM,
    NETPLAN,
    QOS,
    QOS_UNIT,
    SCRIPT,
    SCRIPT_UNIT,
    SYSCTL,
    TABLE_NAMES,
    drop_in_file,
    profile_folder,
    server_folder,
    switch_file,
)
from ailb_gen.render import budget
from ailb_gen.render.alike import SharedTexts
from ailb_gen.render.environment import Templates


def check(text: str, device_name: str) -> Node:
    """Return the tree of the text of a device; raise TemplateError if it is not balanced."""
    try:
        return read_curly(text)
    except JunosSyntaxError as error:
        raise TemplateError(f"{device_name}:{error.line}:{error.column}: {error.reason}") from error


def to_set(text: str, device_name: str) -> str:
    """Write the curly text of a device as set lines; comments are left out.

    Raises TemplateError for unbalanced text, and for `delete:` and `replace:`: a rendered file says what is, not what
    to do about something that was before.
    """
    lines = writer.to_set(check(text, device_name), comments=False)
    for line in lines.splitlines():
        if line.startswith("delete "):
            raise TemplateError(f"{device_name}: {line}: a delete: or replace: tag has no set form; use --format curly")
    return lines


Tree = dict[str, "Artifact"]
# netplan warns about files that others can read.
PLAIN, PRIVATE, EXECUTABLE, LINK = 0o644, 0o600, 0o755, S_IFLNK
CHUNK = 16

# Template of a server's file -> its path on the server and its mode.
HOST_FILES = (
    ("host/netplan.yaml.j2", NETPLAN, PRIVATE),
    ("host/sysctl.conf.j2", SYSCTL, PLAIN),
    ("host/rt_tables.conf.j2", TABLE_NAMES, PLAIN),
    ("host/ailb-net.sh.j2", SCRIPT, EXECUTABLE),
    ("host/ailb-net.service.j2", SCRIPT_UNIT, PLAIN),
    ("host/nccl.env.j2", ENVIRONMENT, PLAIN),
    ("host/host.json.j2", HOST_FILE, PLAIN),
)
QOS_FILES = (
    ("host/ailb-qos.sh.j2", QOS, EXECUTABLE),
    ("host/ailb-qos.service.j2", QOS_UNIT, PLAIN),
)
NETWORKD_TEMPLATE = "host/networkd.conf.j2"


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file of the tree; with mode LINK a symbolic link whose target is `content`."""

    content: bytes
    mode: int = PLAIN


@dataclass(frozen=True, slots=True)
class RenderOptions:
    """Options of rendering: the format of switch files (`curly` or `set`), and the folder of the user's templates."""

    format: str = "curly"
    templates: Path | None = None


class Renderer:
    """Renders devices one by one; what devices share is rendered once."""

    __slots__ = ("design", "options", "profiles", "switch_text", "templates")

    def __init__(self, design: Design, options: RenderOptions) -> None:
        self.design, self.options = design, options
        self.templates = Templates(options.templates)
        self.profiles: set[str] = set()
        # Templates of a user may decide by any name or number.
        self.switch_text = self._switch_text if options.templates else SharedTexts(self._switch_text).text

    def _switch_text(self, device: DesignSwitch) -> str:
        values: dict[str, object] = {"design": self.design, "device": device, "settings": device.device_settings}
        return self.templates.render(f"junos/{device.role}.conf.j2", device.name, values)

    def switch(self, device: DesignSwitch) -> tuple[str, Artifact]:
        """Return path and file of a switch. Raises TemplateError."""
        text = self.switch_text(device)
        if self.options.format == "set":
            return switch_file(device.name, ".set"), Artifact(to_set(text, device.name).encode())
        if self.options.templates is not None:
            check(text, device.name)
        return switch_file(device.name), Artifact(text.encode())

    def _host_files(self, config: HostConfig, name: str) -> Iterator[tuple[str, Artifact]]:
        values = {"design": self.design, "config": config, "qos": config.qos}
        files = (*HOST_FILES, *QOS_FILES) if config.qos else HOST_FILES
        for template, path, mode in files:
            if path == ENVIRONMENT and not config.environment:
                continue
            yield path, Artifact(self.templates.render(template, name, values).encode(), mode)
        yield HOST_PROGRAM, Artifact(host_program(), EXECUTABLE)
        drop_in = Artifact(self.templates.render(NETWORKD_TEMPLATE, name, values).encode())
        for nic in config.nics:
            yield drop_in_file(nic.name), drop_in

    def server(self, server: DesignServer) -> list[tuple[str, Artifact]]:
        """Return the files of a server, those of its profile only the first time. Raises TemplateError."""
        config, folder = server.config, server_folder(server.name)
        if not config.profile:
            return [(f"{folder}/{path}", file) for path, file in self._host_files(config, server.name)]
        files = [(folder, Artifact(f"../{profile_folder(config.profile)}".encode(), LINK))]
        if config.profile not in self.profiles:
            self.profiles.add(config.profile)
            root = profile_folder(config.profile)
            files += [(f"{root}/{path}", file) for path, file in self._host_files(config, root)]
        return files

    def device(self, device: DesignSwitch | DesignServer) -> list[tuple[str, Artifact]]:
        """Return the files of any device. Raises TemplateError."""
        return [self.switch(device)] if isinstance(device, DesignSwitch) else self.server(device)

    def limited_device(self, device: DesignSwitch | DesignServer) -> list[tuple[str, Artifact]]:
        """Return the files of any device within the limits of `budget`, in a worker. Raises TemplateError."""
        try:
            with budget.limited_time():
                return self.device(device)
        except (MemoryError, budget.TooLongError) as error:
            budget.release()
            reason = budget.reason_of(error)
            raise TemplateError(f"{device.name}: parsing the output of the templates: {reason}") from None


_worker: Renderer | None = None


def start_worker(design: Design, options: RenderOptions) -> None:
    """Prepare a worker process; the design is sent once, not with every device."""
    global _worker  # noqa: PLW0603 - a process pool's initializer has no other place to keep its state
    _worker = Renderer(design, options)
    if options.templates is not None:
        budget.hold_memory()


def _devices(design: Design) -> tuple[DesignSwitch | DesignServer, ...]:
    return (*design.leaves, *design.spines, *design.servers)


def _work(numbers: list[int]) -> tuple[list[tuple[str, Artifact]], float]:
    """Return the files of devices, and what they took of processor time, in seconds."""
    if _worker is None:
        raise RuntimeError("start_worker must be the pool's initializer")
    devices, start = _devices(_worker.design), process_time()
    fill = _worker.device if _worker.options.templates is None else _worker.limited_device
    return [file for number in numbers for file in fill(devices[number])], process_time() - start


def render(
    design: Design,
    options: RenderOptions,
    selected: set[str] | None = None,
    progress: Callable[[int], None] = lambda count: None,
    executor: Executor | None = None,
) -> Tree:
    """Render all devices, or the selected names; `progress` is called with how many devices were finished.

    With an `executor`, whose workers must have run `start_worker`, devices are rendered there; only there the templates
    of a user have limits of memory and time. Raises TemplateError.
    """
    devices = _devices(design)
    numbers = [n for n, device in enumerate(devices) if selected is None or device.name in selected]
    tree: Tree = {}
    # Made here in any case: errors in templates come before a worker starts.
    renderer = Renderer(design, options)
    if executor is None:
        for number in numbers:
            tree.update(renderer.device(devices[number]))
            progress(1)
        return tree
    # What a worker keeps must fit into its memory: large files are sent one device at a time.
    size = CHUNK if options.templates is None else 1
    chunks = [numbers[start : start + size] for start in range(0, len(numbers), size)]
    total = budget.Total(options.templates, len(numbers))
    results = executor.map(_work, chunks)
    for chunk in chunks:
        try:
            files, seconds = next(results)
        except BrokenExecutor as error:
            if options.templates is None:
                raise
            raise budget.killed(options.templates, devices[chunk[0]].name) from error
        tree.update(files)
        total.add(sum(len(file.content) for _, file in files), seconds)
        progress(len(chunk))
    return tree
