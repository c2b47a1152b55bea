# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""What the fault generator draws from: one call with its input, variant and format, and tiles to spoil."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reference"))

from newton_schulz import OWN_DTYPE, VARIANTS  # noqa: E402

EPSILON = torch.tensor(1e-8).item()
NAN, INF = float("nan"), float("inf")
SPECTRA = ("gaussian", "log3", "log7", "rank16", "rank1")
SHAPES = ((1, 96, 160), (1, 160, 96), (1, 64, 64), (1, 128, 288), (3, 64, 96), (160, 96), (48, 200))
# Of sizes from which verdicts go by a sample of the output and compute half of symmetric products.
LARGE_SHAPES = ((1, 512, 896), (1, 896, 512), (1, 448, 448), (2, 384, 768), (512, 1408))
FORMAT_NAMES = {torch.float32: "fp32", torch.bfloat16: "bf16", torch.float16: "fp16"}

# What people run; the two unprotected forms of newton_schulz blow up by themselves and are faults of their own below.
RUNNING = [name for name in VARIANTS if not name.startswith(("polar-express-unprotected", "gram-no"))]

# Those that a case may run; --variants leaves fewer.
choices = list(RUNNING)
# Of these matrices; --large has others.
shapes = list(SHAPES)

@dataclass
class Case:
    """One call: what goes in, what runs, and the dice."""

    rng: random.Random
    spectrum: str
    x: Tensor
    variant: str
    dtype: torch.dtype

    def run(self, hook: Callable[[str, int, Tensor], Tensor] | None = None) -> Tensor:
        """The output as a dump holds it: in the input's dtype."""
        return VARIANTS[self.variant](self.x, EPSILON, dtype=self.dtype, hook=hook).to(self.x.dtype).contiguous()

    def ops(self) -> list[tuple[str, int]]:
        """Every place inside the iteration where a tile can go bad, in order."""
        seen: list[tuple[str, int]] = []

        def note(op: str, iteration: int, value: Tensor) -> Tensor:
            if op not in ("input", "norm", "output"):
                seen.append((op, iteration))
            return value

        self.run(note)
        return seen

    def run_with(self, place: tuple[str, int], change: Callable[[Tensor], Tensor]) -> Tensor:
        return self.run(lambda op, iteration, value: change(value) if (op, iteration) == place else value)


@dataclass
class Other:
    """Another dump of the run of a fault. `later` than the fault's own by so many ms; shortly before it where None.

    `wrapped`: as dion's wrapper writes it, which stands around a function of the input and epsilon alone; else by hand.
    """

    x: Tensor
    output: Tensor
    rank: int = 0
    pid: int = 5150
    later: int | None = None
    epsilon: float | None = EPSILON
    wrapped: bool = True


@dataclass
class Made:
    """A finished fault. `variant` and `format` where they are not the case's own.

    `call` is all that ran, as the caller sees it, for healthy calls of the same process; `also` are verdicts that are
    literally true where nothing in the kernel is wrong; `epsilon` is what the dump says of it; `wrapped` as in Other.
    """

    x: Tensor
    output: Tensor
    variant: str | None = None
    format: str | None = None
    detail: str = ""
    others: list[Other] = field(default_factory=list)
    log: str = ""
    settled: bool = False  # other calls decide what this dump alone cannot
    call: Callable[[Tensor], Tensor] | None = None
    also: tuple[str, ...] = ()
    epsilon: float | None = EPSILON
    wrapped: bool = True


def generator(rng: random.Random) -> torch.Generator:
    return torch.Generator().manual_seed(rng.getrandbits(40))


def matrix(rng: random.Random, spectrum: str, rows: int, cols: int) -> Tensor:
    """(rows, cols) fp64 with the named spectrum, largest singular value about 1."""
    dice = generator(rng)
    x = torch.randn(rows, cols, dtype=torch.float64, generator=dice)
    if spectrum == "gaussian":
        return x / (rows**0.5 + cols**0.5)
    u, _, vh = torch.linalg.svd(x, full_matrices=False)
    count = min(rows, cols)
    values = {
        "log3": torch.logspace(0, -3, count),
        "log7": torch.logspace(0, -7, count),
        "rank16": torch.where(torch.arange(count) < 16, 1.0, 0.0),
        "rank1": torch.where(torch.arange(count) < 1, 1.0, 0.0),
    }[spectrum]
    return (u * values.double()) @ vh


def draw_input(rng: random.Random, spectrum: str, shape: tuple[int, ...], dtype: torch.dtype, scale: float) -> Tensor:
    *batch, rows, cols = shape
    count = batch[0] if batch else 1
    x = torch.stack([matrix(rng, spectrum, rows, cols) for _ in range(count)])
    return (scale * x).to(dtype).reshape(shape)


def draw_case(rng: random.Random) -> Case:
    spectrum = rng.choice(SPECTRA)
    dtype = rng.choice([torch.bfloat16] * 6 + [torch.float32] * 2 + [torch.float16])
    x = draw_input(rng, spectrum, rng.choice(shapes), dtype, 10 ** rng.uniform(-3, 0.5))
    variant = rng.choice(choices)
    own = OWN_DTYPE[variant]
    compute = rng.choice([own, own, own, torch.float32, torch.bfloat16, torch.float16])
    return Case(rng, spectrum, x, variant, compute)


def tile_of(rng: random.Random, value: Tensor) -> tuple[slice, slice]:
    """An aligned tile, at most half of each side."""
    sides = []
    for size in value.shape[-2:]:
        edge = min(rng.choice((8, 16, 32, 64)), max(size // 2, 1))
        start = edge * rng.randrange(max(size // edge, 1))
        sides.append(slice(start, start + edge))
    return sides[0], sides[1]


def one_matrix(rng: random.Random, value: Tensor) -> Tensor:
    """A view of one element of the batch."""
    return value[rng.randrange(value.shape[0])] if value.ndim == 3 else value


def with_tile(rng: random.Random, value: Tensor, fill: float) -> Tensor:
    changed = value.clone()
    rows, cols = tile_of(rng, value)
    one_matrix(rng, changed)[rows, cols] = fill
    return changed


def words(place: tuple[str, int]) -> str:
    return f"{place[0]} of step {place[1]}"
