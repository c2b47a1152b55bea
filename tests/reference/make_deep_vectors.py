# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Makes data/deep/gauges.json: deep gauges of inputs of data/replay, from torch's own replays and dense solvers.

    python tests/reference/make_deep_vectors.py [FILE]

{"<input>/<variant>/<format>": {"shares": [..], "steps": [{"iterate_distance", "lambda_min", "symmetry_error",
"commutator", "signal_gains"}, ..]}}: keys as in nanscope.sweep/1, absent where not defined. Eigenvalues and singular
vectors are LAPACK's, of whole matrices in fp64; "shares" has every singular value of at least 0.01 of the norm.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from make_replay_vectors import FORMATS
from newton_schulz import VARIANTS

HERE = Path(__file__).parent

# No fp32: there the noise is that of the order of summation, which is nobody's truth.
CASES = [
    ("wide_24x40_gaussian", "dion-ns5", "bf16"),
    ("wide_24x40_log3", "dion-ns5", "fp16"),
    ("wide_24x40_log3", "gns-gram", "fp16"),
    ("tall_40x24_gaussian", "gns-gram", "fp16"),
    ("tall_40x24_gaussian", "deepspeed-gram", "fp16"),
    ("tall_40x24_gaussian", "dion-polar-express", "bf16"),
    ("wide_24x40_gaussian", "gram-no-restart", "fp16"),
    ("wide_24x40_log7", "gram-no-restart", "fp64"),
]


class Recorder:
    """What a replay passes through: the Gram matrix that enters each step, and X and Q after it."""

    def __init__(self) -> None:
        self.gram: list[Tensor] = []
        self.start: list[Tensor] = []  # Gram matrix of the last start, per Q
        self.q: list[Tensor] = []
        self.x: list[Tensor] = []
        self._base: Tensor | None = None
        self._start: Tensor | None = None

    def __call__(self, op: str, iteration: int, value: Tensor) -> Tensor:
        exact = value.double()
        if op in ("normalize", "cast", "restart"):
            self._base = exact
        elif op == "gram":
            self._start = exact
            self.gram.append(exact)
        elif op == "r":
            self.gram.append(exact)
        elif op == "q":
            self.q.append(exact)
            self.start.append(self._start)
            self.x.append(exact @ self._base)
        elif op == "update":
            if self.q:
                self.x.pop()
            self.x.append(exact)
        return value


def record(variant: str, x: Tensor, epsilon: float, dtype: torch.dtype) -> Recorder:
    recorder = Recorder()
    VARIANTS[variant](x, epsilon, dtype, recorder)
    return recorder


def upright(x: Tensor, like: Tensor) -> Tensor:
    return x if x.shape == like.shape else x.mT


def gauges(variant: str, x: Tensor, epsilon: float, name: str) -> dict[str, Any]:
    low = record(variant, x, epsilon, FORMATS[name])
    exact = record(variant, x, epsilon, torch.float64)
    u, sigma, _ = torch.linalg.svd(x.double(), full_matrices=False)
    shares = sigma / sigma.norm()
    directions = u[:, shares >= 0.01]
    steps = []
    for k, reached in enumerate(low.x):
        r = low.gram[k]
        step: dict[str, Any] = {
            "lambda_min": torch.linalg.eigvalsh((r + r.mT) / 2)[0].item(),
            "symmetry_error": ((r - r.mT).norm() / r.norm()).item(),
            "signal_gains": (directions.mT @ upright(reached, x)).norm(dim=1).tolist(),
        }
        if name != "fp64":
            step["iterate_distance"] = ((reached - exact.x[k]).norm() / exact.x[k].norm()).item()
        if low.q:
            a, q = low.start[k], low.q[k]
            step["commutator"] = ((a @ q - q @ a).norm() / (a.norm() * q.norm())).item()
        steps.append(step)
    return {"shares": shares[shares >= 0.01].tolist(), "steps": steps}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", nargs="?", type=Path, default=HERE / "data" / "deep" / "gauges.json")
    target = parser.parse_args().file
    torch.set_num_threads(1)
    result = {}
    for source, variant, name in CASES:
        stored = torch.load(HERE / "data" / "replay" / f"{source}.pt")
        result[f"{source}/{variant}/{name}"] = gauges(variant, stored["input"], stored["epsilon"], name)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
