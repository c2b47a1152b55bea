# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Fault generator: captures whose cause is known, to be judged by Nanscope and scored by score.py.

    python tests/lab/faults.py OUT --seed S --count N [--families faults,honest]

Writes dumps named as the capture wrapper names them, and OUT/labels.json, a list of
    {"file", "beside": [..], "truth", "acceptable": [..], "variant", "fault", "format", "spectrum", "shape", "dtype"}

truth        implementation, numerics, upstream, undecided where the dump cannot show a fault at all, or user code
             where all is well with the function and the code around it made the dump look odd
acceptable   verdicts that are right for what the dump shows. `undecided` is among them where a published variant
             blows up on the same input, or a form that people run does in up to ten steps, where the output is finite,
             and where nothing says which function ran.
beside       the other dumps of the run; where nothing is wrong, none of them may be accused either

Each capture is a case of its own. Captures with a damaged input carry the earliest times, so that a triage over the
whole folder finds no birth before them.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parent))

import cases  # noqa: E402
from cases import (  # noqa: E402
    EPSILON,
    FORMAT_NAMES,
    INF,
    NAN,
    RUNNING,
    Case,
    Made,
    Other,
    draw_case,
    draw_input,
    generator,
    one_matrix,
    tile_of,
    with_tile,
    words,
)
from finitefaults import FINITE_FAULTS  # noqa: E402
from honestruns import HONEST  # noqa: E402
from newton_schulz import (  # noqa: E402
    VARIANTS,
    Arithmetic,
    Step,
    gram_no_restart_longer,
    polar_express_unprotected,
)
from runfaults import RUN_FAULTS  # noqa: E402

CLOCK_MS = 1795000000000

# Schedules that nobody published, and so none that Nanscope knows.
UNKNOWN: dict[str, list[Step]] = {
    "own quintic": [(3.0, -3.2, 1.2)] * 6,
    "own mixture": [(3.9, -6.0, 2.6)] * 3 + [(2.4, -2.2, 0.8)] * 2,
    "own slow": [(2.6, -2.5, 0.9)] * 5,
}


def nan_tile_inside(case: Case) -> Made | None:
    place = case.rng.choice(case.ops())
    return Made(case.x, case.run_with(place, lambda v: with_tile(case.rng, v, NAN)), detail=words(place))


def nan_tile_last_write(case: Case) -> Made | None:
    return Made(case.x, with_tile(case.rng, case.run(), NAN))


def nan_rows_last_q(case: Case) -> Made | None:
    """A tile of the last factor that multiplies X: whole rows (columns in a tall output)."""
    late = [place for place in case.ops() if place[0] in ("q", "polynomial")]
    if not late:  # a cubic has no such factor of its own
        return None
    return Made(case.x, case.run_with(late[-1], lambda v: with_tile(case.rng, v, NAN)), detail=words(late[-1]))


def single_element(case: Case) -> Made | None:
    output = case.run()
    one = one_matrix(case.rng, output)
    one[case.rng.randrange(one.shape[0]), case.rng.randrange(one.shape[1])] = case.rng.choice((NAN, INF, -INF))
    return Made(case.x, output)


def stale_gram(case: Case) -> Made | None:
    """The first Gram matrix is read before it is finished: part of it is what another call left there."""

    def race(gram: Tensor) -> Tensor:
        left = torch.randn(gram.shape, generator=generator(case.rng)) * case.rng.choice((0.05, 1.0, 30.0))
        changed = gram.clone()
        rows, cols = tile_of(case.rng, gram)
        one_matrix(case.rng, changed)[rows, cols] = one_matrix(case.rng, left)[rows, cols].to(gram.dtype)
        return changed

    place = next(place for place in case.ops() if place[0] == "gram")
    return Made(case.x, case.run_with(place, race), detail=words(place))


def padding_not_zero(case: Case) -> Made | None:
    """A zero matrix of a batch comes back with Inf in eight columns of every second row."""
    rows, cols = case.x.shape[-2:]
    case.x = torch.stack([case.x.reshape(-1, rows, cols)[0], torch.zeros(rows, cols, dtype=case.x.dtype)])
    output = case.run()
    if output[1].any() or output.isnan().any():
        return None
    start = 8 * case.rng.randrange(cols // 8)
    output[1, ::2, start : start + 8] = INF
    return Made(case.x, output)


def zero_tile_last_write(case: Case) -> Made | None:
    healthy_output = case.run()
    output = with_tile(case.rng, healthy_output, 0.0)
    return None if torch.equal(output, healthy_output) else Made(case.x, output)


def fp16_cast_overflow(case: Case) -> Made | None:
    """Finite in bf16, beyond 65504 after a cast that comes before the norm."""
    absmax = case.x.double().abs().max()
    x = (case.x.double() * (case.rng.uniform(7e4, 4e5) / absmax)).bfloat16()
    variant = case.rng.choice(("deepspeed-gram", "deepspeed-gram", "keller-jordan", "dion-ns5"))
    output = VARIANTS[variant](x, EPSILON, dtype=torch.float16).bfloat16().contiguous()
    return Made(x, output, variant, "fp16")


def fp16_norm_overflow(case: Case) -> Made | None:
    """Every element fits fp16, the Frobenius norm does not: the output is silently zero."""
    absmax, norm = case.x.double().abs().max(), case.x.double().norm()
    if norm < 2.5 * absmax:
        return None
    x = (case.x.double() * (5e4 / absmax)).bfloat16()
    output = VARIANTS["deepspeed-gram"](x, EPSILON).bfloat16().contiguous()
    return Made(x, output, "deepspeed-gram", "fp16") if not output.any() else None


def epsilon_underflow(case: Case) -> Made | None:
    """1e-8 is zero in fp16, and so is the norm of a zero matrix: 0/0."""
    rows, cols = case.x.shape[-2:]
    zero = torch.zeros(rows, cols, dtype=case.x.dtype)
    x = torch.stack([case.x.reshape(-1, rows, cols)[0], zero])
    variant = case.rng.choice(("dion-ns5", "dion-polar-express", "torch-muon"))
    output = VARIANTS[variant](x, EPSILON, dtype=torch.float16).to(x.dtype).contiguous()
    return Made(x, output, variant, "fp16") if output[0].isfinite().all() else None


def bad_input(case: Case) -> Made | None:
    """A few elements of one gradient are not finite."""
    x = case.x.clone()
    one = one_matrix(case.rng, x)
    for _ in range(case.rng.choice((1, 1, 3, 20))):
        one[case.rng.randrange(one.shape[0]), case.rng.randrange(one.shape[1])] = case.rng.choice((NAN, INF, -INF))
    case.x = x
    return Made(x, case.run())


def over_the_cliff(case: Case) -> Made | None:
    """Rank-1 input under Polar Express without a safety factor: rounding alone pushes it past the limit."""
    # The scale decides how the norm rounds, and so whether sigma ends above or below one.
    x = draw_input(case.rng, "rank1", tuple(case.x.shape), torch.bfloat16, case.rng.uniform(0.02, 0.2))
    case.spectrum = "rank1"
    dtype = case.rng.choice((torch.bfloat16, torch.float16))
    steps = case.rng.choice((5, 6, 8))
    output = polar_express_unprotected(x, EPSILON, dtype=dtype, steps=steps).bfloat16().contiguous()
    return Made(x, output, f"polar-express-unprotected-{steps}", FORMAT_NAMES[dtype])


def naive_gram(case: Case) -> Made | None:
    """The Gram form with no restart on a rank-deficient input."""
    if case.x.shape[-2] == case.x.shape[-1]:
        return None
    spectrum = case.rng.choice(("rank1", "rank16", "log7"))
    x = draw_input(case.rng, spectrum, tuple(case.x.shape), torch.bfloat16, case.rng.uniform(0.02, 0.2))
    case.spectrum = spectrum
    steps = case.rng.choice((5, 6, 8))
    return Made(x, gram_no_restart_longer(x, EPSILON, steps=steps).contiguous(), f"gram-no-restart-{steps}", "fp16")


def copied_input(case: Case) -> Made | None:
    return Made(case.x, case.x.clone(), "identity", "none")


def foreign(case: Case) -> tuple[Tensor, str]:
    """A healthy output of a function Nanscope does not know."""
    name = case.rng.choice(list(UNKNOWN))
    ar = Arithmetic(case.rng.choice((torch.float32, torch.bfloat16)))
    x = case.x.to(ar.dtype)
    tall = x.shape[-2] > x.shape[-1]
    x = x.mT if tall else x
    x = ar.divide(x, ar.scale(1.01, ar.norm(x)))
    for a, b, c in UNKNOWN[name]:
        gram = ar.mm(x, x.mT)
        x = ar.addmm(x, ar.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return (x.mT if tall else x).to(case.x.dtype).contiguous(), name


def unknown_healthy(case: Case) -> Made | None:
    output, name = foreign(case)
    return Made(case.x, output, name, "own") if output.isfinite().all() else None


def unknown_damaged(case: Case) -> Made | None:
    output, name = foreign(case)
    return Made(case.x, with_tile(case.rng, output, NAN), name, "own") if output.isfinite().all() else None


def healthy(case: Case) -> Made | None:
    """Nothing happened. A verdict of `implementation` here is the worst answer there is."""
    return Made(case.x, case.run())


# name -> (truth, what makes it, does it need a non-finite output, is `undecided` always right too)
FAULTS: dict[str, tuple[str, Callable[[Case], Made | None], bool, bool]] = {
    "nan tile inside": ("implementation", nan_tile_inside, True, False),
    "nan tile in the last write": ("implementation", nan_tile_last_write, True, False),
    "nan tile in the last factor": ("implementation", nan_rows_last_q, True, False),
    "single element": ("implementation", single_element, True, False),
    "stale gram": ("implementation", stale_gram, False, False),
    "padding not zero": ("implementation", padding_not_zero, True, False),
    "zero tile in the last write": ("implementation", zero_tile_last_write, False, True),
    "unknown variant, nan tile": ("implementation", unknown_damaged, True, True),
    "fp16 cast overflow": ("numerics", fp16_cast_overflow, True, True),
    "fp16 norm overflow": ("numerics", fp16_norm_overflow, False, True),
    "epsilon underflow": ("numerics", epsilon_underflow, True, True),
    "unprotected polar express": ("numerics", over_the_cliff, True, True),
    "naive gram": ("numerics", naive_gram, True, True),
    "bad input": ("upstream", bad_input, True, False),
    "copy of the input": ("undecided", copied_input, False, True),
    "unknown variant, healthy": ("undecided", unknown_healthy, False, True),
    "nothing": ("undecided", healthy, False, True),
} | FINITE_FAULTS | RUN_FAULTS

# name -> (its kinds, how often each is drawn unless --count says otherwise)
FAMILIES = {"faults": (FAULTS, 19), "honest": (HONEST, 5)}


# The longest published schedule (dion's hybrid) has ten, and so have honestnumbers' forms.
MORE_STEPS = range(5, 11)


def runs_away_longer(x: Tensor) -> bool:
    """Does a form that nobody recommends, and people run, leave the finite numbers in ten steps? No dump counts steps."""

    def outputs(steps: int) -> list[Tensor]:
        return [
            polar_express_unprotected(x, EPSILON, steps=steps),
            gram_no_restart_longer(x, EPSILON, dtype=torch.float16, steps=steps),
            gram_no_restart_longer(x, EPSILON, dtype=torch.bfloat16, steps=steps),
        ]

    return any(not output.isfinite().all() for steps in MORE_STEPS for output in outputs(steps))


def blows_up_somewhere(x: Tensor) -> bool:
    """Does any published variant, in its own format, leave the finite numbers on this input, under a few roundings?"""
    shaken = [(x.double() * factor).to(x.dtype) for factor in (1.0, 1.008, 0.992, 1.11, 1.23, 1.37, 1.51, 1.73)]
    plausible = [*cases.choices, "polar-express-unprotected-5", "gram-no-restart"]
    variants = {name: VARIANTS[name] for name in plausible}
    return any(not f(y, EPSILON).isfinite().all() for f in variants.values() for y in shaken)


def acceptable(truth: str, always_undecided: bool, case: Case, made: Made) -> list[str]:
    """Verdicts that are right for what this dump shows. "none": a finite output need not be asked about."""
    if truth == "user code":
        return ["undecided", *made.also, *(["none"] if made.output.isfinite().all() else [])]
    verdicts = [truth]
    mute = not made.output.isfinite().flatten(-2).any(dim=-1).all()
    if truth == "implementation":
        nothing_to_see = bool(made.output.isfinite().all()) or (mute and case.spectrum == "rank1")
        zero_canary = bool((made.x.flatten(-2).any(dim=-1) < made.output.flatten(-2).any(dim=-1)).any())
        away = mute and runs_away_longer(made.x)
        decided = (made.settled and not away) or zero_canary
        always_undecided = not decided and (always_undecided or nothing_to_see or away or blows_up_somewhere(made.x))
    elif truth == "nondeterministic":
        # One process may run one input in two forms, to check one by the other.
        always_undecided = mute and (runs_away_longer(made.x) or blows_up_somewhere(made.x))
    if always_undecided and "undecided" not in verdicts:
        verdicts.append("undecided")
    return verdicts


def draw(seed: int, family: str, index: int) -> tuple[str, Case, Made]:
    """The index-th fault of a family and seed, redrawn until it shows what its name says."""
    kinds, _ = FAMILIES[family]
    fault = list(kinds)[index % len(kinds)]
    _, make, needs_damage, _ = kinds[fault]
    # So that a seed of faults stays what it was, whatever other families there are.
    dice = f"{seed}/{index}" if family == "faults" else f"{seed}/{family}/{index}"
    for attempt in range(1000):
        case = draw_case(random.Random(f"{dice}/{attempt}"))
        if not case.run().isfinite().all():
            continue
        made = make(case)
        if made is None or (needs_damage and made.output.isfinite().all()):
            continue
        return fault, case, made
    raise RuntimeError(f"no case of '{fault}' in 1000 draws")


def save(folder: Path, other: Other, time: int) -> str:
    shape = "x".join(str(size) for size in other.x.shape)
    name = f"dion_nan_capture_rank{other.rank}_shape{shape}_pid{other.pid}_{time}.pt"
    payload = {
        "input": other.x.contiguous(),
        "output": other.output,
        "rank": other.rank,
        "epsilon": other.epsilon,
    }
    if other.wrapped:
        payload |= {"shape": tuple(other.x.shape), "dtype": str(other.x.dtype)}
    if other.epsilon is None:
        del payload["epsilon"]
    torch.save(payload, folder / name)
    return name


def write(out: Path, index: int, upstream: bool, made: Made) -> tuple[str, list[str]]:
    """Path of the dump below `out`, in a folder of its own where more belongs to its run, and of what lies beside it."""
    time = CLOCK_MS + 40 * index + (0 if upstream else 10_000_000)
    own = Other(made.x, made.output, epsilon=made.epsilon, wrapped=made.wrapped)
    if not made.others and not made.log:
        return save(out, own, time), []
    folder = out / f"run{index}"
    folder.mkdir()
    beside = [
        save(folder, other, time + (place - 20 if other.later is None else other.later))
        for place, other in enumerate(made.others)
    ]
    name = save(folder, own, time)
    if made.log:
        (folder / "train.log").write_text(made.log)
    return f"{folder.name}/{name}", [f"{folder.name}/{other}" for other in beside]


def control(out: Path, seed: int, family: str, number: int, case: Case, made: Made) -> str | None:
    """Path of a healthy call of the same process, apart from the runs: another input of the kind, through all that ran.

    None where nobody has one: of a function that is not ours and was not handed over, or where it would not be finite.
    """
    if made.call is None and (made.variant is not None or family == "honest"):
        return None
    rng = random.Random(f"{seed}/{family}/{number}/control")
    x = draw_input(rng, case.spectrum, tuple(made.x.shape), made.x.dtype, 10 ** rng.uniform(-3, 0.5))
    dtype = next(dtype for dtype, name in FORMAT_NAMES.items() if name == (made.format or FORMAT_NAMES[case.dtype]))
    run = made.call or (lambda y: Case(rng, case.spectrum, y, case.variant, dtype).run())
    output = run(x)
    if not output.isfinite().all():
        return None
    folder = out / "controls" / str(number)
    folder.mkdir(parents=True)
    name = save(folder, Other(x, output, epsilon=made.epsilon, wrapped=made.wrapped), CLOCK_MS + 40 * number - 30)
    return f"controls/{number}/{name}"


def label_of(seed: int, family: str, index: int, out: Path, number: int) -> dict[str, object]:
    """Draws one case, writes it as the number-th, and says what it is."""
    fault, case, made = draw(seed, family, index)
    truth, _, _, undecided = FAMILIES[family][0][fault]
    file, beside = write(out, number, truth == "upstream", made)
    return {
        "file": file,
        "beside": beside,
        "control": None if truth == "upstream" else control(out, seed, family, number, case, made),
        "truth": truth,
        "acceptable": acceptable(truth, undecided, case, made),
        "variant": made.variant or case.variant,
        "fault": fault,
        "detail": made.detail,
        "format": made.format or FORMAT_NAMES[case.dtype],
        "spectrum": case.spectrum,
        "shape": list(made.x.shape),
        "dtype": FORMAT_NAMES[made.x.dtype],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, help="captures of each family; default: each kind 19 times, honest ones 5")
    parser.add_argument("--families", default=",".join(FAMILIES), help="separated by commas; default: %(default)s")
    parser.add_argument("--variants", help="what cases may run, separated by commas; default: all")
    parser.add_argument("--large", action="store_true", help="matrices of 384 to 512 rows on their smaller side")
    options = parser.parse_args()
    if options.variants:
        cases.choices[:] = [name for name in options.variants.split(",") if name in RUNNING]
    if options.large:
        cases.shapes[:] = cases.LARGE_SHAPES
    families = options.families.split(",")
    if unknown := [family for family in families if family not in FAMILIES]:
        sys.exit(f"There is no family {unknown[0]}; there are: {', '.join(FAMILIES)}")
    torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    if any(options.out.iterdir()):
        sys.exit(f"The folder is not empty; give a new one: {options.out}")
    labels: list[dict[str, object]] = []
    for family in families:
        kinds, times = FAMILIES[family]
        for index in range(len(kinds) * times if options.count is None else options.count):
            labels.append(label_of(options.seed, family, index, options.out, len(labels)))
    (options.out / "labels.json").write_text(json.dumps(labels, indent=1) + "\n")
    print(f"{len(labels)} captures in {options.out}")


if __name__ == "__main__":
    main()
