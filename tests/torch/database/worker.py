"""Runs entries of the database, in an environment with torch_npu: reads their names line by line, answers each with a line of JSON.

An entry has steps: forward, in place, backward. Each runs on the CPU and on the device with the same inputs, and the results are compared.
"""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import torch
import torch_npu  # noqa: F401
from torch import Tensor
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import OpInfo, SampleInput
from torch.utils._pytree import tree_flatten, tree_map

STEPS = ("forward", "in place", "backward")
PREFERRED = (torch.float32, torch.int64, torch.bool, torch.complex64)
MISSING = (
    re.compile(r"(aclnn\w+) is documented but not emulated"),
    re.compile(r"operator (\w+) (?:of the older interface )?is not emulated"),
    re.compile(r"(acl\w+) or acl\w+GetWorkspaceSize not in libopapi"),
)
WIDE = {torch.float32: torch.float64, torch.complex64: torch.complex128, torch.complex128: torch.complex128}
RELATIVE, ABSOLUTE = 2e-5, 2e-6
"""Absolute relative to the largest value of the result, or to one."""
FINER = {torch.float16: 2.0**13, torch.bfloat16: 2.0**16}
"""How many times less is asked of types with fewer digits."""
SEVERAL = 3
"""Differences that are kept of each step."""


class Different(Exception):
    """A result is not that of the CPU."""


class NotComparable(Exception):
    """The CPU refuses the sample itself."""


def name_of(entry: OpInfo) -> str:
    """Unique in the database."""
    return f"{entry.name}.{entry.variant_test_name}" if entry.variant_test_name else str(entry.name)


def dtype_of(entry: OpInfo, wanted: torch.dtype | None) -> torch.dtype | None:
    """The type that is tried: the wanted one, or float32 where the entry takes it."""
    supported = entry.supported_dtypes("cpu")
    for dtype in PREFERRED if wanted is None else (wanted,):
        if dtype in supported:
            return dtype
    return None


def to(device: str, value: Any) -> Any:
    """Sample arguments for a device: tensors are copies, and so leaves; a factory's device is replaced."""
    if isinstance(value, Tensor):
        copy = value.detach().clone() if device == "cpu" else value.detach().to(device)
        return copy.requires_grad_(value.requires_grad)
    if isinstance(value, torch.device) or value == "cpu":
        return torch.device(device)
    return value


def widened(value: Any) -> Any:
    """Tensors and types of double precision."""
    if isinstance(value, Tensor) and value.dtype in WIDE:
        return value.detach().to(WIDE[value.dtype]).requires_grad_(value.requires_grad)
    return WIDE.get(value, value) if isinstance(value, torch.dtype) else value


class Call:
    """One sample of an entry on one device."""

    def __init__(self, entry: OpInfo, sample: SampleInput, device: str, change: Callable[[Any], Any] = lambda value: value) -> None:
        self.entry, self.sample = entry, sample
        arguments = (sample.input, list(sample.args), dict(sample.kwargs))
        self.arguments = tree_map(lambda value: change(to(device, value)), arguments)

    def forward(self) -> Any:
        """The results."""
        first, others, named = self.arguments
        torch.manual_seed(7)
        return self.sample.output_process_fn_grad(self.entry.op(first, *others, **named))

    def in_place(self) -> Any:
        """The changed input."""
        first, others, named = self.arguments
        torch.manual_seed(7)
        with torch.no_grad():
            changed = self.entry.inplace_variant(first, *others, **named)
        return changed, first

    def backward(self) -> Any:
        """The gradients of the inputs, for results that are weighted in a fixed way."""
        results = [part for part in tree_flatten(self.forward())[0] if isinstance(part, Tensor) and part.requires_grad]
        inputs = [part for part in tree_flatten(self.arguments)[0] if isinstance(part, Tensor) and part.requires_grad]
        if not results:
            return []
        torch.manual_seed(8)
        weights = [torch.randn(part.shape, dtype=WIDE.get(part.dtype, torch.float64)).to(part.dtype).to(part.device) for part in results]
        return torch.autograd.grad(results, inputs, weights, allow_unused=True)


def compare(found: Any, expected: Any, shapes_only: bool) -> None:
    """Raise where they differ."""
    ours, theirs = tree_flatten(found)[0], tree_flatten(expected)[0]
    if len(ours) != len(theirs):
        raise Different(f"{len(ours)} results instead of {len(theirs)}")
    for one, other in zip(ours, theirs, strict=True):
        if not isinstance(other, Tensor):
            if type(one) is not type(other) or (not shapes_only and one != other and not (one != one and other != other)):
                raise Different(f"{one!r} instead of {other!r}")
        else:
            compare_tensors(one, other, shapes_only)


def compare_tensors(one: Any, other: Tensor, shapes_only: bool) -> None:
    """Type, shape, values."""
    if not isinstance(one, Tensor):
        raise Different(f"{one!r} instead of a tensor of shape {tuple(other.shape)}")
    if one.shape != other.shape or one.dtype != other.dtype:
        raise Different(f"{one.dtype} {tuple(one.shape)} instead of {other.dtype} {tuple(other.shape)}")
    if shapes_only:
        return
    dtype = other.dtype
    with torch.no_grad():
        one, other = (part.detach().cpu().resolve_conj().resolve_neg() for part in (one, other))
        if other.layout != torch.strided:
            one, other = one.to_dense(), other.to_dense()
        if not other.dtype.is_floating_point and not other.dtype.is_complex:
            wrong = one != other
        else:
            wide = torch.complex128 if other.dtype.is_complex else torch.float64
            one, other = one.to(wide), other.to(wide)
            sizes = other.abs()
            finite = sizes[torch.isfinite(sizes)]
            largest = max(1.0, float(finite.max())) if finite.numel() else 1.0
            finer = FINER.get(dtype, 1.0)
            wrong = ~torch.isclose(one, other, rtol=RELATIVE * finer, atol=ABSOLUTE * finer * largest, equal_nan=True)
        if bool(wrong.any()):
            where = tuple(int(index) for index in wrong.nonzero()[0])
            raise Different(
                f"{int(wrong.sum())} of {wrong.numel()} values, such as {one[where]} instead of {other[where]} at {list(where)}"
            )


def errors(found: Any, exact: Any) -> list[float]:
    """The largest error of each result, relative to its largest value, or to one."""
    pairs = zip(tree_flatten(found)[0], tree_flatten(exact)[0], strict=True)
    sizes = []
    for one, other in pairs:
        if isinstance(other, Tensor) and other.numel() and (other.dtype.is_floating_point or other.dtype.is_complex):
            distance = (one.detach().cpu().to(other.dtype) - other.detach()).abs().max()
            sizes.append(float(distance / max(1.0, float(other.detach().abs().max()))))
    return sizes


def as_good(found: Any, expected: Any, entry: OpInfo, sample: SampleInput, step: str) -> bool:
    """Whether what differs from the CPU is at most three times as far from a computation in double precision as the CPU is."""
    try:
        exact = getattr(Call(entry, sample, "cpu", widened), step.replace(" ", "_"))()
        return all(ours <= 3 * theirs < 1e-2 for ours, theirs in zip(errors(found, exact), errors(expected, exact), strict=True))
    except Exception:
        return False


def on_cpu(call: Callable[[], Any]) -> Any:
    """What is expected."""
    try:
        return call()
    except Exception as error:
        raise NotComparable(str(error)) from error


def described(sample: SampleInput) -> str:
    """A sample in a line."""

    def short(value: Any) -> Any:
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}" if isinstance(value, Tensor) else value

    named = ", ".join(f"{name}={short(value)}" for name, value in sample.kwargs.items())
    return ", ".join(filter(None, (*(str(tree_map(short, part)) for part in (sample.input, *sample.args)), named)))[:200]


def steps_of(entry: OpInfo, dtype: torch.dtype) -> Iterator[str]:
    """What can be asked of it."""
    yield "forward"
    if entry.inplace_variant is not None:
        yield "in place"
    if entry.supports_autograd and dtype in entry.supported_backward_dtypes("cpu"):
        yield "backward"


def run_step(entry: OpInfo, samples: list[SampleInput], step: str, shapes_only: bool) -> dict[str, Any]:
    """How many samples agree, which operators are missing, what differs."""
    equal, missing, differences = 0, set[str](), []
    for sample in samples:
        if step == "in place" and sample.broadcasts_input:
            continue
        ours, theirs = (getattr(Call(entry, sample, device), step.replace(" ", "_")) for device in ("npu", "cpu"))
        try:
            expected = on_cpu(theirs)
            found = ours()
            try:
                compare(found, expected, shapes_only)
            except Different:
                if not as_good(found, expected, entry, sample, step):
                    raise
            equal += 1
        except NotComparable:
            continue
        except Exception as error:
            absent = next(filter(None, (pattern.search(str(error)) for pattern in MISSING)), None)
            if absent:
                missing.add(absent[1])
            elif len(differences) < SEVERAL:
                text = str(error) if isinstance(error, Different) else f"{type(error).__name__}: {told(str(error))}"
                differences.append(f"({described(sample)}) {text}")
    return {"equal": equal, "missing": sorted(missing), "differences": differences}


def told(text: str) -> str:
    """What an error of torch_npu says of its reason."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    reasons = [line for line in lines if re.search(r"\baclnn\w+: |expected|is \d+,", line) and not line.startswith("[ERROR]")]
    return " ".join((reasons or lines)[:2])[:400]


def run(entry: OpInfo, wanted: torch.dtype | None, most: int, shapes_only: bool) -> dict[str, Any]:
    """All steps of an entry."""
    dtype = dtype_of(entry, wanted)
    if dtype is None:
        return {"entry": name_of(entry), "dtype": None, "steps": {}}
    steps = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for step in steps_of(entry, dtype):
            torch.manual_seed(6)
            samples = list(islice(entry.sample_inputs("cpu", dtype, requires_grad=step == "backward"), most))
            steps[step] = run_step(entry, samples, step, shapes_only)
    return {"entry": name_of(entry), "dtype": str(dtype).removeprefix("torch."), "steps": steps}


def main() -> None:
    """Names come from the standard input; what an entry prints itself does not come between the answers."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    torch.set_num_threads(1)
    torch.npu.conv.allow_hf32 = False  # convolutions on a device round their inputs unless they are told not to
    entries = {name_of(entry): entry for entry in op_db}
    answers.write(json.dumps(list(entries)) + "\n")
    for line in sys.stdin:
        asked = json.loads(line)
        wanted = getattr(torch, asked["dtype"]) if asked["dtype"] else None
        answers.write(json.dumps(run(entries[asked["entry"]], wanted, asked["samples"], asked["shapes_only"])) + "\n")


if __name__ == "__main__":
    main()
