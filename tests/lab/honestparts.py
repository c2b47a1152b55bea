# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Calls whose dump is not the argument of one call: a function per head, per shard or of all heads as one, and matrices
of a few rows."""

from __future__ import annotations

from collections.abc import Callable

import torch
from cases import NAN, Case, Made, draw_input
from honestcode import around
from runfaults import run_own
from torch import Tensor


def in_pieces(case: Case, dimension: int, name: str) -> Made | None:
    """The function is called for each piece by itself, and what is dumped is the whole."""
    size = case.x.shape[dimension]
    counts = [count for count in (2, 4, 8) if size % count == 0 and size // count >= 8]
    if not counts:
        return None
    count = case.rng.choice(counts)

    def call(x: Tensor) -> Tensor:
        return torch.cat([run_own(case, piece.contiguous()) for piece in x.chunk(count, dim=dimension)], dim=dimension)

    output = call(case.x)
    return None if torch.equal(output, case.run()) else Made(case.x, output, detail=f"{count} {name}", call=call)


def per_head(case: Case) -> Made | None:
    return in_pieces(case, -2, "heads")


def tensor_parallel(case: Case) -> Made | None:
    return in_pieces(case, -1, "shards")


def per_head_nan_weight(case: Case) -> Made | None:
    """Weight decay adds a head's weight, which was NaN already."""
    made = per_head(case)
    if made is None or made.call is None:
        return None
    count = int(made.detail.split()[0])
    height = made.output.shape[-2] // count
    head = case.rng.randrange(count)
    made.output[..., head * height : (head + 1) * height, :] = NAN
    made.detail += f", weight of head {head}"
    return made


def per_head_rescaled(case: Case) -> Made | None:
    """Each head's result is multiplied by a learned number, and one of them has overflowed."""
    made = per_head(case)
    if made is None:
        return None
    count = int(made.detail.split()[0])
    height = made.output.shape[-2] // count
    head = case.rng.randrange(count)
    made.output[..., head * height : (head + 1) * height, :] *= float("inf")
    return made


def flattened(case: Case) -> Made | None:
    """What is dumped as a batch of heads is one matrix to the function."""
    rows, columns = case.x.shape[-2:]
    counts = [count for count in (2, 3, 4, 8) if rows % count == 0]
    if not counts or case.x.numel() != rows * columns:
        return None
    heads = (case.rng.choice(counts), -1, columns)

    def call(x: Tensor) -> Tensor:
        return run_own(case, x.reshape(case.x.shape)).reshape(x.shape)

    x = case.x.reshape(heads)
    return Made(x, call(x), detail=f"{heads[0]} heads", call=call, wrapped=case.rng.random() < 0.5)


def flattened_nan_head(case: Case) -> Made | None:
    """The gradient of one head was NaN in one place, and the function hands it on to all heads."""
    made = flattened(case)
    if made is None or made.call is None:
        return None
    head = case.rng.randrange(made.x.shape[0])
    made.x = made.x.clone()
    made.x[head, -1, 0] = NAN
    made.output = made.call(made.x)
    made.also = ("upstream",)
    made.detail += f", NaN in head {head}"
    return made


def small(case: Case) -> Made | None:
    """A few rows and columns, nearly of rank one."""
    shape = case.rng.choice(((1, 1), (1, 64), (2, 2), (3, 5), (4, 64), (8, 8), (64, 2)))
    x = draw_input(case.rng, "gaussian", shape, torch.float64, 1)
    x = x[:1] * torch.linspace(1, 2, shape[0], dtype=torch.float64)[:, None] + case.rng.choice((0, 1e-4, 1e-2)) * x
    case.x = (x * 10 ** case.rng.uniform(-3, 0.5)).to(case.x.dtype)
    output = case.run()
    also = () if output.isfinite().all() else ("numerics",)
    return Made(case.x, output, detail="x".join(map(str, shape)), call=lambda y: run_own(case, y), also=also)


def small_with_a_factor(case: Case) -> Made | None:
    """The same, times a coefficient that was NaN."""
    if small(case) is None:
        return None
    made = around(case, lambda y, x: y * NAN)
    if made is not None:
        made.also = ("upstream",)
        made.call = lambda x: run_own(case, x)
    return made


# name -> what makes it, does it need a non-finite output
PARTS: dict[str, tuple[Callable[[Case], Made | None], bool]] = {
    "per head": (per_head, False),
    "per head, nan weight": (per_head_nan_weight, True),
    "per head, rescaled": (per_head_rescaled, True),
    "tensor parallel": (tensor_parallel, False),
    "flattened": (flattened, False),
    "flattened, nan head": (flattened_nan_head, True),
    "small": (small, False),
    "small, times nan": (small_with_a_factor, True),
}
