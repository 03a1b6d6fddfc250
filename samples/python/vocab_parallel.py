"""Training steps of a linear layer under cross entropy, its vocabulary split over several devices with one thread each.

The forward operators leave a maximum and a sum for each row on every device; the threads combine them on the host, and only then know
the loss. All of it in both modes and both half types, compared with the same step in float64 on the whole vocabulary. Data and table
are those of samples/cpp/vocab_parallel.cpp.
"""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
from sample_support import allocate_workspace, check, create_acl_tensor, destroy_tensors

import acl_emu as acl
import aclnnop

Array = npt.NDArray[Any]

DEVICES, ROWS, WIDTH, SHARD = 4, 48, 32, 256
VOCABULARY = DEVICES * SHARD
STEPS = 3
LEARNING_RATE = 0.02

# Type, its code, and the threshold of the mean relative error.
HALF_TYPES = (
    ("FLOAT16", np.dtype(np.float16), acl.ACL_FLOAT16, 2.0**-10),
    ("BF16", np.dtype(ml_dtypes.bfloat16), acl.ACL_BF16, 2.0**-7),
)
FLOAT_THRESHOLD = 2.0**-13


def random_values(count: int, low: float, high: float, seed: int) -> Array:
    """The same values for the same seed on every machine, from a small multiplicative generator."""
    modulus = 2147483647
    state = seed * 48271 % modulus
    values = np.empty(count, np.float32)
    for i in range(count):
        state = state * 48271 % modulus
        values[i] = low + (high - low) * (state / modulus)
    return values


class DeviceArray:
    """A tensor on memory of its own, and how to get it back."""

    def __init__(self, values: Array, code: int) -> None:
        self.values = values
        self.address, self.tensor = create_acl_tensor(values, values.shape, code)

    def read(self) -> Array:
        host = np.empty_like(self.values)
        check(acl.aclrtMemcpy(host, host.nbytes, self.address, host.nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST), "aclrtMemcpy")
        return host

    def release(self) -> None:
        destroy_tensors((self.tensor,))
        check(acl.aclrtFree(self.address), "aclrtFree")


def run(operator: str, stream: int | None, *arguments: Any) -> None:
    """Both phases of an operator, and wait for it."""
    workspaceSize, executor, ret = getattr(aclnnop, f"{operator}GetWorkspaceSize")(*arguments)
    check(ret, f"{operator}GetWorkspaceSize")
    workspaceAddr = allocate_workspace(workspaceSize)
    check(getattr(aclnnop, operator)(workspaceAddr, workspaceSize, executor, stream), operator)
    check(acl.aclrtSynchronizeStream(stream), "aclrtSynchronizeStream")
    if workspaceAddr is not None:
        check(acl.aclrtFree(workspaceAddr), "aclrtFree")


class Training:
    """One type in one mode: the data, and what each device has told the host."""

    def __init__(self, name: str, dtype: np.dtype[Any], code: int, threshold: float, *, fast: bool) -> None:
        self.name, self.dtype, self.code, self.threshold, self.fast = name, dtype, code, threshold, fast
        # Positive inputs and weights away from zero: gradients then have no elements in which large terms cancel.
        self.input = random_values(ROWS * WIDTH, 0.25, 1.0, 11).reshape(ROWS, WIDTH).astype(dtype)
        values = random_values(VOCABULARY * WIDTH, -0.2, 0.2, 12).reshape(VOCABULARY, WIDTH)
        self.weight = np.where(values < 0, values - np.float32(0.1), values + np.float32(0.1)).astype(dtype)
        self.target = (np.arange(ROWS) * 277 + 5) % VOCABULARY
        self.reports: list[dict[str, Array]] = [{} for _ in range(DEVICES)]
        self.meeting = threading.Barrier(DEVICES)
        self.losses: list[float] = []
        self.lines: list[str] = []
        self.wrong = False

    def on_device(self, deviceId: int) -> None:
        """What one thread does; when it fails, no other waits for it."""
        try:
            check(acl.aclrtSetDevice(deviceId), "aclrtSetDevice")
            stream, ret = acl.aclrtCreateStream()
            check(ret, "aclrtCreateStream")
            self.train(deviceId, stream)
            check(acl.aclrtDestroyStream(stream), "aclrtDestroyStream")
            check(acl.aclrtResetDevice(deviceId), "aclrtResetDevice")
        except BaseException:
            self.meeting.abort()
            raise

    def train(self, deviceId: int, stream: int | None) -> None:
        """All steps of one device."""
        # 2. Its shard of the weight, what all devices have alike, and the outputs
        first = deviceId * SHARD
        rows = np.zeros(ROWS, np.float32)
        on_device = {
            "input": DeviceArray(self.input, self.code),
            "weight": DeviceArray(self.weight[first : first + SHARD].copy(), self.code),
            "target": DeviceArray(self.target, acl.ACL_INT64),
            "grad": DeviceArray(rows + np.float32(1), acl.ACL_FLOAT),  # of the sum of all rows' losses
            **{name: DeviceArray(rows, acl.ACL_FLOAT) for name in ("logitsMax", "sumExpLogits", "predictedLogits", "loss")},
            "targetMask": DeviceArray(np.zeros(-(-ROWS // 8), np.uint8), acl.ACL_UINT8),
            "maskedTarget": DeviceArray(self.target, acl.ACL_INT64),
            "inputGrad": DeviceArray(self.input, self.code),
            "weightGrad": DeviceArray(self.weight[:SHARD], self.code),
        }
        if self.fast:  # only this mode keeps a number for each row and word
            on_device["logits"] = DeviceArray(np.zeros((ROWS, SHARD), self.dtype), self.code)
            on_device["softmax"] = DeviceArray(np.zeros((ROWS, SHARD), np.float32), acl.ACL_FLOAT)
        tensors = {name: array.tensor for name, array in on_device.items()}
        input, weight, logits, softmax = (tensors.get(name) for name in ("input", "weight", "logits", "softmax"))
        rate = acl.aclCreateScalar(np.float32(LEARNING_RATE), acl.ACL_FLOAT)

        for step in range(1, STEPS + 1):
            # 3. This shard's logits: their maximum, the sum below it, the target's where it is here
            local = [tensors[name] for name in ("logitsMax", "sumExpLogits", "predictedLogits", "targetMask", "maskedTarget")]
            run("aclnnFusedLinearOnlineMaxSum", stream, input, weight, tensors["target"], first, first + SHARD, *local, logits)
            parts = ("weight", "logitsMax", "sumExpLogits", "predictedLogits", "targetMask")
            self.reports[deviceId] = {name: on_device[name].read() for name in parts}

            # 4. When all shards have reported, each device gets the numbers of the whole vocabulary
            self.meeting.wait()
            combined = [DeviceArray(values, acl.ACL_FLOAT) for values in self.combined()]
            logitsMax, sumExpLogits, predictedLogits = (array.tensor for array in combined)

            # 5. The loss, and in the fast mode the softmax
            forward = (logitsMax, sumExpLogits, predictedLogits, 0.0, None, None, logits, tensors["loss"], softmax)
            run("aclnnFusedCrossEntropyLossWithMaxSum", stream, *forward)

            # 6. Both gradients; that of the input is this shard's part of a sum over all devices
            targets = (tensors["targetMask"], tensors["maskedTarget"], 0.0)
            saved = (None, None, softmax) if self.fast else (logitsMax, sumExpLogits, None)
            gradients = (tensors["inputGrad"], tensors["weightGrad"])
            run("aclnnFusedLinearCrossEntropyLossGrad", stream, tensors["grad"], input, weight, *targets, *saved, *gradients)

            # 7. Gradient descent, in place
            run("aclnnInplaceSub", stream, weight, tensors["weightGrad"], rate)
            self.reports[deviceId] |= {name: on_device[name].read() for name in ("loss", "inputGrad", "weightGrad")}
            for array in combined:
                array.release()

            # 8. Compare, on one thread while the others wait
            self.meeting.wait()
            if deviceId == 0:
                self.compare(step)
            self.meeting.wait()

        check(acl.aclDestroyScalar(rate), "aclDestroyScalar")
        for array in on_device.values():
            array.release()

    def combined(self) -> tuple[Array, Array, Array]:
        """Maximum, sum and target's logit of the whole vocabulary, from those of its parts, which are relative to their own maximum."""
        names = ("logitsMax", "sumExpLogits", "predictedLogits")
        maxima, sums, logits = (np.stack([report[name] for report in self.reports]).astype(np.float64) for name in names)
        largest = maxima.max(axis=0)
        below = maxima - largest
        masks = np.stack([np.unpackbits(report["targetMask"], count=ROWS, bitorder="little") for report in self.reports])
        total = (sums * np.exp(below)).sum(axis=0)
        predicted = np.where(masks == 1, 0, logits + below).sum(axis=0)
        return largest.astype(np.float32), total.astype(np.float32), predicted.astype(np.float32)

    def compare(self, step: int) -> None:
        """Add a line to the table: the loss, and the errors against the same step in float64 on the whole vocabulary."""
        x = self.input.astype(np.float64)
        weight, weight_grad = (
            np.concatenate([report[name] for report in self.reports]).astype(np.float64) for name in ("weight", "weightGrad")
        )
        logits = x @ weight.T
        sums = np.exp(logits).sum(axis=1)
        slopes = np.exp(logits) / sums[:, np.newaxis]
        slopes[np.arange(ROWS), self.target] -= 1
        losses = np.log(sums) - logits[np.arange(ROWS), self.target]
        actual = np.stack([report["loss"] for report in self.reports])
        input_grad = sum(report["inputGrad"].astype(np.float64) for report in self.reports)
        shares = (
            share_of_allowed(actual, np.broadcast_to(losses, actual.shape), FLOAT_THRESHOLD),
            share_of_allowed(input_grad, slopes @ weight, self.threshold),
            share_of_allowed(weight_grad, slopes.T @ x, self.threshold),
        )
        self.losses.append(float(actual[0].astype(np.float64).mean()))
        mode = "fast" if self.fast else "memory-saving"
        columns = zip((5, 13, 14), shares, strict=True)
        errors = "  ".join(f"{100 * share:{width}.1f} %" for width, share in columns)
        self.lines.append(f"{self.name:7}  {mode:13}  {step:4}  {self.losses[-1]:6.3f}  {errors}")
        fell = len(self.losses) < 2 or self.losses[-1] < self.losses[-2]
        if not (fell and all(share < 1 for share in shares)):
            self.lines.append(f"step {step}: expected errors below 100 % and a loss below that of the step before")
            self.wrong = True


def share_of_allowed(actual: Any, expected: Array, threshold: float) -> float:
    """The error by the accuracy standard, as a share of what it allows: mean below the threshold, none above ten times that."""
    error = np.abs(np.asarray(actual, np.float64) - expected) / (np.abs(expected) + 1e-7)
    return float(max(error.max() / (10 * threshold), error.mean() / threshold))


def main() -> None:
    # 1. Library, once for the process
    check(acl.aclInit(None), "aclInit")
    trainings = [Training(*half, fast=fast) for half in HALF_TYPES for fast in (True, False)]
    for training in trainings:
        with ThreadPoolExecutor(DEVICES) as threads:
            futures = [threads.submit(training.on_device, deviceId) for deviceId in range(DEVICES)]
        failures = [future.exception() for future in futures]
        for failure in failures:  # those that only waited in vain are no news
            if failure is not None and not isinstance(failure, threading.BrokenBarrierError):
                raise failure
    check(acl.aclFinalize(), "aclFinalize")
    print(f"{VOCABULARY} words on {DEVICES} devices; errors as shares of what the accuracy standard allows")
    print("type     mode           step    loss    error   input gradient   weight gradient")
    for training in trainings:
        print(*training.lines, sep="\n")
    sys.exit(any(training.wrong for training in trainings))


if __name__ == "__main__":
    main()
