# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""What the variants of newton_schulz.py share: torch's ops with one rounding each, and the loops built of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

Step = tuple[float, float, float]
Hook = Callable[[str, int, Tensor], Tensor]


@dataclass(frozen=True)
class Arithmetic:
    """torch's elementary ops in one format, each with a single rounding of its result."""

    dtype: torch.dtype
    hook: Hook | None = None

    def wide(self, x: Tensor) -> Tensor:
        """The format that sums are kept in: fp64 for fp64, else fp32."""
        return x.to(torch.float64 if self.dtype == torch.float64 else torch.float32)

    def mm(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.wide(x) @ self.wide(y)).to(self.dtype)

    def addmm(self, c: Tensor, x: Tensor, y: Tensor, beta: float, alpha: float = 1.0) -> Tensor:
        """beta c + alpha x y, rounded once: torch.addmm and torch.baddbmm."""
        batched = [self.wide(t).reshape(-1, *t.shape[-2:]) for t in (c, x, y)]
        return torch.baddbmm(*batched, beta=beta, alpha=alpha).reshape(c.shape).to(self.dtype)

    def scale(self, factor: float, x: Tensor) -> Tensor:
        return (self.wide(x) * factor).to(self.dtype)

    def add(self, x: Tensor, y: Tensor | float) -> Tensor:
        return (self.wide(x) + (self.wide(y) if isinstance(y, Tensor) else y)).to(self.dtype)

    def divide(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.wide(x) / self.wide(y)).to(self.dtype)

    def norm(self, x: Tensor) -> Tensor:
        """Frobenius norm per matrix, (..., 1, 1)."""
        return self.wide(x).norm(dim=(-2, -1), keepdim=True).to(self.dtype)

    def say(self, op: str, iteration: int, value: Tensor) -> Tensor:
        return value if self.hook is None else self.hook(op, iteration, value)


Polynomial = Callable[[Arithmetic, Tensor, Step], Tensor]


def scaled_first(ar: Arithmetic, gram: Tensor, step: Step) -> Tensor:
    """b A + (c A) A, which is what `b * A + c * A @ A` means in Python."""
    return ar.add(ar.scale(step[1], gram), ar.mm(ar.scale(step[2], gram), gram))


def scaled_after(ar: Arithmetic, gram: Tensor, step: Step) -> Tensor:
    """b A + c (A A)."""
    return ar.add(ar.scale(step[1], gram), ar.scale(step[2], ar.mm(gram, gram)))


def polynomial_addmm(ar: Arithmetic, gram: Tensor, step: Step) -> Tensor:
    """b A + c A A in one addmm."""
    return ar.addmm(gram, gram, gram, beta=step[1], alpha=step[2])


def standard_loop(
    ar: Arithmetic, x: Tensor, steps: Sequence[Step], polynomial: Polynomial, addmm: bool, right: bool = False
) -> Tensor:
    """x (..., m, n), m <= n: A = X X^T, B = p(A), X = a X + B X. `right`: A = X^T X, X = a X + X B, m >= n."""
    for k, step in enumerate(steps, start=1):
        gram = ar.say("gram", k, ar.mm(x.mT, x) if right else ar.mm(x, x.mT))
        b = ar.say("polynomial", k, polynomial(ar, gram, step))
        left, other = (x, b) if right else (b, x)
        if addmm:
            x = ar.addmm(x, left, other, beta=step[0])
        else:
            x = ar.add(ar.scale(step[0], x), ar.mm(left, other))
        x = ar.say("update", k, x)
    return x


def wide_side_up(x: Tensor) -> tuple[Tensor, bool]:
    """x with no more rows than columns, and whether it was transposed."""
    tall = x.shape[-2] > x.shape[-1]
    return (x.mT if tall else x), tall


def cast_first(ar: Arithmetic, x: Tensor, denominator: Callable[[Tensor], Tensor]) -> Tensor:
    """Cast, take the norm in the compute format, divide in it."""
    x = ar.say("cast", 0, x.to(ar.dtype))
    norm = ar.say("norm", 0, ar.norm(x))
    return ar.say("normalize", 0, ar.divide(x, denominator(norm)))


def normalize_first(ar: Arithmetic, x: Tensor, epsilon: float) -> Tensor:
    """Norm and division in fp32 (fp64 for an fp64 replay), then the cast to the compute format."""
    high = Arithmetic(torch.float64 if ar.dtype == torch.float64 else torch.float32, ar.hook)
    x = cast_first(high, x, lambda norm: high.add(norm, epsilon))
    return ar.say("cast", 0, x.to(ar.dtype))


def finish(ar: Arithmetic, x: Tensor, tall: bool, dtype: torch.dtype) -> Tensor:
    return ar.say("output", 0, (x.mT if tall else x).to(dtype))


def gns_gram_loop(
    ar: Arithmetic, x: Tensor, steps: Sequence[Step], restarts: Sequence[int], right: bool = False
) -> Tensor:
    """x (..., m, n), m < n. Z = c R R + b R, Q <- Q Z + a Q, R <- Z (R Z + a R) + a (R Z + a R), X = Q X.
    `right`: R = X^T X and X = X Q, m > n.
    """
    eye = torch.eye(min(x.shape[-2:]), dtype=ar.dtype)
    r = ar.say("gram", 0, ar.mm(x.mT, x) if right else ar.mm(x, x.mT))
    q: Tensor | None = None
    for i, (a, b, c) in enumerate(steps):
        if q is not None and i in restarts:
            x = ar.say("restart", i + 1, ar.mm(x, q) if right else ar.mm(q, x))
            r = ar.say("gram", i + 1, ar.mm(x.mT, x) if right else ar.mm(x, x.mT))
            q = None
        z = ar.say("z", i + 1, ar.addmm(r, r, r, beta=b, alpha=c))
        q = ar.add(z, ar.scale(a, eye)) if q is None else ar.addmm(q, q, z, beta=a)
        q = ar.say("q", i + 1, q)
        if i + 1 < len(steps) and i + 1 not in restarts:
            rz = ar.addmm(r, r, z, beta=a)
            r = ar.say("r", i + 1, ar.addmm(rz, z, rz, beta=a))
    return ar.say("update", len(steps), ar.mm(x, q) if right else ar.mm(q, x))


def deepspeed_loop(ar: Arithmetic, x: Tensor, steps: Sequence[Step], restart: int) -> Tensor:
    """As gns_gram_loop, but every scaling and sum is a torch op of its own, and Z multiplies from the left."""
    r = ar.say("gram", 0, ar.mm(x, x.mT))
    q: Tensor | None = None
    for i, step in enumerate(steps):
        a = step[0]
        if q is not None and i == restart:
            x = ar.say("restart", i + 1, ar.mm(q, x))
            r = ar.say("gram", i + 1, ar.mm(x, x.mT))
            q = None
        z = ar.say("z", i + 1, scaled_first(ar, r, step))
        if q is None:
            q = z.clone()
            q.diagonal(dim1=-2, dim2=-1).copy_(ar.add(z.diagonal(dim1=-2, dim2=-1), a))
        else:
            q = ar.add(ar.scale(a, q), ar.mm(z, q))
        q = ar.say("q", i + 1, q)
        if i + 1 < len(steps) and i + 1 != restart:
            rz = ar.add(ar.scale(a, r), ar.mm(z, r))
            r = ar.say("r", i + 1, ar.add(ar.scale(a, rz), ar.mm(z, rz)))
    return ar.say("update", len(steps), ar.mm(q, x))
