"""The compiler: functions compiled by Numba and kept on disk, or run as they are with NUMBA_DISABLE_JIT=1.

What is kept belongs to one state of the compiled sources at one place: Numba itself would not notice a change in a
function that another file calls, and finds nothing that was compiled at another place.
"""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model

from ailb_gen.user_directories import cache_home, make_private

F = TypeVar("F", bound=Callable[..., object])
T = TypeVar("T")
KEPT_STATES = 8
# The engines, and the modules whose constants they compile.
SOURCES = ("engine/**/*.py", "fluid/**/*.py", "balancers.py", "congestion.py", "fabric.py", "outcome.py")
# Bytes of a cache line.
LINE = 64


def _sources_digest() -> str:
    digest = hashlib.sha256(bytes(Path(__file__)))
    sim = Path(__file__).parent.parent
    # Numbers and fields that are compiled come from the declarations, too.
    for path in sorted(path for pattern in SOURCES for path in sim.glob(pattern)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache() -> tuple[Path | None, str]:
    """Return the directory for compiled functions of these sources, or None and why nothing is kept.

    What is kept there is code: it is read only where nobody else can have put something. Those of older sources are
    removed but the last few. Raises UsageError.
    """
    base = cache_home() / "engine"
    own = base / f"{numba.__version__}-{_sources_digest()}"
    try:
        make_private(own)
        os.utime(own)
        states = sorted((path for path in base.iterdir() if path != own), key=lambda path: path.stat().st_mtime)
        for path in states[: 1 - KEPT_STATES]:
            shutil.rmtree(path, ignore_errors=True)
    except OSError as error:
        # Read-only, no home directory, or not this user's alone: Numba compiles for this process only.
        reason = f"{error.filename}: {error.strerror}" if error.strerror else str(error)
        return None, f"{reason}; another directory can be named in XDG_CACHE_HOME"
    return own, ""


DISABLED = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]
CACHE, NOT_KEPT = (None, "") if DISABLED else _cache()
if CACHE is not None:
    numba.config.CACHE_DIR = str(CACHE)  # type: ignore[attr-defined]


def is_compiled(function: str = "loop.advance") -> bool:
    """Return whether an entry of these sources (its module and name) was compiled before, and kept."""
    return DISABLED or (CACHE is not None and next(CACHE.rglob(f"{function}*.nbc"), None) is not None)


@contextmanager
def one_compiler() -> Iterator[None]:
    """Let one process of this machine compile; others wait and then read what it has kept."""
    if CACHE is None:
        yield
        return
    # Another version may have removed it.
    make_private(CACHE)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# Nothing is allocated in compiled functions, and other threads may run meanwhile. Counting references to the arrays of
# a call, as Numba does otherwise, costs ten times what the engine does.
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "_nrt": False}
_WITHIN: dict[str, Any] = {**_OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def entry(function: F) -> F:
    """Compile what Python calls, with all that it calls, and keep it; divisions by zero give infinity, as in C."""
    result: F = numba.njit(function, cache=CACHE is not None, **_OPTIONS)
    return result


def compiled(function: F) -> F:
    """Compile a function that only compiled functions call."""
    result: F = function if DISABLED else numba.njit(function, **_WITHIN)
    return result


def inlined(function: F) -> F:
    """Compile a function into those that call it: for what runs several times per event."""
    result: F = function if DISABLED else numba.njit(function, forceinline=True, **_WITHIN)
    return result


def spliced(function: F) -> F:
    """Put a function into the one that calls it before anything is compiled.

    For large functions with one caller: Numba optimizes every compiled function with all that it calls, so that each
    level of calls costs as much compiling as everything below it.
    """
    result: F = function if DISABLED else numba.njit(function, inline="always", **_WITHIN)
    return result


class _Reference(types.Type):
    """The type of a reference to a named tuple of arrays."""

    def __init__(self, arrays: types.NamedTuple) -> None:
        self.arrays = arrays
        # Not with the names of all fields: it is a part of the name of every function that takes one.
        super().__init__(name=f"Reference({arrays.instance_class.__name__})")

    @property
    def key(self) -> object:
        return self.arrays


@infer_getattr
class _Fields(AttributeTemplate):
    """The types of what a reference leads to."""

    key = _Reference

    def generic_resolve(self, reference: Any, name: str) -> Any:  # type: ignore[override]  # noqa: ANN401
        fields = reference.arrays.fields
        return reference.arrays[fields.index(name)] if name in fields else None


@lower_getattr_generic(_Reference)  # type: ignore[no-untyped-call,untyped-decorator]
def _field(target: Any, builder: ir.IRBuilder, reference: _Reference, value: ir.Value, name: str) -> ir.Value:  # noqa: ANN401
    """Emit what loads a field; arrays stay where they are, so that it may be loaded once for several uses."""
    whole = target.get_value_type(reference.arrays)
    at = reference.arrays.fields.index(name)
    return _loaded(builder, builder.bitcast(value, whole.as_pointer()), whole.elements[at], (at,))


def _loaded(builder: ir.IRBuilder, first: ir.Value, kind: ir.Type, path: tuple[int, ...]) -> ir.Value:
    if isinstance(kind, ir.LiteralStructType | ir.ArrayType):
        kinds = kind.elements if isinstance(kind, ir.LiteralStructType) else [kind.element] * kind.count
        result = ir.Constant(kind, ir.Undefined)
        for at, one in enumerate(kinds):
            result = builder.insert_value(result, _loaded(builder, first, one, (*path, at)), at)
        return result
    place = cgutils.gep_inbounds(builder, first, 0, *path)  # type: ignore[no-untyped-call]
    result = builder.load(place)
    result.set_metadata("invariant.load", builder.module.add_metadata([]))
    return result


register_model(_Reference)(models.OpaqueModel)


def _refer(_: object, arrays: types.NamedTuple) -> tuple[object, Callable[..., object]]:
    """Return the types of `reference`, and what emits it: the tuple on the stack of its function."""

    def emit(target: Any, builder: ir.IRBuilder, _: object, arguments: Sequence[ir.Value]) -> ir.Value:  # noqa: ANN401
        place = cgutils.alloca_once_value(builder, arguments[0])  # type: ignore[no-untyped-call]
        # An instruction of nothing: what it returns may be anywhere, so that no load moves before the store.
        kind = ir.FunctionType(cgutils.voidptr_t, [cgutils.voidptr_t])
        address = builder.bitcast(place, cgutils.voidptr_t)
        return builder.asm(kind, "", "=r,0,~{memory}", [address], side_effect=True)

    return _Reference(arrays)(arrays), emit


def _itself(arrays: T) -> T:
    """Take the place of `reference` in plain Python."""
    return arrays


# Have a named tuple of arrays passed on by reference: by value, all words of all arrays (some 260) would be copied at
# every call, which took half of the time.
reference: Callable[[T], T] = _itself if DISABLED else intrinsic(_refer)  # type: ignore[assignment]


def _prefetch(_: object, records: types.Array, _number: object, _line: object) -> tuple[object, Callable[..., object]]:
    """Return the types of `prefetch`, and what emits its instruction."""

    def emit(target: Any, builder: ir.IRBuilder, _: object, arguments: Sequence[ir.Value]) -> ir.Value:  # noqa: ANN401
        array, number, line = arguments
        first = target.make_array(records)(target, builder, array).data
        record = target.get_abi_sizeof(target.get_data_type(records.dtype))
        bytes_, lines = (ir.Constant(number.type, count) for count in (record, LINE))
        place = builder.add(builder.mul(number, bytes_), builder.mul(line, lines))
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, word, word, word])
        instruction = builder.module.declare_intrinsic("llvm.prefetch", [cgutils.voidptr_t], kind)
        address = cgutils.pointer_add(builder, first, place, cgutils.voidptr_t)  # type: ignore[no-untyped-call]
        # It will be written to, is to be kept in all caches, and is no code.
        builder.call(instruction, [address, word(1), word(3), word(1)])
        return target.get_dummy_value()

    return types.void(records, types.intp, types.intp), emit


def _nothing(records: npt.NDArray[np.void], number: int, line: int) -> None:
    """Take the place of `prefetch` in plain Python."""


# Have a cache line of a record fetched that is used soon; records that there are not do no harm.
Prefetch = Callable[[npt.NDArray[np.void], int, int], None]
prefetch: Prefetch = _nothing if DISABLED else intrinsic(_prefetch)  # type: ignore[assignment]
