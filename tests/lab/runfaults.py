# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Faults that other dumps and logs of their run decide: controls, twins, traces of the loss scale."""

from __future__ import annotations

import torch
from cases import EPSILON, OWN_DTYPE, VARIANTS, Case, Made, Other, draw_input, with_tile, words


def ending_all_nan(case: Case) -> Made | None:
    """A NaN tile early in the iteration: the whole output is NaN, and says nothing of what ran."""
    place = case.rng.choice(case.ops()[: max(len(case.ops()) // 2, 1)])
    output = case.run_with(place, lambda value: with_tile(case.rng, value, float("nan")))
    return Made(case.x, output, detail=words(place)) if output.isnan().all() else None


def another(case: Case) -> torch.Tensor:
    return draw_input(case.rng, "gaussian", tuple(case.x.shape), case.x.dtype, case.rng.uniform(0.1, 1))


def run_own(case: Case, x: torch.Tensor) -> torch.Tensor:
    return VARIANTS[case.variant](x, EPSILON, dtype=case.dtype).to(x.dtype).contiguous()


def with_control(case: Case) -> Made | None:
    """A healthy call of the same process tells what ran."""
    if case.dtype != OWN_DTYPE[case.variant] or case.spectrum == "rank1":
        return None
    made = ending_all_nan(case)
    if made is None:
        return None
    x = another(case)
    made.others = [Other(x, run_own(case, x))]
    return made


def overflow_with_control(case: Case) -> Made | None:
    """An fp16 cast overflows; a healthy call of the same process tells of the function, not of its format."""
    variant = case.rng.choice(("deepspeed-gram", "keller-jordan", "dion-ns5"))
    healthy = another(case).bfloat16()
    absmax = case.x.double().abs().max()
    x = (case.x.double() * (case.rng.uniform(7e4, 4e5) / absmax)).bfloat16()
    output = VARIANTS[variant](x, EPSILON, dtype=torch.float16).bfloat16().contiguous()
    control = VARIANTS[variant](healthy, EPSILON, dtype=torch.float16).bfloat16().contiguous()
    return Made(x, output, variant, "fp16", others=[Other(healthy, control)])


def twin_elsewhere(case: Case) -> Made | None:
    """Every rank computes the same replicated matrix, and one of them wrongly."""
    made = ending_all_nan(case)
    if made is None:
        return None
    made.others = [Other(made.x, case.run(), rank=1, pid=5151)]
    made.settled = True
    return made


def twin_in_process(case: Case) -> Made | None:
    """The same call once well and once not."""
    made = ending_all_nan(case)
    if made is None:
        return None
    made.others = [Other(made.x, case.run())]
    made.settled = True
    return made


def scale_ramp(case: Case) -> Made | None:
    """The loss scale climbs until the cast overflows, and the log shows it."""
    made = overflow_with_control(case)
    if made is None:
        return None
    made.others = []
    scale = 2.0**10
    lines = []
    for step in range(1, 16):
        lines.append(f"Step {step}: Train Loss: {3 - 0.01 * step:.4f}, Grad Norm: {scale / 700:.4f}, loss_scale: {scale:.1f}")
        scale *= 2
    made.log = "\n".join(lines) + "\n"
    return made


# name -> (truth, what makes it, does it need a non-finite output, is `undecided` always right too)
RUN_FAULTS = {
    "all nan, with a control": ("implementation", with_control, True, False),
    "fp16 cast overflow, with a control": ("numerics", overflow_with_control, True, True),
    "twin on another rank": ("implementation", twin_elsewhere, True, False),
    "twin in the process": ("nondeterministic", twin_in_process, True, False),
    "loss scale ramp": ("numerics", scale_ramp, True, True),
}
