# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Faults that leave finite numbers: tiles of zeros, of old values, of other places; and inputs near a limit that are fine."""

from __future__ import annotations

import torch
from cases import EPSILON, FORMAT_NAMES, VARIANTS, Case, Made, Other, draw_input, generator, one_matrix, tile_of, words


def wrong_tile_inside(case: Case) -> Made | None:
    """Old values in a tile of any op, as memory that was written by another call holds them."""
    place = case.rng.choice(case.ops())
    size = case.rng.choice((0.0, 0.05, 1.0))

    def spoil(value: torch.Tensor) -> torch.Tensor:
        changed = value.clone()
        rows, cols = tile_of(case.rng, value)
        one = one_matrix(case.rng, changed)
        old = torch.randn(one[rows, cols].shape, generator=generator(case.rng)) * size
        one[rows, cols] = old.to(value.dtype)
        return changed

    output = case.run_with(place, spoil)
    return None if torch.equal(output, case.run()) else Made(case.x, output, detail=words(place))


def missing_half(case: Case) -> Made | None:
    """The mirrored half of a symmetric product is not written."""
    square = [place for place in case.ops() if place[0] in ("gram", "polynomial", "z", "q", "r")]
    if not square:
        return None
    place = case.rng.choice(square)
    output = case.run_with(place, lambda value: value.triu())
    return None if torch.equal(output, case.run()) else Made(case.x, output, detail=words(place))


def stale_tile_last_write(case: Case) -> Made | None:
    """A tile of the output holds the result of an earlier call."""
    before = VARIANTS[case.variant](case.x.flip(-1), EPSILON, dtype=case.dtype).to(case.x.dtype)
    output = case.run()
    rows, cols = tile_of(case.rng, output)
    index = case.rng.randrange(output.shape[0]) if output.ndim == 3 else ...
    output[index][rows, cols] = before[index][rows, cols]
    return None if torch.equal(output, case.run()) else Made(case.x, output)


def stale_output(case: Case) -> Made | None:
    """The kernel wrote nothing: the output is that of the call before, whose dump lies beside it."""
    before = draw_input(case.rng, case.spectrum, tuple(case.x.shape), case.x.dtype, case.rng.uniform(0.1, 1))
    output = VARIANTS[case.variant](before, EPSILON, dtype=case.dtype).to(before.dtype).contiguous()
    if not output.isfinite().all():
        return None
    return Made(case.x, output.clone(), others=[Other(before, output, later=-case.rng.randrange(20, 2000))])


def input_in_output(case: Case) -> Made | None:
    """A tile of the output was never written, and its memory held the input."""
    output = case.run()
    rows, cols = tile_of(case.rng, output)
    index = case.rng.randrange(output.shape[0]) if output.ndim == 3 else ...
    output[index][rows, cols] = case.x[index][rows, cols]
    return None if torch.equal(output, case.run()) else Made(case.x, output)


def tile_written_twice(case: Case) -> Made | None:
    """A tile lands on its neighbour's place."""
    output = case.run()
    one = one_matrix(case.rng, output)
    rows, cols = tile_of(case.rng, output)
    width = cols.stop - cols.start
    start = cols.start + width if cols.stop + width <= one.shape[1] else cols.start - width
    if start < 0:
        return None
    one[rows, cols] = one[rows, start : start + width].clone()
    return None if torch.equal(output, case.run()) else Made(case.x, output)


def zero_canary(case: Case) -> Made | None:
    """A zero matrix of a batch comes back finite and not zero."""
    rows, cols = case.x.shape[-2:]
    case.x = torch.stack([case.x.reshape(-1, rows, cols)[0], torch.zeros(rows, cols, dtype=case.x.dtype)])
    output = case.run()
    if output[1].any() or not output.isfinite().all():
        return None
    height, width = tile_of(case.rng, output)
    output[1][height, width] = output[0][height, width]
    return Made(case.x, output) if output[1].any() else None


def offset_overflow(case: Case) -> Made | None:
    """Offsets that wrap around: the later matrices of a batch are those of the first, or never written."""
    rows, cols = case.x.shape[-2:]
    if case.x.ndim != 3 or case.x.shape[0] < 2:
        return None
    output = case.run()
    fill = case.rng.choice(("first", "nan"))
    for index in range(1, output.shape[0]):
        output[index] = output[0] if fill == "first" else torch.full((rows, cols), float("nan"))
    return Made(case.x, output, detail=fill)


def near_limit_healthy(case: Case) -> Made | None:
    """A rank-1 input takes a schedule to its edge, and it holds."""
    x = draw_input(case.rng, "rank1", tuple(case.x.shape), torch.bfloat16, case.rng.uniform(0.02, 2e4))
    case.spectrum = "rank1"
    output = VARIANTS[case.variant](x, EPSILON, dtype=case.dtype).to(x.dtype).contiguous()
    return Made(x, output, case.variant, FORMAT_NAMES[case.dtype]) if output.isfinite().all() else None


# name -> (truth, what makes it, does it need a non-finite output, is `undecided` always right too)
FINITE_FAULTS = {
    "wrong tile inside": ("implementation", wrong_tile_inside, False, True),
    "missing half": ("implementation", missing_half, False, True),
    "stale tile in the last write": ("implementation", stale_tile_last_write, False, True),
    "stale output": ("implementation", stale_output, False, True),
    "input in the output": ("implementation", input_in_output, False, True),
    "tile written twice": ("implementation", tile_written_twice, False, True),
    "zero canary": ("implementation", zero_canary, False, False),
    "offset overflow": ("implementation", offset_overflow, False, True),
    "near the limit, healthy": ("undecided", near_limit_healthy, False, True),
}
