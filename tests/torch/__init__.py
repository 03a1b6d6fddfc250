"""torch_npu on emulated devices."""
