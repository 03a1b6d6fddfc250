"""Running kernels by the engine, by numpy, or by another build of the engine; and how far numbers are apart."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from acl_emu import engine as native
from acl_emu.core import soc
from acl_emu.engine import bindings as engine
from acl_emu.engine import functions
from acl_emu.runtime import plans
from tests.operators.accuracy import FLOAT, spacing

Array = npt.NDArray[Any]

BF16 = np.dtype(ml_dtypes.bfloat16)
ODD = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-45, -1e-45, 1e-39, -3e-39, 1.1754944e-38, 3.4e38, -3.4e38, np.inf, -np.inf, np.nan)


@contextmanager
def engine_is(entries: engine.Entries | None) -> Iterator[None]:
    """Whatever is planned runs on this engine; with None, on numpy."""

    def forget() -> None:
        plans.forget()
        native.programs.clear()
        native.nest_for.cache_clear()
        functions.function.cache_clear()

    with pytest.MonkeyPatch.context() as patch:
        for module in (native, engine, functions):
            patch.setattr(module, "library", lambda: entries)
        forget()
        try:
            yield
        finally:
            forget()


@contextmanager
def threads_are(count: int) -> Iterator[None]:
    """Nests that are made now run on so many threads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(soc, "threads", lambda: count)
        native.nest_for.cache_clear()
        yield
    native.nest_for.cache_clear()


def without_fused_steps() -> engine.Entries:
    """The engine as it is where nothing was fused."""
    entries = engine.library()
    assert entries is not None
    single = {name: number for name, number in entries.tables.steps.items() if "." in name}
    return entries._replace(tables=entries.tables._replace(steps=single))


def nest_of(kernel: Callable[..., Any], inputs: Sequence[Array], outputs: Sequence[Array], **options: Any) -> native.Nest | None:
    """The nest that native.apply runs."""
    dtype = np.dtype(options.pop("dtype", np.float32))
    layouts = tuple(map(native.layout_of, inputs)), tuple(map(native.layout_of, outputs))
    return native.nest_for(kernel, *layouts, dtype, native.identified(options))


def run(kernel: Callable[..., Any], inputs: Sequence[Array], *outputs: Array, **options: Any) -> Array:
    """The first output, computed by the engine: numpy may not step in."""
    nest = nest_of(kernel, inputs, outputs, **options)
    assert nest is not None, "the engine has no way to run the kernel"
    assert nest.run([array.ctypes.data for array in (*inputs, *outputs)]), "the engine refused the operands"
    return outputs[0]


def same_bits(first: Array, second: Array, *, signs_of_zero: bool = True) -> Array:
    """Which numbers are the same; NaN is NaN."""
    if first.dtype.kind == "c":  # part by part
        parts = np.dtype(f"f{first.dtype.itemsize // 2}")
        first, second = (np.ascontiguousarray(one).view(parts).reshape(*one.shape, 2) for one in (first, second))
        return same_bits(first, second, signs_of_zero=signs_of_zero).all(axis=-1)
    words = f"u{first.dtype.itemsize}"
    with np.errstate(all="ignore"):
        same = np.ascontiguousarray(first).view(words) == np.ascontiguousarray(second).view(words) if signs_of_zero else first == second
        return same | ((first != first) & (second != second))


def assert_same(first: Array, second: Array, *, signs_of_zero: bool = True) -> None:
    """The same numbers, bit for bit; NaN is NaN."""
    assert first.dtype == second.dtype
    assert first.shape == second.shape
    wrong = np.argwhere(~same_bits(first, second, signs_of_zero=signs_of_zero))
    assert not wrong.size, f"{len(wrong)} of {first.size}: {first[tuple(wrong[0])]!r}, not {second[tuple(wrong[0])]!r}, at {wrong[0]}"


def ulps(actual: Array, exact: Array) -> float:
    """The largest distance of float32 numbers from float64 ones; numbers that are not finite must be the same."""
    with np.errstate(all="ignore"):
        finite = np.isfinite(exact.astype(np.float32))
        assert_same(actual[~finite], exact[~finite].astype(np.float32))
        assert np.isfinite(actual[finite]).all()
        distance = np.abs(actual[finite].astype(np.float64) - exact[finite]) / spacing(exact[finite], FLOAT)
    return float(distance.max(initial=0))


def bit_patterns(count: int, seed: int) -> Array:
    """float32 numbers of every magnitude, odd ones among them."""
    drawn = np.random.default_rng(seed).integers(0, 1 << 32, count, dtype=np.uint32).view(np.float32)
    drawn[: len(ODD)] = ODD
    return drawn


def memory_before_the_end(count: int, dtype: np.dtype[Any]) -> Array:
    """So many numbers, the last of them in the last place before memory that nobody may touch."""
    page, extent = mmap.PAGESIZE, count * dtype.itemsize
    memory = np.frombuffer(mmap.mmap(-1, -(-extent // page) * page + page), np.uint8)
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(memory.ctypes.data + memory.size - page), page, 0) == 0
    return memory[memory.size - page - extent : -page].view(dtype)


def at_odd_address(array: Array) -> Array:
    """A copy whose address is no multiple of the size of its elements."""
    room = np.empty(array.nbytes + 65, np.uint8)
    start = -room.ctypes.data % 64 + 1
    copy = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy
