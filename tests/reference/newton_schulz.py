# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Published Newton-Schulz variants in plain torch: the truth that Nanscope's replay is compared with.

Written from the published sources named at each function, in the order of operations eager torch runs them.
Nothing here is shared with core/replay. Every variant is called as

    VARIANTS[name](x, epsilon=None, dtype=None, hook=None)

x        (m, n) or (batch, m, n), any float dtype. Matrices of a batch never mix.
epsilon  what the caller passes; None is the variant's default. Variants with a fixed epsilon ignore it.
dtype    compute format: float64, float32, bfloat16 or float16. None is the variant's own, and then the result is
         cast as the variant casts it. With a dtype given the result stays in that dtype (nanochat's: in its wide format).
hook     called as hook(op, iteration, value) after every op; what it returns takes the value's place. The words
         for ops are those of the design; iteration 0 is everything before the first step.

16-bit arithmetic is that of a tensor core: operands lie in the format, products are accumulated in fp32, the
result of every torch op is rounded to the format once. Scalars are fp32 there, as on CUDA. (torch 2.11 on CPU agrees
but for one op: `x + 1e-7` rounds the scalar to the format first.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from project_variants import PROJECTS, own_dtype
from schedules import GNS, KELLER_JORDAN, POLAR_EXPRESS, POLAR_EXPRESS_2E2, YOU, with_safety  # noqa: F401
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


def keller_jordan(
    x: Tensor, epsilon: float | None = None, dtype: torch.dtype | None = None, hook: Hook | None = None
) -> Tensor:
    """KellerJordan/Muon muon.py 857d1ad. bf16 first; norm + 1e-7; b A + (c A) A; returns bf16."""
    ar = Arithmetic(dtype or torch.bfloat16, hook)
    x, tall = wide_side_up(ar.say("input", 0, x))
    x = cast_first(ar, x, lambda norm: ar.add(norm, 1e-7))
    x = standard_loop(ar, x, KELLER_JORDAN, scaled_first, addmm=False)
    return finish(ar, x, tall, ar.dtype)


def torch_muon(
    x: Tensor, epsilon: float | None = None, dtype: torch.dtype | None = None, hook: Hook | None = None
) -> Tensor:
    """torch.optim.Muon, torch 2.11. bf16 first; norm clamped from below (default 1e-7); two addmm per step; bf16.

    torch takes 2-D tensors only; a batch here is a loop over that.
    """
    ar = Arithmetic(dtype or torch.bfloat16, hook)
    smallest = 1e-7 if epsilon is None else epsilon
    x, tall = wide_side_up(ar.say("input", 0, x))
    x = cast_first(ar, x, lambda norm: ar.wide(norm).clamp(min=smallest).to(ar.dtype))
    x = standard_loop(ar, x, KELLER_JORDAN, polynomial_addmm, addmm=True)
    return finish(ar, x, tall, ar.dtype)


def dion_ns5(
    x: Tensor, epsilon: float | None = None, dtype: torch.dtype | None = None, hook: Hook | None = None
) -> Tensor:
    """dion zeropower_via_newtonschulz5, 0a059a4. bf16 first; norm + epsilon (default 1e-7); b A + c (A A); bf16."""
    ar = Arithmetic(dtype or torch.bfloat16, hook)
    x, tall = wide_side_up(ar.say("input", 0, x))
    x = cast_first(ar, x, lambda norm: ar.add(norm, 1e-7 if epsilon is None else epsilon))
    x = standard_loop(ar, x, YOU, scaled_after, addmm=False)
    return finish(ar, x, tall, ar.dtype)


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
    x = cast_first(ar, x, lambda norm: ar.add(ar.scale(1.02, norm), smallest))
    x = standard_loop(ar, x, POLAR_EXPRESS_2E2, scaled_after, addmm=False, right=tall)
    return finish(ar, x, False, ar.dtype)


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
    x, tall = wide_side_up(ar.say("input", 0, x))
    x = cast_first(ar, x, lambda norm: ar.add(norm, 1e-7))
    coefficients = [*POLAR_EXPRESS, *[POLAR_EXPRESS[-1]] * steps][:steps]
    x = standard_loop(ar, x, coefficients, scaled_first, addmm=False)
    return finish(ar, x, tall, ar.dtype)


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
    x, tall = wide_side_up(ar.say("input", 0, x))
    x = normalize_first(ar, x, 1e-7)
    x = standard_loop(ar, x, GNS, polynomial_addmm, addmm=True)
    return finish(ar, x, tall, back)


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
    x, tall = wide_side_up(ar.say("input", 0, x))
    x = normalize_first(ar, x, 1e-7)
    x = gns_gram_loop(ar, x, GNS, restarts)
    return finish(ar, x, tall, back)


def gram_no_restart(
    x: Tensor, epsilon: float | None = None, dtype: torch.dtype | None = None, hook: Hook | None = None
) -> Tensor:
    """gns_gram with no restart: the naive Gram form, unstable once rounding makes R indefinite."""
    return gns_gram(x, epsilon, dtype, hook, restarts=())


def gram_no_restart_longer(
    x: Tensor, epsilon: float | None = None, dtype: torch.dtype | None = None, steps: int = 8
) -> Tensor:
    """gram_no_restart for other than five steps, the last of which repeats. Not any project's default."""
    if x.shape[-2] == x.shape[-1]:
        return gns_standard(x, epsilon, dtype)
    ar = Arithmetic(dtype or torch.float16)
    back = dtype or x.dtype
    coefficients = [*GNS, *[GNS[-1]] * steps][:steps]
    wide, tall = wide_side_up(x)
    return finish(ar, gns_gram_loop(ar, normalize_first(ar, wide, 1e-7), coefficients, ()), tall, back)


def deepspeed_gram(
    x: Tensor, epsilon: float | None = None, dtype: torch.dtype | None = None, hook: Hook | None = None
) -> Tensor:
    """DeepSpeed zeropower_via_gram_newtonschulz before its PR 8533. fp16 first, then norm + 1e-7 in fp16; Keller
    Jordan's coefficients; restart before the third step; square matrices take the standard loop. Returns the input's
    dtype.
    """
    ar = Arithmetic(dtype or torch.float16, hook)
    back = dtype or x.dtype
    x, tall = wide_side_up(ar.say("input", 0, x))
    x = cast_first(ar, x, lambda norm: ar.add(norm, 1e-7))
    if x.shape[-2] == x.shape[-1]:
        x = standard_loop(ar, x, KELLER_JORDAN, scaled_first, addmm=False)
    else:
        x = deepspeed_loop(ar, x, KELLER_JORDAN, restart=2)
    return finish(ar, x, tall, back)


# The ones that data/replay and data/deep hold.
FIRST: dict[str, Callable[..., Tensor]] = {
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

VARIANTS: dict[str, Callable[..., Tensor]] = FIRST | PROJECTS

# The format each variant computes in when nobody overrides it.
OWN_DTYPE: dict[str, torch.dtype] = {
    name: torch.float16 if name.startswith(("gns", "gram", "deepspeed")) else torch.bfloat16 for name in FIRST
} | {name: own_dtype(name) for name in PROJECTS}

# Schedule of each of the first, for scalar scans.
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
