"""Convolutions as matrix products: one for each place in the kernel, on images laid out so that its window is a plain slice.

An image is copied, with its padding, into sheets: one for each residue of a position modulo the stride. In its sheet the neighbours of a
window's next place follow each other, so the elements that one place of the kernel meets are a slice of the flat sheet. Slices cross the
ends of rows: what is computed there belongs to no window and is dropped, or was zero before. Images follow each other in a sheet, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product as combinations
from typing import Any, NamedTuple

import numpy as np

from acl_emu.core.constants import ACL_FORMAT_FRACTAL_Z, ACL_FORMAT_NCHW
from acl_emu.core.dtypes import HIFLOAT8, DType
from acl_emu.engine import apply
from acl_emu.engine.casting import cast
from acl_emu.engine.matmul import Taken, matmul
from acl_emu.spec import Array, Operand, Plan, direct, mapped
from aclnnop.conversion.private_formats import from_blocks, storage_shape
from aclnnop.conversion.trans_convolution_weight import COLUMNS as BLOCK_CHANNELS
from aclnnop.math.narrow import decoded, encoded

AXES = 3
"""All images have depth, height and width here; those that lack some have length 1 there."""
_SHEET = 1 << 18
"""Numbers that images are put together to: what a second-level cache holds."""
_FEW_CHANNELS = 16
"""With fewer, a product for each place is not worth it: the places are put together to columns."""
_COLUMNS = 1 << 18
"""Numbers of these columns that are worked on at once."""
_FEW_RESULTS = 4
"""Of a channel that is convolved on its own: up to so many its products are summed element by element."""
_PLACES = 9
"""Places of the kernel whose products are summed at once, element by element."""

Three = tuple[int, int, int]


class Tap(NamedTuple):
    """A place in the kernel: the sheet that it meets, and how far from the window's place in it."""

    sheet: int
    shift: int


class Window(NamedTuple):
    """How a kernel moves over images."""

    kernel: Three
    stride: Three
    dilation: Three
    before: Three
    after: Three
    groups: int

    @property
    def taps(self) -> int:
        """Places in the kernel."""
        return math.prod(self.kernel)

    @property
    def sheets(self) -> int:
        """Residues of positions."""
        return math.prod(self.stride)

    def places(self, image: Sequence[int]) -> Three:
        """How many places the window has along each axis of an image."""
        return three(
            (image[i] + self.before[i] + self.after[i] - self.dilation[i] * (self.kernel[i] - 1) - 1) // self.stride[i] + 1
            for i in range(AXES)
        )

    def grid(self, image: Sequence[int]) -> Three:
        """The lengths of a sheet."""
        return three(-(-(image[i] + self.before[i] + self.after[i]) // self.stride[i]) for i in range(AXES))

    def each_tap(self, grid: Three) -> Iterator[Tap]:
        """The places in the kernel, in order."""
        for place in combinations(*map(range, self.kernel)):
            steps = [divmod(self.dilation[i] * place[i], self.stride[i]) for i in range(AXES)]
            (d, h, w), (a, b, c) = zip(*steps, strict=True)
            yield Tap((a * self.stride[1] + b) * self.stride[2] + c, (d * grid[1] + h) * grid[2] + w)

    def each_sheet(self, image: Sequence[int]) -> Iterator[tuple[tuple[slice, ...], tuple[slice, ...]]]:
        """Where in a sheet the elements of an image are, and which elements these are."""
        for residues in combinations(*map(range, self.stride)):
            inside, outside = [], []
            for length, stride, before, residue in zip(image, self.stride, self.before, residues, strict=True):
                first = max(0, -((residue - before) // stride))
                start = first * stride + residue - before
                count = max(0, -((start - length) // stride))
                inside.append(slice(first, first + count))
                outside.append(slice(start, start + count * stride, stride))
            yield tuple(inside), tuple(outside)


def three(lengths: Iterator[int] | Sequence[int]) -> Three:
    """As a tuple of a known length."""
    d, h, w = lengths
    return d, h, w


def lifted(array: Array) -> Array:
    """Images with all axes."""
    return np.expand_dims(array, tuple(range(2, AXES + 4 - array.ndim)))


def part_of(array: Array, *index: Any) -> Array:
    """Some of its elements, as a view."""
    chosen: Array = array[index]
    return chosen


def filled(shape: Sequence[int]) -> tuple[int, ...]:
    """The lengths of the axes of images, all of them."""
    return (*[1] * (AXES + 2 - len(shape)), *shape[2:])


class Sheets(NamedTuple):
    """The scratch of a convolution: all images of a block."""

    images: int
    """That are worked on at once."""
    grid: Three
    small: int
    """Channels of a group of images, and of one of results."""
    large: int
    columns: int
    """That are put together at once; 0 where each place of the kernel has its own product."""

    @property
    def volume(self) -> int:
        """Of one image in a sheet."""
        return math.prod(self.grid)


def sheets_of(window: Window, image: Operand, result: Operand, *, together: bool = True) -> Sheets:
    """What a convolution of ``image`` to ``result``, or the way back, needs; ``together``: whether columns may be put together."""
    grid = window.grid(filled(image.shape))
    channels, others = image.shape[1] // window.groups, result.shape[1] // window.groups
    volume = math.prod(grid)
    numbers = volume * max(window.sheets * image.shape[1], result.shape[1], 1)
    images = max(1, min(image.shape[0], _SHEET // numbers))
    few = together and channels < _FEW_CHANNELS and window.taps > 1
    return Sheets(images, grid, channels, others, max(1, _COLUMNS // max(1, window.taps * image.shape[1])) if few else 0)


def scratch_of(window: Window, sheets: Sheets) -> dict[str, tuple[tuple[int, ...], Any]]:
    """Images in sheets, results row by row, and the kernel place by place."""
    groups, numbers = window.groups, sheets.images * sheets.volume
    scratch: dict[str, tuple[tuple[int, ...], Any]] = {
        "sheet": ((window.sheets, groups, sheets.small, numbers), np.float32),
        "rows": ((groups, sheets.large, numbers), np.float32),
        "taps": ((window.taps, groups, sheets.large, sheets.small), np.float32),
    }
    if sheets.columns:
        scratch["taps"] = ((groups, sheets.large, sheets.small * window.taps), np.float32)
        scratch["columns"] = ((groups, sheets.small, window.taps, min(sheets.columns, numbers)), np.float32)
    return scratch


def correlation(x: Operand, weight: Operand, bias: Operand | None, out: Operand, window: Window, taken: Taken) -> Plan:
    """``out``: the sums of the products of ``weight`` with the windows of ``x``, plus ``bias`` of each channel."""
    alone = x.shape[1] == window.groups > 1 and out.shape[1] <= _FEW_RESULTS * window.groups and taken is Taken.UNCHANGED
    return planned(correlate, (x, weight, bias), out, window, sheets_of(window, x, out, together=not alone), taken, alone=alone)


def correlation_in_blocks(x: Operand, weight: Operand, bias: Operand | None, out: Operand, window: Window, taken: Taken) -> Plan:
    """``correlation`` with a kernel in FRACTAL_Z."""
    memory = weight.in_view(storage_shape(weight.shape, ACL_FORMAT_NCHW, ACL_FORMAT_FRACTAL_Z, BLOCK_CHANNELS))
    sheets = sheets_of(window, x, out)
    return planned(correlate_in_blocks, (x, memory, bias), out, window, sheets, taken, shape=weight.shape)


def spreading(x: Operand, weight: Operand, bias: Operand | None, out: Operand, window: Window, taken: Taken) -> Plan:
    """The way back: ``out`` gets the products of ``weight`` with the elements of ``x`` where the windows of ``out`` are."""
    return planned(spread, (x, weight, bias), out, window, sheets_of(window, out, x, together=False), taken)


def weight_gradient(x: Operand, gradient: Operand, out: Operand, window: Window, taken: Taken) -> Plan:
    """``out``: for every place in the kernel, the sums of the products of ``gradient`` with what the place meets in ``x``."""
    return planned(collect, (x, gradient), out, window, sheets_of(window, x, gradient), taken)


def bias_gradient(gradient: Operand, out: Operand) -> Plan:
    """``out``: the sum of each channel."""
    axes = (0, *range(2, gradient.rank))
    return mapped(sum_of_channels, reads=(gradient,), writes=(out,), dtype=out.dtype, axes=axes)


def sum_of_channels(values: Array, *, axes: tuple[int, ...]) -> Any:
    """In the widest type."""
    return values.sum(axis=axes, dtype=np.float64)


def planned(kernel: Any, reads: Sequence[Operand | None], out: Operand, window: Window, sheets: Sheets, taken: Taken, **more: Any) -> Plan:
    """The plan of a kernel here; all of them have the same scratch."""
    types = tuple(operand.dtype for operand in (*reads, out) if operand is not None)
    return direct(
        kernel,
        reads=reads,
        writes=(out,),
        scratch=scratch_of(window, sheets),
        window=window,
        sheets=sheets,
        taken=taken,
        types=types,
        **more,
    )


def numbers(stored: Array, dtype: DType) -> Array:
    """Elements as numbers that the engine can read."""
    return stored if dtype.bits >= 16 else decoded(stored, dtype, stored.shape).astype(np.float32)


def fill(sheet: Array, images: Array, window: Window, sheets: Sheets) -> None:
    """Images into their sheets; what is padding stays as it is."""
    count, channels = images.shape[:2]
    grids = sheet.reshape(window.sheets, channels, sheets.images, *sheets.grid)
    for place, (inside, outside) in enumerate(window.each_sheet(images.shape[2:])):
        target = part_of(grids, place, slice(None), slice(count), *inside)
        if target.size:
            cast(part_of(images, slice(None), slice(None), *outside).swapaxes(0, 1), target)


def fill_rows(rows: Array, results: Array, sheets: Sheets) -> Array:
    """Results, in the places of their windows, into rows; zero elsewhere stays as it is."""
    count, channels, *places = results.shape
    cast(results.swapaxes(0, 1), results_in(rows, channels, count, places, sheets))
    return rows


def results_in(rows: Array, channels: int, count: int, places: Sequence[int], sheets: Sheets) -> Array:
    """The results of some images among the rows of a block."""
    grids = rows.reshape(channels, sheets.images, *sheets.grid)
    return part_of(grids, slice(None), slice(count), *map(slice, places))


def reach(count: int, places: Sequence[int], sheets: Sheets) -> int:
    """From the first place of a window in a block to behind the last."""
    d, h, w = places
    return (count - 1) * sheets.volume + ((d - 1) * sheets.grid[1] + h - 1) * sheets.grid[2] + w


def place_by_place(weight: Array, taps: Array) -> None:
    """The kernel as products take it: with its places in front, or window by window."""
    by_window = taps.ndim < 4
    kernel = weight.reshape(taps.shape if by_window else (*taps.shape[1:], -1))
    cast(kernel if by_window else kernel.transpose(3, 0, 1, 2), taps)


def store(values: Array, bias: Array | None, out: Array, dtype: DType) -> None:
    """Sums as they are kept, with what is added to each channel."""
    added = np.zeros(1, np.float32) if bias is None else bias.reshape(-1, *[1] * AXES)
    if dtype is HIFLOAT8:
        out[...] = encoded(values + added.astype(np.float32), dtype)
    else:
        apply(plus, (values, added), (out,))


def plus(values: Array, added: Array) -> Array:
    """The sum."""
    return values + added


def blocks(total: int, images: int) -> Iterator[slice]:
    """So many images at a time."""
    return (slice(first, min(first + images, total)) for first in range(0, total, images))


def chunks(length: int, columns: Array) -> Iterator[slice]:
    """So many columns at a time."""
    return (slice(first, min(first + columns.shape[-1], length)) for first in range(0, length, columns.shape[-1]))


def put_together(sheet: Array, columns: Array, part: slice, window: Window, sheets: Sheets) -> Array:
    """What all places of the kernel meet, as the columns of one matrix for each group."""
    width = part.stop - part.start
    for number, tap in enumerate(window.each_tap(sheets.grid)):
        columns[:, :, number, :width] = sheet[tap.sheet][..., part.start + tap.shift : part.stop + tap.shift]
    return columns.reshape(columns.shape[0], -1, columns.shape[-1])[..., :width]


def correlate(
    x: Array,
    weight: Array,
    bias: Array | None,
    out: Array,
    *,
    window: Window,
    sheets: Sheets,
    taken: Taken,
    types: tuple[DType, ...],
    sheet: Array,
    rows: Array,
    taps: Array,
    columns: Array | None = None,
    alone: bool = False,
) -> None:
    """Block by block: the sums over all places of the kernel; ``alone``: every channel has a kernel of its own."""
    images, results = lifted(numbers(x, types[0])), lifted(out)
    place_by_place(numbers(weight, types[1]), taps)
    places = results.shape[2:]
    sheet[...] = 0
    for block in blocks(len(images), sheets.images):
        count = block.stop - block.start
        fill(sheet, images[block], window, sheets)
        length = reach(count, places, sheets)
        if alone:
            add_up(sheet, taps, rows[..., :length], window, sheets)
        elif columns is not None:
            for part in chunks(length, columns):
                matmul(taps, put_together(sheet, columns, part, window, sheets), rows[..., part], taken=taken)
        else:
            for number, (place, shift) in enumerate(window.each_tap(sheets.grid)):
                matmul(taps[number], sheet[place][..., shift : shift + length], rows[..., :length], add=number > 0, taken=taken)
        store(results_in(rows, results.shape[1], count, places, sheets).swapaxes(0, 1), bias, results[block], types[-1])


def add_up(sheet: Array, taps: Array, rows: Array, window: Window, sheets: Sheets) -> None:
    """The sums of channels that are convolved on their own: no matrix has more than one column."""
    met = [sheet[place][..., shift : shift + rows.shape[-1]] for place, shift in window.each_tap(sheets.grid)]
    for first in range(0, len(met), _PLACES):
        some = slice(first, first + _PLACES)
        apply(summed, (*met[some], *taps[some], *([rows] if first else [])), (rows,), places=len(met[some]))


def summed(*arrays: Array, places: int) -> Any:
    """What places of the kernel meet, times the kernel there, one after the other; added to what is there already."""
    products = [met * factor for met, factor in zip(arrays[:places], arrays[places : 2 * places], strict=True)]
    return sum(products[1:], products[0]) if len(arrays) == 2 * places else sum(products, arrays[-1])


def correlate_in_blocks(x: Array, weight: Array, bias: Array | None, out: Array, *, shape: Sequence[int], **settings: Any) -> None:
    """The same with a kernel out of its blocks."""
    kernel = from_blocks(weight, shape, ACL_FORMAT_NCHW, ACL_FORMAT_FRACTAL_Z, BLOCK_CHANNELS)
    correlate(x, kernel, bias, out, **settings)


def spread(
    x: Array,
    weight: Array,
    bias: Array | None,
    out: Array,
    *,
    window: Window,
    sheets: Sheets,
    taken: Taken,
    types: tuple[DType, ...],
    sheet: Array,
    rows: Array,
    taps: Array,
) -> None:
    """Block by block: every place of the kernel adds its products to what it meets."""
    results, images = lifted(numbers(x, types[0])), lifted(out)
    place_by_place(numbers(weight, types[1]), taps)
    rows[...] = 0
    for block in blocks(len(images), sheets.images):
        count = block.stop - block.start
        length = reach(count, results.shape[2:], sheets)
        fill_rows(rows, results[block], sheets)
        sheet[...] = 0
        for number, (place, shift) in enumerate(window.each_tap(sheets.grid)):
            target = sheet[place][..., shift : shift + length]
            matmul(taps[number].swapaxes(-1, -2), rows[..., :length], target, add=True, taken=taken)
        grids = sheet.reshape(window.sheets, images.shape[1], sheets.images, *sheets.grid)
        for place, (inside, outside) in enumerate(window.each_sheet(images.shape[2:])):
            target = part_of(images, block, slice(None), *outside)
            if target.size:
                store(part_of(grids, place, slice(None), slice(count), *inside).swapaxes(0, 1), bias, target, types[-1])


def collect(
    x: Array,
    gradient: Array,
    out: Array,
    *,
    window: Window,
    sheets: Sheets,
    taken: Taken,
    types: tuple[DType, ...],
    sheet: Array,
    rows: Array,
    taps: Array,
    columns: Array | None = None,
) -> None:
    """Block by block: what every place of the kernel meets, times the gradients there."""
    images, results = lifted(numbers(x, types[0])), lifted(numbers(gradient, types[1]))
    taps[...] = sheet[...] = rows[...] = 0
    for block in blocks(len(images), sheets.images):
        count = block.stop - block.start
        fill(sheet, images[block], window, sheets)
        fill_rows(rows, results[block], sheets)
        length = reach(count, results.shape[2:], sheets)
        if columns is not None:
            for part in chunks(length, columns):
                windows = put_together(sheet, columns, part, window, sheets)
                matmul(rows[..., part], windows.swapaxes(-1, -2), taps, add=True, taken=taken)
        else:
            for number, (place, shift) in enumerate(window.each_tap(sheets.grid)):
                window_of = sheet[place][..., shift : shift + length]
                matmul(rows[..., :length], window_of.swapaxes(-1, -2), taps[number], add=True, taken=taken)
    kernel = taps if columns is not None else taps.transpose(1, 2, 3, 0)
    store(kernel.reshape(window.groups * sheets.large, sheets.small, *window.kernel), None, lifted(out), types[-1])
