"""Normalisations: every documented error, and which products have them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import acl_emu as acl
from tests.conftest import message
from tests.operators.accuracy import FLOAT, FLOAT16
from tests.operators.case import Meta
from tests.operators.goldens import Arguments, call
from tests.operators.products import products_of

INVALID, NULLPTR, TILING = acl.ACLNN_ERR_PARAM_INVALID, acl.ACLNN_ERR_PARAM_NULLPTR, acl.ACLNN_ERR_INNER_TILING_ERROR


def meta(*shape: int, dtype: Any = FLOAT) -> Meta:
    return Meta(shape, dtype)


ERRORS: dict[str, list[tuple[Arguments, int, str]]] = {
    "aclnnLayerNorm": [
        ({"normalizedShape": []}, INVALID, "normalizedShape has 0 elements"),
        ({"weightOptional": meta(4)}, INVALID, "weightOptional has shape"),
        ({"biasOptional": meta(1, 8)}, INVALID, "biasOptional has shape"),
        ({"normalizedShape": [2, 2, 3, 8], "weightOptional": None, "biasOptional": None}, INVALID, "input has shape"),
        ({"normalizedShape": [3], "weightOptional": None, "biasOptional": None}, INVALID, "input has shape"),
        ({"out": meta(2, 24)}, INVALID, "out has shape"),
        ({"out": meta(2, 3, 8, dtype=FLOAT16)}, INVALID, "out has dtype"),
        ({"meanOutOptional": Meta((6,), FLOAT, (2,))}, INVALID, "meanOutOptional has shape"),
    ],
    "aclnnLayerNormWithImplMode": [
        ({"implMode": 3}, INVALID, "implMode is 3"),
        ({"implMode": 2}, INVALID, "input has dtype"),
        ({"normalizedShape": []}, INVALID, "normalizedShape has 0 elements"),
        ({"out": meta(2, 24)}, INVALID, "out has shape"),
    ],
    "aclnnFastLayerNorm": [
        ({"normalizedShape": []}, INVALID, "normalizedShape has 0 elements"),
        ({"normalizedShape": [1] * 9, "weightOptional": None, "biasOptional": None}, INVALID, "normalizedShape has 9 elements"),
        ({"rstdOutOptional": meta(6)}, INVALID, "rstdOutOptional has shape"),
        (
            {
                "input": meta(2, 600000000),
                "out": meta(2, 600000000),
                "normalizedShape": [600000000],
                **dict.fromkeys(("weightOptional", "biasOptional", "meanOutOptional", "rstdOutOptional")),
            },
            acl.ACLNN_ERR_INNER_NULLPTR,
            "normalizedShape has 600000000",
        ),
    ],
    "aclnnLayerNormBackward": [
        *[({name: None}, NULLPTR, f"{name} must not") for name in ("gradInputOut", "gradWeightOut", "gradBiasOut")],
        ({"gradOut": meta(2, 3, 4)}, INVALID, "gradOut has shape"),
        ({"normalizedShape": []}, INVALID, "normalizedShape has 0 elements"),
        ({"mean": meta(5, 1)}, INVALID, "mean has 5 elements"),
        ({"rstd": meta(7)}, INVALID, "rstd has 7 elements"),
        ({"weightOptional": meta(7)}, INVALID, "weightOptional has shape"),
        ({"biasOptional": meta(7)}, INVALID, "biasOptional has shape"),
        ({"outputMask": [True, True]}, INVALID, "outputMask has 2 elements"),
        ({"gradInputOut": meta(6, 8)}, INVALID, "gradInputOut has shape"),
        ({"gradWeightOut": meta(7)}, INVALID, "gradWeightOut has shape"),
        ({"gradInputOut": meta(2, 3, 8, dtype=FLOAT16)}, INVALID, "gradInputOut has dtype"),
    ],
    "aclnnBatchNorm": [
        *[
            ({name: meta(4)}, INVALID, f"{name} has shape")
            for name in ("weight", "bias", "runningMean", "runningVar", "saveMean", "saveInvstd")
        ],
        ({"output": meta(3, 4)}, INVALID, "output has shape"),
        ({"output": meta(4, 3, dtype=FLOAT16)}, INVALID, "output has dtype"),
        ({"input": meta(4)}, INVALID, "input has 1 dimensions"),
        ({"saveMean": None}, NULLPTR, "saveMean must not"),
    ],
    "aclnnBatchNormBackward": [
        *[({name: None}, NULLPTR, f"{name} must not") for name in ("gradInput", "gradWeight", "gradBias")],
        *[
            ({name: meta(4)}, INVALID, f"{name} has shape")
            for name in ("weight", "runningMean", "runningVar", "saveMean", "saveInvstd", "gradWeight", "gradBias")
        ],
        ({"outputMask": [True]}, INVALID, "outputMask has 1 elements"),
        ({"input": meta(4, 3, dtype=FLOAT16)}, INVALID, "input has dtype"),
        ({"gradInput": meta(4, 3, dtype=FLOAT16)}, INVALID, "gradInput has dtype"),
        ({"gradInput": meta(2, 3)}, INVALID, "gradInput has shape"),
    ],
    "aclnnBatchNormStats": [
        ({"mean": meta(4)}, INVALID, "mean has shape"),
        ({"invstd": meta(4)}, INVALID, "invstd has shape"),
        ({"input": meta(0, 3)}, INVALID, "input has shape"),
    ],
    "aclnnBatchNormElemt": [
        ({"input": meta(4, 0), "output": meta(4, 0)}, INVALID, "expected at least one channel"),
        *[({name: meta(4)}, INVALID, f"{name} has shape") for name in ("weight", "bias", "mean", "invstd")],
        *[({name: meta(3, dtype=FLOAT16)}, INVALID, f"{name} has dtype") for name in ("weight", "bias", "mean", "invstd")],
        ({"output": meta(2, 3)}, INVALID, "output has shape"),
    ],
    "aclnnBatchNormElemtBackward": [
        ({name: meta(4, 0) for name in ("input", "gradOut", "gradInput")}, INVALID, "expected at least one channel"),
        *[({name: meta(4)}, INVALID, f"{name} has shape") for name in ("weight", "mean", "invstd", "sumDy", "sumDyXmu")],
        *[({name: meta(2, 3)}, INVALID, f"{name} has shape") for name in ("gradOut", "gradInput")],
    ],
    "aclnnBatchNormReduce": [({name: meta(4)}, INVALID, f"{name} has shape") for name in ("sum", "squareSum")],
    "aclnnBatchNormReduceBackward": [
        *[({name: None}, NULLPTR, f"{name} must not") for name in ("sumDy", "sumDyXmu", "gradWeight", "gradBias")],
        *[
            ({name: meta(4)}, INVALID, f"{name} has shape")
            for name in ("mean", "invstd", "weight", "sumDy", "sumDyXmu", "gradWeight", "gradBias")
        ],
        ({"gradOut": meta(4, 3, dtype=FLOAT16)}, INVALID, "gradOut has dtype"),
        ({name: meta(4, 0) for name in ("input", "gradOut")}, INVALID, "expected at least one channel"),
    ],
    "aclnnBatchNormGatherStatsWithCounts": [
        ({"mean": meta(4, 2)}, INVALID, "mean has shape"),
        ({"invstd": meta(3, 3)}, INVALID, "invstd has shape"),
        ({"counts": meta(3)}, INVALID, "mean has shape"),
        *[({name: meta(4)}, INVALID, f"{name} has shape") for name in ("runningMean", "runningVar", "meanAll", "invstdAll")],
    ],
    "aclnnSyncBatchNormGatherStats": [
        ({"totalSquareSum": meta(3, 3)}, INVALID, "totalSquareSum has shape"),
        ({"sampleCount": meta(3)}, INVALID, "sampleCount has shape"),
        *[({name: meta(4)}, INVALID, f"{name} has shape") for name in ("mean", "variance", "batchMean", "batchInvstd")],
    ],
    "aclnnGroupNorm": [
        *[
            ({name: meta(*shape, dtype=FLOAT16)}, INVALID, f"{name} has dtype")
            for name, shape in (("gamma", (6,)), ("beta", (6,)), ("out", (2, 6, 4)))
        ],
        ({"group": 0}, INVALID, "group is 0"),
        ({"group": 4}, INVALID, "group is 4"),
        ({"eps": 0.0}, INVALID, "eps is 0.0"),
        ({"eps": math.nan}, INVALID, "eps is nan"),
        ({"out": meta(2, 6, 2, 2)}, INVALID, "out has shape"),
        ({"meanOut": meta(2, 3)}, INVALID, "meanOut has shape"),
        ({"rstdOut": meta(2, 3)}, INVALID, "rstdOut has shape"),
        ({"N": 3, "meanOut": meta(3, 2), "rstdOut": meta(3, 2)}, INVALID, "N is 3"),
        ({"C": 8}, INVALID, "C is 8"),
        ({"HxW": 5}, INVALID, "HxW is 5"),
        ({"gamma": meta(5)}, INVALID, "gamma has 5 elements"),
        ({"beta": meta(7)}, INVALID, "beta has 7 elements"),
    ],
    "aclnnGroupNormBackward": [
        *[({name: None}, NULLPTR, f"{name} must not") for name in ("gradInput", "gradGammaOut", "gradBetaOut")],
        ({"input": meta(2, 6, 4, dtype=FLOAT16)}, INVALID, "input has dtype"),
        ({name: meta(2, 2, dtype=FLOAT16) for name in ("mean", "rstd")} | {"gamma": meta(6, dtype=FLOAT16)}, INVALID, "mean has dtype"),
        ({"rstd": meta(2, 2, dtype=FLOAT16)}, INVALID, "rstd has dtype"),
        ({"outputMask": [True, True]}, INVALID, "outputMask has 2 elements"),
        ({"gradInput": meta(2, 24)}, INVALID, "gradInput has shape"),
        ({"gradGammaOut": meta(5)}, INVALID, "gradGammaOut has shape"),
        ({"gradBetaOut": meta(5)}, INVALID, "gradBetaOut has shape"),
        ({"group": 0}, INVALID, "group is 0"),
        ({"group": 4}, INVALID, "group is 4"),
        ({"C": 240001}, INVALID, "C is 240001"),
        ({"C": 16002}, INVALID, "group is 2"),
        ({"HxW": 5}, INVALID, "gradOut has 48 elements"),
        ({"mean": meta(5)}, INVALID, "mean has 5 elements"),
        ({"rstd": meta(5)}, INVALID, "rstd has 5 elements"),
        ({"gamma": meta(5), "gradGammaOut": meta(5), "gradBetaOut": meta(5)}, INVALID, "gamma has 5 elements"),
    ],
    "aclnnAddRmsNorm": [
        ({"xOut": None}, NULLPTR, "xOut must not"),
        *[({name: meta(2, 3, 16, dtype=FLOAT16)}, INVALID, f"{name} has dtype") for name in ("x2", "yOut", "xOut")],
        ({"gamma": meta(16, dtype=FLOAT16)}, INVALID, "gamma has dtype"),
        *[({name: meta(2, 48)}, INVALID, f"{name} has shape") for name in ("x2", "yOut", "xOut")],
        ({"gamma": meta(3)}, INVALID, "gamma has shape"),
        ({"rstdOut": meta(2)}, INVALID, "rstdOut has shape"),
        ({"epsilon": -1.0}, INVALID, "epsilon is -1.0"),
    ],
    "aclnnRmsNormGrad": [
        ({"dxOut": meta(2, 3, 16, dtype=FLOAT16)}, TILING, "dxOut has dtype"),
        ({"gamma": meta(16, dtype=FLOAT16)}, TILING, "gamma has dtype"),
        ({"dy": meta(6, 16)}, TILING, "x has shape"),
        ({"rstd": meta(5)}, TILING, "rstd has 5 elements"),
        ({"gamma": meta(3)}, TILING, "gamma has shape"),
        ({"dgammaOut": meta(3)}, TILING, "dgammaOut has shape"),
        ({"dgammaOut": meta(16, dtype=FLOAT16)}, INVALID, "dgammaOut has dtype"),
    ],
}


@pytest.mark.parametrize(
    ("operator", "changes", "status", "text"),
    [pytest.param(operator, *line, id=f"{operator}-{line[2]}") for operator, lines in ERRORS.items() for line in lines],
)
def test_errors(operator: str, changes: Arguments, status: int, text: str) -> None:
    assert call(operator).but(**changes).status() == status
    assert text in message()


ALL_BUT_310B = {"950", "A3", "A2", "310P", "910"}
PRODUCTS = {
    "aclnnLayerNorm": {"950", "A3", "A2", "310B", "910"},
    "aclnnLayerNormWithImplMode": {"950", "A3", "A2", "310B", "910"},
    "aclnnFastLayerNorm": {"A3", "A2"},
    "aclnnLayerNormBackward": ALL_BUT_310B,
    "aclnnBatchNorm": ALL_BUT_310B,
    "aclnnBatchNormBackward": ALL_BUT_310B - {"310P"},
    "aclnnBatchNormStats": ALL_BUT_310B - {"310P"},
    "aclnnBatchNormElemt": ALL_BUT_310B - {"310P"},
    "aclnnBatchNormElemtBackward": ALL_BUT_310B - {"310P"},
    "aclnnBatchNormReduce": {"950", "A3", "A2"},
    "aclnnBatchNormReduceBackward": ALL_BUT_310B - {"310P"},
    "aclnnBatchNormGatherStatsWithCounts": ALL_BUT_310B - {"310P"},
    "aclnnSyncBatchNormGatherStats": {"950", "A3", "A2"},
    "aclnnGroupNorm": ALL_BUT_310B,
    "aclnnGroupNormBackward": ALL_BUT_310B - {"310P"},
    "aclnnAddRmsNorm": {"950", "A3", "A2", "310P"},
    "aclnnRmsNormGrad": {"950", "A3", "A2", "310P"},
}


@pytest.mark.parametrize(("operator", "products"), PRODUCTS.items())
def test_products(operator: str, products: set[str], chip: Callable[[str], None]) -> None:
    assert products_of(call(operator), chip) == products
