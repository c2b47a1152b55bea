# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Newton-Schulz as further projects run it, each in the order of operations of its source; see newton_schulz.py.

Sources and commits: microsoft/dion 0a059a4 (hybrid: branch jcl/hybrid-newton-schulz 3d1214d), KellerJordan/
modded-nanogpt f411b3d, karpathy/nanochat 92d63d4, gram-newton-schulz 0.1.6 from PyPI, DeepSpeed after its PR 8533,
NVIDIA-NeMo/Emerging-Optimizers fd77292, thib-s/flash-newton-schulz cdb03db, nil0x9/flash-muon 80ac87f,
NoahAmsel/PolarExpress 7f0fb57 (basic.py) and 458c71b (package).

A Triton kernel for A A^T takes A as symmetric and so do we; its sum b A + c A A^T is rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from schedules import (
    CANS,
    CUBIC5,
    EMERGING_AOL,
    EMERGING_POLAR_EXPRESS,
    GNS,
    HYBRID,
    KELLER_JORDAN,
    POLAR_EXPRESS_2E2,
    POLAR_EXPRESS_PACKAGE,
    POLAR_EXPRESS_PAPER,
    TURBO_MUON,
    YOU,
)
from torch_ops import (
    Arithmetic,
    Hook,
    Step,
    cast_first,
    deepspeed_loop,
    finish,
    gns_gram_loop,
    normalize_first,
    polynomial_addmm,
    scaled_after,
    scaled_first,
    standard_loop,
    wide_side_up,
)

Variant = Callable[..., Tensor]


def _dion_triton(
    x: Tensor,
    epsilon: float | None = None,
    dtype: torch.dtype | None = None,
    hook: Hook | None = None,
    steps: Sequence[Step] = (),
    factor: float = 1.0,
    default: float = 1e-7,
) -> Tensor:
    """dion newton_schulz_triton and polar_express_triton: transposed, kernel for b A + c A A^T, then one addmm."""
    ar = Arithmetic(dtype or torch.bfloat16, hook)
    smallest = default if epsilon is None else epsilon
    x, tall = wide_side_up(ar.say("input", 0, x))
    x = cast_first(ar, x, lambda norm: ar.add(norm if factor == 1 else ar.scale(factor, norm), smallest))
    x = standard_loop(ar, x, steps, polynomial_addmm, addmm=True)
    return finish(ar, x, tall, ar.dtype)


def dion_hybrid(
    x: Tensor, epsilon: float | None = None, dtype: torch.dtype | None = None, hook: Hook | None = None
) -> Tensor:
    """dion hybrid_newton_schulz: norm + epsilon (default 1e-6), right products for a tall x, b A + c (A A)."""
    ar = Arithmetic(dtype or torch.bfloat16, hook)
    smallest = 1e-6 if epsilon is None else epsilon
    tall = x.shape[-2] > x.shape[-1]
    x = cast_first(ar, ar.say("input", 0, x), lambda norm: ar.add(norm, smallest))
    x = standard_loop(ar, x, HYBRID, scaled_after, addmm=False, right=tall)
    return finish(ar, x, False, ar.dtype)


def _modded_nanogpt(
    x: Tensor,
    epsilon: float | None = None,
    dtype: torch.dtype | None = None,
    hook: Hook | None = None,
    split: bool = False,
) -> Tensor:
    """modded-nanogpt train_gpt.py: norm * (1 + 2e-2) + 1e-6; right products for a tall x; kernel for b A + c A A^T.

    split: C = B X, then C.add_(X, alpha=a), as its large matrices do; else one addmm.
    """
    ar = Arithmetic(dtype or torch.bfloat16, hook)
    right = x.shape[-2] > x.shape[-1]
    x = cast_first(ar, ar.say("input", 0, x), lambda norm: ar.add(ar.scale(1 + 2e-2, norm), 1e-6))
    if not split:
        return finish(ar, standard_loop(ar, x, POLAR_EXPRESS_2E2, polynomial_addmm, True, right), False, ar.dtype)
    for k, step in enumerate(POLAR_EXPRESS_2E2, start=1):
        gram = ar.say("gram", k, ar.mm(x.mT, x) if right else ar.mm(x, x.mT))
        b = ar.say("polynomial", k, polynomial_addmm(ar, gram, step))
        product = ar.mm(x, b) if right else ar.mm(b, x)
        x = ar.say("update", k, (ar.wide(product) + step[0] * ar.wide(x)).to(ar.dtype))
    return finish(ar, x, False, ar.dtype)


def nanochat(
    x: Tensor, epsilon: float | None = None, dtype: torch.dtype | None = None, hook: Hook | None = None
) -> Tensor:
    """nanochat muon_step_fused: rows brought to their mean norm, 1.01 norm + 1e-6, Polar Express, and the result
    brought to the Frobenius norm sqrt(min(m, n)) in the parameters' fp32.
    """
    ar = Arithmetic(dtype or torch.bfloat16, hook)
    x = ar.say("cast", 0, ar.say("input", 0, x).to(ar.dtype))
    wide = ar.wide(x)
    target = wide.norm(dim=(-2, -1), keepdim=True) / x.shape[-2] ** 0.5
    rows = wide.norm(dim=-1, keepdim=True).clamp_min(1e-6)
    x = ar.say("equalize", 0, (wide * ar.wide((target / rows).to(ar.dtype))).to(ar.dtype))
    denominator = ar.add(ar.scale(1.01, ar.norm(x)), 1e-6)
    x = ar.say("normalize", 0, ar.divide(x, denominator))
    right = x.shape[-2] > x.shape[-1]
    x = ar.wide(standard_loop(ar, x, POLAR_EXPRESS_2E2, scaled_after, addmm=False, right=right))
    norm = x.norm(dim=(-2, -1), keepdim=True).clamp_min(1e-6)
    x = ar.say("rescale", 0, x * (min(x.shape[-2:]) ** 0.5 / norm))
    return finish(ar, x, False, x.dtype)


def _gns_016(
    x: Tensor,
    epsilon: float | None = None,
    dtype: torch.dtype | None = None,
    hook: Hook | None = None,
    gram: bool = True,
) -> Tensor:
    """gram-newton-schulz 0.1.6, torch backend: as 0.1.5, but a tall x is multiplied from the right."""
    ar = Arithmetic(dtype or torch.float16, hook)
    back = dtype or x.dtype
    tall = x.shape[-2] > x.shape[-1]
    x = normalize_first(ar, ar.say("input", 0, x), 1e-7)
    if gram and x.shape[-2] != x.shape[-1]:
        x = gns_gram_loop(ar, x, GNS, (2,), right=tall)
    else:
        x = standard_loop(ar, x, GNS, polynomial_addmm, addmm=True, right=tall)
    return finish(ar, x, False, back)


def _deepspeed_8533(
    x: Tensor,
    epsilon: float | None = None,
    dtype: torch.dtype | None = None,
    hook: Hook | None = None,
    gradients: torch.dtype = torch.float32,
) -> Tensor:
    """DeepSpeed zeropower_via_gram_newtonschulz since PR 8533: norm and division in the gradients' own format (fp32
    for fp16 gradients), then fp16.
    """
    ar = Arithmetic(dtype or torch.float16, hook)
    back = dtype or x.dtype
    own = Arithmetic(torch.float64 if dtype == torch.float64 else gradients, hook)
    x, tall = wide_side_up(ar.say("input", 0, x))
    x = cast_first(own, x, lambda norm: own.add(norm, 1e-7))
    x = ar.say("cast", 0, x.to(ar.dtype))
    if x.shape[-2] == x.shape[-1]:
        x = standard_loop(ar, x, KELLER_JORDAN, scaled_first, addmm=False)
    else:
        x = deepspeed_loop(ar, x, KELLER_JORDAN, restart=2)
    return finish(ar, x, tall, back)


def _emerging(
    x: Tensor,
    epsilon: float | None = None,
    dtype: torch.dtype | None = None,
    hook: Hook | None = None,
    steps: Sequence[Step] = (),
    in_double: bool = False,
) -> Tensor:
    """Emerging-Optimizers newton_schulz: x / max(norm, eps) in fp32 (in_double: norm in fp64 and no eps), two addmm per
    step, the first left out where c is 0. bf16 is what float32_matmul_precision "medium" does. Returns fp32.
    """
    ar = Arithmetic(dtype or torch.float32, hook)
    high = Arithmetic(torch.float64 if ar.dtype == torch.float64 else torch.float32, hook)
    x, tall = wide_side_up(ar.say("input", 0, x).to(high.dtype))
    norm = x.double().norm(dim=(-2, -1), keepdim=True).to(high.dtype) if in_double else high.norm(x)
    denominator = norm if in_double else norm.clamp_min(1e-15 if epsilon is None else epsilon)
    x = ar.say("cast", 0, ar.say("normalize", 0, x / denominator).to(ar.dtype))
    for k, (a, b, c) in enumerate(steps, start=1):
        gram = ar.say("gram", k, ar.mm(x, x.mT))
        if c != 0:
            gram = ar.say("polynomial", k, ar.addmm(gram, gram, gram, beta=b, alpha=c))
            x = ar.say("update", k, ar.addmm(x, gram, x, beta=a))
        else:
            x = ar.say("update", k, ar.addmm(x, gram, x, beta=a, alpha=b))
    return finish(ar, x, tall, ar.dtype)


def turbo_muon(
    x: Tensor, epsilon: float | None = None, dtype: torch.dtype | None = None, hook: Hook | None = None
) -> Tensor:
    """flash-newton-schulz newton_schulz_triton_aol = dion newton_schulz_triton_fast: no norm; rows scaled by
    rsqrt(max(sum_j |A_ij|, epsilon)), and A with them, which the first of four steps uses.
    """
    ar = Arithmetic(dtype or torch.bfloat16, hook)
    x, tall = wide_side_up(ar.say("input", 0, x))
    x = ar.say("cast", 0, x.to(ar.dtype))
    gram = ar.say("gram", 1, ar.mm(x, x.mT))
    sums = ar.wide(gram).abs().sum(-1).to(ar.dtype)
    clamped = sums.clamp_min(torch.tensor(1e-7 if epsilon is None else epsilon, dtype=ar.dtype))
    s = ar.wide(clamped).rsqrt().to(ar.dtype)
    x = ar.say("aol_scale", 1, (ar.wide(x) * ar.wide(s).unsqueeze(-1)).to(ar.dtype))
    gram = (ar.wide(gram) * ar.wide(s).unsqueeze(-1)).to(ar.dtype)
    gram = (ar.wide(gram) * ar.wide(s).unsqueeze(-2)).to(ar.dtype)
    for k, step in enumerate(TURBO_MUON, start=1):
        gram = gram if k == 1 else ar.say("gram", k, ar.mm(x, x.mT))
        b = ar.say("polynomial", k, polynomial_addmm(ar, gram, step))
        x = ar.say("update", k, ar.addmm(x, b, x, beta=step[0]))
    return finish(ar, x, tall, ar.dtype)


def _jordan_like(
    x: Tensor,
    epsilon: float | None = None,
    dtype: torch.dtype | None = None,
    hook: Hook | None = None,
    steps: Sequence[Step] = (),
    factor: float = 1.0,
    scaled: bool = True,
) -> Tensor:
    """bf16 first; factor * norm + 1e-7; transposed. scaled: b A + (c A) A (Polar Express), else b A + c (A A^T)
    (flash-muon).
    """
    ar = Arithmetic(dtype or torch.bfloat16, hook)
    x, tall = wide_side_up(ar.say("input", 0, x))
    x = cast_first(ar, x, lambda norm: ar.add(norm if factor == 1 else ar.scale(factor, norm), 1e-7))
    x = standard_loop(ar, x, steps, scaled_first if scaled else scaled_after, addmm=False)
    return finish(ar, x, tall, ar.dtype)


PROJECTS: dict[str, Variant] = {
    "dion-ns5-triton": partial(_dion_triton, steps=YOU),
    "dion-polar-express-triton": partial(_dion_triton, steps=POLAR_EXPRESS_2E2, factor=1.02, default=1e-6),
    "dion-hybrid": dion_hybrid,
    "modded-nanogpt": _modded_nanogpt,
    "modded-nanogpt-split": partial(_modded_nanogpt, split=True),
    "nanochat": nanochat,
    "gns-standard-0.1.6": partial(_gns_016, gram=False),
    "gns-gram-0.1.6": _gns_016,
    "deepspeed-gram-8533": _deepspeed_8533,
    "deepspeed-gram-8533-bf16": partial(_deepspeed_8533, gradients=torch.bfloat16),
    "emerging-simple": partial(_emerging, steps=KELLER_JORDAN),
    "emerging-quintic": partial(_emerging, steps=YOU),
    "emerging-polar-express": partial(_emerging, steps=EMERGING_POLAR_EXPRESS),
    "emerging-polar-express-5": partial(_emerging, steps=EMERGING_POLAR_EXPRESS[:5]),
    "emerging-cans": partial(_emerging, steps=CANS),
    "emerging-aol": partial(_emerging, steps=EMERGING_AOL),
    "emerging-hybrid": partial(_emerging, steps=HYBRID),
    "emerging-cubic5": partial(_emerging, steps=CUBIC5),
    "emerging-double-norm": partial(_emerging, steps=YOU, in_double=True),
    "turbo-muon": turbo_muon,
    "flash-muon": partial(_jordan_like, steps=KELLER_JORDAN, scaled=False),
    "polar-express": partial(_jordan_like, steps=POLAR_EXPRESS_PAPER, factor=1.01),
    "polar-express-5": partial(_jordan_like, steps=POLAR_EXPRESS_PAPER[:5], factor=1.01),
    "polar-express-package": partial(_jordan_like, steps=POLAR_EXPRESS_PACKAGE[:8], factor=1.01),
    "cans": partial(_jordan_like, steps=CANS),
}

# Run in the wild without the safety factor it needs: blows up by itself on inputs of low rank.
UNPROTECTED = ("cans",)


def own_dtype(name: str) -> torch.dtype:
    """The format a variant of PROJECTS computes in when nobody overrides it."""
    if name.startswith(("gns", "deepspeed")):
        return torch.float16
    return torch.float32 if name.startswith("emerging") else torch.bfloat16
