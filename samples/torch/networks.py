"""More programs for an NPU: parts of networks, each trained for some steps, and what networks are made of."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

STEPS = 20


def _learn(device: str, model: nn.Module, inputs: Tensor, wanted: Tensor, *, rate: float = 0.05, adam: bool = False) -> list[float]:
    """Losses while a model learns numbers."""
    model, inputs, wanted = model.to(device), inputs.to(device), wanted.to(device)
    optimizer = (torch.optim.AdamW if adam else torch.optim.SGD)(model.parameters(), lr=rate)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = functional.mse_loss(model(inputs), wanted)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def _exact(device: str) -> None:
    """Convolutions on a device round their inputs to HF32 unless they are told not to."""
    if device == "npu":
        torch.npu.conv.allow_hf32 = False


def cnn(device: str) -> list[float]:
    """Convolutions with batch normalisation and pooling."""
    _exact(device)
    torch.manual_seed(5)
    first = (nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2))
    second = (nn.Conv2d(8, 16, 3, stride=2), nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 4))
    return _learn(device, nn.Sequential(*first, *second), torch.randn(8, 3, 16, 16), torch.randn(8, 4))


class Residual(nn.Module):
    """A block of a ResNet."""

    def __init__(self, channels: int, wider: int) -> None:
        super().__init__()
        self.first, self.second = (
            nn.Conv2d(channels, wider, 3, stride=2, padding=1, bias=False),
            nn.Conv2d(wider, wider, 3, padding=1, bias=False),
        )
        self.norms = nn.ModuleList(nn.BatchNorm2d(wider) for _ in range(3))
        self.beside = nn.Conv2d(channels, wider, 1, stride=2, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Two convolutions beside a shorter way."""
        y = self.norms[1](self.second(functional.relu(self.norms[0](self.first(x)))))
        return functional.relu(y + self.norms[2](self.beside(x))).mean(dim=(2, 3))


def resnet_block(device: str) -> list[float]:
    """A residual block; then the means of its channels."""
    _exact(device)
    torch.manual_seed(6)
    return _learn(device, Residual(4, 8), torch.randn(6, 4, 12, 12), torch.randn(6, 8))


class Llama(nn.Module):
    """A block of Llama: RMS norms, rotary embedding, attention of torch, gated layers."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.RMSNorm(width) for _ in range(2))
        self.project, self.join = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.gate, self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def rotated(self, x: Tensor) -> Tensor:
        """Pairs of features rotated by the place of their word."""
        half = x.shape[-1] // 2
        speeds = 10000.0 ** (-torch.arange(half, device=x.device, dtype=torch.float32) / half)
        angles = torch.arange(x.shape[-2], device=x.device, dtype=torch.float32)[:, None] * speeds
        first, second = x.chunk(2, dim=-1)
        return torch.cat((first * angles.cos() - second * angles.sin(), second * angles.cos() + first * angles.sin()), dim=-1)

    def forward(self, x: Tensor) -> Tensor:
        """Attention, then gated layers."""
        batch, length, width = x.shape
        q, k, v = self.project(self.norms[0](x)).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(self.rotated(q), self.rotated(k), v, is_causal=True)
        x = x + self.join(seen.transpose(1, 2).reshape(batch, length, width))
        y = self.norms[1](x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


def llama_block(device: str) -> list[float]:
    """A block of Llama with AdamW."""
    torch.manual_seed(7)
    return _learn(device, Llama(32, 4), torch.randn(2, 12, 32), torch.randn(2, 12, 32), rate=1e-3, adam=True)


def encoder_layer(device: str) -> list[float]:
    """torch's own encoder layer."""
    torch.manual_seed(8)
    layer = nn.TransformerEncoderLayer(32, 4, dim_feedforward=64, dropout=0.0, batch_first=True)
    return _learn(device, layer, torch.randn(2, 10, 32), torch.randn(2, 10, 32))


class Recurrent(nn.Module):
    """Words one after the other."""

    def __init__(self, layers: int = 1, *, both: bool = False) -> None:
        super().__init__()
        self.layers = nn.LSTM(8, 16, num_layers=layers, batch_first=True, bidirectional=both)
        self.head = nn.Linear(32 if both else 16, 3)

    def forward(self, x: Tensor) -> Tensor:
        """What is known after the last word."""
        return self.head(self.layers(x)[0][:, -1])


def lstm(device: str) -> list[float]:
    """A recurrent layer."""
    torch.manual_seed(9)
    return _learn(device, Recurrent(), torch.randn(4, 7, 8), torch.randn(4, 3))


def lstm_of_two(device: str) -> list[float]:
    """Two recurrent layers in both directions, which torch_npu runs by its older interface."""
    torch.manual_seed(9)
    return _learn(device, Recurrent(2, both=True), torch.randn(4, 7, 8), torch.randn(4, 3))


def dropout(device: str) -> list[float]:
    """Elements that are left out, other ones in every call; how many, what becomes of the others, and of the gradient."""
    torch.manual_seed(10)
    x = torch.ones(200, 200).to(device).requires_grad_()
    y = functional.dropout(x, 0.25)
    again = functional.dropout(x, 0.25)
    y.backward(torch.ones_like(y))
    values = y.detach().cpu().unique().tolist()
    share = (y > 0).float().mean().item()
    return [share, *values, float(torch.equal(x.grad.cpu(), y.detach().cpu())), float(torch.equal(y.cpu(), again.cpu()))]


def sampling(device: str) -> list[float]:
    """Words drawn by their probabilities, all and the most likely ones: how often each came."""
    torch.manual_seed(11)
    scores = torch.linspace(0, 2, 8).to(device)
    drawn = torch.multinomial(torch.softmax(scores, dim=0), 20000, replacement=True)
    best, places = torch.topk(scores, 3)
    few = places[torch.multinomial(torch.softmax(best, dim=0), 20000, replacement=True)]
    return [(some == word).float().mean().item() for some in (drawn, few) for word in range(8)]


def embedding(device: str) -> list[float]:
    """Rows for words, and the gradient of the table."""
    torch.manual_seed(12)
    table = nn.Embedding(20, 6, padding_idx=0).to(device)
    words = torch.randint(0, 20, (5, 9)).to(device)
    weights = torch.randn(5, 9, 6).to(device)
    (table(words) * weights).sum().backward()
    return [table(words).sum().item(), table.weight.grad.abs().sum().item(), *table.weight.grad.cpu()[:, 0].tolist()]


def indexing(device: str) -> list[float]:
    """Elements taken and put by indices."""
    torch.manual_seed(13)
    x = torch.randn(6, 7).to(device)
    rows, columns = torch.randint(0, 6, (10,)).to(device), torch.randint(0, 7, (10,)).to(device)
    taken = x[rows, columns]
    put = torch.zeros(6, 7, device=device).index_put((rows, columns), taken, accumulate=True)
    added = torch.zeros(6, 7, device=device).index_add(0, rows, x[rows])
    scattered = torch.zeros(6, 7, device=device).scatter_add(1, columns.reshape(1, 10)[:, :7].expand(6, 7), x)
    changed = x.clone()
    changed[1:4, ::2] = 0
    parts = (taken, put, added, scattered, changed, x[:, -1], x.gather(1, columns[:6, None]), x.index_select(0, rows))
    return [part.sum().item() for part in parts]


def masking(device: str) -> list[float]:
    """Elements chosen by what they are."""
    torch.manual_seed(14)
    x = torch.randn(8, 9).to(device)
    mask = x > 0.3
    chosen = x[mask]
    places = mask.nonzero()
    x[x < -1] = -1
    parts = (chosen, places.float(), x, x.masked_fill(mask, 2.0), torch.where(mask, x, -x), x.tril(), x.clamp(min=0).triu(1))
    return [float(chosen.numel()), *(part.sum().item() for part in parts)]


NETWORKS: dict[Callable[[str], list[float]], float] = {
    cnn: 1e-5,
    resnet_block: 1e-5,
    llama_block: 1e-4,
    encoder_layer: 1e-5,
    lstm: 1e-5,
    lstm_of_two: 1e-5,
    dropout: 2e-2,
    sampling: 5e-2,
    embedding: 1e-6,
    indexing: 1e-6,
    masking: 1e-6,
}
"""As PROGRAMS of programs.py."""
