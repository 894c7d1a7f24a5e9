"""Words that threads tell each other: what was written before a word is published is read after it is observed."""

import time
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from ailb_gen.sim.engine.jit import DISABLED
from ailb_gen.sim.engine.records import Ints

WORD = ir.IntType(64)
BYTES = 8


def _place(target: Any, builder: ir.IRBuilder, words: types.Array, array: ir.Value, at: ir.Value) -> ir.Value:  # noqa: ANN401
    first = target.make_array(words)(target, builder, array).data
    return builder.gep(first, [at])


def _publish(_: object, words: types.Array, _at: int, _value: int) -> tuple[object, Callable[..., object]]:
    """Return the types of `publish`, and what emits its store."""

    def emit(target: Any, builder: ir.IRBuilder, _: object, arguments: tuple[ir.Value, ...]) -> ir.Value:  # noqa: ANN401
        array, at, value = arguments
        builder.store_atomic(value, _place(target, builder, words, array, at), "release", BYTES)
        return target.get_dummy_value()

    return types.void(words, types.int64, types.int64), emit


def _observe(_: object, words: types.Array, _at: int) -> tuple[object, Callable[..., object]]:
    """Return the types of `observe`, and what emits its load."""

    def emit(target: Any, builder: ir.IRBuilder, _: object, arguments: tuple[ir.Value, ...]) -> ir.Value:  # noqa: ANN401
        array, at = arguments
        return builder.load_atomic(_place(target, builder, words, array, at), "acquire", BYTES)

    return types.int64(words, types.int64), emit


def _give_way(_: object) -> tuple[object, Callable[..., object]]:
    """Return the types of `give_way`, and what emits its call of sched_yield(2)."""

    def emit(_: object, builder: ir.IRBuilder, __: object, ___: object) -> ir.Value:
        kind = ir.FunctionType(ir.IntType(32), [])
        function = cgutils.get_or_insert_function(builder.module, kind, "sched_yield")  # type: ignore[no-untyped-call]
        return builder.call(function, [])

    return types.int32(), emit


def _store(words: Ints, at: int, value: int) -> None:
    words[at] = value


def _load(words: Ints, at: int) -> int:
    return int(words[at])


def _sleep() -> int:
    time.sleep(0)
    return 0


# Write a word, after all that was written before it.
publish: Callable[[Ints, int, int], None] = _store if DISABLED else intrinsic(_publish)  # type: ignore[assignment]
# Read a word, before all that is read after it.
observe: Callable[[Ints, int], int] = _load if DISABLED else intrinsic(_observe)  # type: ignore[assignment]
# Let another thread have the processor.
give_way: Callable[[], int] = _sleep if DISABLED else intrinsic(_give_way)  # type: ignore[assignment]
