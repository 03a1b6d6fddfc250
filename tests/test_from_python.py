"""What a Python programmer sees: help and signatures, what a handle is, and mistakes that no C program could make."""

from __future__ import annotations

import copy
import inspect
import pickle
import pydoc
from collections.abc import Iterator

import numpy as np
import pytest

import acl_emu as acl
import aclnnop
from acl_emu.api.border import FUNCTIONS
from acl_emu.core.documented import python_name
from aclnnop.registry import MODULES
from tests.conftest import message, run_python


@pytest.fixture
def stream(device: int) -> Iterator[int]:
    made, status = acl.aclrtCreateStream()
    assert status == 0
    yield made
    assert acl.aclrtDestroyStream(made) == 0


def tensor(shape: tuple[int, ...] = (2, 3), dtype: int = acl.ACL_FLOAT, address: int = 0x1000) -> int:
    made = acl.aclCreateTensor(shape, dtype, None, 0, acl.ACL_FORMAT_ND, shape, address)
    assert made is not None
    return made


# Functions


def test_the_signature_of_phase_one() -> None:
    signature = inspect.signature(aclnnop.aclnnSmoothL1LossBackwardGetWorkspaceSize)
    assert str(signature) == (
        "(gradOut: acl_emu.aclTensor, self: acl_emu.aclTensor, target: acl_emu.aclTensor, reduction: int, beta: float, "
        "gradInput: acl_emu.aclTensor) -> tuple[int, acl_emu.aclOpExecutor, int]"
    )


def test_the_signature_of_phase_two() -> None:
    signature = inspect.signature(aclnnop.aclnnSoftmax)
    assert list(signature.parameters) == ["workspace", "workspaceSize", "executor", "stream"]
    assert signature.parameters["executor"].annotation is acl.aclOpExecutor
    assert signature.return_annotation is int


def test_help_for_phase_one() -> None:
    text = pydoc.plain(pydoc.render_doc(aclnnop.aclnnSmoothL1LossBackwardGetWorkspaceSize))
    assert "aclnnSmoothL1LossBackwardGetWorkspaceSize(gradOut: acl_emu.aclTensor, " in text
    assert "in module aclnnop" in text
    assert "reduction  int64_t           0 (none), 1 (mean), 2 (sum)" in text
    assert "gradInput  aclTensor*        output; FLOAT, FLOAT16, BF16" in text
    assert "Returns (workspaceSize, executor, status)" in text


def test_help_for_phase_two() -> None:
    text = pydoc.plain(pydoc.render_doc(aclnnop.aclnnSoftmax))
    assert "aclnnSoftmax(workspace: int | None, workspaceSize: int, " in text
    assert "from aclnnSoftmaxGetWorkspaceSize" in text


@pytest.mark.parametrize("name", sorted(MODULES))
def test_every_phase_describes_itself(name: str) -> None:
    operator = aclnnop.find(name)
    for function, spelled in ((operator.get_workspace_size, f"{name}GetWorkspaceSize"), (operator.run, name)):
        assert function.__name__ == function.__qualname__ == spelled
        assert function.__module__ == "aclnnop"
        assert repr(function) == f"<function {spelled}>"
        assert (inspect.getdoc(function) or "").startswith("Phase ")
    assert list(inspect.signature(operator.get_workspace_size).parameters) == [python_name(name) for name, _ in operator.parameters]


def test_a_phase_is_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(aclnnop.aclnnSoftmax)) is aclnnop.aclnnSoftmax


def test_a_phase_in_a_class_binds_to_nothing() -> None:
    class Holder:
        run = aclnnop.aclnnSoftmax

    assert Holder().run is aclnnop.aclnnSoftmax


@pytest.mark.parametrize(
    ("name", "answer", "text"),
    [
        ("aclrtMalloc", "tuple[DevicePointer, int]", "Returns (devPtr, status)."),
        ("aclrtGetMemInfo", "tuple[int, int, int]", "Returns (free, total, status)."),
        ("aclGetViewShape", "tuple[list[int], int]", "Returns (viewDims, status)."),
        ("aclrtFree", "int", "Returns the status."),
        ("aclCreateIntArray", "Handle", "C: aclIntArray* aclCreateIntArray("),
    ],
)
def test_help_says_what_is_returned(name: str, answer: str, text: str) -> None:
    function = getattr(acl, name)
    assert inspect.signature(function).return_annotation == answer
    shown = pydoc.plain(pydoc.render_doc(function))
    assert answer in shown
    assert text in shown


def test_every_function_shows_its_c_prototype() -> None:
    for name, function in FUNCTIONS.items():
        original = function.python.__name__
        assert original == name or original.lower() == name.lower()
        assert f" {original}(" in (function.python.__doc__ or "") or "Not emulated" in (function.python.__doc__ or ""), name


# Handles


def test_a_handle_says_what_it_is(stream: int) -> None:
    made = tensor()
    assert isinstance(made, int)
    assert isinstance(made, acl.aclTensor)
    assert repr(made) == f"<aclTensor 2×3 FLOAT at {made:#x}>"
    assert repr(stream).startswith("<aclrtStream ")
    assert repr(stream).endswith(f" of device 0 at {stream:#x}>")
    assert acl.aclDestroyTensor(made) == 0
    assert repr(made) == f"<aclTensor (destroyed) at {made:#x}>"


def test_executors_of_both_ways_say_whose_they_are(stream: int) -> None:
    """The first comes from Python, a later one of the same arguments from C."""
    x, y = tensor(), tensor()
    for _ in range(4):
        _, executor, status = aclnnop.aclnnExpGetWorkspaceSize(x, y)
        assert status == 0
        assert type(executor) is acl.aclOpExecutor
        assert repr(executor) == f"<aclOpExecutor of aclnnExp at {executor:#x}>"
        assert acl.aclDestroyAclOpExecutor(executor) == 0
    assert acl.aclDestroyTensor(x) == acl.aclDestroyTensor(y) == 0


@pytest.mark.parametrize(
    ("make", "destroy", "text"),
    [
        (lambda: acl.aclCreateScalar(1.5, acl.ACL_FLOAT), acl.aclDestroyScalar, "aclScalar 1.5 FLOAT"),
        (lambda: acl.aclCreateIntArray([1, 2]), acl.aclDestroyIntArray, "aclIntArray [1, 2]"),
        (lambda: acl.aclCreateBoolArray([True]), acl.aclDestroyBoolArray, "aclBoolArray [True]"),
        (lambda: acl.aclCreateFloatArray(range(40)), acl.aclDestroyFloatArray, "31.0, …]"),
        (lambda: acl.aclCreateTensorList([tensor()]), acl.aclDestroyTensorList, "aclTensorList of 1"),
        (lambda: tensor((), acl.ACL_BF16), acl.aclDestroyTensor, "aclTensor 0-dim BF16"),
        (lambda: tensor((4,), 99), acl.aclDestroyTensor, "aclTensor 4 "),
        (lambda: acl.aclrtCreateEvent()[0], acl.aclrtDestroyEvent, "aclrtEvent at"),
    ],
)
def test_what_other_handles_say(device: int, make, destroy, text: str) -> None:
    handle = make()
    assert text in repr(handle)
    assert str(handle) == repr(handle)
    assert destroy(handle) == 0


def test_a_plain_number_is_as_good(stream: int) -> None:
    x = tensor()
    assert acl.aclGetViewShape(int(x)) == ([2, 3], 0)
    assert acl.aclrtSynchronizeStream(int(stream)) == 0
    assert acl.aclDestroyTensor(int(x)) == 0


def test_a_copy_of_a_handle_is_its_number(device: int) -> None:
    x = tensor()
    for other in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert other == x
        assert type(other) is int
    assert acl.aclDestroyTensor(x) == 0


def test_a_swapped_stream_and_executor_show(stream: int) -> None:
    x, y = tensor(), tensor()
    size, executor, status = aclnnop.aclnnExpGetWorkspaceSize(x, y)
    assert status == 0
    assert aclnnop.aclnnExp(None, size, stream, executor) == acl.ACLNN_ERR_INNER
    assert "(a living aclrtStream), expected a living aclOpExecutor" in message()
    assert acl.aclDestroyAclOpExecutor(executor) == 0
    assert acl.aclDestroyTensor(x) == acl.aclDestroyTensor(y) == 0


NOT_UNPACKED = (0x1000, 0)
ARRAY = np.zeros(3, np.float32)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: aclnnop.aclnnExpGetWorkspaceSize(ARRAY, None),
            "self must be a handle of an aclTensor or None, got an array of shape (3,)",
        ),
        (lambda: aclnnop.aclnnExpGetWorkspaceSize(np.zeros(0), None), "self must be a handle of an aclTensor"),
        (lambda: aclnnop.aclnnExpGetWorkspaceSize((), None), "self must be a handle of an aclTensor"),
        (lambda: aclnnop.aclnnAddsGetWorkspaceSize(None, 1.5, None, None), "other must be a handle of an aclScalar or None, got 1.5"),
        (lambda: aclnnop.aclnnExp(None, 0, None, NOT_UNPACKED), "stream must be a handle of an aclrtStream or None, got (4096, 0); unpack"),
        (lambda: aclnnop.aclnnExp(None, 0, (0, None, 0), None), "executor must be a handle of an aclOpExecutor"),
        (lambda: aclnnop.aclnnExp(NOT_UNPACKED, 0, None, None), "workspace must be an address"),
        (lambda: acl.aclrtSynchronizeStream(NOT_UNPACKED), "stream must be a handle or None, got (4096, 0); unpack"),
        (lambda: acl.aclrtSynchronizeStream(stream=NOT_UNPACKED), "stream must be a handle"),
        (lambda: acl.aclrtStreamWaitEvent(None, ARRAY), "event must be a handle"),
        (lambda: acl.aclrtRecordEvent(NOT_UNPACKED, None), "event must be a handle"),
        (lambda: acl.aclDestroyTensor(ARRAY), "tensor must be a handle"),
        (lambda: acl.aclDestroyTensor("x"), "tensor must be a handle"),
        (lambda: acl.aclDestroyTensor(1.5), "tensor must be a handle"),
        (lambda: acl.aclrtSetCurrentContext(NOT_UNPACKED), "context must be a handle"),
        (lambda: acl.aclrtFree(NOT_UNPACKED), "devPtr must be an address"),
        (lambda: acl.aclrtFreeHost(NOT_UNPACKED), "hostPtr must be an address"),
        (lambda: tensor(address=NOT_UNPACKED), "tensorData must be an address or None, got (4096, 0); unpack"),  # type: ignore[arg-type]
        (lambda: acl.aclCreateTensorList([NOT_UNPACKED]), "value[0] must be a handle"),
        (lambda: acl.aclrtMemcpy(NOT_UNPACKED, 4, ARRAY, 4, 1), "dst must be a buffer, an integer address or None, got tuple"),
    ],
)
def test_what_can_be_no_handle_stops_at_once(device: int, call, text: str) -> None:
    with pytest.raises(TypeError) as refused:
        call()
    assert text in str(refused.value)


def test_the_same_with_the_checker(device: int) -> None:
    with acl.check() as findings, pytest.raises(TypeError, match="stream must be a handle"):
        acl.aclrtSynchronizeStream(NOT_UNPACKED)
    assert findings.kinds == ["call-order"]  # no aclInit, and nothing else


# Names


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("aclnnSoftMax", "aclnnSoftMax is not emulated; did you mean aclnnSoftmax?"),
        ("SmoothL1LosBackward", "did you mean aclnnSmoothL1LossBackward"),
        ("aclnnZzz", "aclnnZzz is not emulated; `acl-emu ops` lists what is"),
    ],
)
def test_a_wrong_name(name: str, text: str) -> None:
    with pytest.raises(AttributeError) as refused:
        acl.call(name, 1)
    assert text in str(refused.value)


def test_the_short_name() -> None:
    x = np.array([[1, 2, 3]], np.float32)
    reference = np.exp(x.astype(np.float64))
    np.testing.assert_allclose(acl.call("Softmax", x, 1, np.empty_like(x)), reference / reference.sum(), rtol=1e-6)


def test_a_double_is_not_rounded() -> None:
    assert acl.call("aclnnAdds", np.array([1.0]), 0.1, 1, np.empty(1))[0] == 1.1
    assert acl.call("aclnnAdds", np.array([1.0], np.float32), 0.1, 1, np.empty(1, np.float32))[0] == np.float32(1.1)


def test_completion_of_the_package() -> None:
    done = run_python("import acl_emu, aclnnop; print('aclnnSoftmax' in dir(aclnnop), {'check', 'reset'} <= {*dir(acl_emu)})")
    assert done.stdout == "True True\n", done.stderr
