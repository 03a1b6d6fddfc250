"""Half-precision helpers, sizes of data types, names and attributes of the chip, and the list of official functions."""

from __future__ import annotations

import json
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import acl_emu as acl
from acl_emu.api.border import FUNCTIONS
from acl_emu.core import soc
from tests.conftest import SHARED, message
from tests.runtime.support import in_thread

# Halves


@pytest.mark.parametrize(
    ("value", "bits"),
    [
        (0.0, 0x0000),
        (-0.0, 0x8000),
        (1.0, 0x3C00),
        (-2.0, 0xC000),
        (65504.0, 0x7BFF),
        (65520.0, 0x7BFF),
        (1e30, 0x7BFF),
        (-1e30, 0xFBFF),
        (math.inf, 0x7BFF),
        (-math.inf, 0xFBFF),
        (math.nan, 0x7BFF),
        (2.0**-24, 0x0001),
        (2.0**-25, 0x0000),
        (3 * 2.0**-25, 0x0002),
        (2.0**-14, 0x0400),
        (1 + 2.0**-11, 0x3C00),
        (1 + 3 * 2.0**-11, 0x3C02),
    ],
)
def test_float_to_half(value: float, bits: int) -> None:
    assert acl.aclFloatToFloat16(value) == bits


@pytest.mark.parametrize(
    ("bits", "value"),
    [
        (0x0000, 0.0),
        (0x3C00, 1.0),
        (0xC000, -2.0),
        (0x7BFF, 65504.0),
        (0x7C00, 65536.0),
        (0xFC00, -65536.0),
        (0x7E00, 98304.0),
        (0x0001, 2.0**-24),
        (0x03FF, 1023 * 2.0**-24),
        (0x0400, 2.0**-14),
    ],
)
def test_half_to_float(bits: int, value: float) -> None:
    assert acl.aclFloat16ToFloat(bits) == value


def test_negative_zero_keeps_its_sign() -> None:
    value = acl.aclFloat16ToFloat(0x8000)
    assert value == 0
    assert str(value) == "-0.0"


def test_every_finite_half_survives() -> None:
    for bits in (*range(0x7C00), *range(0x8000, 0xFC00)):
        value = acl.aclFloat16ToFloat(bits)
        assert value is not None
        assert value == np.uint16(bits).view(np.float16)
        assert acl.aclFloatToFloat16(value) == bits


@given(st.floats(-65519, 65519, width=32))
def test_rounding_is_to_nearest_even(value: float) -> None:
    assert acl.aclFloatToFloat16(value) == np.float32(value).astype(np.float16).view(np.uint16)


# Sizes


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("FLOAT", 4),
        ("FLOAT16", 2),
        ("BF16", 2),
        ("DOUBLE", 8),
        ("INT8", 1),
        ("INT16", 2),
        ("INT32", 4),
        ("INT64", 8),
        ("UINT8", 1),
        ("UINT16", 2),
        ("UINT32", 4),
        ("UINT64", 8),
        ("BOOL", 1),
        ("COMPLEX32", 4),
        ("COMPLEX64", 8),
        ("COMPLEX128", 16),
        ("STRING", 0),
        ("DT_UNDEFINED", 0),
        ("INT4", 1),
        ("UINT1", 1),
        ("FLOAT6_E3M2", 8),
        ("FLOAT6_E2M3", 8),
        ("FLOAT4_E2M1", 8),
        ("FLOAT4_E1M2", 8),
    ],
)
def test_data_type_size(name: str, size: int) -> None:
    assert acl.aclDataTypeSize(getattr(acl, f"ACL_{name}")) == size


@pytest.mark.parametrize("code", [999, -2])
def test_size_of_an_unknown_type(code: int) -> None:
    assert acl.aclDataTypeSize(code) == 8


# The chip


@pytest.mark.parametrize("name", soc.PROFILES)
def test_soc_name(chip: Callable[[str], None], name: str) -> None:
    chip(name)
    assert acl.aclrtGetSocName() == name
    assert in_thread(acl.aclrtGetSocName) == name


def test_default_chip() -> None:
    assert acl.aclrtGetSocName() == "Ascend910B1"


def test_every_product_has_a_chip() -> None:
    assert {profile.product for profile in soc.PROFILES.values()} == set(soc.ALL)
    assert {"Ascend910B1", "Ascend910_9391", "Ascend950PR_9589", "Ascend310P3", "Ascend910A", "Ascend310B1"} <= set(soc.PROFILES)


@pytest.mark.parametrize(
    ("name", "attribute", "value"),
    [
        ("Ascend910B3", acl.ACL_DEV_ATTR_AICORE_CORE_NUM, 20),
        ("Ascend910B3", acl.ACL_DEV_ATTR_CUBE_CORE_NUM, 20),
        ("Ascend910B3", acl.ACL_DEV_ATTR_VECTOR_CORE_NUM, 40),
        ("Ascend910B3", acl.ACL_DEV_ATTR_L2_CACHE_SIZE, 192 << 20),
        ("Ascend910B3", acl.ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE, 64 << 30),
        ("Ascend950DT_95A2", acl.ACL_DEV_ATTR_CUBE_CORE_NUM, 36),
        ("Ascend950DT_95A2", acl.ACL_DEV_ATTR_VECTOR_CORE_NUM, 72),
        ("Ascend950DT_95A2", acl.ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE, 96 << 30),
    ],
)
def test_device_attribute(chip: Callable[[str], None], name: str, attribute: int, value: int) -> None:
    chip(name)
    assert acl.aclrtGetDeviceInfo(0, attribute) == (value, 0)


def test_unknown_device_attribute() -> None:
    assert acl.aclrtGetDeviceInfo(0, 9999) == (0, 100000)
    assert "attr is 9999" in message()


@pytest.mark.parametrize(
    ("attribute", "value"),
    [(acl.ACL_DEVICE_INFO_AI_CORE_NUM, 20), (acl.ACL_DEVICE_INFO_VECTOR_CORE_NUM, 40), (acl.ACL_DEVICE_INFO_L2_SIZE, 192 << 20)],
)
def test_device_capability(chip: Callable[[str], None], attribute: int, value: int) -> None:
    chip("Ascend910B3")
    assert acl.aclGetDeviceCapability(0, attribute) == (value, 0)


def test_unknown_device_capability() -> None:
    assert acl.aclGetDeviceCapability(0, 9999) == (0, 100000)
    assert "deviceInfo is 9999" in message()


@pytest.mark.parametrize(("name", "bf16", "infinities"), [("Ascend910B1", 1, 1), ("Ascend910A", 0, 0), ("Ascend310P3", 0, 0)])
def test_attributes_of_the_library(chip: Callable[[str], None], name: str, bf16: int, infinities: int) -> None:
    chip(name)
    assert acl.aclGetCannAttribute(acl.ACL_CANN_ATTR_BF16) == (bf16, 0)
    assert acl.aclGetCannAttribute(acl.ACL_CANN_ATTR_INF_NAN) == (infinities, 0)


def test_unknown_attribute_of_the_library() -> None:
    assert acl.aclGetCannAttribute(9999) == (0, 100000)
    assert "cannAttr is 9999" in message()


# The official functions


def official_functions() -> list[dict[str, str]]:
    path = SHARED / "facts" / "functions.json"
    if not path.exists():
        return []
    facts = json.loads(path.read_text(encoding="utf-8"))
    return [*facts["used_functions"], *facts["neighbour_functions_not_used_by_samples"]]


@pytest.mark.skipif(not official_functions(), reason="the list of official functions is not here")
def test_every_official_function_is_there_as_declared() -> None:
    for function in official_functions():
        name = function["name"]
        assert callable(getattr(acl, name)), name
        declared = FUNCTIONS[name].prototype
        assert declared.text == function["prototype"]
        assert declared.header == function["header"]


def test_every_function_is_documented_and_exported() -> None:
    for name, function in FUNCTIONS.items():
        assert function.python.__doc__, name
        assert hasattr(acl, name), name
