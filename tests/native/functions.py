"""The functions of the engine against numpy and against float64; for whichever build of the engine is in use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.native.support import ODD, assert_same, bit_patterns, in_steps, run, ulps

Array = npt.NDArray[Any]

UNARY: dict[str, Callable[..., Any]] = {
    "neg": np.negative,
    "abs": np.abs,
    "sign": np.sign,
    "square": np.square,
    "sqrt": np.sqrt,
    "isnan": lambda x: np.where(np.isnan(x), 1, x),
}
BINARY: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "less": lambda x, y: np.where(x < y, x, y),
    "less_equal": lambda x, y: np.where(x <= y, x, y),
    "greater": lambda x, y: np.where(x > y, x, 2.0),
    "greater_equal": lambda x, y: np.where(x >= y, 3.0, y),
    "equal": lambda x, y: np.where(x == y, x, 5.0),
    "not_equal": lambda x, y: np.where(x != y, x, 5.0),
    "and": lambda x, y: np.where((x < y) & (x > 0), x, y),
    "or": lambda x, y: np.where((x < y) | (x > 0), x, y),
    "not": lambda x, y: np.where(~(x < y), x, y),
    "as_number": lambda x, y: (x < y) * y,
}
ZERO_OF_EITHER_SIGN = ("maximum", "minimum")
"""numpy's maximum and minimum of 0 and -0 are whichever its instructions give."""

ULPS: dict[str, float] = {"exp": 0.9, "exp_of_difference": 0.9, "exp_of_product": 1.1, "log": 0.9, "log1p": 1.4, "log_of_odds": 2.1}
ULPS_WITHOUT_FMA: dict[str, float] = ULPS | {"exp": 1.2, "exp_of_difference": 1.2, "exp_of_product": 1.4, "log": 1.2, "log1p": 1.6}
EXACT: dict[str, Callable[..., Any]] = {
    "exp": np.exp,
    "exp_of_difference": lambda x, y: np.exp(x - y),
    "exp_of_product": lambda x, y: np.exp(x * y),
    "log": np.log,
    "log1p": np.log1p,
    "log_of_odds": lambda x: np.log(x / (1 - x)),
}
SPECIAL: dict[str, list[tuple[float, float]]] = {
    "exp": [(0.0, 1.0), (-0.0, 1.0), (np.inf, np.inf), (-np.inf, 0.0), (np.nan, np.nan), (1e4, np.inf), (-1e4, 0.0), (89.0, np.inf)],
    "log": [(1.0, 0.0), (0.0, -np.inf), (-0.0, -np.inf), (-1.0, np.nan), (-np.inf, np.nan), (np.inf, np.inf), (np.nan, np.nan)],
    "log1p": [
        (0.0, 0.0),
        (-0.0, -0.0),
        (-1.0, -np.inf),
        (-1.5, np.nan),
        (-np.inf, np.nan),
        (np.inf, np.inf),
        (np.nan, np.nan),
        (1e-45, 1e-45),
    ],
    "log_of_odds": [
        (0.5, 0.0),
        (0.0, -np.inf),
        (-0.0, -np.inf),
        (1.0, np.inf),
        (1.5, np.nan),
        (-1.5, np.nan),
        (np.inf, np.nan),
        (np.nan, np.nan),
    ],
}
WIDE_ERROR = 2.0**-42
"""Relative, on lanes of float64."""


def check_arithmetic(name: str, values: int) -> None:
    """As numpy, bit for bit: on numbers of every magnitude, and on each pair of odd ones."""
    first, second = bit_patterns(values, 1), np.roll(bit_patterns(values, 2), 7)
    pairs = np.meshgrid(np.array(ODD, np.float32), np.array(ODD, np.float32))
    first, second = (np.concatenate([drawn, pair.ravel()]) for drawn, pair in zip((first, second), pairs, strict=True))
    kernel, inputs = (UNARY[name], [first]) if name in UNARY else (BINARY[name], [first, second])
    with np.errstate(all="ignore"):
        expected = kernel(*inputs)
    mask = np.zeros(1, np.bool_)
    for actual in (run(kernel, inputs, np.empty_like(first)), run(in_steps(kernel), [mask, *inputs], np.empty_like(first))):
        assert_same(actual, expected.astype(np.float32), signs_of_zero=name not in ZERO_OF_EITHER_SIGN)


def function_arguments(name: str, stride: int) -> list[Array]:
    """float32 numbers of every magnitude, and many where the function is neither zero nor infinite."""
    every = np.arange(0, 1 << 32, stride, dtype=np.uint32).view(np.float32)
    if name.startswith("exp"):
        near = np.linspace(-104, 89, len(every), dtype=np.float32)
    elif name == "log":
        near = np.linspace(0.25, 4, len(every), dtype=np.float32)
    elif name == "log_of_odds":
        near = np.concatenate([np.linspace(0, 1, len(every), dtype=np.float32), np.linspace(0.499, 0.501, len(every), dtype=np.float32)])
    else:
        near = np.linspace(-1, 3, len(every), dtype=np.float32)
    drawn = np.concatenate([np.array(ODD, np.float32), every, near])
    if name not in ("exp_of_difference", "exp_of_product"):
        return [drawn]
    other = np.random.default_rng(5).standard_normal(len(drawn)).astype(np.float32) * 30
    with np.errstate(all="ignore"):
        if name == "exp_of_product":
            return [np.concatenate([drawn, drawn / other]), np.concatenate([np.ones_like(drawn), other])]
        return [np.concatenate([drawn, drawn + other]), np.concatenate([np.zeros_like(drawn), other])]


def check_function(name: str, stride: int, allowed: float) -> None:
    """Within so many ulps of float64, the same whether the kernel has been compiled as a whole or not."""
    arguments = function_arguments(name, stride)
    with np.errstate(all="ignore"):
        exact = EXACT[name](*(argument.astype(np.float64) for argument in arguments))
    whole = run(EXACT[name], arguments, np.empty_like(arguments[0]))
    assert ulps(whole, exact) <= allowed
    in_order = run(in_steps(EXACT[name]), [np.zeros(1, np.bool_), *arguments], np.empty_like(arguments[0]))
    assert_same(in_order, whole)


def check_special_values(name: str) -> None:
    """What IEEE 754 says of zeros, infinities and NaN, in every lane of a vector."""
    for value, expected in SPECIAL[name]:
        for count in (1, 8, 13):
            argument = np.full(count, value, np.float32)
            assert_same(run(EXACT[name], [argument], np.empty_like(argument)), np.full(count, expected, np.float32))


def check_wide_function(name: str) -> None:
    """On lanes of float64: what is left of the result when its first 24 digits are subtracted shows the others."""
    rng = np.random.default_rng(11)
    near = {
        "exp": (-45, 88),
        "exp_of_difference": (-22, 22),
        "exp_of_product": (-6, 6),
        "log": (0.3, 3),
        "log1p": (-0.9, 2),
        "log_of_odds": (0.51, 0.99),
    }[name]
    arguments = [rng.uniform(*near, 200_000).astype(np.float32) for _ in range(2 if name.startswith("exp_of") else 1)]
    if name in ("log", "log1p"):
        arguments[0][: len(arguments[0]) // 2] = 2.0 ** rng.uniform(-100, 100, len(arguments[0]) // 2)
    exact = EXACT[name](*(argument.astype(np.longdouble) for argument in arguments))
    head = exact.astype(np.float32)
    tail = run(_remainder[name], [*arguments, head], np.empty_like(head), compute=np.float64)
    error = np.abs(head.astype(np.longdouble) + tail - exact)
    assert (error <= WIDE_ERROR * np.abs(exact)).all(), np.log2(float((error[exact != 0] / np.abs(exact[exact != 0])).max()))


_remainder: dict[str, Callable[..., Any]] = {
    "exp": lambda x, head: np.exp(x) - head,
    "exp_of_difference": lambda x, y, head: np.exp(x - y) - head,
    "exp_of_product": lambda x, y, head: np.exp(x * y) - head,
    "log": lambda x, head: np.log(x) - head,
    "log1p": lambda x, head: np.log1p(x) - head,
    "log_of_odds": lambda x, head: np.log(x / (1 - x)) - head,
}
