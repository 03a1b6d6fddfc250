"""Calls of norms and convolutions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.draw import IMAGES, MATRIX, SIZES, Arguments, Draw, Maker, Shape

EPSILON = 1e-5
GROUPS = 4

# Norms


def layer_norm(d: Draw) -> Arguments:
    rows, width = MATRIX[d.size]
    settings = {"normalizedShape": [width], "weightOptional": d.normal((width,)), "biasOptional": d.normal((width,)), "eps": EPSILON}
    return {"input": d.normal(), **settings, "out": d.empty(), "meanOutOptional": d.empty((rows, 1)), "rstdOutOptional": d.empty((rows, 1))}


def layer_norm_slope(*, everything: bool) -> Maker:
    """The gradients of weight and bias, too, or that of the input alone."""

    def make(d: Draw) -> Arguments:
        width = MATRIX[d.size][1]
        values = d.normal()
        exact = values.astype(np.float32)
        mean, rstd = exact.mean(1, keepdims=True), 1 / np.sqrt(exact.var(1, keepdims=True) + np.float32(EPSILON))
        factors = {"weightOptional": d.normal((width,)), "biasOptional": d.normal((width,))}
        results = {name: d.empty((width,)) if everything else None for name in ("gradWeightOut", "gradBiasOut")}
        return {
            "gradOut": d.normal(),
            "input": values,
            "normalizedShape": [width],
            "mean": mean.astype(d.dtype),
            "rstd": rstd.astype(d.dtype),
            **factors,
            "outputMask": [True, everything, everything],
            "gradInputOut": d.empty(),
            **results,
        }

    return make


def rms_norm(d: Draw) -> Arguments:
    rows, width = MATRIX[d.size]
    results = {"yOut": d.empty(), "rstdOut": d.empty((rows, 1), np.float32)}
    return {"x": d.normal(), "gamma": d.normal((width,)), "epsilon": EPSILON, **results}


def group_norm(d: Draw) -> Arguments:
    count, channels, height, width = shape = IMAGES[d.size]
    lengths = {"N": count, "C": channels, "HxW": height * width, "group": GROUPS}
    results = {"out": d.empty(shape), "meanOut": d.empty((count, GROUPS)), "rstdOut": d.empty((count, GROUPS))}
    return {"self": d.normal(shape), "gamma": d.normal((channels,)), "beta": d.normal((channels,)), **lengths, "eps": EPSILON, **results}


def batch_norm(d: Draw) -> Arguments:
    """While training; what belongs to a channel is float32, as in mixed precision."""
    shape = IMAGES[d.size]
    channels = shape[1:2]
    factors = {"weight": d.normal(channels, np.float32), "bias": d.normal(channels, np.float32)}
    running = {"runningMean": d.normal(channels, np.float32), "runningVar": np.ones(channels, np.float32)}
    settings = {"training": True, "momentum": 0.1, "eps": EPSILON}
    results = {"output": d.empty(shape), "saveMean": d.empty(channels, np.float32), "saveInvstd": d.empty(channels, np.float32)}
    return {"input": d.normal(shape), **factors, **running, **settings, **results}


# Convolutions


class Layer(NamedTuple):
    """A convolution of square images, which keeps their size but for the stride."""

    channels: int
    outputs: int
    edge: int
    kernel: int
    stride: int = 1
    groups: int = 1

    def at(self, size: str) -> tuple[int, Layer]:
        """How many images, and the layer itself; a small call has a small one."""
        few = Layer(min(8, self.channels), min(8, self.outputs), 8, self.kernel, self.stride, min(8, self.groups))
        return {"small": 1, "medium": 1, "million": 2, "large": 8}[size], few if size == "small" else self

    def lengths(self) -> dict[str, Shape]:
        """Rows, inner length and columns of its matrix product at every size."""
        found = {}
        for size in (*SIZES, "million"):
            count, layer = self.at(size)
            positions = count * (layer.edge // layer.stride) ** 2
            found[size] = (positions, layer.channels // layer.groups * layer.kernel**2, layer.outputs)
        return found


LAYERS = {
    "3x3, 64 to 64": Layer(64, 64, 56, 3),
    "3x3, 256 to 256": Layer(256, 256, 14, 3),
    "1x1, 256 to 64": Layer(256, 64, 56, 1),
    "7x7 by steps of 2, 3 to 64": Layer(3, 64, 224, 7, stride=2),
}
DEPTHWISE = Layer(128, 128, 56, 3, groups=128)


def convolution(chosen: Layer) -> Maker:
    def make(d: Draw) -> Arguments:
        count, layer = chosen.at(d.size)
        inner, result = layer.channels // layer.groups, layer.edge // layer.stride
        weight = d.normal((layer.outputs, inner, layer.kernel, layer.kernel), scale=(inner * layer.kernel**2) ** -0.5)
        images = {"input": d.normal((count, layer.channels, layer.edge, layer.edge)), "weight": weight, "bias": d.normal((layer.outputs,))}
        window = {"stride": [layer.stride] * 2, "padding": [layer.kernel // 2] * 2, "dilation": [1, 1]}
        kind = {"transposed": False, "outputPadding": [0, 0], "groups": layer.groups}
        return {**images, **window, **kind, "output": d.empty((count, layer.outputs, result, result)), "cubeMathType": 0}

    return make
