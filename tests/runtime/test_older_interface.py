"""Operators of the older interface: descriptions, buffers, attributes, options, and calls by name; and what else libraries link."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
import pytest

import acl_emu as acl
from acl_emu.core import dtypes
from tests.conftest import message
from tests.runtime.support import NO_HANDLE, status, upload

INVALID = acl.ACL_ERROR_INVALID_PARAM


def test_descriptions():
    made = acl.aclCreateTensorDesc(acl.ACL_FLOAT16, [2, 3, 4], acl.ACL_FORMAT_NCL)
    assert acl.aclGetTensorDescType(made) == acl.ACL_FLOAT16
    assert acl.aclGetTensorDescFormat(made) == acl.ACL_FORMAT_NCL
    assert acl.aclGetTensorDescNumDims(made) == 3
    assert [acl.aclGetTensorDescDimV2(made, index) for index in range(3)] == [(2, 0), (3, 0), (4, 0)]
    assert status(acl.aclGetTensorDescDimV2(made, 3)) == INVALID
    assert (acl.aclGetTensorDescElementCount(made), acl.aclGetTensorDescSize(made)) == (24, 48)
    acl.aclSetTensorDescName(made, "x")
    assert acl.aclGetTensorDescName(made) == "x"
    assert acl.aclSetTensorFormat(made, acl.ACL_FORMAT_ND) == 0
    assert acl.aclSetTensorShape(made, [24]) == 0
    assert acl.aclSetTensorPlaceMent(made, acl.ACL_MEMTYPE_HOST) == 0
    assert acl.aclSetTensorPlaceMent(made, 9) == INVALID
    acl.aclDestroyTensorDesc(made)
    acl.aclDestroyTensorDesc(None)
    assert acl.aclGetTensorDescType(made) == acl.ACL_DT_UNDEFINED
    assert acl.aclGetTensorDescFormat(None) == acl.ACL_FORMAT_UNDEFINED
    assert acl.aclSetTensorShape(made, [1]) == INVALID
    assert acl.aclCreateTensorDesc(acl.ACL_FLOAT, [1] * 26, acl.ACL_FORMAT_ND) is None
    unknown = acl.aclCreateTensorDesc(acl.ACL_FLOAT, [-2], acl.ACL_FORMAT_ND)
    assert acl.aclGetTensorDescNumDims(unknown) == acl.ACL_UNKNOWN_RANK
    assert acl.aclGetTensorDescSize(unknown) == 0
    acl.aclDestroyTensorDesc(unknown)


def test_buffers():
    made = acl.aclCreateDataBuffer(0x1000, 64)
    assert (acl.aclGetDataBufferAddr(made), acl.aclGetDataBufferSizeV2(made)) == (0x1000, 64)
    assert acl.aclUpdateDataBuffer(made, 0x2000, 8) == 0
    assert (acl.aclGetDataBufferAddr(made), acl.aclGetDataBufferSizeV2(made)) == (0x2000, 8)
    assert acl.aclDestroyDataBuffer(made) == 0
    assert acl.aclDestroyDataBuffer(made) == INVALID
    assert acl.aclDestroyDataBuffer(None) == INVALID


def test_attributes():
    made = acl.aclopCreateAttr()
    calls = [
        acl.aclopSetAttrBool(made, "keep_dims", 1),
        acl.aclopSetAttrInt(made, "axis", -1),
        acl.aclopSetAttrFloat(made, "p", 2.0),
        acl.aclopSetAttrString(made, "mode", "sum"),
        acl.aclopSetAttrDataType(made, "dst_type", acl.ACL_BF16),
        acl.aclopSetAttrListBool(made, "mask", [1, 0]),
        acl.aclopSetAttrListInt(made, "pads", [1, 2]),
        acl.aclopSetAttrListFloat(made, "scales", [0.5]),
        acl.aclopSetAttrListListInt(made, "pairs", [[1, 2], [3]]),
    ]
    assert calls == [0] * len(calls)
    assert acl.aclopSetAttrInt(made, None, 1) == INVALID
    assert acl.aclopSetAttrString(made, "mode", None) == INVALID
    assert acl.aclopSetAttrInt(NO_HANDLE, "axis", 1) == INVALID
    acl.aclopDestroyAttr(made)
    acl.aclopDestroyAttr(None)
    assert acl.aclopSetAttrInt(made, "axis", 1) == INVALID


def execute(name, inputs, outputs, **attributes):
    """Call an operator by name on copies of arrays; the status, and what the outputs are then."""
    with ExitStack() as stack:
        addresses, descriptions, buffers = [], [], []
        for array in (*inputs, *outputs):
            addresses.append(upload(array))
            stack.callback(acl.aclrtFree, addresses[-1])
            code = dtypes.from_numpy(array.dtype).code
            descriptions.append(acl.aclCreateTensorDesc(code, array.shape, acl.ACL_FORMAT_ND))
            stack.callback(acl.aclDestroyTensorDesc, descriptions[-1])
            buffers.append(acl.aclCreateDataBuffer(addresses[-1], array.nbytes))
            stack.callback(acl.aclDestroyDataBuffer, buffers[-1])
        attr = acl.aclopCreateAttr()
        stack.callback(acl.aclopDestroyAttr, attr)
        for key, value in attributes.items():
            setter = acl.aclopSetAttrString if isinstance(value, str) else acl.aclopSetAttrBool
            assert setter(attr, key, value) == 0
        count = len(inputs)
        given = (descriptions[:count], buffers[:count], descriptions[count:], buffers[count:])
        ret = acl.aclopCompileAndExecute(name, *given, attr, acl.ACL_ENGINE_SYS, acl.ACL_COMPILE_SYS, None, None)
        assert acl.aclrtSynchronizeDevice() == 0
        found = []
        for address, array in zip(addresses[count:], outputs, strict=True):
            found.append(np.empty_like(array))
            acl.aclrtMemcpy(found[-1], array.nbytes, address, array.nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST)
        return ret, found


X = np.arange(-6, 6, dtype=np.float32).reshape(3, 4)


def test_operators_by_name(device):
    cases = [
        ("Identity", [X], X),
        ("OnesLike", [X], np.ones_like(X)),
        ("ZerosLike", [X], np.zeros_like(X)),
        ("Cast", [X], X.astype(np.int32)),
        ("ReduceMax", [X, np.array([1], np.int64)], X.max(axis=1)),
        ("Mul", [X, X], X * X),
        ("Relu", [X], np.maximum(X, 0)),
    ]
    for name, inputs, expected in cases:
        ret, (found,) = execute(name, inputs, [np.full_like(expected, 9)])
        assert ret == 0, (name, message())
        np.testing.assert_array_equal(found, expected, err_msg=name)
    ret, (found,) = execute("ReduceMax", [X, np.array([0], np.int32)], [np.zeros((1, 4), np.float32)], keep_dims=1)
    assert (ret, found.tolist()) == (0, X.max(axis=0, keepdims=True).tolist())


def test_gradients_of_distances(device):
    """Its inputs come expanded to both sets of points."""
    first, second, grad = (np.random.default_rng(seed).normal(size=shape) for seed, shape in ((1, (3, 4)), (2, (5, 4)), (3, (3, 5))))
    apart = first[:, None] - second
    distances = np.sqrt((apart**2).sum(axis=-1))
    expected = (grad[..., None] * apart / distances[..., None]).sum(axis=1)
    whole = [
        np.ascontiguousarray(np.broadcast_to(one, (3, 5, 4)), np.float32)
        for one in (grad[..., None], first[:, None], second, distances[..., None])
    ]
    ret, (found,) = execute("CdistGrad", whole, [np.zeros((3, 4), np.float32)])
    assert ret == 0, message()
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_gradients_of_distances_between_points_that_broadcast(device):
    """The output is as the points were before: it gets the sum."""
    first, second, grad = (
        np.random.default_rng(seed).normal(size=shape) for seed, shape in ((1, (3, 4)), (2, (2, 1, 5, 4)), (3, (2, 1, 3, 5)))
    )
    apart = first[:, None] - second[..., None, :, :]
    distances = np.sqrt((apart**2).sum(axis=-1))
    expected = (grad[..., None] * apart / distances[..., None]).sum(axis=(0, 3))
    whole = [
        np.ascontiguousarray(np.broadcast_to(one, (2, 1, 3, 5, 4)), np.float32)
        for one in (grad[..., None], first[:, None], second[..., None, :, :], distances[..., None])
    ]
    ret, (found,) = execute("CdistGrad", whole, [np.zeros((1, 3, 4), np.float32)])
    assert ret == 0, message()
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


STEPS, BATCH, WIDTH, HIDDEN = 3, 2, 5, 4
LSTM_ATTRIBUTES = {"cell_type": "LSTM", "direction": "UNIDIRECTIONAL", "time_major": True}
ABSENT = np.zeros((), np.float32)


def memory(x, weight, bias, h, c):
    """Long short-term memory step by step, in double: h, c, input gate, candidate, forget gate, output gate, tanh of c of all steps."""
    found = []
    for step in x:
        i, f, j, o = np.split(np.concatenate((step, h), axis=-1) @ weight + bias, 4, axis=-1)
        i, f, o, j = *(1 / (1 + np.exp(-gate)) for gate in (i, f, o)), np.tanh(j)
        c = f * c + i * j
        h = o * np.tanh(c)
        found.append((h, c, i, j, f, o, np.tanh(c)))
    return [np.stack(one) for one in zip(*found, strict=True)]


def memory_inputs():
    rng = np.random.default_rng(4)
    shapes = ((STEPS, BATCH, WIDTH), (WIDTH + HIDDEN, 4 * HIDDEN), (4 * HIDDEN,), (BATCH, HIDDEN), (BATCH, HIDDEN))
    return [rng.normal(size=shape) * 0.5 for shape in shapes]


def single(*arrays):
    return [np.ascontiguousarray(array, np.float32) for array in arrays]


@pytest.mark.parametrize("apart", [False, True])
def test_long_short_term_memory(device, apart):
    """One matrix of weights, or one for the input and one for the state."""
    x, weight, bias, h, c = memory_inputs()
    expected = memory(x, weight, bias, h, c)
    weights = (weight[:WIDTH], weight[WIDTH:]) if apart else (weight,)
    inputs = [*single(x, *weights, bias), ABSENT, *single(h[None], c[None])]
    outputs = [np.zeros((STEPS, BATCH, HIDDEN), np.float32) for _ in range(8)]
    name, order = ("DynamicRNNV2", "ifco") if apart else ("DynamicRNN", "ifjo")
    ret, (y, *found) = execute(name, inputs, outputs, **LSTM_ATTRIBUTES, gate_order=order)
    assert ret == 0, message()
    np.testing.assert_array_equal(y, found[0])
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("apart", [False, True])
def test_gradients_of_long_short_term_memory(device, apart):
    """Against differences of the loss that the gradients belong to."""
    given = memory_inputs()
    x, weight, bias, h, c = given
    rng = np.random.default_rng(5)
    of_y, of_h, of_c = rng.normal(size=(STEPS, BATCH, HIDDEN)), rng.normal(size=(BATCH, HIDDEN)), rng.normal(size=(BATCH, HIDDEN))

    def loss():
        hidden, cells = memory(*given)[:2]
        return (hidden * of_y).sum() + (hidden[-1] * of_h).sum() + (cells[-1] * of_c).sum()

    expected = []
    for array in given:
        slopes = np.zeros_like(array)
        for place in np.ndindex(array.shape):
            before = array[place]
            ends = []
            for offset in (1e-5, -1e-5):
                array[place] = before + offset
                ends.append(loss())
            array[place] = before
            slopes[place] = (ends[0] - ends[1]) / 2e-5
        expected.append(slopes)
    to_x, to_weight, to_bias, to_h, to_c = expected
    split = ([weight[:WIDTH], weight[WIDTH:]], [to_weight[:WIDTH], to_weight[WIDTH:]]) if apart else ([weight, bias], [to_weight])
    hidden, cells, *gates = memory(*given)
    inputs = single(x, *split[0], hidden, h, c, hidden, cells, of_y, of_h, of_c, *gates)
    wanted = single(*split[1], to_bias, to_x, to_h, to_c)
    name = "DynamicRNNV2Grad" if apart else "DynamicRNNGrad"
    ret, found = execute(name, [*inputs, *[ABSENT] * 5], [np.zeros_like(one) for one in wanted], gate_order="ifjo")
    assert ret == 0, message()
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "attributes", [{}, {"gate_order": "ifjo", "direction": "REDIRECTIONAL"}, {"gate_order": "ifjo", "time_major": False}]
)
def test_long_short_term_memory_that_is_not_emulated(device, attributes):
    x, weight, bias, h, c = memory_inputs()
    inputs = [*single(x, weight, bias), ABSENT, *single(h[None], c[None])]
    outputs = [np.zeros((STEPS, BATCH, HIDDEN), np.float32) for _ in range(8)]
    assert execute("DynamicRNN", inputs, outputs, **attributes)[0] == acl.ACL_ERROR_OP_NOT_FOUND
    assert "operator DynamicRNN is not emulated for this call" in message()
    inputs[3] = np.ones(BATCH, np.int32)
    assert execute("DynamicRNN", inputs, outputs, gate_order="ifjo")[0] == acl.ACL_ERROR_OP_NOT_FOUND
    assert "lengths of sequences" in message()


def test_operators_that_are_none(device):
    ret, _ = execute("FlyToTheMoon", [X], [X])
    assert ret == acl.ACL_ERROR_OP_NOT_FOUND
    assert "FlyToTheMoon" in message()
    assert execute("Identity", [], [X])[0] == acl.ACL_ERROR_OP_NOT_FOUND
    assert execute("Identity", [X], [np.zeros((7, 9), np.float32)])[0] == acl.ACL_ERROR_OP_NOT_FOUND
    nothing = (None, None, None, None, None, 0, 0, None, None)
    assert acl.aclopCompileAndExecute(None, *nothing) == INVALID
    assert acl.aclopCompileAndExecuteV2("Identity", [NO_HANDLE], [NO_HANDLE], *nothing[2:]) == INVALID
    assert acl.aclopCompileAndExecuteV2("Identity", [NO_HANDLE], [], *nothing[2:]) == INVALID


def test_options():
    assert acl.aclGetCompileopt(acl.ACL_OP_JIT_COMPILE, 16) == ("disable", 0)
    assert acl.aclGetCompileoptSize(acl.ACL_OP_JIT_COMPILE) == len("disable") + 1
    assert acl.aclGetCompileopt(acl.ACL_OP_JIT_COMPILE, 3) == ("", INVALID)
    assert acl.aclSetCompileopt(acl.ACL_PRECISION_MODE, "must_keep_origin_dtype") == 0
    assert acl.aclGetCompileopt(acl.ACL_PRECISION_MODE, 64) == ("must_keep_origin_dtype", 0)
    assert acl.aclSetCompileopt(99, "x") == INVALID
    assert acl.aclSetCompileopt(acl.ACL_PRECISION_MODE, None) == INVALID


def test_versions(monkeypatch):
    from acl_emu.core import soc

    version, ret = acl.aclsysGetCANNVersion(acl.ACL_PKG_NAME_RUNTIME)
    assert (version.version, version.majorVersion, ret) == ("9.0.0", "9", 0)
    assert status(acl.aclsysGetCANNVersion(8)) == INVALID
    assert acl.aclsysGetVersionStr("runtime") == ("9.0.0", 0)
    assert status(acl.aclsysGetVersionStr(None)) == INVALID
    for chosen, parts in (("8.3.RC1", ("8", "3", "RC1")), ("8.5.0", ("8", "5", "0"))):
        monkeypatch.setenv("ACL_EMU_CANN", chosen)
        soc.cann_version.cache_clear()
        version, _ = acl.aclsysGetCANNVersion(0)
        assert (version.majorVersion, version.minorVersion, version.releaseVersion) == parts
    monkeypatch.setenv("ACL_EMU_CANN", "1.0")
    soc.cann_version.cache_clear()
    with pytest.raises(soc.ConfigurationError, match=r"ACL_EMU_CANN='1.0'"):
        soc.check_values()
    monkeypatch.delenv("ACL_EMU_CANN")
    soc.cann_version.cache_clear()


def test_the_system(device):
    import os

    assert acl.aclrtDeviceGetBareTgid() == (os.getpid(), 0)
    first, second = (acl.aclrtDeviceGetUuid(index)[0].bytes for index in (0, 1))
    assert len(first) == 16
    assert first != second
    assert status(acl.aclrtDeviceGetUuid(99)) == acl.ACL_ERROR_RT_INVALID_DEVICEID
    used, ret = acl.aclrtGetDeviceUtilizationRate(0)
    assert (used.cubeUtilization, used.memoryUtilization, ret) == (0, 0, 0)
    assert acl.aclrtSetOpExecuteTimeOutV2(5_000_000) == (5_000_000, 0)
    assert acl.aclrtSetOpExecuteTimeOut(5) == 0
    assert acl.aclrtSetOpWaitTimeout(0) == 0


def test_stream_attributes(device):
    stream, _ = acl.aclrtCreateStream()
    from acl_emu.api.acl_rt.streams import StreamAttrValue

    for kind, value in ((acl.ACL_STREAM_ATTR_FAILURE_MODE, 1), (acl.ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, 1), (4, 7), (5, 3)):
        assert acl.aclrtSetStreamAttribute(stream, kind, StreamAttrValue(value)) == 0
        assert acl.aclrtGetStreamAttribute(stream, kind) == (StreamAttrValue(value), 0)
    assert acl.aclrtGetStreamOverflowSwitch(stream) == (1, 0)
    assert acl.aclrtSetStreamOverflowSwitch(stream, 2) == acl.ACL_ERROR_RT_PARAM_INVALID
    assert acl.aclrtSetStreamAttribute(stream, 9, StreamAttrValue()) == acl.ACL_ERROR_RT_PARAM_INVALID
    assert acl.aclrtSetStreamAttribute(stream, 1, None) == INVALID
    assert acl.aclrtDestroyStream(stream) == 0


def test_dump_switches(tmp_path):
    assert acl.aclmdlSetDump("x") == acl.ACL_ERROR_DUMP_NOT_RUN
    assert acl.aclmdlFinalizeDump() == acl.ACL_ERROR_DUMP_NOT_RUN
    assert acl.aclmdlInitDump() == 0
    assert acl.aclmdlInitDump() == acl.ACL_ERROR_DUMP_ALREADY_RUN
    assert acl.aclmdlSetDump(None) == INVALID
    assert acl.aclmdlSetDump(str(tmp_path / "none.json")) == acl.ACL_ERROR_INVALID_FILE
    (tmp_path / "dump.json").write_text("{}")
    assert acl.aclmdlSetDump(str(tmp_path / "dump.json")) == acl.ACL_ERROR_FEATURE_UNSUPPORTED
    assert acl.aclmdlFinalizeDump() == 0


def test_what_a_profiler_would_be_told():
    assert acl.MsprofRegisterCallback(1, None) == 0
    assert acl.MsprofGetHashId("aclnnAdd", 8) == acl.MsprofGetHashId("aclnnAddX", 8) != acl.MsprofGetHashId("aclnnSub", 8)
    assert acl.MsprofReportApi(1, None) == acl.MsprofReportCompactInfo(1, None, 0) == acl.MsprofReportAdditionalInfo(1, None, 0) == -1
    assert acl.MsprofSysCycleTime() <= acl.MsprofSysCycleTime()


def test_kernels_of_a_device_are_refused():
    for call in (acl.rtKernelLaunch, acl.rtDevBinaryRegister, acl.rtFunctionRegister, acl.rtGetC2cCtrlAddr, acl.aclrtBinaryLoadFromData):
        assert call() == acl.ACL_ERROR_RT_FEATURE_NOT_SUPPORT
