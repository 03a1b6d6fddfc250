"""aclnnTransMatmulWeight, and how much memory it needs: weights of matrix products, in place, in blocks (FRACTAL_NZ)."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, BY_CODE, FLOAT16, INT8, DType, dtype_name
from acl_emu.core.errors import AclnnRuntime
from acl_emu.runtime.tensor import IntArray
from acl_emu.spec import Array, DataType, Example, InOut, IntArrayIn, Operand, Plan, Product, direct, numbers, operator, require
from acl_emu.spec.fractal import Fractal, fractal, in_blocks
from acl_emu.spec.single_phase import Result, single_phase

PRODUCTS = frozenset({Product.A950, Product.A3, Product.A2, Product.A310P})
TYPES = (FLOAT16, BF16, INT8)
LEAST_RANK, MOST_RANK = 2, 6
LARGEST = (1 << 63) - 1

Elements = Annotated[int, Result("uint64_t", "weightTensorSize")]


@single_phase(products=PRODUCTS)
def aclnnCalculateMatmulWeightSize(tensorShape: IntArrayIn) -> Elements:
    """Count the elements of a weight in blocks, for types of 16 bits."""
    return size_in_blocks(tensorShape, FLOAT16)


@single_phase(products=PRODUCTS, elsewhere=AclnnRuntime)
def aclnnCalculateMatmulWeightSizeV2(tensorShape: IntArrayIn, dataType: DataType) -> Elements:
    """Count the elements of a weight in blocks."""
    dtype = BY_CODE.get(dataType)
    require(dtype in TYPES, f"dataType is {dtype_name(dataType)}, expected one of {', '.join(map(str, TYPES))}")
    assert dtype is not None
    return size_in_blocks(tensorShape, dtype)


def size_in_blocks(shape: IntArray, dtype: DType) -> int:
    """Rows and columns are filled up to whole blocks."""
    lengths = shape.values
    require(LEAST_RANK <= len(lengths) <= MOST_RANK, f"tensorShape is {shape}, expected {LEAST_RANK} to {MOST_RANK} lengths")
    require(min(lengths) > 0, f"tensorShape is {shape}, expected lengths above 0")
    size = fractal(lengths, dtype).size
    require(size <= LARGEST, f"tensorShape is {shape}, expected at most {LARGEST} elements")
    return size


@operator(products=PRODUCTS)
def aclnnTransMatmulWeight(mmWeightRef: Annotated[Operand, InOut(*TYPES, rank=(LEAST_RANK, MOST_RANK), const=False)]) -> Plan:
    """Put a weight into blocks, where it lies; from here on ``mmWeightRef`` is a tensor in FRACTAL_NZ."""
    require(0 not in mmWeightRef.shape, f"mmWeightRef has shape {list(mmWeightRef.shape)}, expected no length of 0")
    blocks = fractal(mmWeightRef.shape, mmWeightRef.dtype)
    memory, restated = in_blocks(mmWeightRef)
    plan = direct(
        into_blocks,
        reads=(mmWeightRef,),
        writes=(memory,),
        scratch={"matrix": (mmWeightRef.shape, mmWeightRef.dtype.numpy)},
        blocks=blocks,
    )
    plan.restated = (restated,)
    return plan


@aclnnTransMatmulWeight.example
def examples() -> Iterator[Example]:
    """Whole blocks: what fills up others lies behind the tensor."""
    for shape, dtype in (((32, 48), FLOAT16), ((2, 16, 64), INT8)):
        yield {"mmWeightRef": numbers(shape, dtype, 1, 9)}


def into_blocks(source: Array, target: Array, *, matrix: Array, blocks: Fractal) -> None:
    """Columns of blocks one after the other; what fills them up is zero."""
    matrix[...] = source
    target[...] = 0
    for block in range(blocks.blocks_across):
        columns = matrix[..., block * blocks.width : (block + 1) * blocks.width]
        target[..., block, : blocks.rows, : columns.shape[-1]] = columns
