"""What the operators of attention for inference get, and what is found out about it."""

from collections.abc import Sequence as Listed
from dataclasses import dataclass
from typing import NamedTuple

from acl_emu.core.dtypes import INT32
from acl_emu.runtime.tensor import IntArray
from acl_emu.spec import Operand
from aclnnop.attention.heads import Lengths, lengths
from aclnnop.attention.inference_kernels import Sequence


@dataclass(frozen=True)
class Inputs:
    """What the operators get; what one lacks is null."""

    query: Operand
    key: Listed[Operand]
    value: Listed[Operand]
    shift: Operand | None
    mask: Operand | None
    query_lengths: IntArray | None
    key_lengths: IntArray | None
    heads: int
    scale: float
    before: int
    after: int
    layout: str
    key_heads: int
    mode: int
    out: Operand
    scales: dict[str, Operand | None]
    """deqScale1, quantScale1, deqScale2, quantScale2, quantOffset2; antiScale, antiOffset, keyScale, keyOffset, valueScale, valueOffset."""
    anti_modes: tuple[int, int, int] = (0, 0, 0)
    """antiquantMode, keyAntiquantMode, valueAntiquantMode."""
    table: Operand | None = None
    block_size: int = 0
    paddings: tuple[Operand | None, Operand | None] = (None, None)
    prefixes: tuple[Operand | None, Operand | None] = (None, None)
    prefix_length: IntArray | None = None
    lse: Operand | None = None
    ropes: tuple[Operand | None, Operand | None] = (None, None)
    """More features of queries and of keys."""
    layouts: tuple[str, ...] = ("BSH", "BSND", "BNSD", "BNSD_BSND", "TND")
    """Those that the operator has."""
    newest: bool = False
    """Whether pages may be larger and lie in any order, and masks of trees are known."""
    sink: Operand | None = None
    query_scale: Operand | None = None
    """With it queries, keys and values are INT8, and have scales of their own."""
    query_mode: int = 3
    single: bool | None = None
    """Whether each sequence has one query, by what the operator is for; None: by the shape of the query."""

    @property
    def packed(self) -> bool:
        """Whether sequences follow each other."""
        return "T" in self.layout

    @property
    def in_layout(self) -> str:
        """The layout of queries, and of keys and values that are not in pages."""
        return self.layout.partition("_")[0]

    @property
    def out_layout(self) -> str:
        """The layout of the output."""
        return self.layout.rpartition("_")[2]


class Found(NamedTuple):
    """Lengths that the rules of a call speak of."""

    query: Lengths
    key: Lengths
    """Of pages: their number, heads, positions in a page, features."""
    value: Lengths
    batch: int
    single: bool
    """Whether there is one query in each sequence, and that is known from the shape."""
    sequences: tuple[Sequence, ...]
    reach: int
    """Positions of keys that masks and position encodings speak of, without a prefix."""


def side_layout(member: Operand, given: Inputs) -> str:
    """The layout of keys and values: pages hold positions or heads first, or blocks of 16 features, whatever the layout of queries."""
    if given.table is None:
        return given.in_layout
    return {3: "BSH", 5: "BNCSE"}.get(member.rank, "BNSD")


def unpacked_lengths(member: Operand, layout: str, heads: int) -> Lengths:
    """The lengths of keys or values, INT4 counted one by one."""
    return lengths(member.in_view(unpacked_shape(member)), layout, heads)


def unpacked_shape(member: Operand) -> tuple[int, ...]:
    """The shape of keys or values, INT4 counted one by one."""
    return (*member.shape[:-1], member.shape[-1] * 8) if member.dtype is INT32 and member.rank else member.shape
