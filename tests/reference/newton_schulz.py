# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Published Newton-Schulz variants in plain torch: the truth that Nanscope's replay is compared with.

Written from the published sources named at each function, in the order of operations eager torch runs them.
Nothing here is shared with core/replay. Every variant is called as

    VARIANTS[name](x, epsilon=None, dtype=None, hook=None)

x        (m, n) or (batch, m, n), any float dtype. Matrices of a batch never mix.
epsilon  what the caller passes; None is the variant's default. Variants with a fixed epsilon ignore it.
dtype    compute format: float64, float32, bfloat16 or float16. None is the variant's own, and then the result is
         cast as the variant casts it. With a dtype given the result stays in that dtype.
hook     called as hook(op, iteration, value) after every op; what it returns takes the value's place. The words
         for ops are those of the design; iteration 0 is everything before the first step.

16-bit arithmetic is that of a tensor core: operands lie in the format, products are accumulated in fp32, the
result of every torch op is rounded to the format once. Scalars are fp32 there, as on CUDA. (torch 2.11 on CPU agrees
but for one op: `x + 1e-7` rounds the scalar to the format first.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

Step = tuple[float, float, float]
Hook = Callable[[str, int, Tensor], Tensor]

KELLER_JORDAN: list[Step] = [(3.4445, -4.7750, 2.0315)] * 5

YOU: list[Step] = [
    (4.0848, -6.8946, 2.9270),
    (3.9505, -6.3029, 2.6377),
    (3.7418, -5.5913, 2.3037),
    (2.8769, -3.1427, 1.2046),
    (2.8366, -3.0525, 1.2012),
]

# l = 1e-3, cushion 0.02, no safety factor (NoahAmsel/PolarExpress).
POLAR_EXPRESS: list[Step] = [
    (8.28721201814563, -23.595886519098837, 17.300387312530933),
    (4.107059111542203, -2.9478499167379106, 0.5448431082926601),
    (3.9486908534822946, -2.908902115962949, 0.5518191394370137),
    (3.3184196573706015, -2.488488024314874, 0.51004894012372),
    (2.300652019954817, -1.6689039845747493, 0.4188073119525673),
    (1.891301407787398, -1.2679958271945868, 0.37680408948524835),
    (1.8750014808534479, -1.2500016453999487, 0.3750001645474248),
    (1.875, -1.25, 0.375),
]

# safety factor 2e-2, cushion 2 (dion, modded-nanogpt, nanochat).
POLAR_EXPRESS_2E2: list[Step] = [
    (8.156554524902461, -22.48329292557795, 15.878769915207462),
    (4.042929935166739, -2.808917465908714, 0.5000178451051316),
    (3.8916678022926607, -2.772484153217685, 0.5060648178503393),
    (3.285753657755655, -2.3681294933425376, 0.46449024233003106),
    (2.3465413258596377, -1.7097828382687081, 0.42323551169305323),
]


def with_safety(steps: Sequence[Step], factor: float) -> list[Step]:
    """p(s) becomes p(s / factor): the schedule then tolerates singular values up to `factor`."""
    return [(a / factor, b / factor**3, c / factor**5) for a, b, c in steps]


GNS: list[Step] = with_safety(POLAR_EXPRESS[:5], 1.05)


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


def _scaled_first(ar: Arithmetic, gram: Tensor, step: Step) -> Tensor:
    """b A + (c A) A, which is what `b * A + c * A @ A` means in Python."""
    return ar.add(ar.scale(step[1], gram), ar.mm(ar.scale(step[2], gram), gram))


def _scaled_after(ar: Arithmetic, gram: Tensor, step: Step) -> Tensor:
    """b A + c (A A)."""
    return ar.add(ar.scale(step[1], gram), ar.scale(step[2], ar.mm(gram, gram)))


def _polynomial_addmm(ar: Arithmetic, gram: Tensor, step: Step) -> Tensor:
    """b A + c A A in one addmm."""
    return ar.addmm(gram, gram, gram, beta=step[1], alpha=step[2])


def _standard_loop(
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


def _wide_side_up(x: Tensor) -> tuple[Tensor, bool]:
    """x with no more rows than columns, and whether it was transposed."""
    tall = x.shape[-2] > x.shape[-1]
    return (x.mT if tall else x), tall


def _cast_first(ar: Arithmetic, x: Tensor, denominator: Callable[[Tensor], Tensor]) -> Tensor:
    """Cast, take the norm in the compute format, divide in it."""
    x = ar.say("cast", 0, x.to(ar.dtype))
    norm = ar.say("norm", 0, ar.norm(x))
    return ar.say("normalize", 0, ar.divide(x, denominator(norm)))


def _normalize_first(ar: Arithmetic, x: Tensor, epsilon: float) -> Tensor:
    """Norm and division in fp32 (fp64 for an fp64 replay), then the cast to the compute format."""
    high = Arithmetic(torch.float64 if ar.dtype == torch.float64 else torch.float32, ar.hook)
    x = _cast_first(high, x, lambda norm: high.add(norm, epsilon))
    return ar.say("cast", 0, x.to(ar.dtype))


def _finish(ar: Arithmetic, x: Tensor, tall: bool, dtype: torch.dtype) -> Tensor:
    return ar.say("output", 0, (x.mT if tall else x).to(dtype))


def keller_jordan(
    x: Tensor, epsilon: float | None = None, dtype: torch.dtype | None = None, hook: Hook | None = None
) -> Tensor:
    """KellerJordan/Muon muon.py 857d1ad. bf16 first; norm + 1e-7; b A + (c A) A; returns bf16."""
    ar = Arithmetic(dtype or torch.bfloat16, hook)
    x, tall = _wide_side_up(ar.say("input", 0, x))
    x = _cast_first(ar, x, lambda norm: ar.add(norm, 1e-7))
    x = _standard_loop(ar, x, KELLER_JORDAN, _scaled_first, addmm=False)
    return _finish(ar, x, tall, ar.dtype)


def torch_muon(
    x: Tensor, epsilon: float | None = None, dtype: torch.dtype | None = None, hook: Hook | None = None
) -> Tensor:
    """torch.optim.Muon, torch 2.11. bf16 first; norm clamped from below (default 1e-7); two addmm per step; bf16.

    torch takes 2-D tensors only; a batch here is a loop over that.
    """
    ar = Arithmetic(dtype or torch.bfloat16, hook)
    smallest = 1e-7 if epsilon is None else epsilon
    x, tall = _wide_side_up(ar.say("input", 0, x))
    x = _cast_first(ar, x, lambda norm: ar.wide(norm).clamp(min=smallest).to(ar.dtype))
    x = _standard_loop(ar, x, KELLER_JORDAN, _polynomial_addmm, addmm=True)
    return _finish(ar, x, tall, ar.dtype)


def dion_ns5(
    x: Tensor, epsilon: float | None = None, dtype: torch.dtype | None = None, hook: Hook | None = None
) -> Tensor:
    """dion zeropower_via_newtonschulz5, 0a059a4. bf16 first; norm + epsilon (default 1e-7); b A + c (A A); bf16."""
    ar = Arithmetic(dtype or torch.bfloat16, hook)
    x, tall = _wide_side_up(ar.say("input", 0, x))
    x = _cast_first(ar, x, lambda norm: ar.add(norm, 1e-7 if epsilon is None else epsilon))
    x = _standard_loop(ar, x, YOU, _scaled_after, addmm=False)
    return _finish(ar, x, tall, ar.dtype)


def dion_polar_express(
    x: Tensor, epsilon: float | None = None, dtype: torch.dtype | None = None, hook: Hook | None = None
) -> Tensor:
    """dion polar_express, 0a059a4. bf16 first; 1.02 norm + epsilon (default 1e-6); never transposes: a tall x is
    multiplied from the right; b A + c (A A); bf16.
    """
    ar = Arithmetic(dtype or torch.bfloat16, hook)
    smallest = 1e-6 if epsilon is None else epsilon
    x = ar.say("input", 0, x)
    tall = x.shape[-2] > x.shape[-1]
    x = _cast_first(ar, x, lambda norm: ar.add(ar.scale(1.02, norm), smallest))
    x = _standard_loop(ar, x, POLAR_EXPRESS_2E2, _scaled_after, addmm=False, right=tall)
    return _finish(ar, x, False, ar.dtype)


def polar_express_unprotected(
    x: Tensor,
    epsilon: float | None = None,
    dtype: torch.dtype | None = None,
    hook: Hook | None = None,
    steps: int = 8,
) -> Tensor:
    """Polar Express as copied without its safety factor and norm factor: limit 1.000004. Not any project's default.

    bf16 first; norm + 1e-7; b A + (c A) A; bf16. With eight steps in bf16 even a Gaussian input often ends in garbage,
    because rounding past the limit has three more steps to grow; with five mostly rank-1 inputs do.
    """
    ar = Arithmetic(dtype or torch.bfloat16, hook)
    x, tall = _wide_side_up(ar.say("input", 0, x))
    x = _cast_first(ar, x, lambda norm: ar.add(norm, 1e-7))
    x = _standard_loop(ar, x, POLAR_EXPRESS[:steps], _scaled_first, addmm=False)
    return _finish(ar, x, tall, ar.dtype)


def polar_express_unprotected_5(
    x: Tensor, epsilon: float | None = None, dtype: torch.dtype | None = None, hook: Hook | None = None
) -> Tensor:
    """polar_express_unprotected with the usual five steps."""
    return polar_express_unprotected(x, epsilon, dtype, hook, steps=5)


def gns_standard(
    x: Tensor, epsilon: float | None = None, dtype: torch.dtype | None = None, hook: Hook | None = None
) -> Tensor:
    """Dao-AILab/gram-newton-schulz 0.1.5 with use_gram=False, torch backend. Norm + 1e-7 and division in fp32, then
    fp16; two baddbmm per step; cast back to the input's dtype. The caller's epsilon is ignored.
    """
    ar = Arithmetic(dtype or torch.float16, hook)
    back = dtype or x.dtype
    x, tall = _wide_side_up(ar.say("input", 0, x))
    x = _normalize_first(ar, x, 1e-7)
    x = _standard_loop(ar, x, GNS, _polynomial_addmm, addmm=True)
    return _finish(ar, x, tall, back)


def _gns_gram_loop(ar: Arithmetic, x: Tensor, steps: Sequence[Step], restarts: Sequence[int]) -> Tensor:
    """x (..., m, n), m < n. Z = c R R + b R, Q <- Q Z + a Q, R <- Z (R Z + a R) + a (R Z + a R), X = Q X."""
    eye = torch.eye(x.shape[-2], dtype=ar.dtype)
    r = ar.say("gram", 0, ar.mm(x, x.mT))
    q: Tensor | None = None
    for i, (a, b, c) in enumerate(steps):
        if q is not None and i in restarts:
            x = ar.say("restart", i + 1, ar.mm(q, x))
            r = ar.say("gram", i + 1, ar.mm(x, x.mT))
            q = None
        z = ar.say("z", i + 1, ar.addmm(r, r, r, beta=b, alpha=c))
        q = ar.add(z, ar.scale(a, eye)) if q is None else ar.addmm(q, q, z, beta=a)
        q = ar.say("q", i + 1, q)
        if i + 1 < len(steps) and i + 1 not in restarts:
            rz = ar.addmm(r, r, z, beta=a)
            r = ar.say("r", i + 1, ar.addmm(rz, z, rz, beta=a))
    return ar.say("update", len(steps), ar.mm(q, x))


def gns_gram(
    x: Tensor,
    epsilon: float | None = None,
    dtype: torch.dtype | None = None,
    hook: Hook | None = None,
    restarts: Sequence[int] = (2,),
) -> Tensor:
    """Dao-AILab/gram-newton-schulz 0.1.5, torch backend: dion's use_gram_newton_schulz. Square matrices take the
    standard loop. Casts, epsilon and result as gns_standard.
    """
    if x.shape[-2] == x.shape[-1]:
        return gns_standard(x, epsilon, dtype, hook)
    ar = Arithmetic(dtype or torch.float16, hook)
    back = dtype or x.dtype
    x, tall = _wide_side_up(ar.say("input", 0, x))
    x = _normalize_first(ar, x, 1e-7)
    x = _gns_gram_loop(ar, x, GNS, restarts)
    return _finish(ar, x, tall, back)


def gram_no_restart(
    x: Tensor, epsilon: float | None = None, dtype: torch.dtype | None = None, hook: Hook | None = None
) -> Tensor:
    """gns_gram with no restart: the naive Gram form, unstable once rounding makes R indefinite."""
    return gns_gram(x, epsilon, dtype, hook, restarts=())


def _deepspeed_loop(ar: Arithmetic, x: Tensor, steps: Sequence[Step], restart: int) -> Tensor:
    """As _gns_gram_loop, but every scaling and sum is a torch op of its own, and Z multiplies from the left."""
    r = ar.say("gram", 0, ar.mm(x, x.mT))
    q: Tensor | None = None
    for i, step in enumerate(steps):
        a = step[0]
        if q is not None and i == restart:
            x = ar.say("restart", i + 1, ar.mm(q, x))
            r = ar.say("gram", i + 1, ar.mm(x, x.mT))
            q = None
        z = ar.say("z", i + 1, _scaled_first(ar, r, step))
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


def deepspeed_gram(
    x: Tensor, epsilon: float | None = None, dtype: torch.dtype | None = None, hook: Hook | None = None
) -> Tensor:
    """DeepSpeed zeropower_via_gram_newtonschulz before its PR 8533. fp16 first, then norm + 1e-7 in fp16; Keller
    Jordan's coefficients; restart before the third step; square matrices take the standard loop. Returns the input's
    dtype.
    """
    ar = Arithmetic(dtype or torch.float16, hook)
    back = dtype or x.dtype
    x, tall = _wide_side_up(ar.say("input", 0, x))
    x = _cast_first(ar, x, lambda norm: ar.add(norm, 1e-7))
    if x.shape[-2] == x.shape[-1]:
        x = _standard_loop(ar, x, KELLER_JORDAN, _scaled_first, addmm=False)
    else:
        x = _deepspeed_loop(ar, x, KELLER_JORDAN, restart=2)
    return _finish(ar, x, tall, back)


VARIANTS: dict[str, Callable[..., Tensor]] = {
    "keller-jordan": keller_jordan,
    "torch-muon": torch_muon,
    "dion-ns5": dion_ns5,
    "dion-polar-express": dion_polar_express,
    "gns-standard": gns_standard,
    "gns-gram": gns_gram,
    "deepspeed-gram": deepspeed_gram,
    "polar-express-unprotected": polar_express_unprotected,
    "polar-express-unprotected-5": polar_express_unprotected_5,
    "gram-no-restart": gram_no_restart,
}

# The format each variant computes in when nobody overrides it.
OWN_DTYPE: dict[str, torch.dtype] = {
    name: torch.float16 if name.startswith(("gns", "gram", "deepspeed")) else torch.bfloat16 for name in VARIANTS
}

# Schedule of each variant, for scalar scans.
SCHEDULES: dict[str, list[Step]] = {
    "keller-jordan": KELLER_JORDAN,
    "torch-muon": KELLER_JORDAN,
    "dion-ns5": YOU,
    "dion-polar-express": POLAR_EXPRESS_2E2,
    "gns-standard": GNS,
    "gns-gram": GNS,
    "deepspeed-gram": KELLER_JORDAN,
    "polar-express-unprotected": POLAR_EXPRESS,
    "polar-express-unprotected-5": POLAR_EXPRESS[:5],
    "gram-no-restart": GNS,
}
