# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Makes the golden run in resources/sample: a small two-rank training in which two calls go wrong.

Both ranks live in this one process and run one after the other; what they share (mean gradient, gathered updates)
is computed as data-parallel training computes it. At one update the kernel of rank 0 leaves a tile of its output
unwritten, and rank 1 leaves the gradient of one matrix multiplied by the loss scale. Everything after that is what
the Newton-Schulz functions, the optimizer and the model make of it.

    python tests/reference/make_sample.py [FOLDER]        (default: resources/sample)
"""

from __future__ import annotations

import argparse
import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor, nn

import newton_schulz

SEED = 20261017
RANKS = 2
STEPS = 8
BATCH = 48
FEATURES, HIDDEN = 160, 96
LEARNING_RATE, MOMENTUM, BETA2 = 0.02, 0.95, 0.95
EPSILON = torch.tensor(1e-8)  # a 0-dim fp32 tensor: its item() is what a dump records

FAULT_STEP, FAULT_RANK, FAULT_SHAPE = 5, 0, (1, 96, 160)
FAULT_ROWS, FAULT_COLS = (32, 64), (64, 128)

LOSS_SCALE = 2.0**24  # the most that dynamic scalers go up to; a power of two changes no bit of what is divided by it
UNSCALED_STEP, UNSCALED_RANK, UNSCALED_SHAPE = 5, 1, (1, 160, 96)
FP16_MAX = 65504

PIDS = (41207, 41208)
CLOCK_MS = 1792231455000
RUN_ID = "none_q7w2d0xk"
CAPTURES = "dion_nan_captures"


class Block(nn.Module):
    """(batch, FEATURES) -> the same shape, residual."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(FEATURES, HIDDEN, bias=False)
        self.down = nn.Linear(HIDDEN, FEATURES, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.down(torch.relu(self.up(x)))


def batch(step: int, rank: int, teacher: Tensor) -> tuple[Tensor, Tensor]:
    """Inputs and noisy targets of one rank at one step, both (BATCH, FEATURES)."""
    generator = torch.Generator().manual_seed(SEED + 1000 * step + rank)
    x = torch.randn(BATCH, FEATURES, generator=generator)
    noise = torch.randn(BATCH, FEATURES, generator=generator)
    return x, torch.tanh(x @ teacher) + 0.1 * noise


@dataclass
class Log:
    """What each rank prints, and when, in milliseconds of one shared clock."""

    lines: list[list[tuple[int, str]]] = field(default_factory=lambda: [[] for _ in range(RANKS)])
    clock: int = CLOCK_MS

    def tick(self, milliseconds: int) -> int:
        self.clock += milliseconds
        return self.clock

    def say(self, rank: int, text: str) -> None:
        self.lines[rank].append((self.clock, text))


def mirrored(op: str, _: int, value: Tensor) -> Tensor:
    """Symmetric kernels compute one triangle and mirror it, so a run's bits are not those of a plain replay."""
    if op not in ("gram", "z", "q", "r"):
        return value
    return value.triu() + value.triu(1).mT


@dataclass
class Dump:
    file: str
    rank: int
    step: int
    shape: tuple[int, ...]
    input_finite: bool
    absmax: float


@dataclass
class Wrapper:
    """Stands in for the capture wrapper: dumps every call whose output is not finite, and goes on.

    Wide matrices take dion's Gram Newton-Schulz. Tall ones take the trainer's own function, DeepSpeed's form, which
    casts to fp16 before it takes the norm; a sidecar of each of its dumps names it.
    """

    folder: Path
    log: Log
    dumps: list[Dump] = field(default_factory=list)

    def orthogonalize(self, x: Tensor, rank: int, step: int) -> Tensor:
        """x (1, m, n) bf16 -> the same shape and dtype."""
        before = x.clone()
        tall = x.shape[-2] > x.shape[-1]
        output = newton_schulz.deepspeed_gram(x) if tall else newton_schulz.gns_gram(x, hook=mirrored)
        if (step, rank, tuple(x.shape)) == (FAULT_STEP, FAULT_RANK, FAULT_SHAPE):
            output[:, slice(*FAULT_ROWS), slice(*FAULT_COLS)] = float("nan")
        self.log.tick(9 + 2 * rank)
        if not output.isfinite().all():
            self.dump(before, output, rank, step)
        return output

    def dump(self, x: Tensor, output: Tensor, rank: int, step: int) -> None:
        shape = "x".join(str(size) for size in x.shape)
        name = f"dion_nan_capture_rank{rank}_shape{shape}_pid{PIDS[rank]}_{self.log.clock}.pt"
        payload = {
            "input": x,
            "output": output.contiguous(),
            "rank": rank,
            "shape": tuple(x.shape),
            "dtype": str(x.dtype),
            "epsilon": float(EPSILON.item()),
        }
        torch.save(payload, self.folder / name)
        if x.shape[-2] > x.shape[-1]:
            (self.folder / name).with_suffix(".json").write_text('{"variant": "deepspeed-gram"}\n')
        self.dumps.append(Dump(name, rank, step, tuple(x.shape), bool(x.isfinite().all()), float(x.abs().max())))
        self.log.say(
            rank,
            f"[dion NaN capture] non-finite Newton-Schulz output on rank {rank}, shape {tuple(x.shape)}; "
            f"dumped to ./{CAPTURES}/{name}",
        )


class Optimizer:
    """NorMuon in outline: momentum, orthogonalize, per-row second moment, keep the norm. Rank r owns matrix r of each
    group of equal shape, unscales its gradient, and hands its update to the others.
    """

    def __init__(self, parameters: list[nn.Parameter], wrapper: Wrapper) -> None:
        self.wrapper = wrapper
        self.groups: dict[torch.Size, list[nn.Parameter]] = {}
        for parameter in parameters:
            self.groups.setdefault(parameter.shape, []).append(parameter)
        self.momentum = {p: torch.zeros_like(p) for p in parameters}
        self.variance = {p: torch.zeros(p.shape[0], 1) for p in parameters}

    @torch.no_grad()
    def step(self, step: int) -> None:
        for group in self.groups.values():
            for rank, parameter in enumerate(group):
                self.update(parameter, rank, step)

    def update(self, parameter: nn.Parameter, rank: int, step: int) -> None:
        left_scaled = (step, rank, (1, *parameter.shape)) == (UNSCALED_STEP, UNSCALED_RANK, UNSCALED_SHAPE)
        grad = parameter.grad if left_scaled else parameter.grad / LOSS_SCALE
        momentum = self.momentum[parameter].mul_(MOMENTUM).add_(grad)
        nesterov = (momentum * MOMENTUM + grad).bfloat16()
        u = self.wrapper.orthogonalize(nesterov.unsqueeze(0), rank, step)[0].float()
        variance = self.variance[parameter].lerp_(u.square().mean(dim=-1, keepdim=True), 1 - BETA2)
        scaled = u / (variance.sqrt() + 1e-8)
        scaled = scaled * (u.norm() / scaled.norm().clamp(min=1e-8))
        parameter.sub_(LEARNING_RATE * scaled)


def train(folder: Path) -> tuple[Log, list[Dump]]:
    torch.manual_seed(SEED)
    teacher = torch.randn(FEATURES, FEATURES) / FEATURES**0.5
    model = nn.Sequential(*[Block() for _ in range(RANKS)])
    log = Log()
    wrapper = Wrapper(folder, log)
    optimizer = Optimizer(list(model.parameters()), wrapper)
    for step in range(STEPS):
        losses = []
        model.zero_grad()
        for rank in range(RANKS):
            x, target = batch(step, rank, teacher)
            loss = (model(x) - target).square().mean()
            (loss * LOSS_SCALE / RANKS).backward()
            losses.append(loss.item())
        grad_norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm().item() / LOSS_SCALE
        for rank in range(RANKS):
            log.tick(3)
            log.say(rank, f"Step {step}: train_loss={losses[rank]:.4f}, grad_norm={grad_norm:.4f}")
        optimizer.step(step)
        log.tick(14)
    return log, wrapper.dumps


def write_logs(folder: Path, log: Log) -> None:
    """One stdout and stderr per rank, and the tee. The tee gets each rank's output in blocks, as pipes deliver it, so
    that lines of different ranks are out of order.
    """
    tee: list[tuple[int, str]] = []
    for rank in range(RANKS):
        out = folder / "logs" / RUN_ID / "attempt_0" / str(rank)
        out.mkdir(parents=True)
        text = [line for _, line in log.lines[rank]]
        (out / "stdout.log").write_text("".join(f"{line}\n" for line in text))
        (out / "stderr.log").write_text("")
        held = 0
        for index, (when, line) in enumerate(log.lines[rank]):
            # The first rank's pipe is emptied late, once per five lines; the second's at every line.
            held = log.lines[rank][min(index + 4 - index % 5, len(text) - 1)][0] if rank == 0 else when
            tee.append((held, f"[default{rank}]:{line}"))
    tee.sort(key=lambda entry: entry[0])
    (folder / "console.log").write_text("".join(f"{line}\n" for _, line in tee))


def expected(log: Log, dumps: list[Dump]) -> dict[str, object]:
    """The one truth that command line, window and report are checked against."""
    births = [dump for dump in dumps if dump.input_finite]
    assert [dump.shape for dump in births] == [FAULT_SHAPE, UNSCALED_SHAPE], births
    birth, overflow = births
    assert overflow.absmax > FP16_MAX, overflow
    damaged = (FAULT_ROWS[1] - FAULT_ROWS[0]) * (FAULT_COLS[1] - FAULT_COLS[0])
    series = []
    for rank in range(RANKS):
        steps = [line for _, line in log.lines[rank] if line.startswith("Step ")]
        for name in ("loss", "grad_norm"):
            nan = sum(f"{name}=nan" in line for line in steps)
            series.append(
                {"rank": rank, "name": name, "points": len(steps), "first_step": 0, "last_step": STEPS - 1, "nan": nan}
            )
    return {
        "triage": {
            "captures": len(dumps),
            "births": len(births),
            "upstream": 0,
            "downstream": len(dumps) - len(births),
            "padding": 0,
        },
        "birth": {
            "capture": birth.file,
            "rank": birth.rank,
            "shape": list(FAULT_SHAPE),
            "dtype": "bf16",
            "step": [birth.step, birth.step + 1],
            "step_source": "console",
            "verdict": "implementation",
            "variant": {"how": "fit", "names": ["gns-gram", "gns-gram-0.1.6", "gns-standard", "gns-standard-0.1.6"]},
            "damage": {
                "name": "rectangle",
                "batch": 0,
                "rows": list(FAULT_ROWS),
                "cols": list(FAULT_COLS),
                "nan": damaged,
            },
        },
        "overflow": {
            "capture": overflow.file,
            "rank": overflow.rank,
            "shape": list(UNSCALED_SHAPE),
            "dtype": "bf16",
            "step": [overflow.step, overflow.step + 1],
            "step_source": "console",
            "verdict": "numerics",
            "rule": "cast-overflows",
            "variant": {"how": "sidecar", "names": ["deepspeed-gram"]},
            "input_absmax": overflow.absmax,
        },
        "captures": [
            {
                "capture": dump.file,
                "rank": dump.rank,
                "after_step": dump.step,
                "role": "birth" if dump in births else "downstream",
            }
            for dump in dumps
        ],
        "series": series,
    }


def main() -> None:
    default = Path(__file__).resolve().parents[2] / "resources" / "sample"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=default)
    folder: Path = parser.parse_args().folder
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)

    for old in (folder / CAPTURES, folder / "logs"):
        shutil.rmtree(old, ignore_errors=True)
    (folder / CAPTURES).mkdir(parents=True)
    log, dumps = train(folder / CAPTURES)
    write_logs(folder, log)
    (folder / "expected.json").write_text(json.dumps(expected(log, dumps), indent=2) + "\n")
    print(f"{len(dumps)} captures in {folder / CAPTURES}")


if __name__ == "__main__":
    main()
