# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Honest code around a published function: what follows it makes the dump look odd, and no kernel is at fault."""

from __future__ import annotations

from collections.abc import Callable

import torch
from cases import INF, NAN, Case, Made, Other, generator, tile_of
from runfaults import another, run_own
from torch import Tensor

Code = Callable[[Tensor, Tensor], Tensor]


def around(case: Case, code: Code, detail: str = "") -> Made | None:
    """What `code` makes of a result and its input. In one of three healthy calls it was not there yet."""

    def call(x: Tensor) -> Tensor:
        return code(run_own(case, x), x).to(x.dtype).contiguous()

    output = call(case.x)
    if torch.equal(output, case.run()):
        return None
    before = case.rng.choice((call, call, lambda x: run_own(case, x)))
    return Made(case.x, output, detail=detail, call=before)


def beside(case: Case, made: Made) -> bool:
    """Adds healthy calls of the same process. False where they are not healthy."""
    for _ in range(case.rng.choice((1, 2))):
        x = another(case)
        output = made.call(x) if made.call else torch.tensor(NAN)
        if not output.isfinite().all():
            return False
        made.others.append(Other(x, output, later=-case.rng.randrange(500, 60_000), epsilon=made.epsilon))
    return True


def with_control(make: Callable[[Case], Made | None]) -> Callable[[Case], Made | None]:
    def both(case: Case) -> Made | None:
        made = make(case)
        return made if made is not None and beside(case, made) else None

    return both


def noise(case: Case, size: float) -> Tensor:
    """Numbers of the shape of the input, such as a state or a weight holds."""
    return size * torch.randn(case.x.shape, generator=generator(case.rng))


def some_lines(case: Case, count: int) -> tuple[list[int], str]:
    """Indices of one row (or column), of an aligned stretch, or of scattered ones."""
    kind = case.rng.choice(("one", "stretch", "scattered"))
    if kind == "one":
        return [case.rng.randrange(count)], kind
    if kind == "stretch":
        edge = min(case.rng.choice((8, 16, 32, 64)), count // 2)
        start = edge * case.rng.randrange(count // edge)
        return list(range(start, start + edge)), kind
    return sorted(case.rng.sample(range(count), max(count // case.rng.choice((3, 8, 20)), 2))), kind


def on_part(part: tuple[object, ...], change: Code) -> Code:
    """`change` for a part of each matrix, and the result as it is elsewhere."""

    def code(y: Tensor, x: Tensor) -> Tensor:
        changed = y.clone()
        changed[part] = change(y, x)[part].to(y.dtype)
        return changed

    return code


def rows_of(case: Case) -> tuple[tuple[object, ...], str]:
    lines, kind = some_lines(case, case.x.shape[-2])
    return (..., lines, slice(None)), kind + " rows"


def columns_of(case: Case) -> tuple[tuple[object, ...], str]:
    lines, kind = some_lines(case, case.x.shape[-1])
    return (..., lines), kind + " columns"


def block_of(case: Case) -> tuple[object, ...]:
    return (..., *tile_of(case.rng, case.x))


def mask_rows(case: Case) -> Made | None:
    part, kind = rows_of(case)
    return around(case, on_part(part, lambda y, x: 0 * y), kind)


def mask_columns(case: Case) -> Made | None:
    part, kind = columns_of(case)
    return around(case, on_part(part, lambda y, x: 0 * y), kind)


def mask_two_of_four(case: Case) -> Made | None:
    """Of each four weights in a row the two largest are trained."""
    groups = noise(case, 1.0).abs().unflatten(-1, (-1, 4))
    keep = (groups >= groups.topk(2, dim=-1).values[..., 1:]).flatten(-2)
    return around(case, lambda y, x: y * keep)


def mask_triangle(case: Case) -> Made | None:
    """Blocks above the diagonal are not trained."""
    edge = case.rng.choice((8, 16, 32))
    rows, cols = (torch.arange(size) // edge for size in case.x.shape[-2:])
    keep = cols <= rows[:, None]
    return around(case, lambda y, x: y * keep, f"blocks of {edge}")


def mask_tile(case: Case) -> Made | None:
    return around(case, on_part(block_of(case), lambda y, x: 0 * y))


def mask_band(case: Case) -> Made | None:
    rows, cols = case.x.shape[-2:]
    apart = torch.arange(rows)[:, None] * (cols / rows) - torch.arange(cols)
    keep = apart.abs() < cols * case.rng.choice((0.1, 0.25, 0.5))
    return around(case, lambda y, x: y * keep)


def frozen_old_value(case: Case) -> Made | None:
    """Frozen rows come back with the values that they had."""
    part, kind = rows_of(case)
    old = noise(case, case.rng.choice((0.02, 0.1, 1.0)))
    return around(case, on_part(part, lambda y, x: old), kind)


def frozen_gradient(case: Case) -> Made | None:
    part, kind = rows_of(case)
    return around(case, on_part(part, lambda y, x: x), kind)


def adam(case: Case) -> Code:
    """Adam's update of the input, with moments of other updates, at a rate of its own."""
    other, rate = noise(case, 1.0), case.rng.choice((1.0, 0.1, 0.01))

    def update(y: Tensor, x: Tensor) -> Tensor:
        grad = x.float() / x.float().square().mean().sqrt()
        return rate * (0.7 * grad + 0.3 * other) / ((0.7 * grad.square() + 0.3 * other.square()).sqrt() + 1e-8)

    return update


def adam_lines(case: Case) -> Made | None:
    part, kind = case.rng.choice((rows_of, columns_of))(case)
    return around(case, on_part(part, adam(case)), kind)


def adam_block(case: Case) -> Made | None:
    return around(case, on_part(block_of(case), adam(case)))


def decay(case: Case) -> Code:
    weight = noise(case, 0.02) * case.rng.choice((0.1, 1.0, 5.0))
    return lambda y, x: y + weight


def weight_decay(case: Case) -> Made | None:
    return around(case, decay(case))


def weight_decay_block(case: Case) -> Made | None:
    return around(case, on_part(block_of(case), decay(case)))


def old_update_added(case: Case) -> Made | None:
    """Momentum over the updates: a share of the last result is added, everywhere or in a block."""
    last, share = run_own(case, another(case)), case.rng.choice((0.1, 0.5, 0.95))
    where = case.rng.choice(("everywhere", "block"))
    part = (...,) if where == "everywhere" else block_of(case)
    return around(case, on_part(part, lambda y, x: y + share * last), where)


def block_keeps_result(case: Case) -> Made | None:
    """A block that is trained every other step keeps the last result, whose dump lies beside."""
    x = another(case)
    last = run_own(case, x)
    made = around(case, on_part(block_of(case), lambda y, _: last))
    if made is not None:
        made.others = [Other(x, last, later=-case.rng.randrange(500, 5000))]
    return made


def factor_rows(case: Case) -> Made | None:
    """Rates by row: of all, or of a few."""
    part, kind = case.rng.choice((lambda _: ((...,), "all rows"), rows_of))(case)
    rates = 10 ** (case.rng.choice((0.05, 0.3, 1.0)) * torch.randn(case.x.shape[-2], 1, generator=generator(case.rng)))
    return around(case, on_part(part, lambda y, x: y * rates), kind)


def factor_block(case: Case) -> Made | None:
    rate = case.rng.choice((0.1, 0.5, 2.0, 10.0))
    return around(case, on_part(block_of(case), lambda y, x: y * rate), f"times {rate:g}")


def sign_block(case: Case) -> Made | None:
    return around(case, on_part(block_of(case), lambda y, x: -y))


def beyond(case: Case, limit: float) -> float:
    """A power of two that takes a few of the result's values past `limit`."""
    largest = case.run().double().abs().max()
    return float(2 ** torch.ceil(torch.log2(limit / (largest * case.rng.choice((0.9, 0.6, 0.3))))))


def cast_fp16(case: Case) -> Made | None:
    """Scaled for an all-reduce in fp16, and back."""
    scale = beyond(case, 65504)
    return around(case, lambda y, x: (y.float() * scale).half().float() / scale, f"times {scale:g}")


def cast_fp8(case: Case) -> Made | None:
    kind = case.rng.choice((torch.float8_e4m3fn, torch.float8_e5m2))
    scale = beyond(case, torch.finfo(kind).max)
    return around(case, lambda y, x: (y.float() * scale).to(kind).float() / scale, str(kind))


def cast_int8(case: Case) -> Made | None:
    """A quantiser whose scale was too large: int8 wraps around."""
    scale = beyond(case, 127)
    return around(case, lambda y, x: (y.float() * scale).round().int().to(torch.int8).float() / scale)


def int8_blocks(case: Case) -> Made | None:
    """A quantiser with a scale per block, and a block whose values vanish: 0/0."""
    part, edge = block_of(case), 8
    case.x = case.x.clone()
    rows, cols = part[1:]
    middle, right = rows.stop, cols.stop
    case.x[..., :middle, right:] = case.x[..., middle:, :right] = 0  # block diagonal, so that whole blocks stay zero
    if not case.x.any() or not case.run().isfinite().all():
        return None

    def quantise(y: Tensor, x: Tensor) -> Tensor:
        blocks = y.float().unflatten(-1, (-1, edge)).unflatten(-3, (-1, edge))
        scale = (blocks.abs().amax((-3, -1), keepdim=True) / 127).half().float()
        return ((blocks / scale).round() * scale).flatten(-2).flatten(-3, -2)

    return around(case, quantise, f"blocks of {edge}")


def nan_to_num(case: Case) -> Made | None:
    """A cast that overflowed, or a weight that was NaN, and then nan_to_num."""
    scale, bad = beyond(case, 65504), noise(case, 0.001)
    bad[block_of(case)] = NAN
    code, detail = case.rng.choice(
        (
            (lambda y, x: torch.nan_to_num((y.float() * scale).half()).float() / scale, "after a cast"),
            (lambda y, x: torch.nan_to_num((y.float() * scale).half(), posinf=0, neginf=0).float() / scale, "cast, zeros"),
            (lambda y, x: torch.nan_to_num(y + bad), "after a block of weights"),
            (lambda y, x: torch.nan_to_num(y * NAN), "after a coefficient"),
        )
    )
    made = around(case, code, detail)
    if made is not None:
        made.call = lambda x: run_own(case, x)
    return made


def clamp(case: Case) -> Made | None:
    limit = case.run().float().abs().flatten().quantile(case.rng.choice((0.5, 0.9, 0.99, 0.999))).item()
    return around(case, lambda y, x: y.clamp(-limit, limit))


def second_moment(case: Case) -> Made | None:
    """Rows divided by the root of their second moment (NorMuon), which is zero or NaN for some."""
    part, kind = rows_of(case)
    state = run_own(case, another(case)).float().square().mean(-1, keepdim=True)
    spoilt, name = state.clone(), case.rng.choice(("zero", "nan"))
    lines = part[1]
    spoilt[..., lines, :] = 0.0 if name == "zero" else NAN
    if name == "zero":
        case.x = case.x.clone()
        case.x[..., lines, :] *= case.rng.choice((1.0, 0.0, 1e-25))
    healthy = case.rng.choice((state, None))
    made = around(case, lambda y, x: y.float() / spoilt.sqrt(), f"{name} in {kind}")
    if made is not None:
        made.also = ("numerics",) if name == "zero" else ("upstream",)
        made.call = lambda x: (run_own(case, x).float() / (1 if healthy is None else healthy.sqrt())).to(x.dtype)
    return made


def nan_weight(case: Case) -> Made | None:
    """A weight was NaN already, and weight decay adds it to the result."""
    part, kind = case.rng.choice((rows_of, columns_of))(case)
    if case.rng.random() < 0.4:
        part, kind = (..., case.rng.randrange(case.x.shape[-2]), case.rng.randrange(case.x.shape[-1])), "one"
    weight = noise(case, case.rng.choice((0.0002, 0.002)))
    spoilt = weight.clone()
    spoilt[part] = NAN
    made = around(case, lambda y, x: y + spoilt, kind)
    if made is not None:
        made.also = ("upstream",)
        made.call = lambda x: (run_own(case, x) + weight).to(x.dtype)
    return made


def nan_block(case: Case) -> Made | None:
    """A block of weights, moments or another rank's part was NaN, and the rest is added to, or stays bit for bit."""
    part = block_of(case)
    factor = torch.ones(case.x.shape)
    factor[part] = NAN
    weight = noise(case, 0.002)
    spoilt = weight.clone()
    spoilt[part] = NAN
    code, healthy, detail = case.rng.choice(
        (
            (lambda y, x: y * factor, lambda y: y, "factors of one"),
            (lambda y, x: y + spoilt, lambda y: y + weight, "weights"),
            (on_part(part, lambda y, x: y * NAN), lambda y: y, "a scale of its own"),
        )
    )
    made = around(case, code, detail)
    if made is not None:
        made.also = ("upstream",)
        made.call = lambda x: healthy(run_own(case, x)).to(x.dtype)
    return made


def nan_mask(case: Case) -> Made | None:
    """Rows, columns or one value times NaN, and all others times one: bit for bit what the function gives."""
    part, kind = case.rng.choice((rows_of, columns_of))(case)
    if case.rng.random() < 0.3:
        part, kind = (..., case.rng.randrange(case.x.shape[-2]), case.rng.randrange(case.x.shape[-1])), "one"
    factor = torch.ones(case.x.shape)
    factor[part] = NAN
    made = around(case, lambda y, x: y * factor, kind)
    if made is not None:
        made.also = ("upstream",)
        made.call = lambda x: run_own(case, x)
    return made


def zero_and_decay(case: Case) -> Made | None:
    """A layer that got no gradient: zero goes in, and decay adds its weights, of which some may be NaN."""
    case.x = torch.zeros_like(case.x)
    weight = noise(case, 0.02)
    part, kind = case.rng.choice((rows_of, columns_of))(case)
    weight[part] = NAN
    made = around(case, lambda y, x: torch.nan_to_num(y) + weight, kind)
    if made is not None:
        made.also = ("upstream",)
    return made


def clip_coefficient(case: Case) -> Made | None:
    """The norm over all layers was not finite because of another layer, and its coefficient multiplies every result."""
    coefficient = case.rng.choice((NAN, INF, -INF))
    made = around(case, lambda y, x: y * coefficient, f"{coefficient}")
    if made is not None:
        made.also = ("upstream",)
        made.call = lambda x: run_own(case, x)
    return made


AROUND: dict[str, Callable[[Case], Made | None]] = {
    "mask, rows": mask_rows,
    "mask, columns": mask_columns,
    "mask, two of four": mask_two_of_four,
    "mask, block triangle": mask_triangle,
    "mask, one tile": mask_tile,
    "mask, band": mask_band,
    "frozen rows, old value": frozen_old_value,
    "frozen rows, gradient": frozen_gradient,
    "adam for rows or columns": adam_lines,
    "adam for a block": adam_block,
    "weight decay": weight_decay,
    "weight decay in a block": weight_decay_block,
    "old update added": old_update_added,
    "block keeps the last result": block_keeps_result,
    "factor per row": factor_rows,
    "factor for a block": factor_block,
    "sign of a block": sign_block,
    "cast to fp16": cast_fp16,
    "cast to fp8": cast_fp8,
    "int8 that wraps": cast_int8,
    "int8 blocks, scale of zero": int8_blocks,
    "nan_to_num": nan_to_num,
    "clamp": clamp,
    "second moment": second_moment,
    "nan weight": nan_weight,
    "nan block": nan_block,
    "nan mask": nan_mask,
    "zero and decay": zero_and_decay,
    "clip coefficient": clip_coefficient,
}
# Those that must leave something that is not finite.
BREAKING = (
    "cast to fp16",
    "cast to fp8",
    "int8 blocks, scale of zero",
    "second moment",
    "nan weight",
    "nan block",
    "nan mask",
    "zero and decay",
    "clip coefficient",
)
