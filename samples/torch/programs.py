"""Programs as they are written for an NPU: each is a function of the device, and returns numbers that do not depend on it."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

STEPS = 20


def _mlp() -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 4))


def _data() -> tuple[Tensor, Tensor]:
    torch.manual_seed(2)
    return torch.randn(64, 16), torch.randint(0, 4, (64,))


def _train(device: str, make: Callable[[Iterator[nn.Parameter]], torch.optim.Optimizer]) -> list[float]:
    model = _mlp().to(device)
    inputs, labels = (part.to(device) for part in _data())
    optimizer = make(model.parameters())
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def mlp_sgd(device: str) -> list[float]:
    """A multilayer perceptron, plain gradient descent."""
    return _train(device, lambda parameters: torch.optim.SGD(parameters, lr=0.1))


def mlp_momentum(device: str) -> list[float]:
    """The same with momentum and weight decay."""
    return _train(device, lambda parameters: torch.optim.SGD(parameters, lr=0.05, momentum=0.9, weight_decay=1e-3))


def mlp_adamw(device: str) -> list[float]:
    """The same with AdamW."""
    return _train(device, lambda parameters: torch.optim.AdamW(parameters, lr=1e-2))


class Block(nn.Module):
    """One layer of a transformer, attention written out."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.project, self.join = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Attention, then two linear layers."""
        batch, length, width = x.shape
        q, k, v = self.project(self.first(x)).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-2, -1)) * (width // self.heads) ** -0.5
        weights = torch.softmax(scores.masked_fill(~mask[:length, :length], float("-inf")), dim=-1)
        x = x + self.join((weights @ v).transpose(1, 2).reshape(batch, length, width))
        return x + self.down(functional.gelu(self.up(self.second(x))))


class GPT(nn.Module):
    """A small language model."""

    def __init__(self, words: int = 32, width: int = 32, heads: int = 4, layers: int = 2, length: int = 24) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)
        self.register_buffer("mask", torch.tril(torch.ones(length, length, dtype=torch.bool)))

    def forward(self, tokens: Tensor) -> Tensor:
        """Scores of the next word."""
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x, self.mask)
        return self.head(self.norm(x))


def _gpt(device: str) -> tuple[GPT, Tensor]:
    torch.manual_seed(3)
    return GPT().to(device), torch.randint(0, 32, (4, 17)).to(device)


def gpt_step(model: GPT, tokens: Tensor, optimizer: torch.optim.Optimizer) -> float:
    """Learn to tell the next word; the loss."""
    optimizer.zero_grad()
    scores = model(tokens[:, :-1])
    loss = functional.cross_entropy(scores.float().reshape(-1, scores.shape[-1]), tokens[:, 1:].reshape(-1))
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


def gpt_train(device: str) -> list[float]:
    """A small GPT with AdamW and clipped gradients."""
    model, tokens = _gpt(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    return [gpt_step(model, tokens, optimizer) for _ in range(STEPS)]


def gpt_generate(device: str) -> list[float]:
    """The most likely word again and again; the sequence grows."""
    model, tokens = _gpt(device)
    found = tokens[:1, :3]
    with torch.no_grad():
        for _ in range(12):
            found = torch.cat((found, model(found)[:, -1].argmax(dim=-1, keepdim=True)), dim=1)
    return [float(word) for word in found[0].cpu()]


def autocast(device: str) -> list[float]:
    """Matrix products in BF16, the rest in FLOAT."""
    model, (inputs, labels) = _mlp().to(device), (part.to(device) for part in _data())
    losses = []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(STEPS):
        optimizer.zero_grad()
        with torch.autocast(device_type=device, dtype=torch.bfloat16):
            scores = model(inputs)
        loss = functional.cross_entropy(scores.float(), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def scaler(device: str) -> list[float]:
    """Losses are scaled, gradients scaled back and looked at."""
    model, (inputs, labels) = _mlp().to(device), (part.to(device) for part in _data())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaling = torch.amp.GradScaler(device, init_scale=256.0)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(inputs), labels)
        scaling.scale(loss).backward()
        scaling.step(optimizer)
        scaling.update()
        losses.append(loss.item())
    return losses


def loader(device: str) -> list[float]:
    """Batches from page-locked memory, copied without waiting."""
    inputs, labels = _data()
    batches = DataLoader(TensorDataset(inputs, labels), batch_size=16, pin_memory=device != "cpu")
    total = torch.zeros((), device=device)
    for some, others in batches:
        total = total + some.to(device, non_blocking=True).sum() + others.to(device, non_blocking=True).float().sum()
    return [total.item()]


def streams(device: str) -> list[float]:
    """Two streams and events between them."""
    x = torch.arange(1000, dtype=torch.float32).to(device)
    if device == "cpu":
        return [float((x * 2 + 1).sum())]
    other, done = torch.npu.Stream(), torch.npu.Event(enable_timing=True)
    begun = torch.npu.Event(enable_timing=True)
    begun.record()
    other.wait_event(begun)
    with torch.npu.stream(other):
        y = x * 2
        done.record()
    torch.npu.current_stream().wait_event(done)
    z = y + 1
    torch.npu.synchronize()
    assert begun.elapsed_time(done) >= 0
    return [float(z.sum())]


def save_and_load(device: str) -> list[float]:
    """A checkpoint that comes back as it was."""
    model, (inputs, _) = _mlp().to(device), _data()
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    other = copy.deepcopy(model)
    other.load_state_dict(torch.load(file, map_location=device))
    return [other(inputs.to(device)).abs().sum().item()]


def captured_graph(device: str) -> list[float]:
    """A step that is recorded once and runs again with other numbers."""
    model = _mlp().to(device).eval()
    inputs = _data()[0].to(device)
    if device == "cpu":
        return [model(inputs * factor).sum().item() for factor in (1, 2, 3)]
    given = inputs.clone()
    with torch.no_grad():
        model(given)
        graph = torch.npu.NPUGraph()
        with torch.npu.graph(graph):
            scores = model(given)
    totals = []
    for factor in (1, 2, 3):
        given.copy_(inputs * factor)
        graph.replay()
        totals.append(float(scores.sum()))
    return totals


def printed(device: str) -> list[float]:
    """A tensor as text."""
    x = torch.linspace(-3, 3, 12).reshape(3, 4).to(device)
    text = repr(x).replace(", device='npu:0'", "")
    print(f"  {text}")
    return [float(len(text)), float(sum(map(ord, text)))]


PROGRAMS: dict[Callable[[str], list[float]], float] = {
    mlp_sgd: 1e-5,
    mlp_momentum: 1e-5,
    mlp_adamw: 1e-4,
    gpt_train: 1e-4,
    gpt_generate: 0,
    autocast: 2e-2,
    scaler: 1e-5,
    loader: 1e-6,
    streams: 0,
    save_and_load: 1e-6,
    captured_graph: 1e-5,
    printed: 0,
}
"""How far results may be from those of the CPU, relative to the largest of them."""
