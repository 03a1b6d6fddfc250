"""ACL_FORMAT_FRACTAL_NZ: a matrix in blocks of 16 rows and 32 bytes of columns, the blocks of a column of them one below the other."""

from __future__ import annotations

import math
from typing import NamedTuple

from acl_emu.core.constants import ACL_FORMAT_FRACTAL_NZ
from acl_emu.core.dtypes import DType
from acl_emu.core.errors import AclnnInvalid
from acl_emu.runtime.tensor import Operand, Shape, contiguous_strides, make_view

BLOCK_ROWS = 16
BLOCK_BYTES = 32


class Fractal(NamedTuple):
    """How a matrix, or a batch of them, lies in blocks. All sizes count elements; what fills up the blocks is zero."""

    batch: Shape
    rows: int
    columns: int
    width: int
    """Columns of a block."""

    @property
    def padded_rows(self) -> int:
        """Rows, whole blocks of them."""
        return -(-self.rows // BLOCK_ROWS) * BLOCK_ROWS

    @property
    def blocks_across(self) -> int:
        """How many blocks are side by side."""
        return -(-self.columns // self.width)

    @property
    def size(self) -> int:
        """Elements of all blocks."""
        return math.prod(self.batch) * self.padded_rows * self.blocks_across * self.width

    @property
    def shape(self) -> Shape:
        """The blocks as they follow each other; rows of blocks that lie below each other are one axis."""
        return (*self.batch, self.blocks_across, self.padded_rows, self.width)

    @property
    def storage(self) -> Shape:
        """The storage shape of such a tensor."""
        return (*self.batch, self.blocks_across, self.padded_rows // BLOCK_ROWS, BLOCK_ROWS, self.width)

    @property
    def by_row(self) -> tuple[Shape, Shape]:
        """Shape and strides of (rows, blocks across, width): with its last two axes joined it is the matrix, and some padding."""
        *batch, across, row, one = contiguous_strides(self.shape)
        return (*self.batch, self.rows, self.blocks_across, self.width), (*batch, row, across, one)


def fractal(shape: Shape, dtype: DType) -> Fractal:
    """The blocks of a matrix, or of a batch of them."""
    *batch, rows, columns = shape
    return Fractal(tuple(batch), rows, columns, BLOCK_BYTES * 8 // dtype.bits)


class Blocked(NamedTuple):
    """An operand in FRACTAL_NZ."""

    blocks: Fractal
    memory: Operand
    """The same tensor as it lies in memory, by row."""
    transposed: bool
    """Whether the operand is the transpose of the matrix that the blocks hold."""


def is_blocked(operand: Operand) -> bool:
    """Whether a tensor is one in FRACTAL_NZ."""
    return operand.view.format == ACL_FORMAT_FRACTAL_NZ


def blocked(operand: Operand) -> Blocked:
    """What the view of such a tensor means: the blocks are those of the matrix that is contiguous by its strides, or of its transpose."""
    view = operand.view
    *batch, rows, columns = operand.shape
    for transposed in (False, True):
        matrix = (*batch, columns, rows) if transposed else operand.shape
        strides = contiguous_strides(matrix)
        expected = (*strides[:-2], strides[-1], strides[-2]) if transposed else strides
        same_batch = all(length == 1 or own == wanted for length, own, wanted in zip(batch, view.strides, expected, strict=False))
        if same_batch and view.strides[-2:] == expected[-2:]:
            blocks = fractal(matrix, operand.dtype)
            return Blocked(blocks, operand.in_view(*blocks.by_row), transposed)
    raise AclnnInvalid(
        f"{operand.name} has strides {list(view.strides)}, expected a contiguous matrix of shape {list(operand.shape)} or the "
        "transpose of one, for ACL_FORMAT_FRACTAL_NZ"
    )


def in_blocks(operand: Operand) -> tuple[Operand, Operand]:
    """What becomes of a strided tensor: its memory, block by block; and the tensor in FRACTAL_NZ."""
    view, blocks = operand.view, fractal(operand.shape, operand.dtype)
    restated = make_view(operand.shape, view.dtype_code, None, view.offset, ACL_FORMAT_FRACTAL_NZ, blocks.storage)
    return operand.in_view(blocks.shape), Operand(operand.name, restated, operand.place)
