"""A program with a mistake: nothing orders the two streams. ``acl-emu exec --check python samples/torch/mistake.py`` says so."""

import torch

x = torch.ones(1 << 20).npu()
other = torch.npu.Stream()
with torch.npu.stream(other):
    y = x * 2
print(float((y + 1).sum()))  # torch.npu.current_stream().wait_stream(other) is missing before this line
