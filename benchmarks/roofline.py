"""The picture: what operators reach, below the two roofs of the machine."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape

from benchmarks.operators import Row

EXPONENTIAL = 10
"""Operations that an exponential, a logarithm or the like counts as."""
OPERATIONS = {
    "LogSigmoid": 4 + 2 * EXPONENTIAL,
    "LogSigmoidForward": 4 + 2 * EXPONENTIAL,
    "LogSigmoidBackward": 2 + EXPONENTIAL,
    "LogSoftmax": 4 + EXPONENTIAL,
    "LogSoftmaxBackward": 3 + EXPONENTIAL,
    "Softmax": 4 + EXPONENTIAL,
    "SoftmaxBackward": 4,
    "SoftmaxCrossEntropyWithLogits": 7 + 2 * EXPONENTIAL,
    "ScaledMaskedSoftmax": 6 + EXPONENTIAL,
    "ScaledMaskedSoftmaxBackward": 6,
    "L1Loss": 2,
    "MseLoss": 2,
    "MseLossOut": 2,
    "SmoothL1Loss": 6,
    "SoftMarginLoss": 3 + 2 * EXPONENTIAL,
    "BinaryCrossEntropy": 8 + 2 * EXPONENTIAL,
    "BinaryCrossEntropyWithLogits": 8 + 2 * EXPONENTIAL,
    "L1LossBackward": 3,
    "MseLossBackward": 3,
    "SmoothL1LossBackward": 6,
    "SoftMarginLossBackward": 5 + EXPONENTIAL,
    "BinaryCrossEntropyBackward": 7,
    "BinaryCrossEntropyWithLogitsBackward": 4 + EXPONENTIAL,
    "KlDivBackward": 3,
    "KlDivTargetBackward": 3 + EXPONENTIAL,
    "Logit": 4 + EXPONENTIAL,
    "LogitGrad": 5,
    "Adds": 1,
    "Muls": 1,
    "Subs": 1,
    "Mul": 1,
    "Exp": EXPONENTIAL,
    "Log": EXPONENTIAL,
    "Amax": 1,
    "Max": 1,
    "ReduceSum": 1,
    "CrossEntropyLoss": 4 + EXPONENTIAL,
    "CrossEntropyLossGrad": 2 + EXPONENTIAL,
    "FusedCrossEntropyLossWithMaxSum": 2 + EXPONENTIAL,
    "CrossEntropySumExpAndIndexLogit": 2 + EXPONENTIAL,
}
"""For one element of a large operand; 2 where nothing is said. What goes by index is not in the picture."""
ELEMENTS = {"FusedCrossEntropyLossWithMaxSum": 2048 * 32768, "CrossEntropySumExpAndIndexLogit": 2048 * 32768}
LABELLED = ("SmoothL1LossBackward", "LogSoftmaxBackward", "FusedLinearCrossEntropyLossGrad (saving)")
COLOURS = {"element": "#1f6feb", "row": "#1a7f37", "product": "#a40e26"}
NAMES = {"element": "element-wise", "row": "row-wise", "product": "matrix products"}

WIDTH, HEIGHT = 900, 560
LEFT, RIGHT, TOP, BOTTOM = 80, 30, 60, 70


def operations(row: Row) -> float:
    """Arithmetic of one call: that of its matrix products, or so much for every element."""
    name = row.subject.partition(" ")[0].removeprefix("Inplace")
    return row.flops or OPERATIONS.get(name, 2) * ELEMENTS.get(name, 16 << 20)


def _rate(row: Row, bandwidth: float, peak: float) -> float:
    """Operations per second: the share of the roof above."""
    return min(peak, bandwidth * operations(row) / row.bytes) * (row.share or 0.0)


def draw(rows: Sequence[Row], bandwidth: float, peak: float) -> str:
    """An SVG: filled points are the emulator's, rings are torch's, lines join the two. Bytes and operations per second.

    Heights are shares of the bound that was timed beside each call: a machine that is slow for a while moves no point.
    """
    large = [row for row in rows if row.size == "large" and row.layout == "contiguous" and row.kind in COLOURS and row.share is not None]
    points = [row for row in large if row.dtype == ("bfloat16" if row.kind == "product" and "Fused" in row.subject else "float32")]
    intensities = [operations(row) / row.bytes for row in points] or [1.0]
    low_x, high_x = 10 ** math.floor(math.log10(min(intensities))), 10 ** math.ceil(math.log10(max(*intensities, peak / bandwidth) * 1.01))
    own_rates = [_rate(row, bandwidth, peak) for row in points]
    reached = [*own_rates, *(rate / row.ratio for rate, row in zip(own_rates, points, strict=True) if row.ratio)]
    low_y = 10 ** math.floor(math.log10(min([*reached, low_x * bandwidth])))
    high_y = 10 ** math.ceil(math.log10(max([*reached, peak])))

    def x(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(value / low_x) / math.log(high_x / low_x)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * math.log(value / low_y) / math.log(high_y / low_y)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="system-ui, sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="26" font-size="17" font-weight="600" fill="#1f2328">Large calls below the roofs of the machine</text>',
    ]
    parts += _grid(x, y, (low_x, high_x), (low_y, high_y))
    parts += _roof(x, y, low_x, high_x, low_y, bandwidth, peak)
    for rate, row in zip(own_rates, points, strict=True):
        at, own, colour = x(operations(row) / row.bytes), y(rate), COLOURS[row.kind]
        title = f"{row.subject} {row.dtype}: {row.share:.2f} of the bound"
        if row.ratio is not None:
            theirs = y(rate / row.ratio)
            parts.append(f'<line x1="{at:.1f}" y1="{own:.1f}" x2="{at:.1f}" y2="{theirs:.1f}" stroke="{colour}" stroke-opacity="0.25"/>')
            parts.append(f'<circle cx="{at:.1f}" cy="{theirs:.1f}" r="3.5" fill="#ffffff" stroke="{colour}" stroke-opacity="0.7"/>')
        parts.append(
            f'<circle cx="{at:.1f}" cy="{own:.1f}" r="4.5" fill="{colour}" fill-opacity="0.85"><title>{escape(title)}</title></circle>'
        )
    parts += _labels([(row, x(operations(row) / row.bytes), y(rate)) for rate, row in zip(own_rates, points, strict=True)])
    parts += _legend()
    return "\n".join([*parts, "</svg>", ""])


Scale = Callable[[float], float]


def _powers(low: float, high: float) -> list[float]:
    return [10.0**power for power in range(round(math.log10(low)), round(math.log10(high)) + 1)]


def _grid(x: Scale, y: Scale, across: tuple[float, float], up: tuple[float, float]) -> list[str]:
    parts = []
    for value in _powers(*across):
        parts.append(f'<line x1="{x(value):.1f}" y1="{TOP}" x2="{x(value):.1f}" y2="{HEIGHT - BOTTOM}" stroke="#d8dee4"/>')
        parts.append(f'<text x="{x(value):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle" fill="#57606a">{value:g}</text>')
    for value in _powers(*up):
        parts.append(f'<line x1="{LEFT}" y1="{y(value):.1f}" x2="{WIDTH - RIGHT}" y2="{y(value):.1f}" stroke="#d8dee4"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end" fill="#57606a">{value / 1e9:g}</text>')
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 24}" text-anchor="middle" fill="#1f2328">operations per byte</text>')
    parts.append(f'<text transform="translate(24 {middle}) rotate(-90)" text-anchor="middle" fill="#1f2328">G operations per second</text>')
    return parts


def _roof(x: Scale, y: Scale, low_x: float, high_x: float, low_y: float, bandwidth: float, peak: float) -> list[str]:
    start, ridge = max(low_x, low_y / bandwidth), peak / bandwidth
    line = f"{x(start):.1f},{y(start * bandwidth):.1f} {x(ridge):.1f},{y(peak):.1f} {x(high_x):.1f},{y(peak):.1f}"
    along = math.degrees(math.atan2(y(peak) - y(start * bandwidth), x(ridge) - x(start)))
    middle = start * (ridge / start) ** 0.2
    place = f"translate({x(middle):.1f} {y(middle * bandwidth) - 10:.1f}) rotate({along:.1f})"
    return [
        f'<polyline points="{line}" fill="none" stroke="#24292f" stroke-width="2"/>',
        f'<text transform="{place}" text-anchor="middle" fill="#24292f">copy {bandwidth / 1e9:.0f} GB/s</text>',
        f'<text x="{x(high_x) - 6:.1f}" y="{y(peak) - 24:.1f}" text-anchor="end" fill="#24292f">sgemm {peak / 1e9:.0f} Gflop/s</text>',
    ]


def _labels(points: Sequence[tuple[Row, float, float]]) -> list[str]:
    parts = []
    for row, at, up in points:
        if row.subject in LABELLED:
            left = at > WIDTH * 0.6
            place = f'x="{at - 9 if left else at + 9:.1f}" y="{up + 16:.1f}" text-anchor="{"end" if left else "start"}"'
            halo = 'stroke="#ffffff" stroke-width="3" paint-order="stroke"'
            parts.append(f'<text {place} font-size="11" {halo} fill="{COLOURS[row.kind]}">{escape(row.subject)}</text>')
    return parts


def _legend() -> list[str]:
    parts, at = [], float(LEFT)
    for kind, name in NAMES.items():
        parts.append(
            f'<circle cx="{at + 5}" cy="44" r="4.5" fill="{COLOURS[kind]}"/><text x="{at + 15}" y="48" fill="#1f2328">{name}</text>'
        )
        at += 40 + 7 * len(name)
    parts.append(
        f'<circle cx="{at + 5}" cy="44" r="3.5" fill="#ffffff" stroke="#57606a"/><text x="{at + 15}" y="48" fill="#1f2328">torch</text>'
    )
    return parts
