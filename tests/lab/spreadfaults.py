# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""The plans of realfaults.py under DistributedDataParallel and fully_shard (FSDP2), with gloo on CPUs.

    spread_plan_of(seed) -> Plan

The optimizer gathers whole matrices, for every rank or for one that sends the update to the others; or it has each rank
orthogonalise the block that it holds; or it hands DTensors to the function, whose products then talk to the others.
What is captured of a DTensor is a part: nobody can judge that alone, whatever the fault. Matrices that were gathered from
shards are kept to the end of the step, as docs/capture.md asks for, since no rank can make them again from its own.
"""

from __future__ import annotations

import random

from cases import RUNNING
from realfaults import FAULTS, ORDER, SHAPES, common
from realtrain import Plan

# Faults that code on DTensors can have here. The iterations in the Gram form cannot be had: two mix DTensors with tensors,
# which torch refuses, and DeepSpeed's adds to the diagonal of each part as if it were that of the whole.
OF_DTENSORS = (
    "tile",
    "stale tile",
    "inf gradient",
    "bad checkpoint",
    "fp16 cast",
    "zero matrix",
    "crash and resume",
    "torch's own optimizer",
    "nothing",
    "nan in the data",
    "rate of infinity",
)


def spread_plan_of(seed: int) -> Plan:
    fault = list(FAULTS)[seed % len(FAULTS)]
    truth, choose = FAULTS[fault]
    plan = common(seed, fault, truth)
    rng = random.Random(f"{seed}/spread")
    plan.layout = rng.choice(("ddp", "fsdp", "fsdp"))
    if fault == "no guard on one rank":  # ranks that step while others do not wait for these in the first collective
        plan.layout = "ddp"
    plan.hands = rng.choice(("whole", "whole", "block", "dtensor")) if plan.layout == "fsdp" else "whole"
    if plan.hands == "dtensor" and fault not in OF_DTENSORS:
        plan.hands = "block"
    plan.ranks = 2 if plan.hands == "dtensor" else rng.choice((2,) * 7 + (4,))
    plan.shared = plan.hands == "whole" and rng.random() < 0.5
    plan.stacked = plan.stacked or plan.hands == "dtensor"
    if plan.hands == "dtensor":
        plan.variant = rng.choice([name for name in RUNNING if "gram" not in name])
        plan.parameter = rng.choice(("first.weight", "second.weight", "experts.0", "head.weight"))
    plan.rank = one_that_has(plan, rng)
    choose(plan, random.Random(f"{seed}/fault"))
    plan.keep = plan.keep or (plan.layout == "fsdp" and plan.hands == "whole")
    if plan.hands == "dtensor" and "gram" in plan.variant:
        plan.variant = "keller-jordan"
    if fault == "torch's own optimizer" and plan.layout == "fsdp":
        plan.hands, plan.ranks = "dtensor", 2
    if fault == "zero matrix" and plan.hands == "dtensor":
        plan.parameter = "first.weight"
    return plan


def one_that_has(plan: Plan, rng: random.Random) -> int:
    """A rank that computes the matrix with the fault, or holds a block of it."""
    if plan.shared:
        order = ["experts", *(n for n in SHAPES if n != "experts")] if plan.stacked else ORDER
        return order.index(plan.parameter) % plan.ranks
    whole = plan.hands == "whole" or plan.parameter != "experts" or plan.stacked
    return rng.randrange(plan.ranks if whole else min(plan.ranks, SHAPES["experts"][0]))
