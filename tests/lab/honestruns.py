# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Honest code that shows between the dumps of a run, or in its log: state, parts of one call, words about hardware."""

from __future__ import annotations

from collections.abc import Callable

from cases import INF, NAN, Case, Made, Other, draw_input, one_matrix
from honestcode import AROUND, BREAKING, clip_coefficient, nan_weight, second_moment, with_control
from honestnumbers import NUMBERS
from honestparts import PARTS
from runfaults import run_own

STATES = {"weights": nan_weight, "second moment": second_moment, "coefficient": clip_coefficient}

TRAINING = "world_size: 1\n" + "".join(f"step: {step} loss: {3 - 0.01 * step:.3f}\n" for step in range(1, 6))
# What speaks of hardware, and is no driver's line of this process.
HARDWARE_WORDS = {
    "documentation": "If dmesg shows `NVRM: Xid (PCI:0000:3b:00): 48, pid=1, DBE`, drain the node and open a ticket.\n",
    "comment": "# on torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered -> requeue\n",
    "search": "+ dmesg | grep -c 'NVRM: Xid (PCI:0000:3b:00): 79'\n0\n",
    "nvidia-smi at zero": (
        "    ECC Errors\n        Volatile\n            SRAM Uncorrectable            : 0\n"
        "            DRAM Uncorrectable            : 0\n        Aggregate\n            DRAM Uncorrectable            : 0\n"
        "    Remapped Rows\n        Uncorrectable Error               : 0\n"
    ),
    "ecc test": (
        "tests/test_recovery.py::test_message PASSED: raises RuntimeError('CUDA error: uncorrectable ECC error "
        "encountered')\n"
    ),
    "another job": (
        "[Sun Nov 22 03:14:07 2026] NVRM: Xid (PCI:0000:3b:00): 94, pid=777, name=other_job, Contained: SM (0x1).\n"
    ),
    "another process": "[ 1234.5] NVRM: Xid (PCI:0000:3b:00): 31, pid=777, name=jupyter, Ch 00000008, MMU Fault\n",
}

# Those that are made with a healthy call of the same process as well.
CONTROLLED = (
    "mask, rows",
    "mask, two of four",
    "mask, one tile",
    "frozen rows, gradient",
    "adam for rows or columns",
    "adam for a block",
    "weight decay in a block",
    "factor for a block",
    "sign of a block",
    "cast to fp16",
    "int8 that wraps",
    "nan_to_num",
    "second moment",
    "nan weight",
    "nan block",
    "nan mask",
    "polar factor by hand",
    "clip coefficient",
    "idle experts",
    "norm by hand, faint",
    "norm by hand, large",
    "another norm",
    "unprotected, more steps",
    "naive gram, more steps",
    "momentum dumped",
)


# What a function of the input and epsilon alone can do: the wrapper's dumps may show it, too.
INPUT_ALONE = (
    "mask, rows",
    "mask, columns",
    "mask, two of four",
    "mask, block triangle",
    "mask, one tile",
    "mask, band",
    "frozen rows, gradient",
    "factor per row",
    "factor for a block",
    "sign of a block",
    "cast to fp16",
    "cast to fp8",
    "int8 that wraps",
    "int8 blocks, scale of zero",
    "clamp",
    "epsilon of zero",
    "idle experts",
    "norm by hand, faint",
    "norm by hand, large",
    "another norm",
    "unprotected, more steps",
    "naive gram, more steps",
    "polar factor by hand",
)


def dumped(name: str, make: Callable[[Case], Made | None]) -> Callable[[Case], Made | None]:
    """By hand, or by the wrapper where that can be."""

    def both(case: Case) -> Made | None:
        made = make(case)
        if made is not None:
            made.wrapped = name in INPUT_ALONE and case.rng.random() < 0.5
            for other in made.others:
                other.wrapped = made.wrapped
        return made

    return both


def with_twin(case: Case, other: dict[str, int]) -> Made | None:
    """The same call with the state as it should be, on another rank or at another time."""
    kind = case.rng.choice(list(STATES))
    made = STATES[kind](case)
    if made is None:
        return None
    output = made.call(made.x)
    made.others = [Other(made.x, output, **other)]
    made.detail = f"{kind}: {made.detail}"
    return made if output.isfinite().all() else None


def state_by_rank(case: Case) -> Made | None:
    return with_twin(case, {"rank": 1, "pid": 5151, "later": case.rng.randrange(-20, 20)})


def state_by_time(case: Case) -> Made | None:
    return with_twin(case, {"later": -case.rng.randrange(500, 60_000)})


def schedule_by_time(case: Case) -> Made | None:
    """The same input twice, and in between a mask or a rate changed; both are finite."""
    code = AROUND[case.rng.choice(("mask, one tile", "mask, rows", "factor for a block", "weight decay in a block"))]
    made = code(case)
    if made is None:
        return None
    rank = case.rng.choice((0, 1))
    made.others = [Other(made.x, run_own(case, made.x), rank, 5150 + rank, later=-case.rng.randrange(5, 60_000))]
    return made


def parts_of_one_call(case: Case) -> Made | None:
    """Each rank dumps its rows of one call as a plain tensor; one part of the input was damaged."""
    ranks, (rows, cols) = case.rng.choice((2, 4)), case.x.shape[-2:]
    case.x = draw_input(case.rng, case.spectrum, (ranks * rows, cols), case.x.dtype, case.rng.uniform(0.01, 1))
    bad = case.rng.randrange(1, ranks)
    one_matrix(case.rng, case.x[bad * rows : (bad + 1) * rows])[case.rng.randrange(rows), case.rng.randrange(cols)] = (
        case.rng.choice((NAN, INF))
    )
    output = case.run()
    parts = list(zip(case.x.split(rows), output.split(rows), strict=True))
    made = Made(*(part.clone() for part in parts[0]), detail=f"{ranks} ranks, part {bad} damaged")
    for rank, (x, y) in enumerate(parts[1:], start=1):
        made.others.append(Other(x.clone(), y.clone(), rank, 5150 + rank, later=case.rng.randrange(-9, 10)))
    made.also = ("upstream", "downstream")
    return made


def words_in_the_log(case: Case) -> Made | None:
    """A line that mentions the hardware, beside an output that a coefficient spoilt or a mask cut."""
    made = case.rng.choice((clip_coefficient, AROUND["mask, one tile"]))(case)
    if made is not None:
        words = case.rng.choice(list(HARDWARE_WORDS))
        place = case.rng.choice((0, len(TRAINING)))
        made.log = TRAINING[:place] + HARDWARE_WORDS[words] + TRAINING[place:]
        made.detail = f"{words}; {made.detail}"
    return made


def honest_kinds() -> dict[str, tuple[str, Callable[[Case], Made | None], bool, bool]]:
    """As FAULTS: (truth, what makes it, does it need a non-finite output, is `undecided` always right too)."""
    kinds = {name: (make, name in BREAKING) for name, make in AROUND.items()} | NUMBERS | PARTS
    kinds |= {
        "state differs, another rank": (state_by_rank, True),
        "state differs, another time": (state_by_time, True),
        "same input, other code": (schedule_by_time, False),
        "parts of one call": (parts_of_one_call, True),
        "hardware in the log": (words_in_the_log, False),
    }
    kinds |= {
        f"{name}, with a control": (with_control(kinds[name][0]), kinds[name][1])
        for name in kinds
        if name in CONTROLLED
    }
    return {
        f"honest: {name}": ("user code", dumped(name.removesuffix(", with a control"), make), damage, True)
        for name, (make, damage) in kinds.items()
    }


HONEST = honest_kinds()
